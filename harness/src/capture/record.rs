//! The records of a capture, one variant a tag.

use super::PAGE_BYTES;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// DEVI: `struct drm_amdgpu_info_device` as the driver was told.
    Device(Vec<u8>),
    /// BONW: a buffer object is created; its memory is zero.
    Create(BufferObject),
    /// BOFR: a buffer object is freed, and its mappings with it.
    Free {
        /// The buffer object.
        bo: u32,
    },
    /// VAOP: virtual addresses change their meaning.
    Va(VaOp),
    /// PAGE: what the CPU had in a page at the next submission, the first record of that page.
    Page(Page),
    /// PDIF: what the CPU changed in a page since its last record of any kind.
    Diff(PageDiff),
    /// CHNK: a chunk of the kernel call, before the submission it belongs to.
    Chunk(Chunk),
    /// SUBM: a submission.
    Submit(Submit),
    /// GPAG: a page as another executor left it after the submission before ("golden").
    GoldenPage(Page),
    /// GPDF: what another executor changed in a page during the submission before.
    GoldenDiff(PageDiff),
    /// MARK: what the program was about to do.
    Mark(String),
    /// EXPT: what the API's specification requires.
    Expect(String),
}

/// A buffer object as the driver asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferObject {
    /// Its number, never reused.
    pub bo: u32,
    /// The GEM handle that the driver knew it by.
    pub handle: u32,
    /// Bytes.
    pub size: u64,
    /// Memory domains: 2 host (GTT), 4 video memory.
    pub domains: u64,
    /// Creation flags.
    pub flags: u64,
    /// Address of user memory behind it, 0 normally.
    pub userptr: u64,
}

/// Video memory in [`BufferObject::domains`].
pub const DOMAIN_VRAM: u64 = 4;

/// What a [`VaOp`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VaKind {
    /// Map fresh addresses.
    Map,
    /// Unmap what was mapped.
    Unmap,
    /// Unmap whatever lies in the range.
    Clear,
    /// Map in place of whatever lies in the range.
    Replace,
}

/// The kernel's numbers of [`VaKind`].
pub const VA_KINDS: [(u32, VaKind); 4] =
    [(1, VaKind::Map), (2, VaKind::Unmap), (3, VaKind::Clear), (4, VaKind::Replace)];

/// A change of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VaOp {
    /// The buffer object.
    pub bo: u32,
    /// What to do.
    pub kind: VaKind,
    /// Page flags: 2 readable, 4 writable, 8 executable; higher bits choose caching.
    pub flags: u32,
    /// First address, in canonical 64-bit form.
    pub va: u64,
    /// Byte offset in the buffer object.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// Writable in [`VaOp::flags`].
pub const VA_WRITABLE: u32 = 4;

/// All of one page.
#[derive(Clone, PartialEq, Eq)]
pub struct Page {
    /// The buffer object.
    pub bo: u32,
    /// Page number in it.
    pub page: u32,
    /// Its bytes.
    pub data: Box<[u8; PAGE_BYTES]>,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Page {{ bo: {}, page: {}, .. }}", self.bo, self.page)
    }
}

/// Changed dwords of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDiff {
    /// The buffer object.
    pub bo: u32,
    /// Page number in it.
    pub page: u32,
    /// The changes, each inside the page.
    pub runs: Vec<Run>,
}

/// Consecutive dwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// First dword in the page.
    pub first: u16,
    /// New values.
    pub words: Vec<u32>,
}

/// A chunk of a CS call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Submission it belongs to.
    pub submission: u32,
    /// `AMDGPU_CHUNK_ID_*`.
    pub id: u32,
    /// Its dwords.
    pub words: Vec<u32>,
}

/// A submission of indirect buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submit {
    /// Its number.
    pub index: u32,
    /// The driver's context; command-processor state is kept for each.
    pub context: u32,
    /// Engine: 0 graphics, 1 compute, 2 SDMA (see [`IpKind`]).
    pub ip_type: u32,
    /// Ring of the engine.
    pub ring: u32,
    /// Sequence number that the fence takes.
    pub sequence: u64,
    /// Flags of the call.
    pub flags: u32,
    /// The indirect buffers in order.
    pub ibs: Vec<IndirectBuffer>,
    /// Buffer objects of the submission's list.
    pub bos: Vec<u32>,
    /// The user fence.
    pub fence: Fence,
}

/// Where a submission's sequence number is written when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Whether the submission has one.
    pub used: bool,
    /// The buffer object.
    pub bo: u32,
    /// Byte offset in it.
    pub offset: u32,
}

/// One indirect buffer of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndirectBuffer {
    /// Guest address.
    pub va: u64,
    /// Bytes.
    pub bytes: u32,
    /// Flags of the chunk.
    pub flags: u32,
    /// Engine.
    pub ip_type: u32,
    /// Instance of the engine.
    pub ip_instance: u32,
    /// Ring.
    pub ring: u32,
}

/// The engines that submissions name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpKind {
    /// The graphics ring.
    Graphics,
    /// A compute ring.
    Compute,
    /// System DMA.
    Sdma,
    /// Another one.
    Other(u32),
}

impl Submit {
    /// The engine that the submission is for.
    pub fn ip(&self) -> IpKind {
        match self.ip_type {
            0 => IpKind::Graphics,
            1 => IpKind::Compute,
            2 => IpKind::Sdma,
            n => IpKind::Other(n),
        }
    }
}
