//! Scalar memory: loads, stores, atomics, clocks.
//!
//! A dword's address is the sum of base and offsets with its two low bits cleared. Buffer forms drop each dword that
//! does not lie wholly in the buffer: such loads give 0, such stores and atomics do nothing.

use super::StopKind;
use super::atomic::{ATOMICS, AtomicRow};
use super::machine::{Flow, Machine, Place};
use super::meaning::Meaning;
use super::memory::Descriptor;
use super::slot::Slot;
use crate::gfx10::{Mods, Op, Operand};

pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::S_LOAD_DWORD, Meaning::Special(|m, slot| load(m, slot, Base::Address, 1))),
    (Op::S_LOAD_DWORDX2, Meaning::Special(|m, slot| load(m, slot, Base::Address, 2))),
    (Op::S_LOAD_DWORDX4, Meaning::Special(|m, slot| load(m, slot, Base::Address, 4))),
    (Op::S_LOAD_DWORDX8, Meaning::Special(|m, slot| load(m, slot, Base::Address, 8))),
    (Op::S_LOAD_DWORDX16, Meaning::Special(|m, slot| load(m, slot, Base::Address, 16))),
    (Op::S_BUFFER_LOAD_DWORD, Meaning::Special(|m, slot| load(m, slot, Base::Buffer, 1))),
    (Op::S_BUFFER_LOAD_DWORDX2, Meaning::Special(|m, slot| load(m, slot, Base::Buffer, 2))),
    (Op::S_BUFFER_LOAD_DWORDX4, Meaning::Special(|m, slot| load(m, slot, Base::Buffer, 4))),
    (Op::S_BUFFER_LOAD_DWORDX8, Meaning::Special(|m, slot| load(m, slot, Base::Buffer, 8))),
    (Op::S_BUFFER_LOAD_DWORDX16, Meaning::Special(|m, slot| load(m, slot, Base::Buffer, 16))),
    (Op::S_STORE_DWORD, Meaning::Special(|m, slot| store(m, slot, Base::Address, 1))),
    (Op::S_STORE_DWORDX2, Meaning::Special(|m, slot| store(m, slot, Base::Address, 2))),
    (Op::S_STORE_DWORDX4, Meaning::Special(|m, slot| store(m, slot, Base::Address, 4))),
    (Op::S_BUFFER_STORE_DWORD, Meaning::Special(|m, slot| store(m, slot, Base::Buffer, 1))),
    (Op::S_BUFFER_STORE_DWORDX2, Meaning::Special(|m, slot| store(m, slot, Base::Buffer, 2))),
    (Op::S_BUFFER_STORE_DWORDX4, Meaning::Special(|m, slot| store(m, slot, Base::Buffer, 4))),
    (Op::S_MEMTIME, Meaning::Special(clock)),
    (Op::S_MEMREALTIME, Meaning::Special(clock)),
    (Op::S_GET_WAVEID_IN_WORKGROUP, Meaning::Special(wave_number)),
];

/// What SBASE holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Address,
    Buffer,
}

/// The memory that an instruction names.
struct Window {
    address: u64,
    /// Byte offset from the base.
    offset: i64,
    /// Bytes of the buffer.
    size: Option<u64>,
}

impl Window {
    fn new(m: &Machine<'_>, slot: &Slot, base: Base) -> Result<Self, StopKind> {
        let Mods::Smem { offset, .. } = slot.inst.mods else { return Err(slot.form("no offset")) };
        let offset = i64::from(offset) + m.scalar_source(slot, 1)? as i64;
        let Operand::Sgpr(first) = slot.inst.src[0] else {
            return Err(slot.form("a base that is no scalar register"));
        };
        if base == Base::Address {
            return Ok(Window { address: m.wave.sgpr_pair(first), offset, size: None });
        }
        let descriptor = Descriptor::read(m.wave, first);
        Ok(Window { address: descriptor.base, offset, size: Some(descriptor.bytes()) })
    }

    /// Where dword `i` lies.
    fn dword(&self, i: u32) -> Place {
        let offset = self.offset + 4 * i64::from(i);
        if let Some(size) = self.size {
            let last = u64::try_from(offset & !3).map(|start| start.saturating_add(4));
            if last.is_ok_and(|end| end <= size) {
                return Place::guest(self.address.wrapping_add_signed(offset) & !3);
            }
            return Place::Nowhere;
        }
        Place::guest(self.address.wrapping_add_signed(offset) & !3)
    }
}

fn load(m: &mut Machine<'_>, slot: &Slot, base: Base, count: u32) -> Result<Flow, StopKind> {
    let window = Window::new(m, slot, base)?;
    let mut words = [0; 16];
    for (i, word) in words.iter_mut().take(count as usize).enumerate() {
        *word = m.read_u32(window.dword(i as u32))?;
    }
    let Some(first) = slot.scalar_destination(0) else { return Err(slot.form("no destination")) };
    for (i, word) in words.iter().take(count as usize).enumerate() {
        m.wave.set_sgpr_of(first, i as u8, *word);
    }
    Ok(Flow::Next)
}

/// The first register of SDATA.
fn data_register(slot: &Slot) -> Result<u8, StopKind> {
    match slot.inst.src[2] {
        Operand::Sgpr(first) => Ok(first),
        _ => Err(slot.form("data that is no scalar register")),
    }
}

fn store(m: &mut Machine<'_>, slot: &Slot, base: Base, count: u32) -> Result<Flow, StopKind> {
    let window = Window::new(m, slot, base)?;
    let first = data_register(slot)?;
    for i in 0..count {
        let word = m.wave.sgpr_of(first, i as u8);
        m.write(window.dword(i), &word.to_le_bytes())?;
    }
    Ok(Flow::Next)
}

/// The meaning of `s_atomic_*` and `s_buffer_atomic_*`.
pub(super) fn atomic_meaning(op: Op) -> Option<Meaning> {
    let name = op.name();
    let (buffer, rest) = match name.strip_prefix("s_buffer_atomic_") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix("s_atomic_")?),
    };
    let (name, wide) = rest.strip_suffix("_x2").map_or((rest, false), |name| (name, true));
    let row = ATOMICS.iter().find(|row| row.name == name)?;
    Some(Meaning::ScalarAtomic(ScalarAtomic { row, buffer, wide }))
}

/// A scalar atomic operation.
#[derive(Clone, Copy)]
pub(super) struct ScalarAtomic {
    row: &'static AtomicRow,
    buffer: bool,
    wide: bool,
}

/// Carries out a scalar atomic operation; with GLC the old value comes back in SDATA.
pub(super) fn atomic(m: &mut Machine<'_>, slot: &Slot, operation: ScalarAtomic) -> Result<Flow, StopKind> {
    let base = if operation.buffer { Base::Buffer } else { Base::Address };
    let window = Window::new(m, slot, base)?;
    let first = data_register(slot)?;
    let word = |i| u64::from(m.wave.sgpr_of(first, i));
    let (bytes, data, other) = match operation.wide {
        true => (8, word(0) | word(1) << 32, word(2) | word(3) << 32),
        false => (4, word(0), word(1)),
    };
    let inside = !operation.wide || window.dword(1) != Place::Nowhere;
    let place = if inside { window.dword(0) } else { Place::Nowhere };
    let old = m.atomic(place, bytes, operation.row.modify, data, other)?;
    match slot.scalar_destination(0) {
        Some(number) if operation.wide => m.wave.set_sgpr_pair(number, old),
        Some(number) => m.wave.set_sgpr(number, old as u32),
        None => {}
    }
    Ok(Flow::Next)
}

fn clock(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let now = m.bus.clock(m.executed);
    if let Some(number) = slot.scalar_destination(0) {
        m.wave.set_sgpr_pair(number, now);
    }
    Ok(Flow::Next)
}

fn wave_number(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let number = m.wave.number.into();
    m.write_first(slot, number)
}
