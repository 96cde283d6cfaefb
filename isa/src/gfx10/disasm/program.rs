//! Whole programs, as `llvm-objdump -d` lists them.

use std::fmt;

use super::{Target, WaveSize, disassemble};
use crate::gfx10::{DecodeError, Inst, decode_wave};

/// Where the comment column begins, counted with the tab as one.
const COMMENT_COLUMN: usize = 60;

/// One line of a listing: an instruction, or a word that is none.
///
/// Its `Display` is the line that `llvm-objdump -d` prints, without a line end: a tab, the text, and a comment with
/// the byte offset and the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Byte offset of the first word from the start of the code.
    pub offset: u32,
    /// The words of the line.
    pub words: Vec<u32>,
    /// The text without the comment; `.long 0x...` for a word that is no instruction.
    pub text: String,
    /// The instruction, or why there is none.
    pub inst: Result<Inst, DecodeError>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.words.iter().map(|w| format!("{w:08X}")).collect();
        let text = format!("\t{}", self.text);
        write!(f, "{text:<COMMENT_COLUMN$}// {:012X}: {}", self.offset, words.join(" "))
    }
}

/// The lines of a program from its first word to its last, each decoded on its own.
///
/// A word that is no instruction becomes a `.long` line, and the next word is tried.
pub fn disassemble_program(words: &[u32], target: Target, wave: WaveSize) -> impl Iterator<Item = Line> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = words.get(at..).filter(|rest| !rest.is_empty())?;
        let offset = u32::try_from(4 * at).unwrap_or(u32::MAX);
        let line = line(rest, offset, target, wave);
        at += line.words.len();
        Some(line)
    })
}

fn line(words: &[u32], offset: u32, target: Target, wave: WaveSize) -> Line {
    let inst = decode_wave(words, offset, target, wave);
    let (len, text) = match &inst {
        Ok(inst) => (usize::from(inst.len), disassemble(inst, target, wave)),
        Err(error) => (1, format!(".long {:#010x}", error.word)),
    };
    Line { offset, words: words.iter().take(len).copied().collect(), text, inst }
}
