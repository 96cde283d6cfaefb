//! Guest memory, an executor that records and plays a streamout program, and a writer of packet streams.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use guestwave_cp::amd::registers::{Register, Space};
use guestwave_cp::amd::{CommandProcessor, Config, IndirectBuffer, Ring, Submission, SubmitReport};
use guestwave_cp::{
    AccessKind, Completed, DispatchError, DispatchId, ExactDispatch, Executor, Generation, Grid, GuestMemory,
    Isa, LaneRule, MemoryFault, NoObserver, ScalarRule, WaveRecord, canonical,
};

/// Where streams are written.
pub(crate) const CODE: u64 = 0x10_0000;
/// Memory for tests' own use, zero at first.
pub(crate) const DATA: u64 = 0x20_0000;
const BYTES: usize = 0x10_0000;

/// Two mapped ranges, from [`CODE`] and from [`DATA`].
pub(crate) struct Memory(Mutex<BTreeMap<u64, Vec<u8>>>);

impl Memory {
    fn new() -> Memory {
        Memory(Mutex::new([CODE, DATA].map(|base| (base, vec![0; BYTES])).into()))
    }

    fn with<T>(
        &self,
        address: u64,
        size: usize,
        kind: AccessKind,
        act: impl FnOnce(&mut [u8]) -> T,
    ) -> Result<T, MemoryFault> {
        let address = canonical(address);
        let mut ranges = self.0.lock().unwrap();
        ranges
            .range_mut(..=address)
            .next_back()
            .and_then(|(base, bytes)| bytes.get_mut((address - base) as usize..)?.get_mut(..size))
            .map(act)
            .ok_or(MemoryFault { address, size: size as u64, kind })
    }

    /// Writes dwords.
    pub(crate) fn put(&self, address: u64, words: &[u32]) {
        let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put_bytes(address, &bytes);
    }

    /// Writes bytes.
    pub(crate) fn put_bytes(&self, address: u64, bytes: &[u8]) {
        self.write(address, bytes).unwrap();
    }

    /// Reads dwords.
    pub(crate) fn words(&self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; count * 4];
        self.read(address, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

impl GuestMemory for Memory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        self.with(address, into.len(), AccessKind::Read, |bytes| into.copy_from_slice(bytes))
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        self.with(address, bytes.len(), AccessKind::Write, |into| into.copy_from_slice(bytes))
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        let ranges = self.0.lock().unwrap();
        let (base, bytes) = ranges.range(..=address).next_back()?;
        let range = *base..base + bytes.len() as u64;
        range.contains(&address).then_some(range)
    }

    fn generation(&self) -> Generation {
        Generation::default()
    }

    fn changed_since(&self, _: Generation, changed: &mut dyn FnMut(Range<u64>)) -> Generation {
        changed(0..1 << 48);
        Generation::default()
    }
}

/// What one wave of a dispatch starts with.
#[derive(Debug, PartialEq)]
pub(crate) struct Wave {
    pub(crate) first: u32,
    pub(crate) items: u32,
    pub(crate) sgprs: Vec<u32>,
    /// v0, v1, ... of each lane with an item.
    pub(crate) lanes: Vec<Vec<u32>>,
}

/// Works out the waves of a linear dispatch, or of one of subgroups, from its rules.
pub(crate) fn waves(dispatch: &ExactDispatch) -> Vec<Wave> {
    let lanes = u32::from(dispatch.program.wave_lanes);
    let (items, per_wave) = match &dispatch.grid {
        Grid::Linear { items, per_wave } => (*items, *per_wave),
        Grid::Subgroups { waves } => (waves.iter().sum::<u32>() * lanes, lanes),
        other => panic!("{other:?}"),
    };
    (0..items.div_ceil(per_wave))
        .map(|wave| {
            let first = wave * per_wave;
            let items = (items - first).min(per_wave);
            Wave {
                first,
                items,
                sgprs: dispatch.sgprs.iter().map(|rule| scalar(rule, wave, first, items)).collect(),
                lanes: (first..first + items)
                    .map(|item| dispatch.vgprs.iter().map(|rule| lane(rule, item)).collect())
                    .collect(),
            }
        })
        .collect()
}

fn scalar(rule: &ScalarRule, wave: u32, first: u32, items: u32) -> u32 {
    match rule {
        ScalarRule::Word(word) => *word,
        ScalarRule::ItemCount { base, shift, limit } => {
            base | limit.saturating_sub(first).min(items) << shift
        }
        ScalarRule::FirstItem { base } => base.wrapping_add(first),
        ScalarRule::ScratchOffset { per_wave, slots } => per_wave * (wave % slots),
        ScalarRule::PerWave(words) => words[wave as usize],
        other => panic!("{other:?} in a draw's dispatch"),
    }
}

fn lane(rule: &LaneRule, item: u32) -> u32 {
    match rule {
        LaneRule::Word(word) => *word,
        LaneRule::Item { base } => base.wrapping_add(item),
        LaneRule::Primitive { base, items } => base.wrapping_add(item / items),
        LaneRule::PerItem(words) => words[item as usize % words.len()],
        other => panic!("{other:?} in a draw's dispatch"),
    }
}

/// A test's own programs: plays a dispatch, and gives what its waves record.
pub(crate) type Programs = Box<dyn Fn(&ExactDispatch, &dyn GuestMemory) -> Vec<WaveRecord> + Send>;

/// Records dispatches, plays them as [`play`] says, and runs nothing before it is flushed.
#[derive(Default)]
pub(crate) struct Recorder {
    /// Records only.
    pub(crate) idle: bool,
    /// Plays dispatches in place of [`play`].
    pub(crate) programs: Option<Programs>,
    /// Every dispatch that ran.
    pub(crate) ran: Vec<ExactDispatch>,
    /// Number, from 0, of the dispatch that faults.
    pub(crate) fault: Option<u64>,
    held: Vec<(DispatchId, ExactDispatch)>,
}

impl Executor for Recorder {
    fn submit(
        &mut self,
        id: DispatchId,
        dispatch: ExactDispatch,
        _: &dyn GuestMemory,
    ) -> Result<(), DispatchError> {
        self.held.push((id, dispatch));
        Ok(())
    }

    fn flush(&mut self, memory: &dyn GuestMemory, done: &mut Vec<Completed>) -> Result<(), DispatchError> {
        for (id, dispatch) in std::mem::take(&mut self.held) {
            if self.fault == Some(id.0) {
                let (code, text) = ("TEST", "told to fault".to_owned());
                return Err(DispatchError { id, origin: dispatch.origin, code, text, pc: None, fault: None });
            }
            let records = match &self.programs {
                _ if self.idle => Vec::new(),
                Some(programs) => programs(&dispatch, memory),
                None => {
                    play(&dispatch, memory);
                    Vec::new()
                }
            };
            self.ran.push(dispatch);
            done.push(Completed { id, records, ..Completed::default() });
        }
        Ok(())
    }
}

/// User data of the streamout program that [`play`] plays: address low and high, and bytes of a vertex.
pub(crate) const PROGRAM_USER_DATA: u32 = 3;

/// Plays a streamout program with one buffer, whose user data is `[address low, high, stride]`: each lane below the
/// count in streamout_config stores its vertex id as the first dword of its vertex, and its instance id as the second
/// if there is one. A dispatch of another shape does nothing.
fn play(dispatch: &ExactDispatch, memory: &dyn GuestMemory) {
    if !dispatch.sgprs.iter().any(|rule| matches!(rule, ScalarRule::ItemCount { .. })) {
        return;
    }
    for wave in waves(dispatch) {
        let [lo, hi, stride, config, write_index, offset] = wave.sgprs[..] else { return };
        let base = (u64::from(hi) << 32 | u64::from(lo)) + u64::from(offset) * 4;
        for (lane, vgprs) in wave.lanes.iter().take((config >> 16 & 0x7f) as usize).enumerate() {
            let vertex = u64::from(write_index) + lane as u64;
            let bytes = [vgprs[0], vgprs[3]].map(u32::to_le_bytes);
            let bytes = &bytes.as_flattened()[..if stride >= 8 { 8 } else { 4 }];
            memory.write(base + vertex * u64::from(stride), bytes).unwrap();
        }
    }
}

/// A command processor with its memory and executor, and the stream that is being written for it.
pub(crate) struct Machine {
    pub(crate) memory: Memory,
    pub(crate) executor: Recorder,
    processor: CommandProcessor,
    ring: Ring,
    words: Vec<u32>,
    header_bits: u32,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        Machine::with(Config::new(Isa::Gfx1030), Ring::Gfx)
    }

    pub(crate) fn with(config: Config, ring: Ring) -> Machine {
        Machine {
            memory: Memory::new(),
            executor: Recorder::default(),
            processor: CommandProcessor::new(config),
            ring,
            words: Vec::new(),
            header_bits: 0,
        }
    }

    /// Adds a type-3 packet.
    pub(crate) fn packet(&mut self, opcode: u32, body: &[u32]) -> &mut Self {
        self.words.push(3 << 30 | (body.len() as u32 - 1) << 16 | opcode << 8 | self.header_bits);
        self.words.extend(body);
        self
    }

    /// Sets these bits (bit 0 the predicate) in the headers of the packets that follow.
    pub(crate) fn header_bits(&mut self, bits: u32) -> &mut Self {
        self.header_bits = bits;
        self
    }

    /// Adds a packet that sets a register.
    pub(crate) fn set(&mut self, register: Register, value: u32) -> &mut Self {
        let space = register.space().unwrap();
        let opcode = match space {
            Space::Config => 0x68,
            Space::Context => 0x69,
            Space::Sh => 0x76,
            Space::Uconfig => 0x79,
        };
        self.packet(opcode, &[(register.0 - space.bounds().0) / 4, value])
    }

    /// Adds an EVENT_WRITE.
    pub(crate) fn event(&mut self, event: u32, index: u32, address: Option<u64>) -> &mut Self {
        let mut body = vec![event | index << 8];
        body.extend(address.into_iter().flat_map(|a| [a as u32, (a >> 32) as u32]));
        self.packet(0x46, &body)
    }

    /// Submits what was added, and starts anew.
    pub(crate) fn submit(&mut self) -> SubmitReport {
        self.memory.put(CODE, &self.words);
        let ib = IndirectBuffer { address: CODE, dwords: self.words.len() as u32 };
        self.words.clear();
        let submission = Submission { ring: self.ring, ibs: &[ib] };
        self.processor.submit(&submission, &self.memory, &mut self.executor, &mut NoObserver)
    }

    /// Submits what was added; nothing may be refused.
    pub(crate) fn run(&mut self) -> &mut Self {
        let report = self.submit();
        assert_eq!(report.refusals, []);
        self
    }

    /// A register as it stands.
    pub(crate) fn register(&self, register: Register) -> u32 {
        self.processor.registers(self.ring).get(register)
    }

    /// The dispatches that ran since the last call.
    pub(crate) fn ran(&mut self) -> Vec<ExactDispatch> {
        std::mem::take(&mut self.executor.ran)
    }
}
