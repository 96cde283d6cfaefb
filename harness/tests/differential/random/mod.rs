//! Random programs of the guest's own instructions, on the reference and on translated programs.
//!
//! Each program follows from a seed. `GUESTWAVE_SEEDS=0..20000` says which are run on each engine; how far a run has come is
//! printed on the way, so that one that is cut short still says something. Where a seed is alone and its program differs, the
//! program is made as small as it can be and printed as a listing.

mod dice;
mod encode;
mod environment;
mod memory;
mod pool;
mod program;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use guestwave_cp::Executor;
use guestwave_isa::gfx10::WaveSize;
use guestwave_translate::naga::codes;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use self::environment::{MODES, Setting, guest};
use self::pool::Pool;
use self::program::{Pools, Program, program};
use crate::{Ended, Engine, reference, wrong};

/// Every which instruction of the pools is run by itself unless `GUESTWAVE_STEP` says otherwise.
const STEP: usize = 7;

/// Programs after which an engine is opened anew.
const AN_ENGINE_S_LIFE: u32 = 400;

fn pools() -> &'static Pools {
    static POOLS: LazyLock<Pools> =
        LazyLock::new(|| Pools { narrow: Pool::new(WaveSize::W32), wide: Pool::new(WaveSize::W64) });
    &POOLS
}

/// Programs after which is said how far a run has come.
const PROGRESS: u32 = 10;

/// What a holding may refuse by name though the reference runs it.
const REFUSALS: [&str; 2] = [codes::FLOW, codes::SHARED];

/// What became of the programs of a run.
#[derive(Debug, Default)]
struct Tally {
    programs: u32,
    /// Those that the reference runs to their end.
    compared: u32,
    /// Those of them that the holding refuses by name.
    refused: BTreeMap<&'static str, u32>,
    /// Seeds of those that end otherwise.
    wrong: Vec<u64>,
    /// Time that the reference took.
    reference: Duration,
}

impl Tally {
    fn count(&mut self, seed: u64, (wanted, found, reference): &(Ended, Ended, Duration)) {
        self.programs += 1;
        self.reference += *reference;
        self.compared += u32::from(wanted.is_ok());
        match (wrong(wanted, found), found) {
            (Some(_), Err((code, _))) if REFUSALS.contains(code) => {
                *self.refused.entry(code).or_default() += 1
            }
            (Some(what), _) => {
                println!("seed {seed}: {what}");
                self.wrong.push(seed);
            }
            (None, _) => {}
        }
    }
}

/// The seeds of a run: `GUESTWAVE_SEEDS`, or what a test has by itself.
fn seeds(usual: Range<u64>) -> Range<u64> {
    let given = std::env::var("GUESTWAVE_SEEDS").unwrap_or_default();
    let ends: Vec<u64> = given.split("..").filter_map(|n| n.parse().ok()).collect();
    if let [start, end] = ends[..] { start..end } else { usual }
}

/// A runner whose programs follow from a seed.
fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// How a program ends on the reference and on an executor, and how long the reference took.
fn ends(program: &Program, executor: &mut dyn Executor) -> (Ended, Ended, Duration) {
    let guest = guest(program.setting, &program.words(pools()));
    let start = Instant::now();
    let wanted = reference(&guest);
    let took = start.elapsed();
    (wanted, guest.run(executor), took)
}

/// Runs the programs of some seeds on an engine and on the reference.
pub(crate) fn run(engine: &Engine, usual: Range<u64>) {
    let (mut executor, mut tally) = (engine.open(), Tally::default());
    let start = Instant::now();
    let seeds = seeds(usual);
    for seed in seeds.clone() {
        if tally.programs % AN_ENGINE_S_LIFE == AN_ENGINE_S_LIFE - 1 {
            executor = engine.open();
        }
        let program = program().new_tree(&mut runner(seed)).unwrap().current();
        tally.count(seed, &ends(&program, &mut *executor));
        if tally.programs % PROGRESS == 0 {
            println!("{}, up to seed {seed}, {:.0?}: {tally:?}", engine.name, start.elapsed());
        }
    }
    println!("{}, {:.1?}: {tally:?}", engine.name, start.elapsed());
    if let (Some(seed), 1) = (tally.wrong.first(), seeds.end - seeds.start) {
        shrink(engine, *seed);
    }
    assert!(tally.wrong.is_empty(), "{tally:?}");
    assert!(tally.compared * 10 >= tally.programs * 7, "{tally:?}");
}

/// Fails with the smallest program that ends otherwise, found from the one of a seed.
fn shrink(engine: &Engine, seed: u64) {
    let mut runner = runner(seed);
    let tree = program().new_tree(&mut runner).unwrap();
    let executor = RefCell::new(engine.open());
    let outcome = runner.run_one(tree, |program: Program| {
        let (wanted, found, _) = ends(&program, &mut **executor.borrow_mut());
        wrong(&wanted, &found).map_or(Ok(()), |what| Err(TestCaseError::fail(what)))
    });
    match outcome {
        Err(TestError::Fail(what, program)) => panic!("{}, seed {seed}: {what}\n{program:?}", engine.name),
        other => panic!("{}, seed {seed} differs only after others: {other:?}", engine.name),
    }
}

/// Most opcodes of the guest must be in the pools.
#[test]
fn the_pools_have_instructions_of_every_kind() {
    for pool in [&pools().narrow, &pools().wide] {
        println!("{} instructions, {} comparisons", pool.entries.len(), pool.compares.len());
        assert!(pool.entries.len() > 3000, "only {} instructions", pool.entries.len());
        assert!(pool.compares.len() > 100 && pool.scalar_compares.len() > 20);
    }
}

/// Every instruction of the pools by itself; `GUESTWAVE_STEP` leaves out all but every so manieth.
pub(crate) fn each(engine: &Engine) {
    let step = std::env::var("GUESTWAVE_STEP").ok().and_then(|n| n.parse().ok()).unwrap_or(STEP);
    let mut failures = Vec::new();
    for (wave_lanes, pool) in [(32, &pools().narrow), (64, &pools().wide)] {
        for (number, entry) in pool.entries.iter().enumerate().step_by(step) {
            let setting = Setting {
                wave_lanes,
                waves: 1,
                mode: MODES[number / step % MODES.len()],
                seed: number as u64,
            };
            let guest = guest(setting, &entry.words);
            let found = guest.run(&mut *engine.open());
            if let Some(what) = wrong(&reference(&guest), &found) {
                let program = Program { setting, nodes: vec![program::Node::Entry(number)] };
                failures.push(format!("{what}\n{program:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}: {}\n{}", engine.name, failures.len(), failures.join("\n"));
}
