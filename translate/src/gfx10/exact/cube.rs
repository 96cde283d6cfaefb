//! Cube map face selection. The sources are the coordinates x, y and z.

use guestwave_isa::gfx10::Op;

use super::format::Format::F32;
use super::row::{Exact, Output, Sources, VectorRow, value};
use crate::program::{UnOp, Value};

/// The axis of the largest magnitude, z before y before x: x if neither of the two.
struct Major {
    z: Value,
    y: Value,
    /// The coordinate of that axis.
    coordinate: Value,
    /// Whether it is below zero.
    negative: Value,
}

impl Exact<'_> {
    /// Denormals count as zeros, and a comparison with a NaN fails.
    fn major(&self, sources: Sources) -> Major {
        let [x, y, z] = sources.map(|s| self.select(self.is_tiny(F32, s), self.c32(0), self.size(F32, s)));
        // What is not above infinity is no NaN, nor is what it is not below.
        let numeric = |size| self.le_u(size, F32.infinity());
        let is_z = self.and(self.le_u(self.max_u(x, y), z), numeric(z));
        let is_y = self.and(self.not(is_z), self.and(self.le_u(x, y), numeric(y)));
        let of = |[x, y, z]: Sources| self.select(is_z, z, self.select(is_y, y, x));
        let (coordinate, size) = (of(sources), of([x, y, z]));
        let counts = self.lt_u(self.sub(size, 1), F32.infinity());
        Major { z: is_z, y: is_y, coordinate, negative: self.and(self.lt_s(coordinate, 0), counts) }
    }

    /// 0 for +x, 1 for -x, then y and z.
    fn cube_face(&self, sources: Sources) -> Value {
        let major = self.major(sources);
        let axis = self.select(major.z, self.c32(4), self.select(major.y, self.c32(2), 0));
        self.un(UnOp::F32FromU32, self.add(axis, self.number(major.negative)))
    }

    /// A coordinate passed on, negated or not.
    fn cube_coordinate(&self, bits: Value, negate: Value) -> Value {
        let signed = self.xor(bits, self.shl(self.number(negate), 31));
        self.quieted(F32, self.is_nan(F32, bits), signed)
    }

    fn cube_s(&self, sources: Sources) -> Value {
        let [x, _, z] = sources;
        let major = self.major(sources);
        let is_x = self.not(self.or(major.z, major.y));
        let negate = self.or(self.and(major.z, major.negative), self.and(is_x, self.not(major.negative)));
        self.cube_coordinate(self.select(is_x, z, x), negate)
    }

    fn cube_t(&self, sources: Sources) -> Value {
        let [_, y, z] = sources;
        let major = self.major(sources);
        let negate = self.or(self.not(major.y), major.negative);
        self.cube_coordinate(self.select(major.y, z, y), negate)
    }

    /// Twice the major coordinate; zeros and denormals give +0.
    fn cube_major(&self, sources: Sources) -> Value {
        let coordinate = self.major(sources).coordinate;
        let double = self.float_mul(F32, coordinate, self.constant(F32.ty(), F32.power(1)));
        self.select(self.is_tiny(F32, coordinate), self.c32(0), double)
    }
}

/// Rows of this subject.
pub(super) const ROWS: &[VectorRow] = &[
    value(Op::V_CUBEID_F32, |e, s| e.cube_face(s), Output::F32),
    value(Op::V_CUBESC_F32, |e, s| e.cube_s(s), Output::F32),
    value(Op::V_CUBETC_F32, |e, s| e.cube_t(s), Output::F32),
    value(Op::V_CUBEMA_F32, |e, s| e.cube_major(s), Output::F32),
];
