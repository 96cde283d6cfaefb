//! The `guestwave` command and what it is made of.
//!
//! [`capture`] reads and writes capture files, [`memory`] holds the guest memory that a capture describes.

pub mod capture;
pub mod memory;
