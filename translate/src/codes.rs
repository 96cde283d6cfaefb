//! Every code of the translator, of the evaluator and of all backends' runs, with its sentence.

use crate::gfx10::Refusal;
use crate::valhall;

/// Codes that no error type of this crate lists by itself.
const OTHERS: &[(&str, &str)] = &[
    (
        "PLAIN-COMPILE-001",
        "The evaluator is given a malformed program: a fault of the translator, not of the guest.",
    ),
    ("RUN-BUDGET-001", "A wave made more loop iterations than its budget allows."),
    ("RUN-LAUNCH-001", "A launch does not fit its program."),
    ("RUN-MEM-001", "An access that no memory stands behind."),
    ("TR-BACK-001", "The backend failed."),
    ("TR-CODE-001", "No memory is mapped at the program's address."),
    ("TR-IMG-001", "An image descriptor does not follow from what the dispatch says."),
    ("TR-IMG-002", "A descriptor of no image, or of one whose layout is not settled."),
    ("TR-IMG-003", "An image whose TYPE has other coordinates than the instruction's DIM."),
    ("TR-IMG-004", "An image whose FORMAT does not do what the instruction wants."),
    ("TR-MEM-001", "An atomic at an address that is not a multiple of its size."),
    ("TR-MEM-002", "A buffer descriptor whose TYPE is no buffer."),
    ("TR-MEM-004", "An access past the end of a lane's scratch."),
    ("TR-MEM-005", "A scalar buffer access before the start of the buffer."),
    ("TR-MEM-006", "A FORMAT that is no buffer format."),
    (
        "TR-OUT-002",
        "A lane exports or sends more than its dispatch's record holds, which gives it a larger one.",
    ),
    ("TR-OUT-003", "A dispatch exports and sends more than is recorded."),
    ("TR-REG-001", "An index in M0 that reaches no register."),
    ("TR-SIZE-001", "The dispatch has more waves than 32 bits count."),
    ("TR-SOL-001", "A stream-output draw whose vertices take more than 32-bit byte offsets reach."),
    (
        "TR-VAR-001",
        "An attribute's format has components that programs do not convert: 64 bits, or a shared exponent.",
    ),
    (
        "TR-VAR-002",
        "An attribute's memory and register are a float and an integer, which public facts call lossy.",
    ),
    (
        "TR-VAR-003",
        "An attribute needs a register that programs do not hold components in: 16-bit or 64-bit.",
    ),
    ("TR-VAR-004", "An attribute comes from no buffer: it is a special input."),
    (
        "TR-SPEC-001",
        "A descriptor's format or mode is another than the program was translated for, also when translated anew.",
    ),
    ("TR-TRAP-001", "The program comes to an s_trap."),
];

/// Every code with its sentence, by code.
pub fn catalogue() -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<_> = Refusal::ALL.iter().chain(OTHERS).chain(valhall::Refusal::ALL).copied().collect();
    all.sort_unstable();
    all
}
