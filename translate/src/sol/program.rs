//! A program from the shape of a stream's copies.

use guestwave_cp::intel::sol::{Copy, SolOrder, SolShape};
use guestwave_cp::primitives::{Corner, Provoking, Topology, Turn};

use super::params::{SLOT_BYTES, Word, sources};
use crate::program::{Access, BinOp, Builder, Builtin, Program, Slot, Space, Trace, UnOp, Value, Width};

/// Lanes of a wave: one stored vertex each.
pub(super) const LANES: u8 = 32;
/// Bytes of a component.
const COMPONENT: u32 = 4;

/// Makes the program that stores a stream's vertices. It reads the vertices from the launch's tables, as
/// [`Vues`](guestwave_cp::intel::sol::Vues) lays them out, and a list of vertices behind them where the shape asks for
/// one.
pub fn program(shape: &SolShape) -> Program {
    let mut emit = Emit { b: Builder::new("sol", LANES) };
    emit.b.program_mut().params = sources();
    emit.shape(shape);
    emit.b.finish()
}

/// The place of a lane and what follows from it.
struct Lane {
    place: Value,
    /// Whether a vertex is stored there.
    active: Value,
    /// Byte offset of the vertex's slot 0 of the declarations in the tables.
    vertex: Value,
}

struct Emit {
    b: Builder,
}

impl Emit {
    fn shape(&mut self, shape: &SolShape) {
        let lane = self.lane(shape.order);
        for copy in &*shape.copies {
            self.copy(copy, shape.pitches[copy.buffer.index()], &lane);
        }
    }

    fn word(&mut self, word: Word) -> Value {
        self.b.expr(crate::program::Expr::Param(u16::from(word.place())))
    }

    fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        self.b.bin(op, a, b)
    }

    fn times(&mut self, value: Value, factor: u32) -> Value {
        let factor = self.b.c32(factor);
        self.bin(BinOp::Mul, value, factor)
    }

    fn plus(&mut self, value: Value, more: u32) -> Value {
        let more = self.b.c32(more);
        self.bin(BinOp::Add, value, more)
    }

    fn lane(&mut self, order: SolOrder) -> Lane {
        let (wave, lane) = (self.b.builtin(Builtin::Wave), self.b.builtin(Builtin::Lane));
        let first = self.times(wave, u32::from(LANES));
        let place = self.bin(BinOp::Add, first, lane);
        let count = self.word(Word::Count);
        let active = self.bin(BinOp::LtU, place, count);
        let (instance, place_in_it) = self.divide(place, Word::Stored);
        let vertex = match order {
            SolOrder::Listed => self.listed(place_in_it),
            SolOrder::Assembled(topology, provoking) => self.assembled(place_in_it, topology, provoking),
        };
        let drawn = self.word(Word::Drawn);
        let before = self.bin(BinOp::Mul, instance, drawn);
        let vertex = self.bin(BinOp::Add, before, vertex);
        let bytes = self.word(Word::VertexBytes);
        let at = self.bin(BinOp::Mul, vertex, bytes);
        let slots = self.word(Word::FirstBytes);
        Lane { place, active, vertex: self.bin(BinOp::Add, at, slots) }
    }

    /// Quotient and remainder by a word of the block.
    fn divide(&mut self, value: Value, word: Word) -> (Value, Value) {
        let divisor = self.word(word);
        let quotient = self.bin(BinOp::DivU, value, divisor);
        let whole = self.bin(BinOp::Mul, quotient, divisor);
        (quotient, self.bin(BinOp::Sub, value, whole))
    }

    /// The vertex that the list has at a place.
    fn listed(&mut self, place: Value) -> Value {
        let list = self.word(Word::List);
        let at = self.times(place, COMPONENT);
        let address = self.bin(BinOp::Add, list, at);
        let valid = self.b.c32(COMPONENT);
        self.b.load(1, access(Space::Table, address, valid, None))[0]
    }

    /// The vertex that the topology has at a place.
    fn assembled(&mut self, place: Value, topology: Topology, provoking: Provoking) -> Value {
        let Turn { orders, step, closed } = topology.turn(provoking);
        let corners: Vec<Corner> =
            orders.iter().flat_map(|order| &order[..topology.corners() as usize]).copied().collect();
        let period = self.b.c32(corners.len() as u32);
        let turn = self.bin(BinOp::DivU, place, period);
        let corner = self.bin(BinOp::RemU, place, period);
        let moved = self.times(turn, step);
        let mut vertex = self.b.c32(0);
        for (n, at) in corners.into_iter().enumerate() {
            let found = match at {
                Corner::Moving(offset) => self.plus(moved, u32::from(offset)),
                Corner::Shared(vertex) => self.b.c32(u32::from(vertex)),
            };
            let n = self.b.c32(n as u32);
            let here = self.bin(BinOp::Eq, corner, n);
            vertex = self.b.select(here, found, vertex);
        }
        match closed {
            true => {
                let drawn = self.word(Word::Drawn);
                self.bin(BinOp::RemU, vertex, drawn)
            }
            false => vertex,
        }
    }

    /// Stores the components that one declaration names.
    fn copy(&mut self, copy: &Copy, pitch: u32, lane: &Lane) {
        let from = u32::from(copy.register) * SLOT_BYTES + u32::from(copy.first) * COMPONENT;
        let source = self.plus(lane.vertex, from);
        let bytes = self.b.c32(u32::from(copy.count) * COMPONENT);
        let words = self.b.load(usize::from(copy.count), access(Space::Table, source, bytes, None));
        let nothing = self.b.c32(0);
        let valid = self.b.select(lane.active, bytes, nothing);
        let address = self.record(copy, pitch, lane.place);
        let slot = self.slot(copy.buffer.index() as u8);
        self.b.store(words, access(Space::Global, address, valid, Some(slot)));
    }

    /// Where the components go: the place's record may be more than 2^32 bytes on.
    fn record(&mut self, copy: &Copy, pitch: u32, place: Value) -> Value {
        let pitch = self.b.c32(pitch);
        let low = self.bin(BinOp::Mul, place, pitch);
        let high = self.bin(BinOp::MulHighU, place, pitch);
        let records = self.bin(BinOp::Pack, low, high);
        let buffer = copy.buffer.index() as u8;
        let (low, high) = (self.word(Word::StartLow(buffer)), self.word(Word::StartHigh(buffer)));
        let start = self.bin(BinOp::Pack, low, high);
        let record = self.bin(BinOp::Add, start, records);
        let offset = self.b.c32(copy.offset);
        let offset = self.b.un(UnOp::Extend, offset);
        self.bin(BinOp::Add, record, offset)
    }

    /// The range of a buffer that the launch stores to.
    fn slot(&mut self, buffer: u8) -> u16 {
        let param = |word: Word| Trace::Param(u16::from(word.place()));
        let (low, high) = (param(Word::StartLow(buffer)), param(Word::StartHigh(buffer)));
        self.b.slot(Slot {
            base: Trace::Pack(Box::new(low), Box::new(high)),
            size: Some(param(Word::Span(buffer))),
            written: true,
        })
    }
}

fn access(space: Space, address: Value, valid: Value, slot: Option<u16>) -> Access {
    Access { space, address, valid, width: Width::W32, pc: 0, slot }
}
