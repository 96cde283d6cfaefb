//! The capture file: what a driver gave its kernel device, in order.
//!
//! A `.cap` file ("AMDCAP1", version 1, little endian) is a 40-byte header and then records: a four-letter tag, the
//! size of the body, the body, and zeros up to a multiple of 8. Records build the state that the next submission
//! sees; [`Record`] has one variant a tag. `.cap.zst` is the same compressed with zstd.
//!
//! The reader takes hostile files: every size and count is checked against the bytes that are there before anything
//! is allocated, decompression stops at [`MAX_CAPTURE_BYTES`], and an error carries the byte offset. What
//! [`Capture::parse`] accepts, [`Capture::to_bytes`] writes back byte for byte.

mod body;
mod error;
mod file;
mod reader;
mod record;
mod writer;

pub use error::{CAPTURE_ERRORS, CaptureError};
pub use file::{MAX_CAPTURE_BYTES, load, read, store};
pub use record::*;

/// Bytes of a guest page, the unit of page records.
pub const PAGE_BYTES: usize = 4096;

/// Bytes of the file header.
pub const HEADER_BYTES: usize = 40;

/// "AMDCAP1\0" as a little-endian word.
pub const MAGIC: u64 = 0x0031_5041_4344_4d41;

/// The one version there is.
pub const VERSION: u32 = 1;

/// A capture in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The GPU's name as recorded: `navi21`, `navi10`.
    pub gpu: String,
    /// The records in file order.
    pub records: Vec<Record>,
}

impl Capture {
    /// Reads the bytes of an uncompressed capture.
    ///
    /// # Errors
    /// The first thing that does not follow the format, with its byte offset.
    pub fn parse(bytes: &[u8]) -> Result<Capture, CaptureError> {
        reader::parse(bytes)
    }

    /// The bytes of the capture's uncompressed file.
    ///
    /// # Errors
    /// A name, text or body too long for its field.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CaptureError> {
        writer::write(self)
    }
}

#[cfg(test)]
mod tests;
