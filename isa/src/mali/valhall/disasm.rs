//! Listings: the text of an instruction.

use std::fmt;

use super::fields::field;
use super::operand::{CONSTANTS, Source};
use super::table::{Dst, Staging};
use super::{Inst, Kind};

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Register(n, false) => write!(f, "r{n}"),
            Source::Register(n, true) => write!(f, "^r{n}"),
            Source::Uniform(n) => write!(f, "u{n}"),
            Source::Constant(n) => write!(f, "0x{:X}", CONSTANTS[usize::from(n & 31)]),
            Source::Special(name, word) => write!(f, "{name}.w{word}"),
        }
    }
}

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row.name)?;
        if !self.row.known {
            return self.suffix(f, field::FLOW.name_in(self.word));
        }
        for field in self.row.fields {
            self.suffix(f, field.name_in(self.word))?;
        }
        self.suffix(f, field::FLOW.name_in(self.word))?;
        let mut separator = " ";
        let mut next = |f: &mut fmt::Formatter<'_>| {
            let result = f.write_str(separator);
            separator = ", ";
            result
        };
        if self.row.dst != Dst::None || self.row.is_message() {
            next(f)?;
            self.destination(f)?;
        }
        for i in 0..self.row.sources.len() {
            next(f)?;
            self.write_source(f, i)?;
        }
        for immediate in self.row.immediates {
            next(f)?;
            let value = immediate.of(self.word);
            match (immediate.name, immediate.signed) {
                ("", _) => write!(f, "#0x{value:X}")?,
                (name, true) => write!(f, "{name}:{}", value as i32)?,
                (name, false) => write!(f, "{name}:0x{value:X}")?,
            }
        }
        Ok(())
    }
}

impl Inst {
    fn suffix(&self, f: &mut fmt::Formatter<'_>, name: Option<&str>) -> fmt::Result {
        match name {
            None | Some("") => Ok(()),
            Some(name) => write!(f, ".{name}"),
        }
    }

    fn destination(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.register();
        if self.row.staging == Staging::None {
            let halves = ["", ".h0", ".h1", ""][usize::from(self.halves())];
            return write!(f, "r{first}{halves}");
        }
        f.write_str("@")?;
        for n in 0..self.staging_count() {
            let colon = if n == 0 { "" } else { ":" };
            write!(f, "{colon}r{}", first + n)?;
        }
        Ok(())
    }

    fn write_source(&self, f: &mut fmt::Formatter<'_>, i: usize) -> fmt::Result {
        let mods = self.source_mods(i);
        write!(f, "{}", self.source(i))?;
        let flags = [("neg", mods.neg), ("abs", mods.abs), ("not", mods.not)];
        for (name, _) in flags.into_iter().filter(|(_, set)| *set) {
            self.suffix(f, Some(name))?;
        }
        let named = self.row.sources[i].1 != Kind::Combine || self.pick(i).is_some();
        self.suffix(f, self.pick(i).filter(|_| named).map(|p| p.name))
    }
}
