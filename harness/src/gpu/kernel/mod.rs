//! The kernel interface: what each ioctl does.
//!
//! Structures are reached by offsets, which stand beside each field's name where it is used; they are those of Linux's
//! `drm.h` and `amdgpu_drm.h`. An ioctl has one row in [`ROWS`].

mod buffers;
mod contexts;
mod core;
mod info;
mod submit;
mod syncobjs;
mod waits;

pub(super) use buffers::Metadata;

use super::file::OpenFile;
use super::wire::{self, Way};

/// An error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Errno(i32);

const ENOENT: Errno = Errno(2);
const ENOMEM: Errno = Errno(12);
const EACCES: Errno = Errno(13);
const EINVAL: Errno = Errno(22);
const ETIME: Errno = Errno(62);
const ENODEV: Errno = Errno(19);
const EMFILE: Errno = Errno(24);

/// Status of a call on a file that is not open.
pub(super) const NO_DEVICE: i32 = -ENODEV.0;

/// Status of a call that makes no sense.
pub(super) const INVALID: i32 = -EINVAL.0;

/// What carrying out a call gives.
type Done = Result<(), Errno>;

/// An ioctl.
struct Row {
    number: u8,
    name: &'static str,
    handle: fn(&OpenFile, &mut Call) -> Done,
}

const fn row(number: u8, name: &'static str, handle: fn(&OpenFile, &mut Call) -> Done) -> Row {
    Row { number, name, handle }
}

/// Every ioctl that is answered; those of amdgpu begin at 0x40.
static ROWS: [Row; 35] = [
    row(0x00, "VERSION", core::version),
    row(0x02, "GET_MAGIC", core::only_primary_nodes),
    row(0x09, "GEM_CLOSE", buffers::close),
    row(0x0c, "GET_CAP", core::get_cap),
    row(0x0d, "SET_CLIENT_CAP", core::no_display),
    row(0x2d, "PRIME_HANDLE_TO_FD", buffers::to_descriptor),
    row(0x2e, "PRIME_FD_TO_HANDLE", buffers::from_descriptor),
    row(0x40, "AMDGPU_GEM_CREATE", buffers::create),
    row(0x41, "AMDGPU_GEM_MMAP", buffers::map),
    row(0x42, "AMDGPU_CTX", contexts::context),
    row(0x43, "AMDGPU_BO_LIST", contexts::list),
    row(0x44, "AMDGPU_CS", submit::submit),
    row(0x45, "AMDGPU_INFO", info::info),
    row(0x46, "AMDGPU_GEM_METADATA", buffers::metadata),
    row(0x47, "AMDGPU_GEM_WAIT_IDLE", waits::idle),
    row(0x48, "AMDGPU_GEM_VA", buffers::va),
    row(0x49, "AMDGPU_WAIT_CS", waits::submission),
    row(0x50, "AMDGPU_GEM_OP", buffers::operation),
    row(0x52, "AMDGPU_WAIT_FENCES", waits::fences),
    row(0x53, "AMDGPU_VM", contexts::vm),
    row(0x54, "AMDGPU_FENCE_TO_HANDLE", syncobjs::of_fence),
    row(0x55, "AMDGPU_SCHED", contexts::schedule),
    row(0xbf, "SYNCOBJ_CREATE", syncobjs::create),
    row(0xc0, "SYNCOBJ_DESTROY", syncobjs::destroy),
    row(0xc1, "SYNCOBJ_HANDLE_TO_FD", syncobjs::to_descriptor),
    row(0xc2, "SYNCOBJ_FD_TO_HANDLE", syncobjs::from_descriptor),
    row(0xc3, "SYNCOBJ_WAIT", waits::syncobjs),
    row(0xc4, "SYNCOBJ_RESET", syncobjs::reset),
    row(0xc5, "SYNCOBJ_SIGNAL", syncobjs::signal),
    row(0xca, "SYNCOBJ_TIMELINE_WAIT", waits::timelines),
    row(0xcb, "SYNCOBJ_QUERY", syncobjs::query),
    row(0xcc, "SYNCOBJ_TRANSFER", syncobjs::transfer),
    row(0xcd, "SYNCOBJ_TIMELINE_SIGNAL", syncobjs::signal_timelines),
    row(0x01, "GET_UNIQUE", core::only_primary_nodes),
    row(0x07, "SET_VERSION", core::only_primary_nodes),
];

/// Names of ioctls that drivers may try and that are not answered.
const UNANSWERED: [(u8, &str); 4] =
    [(0x51, "AMDGPU_GEM_USERPTR"), (0x0a, "GEM_FLINK"), (0x0b, "GEM_OPEN"), (0xc6, "MODE_GET_LEASE")];

/// Carries out a call; its status.
pub(super) fn call(file: &OpenFile, call: &mut Call) -> i32 {
    let number = wire::number(call.code);
    let row = ROWS.iter().find(|row| row.number == number);
    let done = match row {
        Some(row) => (row.handle)(file, call),
        None => {
            let name = UNANSWERED.iter().find(|(n, _)| *n == number).map_or("", |(_, name)| name);
            file.device.report.unanswered(&format!("ioctl {number:#04x} {name}"));
            Err(EINVAL)
        }
    };
    match done {
        Ok(()) => 0,
        Err(error) => {
            log::debug!("{} gives error {}", row.map_or("ioctl", |r| r.name), error.0);
            -error.0
        }
    }
}

/// An ioctl: its structure, and what its pointers lead to.
pub(super) struct Call {
    code: u32,
    structure: Vec<u8>,
    /// Inode of the descriptor that came with it.
    inode: u64,
    parts: Vec<Part>,
}

/// What one pointer leads to.
enum Part {
    /// Bytes from the program.
    In(Vec<u8>),
    /// Room for bytes to the program, and the bytes.
    Out(usize, Vec<u8>),
    /// Chunks of a submission: number and dwords.
    Chunks(Vec<(u32, Vec<u32>)>),
}

impl Call {
    /// Reads a call; `None` if the bytes do not follow the format.
    pub(super) fn parse(head: &wire::Head, body: &[u8]) -> Option<Call> {
        let (structure, mut rest) = body.split_at_checked(wire::structure_bytes(head.code))?;
        let mut parts = Vec::new();
        for pointer in wire::pointers(head.code, structure) {
            parts.push(part(pointer.way, &mut rest)?);
        }
        rest.is_empty().then(|| Call {
            code: head.code,
            structure: structure.to_vec(),
            inode: head.inode,
            parts,
        })
    }

    /// The answer: the structure and what goes to the program.
    pub(super) fn answer(&self) -> Vec<u8> {
        let mut answer = self.structure.clone();
        for part in &self.parts {
            if let Part::Out(_, bytes) = part {
                answer.extend((bytes.len() as u32).to_le_bytes());
                answer.extend(bytes);
            }
        }
        answer
    }

    /// A 32-bit field.
    fn u32(&self, at: usize) -> u32 {
        wire::field(&self.structure, at)
    }

    /// A 64-bit field.
    fn u64(&self, at: usize) -> u64 {
        wire::long(&self.structure, at)
    }

    /// Sets a field, as far as the structure goes.
    fn put(&mut self, at: usize, bytes: &[u8]) {
        let end = self.structure.len().min(at + bytes.len());
        if let Some(place) = self.structure.get_mut(at..end) {
            place.copy_from_slice(&bytes[..place.len()]);
        }
    }

    fn put_u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    fn put_u64(&mut self, at: usize, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    /// What the pointer of that place among the ioctl's brought.
    fn input(&self, which: usize) -> &[u8] {
        match self.parts.get(which) {
            Some(Part::In(bytes)) => bytes,
            _ => &[],
        }
    }

    /// The same as 32-bit words.
    fn words(&self, which: usize) -> Vec<u32> {
        self.input(which).as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
    }

    /// The same as 64-bit words.
    fn longs(&self, which: usize) -> Vec<u64> {
        self.input(which).as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect()
    }

    /// The chunks of a submission.
    fn chunks(&self) -> &[(u32, Vec<u32>)] {
        match self.parts.first() {
            Some(Part::Chunks(chunks)) => chunks,
            _ => &[],
        }
    }

    /// Gives the pointer of that place what fits of `bytes`.
    fn output(&mut self, which: usize, bytes: &[u8]) {
        if let Some(Part::Out(room, out)) = self.parts.get_mut(which) {
            *out = bytes[..bytes.len().min(*room)].to_vec();
        }
    }
}

fn part(way: Way, rest: &mut &[u8]) -> Option<Part> {
    let length = take_word(rest)? as usize;
    match way {
        Way::Out => Some(Part::Out(length, Vec::new())),
        Way::In => take(rest, length).map(|bytes| Part::In(bytes.to_vec())),
        Way::Chunks => (0..length).map(|_| chunk(rest)).collect::<Option<_>>().map(Part::Chunks),
    }
}

fn chunk(rest: &mut &[u8]) -> Option<(u32, Vec<u32>)> {
    let id = take_word(rest)?;
    let bytes = (take_word(rest)? as usize).checked_mul(4)?;
    let words = take(rest, bytes)?.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
    Some((id, words))
}

fn take<'a>(rest: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(bytes)?;
    *rest = tail;
    Some(head)
}

fn take_word(rest: &mut &[u8]) -> Option<u32> {
    take(rest, 4).map(|bytes| wire::field(bytes, 0))
}

#[cfg(test)]
mod tests;
