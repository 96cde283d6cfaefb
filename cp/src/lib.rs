//! Command processors: packets, registers, streamout state and launches.
//!
//! An embedder gives guest memory ([`GuestMemory`]) and something that runs programs ([`Executor`]); a command
//! processor walks what the guest's driver submitted, keeps the state that the hardware keeps, and turns draws and
//! dispatches into [`ExactDispatch`]es. The crate sees no instruction set and no GPU API.
//!
//! # Invariants
//!
//! 1. A dispatch that is refused or faults leaves guest memory, streamout positions and counters as they were; the
//!    packets before it have had their effect, those after it have none.
//! 2. Whatever is not carried out is refused by name ([`Refusal`]) with a stable code.
//! 3. Work is bounded whatever the packets say: chained and nested buffers, waits and loops of every kind end.
//! 4. Packets that need memory to be current (reads, waits, the end of a submission) flush the executor first.

pub mod amd;
pub mod dispatch;
pub mod executor;
pub mod intel;
pub mod mali;
pub mod memory;
pub mod observer;
pub mod primitives;
pub mod refusal;
pub mod streamout;
pub mod tessellator;
mod words;

pub use dispatch::*;
pub use executor::*;
pub use memory::*;
pub use observer::*;
pub use refusal::{Refusal, Refused};
