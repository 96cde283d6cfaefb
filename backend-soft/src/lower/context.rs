//! What compiled code and its helpers share: one record a worker, at fixed offsets.

/// Most units of one load or store.
pub(crate) const MAX_UNITS: usize = 32;

/// The last place that one access of the program found its memory in. Guest byte `base + i` lies at `host + i`. A load at `base + i`
/// is inside if `i < limit`. A store of aligned units of `1 << s` bytes (`s` as in [`SiteInfo::unit_shift`]) is inside if
/// `i` rotated right by `s` is below `limit`, which then counts units; a misaligned one comes out too large.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    /// Guest address of the first byte, with the upper bits that the last access had.
    pub(crate) base: u64,
    /// First place at which the access would not be inside any more; 0 if there is no such memory.
    pub(crate) limit: u64,
    /// The same for the first of four accesses, each [`SiteInfo::step`] bytes behind the one before.
    pub(crate) row_limit: u64,
    /// Where the first byte lies.
    pub(crate) host: *mut u8,
    /// For stores, the marks of the first dword: one byte a dword, one bit a byte that was stored.
    pub(crate) marks: *mut u8,
}

impl Site {
    /// A site that no access hits.
    pub(crate) const EMPTY: Site =
        Site { base: 0, limit: 0, row_limit: 0, host: std::ptr::null_mut(), marks: std::ptr::null_mut() };
}

/// What a wave's code reads and leaves.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// The parameter block, at least as long as the program's.
    pub(crate) params: *const u32,
    /// The launch's tables.
    pub(crate) tables: *const u32,
    /// Their bytes.
    pub(crate) tables_bytes: u64,
    /// The workgroup's LDS, as long as the program says.
    pub(crate) lds: *mut u8,
    /// Scratch of the wave's lanes, one after another.
    pub(crate) scratch: *mut u8,
    /// One element an access of the program.
    pub(crate) sites: *mut Site,
    /// Loop iterations that the wave may still make.
    pub(crate) budget: u64,
    /// Wave in the dispatch.
    pub(crate) wave: u32,
    /// Wave in its workgroup.
    pub(crate) wave_in_group: u32,
    /// Workgroup in the dispatch.
    pub(crate) group: u32,
    /// Units of an access on its way to or from a helper.
    pub(crate) units: [u32; MAX_UNITS],
    /// Operand of an atomic, then what was there before.
    pub(crate) data: u64,
    /// Comparand of an atomic.
    pub(crate) compare: u64,
    /// The same of four lanes.
    pub(crate) quad: QuadContext,
    /// Whether the last access that was left to a helper is refused: 1.
    pub(crate) refused: u32,
    /// Lanes of the wave that may be alive: the first ones.
    pub(crate) alive: u64,
    /// The worker whose helpers the wave's code calls.
    pub(crate) worker: *mut (),
}

/// What four lanes share with a helper.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuadContext {
    /// Addresses.
    pub(crate) addresses: [u64; 4],
    /// Bytes that exist.
    pub(crate) valid: [u32; 4],
    /// Unit by unit, the four lanes'.
    pub(crate) units: [[u32; 4]; MAX_UNITS],
    /// Operands of an atomic, then what was there before.
    pub(crate) data: [u64; 4],
    /// Comparands of an atomic.
    pub(crate) compare: [u64; 4],
}

/// How a wave's code came back.
pub(crate) mod status {
    /// The wave has ended.
    pub(crate) const ENDED: u32 = 0;
    /// It waits at a barrier.
    pub(crate) const BARRIER: u32 = 1;
    /// A helper refused an access and noted why.
    pub(crate) const FAULT: u32 = 2;
    /// The budget is used up.
    pub(crate) const BUDGET: u32 = 3;
    /// Trap n of the program returns this plus n.
    pub(crate) const TRAP: u32 = 4;
}

/// What the program's access number n is, for helpers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteInfo {
    pub(crate) access: guestwave_translate::program::Access,
    pub(crate) kind: SiteKind,
    /// Bytes from one lane to the next where lanes are expected to lie in a row; held against the addresses when it runs.
    pub(crate) step: u32,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiteKind {
    /// Loads this many units.
    Load(u32),
    /// Stores this many units.
    Store(u32),
    /// One unit.
    Atomic(guestwave_translate::program::AtomicOp),
}

impl SiteInfo {
    /// Units of the whole access.
    pub(crate) fn count(&self) -> u32 {
        match self.kind {
            SiteKind::Load(n) | SiteKind::Store(n) => n,
            SiteKind::Atomic(_) => 1,
        }
    }

    /// For stores, how far an offset is rotated so that misaligned ones are out of bounds.
    pub(crate) fn unit_shift(&self) -> u32 {
        match self.kind {
            SiteKind::Store(_) => self.access.width.bytes().ilog2(),
            _ => 0,
        }
    }

    /// Bytes of the whole access.
    pub(crate) fn bytes(&self) -> u32 {
        self.count() * self.access.width.bytes()
    }
}
