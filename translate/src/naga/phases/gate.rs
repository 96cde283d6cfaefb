//! Waiting at a barrier of the guest while other waves go on in phases.
//!
//! Phases end at barriers of the guest, and where lanes tell each other something or a wave may be held back. A wave at a
//! barrier of the guest stays where it is until all have come to one or ended: each that has not says so, in a word of the workgroup
//! ([`Exchange`](crate::program::Space::Exchange)), before all meet. Three words take turns, as [`super::exchange`] says.

use super::cut::{End, Segment};
use super::{Maker, NOWHERE, TURNS, exchanged, variable};
use crate::program::{Access, BinOp, Block, Expr, Program, Rate, Stmt, TriOp, Type, UnOp, Value, Var};

/// How waves wait.
#[derive(Clone, Copy)]
pub(super) struct Gate {
    /// Whether the wave waits.
    waits: Var,
    /// Byte of the word of this phase, from `start` on.
    turn: Var,
    start: u32,
}

impl Gate {
    /// What programs need whose phases end at barriers of the guest and elsewhere.
    pub(super) fn new(program: &mut Program, segments: &[Segment]) -> Option<Self> {
        let barriers = segments.iter().any(|s| matches!(s.end, End::Barrier(_)));
        let others = segments.iter().any(|s| matches!(s.end, End::Pause(_)));
        (barriers && others).then(|| {
            let start = program.exchange_bytes;
            program.exchange_bytes += 4 * TURNS;
            let waits = variable(program, "waits".into(), Type::Bool, Rate::Uniform);
            Gate { waits, turn: variable(program, "phase".into(), Type::B32, Rate::Uniform), start }
        })
    }
}

impl Maker<'_> {
    /// The segment that a wave starts a phase with.
    pub(super) fn start(&mut self, block: &mut Block) -> Value {
        let Some(gate) = self.gate else { return self.define(Type::B32, Expr::Get(self.next), block) };
        self.open(gate, block);
        let next = self.define(Type::B32, Expr::Get(self.next), block);
        let nowhere = self.number(NOWHERE as usize, block);
        let waits = self.define(Type::Bool, Expr::Get(gate.waits), block);
        self.define(Type::B32, Expr::Tri(TriOp::Select, waits, nowhere, next), block)
    }

    /// Lets the wave go on if all have come to where it waits, and takes the next turn.
    fn open(&mut self, gate: Gate, block: &mut Block) {
        let address = self.word(gate, 0, block);
        let going = self.carrier.fresh(Type::B32, Rate::Uniform);
        let access = self.access(address, block);
        block.push(Stmt::Load { dst: vec![going], access });
        let some = self.bin_number(BinOp::Ne, going, 0, block);
        let waited = self.define(Type::Bool, Expr::Get(gate.waits), block);
        let waits = self.define(Type::Bool, Expr::Bin(BinOp::And, waited, some), block);
        block.push(Stmt::Set(gate.waits, waits));
        let turn = self.turn_after(gate, block);
        block.push(Stmt::Set(gate.turn, turn));
    }

    /// Has the wave wait, where there is anything else to wait for than the end of the phase.
    pub(super) fn wait(&mut self, block: &mut Block) {
        if let Some(gate) = self.gate {
            let yes = self.define(Type::Bool, Expr::ConstBool(true), block);
            block.push(Stmt::Set(gate.waits, yes));
        }
    }

    /// Says, before all meet, if the wave neither waits nor has ended.
    pub(super) fn tell_gate(&mut self, block: &mut Block) {
        let Some(gate) = self.gate else { return };
        let after = self.word(gate, 1, block);
        let none = self.number(0, block);
        let access = self.access(after, block);
        block.push(Stmt::Store { src: vec![none], access });
        let ended = self.is(self.next, NOWHERE, block);
        let waits = self.define(Type::Bool, Expr::Get(gate.waits), block);
        let stays = self.define(Type::Bool, Expr::Bin(BinOp::Or, ended, waits), block);
        let goes = self.define(Type::Bool, Expr::Un(UnOp::Not, stays), block);
        let (address, mut then) = (self.word(gate, 0, block), Block::new());
        let (one, access) = (self.number(1, &mut then), self.access(address, &mut then));
        then.push(Stmt::Store { src: vec![one], access });
        block.push(Stmt::If { cond: goes, then, otherwise: Block::new() });
    }

    fn bin_number(&mut self, op: BinOp, a: Value, b: u32, block: &mut Block) -> Value {
        let b = self.number(b as usize, block);
        let ty = op.signature().1.unwrap_or(Type::B32);
        self.define(ty, Expr::Bin(op, a, b), block)
    }

    fn access(&mut self, address: Value, block: &mut Block) -> Access {
        exchanged(address, self.number(4, block))
    }

    /// The turn after this one.
    fn turn_after(&mut self, gate: Gate, block: &mut Block) -> Value {
        let turn = self.define(Type::B32, Expr::Get(gate.turn), block);
        let next = self.bin_number(BinOp::Add, turn, 4, block);
        let over = self.bin_number(BinOp::Eq, next, 4 * TURNS, block);
        let first = self.number(0, block);
        self.define(Type::B32, Expr::Tri(TriOp::Select, over, first, next), block)
    }

    /// Address of the word of this turn, or of the one after it.
    fn word(&mut self, gate: Gate, after: u32, block: &mut Block) -> Value {
        let turn = match after {
            0 => self.define(Type::B32, Expr::Get(gate.turn), block),
            _ => self.turn_after(gate, block),
        };
        self.bin_number(BinOp::Add, turn, gate.start, block)
    }
}
