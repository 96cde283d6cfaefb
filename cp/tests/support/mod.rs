//! A small guest for tests and benches: memory, an executor, and a writer of packet streams.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its guest has failed")]

use std::ops::Range;
use std::sync::RwLock;

use guestwave_cp::amd::{CommandProcessor, Config, IndirectBuffer, Ring, Submission, SubmitReport};
use guestwave_cp::{
    AccessKind, Completed, DispatchError, DispatchId, ExactDispatch, Executor, Generation, GuestMemory, Isa,
    MemoryFault, NoObserver, Observer, canonical,
};

/// Where [`Guest`] has its memory: streams are put at its start, data anywhere.
pub const BASE: u64 = 0x10_0000;
/// Bytes of it.
pub const SIZE: usize = 0x10_0000;
/// A place for data.
pub const DATA: u64 = BASE + 0x8_0000;

/// One mapped range.
pub struct FlatMemory {
    base: u64,
    bytes: RwLock<Vec<u8>>,
}

impl FlatMemory {
    pub fn new(base: u64, size: usize) -> FlatMemory {
        FlatMemory { base, bytes: RwLock::new(vec![0; size]) }
    }

    fn range(&self, address: u64, len: usize, kind: AccessKind) -> Result<Range<usize>, MemoryFault> {
        let address = canonical(address);
        let size = self.bytes.read().unwrap().len() as u64;
        let fault = |address| MemoryFault { address, size: len as u64, kind };
        let start = address.checked_sub(self.base).filter(|s| *s < size).ok_or(fault(address))?;
        match start + len as u64 <= size {
            true => Ok(start as usize..start as usize + len),
            false => Err(fault(self.base + size)),
        }
    }

    pub fn put(&self, address: u64, words: &[u32]) {
        self.write(address, &words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>()).unwrap();
    }

    pub fn get(&self, address: u64) -> u32 {
        guestwave_cp::read_u32(self, address).unwrap()
    }

    pub fn all(&self) -> Vec<u8> {
        self.bytes.read().unwrap().clone()
    }
}

impl GuestMemory for FlatMemory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let range = self.range(address, into.len(), AccessKind::Read)?;
        into.copy_from_slice(&self.bytes.read().unwrap()[range]);
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let range = self.range(address, bytes.len(), AccessKind::Write)?;
        self.bytes.write().unwrap()[range].copy_from_slice(bytes);
        Ok(())
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        let range = self.base..self.base + self.bytes.read().unwrap().len() as u64;
        range.contains(&canonical(address)).then_some(range)
    }

    fn generation(&self) -> Generation {
        Generation(0)
    }

    fn changed_since(&self, _: Generation, changed: &mut dyn FnMut(Range<u64>)) -> Generation {
        changed(self.base..self.base + self.bytes.read().unwrap().len() as u64);
        Generation(0)
    }
}

/// Holds dispatches back until a flush; each stores its program's address (low dword) at [`FakeExecutor::store_at`].
#[derive(Default)]
pub struct FakeExecutor {
    pub held: Vec<(DispatchId, ExactDispatch)>,
    pub ran: Vec<ExactDispatch>,
    pub flushes: usize,
    /// Programs at this address fault when they run.
    pub faults: Option<u64>,
    /// Programs at this address are refused when they are submitted.
    pub refuses: Option<u64>,
    /// Where a dispatch's program stores its address.
    pub store_at: Option<u64>,
}

impl FakeExecutor {
    fn error(id: DispatchId, dispatch: &ExactDispatch) -> DispatchError {
        DispatchError {
            id,
            origin: dispatch.origin,
            code: "TEST-001",
            text: "the program does not end".into(),
            pc: Some(12),
            fault: None,
        }
    }
}

impl Executor for FakeExecutor {
    fn submit(
        &mut self,
        id: DispatchId,
        dispatch: ExactDispatch,
        _: &dyn GuestMemory,
    ) -> Result<(), DispatchError> {
        if self.refuses == Some(dispatch.program.address) {
            return Err(Self::error(id, &dispatch));
        }
        self.held.push((id, dispatch));
        Ok(())
    }

    fn flush(&mut self, memory: &dyn GuestMemory, done: &mut Vec<Completed>) -> Result<(), DispatchError> {
        self.flushes += 1;
        for (id, dispatch) in std::mem::take(&mut self.held) {
            if self.faults == Some(dispatch.program.address) {
                return Err(Self::error(id, &dispatch));
            }
            let mut completed = Completed { id, waves: 1, instructions: 10, ..Completed::default() };
            if let Some(at) = self.store_at {
                memory.write(at, &(dispatch.program.address as u32).to_le_bytes()).unwrap();
                completed.stored.push(at..at + 4);
            }
            done.push(completed);
            self.ran.push(dispatch);
        }
        Ok(())
    }
}

/// A command processor with memory and an executor.
pub struct Guest {
    pub cp: CommandProcessor,
    pub memory: FlatMemory,
    pub executor: FakeExecutor,
}

impl Default for Guest {
    fn default() -> Self {
        Guest::with(CommandProcessor::new(Config::new(Isa::Gfx1030)))
    }
}

impl Guest {
    pub fn with(cp: CommandProcessor) -> Guest {
        Guest { cp, memory: FlatMemory::new(BASE, SIZE), executor: FakeExecutor::default() }
    }

    /// Puts a stream at `address` and gives the buffer.
    pub fn load(&self, address: u64, words: &[u32]) -> IndirectBuffer {
        self.memory.put(address, words);
        IndirectBuffer { address, dwords: words.len() as u32 }
    }

    pub fn submit(&mut self, ibs: &[IndirectBuffer]) -> SubmitReport {
        self.submit_to(Ring::Gfx, ibs, &mut NoObserver)
    }

    pub fn submit_to(
        &mut self,
        ring: Ring,
        ibs: &[IndirectBuffer],
        observer: &mut dyn Observer,
    ) -> SubmitReport {
        self.cp.submit(&Submission { ring, ibs }, &self.memory, &mut self.executor, observer)
    }

    /// Runs one stream on the graphics ring.
    pub fn run(&mut self, words: &[u32]) -> SubmitReport {
        let ib = self.load(BASE, words);
        self.submit(&[ib])
    }
}

/// The codes of a report's refusals.
pub fn codes(report: &SubmitReport) -> Vec<&'static str> {
    report.refusals.iter().map(|r| r.refusal.code()).collect()
}

/// A type-3 packet.
pub fn packet(opcode: u8, body: &[u32]) -> Vec<u32> {
    let header = 3 << 30 | (body.len() as u32 - 1) << 16 | u32::from(opcode) << 8;
    [&[header], body].concat()
}

/// The halves of an address.
pub fn halves(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

pub const NOP: u8 = 0x10;
pub const WRITE_DATA: u8 = 0x37;
pub const SET_SH_REG: u8 = 0x76;
pub const SET_CONTEXT_REG: u8 = 0x69;
pub const SET_UCONFIG_REG: u8 = 0x79;

/// WRITE_DATA of words to memory.
pub fn write_memory(address: u64, words: &[u32]) -> Vec<u32> {
    packet(WRITE_DATA, &[&[5 << 8][..], &halves(address), words].concat())
}

/// INDIRECT_BUFFER.
pub fn call(ib: IndirectBuffer, chain: bool) -> Vec<u32> {
    let [lo, hi] = halves(ib.address);
    packet(0x3f, &[lo, hi, ib.dwords | u32::from(chain) << 20 | 1 << 23])
}

/// SET_SH_REG of a register by its byte address.
pub fn set_sh(address: u32, values: &[u32]) -> Vec<u32> {
    packet(SET_SH_REG, &[&[(address - 0xb000) / 4][..], values].concat())
}

/// A one-thread compute dispatch of the program at `program`, which is a multiple of 256.
pub fn dispatch(program: u64) -> Vec<u32> {
    let pgm = program >> 8;
    [
        set_sh(0xb81c, &[1, 1, 1]),
        set_sh(0xb830, &[pgm as u32, (pgm >> 32) as u32]),
        set_sh(0xb848, &[0, 0]),
        packet(0x15, &[1, 1, 1, 1]),
    ]
    .concat()
}
