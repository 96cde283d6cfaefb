//! The interpreter's cases as dispatches: the same registers and memory first, and all registers stored at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use guestwave_cp::{Isa, LaneRule, ScalarRule};
use guestwave_isa::gfx10::{Op, Target, decode};

use crate::case::{Case, Line, Place, parse};
use crate::dump::{self, Dump, EXEC, M0, OUTPUT, Row, WAVE_BYTES, s_branch};
use crate::guest::Guest;

/// Where the cases' programs lie, and where the code before them begins.
const CODE: u64 = 0x80_0000;
const ENTRY: u64 = 0x7f_8000;
/// Where registers are stored.
const OUT: u64 = 0x7700_0000;

/// All cases, with the names of their files.
pub(crate) fn all() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa/tests/interp/cases");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "txt"));
    files.sort();
    let named = |file: &PathBuf| {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        parse(file).into_iter().map(move |case| (format!("{stem}: {}", case.name), case)).collect::<Vec<_>>()
    };
    files.iter().flat_map(named).collect()
}

/// A case as a dispatch of one workgroup.
pub(crate) fn guest(case: &Case) -> Guest {
    let mode = line(case, 0, |p| *p == Place::Mode).map_or(0xf0, |l| l.values.words(1)[0]);
    let lanes = case.size.lanes() as usize;
    let scratch_bytes = case.scratch;
    Guest {
        isa: match case.target {
            Target::Gfx1010 => Isa::Gfx1010,
            Target::Gfx1013 => Isa::Gfx1013,
            Target::Gfx1030 => Isa::Gfx1030,
        },
        wave_lanes: lanes as u8,
        mode,
        entry: ENTRY,
        regions: regions(case),
        groups: vec![case.waves as u32],
        sgprs: sgprs(case),
        vgprs: vgprs(case, lanes),
        lds_bytes: case.lds,
        scratch_bytes,
    }
}

/// The last line of wave `wave` before the program whose place fits.
fn line(case: &Case, wave: usize, fits: impl Fn(&Place) -> bool) -> Option<&Line> {
    let lines = case.before.iter().filter(|l| l.wave.is_none_or(|w| w == wave));
    lines.rev().find(|l| fits(&l.place))
}

fn regions(case: &Case) -> BTreeMap<u64, Vec<u8>> {
    let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let mut regions = BTreeMap::new();
    for line in &case.before {
        if let Place::Memory(address) = line.place {
            regions.insert(address & 0xffff_ffff_ffff, bytes(&line.values.words(0)));
        }
    }
    let mut before = dump::before();
    before.push(s_branch(((CODE - ENTRY) / 4) as i32 - before.len() as i32 - 1));
    before.resize(((CODE - ENTRY) / 4) as usize, 0);
    let gap = regions.range(ENTRY..CODE).next().map_or(CODE, |(start, _)| *start);
    before.truncate(((gap - ENTRY) / 4) as usize);
    regions.insert(ENTRY, bytes(&before));
    regions.insert(CODE, bytes(&code(case)));
    regions.insert(OUT, vec![0; WAVE_BYTES as usize * case.waves]);
    regions
}

/// The program, whose ends go on to the code that stores the registers.
fn code(case: &Case) -> Vec<u32> {
    let mut code = case.words.clone();
    let end = code.len() as i32;
    let mut at = 0;
    while at < case.words.len() {
        let inst = decode(&case.words[at..], 4 * at as u32, case.target);
        if inst.as_ref().is_ok_and(|i| i.op == Op::S_ENDPGM) {
            code[at] = s_branch(end - at as i32 - 1);
        }
        at += inst.map_or(1, |i| usize::from(i.len).max(1));
    }
    let mode = case.after.iter().any(|l| l.place == Place::Mode);
    code.extend(dump::after(&Dump { vgprs: 32, sgprs: 0..48, mode, row: Row::Lane }));
    code
}

fn sgprs(case: &Case) -> Vec<ScalarRule> {
    let of_wave = |wave: usize| {
        let mut all = [0u32; 103];
        let exec = line(case, wave, |p| *p == Place::Exec).map_or(u64::MAX, |l| l.values.get(0).unwrap());
        let out = OUT + u64::from(WAVE_BYTES) * wave as u64;
        for line in case.before.iter().filter(|l| l.wave.is_none_or(|w| w == wave)) {
            if let Place::Sgpr(first) = line.place {
                let words = line.values.words(1);
                all[usize::from(first)..usize::from(first) + words.len()].copy_from_slice(&words);
            }
        }
        let pairs = [(EXEC, exec), (OUTPUT, out)];
        for (register, value) in pairs {
            all[usize::from(register)] = value as u32;
            all[usize::from(register) + 1] = (value >> 32) as u32;
        }
        all[usize::from(M0)] = line(case, wave, |p| *p == Place::M0).map_or(0, |l| l.values.words(1)[0]);
        all
    };
    let waves: Vec<_> = (0..case.waves).map(of_wave).collect();
    let rule = |register: usize| {
        let words: Vec<u32> = waves.iter().map(|wave| wave[register]).collect();
        match words.iter().all(|w| *w == words[0]) {
            true => ScalarRule::Word(words[0]),
            false => ScalarRule::PerWave(words.into()),
        }
    };
    (0..103).map(rule).collect()
}

fn vgprs(case: &Case, lanes: usize) -> Vec<LaneRule> {
    let count = case.before.iter().filter_map(|l| match l.place {
        Place::Vgpr(n) => Some(usize::from(n) + 1),
        _ => None,
    });
    let rule = |register: usize| {
        let of_wave = |wave: usize| {
            let line = line(case, wave, |p| *p == Place::Vgpr(register as u8));
            let mut words = line.map_or_else(Vec::new, |l| l.values.words(lanes));
            words.resize(lanes, 0);
            words
        };
        let words: Arc<[u32]> = (0..case.waves).flat_map(of_wave).collect();
        if words.iter().all(|w| *w == 0) { LaneRule::Word(0) } else { LaneRule::PerItem(words) }
    };
    (0..count.max().unwrap_or(0)).map(rule).collect()
}
