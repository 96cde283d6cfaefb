//! Captures, and the ways to carry out stream-output copies.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use guestwave_backend_soft::SoftBackend;
use guestwave_backend_wgpu::{Options, WgpuBackend};
use guestwave_cp::intel::sol::{PlainStreamOut, SolJob, StreamOut};
use guestwave_cp::{DispatchError, GuestMemory};
use guestwave_harness::intel::IntelCapture;
use guestwave_translate::backend::{Backend, Holding};
use guestwave_translate::plain::PlainBackend;
use guestwave_translate::sol::ProgramStreamOut;

/// A stage that many machines use one after another, so that its programs are made once.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<dyn StreamOut>>);

impl Shared {
    pub(crate) fn boxed(&self) -> Box<dyn StreamOut> {
        Box::new(self.clone())
    }
}

impl StreamOut for Shared {
    fn run(
        &mut self,
        jobs: &[SolJob],
        memory: &dyn GuestMemory,
    ) -> Result<Vec<std::ops::Range<u64>>, DispatchError> {
        self.0.lock().unwrap().run(jobs, memory)
    }
}

fn programs(backend: Box<dyn Backend>, holding: Option<Holding>) -> Shared {
    Shared(Arc::new(Mutex::new(ProgramStreamOut::new(backend, holding))))
}

/// The plain copy.
pub(crate) fn plainly() -> Shared {
    Shared(Arc::new(Mutex::new(PlainStreamOut)))
}

/// Programs on the evaluator.
pub(crate) fn evaluated() -> Shared {
    programs(Box::new(PlainBackend::new()), None)
}

/// Programs as native code.
pub(crate) fn native() -> Shared {
    programs(Box::new(SoftBackend::new(Default::default()).unwrap()), None)
}

/// Programs on a graphics device, without one the test fails; `GUESTWAVE_ADAPTER` chooses the adapter.
pub(crate) fn on_device(holding: Holding) -> Shared {
    let adapter = std::env::var("GUESTWAVE_ADAPTER").ok();
    let backend = WgpuBackend::open(&Options { adapter, ..Options::default() }).unwrap();
    programs(Box::new(backend), Some(holding))
}

/// The folder of captures that stand in the repository, or the larger collection beside or above it where there is one.
pub(crate) fn folder() -> PathBuf {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = ["../../shared/captures/intel", "../../../shared/captures/intel"].map(|f| harness.join(f));
    shared.into_iter().find(|f| f.is_dir()).unwrap_or_else(|| harness.join("captures/intel"))
}

/// Every capture of [`folder`], with its file's name.
pub(crate) fn captures() -> Vec<(String, IntelCapture)> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".json") && name.contains('-'));
    names.sort();
    names.into_iter().map(|name| (name.trim_end_matches(".json").to_owned(), capture(&name))).collect()
}

/// A capture by its file's name.
pub(crate) fn capture(name: &str) -> IntelCapture {
    let name = name.trim_end_matches(".json");
    IntelCapture::load(&folder().join(format!("{name}.json"))).unwrap()
}
