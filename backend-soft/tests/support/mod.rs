//! Guest memory for tests, and a launch on it by the backend and by the evaluator.
#![allow(dead_code, reason = "each test uses a part of it")]

#[path = "../../../translate/tests/lane/mod.rs"]
pub(crate) mod lane;
pub(crate) mod memory;

use std::sync::Arc;

use guestwave_backend_soft::{SoftBackend, SoftOptions};
use guestwave_cp::{DispatchId, GuestMemory};
use guestwave_translate::backend::{Backend, Batch, Holding, Launch, LaunchDone, LaunchFault, ProgramId};
use guestwave_translate::program::{Program, eval, verify};

pub(crate) use memory::Arena;

/// A launch of `waves` waves in workgroups of `per_group`.
pub(crate) fn launch(waves: u32, per_group: u32) -> Launch {
    Launch {
        id: DispatchId(1),
        program: ProgramId(0),
        params: Vec::new(),
        tables: Arc::new([]),
        waves,
        waves_per_group: per_group,
        group_waves: None,
        budget: 1 << 20,
    }
}

pub(crate) type Outcome = Result<LaunchDone, LaunchFault>;

/// Runs `launch` of a program as native code.
pub(crate) fn run_native(
    options: SoftOptions,
    program: &Program,
    launch: &Launch,
    memory: &dyn GuestMemory,
) -> Outcome {
    let mut backend = SoftBackend::new(options).unwrap();
    let id = backend.compile(&Arc::new(program.clone()), Holding::Wave).unwrap();
    let batch = Batch { launches: vec![Launch { program: id, ..launch.clone() }] };
    let ticket = backend.submit(batch, memory).unwrap();
    let mut completion = backend.poll(ticket, memory).unwrap().unwrap();
    match completion.fault {
        Some(fault) => Err(fault),
        None => Ok(completion.done.remove(0)),
    }
}

/// The ways in which native code may run.
pub(crate) const WAYS: [SoftOptions; 4] = [
    ONE_THREAD,
    SoftOptions { vectors: false, ..ONE_THREAD },
    SoftOptions { threads: 3, split_waves: 2, ..ONE_THREAD },
    SoftOptions { better_lanes: u64::MAX, long_values: 0, ..ONE_THREAD },
];

/// One thread, four lanes at a time, the best code at once.
pub(crate) const ONE_THREAD: SoftOptions = SoftOptions {
    native_fma: true,
    vectors: true,
    threads: 1,
    split_waves: u32::MAX,
    better_lanes: 0,
    long_values: usize::MAX,
};

/// Runs `launch` natively in each way and by the evaluator, each on its own copy of `memory`, and checks that they agree: the same
/// bytes, the same stored ranges; if one faults, all do and leave memory as it was. Gives the native outcome and memory.
pub(crate) fn agree(program: &Program, launch: &Launch, memory: &Arena) -> (Outcome, Arena) {
    verify(program).unwrap_or_else(|e| panic!("{e}\n{program}"));
    let plain_memory = memory.copy();
    let plain = eval::run(program, launch, &plain_memory);
    if plain.is_err() {
        assert_eq!(plain_memory.bytes(), memory.bytes());
    }
    let mut all = WAYS.map(|options| {
        let native_memory = memory.copy();
        let native = run_native(options, program, launch, &native_memory);
        match (&native, &plain) {
            (Ok(native), Ok(plain)) => assert_eq!(native.stored, plain.stored, "{options:?}\n{program}"),
            (Err(_), Err(_)) => {}
            _ => panic!("native {native:?}\nplain {plain:?}\n{options:?}\n{program}"),
        }
        let first = native_memory.first_difference(&plain_memory);
        assert_eq!(first, None, "differs at (address, native, plain), {options:?}:\n{program}");
        Some((native, native_memory))
    });
    all[0].take().unwrap()
}
