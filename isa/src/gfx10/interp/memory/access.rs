//! What the mnemonics of vector memory mean: a family's prefix and an access's suffix.

use crate::gfx10::Op;
use crate::gfx10::interp::atomic::{ATOMICS, AtomicRow};
use crate::gfx10::interp::meaning::Meaning;

/// How an instruction forms addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10::interp) enum Family {
    /// MUBUF.
    Buffer,
    /// MTBUF.
    TypedBuffer,
    /// FLAT.
    Flat,
    /// GLOBAL.
    Global,
    /// SCRATCH.
    Scratch,
}

const FAMILIES: [(&str, Family); 5] = [
    ("buffer_", Family::Buffer),
    ("tbuffer_", Family::TypedBuffer),
    ("flat_", Family::Flat),
    ("global_", Family::Global),
    ("scratch_", Family::Scratch),
];

/// What each lane does at its address.
#[derive(Clone, Copy)]
pub(in crate::gfx10::interp) enum Access {
    /// Loads one or two bytes.
    LoadPart(Part),
    /// Stores one or two bytes.
    StorePart(Part),
    /// Loads one to four dwords.
    LoadDwords(u8),
    /// Stores one to four dwords.
    StoreDwords(u8),
    /// Loads an element and converts it.
    LoadFormat(FormatShape),
    /// Converts registers and stores an element.
    StoreFormat(FormatShape),
    /// Reads, modifies and writes.
    Atomic(AtomicAccess),
}

/// An access narrower than a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10::interp) struct Part {
    /// 1 or 2.
    pub bytes: u8,
    /// Loads extend the sign.
    pub signed: bool,
    /// The part of the register that is loaded into or stored from.
    pub half: Half,
}

/// Part of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10::interp) enum Half {
    Whole,
    Low,
    High,
}

/// The registers of a formatted access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10::interp) struct FormatShape {
    /// Components, 1 to 4.
    pub components: u8,
    /// One component a register, two 16-bit ones a register, or one 16-bit one in the high half.
    pub packing: Packing,
}

/// How components stand in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10::interp) enum Packing {
    /// 32 bits each.
    Single,
    /// 16 bits each, two a register, the first low.
    Pairs,
    /// 16 bits in the high half.
    HighHalf,
}

/// An atomic access.
#[derive(Clone, Copy)]
pub(in crate::gfx10::interp) struct AtomicAccess {
    pub row: &'static AtomicRow,
    /// 64 bits and not 32.
    pub wide: bool,
}

const fn load(bytes: u8, signed: bool, half: Half) -> Access {
    Access::LoadPart(Part { bytes, signed, half })
}

const fn store(bytes: u8, half: Half) -> Access {
    Access::StorePart(Part { bytes, signed: false, half })
}

const fn load_format(components: u8, packing: Packing) -> Access {
    Access::LoadFormat(FormatShape { components, packing })
}

const fn store_format(components: u8, packing: Packing) -> Access {
    Access::StoreFormat(FormatShape { components, packing })
}

/// Mnemonics after the family's prefix.
const ACCESSES: [(&str, Access); 42] = [
    ("load_ubyte", load(1, false, Half::Whole)),
    ("load_sbyte", load(1, true, Half::Whole)),
    ("load_ushort", load(2, false, Half::Whole)),
    ("load_sshort", load(2, true, Half::Whole)),
    ("load_ubyte_d16", load(1, false, Half::Low)),
    ("load_ubyte_d16_hi", load(1, false, Half::High)),
    ("load_sbyte_d16", load(1, true, Half::Low)),
    ("load_sbyte_d16_hi", load(1, true, Half::High)),
    ("load_short_d16", load(2, false, Half::Low)),
    ("load_short_d16_hi", load(2, false, Half::High)),
    ("load_dword", Access::LoadDwords(1)),
    ("load_dwordx2", Access::LoadDwords(2)),
    ("load_dwordx3", Access::LoadDwords(3)),
    ("load_dwordx4", Access::LoadDwords(4)),
    ("load_dword_addtid", Access::LoadDwords(1)),
    ("store_byte", store(1, Half::Low)),
    ("store_byte_d16_hi", store(1, Half::High)),
    ("store_short", store(2, Half::Low)),
    ("store_short_d16_hi", store(2, Half::High)),
    ("store_dword", Access::StoreDwords(1)),
    ("store_dwordx2", Access::StoreDwords(2)),
    ("store_dwordx3", Access::StoreDwords(3)),
    ("store_dwordx4", Access::StoreDwords(4)),
    ("store_dword_addtid", Access::StoreDwords(1)),
    ("load_format_x", load_format(1, Packing::Single)),
    ("load_format_xy", load_format(2, Packing::Single)),
    ("load_format_xyz", load_format(3, Packing::Single)),
    ("load_format_xyzw", load_format(4, Packing::Single)),
    ("load_format_d16_x", load_format(1, Packing::Pairs)),
    ("load_format_d16_xy", load_format(2, Packing::Pairs)),
    ("load_format_d16_xyz", load_format(3, Packing::Pairs)),
    ("load_format_d16_xyzw", load_format(4, Packing::Pairs)),
    ("load_format_d16_hi_x", load_format(1, Packing::HighHalf)),
    ("store_format_x", store_format(1, Packing::Single)),
    ("store_format_xy", store_format(2, Packing::Single)),
    ("store_format_xyz", store_format(3, Packing::Single)),
    ("store_format_xyzw", store_format(4, Packing::Single)),
    ("store_format_d16_x", store_format(1, Packing::Pairs)),
    ("store_format_d16_xy", store_format(2, Packing::Pairs)),
    ("store_format_d16_xyz", store_format(3, Packing::Pairs)),
    ("store_format_d16_xyzw", store_format(4, Packing::Pairs)),
    ("store_format_d16_hi_x", store_format(1, Packing::HighHalf)),
];

/// The meaning of a vector memory operation by its mnemonic, `None` if it is none or has none.
pub(in crate::gfx10::interp) fn meaning(op: Op) -> Option<Meaning> {
    let (family, suffix) =
        FAMILIES.iter().find_map(|(prefix, f)| Some((*f, op.name().strip_prefix(prefix)?)))?;
    let plain = ACCESSES.iter().find(|(name, _)| *name == suffix).map(|(_, access)| *access);
    Some(Meaning::Memory(family, plain.or_else(|| atomic(suffix))?))
}

fn atomic(suffix: &str) -> Option<Access> {
    let name = suffix.strip_prefix("atomic_")?;
    let (name, wide) = name.strip_suffix("_x2").map_or((name, false), |name| (name, true));
    let row = ATOMICS.iter().find(|row| row.name == name)?;
    Some(Access::Atomic(AtomicAccess { row, wide }))
}
