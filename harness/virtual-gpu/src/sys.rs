//! Raw system calls, and the C library's own functions behind ours.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn dlsym(handle: *mut c_void, symbol: *const c_char) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
    fn getenv(name: *const c_char) -> *const c_char;
}

/// Error numbers.
pub(crate) const ENOENT: c_int = 2;
pub(crate) const EINTR: c_int = 4;
pub(crate) const EIO: c_int = 5;
pub(crate) const EACCES: c_int = 13;
pub(crate) const EFAULT: c_int = 14;
pub(crate) const ENODEV: c_int = 19;
pub(crate) const ENOTDIR: c_int = 20;
pub(crate) const EINVAL: c_int = 22;
pub(crate) const ENAMETOOLONG: c_int = 36;
pub(crate) const ENOMEM: c_int = 12;
pub(crate) const EADDRINUSE: c_int = 98;

/// Numbers of system calls of this architecture.
#[cfg(target_arch = "x86_64")]
mod numbers {
    pub(super) const READ: i64 = 0;
    pub(super) const CLOSE: i64 = 3;
    pub(super) const FSTAT: i64 = 5;
    pub(super) const LSEEK: i64 = 8;
    pub(super) const MMAP: i64 = 9;
    pub(super) const IOCTL: i64 = 16;
    pub(super) const GETPID: i64 = 39;
    pub(super) const FCNTL: i64 = 72;
    pub(super) const SOCKET: i64 = 41;
    pub(super) const CONNECT: i64 = 42;
    pub(super) const SENDTO: i64 = 44;
    pub(super) const BIND: i64 = 49;
    pub(super) const GETSOCKNAME: i64 = 51;
    pub(super) const GETPEERNAME: i64 = 52;
    pub(super) const WRITE: i64 = 1;
    pub(super) const OPENAT: i64 = 257;
    pub(super) const NEWFSTATAT: i64 = 262;
    pub(super) const READLINKAT: i64 = 267;
    pub(super) const FACCESSAT: i64 = 269;
    pub(super) const STATX: i64 = 332;
    pub(super) const MEMFD_CREATE: i64 = 319;
}

/// Numbers of system calls of this architecture.
#[cfg(target_arch = "aarch64")]
mod numbers {
    pub(super) const READ: i64 = 63;
    pub(super) const CLOSE: i64 = 57;
    pub(super) const FSTAT: i64 = 80;
    pub(super) const LSEEK: i64 = 62;
    pub(super) const MMAP: i64 = 222;
    pub(super) const IOCTL: i64 = 29;
    pub(super) const GETPID: i64 = 172;
    pub(super) const FCNTL: i64 = 25;
    pub(super) const SOCKET: i64 = 198;
    pub(super) const CONNECT: i64 = 203;
    pub(super) const SENDTO: i64 = 206;
    pub(super) const BIND: i64 = 200;
    pub(super) const GETSOCKNAME: i64 = 204;
    pub(super) const GETPEERNAME: i64 = 205;
    pub(super) const WRITE: i64 = 64;
    pub(super) const OPENAT: i64 = 56;
    pub(super) const NEWFSTATAT: i64 = 79;
    pub(super) const READLINKAT: i64 = 78;
    pub(super) const FACCESSAT: i64 = 48;
    pub(super) const STATX: i64 = 291;
    pub(super) const MEMFD_CREATE: i64 = 279;
}

/// A result, or the error number.
pub(crate) type Result<T> = std::result::Result<T, c_int>;

/// What a system call gave, from the C library's convention.
fn checked(result: c_long) -> Result<c_long> {
    match result {
        -1 => Err(errno()),
        value => Ok(value),
    }
}

/// `errno` of this thread.
pub(crate) fn errno() -> c_int {
    // SAFETY: the C library gives a valid pointer for the calling thread.
    unsafe { *__errno_location() }
}

/// What a C function returns for a result: the value, or -1 with `errno` set.
pub(crate) fn returned(result: Result<c_long>) -> c_long {
    result.unwrap_or_else(|error| {
        // SAFETY: as in `errno`.
        unsafe { *__errno_location() = error };
        -1
    })
}

/// [`returned`] for functions that return an `int`.
pub(crate) fn returned_int(result: Result<c_long>) -> c_int {
    returned(result) as c_int
}

macro_rules! call {
    ($number:ident $(, $argument:expr)*) => {
        // SAFETY: callers of the functions below answer for their pointers; the kernel checks everything else.
        checked(unsafe { syscall(numbers::$number $(, $argument)*) })
    };
}

/// Opens a file.
///
/// # Safety
/// `path` points to a string that ends with a zero byte, as for every function here that takes one.
pub(crate) unsafe fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: u32) -> Result<c_long> {
    call!(OPENAT, folder, path, flags, mode)
}

/// `stat` in its general form.
///
/// # Safety
/// As [`openat`]; `out` has room for a `struct stat`.
pub(crate) unsafe fn fstatat(
    folder: c_int,
    path: *const c_char,
    out: *mut Stat,
    flags: c_int,
) -> Result<c_long> {
    call!(NEWFSTATAT, folder, path, out, flags)
}

/// `statx`.
///
/// # Safety
/// As [`openat`]; `out` has room for a `struct statx`.
pub(crate) unsafe fn statx(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mask: u32,
    out: *mut u8,
) -> Result<c_long> {
    call!(STATX, folder, path, flags, mask, out)
}

/// `readlink`.
///
/// # Safety
/// As [`openat`]; `out` has room for `bytes` bytes.
pub(crate) unsafe fn readlinkat(
    folder: c_int,
    path: *const c_char,
    out: *mut c_char,
    bytes: usize,
) -> Result<c_long> {
    call!(READLINKAT, folder, path, out, bytes)
}

/// `access`.
///
/// # Safety
/// As [`openat`].
pub(crate) unsafe fn faccessat(folder: c_int, path: *const c_char, mode: c_int) -> Result<c_long> {
    call!(FACCESSAT, folder, path, mode)
}

/// `ioctl`.
///
/// # Safety
/// `argument` is what the request takes.
pub(crate) unsafe fn ioctl(descriptor: c_int, request: u64, argument: *mut c_void) -> Result<c_long> {
    call!(IOCTL, descriptor, request, argument)
}

/// `mmap`; the result is an address.
///
/// # Safety
/// As the system call: a fixed mapping replaces what is there.
pub(crate) unsafe fn mmap(
    at: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    descriptor: c_int,
    offset: i64,
) -> Result<c_long> {
    call!(MMAP, at, bytes, protection, flags, descriptor, offset)
}

/// `fstat`.
pub(crate) fn fstat(descriptor: c_int, out: &mut Stat) -> Result<c_long> {
    let out: *mut Stat = out;
    call!(FSTAT, descriptor, out)
}

/// Closes a descriptor.
pub(crate) fn close(descriptor: c_int) {
    let _ = call!(CLOSE, descriptor);
}

/// The process, as the kernel says: a forked child must not find its parent's.
pub(crate) fn process() -> u32 {
    call!(GETPID).map_or(0, |id| id as u32)
}

/// Has the kernel kill this process when the other end of a connection is closed, or when it is written to.
pub(crate) fn live_and_die_with(socket: c_int) -> Result<()> {
    const SET_FLAGS: c_int = 4;
    const SET_OWNER: c_int = 8;
    const SET_SIGNAL: c_int = 10;
    const ASYNCHRONOUS: c_int = 0o20_000;
    const KILL: c_int = 9;
    call!(FCNTL, socket, SET_OWNER, process())?;
    call!(FCNTL, socket, SET_SIGNAL, KILL)?;
    call!(FCNTL, socket, SET_FLAGS, ASYNCHRONOUS).map(drop)
}

/// A Unix stream socket.
pub(crate) fn socket(close_on_exec: bool) -> Result<c_int> {
    const UNIX: c_int = 1;
    const STREAM: c_int = 1;
    const CLOSE_ON_EXEC: c_int = 0o2_000_000;
    let kind = STREAM | if close_on_exec { CLOSE_ON_EXEC } else { 0 };
    call!(SOCKET, UNIX, kind, 0).map(|fd| fd as c_int)
}

/// Connects a socket.
pub(crate) fn connect(socket: c_int, to: &Address) -> Result<c_long> {
    call!(CONNECT, socket, to.bytes.as_ptr(), to.len)
}

/// Names a socket.
pub(crate) fn bind(socket: c_int, name: &Address) -> Result<c_long> {
    call!(BIND, socket, name.bytes.as_ptr(), name.len)
}

/// A socket's name.
pub(crate) fn socket_name(socket: c_int) -> Result<Address> {
    let mut name = Address { bytes: [0; Address::BYTES], len: Address::BYTES as u32 };
    call!(GETSOCKNAME, socket, name.bytes.as_mut_ptr(), &raw mut name.len).map(|_| name)
}

/// The name of what a socket is connected to.
pub(crate) fn peer_name(socket: c_int) -> Result<Address> {
    let mut name = Address { bytes: [0; Address::BYTES], len: Address::BYTES as u32 };
    call!(GETPEERNAME, socket, name.bytes.as_mut_ptr(), &raw mut name.len).map(|_| name)
}

/// Sends all bytes; a closed connection is an error and not a signal.
pub(crate) fn send(socket: c_int, mut bytes: &[u8]) -> Result<()> {
    const NO_SIGNAL: c_int = 0x4000;
    while !bytes.is_empty() {
        match call!(SENDTO, socket, bytes.as_ptr(), bytes.len(), NO_SIGNAL, 0usize, 0) {
            Ok(sent) => bytes = bytes.get(sent as usize..).unwrap_or_default(),
            Err(EINTR) => (),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Fills all bytes.
pub(crate) fn receive(socket: c_int, mut into: &mut [u8]) -> Result<()> {
    while !into.is_empty() {
        match call!(READ, socket, into.as_mut_ptr(), into.len()) {
            Ok(0) => return Err(EIO),
            Ok(n) => into = into.get_mut(n as usize..).unwrap_or_default(),
            Err(EINTR) => (),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A file in memory with these contents, to be read from the start.
pub(crate) fn file_of(contents: &[u8]) -> Result<c_int> {
    let descriptor = call!(MEMFD_CREATE, c"guestwave-sysfs".as_ptr(), 1)? as c_int;
    let written = call!(WRITE, descriptor, contents.as_ptr(), contents.len());
    let done = written.and_then(|_| call!(LSEEK, descriptor, 0i64, 0));
    match done {
        Ok(_) => Ok(descriptor),
        Err(error) => {
            close(descriptor);
            Err(error)
        }
    }
}

/// A `struct stat` of the kernel, which is also the C library's on 64-bit machines.
#[repr(C, align(8))]
pub(crate) struct Stat {
    bytes: [u8; 144],
}

/// Offsets in a [`Stat`].
#[cfg(target_arch = "x86_64")]
mod stat_fields {
    pub(super) const MODE: usize = 24;
    pub(super) const LINKS: (usize, usize) = (16, 8);
    pub(super) const DEVICE: usize = 40;
    pub(super) const SIZE: usize = 48;
}

/// Offsets in a [`Stat`].
#[cfg(target_arch = "aarch64")]
mod stat_fields {
    pub(super) const MODE: usize = 16;
    pub(super) const LINKS: (usize, usize) = (20, 4);
    pub(super) const DEVICE: usize = 32;
    pub(super) const SIZE: usize = 48;
}

impl Stat {
    /// Of an entry of this mode, device number and size.
    pub(crate) fn of(mode: u32, device: u64, size: u64) -> Stat {
        let mut stat = Stat { bytes: [0; 144] };
        stat.set(stat_fields::MODE, &mode.to_le_bytes());
        stat.set(stat_fields::LINKS.0, &1u64.to_le_bytes()[..stat_fields::LINKS.1]);
        stat.set(stat_fields::DEVICE, &device.to_le_bytes());
        stat.set(stat_fields::SIZE, &size.to_le_bytes());
        stat
    }

    fn set(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The inode number.
    pub(crate) fn inode(&self) -> u64 {
        self.bytes[8..].first_chunk::<8>().map_or(0, |b| u64::from_le_bytes(*b))
    }

    /// Whether it is of a socket.
    pub(crate) fn is_socket(&self) -> bool {
        let at = stat_fields::MODE;
        let mode = self.bytes[at..].first_chunk::<4>().map_or(0, |b| u32::from_le_bytes(*b));
        mode & 0o170_000 == 0o140_000
    }
}

/// A Unix socket's address.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    bytes: [u8; Address::BYTES],
    len: u32,
}

impl Address {
    const BYTES: usize = 110;
    /// Family, and the zero byte that makes a name abstract.
    const START: usize = 3;

    /// An abstract name made of parts.
    pub(crate) fn named(parts: &[&[u8]]) -> Address {
        let mut address = Address { bytes: [0; Address::BYTES], len: Address::START as u32 };
        address.bytes[0] = 1;
        for byte in parts.iter().flat_map(|part| part.iter()) {
            if let Some(place) = address.bytes.get_mut(address.len as usize) {
                *place = *byte;
                address.len += 1;
            }
        }
        address
    }

    /// The abstract name, empty if there is none.
    pub(crate) fn name(&self) -> &[u8] {
        match self.bytes[Address::START - 1] {
            0 => self.bytes.get(Address::START..self.len as usize).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// A variable of the environment.
pub(crate) fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: `getenv` takes a string and gives one that lives as long as nobody changes that variable, which is the executor's.
    let value = unsafe { getenv(name.as_ptr()) };
    // SAFETY: as above.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_bytes())
}

/// The next definition of a function after this library's.
pub(crate) struct Real {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Real {
    /// The function of that name.
    pub(crate) const fn new(name: &'static CStr) -> Real {
        Real { name, address: AtomicUsize::new(0) }
    }

    /// Its address, 0 if there is no such function.
    pub(crate) fn address(&self) -> usize {
        const NEXT: usize = usize::MAX;
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // SAFETY: the name is a string; the handle is the one that means "after this object".
        let found = unsafe { dlsym(NEXT as *mut c_void, self.name.as_ptr()) } as usize;
        self.address.store(found, Ordering::Relaxed);
        found
    }
}
