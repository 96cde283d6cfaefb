//! The preloaded library, which this executable carries.

use std::fs::File;
use std::io::{self, Write};

use rustix::fs::{MemfdFlags, memfd_create};

/// The library, compiled by the build script.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libguestwave_virtual_gpu.so"));

/// The library as a file in memory, which the dynamic linker opens by the name of its descriptor. Nothing is left on disk.
///
/// # Errors
/// The host has no memory files.
pub(super) fn file() -> io::Result<File> {
    let mut file = File::from(memfd_create("guestwave-virtual-gpu", MemfdFlags::CLOEXEC)?);
    file.write_all(LIBRARY)?;
    Ok(file)
}
