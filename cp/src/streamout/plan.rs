//! What one draw would store.

use super::{Buffer, Slot, Streamout};

/// What one draw stores on one stream: how many whole primitives, and from where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    stream: Slot,
    primitives: u64,
    vertices_each: u32,
    fit: u64,
    buffers: u8,
    starts: [u64; super::BUFFERS],
}

impl Plan {
    pub(super) fn new(unit: &Streamout, stream: Slot, primitives: u64, vertices_each: u32) -> Plan {
        let buffers = unit.enabled(stream);
        let room = Slot::ALL
            .into_iter()
            .filter(|b| b.is_in(buffers))
            .map(|b| unit.buffer(b).room(vertices_each))
            .min()
            .unwrap_or(0);
        let starts = unit.buffers.each_ref().map(|b: &Buffer| b.position);
        Plan { stream, primitives, vertices_each, fit: room.min(primitives), buffers, starts }
    }

    /// The stream it is for.
    pub fn stream(&self) -> Slot {
        self.stream
    }

    /// Primitives that are drawn.
    pub fn primitives(&self) -> u64 {
        self.primitives
    }

    /// Whole primitives that fit every enabled buffer of the stream; 0 if none is enabled.
    pub fn fit(&self) -> u64 {
        self.fit
    }

    /// Vertices that are stored.
    pub fn vertices(&self) -> u64 {
        self.fit.saturating_mul(u64::from(self.vertices_each))
    }

    /// The stream's enabled buffers, one bit a buffer.
    pub fn buffers(&self) -> u8 {
        self.buffers
    }

    /// Where a buffer stands as the draw starts, in bytes.
    pub fn start(&self, buffer: Slot) -> u64 {
        self.starts[buffer.index()]
    }
}
