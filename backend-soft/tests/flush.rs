//! Denormals made zeros of their sign, as exact sequences do it.

#[cfg(test)]
mod support;

use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, Program, Space, TriOp, UnOp, Value, Width,
};
use proptest::prelude::*;
use support::{Arena, agree, launch};

const INPUT: u64 = 0x10_0000;
const OUTPUT: u64 = 0x20_0000;
const LANES: usize = 32;

/// The lane's 64 bits from `base` on.
fn place(b: &mut Builder, base: u64) -> Access {
    let (lane, stride, valid) = (b.builtin(Builtin::Lane), b.c32(8), b.c32(8));
    let offset = b.bin(BinOp::Mul, lane, stride);
    let (base, offset) = (b.c64(base), b.un(UnOp::Extend, offset));
    let address = b.bin(BinOp::Add, base, offset);
    Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None }
}

/// `|x| < bound ? x & kept : x`, where `|x|` is `x & magnitude`.
fn flush(b: &mut Builder, x: Value, [magnitude, bound, kept]: [Value; 3]) -> Value {
    let size = b.bin(BinOp::And, x, magnitude);
    let tiny = b.bin(BinOp::LtU, size, bound);
    let small = b.bin(BinOp::And, x, kept);
    b.tri(TriOp::Select, tiny, small, x)
}

/// Flushes two f32s a lane.
fn singles(bound: u32, kept: u32) -> Program {
    let mut b = Builder::new("singles", LANES as u8);
    let from = place(&mut b, INPUT);
    let found = b.load(2, from);
    let constants = [0x7fff_ffff, bound, kept].map(|c| b.c32(c));
    let flushed = found.into_iter().map(|x| flush(&mut b, x, constants)).collect();
    let to = place(&mut b, OUTPUT);
    b.store(flushed, to);
    b.finish()
}

/// Flushes an f64 a lane.
fn doubles() -> Program {
    let mut b = Builder::new("doubles", LANES as u8);
    let from = place(&mut b, INPUT);
    let found = b.load(2, from);
    let x = b.bin(BinOp::Pack, found[0], found[1]);
    let constants = [i64::MAX as u64, 1 << 52, 1 << 63].map(|c| b.c64(c));
    let flushed = flush(&mut b, x, constants);
    let halves = [UnOp::Low, UnOp::High].map(|op| b.un(op, flushed));
    let to = place(&mut b, OUTPUT);
    b.store(halves.into(), to);
    b.finish()
}

/// Any bits, and many near the ends of the denormals.
fn word() -> impl Strategy<Value = u32> {
    let near = (
        prop::sample::select(vec![0u32, 1 << 23, 0x7f80_0000, 1 << 20, 0x7ff0_0000]),
        0u32..3,
        any::<bool>(),
    );
    let near =
        near.prop_map(|(at, by, negative)| at.wrapping_add(by).wrapping_sub(1) | u32::from(negative) << 31);
    prop_oneof![any::<u32>(), near]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Sequences that only look like it keep their own meaning.
    #[test]
    fn denormals(words in prop::collection::vec(word(), 2 * LANES)) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let arena = Arena::new().with(INPUT, &bytes).with(OUTPUT, &[0; 8 * LANES]);
        let looks = [(1 << 23, 1 << 31), (1 << 22, 1 << 31), (1 << 23, 3 << 30)];
        for (bound, kept) in looks {
            agree(&singles(bound, kept), &launch(1, 1), &arena).0.unwrap();
        }
        agree(&doubles(), &launch(1, 1), &arena).0.unwrap();
    }
}
