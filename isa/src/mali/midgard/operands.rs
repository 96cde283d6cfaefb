//! Registers, masks and indices of Midgard load/store words as text.

use crate::mali::word::{Operands, number};

/// What the 3-bit register codes of indices and arguments name.
const REGISTERS: [&str; 8] =
    ["AL0", "AL1", "PC_SP", "LOCAL_STORAGE", "LOCAL_THREAD", "GROUP", "GLOBAL_THREAD", "0"];
const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];
/// Mask and swizzle that a store without them holds.
const PLAIN_STORE: u32 = 0xe4 << 4;

/// The Midgard way to write operands.
#[derive(Debug)]
pub(super) struct MidgardOperands;

impl Operands for MidgardOperands {
    fn print(&self, kind: &str, value: u32, out: &mut String) {
        *out += &match kind {
            "work" => format!("R{value}"),
            "output" if value < 2 => format!("AL{value}"),
            "output" => format!("R{value}"),
            "components" => components_text(value),
            "store_components" if value == PLAIN_STORE => String::new(),
            "store_components" => format!(".mask{}.swizzle{}", value & 15, value >> 4),
            "register" => register_text(value),
            "vertex" => format!("{}{}", register_text(value & 31), signed_text(value >> 5)),
            _ => index_text(value),
        };
    }

    fn parse(&self, kind: &str, text: &str) -> Option<(u32, u32, usize)> {
        let mut reader = Reader { text, at: 0 };
        let value = match kind {
            "work" => reader.numbered("R", 32),
            "output" => reader.numbered("AL", 2).or_else(|| reader.numbered("R", 32)),
            "components" => reader.components(),
            "store_components" => reader.store_components(),
            "register" => reader.register(),
            "vertex" => reader.vertex(),
            _ => reader.index(),
        };
        Some((value?, u32::MAX, reader.at))
    }
}

/// Mask in bits 0 to 3, four 2-bit selectors above.
fn components_text(value: u32) -> String {
    let letter = |i: u32| COMPONENTS[(value >> (4 + 2 * i) & 3) as usize];
    let shown = (0..4).map(|i| if value >> i & 1 == 1 { letter(i) } else { '~' });
    std::iter::once('.').chain(shown).collect()
}

/// Component in bits 0 and 1, register above.
fn register_text(value: u32) -> String {
    format!("{}.{}", REGISTERS[(value >> 2 & 7) as usize], COMPONENTS[(value & 3) as usize])
}

/// A 9-bit two's complement number.
fn signed_text(value: u32) -> String {
    let value = ((value << 23) as i32) >> 23;
    format!(" {} 0x{:x}", if value < 0 { '-' } else { '+' }, value.unsigned_abs())
}

/// Register in bits 0 to 4, shift in 5 to 8, descriptor index above.
fn index_text(value: u32) -> String {
    let (shift, index) = (value >> 5 & 15, value >> 9);
    let mut text = register_text(value & 31);
    if shift != 0 {
        text += &format!(" << {shift}");
    }
    if index != 0 {
        text += &format!(" + 0x{index:x}");
    }
    text
}

/// Reads a text from its start.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn take(&mut self, literal: &str) -> Option<()> {
        self.rest().starts_with(literal).then(|| self.at += literal.len())
    }

    fn number(&mut self) -> Option<u32> {
        let (value, length) = number(self.rest())?;
        self.at += length;
        Some(value)
    }

    fn numbered(&mut self, prefix: &str, limit: u32) -> Option<u32> {
        self.take(prefix)?;
        self.number().filter(|n| *n < limit)
    }

    fn components(&mut self) -> Option<u32> {
        self.take(".")?;
        let mut value = 0;
        for i in 0..4 {
            let c = self.rest().chars().next()?;
            let selected = COMPONENTS.iter().position(|l| *l == c);
            // A component that is not written keeps its own place in the swizzle.
            let selector = selected.map_or((c == '~').then_some(i), |s| Some(s as u32))?;
            value |= u32::from(selected.is_some()) << i | selector << (4 + 2 * i);
            self.at += 1;
        }
        Some(value)
    }

    fn store_components(&mut self) -> Option<u32> {
        if self.take(".mask").is_none() {
            return Some(PLAIN_STORE);
        }
        let mask = self.number().filter(|m| *m < 16)?;
        self.take(".swizzle")?;
        Some(mask | self.number().filter(|s| *s < 256)? << 4)
    }

    fn register(&mut self) -> Option<u32> {
        let code = REGISTERS.iter().position(|name| self.rest().starts_with(name))?;
        self.take(REGISTERS[code])?;
        self.take(".")?;
        let component = COMPONENTS.iter().position(|c| self.rest().starts_with(*c))?;
        self.at += 1;
        Some(component as u32 | (code as u32) << 2)
    }

    fn vertex(&mut self) -> Option<u32> {
        let register = self.register()?;
        let negative = self.take(" - ").is_some();
        if !negative {
            self.take(" + ")?;
        }
        let magnitude = self.number().filter(|n| *n <= 255 + u32::from(negative))?;
        let offset = if negative { magnitude.wrapping_neg() } else { magnitude };
        Some(register | (offset & 0x1ff) << 5)
    }

    fn index(&mut self) -> Option<u32> {
        let mut value = self.register()?;
        if self.take(" << ").is_some() {
            value |= self.number().filter(|s| *s < 16)? << 5;
        }
        if self.take(" + ").is_some() {
            value |= self.number().filter(|i| *i < 512)? << 9;
        }
        Some(value)
    }
}
