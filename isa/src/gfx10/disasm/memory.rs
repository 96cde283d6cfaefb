//! Memory instructions but images, and exports.

use super::constant::small;
use super::{Encoding, Flags, Mods, Operand, Text};
use crate::format;
use crate::gfx10::BufferMods;
use crate::gfx10::names::{EXPORTS, ranged};

/// The format that MTBUF does not name.
const DEFAULT_FORMAT: u8 = 1;

impl Text<'_> {
    /// The data of a store or an atomic, or else the destination of a load.
    fn data(&mut self, source: usize) {
        if self.row.src[source].is_some() {
            let text = self.source(source);
            self.operands.push(text);
        } else {
            self.destination(0);
        }
    }

    fn push_source(&mut self, i: usize) {
        if self.row.src[i].is_some() {
            let text = self.source(i);
            self.operands.push(text);
        }
    }

    /// SOFFSET hides an immediate offset beside it.
    pub(super) fn scalar_memory(&mut self) {
        let Mods::Smem { offset, glc, dlc } = self.inst.mods else { return };
        if self.has(Flags::PROBE) {
            self.operands.push(small(self.inst.words[0] as u16 >> 6 & 0x7f));
        }
        self.data(2);
        self.push_source(0);
        match self.inst.src[1] {
            _ if self.row.src[1].is_none() => {}
            Operand::None => self.operands.push(signed_hex(offset)),
            _ => self.push_source(1),
        }
        self.flag_mod("glc", glc);
        self.flag_mod("dlc", dlc);
    }

    pub(super) fn data_share(&mut self) {
        let Mods::Ds { offset0, offset1, gds } = self.inst.mods else { return };
        self.plain_operands();
        let offset = u16::from_le_bytes([offset0, offset1]);
        if self.has(Flags::PAIR) {
            self.value_mod("offset0", offset0.into());
            self.value_mod("offset1", offset1.into());
        } else if self.has(Flags::SWIZZLE) && offset != 0 {
            self.mods.push_str(&format!(" offset:{}", swizzle(offset)));
        } else {
            self.value_mod("offset", offset.into());
        }
        self.flag_mod("gds", gds);
    }

    pub(super) fn buffer(&mut self) {
        let Mods::Buffer(mods) = self.inst.mods else { return };
        self.data(3);
        if self.row.src[0].is_some() {
            self.buffer_address();
        }
        self.push_source(1);
        self.push_source(2);
        if self.inst.encoding == Encoding::Mtbuf {
            self.format(mods.format);
        }
        self.buffer_mods(&mods);
    }

    fn buffer_address(&mut self) {
        let text = match self.inst.src[0] {
            Operand::Vgpr(first) => super::operand::vgprs(first, self.inst.address_dwords()),
            _ => "off".to_owned(),
        };
        self.operands.push(text);
    }

    fn format(&mut self, number: u8) {
        match format::gfx10(number) {
            _ if number == DEFAULT_FORMAT => {}
            _ if number == 0 => self.mods.push_str(" format:[BUF_FMT_INVALID]"),
            Some((_, name)) => self.mods.push_str(&format!(" format:[BUF_FMT_{name}]")),
            None => self.value_mod("format", number.into()),
        }
    }

    fn buffer_mods(&mut self, mods: &BufferMods) {
        self.flag_mod("idxen", mods.idxen);
        self.flag_mod("offen", mods.offen);
        self.value_mod("offset", mods.offset.into());
        let flags =
            [("glc", mods.glc), ("slc", mods.slc), ("dlc", mods.dlc), ("tfe", mods.tfe), ("lds", mods.lds)];
        for (name, set) in flags {
            self.flag_mod(name, set);
        }
    }

    pub(super) fn flat(&mut self) {
        let Mods::Flat(mods) = self.inst.mods else { return };
        if self.inst.dst[0] != Operand::None {
            self.destination(0);
        }
        if self.row.src[0].is_some() {
            self.buffer_address();
        }
        self.push_source(1);
        self.push_source(2);
        self.value_mod("offset", mods.offset.into());
        for (name, set) in [("glc", mods.glc), ("slc", mods.slc), ("dlc", mods.dlc)] {
            self.flag_mod(name, set);
        }
    }

    pub(super) fn export(&mut self) {
        let Mods::Export { target, en, compr, done, vm } = self.inst.mods else { return };
        for i in 0..4 {
            // Compressed exports hold two components a register.
            let text = match en >> i & 1 {
                0 => "off".to_owned(),
                _ => self.source(if compr { i / 2 } else { i }),
            };
            self.operands.push(text);
        }
        if let Some(first) = self.operands.first_mut() {
            let target = ranged(&EXPORTS, target.into()).unwrap_or_default();
            *first = format!("{target} {first}");
        }
        for (name, set) in [("done", done), ("compr", compr), ("vm", vm)] {
            self.flag_mod(name, set);
        }
    }
}

fn signed_hex(value: i32) -> String {
    match value {
        0.. => format!("{value:#x}"),
        _ => format!("-{:#x}", value.unsigned_abs()),
    }
}

/// The pattern of `ds_swizzle_b32`.
fn swizzle(offset: u16) -> String {
    if offset & 0xff00 == 0x8000 {
        let [a, b, c, d] = [0, 2, 4, 6].map(|shift| offset >> shift & 3);
        return format!("swizzle(QUAD_PERM,{a},{b},{c},{d})");
    }
    if offset & 0x8000 != 0 {
        return offset.to_string();
    }
    let [and, or, xor] = [0, 5, 10].map(|shift| offset >> shift & 31);
    let group = 32 - and;
    if and == 31 && or == 0 && xor.is_power_of_two() {
        format!("swizzle(SWAP,{xor})")
    } else if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
        format!("swizzle(REVERSE,{})", xor + 1)
    } else if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
        format!("swizzle(BROADCAST,{group},{or})")
    } else {
        format!("swizzle(BITMASK_PERM,\"{}\")", bitmask([and, or, xor]))
    }
}

/// For each bit of the lane number, high first: cleared, set, kept or inverted.
fn bitmask([and, or, xor]: [u16; 3]) -> String {
    let map = |lane: u16| ((lane & and) | or) ^ xor;
    let letter = |bit: u16| match (map(0) >> bit & 1, map(31) >> bit & 1) {
        (0, 0) => '0',
        (0, _) => 'p',
        (_, 0) => 'i',
        _ => '1',
    };
    (0..5).rev().map(letter).collect()
}
