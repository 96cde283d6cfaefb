//! Clauses: up to eight tuples of an FMA and an ADD instruction with a header and embedded constants.
//!
//! A clause is a run of 128-bit quadwords. A tuple has 78 bits: a register block (35), an FMA word (23) and an ADD word
//! (20). `tables/mali/bifrost/clause.tsv` says which quadword holds which of their bits.

mod layout;
mod ports;
mod text;

use std::sync::LazyLock;

use super::{ADD, operands::Ports as AloneOperands};
use crate::mali::WordError;
use crate::mali::word::{Inst, Sources, Table};
use layout::Raw;
pub use ports::{PortUse, Ports, Uses};

static FMA: LazyLock<Table> = LazyLock::new(|| {
    Table::read(&Sources {
        unit: "Bifrost FMA word",
        operands: &AloneOperands,
        names: include_str!("../../../../tables/mali/bifrost/names.tsv"),
        fields: include_str!("../../../../tables/mali/bifrost/fields.tsv"),
        rows: &[include_str!("../../../../tables/mali/bifrost/fma.tsv")],
    })
});

static HEADER: LazyLock<Table> = LazyLock::new(|| {
    Table::read(&Sources {
        unit: "Bifrost clause header",
        operands: &text::HeaderOperands,
        names: include_str!("../../../../tables/mali/bifrost/names.tsv"),
        fields: include_str!("../../../../tables/mali/bifrost/fields.tsv"),
        rows: &[include_str!("../../../../tables/mali/bifrost/header.tsv")],
    })
});

/// Every FMA word that is known.
pub fn fma_table() -> &'static Table {
    &FMA
}

/// The clause header.
pub fn header_table() -> &'static Table {
    &HEADER
}

/// A tuple of a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuple {
    /// Its register block, 35 bits.
    pub ports: Ports,
    /// What the FMA unit does.
    pub fma: Inst,
    /// What the ADD unit does.
    pub add: Inst,
}

/// A decoded clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The header: flow, dependencies, the staging register.
    pub header: Inst,
    /// One to eight.
    pub tuples: Vec<Tuple>,
    /// Embedded 64-bit constants without their low four bits, which the register block that uses one supplies. Clauses of 3,
    /// 5, 6 and 8 tuples have one among the tuples; further ones come in pairs.
    pub constants: Vec<u64>,
    /// Modifiers of the constant among the tuples, 15 bits (clauses of 3 and 6 tuples).
    pub modifiers: u16,
}

/// Bits of a register block, an FMA word and an ADD word in a tuple.
const PORT_BITS: u32 = 35;
const FMA_BITS: u32 = 23;
const ADD_BITS: u32 = 20;

fn low(bits: u128, width: u32) -> u64 {
    (bits & ((1 << width) - 1)) as u64
}

impl Clause {
    /// The clause at the start of `bytes`, and how many of them it takes (a multiple of 16).
    ///
    /// # Errors
    /// [`WordError`], naming the quadword, the word and the bit at fault.
    pub fn decode(version: u8, bytes: &[u8]) -> Result<(Clause, usize), WordError> {
        let (raw, length) = Raw::unpack(bytes)?;
        let header = HEADER.decode(version, raw.header)?;
        let tuples = raw.tuples.iter().map(|bits| Tuple::decode(version, *bits));
        let tuples = tuples.collect::<Result<Vec<_>, _>>()?;
        let clause = Clause { header, tuples, constants: raw.constants, modifiers: raw.modifiers };
        clause.check_ports()?;
        Ok((clause, length))
    }

    /// Refuses a register block whose control stands for nothing.
    fn check_ports(&self) -> Result<(), WordError> {
        for (n, tuple) in (0u32..).zip(&self.tuples) {
            if tuple.ports.uses(n == 0).is_none() {
                let word = tuple.ports.bits();
                return Err(WordError::Ports { tuple: n, bit: tuple.ports.control_bit(), word });
            }
        }
        Ok(())
    }

    /// The bytes of the clause.
    ///
    /// # Errors
    /// [`WordError::Layout`] if no arrangement holds so many tuples and constants.
    pub fn encode(&self) -> Result<Vec<u8>, WordError> {
        let tuples = self.tuples.iter().map(Tuple::encode).collect::<Result<_, _>>()?;
        let header = self.header.encode()?;
        Raw { header, tuples, constants: self.constants.clone(), modifiers: self.modifiers }.pack()
    }

    /// The clause as text: the header, then a line for each unit's instruction, tuple by tuple.
    pub fn disassemble(&self) -> Vec<String> {
        text::lines(self)
    }
}

impl Tuple {
    fn decode(version: u8, bits: u128) -> Result<Tuple, WordError> {
        Ok(Tuple {
            ports: Ports::new(low(bits, PORT_BITS)),
            fma: FMA.decode(version, low(bits >> PORT_BITS, FMA_BITS))?,
            add: ADD.decode(version, low(bits >> (PORT_BITS + FMA_BITS), ADD_BITS))?,
        })
    }

    fn encode(&self) -> Result<u128, WordError> {
        let (fma, add) = (u128::from(self.fma.encode()?), u128::from(self.add.encode()?));
        Ok(u128::from(self.ports.bits()) | fma << PORT_BITS | add << (PORT_BITS + FMA_BITS))
    }
}
