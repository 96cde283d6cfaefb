//! The walk over batches: packets by their lengths, chains, and calls of second-level batches.

use super::context::Context;
use super::decode::PacketView;
use super::packet::{Flow, Handled, Handling, Header, Packet};
use super::processor::Batch;
use super::{Refusal, Refused};
use crate::{Origin, canonical};

/// Walks a submitted batch to its end.
///
/// # Errors
/// What ended it early.
pub(super) fn walk(cx: &mut Context<'_>, batch: &Batch, submission: u32) -> Result<(), Refused> {
    let mut walk = Walk {
        submission,
        base: batch.address,
        end: batch.address.saturating_add(batch.bytes),
        at: batch.address,
        back: None,
        batches: 0,
        dwords: 0,
        words: Vec::new(),
    };
    loop {
        let at = walk.origin();
        let flow = walk.step(cx, at).map_err(|refusal| Refused { at, stopped: true, refusal })?;
        if !flow {
            return Ok(());
        }
    }
}

/// Where a batch is.
#[derive(Clone, Copy)]
struct Place {
    base: u64,
    end: u64,
    at: u64,
}

struct Walk {
    submission: u32,
    /// First byte of the batch, and its end.
    base: u64,
    end: u64,
    /// The packet at hand.
    at: u64,
    /// Where a second-level batch returns to.
    back: Option<Place>,
    batches: u32,
    dwords: u64,
    words: Vec<u32>,
}

impl Walk {
    fn origin(&self) -> Origin {
        let packet_offset = self.at.wrapping_sub(self.base) as u32;
        Origin { submission: self.submission, packet_offset, packet_address: self.at }
    }

    /// Carries one packet out and moves on; `false` at the end of the submission.
    fn step(&mut self, cx: &mut Context<'_>, at: Origin) -> Result<bool, Refusal> {
        let mut words = std::mem::take(&mut self.words);
        let flow = self.packet(cx, at, &mut words);
        let length = words.len() as u64 * 4;
        self.words = words;
        let flow = flow?;
        cx.report.packets += 1;
        match flow {
            Flow::Next => self.at = self.at.saturating_add(length),
            Flow::Jump(address) => {
                self.back = None;
                self.enter(cx, address)?;
            }
            Flow::Call(address) => {
                if self.back.is_none() {
                    let at = self.at.saturating_add(length);
                    self.back = Some(Place { base: self.base, end: self.end, at });
                }
                cx.second_level = true;
                self.enter(cx, address)?;
            }
            Flow::End => return Ok(self.leave(cx)),
        }
        Ok(true)
    }

    /// Goes on in the batch at an address, which reaches as far as its memory does.
    fn enter(&mut self, cx: &Context<'_>, address: u64) -> Result<(), Refusal> {
        let limit = cx.config.limits.batches;
        self.batches += 1;
        if self.batches > limit {
            return Err(Refusal::TooManyBatches { limit });
        }
        let address = canonical(address);
        let mapping = cx.memory.mapping(address).ok_or(Refusal::BatchMemory { address })?;
        (self.base, self.at, self.end) = (address, address, mapping.end);
        Ok(())
    }

    /// Goes back to where the batch was called from; `false` if it was not called.
    fn leave(&mut self, cx: &mut Context<'_>) -> bool {
        cx.second_level = false;
        let Some(Place { base, end, at }) = self.back.take() else { return false };
        (self.base, self.end, self.at) = (base, end, at);
        true
    }

    /// Reads the packet at hand and carries it out.
    fn packet(&mut self, cx: &mut Context<'_>, at: Origin, words: &mut Vec<u32>) -> Handled {
        words.clear();
        let left = self.end.saturating_sub(self.at) / 4;
        if left == 0 {
            return Err(Refusal::NoBatchEnd { bytes: self.end.saturating_sub(self.base) });
        }
        let header = cx.read_u32(self.at)?;
        let needs = Header(header).dwords(cx.generation()).ok_or(Refusal::PacketType { header })?;
        if u64::from(needs) > left {
            return Err(Refusal::Truncated { header, needs: u64::from(needs), left });
        }
        self.dwords += u64::from(needs);
        if self.dwords > cx.config.limits.dwords {
            return Err(Refusal::TooManyDwords { limit: cx.config.limits.dwords });
        }
        words.resize(needs as usize, 0);
        cx.memory.read(self.at, bytemuck::cast_slice_mut(words))?;
        words.iter_mut().for_each(|word| *word = u32::from_le(*word));
        carry_out(cx, words, at)
    }
}

/// Carries out one packet.
fn carry_out(cx: &mut Context<'_>, words: &[u32], at: Origin) -> Handled {
    let (header, generation) = (Header(words[0]), cx.generation());
    let view = PacketView { offset: at.packet_offset, generation, words, truncated: false };
    cx.observer.packet(at, view, u32::from(cx.second_level));
    let Some(row) = header.row(generation) else { return unnamed(cx, header, at) };
    match row.handling {
        Handling::Run(_) if (words.len() as u32) < row.least => {
            Err(Refusal::ShortPacket { packet: row.name, needs: row.least, has: words.len() as u32 })
        }
        Handling::Run(handler) => handler(cx, &Packet { words, at, row }),
        Handling::Skip(_) => Ok(Flow::Next),
        Handling::Refuse(reason) => Err(Refusal::PacketRefused { packet: row.name, reason }),
    }
}

/// State that has no row is skipped and reported; anything else may have an effect.
fn unnamed(cx: &mut Context<'_>, header: Header, at: Origin) -> Handled {
    if !header.is_state() {
        return Err(Refusal::UnknownPacket { header: header.0 });
    }
    cx.report_only(at, Refusal::Unnamed { header: header.0 });
    Ok(Flow::Next)
}
