//! Programs as they were given, and their modules: one for each way of running them that was needed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use guestwave_translate::backend::{Fidelity, Held, Holding, Launch};
use guestwave_translate::naga::{self, Facts, Hoists, HostCaps, Options, Unsupported, codes};
use guestwave_translate::program::{Program, Workgroups, specialize};

use crate::gpu::Code;
use crate::windows::{SlotUse, slot_uses};
use crate::worker::Worker;

/// A module that can run.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) pipeline: usize,
    pub(crate) facts: Facts,
    /// Dispatches that a launch takes.
    pub(crate) rounds: u32,
}

/// A program for workgroups of one shape, or of any.
pub(crate) struct Shaped {
    pub(crate) program: Arc<Program>,
    /// Loads that the host makes.
    pub(crate) hoists: Hoists,
}

/// Shapes of workgroups that a program is made for; what comes after runs as for any.
const MOST_SHAPES: usize = 4;
/// Dispatches that a launch takes at most, where the device ends loops by itself, and how many more it gets each time.
const MOST_ROUNDS: u32 = 1 << 8;
const MORE_ROUNDS: u32 = 4;
/// Lanes that a program has run before a module is made for it that only runs.
const MANY_LANES: u64 = 1 << 18;

/// A program and what was learnt of it.
pub(crate) struct Entry {
    pub(crate) program: Arc<Program>,
    holding: Holding,
    /// Whether another holding may be taken where this one does not serve.
    free: bool,
    /// Why the whole-wave holding is taken, if it is.
    whole: Option<&'static str>,
    pub(crate) uses: Vec<SlotUse>,
    variants: HashMap<Options, Result<Variant, Unsupported>>,
    shapes: HashMap<Option<Workgroups>, Arc<Shaped>>,
    /// Lanes that it ran since a launch last went wrong.
    lanes: u64,
    /// Slots of unknown size do not say where accesses go.
    pub(crate) astray: bool,
    /// The program stores to what the host loads for it.
    pub(crate) stores_to_hoisted: bool,
    /// Guest pages that accesses missed, other than through slots.
    pub(crate) missed: BTreeSet<u64>,
    /// Slots reach what other slots reach.
    pub(crate) careful: bool,
    /// Some access is not done the direct way.
    pub(crate) general: bool,
    /// Dispatches by which a launch's waves get done: more than one where the device ends long loops by itself.
    pub(crate) rounds: u32,
    /// Bytes of each slot of unknown size that accesses reached.
    pub(crate) reaches: Vec<u64>,
    /// Guest pages that were stored other than through slots.
    pub(crate) paged: BTreeSet<u64>,
}

/// What a launch says about its module.
#[derive(Clone, Copy)]
pub(crate) struct Launched {
    /// Waves of its largest workgroup, and whether there are smaller ones.
    pub(crate) groups: (u32, bool),
    /// Whether its slots are apart.
    pub(crate) apart: bool,
    /// Whether its block has the words that the host loaded.
    pub(crate) hoisted: bool,
    /// The workgroups that its program is made for.
    pub(crate) workgroups: Option<Workgroups>,
}

/// How modules are made.
pub(crate) struct Workshop {
    pub(crate) host: HostCaps,
    pub(crate) fidelity: Fidelity,
    /// Whether SPIR-V goes to the driver as it is.
    pub(crate) passthrough: bool,
    /// Modules made.
    pub(crate) modules: u64,
}

impl Entry {
    /// `holding`: the one that is asked for, `None` for the best.
    pub(crate) fn new(program: &Arc<Program>, holding: Option<Holding>) -> Self {
        Entry {
            program: program.clone(),
            holding: holding.unwrap_or(Holding::Lane),
            free: holding.is_none(),
            whole: None,
            uses: slot_uses(program),
            variants: HashMap::new(),
            shapes: HashMap::new(),
            lanes: 0,
            astray: false,
            stores_to_hoisted: false,
            missed: BTreeSet::new(),
            careful: false,
            general: false,
            rounds: 1,
            reaches: vec![0; program.slots.len()],
            paged: BTreeSet::new(),
        }
    }

    /// How it is held, and why.
    pub(crate) fn held(&self) -> Held {
        match (self.whole, self.free) {
            (Some(why), _) => Held { holding: Holding::Wave, why },
            (None, true) => Held { holding: self.holding, why: "nothing shows the order of its lanes" },
            (None, false) => Held { holding: self.holding, why: "it was asked for" },
        }
    }

    /// Takes the whole-wave holding since the order of lanes shows. Says whether that is new.
    pub(crate) fn keep_order(&mut self) -> bool {
        let new = self.held().holding != Holding::Wave;
        if new {
            self.whole = Some("the order of its lanes shows");
        }
        new
    }

    /// Takes the whole-wave holding if there is a choice and the other one cannot do what the program does. Says whether it
    /// did so.
    fn give_way(&mut self, refused: &Unsupported) -> bool {
        let why = match refused.code {
            codes::FLOW => "waves of a workgroup meet where each may go its own way",
            codes::GROUP => "a workgroup has more lanes than the device runs together",
            codes::SHARED => "lanes need more workgroup memory to meet than the device has",
            _ => return false,
        };
        let gives = self.free && self.held().holding != Holding::Wave;
        if gives {
            self.whole = Some(why);
        }
        gives
    }

    /// The program for a launch.
    pub(crate) fn shaped(&mut self, launch: &Launch) -> (Option<Workgroups>, Arc<Shaped>) {
        let program = &self.program;
        let alike = launch.group_waves.is_none();
        let of = || Workgroups::of(program, &launch.params, launch.waves, launch.waves_per_group.max(1));
        let shape = of()
            .filter(|s| alike && (self.shapes.len() < MOST_SHAPES || self.shapes.contains_key(&Some(*s))));
        let made = self.shapes.entry(shape).or_insert_with(|| {
            let program = match &shape {
                Some(shape) => Arc::new(specialize(program, shape)),
                None => program.clone(),
            };
            Arc::new(Shaped { hoists: Hoists::new(&program), program })
        });
        (shape, made.clone())
    }

    /// Lets waves be held back and go on in further dispatches, or in more of them. Says whether that may help.
    pub(crate) fn go_on(&mut self) -> bool {
        let more = self.program.together && self.rounds < MOST_ROUNDS;
        if more {
            self.rounds *= MORE_ROUNDS;
        }
        more
    }

    /// Whether windows of slots of unknown size are taken for where accesses go.
    pub(crate) fn guessed(&self) -> bool {
        self.program.slots.iter().any(|s| s.size.is_none())
    }

    /// Notes that a launch took effect.
    pub(crate) fn ran(&mut self, launch: &Launch) {
        let lanes = u64::from(launch.waves) * u64::from(self.program.wave_lanes);
        self.lanes = self.lanes.saturating_add(lanes);
    }

    /// Asks for modules that say what goes wrong. Says whether the last did not.
    pub(crate) fn speak(&mut self) -> bool {
        let was_quiet = self.quiet();
        self.lanes = 0;
        was_quiet
    }

    fn quiet(&self) -> bool {
        self.lanes >= MANY_LANES
    }

    /// How a launch is lowered.
    fn options(&self, shop: &Workshop, launched: Launched) -> Options {
        let Launched { groups, apart, hoisted, workgroups } = launched;
        Options {
            holding: self.held().holding,
            fidelity: shop.fidelity,
            waves_per_group: groups.0,
            ragged: groups.1,
            slots_apart: apart && !self.careful && !self.astray,
            direct: !self.general,
            hoisted,
            pointers: !self.astray,
            resumes: self.rounds > 1,
            quiet: self.quiet(),
            workgroups,
        }
    }

    /// The module for a launch, made if it is new; see [`Entry::options`].
    pub(crate) fn module(
        &mut self,
        launched: Launched,
        program: &Program,
        shop: &mut Workshop,
        worker: &Worker,
    ) -> Result<Variant, Unsupported> {
        let options = self.options(shop, launched);
        let made = match self.variant(options, program, shop, worker) {
            Err(refused) if self.give_way(&refused) => {
                let options = self.options(shop, launched);
                self.variant(options, program, shop, worker)
            }
            other => other,
        }?;
        Ok(Variant { rounds: self.rounds, ..made })
    }

    /// The module for these options, made if it is new.
    fn variant(
        &mut self,
        options: Options,
        program: &Program,
        shop: &mut Workshop,
        worker: &Worker,
    ) -> Result<Variant, Unsupported> {
        if let Some(known) = self.variants.get(&options) {
            return known.clone();
        }
        let made = shop.make(program, &options, worker);
        self.variants.insert(options, made.clone());
        made
    }
}

impl Workshop {
    fn make(
        &mut self,
        program: &Program,
        options: &Options,
        worker: &Worker,
    ) -> Result<Variant, Unsupported> {
        let lowered = naga::lower(program, &self.host, options)?;
        let facts = lowered.facts.clone();
        let code = if self.passthrough {
            Code::Words(naga::spirv(&lowered, &self.host.floats.modes, options.fidelity)?)
        } else {
            Code::Module(Box::new(lowered.module))
        };
        let pipeline = worker
            .compile(&program.name, code)
            .map_err(|reason| Unsupported { code: codes::INTERNAL, reason })?;
        self.modules += 1;
        Ok(Variant { pipeline, facts, rounds: 1 })
    }
}

/// Waves of the largest workgroup of a launch, and whether there are smaller ones. Groups matter only to programs whose
/// waves have something in common; for others all launches are alike.
pub(crate) fn groups(program: &Program, launch: &Launch) -> (u32, bool) {
    let largest = match &launch.group_waves {
        Some(waves) => waves.iter().copied().max().unwrap_or(1).max(1),
        None => launch.waves_per_group.max(1),
    };
    let ragged = match &launch.group_waves {
        Some(waves) => waves.iter().any(|w| *w != largest),
        None => !launch.waves.is_multiple_of(largest),
    };
    // Uneven groups need a table of their own even if their waves have nothing in common.
    match (naga::shares(program), &launch.group_waves) {
        (false, None) => (1, false),
        _ => (largest, ragged || launch.group_waves.is_some()),
    }
}
