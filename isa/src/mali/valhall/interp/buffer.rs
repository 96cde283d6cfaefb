//! Resource tables and buffers.

use super::StopKind;
use super::control::Next;
use super::thread::{Special, Thread};
use crate::mali::valhall::{Inst, Op};

/// Bytes of a descriptor in a resource table.
pub(super) const DESCRIPTOR: u64 = 32;

/// Bytes of an entry of the resource table.
const ENTRY: u64 = 16;

/// The table that hardware fills with where a draw's vertices go.
pub(super) const HIDDEN_TABLE: u32 = 61;

/// Address bits of an entry of the resource table.
const ENTRY_ADDRESS: u64 = 0xff_ffff_ffff_ffff;

/// A resource: a table and an entry of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle {
    pub(super) table: u32,
    pub(super) index: u32,
}

impl Handle {
    /// The handle in a register.
    pub(super) fn of(word: u32) -> Handle {
        Handle { table: word >> 24, index: word & 0xff_ffff }
    }

    /// The handle in an instruction: of 16 tables, the last four are tables 60 to 63.
    pub(super) fn immediate(inst: &Inst) -> Handle {
        let table = inst.immediate("table");
        Handle { table: if table < 12 { table } else { table + 48 }, index: inst.immediate("index") }
    }

    fn missing(self, inst: &Inst) -> StopKind {
        StopKind::Resource { name: inst.row.name, table: self.table, index: self.index }
    }
}

/// A range of memory that a buffer descriptor names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buffer {
    pub(super) address: u64,
    pub(super) bytes: u32,
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Special)] = &[
    (Op::LeaBufImm, |t, i| lea(t, i, Handle::immediate(i))),
    (Op::LeaBuf, |t, i| {
        let handle = Handle::of(t.word(i, 1)?);
        lea(t, i, handle)
    }),
];

impl Thread<'_> {
    /// The address of a descriptor.
    pub(super) fn descriptor(&mut self, inst: &Inst, handle: Handle) -> Result<u64, StopKind> {
        if handle.table >= self.env.tables {
            return Err(handle.missing(inst));
        }
        let entry = self.env.resources.wrapping_add(ENTRY * u64::from(handle.table));
        let address = self.load_pair(entry)? & ENTRY_ADDRESS;
        let bytes = self.load_word(entry.wrapping_add(8))?;
        let offset = DESCRIPTOR * u64::from(handle.index);
        if offset + DESCRIPTOR > u64::from(bytes) {
            return Err(handle.missing(inst));
        }
        Ok(address.wrapping_add(offset))
    }

    /// The range of a simple buffer.
    pub(super) fn buffer(&mut self, inst: &Inst, handle: Handle) -> Result<Buffer, StopKind> {
        let at = self.descriptor(inst, handle)?;
        if self.load_word(at)? & 0xff != 0x19 {
            let what = "a type other than that of a simple buffer";
            return Err(StopKind::Descriptor { name: inst.row.name, what });
        }
        Ok(Buffer {
            bytes: self.load_word(at.wrapping_add(4))?,
            address: self.load_pair(at.wrapping_add(8))?,
        })
    }
}

/// The address of an element of the hidden table, by its linear number.
fn lea(thread: &mut Thread<'_>, inst: &Inst, handle: Handle) -> Result<Next, StopKind> {
    if handle != (Handle { table: HIDDEN_TABLE, index: 0 }) {
        return Err(StopKind::Form { name: inst.row.name, form: "a buffer other than the vertex packets" });
    }
    let hidden = thread.env.hidden;
    let number = thread.word(inst, 0)?;
    let address = hidden.address.wrapping_add(u64::from(number).wrapping_mul(hidden.stride.into()));
    thread.set_staged(inst, &[address as u32, (address >> 32) as u32]);
    Ok(Next::Follow)
}
