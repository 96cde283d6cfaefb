//! Uniform variables: in the frame, or with the lane where lanes change them one after the other.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value as Ir};
use guestwave_translate::program::Var;

use super::{Lowering, int_type, offset};
use crate::plan::{RESUME, Stretch};

impl<'a> Lowering<'a, '_> {
    /// The uniform variable's place in the frame.
    pub(super) fn uniform_var(&self, var: Var) -> i32 {
        self.plan.frame.var(var).map_or(RESUME as i32 + 4, offset)
    }

    /// A lane that changes uniform variables starts from what they are.
    pub(super) fn start_changing(&mut self, stretch: &'a Stretch<'a>) {
        self.changed = &stretch.changed;
        for var in &stretch.changed {
            let now = self.uniform(*var);
            let variable = self.variable(*var);
            self.b.def_var(variable, now);
        }
    }

    /// What the last lane made of uniform variables, each lane made of them.
    pub(super) fn finish_changing(&mut self) {
        for var in std::mem::take(&mut self.changed) {
            let (variable, at) = (self.variable(*var), self.uniform_var(*var));
            let left = self.b.use_var(variable);
            self.b.ins().store(MemFlagsData::trusted(), left, self.frame, at);
        }
    }

    /// What a uniform variable is in the frame.
    pub(super) fn uniform(&mut self, var: Var) -> Ir {
        let (ty, at) = (int_type(self.plan.program.var(var).ty), self.uniform_var(var));
        self.b.ins().load(ty, MemFlagsData::trusted(), self.frame, at)
    }
}
