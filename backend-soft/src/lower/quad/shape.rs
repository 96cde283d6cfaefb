//! Changes of shape: splats, elements, halves, widths.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    ConstantData, Endianness, Immediate, InstBuilder, InstructionData, MemFlagsData, Opcode, Type as IrType,
    Value as Ir, types,
};
use guestwave_translate::program::Type;

use super::super::Lowering;
use super::Quad;

/// Flags of a bitcast between vectors of different lanes, which keeps the bytes in order.
pub(super) fn cast_flags() -> MemFlagsData {
    MemFlagsData::new().with_endianness(Endianness::Little)
}

/// Which dwords of two vectors, 0 to 3 of the first and 4 to 7 of the second, stand in a third.
pub(super) type Dwords = [u8; 4];

impl Lowering<'_, '_> {
    /// Four dwords.
    pub(super) fn vector_constant(&mut self, dwords: [u32; 4]) -> Ir {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        let constant = self.b.func.dfg.constants.insert(ConstantData::from(bytes.as_slice()));
        self.b.ins().vconst(types::I32X4, constant)
    }

    pub(super) fn splat32(&mut self, bits: u32) -> Ir {
        self.vector_constant([bits; 4])
    }

    /// Whether a mask is set in all lanes.
    pub(super) fn all_true(&mut self, mask: Ir) -> Ir {
        if !self.host.signs {
            return self.b.ins().vall_true(mask);
        }
        let mask = self.cast(types::I32X4, mask);
        let signs = self.b.ins().vhigh_bits(types::I32, mask);
        self.b.ins().icmp_imm_u(IntCC::Equal, signs, 0b1111)
    }

    /// `v` as a vector of type `ty`, bit for bit.
    pub(super) fn cast(&mut self, ty: IrType, v: Ir) -> Ir {
        let from = self.b.func.dfg.value_type(v);
        match from {
            _ if from == ty => v,
            _ if from.lane_count() == ty.lane_count() => self.b.ins().bitcast(ty, MemFlagsData::new(), v),
            _ => self.b.ins().bitcast(ty, cast_flags(), v),
        }
    }

    /// A vector of chosen dwords of `x` and `y`.
    pub(super) fn shuffled(&mut self, x: Ir, y: Ir, dwords: Dwords) -> Ir {
        let (x, y) = (self.cast(types::I8X16, x), self.cast(types::I8X16, y));
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| (0..4).map(move |i| d * 4 + i)).collect();
        let mask: Immediate = self.b.func.dfg.immediates.push(ConstantData::from(bytes.as_slice()));
        let v = self.b.ins().shuffle(x, y, mask);
        self.cast(types::I32X4, v)
    }

    /// A `B32` or `Bool` as four integers; a `Bool` as masks.
    pub(super) fn four(&mut self, quad: Quad) -> Ir {
        match quad {
            Quad::Four(v) => self.cast(types::I32X4, v),
            Quad::One(v) => self.four_alike(v),
            // No operation takes 64 bits for 32.
            Quad::Wide([v, _]) => self.cast(types::I32X4, v),
        }
    }

    /// A `B32` as four floats.
    pub(super) fn four_floats(&mut self, quad: Quad) -> Ir {
        match quad {
            Quad::One(v) if self.b.func.dfg.value_type(v) == types::F32 => {
                self.b.ins().splat(types::F32X4, v)
            }
            Quad::Four(v) => self.cast(types::F32X4, v),
            quad => {
                let v = self.four(quad);
                self.cast(types::F32X4, v)
            }
        }
    }

    fn four_alike(&mut self, v: Ir) -> Ir {
        let v = self.as_int(v);
        let is_bool = self.b.func.dfg.value_type(v) == types::I8;
        match self.constant_bits(v) {
            Some(bits) if is_bool => self.splat32((bits as u32).wrapping_neg()),
            Some(bits) => self.splat32(bits as u32),
            None => {
                let v = if is_bool { self.mask_of(v) } else { v };
                self.b.ins().splat(types::I32X4, v)
            }
        }
    }

    fn wide_alike(&mut self, v: Ir) -> Ir {
        let v = self.as_int(v);
        match self.constant_bits(v) {
            Some(bits) => {
                let (low, high) = (bits as u32, (bits >> 32) as u32);
                let v = self.vector_constant([low, high, low, high]);
                self.cast(types::I64X2, v)
            }
            None => self.b.ins().splat(types::I64X2, v),
        }
    }

    /// The bits of an integer constant.
    pub(super) fn constant_bits(&self, v: Ir) -> Option<u64> {
        let inst = self.b.func.dfg.value_def(v).inst()?;
        match self.b.func.dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits() as u64),
            _ => None,
        }
    }

    /// A `B64` as two vectors of integers.
    pub(super) fn wide(&mut self, quad: Quad) -> [Ir; 2] {
        match quad {
            Quad::Wide(halves) => halves.map(|v| self.cast(types::I64X2, v)),
            Quad::One(v) => [self.wide_alike(v); 2],
            // No operation takes 32 bits for 64.
            Quad::Four(v) => [self.cast(types::I64X2, v); 2],
        }
    }

    /// A `B64` as two vectors of floats.
    pub(super) fn wide_floats(&mut self, quad: Quad) -> [Ir; 2] {
        self.wide(quad).map(|v| self.cast(types::F64X2, v))
    }

    /// Lane `i` of a value of type `ty`, as an integer.
    pub(super) fn lane_of(&mut self, quad: Quad, ty: Type, i: u8) -> Ir {
        match quad {
            Quad::One(v) => self.as_int(v),
            Quad::Wide(_) => {
                let half = self.wide(quad)[usize::from(i / 2)];
                self.b.ins().extractlane(half, i % 2)
            }
            Quad::Four(_) => {
                let v = self.four(quad);
                let v = self.b.ins().extractlane(v, i);
                if ty != Type::Bool {
                    return v;
                }
                let low = self.b.ins().ireduce(types::I8, v);
                self.b.ins().band_imm_u(low, 1)
            }
        }
    }

    /// A value of type `ty` of one scalar a lane.
    pub(super) fn of_lanes(&mut self, ty: Type, lanes: [Ir; 4]) -> Quad {
        let lanes = lanes.map(|v| self.as_int(v));
        match ty {
            Type::B64 => Quad::Wide([self.pair(lanes[0], lanes[1]), self.pair(lanes[2], lanes[3])]),
            Type::B32 => Quad::Four(self.vector_of(lanes)),
            Type::Bool => {
                let masks = lanes.map(|v| self.mask_of(v));
                Quad::Four(self.vector_of(masks))
            }
        }
    }

    fn pair(&mut self, first: Ir, second: Ir) -> Ir {
        let v = self.b.ins().scalar_to_vector(types::I64X2, first);
        self.b.ins().insertlane(v, second, 1)
    }

    pub(super) fn vector_of(&mut self, lanes: [Ir; 4]) -> Ir {
        let first = self.b.ins().scalar_to_vector(types::I32X4, lanes[0]);
        (1..4).fold(first, |v, i| self.b.ins().insertlane(v, lanes[usize::from(i)], i))
    }

    /// A mask of four lanes as masks of 64 bits.
    pub(super) fn wide_mask(&mut self, mask: Ir) -> [Ir; 2] {
        [self.b.ins().swiden_low(mask), self.b.ins().swiden_high(mask)]
    }

    /// The low (or high) dwords of four 64-bit lanes.
    pub(super) fn dwords_of(&mut self, [x, y]: [Ir; 2], high: bool) -> Ir {
        self.shuffled(x, y, if high { [1, 3, 5, 7] } else { [0, 2, 4, 6] })
    }

    /// Rows to columns: element i of result j is element j of `rows[i]`.
    pub(super) fn transposed(&mut self, rows: [Ir; 4]) -> [Ir; 4] {
        const LOW: Dwords = [0, 4, 1, 5];
        const HIGH: Dwords = [2, 6, 3, 7];
        let [a, b, c, d] = rows;
        let (ab, cd) = (self.shuffled(a, b, LOW), self.shuffled(c, d, LOW));
        let (ab_high, cd_high) = (self.shuffled(a, b, HIGH), self.shuffled(c, d, HIGH));
        [
            self.shuffled(ab, cd, [0, 1, 4, 5]),
            self.shuffled(ab, cd, [2, 3, 6, 7]),
            self.shuffled(ab_high, cd_high, [0, 1, 4, 5]),
            self.shuffled(ab_high, cd_high, [2, 3, 6, 7]),
        ]
    }
}
