//! Translated programs by everything that is compiled into them.

use std::collections::BTreeMap;
use std::sync::Arc;

use guestwave_cp::{ExactDispatch, GuestMemory, Isa, read_u32};
use guestwave_isa::gfx10::{Target, WaveSize};

use super::known::evaluate;
use super::last::{Last, Read};
use crate::backend::{BackendError, Fidelity, Holding, ProgramId};
use crate::gfx10::{Assumption, Event, Known, LaunchShape, LaunchWords, Source, Translation, translate};
use crate::program::{ParamSource, Program, Trace};
use crate::valhall;

/// Bytes of code that are read at most: the longest program that is translated.
const CODE_BYTES: u64 = 1 << 22;

/// Bytes of code that are read before it is known how long a program is.
const FIRST_BYTES: u64 = 1 << 14;

/// Everything that is compiled into a module. Two dispatches share a module only if all of it is equal (and the module's
/// assumptions hold for both).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleKey {
    /// The program's code, as far as it is reached.
    pub code: Arc<[u32]>,
    /// Its instruction set.
    pub isa: Isa,
    /// Lanes of a wave.
    pub wave_lanes: u8,
    /// FLOAT_MODE of RSRC1.
    pub float_mode: u8,
    /// DX10_CLAMP.
    pub dx10_clamp: bool,
    /// IEEE_MODE.
    pub ieee: bool,
    /// Which rule fills which register.
    pub shape: LaunchShape,
    /// LDS bytes of a workgroup.
    pub lds_bytes: u32,
    /// Scratch bytes of a wave.
    pub scratch_bytes: u32,
    /// Whether exports are dropped (`discard_vertex_exports`).
    pub discard_vertex_exports: bool,
    /// How close to the guest's bits floats are.
    pub fidelity: Fidelity,
    /// How waves are to be held; `None` leaves it to the backend.
    pub holding: Option<Holding>,
    /// Whether the lanes of a wave go one way together everywhere, for hosts that would end the loops of others. Programs that do
    /// serve whoever does not ask for it.
    pub together: bool,
}

impl ModuleKey {
    /// The key of a dispatch whose code is `code`.
    pub fn new(
        dispatch: &ExactDispatch,
        code: Arc<[u32]>,
        fidelity: Fidelity,
        holding: Option<Holding>,
    ) -> Self {
        let p = &dispatch.program;
        ModuleKey {
            code,
            isa: p.isa,
            wave_lanes: p.wave_lanes,
            float_mode: p.float_mode,
            dx10_clamp: p.dx10_clamp,
            ieee: p.ieee,
            shape: LaunchShape::new(dispatch),
            lds_bytes: dispatch.lds_bytes,
            scratch_bytes: scratch_bytes_of(dispatch),
            discard_vertex_exports: drops_exports(dispatch),
            fidelity,
            holding,
            together: false,
        }
    }

    /// Whether it is the key of a dispatch, whatever its code is.
    pub fn is_of(&self, dispatch: &ExactDispatch, fidelity: Fidelity, holding: Option<Holding>) -> bool {
        let p = &dispatch.program;
        // A new field does not compile here until it is compared.
        let ModuleKey {
            code: _,
            isa,
            wave_lanes,
            float_mode,
            dx10_clamp,
            ieee,
            shape,
            lds_bytes,
            scratch_bytes,
            discard_vertex_exports,
            fidelity: own_fidelity,
            holding: own_holding,
            together: _,
        } = self;
        (*isa, *wave_lanes, *float_mode) == (p.isa, p.wave_lanes, p.float_mode)
            && (*dx10_clamp, *ieee) == (p.dx10_clamp, p.ieee)
            && *lds_bytes == dispatch.lds_bytes
            && *scratch_bytes == scratch_bytes_of(dispatch)
            && *discard_vertex_exports == drops_exports(dispatch)
            && (*own_fidelity, *own_holding) == (fidelity, holding)
            && shape.is_of(dispatch)
    }
}

fn scratch_bytes_of(dispatch: &ExactDispatch) -> u32 {
    dispatch.scratch.map_or(0, |s| s.bytes_per_wave)
}

fn drops_exports(dispatch: &ExactDispatch) -> bool {
    dispatch.outputs == guestwave_cp::Outputs::Dropped
}

/// A compiled program.
pub(super) struct Module {
    key: ModuleKey,
    /// The key's code as it lies in memory.
    code: Box<[u8]>,
    assumptions: Vec<Assumption>,
    pub(super) params: Vec<ParamSource>,
    /// Instructions whose exports and messages it records.
    pub(super) events: Arc<[Event]>,
    /// Dwords of a record's rows that were enough so far.
    pub(super) record_words: u32,
    pub(super) program: ProgramId,
    pub(super) inexact: Vec<&'static str>,
    /// The last dispatch that ran it.
    last: Last,
}

impl Module {
    /// Whether the lanes of a wave go one way together everywhere.
    pub(super) fn together(&self) -> bool {
        self.key.together
    }
}

/// Why a dispatch has no module.
pub(super) struct Refused {
    pub(super) code: &'static str,
    pub(super) text: String,
    pub(super) pc: Option<u32>,
}

/// The modules of an executor.
#[derive(Default)]
pub(super) struct Cache {
    modules: Vec<Module>,
    /// Places of the modules whose program was last seen at an address.
    by_address: BTreeMap<u64, Vec<usize>>,
    /// The code that was last looked at, and the dwords of guest memory: for their room.
    code: Vec<u8>,
    reads: Vec<Read>,
}

impl Cache {
    pub(super) fn at(&self, at: usize) -> &Module {
        &self.modules[at]
    }

    /// Says that rows of `words` dwords were needed to record what a module leaves.
    pub(super) fn needs_record_words(&mut self, at: usize, words: u32) {
        self.modules[at].record_words = self.modules[at].record_words.max(words);
    }

    /// The module that fits a dispatch, one that was seen at its address or any, and the dispatch's words for it.
    pub(super) fn find(
        &mut self,
        dispatch: &ExactDispatch,
        memory: &dyn GuestMemory,
        fidelity: Fidelity,
        holding: Option<Holding>,
    ) -> Option<(usize, LaunchWords)> {
        let address = dispatch.program.address;
        let Cache { modules, by_address, code, reads } = self;
        let mut wanted = Wanted { dispatch, memory, fidelity, holding, code, read: 0, reads };
        let here = by_address.get(&address).map(Vec::as_slice).unwrap_or_default();
        if let Some(found) = wanted.first(modules, here.iter().rev().copied()) {
            return Some(found);
        }
        let all = 0..modules.len();
        let found = wanted.first(modules, all)?;
        by_address.entry(address).or_default().push(found.0);
        Some(found)
    }

    /// Translates and compiles a dispatch's program.
    pub(super) fn translate(
        &mut self,
        dispatch: &ExactDispatch,
        memory: &dyn GuestMemory,
        (fidelity, holding, together): (Fidelity, Option<Holding>, bool),
        compile: impl FnOnce(&Arc<Program>) -> Result<ProgramId, BackendError>,
    ) -> Result<usize, Refused> {
        let address = dispatch.program.address;
        let (translation, words, bytes) = translated(dispatch, memory, (fidelity, together))?;
        let params = translation.program.params.clone();
        let inexact = translation.program.inexact.clone();
        let program = compile(&Arc::new(translation.program)).map_err(|e| Refused {
            code: e.code(),
            text: e.sentence(),
            pc: None,
        })?;
        let code: Arc<[u32]> = words[..(bytes as usize / 4).min(words.len())].into();
        let key = ModuleKey { together, ..ModuleKey::new(dispatch, code, fidelity, holding) };
        self.modules.push(Module {
            code: key.code.iter().flat_map(|word| word.to_le_bytes()).collect(),
            key,
            assumptions: translation.assumptions,
            params,
            events: translation.events.into(),
            record_words: 0,
            program,
            inexact,
            last: Last::default(),
        });
        let at = self.modules.len() - 1;
        self.by_address.entry(address).or_default().push(at);
        Ok(at)
    }
}

/// A dispatch that wants a module.
struct Wanted<'a> {
    dispatch: &'a ExactDispatch,
    memory: &'a dyn GuestMemory,
    fidelity: Fidelity,
    holding: Option<Holding>,
    /// What lies at the program's address, as far as it was read.
    code: &'a mut Vec<u8>,
    /// Bytes of code that were asked for.
    read: usize,
    /// Dwords by which the last module's assumptions held.
    reads: &'a mut Vec<Read>,
}

impl Wanted<'_> {
    /// The first of some modules that fits, and the dispatch's words for it.
    fn first(
        &mut self,
        modules: &mut [Module],
        mut places: impl Iterator<Item = usize>,
    ) -> Option<(usize, LaunchWords)> {
        places.find_map(|at| Some((at, self.words_for(&mut modules[at])?)))
    }

    /// The dispatch's words for a module, if that fits it.
    fn words_for(&mut self, module: &mut Module) -> Option<LaunchWords> {
        let (key, chosen) = (&module.key, (self.fidelity, self.holding));
        let again = module.last.is_like(self.dispatch) && (key.fidelity, key.holding) == chosen;
        let fits = again || key.is_of(self.dispatch, self.fidelity, self.holding);
        if !fits || !self.has_code(&module.code) {
            return None;
        }
        if again && let Some(words) = module.last.words(self.memory) {
            return Some(words);
        }
        let words = self.words(module)?;
        module.last.keep(self.dispatch, &words, self.reads);
        Some(words)
    }

    /// Whether this code lies at the program's address. It is read once, but for longer code than was wanted before.
    fn has_code(&mut self, code: &[u8]) -> bool {
        if self.read < code.len() {
            self.read = code.len();
            read_bytes_within(self.memory, self.dispatch.program.address, code.len(), self.code);
        }
        self.code.starts_with(code)
    }

    /// The dispatch's words for a module, if the module's assumptions hold.
    fn words(&mut self, module: &Module) -> Option<LaunchWords> {
        let words = LaunchWords::new(self.dispatch, &module.params)?;
        let (memory, reads) = (self.memory, &mut *self.reads);
        reads.clear();
        let mut read = |address| {
            let word = read_u32(memory, address).ok()?;
            reads.push((address, word));
            Some(word)
        };
        let mut number = |a: &Assumption| evaluate(&a.trace, &words.params, &mut read);
        let keeps =
            module.assumptions.iter().all(|a| number(a).is_some_and(|n| n as u32 & a.mask == a.value));
        keeps.then_some(words)
    }
}

type Translated = (Translation, Vec<u32>, u32);

fn translated(
    dispatch: &ExactDispatch,
    memory: &dyn GuestMemory,
    how: (Fidelity, bool),
) -> Result<Translated, Refused> {
    let address = dispatch.program.address;
    let missing = || Refused {
        code: "TR-CODE-001",
        text: format!("no memory is mapped at the program's address {address:#x}"),
        pc: None,
    };
    let there = mapped_bytes(memory, address);
    let mut bytes = FIRST_BYTES;
    loop {
        let words = read_code(memory, address, bytes.min(there) & !3)
            .filter(|w| !w.is_empty())
            .ok_or_else(missing)?;
        let known = |trace: &Trace, sources: &[ParamSource]| {
            let read = &mut |address| read_u32(memory, address).ok();
            evaluate(trace, &LaunchWords::new(dispatch, sources)?.params, read)
        };
        match attempt(dispatch, &words, how, &known) {
            Ok((translation, reached)) => return Ok((translation, words, reached)),
            // The code may go on behind what was read.
            Err((_, true)) if bytes < there.min(CODE_BYTES) => bytes *= 8,
            Err((refused, _)) => return Err(refused),
        }
    }
}

/// Translates what was read of a program; an error also tells whether the program may go on behind that.
fn attempt(
    dispatch: &ExactDispatch,
    words: &[u32],
    (fidelity, together): (Fidelity, bool),
    known: Known<'_>,
) -> Result<(Translation, u32), (Refused, bool)> {
    let address = dispatch.program.address;
    let name = format!("{address:x}");
    let refused =
        |code, text: String, pc| Refused { code, text: format!("the program at {address:#x}: {text}"), pc };
    match target(dispatch.program.isa) {
        Some(target) => translate(&source(dispatch, words, target, (fidelity, together)), &name, known)
            .map_err(|r| (refused(r.code(), r.to_string(), r.pc()), r.needs_more_code())),
        None => valhall::translate(&valhall_source(dispatch, words, fidelity), &name, known)
            .map_err(|r| (refused(r.code(), r.to_string(), r.pc()), r.needs_more_code())),
    }
}

/// The GFX10 decoder's name of an instruction set, if it is one of its own.
fn target(isa: Isa) -> Option<Target> {
    match isa {
        Isa::Gfx1010 => Some(Target::Gfx1010),
        Isa::Gfx1013 => Some(Target::Gfx1013),
        Isa::Gfx1030 => Some(Target::Gfx1030),
        Isa::ValhallV9 => None,
    }
}

fn valhall_source<'a>(dispatch: &ExactDispatch, words: &'a [u32], fidelity: Fidelity) -> valhall::Source<'a> {
    let wave_lanes = dispatch.program.wave_lanes;
    valhall::Source { words, wave_lanes, shape: LaunchShape::new(dispatch), fidelity }
}

fn source<'a>(
    dispatch: &ExactDispatch,
    words: &'a [u32],
    target: Target,
    (fidelity, together): (Fidelity, bool),
) -> Source<'a> {
    let p = &dispatch.program;
    Source {
        words,
        target,
        wave: if p.wave_lanes == 64 { WaveSize::W64 } else { WaveSize::W32 },
        float_mode: p.float_mode,
        dx10_clamp: p.dx10_clamp,
        ieee: p.ieee,
        shape: LaunchShape::new(dispatch),
        lds_bytes: dispatch.lds_bytes,
        scratch_bytes: dispatch.scratch.map_or(0, |s| s.bytes_per_wave / u32::from(p.wave_lanes.max(1))),
        addr_config: guestwave_isa::gfx10::surface::ADDR_CONFIG,
        record: dispatch.outputs == guestwave_cp::Outputs::Recorded,
        fidelity,
        together,
    }
}

/// Bytes that are mapped from an address on.
fn mapped_bytes(memory: &dyn GuestMemory, address: u64) -> u64 {
    memory.mapping(address).map_or(0, |r| r.end.saturating_sub(guestwave_cp::canonical(address)))
}

/// Reads as much of `bytes` bytes of code as is mapped.
fn read_bytes_within(memory: &dyn GuestMemory, address: u64, bytes: usize, into: &mut Vec<u8>) {
    into.resize(bytes, 0);
    if memory.read(address, into).is_ok() {
        return;
    }
    into.truncate(usize::try_from(mapped_bytes(memory, address)).unwrap_or(bytes));
    if memory.read(address, into).is_err() {
        into.clear();
    }
}

fn read_code(memory: &dyn GuestMemory, address: u64, bytes: u64) -> Option<Vec<u32>> {
    let mut raw = vec![0; usize::try_from(bytes).ok()?];
    memory.read(address, &mut raw).ok()?;
    Some(raw.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
}
