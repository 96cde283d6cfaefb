//! Random programs give what the evaluator gives, in every holding.
//!
//! `GUESTWAVE_SEEDS=0..20000` runs more of them.

use std::ops::Range;
use std::sync::Arc;

use crate::support::memory::Memory;
use crate::support::random::{Features, INPUT, OUTPUT, PART, Random, WAVES, program};
use crate::support::{HOLDINGS, launch, open, run};
use guestwave_backend_wgpu::WgpuBackend;
use guestwave_translate::backend::{Backend, BackendError, Holding, Launch, ProgramId};
use guestwave_translate::program::{Program, eval, verify};

fn seeds() -> Range<u64> {
    let given = std::env::var("GUESTWAVE_SEEDS").unwrap_or_default();
    let ends: Vec<u64> = given.split("..").filter_map(|n| n.parse().ok()).collect();
    if let [start, end] = ends[..] { start..end } else { 6..8 }
}

fn features(seed: u64) -> Features {
    Features { odd: seed % 8 == 7, lds: seed % 4 == 2, groups: seed % 8 == 2 }
}

fn image(seed: u64) -> Memory {
    let mut r = Random::new(seed ^ 0xabcd);
    let mut bytes = |n: u64| (0..n / 4).flat_map(|_| (r.bits() as u32).to_le_bytes()).collect::<Vec<u8>>();
    Memory::default().map(INPUT, bytes(PART)).map(OUTPUT, bytes(PART * u64::from(WAVES)))
}

fn a_launch(seed: u64, id: ProgramId) -> Launch {
    let mut r = Random::new(seed ^ 0x77);
    let tables: Vec<u32> = (0..12).map(|_| r.bits() as u32).collect();
    let per_group = if features(seed).groups { 2 } else { 1 };
    Launch { tables: tables.into(), ..launch(id, WAVES, per_group) }
}

/// What differs, if anything does.
fn differs(backend: &mut WgpuBackend, seed: u64, program: &Arc<Program>, holding: Holding) -> Option<String> {
    let id = match backend.compile(program, holding) {
        Ok(id) => id,
        Err(BackendError::Compile { code: "NAGA-FLOW-001", .. }) => return None,
        Err(e) => return Some(e.to_string()),
    };
    let (expected, memory) = (image(seed), image(seed));
    let launch = a_launch(seed, id);
    let wanted = eval::run(program, &launch, &expected);
    let completion = run(backend, vec![launch], &memory);
    match (wanted, completion.fault, completion.done.first()) {
        (Err(w), Some(f), _) => (w.code != f.code).then(|| format!("{w:?} is wanted, {f:?} found")),
        // Lanes that would meet where the waves of a group may go different ways are refused by name.
        (Ok(_), Some(f), _)
            if f.code == "NAGA-FLOW-001" && features(seed).groups && holding != Holding::Wave =>
        {
            None
        }
        (Ok(w), None, Some(done)) => {
            let place = first_difference(&expected, &memory);
            let stored = (w.stored != done.stored)
                .then(|| format!("stored {:x?}, wanted {:x?}", done.stored, w.stored));
            place.or(stored)
        }
        (w, f, _) => Some(format!("{:?} is wanted, {f:?} found", w.map(|_| "an effect"))),
    }
}

fn first_difference(expected: &Memory, found: &Memory) -> Option<String> {
    let (expected, found) = (expected.all(), found.all());
    expected.iter().find_map(|(start, bytes)| {
        let other = &found[start];
        let at = (0..bytes.len()).find(|i| bytes[*i] != other[*i])? / 4 * 4;
        let word = |b: &[u8]| u32::from_le_bytes(b[at..at + 4].try_into().unwrap());
        Some(format!("at {:#x}: {:#x}, wanted {:#x}", start + at as u64, word(other), word(bytes)))
    })
}

#[test]
fn random_programs_agree_with_the_evaluator_in_every_holding() {
    let mut backend = open();
    let mut wrong = Vec::new();
    for seed in seeds() {
        let program = Arc::new(program(seed, features(seed)));
        if std::env::var_os("GUESTWAVE_SHOW").is_some() {
            println!("{program}");
        }
        verify(&program).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for holding in HOLDINGS {
            let start = std::time::Instant::now();
            let what = differs(&mut backend, seed, &program, holding);
            println!("seed {seed}, {holding:?}: {:?}, {:?}", start.elapsed(), backend.stats());
            if let Some(what) = what {
                println!("seed {seed}, {holding:?}: {what}");
                wrong.push((seed, holding));
            }
        }
    }
    println!("{:?}", backend.stats());
    assert!(wrong.is_empty(), "seeds and holdings that differ: {wrong:?}");
}
