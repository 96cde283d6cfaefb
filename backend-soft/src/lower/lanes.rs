//! Stretches: what a wave does once, and the loop over its lanes.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Type, Value as Ir, types};
use cranelift_frontend::Variable;
use guestwave_translate::program::{Builtin, Expr, Rate, Stmt, TriOp, Value, Var, WaveOp};

use super::quad::Quad;
use super::{Budget, Context, Lane, LoopTargets, Lowering, Open, int_type, offset, status};
use crate::plan::{Home, Place, Stretch};

impl<'a> Lowering<'a, '_> {
    pub(super) fn stretch(&mut self, stretch: &'a Stretch<'a>) {
        stretch.wave.iter().for_each(|s| self.wave_stmt(s));
        if stretch.lanes.is_empty() {
            return;
        }
        self.start_gathering(stretch);
        let budget = stretch.lanes.iter().any(|s| has_loop(s)).then(|| self.start_budget());
        let [head, end, after] = [(); 3].map(|()| self.b.create_block());
        let index = self.lane_head(head);
        self.lane = Some(Lane { index, end, budget });
        if let Some(budget) = budget {
            self.b.def_var(budget.mine, budget.start);
        }
        self.start_changing(stretch);
        let fours = self.takes_fours(stretch);
        if fours {
            self.quad_lanes(stretch, Lane { index, end, budget });
        } else {
            self.single_lanes(stretch, end);
        }
        self.settle_budget(budget);
        self.next_lane(index, if fours { 4 } else { 1 }, head, after);
        self.lane = None;
        for value in self.in_lane.drain(..) {
            self.cells[value.0 as usize] = None;
            self.quads[value.0 as usize] = None;
        }
        self.finish_budget(budget);
        self.finish_changing();
        for (value, total) in std::mem::take(&mut self.gathered) {
            let total = self.b.use_var(total);
            self.define_in_wave(value, total);
        }
    }

    /// The lanes of a stretch, one at a time.
    fn single_lanes(&mut self, stretch: &'a Stretch<'a>, end: Block) {
        self.fill(stretch);
        self.find_cold(stretch.lanes.iter().copied());
        if self.lane_block(stretch.lanes.iter().copied()) {
            self.jump(end);
        }
        self.to(end);
        self.drain(stretch);
    }

    /// Whether a stretch runs four lanes at a time.
    fn takes_fours(&self, _stretch: &Stretch<'_>) -> bool {
        self.host.vectors
    }

    /// Opens the lane loop; gives the lane's number.
    fn lane_head(&mut self, head: Block) -> Ir {
        let index = self.b.append_block_param(head, types::I64);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        index
    }

    /// Closes the lane loop.
    fn next_lane(&mut self, index: Ir, step: i64, head: Block, after: Block) {
        let next = self.b.ins().iadd_imm_s(index, step);
        let lanes = match self.plan.tail {
            Some(_) => self.context_field(types::I64, std::mem::offset_of!(Context, alive)),
            None => self.b.ins().iconst(types::I64, i64::from(self.plan.program.wave_lanes)),
        };
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, lanes);
        self.b.ins().brif(more, head, &[BlockArg::Value(next)], after, &[]);
        self.b.seal_block(head);
        self.to(after);
    }

    fn start_budget(&mut self) -> Budget {
        let [mine, least] = [(); 2].map(|()| self.b.declare_var(types::I64));
        let start = self.context_field(types::I64, std::mem::offset_of!(Context, budget));
        self.b.def_var(least, start);
        Budget { mine, least, start }
    }

    /// A lane is done: the wave has no more left than it.
    fn settle_budget(&mut self, budget: Option<Budget>) {
        if let Some(Budget { mine, least, .. }) = budget {
            let (mine, others) = (self.b.use_var(mine), self.b.use_var(least));
            let both = self.b.ins().umin(mine, others);
            self.b.def_var(least, both);
        }
    }

    fn finish_budget(&mut self, budget: Option<Budget>) {
        if let Some(budget) = budget {
            let left = self.b.use_var(budget.least);
            self.set_context_field(left, std::mem::offset_of!(Context, budget));
        }
    }

    /// Fetches what the lane wants from the frame.
    fn fill(&mut self, stretch: &Stretch<'_>) {
        for value in &stretch.fills {
            let at = value.0 as usize;
            if let Some(place) = self.plan.frame.value(*value) {
                let ty = self.spilled_type(*value);
                let v = self.load_element(place, ty);
                self.cells[at] = Some(v);
                self.in_lane.push(*value);
            }
        }
        for var in &stretch.live_in {
            let v = self.var_element(*var);
            let variable = self.variable(*var);
            self.b.def_var(variable, v);
        }
    }

    fn var_element(&mut self, var: Var) -> Ir {
        let ty = int_type(self.plan.program.var(var).ty);
        match self.plan.frame.var(var) {
            Some(place) => self.load_element(place, ty),
            // Never stored, so still as it started.
            None => self.b.ins().iconst(ty, 0),
        }
    }

    /// Leaves what later stretches want in the frame.
    fn drain(&mut self, stretch: &Stretch<'_>) {
        for var in &stretch.live_out {
            if let Some(place) = self.plan.frame.var(*var) {
                let variable = self.variable(*var);
                let v = self.b.use_var(variable);
                self.store_element(place, v);
            }
        }
    }

    pub(super) fn variable(&mut self, var: Var) -> Variable {
        let at = var.0 as usize;
        if let Some(known) = self.vars[at] {
            return known;
        }
        let variable = self.b.declare_var(int_type(self.plan.program.var(var).ty));
        self.vars[at] = Some(variable);
        variable
    }

    /// Address of element `index` of an array in the frame, less the array's offset.
    pub(super) fn element(&mut self, index: Ir, ty: Type) -> Ir {
        let bytes = self.b.ins().ishl_imm_u(index, i64::from(ty.bytes().ilog2()));
        self.b.ins().iadd(self.frame, bytes)
    }

    pub(super) fn lane_index(&mut self) -> Ir {
        match self.lane {
            Some(lane) => lane.index,
            None => self.b.ins().iconst(types::I64, 0),
        }
    }

    fn load_element(&mut self, place: Place, ty: Type) -> Ir {
        let index = self.lane_index();
        let at = self.element(index, if ty == types::I8 { types::I32 } else { ty });
        let v = self.b.ins().load(ty, MemFlagsData::trusted(), at, offset(place));
        // A `Bool` is a mask there.
        if ty == types::I8 { self.b.ins().band_imm_u(v, 1) } else { v }
    }

    fn store_element(&mut self, place: Place, v: Ir) {
        let v = if self.b.func.dfg.value_type(v) == types::I8 { self.mask_of(v) } else { v };
        let ty = self.b.func.dfg.value_type(v);
        let index = self.lane_index();
        let at = self.element(index, ty);
        self.b.ins().store(MemFlagsData::trusted(), v, at, offset(place));
    }

    /// A `Bool` as a mask of 32 bits.
    pub(super) fn mask_of(&mut self, v: Ir) -> Ir {
        let wide = self.b.ins().uextend(types::I32, v);
        self.b.ins().ineg(wide)
    }

    /// Notes a lane value.
    pub(super) fn define_in_lane(&mut self, value: Value, v: Ir) {
        let at = value.0 as usize;
        self.cells[at] = Some(v);
        self.in_lane.push(value);
        if self.plan.spilled[at]
            && let Some(place) = self.plan.frame.value(value)
        {
            self.spilled[at] = self.b.func.dfg.value_type(v);
            self.store_element(place, v);
        }
    }

    /// Notes a value of the loop or the wave under construction.
    pub(super) fn define(&mut self, value: Value, v: Ir) {
        match (&self.quad_loop, self.lane) {
            (Some(_), _) => self.define_quad(value, Quad::One(v)),
            (None, Some(_)) => self.define_in_lane(value, v),
            (None, None) => self.define_in_wave(value, v),
        }
    }

    /// A statement that the wave does once.
    fn wave_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let(value, expr) => {
                if self.plan.homes[value.0 as usize] == Home::Wave {
                    let v = self.expr(expr);
                    self.define_in_wave(*value, v);
                }
            }
            Stmt::Set(var, value) => {
                let (v, at) = (self.int(*value), self.uniform_var(*var));
                self.b.ins().store(MemFlagsData::trusted(), v, self.frame, at);
            }
            _ => self.memory_stmt(stmt),
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Ir {
        match *expr {
            Expr::Get(var) => self.get(var),
            Expr::Param(p) => {
                let params = self.context_field(types::I64, std::mem::offset_of!(Context, params));
                self.b.ins().load(types::I32, MemFlagsData::trusted(), params, 4 * i32::from(p))
            }
            Expr::Builtin(builtin) => self.builtin(builtin),
            Expr::Un(op, a) => {
                let a = self.cell(a);
                self.un(op, a)
            }
            Expr::Bin(op, a, b) => {
                let [a, b] = [a, b].map(|v| self.cell(v));
                self.bin(op, a, b)
            }
            Expr::Tri(op, a, b, c) => {
                let operands = [a, b, c].map(|v| self.cell(v));
                self.tri(op, operands)
            }
            Expr::Wave(op) => self.wave_value(op),
            // Constants are made where they are wanted.
            Expr::ConstBool(_) | Expr::Const32(_) | Expr::Const64(_) => self.c32(0),
        }
    }

    fn get(&mut self, var: Var) -> Ir {
        if self.plan.program.var(var).rate == Rate::Uniform && !self.changed.contains(&var) {
            return self.uniform(var);
        }
        let variable = self.variable(var);
        self.b.use_var(variable)
    }

    fn builtin(&mut self, builtin: Builtin) -> Ir {
        let field = match builtin {
            Builtin::Wave => std::mem::offset_of!(Context, wave),
            Builtin::WaveInGroup => std::mem::offset_of!(Context, wave_in_group),
            Builtin::Group => std::mem::offset_of!(Context, group),
            Builtin::Lane => {
                let index = self.lane_index();
                return self.b.ins().ireduce(types::I32, index);
            }
        };
        self.context_field(types::I32, field)
    }

    fn lane_block(&mut self, stmts: impl IntoIterator<Item = &'a Stmt>) -> Open {
        stmts.into_iter().all(|s| self.lane_stmt(s))
    }

    fn inner_lane_block(&mut self, block: &'a [Stmt]) -> Open {
        self.find_cold(block.iter());
        self.lane_block(block)
    }

    fn lane_stmt(&mut self, stmt: &'a Stmt) -> Open {
        match stmt {
            Stmt::Let(value, expr) => self.lane_let(*value, expr),
            Stmt::Set(var, value) => {
                let v = self.int(*value);
                let variable = self.variable(*var);
                self.b.def_var(variable, v);
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.int(*cond);
                self.branch(cond, |l| l.inner_lane_block(then), |l| l.inner_lane_block(otherwise));
            }
            Stmt::Loop { body } => self.lane_loop(body),
            Stmt::Break => return self.away(|l| l.after),
            Stmt::Continue => return self.away(|l| l.head),
            Stmt::Return => {
                if let Some(lane) = self.lane {
                    self.jump(lane.end);
                }
                return false;
            }
            Stmt::Trap { code, pc } => {
                self.trap(code, *pc);
                return false;
            }
            _ => self.memory_stmt(stmt),
        }
        true
    }

    fn lane_let(&mut self, value: Value, expr: &Expr) {
        match expr {
            Expr::Wave(op @ (WaveOp::Ballot(_) | WaveOp::Any(_) | WaveOp::Send { .. })) => {
                self.gather(value, *op);
            }
            _ if self.plan.homes[value.0 as usize] == Home::Lane && !self.is_cold(value) => {
                let v = self.lane_expr(value, expr);
                self.define_in_lane(value, v);
            }
            _ => {}
        }
    }

    pub(super) fn lane_expr(&mut self, value: Value, expr: &Expr) -> Ir {
        if let Expr::Tri(TriOp::Select, cond, arm, other) = *expr
            && self.is_wanted_cold(arm)
        {
            return self.rare_select(cond, arm, other);
        }
        if let Some(x) = self.tested_for_nan(value) {
            let x = self.cell(x);
            if self.b.func.dfg.value_type(x).is_float() {
                return self.unordered(x);
            }
        }
        self.expr(expr)
    }

    fn lane_loop(&mut self, body: &'a [Stmt]) {
        let [head, after] = [(); 2].map(|()| self.b.create_block());
        self.jump(head);
        self.b.switch_to_block(head);
        self.spend_lane_budget();
        self.loops.push(LoopTargets { after, head });
        if self.inner_lane_block(body) {
            self.jump(head);
        }
        self.loops.pop();
        self.b.seal_block(head);
        self.to(after);
    }

    fn spend_lane_budget(&mut self) {
        if let Some(Budget { mine, .. }) = self.lane.and_then(|l| l.budget) {
            let left = self.b.use_var(mine);
            let none = self.b.ins().icmp_imm_u(IntCC::Equal, left, 0);
            self.stop_if(none, status::BUDGET);
            let left = self.b.ins().iadd_imm_s(left, -1);
            self.b.def_var(mine, left);
        }
    }
}

fn has_loop(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Loop { .. } => true,
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(has_loop),
        _ => false,
    }
}
