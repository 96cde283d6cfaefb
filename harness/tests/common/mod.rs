//! What the integration tests share.
#![expect(clippy::unwrap_used, reason = "a test that cannot list its inputs has to stop")]

use std::path::{Path, PathBuf};

/// The captures that stand in the repository, by name.
pub(crate) fn own_captures() -> Vec<PathBuf> {
    captures_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("captures"))
}

/// The larger collection in a `shared` folder beside the workspace or above it, empty where there is none.
pub(crate) fn shared_captures() -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["../shared/captures/amd", "../../shared/captures/amd"].map(|f| workspace.join(f));
    folders.iter().map(|f| captures_in(f)).find(|c| !c.is_empty()).unwrap_or_default()
}

/// A capture's name: its file name without the extensions.
pub(crate) fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    name.trim_end_matches(".zst").trim_end_matches(".cap").to_owned()
}

fn captures_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.to_string_lossy().ends_with(".cap.zst"));
    paths.sort();
    paths
}
