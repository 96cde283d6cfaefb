//! The command processor of Intel Gen7 to Gen12 render batches, as far as stream output needs it.
//!
//! Facts stand in tables: `tables/intel/packets.tsv` (headers, lengths, fields, what is done), `registers.tsv` and
//! `topologies.tsv`. A packet's row names the function that carries it out, so a row without a handler or a handler
//! without a row does not build.
//!
//! # How a batch is walked
//!
//! Packets are carried out one after another, each read from memory as it stands, so that a batch may write itself. A
//! handler either carries its packet out whole or refuses it without effect; a refused packet ends the submission. What a
//! packet leaves undone without harm to what follows (the pixels of a draw) is reported by name. First-level batch starts
//! jump, second-level ones return at their MI_BATCH_BUFFER_END; the walk is bounded whatever the packets say.
//!
//! # How a draw is carried out
//!
//! 1. The vertex fetcher ([`fetch`]) reads vertex elements, through the embedder's [`AttributeFormats`].
//! 2. The embedder's [`VertexStage`] makes vertices of them; with every stage off they pass unchanged.
//! 3. The stream-output stage ([`sol`]) assembles primitives, plans how many fit, and hands the copies to the embedder's
//!    [`StreamOut`].
//! 4. Offsets, counters and statistics move on.
//!
//! An embedder builds a [`CommandProcessor`] from those three parts and calls [`CommandProcessor::submit`] for each batch;
//! [`so_decl`] stands by itself.

mod context;
pub mod decode;
pub(crate) mod draw;
pub mod fetch;
pub(crate) mod flow;
mod generation;
pub(crate) mod math;
pub(crate) mod mi;
mod observer;
mod packet;
pub(crate) mod pipe_control;
mod processor;
pub mod refusal;
pub mod registers;
pub mod so_decl;
pub mod sol;
pub(crate) mod sol_state;
mod stages;
pub mod state;
pub(crate) mod state_packets;
pub mod topology;
pub(crate) mod vertex_state;
mod walk;

pub use generation::Gen;
pub use observer::{NoObserver, Observer};
pub use packet::Header;
pub use processor::{Batch, CommandProcessor, Config, Limits, SubmitReport};
pub use refusal::{CATALOGUE, Refusal, Refused};
pub use stages::{AttributeFormats, NoPrograms, VertexStage, VertexWork};
pub use state::State;
