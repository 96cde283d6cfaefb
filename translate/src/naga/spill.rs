//! Where the whole-wave holding keeps what lanes must not forget between stretches, and where scratch memory lies.
//!
//! A kept word has an element a lane. Words are in workgroup memory if they fit, else in the spill buffer, in front of scratch. Behind
//! scratch is what waves that are held back leave ([`hold`]).

use std::collections::{HashMap, HashSet};

use naga::{GlobalVariable, Handle};

use super::func::Ex;
use super::lower::Lower;
use super::phases::hold;
use super::segment::{Piece, Stretch};
use super::shape::Shape;
use super::{HostCaps, Options};
use crate::program::{Expr, Program, Rate, Stmt, Type, Value, Var, WaveOp};

/// What is kept and where.
#[derive(Default)]
pub(super) struct Spill {
    values: HashMap<Value, u32>,
    /// Values that would rather be computed anew than kept.
    cheap: HashSet<Value>,
    /// Those that other stretches than their own take.
    anew: HashSet<Value>,
    vars: HashMap<Var, u32>,
    /// Whether a lane has not ended (0 means it has not).
    ended: Option<u32>,
    words: u32,
    scratch_words: u32,
    /// Words a lane of a wave that is held back.
    held_words: u32,
    lanes: u32,
    shared: Option<Handle<GlobalVariable>>,
}

/// What a stretch takes from others and leaves to them.
#[derive(Default)]
pub(super) struct Uses {
    /// Kept values.
    values: Vec<Value>,
    /// Values that are computed anew.
    anew: Vec<Value>,
    /// Kept variables that it reads, or may leave as they were.
    reads: Vec<Var>,
    /// Kept variables that it may set.
    sets: Vec<Var>,
}

/// What statements define at their own level, use, and read of other lanes.
#[derive(Default)]
struct Seen {
    defined: HashSet<Value>,
    used: HashSet<Value>,
    elsewhere: HashSet<Value>,
    /// Variables whose values from before count: read before they are set, or set only perhaps.
    reads: HashSet<Var>,
    sets: HashSet<Var>,
    /// Variables that are set for certain.
    settled: HashSet<Var>,
}

impl Spill {
    pub(super) fn new(program: &Program, shape: &Shape, options: &Options) -> Self {
        let held_words = if options.resumes { hold::words(program, shape) } else { 0 };
        let scratch_words = program.scratch_bytes.div_ceil(4);
        Spill { scratch_words, held_words, lanes: shape.lanes, ..Spill::default() }
    }

    /// Words of the spill buffer that a wave needs.
    pub(super) fn storage_words(&self) -> u32 {
        (self.held_start() + self.held_words) * self.lanes
    }

    /// Words a lane of what it leaves.
    pub(super) fn held_words(&self) -> u32 {
        self.held_words
    }

    /// First word of what a wave that is held back leaves, in words of all lanes.
    pub(super) fn held_start(&self) -> u32 {
        self.scratch_start() + self.scratch_words
    }

    /// First word of scratch, in words of all lanes.
    pub(super) fn scratch_start(&self) -> u32 {
        if self.shared.is_some() { 0 } else { self.words }
    }

    /// Gives a place to all that lives from one stretch to another.
    fn assign(&mut self, program: &Program, pieces: &[Piece<'_>], ended: bool) {
        let mut defined_in = HashMap::new();
        let mut stretches = Vec::new();
        collect(pieces, &mut stretches, &mut |op, value| {
            // A wave operation of the wave reads any lane's operands and leaves every lane's result.
            op.operands(|v| self.keep(program, v));
            self.keep(program, value);
        });
        let seen: Vec<Seen> = stretches.iter().map(|s| look(s)).collect();
        for (i, s) in seen.iter().enumerate() {
            defined_in.extend(s.defined.iter().map(|v| (*v, i)));
        }
        for (i, s) in seen.iter().enumerate() {
            let foreign = s.used.iter().copied().filter(|v| defined_in.get(v).is_some_and(|d| *d != i));
            let (cheap, foreign): (Vec<Value>, Vec<Value>) = foreign.partition(|v| self.cheap.contains(v));
            self.anew.extend(cheap);
            let mut kept: Vec<Value> = foreign.into_iter().chain(s.elsewhere.iter().copied()).collect();
            kept.sort_unstable();
            kept.into_iter().for_each(|v| self.keep(program, v));
            sorted(&s.reads, |_| true).into_iter().for_each(|v| self.keep_var(program, v));
        }
        if ended {
            self.ended = Some(self.words);
            self.words += 1;
        }
    }

    fn keep(&mut self, program: &Program, value: Value) {
        let info = program.info(value);
        if info.rate == Rate::Varying && !self.values.contains_key(&value) {
            self.values.insert(value, self.words);
            self.words += info.ty.words();
        }
    }

    fn keep_var(&mut self, program: &Program, var: Var) {
        let info = program.var(var);
        if info.rate == Rate::Varying && !self.vars.contains_key(&var) {
            self.vars.insert(var, self.words);
            self.words += info.ty.words();
        }
    }

    /// What a stretch takes from what is kept.
    pub(super) fn uses(&self, stretch: &Stretch<'_>) -> Uses {
        let seen = look(stretch);
        let foreign = |v: &Value| !seen.defined.contains(v);
        Uses {
            values: sorted(&seen.used, |v| {
                foreign(v) && self.values.contains_key(v) && !self.anew.contains(v)
            }),
            anew: sorted(&seen.used, |v| foreign(v) && self.anew.contains(v)),
            reads: sorted(&seen.reads, |v| self.vars.contains_key(v)),
            sets: sorted(&seen.sets, |v| self.vars.contains_key(v)),
        }
    }
}

/// Those of a set that are wanted, in order.
fn sorted<T: Copy + Ord>(set: &HashSet<T>, wanted: impl Fn(&T) -> bool) -> Vec<T> {
    let mut all: Vec<T> = set.iter().copied().filter(wanted).collect();
    all.sort_unstable();
    all
}

fn collect<'s, 'p>(
    pieces: &'s [Piece<'p>],
    stretches: &mut Vec<&'s Stretch<'p>>,
    wave: &mut impl FnMut(&WaveOp, Value),
) {
    for piece in pieces {
        match piece {
            Piece::Lanes(stretch) => stretches.push(stretch),
            Piece::Once(Stmt::Let(value, Expr::Wave(op))) => wave(op, *value),
            Piece::Once(_) | Piece::Meet => {}
            Piece::If { then, otherwise, .. } => {
                collect(then, stretches, wave);
                collect(otherwise, stretches, wave);
            }
            Piece::Loop { body, .. } | Piece::Phases(body) => collect(body, stretches, wave),
        }
    }
}

fn look(stretch: &Stretch<'_>) -> Seen {
    let mut seen = Seen::default();
    stretch.stmts.iter().for_each(|s| seen.stmt(s, true));
    stretch.votes.iter().for_each(|(_, op)| op.operands(|v| seen.use_value(v)));
    seen
}

impl Seen {
    fn use_value(&mut self, value: Value) {
        self.used.insert(value);
    }

    fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|s| self.stmt(s, false));
    }

    fn define(&mut self, value: Value, top: bool) {
        if top {
            self.defined.insert(value);
        }
    }

    /// A setting that not every lane may come to leaves what was before.
    fn set(&mut self, var: Var, top: bool) {
        self.sets.insert(var);
        if top {
            self.settled.insert(var);
        } else if !self.settled.contains(&var) {
            self.reads.insert(var);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, top: bool) {
        match stmt {
            Stmt::Let(value, Expr::Wave(WaveOp::Shuffle { value: from, lane })) => {
                self.elsewhere.insert(*from);
                self.use_value(*lane);
                self.define(*value, top);
            }
            Stmt::Let(value, expr) => {
                if let Expr::Get(var) = expr
                    && !self.settled.contains(var)
                {
                    self.reads.insert(*var);
                }
                expr.operands(|v| self.use_value(v));
                self.define(*value, top);
            }
            Stmt::Set(var, value) => {
                self.set(*var, top);
                self.use_value(*value);
            }
            Stmt::If { cond, then, otherwise } => {
                self.use_value(*cond);
                self.block(then);
                self.block(otherwise);
            }
            Stmt::Loop { body } => self.block(body),
            Stmt::Load { dst, access } => {
                self.access(access);
                dst.iter().for_each(|v| self.define(*v, top));
            }
            Stmt::Store { src, access } => {
                self.access(access);
                src.iter().for_each(|v| self.use_value(*v));
            }
            Stmt::Atomic { dst, data, compare, access, .. } => {
                self.access(access);
                [*data].iter().chain(compare).for_each(|v| self.use_value(*v));
                dst.iter().for_each(|v| self.define(*v, top));
            }
            Stmt::Break | Stmt::Continue | Stmt::Return | Stmt::Trap { .. } | Stmt::Barrier { .. } => {}
        }
    }

    fn access(&mut self, access: &crate::program::Access) {
        self.use_value(access.address);
        self.use_value(access.valid);
    }
}

impl<'p> Lower<'p> {
    /// Decides what is kept and where, for the whole-wave holding.
    pub(super) fn plan_spill(&mut self, pieces: &[Piece<'p>]) {
        self.spill.cheap = super::remake::cheap(self.program, &self.exprs);
        self.spill.assign(self.program, pieces, self.plan.lane_returns);
        let words = self.spill.words * self.shape.lanes * self.shape.waves;
        let used = super::parts::shared_bytes(&self.module);
        // What is in the spill buffer is there for the next dispatch too.
        if words != 0
            && !self.options.resumes
            && words.saturating_mul(4).saturating_add(used) <= shared_room(self.caps)
        {
            self.spill.shared = Some(super::parts::shared(&mut self.module, "kept", self.types.u32, words));
        }
    }

    /// Element of a kept word, of lane `lane`.
    fn kept_place(&mut self, word: u32, lane: Ex) -> (Handle<GlobalVariable>, Ex) {
        let offset = word * self.shape.lanes;
        if let Some(shared) = self.spill.shared {
            let each = self.f.u32(self.spill.words * self.shape.lanes);
            let start = self.f.mul(self.at.local_wave, each);
            let start = self.f.add_u32(start, offset);
            return (shared, self.f.add(start, lane));
        }
        let start = self.wave_spill();
        let start = self.f.add_u32(start, offset);
        (self.buffers.spill, self.f.add(start, lane))
    }

    fn read_word(&mut self, word: u32, lane: Ex) -> Ex {
        let (array, place) = self.kept_place(word, lane);
        self.f.element(array, place)
    }

    fn write_word(&mut self, word: u32, lane: Ex, what: Ex) {
        let (array, place) = self.kept_place(word, lane);
        self.f.set_element(array, place, what);
    }

    fn read_kept(&mut self, word: u32, ty: Type, lane: Ex) -> Ex {
        let low = self.read_word(word, lane);
        match ty {
            Type::Bool => self.f.isnt_u32(low, 0),
            Type::B32 => low,
            Type::B64 => {
                let high = self.read_word(word + 1, lane);
                self.f.pack(low, high)
            }
        }
    }

    fn write_kept(&mut self, word: u32, ty: Type, lane: Ex, what: Ex) {
        match ty {
            Type::Bool => {
                let bit = super::int::from_bool(&mut self.f, what);
                self.write_word(word, lane, bit);
            }
            Type::B32 => self.write_word(word, lane, what),
            Type::B64 => {
                let (low, high) = (self.f.low(what), self.f.high(what));
                self.write_word(word, lane, low);
                self.write_word(word + 1, lane, high);
            }
        }
    }

    /// Keeps a value of the lane that is being emitted for, if another stretch wants it.
    pub(super) fn spill_value(&mut self, value: Value, what: Ex) {
        if let Some(word) = self.spill.values.get(&value).copied() {
            let ty = self.program.info(value).ty;
            self.write_kept(word, ty, self.at.lane[0], what);
        }
    }

    /// A kept value as lane `lane` has it.
    pub(super) fn kept(&mut self, value: Value, lane: Ex) -> Ex {
        if self.program.info(value).rate == Rate::Uniform {
            return self.get(value);
        }
        match self.spill.values.get(&value).copied() {
            Some(word) => self.read_kept(word, self.program.info(value).ty, lane),
            None => self.trouble(format!("{value:?} is not kept")),
        }
    }

    /// Keeps lane `lane`'s part of the result of a wave operation.
    pub(super) fn keep_at(&mut self, value: Value, lane: Ex, what: Ex) {
        if let Some(word) = self.spill.values.get(&value).copied() {
            self.write_kept(word, self.program.info(value).ty, lane, what);
        }
    }

    /// Brings what a stretch needs to hand.
    pub(super) fn fetch(&mut self, uses: &Uses) {
        let lane = self.at.lane[0];
        for value in &uses.values {
            let what = self.kept(*value, lane);
            self.values[value.0 as usize][0] = Some(what);
        }
        for value in &uses.anew {
            self.make_anew(*value);
        }
        for var in &uses.reads {
            if let Some(word) = self.spill.vars.get(var).copied() {
                let what = self.read_kept(word, self.program.var(*var).ty, lane);
                let pointer = self.var_pointer(*var);
                self.f.store(pointer, what);
            }
        }
        if let (Some(word), Some([alive, _])) = (self.spill.ended, self.alive) {
            let ended = self.read_word(word, lane);
            let running = self.f.is_u32(ended, 0);
            self.f.store(alive, running);
        }
    }

    /// Keeps what a stretch may have changed.
    pub(super) fn give_back(&mut self, uses: &Uses) {
        let lane = self.at.lane[0];
        for var in &uses.sets {
            if let Some(word) = self.spill.vars.get(var).copied() {
                let pointer = self.var_pointer(*var);
                let what = self.f.load(pointer);
                self.write_kept(word, self.program.var(*var).ty, lane, what);
            }
        }
        if let (Some(word), Some([alive, _])) = (self.spill.ended, self.alive) {
            let running = self.f.load(alive);
            let ended = self.f.not(running);
            let ended = super::int::from_bool(&mut self.f, ended);
            self.write_word(word, lane, ended);
        }
    }

    /// Sets all kept variables to 0, since they start so.
    pub(super) fn clear_kept(&mut self) {
        let lane = self.at.lane[0];
        let mut vars: Vec<(u32, Type)> =
            self.spill.vars.iter().map(|(v, word)| (*word, self.program.var(*v).ty)).collect();
        vars.sort_unstable_by_key(|(word, _)| *word);
        for (word, ty) in vars {
            let zero = self.zero(ty);
            self.write_kept(word, ty, lane, zero);
        }
        if let Some(word) = self.spill.ended {
            let zero = self.f.u32(0);
            self.write_word(word, lane, zero);
        }
    }

    /// Whether there is anything for [`Lower::clear_kept`] to do.
    pub(super) fn keeps_vars(&self) -> bool {
        !self.spill.vars.is_empty() || self.spill.ended.is_some()
    }
}

fn shared_room(caps: &HostCaps) -> u32 {
    caps.workgroup_bytes
}
