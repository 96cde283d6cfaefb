//! The vertices that a draw runs.
//!
//! Streamout stores the vertices of primitives, so a stored draw runs each vertex once for every primitive that has it,
//! in the order in which the primitives are stored. The same holds where vertices are given primitive ids. Any other
//! draw runs each of its indices once, as drawn (policy: how often the hardware runs a shared vertex depends on its
//! caches). Vertices of incomplete primitives do not run. An instance repeats the whole.

use super::indices::{self, Fetched};
use super::request::Request;
use crate::amd::context::Context;
use crate::amd::packet::Packet;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{field, reg};
use crate::primitives::{Drawn, Provoking, Topology};
use crate::{LaneRule, Refusal};

/// Policy: a draw that runs more vertices is taken for garbage. No driver's test suite comes near it.
pub(super) const MAX_VERTICES: u64 = 1 << 28;
/// Policy: the same for the vertices of one instance where they have to be listed.
const MAX_LISTED: u64 = 1 << 24;

/// Which vertices of a draw run, in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Those of each primitive, as stored.
    Stored,
    /// Each index once.
    Drawn,
}

/// The vertices of a draw.
pub(super) struct Assembly {
    topology: Topology,
    order: Order,
    instances: u32,
    /// Vertices of one instance.
    items: u32,
    /// Primitives of one instance, as stored.
    primitives: u64,
    /// Vertex ids of one instance; `None` where they count up from `offset`.
    ids: Option<Vec<u32>>,
    /// GE_INDX_OFFSET.
    offset: u32,
}

/// Works out the vertices of a draw.
///
/// # Errors
/// More vertices than are taken for real, indices that cannot be read, or the fault of an earlier dispatch.
pub(super) fn assemble(
    cx: &mut Context<'_>,
    packet: &Packet<'_>,
    request: &Request,
    topology: Topology,
    order: Order,
) -> Result<Assembly, Refusal> {
    let counts_up = request.indices.is_none() && (order == Order::Drawn || topology.is_natural());
    let listed = !counts_up || request.instances > 1;
    let each = check_size(request, topology, order, listed)?;
    let offset = cx.registers().get(reg::GE_INDX_OFFSET);
    let mut assembly = Assembly {
        topology,
        order,
        instances: request.instances,
        items: topology.used(request.vertices),
        primitives: topology.primitives(request.vertices),
        ids: None,
        offset,
    };
    if listed && request.instances > 0 {
        // Lists are work of this crate's, however little of them memory holds.
        cx.charge(each as usize * size_of::<u32>())?;
    }
    if request.instances > 0 && !counts_up {
        assembly.list(cx, packet, request)?;
    }
    Ok(assembly)
}

/// The most vertices that an instance runs.
fn check_size(request: &Request, topology: Topology, order: Order, listed: bool) -> Result<u64, Refusal> {
    let drawn = u64::from(request.vertices);
    let stored = topology.primitives(request.vertices).saturating_mul(u64::from(topology.corners()));
    let each = if order == Order::Stored { drawn.max(stored) } else { drawn };
    check_vertices(each, request.instances, listed)?;
    Ok(each)
}

/// Refuses a draw of more vertices than are taken for real, of more in each instance where these have to be listed.
pub(super) fn check_vertices(each: u64, instances: u32, listed: bool) -> Result<(), Refusal> {
    match each.saturating_mul(u64::from(instances)) {
        vertices if vertices > MAX_VERTICES => Err(Refusal::DrawSize { vertices, limit: MAX_VERTICES }),
        _ if listed && each > MAX_LISTED => Err(Refusal::DrawSize { vertices: each, limit: MAX_LISTED }),
        _ => Ok(()),
    }
}

impl Assembly {
    /// Lists the vertices of indices from memory, or of a topology that shares vertices.
    fn list(&mut self, cx: &mut Context<'_>, packet: &Packet<'_>, request: &Request) -> Result<(), Refusal> {
        let Fetched { indices, restart } = indices::drawn(cx, packet, request)?;
        let drawn = Drawn { topology: self.topology, indices: &indices, restart };
        let mut ids = match self.order {
            Order::Stored => drawn.stored(provoking(cx.registers())),
            Order::Drawn => drawn.used(),
        };
        ids.iter_mut().for_each(|id| *id = id.wrapping_add(self.offset));
        self.primitives = drawn.primitives();
        self.items = ids.len() as u32;
        self.ids = Some(ids);
        Ok(())
    }

    /// Primitives of all instances, as stored.
    pub(super) fn primitives(&self) -> u64 {
        self.primitives.saturating_mul(u64::from(self.instances))
    }

    /// Vertices of all instances.
    pub(super) fn items(&self) -> u32 {
        self.items.saturating_mul(self.instances)
    }

    /// Vertices that a wave takes together: whole primitives, where the vertices of one follow one another.
    pub(super) fn together(&self) -> u32 {
        match self.order == Order::Stored || self.topology.is_natural() {
            true => self.topology.corners(),
            false => 1,
        }
    }

    /// The least and the greatest vertex id; `None` where nothing runs.
    pub(super) fn id_bounds(&self) -> Option<(u32, u32)> {
        match &self.ids {
            _ if self.items() == 0 => None,
            Some(ids) => Some((*ids.iter().min()?, *ids.iter().max()?)),
            None => Some(
                self.offset.checked_add(self.items - 1).map_or((0, u32::MAX), |last| (self.offset, last)),
            ),
        }
    }

    /// The vertex id of each lane.
    pub(super) fn vertex_ids(&self) -> LaneRule {
        match &self.ids {
            Some(ids) => LaneRule::PerItem(ids.as_slice().into()),
            None if self.instances > 1 => {
                LaneRule::PerItem((0..self.items).map(|n| n.wrapping_add(self.offset)).collect())
            }
            None => LaneRule::Item { base: self.offset },
        }
    }

    /// The primitive id of each lane, counted up from `first`, and from there again in each instance if `restarts`
    /// says so.
    pub(super) fn primitive_ids(&self, first: u32, restarts: bool) -> LaneRule {
        let corners = self.topology.corners();
        match restarts && self.instances > 1 {
            true => LaneRule::PerItem((0..self.items).map(|n| first.wrapping_add(n / corners)).collect()),
            false => LaneRule::Primitive { base: first, items: corners },
        }
    }

    /// The instance id of each lane.
    pub(super) fn instance_ids(&self) -> LaneRule {
        match self.instances > 1 {
            true => LaneRule::Primitive { base: 0, items: self.items.max(1) },
            false => LaneRule::Word(0),
        }
    }
}

/// The present provoking vertex.
pub(super) fn provoking(registers: &RegisterFile) -> Provoking {
    match registers.flag(field::PA_SU_SC_MODE_CNTL::PROVOKING_VTX_LAST) {
        true => Provoking::Last,
        false => Provoking::First,
    }
}
