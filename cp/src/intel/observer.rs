//! What the Intel command processor tells about its work while it works.

use std::ops::Range;

use super::Refused;
use super::decode::PacketView;
use crate::{DrawFacts, Origin};

/// Is told what a command processor does, in order. Every method may be left out.
pub trait Observer {
    /// A packet is about to be carried out; `depth` is 1 in a second-level batch, else 0.
    fn packet(&mut self, at: Origin, packet: PacketView<'_>, depth: u32) {
        let _ = (at, packet, depth);
    }

    /// A register was set, by its byte address.
    fn register_write(&mut self, at: Origin, register: u32, value: u32) {
        let _ = (at, register, value);
    }

    /// Guest memory was written, by a packet or by the stream-output stage.
    fn stored(&mut self, at: Origin, range: Range<u64>) {
        let _ = (at, range);
    }

    /// A draw streamed out on one stream.
    fn drawn(&mut self, at: Origin, stream: u32, facts: &DrawFacts) {
        let _ = (at, stream, facts);
    }

    /// Something was refused.
    fn refused(&mut self, refused: &Refused) {
        let _ = refused;
    }
}

/// Wants nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
