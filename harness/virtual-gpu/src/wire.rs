//! What travels between the preloaded library and the executor. Both compile this file.
//!
//! A request is a [`Head`], the ioctl's structure, and for each row of [`POINTERS`] of that ioctl one part: a length and
//! that many bytes of what the pointer leads to ([`Way::In`]), or only the length of what fits there ([`Way::Out`]). An answer is
//! a status (a result, or a negative error number), the structure, and for each outward row a length and bytes. All
//! little endian; the structures are those of the Linux DRM interface.

/// The variable that tells a program about its virtual GPU: the executor's socket name, its process, the descriptor of the memory
/// file there, PCI device and revision, with commas between; the last two in hexadecimal.
pub(crate) const VARIABLE: &str = "GUESTWAVE_VIRTUAL_GPU";

/// What the name of an open file's socket has between the executor's name and the file's number.
pub(crate) const FILE_MARK: &str = "-file-";

/// Instead of an ioctl: this connection is the open file with the number in the head. It carries nothing after that.
pub(crate) const OPEN: u32 = 1;

/// Bytes of a request's head.
pub(crate) const HEAD_BYTES: usize = 24;

/// Bytes of an answer's head.
pub(crate) const ANSWER_BYTES: usize = 8;

/// The most bytes that follow a head: a submission with all its lists has far fewer.
pub(crate) const MAX_BYTES: usize = 4 << 20;

/// What a request begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes that follow.
    pub(crate) bytes: u32,
    /// The ioctl's request number, or [`OPEN`].
    pub(crate) code: u32,
    /// The open file.
    pub(crate) file: u64,
    /// Inode of the descriptor that the structure holds, for rows of [`DESCRIPTORS`] that bring one in.
    pub(crate) inode: u64,
}

impl Head {
    /// Its bytes.
    pub(crate) fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..4].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.code.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.file.to_le_bytes());
        bytes[16..].copy_from_slice(&self.inode.to_le_bytes());
        bytes
    }
}

/// The number of an ioctl among those of its device.
pub(crate) const fn number(code: u32) -> u8 {
    code as u8
}

/// The letter of an ioctl's device, `d` for DRM.
pub(crate) const fn letter(code: u32) -> u8 {
    (code >> 8) as u8
}

/// Bytes of an ioctl's structure.
pub(crate) const fn structure_bytes(code: u32) -> usize {
    (code >> 16 & 0x3fff) as usize
}

/// Which way the bytes behind a pointer go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To the kernel.
    In,
    /// From the kernel.
    Out,
    /// To the kernel: the pointer leads to pointers to submission chunks (number, dwords, pointer to the dwords), which travel one
    /// after another as number, dwords and the dwords themselves.
    Chunks,
}

/// The submission chunk that has a pointer in it: to a list of buffer objects, at [`LIST_POINTER`].
pub(crate) const LIST_CHUNK: u32 = 6;

/// Where that pointer is in the chunk; entries and their size are counted at 8 and 12.
pub(crate) const LIST_POINTER: usize = 16;

/// How many elements are behind a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// This many.
    Fixed(usize),
    /// As the 32-bit field at this offset says.
    Field(usize),
    /// As two 32-bit fields multiplied say.
    Product(usize, usize),
}

/// A pointer in an ioctl's structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    /// Number of the ioctl.
    pub(crate) number: u8,
    /// Offset of the pointer.
    pub(crate) at: usize,
    /// Elements behind it.
    pub(crate) count: Count,
    /// Bytes of an element.
    pub(crate) each: usize,
    /// Which way they go.
    pub(crate) way: Way,
    /// Offset and value of a 32-bit field without which there is no pointer.
    pub(crate) only_if: Option<(usize, u32)>,
}

const fn row(number: u8, at: usize, count: Count, each: usize, way: Way) -> Pointer {
    Pointer { number, at, count, each, way, only_if: None }
}

/// Every pointer that the answered ioctls have. Lengths of more than 32 bits do not occur: their upper halves are 0.
pub(crate) static POINTERS: [Pointer; 17] = [
    // VERSION: name, date, description
    row(0x00, 24, Count::Field(16), 1, Way::Out),
    row(0x00, 40, Count::Field(32), 1, Way::Out),
    row(0x00, 56, Count::Field(48), 1, Way::Out),
    // BO_LIST
    row(0x43, 16, Count::Product(8, 12), 1, Way::In),
    // CS
    row(0x44, 16, Count::Field(8), 1, Way::Chunks),
    // INFO
    row(0x45, 0, Count::Field(8), 1, Way::Out),
    // GEM_OP: creation info
    Pointer { only_if: Some((4, 0)), ..row(0x50, 8, Count::Fixed(32), 1, Way::Out) },
    // WAIT_FENCES
    row(0x52, 0, Count::Field(8), 24, Way::In),
    // SYNCOBJ_WAIT, _RESET, _SIGNAL
    row(0xc3, 0, Count::Field(16), 4, Way::In),
    row(0xc4, 0, Count::Field(8), 4, Way::In),
    row(0xc5, 0, Count::Field(8), 4, Way::In),
    // SYNCOBJ_TIMELINE_WAIT: handles, points
    row(0xca, 0, Count::Field(24), 4, Way::In),
    row(0xca, 8, Count::Field(24), 8, Way::In),
    // SYNCOBJ_QUERY
    row(0xcb, 0, Count::Field(16), 4, Way::In),
    row(0xcb, 8, Count::Field(16), 8, Way::Out),
    // SYNCOBJ_TIMELINE_SIGNAL
    row(0xcd, 0, Count::Field(16), 4, Way::In),
    row(0xcd, 8, Count::Field(16), 8, Way::In),
];

/// The pointers of an ioctl with this structure, in the order in which their parts travel.
pub(crate) fn pointers(code: u32, structure: &[u8]) -> impl Iterator<Item = &'static Pointer> {
    let present = move |p: &&Pointer| {
        let fits = p.at + 8 <= structure.len();
        p.number == number(code) && fits && p.only_if.is_none_or(|(at, value)| field(structure, at) == value)
    };
    POINTERS.iter().filter(present)
}

/// Bytes behind a pointer; for [`Way::Chunks`] the number of chunks.
pub(crate) fn length(pointer: &Pointer, structure: &[u8]) -> usize {
    let count = match pointer.count {
        Count::Fixed(n) => n,
        Count::Field(at) => field(structure, at) as usize,
        Count::Product(a, b) => (field(structure, a) as usize).saturating_mul(field(structure, b) as usize),
    };
    count.saturating_mul(pointer.each)
}

/// The 32-bit field at an offset, 0 where the structure is shorter (as the kernel has it for older callers).
pub(crate) fn field(structure: &[u8], at: usize) -> u32 {
    let bytes = structure.get(at..).and_then(|rest| rest.first_chunk::<4>());
    bytes.map_or(0, |b| u32::from_le_bytes(*b))
}

/// The 64-bit field at an offset, 0 where the structure is shorter.
pub(crate) fn long(structure: &[u8], at: usize) -> u64 {
    let bytes = structure.get(at..).and_then(|rest| rest.first_chunk::<8>());
    bytes.map_or(0, |b| u64::from_le_bytes(*b))
}

/// A descriptor in an ioctl's structure. Going out, the executor puts the descriptor's number in its own process there; coming in,
/// the inode is in the head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor {
    /// Number of the ioctl.
    pub(crate) number: u8,
    /// Offset of the descriptor.
    pub(crate) at: usize,
    /// Which way it goes.
    pub(crate) way: Way,
}

/// PRIME_HANDLE_TO_FD, PRIME_FD_TO_HANDLE, SYNCOBJ_HANDLE_TO_FD, SYNCOBJ_FD_TO_HANDLE.
pub(crate) static DESCRIPTORS: [Descriptor; 4] = [
    Descriptor { number: 0x2d, at: 8, way: Way::Out },
    Descriptor { number: 0x2e, at: 8, way: Way::In },
    Descriptor { number: 0xc1, at: 8, way: Way::Out },
    Descriptor { number: 0xc2, at: 8, way: Way::In },
];

/// The descriptor of an ioctl, if it has one that goes this way.
pub(crate) fn descriptor(code: u32, way: Way) -> Option<&'static Descriptor> {
    DESCRIPTORS.iter().find(|d| d.number == number(code) && d.way == way)
}
