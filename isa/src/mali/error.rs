//! Why a word or a text is no instruction.

use crate::coded::coded;

coded! {
    /// Why a word or a text is no instruction.
    WordError: CATALOGUE;
    /// No row fits.
    Unknown { unit: &'static str, version: u8, word: u64 } = "ISA-MALI-001",
        "no {unit} of v{version} has the identifying bits of {word:#x}";
    /// A bit outside the row's fields.
    Reserved { name: &'static str, bit: u32, word: u64 } = "ISA-MALI-002",
        "{name} has no meaning for bit {bit} of {word:#x}";
    /// A field's code that stands for nothing.
    Code { name: &'static str, field: &'static str, code: u32, bit: u32, word: u64 } = "ISA-MALI-003",
        "{name}: {field} cannot be {code:#x} (from bit {bit} of {word:#x})";
    /// Text that no row prints.
    Text { unit: &'static str, version: u8, at: String } = "ISA-MALI-004",
        "the text is no {unit} of v{version}: nothing fits at {at:?}";
    /// A value that a field cannot hold.
    Value { name: &'static str, field: String, value: u32 } = "ISA-MALI-005",
        "{name} cannot hold {value:#x} in {field}";
    /// Two fields that share bits and disagree about them.
    Conflict { name: &'static str, field: &'static str } = "ISA-MALI-006",
        "{name}: {field} and an earlier operand need different values in the bits that they share";
    /// A clause whose quadwords do not make one of the known layouts.
    Clause { quadword: u32, bit: u32, word: u64 } = "ISA-MALI-007",
        "quadword {quadword} of the clause has a tag that cannot stand there (from bit {bit} of {word:#x})";
    /// A clause that does not end.
    ClauseEnd { quadwords: u32 } = "ISA-MALI-008",
        "the clause does not end within {quadwords} quadwords";
    /// A register block that names no legal use of the ports.
    Ports { tuple: u32, bit: u32, word: u64 } = "ISA-MALI-009",
        "tuple {tuple} of the clause has a register block with a reserved control (from bit {bit} of {word:#x})";
    /// A clause that no layout holds.
    Layout { tuples: u32, constants: u32 } = "ISA-MALI-010",
        "no clause layout holds {tuples} tuples and {constants} constants";
}
