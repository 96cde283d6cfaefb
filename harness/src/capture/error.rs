//! What can be wrong with a capture file.

/// A file that is not a capture, with the byte offset (of the uncompressed file) where that shows.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// HN-CAP-001: the file could not be read or written.
    #[error("HN-CAP-001: {0}")]
    Io(#[from] std::io::Error),
    /// HN-CAP-002: the header is not AMDCAP1 version 1 with 4096-byte pages.
    #[error(
        "HN-CAP-002: at byte {offset:#x}: {field} is {found:#x}; AMDCAP1 version 1 has {expected:#x} there"
    )]
    Header {
        /// Where the field stands.
        offset: usize,
        /// The field.
        field: &'static str,
        /// What is there.
        found: u64,
        /// What belongs there.
        expected: u64,
    },
    /// HN-CAP-003: the file ends inside something.
    #[error("HN-CAP-003: at byte {offset:#x}: {what} needs {needed} bytes, {left} are left")]
    Truncated {
        /// Where it begins.
        offset: usize,
        /// What is cut off.
        what: &'static str,
        /// Bytes it needs.
        needed: usize,
        /// Bytes left.
        left: usize,
    },
    /// HN-CAP-004: a record with a tag that version 1 does not have.
    #[error("HN-CAP-004: at byte {offset:#x}: unknown record {tag:#010x} ({})", printable(*tag))]
    UnknownTag {
        /// Where the record begins.
        offset: usize,
        /// The tag, first letter lowest.
        tag: u32,
    },
    /// HN-CAP-005: a body whose size or counts do not fit its tag.
    #[error("HN-CAP-005: at byte {offset:#x}: {tag} {problem}")]
    BadBody {
        /// Where the trouble is.
        offset: usize,
        /// The record's tag.
        tag: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
    /// HN-CAP-006: the uncompressed file would be larger than is read.
    #[error("HN-CAP-006: the capture is larger than {limit} bytes when uncompressed")]
    TooLarge {
        /// The limit, [`MAX_CAPTURE_BYTES`](super::MAX_CAPTURE_BYTES).
        limit: u64,
    },
    /// HN-CAP-007: a capture in memory that no file can hold.
    #[error("HN-CAP-007: {what} does not fit its field")]
    Unwritable {
        /// What is too long.
        what: &'static str,
    },
}

/// The tag's letters, with dots for what is not printable.
fn printable(tag: u32) -> String {
    tag.to_le_bytes().iter().map(|b| if b.is_ascii_graphic() { char::from(*b) } else { '.' }).collect()
}
