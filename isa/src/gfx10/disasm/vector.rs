//! The vector ALU encodings: suffixes, source modifiers, DPP, SDWA.

use super::{Encoding, Flags, Mods, Operand, Text};
use crate::gfx10::names::{DPP, ranged};
use crate::gfx10::{LaneForm, Sdwa, SdwaSel, SdwaUnused, VopMods};

/// The texts of OMOD 1 to 3.
const OMODS: [&str; 3] = ["mul:2", "mul:4", "div:2"];

const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

impl Text<'_> {
    /// `_e32`, `_e64`, `_dpp` or `_sdwa` for operations that come in more than one vector encoding.
    pub(super) fn suffix(&self) -> &'static str {
        match (self.inst.encoding, self.vop_mods().lane) {
            (Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc, LaneForm::Sdwa(_)) => "_sdwa",
            (Encoding::Vop1 | Encoding::Vop2, LaneForm::Dpp8 { .. } | LaneForm::Dpp16 { .. }) => "_dpp",
            (Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc, _) if self.has(Flags::BARE) => "",
            (Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vintrp, _) => "_e32",
            (Encoding::Vop3, _) if self.has(Flags::E64) => "_e64",
            _ => "",
        }
    }

    fn vop_mods(&self) -> VopMods {
        if let Mods::Vop(mods) = self.inst.mods { mods } else { VopMods::default() }
    }

    pub(super) fn vector(&mut self) {
        self.destination(0);
        self.destination(1);
        for i in 0..self.row.src_places.len() {
            if self.is_written_out(i) {
                let text = self.modified_source(i);
                self.operands.push(text);
                self.attribute_after(i);
            }
        }
        let mods = self.vop_mods();
        match self.inst.encoding {
            Encoding::Vop3p => self.packed_mods(&mods),
            Encoding::Vop3 => self.vop3_mods(&mods),
            _ => self.lane_mods(&mods),
        }
    }

    fn modified_source(&self, i: usize) -> String {
        let text = match (self.inst.src[i], self.row.src[i]) {
            (Operand::Int(code), Some(spec)) if spec.bits == 2 => {
                ["p10", "p20", "p0"][code.clamp(0, 2) as usize].to_owned()
            }
            (Operand::Literal(word), _) if self.row.src_places[i] == super::Place::Literal => {
                format!("{word:#x}")
            }
            _ => self.source(i),
        };
        let mods = self.vop_mods();
        let packed = self.inst.encoding == Encoding::Vop3p && !self.has(Flags::MIX);
        let set = |mask: u8| mask >> i & 1 != 0 && !packed;
        let sext = matches!(mods.lane, LaneForm::Sdwa(s) if s.src_sext.get(i) == Some(&true));
        if sext || set(mods.neg & self.row.int_mods) {
            return format!("sext({text})");
        }
        let constant = matches!(self.inst.src[i], Operand::Int(_) | Operand::Float(_) | Operand::Literal(_));
        match (set(mods.neg), set(mods.abs)) {
            (true, false) if constant => format!("neg({text})"),
            (true, false) => format!("-{text}"),
            (false, true) => format!("|{text}|"),
            (true, true) => format!("-|{text}|"),
            (false, false) => text,
        }
    }

    /// The attribute of an interpolation stands after the first source.
    fn attribute_after(&mut self, i: usize) {
        let (attr, chan) = match self.inst.mods {
            Mods::Interp { attr, chan } => (attr, chan),
            Mods::Vop(m) if self.has(Flags::ATTR) => (m.attr, m.chan),
            _ => return,
        };
        if i == 0 {
            self.operands.push(format!("attr{attr}.{}", COMPONENTS[usize::from(chan & 3)]));
        }
    }

    fn clamp_and_omod(&mut self, mods: &VopMods) {
        self.flag_mod("clamp", mods.clamp);
        if let Some(text) = usize::from(mods.omod).checked_sub(1).and_then(|i| OMODS.get(i)) {
            self.flag_mod(text, true);
        }
    }

    fn source_count(&self) -> u8 {
        (0..3).filter(|i| self.is_written_out(*i)).count() as u8
    }

    /// One bit an operand, unless all of them are `usual`.
    fn bit_list(&mut self, name: &str, bits: u8, count: u8, usual: u8) {
        let list: Vec<String> = (0..count).map(|i| (bits >> i & 1).to_string()).collect();
        if (0..count).any(|i| bits >> i & 1 != usual) {
            self.mods.push_str(&format!(" {name}:[{}]", list.join(",")));
        }
    }

    fn vop3_mods(&mut self, mods: &VopMods) {
        let sources = self.source_count();
        if self.has(Flags::NODST) {
            self.bit_list("op_sel", mods.op_sel, 2, 0);
        } else if self.has(Flags::OPSEL) {
            let written = mods.op_sel & ((1 << sources) - 1) | (mods.op_sel >> 3 & 1) << sources;
            self.bit_list("op_sel", written, sources + 1, 0);
        }
        self.flag_mod("high", self.has(Flags::HIGH) && mods.op_sel & 1 != 0);
        self.clamp_and_omod(mods);
    }

    fn packed_mods(&mut self, mods: &VopMods) {
        let count = if self.row.src[2].is_some() { 3 } else { 2 };
        let mixed = self.has(Flags::MIX);
        self.bit_list("op_sel", mods.op_sel, count, 0);
        self.bit_list("op_sel_hi", mods.op_sel_hi, count, u8::from(!mixed));
        if !mixed {
            self.bit_list("neg_lo", mods.neg, count, 0);
            self.bit_list("neg_hi", mods.abs, count, 0);
        }
        self.clamp_and_omod(mods);
    }

    fn lane_mods(&mut self, mods: &VopMods) {
        match mods.lane {
            LaneForm::None => {}
            LaneForm::Sdwa(sdwa) => {
                self.clamp_and_omod(mods);
                self.sdwa(&sdwa);
            }
            LaneForm::Dpp8 { sel, fetch_inactive } => {
                let lanes = sel.map(|s| s.to_string()).join(",");
                self.mods.push_str(&format!(" dpp8:[{lanes}]"));
                self.flag_mod("fi:1", fetch_inactive);
            }
            LaneForm::Dpp16 { ctrl, row_mask, bank_mask, bound_ctrl, fetch_inactive } => {
                self.mods.push_str(&format!(
                    " {} row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}",
                    dpp_ctrl(ctrl)
                ));
                self.flag_mod("bound_ctrl:1", bound_ctrl);
                self.flag_mod("fi:1", fetch_inactive);
            }
        }
    }

    fn sdwa(&mut self, sdwa: &Sdwa) {
        if self.inst.encoding != Encoding::Vopc {
            self.mods.push_str(&format!(
                " dst_sel:{} dst_unused:{}",
                sel(sdwa.dst_sel),
                unused(sdwa.dst_unused)
            ));
        }
        let sources = if self.inst.encoding == Encoding::Vop1 { 1 } else { 2 };
        for (i, part) in sdwa.src_sel.iter().take(sources).enumerate() {
            self.mods.push_str(&format!(" src{i}_sel:{}", sel(*part)));
        }
    }
}

fn dpp_ctrl(ctrl: u16) -> String {
    ranged(&DPP, ctrl).unwrap_or_else(|| {
        let [a, b, c, d] = [0, 2, 4, 6].map(|shift| ctrl >> shift & 3);
        format!("quad_perm:[{a},{b},{c},{d}]")
    })
}

fn sel(part: SdwaSel) -> &'static str {
    match part {
        SdwaSel::Byte0 => "BYTE_0",
        SdwaSel::Byte1 => "BYTE_1",
        SdwaSel::Byte2 => "BYTE_2",
        SdwaSel::Byte3 => "BYTE_3",
        SdwaSel::Word0 => "WORD_0",
        SdwaSel::Word1 => "WORD_1",
        SdwaSel::Dword | SdwaSel::Reserved => "DWORD",
    }
}

fn unused(rest: SdwaUnused) -> &'static str {
    match rest {
        SdwaUnused::Pad | SdwaUnused::Reserved => "UNUSED_PAD",
        SdwaUnused::Sext => "UNUSED_SEXT",
        SdwaUnused::Preserve => "UNUSED_PRESERVE",
    }
}
