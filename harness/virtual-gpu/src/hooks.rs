//! The functions of the C library that this library stands before.
//!
//! Each asks whether it is about the virtual GPU and otherwise does what the real one does. The many names of one function
//! (64-bit offsets, checked variants) are rows of the macros at the end.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::ptr;

use crate::sys::{self, Real, Result, Stat, returned, returned_int};
use crate::tree::{self, Entry, Found};
use crate::{directory, link, marshal, wire};

/// `AT_FDCWD`.
const HERE: c_int = -100;

/// `AT_SYMLINK_NOFOLLOW`.
const DO_NOT_FOLLOW: c_int = 0x100;

/// What a path means to this program.
///
/// # Safety
/// `path` is null or a string, as for every function here that takes one.
unsafe fn found(path: *const c_char) -> Found {
    if path.is_null() {
        return Found::Real;
    }
    // SAFETY: it is not null.
    match tree::find(unsafe { CStr::from_ptr(path) }.to_bytes()) {
        Found::Real => Found::Real,
        ours => match link::active() {
            true => ours,
            false => Found::Real,
        },
    }
}

/// `openat`.
///
/// # Safety
/// As [`found`].
unsafe fn open_at(folder: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int {
    // SAFETY: as the caller's.
    let opened = match unsafe { found(path) } {
        // SAFETY: as the caller's.
        Found::Real => unsafe { sys::openat(folder, path, flags, mode) },
        Found::Missing | Found::Entry(Entry::Link(_)) => Err(sys::ENOENT),
        Found::Entry(Entry::Node) => link::open(flags).map(c_long::from),
        Found::Entry(Entry::File(text)) => sys::file_of(&tree::contents(text)).map(c_long::from),
        // A folder that cannot be read by its descriptor.
        Found::Entry(Entry::Folder(_)) => Err(sys::EACCES),
    };
    returned_int(opened)
}

/// `fstatat`.
///
/// # Safety
/// As [`found`]; `out` has room for a `struct stat`.
unsafe fn stat_at(folder: c_int, path: *const c_char, out: *mut Stat, flags: c_int) -> c_int {
    // SAFETY: as the caller's.
    let status = match unsafe { found(path) } {
        // SAFETY: as the caller's.
        Found::Real => unsafe { sys::fstatat(folder, path, out, flags) },
        Found::Missing => Err(sys::ENOENT),
        Found::Entry(entry) => {
            // SAFETY: the caller has room for a `struct stat`.
            unsafe { out.write(status_of(entry, flags & DO_NOT_FOLLOW == 0)) };
            Ok(0)
        }
    };
    returned_int(status)
}

fn status_of(entry: Entry, follow: bool) -> Stat {
    match entry {
        Entry::Link(to) if !follow => Stat::of(0o120_777, 0, to.len() as u64),
        Entry::Folder(_) | Entry::Link(_) => Stat::of(0o040_755, 0, 0),
        Entry::File(text) => Stat::of(0o100_444, 0, tree::contents(text).len() as u64),
        Entry::Node => Stat::of(0o020_666, tree::device_number(), 0),
    }
}

/// `fstat`.
///
/// # Safety
/// `out` is null or has room for a `struct stat`.
unsafe fn stat_open(descriptor: c_int, out: *mut Stat) -> c_int {
    // SAFETY: the caller has room for a `struct stat`; none is null.
    let Some(out) = (unsafe { out.as_mut() }) else { return returned_int(Err(sys::EFAULT)) };
    let status = sys::fstat(descriptor, out);
    if status.is_ok() && out.is_socket() && link::file_of(descriptor).is_some() {
        *out = status_of(Entry::Node, true);
    }
    returned_int(status)
}

/// `statx`, of which the type, the mode and the device number of the node are told.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn statx(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mask: u32,
    out: *mut u8,
) -> c_int {
    // SAFETY: as the caller's.
    match unsafe { found(path) } {
        // SAFETY: as the caller's.
        Found::Real => returned_int(unsafe { sys::statx(folder, path, flags, mask, out) }),
        Found::Missing => returned_int(Err(sys::ENOENT)),
        Found::Entry(entry) => {
            let mode = if entry == Entry::Node { 0o020_666u16 } else { 0o040_755 };
            // SAFETY: a `struct statx` has 256 bytes; the mask, the mode and the device numbers are at 0, 28, 128 and 132.
            unsafe {
                ptr::write_bytes(out, 0, 256);
                out.cast::<u32>().write_unaligned(3);
                out.add(28).cast::<u16>().write_unaligned(mode);
                out.add(128).cast::<u32>().write_unaligned((tree::device_number() >> 8) as u32);
                out.add(132).cast::<u32>().write_unaligned((tree::device_number() & 0xff) as u32);
            }
            0
        }
    }
}

/// `access`.
///
/// # Safety
/// As [`found`].
unsafe fn may_access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: as the caller's.
    let allowed = match unsafe { found(path) } {
        // SAFETY: as the caller's.
        Found::Real => unsafe { sys::faccessat(HERE, path, mode) },
        Found::Missing => Err(sys::ENOENT),
        Found::Entry(_) => Ok(0),
    };
    returned_int(allowed)
}

/// `readlinkat`.
///
/// # Safety
/// As [`found`]; `out` has room for `room` bytes.
unsafe fn read_link(folder: c_int, path: *const c_char, out: *mut c_char, room: usize) -> isize {
    // SAFETY: as the caller's.
    let read = match unsafe { found(path) } {
        // SAFETY: as the caller's.
        Found::Real => unsafe { sys::readlinkat(folder, path, out, room) },
        Found::Missing => Err(sys::ENOENT),
        Found::Entry(Entry::Link(to)) => {
            let bytes = to.len().min(room);
            // SAFETY: the caller has `room` bytes.
            unsafe { out.cast::<u8>().copy_from_nonoverlapping(to.as_ptr(), bytes) };
            Ok(bytes as c_long)
        }
        Found::Entry(_) => Err(sys::EINVAL),
    };
    returned(read) as isize
}

unsafe extern "C" {
    fn fdopen(descriptor: c_int, mode: *const c_char) -> *mut c_void;
    fn malloc(bytes: usize) -> *mut c_void;
}

/// `PATH_MAX`.
const LONGEST_PATH: usize = 4096;

/// The path without links of an entry of ours, in `out` or in memory of the C library's.
///
/// # Safety
/// `path` is a string; `out` is null or has room for [`LONGEST_PATH`] bytes.
unsafe fn resolve(path: *const c_char, out: *mut c_char) -> Result<*mut c_char> {
    // SAFETY: the path was looked up, so it is a string.
    let mut resolved = tree::real_path(unsafe { CStr::from_ptr(path) }.to_bytes());
    resolved.push(0);
    if resolved.len() > LONGEST_PATH {
        return Err(sys::ENAMETOOLONG);
    }
    // SAFETY: plain allocation.
    let to = if out.is_null() { unsafe { malloc(resolved.len()) }.cast() } else { out };
    if to.is_null() {
        return Err(sys::ENOMEM);
    }
    // SAFETY: the caller's buffer has room for the longest path, ours for this one.
    unsafe { to.cast::<u8>().copy_from_nonoverlapping(resolved.as_ptr(), resolved.len()) };
    Ok(to)
}

fn pointer_or_error(result: Result<*mut c_char>) -> *mut c_char {
    result.unwrap_or_else(|error| {
        returned(Err(error));
        ptr::null_mut()
    })
}

type RealPath = unsafe extern "C" fn(*const c_char, *mut c_char) -> *mut c_char;
type RealPathChecked = unsafe extern "C" fn(*const c_char, *mut c_char, usize) -> *mut c_char;
type OpenStream = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut c_void;
type Folder = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type Next = unsafe extern "C" fn(*mut c_void) -> *mut directory::Dirent;
type Close = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The real function of that name and type; every program has it, or it would not call it.
macro_rules! real {
    ($name:literal, $kind:ty) => {{
        static REAL: Real = Real::new($name);
        // SAFETY: the C library's function of that name has that type; null is `None`.
        unsafe { std::mem::transmute::<usize, Option<$kind>>(REAL.address()) }
    }};
}

/// `realpath`.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn realpath(path: *const c_char, out: *mut c_char) -> *mut c_char {
    // SAFETY: as the caller's.
    match unsafe { found(path) } {
        Found::Real => {
            let real = real!(c"realpath", RealPath);
            // SAFETY: as the caller's.
            real.map_or(ptr::null_mut(), |real| unsafe { real(path, out) })
        }
        Found::Missing => pointer_or_error(Err(sys::ENOENT)),
        // SAFETY: as the caller's.
        Found::Entry(_) => pointer_or_error(unsafe { resolve(path, out) }),
    }
}

/// `__realpath_chk`.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn __realpath_chk(path: *const c_char, out: *mut c_char, room: usize) -> *mut c_char {
    // SAFETY: as the caller's.
    match unsafe { found(path) } {
        Found::Real => {
            let real = real!(c"__realpath_chk", RealPathChecked);
            // SAFETY: as the caller's.
            real.map_or(ptr::null_mut(), |real| unsafe { real(path, out, room) })
        }
        Found::Missing => pointer_or_error(Err(sys::ENOENT)),
        // SAFETY: as the caller's.
        Found::Entry(_) => pointer_or_error(unsafe { resolve(path, out) }),
    }
}

/// `fopen`; `real` is the real one.
///
/// # Safety
/// As [`found`]; `mode` is a string.
unsafe fn open_stream(path: *const c_char, mode: *const c_char, real: Option<OpenStream>) -> *mut c_void {
    // SAFETY: as the caller's.
    match unsafe { found(path) } {
        // SAFETY: as the caller's.
        Found::Real => real.map_or(ptr::null_mut(), |real| unsafe { real(path, mode) }),
        // SAFETY: as the caller's.
        _ => match unsafe { open_at(HERE, path, link::CLOSE_ON_EXEC, 0) } {
            -1 => ptr::null_mut(),
            // SAFETY: a fresh descriptor and the caller's mode.
            descriptor => unsafe { fdopen(descriptor, mode) },
        },
    }
}

/// `fopen`.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void {
    let real = real!(c"fopen", OpenStream);
    // SAFETY: as the caller's.
    unsafe { open_stream(path, mode, real) }
}

/// `fopen64`.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut c_void {
    let real = real!(c"fopen64", OpenStream);
    // SAFETY: as the caller's.
    unsafe { open_stream(path, mode, real) }
}

/// `opendir`.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn opendir(path: *const c_char) -> *mut c_void {
    let fails = |error| {
        returned(Err(error));
        ptr::null_mut()
    };
    // SAFETY: as the caller's.
    match unsafe { found(path) } {
        // SAFETY: as the caller's.
        Found::Real => real!(c"opendir", Folder).map_or(ptr::null_mut(), |real| unsafe { real(path) }),
        Found::Missing => fails(sys::ENOENT),
        Found::Entry(Entry::Folder(names)) => match directory::open(names) {
            folder if folder.is_null() => fails(sys::ENOMEM),
            folder => folder,
        },
        Found::Entry(_) => fails(sys::ENOTDIR),
    }
}

/// `readdir`.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn readdir(folder: *mut c_void) -> *mut directory::Dirent {
    // SAFETY: as the caller's.
    directory::next(folder)
        .unwrap_or_else(|| real!(c"readdir", Next).map_or(ptr::null_mut(), |real| unsafe { real(folder) }))
}

/// `readdir64`.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn readdir64(folder: *mut c_void) -> *mut directory::Dirent {
    // SAFETY: as the caller's.
    directory::next(folder)
        .unwrap_or_else(|| real!(c"readdir64", Next).map_or(ptr::null_mut(), |real| unsafe { real(folder) }))
}

/// `closedir`.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn closedir(folder: *mut c_void) -> c_int {
    if directory::close(folder) {
        return 0;
    }
    // SAFETY: as the caller's.
    real!(c"closedir", Close).map_or(-1, |real| unsafe { real(folder) })
}

/// Every ioctl has one argument at most, so its variable part can be spelled out.
///
/// # Safety
/// As the C library's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(descriptor: c_int, request: u64, argument: *mut c_void) -> c_int {
    let code = request as u32;
    let file = if wire::letter(code) == b'd' { link::file_of(descriptor) } else { None };
    returned_int(match file {
        // SAFETY: as the caller's.
        Some(file) => unsafe { marshal::ioctl(file, code, argument) },
        // SAFETY: as the caller's.
        None => unsafe { sys::ioctl(descriptor, request, argument) },
    })
}

/// `mmap`.
///
/// # Safety
/// As the system call: a fixed mapping replaces what is there.
unsafe fn map(
    at: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    descriptor: c_int,
    offset: i64,
) -> *mut c_void {
    const ANONYMOUS: c_int = 0x20;
    let ours = descriptor >= 0 && flags & ANONYMOUS == 0 && link::file_of(descriptor).is_some();
    let mapped = match ours {
        true => link::memory().and_then(|memory| {
            // SAFETY: as the caller's.
            let mapped = unsafe { sys::mmap(at, bytes, protection, flags, memory, offset) };
            sys::close(memory);
            mapped
        }),
        // SAFETY: as the caller's.
        false => unsafe { sys::mmap(at, bytes, protection, flags, descriptor, offset) },
    };
    returned(mapped) as *mut c_void
}

/// Functions that are one of those above by another name, with the parameters that this name has.
macro_rules! names {
    ($( $name:ident($($parameter:ident: $kind:ty),*) -> $result:ty = $body:expr; )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As the C library's function.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($parameter: $kind),*) -> $result {
                // SAFETY: as the caller's.
                unsafe { $body }
            }
        )*
    };
}

names! {
    open(path: *const c_char, flags: c_int, mode: u32) -> c_int = open_at(HERE, path, flags, mode);
    open64(path: *const c_char, flags: c_int, mode: u32) -> c_int = open_at(HERE, path, flags, mode);
    __open_2(path: *const c_char, flags: c_int) -> c_int = open_at(HERE, path, flags, 0);
    __open64_2(path: *const c_char, flags: c_int) -> c_int = open_at(HERE, path, flags, 0);
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int = open_at(folder, path, flags, mode);
    openat64(folder: c_int, path: *const c_char, flags: c_int, mode: u32) -> c_int = open_at(folder, path, flags, mode);
    __openat_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int = open_at(folder, path, flags, 0);
    __openat64_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int = open_at(folder, path, flags, 0);

    stat(path: *const c_char, out: *mut Stat) -> c_int = stat_at(HERE, path, out, 0);
    stat64(path: *const c_char, out: *mut Stat) -> c_int = stat_at(HERE, path, out, 0);
    lstat(path: *const c_char, out: *mut Stat) -> c_int = stat_at(HERE, path, out, DO_NOT_FOLLOW);
    lstat64(path: *const c_char, out: *mut Stat) -> c_int = stat_at(HERE, path, out, DO_NOT_FOLLOW);
    fstatat(folder: c_int, path: *const c_char, out: *mut Stat, flags: c_int) -> c_int = stat_at(folder, path, out, flags);
    fstatat64(folder: c_int, path: *const c_char, out: *mut Stat, flags: c_int) -> c_int = stat_at(folder, path, out, flags);
    fstat(descriptor: c_int, out: *mut Stat) -> c_int = stat_open(descriptor, out);
    fstat64(descriptor: c_int, out: *mut Stat) -> c_int = stat_open(descriptor, out);
    // The names that programs built before glibc 2.33 call; the first parameter is the structure's version.
    __xstat(_version: c_int, path: *const c_char, out: *mut Stat) -> c_int = stat_at(HERE, path, out, 0);
    __xstat64(_version: c_int, path: *const c_char, out: *mut Stat) -> c_int = stat_at(HERE, path, out, 0);
    __lxstat(_version: c_int, path: *const c_char, out: *mut Stat) -> c_int = stat_at(HERE, path, out, DO_NOT_FOLLOW);
    __lxstat64(_version: c_int, path: *const c_char, out: *mut Stat) -> c_int = stat_at(HERE, path, out, DO_NOT_FOLLOW);
    __fxstat(_version: c_int, descriptor: c_int, out: *mut Stat) -> c_int = stat_open(descriptor, out);
    __fxstat64(_version: c_int, descriptor: c_int, out: *mut Stat) -> c_int = stat_open(descriptor, out);

    access(path: *const c_char, mode: c_int) -> c_int = may_access(path, mode);
    readlink(path: *const c_char, out: *mut c_char, room: usize) -> isize = read_link(HERE, path, out, room);
    readlinkat(folder: c_int, path: *const c_char, out: *mut c_char, room: usize) -> isize = read_link(folder, path, out, room);

    mmap(at: *mut c_void, bytes: usize, protection: c_int, flags: c_int, descriptor: c_int, offset: i64) -> *mut c_void
        = map(at, bytes, protection, flags, descriptor, offset);
    mmap64(at: *mut c_void, bytes: usize, protection: c_int, flags: c_int, descriptor: c_int, offset: i64) -> *mut c_void
        = map(at, bytes, protection, flags, descriptor, offset);
}
