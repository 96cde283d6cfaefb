//! Programs beside the waves that ran them.

use std::collections::HashSet;
use std::io::{self, Write};

use guestwave_cp::{ExactDispatch, GuestMemory, Isa};

/// Programs that were shown already.
pub(super) struct Programs {
    isa: Isa,
    shown: HashSet<u64>,
}

impl Programs {
    pub(super) fn new(isa: Isa) -> Self {
        Programs { isa, shown: HashSet::new() }
    }

    /// Prints the program of a dispatch, once.
    pub(super) fn print(
        &mut self,
        dispatch: &ExactDispatch,
        memory: &dyn GuestMemory,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if !self.shown.insert(dispatch.program.address) {
            return Ok(());
        }
        let _ = (memory, self.isa);
        writeln!(out, "           program at {:#x}", dispatch.program.address)
    }
}
