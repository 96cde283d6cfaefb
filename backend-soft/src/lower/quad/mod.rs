//! Four lanes at a time, in 128-bit vectors.
//!
//! Varying control flow runs under a mask: both ways of an `If` are run if any of the four lanes goes them, and a loop goes round
//! until none is left. What has no vector form is done lane by lane on the elements.

mod control;
mod flush;
mod memory;
mod ops;
mod rare;
mod row;
mod shape;
mod sum;
mod wave;

use cranelift_codegen::ir::{InstBuilder, Value as Ir, types};
use cranelift_frontend::Variable;
use guestwave_translate::program::{Type, Value};

use super::{Budget, LoopTargets, Lowering};
use crate::plan::Home;

/// A value in four lanes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quad {
    /// The same in all of them.
    One(Ir),
    /// 32 bits a lane, as integers or floats; a `Bool` is all ones or all zeros.
    Four(Ir),
    /// 64 bits a lane, two lanes a vector, as integers or floats.
    Wide([Ir; 2]),
}

/// State of a lane loop that takes four lanes at a time.
#[derive(Clone)]
pub(super) struct QuadLoop {
    /// Loop iterations that the four lanes may still make.
    pub(super) budget: Option<Budget>,
    /// Mask of the lanes that are here; `None`: all.
    active: Option<Ir>,
    /// The open loops, innermost last.
    loops: Vec<Repeat>,
}

/// A loop.
#[derive(Clone, Copy)]
enum Repeat {
    /// Each lane leaves it by itself.
    Apart(Masks),
    /// All lanes that are here leave it together.
    Together(LoopTargets),
}

/// Lanes that wait in a loop.
#[derive(Clone, Copy)]
struct Masks {
    /// For its end.
    broken: Variable,
    /// For its next iteration.
    continued: Variable,
}

impl Lowering<'_, '_> {
    /// What a value is in the four lanes.
    fn quad(&mut self, value: Value) -> Quad {
        let at = value.0 as usize;
        match (self.plan.homes[at], self.quads[at]) {
            (Home::Index, _) => self.lane_numbers(),
            (Home::Lane, Some(quad)) => quad,
            _ => Quad::One(self.cell(value)),
        }
    }

    /// The numbers of the four lanes.
    fn lane_numbers(&mut self) -> Quad {
        let index = self.lane_index();
        let first = self.b.ins().ireduce(types::I32, index);
        let first = self.b.ins().splat(types::I32X4, first);
        let steps = self.vector_constant([0, 1, 2, 3]);
        Quad::Four(self.b.ins().iadd(first, steps))
    }

    /// Notes a lane value; what is the same in all lanes is also at hand as a scalar.
    pub(super) fn define_quad(&mut self, value: Value, quad: Quad) {
        let at = value.0 as usize;
        self.quads[at] = Some(quad);
        if let Quad::One(v) = quad {
            self.cells[at] = Some(v);
        }
        self.in_lane.push(value);
        if self.plan.spilled[at]
            && let Some(place) = self.plan.frame.value(value)
        {
            let ty = self.plan.program.info(value).ty;
            self.store_quad(place, ty, quad);
        }
    }

    fn ty(&self, value: Value) -> Type {
        self.plan.program.info(value).ty
    }

    /// The mask of the lanes that are here; `None`: all.
    fn active(&self) -> Option<Ir> {
        self.quad_loop.as_ref().and_then(|q| q.active)
    }

    fn set_active(&mut self, active: Option<Ir>) {
        if let Some(q) = &mut self.quad_loop {
            q.active = active;
        }
    }
}
