//! The file that keeps compiled pipelines from one process to the next.

use std::path::{Path, PathBuf};

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

    /// What was kept, if anything was.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        std::fs::read(&self.0).ok()
    }

    /// Keeps data, all or nothing. A cache that cannot be kept is only worth a warning.
    pub(crate) fn write(&self, data: &[u8]) {
        let temporary = self.0.with_extension(format!("{}.tmp", std::process::id()));
        let folder = self.0.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&temporary, data))
            .and_then(|()| std::fs::rename(&temporary, &self.0));
        if let Err(e) = written {
            log::warn!("the pipeline cache {} was not kept: {e}", self.0.display());
        }
    }
}
