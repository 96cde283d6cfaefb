//! A naga function under construction: expressions are emitted where they are made.

use std::collections::HashMap;

use naga::{
    AtomicFunction, Barrier, BinaryOperator, Block, Expression, Function, FunctionArgument, FunctionResult,
    GlobalVariable, Handle, Literal, LocalVariable, MathFunction, Range, ScalarKind, Span, Statement, Type,
    UnaryOperator,
};

/// An expression of the function under construction.
pub(super) type Ex = Handle<Expression>;

/// A function and its stack of open blocks.
pub(super) struct Func {
    function: Function,
    blocks: Vec<Block>,
    /// Whether each open block has come to an end (a jump or a return).
    ended: Vec<bool>,
    /// First and last expression made since the last statement; not yet emitted.
    pending: Option<(Ex, Ex)>,
    literals: HashMap<(u8, u64), Ex>,
    globals: HashMap<Handle<GlobalVariable>, Ex>,
}

impl Func {
    /// A function that takes `arguments` and gives `result`.
    pub(super) fn new(name: &str, arguments: &[Handle<Type>], result: Option<Handle<Type>>) -> Self {
        let argument = |ty: &Handle<Type>| FunctionArgument { name: None, ty: *ty, binding: None };
        let function = Function {
            name: Some(name.into()),
            arguments: arguments.iter().map(argument).collect(),
            result: result.map(|ty| FunctionResult { ty, binding: None }),
            ..Function::default()
        };
        Func {
            function,
            blocks: vec![Block::new()],
            ended: vec![false],
            pending: None,
            literals: HashMap::new(),
            globals: HashMap::new(),
        }
    }

    /// Adds an argument that the host gives.
    pub(super) fn builtin(&mut self, ty: Handle<Type>, builtin: naga::BuiltIn) -> Ex {
        let binding = Some(naga::Binding::BuiltIn(builtin));
        self.function.arguments.push(FunctionArgument { name: None, ty, binding });
        self.arg(self.function.arguments.len() as u32 - 1)
    }

    /// The finished function.
    pub(super) fn finish(mut self) -> Function {
        self.flush();
        self.function.body = self.blocks.pop().unwrap_or_default();
        self.function
    }

    /// Whether nothing that follows in the innermost block would run.
    pub(super) fn ended(&self) -> bool {
        self.ended.last() == Some(&true)
    }

    fn flush(&mut self) {
        let pending = self.pending.take();
        if self.ended() {
            return;
        }
        if let (Some((first, last)), Some(block)) = (pending, self.blocks.last_mut()) {
            block.push(Statement::Emit(Range::new_from_bounds(first, last)), Span::UNDEFINED);
        }
    }

    /// Appends a statement.
    pub(super) fn push(&mut self, statement: Statement) {
        self.flush();
        if self.ended() {
            return;
        }
        let ends = matches!(statement, Statement::Break | Statement::Continue | Statement::Return { .. });
        if let (Some(block), Some(ended)) = (self.blocks.last_mut(), self.ended.last_mut()) {
            block.push(statement, Span::UNDEFINED);
            *ended |= ends;
        }
    }

    /// Appends an expression that is evaluated here.
    pub(super) fn value(&mut self, expression: Expression) -> Ex {
        let made = self.function.expressions.append(expression, Span::UNDEFINED);
        self.pending = Some((self.pending.map_or(made, |(first, _)| first), made));
        made
    }

    /// Appends an expression that naga does not evaluate at a place.
    fn placeless(&mut self, expression: Expression) -> Ex {
        self.flush();
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    fn literal(&mut self, kind: u8, bits: u64, literal: Literal) -> Ex {
        if let Some(known) = self.literals.get(&(kind, bits)) {
            return *known;
        }
        let made = self.placeless(Expression::Literal(literal));
        self.literals.insert((kind, bits), made);
        made
    }

    pub(super) fn u32(&mut self, bits: u32) -> Ex {
        self.literal(0, u64::from(bits), Literal::U32(bits))
    }

    /// A number that [`Func::settle`] tells later.
    pub(super) fn later(&mut self) -> Ex {
        self.placeless(Expression::Literal(Literal::U32(0)))
    }

    /// Says what a number of [`Func::later`] is.
    pub(super) fn settle(&mut self, number: Ex, bits: u32) {
        self.function.expressions[number] = Expression::Literal(Literal::U32(bits));
    }

    pub(super) fn u64(&mut self, bits: u64) -> Ex {
        self.literal(1, bits, Literal::U64(bits))
    }

    pub(super) fn bool(&mut self, b: bool) -> Ex {
        self.literal(2, u64::from(b), Literal::Bool(b))
    }

    pub(super) fn arg(&mut self, index: u32) -> Ex {
        self.placeless(Expression::FunctionArgument(index))
    }

    pub(super) fn global(&mut self, global: Handle<GlobalVariable>) -> Ex {
        if let Some(known) = self.globals.get(&global) {
            return *known;
        }
        let made = self.placeless(Expression::GlobalVariable(global));
        self.globals.insert(global, made);
        made
    }

    /// A new local variable, as a pointer; it starts as zero or with `init`, a literal.
    pub(super) fn local(&mut self, ty: Handle<Type>, init: Option<Ex>) -> Ex {
        let local =
            self.function.local_variables.append(LocalVariable { name: None, ty, init }, Span::UNDEFINED);
        self.placeless(Expression::LocalVariable(local))
    }

    pub(super) fn load(&mut self, pointer: Ex) -> Ex {
        self.value(Expression::Load { pointer })
    }

    pub(super) fn store(&mut self, pointer: Ex, value: Ex) {
        self.push(Statement::Store { pointer, value });
    }

    /// Pointer to element `index` of the array behind `base`.
    pub(super) fn at(&mut self, base: Ex, index: Ex) -> Ex {
        self.value(Expression::Access { base, index })
    }

    /// Member or component `index`.
    pub(super) fn field(&mut self, base: Ex, index: u32) -> Ex {
        self.value(Expression::AccessIndex { base, index })
    }

    /// Element `index` of the array in `global`.
    pub(super) fn element(&mut self, global: Handle<GlobalVariable>, index: Ex) -> Ex {
        let base = self.global(global);
        let pointer = self.at(base, index);
        self.load(pointer)
    }

    /// Sets element `index` of the array in `global`.
    pub(super) fn set_element(&mut self, global: Handle<GlobalVariable>, index: Ex, value: Ex) {
        let base = self.global(global);
        let pointer = self.at(base, index);
        self.store(pointer, value);
    }

    pub(super) fn bin(&mut self, op: BinaryOperator, left: Ex, right: Ex) -> Ex {
        self.value(Expression::Binary { op, left, right })
    }

    pub(super) fn un(&mut self, op: UnaryOperator, expr: Ex) -> Ex {
        self.value(Expression::Unary { op, expr })
    }

    pub(super) fn select(&mut self, condition: Ex, accept: Ex, reject: Ex) -> Ex {
        self.value(Expression::Select { condition, accept, reject })
    }

    /// A vector or a record of its components.
    pub(super) fn compose(&mut self, ty: Handle<Type>, components: Vec<Ex>) -> Ex {
        self.value(Expression::Compose { ty, components })
    }

    pub(super) fn math(&mut self, fun: MathFunction, args: &[Ex]) -> Ex {
        let arg = |i: usize| args.get(i).copied();
        let Some(first) = arg(0) else { return self.u32(0) };
        self.value(Expression::Math { fun, arg: first, arg1: arg(1), arg2: arg(2), arg3: arg(3) })
    }

    /// The same bits as another kind of number.
    pub(super) fn bits(&mut self, kind: ScalarKind, expr: Ex) -> Ex {
        self.value(Expression::As { expr, kind, convert: None })
    }

    /// The number converted to another kind of `width` bytes.
    pub(super) fn convert(&mut self, kind: ScalarKind, width: u8, expr: Ex) -> Ex {
        self.value(Expression::As { expr, kind, convert: Some(width) })
    }

    /// Opens a block; what follows goes there.
    pub(super) fn open(&mut self) {
        self.flush();
        self.blocks.push(Block::new());
        self.ended.push(false);
    }

    /// Closes the innermost block and gives it.
    pub(super) fn close(&mut self) -> Block {
        self.flush();
        self.ended.pop();
        self.blocks.pop().unwrap_or_default()
    }

    pub(super) fn if_else(&mut self, condition: Ex, accept: Block, reject: Block) {
        self.push(Statement::If { condition, accept, reject });
    }

    /// `if condition { then }`, the block made by `then`.
    pub(super) fn when(&mut self, condition: Ex, then: impl FnOnce(&mut Func)) {
        self.open();
        then(self);
        let accept = self.close();
        self.if_else(condition, accept, Block::new());
    }

    /// `loop { body }`, the block made by `body`.
    pub(super) fn forever(&mut self, body: impl FnOnce(&mut Func)) {
        self.open();
        body(self);
        let body = self.close();
        self.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    }

    pub(super) fn ret(&mut self, value: Option<Ex>) {
        self.push(Statement::Return { value });
    }

    pub(super) fn barrier(&mut self, barrier: Barrier) {
        self.push(Statement::ControlBarrier(barrier));
    }

    /// An atomic on element `index` of the array in `global`; gives the old value, of type `ty`.
    pub(super) fn atomic(
        &mut self,
        global: Handle<GlobalVariable>,
        index: Ex,
        fun: AtomicFunction,
        value: Ex,
        ty: Handle<Type>,
    ) -> Ex {
        let base = self.global(global);
        let pointer = self.at(base, index);
        let comparison = matches!(fun, AtomicFunction::Exchange { compare: Some(_) });
        let result = self.placeless(Expression::AtomicResult { ty, comparison });
        self.push(Statement::Atomic { pointer, fun, value, result: Some(result) });
        result
    }

    /// An atomic on element `index` of the array in `global` whose old value nobody wants.
    pub(super) fn atomic_only(
        &mut self,
        global: Handle<GlobalVariable>,
        index: Ex,
        fun: AtomicFunction,
        value: Ex,
    ) {
        let base = self.global(global);
        let pointer = self.at(base, index);
        self.push(Statement::Atomic { pointer, fun, value, result: None });
    }

    pub(super) fn call(&mut self, function: Handle<Function>, arguments: Vec<Ex>) {
        self.push(Statement::Call { function, arguments, result: None });
    }

    /// Calls a function and gives its result.
    pub(super) fn call_value(&mut self, function: Handle<Function>, arguments: Vec<Ex>) -> Ex {
        let result = self.placeless(Expression::CallResult(function));
        self.push(Statement::Call { function, arguments, result: Some(result) });
        result
    }

    pub(super) fn ballot(&mut self, predicate: Ex) -> Ex {
        let result = self.placeless(Expression::SubgroupBallotResult);
        self.push(Statement::SubgroupBallot { result, predicate: Some(predicate) });
        result
    }
}

/// Operators by short names.
macro_rules! operators {
    ($($name:ident $op:ident),*) => {
        impl Func {
            $(pub(super) fn $name(&mut self, left: Ex, right: Ex) -> Ex {
                self.bin(BinaryOperator::$op, left, right)
            })*
        }
    };
}

operators! {
    add Add, sub Subtract, mul Multiply, div Divide, rem Modulo, and And, or InclusiveOr, xor ExclusiveOr,
    shl ShiftLeft, shr ShiftRight, eq Equal, ne NotEqual, lt Less, le LessEqual, gt Greater, ge GreaterEqual,
    both LogicalAnd, either LogicalOr
}

impl Func {
    /// `value + c` of a `u32`.
    pub(super) fn add_u32(&mut self, value: Ex, c: u32) -> Ex {
        if c == 0 {
            return value;
        }
        let c = self.u32(c);
        self.add(value, c)
    }

    /// `value & c` of a `u32`.
    pub(super) fn and_u32(&mut self, value: Ex, c: u32) -> Ex {
        let c = self.u32(c);
        self.and(value, c)
    }

    /// `value << c`.
    pub(super) fn shl_u32(&mut self, value: Ex, c: u32) -> Ex {
        let c = self.u32(c);
        self.shl(value, c)
    }

    /// `value >> c`.
    pub(super) fn shr_u32(&mut self, value: Ex, c: u32) -> Ex {
        let c = self.u32(c);
        self.shr(value, c)
    }

    /// `value == c` of a `u32`.
    pub(super) fn is_u32(&mut self, value: Ex, c: u32) -> Ex {
        let c = self.u32(c);
        self.eq(value, c)
    }

    /// `value != c` of a `u32`.
    pub(super) fn isnt_u32(&mut self, value: Ex, c: u32) -> Ex {
        let c = self.u32(c);
        self.ne(value, c)
    }

    pub(super) fn not(&mut self, value: Ex) -> Ex {
        self.un(UnaryOperator::LogicalNot, value)
    }

    /// Low half of a `u64`.
    pub(super) fn low(&mut self, value: Ex) -> Ex {
        self.convert(ScalarKind::Uint, 4, value)
    }

    /// High half of a `u64`.
    pub(super) fn high(&mut self, value: Ex) -> Ex {
        let shifted = self.shr_u32(value, 32);
        self.low(shifted)
    }

    /// A `u32` as a `u64`.
    pub(super) fn widen(&mut self, value: Ex) -> Ex {
        self.convert(ScalarKind::Uint, 8, value)
    }

    /// A `u64` of two halves.
    pub(super) fn pack(&mut self, low: Ex, high: Ex) -> Ex {
        let (low, high) = (self.widen(low), self.widen(high));
        let high = self.shl_u32(high, 32);
        self.or(low, high)
    }
}
