//! Building a [`Program`]: statements are appended to a stack of open blocks; constants fold on the way.

use std::collections::HashMap;

use super::fold::fold;
use super::{
    Access, AtomicOp, BinOp, Block, Builtin, Expr, ParamSource, Program, Rate, Slot, Stmt, TriOp, Type, UnOp,
    Value, ValueInfo, Var, VarInfo, WaveOp,
};

/// Builds one program. Blocks are opened by [`Builder::open`] and closed by [`Builder::close`]; a value may be used while
/// the block that defined it is open.
#[derive(Debug)]
pub struct Builder {
    program: Program,
    open: Vec<Frame>,
    /// What each value was defined as, for folding.
    exprs: Vec<Option<Expr>>,
    /// What each variable was set to last, in the order of the code.
    last_set: HashMap<Var, Value>,
}

/// A block under construction and what can be found in it again.
#[derive(Debug, Default)]
struct Frame {
    block: Block,
    /// Pure expressions of this block that need not be computed twice.
    known: HashMap<Expr, Value>,
}

impl Builder {
    /// Starts a program for waves of `wave_lanes` lanes.
    pub fn new(name: impl Into<String>, wave_lanes: u8) -> Self {
        let program = Program {
            name: name.into(),
            wave_lanes,
            values: Vec::new(),
            vars: Vec::new(),
            body: Vec::new(),
            params: Vec::new(),
            lds_bytes: 0,
            scratch_bytes: 0,
            exchange_bytes: 0,
            together: false,
            slots: Vec::new(),
            inexact: Vec::new(),
        };
        Builder { program, open: vec![Frame::default()], exprs: Vec::new(), last_set: HashMap::new() }
    }

    /// The program, all of whose blocks must have been closed; blocks still open are closed as they stand.
    pub fn finish(mut self) -> Program {
        let mut frames = self.open.drain(..);
        self.program.body = frames.next().map(|f| f.block).unwrap_or_default();
        drop(frames);
        self.program
    }

    /// The program so far.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program's header fields (LDS and scratch sizes, inexact list).
    pub fn program_mut(&mut self) -> &mut Program {
        &mut self.program
    }

    /// Adds a variable.
    pub fn var(&mut self, name: impl Into<String>, ty: Type, rate: Rate) -> Var {
        self.program.vars.push(VarInfo { ty, rate, name: name.into() });
        Var(self.program.vars.len() as u32 - 1)
    }

    /// The parameter word that `source` fills, added if it is new, as a uniform value.
    pub fn param(&mut self, source: ParamSource) -> Value {
        let at = self.param_index(source);
        self.expr(Expr::Param(at))
    }

    /// Index of the parameter word that `source` fills, added if it is new.
    pub fn param_index(&mut self, source: ParamSource) -> u16 {
        let params = &mut self.program.params;
        match params.iter().position(|p| *p == source) {
            Some(at) => at as u16,
            None => {
                params.push(source);
                params.len() as u16 - 1
            }
        }
    }

    /// Index of a slot, added if it is new.
    pub fn slot(&mut self, slot: Slot) -> u16 {
        let slots = &mut self.program.slots;
        match slots.iter_mut().find(|s| s.base == slot.base && s.size == slot.size) {
            Some(known) => known.written |= slot.written,
            None => slots.push(slot.clone()),
        }
        slots.iter().position(|s| s.base == slot.base && s.size == slot.size).unwrap_or(0) as u16
    }

    /// Opens a block; statements go there until it is closed.
    pub fn open(&mut self) {
        self.open.push(Frame::default());
    }

    /// Closes the innermost block and gives it.
    pub fn close(&mut self) -> Block {
        self.open.pop().map(|f| f.block).unwrap_or_default()
    }

    /// Appends a statement. Values that it defines must come from [`Builder::fresh`].
    pub fn push(&mut self, stmt: Stmt) {
        if let Some(frame) = self.open.last_mut() {
            frame.block.push(stmt);
        }
    }

    /// A value for a statement that defines some by itself (`Load`, `Atomic`).
    pub fn fresh(&mut self, ty: Type, rate: Rate) -> Value {
        self.program.values.push(ValueInfo { ty, rate });
        self.exprs.push(None);
        Value(self.program.values.len() as u32 - 1)
    }

    /// Type and rate of `value`.
    pub fn info(&self, value: Value) -> ValueInfo {
        self.program.info(value)
    }

    /// What `value` was defined as, if by a `Let`.
    pub fn definition(&self, value: Value) -> Option<Expr> {
        self.exprs[value.0 as usize]
    }

    /// The constant behind `value`, `Bool`s as 0 and 1.
    pub fn constant(&self, value: Value) -> Option<u64> {
        match self.definition(value)? {
            Expr::ConstBool(b) => Some(u64::from(b)),
            Expr::Const32(c) => Some(u64::from(c)),
            Expr::Const64(c) => Some(c),
            _ => None,
        }
    }

    /// Defines a value, or finds one that is known to be equal.
    pub fn expr(&mut self, expr: Expr) -> Value {
        let expr = match fold(self, expr) {
            Ok(known) => return known,
            Err(expr) => expr,
        };
        let reusable = !matches!(expr, Expr::Get(_) | Expr::Wave(_));
        if reusable && let Some(known) = self.open.iter().find_map(|f| f.known.get(&expr)) {
            return *known;
        }
        let ValueInfo { ty, rate } = self.typed(&expr);
        let value = self.fresh(ty, rate);
        self.exprs[value.0 as usize] = Some(expr);
        self.push(Stmt::Let(value, expr));
        if reusable && let Some(frame) = self.open.last_mut() {
            frame.known.insert(expr, value);
        }
        value
    }

    fn typed(&self, expr: &Expr) -> ValueInfo {
        super::verify::infer(&self.program, expr)
    }

    /// A uniform `B32`.
    pub fn c32(&mut self, bits: u32) -> Value {
        self.expr(Expr::Const32(bits))
    }

    /// A uniform `B64`.
    pub fn c64(&mut self, bits: u64) -> Value {
        self.expr(Expr::Const64(bits))
    }

    /// A uniform `Bool`.
    pub fn cbool(&mut self, b: bool) -> Value {
        self.expr(Expr::ConstBool(b))
    }

    /// The present value of a variable.
    pub fn get(&mut self, var: Var) -> Value {
        self.expr(Expr::Get(var))
    }

    /// Sets a variable.
    pub fn set(&mut self, var: Var, value: Value) {
        self.last_set.insert(var, value);
        self.push(Stmt::Set(var, value));
    }

    /// What the code before set a variable to last, on whatever way.
    pub fn last_set(&self, var: Var) -> Option<Value> {
        self.last_set.get(&var).copied()
    }

    /// A value that the launch gives.
    pub fn builtin(&mut self, b: Builtin) -> Value {
        self.expr(Expr::Builtin(b))
    }

    /// An operation of one operand.
    pub fn un(&mut self, op: UnOp, a: Value) -> Value {
        self.expr(Expr::Un(op, a))
    }

    /// An operation of two operands.
    pub fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        self.expr(Expr::Bin(op, a, b))
    }

    /// An operation of three operands.
    pub fn tri(&mut self, op: TriOp, a: Value, b: Value, c: Value) -> Value {
        self.expr(Expr::Tri(op, a, b, c))
    }

    /// `cond ? a : b`.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.tri(TriOp::Select, cond, a, b)
    }

    /// A constant of the type of `value`.
    pub fn like(&mut self, value: Value, bits: u64) -> Value {
        if self.info(value).ty == Type::B64 { self.c64(bits) } else { self.c32(bits as u32) }
    }

    /// `op` with a constant second operand of the type of the first.
    pub fn with_constant(&mut self, op: BinOp, a: Value, bits: u64) -> Value {
        let b = self.like(a, bits);
        self.bin(op, a, b)
    }

    /// A shift by a constant.
    pub fn shift(&mut self, op: BinOp, a: Value, by: u32) -> Value {
        let by = self.c32(by);
        self.bin(op, a, by)
    }

    /// Ends the dispatch without effect where `cond` holds.
    pub fn trap_if(&mut self, cond: Value, code: &'static str, pc: u32) {
        if self.constant(cond) != Some(0) {
            self.push(Stmt::If { cond, then: vec![Stmt::Trap { code, pc }], otherwise: Vec::new() });
        }
    }

    /// A wave operation.
    pub fn wave(&mut self, op: WaveOp) -> Value {
        self.expr(Expr::Wave(op))
    }

    /// Loads `count` units.
    pub fn load(&mut self, count: usize, access: Access) -> Vec<Value> {
        let rate = self.access_rate(&access);
        let dst: Vec<Value> = (0..count).map(|_| self.fresh(Type::B32, rate)).collect();
        self.push(Stmt::Load { dst: dst.clone(), access });
        dst
    }

    /// Stores the units `src`.
    pub fn store(&mut self, src: Vec<Value>, access: Access) {
        self.push(Stmt::Store { src, access });
    }

    /// An atomic; gives the value before.
    pub fn atomic(&mut self, op: AtomicOp, data: Value, compare: Option<Value>, access: Access) -> Value {
        let rate = self.access_rate(&access);
        let dst = self.fresh(self.info(data).ty, rate);
        self.push(Stmt::Atomic { dst: Some(dst), op, data, compare, access });
        dst
    }

    fn access_rate(&self, access: &Access) -> Rate {
        self.program.access_rate(access)
    }
}
