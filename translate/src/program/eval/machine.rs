//! Waves in step: a stack of open blocks and a mask of the lanes that are in the innermost one.

use std::ops::Range;

use guestwave_cp::{AccessKind, MemoryFault};

use super::memory::{Overlay, atomic, local_unit, number};
use super::ops;
use crate::backend::Launch;
use crate::program::{
    Access, AtomicOp, Builtin, Expr, Program, Rate, Space, Stmt, Value, Var, WaveOp, Width,
};

/// What ends a launch without effect.
pub(super) enum Stop {
    Memory(u32, MemoryFault),
    Trap(&'static str, u32),
    Budget,
}

/// Whether all waves of a group have ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Yes,
    No,
}

/// The waves of one workgroup.
pub(super) struct Group<'p> {
    waves: Vec<Wave<'p>>,
    lds: Vec<u8>,
}

impl<'p> Group<'p> {
    pub(super) fn new(program: &'p Program, launch: &'p Launch, group: u32, waves: Range<u32>) -> Self {
        let first = waves.start;
        let waves = waves.map(|wave| Wave::new(program, launch, [wave, wave - first, group])).collect();
        Group { waves, lds: vec![0; (program.lds_bytes + program.exchange_bytes) as usize] }
    }

    /// Runs each wave that has not ended to its next barrier or its end.
    pub(super) fn run_to_barrier(&mut self, guest: &mut Overlay<'_>) -> Result<Ended, Stop> {
        for wave in &mut self.waves {
            wave.run(&mut self.lds, guest)?;
        }
        let all = self.waves.iter().all(|w| w.stack.is_empty());
        Ok(if all { Ended::Yes } else { Ended::No })
    }
}

/// An open block: where it stands, and which lanes wait for what.
struct Frame<'p> {
    block: &'p [Stmt],
    at: usize,
    kind: Kind<'p>,
}

enum Kind<'p> {
    Body,
    Then { otherwise: &'p [Stmt], others: u64 },
    Otherwise { joined: u64 },
    Loop { broken: u64, continued: u64 },
}

struct Wave<'p> {
    program: &'p Program,
    launch: &'p Launch,
    /// Wave in the dispatch, wave in the group, group.
    numbers: [u32; 3],
    lanes: usize,
    active: u64,
    /// One element of a uniform value, one a lane of a varying one.
    values: Vec<Vec<u64>>,
    vars: Vec<Vec<u64>>,
    scratch: Vec<Vec<u8>>,
    budget: u64,
    stack: Vec<Frame<'p>>,
    at_barrier: bool,
}

impl<'p> Wave<'p> {
    fn new(program: &'p Program, launch: &'p Launch, numbers: [u32; 3]) -> Self {
        let lanes = usize::from(program.wave_lanes);
        let cells = |rate| vec![0; if rate == Rate::Uniform { 1 } else { lanes }];
        Wave {
            program,
            launch,
            numbers,
            lanes,
            active: u64::MAX >> (64 - lanes),
            values: program.values.iter().map(|v| cells(v.rate)).collect(),
            vars: program.vars.iter().map(|v| cells(v.rate)).collect(),
            scratch: vec![vec![0; program.scratch_bytes as usize]; lanes],
            budget: launch.budget,
            stack: vec![Frame { block: &program.body, at: 0, kind: Kind::Body }],
            at_barrier: false,
        }
    }

    fn run(&mut self, lds: &mut [u8], guest: &mut Overlay<'_>) -> Result<(), Stop> {
        self.at_barrier = false;
        while !self.at_barrier {
            let Some(frame) = self.stack.last_mut() else { return Ok(()) };
            match frame.block.get(frame.at) {
                Some(stmt) if self.active != 0 => {
                    frame.at += 1;
                    self.stmt(stmt, lds, guest)?;
                }
                _ => self.leave()?,
            }
        }
        Ok(())
    }

    /// The innermost block has come to its end or has no lanes left.
    fn leave(&mut self) -> Result<(), Stop> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        match frame.kind {
            Kind::Body => {}
            Kind::Then { otherwise, others } => {
                let kind = Kind::Otherwise { joined: self.active };
                self.active = others;
                self.stack.push(Frame { block: otherwise, at: 0, kind });
            }
            Kind::Otherwise { joined } => self.active |= joined,
            Kind::Loop { broken, continued } => {
                self.active |= continued;
                if self.active == 0 {
                    self.active = broken;
                } else {
                    self.iterate(frame.block, broken)?;
                }
            }
        }
        Ok(())
    }

    fn iterate(&mut self, block: &'p [Stmt], broken: u64) -> Result<(), Stop> {
        self.budget = self.budget.checked_sub(1).ok_or(Stop::Budget)?;
        self.stack.push(Frame { block, at: 0, kind: Kind::Loop { broken, continued: 0 } });
        Ok(())
    }

    fn stmt(&mut self, stmt: &'p Stmt, lds: &mut [u8], guest: &mut Overlay<'_>) -> Result<(), Stop> {
        match stmt {
            Stmt::Let(value, Expr::Wave(op)) => self.wave(*value, *op),
            Stmt::Let(value, expr) => self.define(*value, |w, lane| w.expr(expr, lane)),
            Stmt::Set(var, value) => self.set(*var, *value),
            Stmt::If { cond, then, otherwise } => {
                let taken = self.active & self.bools(*cond);
                let kind = Kind::Then { otherwise, others: self.active & !taken };
                self.active = taken;
                self.stack.push(Frame { block: then, at: 0, kind });
            }
            Stmt::Loop { body } => self.iterate(body, 0)?,
            Stmt::Break => self.join_loop(|broken, _, active| *broken |= active),
            Stmt::Continue => self.join_loop(|_, continued, active| *continued |= active),
            Stmt::Return => self.active = 0,
            Stmt::Trap { code, pc } => return Err(Stop::Trap(code, *pc)),
            Stmt::Barrier { .. } => self.at_barrier = true,
            Stmt::Load { dst, access } => self.load(dst, access, lds, guest)?,
            Stmt::Store { src, access } => self.store(src, access, lds, guest)?,
            Stmt::Atomic { dst, op, data, compare, access } => {
                self.atomic(*dst, *op, (*data, *compare), access, lds, guest)?;
            }
        }
        Ok(())
    }

    fn join_loop(&mut self, send: impl FnOnce(&mut u64, &mut u64, u64)) {
        let innermost = self.stack.iter_mut().rev().find_map(|f| match &mut f.kind {
            Kind::Loop { broken, continued } => Some((broken, continued)),
            _ => None,
        });
        if let Some((broken, continued)) = innermost {
            send(broken, continued, self.active);
        }
        self.active = 0;
    }

    fn get(&self, value: Value, lane: usize) -> u64 {
        let cells = &self.values[value.0 as usize];
        cells[lane % cells.len()]
    }

    /// A `Bool` of each lane, as bits.
    fn bools(&self, value: Value) -> u64 {
        (0..self.lanes).fold(0, |bits, lane| bits | self.get(value, lane) << lane)
    }

    fn active_lanes(&self) -> impl Iterator<Item = usize> + use<> {
        let active = self.active;
        (0..64).filter(move |lane| active >> lane & 1 != 0)
    }

    /// The lanes that do something of rate `rate`: one, or all that are active.
    fn doers(&self, rate: Rate) -> impl Iterator<Item = usize> + use<> {
        self.active_lanes().take(if rate == Rate::Uniform { 1 } else { 64 })
    }

    fn put(&mut self, value: Value, lane: usize, bits: u64) {
        let cells = &mut self.values[value.0 as usize];
        let at = lane % cells.len();
        cells[at] = bits;
    }

    fn define(&mut self, value: Value, bits: impl Fn(&Self, usize) -> u64) {
        for lane in self.doers(self.program.info(value).rate) {
            let bits = bits(self, lane);
            self.put(value, lane, bits);
        }
    }

    fn set(&mut self, var: Var, value: Value) {
        for lane in self.doers(self.program.var(var).rate) {
            let bits = self.get(value, lane);
            let cells = &mut self.vars[var.0 as usize];
            let at = lane % cells.len();
            cells[at] = bits;
        }
    }

    fn expr(&self, expr: &Expr, lane: usize) -> u64 {
        let ty = |v: Value| self.program.info(v).ty;
        let [wave, in_group, group] = self.numbers.map(u64::from);
        match *expr {
            Expr::ConstBool(b) => u64::from(b),
            Expr::Const32(c) => u64::from(c),
            Expr::Const64(c) => c,
            Expr::Get(var) => {
                let cells = &self.vars[var.0 as usize];
                cells[lane % cells.len()]
            }
            Expr::Param(p) => u64::from(self.launch.params[usize::from(p)]),
            Expr::Builtin(Builtin::Lane) => lane as u64,
            Expr::Builtin(Builtin::Wave) => wave,
            Expr::Builtin(Builtin::WaveInGroup) => in_group,
            Expr::Builtin(Builtin::Group) => group,
            Expr::Un(op, a) => ops::un(op, ty(a), self.get(a, lane)),
            Expr::Bin(op, a, b) => ops::bin(op, ty(a), self.get(a, lane), self.get(b, lane)),
            Expr::Tri(op, a, b, c) => ops::tri(op, self.get(a, lane), self.get(b, lane), self.get(c, lane)),
            // Wave operations are not a lane's business.
            Expr::Wave(_) => 0,
        }
    }

    fn wave(&mut self, dst: Value, op: WaveOp) {
        let lanes = self.lanes;
        let all: Vec<u64> = match op {
            WaveOp::Ballot(v) => vec![self.bools(v)],
            WaveOp::Any(v) => vec![u64::from(self.bools(v) != 0)],
            WaveOp::ReadLane { value, lane } => vec![self.get(value, self.get(lane, 0) as usize % lanes)],
            WaveOp::Shuffle { value, lane } => {
                (0..lanes).map(|l| self.get(value, self.get(lane, l) as usize % lanes)).collect()
            }
            WaveOp::Send { value, lane, active } => {
                let mut received = vec![0; lanes];
                for l in (0..lanes).filter(|l| self.get(active, *l) != 0) {
                    received[self.get(lane, l) as usize % lanes] = self.get(value, l);
                }
                received
            }
        };
        self.values[dst.0 as usize] = all;
    }

    /// Units of an access that exist in this lane.
    fn units(&self, access: &Access, count: usize, lane: usize) -> u64 {
        self.get(access.valid, lane).div_ceil(u64::from(access.width.bytes())).min(count as u64)
    }

    /// The unit at byte `at` of the launch's tables, 0 if it is not wholly inside.
    fn table(&self, at: u64, width: Width) -> u64 {
        let byte = |a: u64| {
            let word = self.launch.tables.get(usize::try_from(a / 4).ok()?)?;
            Some(u64::from(word.to_le_bytes()[(a % 4) as usize]))
        };
        let mut bytes = (0..u64::from(width.bytes())).rev();
        bytes.try_fold(0, |bits, i| Some(bits << 8 | byte(at + i)?)).unwrap_or(0)
    }

    fn local<'m>(&'m mut self, space: Space, lane: usize, lds: &'m mut [u8]) -> &'m mut [u8] {
        match space {
            Space::Scratch => &mut self.scratch[lane],
            // The words of the exchange lie behind LDS.
            Space::Exchange => &mut lds[self.program.lds_bytes as usize..],
            _ => &mut lds[..self.program.lds_bytes as usize],
        }
    }

    fn load(
        &mut self,
        dst: &[Value],
        access: &Access,
        lds: &mut [u8],
        guest: &mut Overlay<'_>,
    ) -> Result<(), Stop> {
        for lane in self.doers(self.program.access_rate(access)) {
            let (base, units) = (self.get(access.address, lane), self.units(access, dst.len(), lane));
            for (i, value) in (0..).zip(dst) {
                let at = base.wrapping_add(i * u64::from(access.width.bytes()));
                let bits = match access.space {
                    _ if i >= units => 0,
                    Space::Global => {
                        guest.load(at, access.width, AccessKind::Read).map_err(|f| whole(access, units, f))?
                    }
                    Space::Table => self.table(at, access.width),
                    space => {
                        local_unit(self.local(space, lane, lds), at, access.width).map_or(0, |u| number(u))
                    }
                };
                self.put(*value, lane, bits);
            }
        }
        Ok(())
    }

    fn store(
        &mut self,
        src: &[Value],
        access: &Access,
        lds: &mut [u8],
        guest: &mut Overlay<'_>,
    ) -> Result<(), Stop> {
        for lane in self.doers(self.program.access_rate(access)) {
            let (base, units) = (self.get(access.address, lane), self.units(access, src.len(), lane));
            for (i, value) in (0..units).zip(src) {
                let at = base.wrapping_add(i * u64::from(access.width.bytes()));
                let bits = self.get(*value, lane);
                if access.space == Space::Global {
                    guest
                        .store(at, access.width, bits, AccessKind::Write)
                        .map_err(|f| whole(access, units, f))?;
                } else if let Some(unit) = local_unit(self.local(access.space, lane, lds), at, access.width) {
                    unit.copy_from_slice(&bits.to_le_bytes()[..unit.len()]);
                }
            }
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        dst: Option<Value>,
        op: AtomicOp,
        (data, compare): (Value, Option<Value>),
        access: &Access,
        lds: &mut [u8],
        guest: &mut Overlay<'_>,
    ) -> Result<(), Stop> {
        let width = access.width;
        for lane in self.doers(self.program.access_rate(access)) {
            // An atomic's unit is naturally aligned: low address bits do not count.
            let at = self.get(access.address, lane) & !u64::from(width.bytes() - 1);
            let (data, compare) = (self.get(data, lane), compare.map_or(0, |c| self.get(c, lane)));
            let mut old = 0;
            if self.units(access, 1, lane) == 0 {
            } else if access.space == Space::Global {
                old = guest.load(at, width, AccessKind::Atomic).map_err(|f| whole(access, 1, f))?;
                guest
                    .store(at, width, atomic(op, width, old, data, compare), AccessKind::Atomic)
                    .map_err(|f| whole(access, 1, f))?;
            } else if let Some(unit) = local_unit(self.local(access.space, lane, lds), at, width) {
                old = number(unit);
                unit.copy_from_slice(&atomic(op, width, old, data, compare).to_le_bytes()[..unit.len()]);
            }
            if let Some(dst) = dst {
                self.put(dst, lane, old);
            }
        }
        Ok(())
    }
}

/// The fault of an access of `units` units, given that of one byte of it.
fn whole(access: &Access, units: u64, fault: MemoryFault) -> Stop {
    Stop::Memory(access.pc, MemoryFault { size: units * u64::from(access.width.bytes()), ..fault })
}
