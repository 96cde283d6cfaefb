//! Operations that combine a source with EXEC in the width that is not the wave's: on numbers.

use guestwave_isa::gfx10::{Inst, Op, WaveSize, sreg};

use super::{Lower, Row};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::plan::{Class, Logic, class};
use crate::program::{BinOp, UnOp, Value};

macro_rules! rows {
    ($($op:ident)*) => { &[$((Op::$op, Lower::Whole(combine))),*] };
}

pub(super) const ROWS: &[Row] = rows! {
    S_AND_SAVEEXEC_B32 S_OR_SAVEEXEC_B32 S_XOR_SAVEEXEC_B32 S_ANDN2_SAVEEXEC_B32 S_ORN2_SAVEEXEC_B32
    S_NAND_SAVEEXEC_B32 S_NOR_SAVEEXEC_B32 S_XNOR_SAVEEXEC_B32 S_ANDN1_SAVEEXEC_B32 S_ORN1_SAVEEXEC_B32
    S_ANDN1_WREXEC_B32 S_ANDN2_WREXEC_B32
    S_AND_SAVEEXEC_B64 S_OR_SAVEEXEC_B64 S_XOR_SAVEEXEC_B64 S_ANDN2_SAVEEXEC_B64 S_ORN2_SAVEEXEC_B64
    S_NAND_SAVEEXEC_B64 S_NOR_SAVEEXEC_B64 S_XNOR_SAVEEXEC_B64 S_ANDN1_SAVEEXEC_B64 S_ORN1_SAVEEXEC_B64
    S_ANDN1_WREXEC_B64 S_ANDN2_WREXEC_B64
};

/// The operation in the wave of its own width, and whether it is the 64-bit one.
fn own_class(op: Op) -> (Class, bool) {
    match class(op, WaveSize::W32) {
        Class::Other => (class(op, WaveSize::W64), true),
        narrow => (narrow, false),
    }
}

fn combine(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let (class, wide) = own_class(inst.op);
    let (logic, swapped, saves) = match class {
        Class::SaveExec { logic, swapped } => (logic, swapped, true),
        Class::WriteExec { logic, swapped } => (logic, swapped, false),
        _ => return Err(e.refuse(inst, "no function of EXEC")),
    };
    let source = e.scalar_source(inst, 0)?;
    let low = e.sgpr(sreg::EXEC_LO)?;
    let old = if wide {
        let high = e.sgpr(sreg::EXEC_HI)?;
        e.b.bin(BinOp::Pack, low, high)
    } else {
        low
    };
    let new = if swapped { number(e, logic, old, source) } else { number(e, logic, source, old) };
    e.set_scalar(inst, if saves { old } else { new })?;
    let halves = if wide { vec![e.b.un(UnOp::Low, new), e.b.un(UnOp::High, new)] } else { vec![new] };
    e.set_sgprs(sreg::EXEC_LO, &halves)?;
    if !saves {
        e.set_scalar(inst, new)?;
    }
    let zero = e.like(new, 0);
    let scc = e.b.bin(BinOp::Ne, new, zero);
    e.set_scc(scc);
    Ok(())
}

fn number(e: &mut Emit<'_>, logic: Logic, a: Value, b: Value) -> Value {
    let (op, not_b, not) = match logic {
        Logic::And => (BinOp::And, false, false),
        Logic::Or => (BinOp::Or, false, false),
        Logic::AndNot => (BinOp::And, true, false),
        Logic::OrNot => (BinOp::Or, true, false),
        Logic::Nand => (BinOp::And, false, true),
        Logic::Nor => (BinOp::Or, false, true),
        Logic::Xnor => (BinOp::Xor, false, true),
        Logic::Xor | Logic::Mov | Logic::Not | Logic::Select => (BinOp::Xor, false, false),
    };
    let b = if not_b { e.b.un(UnOp::Not, b) } else { b };
    let value = e.b.bin(op, a, b);
    if not { e.b.un(UnOp::Not, value) } else { value }
}
