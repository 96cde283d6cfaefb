//! Operations that look across lanes, and what has no effect on memory.

use guestwave_isa::gfx10::{Inst, LaneForm, Op, Operand, WaveSize};

use super::memory::ds_offset;
use super::{Lower, Row};
use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Builtin, Rate, UnOp, Value, WaveOp};

pub(super) const ROWS: &[Row] = &[
    (Op::V_READFIRSTLANE_B32, Lower::Whole(readfirstlane)),
    (Op::V_READLANE_B32, Lower::Whole(readlane)),
    (Op::V_WRITELANE_B32, Lower::Whole(writelane)),
    (Op::V_PERMLANE16_B32, Lower::Whole(|e, i| permlane(e, i, 0))),
    (Op::V_PERMLANEX16_B32, Lower::Whole(|e, i| permlane(e, i, 16))),
    (Op::V_MBCNT_LO_U32_B32, Lower::Whole(|e, i| mbcnt(e, i, 0))),
    (Op::V_MBCNT_HI_U32_B32, Lower::Whole(|e, i| mbcnt(e, i, 32))),
    (Op::DS_SWIZZLE_B32, Lower::Whole(swizzle)),
    (Op::DS_PERMUTE_B32, Lower::Whole(permute)),
    (Op::DS_BPERMUTE_B32, Lower::Whole(bpermute)),
    (Op::V_SWAP_B32, Lower::Whole(swap)),
];

/// A source as a `B32`.
fn source(e: &mut Emit<'_>, inst: &Inst, place: usize) -> Result<Value, Stop> {
    if Emit::vop_mods(inst).lane != LaneForm::None {
        return Err(e.refuse(inst, "DPP or SDWA"));
    }
    let spec = e.source_spec(inst, place);
    e.vector_operand(inst, inst.src[place], spec)
}

fn destination(e: &Emit<'_>, inst: &Inst) -> Result<u8, Stop> {
    match inst.dst[0] {
        Operand::Vgpr(n) => Ok(n),
        _ => Err(e.refuse(inst, "no vector destination")),
    }
}

/// A value that does not vary is every lane's.
fn read(e: &mut Emit<'_>, value: Value, lane: Value) -> Result<Value, Stop> {
    if e.b.info(value).rate == Rate::Uniform {
        return Ok(value);
    }
    e.want_wave()?;
    Ok(e.b.wave(WaveOp::ReadLane { value, lane }))
}

/// The first lane of EXEC, or lane 0.
fn readfirstlane(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let value = source(e, inst, 0)?;
    if e.b.info(value).rate == Rate::Uniform {
        return e.set_scalar(inst, value);
    }
    let exec = e.exec();
    let mask = e.ballot(exec)?;
    let first = e.b.un(UnOp::TrailingZeros, mask);
    let (none, zero) = (e.b.c32(64), e.b.c32(0));
    let empty = e.b.bin(BinOp::Eq, first, none);
    let lane = e.b.select(empty, zero, first);
    let read = read(e, value, lane)?;
    e.set_scalar(inst, read)
}

fn readlane(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let value = source(e, inst, 0)?;
    let lane = e.scalar_source(inst, 1)?;
    let read = read(e, value, lane)?;
    e.set_scalar(inst, read)
}

/// Writes one lane whatever EXEC says; where lanes go their own ways the named lane might be elsewhere.
fn writelane(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    e.want_wave()?;
    let number = destination(e, inst)?;
    let (value, lane) = (e.scalar_source(inst, 0)?, e.scalar_source(inst, 1)?);
    let lane = e.lane_number(lane);
    let own = e.b.builtin(Builtin::Lane);
    let here = e.b.bin(BinOp::Eq, own, lane);
    let old = e.vgpr(number);
    let new = e.b.select(here, value, old);
    e.set_vgpr_all(number, new);
    Ok(())
}

impl Emit<'_> {
    /// A lane number modulo the wave's lanes.
    fn lane_number(&mut self, lane: Value) -> Value {
        let last = u64::from(self.input.source.wave.lanes() - 1);
        self.with_constant(BinOp::And, lane, last)
    }

    /// What another lane has, and whether that lane is in EXEC.
    fn other_lane(&mut self, value: Value, from: Value) -> Result<(Value, Value), Stop> {
        self.want_wave()?;
        let moved = self.b.wave(WaveOp::Shuffle { value, lane: from });
        let exec = self.exec();
        let word = self.b.un(UnOp::FromBool, exec);
        let active = self.b.wave(WaveOp::Shuffle { value: word, lane: from });
        let zero = self.b.c32(0);
        Ok((moved, self.b.bin(BinOp::Ne, active, zero)))
    }

    /// Writes what other lanes have, 0 where they are not in EXEC.
    fn set_from_lanes(&mut self, number: u8, value: Value, from: Value) -> Result<(), Stop> {
        let (moved, active) = self.other_lane(value, from)?;
        let zero = self.b.c32(0);
        let new = self.b.select(active, moved, zero);
        self.set_vgpr(number, new);
        Ok(())
    }
}

/// Each lane reads the lane that its four bits of the selector name, in its row of 16 or, with `across` 16, in the other row of its 32.
fn permlane(e: &mut Emit<'_>, inst: &Inst, across: u64) -> Result<(), Stop> {
    let number = destination(e, inst)?;
    let value = source(e, inst, 0)?;
    let (low, high) = (e.scalar_source(inst, 1)?, e.scalar_source(inst, 2)?);
    let mods = Emit::vop_mods(inst);
    let lane = e.b.builtin(Builtin::Lane);
    let selector = e.b.bin(BinOp::Pack, low, high);
    let within = e.with_constant(BinOp::And, lane, 15);
    let amount = e.shift(BinOp::Shl, within, 2);
    let moved = e.b.bin(BinOp::ShrU, selector, amount);
    let nibble = e.b.un(UnOp::Low, moved);
    let nibble = e.with_constant(BinOp::And, nibble, 15);
    let row = e.with_constant(BinOp::And, lane, !15);
    let row = e.with_constant(BinOp::Xor, row, across);
    let from = e.b.bin(BinOp::Or, row, nibble);
    let (read, active) = e.other_lane(value, from)?;
    let (zero, old) = (e.b.c32(0), e.vgpr(number));
    let new = match (mods.op_sel & 1 != 0, mods.op_sel & 2 != 0) {
        (true, _) => read,
        (false, true) => e.b.select(active, read, zero),
        (false, false) => e.b.select(active, read, old),
    };
    e.set_vgpr(number, new);
    Ok(())
}

/// Adds to the second source the number of the mask's bits below the lane, of the 32 lanes from `first` on.
fn mbcnt(e: &mut Emit<'_>, inst: &Inst, first: u64) -> Result<(), Stop> {
    let number = destination(e, inst)?;
    let (mask, base) = (source(e, inst, 0)?, source(e, inst, 1)?);
    let lane = e.b.builtin(Builtin::Lane);
    let distance = lanes_below(e, lane, first);
    let count = if e.b.constant(mask) == Some(u64::from(u32::MAX)) {
        if first == 32 && lanes_below(e, lane, 0) == base {
            // All lanes below, of both halves.
            e.set_vgpr(number, lane);
            return Ok(());
        }
        distance
    } else {
        let one = e.b.c64(1);
        let above = e.b.bin(BinOp::Shl, one, distance);
        let below = e.with_constant(BinOp::Sub, above, 1);
        let below = e.b.un(UnOp::Low, below);
        let bits = e.b.bin(BinOp::And, mask, below);
        e.b.un(UnOp::CountOnes, bits)
    };
    let sum = e.b.bin(BinOp::Add, base, count);
    e.set_vgpr(number, sum);
    Ok(())
}

/// How many of the 32 lanes from `first` on are below `lane`.
fn lanes_below(e: &mut Emit<'_>, lane: Value, first: u64) -> Value {
    match (first, e.input.source.wave) {
        (0, WaveSize::W32) => lane,
        (_, WaveSize::W32) => e.b.c32(0),
        (0, WaveSize::W64) => e.with_constant(BinOp::MinU, lane, 32),
        (_, WaveSize::W64) => {
            let over = e.with_constant(BinOp::MaxU, lane, first);
            e.with_constant(BinOp::Sub, over, first)
        }
    }
}

fn swap(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let to = destination(e, inst)?;
    let Operand::Vgpr(from) = inst.src[0] else {
        return Err(e.refuse(inst, "a source that is no vector register"));
    };
    let (a, b) = (e.vgpr(from), e.vgpr(to));
    e.set_vgpr(from, b);
    e.set_vgpr(to, a);
    Ok(())
}

/// Offsets from here on select rotation or the FFT pattern.
const ROTATE: u32 = 0xc000;
/// Offsets from here on permute quads.
const QUAD_PERMUTE: u32 = 0x8000;

fn swizzle(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let pattern = ds_offset(e, inst)?;
    if pattern >= ROTATE {
        return Err(e.refuse(inst, "a rotation or FFT pattern"));
    }
    let number = destination(e, inst)?;
    let value = source(e, inst, 0)?;
    let lane = e.b.builtin(Builtin::Lane);
    let from = if pattern >= QUAD_PERMUTE {
        let quad = e.with_constant(BinOp::And, lane, 3);
        let amount = e.shift(BinOp::Shl, quad, 1);
        let table = e.b.c32(pattern & 0xff);
        let choice = e.b.bin(BinOp::ShrU, table, amount);
        let choice = e.with_constant(BinOp::And, choice, 3);
        let row = e.with_constant(BinOp::And, lane, !3);
        e.b.bin(BinOp::Or, row, choice)
    } else {
        let field = |shift: u32| u64::from(pattern >> shift & 31);
        let kept = e.with_constant(BinOp::And, lane, field(0) | 32);
        let set = e.with_constant(BinOp::Or, kept, field(5));
        e.with_constant(BinOp::Xor, set, field(10))
    };
    e.set_from_lanes(number, value, from)
}

/// The lane that an address names, in the own half of 32.
fn addressed(e: &mut Emit<'_>, inst: &Inst) -> Result<Value, Stop> {
    let offset = ds_offset(e, inst)?;
    let address = source(e, inst, 0)?;
    let lane = e.b.builtin(Builtin::Lane);
    let byte = e.with_constant(BinOp::Add, address, u64::from(offset));
    let index = e.shift(BinOp::ShrU, byte, 2);
    let index = e.with_constant(BinOp::And, index, 31);
    let half = e.with_constant(BinOp::And, lane, 32);
    Ok(e.b.bin(BinOp::Or, half, index))
}

fn permute(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    e.want_wave()?;
    let number = destination(e, inst)?;
    let lane = addressed(e, inst)?;
    let value = source(e, inst, 1)?;
    let active = e.exec();
    let sent = e.b.wave(WaveOp::Send { value, lane, active });
    e.set_vgpr(number, sent);
    Ok(())
}

fn bpermute(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Stop> {
    let number = destination(e, inst)?;
    let from = addressed(e, inst)?;
    let value = source(e, inst, 1)?;
    e.set_from_lanes(number, value, from)
}
