//! The state of a lowering: values, variables, what the invocation is, and the module around.

use std::collections::HashMap;

use naga::{EntryPoint, GlobalVariable, Handle, Module, ShaderStage};

use super::ahead::Ahead;
use super::course::Exit;
use super::events::Events;
use super::flow::Loops;
use super::func::{Ex, Func};
use super::helpers::{self, Helper, Helpers};
use super::hoist::Hoists;
use super::layout::{self, header};
use super::parts::{self, Buffers, Types};
use super::phases::{self, Tally};
use super::plan::Plan;
use super::shape::Shape;
use super::spill::Spill;
use super::wave::Exchange;
use super::{ENTRY, Facts, HostCaps, Lowered, Options, Site, Unsupported, ahead, codes, group, int, memory};
use crate::backend::Fidelity;
use crate::program::{Access, Builtin, Expr, Program, Rate, Type, Value, Var};

/// Most parameter words and slot words that a launch block holds.
const BLOCK_WORDS: u32 = layout::LAUNCH_BYTES / 4;

/// Slots whose records are loaded at the start.
const MOST_SLOTS: usize = 16;

/// Something of each lane that an invocation holds.
pub(super) type PerLane<T> = [T; 2];

/// A lowering under way.
pub(super) struct Lower<'p> {
    pub(super) program: &'p Program,
    pub(super) caps: &'p HostCaps,
    pub(super) options: Options,
    pub(super) plan: Plan,
    /// Loads that the host makes.
    hoists: Hoists,
    pub(super) shape: Shape,
    pub(super) module: Module,
    pub(super) types: Types,
    pub(super) buffers: Buffers,
    pub(super) helpers: Helpers,
    pub(super) f: Func,
    /// The lane that is being emitted for, of those that an invocation holds side by side.
    pub(super) k: usize,
    /// Whether statements run in each lane (or once a wave).
    pub(super) inside: bool,
    /// What values are, in each lane held.
    pub(super) values: Vec<PerLane<Option<Ex>>>,
    /// Pointers to variables, in each lane held.
    pub(super) vars: Vec<PerLane<Option<Ex>>>,
    /// Values to be kept from the compiler.
    opaque: Vec<bool>,
    pub(super) exprs: HashMap<Value, Expr>,
    pub(super) at: Place,
    pub(super) counters: Counters,
    pub(super) spill: Spill,
    pub(super) exchange: Exchange,
    pub(super) serial_array: Option<Handle<GlobalVariable>>,
    pub(super) loops: Loops,
    /// What was checked before the loop that is being emitted.
    pub(super) ahead: Option<Ahead>,
    /// The end of a loop that its iterations which are being emitted do not come to.
    pub(super) passed: Option<Exit>,
    pub(super) sites: Vec<Site>,
    pub(super) events: Option<Events>,
    /// Pointers to whether a lane has not ended, where that is kept.
    pub(super) alive: Option<PerLane<Ex>>,
    /// Pointer to whether the wave has not ended, where that is kept.
    pub(super) wave_alive: Option<Ex>,
    /// Of a program with phases.
    pub(super) tally: Option<Tally>,
    /// The words by which lanes tell each other things.
    pub(super) exchanged: Option<Handle<GlobalVariable>>,
    /// Words of the launch block that have been loaded for the whole invocation.
    words: HashMap<u32, Ex>,
    trouble: Option<String>,
}

/// Where the invocation stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Lane of the wave, for each lane held. In the whole-wave holding, set in each loop over lanes.
    pub(super) lane: PerLane<Ex>,
    /// Wave in the host workgroup.
    pub(super) local_wave: Ex,
    /// Wave in the dispatch.
    pub(super) wave: Ex,
    /// Host workgroup, counted over the whole launch.
    pub(super) workgroup: Ex,
    /// Invocation in its wave.
    pub(super) invocation: Ex,
    /// The three other builtins.
    pub(super) wave_in_group: Ex,
    pub(super) group: Ex,
}

/// Pointers to counted iterations.
#[derive(Clone, Copy)]
pub(super) struct Counters {
    /// Of loops that the whole wave runs.
    pub(super) wave: Ex,
    /// Of loops that lanes run by themselves.
    pub(super) lane: PerLane<Ex>,
    /// Of loops that the host begins and leaves at once, in iterations of the wave, where nobody takes the branch that they stand in.
    pub(super) idle: Ex,
    /// Those of all kinds, as the host counts them, before the dispatch that runs.
    pub(super) before: Ex,
}

/// Makes the module.
pub(super) fn lower(program: &Program, caps: &HostCaps, options: &Options) -> Result<Lowered, Unsupported> {
    let program = &*ahead::prepared(program, caps, options);
    let hoists = if options.hoisted { Hoists::new(program) } else { Hoists::default() };
    let plan = Plan::new(program, options.holding, options.slots_apart, &hoists);
    let shares = options.ragged || options.waves_per_group > 1 && (plan.lds || plan.barriers);
    // Waves that have nothing in common have no LDS in common either.
    let alone = !(plan.meets || options.resumes || plan.lds);
    let shape = Shape::new(program, caps, options, alone, shares)?;
    check(program, caps, &plan, &shape, &hoists)?;
    let parting =
        (shape.waves > 1 && plan.meets).then(|| group::parting(program, &plan, caps, &shape)).flatten();
    if parting.is_none() && !options.resumes {
        return Lower::new(program, caps, *options, (plan, hoists), shape).module();
    }
    let from = parting.as_ref().map_or(0, |p| p.at);
    // Invocations of a wave that meet by themselves need no words for it.
    let by_themselves = shape.whole || caps.subgroup == Some(shape.invocations) && !options.resumes;
    let (program, plan) = if by_themselves {
        phases::with_phases(program, &plan, from, options, &hoists)
    } else if plan.lane_returns {
        return Err(parting.map_or_else(leaves_early, group::Parting::refusal));
    } else {
        phases::with_words(program, &plan, shape.waves, options)
    };
    match group::parting(&program, &plan, caps, &shape) {
        Some(parting) if shape.waves > 1 => Err(parting.refusal()),
        _ => Lower::new(&program, caps, *options, (plan, hoists), shape).module(),
    }
}

/// The refusal of a program that cannot be held back.
fn leaves_early() -> Unsupported {
    Unsupported {
        code: codes::FLOW,
        reason: "a lane ends before its wave in a program that is held back".into(),
    }
}

fn check(
    program: &Program,
    caps: &HostCaps,
    plan: &Plan,
    shape: &Shape,
    hoists: &Hoists,
) -> Result<(), Unsupported> {
    let words = layout::hoisted_start(program.params.len(), program.slots.len()) + hoists.words();
    if words > BLOCK_WORDS {
        let reason = format!("its parameters and slots take {words} words of {BLOCK_WORDS}");
        return Err(Unsupported { code: codes::PARAMS, reason });
    }
    if plan.local_atomics64 && shape.waves > 1 {
        let reason = "waves of a workgroup have 64-bit atomics on LDS, which modules do in two halves".into();
        return Err(Unsupported { code: codes::ATOMICS64, reason });
    }
    if plan.atomics64 && !caps.atomics64 {
        let reason = "the program has 64-bit atomics and the device has none".into();
        return Err(Unsupported { code: codes::ATOMICS64, reason });
    }
    Ok(())
}

impl<'p> Lower<'p> {
    fn new(
        program: &'p Program,
        caps: &'p HostCaps,
        options: Options,
        (plan, hoists): (Plan, Hoists),
        shape: Shape,
    ) -> Self {
        let mut module = Module::default();
        let types = Types::new(&mut module);
        let buffers = Buffers::new(&mut module, &types, plan.atomics64, memory::settled(program, &options));
        let helpers = Helpers::new(&mut module, types, buffers, program, caps);
        let exchanged = (program.exchange_bytes != 0)
            .then(|| parts::shared(&mut module, "told", types.atomic, program.exchange_bytes / 4));
        let mut f = Func::new(ENTRY, &[], None);
        let mut exprs = HashMap::new();
        group::definitions(&program.body, &mut exprs);
        let zero = f.u32(0);
        let place = Place {
            lane: [zero; 2],
            local_wave: zero,
            wave: zero,
            workgroup: zero,
            invocation: zero,
            wave_in_group: zero,
            group: zero,
        };
        let counters = Counters {
            wave: f.local(types.u32, Some(zero)),
            lane: [0, 1].map(|_| f.local(types.u32, Some(zero))),
            idle: f.local(types.u32, Some(zero)),
            before: f.local(types.u32, Some(zero)),
        };
        Lower {
            program,
            caps,
            options,
            spill: Spill::new(program, &shape, &options),
            exchange: Exchange::default(),
            serial_array: None,
            loops: Loops::default(),
            ahead: None,
            passed: None,
            plan,
            hoists,
            shape,
            module,
            types,
            buffers,
            helpers,
            f,
            k: 0,
            inside: false,
            values: vec![[None; 2]; program.values.len()],
            vars: vec![[None; 2]; program.vars.len()],
            opaque: super::opaque::floats(program),
            exprs,
            at: place,
            counters,
            sites: Vec::new(),
            events: None,
            alive: None,
            wave_alive: None,
            tally: None,
            exchanged,
            words: HashMap::new(),
            trouble: None,
        }
    }

    fn module(mut self) -> Result<Lowered, Unsupported> {
        self.prologue();
        self.body();
        self.finish()
    }

    /// Notes that the lowering went wrong, which is a fault of its own; gives something to go on with.
    pub(super) fn trouble(&mut self, what: String) -> Ex {
        self.trouble.get_or_insert(what);
        self.f.u32(0)
    }

    /// Whether the host's operation may be used: it is the right one, or exactness is not asked for.
    pub(super) fn native(&self, right: bool) -> bool {
        right || self.options.fidelity == Fidelity::Fast
    }

    /// The helper function, made at its first use.
    pub(super) fn helper(&mut self, helper: Helper) -> Handle<naga::Function> {
        self.helpers.get(&mut self.module, helper)
    }

    /// Word `index` of the launch block.
    pub(super) fn launch_word(&mut self, index: u32) -> Ex {
        match self.words.get(&index) {
            Some(known) => *known,
            None => helpers::launch_word(&mut self.f, &self.buffers, index),
        }
    }

    /// Loads words that statements ask for again and again, before any of them. A GPU has them at hand anyway.
    fn load_words(&mut self) {
        if !self.caps.runs_all_branches {
            return;
        }
        let params = self.program.params.len();
        let slots = self.program.slots.len().min(MOST_SLOTS);
        let (first, end) = (layout::slot_start(params, 0), layout::slot_start(params, slots));
        let params = header::PARAMS..header::PARAMS + params as u32;
        for index in params.chain(first..end).chain([header::LAUNCH]) {
            let word = self.launch_word(index);
            self.words.insert(index, word);
        }
        // Mesa compiles the words of a uniform buffer in that loops and branches compare with.
        let first = self.f.u32(layout::TABLES_ZERO);
        let zero = self.f.element(self.buffers.tables, first);
        self.words.insert(header::ZERO, zero);
    }

    /// Loads what a statement loads, from the launch block where the host has done so.
    pub(super) fn load_stmt(&mut self, dst: &[Value], access: &'p Access) {
        let start = layout::hoisted_start(self.program.params.len(), self.program.slots.len());
        let hoisted: Option<Vec<u32>> = dst.iter().map(|v| self.hoists.place(*v)).collect();
        let loaded = match hoisted {
            Some(places) => places.into_iter().map(|place| self.launch_word(start + place)).collect(),
            None => {
                let reach = self.reach(access, dst.len());
                self.load(&reach)
            }
        };
        dst.iter().zip(loaded).for_each(|(v, what)| self.set(*v, what));
    }

    pub(super) fn prologue(&mut self) {
        let (u32, vec3) = (self.types.u32, self.types.vec3);
        let local = self.f.builtin(u32, naga::BuiltIn::LocalInvocationIndex);
        let workgroup = self.f.builtin(vec3, naga::BuiltIn::WorkGroupId);
        self.load_words();
        self.stop_if_none(local);
        self.stop_if_earlier_fault();
        self.locate(local, workgroup);
        self.make_events();
        self.make_vars();
        self.make_alive();
    }

    /// Mesa's software Vulkan runs invocations side by side, and where a workgroup has none left it takes the rest through loops all
    /// the same: they store nothing and load 0, so that they might not find the end before it ends loops by itself.
    fn stop_if_none(&mut self, local: Ex) {
        if self.shape.whole && self.caps.loops.is_some() {
            let invocations = self.launch_word(header::INVOCATIONS);
            let none = self.f.ge(local, invocations);
            self.f.when(none, |f| f.ret(None));
        }
    }

    /// A launch after one that went wrong does nothing. The first of a batch need not wait for the word that says so.
    fn stop_if_earlier_fault(&mut self) {
        let (stop, launch) = (self.f.u32(layout::status::STOP), self.launch_word(header::LAUNCH));
        let (follows, status) = (self.f.isnt_u32(launch, 0), self.buffers.status);
        self.f.when(follows, |f| {
            let stopped = f.element(status, stop);
            let earlier = f.lt(stopped, launch);
            f.when(earlier, |f| f.ret(None));
        });
    }

    /// Works out which wave and lanes this is.
    fn locate(&mut self, local: Ex, workgroup: Ex) {
        let [row, first, groups] = [header::ROW, header::FIRST, header::GROUPS].map(|w| self.launch_word(w));
        let f = &mut self.f;
        let (x, y) = (f.field(workgroup, 0), f.field(workgroup, 1));
        let above = f.mul(y, row);
        let here = f.add(above, x);
        let number = f.add(first, here);
        let outside = f.ge(number, groups);
        f.when(outside, |f| f.ret(None));
        self.at.workgroup = number;
        let invocations = f.u32(self.shape.invocations);
        self.at.local_wave = f.div(local, invocations);
        self.at.invocation = f.rem(local, invocations);
        let second = f.add_u32(self.at.invocation, self.shape.stride());
        self.at.lane = [self.at.invocation, second];
        if self.shape.grouped { self.locate_in_group(number) } else { self.locate_alone(number) }
    }

    /// A host workgroup holds some waves that have nothing in common.
    fn locate_alone(&mut self, number: Ex) {
        let [waves, per_group] = [header::WAVES, header::WAVES_PER_GROUP].map(|w| self.launch_word(w));
        let f = &mut self.f;
        let each = f.u32(self.shape.waves);
        let first = f.mul(number, each);
        self.at.wave = f.add(first, self.at.local_wave);
        let outside = f.ge(self.at.wave, waves);
        f.when(outside, |f| f.ret(None));
        match self.options.workgroups.map(|g| g.waves).filter(|w| w.is_power_of_two()) {
            Some(waves) => {
                self.at.group = self.f.shr_u32(self.at.wave, waves.trailing_zeros());
                self.at.wave_in_group = self.f.and_u32(self.at.wave, waves - 1);
            }
            None => {
                let pair = [self.at.wave, per_group];
                self.at.group = int::div_u(self, pair);
                self.at.wave_in_group = int::rem_u(self, pair);
            }
        }
    }

    /// A host workgroup is a guest workgroup.
    fn locate_in_group(&mut self, number: Ex) {
        let words = [header::WAVES_PER_GROUP, header::GROUP_TABLE, header::WAVES];
        let [per_group, table, waves] = words.map(|w| self.launch_word(w));
        let f = &mut self.f;
        let (first, count) = (f.local(self.types.u32, None), f.local(self.types.u32, None));
        let even = f.is_u32(table, layout::NONE);
        f.open();
        let start = f.mul(number, per_group);
        f.store(first, start);
        let left = f.sub(waves, start);
        let mine = f.math(naga::MathFunction::Min, &[left, per_group]);
        f.store(count, mine);
        let accept = f.close();
        f.open();
        let at = f.add(table, number);
        let start = f.element(self.buffers.tables, at);
        f.store(first, start);
        let next = f.add_u32(at, 1);
        let end = f.element(self.buffers.tables, next);
        let mine = f.sub(end, start);
        f.store(count, mine);
        let reject = f.close();
        f.if_else(even, accept, reject);
        let (first, count) = (f.load(first), f.load(count));
        self.at.group = number;
        self.at.wave_in_group = self.at.local_wave;
        self.at.wave = f.add(first, self.at.local_wave);
        let present = f.lt(self.at.local_wave, count);
        if self.plan.meets && (self.options.ragged || self.plan.returns) {
            // Waves that are not there, or have ended, still meet the others.
            let alive = f.local(self.types.bool, None);
            f.store(alive, present);
            self.wave_alive = Some(alive);
        } else if self.options.ragged {
            let absent = f.not(present);
            f.when(absent, |f| f.ret(None));
        }
    }

    fn make_vars(&mut self) {
        for (i, var) in self.program.vars.iter().enumerate() {
            let held = if var.rate == Rate::Varying { self.shape.components } else { 1 };
            for k in 0..held {
                let init = self.zero(var.ty);
                let ty = self.ty(var.ty);
                let pointer = self.f.local(ty, Some(init));
                self.vars[i][k] = Some(pointer);
                if var.rate == Rate::Uniform {
                    self.vars[i][1] = Some(pointer);
                }
            }
        }
    }

    /// Lanes that end before their wave are remembered, except where the invocation can end instead.
    fn make_alive(&mut self) {
        if self.wave_alive.is_none() && self.program.body.iter().any(phases::is_phase_loop) {
            let yes = self.f.bool(true);
            self.wave_alive = Some(self.f.local(self.types.bool, Some(yes)));
        }
        let ends = self.shape.components == 1 && !self.shape.whole && self.wave_alive.is_none();
        if self.plan.lane_returns && !ends {
            let yes = self.f.bool(true);
            self.alive = Some([0, 1].map(|_| self.f.local(self.types.bool, Some(yes))));
        }
        if self.plan.lane_returns && self.shape.whole && self.wave_alive.is_none() {
            let yes = self.f.bool(true);
            self.wave_alive = Some(self.f.local(self.types.bool, Some(yes)));
        }
    }

    pub(super) fn ty(&self, ty: Type) -> Handle<naga::Type> {
        match ty {
            Type::Bool => self.types.bool,
            Type::B32 => self.types.u32,
            Type::B64 => self.types.u64,
        }
    }

    pub(super) fn zero(&mut self, ty: Type) -> Ex {
        match ty {
            Type::Bool => self.f.bool(false),
            Type::B32 => self.f.u32(0),
            Type::B64 => self.f.u64(0),
        }
    }

    /// What `value` is in the lane that is being emitted for.
    pub(super) fn get(&mut self, value: Value) -> Ex {
        match self.values.get(value.0 as usize).and_then(|v| v[self.k]) {
            Some(known) => known,
            None => self.trouble(format!("{value:?} is not at hand")),
        }
    }

    pub(super) fn set(&mut self, value: Value, what: Ex) {
        let uniform = self.program.info(value).rate == Rate::Uniform && !self.inside;
        if let Some(slot) = self.values.get_mut(value.0 as usize) {
            if uniform {
                *slot = [Some(what); 2];
            } else {
                slot[self.k] = Some(what);
            }
        }
        self.spill_value(value, what);
    }

    pub(super) fn var_pointer(&mut self, var: Var) -> Ex {
        match self.vars.get(var.0 as usize).and_then(|v| v[self.k]) {
            Some(pointer) => pointer,
            None => self.trouble(format!("{var:?} is unknown")),
        }
    }

    /// Emits an expression that is no wave operation.
    pub(super) fn expr(&mut self, value: Value, expr: &Expr) -> Ex {
        let what = self.plain_expr(value, expr);
        if self.hidden(value) { self.hide(what, self.program.info(value).ty) } else { what }
    }

    /// What the compiler cannot know to be `what`.
    pub(super) fn hide(&mut self, what: Ex, ty: Type) -> Ex {
        let zero = self.launch_word(header::ZERO);
        match ty {
            Type::Bool => what,
            Type::B32 => self.f.xor(what, zero),
            Type::B64 => {
                let zero = self.f.widen(zero);
                self.f.xor(what, zero)
            }
        }
    }

    fn plain_expr(&mut self, value: Value, expr: &Expr) -> Ex {
        match *expr {
            Expr::ConstBool(b) => self.f.bool(b),
            Expr::Const32(c) => self.f.u32(c),
            Expr::Const64(c) => self.f.u64(c),
            Expr::Get(var) => {
                let pointer = self.var_pointer(var);
                self.f.load(pointer)
            }
            Expr::Param(index) => self.launch_word(header::PARAMS + u32::from(index)),
            Expr::Builtin(Builtin::Lane) => self.at.lane[self.k],
            Expr::Builtin(Builtin::Wave) => self.at.wave,
            Expr::Builtin(Builtin::WaveInGroup) => self.at.wave_in_group,
            Expr::Builtin(Builtin::Group) => self.at.group,
            Expr::Un(op, a) => super::ops::un(self, op, a),
            Expr::Bin(op, a, b) => super::ops::bin(self, op, a, b),
            Expr::Tri(op, a, b, c) => super::ops::tri(self, op, [a, b, c]),
            Expr::Wave(_) => self.trouble(format!("{value:?} is a wave operation of one lane")),
        }
    }

    /// Whether a value is kept from the compiler.
    fn hidden(&self, value: Value) -> bool {
        self.options.fidelity == Fidelity::Exact && self.opaque.get(value.0 as usize) == Some(&true)
    }

    fn finish(mut self) -> Result<Lowered, Unsupported> {
        self.f.ret(None);
        let shared_bytes = parts::shared_bytes(&self.module);
        if let Some(reason) = self.trouble {
            return Err(Unsupported { code: codes::INTERNAL, reason });
        }
        if shared_bytes > self.caps.workgroup_bytes {
            let has = self.caps.workgroup_bytes;
            let reason = format!("it takes {shared_bytes} bytes of workgroup memory and the host has {has}");
            return Err(Unsupported { code: codes::SHARED, reason });
        }
        let mut module = self.module;
        module.entry_points.push(EntryPoint {
            name: ENTRY.into(),
            stage: ShaderStage::Compute,
            early_depth_test: None,
            workgroup_size: [self.shape.workgroup(), 1, 1],
            workgroup_size_overrides: None,
            function: self.f.finish(),
            mesh_info: None,
            task_payload: None,
            incoming_ray_payload: None,
        });
        let facts = Facts {
            waves_per_workgroup: self.shape.waves,
            invocations: self.shape.workgroup(),
            grouped: self.shape.grouped,
            spill_words: self.spill.storage_words(),
            sites: self.sites,
            slots_apart: self.plan.slots_apart,
            atomics64: self.plan.atomics64,
            shared_bytes,
            zeroed: self.plan.lds || self.tally.is_some() || self.exchanged.is_some(),
        };
        Ok(Lowered { module, facts })
    }
}
