//! How a dispatch becomes a parameter block.

/// What a launch puts into one word of the parameter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ParamSource {
    /// The constant of the dispatch's rule for SGPR n (`Word`'s word, `ItemCount`'s or `FirstItem`'s base, ...).
    Sgpr(u8),
    /// The constant of the dispatch's rule for VGPR n.
    Vgpr(u8),
    /// Byte offset in the launch's tables of SGPR n's `PerWave` words.
    SgprTable(u8),
    /// Byte offset in the launch's tables of VGPR n's `PerItem` words.
    VgprTable(u8),
    /// The second number of SGPR n's rule: `ItemCount`'s limit, `ScratchOffset`'s slots.
    SgprLimit(u8),
    /// The second number of VGPR n's rule: `Primitive`'s or `Cycle`'s items, the number of `PerItem`'s words.
    VgprLimit(u8),
    /// Items of the dispatch (`Grid::Linear`).
    Items,
    /// Items of a wave (`Grid::Linear`).
    ItemsPerWave,
    /// First group id of an axis.
    GroupStart(u8),
    /// Number of groups of an axis.
    GroupCount(u8),
    /// Threads of a group along an axis.
    GroupThreads(u8),
    /// Threads of the last group of an axis.
    LastThreads(u8),
    /// Waves of a workgroup (`Grid::Groups`; 1 for `Grid::Linear`).
    WavesPerGroup,
    /// Low half of the guest address of the dispatch's record of exports and messages.
    RecordLow,
    /// High half of it.
    RecordHigh,
    /// Dwords of each lane's row of the record.
    RecordWords,
    /// Bytes of the record.
    RecordBytes,
    /// Low half of the guest address of the program, for instructions that read the program counter.
    ProgramLow,
    /// High half of it.
    ProgramHigh,
    /// Word n of the block that a generated program, which no dispatch names, lays down for itself.
    Own(u8),
}

/// A guest range that traced accesses reach: where it is follows from the parameter block and guest memory alone, so a
/// launch can make it resident before it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// First guest address.
    pub base: Trace,
    /// Bytes, where a descriptor bounds them; an access beyond goes the slow way.
    pub size: Option<Trace>,
    /// Whether any access through it stores.
    pub written: bool,
}

/// A 64-bit number that a launch can work out from its parameters and guest memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trace {
    /// A constant.
    Const(u64),
    /// A word of the parameter block.
    Param(u16),
    /// The dword in guest memory at an address.
    Dword(Box<Trace>),
    /// Low half of a number and high half of another.
    Pack(Box<Trace>, Box<Trace>),
    /// Sum, wrapping.
    Add(Box<Trace>, Box<Trace>),
    /// Product, wrapping.
    Mul(Box<Trace>, Box<Trace>),
    /// Bitwise and.
    And(Box<Trace>, Box<Trace>),
    /// Bitwise or.
    Or(Box<Trace>, Box<Trace>),
    /// Left shift by a constant.
    Shl(Box<Trace>, u8),
    /// Logical right shift by a constant.
    Shr(Box<Trace>, u8),
}
