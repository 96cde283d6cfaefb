//! Programs as they were given, and their modules: one for each way of running them that was needed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use guestwave_translate::backend::{Fidelity, Holding, Launch};
use guestwave_translate::naga::{self, Facts, HostCaps, Options, Unsupported, codes};
use guestwave_translate::program::Program;

use crate::gpu::Code;
use crate::windows::{SlotUse, slot_uses};
use crate::worker::Worker;

/// A module that can run.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) pipeline: usize,
    pub(crate) facts: Facts,
}

/// A program and what was learnt of it.
pub(crate) struct Entry {
    pub(crate) program: Arc<Program>,
    holding: Holding,
    pub(crate) uses: Vec<SlotUse>,
    variants: HashMap<Options, Result<Variant, Unsupported>>,
    /// The order of lanes was seen: the whole-wave holding is needed.
    pub(crate) ordered: bool,
    /// Slots reach what other slots reach.
    pub(crate) careful: bool,
    /// Some access is not done the direct way.
    pub(crate) general: bool,
    /// Bytes of each slot of unknown size that accesses reached.
    pub(crate) reaches: Vec<u64>,
    /// Guest pages that were stored other than through slots.
    pub(crate) paged: BTreeSet<u64>,
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
    pub(crate) fn new(program: &Arc<Program>, holding: Holding) -> Self {
        Entry {
            program: program.clone(),
            holding,
            uses: slot_uses(program),
            variants: HashMap::new(),
            ordered: false,
            careful: false,
            general: false,
            reaches: vec![0; program.slots.len()],
            paged: BTreeSet::new(),
        }
    }

    /// How a launch of groups of `waves_per_group` waves is lowered; `apart`: its slots are apart.
    pub(crate) fn options(&self, fidelity: Fidelity, groups: (u32, bool), apart: bool) -> Options {
        Options {
            holding: if self.ordered { Holding::Wave } else { self.holding },
            fidelity,
            waves_per_group: groups.0,
            ragged: groups.1,
            slots_apart: apart && !self.careful,
            direct: !self.general,
        }
    }

    /// The module for these options, made if it is new.
    pub(crate) fn variant(
        &mut self,
        options: Options,
        shop: &mut Workshop,
        worker: &Worker,
    ) -> Result<Variant, Unsupported> {
        if let Some(known) = self.variants.get(&options) {
            return known.clone();
        }
        let made = shop.make(&self.program, &options, worker);
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
        Ok(Variant { pipeline, facts })
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
