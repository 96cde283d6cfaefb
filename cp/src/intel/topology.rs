//! Topologies as 3DPRIMITIVE numbers them, and the order in which the SOL stage stores their vertices.

use super::Refusal;
use super::sol::Reorder;
use crate::primitives::{Provoking, Topology};

/// How a topology becomes primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assembly {
    /// As the primitive table says.
    Table(Topology),
    /// Not at all.
    Refused(&'static str),
}

/// One row of the topology table.
struct TopologyRow {
    number: u32,
    name: &'static str,
    assembly: Assembly,
    leading: Provoking,
    trailing: Provoking,
}

include!(concat!(env!("OUT_DIR"), "/intel_topologies.rs"));

/// First number of the patch lists.
const PATCHES: std::ops::RangeInclusive<u32> = 32..=63;

/// How the vertices of a draw become stored primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strips {
    /// What they are assembled as.
    pub topology: Topology,
    /// The vertex whose place fixes the order.
    pub provoking: Provoking,
}

impl Strips {
    /// The assembly of a topology number in a reorder mode.
    ///
    /// # Errors
    /// The number has no row, or its topology is not carried out.
    pub fn new(number: u32, reorder: Reorder) -> Result<Strips, Refusal> {
        let patches = Refusal::TopologyRefused {
            topology: "PATCHLIST",
            reason: "patches are tessellated, which is not carried out",
        };
        if PATCHES.contains(&number) {
            return Err(patches);
        }
        let row = ROWS.iter().find(|row| row.number == number).ok_or(Refusal::Topology { number })?;
        let provoking = match reorder {
            Reorder::Leading => row.leading,
            Reorder::Trailing => row.trailing,
        };
        match row.assembly {
            Assembly::Table(topology) => Ok(Strips { topology, provoking }),
            Assembly::Refused(reason) => Err(Refusal::TopologyRefused { topology: row.name, reason }),
        }
    }
}

/// The name of a topology number.
pub fn name(number: u32) -> String {
    match ROWS.iter().find(|row| row.number == number) {
        Some(row) => row.name.to_owned(),
        None if PATCHES.contains(&number) => format!("PATCHLIST_{}", number - PATCHES.start() + 1),
        None => format!("topology {number}"),
    }
}
