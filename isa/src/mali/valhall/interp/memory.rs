//! Loads and stores of guest memory.

use super::StopKind;
use super::control::Next;
use super::thread::{Special, Thread};
use crate::mali::valhall::{Inst, Op, field};

/// Bits of an address that count.
pub(super) const ADDRESS_BITS: u64 = 0xffff_ffff_ffff;

/// The bit of an address that is out of range by design: loads give 0, stores are dropped.
const SINK: u64 = 1 << 63;

/// Bytes of an access by its width code.
const BYTES: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Special)] = &[(Op::Load, load), (Op::Store, store)];

impl Thread<'_> {
    /// Fills `into` from an address.
    pub(super) fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), StopKind> {
        if address & SINK != 0 {
            into.fill(0);
            return Ok(());
        }
        Ok(self.bus.load(address & ADDRESS_BITS, into)?)
    }

    /// Stores bytes at an address.
    pub(super) fn store_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), StopKind> {
        if address & SINK != 0 || bytes.is_empty() {
            return Ok(());
        }
        Ok(self.bus.store(address & ADDRESS_BITS, bytes)?)
    }

    /// The word at an address.
    pub(super) fn load_word(&mut self, address: u64) -> Result<u32, StopKind> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// The 64-bit number at an address.
    pub(super) fn load_pair(&mut self, address: u64) -> Result<u64, StopKind> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

fn width(inst: &Inst) -> usize {
    (inst.word >> 27) as usize & 7
}

fn address(thread: &mut Thread<'_>, inst: &Inst) -> Result<u64, StopKind> {
    let offset = i64::from(inst.immediate("offset") as i32) as u64;
    Ok(thread.pair(inst, 0)?.wrapping_add(offset))
}

fn load(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let from = address(thread, inst)?;
    let mut bytes = [0; 16];
    let count = BYTES[width(inst)];
    thread.read(from, &mut bytes[..count])?;
    thread.place(inst, width(inst), bytes);
    Ok(Next::Follow)
}

fn store(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let to = address(thread, inst)?;
    let mut bytes = [0; 16];
    for (i, chunk) in (0u8..).zip(bytes.chunks_exact_mut(4)) {
        let word = if i < inst.staging_count() { thread.staged(inst, i) } else { 0 };
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    thread.store_bytes(to, &bytes[..BYTES[width(inst)]])?;
    Ok(Next::Follow)
}

/// Where loaded bytes and halves go: the first bit in the register, and the bits written.
const BYTE_LANES: [(u32, u32); 8] = [(0, 8), (8, 8), (16, 8), (24, 8), (0, 16), (16, 16), (0, 32), (0, 64)];
const HALF_LANES: [(u32, u32); 4] = [(0, 16), (16, 16), (0, 32), (0, 64)];
const WORD_LANES: [(u32, u32); 2] = [(0, 32), (0, 64)];

impl Thread<'_> {
    /// Puts loaded bytes where the load's lane says.
    pub(super) fn place(&mut self, inst: &Inst, width: usize, bytes: [u8; 16]) {
        let lane = field::LANE_8.of(inst.word) as usize;
        let narrow = match width {
            0 => BYTE_LANES.get(lane),
            1 => HALF_LANES.get(lane),
            3 => WORD_LANES.get(lane),
            _ => None,
        };
        match narrow {
            Some((shift, bits)) => {
                self.place_part(inst, BYTES[width], u128::from_le_bytes(bytes), *shift, *bits)
            }
            None => {
                let words = [0, 4, 8, 12]
                    .map(|i| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]));
                self.set_staged(inst, &words);
            }
        }
    }

    fn place_part(&mut self, inst: &Inst, loaded: usize, value: u128, shift: u32, bits: u32) {
        let unused = 64 - 8 * loaded as u32;
        let top = (value as u64) << unused;
        let signed = inst.code(&field::UNSIGNED) == 0;
        let extended = if signed { (top as i64 >> unused) as u64 } else { top >> unused };
        let mask = (u64::MAX >> (64 - bits)) << shift;
        let old = u64::from(self.staged(inst, 0)) | u64::from(self.staged(inst, 1)) << 32;
        let new = old & !mask | (extended << shift) & mask;
        self.set_staged(inst, &[new as u32, (new >> 32) as u32]);
    }
}
