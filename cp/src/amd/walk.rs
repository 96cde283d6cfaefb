//! The walk over indirect buffers: windows of dwords, calls and chains.

use std::ops::Range;

use super::context::{Context, Flow};
use super::packet::{Handled, Handling, Header, Packet, row};
use super::registers::Register;
use super::{IndirectBuffer, Ring};
use crate::{Origin, Refusal, canonical};

/// Dwords read ahead at once: the most, and the fewest, which follows a window that was written to. A packet that is
/// longer is read whole.
const WINDOW: u32 = 1 << 14;
const SMALL_WINDOW: u32 = 1 << 8;

/// A refusal that ends the submission, and the packet it is about.
pub(super) struct Stop {
    pub(super) at: Origin,
    pub(super) refusal: Refusal,
}

/// The guest ranges that the frames' windows hold, and which of them have been written since.
#[derive(Default)]
pub(crate) struct Windows {
    windows: Vec<Window>,
}

#[derive(Clone, Default)]
struct Window {
    range: Range<u64>,
    stale: bool,
}

impl Windows {
    /// Says that `range` was written.
    pub(crate) fn written(&mut self, range: Range<u64>) {
        for window in &mut self.windows {
            window.stale |= range.start < window.range.end && window.range.start < range.end;
        }
    }

    /// Depth of calls: 0 in a submitted buffer.
    pub(crate) fn depth(&self) -> u32 {
        (self.windows.len() as u32).saturating_sub(1)
    }

    /// Whether the innermost window was written since it was read.
    fn is_stale(&self) -> bool {
        self.windows.last().is_some_and(|w| w.stale)
    }

    /// Says that the innermost window was read from `range`.
    fn loaded(&mut self, range: Range<u64>) {
        if let Some(window) = self.windows.last_mut() {
            *window = Window { range, stale: false };
        }
    }
}

/// One indirect buffer being walked.
#[derive(Default)]
struct Frame {
    base: u64,
    dwords: u32,
    /// Next packet, in dwords.
    at: u32,
    /// First dword of the window, and the window.
    first: u32,
    window: Vec<u32>,
    /// Dwords to read next time.
    ahead: u32,
    /// Where chained buffers began.
    chained: Vec<u64>,
}

/// The buffers being walked, innermost last. Frames are kept for their allocations.
#[derive(Default)]
pub(super) struct Frames {
    frames: Vec<Frame>,
    depth: usize,
    submission: u32,
    dwords: u64,
}

impl Frames {
    /// Walks one submitted buffer to its end.
    pub(super) fn walk(
        &mut self,
        cx: &mut Context<'_>,
        ib: IndirectBuffer,
        submission: u32,
    ) -> Result<(), Stop> {
        if submission != self.submission {
            self.dwords = 0;
        }
        (self.submission, self.depth) = (submission, 0);
        cx.windows.windows.clear();
        let start = Origin { submission, packet_offset: 0, packet_address: ib.address };
        self.enter(cx, ib).map_err(|refusal| Stop { at: start, refusal })?;
        while self.depth > 0 {
            self.step(cx)?;
        }
        Ok(())
    }

    /// Walks the innermost buffer up to a change of buffer.
    fn step(&mut self, cx: &mut Context<'_>) -> Result<(), Stop> {
        let submission = self.submission;
        let frame = &mut self.frames[self.depth - 1];
        let (at, flow) = frame.run(cx, submission)?;
        let moved = match flow {
            Flow::Call(ib) => self.enter(cx, ib),
            Flow::Chain(ib) => self.chain(cx, ib),
            Flow::Next | Flow::Skip(_) => {
                self.leave(cx);
                Ok(())
            }
        };
        moved.map_err(|refusal| Stop { at, refusal })
    }

    fn enter(&mut self, cx: &mut Context<'_>, ib: IndirectBuffer) -> Result<(), Refusal> {
        let limit = cx.config.limits.call_depth;
        if self.depth > limit as usize {
            return Err(Refusal::CallDepth { limit });
        }
        self.charge(cx, ib)?;
        cx.flush()?;
        if self.frames.len() == self.depth {
            self.frames.push(Frame::default());
        }
        self.frames[self.depth].reset(ib);
        self.frames[self.depth].chained.clear();
        cx.windows.windows.push(Window::default());
        self.depth += 1;
        Ok(())
    }

    fn chain(&mut self, cx: &mut Context<'_>, ib: IndirectBuffer) -> Result<(), Refusal> {
        let limit = cx.config.limits.chained;
        self.charge(cx, ib)?;
        cx.flush()?;
        let frame = &mut self.frames[self.depth - 1];
        frame.chained.push(canonical(frame.base));
        if frame.chained.contains(&canonical(ib.address)) {
            return Err(Refusal::ChainLoop { address: ib.address });
        }
        if frame.chained.len() as u64 > u64::from(limit) {
            return Err(Refusal::ChainLength { limit });
        }
        frame.reset(ib);
        Ok(())
    }

    fn leave(&mut self, cx: &mut Context<'_>) {
        self.depth -= 1;
        cx.windows.windows.truncate(self.depth);
    }

    /// Counts a buffer's dwords against the submission's limit.
    fn charge(&mut self, cx: &Context<'_>, ib: IndirectBuffer) -> Result<(), Refusal> {
        let limit = cx.config.limits.dwords;
        self.dwords = self.dwords.saturating_add(u64::from(ib.dwords));
        match self.dwords > limit {
            true => Err(Refusal::TooManyDwords { limit }),
            false => Ok(()),
        }
    }
}

impl Frame {
    fn reset(&mut self, ib: IndirectBuffer) {
        (self.base, self.dwords) = (ib.address, ib.dwords);
        (self.at, self.first, self.ahead) = (0, 0, WINDOW);
        self.window.clear();
    }

    fn origin(&self, submission: u32) -> Origin {
        let packet_offset = self.at.wrapping_mul(4);
        let packet_address = self.base.wrapping_add(u64::from(self.at) * 4);
        Origin { submission, packet_offset, packet_address }
    }

    /// Carries packets out until one changes the buffer ([`Flow::Call`], [`Flow::Chain`]) or the buffer ends
    /// ([`Flow::Next`]); the packet it ended at comes with it.
    fn run(&mut self, cx: &mut Context<'_>, submission: u32) -> Result<(Origin, Flow), Stop> {
        while self.at < self.dwords {
            let at = self.origin(submission);
            let flow = self.packet(cx, at).map_err(|refusal| Stop { at, refusal })?;
            match flow {
                Flow::Next => {}
                Flow::Skip(dwords) => self.at = self.at.saturating_add(dwords),
                Flow::Call(_) | Flow::Chain(_) => return Ok((at, flow)),
            }
        }
        Ok((self.origin(submission), Flow::Next))
    }

    /// Carries out the packet at `self.at` and moves behind it.
    fn packet(&mut self, cx: &mut Context<'_>, at: Origin) -> Handled {
        if cx.windows.is_stale() {
            self.window.clear();
            self.ahead = SMALL_WINDOW;
        }
        let needs = match self.at_hand() {
            Some(needs) => needs,
            None => self.fetch(cx)?,
        };
        let first = (self.at - self.first) as usize;
        let (header, body) =
            (Header(self.window[first]), &self.window[first + 1..first + 1 + needs as usize]);
        let left = self.dwords - self.at - 1 - needs;
        let flow = carry_out(cx, header, body, (at, left))?;
        self.at += 1 + needs;
        cx.report.work.packets += 1;
        Ok(flow)
    }

    /// Dwords of the body of the packet at `self.at`, if the window has all of it.
    fn at_hand(&self) -> Option<u32> {
        let first = (self.at - self.first) as usize;
        let needs = Header(*self.window.get(first)?).body_dwords();
        (first + (needs as usize) < self.window.len()).then_some(needs)
    }

    /// Makes the window have the packet at `self.at`; gives the dwords of its body.
    #[cold]
    fn fetch(&mut self, cx: &mut Context<'_>) -> Result<u32, Refusal> {
        let header = Header(self.dwords_at(cx, 1)?[0]);
        let needs = header.body_dwords();
        match self.dwords - self.at - 1 {
            left if needs > left => Err(Refusal::Truncated { header: header.0, needs, left }),
            _ => self.dwords_at(cx, needs + 1).map(|_| needs),
        }
    }

    /// `count` dwords from `self.at`, which the buffer has.
    fn dwords_at(&mut self, cx: &mut Context<'_>, count: u32) -> Result<&[u32], Refusal> {
        let start = (self.at - self.first) as usize;
        if start + count as usize > self.window.len() {
            return self.load(cx, count);
        }
        Ok(&self.window[start..start + count as usize])
    }

    fn load(&mut self, cx: &mut Context<'_>, count: u32) -> Result<&[u32], Refusal> {
        let length = count.max(self.ahead).min(self.dwords - self.at);
        self.ahead = self.ahead.saturating_mul(2).min(WINDOW);
        let address = self.base.wrapping_add(u64::from(self.at) * 4);
        self.first = self.at;
        self.window.resize(length as usize, 0);
        if let Err(refusal) = cx.fetch(address, &mut self.window) {
            self.window.clear();
            return Err(refusal);
        }
        let start = canonical(address);
        cx.windows.loaded(start..start + u64::from(length) * 4);
        Ok(&self.window[..count as usize])
    }
}

/// Carries out one packet, after which so many dwords are left.
#[inline]
fn carry_out(cx: &mut Context<'_>, header: Header, body: &[u32], (at, left): (Origin, u32)) -> Handled {
    cx.observe_packet(at, header, body);
    match header.packet_type() {
        3 => type3(cx, header, body, (at, left)),
        0 => {
            cx.set_registers(at, Register::from_dword_index(header.type0_register()), body)?;
            Ok(Flow::Next)
        }
        2 => Ok(Flow::Next),
        _ => Err(Refusal::PacketType { header: header.0 }),
    }
}

#[inline]
fn type3(cx: &mut Context<'_>, header: Header, body: &[u32], (at, left): (Origin, u32)) -> Handled {
    let opcode = header.opcode();
    let Some(row) = row(opcode) else { return Err(Refusal::UnknownOpcode { opcode }) };
    let has = body.len() as u32;
    if has < row.min_body {
        return Err(Refusal::ShortBody { packet: row.name, needs: row.min_body, has });
    }
    if header.predicated() && cx.machine().predicate.skips() {
        return Ok(Flow::Next);
    }
    match row.handling {
        Handling::Run(handler) => handler(cx, &Packet { row, body, at, left }),
        Handling::Inert(_) => Ok(Flow::Next),
        Handling::Refuse(reason) => Err(Refusal::PacketRefused { packet: row.name, reason }),
    }
}

/// Draws go to the graphics ring only.
pub(super) fn require_gfx(cx: &Context<'_>) -> Result<(), Refusal> {
    match cx.ring {
        Ring::Gfx => Ok(()),
        Ring::Compute => Err(Refusal::DrawOnComputeRing {}),
    }
}
