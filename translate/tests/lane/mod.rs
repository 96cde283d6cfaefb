//! Lane-level programs that every executor's tests run: small ones whose end is known, and random ones.
#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod access;
pub(crate) mod kernel;
pub(crate) mod memory;
pub(crate) mod random;
pub(crate) mod tape;
pub(crate) mod worked;
