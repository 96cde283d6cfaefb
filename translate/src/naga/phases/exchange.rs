//! What lanes tell each other made into words that they leave for each other, with a barrier between.
//!
//! Where the invocations of a wave meet by a barrier of the host's workgroup, waves that go different ways cannot meet each by itself.
//! So what is told goes through words of the workgroup ([`Exchange`](crate::program::Space::Exchange)) in two steps, and the barrier between them is one
//! that programs with phases are cut at.
//!
//! Each wave has three sets of words that take turns: what a turn leaves is read behind its barrier; the words of the turn
//! after it, which were last read before that barrier, are set to 0 before it.

use std::collections::HashSet;

use super::super::plan::{Class, Plan};
use super::{BETWEEN, TURNS, exchanged, fresh, variable};
use crate::program::{
    Access, AtomicOp, BinOp, Block, Builtin, Expr, Program, Rate, Stmt, TriOp, Type, UnOp, Value, Var, WaveOp,
};

/// The program, whose lanes tell each other nothing but by words and barriers. `waves`: the most that a workgroup has.
pub(in super::super) fn explicit(program: &Program, plan: &Plan, waves: u32) -> Program {
    let parts = Parts::new(program, plan);
    let mut made = Program { body: Vec::new(), ..program.clone() };
    made.exchange_bytes = waves * TURNS * parts.bytes();
    let turn = variable(&mut made, "turn".into(), Type::B32, Rate::Uniform);
    let mut maker = Maker { made, plan, parts, turn, block: Block::new() };
    let first = maker.first_turn();
    maker.push(Stmt::Set(turn, first));
    maker.stmts(&program.body);
    let Maker { mut made, block, .. } = maker;
    made.body = block;
    made
}

/// The guest instructions whose stores look whether a byte is stored twice.
pub(in super::super) fn checked(program: &Program, plan: &Plan) -> HashSet<u32> {
    let mut pcs = HashSet::new();
    for stmt in &program.body {
        stmt.each(&mut |s| {
            if let (Stmt::Store { access, .. }, true) = (s, plan.need(s).check) {
                pcs.insert(access.pc);
            }
        });
    }
    pcs
}

/// The words of a turn: `rows` of a word a lane, and two of votes.
#[derive(Clone, Copy)]
struct Parts {
    lanes: u32,
    /// Rows for what lanes tell.
    rows: u32,
    /// Whether there is one more, for who sends.
    sends: bool,
}

impl Parts {
    fn new(program: &Program, plan: &Plan) -> Self {
        let mut parts = Parts { lanes: u32::from(program.wave_lanes), rows: 1, sends: false };
        for stmt in &program.body {
            stmt.each(&mut |s| match s {
                Stmt::Let(_, Expr::Wave(WaveOp::Send { .. })) => parts.sends = true,
                _ if plan.need(s).serial => {
                    let types = serial_operands(s).into_iter().map(|v| program.info(v).ty);
                    parts.rows = parts.rows.max(types.map(Type::words).sum());
                }
                _ => {}
            });
        }
        parts
    }

    fn senders(self) -> u32 {
        self.rows * self.lanes * 4
    }

    fn votes(self) -> u32 {
        self.senders() + if self.sends { self.lanes * 4 } else { 0 }
    }

    fn bytes(self) -> u32 {
        self.votes() + 8
    }
}

/// What a statement that lanes do in order takes: `valid` first, which tells whether a lane does it.
fn serial_operands(stmt: &Stmt) -> Vec<Value> {
    let mut all = match stmt {
        Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => vec![access.valid],
        _ => Vec::new(),
    };
    stmt.operands(|v| {
        if !all.contains(&v) {
            all.push(v);
        }
    });
    all
}

struct Maker<'p> {
    made: Program,
    plan: &'p Plan,
    parts: Parts,
    /// Byte of the exchange where the wave's next turn starts.
    turn: Var,
    /// The block under construction.
    block: Block,
}

impl Maker<'_> {
    fn push(&mut self, stmt: Stmt) {
        self.block.push(stmt);
    }

    /// The block that `body` makes.
    fn inner(&mut self, body: impl FnOnce(&mut Self)) -> Block {
        let outer = std::mem::take(&mut self.block);
        body(self);
        std::mem::replace(&mut self.block, outer)
    }

    fn value(&mut self, ty: Type, rate: Rate, expr: Expr) -> Value {
        let value = fresh(&mut self.made, ty, rate);
        self.push(Stmt::Let(value, expr));
        value
    }

    /// A new value of each lane, of the type that `value` has.
    fn of_lanes(&mut self, value: Value) -> Value {
        let ty = self.made.info(value).ty;
        fresh(&mut self.made, ty, Rate::Varying)
    }

    fn number(&mut self, number: u32) -> Value {
        self.value(Type::B32, Rate::Uniform, Expr::Const32(number))
    }

    fn lane(&mut self) -> Value {
        self.value(Type::B32, Rate::Varying, Expr::Builtin(Builtin::Lane))
    }

    fn rate(&self, value: Value) -> Rate {
        self.made.info(value).rate
    }

    /// An operation that gives what it takes, or a `Bool`.
    fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = op.signature().1.unwrap_or(self.made.info(a).ty);
        let rate = self.rate(a).max(self.rate(b));
        self.value(ty, rate, Expr::Bin(op, a, b))
    }

    fn bin_number(&mut self, op: BinOp, a: Value, b: u32) -> Value {
        let b = self.number(b);
        self.bin(op, a, b)
    }

    fn select(&mut self, cond: Value, yes: Value, no: Value) -> Value {
        let rate = self.rate(cond).max(self.rate(yes)).max(self.rate(no));
        let ty = self.made.info(yes).ty;
        self.value(ty, rate, Expr::Tri(TriOp::Select, cond, yes, no))
    }

    /// `number` where the condition holds, else 0.
    fn number_if(&mut self, cond: Value, number: u32) -> Value {
        let (yes, no) = (self.number(number), self.number(0));
        self.select(cond, yes, no)
    }

    fn when(&mut self, cond: Value, then: impl FnOnce(&mut Self)) {
        let then = self.inner(then);
        self.push(Stmt::If { cond, then, otherwise: Block::new() });
    }

    fn load(&mut self, address: Value) -> Value {
        let rate = self.rate(address);
        let value = fresh(&mut self.made, Type::B32, rate);
        self.load_as(value, address);
        value
    }

    fn load_as(&mut self, value: Value, address: Value) {
        let valid = self.number(4);
        let access = exchanged(address, valid);
        self.push(Stmt::Load { dst: vec![value], access });
    }

    fn store(&mut self, address: Value, what: Value) {
        let valid = self.number(4);
        let access = exchanged(address, valid);
        self.push(Stmt::Store { src: vec![what], access });
    }

    /// An atomic of the lanes whose `active` holds.
    fn atomic(&mut self, op: AtomicOp, address: Value, data: Value, active: Value) {
        let valid = self.number_if(active, 4);
        let access = exchanged(address, valid);
        self.push(Stmt::Atomic { dst: None, op, data, compare: None, access });
    }

    /// Byte of `lane`'s word in the row that starts at byte `row` of a turn.
    fn place(&mut self, turn: Value, row: u32, lane: Value) -> Value {
        let lane = self.bin_number(BinOp::And, lane, self.parts.lanes - 1);
        let offset = self.bin_number(BinOp::Shl, lane, 2);
        let start = self.bin_number(BinOp::Add, turn, row);
        self.bin(BinOp::Add, start, offset)
    }

    fn first_turn(&mut self) -> Value {
        let wave = self.value(Type::B32, Rate::Uniform, Expr::Builtin(Builtin::WaveInGroup));
        self.bin_number(BinOp::Mul, wave, TURNS * self.parts.bytes())
    }

    /// Begins a turn: the next one's words become 0.
    fn begin(&mut self) -> Value {
        let turn = self.value(Type::B32, Rate::Uniform, Expr::Get(self.turn));
        let first = self.first_turn();
        let end = self.bin_number(BinOp::Add, first, TURNS * self.parts.bytes());
        let next = self.bin_number(BinOp::Add, turn, self.parts.bytes());
        let over = self.bin(BinOp::Eq, next, end);
        let next = self.select(over, first, next);
        self.push(Stmt::Set(self.turn, next));
        let zero = self.number(0);
        for word in 0..2 {
            let vote = self.bin_number(BinOp::Add, next, self.parts.votes() + 4 * word);
            self.store(vote, zero);
        }
        if self.parts.sends {
            let lane = self.lane();
            let sender = self.place(next, self.parts.senders(), lane);
            self.store(sender, zero);
        }
        turn
    }

    /// What each lane left is there for all.
    fn meet(&mut self) {
        self.push(Stmt::Barrier { pc: BETWEEN });
    }

    /// Statements of uniform control flow.
    fn stmts(&mut self, block: &[Stmt]) {
        block.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let need = self.plan.need(stmt);
        if need.cut {
            self.meet();
        }
        match (stmt, need.class) {
            (Stmt::If { cond, then, otherwise }, Class::Wave) => {
                let [then, otherwise] = [then, otherwise].map(|way| self.inner(|m| m.stmts(way)));
                self.push(Stmt::If { cond: *cond, then, otherwise });
            }
            (Stmt::Loop { body }, Class::Wave) => {
                let body = self.inner(|m| m.stmts(body));
                self.push(Stmt::Loop { body });
            }
            (Stmt::Let(result, Expr::Wave(op)), _) => self.wave_op(*result, *op),
            (Stmt::Atomic { .. }, Class::Wave) => self.atomic_once(stmt),
            _ if need.serial => self.serial(stmt),
            _ => self.push(stmt.clone()),
        }
    }

    fn wave_op(&mut self, result: Value, op: WaveOp) {
        match op {
            WaveOp::Ballot(vote) => {
                let bits = self.ballot(vote);
                self.push(Stmt::Let(result, bits));
            }
            WaveOp::Any(vote) => {
                let bits = self.ballot(vote);
                let bits = self.value(Type::B64, Rate::Uniform, bits);
                let none = self.value(Type::B64, Rate::Uniform, Expr::Const64(0));
                self.push(Stmt::Let(result, Expr::Bin(BinOp::Ne, bits, none)));
            }
            WaveOp::ReadLane { value, lane } | WaveOp::Shuffle { value, lane } => {
                self.read_lane(result, value, lane);
            }
            WaveOp::Send { value, lane, active } => self.send(result, [value, lane, active]),
        }
    }

    /// The lanes' `Bool`s as bits: each lane that votes sets its own.
    fn ballot(&mut self, vote: Value) -> Expr {
        let turn = self.begin();
        let (lane, one) = (self.lane(), self.number(1));
        let bit = self.bin(BinOp::Shl, one, lane);
        let word = self.bin_number(BinOp::ShrU, lane, 5);
        let offset = self.bin_number(BinOp::Shl, word, 2);
        let votes = self.bin_number(BinOp::Add, turn, self.parts.votes());
        let place = self.bin(BinOp::Add, votes, offset);
        self.atomic(AtomicOp::Or, place, bit, vote);
        self.meet();
        let low = self.load(votes);
        let above = self.bin_number(BinOp::Add, votes, 4);
        let high = self.load(above);
        Expr::Bin(BinOp::Pack, low, high)
    }

    /// Leaves a word of each lane; gives the turn.
    fn tell(&mut self, value: Value) -> Value {
        let turn = self.begin();
        let lane = self.lane();
        let place = self.place(turn, 0, lane);
        self.store(place, value);
        turn
    }

    fn read_lane(&mut self, result: Value, value: Value, lane: Value) {
        let turn = self.tell(value);
        self.meet();
        let lane = match (self.rate(result), self.rate(lane)) {
            (Rate::Varying, Rate::Uniform) => {
                let own = self.lane();
                let nothing = self.bin_number(BinOp::And, own, 0);
                self.bin(BinOp::Add, nothing, lane)
            }
            _ => lane,
        };
        let place = self.place(turn, 0, lane);
        self.load_as(result, place);
    }

    /// Each lane gets what the highest lane that sends to it sends.
    fn send(&mut self, result: Value, [value, to, active]: [Value; 3]) {
        let turn = self.tell(value);
        let own = self.lane();
        let (number, place) =
            (self.bin_number(BinOp::Add, own, 1), self.place(turn, self.parts.senders(), to));
        let own_place = self.place(turn, self.parts.senders(), own);
        self.atomic(AtomicOp::MaxU, place, number, active);
        self.meet();
        let sender = self.load(own_place);
        let from = self.bin_number(BinOp::Sub, sender, 1);
        let place = self.place(turn, 0, from);
        let sent = self.load(place);
        let zero = self.number(0);
        let nobody = self.bin(BinOp::Eq, sender, zero);
        self.push(Stmt::Let(result, Expr::Tri(TriOp::Select, nobody, zero, sent)));
    }

    /// An atomic of the wave: the first lane's, which tells the others what came of it.
    fn atomic_once(&mut self, stmt: &Stmt) {
        let Stmt::Atomic { dst, op, data, compare, access } = stmt else { return };
        let (lane, zero) = (self.lane(), self.number(0));
        let first = self.bin(BinOp::Eq, lane, zero);
        let valid = self.select(first, access.valid, zero);
        let access = Access { valid, ..*access };
        let old = dst.map(|v| self.of_lanes(v));
        self.push(Stmt::Atomic { dst: old, op: *op, data: *data, compare: *compare, access });
        if let (Some(dst), Some(old)) = (*dst, old) {
            self.read_first(dst, old, zero);
        }
    }

    /// `dst` becomes what the first lane has.
    fn read_first(&mut self, dst: Value, what: Value, first: Value) {
        if self.made.info(dst).ty != Type::B64 {
            return self.read_lane(dst, what, first);
        }
        let halves = [UnOp::Low, UnOp::High].map(|op| {
            let half = self.value(Type::B32, Rate::Varying, Expr::Un(op, what));
            let read = fresh(&mut self.made, Type::B32, Rate::Uniform);
            self.read_lane(read, half, first);
            read
        });
        self.push(Stmt::Let(dst, Expr::Bin(BinOp::Pack, halves[0], halves[1])));
    }

    /// A statement that lanes do in order: the first does it for all, and leaves what comes of it.
    fn serial(&mut self, stmt: &Stmt) {
        let turn = self.begin();
        let operands = serial_operands(stmt);
        let own = self.lane();
        let mut row = 0;
        for value in &operands {
            row += self.leave(turn, row, own, *value);
        }
        self.meet();
        let zero = self.number(0);
        let first = self.bin(BinOp::Eq, own, zero);
        let count = variable(&mut self.made, "lane".into(), Type::B32, Rate::Varying);
        self.when(first, |m| {
            m.push(Stmt::Set(count, zero));
            let body = m.inner(|m| m.one_lane(stmt, &operands, turn, count));
            m.push(Stmt::Loop { body });
        });
        let Stmt::Atomic { dst: Some(dst), .. } = stmt else { return };
        self.meet();
        let own = self.lane();
        self.take(*dst, turn, 0, own);
    }

    /// Leaves a value in the rows from `row` on; gives how many it takes.
    fn leave(&mut self, turn: Value, row: u32, lane: Value, value: Value) -> u32 {
        let info = self.made.info(value);
        let halves = match info.ty {
            Type::B64 => [UnOp::Low, UnOp::High]
                .map(|op| self.value(Type::B32, info.rate, Expr::Un(op, value)))
                .to_vec(),
            _ => vec![value],
        };
        for (i, half) in (row..).zip(&halves) {
            let place = self.place(turn, i * self.parts.lanes * 4, lane);
            self.store(place, *half);
        }
        halves.len() as u32
    }

    /// Defines `value` as what is in the rows from `row` on; gives how many those are.
    fn take(&mut self, value: Value, turn: Value, row: u32, lane: Value) -> u32 {
        let [low, high] = [row, row + 1].map(|i| i * self.parts.lanes * 4);
        let low = self.place(turn, low, lane);
        if self.made.info(value).ty != Type::B64 {
            self.load_as(value, low);
            return 1;
        }
        let high = self.place(turn, high, lane);
        let [low, high] = [low, high].map(|place| self.load(place));
        self.push(Stmt::Let(value, Expr::Bin(BinOp::Pack, low, high)));
        2
    }

    /// What the first lane does for the lane that it has come to.
    fn one_lane(&mut self, stmt: &Stmt, operands: &[Value], turn: Value, count: Var) {
        let lane = self.value(Type::B32, Rate::Varying, Expr::Get(count));
        let lanes = self.number(self.parts.lanes);
        let done = self.bin(BinOp::LeU, lanes, lane);
        self.when(done, |m| m.push(Stmt::Break));
        let next = self.bin_number(BinOp::Add, lane, 1);
        self.push(Stmt::Set(count, next));
        let mut row = 0;
        let mut names = Vec::new();
        for value in operands {
            let taken = self.of_lanes(*value);
            row += self.take(taken, turn, row, lane);
            names.push((*value, taken));
        }
        let at = |v: Value| names.iter().find(|(old, _)| *old == v).map_or(v, |(_, new)| *new);
        let mut stmt = stmt.renamed(&at);
        let result = match &mut stmt {
            Stmt::Atomic { dst: Some(dst), .. } => {
                *dst = self.of_lanes(*dst);
                Some(*dst)
            }
            _ => None,
        };
        self.push(stmt);
        if let Some(result) = result {
            self.leave(turn, 0, lane, result);
        }
    }
}
