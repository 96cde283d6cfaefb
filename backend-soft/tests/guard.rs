//! Hostile programs between guard pages: whatever their pointers are, no byte outside the memory that was offered is touched.
//! A byte outside would end the test's process.
//!
//! Miri cannot run generated code. `valgrind --smc-check=all-non-file` on this test's program (some minutes) can, and sees what
//! guard pages do not: accesses to freed memory and between allocations, and branches on what was never written.
#![cfg(unix)]
#![expect(unsafe_code, reason = "guard pages are made by the host's own calls")]
#![expect(clippy::unwrap_used, reason = "a test whose memory cannot be set up has to stop")]

#[cfg(test)]
mod support;

use std::ops::Range;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU8, Ordering};

use guestwave_cp::{AccessKind, Generation, GuestMemory, HostSpan, MemoryFault, canonical};
use guestwave_translate::backend::Launch;
use guestwave_translate::program::eval;
use proptest::prelude::*;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use support::lane::access::{HEAP, HEAP_BYTES};
use support::lane::random::{Menu, program};
use support::{Arena, WAYS, launch, run_native};

/// More than any single access or vector reaches past its first byte.
const GUARD: usize = 1 << 16;

/// The heap, right between two runs of pages that nobody may touch.
struct Guarded {
    all: NonNull<u8>,
    heap: NonNull<u8>,
}

const LEN: usize = HEAP_BYTES as usize;

// SAFETY: every access goes through atomics or generated code, which may come from any thread.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn new(bytes: &[u8]) -> Self {
        assert_eq!(bytes.len(), LEN);
        // SAFETY: a fresh mapping, of which only the middle is made accessible.
        let (all, heap) = unsafe {
            let all =
                mmap_anonymous(null_mut(), LEN + 2 * GUARD, ProtFlags::empty(), MapFlags::PRIVATE).unwrap();
            let heap = all.cast::<u8>().add(GUARD);
            mprotect(heap.cast(), LEN, MprotectFlags::READ | MprotectFlags::WRITE).unwrap();
            (all.cast::<u8>(), heap)
        };
        let guarded = Guarded { all: NonNull::new(all).unwrap(), heap: NonNull::new(heap).unwrap() };
        guarded.write(HEAP, bytes).unwrap();
        guarded
    }

    fn byte(&self, address: u64, kind: AccessKind, size: u64) -> Result<&AtomicU8, MemoryFault> {
        let at = canonical(address);
        let place = at.checked_sub(HEAP).filter(|p| *p < HEAP_BYTES);
        let place = place.ok_or(MemoryFault { address: at, size, kind })?;
        // SAFETY: inside the accessible pages, which live as long as `self`.
        Ok(unsafe { AtomicU8::from_ptr(self.heap.as_ptr().add(place as usize)) })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; LEN];
        self.read(HEAP, &mut bytes).unwrap();
        bytes
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, to which nothing points any more.
        unsafe { munmap(self.all.as_ptr().cast(), LEN + 2 * GUARD).unwrap() };
    }
}

impl GuestMemory for Guarded {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let size = into.len() as u64;
        for (i, byte) in (0..).zip(into) {
            *byte = self.byte(address.wrapping_add(i), AccessKind::Read, size)?.load(Ordering::Relaxed);
        }
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        for (i, byte) in (0..).zip(bytes) {
            let cell = self.byte(address.wrapping_add(i), AccessKind::Write, bytes.len() as u64)?;
            cell.store(*byte, Ordering::Relaxed);
        }
        Ok(())
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        let range = HEAP..HEAP + HEAP_BYTES;
        range.contains(&canonical(address)).then_some(range)
    }

    fn generation(&self) -> Generation {
        Generation::default()
    }

    fn changed_since(&self, _: Generation, _: &mut dyn FnMut(Range<u64>)) -> Generation {
        Generation::default()
    }

    fn host_span(&self, address: u64) -> Option<HostSpan> {
        self.mapping(address)?;
        Some(HostSpan { guest: HEAP, host: self.heap, len: HEAP_BYTES, writable: true })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_programs_keep_to_the_memory_that_is_theirs(choices in prop::collection::vec(any::<u32>(), 0..300)) {
        let program = program(&choices, Menu { hostile: true, odd: true, lds: true, groups: true, in_common: true });
        let launch = Launch { params: vec![3, 0x4000_0001], tables: [1, 2, 3].into(), ..launch(3, 3) };
        let heap: Vec<u8> = (0..HEAP_BYTES).map(|i| (i * 7 / 3) as u8).collect();
        let plain = Arena::new().with(HEAP, &heap);
        let wanted = eval::run(&program, &launch, &plain).is_ok();
        for options in WAYS {
            let guarded = Guarded::new(&heap);
            let ran = run_native(options, &program, &launch, &guarded).is_ok();
            prop_assert_eq!((ran, guarded.bytes()), (wanted, plain.bytes()));
        }
    }
}
