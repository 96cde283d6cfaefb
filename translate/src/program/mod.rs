//! The lane-level form: what every way of running a guest program starts from.
//!
//! # Meaning
//!
//! A program is run by *waves* of `wave_lanes` lanes. Each value and each variable has a [`Rate`]: a *uniform* one is the
//! same in every lane of a wave, a *varying* one has a value a lane. Statements run in order; a value is defined once
//! and may be used by later statements of its block and of blocks inside it, never outside; what must survive a block
//! goes through a [`Var`].
//!
//! An `If` or a leaving of a `Loop` may depend on a varying condition: then each lane goes its own way, and until the ways
//! meet again the code is in *varying control flow*. **Wave operations** ([`WaveOp`], [`Stmt::Barrier`], and `Set` of a
//! uniform variable) may only stand in uniform control flow; there they see all lanes of the wave that the launch
//! started, whatever the guest's EXEC says (EXEC is data: a varying `Bool`, or the number that a ballot makes of it).
//! Lanes that the launch did not start (the tail of a last wave) run as well and have no effect because the guest's EXEC
//! is false for them and every access carries its own condition.
//!
//! # Types and arithmetic
//!
//! A value is a `Bool`, 32 bits or 64 bits. Floats are bit patterns: an operation on floats takes and gives bits.
//! Every operation has one meaning on every backend:
//!
//! - integer operations wrap; shift amounts count modulo the width;
//! - float operations are IEEE 754, round to nearest even, denormals kept; if the result is a NaN its bits are *unspecified*,
//!   so whoever lets one be seen must replace it (the translator's exact sequences do);
//! - float to integer truncates and saturates, NaN gives 0;
//! - comparisons of floats are ordered: false if either is a NaN.
//!
//! The `Fast*` operations are the exception: they are the host's own approximations and appear only in `Fidelity::Fast`.
//!
//! # Memory
//!
//! An [`Access`] reaches `count` consecutive units of `width` bytes. Unit i exists if `i * width < valid`, `valid` being a value of
//! the same rate as the address: units that do not exist read as 0 and store nothing, and an access with `valid` 0 does not look
//! at its address at all. An existing unit that nobody mapped is a fault: it ends the dispatch without effect. LDS accesses
//! outside the workgroup's LDS read 0 and store nothing, unit by unit; scratch likewise. Global accesses may be unaligned.
//! A memory statement whose address and `valid` are uniform happens once a wave, whatever it gives or takes, except on
//! scratch, which is each lane's own; see [`Program::access_rate`].
//! Stores of the lanes of a wave take effect in lane order. In varying control flow, or when no lane's stores meet
//! another's accesses, a backend may run lanes in any order.
//!
//! # Loops
//!
//! Every iteration takes from the wave's budget; when it is used up the dispatch ends without effect and says so.

mod aside;
mod build;
mod dump;
pub mod eval;
mod expr;
mod fold;
mod halves;
mod launch;
mod lift;
mod simplify;
mod specialize;
mod verify;
mod walk;

pub use aside::put_aside;
pub use build::*;
pub use expr::*;
pub(crate) use fold::constant_bin;
pub use halves::{SumOfHalves, sum_of_halves};
pub use launch::*;
pub use lift::lift;
pub use simplify::simplify;
pub use specialize::{Workgroups, specialize};
pub use verify::*;

/// A value: defined once by a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// A variable: a mutable cell a wave (uniform) or a lane (varying), 0 or false at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// What a value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// True or false.
    Bool,
    /// 32 bits: an integer, an f32, or an f16 in the low half.
    B32,
    /// 64 bits: an integer or an f64.
    B64,
}

impl Type {
    /// Words that a value takes in memory; a `Bool` has one of its own.
    pub fn words(self) -> u32 {
        if self == Type::B64 { 2 } else { 1 }
    }
}

/// How often a value exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rate {
    /// Once a wave.
    Uniform,
    /// Once a lane.
    Varying,
}

/// Type and rate of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueInfo {
    /// Its type.
    pub ty: Type,
    /// Its rate.
    pub rate: Rate,
}

/// A variable of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VarInfo {
    /// Its type.
    pub ty: Type,
    /// Its rate.
    pub rate: Rate,
    /// For listings: `v3`, `s12`, `vcc`.
    pub name: String,
}

/// Statements in order.
pub type Block = Vec<Stmt>;

/// One step of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// Defines a value.
    Let(Value, Expr),
    /// Sets a variable. In varying control flow only varying variables may be set.
    Set(Var, Value),
    /// Runs one of two blocks; with a varying condition, each lane its own.
    If {
        /// A `Bool`.
        cond: Value,
        /// Where it is true.
        then: Block,
        /// Where it is false.
        otherwise: Block,
    },
    /// Runs its block until a `Break`.
    Loop {
        /// The iteration.
        body: Block,
    },
    /// Leaves the innermost loop.
    Break,
    /// Starts the next iteration of the innermost loop.
    Continue,
    /// Ends the wave (in varying control flow: the lane).
    Return,
    /// Ends the dispatch without effect, as a fault with this code at this program counter.
    Trap {
        /// Stable refusal code.
        code: &'static str,
        /// Byte offset in the guest program.
        pc: u32,
    },
    /// Loads `dst.len()` units (zero-extended to 32 bits).
    Load {
        /// One `B32` value a unit.
        dst: Vec<Value>,
        /// Where.
        access: Access,
    },
    /// Stores `src.len()` units (their low bits).
    Store {
        /// One `B32` value a unit.
        src: Vec<Value>,
        /// Where.
        access: Access,
    },
    /// Atomic read-modify-write of one naturally aligned unit of 4 or 8 bytes: low bits of the address do not count.
    Atomic {
        /// The value before, if wanted; 0 where the unit does not exist.
        dst: Option<Value>,
        /// The operation.
        op: AtomicOp,
        /// Operand, `B32` or `B64` by the width.
        data: Value,
        /// Compare-and-swap's comparand.
        compare: Option<Value>,
        /// Where; `count` is 1.
        access: Access,
    },
    /// All waves of the workgroup that have not ended meet. Uniform control flow only.
    Barrier {
        /// Byte offset in the guest program.
        pc: u32,
    },
}

/// Memory that an access reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Guest memory; the address is a `B64` of which 48 bits count.
    Global,
    /// The workgroup's LDS; the address is a `B32` byte offset.
    Lds,
    /// The lane's own scratch; the address is a `B32` byte offset.
    Scratch,
    /// The launch's tables (read only, always there): a `B32` byte offset; reads past the end give 0.
    Table,
    /// [`Program::exchange_bytes`] of the workgroup beside its LDS, by which lanes tell each other things in programs that modules
    /// make for themselves: words, 0 at the start; a `B32` byte offset of a word that is there.
    Exchange,
}

/// Size of a unit of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// One byte.
    W8,
    /// Two bytes.
    W16,
    /// Four bytes.
    W32,
    /// Eight bytes: atomics only.
    W64,
}

impl Width {
    /// Bytes of a unit.
    pub const fn bytes(self) -> u32 {
        match self {
            Width::W8 => 1,
            Width::W16 => 2,
            Width::W32 => 4,
            Width::W64 => 8,
        }
    }
}

/// Where and how much a memory statement reaches; see the module's section on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Which memory.
    pub space: Space,
    /// Address of the first unit.
    pub address: Value,
    /// Bytes from `address` on that exist: unit i exists if `i * width < valid`. `B32`.
    pub valid: Value,
    /// Size of a unit.
    pub width: Width,
    /// Byte offset of the guest instruction, for faults.
    pub pc: u32,
    /// The slot that the address was traced to, if any: an index of [`Program::slots`].
    pub slot: Option<u16>,
}

/// Read-modify-write operations; `inc` and `dec` are the guest's wrapping forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants name their operations")]
pub enum AtomicOp {
    Swap,
    CompareSwap,
    Add,
    Sub,
    MinS,
    MinU,
    MaxS,
    MaxU,
    And,
    Or,
    Xor,
    /// `old >= data ? 0 : old + 1`, unsigned.
    IncWrap,
    /// `old == 0 || old > data ? data : old - 1`, unsigned.
    DecWrap,
    /// `old - data`, not below 0, unsigned.
    SubClamp,
    /// The smaller of two floats by the guest's rule: bits compared as sign-magnitude, NaN operands lose.
    MinF,
    /// The larger of two floats likewise.
    MaxF,
}

/// A program ready to be compiled by a backend.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// For listings and caches' file names; no meaning.
    pub name: String,
    /// Lanes of a wave, 32 or 64.
    pub wave_lanes: u8,
    /// Type and rate of each [`Value`].
    pub values: Vec<ValueInfo>,
    /// Each [`Var`].
    pub vars: Vec<VarInfo>,
    /// What a wave runs.
    pub body: Block,
    /// Words of the parameter block, in order, and how a launch fills them.
    pub params: Vec<ParamSource>,
    /// Bytes of LDS a workgroup has.
    pub lds_bytes: u32,
    /// Bytes of scratch a lane has.
    pub scratch_bytes: u32,
    /// Bytes of [`Space::Exchange`] a workgroup has; 0 but in programs that modules make for themselves.
    pub exchange_bytes: u32,
    /// Whether it was made such that the lanes of a wave leave its loops together, as far as that can be: then it can be held back
    /// at the end of an iteration and taken up again, where a host ends long loops by itself.
    pub together: bool,
    /// Guest ranges that traced accesses reach.
    pub slots: Vec<Slot>,
    /// Guest mnemonics in it whose result public documents leave open within an error bound.
    pub inexact: Vec<&'static str>,
}

impl Program {
    /// Type and rate of `value`.
    pub fn info(&self, value: Value) -> ValueInfo {
        self.values[value.0 as usize]
    }

    /// How often an access happens: once a wave if its address and `valid` are uniform, but scratch is each lane's own.
    pub fn access_rate(&self, access: &Access) -> Rate {
        match access.space {
            Space::Scratch => Rate::Varying,
            _ => self.info(access.address).rate.max(self.info(access.valid).rate),
        }
    }

    /// The variable's type, rate and name.
    pub fn var(&self, var: Var) -> &VarInfo {
        &self.vars[var.0 as usize]
    }
}
