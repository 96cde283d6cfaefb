//! The file that keeps compiled pipelines from one process to the next.
//!
//! What a driver is given back must be what it gave: drivers look at the header of their data, few at the rest. A file therefore
//! begins with a word of our own and a sum of what follows; one that does not add up, or was written by something else, is
//! as good as none. Files are replaced whole, so that a process that ends while it writes leaves the old one.

use std::path::{Path, PathBuf};

/// What files begin with.
const MAGIC: [u8; 8] = *b"GWPIPES1";
/// Bytes of the word and the sum.
const HEADER: usize = 16;

/// A file of one adapter and driver.
pub(crate) struct CacheFile(PathBuf);

impl CacheFile {
    /// The file in `folder` for an adapter.
    pub(crate) fn new(folder: &Path, info: &wgpu::AdapterInfo) -> Option<Self> {
        let key = wgpu::util::pipeline_cache_key(info)?;
        let driver: String =
            info.driver_info.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        Some(CacheFile(folder.join(format!("{key}_{driver}"))))
    }

    /// What was kept, if anything was and it is whole.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        let bytes = std::fs::read(&self.0).ok()?;
        let (header, data) = bytes.split_at_checked(HEADER)?;
        if header == self::header(data) {
            return Some(data.to_vec());
        }
        log::warn!("the pipeline cache {} is damaged and is not used", self.0.display());
        None
    }

    /// Keeps data, all or nothing. A cache that cannot be kept is only worth a warning.
    pub(crate) fn write(&self, data: &[u8]) {
        let temporary = self.0.with_extension(format!("{}.tmp", std::process::id()));
        let folder = self.0.parent().unwrap_or(Path::new("."));
        let bytes = [&header(data)[..], data].concat();
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&temporary, bytes))
            .and_then(|()| std::fs::rename(&temporary, &self.0));
        if let Err(e) = written {
            log::warn!("the pipeline cache {} was not kept: {e}", self.0.display());
        }
    }
}

fn header(data: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..].copy_from_slice(&sum(data).to_le_bytes());
    header
}

/// FNV-1a, 64 bits: good enough against accidents.
fn sum(data: &[u8]) -> u64 {
    data.iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in a folder of its own, which is not there yet.
    fn file(name: &str) -> CacheFile {
        let folder = std::env::temp_dir().join(format!("guestwave-cache-{}-{name}", std::process::id()));
        _ = std::fs::remove_dir_all(&folder);
        CacheFile(folder.join("pipelines"))
    }

    #[test]
    fn what_was_kept_is_read_again() {
        let file = file("kept");
        assert_eq!(file.read(), None);
        for data in [&b"pipelines"[..], b"", b"others"] {
            file.write(data);
            assert_eq!(file.read().as_deref(), Some(data));
        }
        let left = std::fs::read_dir(file.0.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "nothing else is left in the folder");
    }

    #[test]
    fn damaged_and_foreign_files_are_not_used() {
        let file = file("damaged");
        file.write(b"pipelines");
        let whole = std::fs::read(&file.0).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&file.0, bytes).unwrap();
            assert_eq!(file.read(), None, "bit {bit}");
        }
        for length in 0..whole.len() {
            std::fs::write(&file.0, &whole[..length]).unwrap();
            assert_eq!(file.read(), None, "{length} bytes");
        }
    }
}
