//! From [`Inst`] to the text that LLVM 14 prints.
//!
//! The text of one instruction is what `llvm-mc -disassemble` writes (single spaces, no comment): branch targets are
//! the SIMM16 as a number, which is also what `llvm-objdump` writes where no symbol stands at the target.
//! [`disassemble_program`] makes the lines of a whole program as `llvm-objdump -d` lists them, comment column and
//! `.long` for undecodable words included.
//!
//! LLVM's text is not one-to-one: a literal equal to an inline constant looks like it, a scalar load with both an
//! immediate and a register offset shows the register only, TFE does not widen a buffer load's data.

mod constant;
mod image;
mod memory;
mod operand;
mod program;
mod scalar;
mod vector;

pub use program::{Line, disassemble_program};

use super::table::{Flags, OpRow, OperandSpec, Place};
use super::{Encoding, Inst, Mods, Operand, Target, WaveSize};

/// The text of one instruction, as LLVM 14 prints it for the target and wave size.
///
/// An instruction that [`decode`](super::decode) does not give (one made by hand, of an operation that its encoding
/// lacks) is written as its mnemonic alone.
pub fn disassemble(inst: &Inst, target: Target, wave: WaveSize) -> String {
    match inst.row() {
        Some(row) => Text { inst, row, target, wave, operands: Vec::new(), mods: String::new() }.write(),
        None => inst.op.name().to_owned(),
    }
}

/// The text of one instruction as it grows.
struct Text<'a> {
    inst: &'a Inst,
    row: &'static OpRow,
    target: Target,
    wave: WaveSize,
    operands: Vec<String>,
    /// Modifiers, each after a space.
    mods: String,
}

impl Text<'_> {
    fn write(mut self) -> String {
        match self.inst.encoding {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc => self.plain_operands(),
            Encoding::Sopk => self.sopk(),
            Encoding::Sopp => self.sopp(),
            Encoding::Smem => self.scalar_memory(),
            Encoding::Ds => self.data_share(),
            Encoding::Mubuf | Encoding::Mtbuf => self.buffer(),
            Encoding::Mimg => self.image(),
            Encoding::Flat | Encoding::Global | Encoding::Scratch => self.flat(),
            Encoding::Exp => self.export(),
            _ => self.vector(),
        }
        let mut text = format!("{}{}", self.inst.op.name(), self.suffix());
        if !self.operands.is_empty() {
            text.push(' ');
            text.push_str(&self.operands.join(", "));
        }
        text.push_str(&self.mods);
        text
    }

    fn has(&self, flag: Flags) -> bool {
        self.row.has(flag)
    }

    /// Adds ` name` if set.
    fn flag_mod(&mut self, name: &str, set: bool) {
        if set {
            self.mods.push(' ');
            self.mods.push_str(name);
        }
    }

    /// Adds ` name:value` unless zero.
    fn value_mod(&mut self, name: &str, value: i64) {
        if value != 0 {
            self.mods.push_str(&format!(" {name}:{value}"));
        }
    }

    /// Destinations and sources in order, each field once.
    fn plain_operands(&mut self) {
        for i in 0..self.row.dst_places.len() {
            self.destination(i);
        }
        for i in 0..self.row.src_places.len() {
            if self.is_written_out(i) {
                let text = self.source(i);
                self.operands.push(text);
            }
        }
    }

    /// A destination, unless it is implied or is a source's register too (`v_swap_b32`).
    fn destination(&mut self, i: usize) {
        let place = self.row.dst_places[i];
        let also_source = i > 0 && place != Place::Vcc && self.row.src_places.contains(&place);
        if let (Some(spec), false, false) = (self.row.dst[i], place == Place::Exec, also_source) {
            let text = self.operand(self.inst.dst[i], &spec);
            self.operands.push(text);
        }
    }

    /// Whether a source stands in the text: not the destination's own register, not VOP3's implied VCC.
    fn is_written_out(&self, i: usize) -> bool {
        let place = self.row.src_places[i];
        let implied = place == Place::Vcc && self.inst.encoding == Encoding::Vop3;
        let tied = place == self.row.dst_places[0] && self.row.dst[0].is_some();
        self.row.src[i].is_some() && !implied && !tied
    }
}
