//! How each operation is lowered: rows by subject, gathered into one table by operation.

mod exec;
mod hardware;
mod lanes;
mod memory;
mod memory_use;
mod move_relative;
mod record;
mod scalar;

use std::sync::LazyLock;

use guestwave_isa::gfx10::{Inst, Op};

use super::emit::Emit;
use super::error::Stop;
use crate::program::Value;

pub(super) use memory::lower as lower_memory;
pub(super) use memory::lower_scalar_atomic;
pub(super) use memory_use::memory_use;

/// Lowers one instruction.
pub(super) type LowerFn = fn(&mut Emit<'_>, &Inst) -> Result<(), Stop>;

/// Result of a scalar operation: the value (of the destination's width) and SCC, if it is written.
pub(super) struct ScalarResult {
    pub(super) value: Option<Value>,
    pub(super) scc: Option<Value>,
}

/// How an operation is lowered.
#[derive(Clone, Copy)]
pub(super) enum Lower {
    /// Scalar arithmetic on numbers; the sources come at the widths of the row.
    Scalar(fn(&mut Emit<'_>, [Value; 2]) -> ScalarResult),
    /// The same, from SCC too.
    Carry(fn(&mut Emit<'_>, [Value; 2], Value) -> ScalarResult),
    /// A vector memory access.
    Memory(memory::Family, memory::Kind),
    /// A read-modify-write by the whole wave.
    ScalarAtomic(memory::ScalarAtomic),
    /// By a function that does everything.
    Whole(LowerFn),
    /// No effect.
    Nothing,
}

/// One operation's lowering.
pub(super) type Row = (Op, Lower);

static TABLE: LazyLock<Vec<Option<Lower>>> = LazyLock::new(|| {
    let mut table = vec![None; Op::COUNT];
    let others = [
        super::emit::CONTROL_ROWS,
        exec::ROWS,
        hardware::ROWS,
        lanes::ROWS,
        move_relative::ROWS,
        record::ROWS,
        memory::LDS_ROWS,
        memory::LDS_ATOMIC_ROWS,
        memory::SCALAR_ROWS,
    ];
    let subjects = scalar::ROWS.into_iter().chain(others);
    for (op, lower) in subjects.flatten() {
        table[op.index()] = Some(*lower);
    }
    for op in Op::all() {
        if let Some((family, kind)) = memory::meaning(op) {
            table[op.index()] = Some(Lower::Memory(family, kind));
        }
        if let Some(atomic) = memory::scalar_atomic(op) {
            table[op.index()] = Some(Lower::ScalarAtomic(atomic));
        }
    }
    table
});

/// The lowering of `op`, if it has one.
pub(super) fn lowering(op: Op) -> Option<Lower> {
    TABLE[op.index()]
}
