//! Denormals made zeros of their sign, in four lanes: no selection, but a mask of the bits that stay.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Ir};
use guestwave_translate::program::{BinOp, Expr, Type, Value};

use super::super::Lowering;
use super::Quad;

/// Bits of a float's sign, and of its least normal number.
const F32: (u64, u64) = (1 << 31, 1 << 23);
const F64: (u64, u64) = (1 << 63, 1 << 52);

impl Lowering<'_, '_> {
    /// The float that `cond ? arm : other` flushes: `|other| < least normal ? sign of other : other`.
    pub(super) fn flushed_by(&self, cond: Value, arm: Value, other: Value) -> Option<Value> {
        let (sign, least) = if self.ty(other) == Type::B64 { F64 } else { F32 };
        let Some(Expr::Bin(BinOp::LtU, size, bound)) = self.definition(cond) else { return None };
        let magnitude = self.masked_with(size, other, sign - 1);
        let signed = self.masked_with(arm, other, sign);
        (magnitude && signed && self.constant(bound) == Some(least)).then_some(other)
    }

    /// Whether `value` is `of & mask`.
    fn masked_with(&self, value: Value, of: Value, mask: u64) -> bool {
        matches!(self.definition(value), Some(Expr::Bin(BinOp::And, x, y)) if x == of && self.constant(y) == Some(mask))
    }

    pub(super) fn flushed(&mut self, x: Value) -> Quad {
        let quad = self.quad(x);
        if self.ty(x) == Type::B64 {
            let halves = self.wide(quad);
            return Quad::Wide(halves.map(|half| self.flushed_vector(half, F64)));
        }
        let four = self.four(quad);
        Quad::Four(self.flushed_vector(four, F32))
    }

    fn flushed_vector(&mut self, v: Ir, (sign, least): (u64, u64)) -> Ir {
        let [sign, magnitude, largest] = [sign, sign - 1, least - 1].map(|bits| self.alike(v, bits));
        let size = self.b.ins().band(v, magnitude);
        // Without its sign, a float is a positive integer.
        let normal = self.b.ins().icmp(IntCC::SignedGreaterThan, size, largest);
        let stays = self.b.ins().bor(normal, sign);
        self.b.ins().band(v, stays)
    }

    /// `bits` in all elements of a vector like `v`.
    fn alike(&mut self, v: Ir, bits: u64) -> Ir {
        let ty = self.b.func.dfg.value_type(v);
        let (low, high) = (bits as u32, (bits >> 32) as u32);
        let wide = ty.lane_type().bits() == 64;
        let v = self.vector_constant(if wide { [low, high, low, high] } else { [low; 4] });
        self.cast(ty, v)
    }
}
