//! Operands that are worth a comparison: edges of every format, numbers near each other, near products, near ties.

use guestwave_isa::gfx10::NumberKind;

use super::machine::Lane;

/// What bits a source has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) number: NumberKind,
    pub(super) bits: u16,
}

/// A small generator of random bits (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    fn pick(&mut self, from: &[u64]) -> u64 {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Fraction and exponent bits of a float of so many bits.
fn format(bits: u16) -> (u32, u32) {
    match bits {
        16 => (10, 5),
        32 => (23, 8),
        _ => (52, 11),
    }
}

fn float_edges(bits: u16) -> Vec<u64> {
    let (fraction, exponent) = format(bits);
    let (one, infinity) = (((1u64 << (exponent - 1)) - 1) << fraction, ((1u64 << exponent) - 1) << fraction);
    let ulp = 1u64 << fraction;
    let mut all = vec![
        0,
        1,
        2,
        ulp / 2,
        ulp - 1,
        ulp,
        ulp + 1,
        2 * ulp,
        one - 1,
        one,
        one + 1,
        one - ulp,
        one - 2 * ulp,
        one + ulp,
        one + ulp / 2,
        one + ulp + ulp / 2,
        one + u64::from(fraction) * ulp,
        one + u64::from(fraction - 1) * ulp + 1,
        infinity - ulp,
        infinity - 1,
        infinity,
        infinity + 1,
        infinity + ulp / 2,
        infinity + ulp / 2 + 5,
        infinity + ulp / 4 + 1,
        infinity + ulp - 1,
    ];
    all.extend(all.clone().into_iter().map(|e| e | 1 << (bits - 1)));
    all
}

fn integer_edges(bits: u16) -> Vec<u64> {
    let top = 1u64 << (bits - 1);
    let all = [
        0, 1, 2, 3, 4, 5, 8, 12, 13, 15, 16, 24, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7fff, 0x8000,
        0xffff,
    ];
    let signed = [top - 1, top, top + 1, u64::MAX, u64::MAX - 1, 0x80_0000, 0xff_ffff];
    all.into_iter().chain(signed).map(|e| e & (u64::MAX >> (64 - bits))).collect()
}

fn edges(kind: Kind) -> Vec<u64> {
    match kind.number {
        NumberKind::Float => float_edges(kind.bits),
        NumberKind::PackedFloat => {
            let halves = float_edges(16);
            let high = halves.iter().rev();
            halves.iter().zip(high).map(|(l, h)| l | h << 16).chain(float_edges(32)).collect()
        }
        _ => integer_edges(kind.bits),
    }
}

/// A float whose exponent is near that of 1, with few bits or many.
fn plain_float(r: &mut Random, bits: u16) -> u64 {
    let (fraction, exponent) = format(bits);
    let spread = if r.below(4) == 0 { (1 << exponent) - 2 } else { 2 * u64::from(fraction) };
    let middle = (1u64 << (exponent - 1)) - 1;
    let field = (middle + r.below(spread)).saturating_sub(spread / 2) % (1 << exponent);
    let cut = r.below(u64::from(fraction) + 1);
    let mantissa = (r.bits() & ((1 << fraction) - 1)) >> cut << cut;
    (r.below(2) << (bits - 1)) | field << fraction | mantissa
}

/// A number a few units of its last place, or a few powers of two, from another.
fn near(r: &mut Random, other: u64, bits: u16) -> u64 {
    let (fraction, _) = format(bits);
    let moved = match r.below(3) {
        0 => other.wrapping_add(r.below(9)).wrapping_sub(4),
        1 => other.wrapping_add(r.below(7) << fraction).wrapping_sub(3 << fraction),
        _ => other ^ (r.bits() & 0xff),
    };
    (moved ^ (r.below(2) << (bits - 1))) & (u64::MAX >> (64 - bits))
}

/// Minus the product of two floats, or a neighbour, so that a sum with the product cancels or ties.
fn near_product(r: &mut Random, [a, b]: [u64; 2], bits: u16) -> u64 {
    let product = match bits {
        32 => u64::from((f32::from_bits(a as u32) * f32::from_bits(b as u32)).to_bits()),
        64 => (f64::from_bits(a) * f64::from_bits(b)).to_bits(),
        _ => a.wrapping_add(b).wrapping_sub(0x3c00),
    };
    let (fraction, _) = format(bits);
    let far = r.below(2 * u64::from(fraction) + 4) << fraction;
    let shifted = if r.below(2) == 0 { product } else { product.wrapping_add(far) };
    near(r, shifted, bits)
}

fn random(r: &mut Random, kind: Kind, before: &[u64]) -> u64 {
    let all = u64::MAX >> (64 - kind.bits);
    let float = kind.number == NumberKind::Float;
    let bits = match (r.below(6), before) {
        (0, _) => r.pick(&edges(kind)),
        (1 | 2, _) if float => plain_float(r, kind.bits),
        (3, [.., last]) if float => near(r, *last, kind.bits),
        (4, [a, b]) if float => near_product(r, [*a, *b], kind.bits),
        (1, _) if kind.number == NumberKind::PackedFloat => plain_float(r, 16) | plain_float(r, 16) << 16,
        (1, [.., last]) => *last,
        (2, _) if kind.number == NumberKind::PackedFloat => plain_float(r, 32),
        (2, _) => r.below(70),
        _ => r.bits(),
    };
    bits & all
}

/// Every pair of edges of the first two sources, every f16 of a single one, and `random` others.
pub(super) fn operands(kinds: &[Kind], count: usize, seed: u64) -> Vec<Lane> {
    let mut r = Random(seed);
    let mut lanes: Vec<Lane> =
        systematic(kinds).into_iter().map(|s| Lane { sources: s, mask: false }).collect();
    for lane in &mut lanes {
        if let Some(kind) = kinds.get(2) {
            lane.sources[2] = r.pick(&edges(*kind));
        }
    }
    for _ in 0..count {
        let mut sources = Vec::new();
        for kind in kinds.iter().take(3) {
            let next = random(&mut r, *kind, &sources);
            sources.push(next);
        }
        sources.resize(3, 0);
        lanes.push(Lane { sources: [sources[0], sources[1], sources[2]], mask: false });
    }
    for lane in &mut lanes {
        lane.mask = r.below(2) == 1;
    }
    lanes
}

fn systematic(kinds: &[Kind]) -> Vec<[u64; 3]> {
    match kinds {
        [one] if one.bits == 16 => (0..0x1_0000).map(|a| [a, 0, 0]).collect(),
        [one] => edges(*one).into_iter().map(|a| [a, 0, 0]).collect(),
        [first, second, ..] => {
            let seconds = edges(*second);
            let pairs = edges(*first).into_iter().flat_map(|a| seconds.iter().map(move |b| [a, *b, 0]));
            pairs.collect()
        }
        [] => Vec::new(),
    }
}
