//! Exports and messages: nothing where they are dropped, else events in each lane's row of the dispatch's record.

use guestwave_isa::gfx10::{Inst, Mods, Op, Operand, sreg};

use super::{Lower, Row};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::gfx10::event::{Event, EventKind, OVERFLOW};
use crate::program::{Access, BinOp, Builtin, ParamSource, Slot, Space, Trace, UnOp, Value, Width};

pub(super) const ROWS: &[Row] = &[(Op::EXP, Lower::Whole(export)), (Op::S_SENDMSG, Lower::Whole(message))];

/// Each lane of EXEC notes the message; lanes have M0 in common wherever they meet.
fn message(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    if !e.input.source.record {
        return Ok(());
    }
    let Mods::Simm(simm16) = inst.mods else { return Err(e.refuse(inst, "no message")) };
    let m0 = e.sgpr(sreg::M0)?;
    e.event(Event { pc: inst.offset, kind: EventKind::Message { simm16 } }, &[m0]);
    Ok(())
}

fn export(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    if !e.input.source.record {
        return Ok(());
    }
    let Mods::Export { target, en, compr, done, vm } = inst.mods else {
        return Err(e.refuse(inst, "no export modifiers"));
    };
    let mut registers = match compr {
        true => [en & 3 != 0, en & 12 != 0, false, false],
        false => std::array::from_fn(|i| en >> i & 1 != 0),
    };
    let mut values = Vec::new();
    for (place, read) in registers.iter_mut().enumerate() {
        match inst.src[place] {
            Operand::Vgpr(n) if *read => values.push(e.vgpr(n)),
            _ => *read = false,
        }
    }
    let kind = EventKind::Export { target, en, compr, done, vm, registers };
    e.event(Event { pc: inst.offset, kind }, &values);
    Ok(())
}

impl Emit<'_> {
    /// Appends an event to the rows of the lanes of EXEC.
    fn event(&mut self, event: Event, values: &[Value]) {
        let exec = self.exec_lanes();
        let bytes = 4 * event.words() as u32;
        let at = self.record_at();
        let after = self.with_constant(BinOp::Add, at, u64::from(bytes));
        self.trap_full(exec, after, event.pc);
        let row = self.record_row();
        let within = self.b.un(UnOp::Extend, at);
        let address = self.b.bin(BinOp::Add, row, within);
        let (all, none) = (self.b.c32(bytes), self.b.c32(0));
        let valid = self.b.select(exec, all, none);
        let slot = Some(self.record_slot());
        let access = Access { space: Space::Global, address, valid, width: Width::W32, pc: event.pc, slot };
        let tag = self.b.c32(event.tag());
        self.b.store([&[tag], values].concat(), access);
        let next = self.b.select(exec, after, at);
        self.set_record_at(next);
        self.note_event(event);
    }

    /// Ends the dispatch if a lane of EXEC has no room.
    fn trap_full(&mut self, exec: Value, after: Value, pc: u32) {
        let words = self.b.param(ParamSource::RecordWords);
        let room = self.shift(BinOp::Shl, words, 2);
        let full = self.b.bin(BinOp::LtU, room, after);
        let full = self.b.bin(BinOp::And, exec, full);
        self.trap_if(full, OVERFLOW, pc);
    }

    /// Guest address of the lane's row.
    fn record_row(&mut self) -> Value {
        let (wave, lane) = (self.b.builtin(Builtin::Wave), self.b.builtin(Builtin::Lane));
        let lanes = self.b.c32(self.input.source.wave.lanes());
        let first = self.b.bin(BinOp::Mul, wave, lanes);
        let row = self.b.bin(BinOp::Add, first, lane);
        let words = self.b.param(ParamSource::RecordWords);
        let (row, words) = (self.b.un(UnOp::Extend, row), self.b.un(UnOp::Extend, words));
        let distance = self.b.bin(BinOp::Mul, row, words);
        let distance = self.shift(BinOp::Shl, distance, 2);
        let base = self.record_base();
        self.b.bin(BinOp::Add, base, distance)
    }

    fn record_base(&mut self) -> Value {
        let (low, high) = (self.b.param(ParamSource::RecordLow), self.b.param(ParamSource::RecordHigh));
        self.b.bin(BinOp::Pack, low, high)
    }

    fn record_slot(&mut self) -> u16 {
        let param = |e: &mut Self, source| Box::new(Trace::Param(e.b.param_index(source)));
        let (low, high) = (param(self, ParamSource::RecordLow), param(self, ParamSource::RecordHigh));
        let size = Trace::Param(self.b.param_index(ParamSource::RecordBytes));
        self.b.slot(Slot { base: Trace::Pack(low, high), size: Some(size), written: true })
    }
}
