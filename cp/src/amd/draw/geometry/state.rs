//! What the registers say of a geometry pipeline.

use crate::Refusal;
use crate::amd::draw::merged::Merged;
use crate::amd::launch::{MustBeZero, first_set};
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{Field, field, reg};
use crate::primitives::Topology;
use crate::streamout::{STREAMS, Slot};
use field::VGT_GS_INSTANCE_CNT as INSTANCES;
use field::VGT_GS_MODE as GS_MODE;
use field::VGT_GS_ONCHIP_CNTL as ONCHIP;
use field::VGT_GS_OUT_PRIM_TYPE as OUT;

/// Bytes of a dword, and of a unit of VGT_GSVS_RING_SIZE.
const DWORD: u64 = 4;
const RING_UNIT: u64 = 256;
/// Threads of a wave: each has a place in the wave's slot of the ring, whether it runs or not.
const WAVE_THREADS: u64 = 64;

/// Policy: the most threads of a subgroup in either half, whatever VGT_GS_ONCHIP_CNTL says. Results do not depend on how
/// primitives are grouped.
const MOST_THREADS: u32 = 256;
/// Policy: the most waves of one dispatch. A draw of more is cut into several.
pub(super) const MOST_WAVES: u32 = 1024;

/// VGT_GS_MODE: a geometry program after an export program (scenario G).
const MODE_G: u32 = 3;
/// The greatest ONCHIP that keeps the output ring in memory.
const ONCHIP_OFF: u32 = 1;

const MUST_BE_ZERO: &[MustBeZero] = &[
    (GS_MODE::ES_PASSTHRU, "the export program's outputs in place of the geometry program's (ES_PASSTHRU)"),
    (GS_MODE::COMPUTE_MODE, "a geometry program that computes (COMPUTE_MODE)"),
    (GS_MODE::SUPPRESS_CUTS, "strips that go on past a cut (SUPPRESS_CUTS)"),
    (INSTANCES::EN_MAX_VERT_OUT_PER_GS_INSTANCE, "a limit of vertices in each geometry instance"),
];

/// One vertex stream of a geometry program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// What its strips are made of.
    pub(super) topology: Topology,
    /// First dword of its vertices in a thread's place of the ring.
    pub(super) offset: u32,
    /// Dwords of a vertex.
    pub(super) vertex: u32,
}

/// How primitives are gathered into subgroups, and these into dispatches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Vertices of a subgroup.
    pub(super) vertices: u32,
    /// Primitives of a subgroup.
    pub(super) primitives: u32,
    /// Waves with geometry threads that a dispatch has: as many as have a slot in the ring.
    pub(super) slots: u32,
}

/// The geometry pipeline's own state.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) limits: Limits,
    /// Threads of each primitive.
    pub(super) invocations: u32,
    /// Dwords in LDS from one vertex to the next.
    pub(super) vertex_item: u32,
    /// Bytes of a wave's slot in the ring.
    pub(super) slot_bytes: u32,
    /// Vertices of a thread in each stream; what it emits past them is not there.
    pub(super) most_vertices: u32,
    pub(super) streams: [Stream; STREAMS],
}

impl State {
    /// The state for primitives of `inputs` vertices.
    ///
    /// # Errors
    /// A mode or an output that is not carried out, or a ring without a slot.
    pub(super) fn read(registers: &RegisterFile, merged: &Merged, inputs: u32) -> Result<State, Refusal> {
        check_options(registers)?;
        let invocations = invocations(registers);
        let vertex_item = registers.field(field::VGT_ESGS_RING_ITEMSIZE::ITEMSIZE);
        let (slot_bytes, slots) = ring(registers, invocations)?;
        let lds_vertices =
            (merged.lds_bytes() / DWORD as u32).checked_div(vertex_item).unwrap_or(MOST_THREADS);
        let (vertices, primitives) = grouping(registers, invocations);
        let threads = slots.saturating_mul(WAVE_THREADS as u32);
        let [a, b, c, d] = Slot::ALL.map(|stream| self::stream(registers, stream.index() as u32));
        Ok(State {
            limits: Limits {
                vertices: vertices.min(lds_vertices).max(inputs),
                primitives: primitives.min(threads / invocations).max(1),
                slots,
            },
            invocations,
            vertex_item,
            slot_bytes,
            most_vertices: registers.field(field::VGT_GS_MAX_VERT_OUT::MAX_VERT_OUT),
            streams: [a?, b?, c?, d?],
        })
    }
}

fn check_options(registers: &RegisterFile) -> Result<(), Refusal> {
    let other_mode = registers.field(GS_MODE::MODE) != MODE_G;
    let on_chip = registers.field(GS_MODE::ONCHIP) > ONCHIP_OFF;
    let option = first_set(registers, MUST_BE_ZERO)
        .or(other_mode.then_some("another geometry mode than G (VGT_GS_MODE)"))
        .or(on_chip.then_some("the geometry ring in LDS (ONCHIP)"));
    match option {
        Some(option) => Err(Refusal::DrawOption { option }),
        None => Ok(()),
    }
}

/// Bytes of a wave's slot in the ring, and slots that waves of one dispatch can have: at least those of one primitive.
fn ring(registers: &RegisterFile, invocations: u32) -> Result<(u32, u32), Refusal> {
    let slot = u64::from(registers.field(field::VGT_GSVS_RING_ITEMSIZE::ITEMSIZE)) * DWORD * WAVE_THREADS;
    let ring = u64::from(registers.get(reg::VGT_GSVS_RING_SIZE)) * RING_UNIT;
    let most = u64::from(MOST_WAVES);
    let slots = ring.checked_div(slot).unwrap_or(most).min(most);
    match slots >= u64::from(invocations).div_ceil(WAVE_THREADS) {
        true => Ok((slot as u32, slots as u32)),
        false => Err(Refusal::GeometryRing { slot, ring }),
    }
}

/// Threads of each primitive. Policy: a count of 0 is one.
fn invocations(registers: &RegisterFile) -> u32 {
    match registers.flag(INSTANCES::ENABLE) {
        true => registers.field(INSTANCES::CNT).max(1),
        false => 1,
    }
}

/// Vertices and primitives of a subgroup, as the registers ask for.
fn grouping(registers: &RegisterFile, invocations: u32) -> (u32, u32) {
    let threads = registers.field(ONCHIP::GS_INST_PRIMS_IN_SUBGRP).min(MOST_THREADS);
    let primitives = registers.field(ONCHIP::GS_PRIMS_PER_SUBGRP).min(threads / invocations);
    (registers.field(ONCHIP::ES_VERTS_PER_SUBGRP).min(MOST_THREADS), primitives)
}

/// Output primitive of each stream; those past the first count with UNIQUE_TYPE_PER_STREAM only.
const OUT_FIELDS: [Field; STREAMS] =
    [OUT::OUTPRIM_TYPE, OUT::OUTPRIM_TYPE_1, OUT::OUTPRIM_TYPE_2, OUT::OUTPRIM_TYPE_3];

/// OUTPRIM_TYPE.
const OUTPUTS: &[(u32, Topology)] =
    &[(0, Topology::Points), (1, Topology::LineStrip), (2, Topology::TriangleStrip)];

fn stream(registers: &RegisterFile, number: u32) -> Result<Stream, Refusal> {
    let own = registers.flag(OUT::UNIQUE_TYPE_PER_STREAM);
    let value = registers.field(OUT_FIELDS[if own { number as usize } else { 0 }]);
    let topology = OUTPUTS.iter().find(|row| row.0 == value).map(|row| row.1);
    let offset = number.checked_sub(1).map_or(0, |further| {
        field::VGT_GSVS_RING_OFFSET::OFFSET.of(registers.get(reg::VGT_GSVS_RING_OFFSET.at(further)))
    });
    Ok(Stream {
        topology: topology.ok_or(Refusal::GeometryOutput { value })?,
        offset,
        vertex: field::VGT_GS_VERT_ITEMSIZE::ITEMSIZE.of(registers.get(reg::VGT_GS_VERT_ITEMSIZE.at(number))),
    })
}
