//! SDWA: parts of source and destination dwords.

use guestwave_isa::gfx10::{Inst, Sdwa, SdwaSel, SdwaUnused};

use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Value};

/// First bit and width of a part; `None` for the reserved code.
const fn place(select: SdwaSel) -> Option<(u32, u32)> {
    Some(match select {
        SdwaSel::Byte0 => (0, 8),
        SdwaSel::Byte1 => (8, 8),
        SdwaSel::Byte2 => (16, 8),
        SdwaSel::Byte3 => (24, 8),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        SdwaSel::Dword => (0, 32),
        SdwaSel::Reserved => return None,
    })
}

impl Emit<'_> {
    fn part_place(&self, inst: &Inst, select: SdwaSel) -> Result<(u32, u32), Stop> {
        place(select).ok_or_else(|| self.refuse(inst, "a reserved SDWA selector"))
    }

    /// `width` bits of `value` that end `below` bits under the top, brought down.
    fn bring_down(&mut self, value: Value, below: u32, unused: u32, signed: bool) -> Value {
        let (left, right) = (self.b.c32(below), self.b.c32(unused));
        let top = self.b.bin(BinOp::Shl, value, left);
        self.b.bin(if signed { BinOp::ShrS } else { BinOp::ShrU }, top, right)
    }

    /// The part of source `index`.
    pub(super) fn extract_part(
        &mut self,
        inst: &Inst,
        form: &Sdwa,
        index: usize,
        dword: Value,
    ) -> Result<Value, Stop> {
        let (shift, width) = self.part_place(inst, form.src_sel[index])?;
        if width == 32 {
            return Ok(dword);
        }
        Ok(self.bring_down(dword, 32 - shift - width, 32 - width, form.src_sext[index]))
    }

    /// The destination dword from its old value and a result.
    pub(super) fn merge_part(
        &mut self,
        inst: &Inst,
        form: &Sdwa,
        old: Value,
        result: Value,
    ) -> Result<Value, Stop> {
        let (shift, width) = self.part_place(inst, form.dst_sel)?;
        if form.dst_unused == SdwaUnused::Reserved {
            return Err(self.refuse(inst, "a reserved SDWA dst_unused"));
        }
        let mask = (u32::MAX >> (32 - width)) << shift;
        let (amount, field, rest) = (self.b.c32(shift), self.b.c32(mask), self.b.c32(!mask));
        let shifted = self.b.bin(BinOp::Shl, result, amount);
        let placed = self.b.bin(BinOp::And, shifted, field);
        Ok(match form.dst_unused {
            SdwaUnused::Preserve => {
                let kept = self.b.bin(BinOp::And, old, rest);
                self.b.bin(BinOp::Or, kept, placed)
            }
            SdwaUnused::Sext => {
                let above = 32 - shift - width;
                self.bring_down(placed, above, above, true)
            }
            _ => placed,
        })
    }
}
