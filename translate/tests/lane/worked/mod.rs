//! Programs small enough to work out by hand, and what they leave: every backend runs them.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use guestwave_cp::{AccessKind, DispatchId};
use guestwave_translate::backend::{Backend, Batch, Holding, Launch, LaunchFault, ProgramId, codes};
use guestwave_translate::program::{
    Access, AtomicOp, BinOp, Builder, Builtin, Program, Rate, Space, Stmt, Type, UnOp, Value, WaveOp, Width,
    verify,
};

mod basics;
mod compilers;
mod order;

use super::memory::Memory;

/// First guest address of the programs' memory.
const BASE: u64 = 0x1_0000;
/// Program counter of all their accesses.
const PC: u32 = 0x40;

/// A program, how it is launched, and how it ends.
struct Worked {
    name: &'static str,
    program: Program,
    /// Waves in all, and of each workgroup.
    waves: [u32; 2],
    budget: u64,
    /// Bytes of memory from [`BASE`] on, each its own number at the start.
    bytes: u64,
    ends: Result<Left, Fault>,
}

/// What a program leaves.
struct Left {
    /// The only range that is stored.
    stored: Range<u64>,
    /// Words by their byte offsets from [`BASE`].
    words: Vec<(u64, u32)>,
}

/// How a program fails, memory being left as it was. Which lane's access is named where several fault is the backend's affair.
#[derive(Debug, PartialEq)]
struct Fault {
    code: &'static str,
    pc: Option<u32>,
    access: Option<AccessKind>,
}

impl From<LaunchFault> for Fault {
    fn from(f: LaunchFault) -> Self {
        Fault { code: f.code, pc: f.pc, access: f.fault.map(|a| a.kind) }
    }
}

/// The words of lanes (or waves) from the first on.
fn in_a_row(words: impl IntoIterator<Item = u32>) -> Vec<(u64, u32)> {
    (0..).step_by(4).zip(words).collect()
}

/// So many bytes from `BASE` on.
fn stored(bytes: u64) -> Range<u64> {
    BASE..BASE + bytes
}

fn global(b: &mut Builder, offset: Value) -> Value {
    let (base, offset) = (b.c64(BASE), b.un(UnOp::Extend, offset));
    b.bin(BinOp::Add, base, offset)
}

fn access(space: Space, address: Value, valid: Value) -> Access {
    Access { space, address, valid, width: Width::W32, pc: PC, slot: None }
}

/// Stores a `B32` of each lane at word `lane`.
fn store_lanes(b: &mut Builder, value: Value) {
    let (lane, four) = (b.builtin(Builtin::Lane), b.c32(4));
    let offset = b.bin(BinOp::Mul, lane, four);
    let address = global(b, offset);
    b.store(vec![value], access(Space::Global, address, four));
}

fn block(b: &mut Builder, f: impl FnOnce(&mut Builder)) -> Vec<Stmt> {
    b.open();
    f(b);
    b.close()
}

/// A program of one wave, made by `make`, that leaves `words` in a row.
fn one_wave(
    name: &'static str,
    lanes: u8,
    make: impl FnOnce(&mut Builder),
    words: impl IntoIterator<Item = u32>,
) -> Worked {
    let mut b = Builder::new(name, lanes);
    make(&mut b);
    let bytes = u64::from(lanes) * 4;
    let left = Left { stored: stored(bytes), words: in_a_row(words) };
    Worked { name, program: b.finish(), waves: [1, 1], budget: 1000, bytes, ends: Ok(left) }
}

const ALL: [fn() -> Worked; 24] = [
    basics::lanes_store_their_numbers,
    basics::lanes_leave_a_loop_by_themselves,
    basics::a_budget_that_is_enough,
    basics::a_budget_that_is_not_enough,
    basics::wave_operations_see_all_lanes,
    basics::units_beyond_valid_are_zero_and_not_stored,
    basics::a_fault_puts_back_what_was_stored,
    basics::waves_of_a_group_meet_at_barriers,
    basics::workgroups_of_one_wave_have_an_lds_each,
    basics::an_access_behind_a_barrier_needs_no_more_than_its_own_operands,
    basics::a_value_computed_anew_needs_what_it_is_computed_from,
    basics::tables_bounds_of_lds_and_atomics,
    order::lanes_take_turns_at_words_of_64_bits,
    order::an_atomic_s_unit_begins_before_its_address,
    order::sums_of_two_widths_keep_their_order,
    order::lanes_store_in_order_in_a_branch_of_the_wave,
    order::lanes_store_in_order_where_some_stay_away,
    order::lanes_that_are_no_step_apart_store_in_order,
    order::lanes_that_are_a_step_apart_store_beside_each_other,
    order::lanes_meet_in_a_branch_of_the_wave,
    compilers::zeros_that_follow_from_shifts_are_operands_like_others,
    compilers::votes_on_what_differs_from_a_number_s_bits,
    compilers::a_zero_that_a_loop_ends_at_is_a_factor_like_others,
    compilers::what_is_computed_for_nans_only_may_be_wanted_twice_there,
];

/// Runs every program on a backend, in a holding.
pub(crate) fn hold_on(backend: &mut dyn Backend, holding: Holding) {
    ALL.iter().for_each(|make| holds(backend, holding, &make()));
}

fn holds(backend: &mut dyn Backend, holding: Holding, worked: &Worked) {
    let name = worked.name;
    verify(&worked.program).unwrap_or_else(|e| panic!("{name}: {e}"));
    let before: Vec<u8> = (0..worked.bytes).map(|i| i as u8).collect();
    let memory = Memory::default().map(BASE, before.clone());
    let program = backend.compile(&Arc::new(worked.program.clone()), holding).unwrap();
    let launches = vec![launch(worked, program)];
    let ticket = backend.submit(Batch { launches }, &memory).unwrap();
    let mut completion = backend.wait(ticket, &memory, Duration::from_secs(600)).unwrap().unwrap();
    let fault = completion.fault.take().map(Fault::from);
    match &worked.ends {
        Ok(left) => {
            assert_eq!(fault, None, "{name}, {holding:?}");
            assert_eq!(completion.done[0].stored, std::slice::from_ref(&left.stored), "{name}, {holding:?}");
            for (at, word) in &left.words {
                assert_eq!(memory.word(BASE + at), *word, "{name}, {holding:?}, byte {at}");
            }
        }
        Err(wanted) => {
            assert_eq!(fault.as_ref(), Some(wanted), "{name}, {holding:?}");
            assert_eq!(memory.bytes(BASE, before.len()), before, "{name}, {holding:?}");
        }
    }
}

fn launch(worked: &Worked, program: ProgramId) -> Launch {
    Launch {
        id: DispatchId(7),
        program,
        params: Vec::new(),
        tables: [11, 22].into(),
        waves: worked.waves[0],
        waves_per_group: worked.waves[1],
        group_waves: None,
        budget: worked.budget,
    }
}
