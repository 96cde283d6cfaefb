//! Captures, and the ways to carry out stream-output copies.

use std::collections::BTreeMap;
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

/// The folder of captures that stand in the repository.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/intel")
}

/// The files of captures by name: the repository's, and those in the folder `intel` of the one that `GUESTWAVE_CAPTURES` names
/// where it is set.
fn files() -> BTreeMap<String, PathBuf> {
    let more = std::env::var_os("GUESTWAVE_CAPTURES").map(|folder| Path::new(&folder).join("intel"));
    let files = more.into_iter().chain([folder()]).flat_map(|folder| {
        let entries = std::fs::read_dir(&folder);
        entries.unwrap_or_else(|e| panic!("{}: {e}", folder.display())).map(|e| e.unwrap().path())
    });
    let named = files.filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_suffix(".json")?.to_owned();
        name.contains('-').then_some((name, path))
    });
    named.collect()
}

/// Every capture that is at hand, with its name.
pub(crate) fn captures() -> Vec<(String, IntelCapture)> {
    let load = |(name, path): (String, PathBuf)| (name, IntelCapture::load(&path).unwrap());
    files().into_iter().map(load).collect()
}

/// The capture of that name, if it is at hand.
pub(crate) fn find(name: &str) -> Option<IntelCapture> {
    files().get(name).map(|path| IntelCapture::load(path).unwrap())
}

/// A capture of the repository.
pub(crate) fn capture(name: &str) -> IntelCapture {
    find(name).unwrap_or_else(|| panic!("there is no capture {name}"))
}
