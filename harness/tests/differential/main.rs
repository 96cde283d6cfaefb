//! Guest programs on every executor: what the translating one leaves on each backend is, byte for byte, what the reference
//! interpreter leaves.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first thing that is wrong")]

#[path = "../../../isa/tests/interp/case.rs"]
mod case;
mod cases;
mod dump;
mod guest;
mod random;
#[path = "../../../isa/tests/interp/value.rs"]
mod value;

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use guestwave_backend_soft::{SoftBackend, SoftOptions};
use guestwave_backend_wgpu::{Options as WgpuOptions, WgpuBackend};
use guestwave_cp::Executor;
use guestwave_harness::executor::ReferenceExecutor;
use guestwave_translate::backend::{Backend, Holding};
use guestwave_translate::executor::{Options, TranslatingExecutor};
use guestwave_translate::plain::PlainBackend;

use guest::{Guest, Left};

/// Instructions that a program may execute on the reference, and loop iterations that a wave of a translated one may make.
const STEPS: u64 = 100_000;
const ITERATIONS: u64 = 20_000;

/// How long a software device may take for a program's first dispatch on a machine that is busy otherwise.
const PATIENCE: Duration = Duration::from_secs(600);

/// Seeds of the programs that a software device runs in each holding; `GUESTWAVE_SEEDS` says others.
const SEEDS: Range<u64> = 240..248;

/// A way to run translated programs.
struct Engine {
    name: &'static str,
    backend: fn() -> Box<dyn Backend>,
    holding: Option<Holding>,
}

/// Every backend in every holding.
const ENGINES: &[Engine] = &[
    Engine { name: "plain", backend: || Box::new(PlainBackend::new()), holding: None },
    Engine {
        name: "soft",
        backend: || Box::new(SoftBackend::new(Default::default()).unwrap()),
        holding: None,
    },
    Engine { name: "wgpu, lane", backend: wgpu, holding: Some(Holding::Lane) },
    Engine { name: "wgpu, pair", backend: wgpu, holding: Some(Holding::Pair) },
    Engine { name: "wgpu, wave", backend: wgpu, holding: Some(Holding::Wave) },
    Engine { name: "wgpu, lane, as on a GPU", backend: as_on_a_gpu, holding: Some(Holding::Lane) },
];

/// Native code as it is made of long programs at first.
const QUICK: Engine = Engine { name: "soft, made quickly", backend: quick, holding: None };

fn quick() -> Box<dyn Backend> {
    let options = SoftOptions { long_values: 0, better_lanes: u64::MAX, ..SoftOptions::default() };
    Box::new(SoftBackend::new(options).unwrap())
}

/// A graphics device, without which these tests fail. `GUESTWAVE_ADAPTER` chooses it.
fn wgpu() -> Box<dyn Backend> {
    Box::new(opened())
}

fn opened() -> WgpuBackend {
    let adapter = std::env::var("GUESTWAVE_ADAPTER").ok();
    match WgpuBackend::open(&WgpuOptions { adapter, timeout: PATIENCE, ..WgpuOptions::default() }) {
        Ok(backend) => backend,
        Err(e) => panic!("these tests need a graphics device: {e}"),
    }
}

/// The same device with modules as they are made for one that lets loops go on, skips what branches guard and has memory
/// instructions for each lane. Programs here have few iterations.
fn as_on_a_gpu() -> Box<dyn Backend> {
    let mut backend = opened();
    let host = backend.host_mut();
    (host.loops, host.fours, host.runs_all_branches) = (None, true, false);
    Box::new(backend)
}

impl Engine {
    fn open(&self) -> Box<dyn Executor> {
        let options = Options { holding: self.holding, budget: ITERATIONS, ..Options::default() };
        Box::new(TranslatingExecutor::new((self.backend)(), options))
    }
}

type Ended = Result<Left, (&'static str, String)>;

fn reference(guest: &Guest) -> Ended {
    guest.run(&mut ReferenceExecutor::with_steps(STEPS))
}

/// What is wrong with how a program ended, if anything is. A program that the reference refuses has to be refused too,
/// by a code of whoever refuses it.
fn wrong(wanted: &Ended, found: &Ended) -> Option<String> {
    match (wanted, found) {
        (Ok(wanted), Ok(found)) => found.differs_from(wanted),
        (Err(_), Err(_)) => None,
        (Ok(_), Err((code, text))) => Some(format!("{code} {text}")),
        (Err((code, text)), Ok(_)) => Some(format!("is not refused, but should be: {code} {text}")),
    }
}

/// Cases that are refused though the reference runs them, or whose end is not compared, on an engine.
fn exceptions(engine: &Engine) -> BTreeSet<&'static str> {
    let rows = include_str!("exceptions.tsv").lines().filter(|l| !l.starts_with('#')).skip(1);
    let device = engine.holding.is_some();
    let columns = rows.map(|l| l.split('\t').collect::<Vec<_>>());
    columns.filter(|c| c[1] == "all" || !device).map(|c| c[0]).collect()
}

fn cases_end_as_on_the_reference(engine: &Engine) {
    let exceptions = exceptions(engine);
    let mut executor = engine.open();
    let mut failures = Vec::new();
    for (name, case) in cases::all() {
        let guest = cases::guest(&case);
        let found = wrong(&reference(&guest), &guest.run(&mut *executor));
        if found.is_some() != exceptions.contains(name.as_str()) {
            failures.push(format!("{name}\t{found:?}"));
        }
    }
    assert!(failures.is_empty(), "{}: {}\n{}", engine.name, failures.len(), failures.join("\n"));
}

#[test]
fn the_evaluator_ends_every_case_as_the_reference_does() {
    cases_end_as_on_the_reference(&ENGINES[0]);
}

#[test]
fn native_code_ends_every_case_as_the_reference_does() {
    cases_end_as_on_the_reference(&ENGINES[1]);
}

#[test]
fn native_code_that_was_made_quickly_ends_as_the_reference_does() {
    cases_end_as_on_the_reference(&QUICK);
    random::run(&QUICK, 0..120);
}

#[test]
fn the_evaluator_runs_random_programs_as_the_reference_does() {
    random::run(&ENGINES[0], 0..120);
}

#[test]
fn the_evaluator_runs_single_instructions_as_the_reference_does() {
    random::each(&ENGINES[0]);
}

#[test]
fn native_code_runs_random_programs_as_the_reference_does() {
    random::run(&ENGINES[1], 0..120);
}

#[test]
#[ignore = "minutes on a software device"]
fn a_device_ends_every_case_as_the_reference_does_in_every_holding() {
    ENGINES[2..].iter().for_each(cases_end_as_on_the_reference);
}

#[test]
fn a_device_runs_random_programs_as_the_reference_does_lane_by_lane() {
    random::run(&ENGINES[2], SEEDS);
}

#[test]
fn a_device_runs_random_programs_as_the_reference_does_two_lanes_an_invocation() {
    random::run(&ENGINES[3], SEEDS);
}

#[test]
fn a_device_runs_random_programs_as_the_reference_does_a_wave_an_invocation() {
    random::run(&ENGINES[4], SEEDS);
}

#[test]
fn a_device_runs_random_programs_as_the_reference_does_as_on_a_gpu() {
    random::run(&ENGINES[5], SEEDS);
}
