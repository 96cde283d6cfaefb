//! Random programs of the guest's own instructions, on the reference and on translated programs.
//!
//! `GUESTWAVE_PROGRAMS` says how many are run on each engine, `PROPTEST_RNG_SEED` where the random numbers begin. What differs is
//! made as small as it can be and printed as a listing.

mod dice;
mod encode;
mod environment;
mod memory;
mod pool;
mod program;

use std::cell::RefCell;
use std::sync::LazyLock;

use guestwave_isa::gfx10::WaveSize;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use self::environment::{MODES, Setting, guest};
use self::pool::Pool;
use self::program::{Pools, Program, program};
use crate::{Engine, reference, wrong};

/// Programs of a test unless `GUESTWAVE_PROGRAMS` says otherwise.
const PROGRAMS: u32 = 120;

/// Every which instruction of the pools is run by itself unless `GUESTWAVE_STEP` says otherwise.
const STEP: usize = 7;

/// Programs after which an engine is opened anew.
const AN_ENGINE_S_LIFE: u32 = 200;

fn pools() -> &'static Pools {
    static POOLS: LazyLock<Pools> =
        LazyLock::new(|| Pools { narrow: Pool::new(WaveSize::W32), wide: Pool::new(WaveSize::W64) });
    &POOLS
}

/// What became of the programs of a run.
#[derive(Default)]
struct Tally {
    programs: u32,
    compared: u32,
}

/// Runs random programs on an engine and on the reference.
pub(crate) fn run(engine: &Engine) {
    let cases = std::env::var("GUESTWAVE_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(PROGRAMS);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let state = RefCell::new((engine.open(), Tally::default()));
    let outcome = TestRunner::new(config).run(&program(), |program: Program| {
        let (executor, tally) = &mut *state.borrow_mut();
        if tally.programs % AN_ENGINE_S_LIFE == AN_ENGINE_S_LIFE - 1 {
            *executor = engine.open();
        }
        tally.programs += 1;
        let guest = guest(program.setting, &program.words(pools()));
        let (wanted, found) = (reference(&guest), guest.run(&mut **executor));
        tally.compared += u32::from(wanted.is_ok());
        match wrong(&wanted, &found) {
            Some(what) => Err(TestCaseError::fail(what)),
            None => Ok(()),
        }
    });
    let tally = state.into_inner().1;
    match outcome {
        Ok(()) => {
            assert!(tally.compared * 10 >= tally.programs * 7, "{} of {}", tally.compared, tally.programs)
        }
        Err(TestError::Fail(what, program)) => panic!("{}: {what}\n{program:?}", engine.name),
        Err(e) => panic!("{}: {e}", engine.name),
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
                let program = Program { setting, nodes: vec![program::Node::Inst(number)] };
                failures.push(format!("{what}\n{program:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}: {}\n{}", engine.name, failures.len(), failures.join("\n"));
}
