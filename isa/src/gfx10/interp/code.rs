//! Decoded code, kept between waves, groups and dispatches.

use std::collections::HashMap;

use super::machine::ADDRESS_BITS;
use super::slot::Slot;
use super::{Bus, BusFault, ProgramInfo, StopKind};
use crate::gfx10::{Target, WaveSize, decode};

/// Bytes of a line, the unit in which code is fetched.
const LINE: u64 = 64;
/// Instructions at most this many dwords after the program's address are found by index, others by hash.
const NEAR_DWORDS: u64 = 1 << 20;
/// The longest instruction, in dwords.
const LONGEST: u64 = 5;

/// The decoded instructions of one program, filled as the program counter reaches them.
///
/// The cache remembers the words that it fetched. Code is taken as constant while a group runs (`s_icache_inv`
/// fetches it anew); between dispatches the owner calls [`CodeCache::revalidate`], which forgets everything if
/// memory now holds other words.
pub struct CodeCache {
    target: Target,
    address: u64,
    size: WaveSize,
    lines: HashMap<u64, Line>,
    slots: Vec<Slot>,
    /// Index into `slots` by dword from `address`.
    near: Vec<Option<u32>>,
    /// Index into `slots` by address.
    far: HashMap<u64, u32>,
}

/// Words of an aligned run of [`LINE`] bytes; `None` where none could be fetched.
type Line = [Option<u32>; (LINE / 4) as usize];

impl std::fmt::Debug for CodeCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeCache")
            .field("target", &self.target)
            .field("address", &self.address)
            .field("decoded", &self.decoded())
            .finish()
    }
}

impl CodeCache {
    /// An empty cache for the program of `target` at `address`.
    pub fn new(target: Target, address: u64) -> Self {
        CodeCache {
            target,
            address: address & ADDRESS_BITS,
            size: WaveSize::W32,
            lines: HashMap::new(),
            slots: Vec::new(),
            near: Vec::new(),
            far: HashMap::new(),
        }
    }

    /// The instruction set.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Guest address of the program.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Instructions that are decoded at present.
    pub fn decoded(&self) -> usize {
        self.slots.len()
    }

    /// Compares the words that were fetched with what memory holds now and forgets all of them if any differs or can
    /// no longer be read. Returns whether they were still right.
    pub fn revalidate(&mut self, bus: &mut dyn Bus) -> bool {
        let same = self.lines.iter().all(|(address, line)| fetch_line(*address, bus) == *line);
        if !same {
            self.forget();
        }
        same
    }

    fn forget(&mut self) {
        self.lines.clear();
        self.slots.clear();
        self.near.clear();
        self.far.clear();
    }

    /// Makes this the cache of the program that `info` names; what was decoded for another one is forgotten.
    pub(super) fn serve(&mut self, info: &ProgramInfo) {
        let (address, target, size) = (info.address & ADDRESS_BITS, info.target, info.wave_size);
        if (self.address, self.target, self.size) != (address, target, size) {
            self.forget();
            (self.address, self.target, self.size) = (address, target, size);
        }
    }

    /// The instruction at `pc`.
    pub(super) fn slot(&mut self, pc: u64, bus: &mut dyn Bus) -> Result<&Slot, StopKind> {
        let index = match self.find(pc) {
            Some(index) => index,
            None => self.decode(pc, bus)?,
        };
        self.slots.get(index as usize).ok_or(StopKind::BadJump { to: pc })
    }

    fn find(&self, pc: u64) -> Option<u32> {
        match self.near_index(pc) {
            Some(index) => self.near.get(index).copied().flatten(),
            None => self.far.get(&pc).copied(),
        }
    }

    fn near_index(&self, pc: u64) -> Option<usize> {
        let dwords = pc.wrapping_sub(self.address) / 4;
        (pc >= self.address && dwords < NEAR_DWORDS).then_some(dwords as usize)
    }

    fn decode(&mut self, pc: u64, bus: &mut dyn Bus) -> Result<u32, StopKind> {
        let mut words = [0; LONGEST as usize];
        let count = self.fetch(pc, &mut words, bus)?;
        let offset = pc.wrapping_sub(self.address) as u32;
        let decoded = decode(&words[..count], offset, self.target);
        let inst = decoded.map_err(|error| StopKind::Undecodable(error.kind))?;
        let slot = Slot::new(inst, self.size)?;
        let index = self.slots.len() as u32;
        self.slots.push(slot);
        self.remember(pc, index);
        Ok(index)
    }

    fn remember(&mut self, pc: u64, index: u32) {
        let Some(place) = self.near_index(pc) else {
            self.far.insert(pc, index);
            return;
        };
        if self.near.len() <= place {
            self.near.resize(place + 1, None);
        }
        self.near[place] = Some(index);
    }

    /// Fetches the words from `pc` on, up to the first that is not mapped. Returns how many there are, at least one.
    fn fetch(&mut self, pc: u64, words: &mut [u32], bus: &mut dyn Bus) -> Result<usize, StopKind> {
        for (i, slot) in words.iter_mut().enumerate() {
            let address = pc.wrapping_add(4 * i as u64);
            match self.word(address, bus) {
                Some(word) => *slot = word,
                None if i == 0 => {
                    return Err(StopKind::CodeFault { fault: BusFault { address, size: 4, write: false } });
                }
                None => return Ok(i),
            }
        }
        Ok(words.len())
    }

    /// The word that was fetched from `address`, if any was.
    pub(super) fn fetched(&self, address: u64) -> Option<u32> {
        self.lines.get(&(address & !(LINE - 1)))?[(address % LINE / 4) as usize]
    }

    fn word(&mut self, address: u64, bus: &mut dyn Bus) -> Option<u32> {
        let start = address & !(LINE - 1);
        let line = self.lines.entry(start).or_insert_with(|| fetch_line(start, bus));
        line[(address % LINE / 4) as usize]
    }
}

fn fetch_line(address: u64, bus: &mut dyn Bus) -> Line {
    let mut bytes = [0; LINE as usize];
    if bus.load(address, &mut bytes).is_ok() {
        return std::array::from_fn(|i| {
            Some(u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
        });
    }
    std::array::from_fn(|i| {
        let mut word = [0; 4];
        let loaded = bus.load(address.wrapping_add(4 * i as u64), &mut word);
        loaded.is_ok().then_some(u32::from_le_bytes(word))
    })
}
