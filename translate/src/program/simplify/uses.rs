//! Values that nobody uses, and variables that nobody reads.

use crate::program::{Block, Expr, Program, Stmt, Value, Var};

/// Drops each `Let` whose value and each `Set` whose variable nothing that stays takes. What may fault or stores stays.
pub(super) fn drop_unused(program: &Program, body: &mut Block) {
    let mut uses = Uses {
        definitions: vec![None; program.values.len()],
        sets: vec![Vec::new(); program.vars.len()],
        values: vec![false; program.values.len()],
        vars: vec![false; program.vars.len()],
        waiting: Vec::new(),
    };
    uses.start(body);
    uses.follow();
    uses.sweep(body);
}

struct Uses {
    definitions: Vec<Option<Expr>>,
    /// What each variable is set to.
    sets: Vec<Vec<Value>>,
    /// Values and variables that are used.
    values: Vec<bool>,
    vars: Vec<bool>,
    /// Used values whose operands are not marked yet.
    waiting: Vec<Value>,
}

impl Uses {
    /// Collects definitions, and marks what statements with an effect take.
    fn start(&mut self, block: &Block) {
        let mut note = |stmt: &Stmt| match stmt {
            Stmt::Let(v, expr) => self.definitions[v.0 as usize] = Some(*expr),
            Stmt::Set(var, v) => self.sets[var.0 as usize].push(*v),
            _ => stmt.operands(|v| self.mark(v)),
        };
        block.iter().for_each(|stmt| stmt.each(&mut note));
    }

    fn mark(&mut self, value: Value) {
        if !std::mem::replace(&mut self.values[value.0 as usize], true) {
            self.waiting.push(value);
        }
    }

    fn follow(&mut self) {
        while let Some(value) = self.waiting.pop() {
            match self.definitions[value.0 as usize] {
                Some(Expr::Get(var)) => self.read(var),
                Some(expr) => expr.operands(|v| self.mark(v)),
                None => {}
            }
        }
    }

    fn read(&mut self, var: Var) {
        self.vars[var.0 as usize] = true;
        for value in std::mem::take(&mut self.sets[var.0 as usize]) {
            self.mark(value);
        }
    }

    fn sweep(&self, block: &mut Block) {
        block.retain(|s| match s {
            Stmt::Let(v, _) => self.values[v.0 as usize],
            Stmt::Set(var, _) => self.vars[var.0 as usize],
            _ => true,
        });
        for stmt in block {
            match stmt {
                Stmt::If { then, otherwise, .. } => {
                    self.sweep(then);
                    self.sweep(otherwise);
                }
                Stmt::Loop { body } => self.sweep(body),
                _ => {}
            }
        }
    }
}
