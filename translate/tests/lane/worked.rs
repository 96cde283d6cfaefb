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

fn lanes_store_their_numbers() -> Worked {
    let make = |b: &mut Builder| {
        let lane = b.builtin(Builtin::Lane);
        store_lanes(b, lane);
    };
    one_wave("lanes store their numbers", 64, make, 0..64)
}

fn lanes_leave_a_loop_by_themselves() -> Worked {
    let make = |b: &mut Builder| {
        let (count, one) = (b.var("count", Type::B32, Rate::Varying), b.c32(1));
        let lane = b.builtin(Builtin::Lane);
        let body = block(b, |b| {
            let old = b.get(count);
            let done = b.bin(BinOp::Eq, old, lane);
            let then = block(b, |b| b.push(Stmt::Break));
            b.push(Stmt::If { cond: done, then, otherwise: vec![] });
            let next = b.bin(BinOp::Add, old, one);
            b.set(count, next);
        });
        b.push(Stmt::Loop { body });
        let total = b.get(count);
        store_lanes(b, total);
    };
    one_wave("lanes leave a loop by themselves", 32, make, 0..32)
}

/// The same with no more iterations than its lanes need one after the other, as some holdings count them.
fn a_budget_that_is_enough() -> Worked {
    Worked { name: "a budget that is enough", budget: 32 * 33 / 2, ..lanes_leave_a_loop_by_themselves() }
}

/// The same with one iteration less.
fn a_budget_that_is_not_enough() -> Worked {
    let fault = Fault { code: codes::BUDGET, pc: None, access: None };
    Worked {
        name: "a budget that is not enough",
        budget: 31,
        ends: Err(fault),
        ..lanes_leave_a_loop_by_themselves()
    }
}

fn wave_operations_see_all_lanes() -> Worked {
    let make = |b: &mut Builder| {
        let (lane, five, zero, one) = (b.builtin(Builtin::Lane), b.c32(5), b.c32(0), b.c32(1));
        let twice = b.bin(BinOp::Add, lane, lane);
        let low = b.bin(BinOp::LtU, lane, five);
        let ballot = b.wave(WaveOp::Ballot(low));
        let bits = b.un(UnOp::Low, ballot);
        let half = b.bin(BinOp::ShrU, lane, one);
        // Lanes 0 to 4 send to half their number: 2k + 1 wins over 2k.
        let sent = b.wave(WaveOp::Send { value: lane, lane: half, active: low });
        let read = b.wave(WaveOp::ReadLane { value: twice, lane: five });
        let spread = b.wave(WaveOp::Shuffle { value: twice, lane: zero });
        let sum = [sent, read, spread].into_iter().fold(bits, |sum, v| b.bin(BinOp::Add, sum, v));
        store_lanes(b, sum);
    };
    one_wave("wave operations see all lanes", 32, make, [1, 3, 4, 0, 0].map(|sent| 0b11111 + sent + 10))
}

fn units_beyond_valid_are_zero_and_not_stored() -> Worked {
    let mut b = Builder::new("valid", 32);
    let (base, five, eight) = (b.c64(BASE), b.c32(5), b.c32(8));
    let loaded = b.load(3, access(Space::Global, base, five));
    let away = b.c64(BASE + 64);
    let sum = b.bin(BinOp::Or, loaded[1], loaded[2]);
    b.store(vec![loaded[0], sum, loaded[0]], access(Space::Global, away, eight));
    let (zero, nowhere) = (b.c32(0), b.c64(1));
    b.store(vec![zero], access(Space::Global, nowhere, zero));
    let left = Left {
        stored: BASE + 64..BASE + 72,
        words: vec![(64, 0x0302_0100), (68, 0x0706_0504), (72, 0x4b4a_4948)],
    };
    Worked {
        name: "units beyond valid are zero and not stored",
        program: b.finish(),
        waves: [1, 1],
        budget: 1000,
        bytes: 128,
        ends: Ok(left),
    }
}

fn a_fault_puts_back_what_was_stored() -> Worked {
    Worked {
        name: "a fault puts back what was stored",
        bytes: 66,
        ends: Err(Fault { code: codes::MEMORY, pc: Some(PC), access: Some(AccessKind::Write) }),
        ..one_wave(
            "fault",
            32,
            |b| {
                let lane = b.builtin(Builtin::Lane);
                store_lanes(b, lane)
            },
            [],
        )
    }
}

fn waves_of_a_group_meet_at_barriers() -> Worked {
    let mut b = Builder::new("barrier", 32);
    b.program_mut().lds_bytes = 8;
    let (wave, four, one) = (b.builtin(Builtin::WaveInGroup), b.c32(4), b.c32(1));
    let (mine, other) = (b.bin(BinOp::Mul, wave, four), b.bin(BinOp::Sub, one, wave));
    let theirs = b.bin(BinOp::Mul, other, four);
    let hundred = b.c32(100);
    let value = b.bin(BinOp::Add, wave, hundred);
    b.store(vec![value], access(Space::Lds, mine, four));
    b.push(Stmt::Barrier { pc: 8 });
    let seen = b.load(1, access(Space::Lds, theirs, four))[0];
    let number = b.builtin(Builtin::Wave);
    let offset = b.bin(BinOp::Mul, number, four);
    let address = global(&mut b, offset);
    b.store(vec![seen], access(Space::Global, address, four));
    Worked {
        name: "waves of a group meet at barriers",
        program: b.finish(),
        waves: [4, 2],
        budget: 1000,
        bytes: 64,
        ends: Ok(Left { stored: stored(16), words: in_a_row([101, 100, 101, 100]) }),
    }
}

/// Each wave is a workgroup and finds its own LDS as it is at the start, whatever waves a host puts together.
fn workgroups_of_one_wave_have_an_lds_each() -> Worked {
    let mut b = Builder::new("lds", 32);
    b.program_mut().lds_bytes = 128;
    let (lane, wave) = (b.builtin(Builtin::Lane), b.builtin(Builtin::Wave));
    let (four, seven, row) = (b.c32(4), b.c32(7), b.c32(128));
    let mine = b.bin(BinOp::Mul, lane, four);
    let found = b.load(1, access(Space::Lds, mine, four))[0];
    b.store(vec![seven], access(Space::Lds, mine, four));
    let start = b.bin(BinOp::Mul, wave, row);
    let offset = b.bin(BinOp::Add, start, mine);
    let address = global(&mut b, offset);
    b.store(vec![found], access(Space::Global, address, four));
    Worked {
        name: "workgroups of one wave have an LDS each",
        program: b.finish(),
        waves: [8, 1],
        budget: 1000,
        bytes: 1024,
        ends: Ok(Left { stored: stored(1024), words: in_a_row([0; 256]) }),
    }
}

fn an_access_behind_a_barrier_needs_no_more_than_its_own_operands() -> Worked {
    let mut b = Builder::new("behind", 32);
    let (wave, four, none) = (b.builtin(Builtin::WaveInGroup), b.c32(4), b.c32(0));
    let first = b.bin(BinOp::Eq, wave, none);
    let valid = b.select(first, four, none);
    b.push(Stmt::Barrier { pc: 0 });
    let (address, seven) = (b.c64(BASE), b.c32(7));
    b.store(vec![seven], access(Space::Global, address, valid));
    Worked {
        name: "an access behind a barrier needs no more than its own operands",
        program: b.finish(),
        waves: [2, 2],
        budget: 1000,
        bytes: 8,
        ends: Ok(Left { stored: stored(4), words: in_a_row([7, 0x0706_0504]) }),
    }
}

/// What takes a few operations may be computed anew behind a meeting, and then what it is computed from is too.
fn a_value_computed_anew_needs_what_it_is_computed_from() -> Worked {
    let make = |b: &mut Builder| {
        let (lane, three, nine) = (b.builtin(Builtin::Lane), b.c32(3), b.c32(9));
        let odd = b.bin(BinOp::Xor, lane, three);
        let sum = b.bin(BinOp::Add, odd, nine);
        let few = b.bin(BinOp::LtU, odd, nine);
        let ballot = b.wave(WaveOp::Ballot(few));
        let bits = b.un(UnOp::Low, ballot);
        let total = b.bin(BinOp::Add, sum, bits);
        store_lanes(b, total);
    };
    // Lanes 0 to 7 and 11 have an odd number below 9.
    let name = "a value computed anew needs what it is computed from";
    one_wave(name, 32, make, (0..32).map(|lane| (lane ^ 3) + 9 + 0x8ff))
}

fn tables_bounds_of_lds_and_atomics() -> Worked {
    let make = |b: &mut Builder| {
        b.program_mut().lds_bytes = 8;
        let (lane, four, six) = (b.builtin(Builtin::Lane), b.c32(4), b.c32(6));
        let (one, sixty_four) = (b.c32(1), b.c32(64));
        let table = b.load(2, access(Space::Table, four, sixty_four));
        let old = b.atomic(AtomicOp::Add, one, None, access(Space::Lds, six, sixty_four));
        let varying = b.bin(BinOp::And, lane, four);
        let mine = b.atomic(AtomicOp::Add, one, None, access(Space::Lds, varying, four));
        let sum = [table[0], table[1], old].into_iter().fold(mine, |sum, v| b.bin(BinOp::Add, sum, v));
        store_lanes(b, sum);
    };
    // The second word of the table is 22 and there is no third. Lanes 0 to 3 count byte 0 from 0; lanes 4 to 7 count byte 4,
    // where the uniform atomic (at 6, so 4) has left 1.
    one_wave("tables, bounds of LDS and atomics", 32, make, [0, 1, 2, 3, 1, 2].map(|n| 22 + n))
}

/// The order of lanes shows in what each gets, and the atomic stands behind other statements of the lanes.
fn lanes_take_turns_at_words_of_64_bits() -> Worked {
    let make = |b: &mut Builder| {
        b.program_mut().lds_bytes = 16;
        let (lane, eight, most) = (b.builtin(Builtin::Lane), b.c32(8), b.c64(u64::MAX));
        let address = b.bin(BinOp::And, lane, eight);
        let word = Access { width: Width::W64, ..access(Space::Lds, address, eight) };
        let old = b.atomic(AtomicOp::IncWrap, most, None, word);
        let turn = b.un(UnOp::Low, old);
        store_lanes(b, turn);
    };
    // Eight lanes of sixteen have each word.
    one_wave("lanes take turns at words of 64 bits", 64, make, (0..64).map(|lane| lane / 16 * 8 + lane % 8))
}

/// An atomic's unit may begin before its address, in what another lane stores from its own address on.
fn an_atomic_s_unit_begins_before_its_address() -> Worked {
    let make = |b: &mut Builder| {
        b.program_mut().lds_bytes = 64 * 8 + 24;
        let (lane, four, eight, twelve) = (b.builtin(Builtin::Lane), b.c32(4), b.c32(8), b.c32(12));
        let offset = b.bin(BinOp::Mul, lane, eight);
        let address = b.bin(BinOp::Add, offset, twelve);
        let none = b.c64(0);
        let unit = Access { width: Width::W64, ..access(Space::Lds, address, eight) };
        let old = b.atomic(AtomicOp::Add, none, None, unit);
        let next = b.bin(BinOp::Add, address, four);
        b.store(vec![twelve], access(Space::Lds, next, four));
        let seen = b.un(UnOp::Low, old);
        store_lanes(b, seen);
    };
    one_wave("an atomic's unit begins before its address", 32, make, [0; 32])
}

/// Sums of words drop the carry that sums of twice as wide units keep.
fn sums_of_two_widths_keep_their_order() -> Worked {
    let make = |b: &mut Builder| {
        let (lane, four, eight) = (b.builtin(Builtin::Lane), b.c32(4), b.c32(8));
        let (part, base) = (b.bin(BinOp::And, lane, eight), b.c32(128));
        let (narrow, wide) = (b.c32(1 << 28), b.c64(1 << 28));
        let offset = b.bin(BinOp::Add, part, base);
        let address = global(b, offset);
        let unit = access(Space::Global, address, eight);
        for (data, width) in [(narrow, Width::W32), (wide, Width::W64)] {
            let access = Access { width, ..unit };
            b.push(Stmt::Atomic { dst: None, op: AtomicOp::Add, data, compare: None, access });
        }
        let above = b.bin(BinOp::Add, offset, four);
        let above = global(b, above);
        let high = b.load(1, access(Space::Global, above, four))[0];
        store_lanes(b, high);
    };
    // Sixteen lanes have each unit: their narrow sums come to nothing, their wide ones to 2^32.
    let words = (0..32).map(|lane: u32| if lane & 8 == 0 { 0x8786_8585 } else { 0x8f8e_8d8d });
    let bytes = 128 + 16;
    let left = Left { stored: stored(bytes), words: in_a_row(words.clone()) };
    Worked { bytes, ends: Ok(left), ..one_wave("sums of two widths keep their order", 32, make, words) }
}

/// A zero that is no constant of the program's, but that compilers find: a NaN times it is a NaN, and -0 and it are +0.
fn zeros_that_follow_from_shifts_are_operands_like_others() -> Worked {
    let make = |b: &mut Builder| {
        let (lane, half, quiet, minus) =
            (b.builtin(Builtin::Lane), b.c32(16), b.c32(0x7fc0_0000), b.c32(0x8000_0000));
        let high = b.bin(BinOp::ShrU, lane, half);
        let zero = b.bin(BinOp::ShrU, high, half);
        let nan = b.bin(BinOp::Or, lane, quiet);
        let product = b.bin(BinOp::MulF32, nan, zero);
        let product = is_nan(b, product);
        let product = b.un(UnOp::FromBool, product);
        let sum = b.bin(BinOp::AddF32, minus, zero);
        let wrong = b.bin(BinOp::And, sum, minus);
        let both = b.bin(BinOp::Or, product, wrong);
        store_lanes(b, both);
    };
    one_wave("zeros that follow from shifts are operands like others", 32, make, [1; 32])
}

/// A mask of lanes and the bits of a number, as `s_xor_b64` of one with the other has them.
fn votes_on_what_differs_from_a_number_s_bits() -> Worked {
    const NUMBER: [u32; 2] = [0x0f0f_1234, 0x1357_9bdf];
    let make = |b: &mut Builder| {
        let (lane, wave, one, end) =
            (b.builtin(Builtin::Lane), b.builtin(Builtin::Wave), b.c32(1), b.c32(40));
        let number = b.var("number", Type::B32, Rate::Uniform);
        let mask = b.var("mask", Type::Bool, Rate::Varying);
        let [low, high] = NUMBER.map(|word| {
            let word = b.c32(word);
            b.bin(BinOp::Add, wave, word)
        });
        b.set(number, low);
        let first = b.bin(BinOp::LtU, lane, end);
        b.set(mask, first);
        let low = b.get(number);
        let both = b.bin(BinOp::Pack, low, high);
        let shifted = b.bin(BinOp::ShrU, both, lane);
        let shifted = b.un(UnOp::Low, shifted);
        let bit = b.bin(BinOp::And, shifted, one);
        let bit = b.bin(BinOp::Eq, bit, one);
        let mask = b.get(mask);
        let differs = b.bin(BinOp::Xor, bit, mask);
        let ballot = b.wave(WaveOp::Ballot(differs));
        let halves = [UnOp::Low, UnOp::High].map(|half| b.un(half, ballot));
        let half = b.c32(32);
        let below = b.bin(BinOp::LtU, lane, half);
        let seen = b.select(below, halves[0], halves[1]);
        store_lanes(b, seen);
    };
    let words = (0..64).map(|lane| if lane < 32 { !NUMBER[0] } else { NUMBER[1] ^ 0xff });
    one_wave("votes on what differs from a number's bits", 64, make, words)
}

/// The zero that a loop compares its counter with is a factor in it too.
fn a_zero_that_a_loop_ends_at_is_a_factor_like_others() -> Worked {
    let make = |b: &mut Builder| {
        let (lane, zero, one, quiet) = (b.builtin(Builtin::Lane), b.c32(0), b.c32(1), b.c32(0x7fc0_0000));
        let left = b.var("left", Type::B32, Rate::Uniform);
        let seen = b.var("seen", Type::B32, Rate::Varying);
        b.set(left, one);
        let body = block(b, |b| {
            let nan = b.bin(BinOp::Or, lane, quiet);
            let product = b.bin(BinOp::MulF32, nan, zero);
            let product = is_nan(b, product);
            let product = b.un(UnOp::FromBool, product);
            b.set(seen, product);
            let before = b.get(left);
            let after = b.bin(BinOp::Sub, before, one);
            b.set(left, after);
            let goes_on = b.bin(BinOp::Ne, after, zero);
            let otherwise = block(b, |b| b.push(Stmt::Break));
            b.push(Stmt::If { cond: goes_on, then: vec![], otherwise });
        });
        b.push(Stmt::Loop { body });
        let seen = b.get(seen);
        store_lanes(b, seen);
    };
    one_wave("a zero that a loop ends at is a factor like others", 32, make, [1; 32])
}

/// Statements of a branch that the wave takes as one.
fn in_a_branch_of_the_wave(b: &mut Builder, statements: impl FnOnce(&mut Builder)) {
    let (wave, none) = (b.builtin(Builtin::Wave), b.c32(0));
    let cond = b.bin(BinOp::Eq, wave, none);
    let then = block(b, statements);
    b.push(Stmt::If { cond, then, otherwise: vec![] });
}

/// Stores the lanes' numbers at sixteen words in turn; the 48 first lanes are those that store.
fn store_in_turn(b: &mut Builder, valid: Option<Value>) {
    let (lane, four, fifteen) = (b.builtin(Builtin::Lane), b.c32(4), b.c32(15));
    let word = b.bin(BinOp::And, lane, fifteen);
    let offset = b.bin(BinOp::Mul, word, four);
    let address = global(b, offset);
    b.store(vec![lane], access(Space::Global, address, valid.unwrap_or(four)));
}

fn first_48(b: &mut Builder) -> Value {
    let (lane, end) = (b.builtin(Builtin::Lane), b.c32(48));
    b.bin(BinOp::LtU, lane, end)
}

fn lanes_store_in_order_in_a_branch_of_the_wave() -> Worked {
    let make = |b: &mut Builder| {
        let (some, four, none) = (first_48(b), b.c32(4), b.c32(0));
        let valid = b.select(some, four, none);
        in_a_branch_of_the_wave(b, |b| store_in_turn(b, Some(valid)));
    };
    let left = Left { stored: stored(64), words: in_a_row(32..48) };
    Worked { ends: Ok(left), ..one_wave("lanes store in order in a branch of the wave", 64, make, []) }
}

fn lanes_store_in_order_where_some_stay_away() -> Worked {
    let make = |b: &mut Builder| {
        let cond = first_48(b);
        let then = block(b, |b| store_in_turn(b, None));
        b.push(Stmt::If { cond, then, otherwise: vec![] });
    };
    let left = Left { stored: stored(64), words: in_a_row(32..48) };
    Worked { ends: Ok(left), ..one_wave("lanes store in order where some stay away", 64, make, []) }
}

/// Lanes store words `bytes` apart, which only shows when the program runs; the 48 first lanes do.
fn store_apart(b: &mut Builder, bytes: u32) {
    let (lane, wave, four, bytes) =
        (b.builtin(Builtin::Lane), b.builtin(Builtin::Wave), b.c32(4), b.c32(bytes));
    let cond = first_48(b);
    let step = b.bin(BinOp::Add, wave, bytes);
    let offset = b.bin(BinOp::Mul, lane, step);
    let address = global(b, offset);
    let then = block(b, |b| b.store(vec![lane], access(Space::Global, address, four)));
    b.push(Stmt::If { cond, then, otherwise: vec![] });
}

fn lanes_that_are_no_step_apart_store_in_order() -> Worked {
    let name = "lanes that are no step apart store in order";
    let left = Left { stored: stored(4), words: vec![(0, 47)] };
    Worked { ends: Ok(left), ..one_wave(name, 64, |b| store_apart(b, 0), []) }
}

fn lanes_that_are_a_step_apart_store_beside_each_other() -> Worked {
    let name = "lanes that are a step apart store beside each other";
    let left = Left { stored: stored(192), words: in_a_row(0..48) };
    Worked { ends: Ok(left), ..one_wave(name, 64, |b| store_apart(b, 4), []) }
}

fn lanes_meet_in_a_branch_of_the_wave() -> Worked {
    let make = |b: &mut Builder| {
        b.program_mut().lds_bytes = 256;
        let (lane, four, last) = (b.builtin(Builtin::Lane), b.c32(4), b.c32(252));
        let seen = b.var("seen", Type::B32, Rate::Varying);
        let mine = b.bin(BinOp::Mul, lane, four);
        let theirs = b.bin(BinOp::Sub, last, mine);
        in_a_branch_of_the_wave(b, |b| {
            b.store(vec![lane], access(Space::Lds, mine, four));
            let word = b.load(1, access(Space::Lds, theirs, four))[0];
            b.set(seen, word);
        });
        let seen = b.get(seen);
        store_lanes(b, seen);
    };
    one_wave("lanes meet in a branch of the wave", 64, make, (0..64).rev())
}

/// Whether an f32 is a NaN, as translations ask it.
fn is_nan(b: &mut Builder, x: Value) -> Value {
    let (mask, infinity) = (b.c32(0x7fff_ffff), b.c32(0x7f80_0000));
    let size = b.bin(BinOp::And, x, mask);
    b.bin(BinOp::LtU, infinity, size)
}

fn what_is_computed_for_nans_only_may_be_wanted_twice_there() -> Worked {
    const STEP: u32 = 0x07ff_ffff;
    let make = |b: &mut Builder| {
        let (lane, step, five) = (b.builtin(Builtin::Lane), b.c32(STEP), b.c32(5));
        let x = b.bin(BinOp::Mul, lane, step);
        let y = b.bin(BinOp::Sub, x, five);
        let (x_is_nan, y_is_nan) = (is_nan(b, x), is_nan(b, y));
        let rare = b.bin(BinOp::Add, x, five);
        let inner = b.select(y_is_nan, rare, y);
        let arm = b.bin(BinOp::Sub, inner, rare);
        let result = b.select(x_is_nan, arm, x);
        store_lanes(b, result);
    };
    let words = (0..16).map(|lane| lane * STEP).chain([0]);
    one_wave("what is computed for NaNs only may be wanted twice there", 32, make, words)
}

const ALL: [fn() -> Worked; 24] = [
    lanes_store_their_numbers,
    lanes_leave_a_loop_by_themselves,
    a_budget_that_is_enough,
    a_budget_that_is_not_enough,
    wave_operations_see_all_lanes,
    units_beyond_valid_are_zero_and_not_stored,
    a_fault_puts_back_what_was_stored,
    waves_of_a_group_meet_at_barriers,
    workgroups_of_one_wave_have_an_lds_each,
    an_access_behind_a_barrier_needs_no_more_than_its_own_operands,
    a_value_computed_anew_needs_what_it_is_computed_from,
    tables_bounds_of_lds_and_atomics,
    lanes_take_turns_at_words_of_64_bits,
    an_atomic_s_unit_begins_before_its_address,
    sums_of_two_widths_keep_their_order,
    lanes_store_in_order_in_a_branch_of_the_wave,
    lanes_store_in_order_where_some_stay_away,
    lanes_that_are_no_step_apart_store_in_order,
    lanes_that_are_a_step_apart_store_beside_each_other,
    lanes_meet_in_a_branch_of_the_wave,
    zeros_that_follow_from_shifts_are_operands_like_others,
    votes_on_what_differs_from_a_number_s_bits,
    a_zero_that_a_loop_ends_at_is_a_factor_like_others,
    what_is_computed_for_nans_only_may_be_wanted_twice_there,
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
