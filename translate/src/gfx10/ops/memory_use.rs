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
            }
        }
        Encoding::Ds => {
            let reads = inst.dst[0] != Operand::None;
            MemoryUse { lds_read: reads, lds_write: !name.starts_with("ds_read"), ..MemoryUse::default() }
        }
        Encoding::Smem if stores || name.contains("dcache_inv") => {
            MemoryUse { global_read: true, global_write: true, ..MemoryUse::default() }
        }
        _ => MemoryUse::default(),
    }
}
