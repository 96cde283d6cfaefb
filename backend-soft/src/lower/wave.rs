//! Operations over the lanes of a wave. What gathers from the lanes is added up while the lane loop runs; what reads
//! another lane finds its value in the frame.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value as Ir, types};
use guestwave_translate::program::{Expr, Stmt, Value, WaveOp};

use super::{Lowering, int_type, offset};
use crate::plan::{Home, Stretch};

impl Lowering<'_, '_> {
    /// Prepares the wave operations that gather in this stretch: those whose result is uniform get a variable to be
    /// added up in, and the arrays that lanes send to are cleared.
    pub(super) fn start_gathering(&mut self, stretch: &Stretch<'_>) {
        self.gathered.clear();
        for stmt in &stretch.lanes {
            let Stmt::Let(value, Expr::Wave(op)) = stmt else { continue };
            match op {
                WaveOp::Ballot(_) | WaveOp::Any(_) => {
                    let ty = int_type(self.plan.program.info(*value).ty);
                    let total = self.b.declare_var(ty);
                    let zero = self.b.ins().iconst(ty, 0);
                    self.b.def_var(total, zero);
                    self.gathered.push((*value, total));
                }
                WaveOp::Send { .. } => self.clear_array(*value),
                _ => {}
            }
        }
    }

    /// Sets all elements of a 32-bit array in the frame to 0.
    fn clear_array(&mut self, value: Value) {
        let Some(place) = self.plan.frame.value(value) else { return };
        let zero = self.b.ins().iconst(types::I64, 0);
        for i in 0..i32::from(self.plan.program.wave_lanes) / 2 {
            self.b.ins().store(MemFlagsData::trusted(), zero, self.frame, offset(place) + 8 * i);
        }
    }

    /// This lane's part of an operation that gathers.
    pub(super) fn gather(&mut self, value: Value, op: WaveOp) {
        match op {
            WaveOp::Ballot(v) => {
                let bit = self.int(v);
                let bit = self.b.ins().uextend(types::I64, bit);
                if let Some(lane) = self.lane {
                    let bit = self.b.ins().ishl(bit, lane.index);
                    self.add_up(value, bit);
                }
            }
            WaveOp::Any(v) => {
                let v = self.int(v);
                self.add_up(value, v);
            }
            WaveOp::Send { value: sent, lane, active } => {
                let parts = [sent, lane, active].map(|v| self.int(v));
                self.send(value, parts);
            }
            _ => {}
        }
    }

    pub(super) fn add_up(&mut self, value: Value, part: Ir) {
        if let Some((_, total)) = self.gathered.iter().find(|(v, _)| *v == value).copied() {
            let so_far = self.b.use_var(total);
            let sum = self.b.ins().bor(so_far, part);
            self.b.def_var(total, sum);
        }
    }

    /// One lane's sending to the array: what, to which lane, and whether.
    pub(super) fn send(&mut self, array: Value, [sent, lane, active]: [Ir; 3]) {
        let Some(place) = self.plan.frame.value(array) else { return };
        let sends = |l: &mut Self| {
            let to = l.lane_number(lane);
            let at = l.element(to, types::I32);
            l.b.ins().store(MemFlagsData::trusted(), sent, at, offset(place));
            true
        };
        self.branch(active, sends, |_| true);
    }

    /// A lane number modulo the wave size, 64 bits.
    fn lane_number(&mut self, lane: Ir) -> Ir {
        let wide = self.b.ins().uextend(types::I64, lane);
        self.b.ins().band_imm_u(wide, i64::from(self.plan.program.wave_lanes) - 1)
    }

    /// A wave operation that gives its result where it stands.
    pub(super) fn wave_value(&mut self, op: WaveOp) -> Ir {
        match op {
            WaveOp::ReadLane { value, lane } | WaveOp::Shuffle { value, lane } => {
                let lane = self.int(lane);
                self.of_lane(value, lane)
            }
            // Of a uniform `Bool`: all lanes have the same.
            WaveOp::Ballot(v) => {
                let v = self.int(v);
                let all = u64::MAX >> (64 - u32::from(self.plan.program.wave_lanes));
                let (all, none) =
                    (self.b.ins().iconst(types::I64, all as i64), self.b.ins().iconst(types::I64, 0));
                self.b.ins().select(v, all, none)
            }
            WaveOp::Any(v) => self.int(v),
            // Gathered in the lane loop.
            WaveOp::Send { .. } => self.c32(0),
        }
    }

    /// `value` as lane `lane` has it.
    pub(super) fn of_lane(&mut self, value: Value, lane: Ir) -> Ir {
        match self.plan.homes[value.0 as usize] {
            Home::Lane => {
                let to = self.lane_number(lane);
                let ty = self.spilled_type(value);
                let at = self.element(to, ty);
                let place = self.plan.frame.value(value).map_or(0, offset);
                self.b.ins().load(ty, MemFlagsData::trusted(), at, place)
            }
            Home::Index => {
                let to = self.lane_number(lane);
                self.b.ins().ireduce(types::I32, to)
            }
            Home::Wave | Home::Constant => self.cell(value),
        }
    }

    /// The type that a spilled value has in the frame.
    pub(super) fn spilled_type(&self, value: Value) -> Type {
        match self.spilled[value.0 as usize] {
            types::INVALID => int_type(self.plan.program.info(value).ty),
            ty => ty,
        }
    }
}
