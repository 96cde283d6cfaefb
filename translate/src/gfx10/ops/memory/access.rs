//! What the mnemonics of vector memory mean: a family's prefix and an access's suffix.

use guestwave_isa::gfx10::Op;

use super::Family;
use super::atomic::{ATOMICS, AtomicRow};
use crate::program::Width;

const FAMILIES: [(&str, Family); 6] = [
    ("buffer_", Family::Buffer),
    ("tbuffer_", Family::TypedBuffer),
    ("flat_", Family::Flat),
    ("global_", Family::Global),
    ("scratch_", Family::Scratch),
    ("image_", Family::Image),
];

/// What each lane does.
#[derive(Clone, Copy)]
pub(in crate::gfx10) enum Kind {
    LoadPart(Part),
    StorePart(Part),
    LoadDwords(u8),
    StoreDwords(u8),
    LoadFormat(FormatShape),
    StoreFormat(FormatShape),
    Atomic {
        row: &'static AtomicRow,
        wide: bool,
    },
    /// A texel; with `mip`, of the level that the last address names.
    LoadTexel {
        mip: bool,
    },
    StoreTexel {
        mip: bool,
    },
    /// The sizes of an image.
    Sizes,
}

impl Kind {
    /// Whether it changes memory.
    pub(in crate::gfx10) fn stores(self) -> bool {
        matches!(
            self,
            Kind::StorePart(_)
                | Kind::StoreDwords(_)
                | Kind::StoreFormat(_)
                | Kind::StoreTexel { .. }
                | Kind::Atomic { .. }
        )
    }
}

/// Image accesses other than atomics.
const TEXELS: [(&str, Kind); 5] = [
    ("load", Kind::LoadTexel { mip: false }),
    ("load_mip", Kind::LoadTexel { mip: true }),
    ("store", Kind::StoreTexel { mip: false }),
    ("store_mip", Kind::StoreTexel { mip: true }),
    ("get_resinfo", Kind::Sizes),
];

/// An access narrower than a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10) struct Part {
    pub(super) width: Width,
    pub(super) signed: bool,
    pub(super) half: Half,
}

/// Part of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Whole,
    Low,
    High,
}

/// The registers of a formatted access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10) struct FormatShape {
    pub(super) components: u8,
    pub(super) packing: Packing,
}

/// How components stand in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// 32 bits each.
    Single,
    /// Two of 16 bits a register.
    Pairs,
    /// One of 16 bits in the high half.
    HighHalf,
}

/// The shape of a partial access by its suffix.
const PARTS: [(&str, Width, bool, Half); 14] = [
    ("ubyte", Width::W8, false, Half::Whole),
    ("sbyte", Width::W8, true, Half::Whole),
    ("ushort", Width::W16, false, Half::Whole),
    ("sshort", Width::W16, true, Half::Whole),
    ("ubyte_d16", Width::W8, false, Half::Low),
    ("ubyte_d16_hi", Width::W8, false, Half::High),
    ("sbyte_d16", Width::W8, true, Half::Low),
    ("sbyte_d16_hi", Width::W8, true, Half::High),
    ("short_d16", Width::W16, false, Half::Low),
    ("short_d16_hi", Width::W16, false, Half::High),
    ("byte", Width::W8, false, Half::Low),
    ("byte_d16_hi", Width::W8, false, Half::High),
    ("short", Width::W16, false, Half::Low),
    ("short_d16_hi", Width::W16, false, Half::High),
];

const DWORDS: [(&str, u8); 4] = [("dword", 1), ("dwordx2", 2), ("dwordx3", 3), ("dwordx4", 4)];

const PACKINGS: [(&str, Packing); 3] =
    [("format_d16_hi_", Packing::HighHalf), ("format_d16_", Packing::Pairs), ("format_", Packing::Single)];

const COMPONENTS: [(&str, u8); 4] = [("x", 1), ("xy", 2), ("xyz", 3), ("xyzw", 4)];

/// The meaning of a vector memory operation by its mnemonic, `None` if it is none or has none here.
pub(in crate::gfx10::ops) fn meaning(op: Op) -> Option<(Family, Kind)> {
    let (family, rest) = FAMILIES.iter().find_map(|(p, f)| Some((*f, op.name().strip_prefix(p)?)))?;
    if let Some(name) = rest.strip_prefix("atomic_") {
        let (name, wide) = name.strip_suffix("_x2").map_or((name, false), |n| (n, true));
        let row = ATOMICS.iter().find(|row| row.name == name)?;
        return Some((family, Kind::Atomic { row, wide }));
    }
    if family == Family::Image {
        return TEXELS.iter().find(|(name, _)| *name == rest).map(|(_, kind)| (family, *kind));
    }
    let (load, what) = match rest.strip_prefix("load_") {
        Some(what) => (true, what),
        None => (false, rest.strip_prefix("store_")?),
    };
    let what = what.strip_suffix("_addtid").unwrap_or(what);
    Some((family, plain(load, what)?))
}

fn plain(load: bool, what: &str) -> Option<Kind> {
    if let Some((_, n)) = DWORDS.iter().find(|(name, _)| *name == what) {
        return Some(if load { Kind::LoadDwords(*n) } else { Kind::StoreDwords(*n) });
    }
    if let Some(shape) = format_shape(what) {
        return Some(if load { Kind::LoadFormat(shape) } else { Kind::StoreFormat(shape) });
    }
    let (_, width, signed, half) = PARTS.iter().find(|p| p.0 == what)?;
    let part = Part { width: *width, signed: *signed, half: *half };
    Some(if load { Kind::LoadPart(part) } else { Kind::StorePart(part) })
}

fn format_shape(what: &str) -> Option<FormatShape> {
    let (rest, packing) = PACKINGS.iter().find_map(|(p, k)| Some((what.strip_prefix(p)?, *k)))?;
    let (_, components) = COMPONENTS.iter().find(|(name, _)| *name == rest)?;
    Some(FormatShape { components: *components, packing })
}
