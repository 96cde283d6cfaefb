//! Files that a command takes whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The most bytes that are read of one file: a device or a pipe may have no end.
const MAX_BYTES: u64 = 1 << 30;

/// A file's bytes.
///
/// # Errors
/// The file cannot be read, or is larger than is read; the sentence names it.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let file = || File::open(path).map_err(anyhow::Error::from).and_then(|file| bounded(file, MAX_BYTES));
    file().with_context(|| format!("cannot read {}", path.display()))
}

/// A file's bytes, those of stdin for `-`.
///
/// # Errors
/// As [`bytes`].
pub(super) fn bytes_or_stdin(path: &Path) -> Result<Vec<u8>> {
    match path.as_os_str() == "-" {
        true => bounded(io::stdin().lock(), MAX_BYTES).context("cannot read stdin"),
        false => bytes(path),
    }
}

/// A file's text.
///
/// # Errors
/// As [`bytes`], and the file is not UTF-8.
pub(super) fn text(path: &Path) -> Result<String> {
    decoded(path, bytes(path)?)
}

/// A file's text, that of stdin for `-`.
///
/// # Errors
/// As [`text`].
pub(super) fn text_or_stdin(path: &Path) -> Result<String> {
    decoded(path, bytes_or_stdin(path)?)
}

fn decoded(path: &Path, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).with_context(|| format!("cannot read {}", path.display()))
}

fn bounded(from: impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => bail!("it is larger than {limit} bytes"),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        assert_eq!(bounded(io::repeat(7).take(4), 4).ok(), Some(vec![7; 4]));
        let endless = bounded(io::repeat(7), 4).map_err(|e| e.to_string());
        assert_eq!(endless, Err("it is larger than 4 bytes".to_owned()));
    }
}
