//! Loops whose accesses are checked before they run do what they would do if each iteration were.

use std::sync::Arc;

use guestwave_backend_wgpu::WgpuBackend;
use guestwave_translate::backend::{Backend, Fidelity, Holding, Launch};
use guestwave_translate::naga::{Options, lower};
use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, Program, Rate, Slot, Space, Stmt, Trace, Type, UnOp, Value, Var, Width,
    eval, verify,
};

use crate::support::lane::memory::Memory;
use wgpu::naga;

use crate::support::{launch, patient, run};

/// What is read, just below where high halves of addresses change.
const INPUT: u64 = 0x12_ffff_f000;
const INPUT_BYTES: u64 = 0x1000;
const OUTPUT: u64 = 0x7fff_1234_5000;
const OUTPUT_BYTES: u64 = 0x4000;

/// How a loop's addresses are made of its number and the lane's.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// A base and words behind it.
    Indexed,
    /// The same, after the step.
    Stepped,
    /// A pointer that moves, in two halves.
    Pointer,
    /// Bits put together, added half by half.
    Joined,
    /// A base and rows of words.
    Rows,
}

const SHAPES: [Shape; 5] = [Shape::Indexed, Shape::Stepped, Shape::Pointer, Shape::Joined, Shape::Rows];

/// A loop from `start` to `limit`, `base` bytes into the input.
#[derive(Clone, Copy, Debug)]
struct Walk {
    shape: Shape,
    start: u32,
    limit: u32,
    step: i32,
    base: u64,
    stores: bool,
}

fn access(b: &mut Builder, address: Value, stores: bool) -> Access {
    let (base, size) = if stores { (OUTPUT, OUTPUT_BYTES) } else { (INPUT, INPUT_BYTES) };
    let slot = b.slot(Slot { base: Trace::Const(base), size: Some(Trace::Const(size)), written: stores });
    Access { space: Space::Global, address, valid: b.c32(4), width: Width::W32, pc: 4, slot: Some(slot) }
}

/// The halves of a sum of numbers that are given by halves, as machine code adds.
fn add_halves(b: &mut Builder, [a, x]: [Value; 2], [c, y]: [Value; 2]) -> [Value; 2] {
    let low = b.bin(BinOp::Add, a, x);
    let carry = b.bin(BinOp::LtU, low, a);
    let (carry, high) = (b.un(UnOp::FromBool, carry), b.bin(BinOp::Add, c, y));
    [low, b.bin(BinOp::Add, high, carry)]
}

fn halves(b: &mut Builder, x: Value) -> [Value; 2] {
    [b.un(UnOp::Low, x), b.un(UnOp::High, x)]
}

fn words_behind(b: &mut Builder, base: Value, index: Value) -> Value {
    let two = b.c32(2);
    let offset = b.bin(BinOp::Shl, index, two);
    let offset = b.un(UnOp::Extend, offset);
    b.bin(BinOp::Add, base, offset)
}

impl Walk {
    fn address(&self, b: &mut Builder, base: Value, i: Value, pointer: [Var; 2]) -> Value {
        let lane = b.builtin(Builtin::Lane);
        match self.shape {
            Shape::Indexed | Shape::Stepped => {
                let index = b.bin(BinOp::Add, i, lane);
                words_behind(b, base, index)
            }
            Shape::Pointer => {
                let [low, high] = pointer.map(|p| b.get(p));
                b.bin(BinOp::Pack, low, high)
            }
            Shape::Joined => {
                let (two, zero) = (b.c32(2), b.c32(0));
                let index = b.bin(BinOp::Or, i, lane);
                let wide = b.bin(BinOp::Pack, index, zero);
                let wide = b.bin(BinOp::Shl, wide, two);
                let ([low, high], [x, y]) = (halves(b, wide), halves(b, base));
                let [low, high] = add_halves(b, [low, x], [high, y]);
                b.bin(BinOp::Pack, low, high)
            }
            Shape::Rows => {
                let row = b.c32(32);
                let row = b.bin(BinOp::Mul, i, row);
                let index = b.bin(BinOp::Add, row, lane);
                words_behind(b, base, index)
            }
        }
    }

    fn program(&self) -> Program {
        let mut b = Builder::new("walk", 32);
        let mut var = |name, rate| b.var(name, Type::B32, rate);
        let (i, sum) = (var("i", Rate::Uniform), var("sum", Rate::Varying));
        let pointer = [var("low", Rate::Varying), var("high", Rate::Varying)];
        let start = b.c32(self.start);
        b.set(i, start);
        let base = b.c64(if self.stores { OUTPUT } else { INPUT } + self.base);
        let lane = b.builtin(Builtin::Lane);
        let first = words_behind(&mut b, base, lane);
        for (var, half) in pointer.into_iter().zip(halves(&mut b, first)) {
            b.set(var, half);
        }
        b.open();
        self.iteration(&mut b, (i, sum), base, pointer);
        let body = b.close();
        b.push(Stmt::Loop { body });
        let (sum, end) = (b.get(sum), b.c64(OUTPUT + OUTPUT_BYTES - 128));
        let address = words_behind(&mut b, end, lane);
        let access = access(&mut b, address, true);
        b.store(vec![sum], access);
        b.finish()
    }

    fn iteration(&self, b: &mut Builder, (i, sum): (Var, Var), base: Value, pointer: [Var; 2]) {
        let before = b.get(i);
        let step = b.c32(self.step as u32);
        let next = b.bin(BinOp::Add, before, step);
        b.set(i, next);
        let looked_at = if matches!(self.shape, Shape::Stepped) { b.get(i) } else { before };
        let address = self.address(b, base, looked_at, pointer);
        let access = access(b, address, self.stores);
        let old = b.get(sum);
        let value = if self.stores {
            b.store(vec![old], access);
            before
        } else {
            b.load(1, access)[0]
        };
        let new = b.bin(BinOp::Add, old, value);
        b.set(sum, new);
        let [low, high] = pointer.map(|p| b.get(p));
        let by = i64::from(self.step) * 4;
        let [by_low, by_high] = [by as u32, (by >> 32) as u32].map(|c| b.c32(c));
        let moved = add_halves(b, [low, by_low], [high, by_high]);
        pointer.into_iter().zip(moved).for_each(|(var, half)| b.set(var, half));
        let limit = b.c32(self.limit);
        let goes_on = b.bin(BinOp::Ne, next, limit);
        b.open();
        b.push(Stmt::Break);
        let otherwise = b.close();
        b.push(Stmt::If { cond: goes_on, then: Vec::new(), otherwise });
    }

    /// Runs it on the device and on the evaluator.
    fn agrees(&self, backend: &mut WgpuBackend, budget: u64) {
        let program = Arc::new(self.program());
        verify(&program).unwrap();
        let id = backend.compile(&program, Holding::Lane).unwrap();
        let launch = Launch { budget, ..launch(id, 1, 1) };
        let memory = || {
            let input = (0..INPUT_BYTES).map(|i| (i * 7 % 251) as u8).collect();
            Memory::default().map(INPUT, input).map(OUTPUT, vec![3; OUTPUT_BYTES as usize])
        };
        let (expected, found) = (memory(), memory());
        let wanted = eval::run(&program, &launch, &expected);
        let completion = run(backend, vec![launch], &found);
        match (wanted, completion.fault) {
            (Ok(effect), None) => assert_eq!(effect.stored, completion.done[0].stored, "{self:?}"),
            (Err(wanted), Some(fault)) => assert_eq!(wanted.code, fault.code, "{self:?}"),
            (wanted, fault) => panic!("{self:?}: {:?} is wanted, {fault:?} found", wanted.map(|_| ())),
        }
        assert_eq!(expected.all(), found.all(), "{self:?}");
    }
}

/// Loops that stay in their windows, leave them at either end, end before the budget, with it and never.
#[test]
fn loops_checked_ahead_do_what_they_would() {
    let mut backend = patient();
    // Words of the input are 1024; what starts 16 words before it comes in with the stored page's neighbours absent.
    let ends =
        [(0, 8, 1, 0), (0, 64, 32, 0), (0, 992, 31, 0), (992, 0, -32, 0), (0, 1024, 32, 0), (32, 0, -1, 0)];
    let odd = [(0, 8, 1, 2), (0, 9, 2, 0), (u32::MAX, 3, 1, 64), (0, 40, 8, 0xf00), (7, 3, -4, 0x20)];
    for (start, limit, step, base) in ends.into_iter().chain(odd) {
        for shape in SHAPES {
            for stores in [false, true] {
                Walk { shape, start, limit, step, base, stores }.agrees(&mut backend, 300);
            }
        }
    }
}

fn loops(block: &naga::Block) -> usize {
    let inside = |statement: &naga::Statement| match statement {
        naga::Statement::Block(block) => loops(block),
        naga::Statement::If { accept, reject, .. } => loops(accept) + loops(reject),
        naga::Statement::Loop { body, .. } => 1 + loops(body),
        _ => 0,
    };
    block.iter().map(inside).sum()
}

#[test]
fn loops_that_count_to_a_number_are_made_in_groups_one_by_one_and_with_all_checks() {
    let host = patient().host_mut().clone();
    let options = Options {
        holding: Holding::Lane,
        fidelity: Fidelity::Exact,
        waves_per_group: 1,
        ragged: false,
        slots_apart: true,
        direct: true,
        hoisted: false,
        pointers: true,
        quiet: true,
        resumes: false,
        workgroups: None,
    };
    for shape in SHAPES {
        for (step, versions) in [(8, 3), (0, 1)] {
            let walk = Walk { shape, start: 0, limit: 40, step, base: 0, stores: false };
            let lowered = lower(&walk.program(), &host, &options).unwrap();
            assert_eq!(loops(&lowered.module.entry_points[0].function.body), versions, "{walk:?}");
        }
    }
}

#[test]
fn budgets_end_loops_checked_ahead_where_they_would_end_others() {
    let mut backend = patient();
    let walk = Walk { shape: Shape::Indexed, start: 0, limit: 20, step: 1, base: 0, stores: false };
    (18..23).for_each(|budget| walk.agrees(&mut backend, budget));
}
