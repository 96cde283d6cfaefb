//! Guest memory as an embedder gives it.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// An access to guest memory that nothing stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory is mapped for {kind} of {size} bytes at {address:#x}")]
pub struct MemoryFault {
    /// First guest byte that is not mapped for this access.
    pub address: u64,
    /// Bytes of the whole access.
    pub size: u64,
    /// Read or write.
    pub kind: AccessKind,
}

/// What an access wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// A read-modify-write.
    Atomic,
}

impl std::fmt::Display for AccessKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            AccessKind::Read => "a read",
            AccessKind::Write => "a write",
            AccessKind::Atomic => "an atomic",
        })
    }
}

/// A moment in the life of a [`GuestMemory`]; later ones compare greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Generation(pub u64);

/// Tells a [`GuestMemory`] apart from every other one of the process, those that are gone included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryId(u64);

impl MemoryId {
    /// One that nobody has had before.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        MemoryId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A state of a [`GuestMemory`]'s mappings: equal ones mean that every address means what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MappingState {
    /// The memory.
    pub memory: MemoryId,
    /// How often addresses have changed their meaning.
    pub changes: u64,
}

/// What one write alone has changed between two moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untouched {
    /// Guest addresses around the written bytes where nothing else was written: as much as
    /// [`GuestMemory::changed_since`] says of the write.
    pub range: Range<u64>,
    /// The later moment: what others write there from now on belongs to later ones.
    pub until: Generation,
}

/// A run of guest bytes that lies contiguously in the host's memory.
#[derive(Clone, Copy, Debug)]
pub struct HostSpan {
    /// First guest address of the run.
    pub guest: u64,
    /// Where that byte lies in this process.
    pub host: NonNull<u8>,
    /// Bytes in the run.
    pub len: u64,
    /// Whether stores are allowed.
    pub writable: bool,
}

/// The guest's memory. Addresses are 48-bit; bits 63:48 are ignored, so that canonical forms may be passed as the
/// guest's registers hold them.
///
/// Reads and writes may come from any number of threads. A write is never torn below a byte and never touches a
/// byte outside its range, so that the embedder may write neighbouring bytes at the same time.
pub trait GuestMemory: Send + Sync {
    /// Fills `into` from `address`.
    ///
    /// # Errors
    /// The first unmapped byte; `into` then holds nothing of meaning.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault>;

    /// Writes `bytes` at `address`, all of them or none.
    ///
    /// # Errors
    /// The first byte that is unmapped or read-only; nothing is written then.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault>;

    /// Writes like [`GuestMemory::write`] and says whether nobody else has written there since a moment, so that who knew the
    /// bytes around then knows them still. The default cannot say.
    ///
    /// # Errors
    /// As [`GuestMemory::write`].
    fn write_since(
        &self,
        address: u64,
        bytes: &[u8],
        since: Generation,
    ) -> Result<Option<Untouched>, MemoryFault> {
        let _ = since;
        self.write(address, bytes).map(|()| None)
    }

    /// The largest mapped guest range that contains `address`, if any.
    fn mapping(&self, address: u64) -> Option<Range<u64>>;

    /// Whether an access would succeed, without making it. Executors ask before they commit a dispatch's stores, so
    /// that all of them or none are made. The default is for memory without read-only mappings.
    ///
    /// # Errors
    /// As the access would.
    fn check(&self, address: u64, size: u64, kind: AccessKind) -> Result<(), MemoryFault> {
        let end = canonical(address).saturating_add(size);
        let mut at = canonical(address);
        while at < end {
            let mapped = self.mapping(at).filter(|m| m.contains(&at));
            at = mapped.ok_or(MemoryFault { address: at, size, kind })?.end;
        }
        Ok(())
    }

    /// Which memory this is. An executor keeps what it read of a memory from one call to the next only if the memory says so;
    /// with the default it reads all anew, since another memory may have taken the place of one that is gone.
    fn id(&self) -> Option<MemoryId> {
        None
    }

    /// The present state of the mappings. While it is the same, each span that [`GuestMemory::host_span`] gave is what it would
    /// give again, so that an executor may keep spans from one call to the next. With the default it asks anew.
    fn mappings(&self) -> Option<MappingState> {
        None
    }

    /// The present moment. Every write, by whoever, that happens after this call belongs to a later generation.
    fn generation(&self) -> Generation;

    /// Calls `changed` with guest ranges that cover everything written or remapped after `since` (ranges may be
    /// wider than the writes, by pages say), and returns the moment up to which they speak.
    fn changed_since(&self, since: Generation, changed: &mut dyn FnMut(Range<u64>)) -> Generation;

    /// The host bytes behind `address`, for executors that run in place. `None` where the embedder does not offer
    /// it; such executors then copy through `read` and `write`. What is mapped of a 4 KiB page is offered wholly or not
    /// at all, in one span or several.
    ///
    /// The span must stay valid while the mapping is not changed by the embedder: while `self` is borrowed, and as long as
    /// [`GuestMemory::mappings`] gives the same state.
    fn host_span(&self, address: u64) -> Option<HostSpan> {
        let _ = address;
        None
    }

    /// Says that `range` was written through [`GuestMemory::host_span`], so that `changed_since` can tell it.
    fn wrote_in_place(&self, range: Range<u64>) {
        let _ = range;
    }
}

/// The 48 bits of a guest address that count.
pub const fn canonical(address: u64) -> u64 {
    address & 0xffff_ffff_ffff
}

/// Reads one little-endian dword.
///
/// # Errors
/// As [`GuestMemory::read`].
pub fn read_u32(memory: &dyn GuestMemory, address: u64) -> Result<u32, MemoryFault> {
    let mut b = [0; 4];
    memory.read(address, &mut b)?;
    Ok(u32::from_le_bytes(b))
}

/// Reads one little-endian 64-bit word.
///
/// # Errors
/// As [`GuestMemory::read`].
pub fn read_u64(memory: &dyn GuestMemory, address: u64) -> Result<u64, MemoryFault> {
    let mut b = [0; 8];
    memory.read(address, &mut b)?;
    Ok(u64::from_le_bytes(b))
}
