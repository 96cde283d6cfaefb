//! Dumps of Mali guest memory.
//!
//! A dump is text: a line `segment ADDRESS len BYTES` maps zeros, a line `ADDRESS: BYTE BYTE ...` stores bytes; addresses and bytes
//! are hexadecimal, the length is decimal.

pub mod attributes;

use crate::capture::{BufferObject, VA_WRITABLE, VaKind, VaOp};
use crate::codes::coded_errors;
use crate::memory::CaptureMemory;

use guestwave_cp::GuestMemory;

/// Bytes of a page: segments are mapped in whole ones.
const PAGE: u64 = 4096;

coded_errors! {
    /// A dump that does not say what memory holds.
    DumpError: DUMP_ERRORS;
    /// A line that is neither a segment nor bytes.
    Line { line: usize } = "HN-DMP-001",
        "line {line} is neither `segment ADDRESS len BYTES` nor `ADDRESS: BYTES`";
    /// A segment that cannot be.
    Segment { line: usize, reason: String } = "HN-DMP-002", "the segment of line {line} cannot be mapped: {reason}";
    /// Bytes outside of every segment.
    Bytes { line: usize, address: u64 } = "HN-DMP-003",
        "line {line} stores bytes at {address:#x}, which no segment before it maps";
}

/// The memory that a dump describes.
///
/// # Errors
/// The first line that has no meaning.
pub fn read_dump(text: &str) -> Result<CaptureMemory, DumpError> {
    let memory = CaptureMemory::new();
    for (line, content) in (1..).zip(text.lines()) {
        let words: Vec<&str> = content.split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["segment", address, "len", bytes] => segment(&memory, line, address, bytes)?,
            [address, bytes @ ..] => store(&memory, line, address, bytes)?,
        }
    }
    Ok(memory)
}

fn segment(memory: &CaptureMemory, line: usize, address: &str, bytes: &str) -> Result<(), DumpError> {
    let address = hex(address).ok_or(DumpError::Line { line })?;
    let bytes = bytes.parse().map_err(|_| DumpError::Line { line })?;
    map_zeros(memory, address, bytes).map_err(|reason| DumpError::Segment { line, reason })
}

fn store(memory: &CaptureMemory, line: usize, address: &str, bytes: &[&str]) -> Result<(), DumpError> {
    let address = address.strip_suffix(':').and_then(hex).ok_or(DumpError::Line { line })?;
    let bytes: Option<Vec<u8>> = bytes.iter().map(|b| u8::from_str_radix(b, 16).ok()).collect();
    let bytes = bytes.ok_or(DumpError::Line { line })?;
    memory.write(address, &bytes).map_err(|_| DumpError::Bytes { line, address })
}

/// A hexadecimal number, with or without `0x`.
pub fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()
}

/// Maps the pages that hold `bytes` from `address` on, as zeros.
///
/// # Errors
/// A sentence about a range that cannot be mapped.
pub fn map_zeros(memory: &CaptureMemory, address: u64, bytes: u64) -> Result<(), String> {
    let start = address / PAGE * PAGE;
    let size = (address - start).saturating_add(bytes).div_ceil(PAGE).saturating_mul(PAGE).max(PAGE);
    // The page's number names its buffer object.
    let bo = u32::try_from(start / PAGE).map_err(|_| format!("{address:#x} is not a 44-bit address"))?;
    let object = BufferObject { bo, handle: bo, size, domains: 2, flags: 0, userptr: 0 };
    memory.create(&object).map_err(|e| e.to_string())?;
    let op = VaOp { bo, kind: VaKind::Map, flags: 2 | VA_WRITABLE, va: start, offset: 0, size };
    memory.va(&op).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_maps_and_stores() {
        let memory = read_dump("segment 12ff0 len 32\n12ffe: 01 02 03 04\n\n").unwrap();
        let mut bytes = [9; 8];
        memory.read(0x12ffc, &mut bytes).unwrap();
        assert_eq!(bytes, [0, 0, 1, 2, 3, 4, 0, 0]);
        assert!(memory.read(0x15000, &mut bytes).is_err());
    }

    #[test]
    fn bad_dumps_are_refused_by_line() {
        let code = |text: &str| read_dump(text).err().map(|e| e.code());
        assert_eq!(code("segment x len 32"), Some("HN-DMP-001"));
        assert_eq!(code("12: zz"), Some("HN-DMP-001"));
        assert_eq!(code("12 00"), Some("HN-DMP-001"));
        assert_eq!(code("12: 00"), Some("HN-DMP-003"));
        assert_eq!(code("segment 0 len 32\nsegment 10 len 32"), Some("HN-DMP-002"));
        assert_eq!(code("segment 0 len 99999999999999999"), Some("HN-DMP-002"));
    }
}
