//! Guest memory and a command processor for one capture.

use guestwave_cp::intel::sol::{Policies, StreamOut};
use guestwave_cp::intel::{Batch, CommandProcessor, Config, Gen, Observer, State, SubmitReport, VertexStage};
use guestwave_cp::{GuestMemory, MemoryFault};
use guestwave_translate::sol::VertexFormats;

use super::{IntelBuffer, IntelCapture, IntelError};
use crate::capture::{BufferObject, VA_WRITABLE, VaKind, VaOp};
use crate::memory::CaptureMemory;

/// Memory and a command processor.
pub struct IntelMachine {
    /// Guest memory.
    pub memory: CaptureMemory,
    processor: CommandProcessor,
}

impl IntelMachine {
    /// A machine with empty memory and nothing set.
    pub fn new(
        generation: Gen,
        policies: Policies,
        vertices: Box<dyn VertexStage>,
        stream_out: Box<dyn StreamOut>,
    ) -> IntelMachine {
        let config = Config { policies, ..Config::new(generation) };
        let processor = CommandProcessor::new(config, Box::new(VertexFormats), vertices, stream_out);
        IntelMachine { memory: CaptureMemory::new(), processor }
    }

    /// A machine with a capture's memory.
    ///
    /// # Errors
    /// The capture's buffers or memory contradict themselves.
    pub fn with_capture(
        capture: &IntelCapture,
        policies: Policies,
        vertices: Box<dyn VertexStage>,
        stream_out: Box<dyn StreamOut>,
    ) -> Result<IntelMachine, IntelError> {
        let machine = IntelMachine::new(capture.generation, policies, vertices, stream_out);
        capture.buffers.iter().try_for_each(|buffer| machine.map(buffer))?;
        for (address, bytes) in &capture.memory {
            machine.fill(*address, bytes)?;
        }
        machine.map_batch(capture)?;
        let batch: Vec<u8> = capture.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        machine.fill(capture.batch, &batch)?;
        Ok(machine)
    }

    /// Makes a buffer object for a batch that no recorded one holds, of the first number that is free.
    fn map_batch(&self, capture: &IntelCapture) -> Result<(), IntelError> {
        if self.memory.mapping(capture.batch).is_some() {
            return Ok(());
        }
        let number = capture.buffers.iter().map(|b| b.number.saturating_add(1)).max().unwrap_or(0);
        self.map(&IntelBuffer { number, address: capture.batch, size: capture.words.len() as u64 * 4 })
    }

    /// Makes a buffer object of zeros at its address.
    ///
    /// # Errors
    /// Its number is taken, or it does not fit.
    pub fn map(&self, buffer: &IntelBuffer) -> Result<(), IntelError> {
        let IntelBuffer { number, address, size } = *buffer;
        let object = BufferObject { bo: number, handle: number, size, domains: 0, flags: 0, userptr: 0 };
        self.memory.create(&object)?;
        let op = VaOp { bo: number, kind: VaKind::Map, flags: VA_WRITABLE, va: address, offset: 0, size };
        Ok(self.memory.va(&op)?)
    }

    /// Writes what memory holds before the batch.
    ///
    /// # Errors
    /// It lies outside every buffer object.
    pub fn fill(&self, address: u64, bytes: &[u8]) -> Result<(), IntelError> {
        let outside = |fault: MemoryFault| IntelError::Memory { error: fault.to_string() };
        self.memory.write(address, bytes).map_err(outside)
    }

    /// Carries out the batch at an address.
    pub fn submit(&mut self, address: u64, bytes: u64, observer: &mut dyn Observer) -> SubmitReport {
        let batch = Batch { address, bytes, reset_offsets: false };
        self.processor.submit(&batch, &self.memory, observer)
    }

    /// Carries out a capture's batch.
    pub fn run(&mut self, capture: &IntelCapture, observer: &mut dyn Observer) -> SubmitReport {
        self.submit(capture.batch, capture.words.len() as u64 * 4, observer)
    }

    /// The command processor's state.
    pub fn state(&self) -> &State {
        self.processor.state()
    }
}
