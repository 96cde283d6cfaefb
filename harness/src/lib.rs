//! The `guestwave` command and what it is made of.
//!
//! [`capture`] reads and writes capture files, [`memory`] holds the guest memory that a capture describes, and
//! [`executor`] runs its dispatches.

pub mod capture;
pub mod codes;
pub mod executor;
pub mod memory;
