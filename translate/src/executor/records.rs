//! Records of exports and messages: guest memory of their own for a dispatch's rows, and what they say at its end.
//!
//! A dispatch whose outputs are wanted gets an area at addresses where the guest has nothing mapped. Its lanes write
//! there by ordinary stores, so that no backend needs to know; the area's stores are not the guest's and are not reported.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use guestwave_cp::{
    AccessKind, Export, Generation, GuestMemory, HostSpan, MemoryFault, MemoryId, Message, WaveRecord,
    canonical,
};

use crate::gfx10::{Event, EventKind};
use crate::program::ParamSource;

/// Dwords of a lane's row to begin with.
const FIRST_WORDS: u32 = 32;

/// By what a row grows that was full.
const GROWTH: u32 = 4;

/// Bytes of a record at most.
const MAX_BYTES: u64 = 1 << 29;

/// Bytes that areas keep clear of each other and of the guest's own mappings.
const GAP: u64 = 1 << 16;

/// The addresses that areas are looked for in, from the end down.
const PLACES: Range<u64> = 0x8000_0000_0000..0xffff_0000_0000;

/// The record of one dispatch.
#[derive(Clone, Debug)]
pub(super) struct Record {
    events: Arc<[Event]>,
    waves: u32,
    wave_lanes: u32,
    /// Dwords of a lane's row.
    words: u32,
    area: Arc<Area>,
}

/// Where a record lies.
#[derive(Debug, Default)]
struct Area {
    base: u64,
    bytes: Mutex<Vec<u8>>,
    len: u64,
}

impl Area {
    fn new(base: u64, len: u64) -> Self {
        Area { base, bytes: Mutex::new(vec![0; len as usize]), len }
    }

    fn range(&self) -> Range<u64> {
        self.base..self.base + self.len
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The places of `len` bytes from `address` on, if all are in the area.
    fn places(&self, address: u64, len: usize) -> Option<Range<usize>> {
        let start = canonical(address).checked_sub(self.base)?;
        let end = start.checked_add(len as u64)?;
        (end <= self.len).then_some(start as usize..end as usize)
    }
}

impl Record {
    /// An empty record of a dispatch, below `end`; `None` if there is no room for it.
    pub(super) fn new(
        (events, words): (&Arc<[Event]>, u32),
        (waves, wave_lanes): (u32, u8),
        memory: &dyn GuestMemory,
        end: u64,
    ) -> Option<Record> {
        let wave_lanes = u32::from(wave_lanes);
        let words = words.max(FIRST_WORDS);
        let mut record = Record { events: events.clone(), waves, wave_lanes, words, area: Arc::default() };
        record.place(memory, end)?;
        Some(record)
    }

    /// Gives the rows an area; `None` if there is no room.
    fn place(&mut self, memory: &dyn GuestMemory, end: u64) -> Option<()> {
        if self.events.is_empty() {
            return Some(());
        }
        let rows = u64::from(self.waves) * u64::from(self.wave_lanes);
        let len = rows.checked_mul(u64::from(self.words) * 4).filter(|len| *len <= MAX_BYTES)?;
        self.area = Arc::new(Area::new(free_range(memory, len, end)?, len));
        Some(())
    }

    /// More room below `end`, empty; `None` if there is none.
    pub(super) fn grow(&mut self, memory: &dyn GuestMemory, end: u64) -> Option<()> {
        self.words = self.words.saturating_mul(GROWTH);
        self.place(memory, end)
    }

    /// Below which address another record may lie that comes after these.
    pub(super) fn below<'r>(records: impl Iterator<Item = &'r Record>) -> u64 {
        records.filter(|r| r.area.len != 0).map(|r| r.area.base).min().unwrap_or(PLACES.end)
    }

    /// Dwords of a lane's row.
    pub(super) fn words(&self) -> u32 {
        self.words
    }

    /// Fills the words of a parameter block that say where the record is.
    pub(super) fn fill(&self, sources: &[ParamSource], params: &mut [u32]) {
        for (source, word) in sources.iter().zip(params) {
            match source {
                ParamSource::RecordLow => *word = self.area.base as u32,
                ParamSource::RecordHigh => *word = (self.area.base >> 32) as u32,
                ParamSource::RecordWords => *word = self.words,
                ParamSource::RecordBytes => *word = self.area.len as u32,
                _ => {}
            }
        }
    }

    /// Takes the record's own stores out of what a dispatch stored.
    pub(super) fn strip(&self, stored: &mut Vec<Range<u64>>) {
        let area = self.area.range();
        stored.retain(|run| run.end <= area.start || area.end <= run.start);
    }

    /// What the waves left, one record a wave.
    pub(super) fn read(&self) -> Vec<WaveRecord> {
        let bytes = self.area.bytes();
        let wave_bytes = 4 * self.words as usize * self.wave_lanes as usize;
        let mut records: Vec<_> = bytes.chunks_exact(wave_bytes.max(1)).map(|wave| self.wave(wave)).collect();
        records.resize_with(self.waves as usize, WaveRecord::default);
        records
    }

    fn wave(&self, bytes: &[u8]) -> WaveRecord {
        let mut rows: Vec<Row<'_>> =
            bytes.chunks_exact(4 * self.words as usize).map(|row| Row { words: row.as_chunks().0 }).collect();
        let mut record = WaveRecord::default();
        // Lanes wait for those that are behind in the code, so that an event of many lanes becomes one.
        while let Some(tag) = rows.iter().filter_map(Row::tag).min() {
            let Some(event) = self.events.iter().find(|event| event.tag() == tag) else { break };
            match event.kind {
                EventKind::Message { simm16 } => record.messages.push(message(event, simm16, &mut rows)),
                EventKind::Export { .. } => record.exports.extend(export(event, &mut rows)),
            }
        }
        record
    }
}

/// What a lane has left that has not been looked at.
struct Row<'a> {
    words: &'a [[u8; 4]],
}

impl Row<'_> {
    fn tag(&self) -> Option<u32> {
        self.word(0).filter(|tag| *tag != 0)
    }

    fn word(&self, at: usize) -> Option<u32> {
        self.words.get(at).map(|word| u32::from_le_bytes(*word))
    }

    fn skip(&mut self, words: usize) {
        self.words = self.words.get(words..).unwrap_or_default();
    }
}

/// The next message of the lanes that send the same.
fn message(event: &Event, simm16: u16, rows: &mut [Row<'_>]) -> Message {
    let is_next = |row: &Row<'_>| row.tag() == Some(event.tag());
    let m0 = rows.iter().find(|row| is_next(row)).and_then(|row| row.word(1)).unwrap_or(0);
    let mut exec = 0;
    for (lane, row) in rows.iter_mut().enumerate() {
        if is_next(row) && row.word(1) == Some(m0) {
            exec |= 1 << lane;
            row.skip(event.words());
        }
    }
    Message { simm16, m0, exec }
}

/// The next export of the lanes that are at the same one.
fn export(event: &Event, rows: &mut [Row<'_>]) -> Option<Export> {
    let EventKind::Export { target, en, compr, done, vm, registers } = event.kind else { return None };
    let mut values = vec![[0; 4]; rows.len()];
    let mut exec = 0;
    for (lane, row) in rows.iter_mut().enumerate().filter(|(_, row)| row.tag() == Some(event.tag())) {
        exec |= 1 << lane;
        let read = registers.iter().enumerate().filter(|(_, read)| **read);
        for (at, (register, _)) in read.enumerate() {
            values[lane][register] = row.word(1 + at).unwrap_or(0);
        }
        row.skip(event.words());
    }
    Some(Export { target, en, compr, done, vm, exec, values })
}

/// The highest range of `len` bytes below `end` at which nothing is mapped.
fn free_range(memory: &dyn GuestMemory, len: u64, end: u64) -> Option<u64> {
    let mut base = end.min(PLACES.end).checked_sub(GAP)?.checked_sub(len)? & !(GAP - 1);
    while base >= PLACES.start {
        match mapped_in(memory, base - GAP..base + len + GAP) {
            None => return Some(base),
            Some(start) => base = start.checked_sub(GAP)?.checked_sub(len)? & !(GAP - 1),
        }
    }
    None
}

/// The start of a mapping that has a page in `range`.
fn mapped_in(memory: &dyn GuestMemory, range: Range<u64>) -> Option<u64> {
    range.step_by(4096).find_map(|at| memory.mapping(at)).map(|mapping| mapping.start)
}

/// Guest memory with the areas of records in it.
pub(super) struct Recording<'m> {
    memory: &'m dyn GuestMemory,
    areas: Vec<Arc<Area>>,
}

impl<'m> Recording<'m> {
    pub(super) fn new<'r>(memory: &'m dyn GuestMemory, records: impl Iterator<Item = &'r Record>) -> Self {
        Recording { memory, areas: records.map(|r| r.area.clone()).collect() }
    }

    fn area(&self, address: u64) -> Option<&Area> {
        let address = canonical(address);
        self.areas.iter().find(|area| area.range().contains(&address)).map(|area| &**area)
    }
}

fn outside(address: u64, size: usize, kind: AccessKind) -> MemoryFault {
    MemoryFault { address, size: size as u64, kind }
}

impl GuestMemory for Recording<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let Some(area) = self.area(address) else { return self.memory.read(address, into) };
        let places = area.places(address, into.len());
        let places = places.ok_or_else(|| outside(area.range().end, into.len(), AccessKind::Read))?;
        into.copy_from_slice(&area.bytes()[places]);
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let Some(area) = self.area(address) else { return self.memory.write(address, bytes) };
        let places = area.places(address, bytes.len());
        let places = places.ok_or_else(|| outside(area.range().end, bytes.len(), AccessKind::Write))?;
        area.bytes()[places].copy_from_slice(bytes);
        Ok(())
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        self.area(address).map(Area::range).or_else(|| self.memory.mapping(address))
    }

    fn check(&self, address: u64, size: u64, kind: AccessKind) -> Result<(), MemoryFault> {
        let Some(area) = self.area(address) else { return self.memory.check(address, size, kind) };
        let fits = area.places(address, usize::try_from(size).unwrap_or(usize::MAX)).is_some();
        if fits { Ok(()) } else { Err(MemoryFault { address: area.range().end, size, kind }) }
    }

    fn id(&self) -> Option<MemoryId> {
        self.memory.id()
    }

    fn generation(&self) -> Generation {
        self.memory.generation()
    }

    fn changed_since(&self, since: Generation, changed: &mut dyn FnMut(Range<u64>)) -> Generation {
        self.areas.iter().for_each(|area| changed(area.range()));
        self.memory.changed_since(since, changed)
    }

    fn host_span(&self, address: u64) -> Option<HostSpan> {
        if self.area(address).is_some() { None } else { self.memory.host_span(address) }
    }

    fn wrote_in_place(&self, range: Range<u64>) {
        if self.area(range.start).is_none() {
            self.memory.wrote_in_place(range);
        }
    }
}
