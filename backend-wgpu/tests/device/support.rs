//! What the tests of this backend share.

#[path = "../../../translate/tests/lane/mod.rs"]
pub(crate) mod lane;

use std::sync::Arc;
use std::time::Duration;

use guestwave_backend_wgpu::{Options, WgpuBackend};
use guestwave_cp::{DispatchId, GuestMemory};
use guestwave_translate::backend::{Backend, Batch, Completion, Holding, Launch, ProgramId};
use guestwave_translate::program::{Program, verify};

/// The device that tests run on; without one they fail.
pub(crate) fn open() -> WgpuBackend {
    open_with(&Options::default())
}

/// The same with other options. `GUESTWAVE_ADAPTER` chooses the adapter.
pub(crate) fn open_with(options: &Options) -> WgpuBackend {
    let adapter = options.adapter.clone().or_else(|| std::env::var("GUESTWAVE_ADAPTER").ok());
    match WgpuBackend::open(&Options { adapter, ..options.clone() }) {
        Ok(backend) => backend,
        Err(e) => panic!("these tests need a graphics device: {e}"),
    }
}

/// A device as it would be if it let loops go on, whose loops are made in two versions, and had memory instructions of its own.
pub(crate) fn patient() -> WgpuBackend {
    let mut backend = open();
    let host = backend.host_mut();
    (host.loops, host.fours, host.runs_all_branches) = (None, true, false);
    backend
}

/// All holdings.
pub(crate) const HOLDINGS: [Holding; 3] = [Holding::Lane, Holding::Pair, Holding::Wave];

/// A launch of `waves` waves in groups of `per_group`.
pub(crate) fn launch(program: ProgramId, waves: u32, per_group: u32) -> Launch {
    Launch {
        id: DispatchId(7),
        program,
        params: Vec::new(),
        tables: Arc::from([]),
        waves,
        waves_per_group: per_group,
        group_waves: None,
        budget: 100_000,
    }
}

/// Runs launches as one batch to their end.
pub(crate) fn run(backend: &mut WgpuBackend, launches: Vec<Launch>, memory: &dyn GuestMemory) -> Completion {
    let ticket = backend.submit(Batch { launches }, memory).unwrap();
    backend.wait(ticket, memory, Duration::from_secs(600)).unwrap().expect("the batch did not end in time")
}

/// Checks a program and compiles it.
pub(crate) fn compile(backend: &mut WgpuBackend, program: Program, holding: Holding) -> ProgramId {
    verify(&program).unwrap();
    backend.compile(&Arc::new(program), holding).unwrap()
}
