//! Arm Mali: the instruction sets of its shader cores.

pub mod valhall;
