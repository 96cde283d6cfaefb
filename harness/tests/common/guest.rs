//! Programs on the virtual GPU.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A run that has ended.
pub(crate) struct Ended {
    /// The command's exit status.
    pub(crate) status: Option<i32>,
    /// What the program and the command printed, standard output first.
    pub(crate) out: String,
    /// What the run came to.
    pub(crate) summary: Summary,
}

/// The summary of a run as the command writes it.
#[derive(Debug, Default)]
pub(crate) struct Summary(pub(crate) Value);

impl Summary {
    /// The first code that was refused, or else left out.
    pub(crate) fn code(&self) -> Option<&str> {
        ["refusals", "not_drawn"]
            .iter()
            .find_map(|kind| self.0[kind].as_object()?.keys().next())
            .map(String::as_str)
    }

    /// A count.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.0["stats"][name].as_u64().unwrap_or(0)
    }
}

/// An example of this package, which tests build as well.
pub(crate) fn example(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_BIN_EXE_guestwave")).parent().unwrap().join("examples");
    let path = folder.join(name);
    assert!(path.exists(), "{} is not built: cargo build --examples", path.display());
    path.to_string_lossy().into_owned()
}

/// A file of this test process that no other test uses.
pub(crate) fn scratch(kind: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("guestwave-test-{}-{number}{kind}", std::process::id()))
}

/// A run that has begun.
pub(crate) struct Started {
    /// The command.
    pub(crate) child: Child,
    readers: [JoinHandle<String>; 2],
    summary: PathBuf,
}

/// Begins to run a program on the virtual GPU. With each line that the program prints `said` is called.
pub(crate) fn start<A: AsRef<OsStr>>(
    options: &[&str],
    program: &str,
    arguments: &[A],
    said: impl FnMut(&str) + Send + 'static,
) -> Started {
    start_with(&[], options, program, arguments, said)
}

/// As [`start`], with variables of the environment.
pub(crate) fn start_with<A: AsRef<OsStr>>(
    environment: &[(&str, &str)],
    options: &[&str],
    program: &str,
    arguments: &[A],
    said: impl FnMut(&str) + Send + 'static,
) -> Started {
    let summary = scratch(".json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_guestwave"));
    command.arg("run").args(options).arg("--summary").arg(&summary).arg("--").arg(program).args(arguments);
    command.env("PIGLIT_PLATFORM", "surfaceless_egl").env("EGL_PLATFORM", "surfaceless");
    command.envs(environment.iter().copied());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let readers = [reader(child.stdout.take().unwrap(), said), reader(child.stderr.take().unwrap(), |_| ())];
    Started { child, readers, summary }
}

impl Started {
    /// Waits for the end; `None` if it takes too long, and then it is killed.
    pub(crate) fn end(mut self, limit: Duration) -> Option<Ended> {
        let end = Instant::now() + limit;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > end => {
                    self.child.kill().unwrap();
                    self.child.wait().unwrap();
                    return None;
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let out = self.readers.map(|r| r.join().unwrap()).concat();
        let text = std::fs::read_to_string(&self.summary).unwrap_or_default();
        let _ = std::fs::remove_file(&self.summary);
        let summary = Summary(serde_json::from_str(&text).unwrap_or_default());
        Some(Ended { status: status.code(), out, summary })
    }
}

fn reader(
    from: impl Read + Send + 'static,
    mut said: impl FnMut(&str) + Send + 'static,
) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut all = String::new();
        for line in BufReader::new(from).split(b'\n') {
            let line = String::from_utf8_lossy(&line.unwrap()).into_owned();
            said(&line);
            all += &line;
            all.push('\n');
        }
        all
    })
}

/// Runs a program that must end within a minute or two.
pub(crate) fn run<A: AsRef<OsStr>>(options: &[&str], program: &str, arguments: &[A]) -> Ended {
    let ended = start(options, program, arguments, |_| ()).end(Duration::from_secs(120));
    assert!(ended.is_some(), "{program} hangs");
    ended.unwrap()
}
