//! What memory an instruction reads and writes, as far as the order of lanes is concerned.

use guestwave_isa::gfx10::{Encoding, Inst, Operand};

/// Memory that an instruction touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemoryUse {
    /// Vector loads and atomics of guest memory. Scalar loads are left out: without an invalidation of the scalar cache the guest
    /// cannot expect them to see a wave's own vector stores.
    pub(crate) global_read: bool,
    /// Stores and atomics of guest memory.
    pub(crate) global_write: bool,
    /// Reads of LDS.
    pub(crate) lds_read: bool,
    /// Writes of LDS.
    pub(crate) lds_write: bool,
    /// Atomics from whose results the order of the lanes can be told.
    pub(crate) ordered: bool,
}

/// Atomics that come to the same in any order, as long as nobody asks for the values in between.
const COMMUTATIVE: &[&str] =
    &["_add_u", "_sub_u", "_min_i", "_min_u", "_max_i", "_max_u", "_and_b", "_or_b", "_xor_b"];
const COMMUTATIVE_ATOMICS: &[&str] = &[
    "atomic_add",
    "atomic_sub",
    "atomic_smin",
    "atomic_umin",
    "atomic_smax",
    "atomic_umax",
    "atomic_and",
    "atomic_or",
    "atomic_xor",
];

fn ordered(inst: &Inst) -> bool {
    let name = inst.op.name();
    let any = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let changes = match inst.encoding {
        Encoding::Ds => !any(&["ds_read", "ds_write", "permute", "swizzle"]),
        _ => name.contains("atomic"),
    };
    let commutes = if inst.encoding == Encoding::Ds { any(COMMUTATIVE) } else { any(COMMUTATIVE_ATOMICS) };
    changes && (inst.dst[0] != Operand::None || !commutes)
}

/// What `inst` touches.
pub(crate) fn memory_use(inst: &Inst) -> MemoryUse {
    let name = inst.op.name();
    let stores = name.contains("store") || name.contains("atomic");
    let loads = !name.contains("store");
    match inst.encoding {
        Encoding::Mubuf
        | Encoding::Mtbuf
        | Encoding::Mimg
        | Encoding::Flat
        | Encoding::Global
        | Encoding::Scratch => {
            let lds = inst.encoding == Encoding::Flat;
            MemoryUse {
                global_read: loads,
                global_write: stores,
                lds_read: lds && loads,
                lds_write: lds && stores,
                ordered: ordered(inst),
            }
        }
        Encoding::Ds => {
            let reads = inst.dst[0] != Operand::None;
            let writes = !name.starts_with("ds_read");
            MemoryUse { lds_read: reads, lds_write: writes, ordered: ordered(inst), ..MemoryUse::default() }
        }
        Encoding::Smem if stores || name.contains("dcache_inv") => {
            MemoryUse { global_read: true, global_write: true, ..MemoryUse::default() }
        }
        _ => MemoryUse::default(),
    }
}
