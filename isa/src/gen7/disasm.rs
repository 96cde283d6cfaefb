//! Instructions as text, in the manner of the public assemblers.

use std::fmt::{Display, Formatter, Result};

use super::inst::{AccessMode, Condition, Dst, File, Inst, Region, Src, Type};
use super::table::Kind;

const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        const NAMES: [&str; 8] = ["z", "nz", "g", "ge", "l", "le", "o", "u"];
        f.write_str(NAMES[*self as usize])
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.predicate.0 != 0 {
            let sign = if self.predicate.1 { '-' } else { '+' };
            write!(f, "({sign}f{}.{}{}) ", self.flag.0, self.flag.1, predicate(self.predicate.0))?;
        }
        write!(f, "{}", self.row.mnemonic)?;
        if let Some(condition) = self.condition {
            write!(f, ".{condition}.f{}.{}", self.flag.0, self.flag.1)?;
        }
        write!(f, "{}({})", if self.saturate { ".sat" } else { "" }, self.channels)?;
        match self.row.kind {
            Kind::Flow => write!(f, " JIP: {} UIP: {}", self.jumps.0, self.jumps.1)?,
            _ => self.operands(f)?,
        }
        let align = if self.access == AccessMode::Align16 { "align16" } else { "align1" };
        let no_mask = if self.no_mask { " WE_all" } else { "" };
        let compacted = if self.bytes == 8 { " compacted" } else { "" };
        write!(f, " {{ {align}{no_mask}{compacted} }}")
    }
}

impl Inst {
    fn operands(&self, f: &mut Formatter<'_>) -> Result {
        if self.row.sources == 0 {
            return Ok(());
        }
        write!(f, " {}", DstText(&self.dst, self.access))?;
        for src in &self.src[..usize::from(self.row.sources)] {
            write!(f, " {src}")?;
        }
        match self.row.kind {
            Kind::Send => write!(f, " sfid {}", self.message.0),
            _ => Ok(()),
        }
    }
}

fn predicate(control: u8) -> String {
    match control {
        1 => String::new(),
        2..=5 => format!(".{}", COMPONENTS[usize::from(control) - 2]),
        6 => ".any4h".to_owned(),
        7 => ".all4h".to_owned(),
        other => format!(".{other}"),
    }
}

fn register(file: File, register: u8, byte: u8, ty: Type) -> String {
    match file {
        File::Architecture if register == 0 => "null".to_owned(),
        File::Architecture => format!("arf{register:#04x}"),
        _ if byte == 0 => format!("g{register}"),
        _ => format!("g{register}.{}", u32::from(byte) / ty.bytes()),
    }
}

struct DstText<'a>(&'a Dst, AccessMode);

impl Display for DstText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let DstText(dst, access) = self;
        f.write_str(&register(dst.file, dst.register, dst.byte, dst.ty))?;
        write!(f, "<{}>", dst.stride)?;
        if *access == AccessMode::Align16 && dst.mask != 0xf {
            let mask = (0..4).filter(|c| dst.mask >> c & 1 != 0).map(|c| COMPONENTS[c]);
            write!(f, ".{}", mask.collect::<String>())?;
        }
        f.write_str(dst.ty.name())
    }
}

impl Display for Src {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.file == File::Immediate {
            return match self.ty {
                Type::F => write!(f, "{}F", f32::from_bits(self.immediate)),
                ty => write!(f, "{:#010x}{}", self.immediate, ty.name()),
            };
        }
        f.write_str(if self.negate { "-" } else { "" })?;
        f.write_str(if self.absolute { "(abs)" } else { "" })?;
        f.write_str(&register(self.file, self.register, self.byte, self.ty))?;
        match self.region {
            Region::Elements { vertical, width, horizontal } => {
                write!(f, "<{vertical},{width},{horizontal}>")?;
            }
            Region::Vectors { vertical, swizzle } => {
                let swizzle: String = swizzle.iter().map(|c| COMPONENTS[usize::from(*c & 3)]).collect();
                write!(f, "<{vertical},4,1>.{swizzle}")?;
            }
        }
        f.write_str(self.ty.name())
    }
}
