//! Addresses of 64 bits that guests add up in halves, with carries, and the other forms that look like it.

#[cfg(test)]
mod support;

use guestwave_translate::program::{Access, BinOp, Builder, Builtin, Program, Space, UnOp, Value, Width};
use proptest::prelude::*;
use support::{Arena, agree, launch};

const LANES: u32 = 32;
const OUTPUT: u64 = 0x20_0000;

/// How a sum is written down.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// The carry is found by the second low half, not the first.
    by_second: bool,
    /// The carry is the first summand of the high half.
    carry_first: bool,
    /// High halves the other way round.
    crossed: bool,
    /// The second number has no high half.
    narrow: bool,
    /// What only looks like a carry.
    wrong: Option<Wrong>,
}

#[derive(Clone, Copy, Debug)]
enum Wrong {
    /// The comparison is the other way round.
    Turned,
    /// With another number than went into the sum.
    Other,
    /// Of or below.
    Equal,
}

/// Halves of `base + lane * stride`, as `form` says.
fn halves(b: &mut Builder, base: u64, stride: u32, form: Form) -> [Value; 2] {
    let (low, high) = (b.c32(base as u32), b.c32((base >> 32) as u32));
    let (lane, stride) = (b.builtin(Builtin::Lane), b.c32(stride));
    let product = b.bin(BinOp::Mul, lane, stride);
    let wide = b.un(UnOp::ExtendS, product);
    let wide = b.shift(BinOp::Shl, wide, 2);
    let (own_low, own_high) = (b.un(UnOp::Low, wide), b.un(UnOp::High, wide));
    let sum = b.bin(BinOp::Add, low, own_low);
    let than = if form.by_second { own_low } else { low };
    let carry = match form.wrong {
        None => b.bin(BinOp::LtU, sum, than),
        Some(Wrong::Turned) => b.bin(BinOp::LtU, than, sum),
        Some(Wrong::Other) => b.bin(BinOp::LtU, sum, own_high),
        Some(Wrong::Equal) => b.bin(BinOp::LeU, sum, than),
    };
    let carry = b.un(UnOp::FromBool, carry);
    let rest = match (form.narrow, form.crossed) {
        (true, _) => high,
        (false, false) => b.bin(BinOp::Add, high, own_high),
        (false, true) => b.bin(BinOp::Add, own_high, high),
    };
    let top = if form.carry_first { b.bin(BinOp::Add, carry, rest) } else { b.bin(BinOp::Add, rest, carry) };
    [sum, top]
}

/// Each lane loads what stands at its sum, if that is there, and shows the sum.
fn program(base: u64, stride: u32, form: Form, loads: bool) -> Program {
    let mut b = Builder::new("sums", LANES as u8);
    let [low, high] = halves(&mut b, base, stride, form);
    let address = b.bin(BinOp::Pack, low, high);
    let four = b.c32(4);
    let at = |address, valid| Access {
        space: Space::Global,
        address,
        valid,
        width: Width::W32,
        pc: 0,
        slot: None,
    };
    let found = if loads { b.load(1, at(address, four))[0] } else { b.builtin(Builtin::Lane) };
    let moved = b.with_constant(BinOp::Add, address, 0x1_0000_0001);
    let shown = [low, high, found, b.un(UnOp::Low, moved), b.un(UnOp::High, moved)];
    let lane = b.builtin(Builtin::Lane);
    let offset = b.with_constant(BinOp::Mul, lane, 20);
    let (start, offset) = (b.c64(OUTPUT), b.un(UnOp::Extend, offset));
    let (to, twenty) = (b.bin(BinOp::Add, start, offset), b.c32(20));
    b.store(shown.into(), at(to, twenty));
    b.finish()
}

fn forms() -> impl Strategy<Value = Form> {
    let wrong = prop_oneof![
        5 => Just(None),
        1 => Just(Some(Wrong::Turned)),
        1 => Just(Some(Wrong::Other)),
        1 => Just(Some(Wrong::Equal)),
    ];
    (any::<[bool; 4]>(), wrong).prop_map(|([by_second, carry_first, crossed, narrow], wrong)| Form {
        by_second,
        carry_first,
        crossed,
        narrow,
        wrong,
    })
}

fn memory() -> Arena {
    let bytes: Vec<u8> = (0..0x2000u32).map(|i| (i * i / 5) as u8).collect();
    // Over the end of the first 4 GiB, with the same below.
    let arena = Arena::new().with(OUTPUT, &[0; 20 * LANES as usize]).with(0xffff_f000, &bytes);
    arena.with(0x5_ffff_f000, &bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_are_what_their_halves_say(base in any::<u64>(), stride in any::<u32>(), form in forms()) {
        agree(&program(base, stride, form, false), &launch(1, 1), &memory()).0.unwrap();
    }

    /// Lanes in a row or not, on both sides of a carry.
    #[test]
    fn lanes_load_at_their_sums(first in prop_oneof![Just(0xffff_f000u64), Just(0x5_ffff_f000)], before in 0u64..0x200, stride in -2i32..5, form in forms()) {
        let base = first + 0x1000 - 4 * before;
        let _ = agree(&program(base, stride as u32, form, true), &launch(1, 1), &memory());
    }
}
