//! The streamout state machine that every guest with a fixed-function streamout unit shares.
//!
//! Vertex programs (or, for Intel, a fixed function) store vertices into up to four buffers; the unit keeps where each
//! buffer stands, decides how many whole primitives still fit, and counts. All quantities are bytes; guests convert at
//! their packets' edge (AMD: dwords or bytes by DATA_TYPE, Intel: bytes). The state is plain data: a clone is a
//! snapshot, and nothing changes before [`Streamout::commit`].
//!
//! # Invariants
//!
//! 1. A plan never stores past a buffer: `start + fit * vertices * stride <= size` for every buffer with a stride.
//! 2. Primitives are whole: a primitive fits every buffer of its stream or is stored in none, and once one does not
//!    fit, none after it in the same draw is stored.
//! 3. Every primitive drawn counts as needed, whether it was stored or not.
//! 4. Arithmetic saturates, so that no register value can make it wrap.
//!
//! # Policies
//!
//! Public documents leave these open:
//!
//! - *Zero stride is unlimited*: a buffer that is enabled with a stride of 0 takes any number of primitives and does
//!   not move.
//! - *No buffer stores nothing*: a stream without an enabled buffer stores nothing, so its written count stands still
//!   while its needed count moves. OpenGL demands this of its queries.

mod plan;

pub use plan::Plan;

/// Buffers of a streamout unit.
pub const BUFFERS: usize = 4;
/// Vertex streams of a streamout unit.
pub const STREAMS: usize = 4;

/// Number of a buffer or of a stream, 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Slot(u8);

impl Slot {
    /// The four, in order.
    pub const ALL: [Slot; 4] = [Slot(0), Slot(1), Slot(2), Slot(3)];

    /// The slot in the two low bits of a field.
    pub const fn from_bits(bits: u32) -> Slot {
        Slot((bits & 3) as u8)
    }

    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether a mask of four bits contains it.
    pub const fn is_in(self, mask: u8) -> bool {
        mask >> self.0 & 1 != 0
    }
}

/// One streamout buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Buffer {
    /// Guest address of its first byte; 0 where the program knows it and the unit does not (AMD).
    pub base: u64,
    /// Bytes from the base that may be stored.
    pub size: u64,
    /// Bytes of one vertex.
    pub stride: u64,
    /// Bytes from the base to the next vertex.
    pub position: u64,
    /// Whether the unit stores to it at all.
    pub enabled: bool,
}

impl Buffer {
    /// Whole primitives of `vertices` vertices that fit from the present position on.
    fn room(&self, vertices: u32) -> u64 {
        let left = self.size.saturating_sub(self.position);
        left.checked_div(self.stride.saturating_mul(u64::from(vertices))).unwrap_or(u64::MAX)
    }
}

/// What a stream has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Counters {
    /// Primitives that were drawn and so needed room.
    pub needed: u64,
    /// Primitives that were stored.
    pub written: u64,
}

/// Whether a draw's primitives are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counting {
    /// The counters run.
    On,
    /// The counters stand still; positions move all the same.
    Off,
}

/// The state of a streamout unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Streamout {
    buffers: [Buffer; BUFFERS],
    stream_buffers: [u8; STREAMS],
    counters: [Counters; STREAMS],
}

impl Streamout {
    /// A buffer as it stands.
    pub fn buffer(&self, buffer: Slot) -> &Buffer {
        &self.buffers[buffer.index()]
    }

    /// Sets everything of a buffer but its position.
    pub fn bind(&mut self, buffer: Slot, base: u64, size: u64, stride: u64, enabled: bool) {
        let position = self.buffer(buffer).position;
        self.buffers[buffer.index()] = Buffer { base, size, stride, position, enabled };
    }

    /// Sets which buffers a stream stores to, one bit a buffer.
    pub fn route(&mut self, stream: Slot, buffers: u8) {
        self.stream_buffers[stream.index()] = buffers & 0xf;
    }

    /// Moves a buffer to `position` bytes from its base.
    pub fn set_position(&mut self, buffer: Slot, position: u64) {
        self.buffers[buffer.index()].position = position;
    }

    /// What a stream has counted.
    pub fn counters(&self, stream: Slot) -> Counters {
        self.counters[stream.index()]
    }

    /// Sets what a stream has counted, for guests that can write the counters.
    pub fn set_counters(&mut self, stream: Slot, counters: Counters) {
        self.counters[stream.index()] = counters;
    }

    /// The enabled buffers of a stream, one bit a buffer.
    pub fn enabled(&self, stream: Slot) -> u8 {
        let mask = self.stream_buffers[stream.index()];
        Slot::ALL
            .into_iter()
            .filter(|b| b.is_in(mask) && self.buffer(*b).enabled)
            .fold(0, |m, b| m | 1 << b.index())
    }

    /// What drawing `primitives` primitives of `vertices` vertices each on a stream would store.
    pub fn plan(&self, stream: Slot, primitives: u64, vertices: u32) -> Plan {
        Plan::new(self, stream, primitives, vertices)
    }

    /// Carries a plan out: moves the buffers on, and counts if `counting` says so.
    pub fn commit(&mut self, plan: &Plan, counting: Counting) {
        for slot in Slot::ALL.into_iter().filter(|b| b.is_in(plan.buffers())) {
            let buffer = &mut self.buffers[slot.index()];
            buffer.position = buffer.position.saturating_add(plan.vertices().saturating_mul(buffer.stride));
        }
        if counting == Counting::On {
            let counters = &mut self.counters[plan.stream().index()];
            counters.needed = counters.needed.saturating_add(plan.primitives());
            counters.written = counters.written.saturating_add(plan.fit());
        }
    }
}

#[cfg(test)]
mod tests;
