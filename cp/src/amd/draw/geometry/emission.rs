//! What the threads of geometry waves emitted: their messages, made into strips and these into primitives.

use super::state::{State, Stream};
use crate::primitives::Provoking;
use crate::streamout::{STREAMS, Slot};
use crate::{Message, WaveRecord};

/// Message ids in SIMM16 bits 3:0: a geometry program's, and its last one.
const MSG_GS: u16 = 2;
const MSG_GS_DONE: u16 = 3;

/// Lanes of a wave, and of a row of the ring.
const LANES: u32 = 64;
const ROW: u32 = 16;

/// What a message does.
#[derive(Clone, Copy)]
struct Operation {
    emits: bool,
    /// Ends the strip, after the vertex if one is emitted.
    cuts: bool,
}

/// By bits 5:4.
const OPERATIONS: [Operation; 4] = [
    Operation { emits: false, cuts: false },
    Operation { emits: false, cuts: true },
    Operation { emits: true, cuts: false },
    Operation { emits: true, cuts: true },
];

/// A message of the geometry stage: its stream, and what it does there.
fn read(message: &Message) -> Option<(Slot, Operation)> {
    let id = message.simm16 & 0xf;
    let operation = OPERATIONS[usize::from(message.simm16 >> 4 & 3)];
    let stream = Slot::from_bits(u32::from(message.simm16 >> 8));
    (id == MSG_GS || id == MSG_GS_DONE).then_some((stream, operation))
}

/// A wave that ran: what it recorded, where its slot of the ring is, and its geometry threads.
pub(super) struct Emitted<'a> {
    pub(super) record: &'a WaveRecord,
    /// Byte offset of the slot.
    pub(super) slot: u32,
    /// Threads, from lane 0 on.
    pub(super) threads: u32,
}

/// The primitives of one stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Primitives {
    pub(super) count: u64,
    /// Where each vertex of each primitive lies in the ring, in dwords, in the order of storage; empty if it was not
    /// asked for.
    pub(super) places: Vec<u32>,
}

/// The open strip of a thread in a stream: its first vertex, and the one after its last.
#[derive(Clone, Copy, Default)]
struct Strip {
    first: u32,
    end: u32,
}

/// One thread: where its wave's slot is, and its lane.
#[derive(Clone, Copy)]
struct Thread {
    slot: u32,
    lane: u32,
}

impl Thread {
    /// Where its first vertex of a stream lies in the ring, in dwords. Sixteen threads lie side by side; the vertices of
    /// a component, and then the components, follow one another at that distance.
    fn place(self, stream: &Stream, most_vertices: u32) -> u32 {
        let row = stream.vertex.wrapping_mul(most_vertices).wrapping_mul(ROW);
        (self.slot / 4)
            .wrapping_add(stream.offset.wrapping_mul(LANES))
            .wrapping_add((self.lane / ROW).wrapping_mul(row))
            .wrapping_add(self.lane % ROW)
    }
}

/// Makes what waves emitted into primitives.
pub(super) struct Assembler<'a> {
    pub(super) state: &'a State,
    pub(super) provoking: Provoking,
    /// Streams whose vertices are asked for; the others are counted.
    pub(super) listed: [bool; STREAMS],
    pub(super) primitives: [Primitives; STREAMS],
}

impl Assembler<'_> {
    /// Takes the threads of a wave one after another: that is the order in which their primitives are stored.
    pub(super) fn wave(&mut self, wave: &Emitted<'_>) {
        let messages: Vec<_> =
            wave.record.messages.iter().filter_map(|m| read(m).map(|what| (m.exec, what))).collect();
        for lane in 0..wave.threads.min(LANES) {
            let thread = Thread { slot: wave.slot, lane };
            let mut strips = [Strip::default(); STREAMS];
            for (_, (stream, operation)) in messages.iter().filter(|(exec, _)| exec >> lane & 1 != 0) {
                let strip = &mut strips[stream.index()];
                strip.end += u32::from(operation.emits && strip.end < self.state.most_vertices);
                if operation.cuts {
                    self.cut(*stream, strip, thread);
                }
            }
            // The end of a thread ends its strips.
            for (stream, mut strip) in Slot::ALL.into_iter().zip(strips) {
                self.cut(stream, &mut strip, thread);
            }
        }
    }

    /// Makes the strip into primitives and starts the next one. Vertices go on counting.
    fn cut(&mut self, stream: Slot, strip: &mut Strip, thread: Thread) {
        let layout = self.state.streams[stream.index()];
        let Strip { first, end } = std::mem::replace(strip, Strip { first: strip.end, end: strip.end });
        let made = layout.topology.primitives(end - first);
        let primitives = &mut self.primitives[stream.index()];
        primitives.count += made;
        if !self.listed[stream.index()] {
            return;
        }
        let corners = layout.topology.corners() as usize;
        let start = thread.place(&layout, self.state.most_vertices);
        for primitive in 0..made {
            let vertices =
                layout.topology.vertices(primitive, end - first, self.provoking).unwrap_or_default();
            primitives
                .places
                .extend(vertices[..corners].iter().map(|n| start.wrapping_add((first + n) * ROW)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amd::draw::geometry::state::Limits;
    use crate::primitives::Topology;

    const EMIT: u16 = 0x22;
    const CUT: u16 = 0x12;
    const EMIT_CUT: u16 = 0x32;
    const DONE: u16 = 0x03;
    const NOP: u16 = 0x02;
    /// Another unit's message, its other bits those of an emission.
    const INTERRUPT: u16 = 0x21;

    fn state(topologies: [Topology; STREAMS]) -> State {
        let stream = |topology| Stream { topology, offset: 0, vertex: 2 };
        State {
            limits: Limits { vertices: 0, primitives: 0, slots: 1 },
            invocations: 1,
            vertex_item: 0,
            slot_bytes: 0,
            most_vertices: 8,
            streams: topologies.map(stream),
        }
    }

    /// The primitives of `threads` threads of a wave whose slot is at byte 0x400.
    fn assemble(
        state: &State,
        provoking: Provoking,
        threads: u32,
        messages: &[(u16, u64)],
    ) -> [Primitives; STREAMS] {
        let messages = messages.iter().map(|(simm16, exec)| Message { simm16: *simm16, m0: 0, exec: *exec });
        let record = WaveRecord { exports: vec![], messages: messages.collect() };
        let mut assembler =
            Assembler { state, provoking, listed: [true; STREAMS], primitives: Default::default() };
        assembler.wave(&Emitted { record: &record, slot: 0x400, threads });
        assembler.primitives
    }

    /// Vertex numbers of lane 0's places.
    fn vertices(primitives: &Primitives) -> Vec<u32> {
        primitives.places.iter().map(|place| (place - 0x100) / ROW).collect()
    }

    #[test]
    fn vertices_go_on_counting_past_a_cut_and_short_strips_vanish() {
        let state = state([Topology::LineStrip; STREAMS]);
        let messages = [EMIT, CUT, CUT, EMIT, EMIT, EMIT_CUT, EMIT, EMIT, DONE].map(|message| (message, 1));
        let [made, ..] = assemble(&state, Provoking::Last, 1, &messages);
        assert_eq!(vertices(&made), [1, 2, 2, 3, 4, 5]);
        assert_eq!(made.count, 3);
    }

    #[test]
    fn each_lane_counts_only_the_messages_that_it_sent() {
        let state = state([Topology::Points; STREAMS]);
        let messages = [(EMIT, 1 << 17 | 1), (EMIT, 1 << 17), (EMIT, 1 << 20)];
        let [made, ..] = assemble(&state, Provoking::Last, 18, &messages);
        let second_row = 0x100 + 2 * 8 * ROW;
        assert_eq!(made.places, [0x100, second_row + 1, second_row + 1 + ROW]);
    }

    #[test]
    fn messages_may_be_split_over_lanes() {
        let state = state([Topology::TriangleStrip; STREAMS]);
        let whole = [(EMIT, 3), (EMIT, 3), (EMIT, 3), (CUT, 3)];
        let split = [(EMIT, 2), (EMIT, 2), (EMIT, 1), (EMIT, 2), (CUT, 2), (EMIT, 1), (EMIT, 1), (CUT, 1)];
        let [whole, split] = [&whole[..], &split].map(|m| assemble(&state, Provoking::First, 2, m));
        assert_eq!(whole[0].places, split[0].places);
        assert_eq!(whole[0].places.len(), 6);
    }

    #[test]
    fn a_strips_parity_starts_again_at_a_cut() {
        let state = state([Topology::TriangleStrip; STREAMS]);
        let messages =
            [EMIT, EMIT, EMIT, EMIT, CUT].repeat(2).into_iter().map(|m| (m, 1)).collect::<Vec<_>>();
        let [last, ..] = assemble(&state, Provoking::Last, 1, &messages);
        assert_eq!(vertices(&last), [0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7]);
        let [first, ..] = assemble(&state, Provoking::First, 1, &messages);
        assert_eq!(vertices(&first), [0, 1, 2, 1, 3, 2, 4, 5, 6, 5, 7, 6]);
    }

    #[test]
    fn what_is_emitted_past_the_most_vertices_is_not_there() {
        let state = state([Topology::Points; STREAMS]);
        let [made, ..] = assemble(&state, Provoking::Last, 1, &[(EMIT, 1); 20]);
        assert_eq!(vertices(&made), (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn each_stream_has_vertices_strips_and_a_topology_of_its_own() {
        let topologies = [Topology::Points, Topology::LineStrip, Topology::Points, Topology::TriangleStrip];
        let on = |message: u16, stream: u16| (message | stream << 8, 1);
        let messages = [
            on(EMIT, 0),
            on(EMIT, 3),
            on(EMIT, 1),
            on(CUT, 0),
            on(EMIT, 3),
            on(EMIT, 1),
            on(EMIT, 3),
            on(NOP, 2),
            on(INTERRUPT, 2),
        ];
        let made = assemble(&state(topologies), Provoking::Last, 1, &messages);
        assert_eq!(made.each_ref().map(vertices), [vec![0], vec![0, 1], vec![], vec![0, 1, 2]]);
        assert_eq!(made.map(|p| p.count), [1, 1, 0, 1]);
    }
}
