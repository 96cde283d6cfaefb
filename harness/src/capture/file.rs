//! Capture files on disk, compressed or not.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::{Capture, CaptureError};

/// The largest capture that is read, in uncompressed bytes.
pub const MAX_CAPTURE_BYTES: u64 = 2 << 30;

/// What a zstd frame begins with.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// zstd level of [`store`]: small captures are read far more often than written.
const LEVEL: i32 = 19;

/// Reads a capture file; whether it is compressed follows from its first bytes, not from its name.
///
/// # Errors
/// The file cannot be read, is too large, or is not a capture.
pub fn load(path: &Path) -> Result<Capture, CaptureError> {
    read(fs::File::open(path)?)
}

/// As [`load`], from anything that can be read.
///
/// # Errors
/// As [`load`].
pub fn read(mut from: impl Read) -> Result<Capture, CaptureError> {
    let mut start = Vec::new();
    from.by_ref().take(4).read_to_end(&mut start)?;
    let compressed = start == ZSTD_MAGIC;
    let whole = io::Cursor::new(start).chain(from);
    let bytes = match compressed {
        true => bounded(zstd::stream::read::Decoder::new(whole)?, MAX_CAPTURE_BYTES)?,
        false => bounded(whole, MAX_CAPTURE_BYTES)?,
    };
    Capture::parse(&bytes)
}

/// Writes a capture file, compressed if its name ends in `.zst`.
///
/// # Errors
/// The capture does not fit the format, or the file cannot be written.
pub fn store(capture: &Capture, path: &Path) -> Result<(), CaptureError> {
    let bytes = capture.to_bytes()?;
    let bytes = match path.extension().is_some_and(|e| e == "zst") {
        true => zstd::encode_all(bytes.as_slice(), LEVEL)?,
        false => bytes,
    };
    Ok(fs::write(path, bytes)?)
}

/// All of `from`, which must not exceed `limit` bytes.
pub(super) fn bounded(from: impl Read, limit: u64) -> Result<Vec<u8>, CaptureError> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(CaptureError::TooLarge { limit }),
        false => Ok(bytes),
    }
}
