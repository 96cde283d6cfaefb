//! Programs whose waves part at barriers, made such that all waves of a workgroup meet at one.
//!
//! A host's barrier waits for the whole workgroup, a guest's for the waves that have not ended, wherever they stand. The part of a
//! program in which waves may go different ways is cut at its barriers into *segments* ([`cut`]). In a *phase* each wave runs
//! from where it stands to its next barrier or its end; then all meet, those that have ended too:
//!
//! ```text
//! next = 0
//! loop {
//!     state = next
//!     if state == 0 { ... state = 1 }                     // goes on in segment 1
//!     if state == 1 { ... next = 2, state = nowhere }     // has come to a barrier
//!     if state == 2 { ... next = state = nowhere, return }
//!     barrier                                             // the end of a phase
//! }
//! ```
//!
//! Segments stand in an order in which a wave goes forward only. Where it may go back without a barrier, the ifs are a loop of
//! their own, which it leaves when it is nowhere. Values that one segment defines and another takes go through variables.
//!
//! The program so made means the same by the rules of [`crate::program`], by which the loop ends when its last wave has. On a host
//! the barrier at a phase's end also counts the waves that have ended, and ends the loop ([`end`]).

mod carry;
mod cut;
mod end;
mod order;
#[cfg(test)]
mod tests;

pub(super) use self::end::Tally;

use self::carry::Carrier;
use self::cut::{Cutter, End, Segment};
use self::order::Order;
use crate::program::{BinOp, Block, Expr, Program, Rate, Stmt, TriOp, Type, Value, Var, VarInfo};

/// Where the barrier at a phase's end says it stands: no guest instruction does.
const END_OF_PHASE: u32 = u32::MAX;

/// The state of a wave that has come to a barrier, and of one that has ended.
const NOWHERE: u32 = u32::MAX;

/// Whether a barrier is the end of a phase.
pub(super) fn ends_phase(pc: u32) -> bool {
    pc == END_OF_PHASE
}

/// Whether a loop with this body goes through phases.
pub(super) fn has_phases(body: &[Stmt]) -> bool {
    matches!(body.last(), Some(Stmt::Barrier { pc }) if ends_phase(*pc))
}

/// The program with phases from statement `from` of its body on.
pub(super) fn phased(program: &Program, from: usize) -> Program {
    let (before, parted) = program.body.split_at(from.min(program.body.len()));
    let segments = Cutter::segments(parted);
    let order = Order::new(&segments);
    let mut program = Program { body: before.to_vec(), ..program.clone() };
    let [state, next] = ["state", "next"].map(|name| variable(&mut program, name));
    let carrier = Carrier::new(&mut program, &segments, &order.places);
    let mut maker = Maker { carrier, state, next };
    let body = maker.body(&segments, &order);
    program.body.extend(body);
    program
}

fn variable(program: &mut Program, name: &str) -> Var {
    program.vars.push(VarInfo { ty: Type::B32, rate: Rate::Uniform, name: name.into() });
    Var(program.vars.len() as u32 - 1)
}

/// Puts segments together.
struct Maker<'p> {
    carrier: Carrier<'p>,
    /// Segment that the wave is in or comes to in this phase.
    state: Var,
    /// Segment that it starts the next phase with.
    next: Var,
}

impl Maker<'_> {
    fn body(&mut self, segments: &[Segment], order: &Order) -> Block {
        let mut block = Block::new();
        let first = self.number(0, &mut block);
        block.push(Stmt::Set(self.next, first));
        let mut phase = Block::new();
        let next = self.define(Type::B32, Expr::Get(self.next), &mut phase);
        phase.push(Stmt::Set(self.state, next));
        let mut chain = Block::new();
        for place in &order.places {
            self.link(*place, &segments[*place], &mut chain);
        }
        if order.goes_back {
            self.leave_if_nowhere(&mut chain);
            chain = vec![Stmt::Loop { body: chain }];
        }
        phase.extend(chain);
        phase.push(Stmt::Barrier { pc: END_OF_PHASE });
        block.push(Stmt::Loop { body: phase });
        block
    }

    fn define(&mut self, ty: Type, expr: Expr, block: &mut Block) -> Value {
        let value = self.carrier.fresh(ty, Rate::Uniform);
        block.push(Stmt::Let(value, expr));
        value
    }

    fn number(&mut self, number: usize, block: &mut Block) -> Value {
        self.define(Type::B32, Expr::Const32(number as u32), block)
    }

    /// Whether the wave is in the state.
    fn is(&mut self, number: u32, block: &mut Block) -> Value {
        let state = self.define(Type::B32, Expr::Get(self.state), block);
        let number = self.define(Type::B32, Expr::Const32(number), block);
        self.define(Type::Bool, Expr::Bin(BinOp::Eq, state, number), block)
    }

    /// A segment where the wave is in it.
    fn link(&mut self, place: usize, segment: &Segment, chain: &mut Block) {
        let cond = self.is(place as u32, chain);
        let (mut then, end) = self.carrier.segment(place, segment);
        self.end(end, &mut then);
        chain.push(Stmt::If { cond, then, otherwise: Block::new() });
    }

    fn leave_if_nowhere(&mut self, chain: &mut Block) {
        let cond = self.is(NOWHERE, chain);
        chain.push(Stmt::If { cond, then: vec![Stmt::Break], otherwise: Block::new() });
    }

    fn end(&mut self, end: End, block: &mut Block) {
        let nowhere = NOWHERE as usize;
        match end {
            End::Jump(to) => self.go(to, None, block),
            End::Barrier(to) => self.go(nowhere, Some(to), block),
            End::Stop => {
                self.go(nowhere, Some(nowhere), block);
                block.push(Stmt::Return);
            }
            End::Branch { cond, then, otherwise } => {
                let [then, otherwise] = [then, otherwise].map(|to| self.number(to, block));
                let choice = Expr::Tri(TriOp::Select, cond, then, otherwise);
                let to = self.define(Type::B32, choice, block);
                block.push(Stmt::Set(self.state, to));
            }
        }
    }

    fn go(&mut self, state: usize, next: Option<usize>, block: &mut Block) {
        for (var, to) in [(self.state, Some(state)), (self.next, next)] {
            if let Some(to) = to {
                let to = self.number(to, block);
                block.push(Stmt::Set(var, to));
            }
        }
    }
}
