//! Guest programs compiled to native code with Cranelift and run on the guest's memory in place: the embedded default,
//! which needs no driver.
//!
//! A [`Program`](guestwave_translate::program::Program) is cut into stretches that each lane can run alone (`plan`), lowered
//! to one native function (`lower`, `jit`), and run wave by wave (`run`). Long programs are compiled quickly at first; programs
//! that have run many lanes get better code, kernels for the shape of their workgroups (`shapes`).
//!
//! # Invariants
//!
//! 1. A launch's result is that of all lanes of a wave going in step, waves in their order: what the program form
//!    promises, whatever order the lanes really run in.
//! 2. Guest memory is reached only where the embedder says that it lies, each access checked against those bounds.
//! 3. What a launch stored is known to the byte. If it faults, exactly those bytes are put back.
//! 4. A launch gives the same bytes on any number of threads. Threads that share one hold afterwards what each stored and
//!    loaded against the others; where that meets, the launch is taken back and runs in wave order.
//! 5. What is kept from one launch to the next (places of memory, buffers) holds only while the memory says that its mappings are
//!    the same; no byte of guest memory is kept.
//! 6. Lanes of a wave that have no item run unless it is shown that they have no effect.
//! 7. `unsafe` is in `raw` alone, with its own invariants.

mod backend;
mod codes;
mod fma;
mod jit;
mod lower;
mod plan;
mod raw;
mod run;
mod shapes;

#[cfg(feature = "other-hosts")]
pub use backend::compile_for;
pub use backend::{SoftBackend, SoftOptions};
pub use codes::CATALOGUE;
