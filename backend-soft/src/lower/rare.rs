//! Arms of selects that are rarely wanted: computed out of line, and only then.
//!
//! Exact float operations give the NaN of their sources where the result is a NaN. What only goes into such an arm is *cold*: it
//! is left out where it stands and computed beside the select, behind a branch.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Ir};
use guestwave_translate::program::{BinOp, Expr, Stmt, TriOp, Value};

use super::Lowering;
use crate::plan::Home;

/// Infinity and all bits but the sign of an f16.
const F16: (u64, u64) = (0x7c00, 0x7fff);
const F32: (u64, u64) = (0x7f80_0000, 0x7fff_ffff);
const F64: (u64, u64) = (0x7ff0_0000_0000_0000, 0x7fff_ffff_ffff_ffff);

impl Lowering<'_, '_> {
    pub(super) fn definition(&self, value: Value) -> Option<Expr> {
        self.definitions[value.0 as usize]
    }

    /// Whether `cond` asks if a float is a NaN: its magnitude is above infinity's.
    fn nan_test(&self, cond: Value) -> Option<(Value, (u64, u64))> {
        let Some(Expr::Bin(BinOp::LtU, infinity, size)) = self.definition(cond) else { return None };
        let Some(Expr::Bin(BinOp::And, x, mask)) = self.definition(size) else { return None };
        let format = (self.constant(infinity)?, self.constant(mask)?);
        [F16, F32, F64].contains(&format).then_some((x, format))
    }

    /// The f32 or f64, at hand, that `cond` asks whether it is a NaN.
    pub(super) fn tested_for_nan(&self, cond: Value) -> Option<Value> {
        self.nan_test(cond).filter(|(x, format)| *format != F16 && self.at_hand(*x)).map(|(x, _)| x)
    }

    /// Whether `x` is a NaN, as an unordered comparison.
    pub(super) fn unordered(&mut self, x: Ir) -> Ir {
        self.b.ins().fcmp(FloatCC::Unordered, x, x)
    }

    /// Whether `value` is computed only where a select rarely wants it.
    pub(super) fn is_cold(&self, value: Value) -> bool {
        self.cold[value.0 as usize]
    }

    /// Whether `value` is cold and not there yet, as it is behind a branch where it is computed.
    pub(super) fn is_wanted_cold(&self, value: Value) -> bool {
        self.is_cold(value) && !self.at_hand(value)
    }

    /// Finds the cold values among the statements of a block.
    pub(super) fn find_cold<'s>(&mut self, block: impl DoubleEndedIterator<Item = &'s Stmt>) {
        for stmt in block.rev() {
            let Stmt::Let(value, expr) = stmt else { continue };
            let (at, waiting) = (value.0 as usize, self.cold_uses[value.0 as usize]);
            if waiting > 0 && waiting == self.uses[at] && self.can_wait(*value, expr) {
                self.cold[at] = true;
                expr.operands(|v| self.cold_uses[v.0 as usize] += 1);
            } else if let Expr::Tri(TriOp::Select, cond, arm, _) = expr
                && self.nan_test(*cond).is_some()
            {
                self.cold_uses[arm.0 as usize] += 1;
            }
        }
    }

    /// Whether a value may as well be computed later.
    fn can_wait(&self, value: Value, expr: &Expr) -> bool {
        let pure = matches!(expr, Expr::Un(..) | Expr::Bin(..) | Expr::Tri(..));
        let at = value.0 as usize;
        pure && self.plan.homes[at] == Home::Lane && !self.plan.spilled[at]
    }

    /// The cold values that `value` still needs, each after those that it needs itself.
    pub(super) fn cold_needs(&self, value: Value) -> Vec<(Value, Expr)> {
        let mut order = Vec::new();
        self.add_cold(value, &mut order);
        order
    }

    fn add_cold(&self, value: Value, order: &mut Vec<(Value, Expr)>) {
        if !self.is_wanted_cold(value) || order.iter().any(|(v, _)| *v == value) {
            return;
        }
        if let Some(expr) = self.definition(value) {
            expr.operands(|v| self.add_cold(v, order));
            order.push((value, expr));
        }
    }

    /// `cond ? arm : other` where the arm is cold.
    pub(super) fn rare_select(&mut self, cond: Value, arm: Value, other: Value) -> Ir {
        let (cond, other) = (self.int(cond), self.cell(other));
        let ty = self.b.func.dfg.value_type(other);
        let [rare, join] = [(); 2].map(|()| self.b.create_block());
        let result = self.b.append_block_param(join, ty);
        self.b.set_cold_block(rare);
        self.b.ins().brif(cond, rare, &[], join, &[BlockArg::Value(other)]);
        self.to(rare);
        let needs = self.cold_needs(arm);
        for (value, expr) in &needs {
            let v = self.expr(expr);
            self.cells[value.0 as usize] = Some(v);
        }
        let v = self.cell(arm);
        let v = if ty.is_float() { self.as_float(v) } else { self.as_int(v) };
        self.b.ins().jump(join, &[BlockArg::Value(v)]);
        needs.iter().for_each(|(value, _)| self.cells[value.0 as usize] = None);
        self.to(join);
        result
    }
}

/// How often each value is taken.
pub(super) fn count_uses(block: &[Stmt], uses: &mut [u32]) {
    for stmt in block {
        stmt.operands(|v| uses[v.0 as usize] += 1);
        stmt.blocks().into_iter().for_each(|inner| count_uses(inner, uses));
    }
}
