//! One stream's copy in one draw, and its plain meaning.

use std::ops::Range;
use std::sync::Arc;

use super::super::so_decl::DWORD;
use super::{SolOrder, SolShape};
use crate::streamout::{BUFFERS, Slot};
use crate::{AccessKind, DispatchError, DispatchId, GuestMemory, MemoryFault, Origin, canonical};

/// Dwords of a slot.
const SLOT: usize = 4;

/// Vertices as they leave the last vertex stage: slot `s`, component `c` of vertex `v` is word `(v * slots + s) * 4 + c`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Vues {
    /// Slots of each vertex.
    pub slots: u32,
    /// The words.
    pub words: Arc<[u32]>,
}

impl Vues {
    /// Vertices.
    pub fn vertices(&self) -> u32 {
        let each = self.slots as usize * SLOT;
        self.words.len().checked_div(each).map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX))
    }

    /// Components of a slot of a vertex; none where it has none.
    fn components(&self, vertex: u32, slot: u32, components: Range<usize>) -> &[u32] {
        let at = (vertex as usize * self.slots as usize + slot as usize) * SLOT;
        self.words.get(at + components.start..at + components.end).unwrap_or(&[])
    }
}

/// A copy of vertices to buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolJob {
    /// What is copied to where in a record.
    pub shape: SolShape,
    /// From where.
    pub vues: Vues,
    /// Slots of each vertex before slot 0 of the shape.
    pub first_slot: u32,
    /// Guest address of the first record of each buffer.
    pub starts: [u64; BUFFERS],
    /// Vertices that are stored.
    pub count: u32,
    /// Vertices of an instance, as drawn; at least 1.
    pub drawn: u32,
    /// Vertices of an instance, as stored; at least 1.
    pub stored: u32,
    /// For [`SolOrder::Listed`], the vertex of an instance at each stored place.
    pub list: Arc<[u32]>,
    /// The draw.
    pub origin: Origin,
}

impl SolJob {
    /// The vertex that is stored at a place.
    pub fn source(&self, place: u32) -> u32 {
        let (instance, place) = (place / self.stored.max(1), place % self.stored.max(1));
        let vertex = match self.shape.order {
            SolOrder::Listed => self.list.get(place as usize).copied().unwrap_or(0),
            SolOrder::Assembled(topology, provoking) => {
                let corners = topology.corners();
                let vertices = topology.vertices(u64::from(place / corners), self.drawn, provoking);
                vertices.map_or(0, |v| v[(place % corners) as usize])
            }
        };
        instance.wrapping_mul(self.drawn).wrapping_add(vertex)
    }

    /// Where the record of a place starts in a buffer.
    fn record(&self, buffer: Slot, place: u32) -> u64 {
        let pitch = u64::from(self.shape.pitches[buffer.index()]);
        self.starts[buffer.index()].wrapping_add(pitch * u64::from(place))
    }

    /// Calls `each` with the guest range and the words of every store, in order.
    fn stores<E>(&self, mut each: impl FnMut(u64, &[u32]) -> Result<(), E>) -> Result<(), E> {
        for place in 0..self.count {
            let vertex = self.source(place);
            for copy in &*self.shape.copies {
                let first = usize::from(copy.first);
                let slot = self.first_slot.saturating_add(u32::from(copy.register));
                let words = self.vues.components(vertex, slot, first..first + usize::from(copy.count));
                each(self.record(copy.buffer, place).wrapping_add(u64::from(copy.offset)), words)?;
            }
        }
        Ok(())
    }

    /// Whether every byte that is stored is mapped for it.
    ///
    /// # Errors
    /// The first that is not.
    pub(crate) fn check(&self, memory: &dyn GuestMemory) -> Result<(), MemoryFault> {
        let mapped =
            |hull: &Range<u64>| memory.check(hull.start, hull.end - hull.start, AccessKind::Write).is_ok();
        let whole = self.hulls().iter().all(|(_, hull)| hull.start < hull.end && mapped(hull));
        match whole {
            true => Ok(()),
            false => self.stores(|address, words| {
                memory.check(address, words.len() as u64 * u64::from(DWORD), AccessKind::Write)
            }),
        }
    }

    /// For each buffer that is stored to, from its first stored record to the end of its last.
    pub(crate) fn hulls(&self) -> Vec<(Slot, Range<u64>)> {
        let stores = Slot::ALL.into_iter().filter(|b| self.count > 0 && b.is_in(self.shape.buffers()));
        stores
            .map(|buffer| {
                let last = self.record(buffer, self.count - 1);
                let end = last.wrapping_add(u64::from(self.shape.stored_bytes(buffer)));
                (buffer, canonical(self.record(buffer, 0))..canonical(end.wrapping_sub(1)) + 1)
            })
            .collect()
    }
}

/// Carries out copies in order, vertex by vertex and declaration by declaration.
///
/// # Errors
/// An address that is not mapped; nothing is stored then.
pub fn copy(jobs: &[SolJob], memory: &dyn GuestMemory) -> Result<Vec<Range<u64>>, DispatchError> {
    let origin = jobs.first().map(|job| job.origin).unwrap_or_default();
    let fault = |fault: MemoryFault| DispatchError {
        id: DispatchId::default(),
        origin,
        code: "CP-IMEM-001",
        text: fault.to_string(),
        pc: None,
        fault: Some(fault),
    };
    jobs.iter().try_for_each(|job| job.check(memory)).map_err(fault)?;
    let mut stored = Vec::new();
    for job in jobs {
        let store = |address: u64, words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            stored.push(canonical(address)..canonical(address) + bytes.len() as u64);
            memory.write(address, &bytes)
        };
        job.stores(store).map_err(fault)?;
    }
    Ok(merged(stored))
}

/// The ranges sorted, those that touch made one.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
