//! Running a case.

use guestwave_isa::gfx10::interp::{
    Apertures, CodeCache, GroupResult, ProgramInfo, Stop, Wave, WaveInit, WaveOutcome, run_group,
};
use guestwave_isa::gfx10::sreg;

use crate::case::{Case, Line, Place};
use crate::memory::Memory;

/// Guest address of the program.
const CODE: u64 = 0x80_0000;

/// Runs a case and returns what is not as it says.
pub(crate) fn run(case: &Case) -> Vec<String> {
    let mut memory = memory(case);
    let mut budget = case.budget;
    let mode = case.before.iter().find(|l| l.place == Place::Mode).map_or(0xf0, |l| l.values.words(1)[0]);
    let info = ProgramInfo {
        target: case.target,
        address: CODE,
        wave_size: case.size,
        mode,
        scratch_bytes: case.scratch,
        apertures: Apertures::default(),
        addr_config: 0x444,
    };
    let waves = (0..case.waves).map(|number| wave(case, number)).collect();
    let mut code = CodeCache::new(case.target, CODE);
    let result = run_group(&mut code, &info, waves, case.lds, &mut memory, &mut budget);
    match (result, &case.stop) {
        (Ok(result), None) => compare(case, &result, &memory),
        (Err(stop), Some((code, text))) => compare_stop(&stop, code, text),
        (Ok(_), Some(_)) => vec!["should have stopped".to_owned()],
        (Err(stop), None) => vec![format!("{} {stop}", stop.kind.code())],
    }
}

fn memory(case: &Case) -> Memory {
    let mut memory = Memory::default();
    memory.map(CODE, case.words.iter().flat_map(|w| w.to_le_bytes()).collect());
    for line in &case.before {
        if let Place::Memory(address) = line.place {
            memory.map(address, line.values.words(0).iter().flat_map(|w| w.to_le_bytes()).collect());
        }
    }
    memory
}

fn wave(case: &Case, number: usize) -> WaveInit {
    let lanes = case.size.lanes() as usize;
    let mut init = WaveInit { exec: u64::MAX, ..WaveInit::default() };
    for line in case.before.iter().filter(|l| l.wave.is_none_or(|wave| wave == number)) {
        let words = line.values.words(lanes);
        match line.place {
            Place::Sgpr(first) => {
                let end = usize::from(first) + words.len();
                init.sgprs.resize(init.sgprs.len().max(end), 0);
                init.sgprs[usize::from(first)..end].copy_from_slice(&words);
            }
            Place::Vgpr(register) => {
                init.vgprs.resize(init.vgprs.len().max(usize::from(register) + 1), Vec::new());
                init.vgprs[usize::from(register)] = words;
            }
            Place::Exec => init.exec = line.values.get(0).unwrap(),
            Place::M0 => init.m0 = words[0],
            Place::Memory(_) | Place::Mode => {}
            ref other => panic!("{}: {other:?} cannot be set", case.name),
        }
    }
    init
}

fn compare_stop(stop: &Stop, code: &str, text: &str) -> Vec<String> {
    let said = stop.to_string();
    if stop.kind.code() == code && said.contains(text) {
        return Vec::new();
    }
    vec![format!("stopped with {} {said}", stop.kind.code())]
}

fn compare(case: &Case, result: &GroupResult, memory: &Memory) -> Vec<String> {
    let mut failures = Vec::new();
    for line in &case.after {
        if let Place::Memory(address) = line.place {
            failures.extend(compare_memory(line, address, memory));
            continue;
        }
        for (number, outcome) in result.waves.iter().enumerate() {
            if line.wave.is_none_or(|wave| wave == number) {
                let found = found(line, outcome);
                failures.extend(difference(line, &found).map(|d| format!("wave {number} {d}")));
            }
        }
    }
    failures
}

fn compare_memory(line: &Line, address: u64, memory: &Memory) -> Option<String> {
    let (_, bytes) = memory.ranges.iter().find(|(start, _)| *start == address)?;
    let words: Vec<u64> =
        bytes.chunks(4).map(|c| u64::from(u32::from_le_bytes([c[0], c[1], c[2], c[3]]))).collect();
    difference(line, &words)
}

/// What the wave has in the place of a line; all lanes, or as many scalar registers as the line names.
fn found(line: &Line, outcome: &WaveOutcome) -> Vec<u64> {
    let wave: &Wave = outcome.last.as_ref().unwrap();
    match line.place {
        Place::Sgpr(first) => {
            let numbers = (0..line.values.len(1)).map(|i| first + i as u8);
            numbers.map(|number| wave.sgpr(number).into()).collect()
        }
        Place::Vgpr(register) => {
            (0..wave.size().lanes() as usize).map(|lane| wave.vgpr(register, lane).into()).collect()
        }
        Place::Exec => vec![wave.exec()],
        Place::Vcc => vec![wave.vcc()],
        Place::Scc => vec![wave.scc().into()],
        Place::M0 => vec![wave.sgpr(sreg::M0).into()],
        Place::Mode => vec![wave.mode().into()],
        Place::Messages => {
            outcome.messages.iter().flat_map(|m| [u64::from(m.simm16), m.m0.into(), m.exec]).collect()
        }
        Place::Exports => outcome.exports.iter().flat_map(export_words).collect(),
        Place::Memory(_) => Vec::new(),
    }
}

/// Target, enables, flags (compr 1, done 2, vm 4), EXEC, and the four registers of lane 0.
fn export_words(e: &guestwave_isa::gfx10::interp::Export) -> Vec<u64> {
    let flags = u64::from(e.compr) | u64::from(e.done) << 1 | u64::from(e.vm) << 2;
    let mut words = vec![e.target.into(), e.en.into(), flags, e.exec];
    words.extend(e.values[0].iter().map(|v| u64::from(*v)));
    words
}

/// Words are compared at 32 bits where both are narrower. A line must name every word that is there.
fn difference(line: &Line, found: &[u64]) -> Option<String> {
    let count = line.values.len(found.len());
    let same = |i: usize| line.values.get(i).is_none_or(|expected| narrow(expected) == narrow(found[i]));
    if count == found.len() && (0..count).all(same) {
        return None;
    }
    let wrong = (0..count.min(found.len())).find(|i| !same(*i));
    Some(format!("{:?}: first difference at {wrong:?} of {count}: found {found:x?}", line.place))
}

/// Negative numbers in a file are 64 bits wide; registers are 32.
fn narrow(word: u64) -> u64 {
    if word as i64 >= i64::from(i32::MIN) && (word as i64) < 0 { word & 0xffff_ffff } else { word }
}
