//! Scalar operations that work on lane masks as well as on numbers.

use guestwave_isa::gfx10::{Op, WaveSize};

/// A bitwise function of one or two masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Logic {
    Mov,
    Not,
    And,
    Or,
    Xor,
    /// `a & !b`
    AndNot,
    /// `a | !b`
    OrNot,
    Nand,
    Nor,
    Xnor,
    /// SCC ? a : b
    Select,
}

/// What a scalar operation is to a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// `D = logic(S0, S1)`.
    Logic(Logic),
    /// `D = EXEC; EXEC = logic(S0, EXEC)`, with the operands the other way round if `swapped`.
    SaveExec { logic: Logic, swapped: bool },
    /// `EXEC = logic(S0, EXEC); D = EXEC`, with the operands the other way round if `swapped`.
    WriteExec { logic: Logic, swapped: bool },
    /// Anything else.
    Other,
}

const fn save(logic: Logic, swapped: bool) -> Class {
    Class::SaveExec { logic, swapped }
}

/// The operation's 32-bit and 64-bit forms.
const ROWS: &[(Op, Op, Class)] = &[
    (Op::S_MOV_B32, Op::S_MOV_B64, Class::Logic(Logic::Mov)),
    (Op::S_NOT_B32, Op::S_NOT_B64, Class::Logic(Logic::Not)),
    (Op::S_AND_B32, Op::S_AND_B64, Class::Logic(Logic::And)),
    (Op::S_OR_B32, Op::S_OR_B64, Class::Logic(Logic::Or)),
    (Op::S_XOR_B32, Op::S_XOR_B64, Class::Logic(Logic::Xor)),
    (Op::S_ANDN2_B32, Op::S_ANDN2_B64, Class::Logic(Logic::AndNot)),
    (Op::S_ORN2_B32, Op::S_ORN2_B64, Class::Logic(Logic::OrNot)),
    (Op::S_NAND_B32, Op::S_NAND_B64, Class::Logic(Logic::Nand)),
    (Op::S_NOR_B32, Op::S_NOR_B64, Class::Logic(Logic::Nor)),
    (Op::S_XNOR_B32, Op::S_XNOR_B64, Class::Logic(Logic::Xnor)),
    (Op::S_CSELECT_B32, Op::S_CSELECT_B64, Class::Logic(Logic::Select)),
    (Op::S_AND_SAVEEXEC_B32, Op::S_AND_SAVEEXEC_B64, save(Logic::And, false)),
    (Op::S_OR_SAVEEXEC_B32, Op::S_OR_SAVEEXEC_B64, save(Logic::Or, false)),
    (Op::S_XOR_SAVEEXEC_B32, Op::S_XOR_SAVEEXEC_B64, save(Logic::Xor, false)),
    (Op::S_NAND_SAVEEXEC_B32, Op::S_NAND_SAVEEXEC_B64, save(Logic::Nand, false)),
    (Op::S_NOR_SAVEEXEC_B32, Op::S_NOR_SAVEEXEC_B64, save(Logic::Nor, false)),
    (Op::S_XNOR_SAVEEXEC_B32, Op::S_XNOR_SAVEEXEC_B64, save(Logic::Xnor, false)),
    (Op::S_ANDN2_SAVEEXEC_B32, Op::S_ANDN2_SAVEEXEC_B64, save(Logic::AndNot, false)),
    (Op::S_ORN2_SAVEEXEC_B32, Op::S_ORN2_SAVEEXEC_B64, save(Logic::OrNot, false)),
    (Op::S_ANDN1_SAVEEXEC_B32, Op::S_ANDN1_SAVEEXEC_B64, save(Logic::AndNot, true)),
    (Op::S_ORN1_SAVEEXEC_B32, Op::S_ORN1_SAVEEXEC_B64, save(Logic::OrNot, true)),
    (
        Op::S_ANDN1_WREXEC_B32,
        Op::S_ANDN1_WREXEC_B64,
        Class::WriteExec { logic: Logic::AndNot, swapped: true },
    ),
    (
        Op::S_ANDN2_WREXEC_B32,
        Op::S_ANDN2_WREXEC_B64,
        Class::WriteExec { logic: Logic::AndNot, swapped: false },
    ),
];

/// What `op` is to the masks of a wave of this size.
pub(crate) fn class(op: Op, wave: WaveSize) -> Class {
    ROWS.iter()
        .find(|(narrow, wide, _)| op == if wave == WaveSize::W32 { *narrow } else { *wide })
        .map_or(Class::Other, |(_, _, class)| *class)
}
