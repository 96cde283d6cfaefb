//! Packet streams: a writer of them, and the speed of the plain walk.

use anyhow::{Result, bail};
use guestwave_cp::amd::{
    CommandProcessor, Config, IndirectBuffer, Register, Ring, Submission, SubmitReport, reg,
};
use guestwave_cp::{Executor, Isa, NoObserver};

use super::{Case, Clock, Work};
use crate::engine::EngineArgs;
use crate::memory::CaptureMemory;

/// Opcodes of type-3 packets.
pub(super) mod op {
    pub(crate) const DRAW_INDEX_AUTO: u32 = 0x2d;
    pub(crate) const NUM_INSTANCES: u32 = 0x2f;
    pub(crate) const STRMOUT_BUFFER_UPDATE: u32 = 0x34;
    pub(crate) const WRITE_DATA: u32 = 0x37;
    pub(crate) const WAIT_REG_MEM: u32 = 0x3c;
    pub(crate) const EVENT_WRITE: u32 = 0x46;
}

/// Opcodes that set registers, by [`Space`](guestwave_cp::amd::registers::Space).
const SET: [u32; 4] = [0x68, 0x76, 0x69, 0x79];

/// A stream of packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    pub(super) words: Vec<u32>,
    packets: u64,
}

impl Stream {
    /// Adds a packet.
    pub(super) fn packet(&mut self, opcode: u32, body: &[u32]) {
        let last = (body.len() as u32).saturating_sub(1);
        self.words.push(3 << 30 | (last & 0x3fff) << 16 | opcode << 8);
        self.words.extend(body);
        self.packets += 1;
    }

    /// Adds a packet that sets registers from `first` on.
    pub(super) fn set(&mut self, first: Register, values: &[u32]) {
        let Some(space) = first.space() else { return };
        let offset = (first.0 - space.bounds().0) / 4;
        self.packet(SET[space as usize], &[&[offset], values].concat());
    }

    /// The dwords as guest memory has them.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }
}

/// A command processor and what it works on.
pub(super) struct Guest {
    pub(super) memory: CaptureMemory,
    executor: Box<dyn Executor>,
    processor: CommandProcessor,
}

impl Guest {
    /// Nothing mapped, no register set.
    pub(super) fn new(engine: &EngineArgs) -> Result<Self> {
        let executor = engine.engine()?.executor;
        Ok(Guest {
            memory: CaptureMemory::new(),
            executor,
            processor: CommandProcessor::new(Config::new(Isa::Gfx1030)),
        })
    }

    /// Puts a stream into memory of its own.
    pub(super) fn load(&self, address: u64, stream: &Stream) -> Result<IndirectBuffer> {
        let bytes = stream.bytes();
        self.memory.place(address, bytes.len() as u64, &bytes, false)?;
        Ok(IndirectBuffer { address, dwords: stream.words.len() as u32 })
    }

    /// Carries out a stream; nothing may be refused.
    pub(super) fn submit(&mut self, ib: IndirectBuffer) -> Result<SubmitReport> {
        let submission = Submission { ring: Ring::Gfx, ibs: &[ib] };
        let report = self.processor.submit(&submission, &self.memory, &mut *self.executor, &mut NoObserver);
        match report.refusals.first() {
            Some(refused) => bail!("{}: {}", refused.refusal.code(), refused.refusal),
            None => Ok(report),
        }
    }
}

const PACKETS_IN_ALL: u64 = 1 << 19;

/// Register writes and events as drivers send them between draws.
pub(super) const PACKETS: Case = Case {
    name: "packets",
    unit: "packets per CPU-second",
    clock: Clock::Cpu,
    items: PACKETS_IN_ALL as f64,
    repeats: 10,
    reference: None,
    baseline: None,
    host: None,
    usual: true,
    set_up,
};

struct Walk {
    guest: Guest,
    ib: IndirectBuffer,
    packets: u64,
    walked: u64,
}

fn set_up(engine: &EngineArgs, part: f64) -> Result<Box<dyn Work>> {
    let wanted = (PACKETS_IN_ALL as f64 * part) as u64;
    let mut stream = Stream::default();
    while stream.packets < wanted {
        state(&mut stream);
    }
    let guest = Guest::new(engine)?;
    let ib = guest.load(0x10_0000_0000, &stream)?;
    Ok(Box::new(Walk { guest, ib, packets: stream.packets, walked: 0 }))
}

/// 16 packets: runs of one to four registers of three spaces, and events.
fn state(stream: &mut Stream) {
    let context = [reg::CB_TARGET_MASK, reg::PA_CL_CLIP_CNTL, reg::DB_DEPTH_CONTROL, reg::PA_SU_SC_MODE_CNTL];
    for (i, register) in (0..8).zip(context.into_iter().cycle()) {
        stream.set(register, &[i, i + 1, i + 2, i + 3][..1 + i as usize % 4]);
    }
    for i in 0..5 {
        stream.set(reg::SPI_SHADER_USER_DATA_VS.at(2 * i), &[i, i + 1]);
    }
    stream.set(reg::VGT_PRIMITIVE_TYPE, &[4]);
    stream.packet(op::EVENT_WRITE, &[0xe]);
    stream.packet(op::NUM_INSTANCES, &[1]);
}

impl Work for Walk {
    fn run(&mut self) -> Result<()> {
        self.walked = self.guest.submit(self.ib)?.work.packets;
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        if self.walked != self.packets {
            bail!("{} packets were carried out, not {}", self.walked, self.packets);
        }
        Ok(())
    }
}
