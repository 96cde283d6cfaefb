//! Arm Mali: what a driver of it leaves in guest memory.

pub mod job;
