//! Programs in which the order of lanes shows.

use super::*;

/// The order of lanes shows in what each gets, and the atomic stands behind other statements of the lanes.
pub(super) fn lanes_take_turns_at_words_of_64_bits() -> Worked {
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
pub(super) fn an_atomic_s_unit_begins_before_its_address() -> Worked {
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
pub(super) fn sums_of_two_widths_keep_their_order() -> Worked {
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

pub(super) fn lanes_store_in_order_in_a_branch_of_the_wave() -> Worked {
    let make = |b: &mut Builder| {
        let (some, four, none) = (first_48(b), b.c32(4), b.c32(0));
        let valid = b.select(some, four, none);
        in_a_branch_of_the_wave(b, |b| store_in_turn(b, Some(valid)));
    };
    let left = Left { stored: stored(64), words: in_a_row(32..48) };
    Worked { ends: Ok(left), ..one_wave("lanes store in order in a branch of the wave", 64, make, []) }
}

pub(super) fn lanes_store_in_order_where_some_stay_away() -> Worked {
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

pub(super) fn lanes_that_are_no_step_apart_store_in_order() -> Worked {
    let name = "lanes that are no step apart store in order";
    let left = Left { stored: stored(4), words: vec![(0, 47)] };
    Worked { ends: Ok(left), ..one_wave(name, 64, |b| store_apart(b, 0), []) }
}

pub(super) fn lanes_that_are_a_step_apart_store_beside_each_other() -> Worked {
    let name = "lanes that are a step apart store beside each other";
    let left = Left { stored: stored(192), words: in_a_row(0..48) };
    Worked { ends: Ok(left), ..one_wave(name, 64, |b| store_apart(b, 4), []) }
}

pub(super) fn lanes_meet_in_a_branch_of_the_wave() -> Worked {
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
