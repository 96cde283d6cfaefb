//! The reference interpreter of vertex programs.
//!
//! # What a thread is
//!
//! Two vertices run in one thread of eight channels: channels 0 to 3 are the components of the first, 4 to 7 of the second.
//! Register 0 names their URB entries (here 0 and 1), constants and attributes follow from the register that the state
//! names. A program ends with a message that ends the thread; what it wrote to its URB entries are its vertices. An entry
//! holds its vertex's attributes before the program writes it.
//!
//! # Policies
//!
//! The public manuals leave these open, and no captured program tells them apart:
//!
//! - MAD rounds once ([`Mad::Fused`]) or twice.
//! - Arithmetic on floats flushes denormal sources and results to zero of their sign; MOV of a float to a float without
//!   modifiers, and SEL, keep their bits. A NaN result is 0x7fc00000.

mod alu;
mod flow;
mod operand;
mod thread;
mod urb;

pub use thread::{Mad, VertexLaunch, vertex};

#[cfg(test)]
mod tests;
