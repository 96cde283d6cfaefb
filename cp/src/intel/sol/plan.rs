//! What a draw's streams store: the core's plan, and the copies that come of it.

use std::collections::BTreeSet;

use super::super::Refusal;
use super::super::so_decl::{DWORD, MAX_PITCH, SoDecl};
use super::super::topology::Strips;
use super::{Policies, Room, SolJob, SolOrder, SolShape, SolState, Unbound, Vues};
use crate::Origin;
use crate::primitives::{Drawn, Restart};
use crate::streamout::{Counting, Plan, Slot, Streamout};

/// In a list of vertices: the run ends.
const CUT: u32 = u32::MAX;

/// The vertices of one stream, as the last vertex stage leaves them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnStream {
    /// Which stream.
    pub stream: Slot,
    /// How they become primitives.
    pub strips: Strips,
    /// The vertices of every instance, one instance after another, each with as many.
    pub vues: Vues,
    /// The order in which an instance's vertices are drawn, `u32::MAX` where a run ends; `None` for each once, in order.
    pub order: Option<Vec<u32>>,
    /// Instances.
    pub instances: u32,
}

/// What a stream stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPlan {
    /// How many primitives, and from where.
    pub plan: Plan,
    /// The copies, if there are any.
    pub job: Option<SolJob>,
}

/// Plans every stream of a draw, in order, on a copy of the unit, which is returned as the draw leaves it.
///
/// # Errors
/// Declarations, buffers and vertices that do not fit together. Nothing has changed.
pub(crate) fn plan(
    state: &SolState,
    policies: &Policies,
    streams: &[DrawnStream],
    origin: Origin,
) -> Result<(Streamout, Vec<StreamPlan>), Refusal> {
    state.list.check()?;
    let mut unit = state.unit.clone();
    let mut plans = Vec::new();
    for stream in streams {
        plans.push(plan_stream(state, policies, stream, &mut unit, origin)?);
    }
    let jobs: Vec<_> = plans.iter().filter_map(|p| p.job.as_ref()).collect();
    check_overlaps(&jobs)?;
    Ok((unit, plans))
}

fn plan_stream(
    state: &SolState,
    policies: &Policies,
    drawn: &DrawnStream,
    unit: &mut Streamout,
    origin: Origin,
) -> Result<StreamPlan, Refusal> {
    let selected = state.list.selects[drawn.stream.index()];
    let decls = declarations(state, policies, drawn.stream);
    check_slots(state, drawn, &decls)?;
    let vertices = Vertices::new(drawn)?;
    let pitches = std::array::from_fn(|b| state.buffers[b].pitch);
    let shape = SolShape::new(&decls, pitches, vertices.order(drawn));
    for buffer in Slot::ALL.into_iter().filter(|b| b.is_in(selected)) {
        bind(state, policies, &shape, buffer, unit)?;
    }
    unit.route(drawn.stream, selected);
    let primitives = vertices.primitives.saturating_mul(u64::from(drawn.instances));
    let plan = unit.plan(drawn.stream, primitives, drawn.strips.topology.corners());
    unit.commit(&plan, if state.control.statistics { Counting::On } else { Counting::Off });
    let count = u32::try_from(plan.vertices()).unwrap_or(u32::MAX);
    let starts =
        std::array::from_fn(|b| state.buffers[b].base.wrapping_add(plan.start(Slot::from_bits(b as u32))));
    let copies = count > 0 && !shape.copies.is_empty();
    let job = copies.then(|| SolJob {
        shape,
        vues: drawn.vues.clone(),
        first_slot: state.control.reads[drawn.stream.index()].first,
        starts,
        count,
        drawn: vertices.drawn,
        stored: vertices.stored,
        list: vertices.list.into(),
        origin,
    });
    Ok(StreamPlan { plan, job })
}

/// Whether a buffer can be stored to at all.
fn usable(state: &SolState, buffer: Slot) -> bool {
    let buffer = &state.buffers[buffer.index()];
    buffer.enabled && buffer.pitch > 0
}

/// The declarations that count.
fn declarations(state: &SolState, policies: &Policies, stream: Slot) -> Vec<SoDecl> {
    let counts = |decl: &&SoDecl| policies.unbound == Unbound::Overflows || usable(state, decl.buffer);
    state.list.streams[stream.index()].iter().filter(counts).copied().collect()
}

/// Sets a buffer of the unit up as the policies say.
fn bind(
    state: &SolState,
    policies: &Policies,
    shape: &SolShape,
    slot: Slot,
    unit: &mut Streamout,
) -> Result<(), Refusal> {
    let (buffer, number) = (&state.buffers[slot.index()], slot.index() as u32);
    let (pitch, bytes) = (buffer.pitch, shape.stored_bytes(slot));
    if !usable(state, slot) {
        let overflows = policies.unbound == Unbound::Overflows;
        unit.bind(slot, buffer.base, 0, u64::from(pitch.max(DWORD)), overflows);
        return Ok(());
    }
    if pitch > MAX_PITCH || !pitch.is_multiple_of(DWORD) {
        return Err(Refusal::Pitch { buffer: number, pitch });
    }
    if bytes > pitch {
        return Err(Refusal::Record { buffer: number, bytes, pitch });
    }
    let spare = match policies.room {
        Room::LastDword if bytes > 0 => pitch - bytes,
        _ => 0,
    };
    unit.bind(slot, buffer.base, buffer.size.saturating_add(u64::from(spare)), u64::from(pitch), true);
    Ok(())
}

/// Whether every declared slot is read and there.
fn check_slots(state: &SolState, drawn: &DrawnStream, decls: &[SoDecl]) -> Result<(), Refusal> {
    let stream = drawn.stream.index() as u32;
    let reads = state.control.reads[drawn.stream.index()];
    for decl in decls.iter().filter(|d| !d.hole && d.mask != 0) {
        let register = u32::from(decl.register);
        if register >= reads.count {
            return Err(Refusal::SlotNotRead { stream, register, slots: reads.count });
        }
        let slot = reads.first + register;
        if slot >= drawn.vues.slots {
            return Err(Refusal::SlotNotThere { stream, slot, slots: drawn.vues.slots });
        }
    }
    Ok(())
}

/// The vertices of one instance.
struct Vertices {
    /// As drawn.
    drawn: u32,
    /// As stored.
    stored: u32,
    primitives: u64,
    /// The vertex at each stored place; empty where they follow from the topology.
    list: Vec<u32>,
}

impl Vertices {
    fn new(stream: &DrawnStream) -> Result<Vertices, Refusal> {
        let vertices = stream.vues.vertices();
        let drawn = vertices.checked_div(stream.instances).unwrap_or(0);
        if drawn.checked_mul(stream.instances) != Some(vertices) {
            return Err(Refusal::Shaded { what: "instances of different numbers of vertices" });
        }
        match &stream.order {
            Some(order) if order.iter().any(|v| *v >= drawn && *v != CUT) => {
                Err(Refusal::Shaded { what: "a vertex that is drawn and does not exist" })
            }
            Some(order) => Ok(Vertices::listed(drawn, stream.strips, order)),
            None => {
                let topology = stream.strips.topology;
                let primitives = topology.primitives(drawn);
                let stored = primitives.saturating_mul(u64::from(topology.corners()));
                let stored = u32::try_from(stored).unwrap_or(u32::MAX).max(1);
                Ok(Vertices { drawn: drawn.max(1), stored, primitives, list: Vec::new() })
            }
        }
    }

    fn listed(drawn: u32, strips: Strips, order: &[u32]) -> Vertices {
        let drawn_order =
            Drawn { topology: strips.topology, indices: order, restart: Some(Restart::new(CUT, u32::MAX)) };
        let list = drawn_order.stored(strips.provoking);
        let stored = (list.len() as u32).max(1);
        Vertices { drawn: drawn.max(1), stored, primitives: drawn_order.primitives(), list }
    }

    fn order(&self, stream: &DrawnStream) -> SolOrder {
        match stream.order.is_some() {
            true => SolOrder::Listed,
            false => SolOrder::Assembled(stream.strips.topology, stream.strips.provoking),
        }
    }
}

/// Refuses buffers whose stores of this draw meet: the order in which the hardware makes them is not documented.
fn check_overlaps(jobs: &[&SolJob]) -> Result<(), Refusal> {
    let hulls: Vec<_> =
        jobs.iter().flat_map(|job| job.hulls().into_iter().map(move |(b, hull)| (*job, b, hull))).collect();
    for (i, (job, buffer, hull)) in hulls.iter().enumerate() {
        for (other_job, other, other_hull) in &hulls[i + 1..] {
            let apart = hull.end <= other_hull.start || other_hull.end <= hull.start;
            if !apart && !interleave(job, *buffer, other_job, *other) {
                let (first, second) = (buffer.index() as u32, other.index() as u32);
                return Err(Refusal::Overlap { first, second });
            }
        }
    }
    Ok(())
}

/// Whether two buffers' records have the same pitch and no dword in common.
fn interleave(job: &SolJob, buffer: Slot, other_job: &SolJob, other: Slot) -> bool {
    let pitch = job.shape.pitches[buffer.index()];
    let same = pitch == other_job.shape.pitches[other.index()];
    same && dwords(job, buffer, pitch).is_disjoint(&dwords(other_job, other, pitch))
}

/// The places, modulo the pitch, of the dwords that a buffer's records store.
fn dwords(job: &SolJob, buffer: Slot, pitch: u32) -> BTreeSet<u64> {
    let pitch = u64::from(pitch.max(1));
    let start = job.starts[buffer.index()] % pitch;
    let copies = job.shape.copies.iter().filter(|copy| copy.buffer == buffer);
    let bytes = |offset: u32, count: u8| {
        (0..u64::from(count)).map(move |i| (start + u64::from(offset) + i * u64::from(DWORD)) % pitch)
    };
    copies.flat_map(|copy| bytes(copy.offset, copy.count)).collect()
}
