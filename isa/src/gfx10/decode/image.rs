//! MIMG: how many address registers an image instruction has, and which.

use super::{DecodeErrorKind, Flags, Inst, Mods, Operand, Reader, Result, bits};
use crate::gfx10::ImageMods;
use crate::gfx10::table::{OpRow, dim};

/// The most address registers that the non-sequential form holds: one and three dwords of four.
const MAX_ADDRESSES: u8 = 13;

impl Reader<'_> {
    pub(super) fn image(&self) -> Mods {
        let bvh = self.row.has(Flags::BVH);
        Mods::Image(ImageMods {
            dmask: self.byte(bits::MIMG_DMASK),
            dim: self.byte(bits::MIMG_DIM),
            unorm: bits::MIMG_UNORM.is_set(self.bits),
            glc: bits::MIMG_GLC.is_set(self.bits),
            slc: bits::MIMG_SLC.is_set(self.bits),
            dlc: bits::MIMG_DLC.is_set(self.bits),
            r128: bits::MIMG_R128.is_set(self.bits) && !bvh,
            a16: bits::MIMG_A16.is_set(self.bits),
            d16: bits::MIMG_D16.is_set(self.bits),
            tfe: bits::MIMG_TFE.is_set(self.bits),
            lwe: bits::MIMG_LWE.is_set(self.bits),
            nsa_dwords: self.byte(bits::MIMG_NSA),
            ..ImageMods::default()
        })
    }

    /// Lists the address registers and checks that they and the data exist.
    pub(super) fn finish_image(&mut self, inst: &mut Inst) -> Result<()> {
        let Mods::Image(mut mods) = inst.mods else { return Ok(()) };
        let first = bits::MIMG_VADDR.of(self.bits) as u8;
        mods.addr_count = address_count(self.row, &mods);
        match mods.nsa_dwords {
            0 => self.check_vgprs(Operand::Vgpr(first), mods.addr_count)?,
            dwords => self.check_nsa(mods.addr_count, dwords)?,
        }
        mods.addr[0] = first;
        for i in 1..=4 * mods.nsa_dwords {
            let word = if i % 4 == 1 { self.next_word()? } else { self.last_word() };
            mods.addr[usize::from(i)] = word.to_le_bytes()[usize::from((i - 1) % 4)];
        }
        for i in mods.addr_count.max(1)..MAX_ADDRESSES {
            mods.addr[usize::from(i)] = 0;
        }
        if mods.nsa_dwords == 0 {
            for i in 1..mods.addr_count {
                mods.addr[usize::from(i)] = first.wrapping_add(i);
            }
        }
        inst.mods = Mods::Image(mods);
        if self.row.has(Flags::RTN) && !mods.glc {
            inst.dst[0] = Operand::None;
        }
        let data = if self.row.src[3].is_some() { inst.src[3] } else { inst.dst[0] };
        self.check_vgprs(data, inst.data_dwords())
    }

    fn last_word(&self) -> u32 {
        self.words.get(usize::from(self.len) - 1).copied().unwrap_or(0)
    }

    fn check_nsa(&self, needed: u8, dwords: u8) -> Result<()> {
        let given = 1 + 4 * dwords;
        if needed > given {
            return Err(DecodeErrorKind::ImageAddress { op: self.row.op, needed, given });
        }
        Ok(())
    }
}

/// Address dwords of an operation: offset, bias and compare value, gradients, then coordinates and LOD or clamp.
/// A16 packs coordinates and LOD in halves, G16 the gradients.
fn address_count(row: &OpRow, mods: &ImageMods) -> u8 {
    if row.has(Flags::BVH) {
        return match (row.has(Flags::NODE64), mods.a16) {
            (false, false) => 11,
            (false, true) => 8,
            (true, false) => 12,
            (true, true) => 9,
        };
    }
    let dim = dim(mods.dim);
    let one = |flag| u8::from(row.has(flag));
    let extra = one(Flags::TEXEL_OFFSET) + one(Flags::BIAS) + one(Flags::COMPARE);
    let coordinates = one(Flags::COORD) * dim.coordinates + one(Flags::LOD);
    let packed = if row.has(Flags::G16) { (dim.gradients / 2).next_multiple_of(2) } else { dim.gradients };
    let gradients = one(Flags::GRADIENT) * packed;
    extra + gradients + if mods.a16 { coordinates.div_ceil(2) } else { coordinates }
}
