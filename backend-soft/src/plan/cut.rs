//! Cutting a program into stretches.

use guestwave_translate::program::{Builtin, Expr, Program, Rate, Stmt, Value, Var, WaveOp};

use super::facts::{Effects, lane_by_lane, loop_by_lane, parts, parts_inside};
use super::tail::tail;
use super::{Frame, Home, Plan, Step, Stretch, is_constant, live};

/// Cuts a verified program.
pub(crate) fn plan(program: &Program) -> Plan<'_> {
    let mut cutter = Cutter::new(program);
    let mut steps = cutter.block(&program.body);
    let at_start = live::solve(program, &cutter.homes, &mut steps);
    let Cutter { homes, spilled, kept, resumes, .. } = cutter;
    let frame = Frame::new(program, &steps, &spilled, &kept, &at_start);
    Plan { program, steps, homes, spilled, kept, resumes, frame, tail: tail(program) }
}

struct Cutter<'p> {
    program: &'p Program,
    homes: Vec<Home>,
    spilled: Vec<bool>,
    kept: Vec<bool>,
    /// For each value, the stretch (lane values) or region (wave values) that defines it.
    defined: Vec<u32>,
    /// For each value, the last stretch that fetches it from the frame.
    filled: Vec<u32>,
    /// Number of the open stretch.
    stretch: u32,
    /// Number of the stretch of code that barriers do not cut.
    region: u32,
    resumes: u32,
    /// Uniform variables that the statement at hand changes in each lane's turn.
    changed: Vec<Var>,
}

/// The steps of a block so far, and the stretch that is still open.
#[derive(Default)]
struct Open<'p> {
    steps: Vec<Step<'p>>,
    stretch: Stretch<'p>,
    /// Values that the open stretch's lanes have only when all of them are done.
    pending: Vec<Value>,
    effects: Effects,
}

impl<'p> Cutter<'p> {
    fn new(program: &'p Program) -> Self {
        let n = program.values.len();
        Cutter {
            program,
            homes: vec![Home::Wave; n],
            spilled: vec![false; n],
            kept: vec![false; n],
            defined: vec![0; n],
            filled: vec![0; n],
            stretch: 1,
            region: 0,
            resumes: 0,
            changed: Vec::new(),
        }
    }

    fn block(&mut self, block: &'p [Stmt]) -> Vec<Step<'p>> {
        let mut open = Open::default();
        for (i, stmt) in block.iter().enumerate() {
            if parts(self.program, stmt) {
                self.apart(&block[i..], &mut open);
                break;
            }
            self.stmt(stmt, &mut open);
            if matches!(stmt, Stmt::Break | Stmt::Continue | Stmt::Return | Stmt::Trap { .. }) {
                break;
            }
        }
        self.cut(&mut open);
        open.steps
    }

    /// Ends the open stretch.
    fn cut(&mut self, open: &mut Open<'p>) {
        if !open.stretch.is_empty() {
            open.steps.push(Step::Stretch(std::mem::take(&mut open.stretch)));
        }
        open.pending.clear();
        open.effects = Effects::default();
        self.stretch += 1;
    }

    /// The rest of a block, in which lanes go apart and do not meet again in it.
    fn apart(&mut self, rest: &'p [Stmt], open: &mut Open<'p>) {
        let wants_pending = rest.iter().any(|s| wants(s, &open.pending));
        if wants_pending || open.effects.meets(Effects::of_all(rest)) {
            self.cut(open);
        }
        rest.iter().for_each(|s| self.alone(s, open));
        open.stretch.lanes.extend(rest);
    }

    fn stmt(&mut self, stmt: &'p Stmt, open: &mut Open<'p>) {
        match stmt {
            Stmt::Let(value, Expr::Wave(op)) => self.wave_op(stmt, *value, *op, open),
            Stmt::Let(..) | Stmt::Set(..) => self.simple(stmt, open),
            Stmt::Load { .. } | Stmt::Store { .. } | Stmt::Atomic { .. } => self.simple(stmt, open),
            Stmt::If { cond, .. } => {
                if self.program.info(*cond).rate == Rate::Varying || lane_by_lane(self.program, stmt) {
                    self.lanes(stmt, open);
                } else {
                    self.uniform(stmt, open);
                }
            }
            Stmt::Loop { body } if parts_inside(self.program, body) => self.lanes(stmt, open),
            Stmt::Loop { body } if loop_by_lane(self.program, body) => self.loop_by_lane(stmt, open),
            Stmt::Loop { .. } | Stmt::Barrier { .. } => self.uniform(stmt, open),
            Stmt::Break => self.step(Step::Break, open),
            Stmt::Continue => self.step(Step::Continue, open),
            Stmt::Return => self.step(Step::Return, open),
            Stmt::Trap { code, pc } => self.step(Step::Trap { code, pc: *pc }, open),
        }
    }

    fn step(&mut self, step: Step<'p>, open: &mut Open<'p>) {
        self.cut(open);
        open.steps.push(step);
    }

    /// A barrier, or an `If` or `Loop` that the wave goes through as one.
    fn uniform(&mut self, stmt: &'p Stmt, open: &mut Open<'p>) {
        self.cut(open);
        let stops = stmt.any(&|s| matches!(s, Stmt::Barrier { .. }));
        let step = match stmt {
            Stmt::If { cond, then, otherwise } => {
                self.use_in_wave(*cond);
                let then = self.regional(then, stops);
                Step::If { cond: *cond, then, otherwise: self.regional(otherwise, stops) }
            }
            Stmt::Loop { body } => Step::Loop { body: self.regional(body, stops) },
            _ => {
                self.resumes += 1;
                Step::Barrier { resume: self.resumes }
            }
        };
        open.steps.push(step);
        if stops {
            self.region += 1;
            open.steps.push(Step::Region);
        }
    }

    /// A loop that the wave goes through as one, but each lane by itself.
    fn loop_by_lane(&mut self, stmt: &'p Stmt, open: &mut Open<'p>) {
        let mut changed = Vec::new();
        stmt.each(&mut |s| match s {
            Stmt::Set(var, _) if self.program.var(*var).rate == Rate::Uniform && !changed.contains(var) => {
                changed.push(*var);
            }
            _ => {}
        });
        self.changed.clone_from(&changed);
        self.lanes(stmt, open);
        self.changed.clear();
        open.stretch.changed = changed;
        // What the wave does once is done before the lanes' turns, but from here on wants what they leave.
        self.cut(open);
    }

    /// A block that may begin a region.
    fn regional(&mut self, block: &'p [Stmt], begins: bool) -> Vec<Step<'p>> {
        if !begins {
            return self.block(block);
        }
        self.region += 1;
        let mut steps = vec![Step::Region];
        steps.extend(self.block(block));
        steps
    }

    /// A statement without blocks inside.
    fn simple(&mut self, stmt: &'p Stmt, open: &mut Open<'p>) {
        if self.once_a_wave(stmt) {
            self.make_room(stmt, open);
            self.wave(stmt, open);
        } else {
            self.lanes(stmt, open);
        }
    }

    /// Whether a statement in uniform control flow is done once a wave.
    fn once_a_wave(&self, stmt: &Stmt) -> bool {
        let rate = match stmt {
            Stmt::Let(value, _) => self.program.info(*value).rate,
            Stmt::Set(var, _) => self.program.var(*var).rate,
            Stmt::Load { access, .. } | Stmt::Store { access, .. } | Stmt::Atomic { access, .. } => {
                self.program.access_rate(access)
            }
            _ => Rate::Varying,
        };
        rate == Rate::Uniform
    }

    /// Cuts if `stmt` cannot join the open stretch.
    fn make_room(&mut self, stmt: &Stmt, open: &mut Open<'p>) {
        if wants(stmt, &open.pending) || open.effects.meets(Effects::of(stmt)) {
            self.cut(open);
        }
        open.effects = open.effects.and(Effects::of(stmt));
    }

    fn wave(&mut self, stmt: &'p Stmt, open: &mut Open<'p>) {
        stmt.operands(|v| self.use_in_wave(v));
        self.define(stmt, Home::Wave);
        open.stretch.wave.push(stmt);
    }

    fn lanes(&mut self, stmt: &'p Stmt, open: &mut Open<'p>) {
        self.make_room(stmt, open);
        self.alone(stmt, open);
        open.stretch.lanes.push(stmt);
    }

    /// A statement that each lane runs alone: notes what it defines and takes, and moves pure uniform values out of the
    /// lane loop.
    fn alone(&mut self, stmt: &'p Stmt, open: &mut Open<'p>) {
        let hoisted = match stmt {
            Stmt::Let(_, Expr::Builtin(Builtin::Lane)) => return self.define(stmt, Home::Index),
            Stmt::Let(value, expr) => {
                let changes = matches!(expr, Expr::Get(var) if self.changed.contains(var));
                let mut outside = self.program.info(*value).rate == Rate::Uniform && !changes;
                expr.operands(|v| outside &= self.homes[v.0 as usize] != Home::Lane);
                outside && !matches!(expr, Expr::Wave(_))
            }
            _ => false,
        };
        if hoisted {
            return self.wave(stmt, open);
        }
        match stmt {
            // The value shuffled is read from the frame, as another lane left it.
            Stmt::Let(_, Expr::Wave(WaveOp::Shuffle { value, lane })) => {
                self.use_in_wave(*value);
                self.use_in_lane(*lane, open);
            }
            _ => stmt.operands(|v| self.use_in_lane(v, open)),
        }
        self.define(stmt, Home::Lane);
        for inner in stmt.blocks().into_iter().flatten() {
            self.alone(inner, open);
        }
    }

    /// Wave operations: what gathers from the lanes ends in the lane loop, what reads other lanes needs them finished.
    fn wave_op(&mut self, stmt: &'p Stmt, value: Value, op: WaveOp, open: &mut Open<'p>) {
        let source = match op {
            WaveOp::Ballot(v) | WaveOp::Any(v) => {
                let gathers = self.homes[v.0 as usize] == Home::Lane;
                return if gathers { self.gather(stmt, value, open) } else { self.once(stmt, open) };
            }
            WaveOp::Send { .. } => {
                self.gather(stmt, value, open);
                self.spilled[value.0 as usize] = true;
                return;
            }
            WaveOp::ReadLane { value, .. } | WaveOp::Shuffle { value, .. } => value,
        };
        let at = source.0 as usize;
        if self.homes[at] == Home::Lane {
            self.spilled[at] = true;
            if self.defined[at] == self.stretch {
                self.cut(open);
            }
        }
        if matches!(op, WaveOp::ReadLane { .. }) { self.once(stmt, open) } else { self.lanes(stmt, open) }
    }

    fn once(&mut self, stmt: &'p Stmt, open: &mut Open<'p>) {
        self.make_room(stmt, open);
        self.wave(stmt, open);
    }

    /// A wave operation whose result is there when the lane loop ends.
    fn gather(&mut self, stmt: &'p Stmt, value: Value, open: &mut Open<'p>) {
        self.lanes(stmt, open);
        open.pending.push(value);
        if self.program.info(value).rate == Rate::Uniform {
            self.homes[value.0 as usize] = Home::Wave;
            self.defined[value.0 as usize] = self.region;
        }
    }

    fn define(&mut self, stmt: &Stmt, home: Home) {
        let home = match stmt {
            Stmt::Let(_, expr) if is_constant(expr) => Home::Constant,
            _ => home,
        };
        let number = if home == Home::Wave { self.region } else { self.stretch };
        stmt.defines(|v| {
            self.homes[v.0 as usize] = home;
            self.defined[v.0 as usize] = number;
        });
    }

    /// A lane value that the wave takes is the source of a `ReadLane`, which finds it in the frame.
    fn use_in_wave(&mut self, value: Value) {
        let at = value.0 as usize;
        self.kept[at] |= self.homes[at] == Home::Wave && self.defined[at] != self.region;
    }

    fn use_in_lane(&mut self, value: Value, open: &mut Open<'p>) {
        let at = value.0 as usize;
        if self.homes[at] != Home::Lane {
            self.use_in_wave(value);
        } else if self.defined[at] != self.stretch {
            self.spilled[at] = true;
            if self.filled[at] != self.stretch {
                self.filled[at] = self.stretch;
                open.stretch.fills.push(value);
            }
        }
    }
}

fn wants(stmt: &Stmt, values: &[Value]) -> bool {
    let mut found = false;
    if !values.is_empty() {
        stmt.all_operands(&mut |v| found |= values.contains(&v));
    }
    found
}
