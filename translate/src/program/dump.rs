//! A listing of a program, for people.

use std::fmt::{self, Display, Formatter};

use super::{Block, Expr, Program, Stmt, Value};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {} (wave{})", self.name, self.wave_lanes)?;
        for (i, p) in self.params.iter().enumerate() {
            writeln!(f, "  param {i}: {p:?}")?;
        }
        for (i, s) in self.slots.iter().enumerate() {
            writeln!(f, "  slot {i}: {s:?}")?;
        }
        block(self, &self.body, 1, f)
    }
}

fn block(p: &Program, b: &Block, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    b.iter().try_for_each(|s| stmt(p, s, depth, f))
}

fn stmt(p: &Program, s: &Stmt, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{:1$}", "", depth * 2)?;
    match s {
        Stmt::Let(v, e) => writeln!(f, "{} = {}", name(p, *v), Shown(p, e)),
        Stmt::Set(var, v) => writeln!(f, "{} := %{}", p.var(*var).name, v.0),
        Stmt::If { cond, then, otherwise } => {
            writeln!(f, "if %{} {{", cond.0)?;
            block(p, then, depth + 1, f)?;
            if !otherwise.is_empty() {
                writeln!(f, "{:1$}}} else {{", "", depth * 2)?;
                block(p, otherwise, depth + 1, f)?;
            }
            writeln!(f, "{:1$}}}", "", depth * 2)
        }
        Stmt::Loop { body } => {
            writeln!(f, "loop {{")?;
            block(p, body, depth + 1, f)?;
            writeln!(f, "{:1$}}}", "", depth * 2)
        }
        other => writeln!(f, "{other:?}"),
    }
}

fn name(p: &Program, v: Value) -> String {
    let info = p.info(v);
    format!("%{}: {:?} {:?}", v.0, info.rate, info.ty)
}

struct Shown<'a>(&'a Program, &'a Expr);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self.1 {
            Expr::Get(var) => f.write_str(&self.0.var(var).name),
            Expr::Un(op, a) => write!(f, "{op:?} %{}", a.0),
            Expr::Bin(op, a, b) => write!(f, "{op:?} %{} %{}", a.0, b.0),
            Expr::Tri(op, a, b, c) => write!(f, "{op:?} %{} %{} %{}", a.0, b.0, c.0),
            e => write!(f, "{e:?}"),
        }
    }
}
