//! Random programs give what the evaluator gives, in every holding.
//!
//! `GUESTWAVE_SEEDS=0..20000` runs more of them.

use std::ops::Range;
use std::sync::Arc;

use crate::support::lane::access::{WAVES, memory};
use crate::support::lane::memory::Memory;
use crate::support::lane::random::{Menu, program};
use crate::support::lane::{tape, worked};
use crate::support::{HOLDINGS, launch, open, patient, run};
use guestwave_backend_wgpu::WgpuBackend;
use guestwave_translate::backend::{Backend, BackendError, Holding, Launch, ProgramId};
use guestwave_translate::program::{Program, eval, verify};

fn seeds() -> Range<u64> {
    let given = std::env::var("GUESTWAVE_SEEDS").unwrap_or_default();
    let ends: Vec<u64> = given.split("..").filter_map(|n| n.parse().ok()).collect();
    if let [start, end] = ends[..] { start..end } else { 6..8 }
}

fn menu(seed: u64) -> Menu {
    Menu { odd: seed % 8 == 7, lds: seed % 4 == 2, groups: seed % 8 == 2, ..Menu::default() }
}

/// The program of a seed: mostly a small one.
fn of_seed(seed: u64) -> Program {
    let most = if seed.is_multiple_of(8) { 400 } else { 120 };
    let mut choices = tape::words(seed, most);
    choices.truncate(20 + choices[0] as usize % most);
    program(&choices[1..], menu(seed))
}

fn a_launch(seed: u64, id: ProgramId) -> Launch {
    let words = tape::words(seed ^ 0x77, 14);
    let per_group = if menu(seed).groups { 2 } else { 1 };
    Launch { params: words[..2].to_vec(), tables: words[2..].into(), ..launch(id, WAVES, per_group) }
}

/// What differs, if anything does.
fn differs(backend: &mut WgpuBackend, seed: u64, program: &Arc<Program>, holding: Holding) -> Option<String> {
    let id = match backend.compile(program, holding) {
        Ok(id) => id,
        Err(BackendError::Compile { code: "NAGA-FLOW-001", .. }) => return None,
        Err(e) => return Some(e.to_string()),
    };
    let (expected, memory) = (memory(seed), memory(seed));
    let launch = a_launch(seed, id);
    let wanted = eval::run(program, &launch, &expected);
    let completion = run(backend, vec![launch], &memory);
    match (wanted, completion.fault, completion.done.first()) {
        (Err(w), Some(f), _) => (w.code != f.code).then(|| format!("{w:?} is wanted, {f:?} found")),
        // Lanes that would meet where the waves of a group may go different ways are refused by name.
        (Ok(_), Some(f), _) if f.code == "NAGA-FLOW-001" && menu(seed).groups && holding != Holding::Wave => {
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
    agree(open(), &HOLDINGS);
}

#[test]
fn random_programs_agree_where_loops_are_checked_before_they_run() {
    agree(patient(), &[Holding::Lane]);
}

fn agree(mut backend: WgpuBackend, holdings: &[Holding]) {
    let mut wrong = Vec::new();
    for seed in seeds() {
        let program = Arc::new(of_seed(seed));
        if std::env::var_os("GUESTWAVE_SHOW").is_some() {
            println!("{program}");
        }
        verify(&program).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for holding in holdings.iter().copied() {
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

#[test]
fn worked_programs_leave_what_they_should() {
    let mut backend = open();
    HOLDINGS.into_iter().for_each(|holding| worked::hold_on(&mut backend, holding));
}
