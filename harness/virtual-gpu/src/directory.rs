//! Folders that are not there, as `opendir` and `readdir` show them.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A `struct dirent` of 64-bit Linux.
#[repr(C)]
pub(crate) struct Dirent {
    inode: u64,
    offset: i64,
    bytes: u16,
    kind: u8,
    name: [u8; 256],
}

/// A folder being read.
struct Listing {
    names: &'static [&'static CStr],
    next: usize,
    entry: Dirent,
}

/// The folders being read.
static OPEN: [AtomicPtr<Listing>; 32] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 32];

/// Begins to read a folder with these names; null if too many are being read.
pub(crate) fn open(names: &'static [&'static CStr]) -> *mut c_void {
    let entry = Dirent { inode: 1, offset: 0, bytes: size_of::<Dirent>() as u16, kind: 0, name: [0; 256] };
    let listing = Box::into_raw(Box::new(Listing { names, next: 0, entry }));
    let free = |place: &&AtomicPtr<Listing>| {
        place.compare_exchange(std::ptr::null_mut(), listing, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    if OPEN.iter().any(|place| free(&place)) {
        return listing.cast();
    }
    // SAFETY: it was boxed above and nobody else has seen it.
    drop(unsafe { Box::from_raw(listing) });
    std::ptr::null_mut()
}

fn place(folder: *mut c_void) -> Option<&'static AtomicPtr<Listing>> {
    OPEN.iter().find(|place| !folder.is_null() && place.load(Ordering::Acquire).cast() == folder)
}

/// The next entry, null at the end; `None` if the folder is not one of ours.
pub(crate) fn next(folder: *mut c_void) -> Option<*mut Dirent> {
    let listing = place(folder)?.load(Ordering::Acquire);
    // SAFETY: it is in `OPEN`, so it has not been closed, and one thread at a time reads a folder.
    let listing = unsafe { listing.as_mut() }?;
    let Some(name) = listing.names.get(listing.next) else { return Some(std::ptr::null_mut()) };
    listing.next += 1;
    let bytes = name.to_bytes_with_nul();
    listing.entry.offset = listing.next as i64;
    listing.entry.name[..bytes.len()].copy_from_slice(bytes);
    Some(&raw mut listing.entry)
}

/// Closes a folder; whether it was one of ours.
pub(crate) fn close(folder: *mut c_void) -> bool {
    let Some(place) = place(folder) else { return false };
    let listing = place.swap(std::ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: `open` boxed it, and only one `close` gets it.
    drop((!listing.is_null()).then(|| unsafe { Box::from_raw(listing) }));
    true
}
