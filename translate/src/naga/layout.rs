//! What a module and its host agree on: bindings, the launch block, the status record, the page table.
//!
//! All bindings are in group 0. Numbers in buffers are `u32` words unless said otherwise.
//!
//! # Page table
//!
//! A guest address has 48 bits that count. [`binding::PAGES`] starts with [`PAGE_ROOTS`] words, one for each value of bits 47:32: where in
//! the same buffer the leaf for that range starts (an all-absent leaf for most). A leaf has [`PAGE_LEAF_WORDS`] words, two for each value
//! of bits 31:16: an entry and an edge map. The entry has the arena page (64 KiB) in bits 31:16 and in bits 15:0 which of
//! its sixteen 4 KiB parts are wholly there. The edge map is 0, or where in the same buffer a bit a byte of the page says
//! which bytes are there.

/// Bindings of group 0.
pub mod binding {
    /// The launch block: a uniform buffer with a dynamic offset.
    pub const LAUNCH: u32 = 0;
    /// Launch tables and mark maps, read only.
    pub const TABLES: u32 = 1;
    /// The page table, read only.
    pub const PAGES: u32 = 2;
    /// The arena as atomic words.
    pub const ARENA: u32 = 3;
    /// The arena again, for ranges that a launch only reads.
    pub const READS: u32 = 4;
    /// Stored-byte marks, a bit a byte.
    pub const MARKS: u32 = 5;
    /// Faults and misses.
    pub const STATUS: u32 = 6;
    /// Scratch memory, and registers of whole waves that do not fit workgroup memory.
    pub const SPILL: u32 = 7;
    /// The arena as atomic 64-bit words.
    pub const ARENA64: u32 = 8;
    /// The arena again, four words at a time.
    pub const FOURS: u32 = 9;
    /// Number of bindings.
    pub const COUNT: u32 = 10;
}

/// Bytes of the launch block's window.
pub const LAUNCH_BYTES: u32 = 16384;

/// Word of [`binding::TABLES`] that is 0, as [`header::ZERO`] is.
pub const TABLES_ZERO: u32 = 0;

/// Words of the launch block's header.
pub mod header {
    /// 0, which the compiler does not know.
    pub const ZERO: u32 = 0;
    /// Number of the launch in its batch.
    pub const LAUNCH: u32 = 1;
    /// Waves of the launch.
    pub const WAVES: u32 = 2;
    /// Waves of each workgroup.
    pub const WAVES_PER_GROUP: u32 = 3;
    /// Word of [`super::binding::TABLES`] where the launch's tables start.
    pub const TABLE_START: u32 = 4;
    /// Bytes of the launch's tables.
    pub const TABLE_BYTES: u32 = 5;
    /// Loop iterations that a wave may make.
    pub const BUDGET: u32 = 6;
    /// Word of [`super::binding::TABLES`] where the launch's mark map starts, [`super::NONE`] for none: for each arena page, where its
    /// marks start in units of 2048 words, plus 1; 0 for none.
    pub const MARK_MAP: u32 = 7;
    /// Host workgroups in a row of the dispatch.
    pub const ROW: u32 = 8;
    /// Host workgroup that the dispatch starts with.
    pub const FIRST: u32 = 9;
    /// Word of [`super::binding::TABLES`] where the first wave of each workgroup stands, [`super::NONE`] if they are all alike. One more
    /// than there are workgroups.
    pub const GROUP_TABLE: u32 = 10;
    /// Host workgroups in all.
    pub const GROUPS: u32 = 11;
    /// How many dispatches of the same workgroups came before, by which waves that are held back go on.
    pub const ROUND: u32 = 12;
    /// Whether no more come after (1) or some do (0).
    pub const LAST_ROUND: u32 = 13;
    /// Invocations of a host workgroup, as a number that the compiler does not know.
    pub const INVOCATIONS: u32 = 14;
    /// Where the parameter words start.
    pub const PARAMS: u32 = 16;
}

/// Words of a slot's record, which follow the parameters (rounded up to 4 words).
pub mod slot {
    /// Low half of the guest address of its window, a multiple of 64.
    pub const LOW: u32 = 0;
    /// High half, 16 bits.
    pub const HIGH: u32 = 1;
    /// Bytes of the window; 0 if there is none.
    pub const BYTES: u32 = 2;
    /// Byte of the arena where the window starts.
    pub const ARENA: u32 = 3;
    /// Bytes of the window that may be stored.
    pub const WRITABLE: u32 = 4;
    /// Word of the marks where the window's start.
    pub const MARKS: u32 = 5;
    /// Words of a record.
    pub const WORDS: u32 = 8;
}

/// Word of the launch block where slot `index` of a program with `params` parameters has its record.
pub fn slot_start(params: usize, index: usize) -> u32 {
    header::PARAMS + (params as u32).next_multiple_of(4) + index as u32 * slot::WORDS
}

/// Word of the launch block where the words start that the host loaded ([`super::Hoists`]), behind `slots` slots.
pub fn hoisted_start(params: usize, slots: usize) -> u32 {
    slot_start(params, slots)
}

/// Nothing, where a number is wanted.
pub const NONE: u32 = u32::MAX;

/// Words of the status buffer.
pub mod status {
    /// The lowest launch that did not go well; [`super::NONE`] at the start.
    pub const STOP: u32 = 0;
    /// Pages that were missed: number + 1 at a place that follows from the number.
    pub const MISSES: u32 = 64;
    /// Places for missed pages.
    pub const MISS_PLACES: u32 = 4096;
    /// Arena pages whose marks were missed, likewise.
    pub const MARK_MISSES: u32 = MISSES + MISS_PLACES;
    /// First launch's record.
    pub const RECORDS: u32 = MARK_MISSES + MISS_PLACES;

    /// Words of a launch's record.
    pub const WORDS: u32 = 8;
    /// What happened, a bit each.
    pub const FLAGS: u32 = 0;
    /// Not 0 once the details are somebody's.
    pub const CLAIM: u32 = 1;
    /// Number of the site ([`super::super::Facts::sites`]) that the details speak of.
    pub const SITE: u32 = 2;
    /// Low half of the address.
    pub const LOW: u32 = 3;
    /// High half of the address, 16 bits.
    pub const HIGH: u32 = 4;
    /// Bytes of the whole access.
    pub const SIZE: u32 = 5;
}

/// What a launch's record says happened.
pub mod flag {
    /// A page is absent; it is among the misses.
    pub const MISS: u32 = 1;
    /// The marks of a page are absent.
    pub const MARK_MISS: u32 = 2;
    /// An access that the direct way cannot do; its page is among the misses.
    pub const INDIRECT: u32 = 4;
    /// A trap.
    pub const TRAP: u32 = 8;
    /// The wave's budget is used up.
    pub const BUDGET: u32 = 16;
    /// More iterations than the host runs, or than it runs in all dispatches by which waves that are held back go on.
    pub const HOST_LOOPS: u32 = 32;
    /// Lanes stored one byte twice, so their order matters.
    pub const ORDER: u32 = 64;
    /// A part of a word was stored twice, which the direct way does not do in one step.
    pub const RACE: u32 = 128;
    /// An access left its slot's window though others rely on slots being apart.
    pub const ESCAPE: u32 = 256;
}

/// Words of the page table's root.
pub const PAGE_ROOTS: u32 = 1 << 16;
/// Words of a leaf.
pub const PAGE_LEAF_WORDS: u32 = 2 << 16;
/// Bytes of a page.
pub const PAGE_BYTES: u64 = 1 << 16;
/// Words of a page's edge map, and of its marks.
pub const PAGE_MAP_WORDS: u32 = 2048;
