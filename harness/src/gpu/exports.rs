//! Objects that a program holds by a file descriptor: shared buffers and synchronization objects.
//!
//! The descriptor is one of an empty memory file of the object's size; the file's inode number says which object it is, in
//! whatever process and however often it is duplicated. An exported object lives until the open file that exported it
//! is closed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Resource, getrlimit};

use super::lock;
use super::store::Bo;
use super::syncobj::Syncobj;

/// An object that is known outside of its open file.
#[derive(Clone, Debug)]
pub(super) enum Object {
    /// A buffer object.
    Buffer(Arc<Bo>),
    /// A synchronization object.
    Syncobj(Arc<Syncobj>),
}

impl Object {
    fn is(&self, other: &Object) -> bool {
        match (self, other) {
            (Object::Buffer(a), Object::Buffer(b)) => Arc::ptr_eq(a, b),
            (Object::Syncobj(a), Object::Syncobj(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    fn size(&self) -> u64 {
        match self {
            Object::Buffer(bo) => bo.size,
            Object::Syncobj(_) => 0,
        }
    }
}

#[derive(Debug)]
struct Export {
    /// The open file that exported it.
    by: u64,
    object: Object,
    file: File,
}

/// The most exported objects: half of the descriptors that this process may have, so that programs can still be served.
fn most() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(limit / 2).unwrap_or(usize::MAX)
}

/// All exported objects, by inode.
#[derive(Debug, Default)]
pub(super) struct Exports(Mutex<BTreeMap<u64, Export>>);

impl Exports {
    /// A descriptor of this process for an object, to be opened by the program.
    pub(super) fn export(&self, by: u64, object: Object) -> io::Result<u32> {
        let mut exports = lock(&self.0);
        let known = exports.values().find(|e| e.by == by && e.object.is(&object));
        if let Some(export) = known {
            return Ok(export.file.as_raw_fd().cast_unsigned());
        }
        if exports.len() >= most() {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        }
        let file = File::from(memfd_create("guestwave-shared", MemfdFlags::CLOEXEC)?);
        file.set_len(object.size())?;
        let descriptor = file.as_raw_fd().cast_unsigned();
        exports.insert(file.metadata()?.ino(), Export { by, object, file });
        Ok(descriptor)
    }

    /// The object of an inode.
    pub(super) fn find(&self, inode: u64) -> Option<Object> {
        lock(&self.0).get(&inode).map(|e| e.object.clone())
    }

    /// Forgets what an open file exported.
    pub(super) fn forget(&self, by: u64) {
        lock(&self.0).retain(|_, e| e.by != by);
    }
}
