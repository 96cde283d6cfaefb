//! Listings of code, in the layout of llvm-objdump.

use guestwave_isa::gfx10::{DecodeError, Inst, Target, decode};

/// Column where the comment with offset and words begins, counted from the leading tab.
const COMMENT_COLUMN: usize = 60;

/// One line's worth of code.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Byte offset from the start of the code.
    pub(super) offset: u32,
    /// Its words.
    pub(super) words: Vec<u32>,
    /// The instruction, or why there is none.
    pub(super) inst: Result<Inst, DecodeError>,
}

impl Line {
    /// The line that begins with `words[0]`, `None` at the end of the code.
    pub(super) fn at(words: &[u32], offset: u32, target: Target) -> Option<Line> {
        let first = *words.first()?;
        let inst = decode(words, offset, target);
        let words = match &inst {
            Ok(inst) => words[..usize::from(inst.len).min(words.len())].to_vec(),
            Err(_) => vec![first],
        };
        Some(Line { offset, words, inst })
    }

    /// Byte offset of the next line.
    pub(super) fn next_offset(&self) -> u32 {
        self.offset.wrapping_add(4 * self.words.len() as u32)
    }

    /// The instruction's text; data where there is none.
    pub(super) fn text(&self) -> String {
        match &self.inst {
            Ok(inst) => inst.op.name().to_owned(),
            Err(_) => format!(".long {:#010x}", self.words.first().copied().unwrap_or(0)),
        }
    }

    /// The whole line: text, offset and words.
    pub(super) fn objdump(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|w| format!("{w:08X}")).collect();
        format!("\t{:<w$}// {:012X}: {}", self.text(), self.offset, words.join(" "), w = COMMENT_COLUMN - 1)
    }
}

/// All lines of a piece of code.
pub(super) fn lines(words: &[u32], target: Target) -> impl Iterator<Item = Line> {
    let mut offset = 0u32;
    std::iter::from_fn(move || {
        let line = Line::at(words.get(offset as usize / 4..)?, offset, target)?;
        offset = line.next_offset();
        Some(line)
    })
}
