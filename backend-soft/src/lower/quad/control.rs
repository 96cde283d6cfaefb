//! The lane loop in steps of four, and varying control flow under masks.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value as Ir, types};
use cranelift_frontend::Variable;
use guestwave_translate::program::{Builtin, Expr, Rate, Stmt, TriOp, Type, Value, Var, WaveOp};

use super::super::{Budget, Lane, LoopTargets, Lowering, Open, offset, status};
use super::{Masks, Quad, QuadLoop, Repeat};
use crate::plan::{Home, Place, Stretch, together};

/// A varying variable in four lanes: one vector, or two if it is of 64 bits.
pub(in super::super) type QuadVariable = [Variable; 2];

impl<'a> Lowering<'a, '_> {
    /// The lanes of a stretch, four at a time.
    pub(in super::super) fn quad_lanes(&mut self, stretch: &'a Stretch<'a>, lane: Lane) {
        let Lane { end, budget, .. } = lane;
        self.quad_loop = Some(QuadLoop { budget, active: None, loops: Vec::new() });
        self.fill_quads(stretch);
        self.find_cold(stretch.lanes.iter().copied());
        self.quad_block(stretch.lanes.iter().copied());
        self.jump(end);
        self.to(end);
        for var in &stretch.live_out {
            if let Some(place) = self.plan.frame.var(*var) {
                let quad = self.get_quad(*var);
                self.store_quad(place, self.plan.program.var(*var).ty, quad);
            }
        }
        self.quad_loop = None;
    }

    fn fill_quads(&mut self, stretch: &Stretch<'_>) {
        for value in &stretch.fills {
            let ty = self.ty(*value);
            if let Some(place) = self.plan.frame.value(*value) {
                let quad = self.load_quad(place, ty);
                self.quads[value.0 as usize] = Some(quad);
                self.in_lane.push(*value);
            }
        }
        for var in &stretch.live_in {
            let ty = self.plan.program.var(*var).ty;
            let quad = match self.plan.frame.var(*var) {
                Some(place) => self.load_quad(place, ty),
                // Never stored, so still as it started.
                None => self.zero_quad(ty),
            };
            self.set_quad(*var, quad);
        }
    }

    pub(super) fn zero_quad(&mut self, ty: Type) -> Quad {
        let zero = self.splat32(0);
        match ty {
            Type::B64 => {
                let zero = self.cast(types::I64X2, zero);
                Quad::Wide([zero; 2])
            }
            _ => Quad::Four(zero),
        }
    }

    fn load_quad(&mut self, place: Place, ty: Type) -> Quad {
        let index = self.lane_index();
        let wide = ty == Type::B64;
        let at = self.element(index, if wide { types::I64 } else { types::I32 });
        let vector = if wide { types::I64X2 } else { types::I32X4 };
        let first = self.b.ins().load(vector, MemFlagsData::trusted(), at, offset(place));
        if !wide {
            return Quad::Four(first);
        }
        Quad::Wide([first, self.b.ins().load(vector, MemFlagsData::trusted(), at, offset(place) + 16)])
    }

    pub(super) fn store_quad(&mut self, place: Place, ty: Type, quad: Quad) {
        let index = self.lane_index();
        if ty == Type::B64 {
            let halves = self.wide(quad);
            let at = self.element(index, types::I64);
            for (i, half) in (0..).zip(halves) {
                self.b.ins().store(MemFlagsData::trusted(), half, at, offset(place) + 16 * i);
            }
        } else {
            let v = self.four(quad);
            let at = self.element(index, types::I32);
            self.b.ins().store(MemFlagsData::trusted(), v, at, offset(place));
        }
    }

    fn quad_variable(&mut self, var: Var) -> QuadVariable {
        let at = var.0 as usize;
        if let Some(known) = self.quad_vars[at] {
            return known;
        }
        let wide = self.plan.program.var(var).ty == Type::B64;
        let first = self.b.declare_var(if wide { types::I64X2 } else { types::I32X4 });
        let variable = [first, if wide { self.b.declare_var(types::I64X2) } else { first }];
        self.quad_vars[at] = Some(variable);
        variable
    }

    fn get_quad(&mut self, var: Var) -> Quad {
        let variable = self.quad_variable(var);
        let first = self.b.use_var(variable[0]);
        match self.plan.program.var(var).ty {
            Type::B64 => Quad::Wide([first, self.b.use_var(variable[1])]),
            _ => Quad::Four(first),
        }
    }

    fn set_quad(&mut self, var: Var, quad: Quad) {
        let variable = self.quad_variable(var);
        if self.plan.program.var(var).ty == Type::B64 {
            let halves = self.wide(quad);
            (0..2).for_each(|i| self.b.def_var(variable[i], halves[i]));
        } else {
            let v = self.four(quad);
            self.b.def_var(variable[0], v);
        }
    }

    /// Sets a variable in the lanes that are here.
    fn set_active_quad(&mut self, var: Var, value: Value) {
        let new = self.quad(value);
        let quad = match self.active() {
            None => new,
            Some(mask) => {
                let old = self.get_quad(var);
                self.merged(mask, new, old, self.plan.program.var(var).ty)
            }
        };
        self.set_quad(var, quad);
    }

    /// `new` where the mask is, else `old`.
    pub(super) fn merged(&mut self, mask: Ir, new: Quad, old: Quad, ty: Type) -> Quad {
        if ty == Type::B64 {
            let (masks, x, y) = (self.wide_mask(mask), self.wide(new), self.wide(old));
            return Quad::Wide([0, 1].map(|i| self.b.ins().bitselect(masks[i], x[i], y[i])));
        }
        let (x, y) = (self.four(new), self.four(old));
        Quad::Four(self.b.ins().bitselect(mask, x, y))
    }

    fn quad_block(&mut self, stmts: impl IntoIterator<Item = &'a Stmt>) -> Open {
        stmts.into_iter().all(|s| self.quad_stmt(s))
    }

    fn inner_quad_block(&mut self, block: &'a [Stmt]) -> Open {
        self.find_cold(block.iter());
        self.quad_block(block)
    }

    fn quad_stmt(&mut self, stmt: &'a Stmt) -> Open {
        match stmt {
            Stmt::Let(value, expr) => self.quad_let(*value, expr),
            Stmt::Set(var, value) if self.changed.contains(var) => {
                let (v, variable) = (self.int(*value), self.variable(*var));
                self.b.def_var(variable, v);
            }
            Stmt::Set(var, value) => self.set_active_quad(*var, *value),
            Stmt::If { cond, then, otherwise } => self.quad_if(stmt, *cond, then, otherwise),
            Stmt::Loop { body } if together(self.plan.program, body) => self.repeat_together(body),
            Stmt::Loop { body } => self.quad_repeat(stmt, body),
            Stmt::Break => return self.leave_round(|m| m.broken, |l| l.after),
            Stmt::Continue => return self.leave_round(|m| m.continued, |l| l.head),
            Stmt::Return => return false,
            Stmt::Trap { code, pc } => return self.quad_trap(code, *pc),
            _ => self.quad_memory(stmt),
        }
        true
    }

    fn quad_let(&mut self, value: Value, expr: &Expr) {
        if let Expr::Wave(op @ (WaveOp::Ballot(_) | WaveOp::Any(_) | WaveOp::Send { .. })) = expr {
            return self.gather_quad(value, *op);
        }
        if self.plan.homes[value.0 as usize] != Home::Lane || self.is_cold(value) {
            return;
        }
        let quad = self.quad_expr(value, expr);
        self.define_quad(value, quad);
    }

    pub(super) fn quad_expr(&mut self, value: Value, expr: &Expr) -> Quad {
        if self.plan.program.info(value).rate == Rate::Uniform {
            return Quad::One(self.lane_expr(value, expr));
        }
        if let Some(x) = self.tested_for_nan(value) {
            return self.quad_is_nan(x);
        }
        match *expr {
            Expr::Tri(TriOp::Select, cond, arm, other) if self.is_wanted_cold(arm) => {
                self.rare_quad_select(cond, arm, other)
            }
            Expr::Get(var) if self.plan.program.var(var).rate == Rate::Varying => self.get_quad(var),
            Expr::Un(op, a) => self.quad_un(op, a),
            Expr::Bin(op, a, b) => self.quad_bin(op, a, b),
            Expr::Tri(op, a, b, c) => self.quad_tri(op, a, b, c),
            Expr::Wave(WaveOp::Shuffle { value, lane }) => self.shuffle_quad(value, lane),
            Expr::Builtin(Builtin::Lane) => self.lane_numbers(),
            // What is left is uniform.
            _ => Quad::One(self.expr(expr)),
        }
    }

    /// The mask of the lanes that are here, as a vector.
    fn here(&mut self) -> Ir {
        match self.active() {
            Some(mask) => mask,
            None => self.splat32(u32::MAX),
        }
    }

    fn nobody(&mut self) -> Ir {
        self.splat32(0)
    }

    fn quad_if(&mut self, stmt: &Stmt, cond: Value, then: &'a [Stmt], otherwise: &'a [Stmt]) {
        let before = self.active();
        let left = match self.quad(cond) {
            Quad::One(cond) if self.goes_together() => return self.branch_together(cond, then, otherwise),
            Quad::One(cond) => self.if_alike(cond, then, otherwise),
            cond => {
                let (cond, here) = (self.four(cond), self.here());
                let yes = self.b.ins().band(here, cond);
                let no = self.b.ins().band_not(here, cond);
                let left = self.under(yes, then);
                let also = self.under(no, otherwise);
                self.b.ins().bor(left, also)
            }
        };
        // Where nobody left, whoever was here is here.
        self.set_active(if stmt.leaves() { Some(left) } else { before });
    }

    /// An `If` whose condition all lanes share; gives the mask of those that come to its end.
    fn if_alike(&mut self, cond: Ir, then: &'a [Stmt], otherwise: &'a [Stmt]) -> Ir {
        let before = self.active();
        let left = self.b.declare_var(types::I32X4);
        let side = |l: &mut Self, block: &'a [Stmt]| {
            l.set_active(before);
            let open = l.inner_quad_block(block);
            let mask = if open { l.here() } else { l.nobody() };
            l.b.def_var(left, mask);
            true
        };
        self.branch(cond, |l| side(l, then), |l| side(l, otherwise));
        self.b.use_var(left)
    }

    /// Runs a block in the lanes of `mask`, if there are any; gives the mask of those that come to its end.
    fn under(&mut self, mask: Ir, block: &'a [Stmt]) -> Ir {
        if block.is_empty() {
            return mask;
        }
        let [run, after] = [(); 2].map(|()| self.b.create_block());
        let left = self.b.append_block_param(after, types::I32X4);
        let any = self.b.ins().vany_true(mask);
        self.b.ins().brif(any, run, &[], after, &[BlockArg::Value(mask)]);
        self.to(run);
        self.set_active(Some(mask));
        let open = self.inner_quad_block(block);
        let rest = if open { self.here() } else { self.nobody() };
        self.b.ins().jump(after, &[BlockArg::Value(rest)]);
        self.to(after);
        left
    }

    /// Whether the innermost loop is one that lanes leave together.
    fn goes_together(&self) -> bool {
        matches!(self.innermost(), Some(Repeat::Together(_)))
    }

    fn innermost(&self) -> Option<Repeat> {
        self.quad_loop.as_ref()?.loops.last().copied()
    }

    /// An `If` in a loop that lanes leave together: whoever is here goes one way.
    fn branch_together(&mut self, cond: Ir, then: &'a [Stmt], otherwise: &'a [Stmt]) {
        let before = self.active();
        let side = |l: &mut Self, block: &'a [Stmt]| {
            l.set_active(before);
            l.inner_quad_block(block);
            true
        };
        self.branch(cond, |l| side(l, then), |l| side(l, otherwise));
        self.set_active(before);
    }

    /// The lanes that are here wait in the innermost loop, or leave its round together.
    fn leave_round(
        &mut self,
        place: impl FnOnce(&Masks) -> Variable,
        target: impl FnOnce(&LoopTargets) -> Block,
    ) -> Open {
        match self.innermost() {
            Some(Repeat::Apart(masks)) => {
                let (waiting, here) = (place(&masks), self.here());
                let others = self.b.use_var(waiting);
                let all = self.b.ins().bor(others, here);
                self.b.def_var(waiting, all);
            }
            Some(Repeat::Together(targets)) => {
                self.jump(target(&targets));
                // What follows is not reached.
                let nowhere = self.b.create_block();
                self.to(nowhere);
            }
            None => {}
        }
        false
    }

    fn repeat_together(&mut self, body: &'a [Stmt]) {
        let before = self.active();
        let [head, after] = [(); 2].map(|()| self.b.create_block());
        self.jump(head);
        self.b.switch_to_block(head);
        self.spend_quad_budget();
        self.push_loop(Repeat::Together(LoopTargets { after, head }));
        self.inner_quad_block(body);
        self.pop_loop();
        self.jump(head);
        self.b.seal_block(head);
        self.to(after);
        self.set_active(before);
    }

    fn quad_repeat(&mut self, stmt: &Stmt, body: &'a [Stmt]) {
        let before = self.active();
        let masks =
            Masks { broken: self.b.declare_var(types::I32X4), continued: self.b.declare_var(types::I32X4) };
        let nobody = self.nobody();
        self.b.def_var(masks.broken, nobody);
        let [head, after] = [(); 2].map(|()| self.b.create_block());
        let round = self.b.append_block_param(head, types::I32X4);
        let here = self.here();
        self.b.ins().jump(head, &[BlockArg::Value(here)]);
        self.b.switch_to_block(head);
        self.spend_quad_budget();
        let nobody = self.nobody();
        self.b.def_var(masks.continued, nobody);
        self.push_loop(Repeat::Apart(masks));
        self.set_active(Some(round));
        let open = self.inner_quad_block(body);
        let rest = if open { self.here() } else { self.nobody() };
        self.pop_loop();
        let continued = self.b.use_var(masks.continued);
        let next = self.b.ins().bor(rest, continued);
        let more = self.b.ins().vany_true(next);
        self.b.ins().brif(more, head, &[BlockArg::Value(next)], after, &[]);
        self.b.seal_block(head);
        self.to(after);
        let broken = self.b.use_var(masks.broken);
        self.set_active(if stmt.leaves() { Some(broken) } else { before });
    }

    fn push_loop(&mut self, repeat: Repeat) {
        if let Some(q) = &mut self.quad_loop {
            q.loops.push(repeat);
        }
    }

    fn pop_loop(&mut self) {
        if let Some(q) = &mut self.quad_loop {
            q.loops.pop();
        }
    }

    fn spend_quad_budget(&mut self) {
        if let Some(Budget { mine, .. }) = self.quad_loop.as_ref().and_then(|q| q.budget) {
            let left = self.b.use_var(mine);
            let none = self.b.ins().icmp_imm_u(IntCC::Equal, left, 0);
            self.stop_if(none, status::BUDGET);
            let left = self.b.ins().iadd_imm_s(left, -1);
            self.b.def_var(mine, left);
        }
    }

    fn quad_trap(&mut self, code: &'static str, pc: u32) -> Open {
        let any = match self.active() {
            Some(mask) => self.b.ins().vany_true(mask),
            None => self.b.ins().iconst(types::I8, 1),
        };
        let trapped = |l: &mut Self| {
            l.trap(code, pc);
            false
        };
        self.branch(any, trapped, |_| true);
        false
    }
}
