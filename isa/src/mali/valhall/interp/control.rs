//! Branches.

use super::StopKind;
use super::thread::{Special, Thread};
use crate::mali::valhall::{Inst, Op, field};

/// Where a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// At the next instruction, unless this one's flow ends the program.
    Follow,
    /// At a byte of the program.
    Jump(u32),
    /// Nowhere.
    End,
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Special)] = &[(Op::Nop, |_, _| Ok(Next::Follow)), (Op::BranchZ, branch)];

fn branch(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let looked_at = thread.components(inst)?[0][0];
    let taken = (looked_at == 0) == (inst.code(&field::EQ) != 0);
    let instructions = inst.immediate("offset");
    let to = inst.offset.wrapping_add(8).wrapping_add(instructions.wrapping_mul(8));
    Ok(if taken { Next::Jump(to) } else { Next::Follow })
}
