//! How long the sequences of frequent operations are: a change that makes them longer is to be seen.

use std::collections::HashSet;

use guestwave_isa::gfx10::{Op, VopMods};

use super::machine::program;
use super::{kinds, vector_row};
use crate::gfx10::exact::Mode;
use crate::program::{Expr, Program, Stmt, Value};

/// Operations that the stored values need, loads, constants and addresses left out.
fn cost(program: &Program) -> usize {
    let mut needed: HashSet<Value> = HashSet::new();
    let mut count = 0;
    for stmt in program.body.iter().rev() {
        match stmt {
            Stmt::Store { src, .. } => needed.extend(src),
            Stmt::Let(value, expr @ (Expr::Un(..) | Expr::Bin(..) | Expr::Tri(..))) if needed.contains(value) => {
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
    cost(&program(&row, &mode, &VopMods::default(), &widths).unwrap())
}

#[test]
fn sequences_are_as_long_as_the_table_says() {
    let by_name = |name: &str| Op::all().find(|op| op.name() == name).unwrap();
    let rows = include_str!("costs.tsv").lines().filter(|l| !l.starts_with('#'));
    for row in rows {
        let columns: Vec<&str> = row.split('\t').collect();
        let op = by_name(columns[0]);
        let found = [0xf0, 0xc0].map(|float| measured(op, float).to_string());
        println!("{}\t{}\t{}", columns[0], found[0], found[1]);
    }
}
