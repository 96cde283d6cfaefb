//! The virtual GPU: the executor's side of an AMD kernel device.
//!
//! `guestwave run` starts a program with a preloaded library (`harness/virtual-gpu`) that shows it a GPU's node and sends
//! every ioctl on it here. This module is what the kernel would be: it keeps open files, buffer objects, address spaces,
//! contexts and synchronization objects, and runs submissions through the command processor.
//!
//! # How it fits together
//!
//! * [`server`] takes connections, one thread each, and hands decoded calls to [`kernel`].
//! * [`kernel`] is a table of ioctls and what each does to an [`file::OpenFile`].
//! * [`store`] hands out the memory of buffer objects: ranges of one file that the program maps as well, so nothing is copied
//!   between the processes.
//! * [`space`] shows a submission's address space as guest memory, in place.
//! * [`ring`] has a thread for each ring of each open file. A submission is a [`ring::Job`]; its [`progress::Fence`]
//!   completes when its work has been done.
//! * [`program`] starts the program, passes signals on to it, and sees to it that it does not outlive this process.
//! * [`record`] writes down, as a capture, what was asked and what memory held.
//!
//! # Invariants
//!
//! 1. A submission sees the address space as it was when it was submitted, and keeps alive every buffer object that is mapped there.
//! 2. Jobs of a ring complete in order; a fence completes after everything its job stored can be seen, the user fence included.
//! 3. Whatever a program asks, one that is killed, forks, never waits or waits for what never comes, it can only cost itself:
//!    waits end when the open file is closed, queues are bounded, memory has a limit, and calls are checked before they are
//!    carried out.
//! 4. What is not answered is named once on stderr.
//! 5. `unsafe` is in [`sys`] and [`program`] alone.

mod exports;
mod file;
mod handles;
mod kernel;
mod library;
mod models;
mod program;
mod progress;
mod record;
mod report;
mod ring;
mod server;
mod space;
mod store;
mod syncobj;
mod sys;

#[allow(dead_code, reason = "the preloaded library compiles the same file and uses the rest of it")]
#[path = "../../virtual-gpu/src/wire.rs"]
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use models::{MODELS, Model};
pub use program::{Program, Running, Signals};
pub use report::{Seen, Summary};
pub use ring::{GPU_ERRORS, GpuError};
pub use server::{Settings, VirtualGpu};

/// A lock is only poisoned by a panic, and no critical section here leaves its data half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::engine::EngineArgs;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        engine: EngineArgs,
    }

    /// The reference executor, as an option names it.
    pub(super) fn reference() -> EngineArgs {
        Options::parse_from(["test", "--executor", "reference"]).engine
    }
}
