//! From a [`Plan`] to Cranelift's form: one function a program, `fn(context, frame) -> status`, that runs one wave to its
//! next barrier or its end.

mod context;
mod half;
mod lanes;
mod memory;
mod ops;
mod quad;
mod rare;
mod step;
mod uniform;
mod wave;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, FuncRef, Function, InstBuilder, MemFlagsData, Type, Value as Ir, types,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use guestwave_translate::program::{Expr, Program, Stmt, Type as Ty, UnOp, Value, Var};

pub(crate) use context::{Context, MAX_UNITS, QuadContext, Site, SiteInfo, SiteKind, status};
use quad::{Quad, QuadLoop};

use crate::plan::{Home, Place, Plan, RESUME, Step};

/// What the host's code can do by itself.
#[derive(Clone, Copy)]
pub(crate) struct Host {
    /// Fused multiply-add in hardware.
    pub(crate) fma: bool,
    /// Vectors of 128 bits with all that four lanes at a time want.
    pub(crate) vectors: bool,
    /// An instruction that gives the signs of a vector's lanes as a number.
    pub(crate) signs: bool,
    /// Whether accesses are compiled in line; if not, helpers do all of them.
    pub(crate) in_line: bool,
    /// What Cranelift's front end wants to know of the host.
    pub(crate) frontend: TargetFrontendConfig,
}

/// Helpers, as the function under construction knows them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Helpers {
    /// Through which the helpers of accesses are called.
    pub(crate) gate: FuncRef,
    pub(crate) load: FuncRef,
    pub(crate) store: FuncRef,
    pub(crate) atomic: FuncRef,
    pub(crate) load_quad: FuncRef,
    pub(crate) store_quad: FuncRef,
    pub(crate) atomic_quad: FuncRef,
    pub(crate) fma_f32: FuncRef,
    pub(crate) fma_f64: FuncRef,
    pub(crate) exp2: FuncRef,
    pub(crate) log2: FuncRef,
    pub(crate) sin: FuncRef,
    pub(crate) cos: FuncRef,
}

impl Helpers {
    /// The helper that is the host's own approximation of `op`.
    fn fast(&self, op: UnOp) -> Option<FuncRef> {
        Some(match op {
            UnOp::FastExp2F32 => self.exp2,
            UnOp::FastLog2F32 => self.log2,
            UnOp::FastSinF32 => self.sin,
            UnOp::FastCosF32 => self.cos,
            _ => return None,
        })
    }
}

/// What is known of a lowered program besides its code.
#[derive(Debug, Default)]
pub(crate) struct Lowered {
    /// The program's accesses by site number.
    pub(crate) sites: Vec<SiteInfo>,
    /// Code and program counter of each trap.
    pub(crate) traps: Vec<(&'static str, u32)>,
}

/// Fills in `function`, whose signature is that of the module's page.
pub(crate) fn lower(
    plan: &Plan<'_>,
    host: Host,
    helpers: Helpers,
    function: &mut Function,
    contexts: &mut FunctionBuilderContext,
) -> Lowered {
    let mut lowering = Lowering::new(plan, host, helpers, FunctionBuilder::new(function, contexts));
    lowering.enter();
    let open = lowering.steps(&plan.steps);
    if open {
        lowering.leave(status::ENDED);
    }
    lowering.finish()
}

/// Where `Break` and `Continue` go.
#[derive(Clone, Copy)]
struct LoopTargets {
    after: Block,
    head: Block,
}

/// State of the lane loop under construction.
#[derive(Clone, Copy)]
struct Lane {
    /// The lane's number, 64 bits.
    index: Ir,
    /// Where a lane goes when it is done.
    end: Block,
    budget: Option<Budget>,
}

/// Loop iterations in a stretch: each lane starts with what the wave has, the wave goes on with what the last lane has left.
#[derive(Clone, Copy)]
struct Budget {
    /// What the lane has left.
    mine: Variable,
    /// The least that a lane had left.
    least: Variable,
    /// What the wave had.
    start: Ir,
}

struct Lowering<'a, 'f> {
    b: FunctionBuilder<'f>,
    plan: &'a Plan<'a>,
    host: Host,
    helpers: Helpers,
    context: Ir,
    frame: Ir,
    /// What each value is at the moment; constants and lane numbers are made anew instead.
    cells: Vec<Option<Ir>>,
    /// Each spilled value's type in the frame.
    spilled: Vec<Type>,
    /// What each value is defined as, if by a `Let`.
    definitions: Vec<Option<Expr>>,
    /// How often each value is taken, and how often only where that is rarely wanted.
    uses: Vec<u32>,
    cold_uses: Vec<u32>,
    /// Values that are computed only where they are rarely wanted.
    cold: Vec<bool>,
    vars: Vec<Option<Variable>>,
    /// Wave values in `cells`, which the end of a region makes stale: code behind a barrier is not reached through what
    /// defines them.
    in_region: Vec<Value>,
    /// Lane values in `cells`, which the end of the lane loop makes stale.
    in_lane: Vec<Value>,
    loops: Vec<LoopTargets>,
    lane: Option<Lane>,
    /// State of the loop over four lanes a step, beside `lane`.
    quad_loop: Option<QuadLoop>,
    /// What each lane value is in the four lanes.
    quads: Vec<Option<Quad>>,
    quad_vars: Vec<Option<[Variable; 2]>>,
    /// Whether the access under construction is done at all, if that is in question.
    guard: Option<Ir>,
    /// Uniform results that the lane loop adds up, and where.
    gathered: Vec<(Value, Variable)>,
    /// Uniform variables that the lanes of the stretch change, each for itself.
    changed: &'a [Var],
    /// Returns its parameter.
    stop: Block,
    resumes: Vec<Block>,
    lowered: Lowered,
}

/// Whether control reaches the point after what was lowered.
type Open = bool;

impl<'a, 'f> Lowering<'a, 'f> {
    fn new(plan: &'a Plan<'a>, host: Host, helpers: Helpers, mut b: FunctionBuilder<'f>) -> Self {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        b.seal_block(entry);
        let [context, frame] = [0, 1].map(|i| b.block_params(entry)[i]);
        let stop = b.create_block();
        b.append_block_param(stop, types::I32);
        b.set_cold_block(stop);
        let resumes = (0..plan.resumes).map(|_| b.create_block()).collect();
        let n = plan.program.values.len();
        let mut uses = vec![0; n];
        rare::count_uses(&plan.program.body, &mut uses);
        Lowering {
            b,
            plan,
            host,
            helpers,
            context,
            frame,
            cells: vec![None; n],
            spilled: vec![types::INVALID; n],
            definitions: definitions(plan.program),
            uses,
            cold_uses: vec![0; n],
            cold: vec![false; n],
            vars: vec![None; plan.program.vars.len()],
            in_region: Vec::new(),
            in_lane: Vec::new(),
            loops: Vec::new(),
            lane: None,
            quad_loop: None,
            quads: vec![None; n],
            quad_vars: vec![None; plan.program.vars.len()],
            guard: None,
            gathered: Vec::new(),
            changed: &[],
            stop,
            resumes,
            lowered: Lowered::default(),
        }
    }

    /// The way from the function's entry to where the wave goes on.
    fn enter(&mut self) {
        if self.resumes.is_empty() {
            return;
        }
        let start = self.b.create_block();
        let at = self.b.ins().load(types::I32, MemFlagsData::trusted(), self.frame, RESUME as i32);
        let mut switch = Switch::new();
        for (i, block) in (1..).zip(&self.resumes) {
            switch.set_entry(i, *block);
        }
        switch.emit(&mut self.b, at, start);
        self.to(start);
    }

    fn finish(mut self) -> Lowered {
        let stop = self.stop;
        self.to(stop);
        let status = self.b.block_params(stop)[0];
        self.b.ins().return_(&[status]);
        self.b.seal_all_blocks();
        self.b.finalize(self.host.frontend);
        self.lowered
    }

    /// Goes on in `block`, all of whose predecessors are known.
    fn to(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.b.seal_block(block);
    }

    fn jump(&mut self, block: Block) {
        self.b.ins().jump(block, &[]);
    }

    fn leave(&mut self, status: u32) {
        let status = self.c32(status);
        self.b.ins().return_(&[status]);
    }

    /// Ends the launch without effect if `refused`, else goes on.
    fn stop_if(&mut self, refused: Ir, status: u32) {
        let on = self.b.create_block();
        let status = self.c32(status);
        self.b.ins().brif(refused, self.stop, &[BlockArg::Value(status)], on, &[]);
        self.to(on);
    }

    fn trap(&mut self, code: &'static str, pc: u32) {
        let status = status::TRAP + self.lowered.traps.len() as u32;
        self.lowered.traps.push((code, pc));
        let status = self.c32(status);
        self.b.ins().jump(self.stop, &[BlockArg::Value(status)]);
    }

    fn steps(&mut self, steps: &'a [Step<'a>]) -> Open {
        steps.iter().all(|s| self.step(s))
    }

    fn step(&mut self, step: &'a Step<'a>) -> Open {
        match step {
            Step::Stretch(stretch) => self.stretch(stretch),
            Step::If { cond, then, otherwise } => {
                let cond = self.int(*cond);
                self.branch(cond, |l| l.steps(then), |l| l.steps(otherwise));
            }
            Step::Loop { body } => self.wave_loop(body),
            Step::Break => return self.away(|l| l.after),
            Step::Continue => return self.away(|l| l.head),
            Step::Return => {
                self.leave(status::ENDED);
                return false;
            }
            Step::Trap { code, pc } => {
                self.trap(code, *pc);
                return false;
            }
            Step::Barrier { resume } => self.barrier(*resume),
            Step::Region => {
                for value in self.in_region.drain(..) {
                    self.cells[value.0 as usize] = None;
                }
            }
        }
        true
    }

    /// An `If` of either kind. Where neither side comes to its end, what follows is unreachable but well formed.
    fn branch(
        &mut self,
        cond: Ir,
        then: impl FnOnce(&mut Self) -> Open,
        otherwise: impl FnOnce(&mut Self) -> Open,
    ) {
        let [yes, no, join] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(cond, yes, &[], no, &[]);
        self.to(yes);
        if then(self) {
            self.jump(join);
        }
        self.to(no);
        if otherwise(self) {
            self.jump(join);
        }
        self.to(join);
    }

    fn wave_loop(&mut self, body: &'a [Step<'a>]) {
        let head = self.b.create_block();
        let after = self.b.create_block();
        self.jump(head);
        self.b.switch_to_block(head);
        self.spend_wave_budget();
        self.loops.push(LoopTargets { after, head });
        if self.steps(body) {
            self.jump(head);
        }
        self.loops.pop();
        self.b.seal_block(head);
        self.to(after);
    }

    fn spend_wave_budget(&mut self) {
        let left = self.context_field(types::I64, std::mem::offset_of!(Context, budget));
        let none = self.b.ins().icmp_imm_u(IntCC::Equal, left, 0);
        self.stop_if(none, status::BUDGET);
        let left = self.b.ins().iadd_imm_s(left, -1);
        self.set_context_field(left, std::mem::offset_of!(Context, budget));
    }

    /// Goes to a place of the innermost loop.
    fn away(&mut self, place: impl FnOnce(&LoopTargets) -> Block) -> Open {
        if let Some(target) = self.loops.last().map(place) {
            self.jump(target);
        }
        false
    }

    fn barrier(&mut self, resume: u32) {
        let number = self.c32(resume);
        self.b.ins().store(MemFlagsData::trusted(), number, self.frame, RESUME as i32);
        self.leave(status::BARRIER);
        let block = self.resumes[resume as usize - 1];
        self.to(block);
    }

    fn context_field(&mut self, ty: Type, offset: usize) -> Ir {
        self.b.ins().load(ty, MemFlagsData::trusted(), self.context, offset as i32)
    }

    fn set_context_field(&mut self, value: Ir, offset: usize) {
        self.b.ins().store(MemFlagsData::trusted(), value, self.context, offset as i32);
    }

    fn call(&mut self, helper: FuncRef, arguments: &[Ir]) -> Ir {
        let call = self.b.ins().call(helper, arguments);
        self.b.inst_results(call)[0]
    }

    /// What a value is here.
    fn cell(&mut self, value: Value) -> Ir {
        let at = value.0 as usize;
        match (self.plan.homes[at], self.lane) {
            (Home::Constant, _) => {
                let ty = int_type(self.plan.program.info(value).ty);
                let bits = self.constant(value).unwrap_or(0);
                self.b.ins().iconst(ty, bits as i64)
            }
            (Home::Index, Some(lane)) => self.b.ins().ireduce(types::I32, lane.index),
            _ => match self.cells[at] {
                Some(v) => v,
                None => self.kept_value(value),
            },
        }
    }

    /// The bits of a constant.
    fn constant(&self, value: Value) -> Option<u64> {
        match self.definitions[value.0 as usize]? {
            Expr::ConstBool(b) => Some(u64::from(b)),
            Expr::Const32(c) => Some(u64::from(c)),
            Expr::Const64(c) => Some(c),
            _ => None,
        }
    }

    /// Whether a value that the planner did not foresee here is at hand all the same.
    fn at_hand(&self, value: Value) -> bool {
        let at = value.0 as usize;
        match self.plan.homes[at] {
            Home::Constant => true,
            Home::Index => self.lane.is_some(),
            Home::Wave => self.cells[at].is_some(),
            Home::Lane => self.cells[at].is_some() || self.quads[at].is_some(),
        }
    }

    /// A wave value from before a barrier.
    fn kept_value(&mut self, value: Value) -> Ir {
        let ty = int_type(self.plan.program.info(value).ty);
        match self.plan.frame.value(value) {
            Some(place) => self.b.ins().load(ty, MemFlagsData::trusted(), self.frame, offset(place)),
            // Never so in a verified program: each value is defined before its uses.
            None => self.b.ins().iconst(ty, 0),
        }
    }

    /// Notes a wave value.
    fn define_in_wave(&mut self, value: Value, v: Ir) {
        let at = value.0 as usize;
        self.cells[at] = Some(v);
        self.in_region.push(value);
        if self.plan.kept[at]
            && let Some(place) = self.plan.frame.value(value)
        {
            let v = self.as_int(v);
            self.b.ins().store(MemFlagsData::trusted(), v, self.frame, offset(place));
        }
    }
}

fn offset(place: Place) -> i32 {
    place.0 as i32
}

/// The integer type that holds a value of type `ty`.
fn int_type(ty: Ty) -> Type {
    match ty {
        Ty::Bool => types::I8,
        Ty::B32 => types::I32,
        Ty::B64 => types::I64,
    }
}

/// What each value is defined as, if by a `Let`.
fn definitions(program: &Program) -> Vec<Option<Expr>> {
    let mut found = vec![None; program.values.len()];
    let mut note = |stmt: &Stmt| {
        if let Stmt::Let(v, expr) = stmt {
            found[v.0 as usize] = Some(*expr);
        }
    };
    program.body.iter().for_each(|stmt| stmt.each(&mut note));
    found
}
