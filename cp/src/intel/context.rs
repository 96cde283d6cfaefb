//! What a packet's handler works on.

use std::ops::Range;

use super::observer::Observer;
use super::processor::{Config, SubmitReport};
use super::registers::RegisterFile;
use super::sol::StreamOut;
use super::stages::{AttributeFormats, VertexStage};
use super::{Gen, Refusal, Refused, State};
use crate::{AccessKind, GuestMemory, Origin, canonical};

/// The embedder's parts.
pub(super) struct Parts {
    pub(super) formats: Box<dyn AttributeFormats>,
    pub(super) vertices: Box<dyn VertexStage>,
    pub(super) stream_out: Box<dyn StreamOut>,
    pub(super) clock: Box<dyn FnMut() -> u64 + Send>,
}

/// One submission at work.
pub(crate) struct Context<'a> {
    pub(super) config: &'a Config,
    pub(super) state: &'a mut State,
    pub(super) parts: &'a mut Parts,
    pub(super) memory: &'a dyn GuestMemory,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) report: SubmitReport,
    /// Whether a second-level batch is being walked.
    pub(super) second_level: bool,
    /// Vertices fetched so far.
    pub(super) vertices: u64,
}

impl Context<'_> {
    pub(crate) fn generation(&self) -> Gen {
        self.config.generation
    }

    /// Reads one dword.
    pub(crate) fn read_u32(&self, address: u64) -> Result<u32, Refusal> {
        Ok(crate::read_u32(self.memory, address)?)
    }

    /// Whether a write would succeed.
    pub(crate) fn check_write(&self, address: u64, bytes: u64) -> Result<(), Refusal> {
        Ok(self.memory.check(address, bytes, AccessKind::Write)?)
    }

    /// Writes bytes for a packet.
    pub(crate) fn write(&mut self, at: Origin, address: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.memory.write(address, bytes)?;
        self.report.bytes_written += bytes.len() as u64;
        let start = canonical(address);
        self.stored(at, start..start + bytes.len() as u64);
        Ok(())
    }

    /// Tells that memory was written.
    pub(crate) fn stored(&mut self, at: Origin, range: Range<u64>) {
        self.observer.stored(at, range);
    }

    /// Reads a register as a batch does.
    pub(crate) fn read_register(&self, address: u32) -> Result<u32, Refusal> {
        self.state.registers.read(&self.state.sol.unit, address)
    }

    /// Writes registers as a batch does: all or none.
    ///
    /// # Errors
    /// One of them cannot be written.
    pub(crate) fn write_registers(
        &mut self,
        at: Origin,
        writes: impl IntoIterator<Item = (u32, u32)> + Clone,
    ) -> Result<(), Refusal> {
        writes.clone().into_iter().try_for_each(|(address, _)| RegisterFile::writable(address))?;
        for (address, value) in writes {
            self.state.registers.write(&mut self.state.sol.unit, address, value);
            self.observer.register_write(at, address, value);
        }
        Ok(())
    }

    /// Counts a draw's vertices against the submission's limit.
    pub(crate) fn charge(&mut self, vertices: u64) -> Result<(), Refusal> {
        let limit = self.config.limits.vertices;
        self.vertices = self.vertices.saturating_add(vertices);
        match self.vertices > limit {
            true => Err(Refusal::TooManyVertices { limit }),
            false => Ok(()),
        }
    }

    /// Reports what a packet leaves undone without ending the submission.
    pub(crate) fn report_only(&mut self, at: Origin, refusal: Refusal) {
        self.refused(Refused { at, stopped: false, refusal });
    }

    pub(super) fn refused(&mut self, refused: Refused) {
        self.observer.refused(&refused);
        self.report.refusals.push(refused);
    }
}
