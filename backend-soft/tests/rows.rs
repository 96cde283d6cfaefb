//! Accesses of lanes that lie in a row, all in one place, or apart, with memory that ends anywhere.

#[cfg(test)]
mod support;

use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, Program, Space, Type, UnOp, Value, Width,
};
use proptest::prelude::*;
use support::memory::Offer;
use support::{Arena, agree, launch};

const INPUT: u64 = 0x10_0000;
const OUTPUT: u64 = 0x20_0000;
const LANES: u32 = 64;

/// `base + lane * stride`; a stride of 0 gives the same in all lanes, without the form telling.
fn address(b: &mut Builder, base: u64, stride: u32) -> Value {
    let (lane, stride) = (b.builtin(Builtin::Lane), b.c32(stride));
    let offset = b.bin(BinOp::Mul, lane, stride);
    let (base, offset) = (b.c64(base), b.un(UnOp::Extend, offset));
    b.bin(BinOp::Add, base, offset)
}

/// Bytes that lanes have: all of them, or others where the number of the lane, of which some bits count, reaches a bound.
#[derive(Clone, Copy, Debug)]
struct Lanes {
    bits: u32,
    bound: u32,
    others: u32,
}

const ALL: Lanes = Lanes { bits: 0, bound: 1, others: 0 };

fn valid(b: &mut Builder, all: u32, lanes: Lanes) -> Value {
    let (lane, bits, bound) = (b.builtin(Builtin::Lane), b.c32(lanes.bits), b.c32(lanes.bound));
    let counts = b.bin(BinOp::And, lane, bits);
    let below = b.bin(BinOp::LtU, counts, bound);
    let (all, others) = (b.c32(all), b.c32(lanes.others));
    b.select(below, all, others)
}

/// Copies `units` dwords a lane.
fn copier(units: u32, strides: [u32; 2], offset: u32, lanes: Lanes) -> Program {
    let mut b = Builder::new("copier", LANES as u8);
    let access = |b: &mut Builder, base: u64, stride: u32| {
        let (address, valid) = (address(b, base, stride), valid(b, 4 * units, lanes));
        Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None }
    };
    let from = access(&mut b, INPUT + u64::from(offset), strides[0]);
    let loaded = b.load(units as usize, from);
    let to = access(&mut b, OUTPUT + u64::from(offset), strides[1]);
    b.store(loaded, to);
    b.finish()
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * i / 3 + 5) as u8).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn copies(units in 1u32..6, row in any::<[bool; 2]>(), strides in [0u32..9, 1u32..9], offset in 0u32..9, short in 0usize..40, copied in any::<bool>()) {
        let stride = |i: usize| if row[i] { 4 * units } else { 4 * strides[i] };
        let program = copier(units, [stride(0), stride(1)], offset, ALL);
        let whole = |i: usize| (offset + (LANES - 1) * stride(i) + 4 * units) as usize;
        let offer = if copied { Offer::Copied } else { Offer::InPlace };
        // Some bytes too few, and the access faults at the end.
        let input = whole(0).saturating_sub(short.saturating_sub(30)).max(1);
        let arena = Arena::new()
            .with_segment(INPUT, &bytes(input), false, offer)
            .with(OUTPUT, &bytes(whole(1)));
        let _ = agree(&program, &launch(2, 1), &arena);
    }

    /// Some lanes are away, or have a part of their units.
    #[test]
    fn copies_of_some_lanes(units in 1u32..6, row in any::<[bool; 2]>(), bits in 0u32..64, bound in 0u32..66, others in 0u32..9, short in 0u32..40) {
        let stride = |i: usize| if row[i] { 4 * units } else { 24 };
        let lanes = Lanes { bits, bound, others };
        let program = copier(units, [stride(0), stride(1)], 4, lanes);
        let whole = |i: usize| (4 + LANES * stride(i)) as usize;
        let output = whole(1) - short.saturating_sub(30) as usize;
        let arena = Arena::new().with(INPUT, &bytes(whole(0))).with(OUTPUT, &bytes(output));
        let _ = agree(&program, &launch(2, 1), &arena);
    }

    /// Divisors above, below and equal to the dividends, and 0.
    #[test]
    fn divisions(factor in 0u32..5, divisor in 0u32..200) {
        let mut b = Builder::new("division", LANES as u8);
        let (lane, factor, divisor) = (b.builtin(Builtin::Lane), b.c32(factor), b.c32(divisor));
        let dividend = b.bin(BinOp::Mul, lane, factor);
        let results = [BinOp::DivU, BinOp::RemU].map(|op| b.bin(op, dividend, divisor));
        assert!(results.iter().all(|v| b.info(*v).ty == Type::B32));
        let (address, valid) = (address(&mut b, OUTPUT, 8), b.c32(8));
        b.store(results.into(), Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None });
        agree(&b.finish(), &launch(1, 1), &Arena::new().with(OUTPUT, &[0; 512])).0.unwrap();
    }
}
