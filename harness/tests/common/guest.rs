//! Programs on the virtual GPU.

use std::ffi::OsStr;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
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

/// Runs a program on the virtual GPU; `None` if it takes too long.
pub(crate) fn run_for<A: AsRef<OsStr>>(
    limit: Duration,
    options: &[&str],
    program: &str,
    arguments: &[A],
) -> Option<Ended> {
    let summary = scratch(".json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_guestwave"));
    command.arg("run").args(options).arg("--summary").arg(&summary).arg("--").arg(program).args(arguments);
    command.env("PIGLIT_PLATFORM", "surfaceless_egl").env("EGL_PLATFORM", "surfaceless");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let readers = [reader(child.stdout.take().unwrap()), reader(child.stderr.take().unwrap())];
    let end = Instant::now() + limit;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > end => {
                child.kill().unwrap();
                child.wait().unwrap();
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let out = readers.map(|r| r.join().unwrap()).concat();
    let text = std::fs::read_to_string(&summary).unwrap_or_default();
    let _ = std::fs::remove_file(&summary);
    let summary = Summary(serde_json::from_str(&text).unwrap_or_default());
    Some(Ended { status: status.code(), out, summary })
}

fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Runs a program that must end within a minute or two.
pub(crate) fn run<A: AsRef<OsStr>>(options: &[&str], program: &str, arguments: &[A]) -> Ended {
    let ended = run_for(Duration::from_secs(120), options, program, arguments);
    assert!(ended.is_some(), "{program} hangs");
    ended.unwrap()
}
