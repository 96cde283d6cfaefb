//! One row a vector operation: its function, and what becomes of the function's result.

use super::output::{carry, finish, fit};
use super::{Mode, Output};
use crate::gfx10::{Op, VopMods};

/// Source bits in the order of [`Inst::src`](crate::gfx10::Inst::src), zero-extended.
///
/// A 16-bit source stands in the low bits whatever half of the register it came from. NEG and ABS have been
/// applied, except for [`VectorOp::Packed`].
pub type Sources = [u64; 3];

/// What an operation computes for one lane.
#[derive(Clone, Copy, Debug)]
pub enum VectorOp {
    /// The destination's bits.
    Value(fn(&Mode, Sources) -> u64),
    /// The exact integer: it wraps to the destination's width, or with CLAMP saturates at the destination's range.
    Integer(fn(Sources) -> i128),
    /// The exact integer, which wraps to the destination's width whatever CLAMP says.
    Wrapping(fn(Sources) -> i128),
    /// The destination's bits from the sources and CLAMP.
    Clamped(fn(Sources, bool) -> u64),
    /// An exact integer from the sources and the lane's bit of the source mask (false if the operation reads no
    /// mask). The lane's bit of the destination mask is the bit above the destination's width.
    Carry(fn(Sources, bool) -> i128),
    /// The destination's bits from the sources and the lane's bit of the source mask.
    MaskIn(fn(&Mode, Sources, bool) -> u64),
    /// The destination's bits and the lane's bit of the destination mask.
    MaskOut(fn(&Mode, Sources) -> (u64, bool)),
    /// The lane's bit of the destination mask.
    Compare(fn(&Mode, Sources) -> bool),
    /// VOP3P and the packed VOP2 operations: whole source dwords without any modifier applied, and the modifiers
    /// OP_SEL, OP_SEL_HI, NEG, NEG_HI and CLAMP, which the function applies itself.
    Packed(fn(&Mode, [u32; 3], &VopMods) -> u32),
    /// `v_mqsad_u32_u8`: a 64-bit source, a 32-bit one, four accumulators that give four dwords, and CLAMP.
    Quad(fn(u64, u32, [u32; 4], bool) -> [u32; 4]),
}

/// What an operation leaves for one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The destination's bits, zero-extended; 0 for [`VectorOp::Compare`].
    pub value: u64,
    /// The lane's bit of the destination mask; false where there is none.
    pub mask: bool,
}

/// One vector operation.
#[derive(Clone, Copy, Debug)]
pub struct VectorRow {
    /// The operation.
    pub op: Op,
    /// What it computes.
    pub kind: VectorOp,
    /// The type of the destination: its width, and how output modifiers apply.
    pub output: Output,
    /// Public documents give only an error bound; the result is this project's documented choice within it.
    pub approximate: bool,
}

impl VectorRow {
    /// Computes one lane: the function, then OMOD and CLAMP as the destination's type has them.
    ///
    /// `mask` is the lane's bit of the source mask where the operation reads one. [`VectorOp::Quad`] has too wide
    /// operands for this and gives zeros; call its function.
    pub fn evaluate(&self, mode: &Mode, sources: Sources, mask: bool, mods: &VopMods) -> Outcome {
        let value = |bits| finish(mode, self.output, bits, mods.omod, mods.clamp);
        match self.kind {
            VectorOp::Value(f) => Outcome { value: value(f(mode, sources)), mask: false },
            VectorOp::Integer(f) => Outcome { value: fit(self.output, f(sources), mods.clamp), mask: false },
            VectorOp::Wrapping(f) => Outcome { value: fit(self.output, f(sources), false), mask: false },
            VectorOp::Clamped(f) => Outcome { value: f(sources, mods.clamp), mask: false },
            VectorOp::Carry(f) => {
                let exact = f(sources, mask);
                Outcome { value: fit(self.output, exact, mods.clamp), mask: carry(self.output, exact) }
            }
            VectorOp::MaskIn(f) => Outcome { value: value(f(mode, sources, mask)), mask: false },
            VectorOp::MaskOut(f) => {
                let (bits, mask) = f(mode, sources);
                Outcome { value: value(bits), mask }
            }
            VectorOp::Compare(f) => Outcome { value: 0, mask: f(mode, sources) },
            VectorOp::Packed(f) => {
                Outcome { value: u64::from(f(mode, sources.map(|s| s as u32), mods)), mask: false }
            }
            VectorOp::Quad(_) => Outcome { value: 0, mask: false },
        }
    }

    /// A row whose results are exact.
    pub(super) const fn new(op: Op, kind: VectorOp, output: Output) -> VectorRow {
        VectorRow { op, kind, output, approximate: false }
    }

    /// A row whose results public documents only bound.
    pub(super) const fn approximate(op: Op, kind: VectorOp, output: Output) -> VectorRow {
        VectorRow { op, kind, output, approximate: true }
    }
}
