//! Random declaration lists, topologies and buffers: the plain copy against programs on every executor.
//!
//! `GUESTWAVE_SOL_CASES` says how many lists are tried; on a device, where each takes a compilation, an eighth of them.

use guestwave_cp::GuestMemory;
use guestwave_cp::intel::so_decl::{DeclList, SoDecl};
use guestwave_cp::intel::sol::{DrawnStream, Policies, Reorder, Vues};
use guestwave_cp::intel::topology::Strips;
use guestwave_cp::intel::{Gen, NoObserver, Refusal, VertexStage, VertexWork};
use guestwave_cp::streamout::{Slot, Streamout};
use guestwave_harness::intel::{IntelBuffer, IntelMachine};
use guestwave_translate::backend::Holding;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Shared, evaluated, native, on_device, plainly};

const BATCH: u64 = 0x10_0000;
const BUFFERS: u64 = 0x20_0000;
const BUFFER_BYTES: u64 = 0x1000;
/// Topologies that are carried out.
const TOPOLOGIES: [u32; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 22];

/// One random draw.
#[derive(Clone, Debug)]
struct Case {
    topology: u32,
    trailing: bool,
    statistics: bool,
    vertices: u32,
    instances: u32,
    slots: u32,
    /// Places where the drawn order is cut, if it is listed at all.
    cuts: Option<Vec<u8>>,
    /// The stream of each buffer.
    streams: [u32; 4],
    /// Buffer, hole, register, first component, dwords.
    decls: Vec<(u32, bool, u8, u8, u8)>,
    /// Bytes behind the declared ones, size, offset, enabled.
    buffers: [(u32, u32, u32, bool); 4],
}

prop_compose! {
    fn buffer()(
        extra in 0u32..6, size in 0u32..0x400, offset in 0u32..0x100, enabled in prop::bool::weighted(0.95),
    ) -> (u32, u32, u32, bool) {
        (extra * 4, size * 4, offset * 4, enabled)
    }
}

prop_compose! {
    fn case()(
        topology in prop::sample::select(&TOPOLOGIES[..]),
        (trailing, statistics) in any::<(bool, bool)>(),
        vertices in 1u32..40,
        instances in 1u32..4,
        slots in 1u32..7,
        cuts in prop::option::of(prop::collection::vec(any::<u8>(), 0..4)),
        streams in prop::array::uniform4(0u32..2),
        decls in prop::collection::vec((0u32..4, any::<bool>(), 0u8..6, 0u8..4, 1u8..5), 0..12),
        buffers in prop::array::uniform4(buffer()),
    ) -> Case {
        Case { topology, trailing, statistics, vertices, instances, slots, cuts, streams, decls, buffers }
    }
}

impl Case {
    fn list(&self) -> DeclList {
        let mut list = DeclList::default();
        for (buffer, hole, register, first, count) in &self.decls {
            let stream = self.streams[*buffer as usize] as usize;
            list.selects[stream] |= 1 << buffer;
            let mask = ((1u8 << count.min(&(4 - first))) - 1) << if *hole { 0 } else { *first };
            let register = register % self.slots as u8;
            list.streams[stream].push(SoDecl {
                buffer: Slot::from_bits(*buffer),
                hole: *hole,
                register,
                mask,
            });
        }
        list
    }

    fn batch(&self) -> Vec<u32> {
        let list = self.list();
        let records = list.record_bytes();
        let flags = 1 << 31 | 1 << 30 | u32::from(self.trailing) << 26 | u32::from(self.statistics) << 25;
        let enabled = (0..4).filter(|b| self.buffers[*b].3).fold(0, |mask, b| mask | 1 << (8 + b));
        let mut batch = vec![0x7810_0004, 0, 0, 0, 0, 1];
        for (number, (extra, size, offset, _)) in (0u32..).zip(self.buffers) {
            let base = (BUFFERS + BUFFER_BYTES * u64::from(number)) as u32;
            let pitch = records[number as usize] + extra;
            batch.extend([0x7918_0002, number << 29 | pitch, base, base + size]);
            batch.extend([0x1100_0001, 0x5280 + 4 * number, offset]);
        }
        batch.extend(list.encode().unwrap());
        batch.extend([0x781e_0001, flags | enabled, 0x1f1f_1f1f & 0x0303_0303]);
        batch.extend([0x7b00_0005, self.topology, self.vertices, 0, self.instances, 0, 0]);
        batch.push(0x0500_0000);
        batch
    }
}

/// Two streams of vertices that tell where they come from.
struct Vertices(Case);

impl VertexStage for Vertices {
    fn run(&mut self, work: &VertexWork<'_>, _: &dyn GuestMemory) -> Result<Vec<DrawnStream>, Refusal> {
        let case = &self.0;
        let words = case.vertices * case.instances * case.slots * 4;
        let order = case.cuts.as_ref().map(|cuts| {
            let mut order: Vec<u32> = (0..case.vertices).rev().collect();
            cuts.iter().for_each(|at| order.insert(usize::from(*at) % (order.len() + 1), u32::MAX));
            order
        });
        let stream = |stream: u32| DrawnStream {
            stream: Slot::from_bits(stream),
            strips: work.strips,
            vues: Vues { slots: case.slots, words: (0..words).map(|n| n | (stream + 1) << 24).collect() },
            order: order.clone(),
            instances: case.instances,
        };
        Ok(vec![stream(0), stream(1)])
    }
}

/// Bytes of the buffers, the unit, and the refusal if there was one.
fn outcome(case: &Case, stream_out: &Shared) -> (Vec<u8>, Streamout, Option<&'static str>) {
    let vertices = Box::new(Vertices(case.clone()));
    let mut machine = IntelMachine::new(Gen::Gen7, Policies::default(), vertices, stream_out.boxed());
    let batch: Vec<u8> = case.batch().iter().flat_map(|word| word.to_le_bytes()).collect();
    machine.map(&IntelBuffer { number: 0, address: BATCH, size: batch.len() as u64 }).unwrap();
    machine.map(&IntelBuffer { number: 1, address: BUFFERS, size: 4 * BUFFER_BYTES }).unwrap();
    machine.fill(BATCH, &batch).unwrap();
    machine.fill(BUFFERS, &[0xee; 4 * BUFFER_BYTES as usize]).unwrap();
    let report = machine.submit(BATCH, batch.len() as u64, &mut NoObserver);
    let mut bytes = vec![0; 4 * BUFFER_BYTES as usize];
    machine.memory.read(BUFFERS, &mut bytes).unwrap();
    (bytes, machine.state().sol.unit.clone(), report.stopped().map(|r| r.refusal.code()))
}

fn count(divisor: u32) -> u32 {
    let asked = std::env::var("GUESTWAVE_SOL_CASES").ok().and_then(|n| n.parse().ok());
    (asked.unwrap_or(240) / divisor).max(1)
}

/// Tries so many cases; most of them have to store something.
fn agree(cases: u32, stream_out: &Shared) {
    let plain = plainly();
    let stored = std::cell::Cell::new(0);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let tried = TestRunner::new(config).run(&case(), |case| {
        let (wanted, found) = (outcome(&case, &plain), outcome(&case, stream_out));
        stored.set(stored.get() + u32::from(wanted.0.iter().any(|byte| *byte != 0xee)));
        prop_assert_eq!(wanted.2, found.2);
        prop_assert_eq!(wanted.1, found.1);
        prop_assert!(wanted.0 == found.0, "bytes differ");
        Ok(())
    });
    tried.unwrap();
    assert!(stored.get() * 3 > cases, "{} of {cases} stored something", stored.get());
}

#[test]
fn evaluated_programs_agree_with_the_plain_copy() {
    agree(count(1), &evaluated());
}

#[test]
fn native_programs_agree_with_the_plain_copy() {
    agree(count(1), &native());
}

#[test]
fn programs_on_a_device_agree_with_the_plain_copy() {
    agree(count(8), &on_device(Holding::Lane));
}

/// The plain copy itself against the manual's words: walk the list once a vertex, with one pointer a buffer.
#[test]
fn the_plain_copy_walks_the_declarations() {
    let config = Config { cases: count(1), failure_persistence: None, ..Config::default() };
    let tried = TestRunner::new(config).run(&case(), |case| {
        let (bytes, unit, refused) = outcome(&case, &plainly());
        if refused.is_none() {
            prop_assert!(walked(&case, &unit) == bytes, "bytes differ");
        }
        Ok(())
    });
    tried.unwrap();
}

/// What the buffers hold if as many vertices are walked as the unit moved on by.
fn walked(case: &Case, unit: &Streamout) -> Vec<u8> {
    let mut bytes = vec![0xee; 4 * BUFFER_BYTES as usize];
    let list = case.list();
    let records = list.record_bytes();
    for stream in 0..2 {
        let Some(first) = (0..4).find(|b| list.selects[stream] >> b & 1 != 0) else { continue };
        let pitch = records[first] + case.buffers[first].0;
        let moved = unit.buffer(Slot::from_bits(first as u32)).position - u64::from(case.buffers[first].2);
        let stored = moved.checked_div(u64::from(pitch)).unwrap_or(0);
        for place in 0..stored as u32 {
            let vertex = vertex_at(case, place);
            let mut pointer: [u32; 4] =
                std::array::from_fn(|b| case.buffers[b].2 + place * (records[b] + case.buffers[b].0));
            for decl in &list.streams[stream] {
                let at = &mut pointer[decl.buffer.index()];
                for component in (0..4u32).filter(|c| decl.mask >> c & 1 != 0) {
                    let word = (vertex * case.slots + u32::from(decl.register)) * 4 + component;
                    let word = word | (stream as u32 + 1) << 24;
                    let start = decl.buffer.index() * BUFFER_BYTES as usize + *at as usize;
                    if !decl.hole {
                        bytes[start..start + 4].copy_from_slice(&word.to_le_bytes());
                    }
                    *at += 4;
                }
            }
        }
    }
    bytes
}

/// The vertex that is stored at a place, instance after instance.
fn vertex_at(case: &Case, place: u32) -> u32 {
    let reorder = if case.trailing { Reorder::Trailing } else { Reorder::Leading };
    let strips = Strips::new(case.topology, reorder).unwrap();
    let mut order: Vec<u32> = (0..case.vertices).collect();
    if let Some(cuts) = &case.cuts {
        order.reverse();
        cuts.iter().for_each(|at| order.insert(usize::from(*at) % (order.len() + 1), u32::MAX));
    }
    let mut stored = Vec::new();
    for run in order.split(|v| *v == u32::MAX) {
        for primitive in 0..strips.topology.primitives(run.len() as u32) {
            let corners = strips.topology.vertices(primitive, run.len() as u32, strips.provoking).unwrap();
            stored.extend(corners[..strips.topology.corners() as usize].iter().map(|v| run[*v as usize]));
        }
    }
    let each = stored.len() as u32;
    place / each * case.vertices + stored[(place % each) as usize]
}
