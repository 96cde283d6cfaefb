//! The instruction table: one row an instruction, by subject.

mod control;
mod convert;
mod float;
mod integer;
mod message;
mod shift;

use super::fields::Field;
use super::table::{Dst, Immediate, Kind, Op, Row, Staging, Ty};

/// Every row.
pub(super) static SUBJECTS: &[&[Row]] =
    &[control::ROWS, convert::ROWS, float::ROWS, integer::ROWS, shift::ROWS, message::ROWS];

/// Sources in the first bytes of the word.
type Sources = &'static [(u8, Kind)];

/// Modifiers.
type Fields = &'static [Field];

/// A row with a destination register and nothing else yet.
const fn alu(name: &'static str, op: Op, ty: Ty, opcode: u16, sources: Sources) -> Row {
    let dst = if ty.bits() == 64 { Dst::Pair } else { Dst::Word };
    Row {
        name,
        op,
        ty,
        from: ty,
        opcode,
        second: (0, 0),
        dst,
        staging: Staging::None,
        sources,
        fields: &[],
        immediates: &[],
        known: true,
    }
}

/// A row of which only the name is known here.
const fn named(name: &'static str, op: Op, opcode: u16) -> Row {
    Row { known: false, dst: Dst::None, ..alu(name, op, Ty::U32, opcode, &[]) }
}

impl Row {
    /// With a secondary opcode: `width` bits from `lsb` on.
    const fn second(self, lsb: u8, width: u8, value: u64) -> Row {
        let mask = ((1 << width) - 1) << lsb;
        Row { second: (self.second.0 | mask, self.second.1 | value << lsb), ..self }
    }

    const fn with(self, fields: Fields) -> Row {
        Row { fields, ..self }
    }

    const fn from(self, from: Ty) -> Row {
        Row { from, ..self }
    }

    const fn immediates(self, immediates: &'static [Immediate]) -> Row {
        Row { immediates, ..self }
    }

    /// With staging registers in place of a destination.
    const fn staging(self, staging: Staging) -> Row {
        Row { staging, dst: Dst::None, ..self }
    }

    const fn no_destination(self) -> Row {
        Row { dst: Dst::None, ..self }
    }
}

const fn unsigned(name: &'static str, lsb: u8, width: u8) -> Immediate {
    Immediate { name, lsb, width, signed: false }
}

const fn signed(name: &'static str, lsb: u8, width: u8) -> Immediate {
    Immediate { name, lsb, width, signed: true }
}
