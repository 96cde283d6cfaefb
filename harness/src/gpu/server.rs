//! Connections from programs.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::net::sockopt::socket_peercred;
use rustix::process::getuid;

use super::exports::Exports;
use super::file::{Device, OpenFile};
use super::kernel::{self, Call};
use super::progress::{Deadline, Progress};
use super::record::Recorder;
use super::report::{OnRefusal, Report};
use super::store::Store;
use super::{Model, Summary, library, lock, wire};
use crate::capture::Capture;
use crate::engine::EngineArgs;

/// How long work that a program left behind may take once it has ended.
const LEFT_BEHIND: Duration = Duration::from_secs(60);

/// The same where this process was asked to end.
const LEFT_IN_HASTE: Duration = Duration::from_secs(2);

/// How often a wait looks for a request to end.
const GLANCE: Duration = Duration::from_millis(50);

/// What a virtual GPU is to be.
pub struct Settings {
    /// The GPU.
    pub model: &'static Model,
    /// What runs its programs.
    pub engine: EngineArgs,
    /// Whether to record.
    pub record: bool,
    /// Called when something was refused.
    pub on_refusal: Option<Box<dyn Fn() + Send + Sync>>,
}

/// A running virtual GPU.
pub struct VirtualGpu {
    shared: Arc<Shared>,
    library: File,
    name: String,
}

/// What all connections share.
struct Shared {
    device: Arc<Device>,
    files: Mutex<BTreeMap<u64, Arc<OpenFile>>>,
}

impl VirtualGpu {
    /// Starts one; programs find it by [`VirtualGpu::environment`].
    ///
    /// # Errors
    /// The host lacks something, or the executor that is wanted.
    pub fn start(settings: Settings) -> anyhow::Result<VirtualGpu> {
        // An executor that cannot be had is told before a program starts.
        drop(settings.engine.engine()?);
        let library = library::file()?;
        let name = format!("guestwave-{}-{:016x}", std::process::id(), RandomState::new().hash_one(0));
        let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        let shared =
            Arc::new(Shared { device: Arc::new(device(settings, Store::new()?)), files: Mutex::default() });
        let serving = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("guestwave-accept".to_owned())
            .spawn(move || accept(&listener, &serving))?;
        Ok(VirtualGpu { shared, library, name })
    }

    /// Variables that a program needs to see this GPU.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let process = std::process::id();
        let memory = self.shared.device.store.memory().descriptor();
        let [device, revision] = self.shared.device.model.pci();
        let library = format!("/proc/{process}/fd/{}", self.library.as_raw_fd());
        let preload = match std::env::var("LD_PRELOAD") {
            Ok(others) if !others.is_empty() => format!("{library}:{others}"),
            _ => library,
        };
        let gpu = format!("{},{process},{memory},{device:04x},{revision:02x}", self.name);
        vec![("LD_PRELOAD", preload), (wire::VARIABLE, gpu)]
    }

    /// Waits for what programs left behind, and tells what the run came to and what was recorded. `interrupted` says that this
    /// process was asked to end, which makes the wait short; if it is said once more, the wait ends.
    pub fn finish(self, interrupted: &AtomicBool) -> (Summary, Option<Capture>) {
        let Shared { device, files } = &*self.shared;
        let patience = if interrupted.swap(false, Ordering::AcqRel) { LEFT_IN_HASTE } else { LEFT_BEHIND };
        let end = Instant::now() + patience;
        let done = || lock(files).is_empty().then_some(());
        while device.progress.wait(Deadline::after(GLANCE), done).is_none()
            && Instant::now() < end
            && !interrupted.load(Ordering::Acquire)
        {}
        let capture = device.recorder.as_ref().and_then(|r| r.finish(device.model.name));
        (device.report.summary(), capture)
    }
}

/// A device that nobody has opened.
pub(super) fn device(settings: Settings, store: Arc<Store>) -> Device {
    let Settings { model, engine, record, on_refusal } = settings;
    let on_refusal: Option<OnRefusal> = on_refusal;
    let recorder = record.then(|| Recorder::new(&store, model.device_info()));
    Device {
        model,
        engine,
        store,
        progress: Arc::new(Progress::default()),
        exports: Exports::default(),
        report: Report::new(on_refusal),
        recorder,
        submissions: AtomicU32::new(0),
    }
}

/// The most connections at a time: open files, and calls under way.
const MOST_CONNECTIONS: usize = 512;

/// Takes connections of this user's processes, a thread each.
fn accept(listener: &UnixListener, shared: &Arc<Shared>) {
    let served = Arc::new(());
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Most likely there is no descriptor left; some may be closed soon.
            std::thread::sleep(GLANCE);
            continue;
        };
        let same_user = socket_peercred(&stream).is_ok_and(|peer| peer.uid == getuid());
        if !same_user || Arc::strong_count(&served) > MOST_CONNECTIONS {
            continue;
        }
        let (shared, served) = (Arc::clone(shared), Arc::clone(&served));
        let serve = move || {
            let _ = serve(stream, &shared);
            drop(served);
        };
        // Without a thread the connection is closed, and the program's call fails.
        let _ = std::thread::Builder::new().name("guestwave-client".to_owned()).spawn(serve);
    }
}

/// A request's head and what follows it.
fn receive(stream: &mut BufReader<UnixStream>, body: &mut Vec<u8>) -> io::Result<wire::Head> {
    let mut head = [0; wire::HEAD_BYTES];
    stream.read_exact(&mut head)?;
    let head = wire::Head {
        bytes: wire::field(&head, 0),
        code: wire::field(&head, 4),
        file: wire::long(&head, 8),
        inode: wire::long(&head, 16),
    };
    if head.bytes as usize > wire::MAX_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    body.clear();
    stream.take(u64::from(head.bytes)).read_to_end(body)?;
    match body.len() == head.bytes as usize {
        true => Ok(head),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Serves a connection until it is closed.
fn serve(stream: UnixStream, shared: &Shared) -> io::Result<()> {
    // A request is read at once as a rule.
    let mut stream = BufReader::new(stream);
    let mut body = Vec::new();
    loop {
        let head = receive(&mut stream, &mut body)?;
        if head.code == wire::OPEN {
            return hold(stream.get_mut(), shared, head.file);
        }
        let file = lock(&shared.files).get(&head.file).cloned();
        let answer = match file {
            Some(file) => answer(&file, &head, &body),
            None => refusal(kernel::NO_DEVICE, &body),
        };
        stream.get_mut().write_all(&answer)?;
    }
}

/// The connection is an open file: it lives until the last copy of the program's descriptor is closed.
fn hold(stream: &mut UnixStream, shared: &Shared, number: u64) -> io::Result<()> {
    let file = OpenFile::new(number, Arc::clone(&shared.device));
    lock(&shared.files).insert(number, Arc::clone(&file));
    let greeted = stream.write_all(&[0; wire::ANSWER_BYTES]);
    let ended = greeted.and_then(|()| io::copy(stream, &mut io::sink()));
    file.close();
    lock(&shared.files).remove(&number);
    shared.device.progress.changed();
    ended.map(drop)
}

/// Carries a call out and makes its answer.
fn answer(file: &OpenFile, head: &wire::Head, body: &[u8]) -> Vec<u8> {
    let Some(mut call) = Call::parse(head, body) else { return refusal(kernel::INVALID, body) };
    let status = kernel::call(file, &mut call);
    framed(status, &call.answer())
}

/// The answer to a call that was not carried out: its structure is as it was.
fn refusal(status: i32, structure: &[u8]) -> Vec<u8> {
    framed(status, structure)
}

fn framed(status: i32, answer: &[u8]) -> Vec<u8> {
    let bytes = answer.len() as u32;
    [&bytes.to_le_bytes(), &status.to_le_bytes(), answer].concat()
}
