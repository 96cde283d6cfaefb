//! A program's code: for workgroups of any shape, and for the shapes in which it runs often.
//!
//! A kernel that knows its workgroups has little to ask before it works, and no lanes that are away. Code for a shape is made
//! when the program has run as many lanes as make up for the time that takes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use guestwave_translate::backend::{BackendError, Launch};
use guestwave_translate::program::{Program, Workgroups, specialize};

use crate::backend::compiled;
use crate::jit::Jit;
use crate::run::Ready;

/// Shapes of workgroups that code is made for; what comes after runs as for any.
const MOST_SHAPES: usize = 4;

/// A program that was compiled.
pub(crate) struct Entry {
    general: Ready,
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
    /// Lanes that a program runs before code is made for its workgroups.
    pub(crate) shaped_lanes: u64,
    made: usize,
}

impl Shop {
    pub(crate) fn new(jit: Jit, shaped_lanes: u64) -> Self {
        Shop { jit, shaped_lanes, made: 0 }
    }

    fn ready(&mut self, program: Arc<Program>) -> Result<Ready, BackendError> {
        let (compiled, sharing) = compiled(&mut self.jit, &program)?;
        self.made += 1;
        Ok(Ready { number: self.made - 1, program, compiled, sharing, in_order: AtomicBool::new(false) })
    }

    /// Compiles a program for workgroups of any shape.
    pub(crate) fn entry(&mut self, program: &Arc<Program>) -> Result<Entry, BackendError> {
        let general = self.ready(Arc::clone(program))?;
        Ok(Entry { general, shaped: Vec::new(), asks: Workgroups::concern(program), lanes: 0 })
    }
}

impl Entry {
    /// Makes code for the workgroups of a launch, if that is time.
    pub(crate) fn prepare(&mut self, shop: &mut Shop, launch: &Launch) {
        if !self.asks {
            return;
        }
        let program = &self.general.program;
        self.lanes = self.lanes.saturating_add(u64::from(launch.waves) * u64::from(program.wave_lanes));
        let Some(shape) = self.shape(launch) else { return };
        let wanted = self.lanes >= shop.shaped_lanes && self.shaped.len() < MOST_SHAPES;
        if wanted && self.shaped.iter().all(|(s, _)| *s != shape) {
            let special = Arc::new(specialize(program, &shape));
            // What cannot be compiled so runs as for any shape.
            self.shaped.push((shape, shop.ready(special).ok()));
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
