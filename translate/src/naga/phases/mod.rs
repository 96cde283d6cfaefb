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
//! Where phases end elsewhere than at the guest's barriers too, a wave that waits at one stays out of phases until all do ([`gate`]).
//!
//! Segments stand in an order in which a wave goes forward only. Where it may go back without a barrier, the ifs are a loop of
//! their own, which it leaves when it is nowhere. Values that one segment defines and another takes go through variables.
//!
//! The program so made means the same by the rules of [`crate::program`], by which the loop ends when its last wave has. On a host
//! the barrier at a phase's end also counts the waves that have ended, and ends the loop ([`end`]).

mod carry;
mod cut;
mod end;
mod exchange;
mod gate;
pub(super) mod hold;
mod order;
mod pause;
#[cfg(test)]
mod tests;

pub(super) use self::end::Tally;

use self::carry::Carrier;
use self::cut::{Cutter, End, Segment};
use self::gate::Gate;
use self::order::Order;
use super::Options;
use super::hoist::Hoists;
use super::plan::{Class, Plan};
use crate::program::{
    Access, BinOp, Block, Expr, Program, Rate, Space, Stmt, TriOp, Type, Value, ValueInfo, Var, VarInfo,
    Width,
};

/// Where the barrier at a phase's end says it stands: no guest instruction does.
const END_OF_PHASE: u32 = u32::MAX;

/// Where a barrier says it stands that only the lanes of a wave need ([`exchange`]).
const BETWEEN: u32 = u32::MAX - 1;

/// Sets of words of the exchange that take turns.
const TURNS: u32 = 3;

/// A word of the exchange, of which `valid` bytes exist.
fn exchanged(address: Value, valid: Value) -> Access {
    Access { space: Space::Exchange, address, valid, width: Width::W32, pc: 0, slot: None }
}

/// The state of a wave that has come to a barrier, and of one that has ended.
const NOWHERE: u32 = u32::MAX;

/// Whether a barrier is the end of a phase.
pub(super) fn ends_phase(pc: u32) -> bool {
    pc == END_OF_PHASE
}

/// Whether a statement is the loop that goes through phases.
pub(super) fn is_phase_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Loop { body } if has_phases(body))
}

/// Whether a loop with this body goes through phases.
pub(super) fn has_phases(body: &[Stmt]) -> bool {
    matches!(body.last(), Some(Stmt::Barrier { pc }) if ends_phase(*pc))
}

/// The program with phases from statement `from` of its body on, and its plan. One that is to be held back has phases throughout.
pub(super) fn with_phases(
    program: &Program,
    plan: &Plan,
    from: usize,
    options: &Options,
    hoists: &Hoists,
) -> (Program, Plan) {
    let remade = |program: &Program| Plan::new(program, options.holding, options.slots_apart, hoists);
    if !options.resumes {
        let program = phased(program, from, &|_| false);
        let plan = remade(&program);
        return (program, plan);
    }
    paused(program, plan, &remade)
}

/// The program with phases throughout, whose lanes tell each other nothing but by words ([`exchange`]), and its plan. `waves`: the
/// most that a workgroup has.
pub(super) fn with_words(program: &Program, plan: &Plan, waves: u32, options: &Options) -> (Program, Plan) {
    let checked = exchange::checked(program, plan);
    let slots_apart = plan.slots_apart;
    let program = exchange::explicit(program, plan, waves);
    let remade = |program: &Program| Plan { slots_apart, ..Plan::of_words(program, &checked) };
    if options.resumes {
        return paused(&program, &remade(&program), &remade);
    }
    let program = phased(&program, 0, &|_| false);
    let plan = remade(&program);
    (program, plan)
}

/// The program with phases throughout, such that waves can be held back between them ([`hold`]), and its plan.
fn paused(program: &Program, plan: &Plan, remade: &dyn Fn(&Program) -> Plan) -> (Program, Plan) {
    let (program, pausing) = pause::with_pauses(program, plan);
    let plan = remade(&program);
    let program = phased(&program, 0, &|stmt| pause::ends_phases(stmt, &plan));
    let mut plan = remade(&program);
    plan.pausing = Some(pausing);
    (program, plan)
}

fn is_wave_loop(stmt: &Stmt, plan: &Plan) -> bool {
    matches!(stmt, Stmt::Loop { .. }) && plan.need(stmt).class == Class::Wave
}

/// The program with phases from statement `from` of its body on. Iterations of loops that `ends` tells of are phases too.
fn phased(program: &Program, from: usize, ends: &dyn Fn(&Stmt) -> bool) -> Program {
    let (before, parted) = program.body.split_at(from.min(program.body.len()));
    let segments = Cutter::segments(parted, ends);
    let order = Order::new(&segments);
    let mut program = Program { body: before.to_vec(), ..program.clone() };
    let [state, next] =
        ["state", "next"].map(|name| variable(&mut program, name.into(), Type::B32, Rate::Uniform));
    let gate = Gate::new(&mut program, &segments);
    let carrier = Carrier::new(&mut program, &segments, &order.places);
    let mut maker = Maker { carrier, state, next, gate };
    let body = maker.body(&segments, &order);
    program.body.extend(body);
    program
}

fn variable(program: &mut Program, name: String, ty: Type, rate: Rate) -> Var {
    program.vars.push(VarInfo { ty, rate, name });
    Var(program.vars.len() as u32 - 1)
}

fn fresh(program: &mut Program, ty: Type, rate: Rate) -> Value {
    program.values.push(ValueInfo { ty, rate });
    Value(program.values.len() as u32 - 1)
}

/// Puts segments together.
struct Maker<'p> {
    carrier: Carrier<'p>,
    /// Segment that the wave is in or comes to in this phase.
    state: Var,
    /// Segment that it starts the next phase with.
    next: Var,
    /// How it waits at barriers of the guest, if phases end elsewhere too.
    gate: Option<Gate>,
}

impl Maker<'_> {
    fn body(&mut self, segments: &[Segment], order: &Order) -> Block {
        let mut block = Block::new();
        let first = self.number(0, &mut block);
        block.push(Stmt::Set(self.next, first));
        let mut phase = Block::new();
        let next = self.start(&mut phase);
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
        self.tell_gate(&mut phase);
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

    /// Whether a variable is a number.
    fn is(&mut self, var: Var, number: u32, block: &mut Block) -> Value {
        let state = self.define(Type::B32, Expr::Get(var), block);
        let number = self.define(Type::B32, Expr::Const32(number), block);
        self.define(Type::Bool, Expr::Bin(BinOp::Eq, state, number), block)
    }

    /// A segment where the wave is in it.
    fn link(&mut self, place: usize, segment: &Segment, chain: &mut Block) {
        let cond = self.is(self.state, place as u32, chain);
        let (mut then, end) = self.carrier.segment(place, segment);
        self.end(end, &mut then);
        chain.push(Stmt::If { cond, then, otherwise: Block::new() });
    }

    fn leave_if_nowhere(&mut self, chain: &mut Block) {
        let cond = self.is(self.state, NOWHERE, chain);
        chain.push(Stmt::If { cond, then: vec![Stmt::Break], otherwise: Block::new() });
    }

    fn end(&mut self, end: End, block: &mut Block) {
        let nowhere = NOWHERE as usize;
        match end {
            End::Jump(to) => self.go(to, None, block),
            End::Pause(to) => self.go(nowhere, Some(to), block),
            End::Barrier(to) => {
                self.go(nowhere, Some(to), block);
                self.wait(block);
            }
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
