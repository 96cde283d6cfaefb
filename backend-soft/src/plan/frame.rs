//! Where in a wave's frame each value and variable stands.

use guestwave_translate::program::{Program, Rate, Type, Value, Var};

use super::Step;

/// Byte offset of the number of the barrier to resume from, a dword.
pub(crate) const RESUME: u32 = 0;

/// Offsets of one cell: an element, or an array of one element a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) u32);

/// The layout of a wave's frame.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Bytes in all.
    pub(crate) bytes: u64,
    /// The first bytes, which are 0 when a wave starts.
    pub(crate) zeroed: u32,
    values: Vec<Option<Place>>,
    vars: Vec<Option<Place>>,
}

/// Bytes of an element of type `ty`. A varying `Bool` is a mask of 32 bits, as vectors of lanes have it.
const fn element_bytes(ty: Type, rate: Rate) -> u64 {
    match (ty, rate) {
        (Type::Bool, Rate::Uniform) => 1,
        (Type::Bool, Rate::Varying) | (Type::B32, _) => 4,
        (Type::B64, _) => 8,
    }
}

struct Layout<'p> {
    program: &'p Program,
    bytes: u64,
}

impl Layout<'_> {
    /// Room for one cell, aligned for 128-bit vectors if it is an array.
    fn room(&mut self, ty: Type, rate: Rate) -> Place {
        let element = element_bytes(ty, rate);
        let (bytes, align) = match rate {
            Rate::Uniform => (element, element),
            Rate::Varying => (element * u64::from(self.program.wave_lanes), 16),
        };
        let at = self.bytes.next_multiple_of(align);
        self.bytes = at + bytes;
        Place(u32::try_from(at).unwrap_or(u32::MAX))
    }

    fn var(&mut self, var: Var) -> Place {
        let info = self.program.var(var);
        self.room(info.ty, info.rate)
    }

    fn value(&mut self, at: usize) -> Place {
        let info = self.program.values[at];
        self.room(info.ty, info.rate)
    }
}

impl Frame {
    /// The layout that `steps` needs; `at_start` are the variables read before they are set.
    pub(super) fn new(
        program: &Program,
        steps: &[Step<'_>],
        spilled: &[bool],
        kept: &[bool],
        at_start: &[Var],
    ) -> Self {
        let mut layout = Layout { program, bytes: u64::from(RESUME) + 8 };
        let mut vars = vec![None; program.vars.len()];
        let uniform = (0..).map(Var).take(vars.len()).filter(|v| program.var(*v).rate == Rate::Uniform);
        for var in uniform.chain(at_start.iter().copied()) {
            vars[var.0 as usize] = Some(layout.var(var));
        }
        let zeroed = u32::try_from(layout.bytes).unwrap_or(u32::MAX);
        let mut stored = Vec::new();
        stored_vars(steps, &mut stored);
        for var in stored {
            let place = &mut vars[var.0 as usize];
            *place = place.or_else(|| Some(layout.var(var)));
        }
        let in_frame = |at: usize| spilled[at] || kept[at];
        let values = (0..program.values.len()).map(|at| in_frame(at).then(|| layout.value(at))).collect();
        Frame { bytes: layout.bytes.next_multiple_of(64), zeroed, values, vars }
    }

    /// Where a spilled or kept value stands.
    pub(crate) fn value(&self, value: Value) -> Option<Place> {
        self.values[value.0 as usize]
    }

    /// Where a uniform variable, or a varying one that lives from stretch to stretch, stands.
    pub(crate) fn var(&self, var: Var) -> Option<Place> {
        self.vars[var.0 as usize]
    }
}

/// Variables that some stretch leaves in the frame.
fn stored_vars(steps: &[Step<'_>], found: &mut Vec<Var>) {
    for step in steps {
        match step {
            Step::Stretch(s) => found.extend(&s.live_out),
            Step::If { then, otherwise, .. } => {
                stored_vars(then, found);
                stored_vars(otherwise, found);
            }
            Step::Loop { body } => stored_vars(body, found),
            _ => {}
        }
    }
}
