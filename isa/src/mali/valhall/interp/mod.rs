//! The reference meaning of Valhall programs: an interpreter that runs one thread at a time.
//!
//! [`run_thread`] takes a thread's first registers and runs the program to its end against a [`Bus`]. It shares no code with any
//! translator.
//!
//! # Invariants
//!
//! 1. An instruction that has no meaning here is refused by name before it has any effect ([`Stop`]).
//! 2. Every run ends: each executed instruction takes one from the caller's budget.
//! 3. Nothing panics, whatever the code, the registers and the descriptors hold.
//! 4. Threads do not see each other but through memory.
//! 5. A [`Stop`] leaves what was stored before it in the [`Bus`]; whoever gives the bus undoes that.
//!
//! # Registers
//!
//! A thread starts with [`REGISTERS`] words: r0 to r63, of which hardware preloads some, and behind them the [`launch`] words, which
//! stand for state that hardware keeps where programs do not see it.
//!
//! # Choices
//!
//! Public documents leave the following open. A translator that is to agree with the interpreter makes the same choices.
//!
//! | matter | choice | reason |
//! |---|---|---|
//! | NaN results of float operations | `0x7fc00000`, f16 `0x7e00` | one NaN everywhere; payloads differ between hosts |
//! | denormals | kept | the captured shader descriptors say "preserve subnormals" |
//! | reciprocal | correctly rounded | the hardware's error bound is not public |
//! | reciprocal square root | in f64, rounded to f32 | likewise |
//! | minimum, maximum | a NaN loses, -0 is below +0 | Mesa's description of the clamps |
//! | float to integer | saturates, NaN gives 0 | the rule of graphics APIs |
//! | shift amounts | count modulo the width | compilers emit shifts without masking |
//! | third source of comparisons | true if not 0 | works for every result type |
//! | scalar results of 16 bits | written to each half that the word names | the destination has no other selector |
//! | attributes out of their buffer's range | 0 in every register | the least that graphics APIs allow |
//! | offset enable of an attribute | adds the attribute offset to the element's number | fits what drivers write |
//! | addresses | 48 bits count; bit 63 makes loads 0 and drops stores | Mesa relies on bit 63 |
//! | interpolation | `fma(w2, v2, fma(w1, v1, w0 * v0))` with the launch's perspective-correct weights; the value itself at a vertex and between equal ones | within the tolerance of [`exact barycentrics`](crate::mali::interpolate) |
//! | alpha test | leaves the coverage as it is | alpha to coverage is not in the program |
//! | blend | gives its colours to the launch's colour buffer and ends | blending is not in the program |

mod alu;
mod attribute;
mod buffer;
mod code;
mod control;
mod fragment;
mod launch_state;
mod memory;
mod operand;
mod stop;
mod thread;
mod varying;

pub use code::CodeCache;
pub use launch_state::{Environment, Hidden, REGISTERS, launch};
pub use stop::{CATALOGUE, Stop, StopKind};
pub use thread::{ThreadEnd, run_thread};

pub use crate::gfx10::interp::{Bus, BusFault};
