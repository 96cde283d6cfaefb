//! Programs that compilers of modules got wrong, drivers' and ours: what they know of zeros, votes and NaNs.

use super::*;

/// A zero that is no constant of the program's, but that compilers find: a NaN times it is a NaN, and -0 and it are +0.
pub(super) fn zeros_that_follow_from_shifts_are_operands_like_others() -> Worked {
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
pub(super) fn votes_on_what_differs_from_a_number_s_bits() -> Worked {
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
pub(super) fn a_zero_that_a_loop_ends_at_is_a_factor_like_others() -> Worked {
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

/// Whether an f32 is a NaN, as translations ask it.
fn is_nan(b: &mut Builder, x: Value) -> Value {
    let (mask, infinity) = (b.c32(0x7fff_ffff), b.c32(0x7f80_0000));
    let size = b.bin(BinOp::And, x, mask);
    b.bin(BinOp::LtU, infinity, size)
}

pub(super) fn what_is_computed_for_nans_only_may_be_wanted_twice_there() -> Worked {
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
