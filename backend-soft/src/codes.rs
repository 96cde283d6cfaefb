//! Every code of this backend with its sentence.

/// Codes and sentences, by code.
pub const CATALOGUE: &[(&str, &str)] = &[
    ("SOFT-COMPILE-001", "The program's blocks are nested deeper than is compiled."),
    ("SOFT-COMPILE-002", "The program is malformed: a fault of the translator, not of the guest."),
    ("SOFT-COMPILE-003", "A workgroup has more LDS than there is."),
    ("SOFT-COMPILE-004", "A lane has more scratch than there is."),
    ("SOFT-COMPILE-005", "An access has more units than are compiled."),
    ("SOFT-COMPILE-006", "A holding other than the whole wave is asked for."),
    ("SOFT-COMPILE-007", "The program needs more room for its values than there is."),
    ("SOFT-COMPILE-008", "Cranelift does not compile the program."),
    ("SOFT-HOST-001", "Cranelift does not know the CPU at hand."),
];
