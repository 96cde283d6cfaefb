//! Read-modify-write operations of all memories.

use super::StopKind;
use super::machine::{Machine, Place};

/// From the old value, the first data operand, and the second, to the new value. All are of the operation's width.
pub(super) type Modify = fn(Operands) -> u64;

/// What an atomic operation sees.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    pub old: u64,
    pub data: u64,
    /// The second data operand: what a compare-and-swap compares with, what `mskor` sets.
    pub other: u64,
    /// 4 or 8.
    pub bytes: u32,
}

impl Operands {
    fn signed(&self, value: u64) -> i64 {
        match self.bytes {
            4 => i64::from(value as u32 as i32),
            _ => value as i64,
        }
    }

    fn float(&self, value: u64) -> f64 {
        match self.bytes {
            4 => f64::from(f32::from_bits(value as u32)),
            _ => f64::from_bits(value),
        }
    }

    /// The data if `wins`, else the old value.
    fn choose(&self, wins: bool) -> u64 {
        if wins { self.data } else { self.old }
    }
}

/// One atomic operation as the mnemonics of buffer, flat and scalar memory name it.
pub(super) struct AtomicRow {
    /// The mnemonic between `atomic_` and `_x2`.
    pub name: &'static str,
    pub modify: Modify,
    /// Registers of data: 2 for compare and swap.
    pub operands: u8,
}

const fn row(name: &'static str, modify: Modify) -> AtomicRow {
    AtomicRow { name, modify, operands: 1 }
}

const fn compare(name: &'static str, modify: Modify) -> AtomicRow {
    AtomicRow { name, modify, operands: 2 }
}

/// Floats compare as numbers: a NaN wins nothing, and zeros of both signs are equal.
pub(super) const ATOMICS: &[AtomicRow] = &[
    row("swap", SWAP),
    compare("cmpswap", CMPSWAP),
    row("add", ADD),
    row("sub", SUB),
    row("csub", |o| o.old.saturating_sub(o.data)),
    row("smin", SMIN),
    row("umin", UMIN),
    row("smax", SMAX),
    row("umax", UMAX),
    row("and", AND),
    row("or", OR),
    row("xor", XOR),
    row("inc", INC),
    row("dec", DEC),
    compare("fcmpswap", FCMPSWAP),
    row("fmin", FMIN),
    row("fmax", FMAX),
];

pub(super) const SWAP: Modify = |o| o.data;
pub(super) const CMPSWAP: Modify = |o| o.choose(o.old == o.other);
pub(super) const ADD: Modify = |o| o.old.wrapping_add(o.data);
pub(super) const SUB: Modify = |o| o.old.wrapping_sub(o.data);
pub(super) const RSUB: Modify = |o| o.data.wrapping_sub(o.old);
pub(super) const SMIN: Modify = |o| o.choose(o.signed(o.data) < o.signed(o.old));
pub(super) const UMIN: Modify = |o| o.choose(o.data < o.old);
pub(super) const SMAX: Modify = |o| o.choose(o.signed(o.data) > o.signed(o.old));
pub(super) const UMAX: Modify = |o| o.choose(o.data > o.old);
pub(super) const AND: Modify = |o| o.old & o.data;
pub(super) const OR: Modify = |o| o.old | o.data;
pub(super) const XOR: Modify = |o| o.old ^ o.data;
pub(super) const INC: Modify = |o| if o.old >= o.data { 0 } else { o.old + 1 };
pub(super) const DEC: Modify = |o| if o.old == 0 || o.old > o.data { o.data } else { o.old - 1 };
pub(super) const MSKOR: Modify = |o| o.old & !o.data | o.other;
pub(super) const WRAP: Modify =
    |o| if o.old >= o.data { o.old - o.data } else { o.old.wrapping_add(o.other) };
pub(super) const FCMPSWAP: Modify = |o| o.choose(o.float(o.old) == o.float(o.other));
pub(super) const FMIN: Modify = |o| o.choose(o.float(o.data) < o.float(o.old));
pub(super) const FMAX: Modify = |o| o.choose(o.float(o.data) > o.float(o.old));

impl Machine<'_> {
    /// Carries out an atomic operation of `bytes` (4 or 8) at an aligned place and returns the old value.
    pub(super) fn atomic(
        &mut self,
        place: Place,
        bytes: u32,
        modify: Modify,
        data: u64,
        other: u64,
    ) -> Result<u64, StopKind> {
        let place = place.aligned(bytes)?;
        let mut word = [0; 8];
        let size = bytes as usize;
        self.read(place, &mut word[..size])?;
        let old = u64::from_le_bytes(word);
        let new = modify(Operands { old, data, other, bytes });
        self.write(place, &new.to_le_bytes()[..size])?;
        Ok(old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(modify: Modify, bytes: u32, old: u64, data: u64, other: u64) -> u64 {
        modify(Operands { old, data, other, bytes }) & (u64::MAX >> (64 - 8 * bytes))
    }

    #[test]
    fn rows() {
        let nan = u64::from(f32::NAN.to_bits());
        let f = |v: f32| u64::from(v.to_bits());
        let minus = 0xffff_fffe;
        for (modify, old, data, other, new) in [
            (ADD, 0xffff_ffff, 2, 0, 1),
            (SUB, 1, 2, 0, 0xffff_ffff),
            (RSUB, 1, 5, 0, 4),
            (SMIN, 1, minus, 0, minus),
            (UMIN, 1, minus, 0, 1),
            (SMAX, 1, minus, 0, 1),
            (UMAX, 1, minus, 0, minus),
            (INC, 7, 7, 0, 0),
            (INC, 6, 7, 0, 7),
            (DEC, 0, 7, 0, 7),
            (DEC, 9, 7, 0, 7),
            (DEC, 5, 7, 0, 4),
            (CMPSWAP, 3, 8, 3, 8),
            (CMPSWAP, 4, 8, 3, 4),
            (MSKOR, 0xff, 0x0f, 0x03, 0xf3),
            (WRAP, 9, 4, 100, 5),
            (WRAP, 3, 4, 100, 103),
            (FMIN, f(1.0), f(-2.0), 0, f(-2.0)),
            (FMIN, f(1.0), nan, 0, f(1.0)),
            (FMAX, nan, f(1.0), 0, nan),
            (FMAX, f(-0.0), f(0.0), 0, f(-0.0)),
            (FCMPSWAP, f(-0.0), f(3.0), f(0.0), f(3.0)),
            (FCMPSWAP, nan, f(3.0), nan, nan),
        ] {
            assert_eq!(apply(modify, 4, old, data, other), new);
        }
        assert_eq!(apply(SMIN, 8, 1, u64::MAX, 0), u64::MAX);
        assert_eq!(apply(INC, 8, u64::MAX, u64::MAX, 0), 0);
    }

    #[test]
    fn clamped_subtraction() {
        let csub = ATOMICS.iter().find(|row| row.name == "csub").unwrap();
        assert_eq!(apply(csub.modify, 4, 5, 7, 0), 0);
        assert_eq!(apply(csub.modify, 4, 7, 5, 0), 2);
    }
}
