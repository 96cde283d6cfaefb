//! What can be wrong with a capture file.

use crate::codes::coded_errors;

coded_errors! {
    /// A file that is not a capture; offsets count bytes of the uncompressed file.
    CaptureError: CAPTURE_ERRORS;
    /// The file could not be read or written.
    Io { error: String } = "HN-CAP-001", "the file could not be read or written: {error}";
    /// The header is not that of AMDCAP1 version 1 with 4096-byte pages.
    Header { offset: usize, field: &'static str, found: u64, expected: u64 } = "HN-CAP-002",
        "at byte {offset:#x}: {field} is {found:#x}; AMDCAP1 version 1 has {expected:#x} there";
    /// The file ends inside something.
    Truncated { offset: usize, what: &'static str, needed: usize, left: usize } = "HN-CAP-003",
        "at byte {offset:#x}: {what} needs {needed} bytes, {left} are left";
    /// A record with a tag that version 1 does not have.
    UnknownTag { offset: usize, tag: u32, letters: String } = "HN-CAP-004",
        "at byte {offset:#x}: unknown record {tag:#010x} ({letters})";
    /// A body whose size or counts do not fit its tag.
    BadBody { offset: usize, tag: &'static str, problem: &'static str } = "HN-CAP-005",
        "at byte {offset:#x}: {tag} {problem}";
    /// The uncompressed file would be larger than is read.
    TooLarge { limit: u64 } = "HN-CAP-006", "the capture is larger than {limit} bytes when uncompressed";
    /// A capture in memory that no file can hold.
    Unwritable { what: &'static str } = "HN-CAP-007", "{what} does not fit its field";
}

impl From<std::io::Error> for CaptureError {
    fn from(error: std::io::Error) -> Self {
        CaptureError::Io { error: error.to_string() }
    }
}

impl CaptureError {
    /// A record with an unknown tag.
    pub(super) fn unknown_tag(offset: usize, tag: u32) -> Self {
        let letter = |b: u8| if b.is_ascii_graphic() { char::from(b) } else { '.' };
        let letters = tag.to_le_bytes().into_iter().map(letter).collect();
        CaptureError::UnknownTag { offset, tag, letters }
    }
}
