//! Connections to the executor.
//!
//! A descriptor of the node is a socket bound to the name `EXECUTOR-file-NUMBER`; nothing is ever read from or written to it after
//! the greeting, it only stands for the open file. Requests travel over other connections, which a process keeps and uses
//! one thread at a time.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use crate::sys::{self, Address, Result};
use crate::tree::{Setting, setting};
use crate::wire::{ANSWER_BYTES, FILE_MARK, Head, OPEN};

/// Connections that wait for their next request, -1 where there is none.
static IDLE: [AtomicI32; 16] = [const { AtomicI32::new(-1) }; 16];

/// The process that made the connections in [`IDLE`].
static OWNER: AtomicU32 = AtomicU32::new(0);

/// How many files this process has opened.
static OPENED: AtomicU32 = AtomicU32::new(0);

/// `O_CLOEXEC`.
pub(crate) const CLOSE_ON_EXEC: c_int = 0o2_000_000;

/// Whether this program was started with a virtual GPU.
pub(crate) fn active() -> bool {
    !setting(Setting::Socket).is_empty()
}

/// The open file that a descriptor stands for, if it is one of the node.
pub(crate) fn file_of(descriptor: c_int) -> Option<u64> {
    let address = sys::socket_name(descriptor).ok()?;
    let name = address.name();
    let (executor, rest) = name.split_at_checked(name.len().checked_sub(FILE_MARK.len() + 16)?)?;
    let number = rest.strip_prefix(FILE_MARK.as_bytes())?;
    if executor.is_empty() || executor != setting(Setting::Socket) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(number).ok()?, 16).ok()
}

/// Opens the node.
pub(crate) fn open(flags: c_int) -> Result<c_int> {
    let socket = sys::socket(flags & CLOSE_ON_EXEC != 0)?;
    match greet(socket) {
        Ok(()) => Ok(socket),
        Err(error) => {
            sys::close(socket);
            Err(error)
        }
    }
}

fn greet(socket: c_int) -> Result<()> {
    let file = name(socket)?;
    sys::connect(socket, &executor()).map_err(|_| sys::ENODEV)?;
    let greeted = sys::send(socket, &Head { bytes: 0, code: OPEN, file, inode: 0 }.to_bytes());
    greeted.and_then(|()| sys::receive(socket, &mut [0; ANSWER_BYTES])).map_err(|_| sys::ENODEV)?;
    // A run that is killed leaves no program behind, however it was started. A host without this leaves it with a lost device.
    let _ = sys::live_and_die_with(socket);
    Ok(())
}

/// Gives a socket the name of a new file.
fn name(socket: c_int) -> Result<u64> {
    loop {
        let count = OPENED.fetch_add(1, Ordering::Relaxed);
        let file = u64::from(sys::process()) << 32 | u64::from(count);
        let number = format!("{file:016x}");
        let address = Address::named(&[setting(Setting::Socket), FILE_MARK.as_bytes(), number.as_bytes()]);
        match sys::bind(socket, &address) {
            Ok(_) => return Ok(file),
            // A forked process with the same number in another namespace.
            Err(sys::EADDRINUSE) if count < u32::MAX => (),
            Err(error) => return Err(error),
        }
    }
}

fn executor() -> Address {
    Address::named(&[setting(Setting::Socket)])
}

/// A connection for one request.
pub(crate) struct Connection {
    socket: c_int,
}

impl Connection {
    /// One that is idle, or a new one.
    pub(crate) fn take() -> Result<Connection> {
        forget_the_parents();
        for place in &IDLE {
            let socket = place.swap(-1, Ordering::AcqRel);
            if socket >= 0 && is_ours(socket) {
                return Ok(Connection { socket });
            }
        }
        let socket = sys::socket(true)?;
        match sys::connect(socket, &executor()) {
            Ok(_) => Ok(Connection { socket }),
            Err(_) => {
                sys::close(socket);
                Err(sys::ENODEV)
            }
        }
    }

    /// Sends a request and fills the answer's head.
    pub(crate) fn ask(&self, request: &[u8], head: &mut [u8; ANSWER_BYTES]) -> Result<()> {
        sys::send(self.socket, request)
            .and_then(|()| sys::receive(self.socket, head))
            .map_err(|_| sys::ENODEV)
    }

    /// Fills the rest of the answer.
    pub(crate) fn rest(&self, into: &mut [u8]) -> Result<()> {
        sys::receive(self.socket, into).map_err(|_| sys::ENODEV)
    }

    /// Keeps the connection for the next request.
    pub(crate) fn keep(self) {
        let socket = self.socket;
        let free = |place: &&AtomicI32| {
            place.compare_exchange(-1, socket, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        if IDLE.iter().any(|place| free(&place)) {
            std::mem::forget(self);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        sys::close(self.socket);
    }
}

/// A program may have closed descriptors that it does not know, and made others with their numbers.
fn is_ours(socket: c_int) -> bool {
    sys::peer_name(socket).is_ok_and(|peer| peer.name() == setting(Setting::Socket))
}

/// In a forked child the idle connections are the parent's, who goes on using them.
fn forget_the_parents() {
    let process = sys::process();
    if OWNER.swap(process, Ordering::AcqRel) == process {
        return;
    }
    for place in &IDLE {
        let socket = place.swap(-1, Ordering::AcqRel);
        if socket >= 0 && is_ours(socket) {
            sys::close(socket);
        }
    }
}

/// Opens a descriptor of the executor in this process.
pub(crate) fn borrow(descriptor: &[u8]) -> Result<c_int> {
    let path = [b"/proc/", setting(Setting::Process), b"/fd/", descriptor, b"\0"].concat();
    const READ_WRITE: c_int = 2;
    const HERE: c_int = -100;
    // SAFETY: the path ends with a zero byte.
    let opened = unsafe { sys::openat(HERE, path.as_ptr().cast(), READ_WRITE | CLOSE_ON_EXEC, 0) };
    opened.map(|fd| fd as c_int).map_err(|_| sys::ENODEV)
}

/// The file that holds the memory of all buffer objects.
pub(crate) fn memory() -> Result<c_int> {
    borrow(setting(Setting::Memory))
}
