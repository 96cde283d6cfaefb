//! Reading case files.

use std::path::Path;

use guestwave_isa::gfx10::{Target, WaveSize};

use crate::value::Values;

/// Registers or memory that a line sets or expects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    Sgpr(u8),
    Vgpr(u8),
    Memory(u64),
    Exec,
    Vcc,
    Scc,
    M0,
    Mode,
    Messages,
    Exports,
}

/// One line: a place of one wave or of all, and its values.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub wave: Option<usize>,
    pub place: Place,
    pub values: Values,
}

/// One program and what it does.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub name: String,
    pub target: Target,
    pub size: WaveSize,
    pub waves: usize,
    pub lds: u32,
    pub scratch: u32,
    pub budget: u64,
    pub words: Vec<u32>,
    pub before: Vec<Line>,
    pub after: Vec<Line>,
    /// Code of the refusal and a part of its text.
    pub stop: Option<(String, String)>,
}

impl Case {
    fn new(name: &str) -> Self {
        Case {
            name: name.to_owned(),
            target: Target::Gfx1030,
            size: WaveSize::W32,
            waves: 1,
            lds: 0,
            scratch: 0,
            budget: 10_000,
            words: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            stop: None,
        }
    }

    fn set(&mut self, key: &str, value: &str) {
        match key {
            "target" => self.target = target(value),
            "wave" => self.size = if value == "64" { WaveSize::W64 } else { WaveSize::W32 },
            "waves" => self.waves = value.parse().unwrap(),
            "lds" => self.lds = value.parse().unwrap(),
            "scratch" => self.scratch = value.parse().unwrap(),
            "budget" => self.budget = value.parse().unwrap(),
            "stop" => {
                let (code, text) = value.split_once(' ').unwrap_or((value, ""));
                self.stop = Some((code.to_owned(), text.to_owned()));
            }
            _ => panic!("{}: no such key: {key}", self.name),
        }
    }
}

pub(crate) fn target(name: &str) -> Target {
    match name {
        "gfx1010" => Target::Gfx1010,
        "gfx1013" => Target::Gfx1013,
        "gfx1030" => Target::Gfx1030,
        _ => panic!("no such target: {name}"),
    }
}

/// The cases of a file.
pub(crate) fn parse(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut cases: Vec<Case> = Vec::new();
    let mut expecting = false;
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        if let Some(name) = line.strip_prefix("test ") {
            cases.push(Case::new(name));
            expecting = false;
            continue;
        }
        let Some(case) = cases.last_mut() else { panic!("{}: {line}", file.display()) };
        if line == "expect" {
            expecting = true;
        } else if let Some((_, words)) = line.split_once(';') {
            case.words.extend(words.split_whitespace().map(|w| u32::from_str_radix(w, 16).unwrap()));
        } else if let Some((place, values)) = line.split_once('=') {
            let parsed = place_line(place.trim(), values.trim());
            if expecting { case.after.push(parsed) } else { case.before.push(parsed) }
        } else if let Some((key, value)) = line.split_once(':') {
            case.set(key.trim(), value.trim());
        } else {
            panic!("{}: {}: {line}", file.display(), case.name);
        }
    }
    cases
}

fn place_line(text: &str, values: &str) -> Line {
    let (wave, name) = match text.strip_prefix("wave").and_then(|rest| rest.split_once(' ')) {
        Some((number, rest)) => (Some(number.parse().unwrap()), rest.trim()),
        None => (None, text),
    };
    Line { wave, place: place(name), values: Values::parse(values) }
}

fn place(name: &str) -> Place {
    let number = |rest: &str| rest.parse::<u8>().ok();
    match name {
        "exec" => Place::Exec,
        "vcc" => Place::Vcc,
        "scc" => Place::Scc,
        "m0" => Place::M0,
        "mode" => Place::Mode,
        "messages" => Place::Messages,
        "exports" => Place::Exports,
        _ => {
            if let Some(address) = name.strip_prefix("mem ") {
                return Place::Memory(crate::value::number(address.trim()));
            }
            let sgpr = name.strip_prefix('s').and_then(number).map(Place::Sgpr);
            let vgpr = || name.strip_prefix('v').and_then(number).map(Place::Vgpr);
            sgpr.or_else(vgpr).unwrap_or_else(|| panic!("no such place: {name}"))
        }
    }
}
