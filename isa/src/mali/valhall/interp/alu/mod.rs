//! The value-level meaning of arithmetic: components of a result from components of sources.
//!
//! Sources have been selected, widened, inverted and given their signs when they come here; a component is the low bits of a
//! `u64`. Nothing here knows registers.

mod bits;
mod compare;
mod convert;
mod float;
mod integer;

pub(in crate::mali::valhall::interp) use float::encoded;

use crate::mali::valhall::{Inst, Op, Ty};

/// What an operation is given: the instruction for its modifiers, and the components of its sources.
pub(super) struct Args<'a> {
    pub(super) inst: &'a Inst,
    /// Components by source.
    pub(super) sources: [[u64; 4]; 4],
}

/// One component of each source.
pub(super) struct Lane<'a> {
    pub(super) inst: &'a Inst,
    pub(super) s: [u64; 4],
}

impl Lane<'_> {
    /// The type of the result.
    fn ty(&self) -> Ty {
        self.inst.row.ty
    }

    /// Source `i` as a number of the source type, extended by its sign.
    fn number(&self, i: usize) -> i128 {
        number(self.s[i], self.inst.row.from)
    }
}

/// The number that the low bits of `bits` are.
fn number(bits: u64, ty: Ty) -> i128 {
    let unused = 64 - u32::from(ty.bits());
    let top = bits << unused;
    if ty.signed() { i128::from(top as i64 >> unused) } else { i128::from(top >> unused) }
}

/// The component bits of a type.
pub(super) fn mask(ty: Ty) -> u64 {
    u64::MAX >> (64 - u32::from(ty.bits()))
}

/// How an operation is carried out.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// Component by component.
    Each(fn(&Lane<'_>) -> u64),
    /// The whole result at once.
    Whole(fn(&Args<'_>) -> u64),
}

const SUBJECTS: &[&[(Op, Meaning)]] = &[bits::ROWS, compare::ROWS, convert::ROWS, float::ROWS, integer::ROWS];

/// The meaning of an arithmetic operation, `None` if it has none.
pub(super) fn meaning(op: Op) -> Option<Meaning> {
    SUBJECTS.iter().copied().flatten().find(|row| row.0 == op).map(|row| row.1)
}

/// The result of an instruction: 64 bits, of which a 32-bit destination takes the low half.
pub(super) fn result(meaning: Meaning, args: &Args<'_>) -> u64 {
    let ty = args.inst.row.ty;
    match meaning {
        Meaning::Whole(f) => f(args),
        Meaning::Each(f) => {
            let lane = |k: usize| {
                let s = [0, 1, 2, 3].map(|i: usize| args.sources[i][k]);
                f(&Lane { inst: args.inst, s }) & mask(ty)
            };
            // One 16-bit component goes to whichever half of the destination is written.
            let halves = if ty == Ty::F16 { 2 } else { ty.count() };
            (0..halves).fold(0, |all, k| all | lane(k.min(ty.count() - 1)) << (k * usize::from(ty.bits())))
        }
    }
}
