//! Guest memory with one dispatch's stores laid over it.

use std::collections::HashMap;
use std::ops::Range;

use guestwave_cp::{AccessKind, GuestMemory, MemoryFault, canonical};
use guestwave_isa::gfx10::interp::{Bus, BusFault};

const PAGE: u64 = 4096;

/// One page as the dispatch sees it.
struct Shadow {
    /// First address.
    address: u64,
    data: Box<[u8; PAGE as usize]>,
    /// One bit a byte: the dispatch stored it.
    stored: [u64; PAGE as usize / 64],
    /// Whether every byte is mapped and `data` holds it; else only stored bytes count and loads go to memory.
    whole: bool,
    /// Whether every byte may be stored; else each store asks memory.
    writable: bool,
}

impl Shadow {
    fn new(memory: &dyn GuestMemory, address: u64) -> Shadow {
        let mut data = Box::new([0; PAGE as usize]);
        let whole = memory.read(address, data.as_mut_slice()).is_ok();
        let writable = memory.check(address, PAGE, AccessKind::Write).is_ok();
        Shadow { address, data, stored: [0; PAGE as usize / 64], whole, writable }
    }

    fn is_stored(&self, byte: usize) -> bool {
        self.stored[byte / 64] >> (byte % 64) & 1 != 0
    }

    fn store(&mut self, at: usize, bytes: &[u8]) {
        self.data[at..at + bytes.len()].copy_from_slice(bytes);
        for byte in at..at + bytes.len() {
            self.stored[byte / 64] |= 1 << (byte % 64);
        }
    }

    /// The page's runs of stored bytes.
    fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = (at..PAGE as usize).find(|b| self.is_stored(*b))?;
            at = (start..PAGE as usize).find(|b| !self.is_stored(*b)).unwrap_or(PAGE as usize);
            Some(start..at)
        })
    }
}

/// Memory as the waves of one dispatch see it: they read what they stored, and nothing reaches the guest before
/// [`Overlay::commit`].
pub(super) struct Overlay<'m> {
    memory: &'m dyn GuestMemory,
    shadows: Vec<Shadow>,
    /// Place in `shadows` by page number.
    places: HashMap<u64, usize>,
    /// Page number and place of the last access.
    last: (u64, usize),
}

impl<'m> Overlay<'m> {
    pub(super) fn new(memory: &'m dyn GuestMemory) -> Self {
        Overlay { memory, shadows: Vec::new(), places: HashMap::new(), last: (u64::MAX, 0) }
    }

    fn shadow(&mut self, page: u64) -> &mut Shadow {
        if self.last.0 != page {
            let (memory, shadows) = (self.memory, &mut self.shadows);
            let place = *self.places.entry(page).or_insert_with(|| {
                shadows.push(Shadow::new(memory, page * PAGE));
                shadows.len() - 1
            });
            self.last = (page, place);
        }
        &mut self.shadows[self.last.1]
    }

    fn load_part(&mut self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let memory = self.memory;
        let at = (address % PAGE) as usize;
        let shadow = self.shadow(address / PAGE);
        if shadow.whole {
            into.copy_from_slice(&shadow.data[at..at + into.len()]);
            return Ok(());
        }
        memory.read(address, into)?;
        for (i, byte) in into.iter_mut().enumerate().filter(|(i, _)| shadow.is_stored(at + i)) {
            *byte = shadow.data[at + i];
        }
        Ok(())
    }

    /// Writes exactly the stored bytes to the guest, all or none, and returns their ranges, sorted and merged.
    ///
    /// # Errors
    /// A byte that can no longer be stored; nothing was written.
    pub(super) fn commit(mut self) -> Result<Vec<Range<u64>>, MemoryFault> {
        self.shadows.sort_by_key(|s| s.address);
        let mut stored: Vec<Range<u64>> = Vec::new();
        for shadow in &self.shadows {
            for run in shadow.runs() {
                let range = shadow.address + run.start as u64..shadow.address + run.end as u64;
                self.memory.check(range.start, run.len() as u64, AccessKind::Write)?;
                match stored.last_mut().filter(|l| l.end == range.start) {
                    Some(last) => last.end = range.end,
                    None => stored.push(range),
                }
            }
        }
        for shadow in &self.shadows {
            for run in shadow.runs() {
                self.memory.write(shadow.address + run.start as u64, &shadow.data[run])?;
            }
        }
        Ok(stored)
    }
}

/// The parts of an access, each inside one page: its address and its places in the access.
fn parts(address: u64, len: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let start = done;
        let at = address.wrapping_add(start as u64);
        done = len.min(start + (PAGE - at % PAGE) as usize);
        (start < len).then_some((at, start..done))
    })
}

fn bus_fault(fault: &MemoryFault, size: usize) -> BusFault {
    BusFault { address: fault.address, size: size as u32, write: fault.kind != AccessKind::Read }
}

impl Bus for Overlay<'_> {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), BusFault> {
        let len = into.len();
        for (at, places) in parts(canonical(address), len) {
            self.load_part(at, &mut into[places]).map_err(|f| bus_fault(&f, len))?;
        }
        Ok(())
    }

    fn store(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusFault> {
        let address = canonical(address);
        let size = bytes.len() as u64;
        if !parts(address, bytes.len()).all(|(at, _)| self.shadow(at / PAGE).writable) {
            self.memory.check(address, size, AccessKind::Write).map_err(|f| bus_fault(&f, bytes.len()))?;
        }
        for (at, places) in parts(address, bytes.len()) {
            self.shadow(at / PAGE).store((at % PAGE) as usize, &bytes[places]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{BufferObject, VaKind, VaOp};
    use crate::memory::CaptureMemory;

    const A: u64 = 0x10000;

    /// Two writable pages at A, then a read-only one.
    fn memory() -> CaptureMemory {
        let m = CaptureMemory::new();
        m.create(&BufferObject { bo: 1, handle: 1, size: 0x4000, domains: 2, flags: 0, userptr: 0 }).unwrap();
        let op = VaOp { bo: 1, kind: VaKind::Map, flags: 14, va: A, offset: 0, size: 0x2000 };
        m.va(&op).unwrap();
        m.va(&VaOp { flags: 10, va: A + 0x2000, offset: 0x2000, size: 0x1000, ..op }).unwrap();
        m
    }

    fn word(memory: &CaptureMemory, address: u64) -> u32 {
        guestwave_cp::read_u32(memory, address).unwrap()
    }

    #[test]
    fn stores_are_seen_at_once_and_reach_the_guest_at_commit() {
        let m = memory();
        let mut overlay = Overlay::new(&m);
        overlay.store(A + 0xffe, &[1, 2, 3, 4]).unwrap();
        let mut seen = [9; 6];
        overlay.load(A + 0xffd, &mut seen).unwrap();
        assert_eq!(seen, [0, 1, 2, 3, 4, 0]);
        assert_eq!(word(&m, A + 0xffe), 0);
        assert_eq!(overlay.commit().unwrap().as_slice(), std::slice::from_ref(&(A + 0xffe..A + 0x1002)));
        assert_eq!(word(&m, A + 0xffe), 0x0403_0201);
    }

    #[test]
    fn bytes_that_were_not_stored_keep_what_others_write_meanwhile() {
        let m = memory();
        let mut overlay = Overlay::new(&m);
        overlay.store(A, &[0]).unwrap();
        overlay.store(A + 2, &[7]).unwrap();
        m.write(A, &[5; 4]).unwrap();
        assert_eq!(overlay.commit().unwrap(), [A..A + 1, A + 2..A + 3]);
        assert_eq!(word(&m, A), 0x0507_0500);
    }

    #[test]
    fn a_store_to_read_only_or_absent_memory_faults_at_once() {
        let m = memory();
        let mut overlay = Overlay::new(&m);
        let fault = overlay.store(A + 0x1ffe, &[1; 4]).unwrap_err();
        assert_eq!(fault, BusFault { address: A + 0x2000, size: 4, write: true });
        let fault = overlay.load(A + 0x2ffc, &mut [0; 8]).unwrap_err();
        assert_eq!(fault, BusFault { address: A + 0x3000, size: 8, write: false });
        assert_eq!(overlay.commit().unwrap(), []);
    }

    #[test]
    fn a_commit_that_cannot_write_all_writes_nothing() {
        let m = memory();
        let mut overlay = Overlay::new(&m);
        overlay.store(A, &[1]).unwrap();
        overlay.store(A + 0x1000, &[1]).unwrap();
        let gone = VaOp { bo: 1, kind: VaKind::Unmap, flags: 0, va: A + 0x1000, offset: 0, size: 0x1000 };
        m.va(&gone).unwrap();
        assert_eq!(overlay.commit().unwrap_err().address, A + 0x1000);
        assert_eq!(word(&m, A), 0);
    }

    #[test]
    fn partly_mapped_pages_work_by_the_byte() {
        let m = memory();
        m.va(&VaOp { bo: 1, kind: VaKind::Unmap, flags: 0, va: A, offset: 0, size: 0x800 }).unwrap();
        let mut overlay = Overlay::new(&m);
        overlay.store(A + 0x800, &[1]).unwrap();
        let mut two = [9; 2];
        overlay.load(A + 0x800, &mut two).unwrap();
        assert_eq!(two, [1, 0]);
        assert!(overlay.load(A + 0x7ff, &mut two).is_err());
    }
}
