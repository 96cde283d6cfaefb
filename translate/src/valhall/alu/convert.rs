//! Conversions between number formats, and rounding to integers.

use guestwave_isa::mali::valhall::{Inst, Op, field};

use super::Meaning::{self, Each, Whole};
use super::{Components, Lane, packed};
use crate::program::{BinOp, Builder, UnOp, Value};

/// Roundings of an f32 to an integer by the code of the rounding mode.
const INTEGRAL: [UnOp; 4] = [UnOp::RoundF32, UnOp::CeilF32, UnOp::FloorF32, UnOp::TruncF32];

impl Lane<'_> {
    fn integral(&mut self) -> Value {
        let x = self.single(0);
        let mode = self.inst.code(&field::ROUND);
        self.un(INTEGRAL[(mode & 3) as usize], x)
    }

    fn convert(&mut self) -> Value {
        let (from, to) = (self.inst.row.from, self.ty());
        match (from.float(), to.float()) {
            (true, true) => {
                let x = self.single(0);
                self.encoded(x)
            }
            (true, false) => self.integer_of_float(),
            (false, true) => {
                let op = if from.signed() { UnOp::F32FromS32 } else { UnOp::F32FromU32 };
                let x = self.un(op, self.s[0]);
                self.encoded(x)
            }
            // Integers have been extended already.
            (false, false) => self.s[0],
        }
    }

    fn integer_of_float(&mut self) -> Value {
        let x = self.integral();
        let (op, signed, bits) = (UnOp::S32FromF32, self.ty().signed(), self.bits());
        let number = self.un(if signed { op } else { UnOp::U32FromF32 }, x);
        match (bits, signed) {
            (32, _) => number,
            (_, false) => self.with(BinOp::MinU, number, (1 << bits) - 1),
            (_, true) => {
                let most = (1u32 << (bits - 1)) - 1;
                let below = self.with(BinOp::MinS, number, most.into());
                self.with(BinOp::MaxS, below, (!most).into())
            }
        }
    }

    fn round(&mut self) -> Value {
        let x = self.integral();
        self.encoded(x)
    }

    /// The f16 of an f32 in one of the four rounding modes.
    fn half(&mut self, single: Value) -> Value {
        let nearest = self.encoded(single);
        let back = self.un(UnOp::F32FromF16, nearest);
        let sign = self.b.shift(BinOp::ShrU, nearest, 15);
        let away = self.with(BinOp::Sub, sign, 1);
        // 1 below zero and -1 above: the step downwards; its negative is the step upwards.
        let down = self.with(BinOp::Or, away, 1);
        let (wrong, step) = match self.inst.code(&field::ROUND) {
            0 => return nearest,
            1 => (self.bin(BinOp::LtF32, back, single), self.un(UnOp::Neg, down)),
            2 => (self.bin(BinOp::LtF32, single, back), down),
            _ => {
                let [size, got] = [single, back].map(|x| self.with(BinOp::And, x, 0x7fff_ffff));
                (self.bin(BinOp::LtF32, size, got), self.b.c32(u32::MAX))
            }
        };
        let stepped = self.bin(BinOp::Add, nearest, step);
        self.select(wrong, stepped, nearest)
    }
}

fn pack(b: &mut Builder, inst: &Inst, s: [Components; 4]) -> Value {
    let halves = [0, 1].map(|i: usize| {
        let mut lane = Lane { b, inst, s: [s[i][0]; 4] };
        let half = lane.half(s[i][0]);
        lane.clamped_float(half)
    });
    packed(b, inst.row.ty, &halves)
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] =
    &[(Op::Convert, Each(|l| l.convert())), (Op::Fround, Each(|l| l.round())), (Op::PackHalves, Whole(pack))];
