//! How long the sequences of frequent operations are: a change that makes them longer is to be seen.

use std::collections::HashSet;

use guestwave_isa::gfx10::{Op, VopMods};

use super::machine::program;
use super::{kinds, vector_row};
use crate::backend::Fidelity;
use crate::gfx10::exact::Mode;
use crate::program::{Expr, Program, Stmt, Value};

/// Operations that the stored values need, loads, constants and addresses left out.
fn cost(program: &Program) -> usize {
    let mut needed: HashSet<Value> = HashSet::new();
    let mut count = 0;
    for stmt in program.body.iter().rev() {
        match stmt {
            Stmt::Store { src, .. } => needed.extend(src),
            Stmt::Let(value, expr @ (Expr::Un(..) | Expr::Bin(..) | Expr::Tri(..)))
                if needed.contains(value) =>
            {
                expr.operands(|v| {
                    needed.insert(v);
                });
                count += 1;
            }
            _ => {}
        }
    }
    count
}

fn measured(op: Op, float: u8) -> usize {
    let row = vector_row(op).unwrap();
    let widths: Vec<u16> = kinds(op).iter().map(|k| k.bits).collect();
    let mode = Mode { float, dx10_clamp: true, ieee: false };
    cost(&program(Fidelity::Exact, &row, &mode, &VopMods::default(), &widths))
}

#[test]
fn sequences_are_as_long_as_the_table_says() {
    let rows = include_str!("costs.tsv").lines().filter(|l| !l.starts_with('#'));
    let found: Vec<String> = rows
        .clone()
        .map(|row| {
            let name = row.split('\t').next().unwrap();
            let op = Op::all().find(|op| op.name() == name).unwrap();
            format!("{name}\t{}\t{}", measured(op, 0xf0), measured(op, 0xc0))
        })
        .collect();
    let listed: Vec<&str> = rows.collect();
    assert_eq!(found, listed, "the table should be\n{}", found.join("\n"));
}
