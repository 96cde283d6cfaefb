//! MIMG.

use super::operand::vgprs;
use super::{Flags, Mods, Operand, Text};
use crate::gfx10::ImageMods;
use crate::gfx10::names::dim;

/// Where more than eight address registers stand, LLVM names sixteen, up to the last sixteen.
const WIDE_RUN: u8 = 16;
const LAST_WIDE_RUN: u8 = 240;

impl Text<'_> {
    pub(super) fn image(&mut self) {
        let Mods::Image(mods) = self.inst.mods else { return };
        if let Operand::Vgpr(first) =
            if self.row.src[3].is_some() { self.inst.src[3] } else { self.inst.dst[0] }
        {
            self.operands.push(vgprs(first, self.inst.data_dwords()));
        }
        self.operands.push(addresses(&mods));
        for i in [1, 2] {
            if self.row.src[i].is_some() {
                let text = self.source(i);
                self.operands.push(text);
            }
        }
        if self.has(Flags::BVH) {
            self.flag_mod("a16", mods.a16);
        } else {
            self.image_mods(&mods);
        }
    }

    fn image_mods(&mut self, mods: &ImageMods) {
        if mods.dmask != 0 {
            self.mods.push_str(&format!(" dmask:{:#x}", mods.dmask));
        }
        self.mods.push_str(&format!(" dim:{}", dim(mods.dim).name));
        let flags = [
            ("unorm", mods.unorm),
            ("glc", mods.glc),
            ("slc", mods.slc),
            ("dlc", mods.dlc),
            ("r128", mods.r128),
            ("a16", mods.a16),
            ("tfe", mods.tfe),
            ("lwe", mods.lwe),
            ("d16", mods.d16),
        ];
        for (name, set) in flags {
            self.flag_mod(name, set);
        }
    }
}

/// A run of registers, or the list of them in the non-sequential form.
fn addresses(mods: &ImageMods) -> String {
    let count = usize::from(mods.addr_count).min(mods.addr.len());
    match mods.nsa_dwords {
        0 if mods.addr_count > 8 && mods.addr[0] <= LAST_WIDE_RUN => vgprs(mods.addr[0], WIDE_RUN),
        0 => vgprs(mods.addr[0], mods.addr_count),
        _ => {
            format!("[{}]", mods.addr[..count].iter().map(|v| format!("v{v}")).collect::<Vec<_>>().join(", "))
        }
    }
}
