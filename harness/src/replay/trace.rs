//! What happened during a replay, as far as reports show it.

use std::ops::Range;

use guestwave_cp::amd::reg;
use guestwave_cp::{
    Completed, DispatchId, DrawFacts, GuestMemory, Interest, LaunchEvent, Observer, ProgramRef, SampleEvent,
    Stage,
};

/// A program that was launched.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Its number.
    pub id: DispatchId,
    /// Submission, as the capture numbers it.
    pub submission: u32,
    /// Byte offset of the packet in its indirect buffer.
    pub packet_offset: u32,
    /// The stage it plays.
    pub stage: Stage,
    /// The program.
    pub program: ProgramRef,
    /// Items or threads.
    pub items: u64,
    /// Waves that ran, 0 until it has.
    pub waves: u64,
    /// Instructions that they executed.
    pub instructions: u64,
    /// What the draw came to, `None` for a compute dispatch.
    pub draw: Option<DrawFacts>,
    /// Bytes from one vertex to the next in each streamout buffer.
    pub strides: [u32; 4],
    /// What it stored.
    pub stored: Vec<Range<u64>>,
    /// The first vertices that it stored, buffer by buffer.
    pub rows: Vec<CapturedRows>,
}

/// Vertices in one streamout buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedRows {
    /// The buffer.
    pub buffer: u8,
    /// Guest address of the first row.
    pub address: u64,
    /// Rows in all.
    pub count: u64,
    /// The first rows; a dword that was not stored is `None`.
    pub rows: Vec<Vec<Option<u32>>>,
}

/// Streamout counters as written to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Vertex stream.
    pub stream: u8,
    /// Guest address of the two words.
    pub address: u64,
    /// Primitives needed, with bit 63.
    pub needed: u64,
    /// Primitives written, with bit 63.
    pub written: u64,
}

/// Collects launches and samples.
#[derive(Debug, Default)]
pub struct Trace {
    /// The submission that is being carried out.
    pub submission: u32,
    /// Programs launched, in order.
    pub launches: Vec<Launch>,
    /// Streamout samples, in order.
    pub samples: Vec<Sample>,
    /// First launch of this submission.
    first: usize,
}

/// Event types of SAMPLE_STREAMOUTSTATS by stream.
const SAMPLE_EVENTS: [(u8, u8); 4] = [(32, 0), (1, 1), (2, 2), (3, 3)];

impl Trace {
    /// Says that a submission begins.
    pub fn begin(&mut self, submission: u32) {
        self.submission = submission;
        self.first = self.launches.len();
    }

    /// The launches of this submission.
    pub fn launches_now(&self) -> &[Launch] {
        &self.launches[self.first..]
    }

    /// Reads the first `limit` vertices of each launch of this submission, while memory still holds them.
    pub fn read_rows(&mut self, memory: &dyn GuestMemory, limit: usize) {
        for launch in &mut self.launches[self.first..] {
            launch.rows = captured_rows(launch, memory, limit);
        }
    }
}

impl Observer for Trace {
    fn interest(&self) -> Interest {
        Interest { packets: false, registers: false, work: true }
    }

    fn launched(&mut self, event: &LaunchEvent<'_>) {
        let dispatch = event.dispatch;
        let stride = |n| 4 * (event.registers.get(reg::VGT_STRMOUT_VTX_STRIDE.at(n)) & 0x3ff);
        self.launches.push(Launch {
            id: event.id,
            submission: self.submission,
            packet_offset: dispatch.origin.packet_offset,
            stage: dispatch.stage,
            program: dispatch.program,
            items: dispatch.items(),
            waves: 0,
            instructions: 0,
            draw: event.draw.copied(),
            strides: [0, 1, 2, 3].map(stride),
            stored: Vec::new(),
            rows: Vec::new(),
        });
    }

    fn completed(&mut self, completed: &Completed) {
        let launches = self.launches[self.first..].iter_mut();
        let Some(launch) = launches.rev().find(|l| l.id == completed.id) else { return };
        launch.waves = completed.waves;
        launch.instructions = completed.instructions;
        launch.stored = completed.stored.clone();
    }

    fn sampled(&mut self, event: &SampleEvent) {
        let Some((_, stream)) = SAMPLE_EVENTS.iter().find(|(e, _)| *e == event.event) else { return };
        let [needed, written] = event.values;
        self.samples.push(Sample { stream: *stream, address: event.address, needed, written });
    }
}

/// The vertices that a draw stored. Each buffer's part of the stored ranges is one region as long as the buffer's
/// position moved; where that cannot be told apart (other stores, equal lengths) nothing is shown.
fn captured_rows(launch: &Launch, memory: &dyn GuestMemory, limit: usize) -> Vec<CapturedRows> {
    let Some(draw) = &launch.draw else { return Vec::new() };
    let enabled = (0..4u8).filter(|b| draw.buffers >> b & 1 != 0 && launch.strides[usize::from(*b)] != 0);
    let moved: Vec<_> = enabled
        .map(|b| {
            (b, draw.positions_after[usize::from(b)].wrapping_sub(draw.positions_before[usize::from(b)]))
        })
        .filter(|(_, bytes)| *bytes != 0)
        .collect();
    let widest = launch.strides.iter().copied().max().unwrap_or(0);
    let regions = regions(&launch.stored, u64::from(widest));
    let mut left = regions;
    let mut out = Vec::new();
    for (buffer, bytes) in moved {
        let stride = u64::from(launch.strides[usize::from(buffer)]);
        let fits = |r: &Range<u64>| r.end - r.start <= bytes && r.end - r.start + stride > bytes;
        let Some(place) = left.iter().position(fits) else { continue };
        let region = left.remove(place);
        out.push(rows(launch, memory, buffer, &region, (bytes / stride, limit)));
    }
    out
}

/// Stored ranges joined over gaps narrower than `gap`.
fn regions(stored: &[Range<u64>], gap: u64) -> Vec<Range<u64>> {
    let mut regions: Vec<Range<u64>> = Vec::new();
    for range in stored {
        match regions.last_mut().filter(|last| range.start - last.end < gap) {
            Some(last) => last.end = range.end,
            None => regions.push(range.clone()),
        }
    }
    regions
}

fn rows(
    launch: &Launch,
    memory: &dyn GuestMemory,
    buffer: u8,
    region: &Range<u64>,
    (count, limit): (u64, usize),
) -> CapturedRows {
    let stride = u64::from(launch.strides[usize::from(buffer)]);
    let dword = |address: u64| {
        let end = launch.stored.partition_point(|r| r.end <= address);
        launch.stored.get(end).filter(|r| r.start <= address)?;
        guestwave_cp::read_u32(memory, address).ok()
    };
    let row = |i: u64| (0..stride / 4).map(|d| dword(region.start + i * stride + 4 * d)).collect();
    let shown = count.min(limit as u64);
    CapturedRows { buffer, address: region.start, count, rows: (0..shown).map(row).collect() }
}
