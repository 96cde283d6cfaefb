//! What decoder and interpreter refuse.

use crate::coded::coded;

coded! {
    /// Why a program is not decoded or not run; `pc` counts bytes from the program's start.
    Refusal: CATALOGUE;
    /// The program ends without an end of thread.
    CodeEnd { pc: u32 } = "ISA-GEN7-001",
        "the program's code ends at byte {pc:#x}, before an end of thread";
    /// An opcode without a row.
    Opcode { pc: u32, opcode: u8 } = "ISA-GEN7-002",
        "opcode {opcode:#04x} at byte {pc:#x} has no row in the opcode table";
    /// An operation that is known and not run.
    Operation { pc: u32, mnemonic: &'static str, reason: &'static str } = "ISA-GEN7-003",
        "{mnemonic} at byte {pc:#x} is not run: {reason}";
    /// A field without a meaning.
    Field { pc: u32, field: &'static str, value: u32 } = "ISA-GEN7-004",
        "{field} = {value:#x} of the instruction at byte {pc:#x} has no meaning";
    /// An operand of a kind that is not carried out.
    Operand { pc: u32, what: &'static str } = "ISA-GEN7-005",
        "the instruction at byte {pc:#x} has {what}, which is not carried out";
    /// A register past the end of the file.
    Register { pc: u32, byte: u32 } = "ISA-GEN7-006",
        "the instruction at byte {pc:#x} reaches byte {byte} of the register file, which has 4096";
    /// A message to a shared function that is not there.
    Message { pc: u32, function: &'static str } = "ISA-GEN7-007",
        "the instruction at byte {pc:#x} sends to {function}, which is not carried out";
    /// A URB message of a kind that is not carried out.
    Urb { pc: u32, what: &'static str, value: u32 } = "ISA-GEN7-008",
        "the URB message at byte {pc:#x} has {what} {value:#x}, which is not carried out";
    /// A write past the end of a vertex's URB entry.
    UrbRange { pc: u32, slot: u32, slots: u32 } = "ISA-GEN7-009",
        "the URB message at byte {pc:#x} writes slot {slot} of an entry of {slots}";
    /// A program that does not end.
    Budget { pc: u32, steps: u64 } = "ISA-GEN7-010",
        "the program did not end within {steps} instructions; it stands at byte {pc:#x}";
    /// A launch whose constants and attributes do not fit the register file.
    Payload { pc: u32, registers: u32 } = "ISA-GEN7-011",
        "the program is given {registers} registers, and there are 128 (byte {pc:#x})";
    /// A branch out of the program.
    Branch { pc: u32, target: i64 } = "ISA-GEN7-012",
        "the branch at byte {pc:#x} leads to byte {target}, which is not in the program";
}

impl Refusal {
    /// Byte offset of the instruction at fault.
    pub fn pc(&self) -> u32 {
        use Refusal::*;
        match self {
            CodeEnd { pc, .. }
            | Opcode { pc, .. }
            | Operation { pc, .. }
            | Field { pc, .. }
            | Operand { pc, .. }
            | Register { pc, .. }
            | Message { pc, .. }
            | Urb { pc, .. }
            | UrbRange { pc, .. }
            | Budget { pc, .. }
            | Payload { pc, .. }
            | Branch { pc, .. } => *pc,
        }
    }
}
