//! The [`Backend`] that compiles to native code.

use std::sync::Arc;
use std::time::Duration;

use guestwave_cp::GuestMemory;
use guestwave_translate::backend::{
    Backend, BackendError, Batch, Caps, Completion, Holding, ProgramId, Ticket,
};
use guestwave_translate::program::Program;

/// Largest workgroup LDS, as the guests' hardware has it.
const LDS_BYTES: u32 = 64 * 1024;

/// Runs programs as native code of this host.
#[derive(Debug)]
pub struct SoftBackend {
    caps: Caps,
}

impl SoftBackend {
    /// A backend for the CPU at hand.
    pub fn new() -> Self {
        let device = format!("{} through Cranelift", std::env::consts::ARCH);
        let holdings = vec![Holding::Wave];
        SoftBackend { caps: Caps { name: "soft", device, exact: Ok(()), holdings, lds_bytes: LDS_BYTES } }
    }
}

impl Default for SoftBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for SoftBackend {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn compile(&mut self, program: &Arc<Program>, _: Holding) -> Result<ProgramId, BackendError> {
        let reason = format!("{} is not compiled by this build", program.name);
        Err(BackendError::Compile { code: "SOFT-COMPILE-001", backend: "soft", reason })
    }

    fn submit(&mut self, _: Batch, _: &dyn GuestMemory) -> Result<Ticket, BackendError> {
        let reason = "nothing was compiled".to_owned();
        Err(BackendError::DeviceLost { code: "SOFT-RUN-001", reason })
    }

    fn poll(&mut self, ticket: Ticket, _: &dyn GuestMemory) -> Result<Option<Completion>, BackendError> {
        Err(BackendError::UnknownTicket(ticket))
    }

    fn wait(
        &mut self,
        ticket: Ticket,
        memory: &dyn GuestMemory,
        _: Duration,
    ) -> Result<Option<Completion>, BackendError> {
        self.poll(ticket, memory)
    }
}
