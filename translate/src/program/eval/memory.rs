//! What the evaluator's accesses see: guest memory with the dispatch's own stores laid over it, and local arrays.

use std::collections::BTreeMap;
use std::ops::Range;

use guestwave_cp::{AccessKind, GuestMemory, MemoryFault, canonical};

use crate::program::{AtomicOp, Width};

/// Guest memory as the running dispatch sees it. Nothing reaches the guest before [`Overlay::commit`].
pub(super) struct Overlay<'a> {
    guest: &'a dyn GuestMemory,
    stored: BTreeMap<u64, u8>,
}

impl<'a> Overlay<'a> {
    pub(super) fn new(guest: &'a dyn GuestMemory) -> Self {
        Overlay { guest, stored: BTreeMap::new() }
    }

    fn fault(address: u64, kind: AccessKind) -> MemoryFault {
        MemoryFault { address, size: 1, kind }
    }

    /// Whether a byte is there for an access of this kind.
    fn check(&self, address: u64, kind: AccessKind) -> Result<(), MemoryFault> {
        let mapped = self.guest.mapping(address).is_some();
        let read_only = self.guest.host_span(address).is_some_and(|s| !s.writable);
        if mapped && (kind == AccessKind::Read || !read_only) {
            Ok(())
        } else {
            Err(Self::fault(address, kind))
        }
    }

    fn byte(&self, address: u64, kind: AccessKind) -> Result<u8, MemoryFault> {
        self.check(address, kind)?;
        if let Some(byte) = self.stored.get(&address) {
            return Ok(*byte);
        }
        let mut byte = [0];
        self.guest.read(address, &mut byte).map_err(|_| Self::fault(address, kind))?;
        Ok(byte[0])
    }

    /// The unit at `address`, zero-extended.
    pub(super) fn load(&self, address: u64, width: Width, kind: AccessKind) -> Result<u64, MemoryFault> {
        (0..u64::from(width.bytes())).rev().try_fold(0, |bits, i| {
            let byte = self.byte(canonical(address.wrapping_add(i)), kind)?;
            Ok(bits << 8 | u64::from(byte))
        })
    }

    /// Stores the low bytes of `bits`, all of them or none.
    pub(super) fn store(
        &mut self,
        address: u64,
        width: Width,
        bits: u64,
        kind: AccessKind,
    ) -> Result<(), MemoryFault> {
        let bytes = || (0..u64::from(width.bytes())).map(|i| (i, canonical(address.wrapping_add(i))));
        bytes().try_for_each(|(_, a)| self.check(a, kind))?;
        self.stored.extend(bytes().map(|(i, a)| (a, (bits >> (8 * i)) as u8)));
        Ok(())
    }

    /// Writes what was stored to the guest and gives its ranges.
    pub(super) fn commit(self) -> Result<Vec<Range<u64>>, MemoryFault> {
        let mut runs: Vec<(u64, Vec<u8>)> = Vec::new();
        for (address, byte) in self.stored {
            match runs.last_mut() {
                Some((start, bytes)) if *start + bytes.len() as u64 == address => bytes.push(byte),
                _ => runs.push((address, vec![byte])),
            }
        }
        runs.iter().try_for_each(|(start, bytes)| self.guest.write(*start, bytes))?;
        Ok(runs.iter().map(|(start, bytes)| *start..start + bytes.len() as u64).collect())
    }
}

/// The unit at byte `at` of a local memory, or `None` if it is not wholly inside.
pub(super) fn local_unit(memory: &mut [u8], at: u64, width: Width) -> Option<&mut [u8]> {
    let start = usize::try_from(at).ok()?;
    memory.get_mut(start..start.checked_add(width.bytes() as usize)?)
}

/// A unit's bytes as a number.
pub(super) fn number(unit: &[u8]) -> u64 {
    unit.iter().rev().fold(0, |bits, b| bits << 8 | u64::from(*b))
}

/// What an atomic leaves in a unit that held `old`.
pub(super) fn atomic(op: AtomicOp, width: Width, old: u64, data: u64, compare: u64) -> u64 {
    let narrow = width == Width::W32;
    let signed = |x: u64| if narrow { i64::from(x as u32 as i32) } else { x as i64 };
    let new = match op {
        AtomicOp::Swap => data,
        AtomicOp::CompareSwap if old == compare => data,
        AtomicOp::CompareSwap => old,
        AtomicOp::Add => old.wrapping_add(data),
        AtomicOp::Sub => old.wrapping_sub(data),
        AtomicOp::MinS => std::cmp::min_by_key(old, data, |x| signed(*x)),
        AtomicOp::MaxS => std::cmp::max_by_key(old, data, |x| signed(*x)),
        AtomicOp::MinU => old.min(data),
        AtomicOp::MaxU => old.max(data),
        AtomicOp::And => old & data,
        AtomicOp::Or => old | data,
        AtomicOp::Xor => old ^ data,
        AtomicOp::IncWrap if old >= data => 0,
        AtomicOp::IncWrap => old.wrapping_add(1),
        AtomicOp::DecWrap if old == 0 || old > data => data,
        AtomicOp::DecWrap => old.wrapping_sub(1),
        AtomicOp::SubClamp => old.saturating_sub(data),
        AtomicOp::MinF => float_pick(narrow, old, data, true),
        AtomicOp::MaxF => float_pick(narrow, old, data, false),
    };
    if narrow { new & u64::from(u32::MAX) } else { new }
}

/// The smaller or larger of two floats as sign-magnitude numbers; a NaN loses, and of two NaNs the old one stays.
fn float_pick(narrow: bool, old: u64, data: u64, smaller: bool) -> u64 {
    let (infinity, sign) = if narrow { (0x7f80_0000, 1 << 31) } else { (0x7ff0_0000_0000_0000, 1 << 63) };
    let nan = |x: u64| x & (sign - 1) > infinity;
    // -0 stands below +0: `!magnitude` orders the negatives and puts them all below the others.
    let key = |x: u64| {
        let magnitude = (x & (sign - 1)) as i64;
        if x & sign == 0 { magnitude } else { !magnitude }
    };
    match (nan(old), nan(data)) {
        (_, true) => old,
        (true, false) => data,
        _ if (key(data) < key(old)) == smaller && key(data) != key(old) => data,
        _ => old,
    }
}
