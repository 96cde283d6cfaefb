//! The operations, one constant a mnemonic, generated from `tables/gfx10`.

/// An operation whatever its encoding: `v_add_f32` in VOP2, VOP3, DPP and SDWA is one `Op`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Op(u16);

include!(concat!(env!("OUT_DIR"), "/gfx10_ops.rs"));

impl Op {
    /// Number of operations; [`Op::index`] stays below it.
    pub const COUNT: usize = Self::NAMES.len();

    /// A dense number, for tables indexed by operation.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The mnemonic without encoding suffix.
    pub fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }

    /// Every operation, in the order of [`Op::index`].
    pub fn all() -> impl Iterator<Item = Op> {
        (0..Self::COUNT as u16).map(Op)
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
