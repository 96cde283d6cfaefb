//! From an ioctl's structure to a request, and from the answer back.

use std::ffi::{c_int, c_long, c_void};

use crate::link::{self, Connection};
use crate::sys::{self, Result, Stat};
use crate::wire::{self, ANSWER_BYTES, HEAD_BYTES, Head, MAX_BYTES, Pointer, Way};

/// Carries out an ioctl on an open file of the node.
///
/// # Safety
/// `argument` points to the structure that the request number describes, and its pointers to what the interface says.
pub(crate) unsafe fn ioctl(file: u64, code: u32, argument: *mut c_void) -> Result<c_long> {
    let bytes = wire::structure_bytes(code);
    if argument.is_null() && bytes > 0 {
        return Err(sys::EFAULT);
    }
    let mut nothing = [0u8; 0];
    let start = if bytes == 0 { nothing.as_mut_ptr() } else { argument.cast() };
    // SAFETY: the caller answers for the structure.
    let structure = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
    // SAFETY: as above.
    let request = unsafe { request(file, code, structure) }?;
    let connection = Connection::take()?;
    let mut head = [0; ANSWER_BYTES];
    connection.ask(&request, &mut head)?;
    let status = wire::field(&head, 4).cast_signed();
    let mut answer = vec![0; wire::field(&head, 0) as usize];
    connection.rest(&mut answer)?;
    connection.keep();
    // SAFETY: as above.
    unsafe { take_answer(code, structure, &answer) }?;
    match status {
        error if error < 0 => Err(-error),
        value => receive_descriptor(code, structure).map(|()| c_long::from(value)),
    }
}

/// The request of an ioctl.
///
/// # Safety
/// The pointers in `structure` lead to what the interface says, as far as they are not null.
unsafe fn request(file: u64, code: u32, structure: &[u8]) -> Result<Vec<u8>> {
    let mut request = vec![0; HEAD_BYTES];
    request.extend_from_slice(structure);
    for pointer in wire::pointers(code, structure) {
        // SAFETY: the caller answers for the pointers.
        unsafe { part(&mut request, pointer, structure) }?;
    }
    let bytes = request.len() - HEAD_BYTES;
    if bytes > MAX_BYTES {
        return Err(sys::ENOMEM);
    }
    let head = Head { bytes: bytes as u32, code, file, inode: inode(code, structure) };
    request[..HEAD_BYTES].copy_from_slice(&head.to_bytes());
    Ok(request)
}

/// One pointer's part.
///
/// # Safety
/// As [`request`], for this pointer.
unsafe fn part(request: &mut Vec<u8>, pointer: &Pointer, structure: &[u8]) -> Result<()> {
    let address = wire::long(structure, pointer.at);
    let bytes = wire::length(pointer, structure);
    let bytes = if address == 0 && pointer.way == Way::Out { 0 } else { bytes };
    // An answer may fill less than there is room for.
    let bytes = if pointer.way == Way::Out { bytes.min(MAX_BYTES) } else { bytes };
    request.extend_from_slice(&(bytes as u32).to_le_bytes());
    match pointer.way {
        // SAFETY: the caller answers for the pointer.
        Way::In => request.extend_from_slice(unsafe { bytes_at(address, bytes) }?),
        Way::Out => (),
        Way::Chunks if bytes > MAX_BYTES / 8 || (address == 0 && bytes > 0) => return Err(sys::EFAULT),
        // SAFETY: as above.
        Way::Chunks => unsafe { chunks(request, address as *const u64, bytes) }?,
    }
    Ok(())
}

/// A submission's chunks.
///
/// # Safety
/// `pointers` leads to `count` addresses, each null or of a chunk of four dwords, whose own pointer leads to as many dwords as the
/// chunk says.
unsafe fn chunks(request: &mut Vec<u8>, pointers: *const u64, count: usize) -> Result<()> {
    for i in 0..count {
        // SAFETY: the caller answers for `count` pointers, each to a chunk.
        let chunk = unsafe { pointers.add(i).read_unaligned() } as *const [u32; 4];
        if chunk.is_null() {
            return Err(sys::EFAULT);
        }
        // SAFETY: as above.
        let [id, dwords, low, high] = unsafe { chunk.read_unaligned() };
        let data = u64::from(high) << 32 | u64::from(low);
        // SAFETY: a chunk says how many dwords its pointer leads to.
        let data = unsafe { bytes_at(data, (dwords as usize).saturating_mul(4)) }?;
        // SAFETY: the caller answers for the pointer in the chunk.
        let entries = if id == wire::LIST_CHUNK { unsafe { entries(data) }? } else { &[] };
        let dwords = dwords + (entries.len() / 4) as u32;
        request.extend_from_slice(&id.to_le_bytes());
        request.extend_from_slice(&dwords.to_le_bytes());
        request.extend_from_slice(data);
        request.extend_from_slice(entries);
    }
    Ok(())
}

/// The entries of a list of buffer objects.
///
/// # Safety
/// The pointer in `list` is null or leads to as many bytes as its count and its size of an entry make.
unsafe fn entries(list: &[u8]) -> Result<&'static [u8]> {
    let bytes = (wire::field(list, 8) as usize).saturating_mul(wire::field(list, 12) as usize);
    if !bytes.is_multiple_of(4) {
        return Err(sys::EINVAL);
    }
    // SAFETY: the caller answers for the pointer and the count.
    unsafe { bytes_at(wire::long(list, wire::LIST_POINTER), bytes) }
}

/// Bytes of the program.
///
/// # Safety
/// `address` is 0 or that of `bytes` bytes which nobody changes before the call returns.
unsafe fn bytes_at(address: u64, bytes: usize) -> Result<&'static [u8]> {
    match (address, bytes) {
        (_, 0) => Ok(&[]),
        (0, _) => Err(sys::EFAULT),
        (_, bytes) if bytes > MAX_BYTES => Err(sys::EINVAL),
        // SAFETY: the caller answers for the bytes; they are copied before the call returns.
        _ => Ok(unsafe { std::slice::from_raw_parts(address as *const u8, bytes) }),
    }
}

/// The inode of a descriptor that the structure brings in.
fn inode(code: u32, structure: &[u8]) -> u64 {
    let Some(descriptor) = wire::descriptor(code, Way::In) else { return 0 };
    let mut stat = Stat::of(0, 0, 0);
    let number = wire::field(structure, descriptor.at).cast_signed();
    sys::fstat(number, &mut stat).map_or(0, |_| stat.inode())
}

/// Copies an answer to where it belongs. Pointers and room are those of the request, whatever the answer changed.
///
/// # Safety
/// The outward pointers in `structure` are null or have the room that the structure says.
unsafe fn take_answer(code: u32, structure: &mut [u8], answer: &[u8]) -> Result<()> {
    let Some((new, mut parts)) = answer.split_at_checked(structure.len()) else { return Ok(()) };
    for pointer in wire::pointers(code, structure).filter(|p| p.way == Way::Out) {
        let bytes = wire::field(parts, 0) as usize;
        let Some(data) = parts.get(4..4 + bytes) else { return Err(sys::EIO) };
        let room = wire::length(pointer, structure);
        let to = wire::long(structure, pointer.at) as *mut u8;
        if !to.is_null() && bytes > 0 && bytes <= room {
            // SAFETY: the caller answers for `room` bytes behind the pointer.
            unsafe { to.copy_from_nonoverlapping(data.as_ptr(), bytes) };
        }
        parts = &parts[4 + bytes..];
    }
    structure.copy_from_slice(new);
    Ok(())
}

/// Makes a descriptor of the executor one of this process.
fn receive_descriptor(code: u32, structure: &mut [u8]) -> Result<()> {
    let Some(descriptor) = wire::descriptor(code, Way::Out) else { return Ok(()) };
    let number = wire::field(structure, descriptor.at).to_string();
    let own: c_int = link::borrow(number.as_bytes())?;
    if let Some(place) = structure.get_mut(descriptor.at..descriptor.at + 4) {
        place.copy_from_slice(&own.to_le_bytes());
    }
    Ok(())
}
