//! The `guestwave` command and what it is made of.
//!
//! [`capture`] reads and writes capture files, [`memory`] holds the guest memory that a capture describes,
//! [`executor`] runs its dispatches, [`replay`] puts these together, [`kernel`] runs compute kernels of code objects, [`bench`]
//! measures, `gpu` is the virtual GPU that runs unmodified programs, and [`commands`] is the command line.

pub mod bench;
pub mod capture;
pub mod codes;
pub mod commands;
pub mod engine;
pub mod executor;
#[cfg(target_os = "linux")]
pub mod gpu;
pub mod intel;
pub mod kernel;
pub mod mali;
pub mod memory;
pub mod replay;
pub mod shared_backend;
