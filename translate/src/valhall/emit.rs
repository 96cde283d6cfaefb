//! Emission: the state of it, registers, and how an instruction finds its lowering.

use std::collections::HashMap;

use guestwave_isa::mali::valhall::{Dst, Inst, Op};

use super::graph::ValhallGraph;
use super::{Refusal, Source, alu, attribute, fragment, memory, resource, varying};
use crate::convert::Convert;
use crate::gfx10::flow::{BlockId, Tree};
use crate::gfx10::{Assumption, Known};
use crate::program::{Builder, Program, Rate, Stmt, Type, Value, Var};
use crate::ways::{Contents, Ways};

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cell {
    /// A register, launch words included.
    Register(u8),
    /// A flag of the structured control.
    Flag(usize),
    /// The block that runs next, of irreducible control.
    Next,
}

/// One emission.
pub(super) struct Emit<'a> {
    pub(super) b: Builder,
    pub(super) graph: &'a ValhallGraph,
    pub(super) source: &'a Source<'a>,
    /// What the launch at hand can say about a number.
    pub(super) launch: Known<'a>,
    vars: HashMap<Cell, Var>,
    /// What variables hold here.
    pub(super) contents: Contents,
    pub(super) assumptions: Vec<Assumption>,
    /// Conditions of the branches of blocks that have been emitted.
    pub(super) conditions: HashMap<BlockId, Value>,
}

/// How an instruction is lowered.
pub(super) type Lower = fn(&mut Emit<'_>, &Inst) -> Result<(), Refusal>;

/// Operations that are more than arithmetic, by subject.
const SUBJECTS: &[&[(Op, Lower)]] = &[
    &[(Op::Nop, |_, _| Ok(()))],
    memory::ROWS,
    resource::ROWS,
    attribute::ROWS,
    varying::ROWS,
    fragment::ROWS,
];

/// Operations whose result public documents leave open.
const INEXACT: &[Op] = &[Op::Frcp, Op::Frsq];

impl<'a> Emit<'a> {
    pub(super) fn new(
        graph: &'a ValhallGraph,
        source: &'a Source<'a>,
        name: &str,
        launch: Known<'a>,
    ) -> Emit<'a> {
        Emit {
            b: Builder::new(name, source.wave_lanes),
            graph,
            source,
            launch,
            vars: HashMap::new(),
            contents: Contents::default(),
            assumptions: Vec::new(),
            conditions: HashMap::new(),
        }
    }

    /// Emits the program: its control, for the lanes that have a thread.
    pub(super) fn run(mut self, tree: &Tree) -> Result<(Program, Vec<Assumption>), Refusal> {
        let active = self.prologue();
        self.b.open();
        self.nodes(&tree.nodes)?;
        let then = self.b.close();
        self.b.push(Stmt::If { cond: active, then, otherwise: Vec::new() });
        Ok((self.b.finish(), self.assumptions))
    }

    pub(super) fn inst(&mut self, inst: &Inst) -> Result<(), Refusal> {
        if let Some(what) = inst.unknown_form() {
            return Err(self.refuse(inst, what));
        }
        let inexact = &mut self.b.program_mut().inexact;
        if INEXACT.contains(&inst.row.op) && !inexact.contains(&inst.row.name) {
            inexact.push(inst.row.name);
            inexact.sort_unstable();
        }
        if let Some(meaning) = alu::meaning(inst.row.op) {
            let value = alu::result(self, inst, meaning)?;
            self.write(inst, value);
            return Ok(());
        }
        let row = SUBJECTS.iter().copied().flatten().find(|row| row.0 == inst.row.op && inst.row.known);
        let missing = Refusal::Instruction { name: inst.row.name, pc: inst.offset };
        row.ok_or(missing)?.1(self, inst)
    }

    /// Conversions between memory and registers.
    pub(super) fn convert(&mut self) -> Convert<'_> {
        Convert { b: &mut self.b }
    }

    /// A refusal of something that `inst` has.
    pub(super) fn refuse(&self, inst: &Inst, what: &'static str) -> Refusal {
        Refusal::Form { name: inst.row.name, pc: inst.offset, what }
    }

    pub(super) fn var(&mut self, cell: Cell) -> Var {
        if let Some(var) = self.vars.get(&cell) {
            return *var;
        }
        let (name, ty) = match cell {
            Cell::Register(n) => (format!("r{n}"), Type::B32),
            Cell::Flag(n) => (format!("flag{n}"), Type::Bool),
            Cell::Next => ("next".to_owned(), Type::B32),
        };
        let var = self.b.var(name, ty, Rate::Varying);
        self.vars.insert(cell, var);
        var
    }

    pub(super) fn get(&mut self, cell: Cell) -> Value {
        let var = self.var(cell);
        self.contents.get(&mut self.b, var)
    }

    pub(super) fn put(&mut self, cell: Cell, value: Value) {
        let var = self.var(cell);
        self.contents.set(&mut self.b, var, value);
    }

    pub(super) fn register(&mut self, n: usize) -> Value {
        self.get(Cell::Register(n as u8))
    }

    /// Writes a result to the halves or the pair that the instruction names.
    fn write(&mut self, inst: &Inst, value: Value) {
        use crate::program::{BinOp, UnOp};
        let at = inst.register();
        if inst.row.dst == Dst::Pair {
            let (low, high) = (self.b.un(UnOp::Low, value), self.b.un(UnOp::High, value));
            self.put(Cell::Register(at), low);
            self.put(Cell::Register(at + 1), high);
            return;
        }
        let kept = [0xffff_ffffu32, 0xffff_0000, 0x0000_ffff, 0][usize::from(inst.halves())];
        let merged = if kept == 0 {
            value
        } else {
            let old = self.register(at.into());
            let old = self.b.with_constant(BinOp::And, old, kept.into());
            let new = self.b.with_constant(BinOp::And, value, (!kept).into());
            self.b.bin(BinOp::Or, old, new)
        };
        self.put(Cell::Register(at), merged);
    }

    /// Staging register `i` of an instruction.
    pub(super) fn staged(&mut self, inst: &Inst, i: u8) -> Value {
        self.register(usize::from(inst.register() + i))
    }

    /// Writes the staging registers of an instruction, as far as it has them.
    pub(super) fn set_staged(&mut self, inst: &Inst, words: &[Value]) {
        for (i, word) in (0..inst.staging_count()).zip(words) {
            self.put(Cell::Register(inst.register() + i), *word);
        }
    }
}
