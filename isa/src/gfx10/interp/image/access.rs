//! What the mnemonics of image instructions mean.

use crate::gfx10::Op;
use crate::gfx10::interp::atomic::{ATOMICS, AtomicRow};
use crate::gfx10::interp::meaning::Meaning;

/// What each lane does at its texel.
#[derive(Clone, Copy)]
pub(in crate::gfx10::interp) enum ImageAccess {
    /// Loads a texel; with `mip`, of the level that the last address names.
    Load { mip: bool },
    /// Stores a texel, likewise.
    Store { mip: bool },
    /// Reads the image's sizes at a level.
    Query,
    /// Reads, modifies and writes a texel.
    Atomic(&'static AtomicRow),
}

const ACCESSES: [(&str, ImageAccess); 5] = [
    ("load", ImageAccess::Load { mip: false }),
    ("load_mip", ImageAccess::Load { mip: true }),
    ("store", ImageAccess::Store { mip: false }),
    ("store_mip", ImageAccess::Store { mip: true }),
    ("get_resinfo", ImageAccess::Query),
];

/// The meaning of an image operation by its mnemonic, `None` if it is none or has none.
pub(in crate::gfx10::interp) fn meaning(op: Op) -> Option<Meaning> {
    let suffix = op.name().strip_prefix("image_")?;
    let plain = ACCESSES.iter().find(|(name, _)| *name == suffix).map(|(_, access)| *access);
    Some(Meaning::Image(plain.or_else(|| atomic(suffix))?))
}

fn atomic(suffix: &str) -> Option<ImageAccess> {
    let name = suffix.strip_prefix("atomic_")?;
    ATOMICS.iter().find(|row| row.name == name).map(ImageAccess::Atomic)
}
