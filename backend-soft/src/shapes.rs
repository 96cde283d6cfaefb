//! A program's code: what is made at first, and what is made for a program that runs often.
//!
//! A kernel that knows its workgroups has little to ask before it works, and no lanes that are away. A long program would take
//! tenths of a second to compile well, so that it is first compiled quickly. Better code is made when the program has run as many
//! lanes as make up for the time that takes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use guestwave_translate::backend::{BackendError, Launch};
use guestwave_translate::program::{Program, Workgroups, specialize};

use crate::backend::{SoftOptions, compiled, refusal};
use crate::jit::{Effort, Jit, JitError};
use crate::run::Ready;

/// Shapes of workgroups that code is made for; what comes after runs as for any.
const MOST_SHAPES: usize = 4;

/// A program that was compiled.
pub(crate) struct Entry {
    general: Ready,
    /// How that was compiled.
    effort: Effort,
    /// Code for workgroups of one shape, where there is some to be had.
    shaped: Vec<(Workgroups, Option<Ready>)>,
    /// Whether the program asks for the shape.
    asks: bool,
    /// Lanes that it has run.
    lanes: u64,
}

/// Compiles programs, and numbers what it compiled.
pub(crate) struct Shop {
    pub(crate) jit: Jit,
    /// For long programs; made when there is one.
    quick: Option<Jit>,
    options: SoftOptions,
    made: usize,
}

impl Shop {
    /// # Errors
    /// As for [`Jit::new`].
    pub(crate) fn new(options: SoftOptions) -> Result<Self, JitError> {
        Ok(Shop { jit: Jit::new(options, Effort::Much)?, quick: None, options, made: 0 })
    }

    fn ready(&mut self, program: Arc<Program>, effort: Effort) -> Result<Ready, BackendError> {
        let jit = match (effort, &mut self.quick) {
            (Effort::Much, _) => &mut self.jit,
            (Effort::Little, Some(quick)) => quick,
            (Effort::Little, quick) => {
                let made = Jit::new(self.options, effort);
                quick.insert(made.map_err(|e| refusal("SOFT-HOST-001", e.to_string()))?)
            }
        };
        let (compiled, sharing) = compiled(jit, &program)?;
        self.made += 1;
        Ok(Ready { number: self.made - 1, program, compiled, sharing, in_order: AtomicBool::new(false) })
    }

    /// Compiles a program for the first time.
    pub(crate) fn entry(&mut self, program: &Arc<Program>) -> Result<Entry, BackendError> {
        let long = program.values.len() >= self.options.long_values;
        let effort = if long { Effort::Little } else { Effort::Much };
        let general = self.ready(Arc::clone(program), effort)?;
        Ok(Entry { general, effort, shaped: Vec::new(), asks: Workgroups::concern(program), lanes: 0 })
    }
}

impl Entry {
    /// Makes better code for a launch, if that is time.
    pub(crate) fn prepare(&mut self, shop: &mut Shop, launch: &Launch) {
        if !self.asks && self.effort == Effort::Much {
            return;
        }
        let program = &self.general.program;
        self.lanes = self.lanes.saturating_add(u64::from(launch.waves) * u64::from(program.wave_lanes));
        if self.lanes < shop.options.better_lanes {
            return;
        }
        let known = |shape: &Workgroups| self.shaped.iter().any(|(s, _)| s == shape);
        match self.shape(launch) {
            Some(shape) if known(&shape) => {}
            Some(shape) if self.shaped.len() < MOST_SHAPES => {
                let special = Arc::new(specialize(program, &shape));
                // What cannot be compiled so runs as for any shape.
                self.shaped.push((shape, shop.ready(special, Effort::Much).ok()));
            }
            _ => self.improve(shop),
        }
    }

    /// Replaces code that was made quickly.
    fn improve(&mut self, shop: &mut Shop) {
        if self.effort == Effort::Little {
            self.effort = Effort::Much;
            if let Ok(better) = shop.ready(Arc::clone(&self.general.program), Effort::Much) {
                self.general = better;
            }
        }
    }

    /// The code that runs a launch.
    pub(crate) fn code(&self, launch: &Launch) -> &Ready {
        let special = || {
            let shape = self.shape(launch)?;
            self.shaped.iter().find(|(s, _)| *s == shape)?.1.as_ref()
        };
        match self.shaped.is_empty() {
            true => &self.general,
            false => special().unwrap_or(&self.general),
        }
    }

    /// The workgroups of a launch, if they are all alike.
    fn shape(&self, launch: &Launch) -> Option<Workgroups> {
        let alike = launch.group_waves.is_none();
        let each = launch.waves_per_group.max(1);
        alike.then(|| Workgroups::of(&self.general.program, &launch.params, launch.waves, each)).flatten()
    }
}
