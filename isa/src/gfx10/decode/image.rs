//! MIMG: how many address registers an image instruction has, and which.

use super::{DecodeErrorKind, Flags, Inst, Mods, Operand, Reader, Result, bits};
use crate::gfx10::ImageMods;
use crate::gfx10::names::dim;
use crate::gfx10::table::OpRow;

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
        self.check_atomic(&mods)?;
        match mods.nsa_dwords {
            0 => self.check_sequence(first, mods.addr_count)?,
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
        let data = if self.row.src[3].is_some() { inst.src[3] } else { inst.dst[0] };
        self.check_vgprs(data, inst.data_dwords())
    }

    /// An atomic works on one or two dwords, a compare-and-swap on as many pairs.
    fn check_atomic(&self, mods: &ImageMods) -> Result<()> {
        let (op, dmask) = (self.row.op, mods.dmask);
        let masks: [u8; 2] = if self.row.has(Flags::PAIR) { [3, 15] } else { [1, 3] };
        match self.row.has(Flags::RTN) && !masks.contains(&dmask) {
            true => Err(DecodeErrorKind::ImageData { op, dmask }),
            false => Ok(()),
        }
    }

    fn last_word(&self) -> u32 {
        self.words.get(usize::from(self.len) - 1).copied().unwrap_or(0)
    }

    fn check_sequence(&self, first: u8, needed: u8) -> Result<()> {
        let given = most_addresses(self.row);
        if needed > given {
            return Err(DecodeErrorKind::ImageAddress { op: self.row.op, needed, given });
        }
        self.check_vgprs(Operand::Vgpr(first), needed)
    }

    fn check_nsa(&self, needed: u8, dwords: u8) -> Result<()> {
        let given = 1 + 4 * dwords;
        let most = most_addresses(self.row);
        // There is no form for one register, or with a dword that no dimension of the operation needs.
        if needed < 2 || needed > given.min(most) || given > most + 3 {
            return Err(DecodeErrorKind::ImageAddress { op: self.row.op, needed, given });
        }
        Ok(())
    }
}

/// Address dwords of an operation in its largest dimension. Multisampled images have no samplers and no mip levels.
fn most_addresses(row: &OpRow) -> u8 {
    let multisampled = row.src[2].is_none() && !row.has(Flags::LOD);
    let dims = if multisampled { 0..8 } else { 0..6 };
    let count = |dim| address_count(row, &ImageMods { dim, ..ImageMods::default() });
    dims.map(count).max().unwrap_or(0)
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
