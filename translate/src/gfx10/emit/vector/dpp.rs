//! DPP: the first source comes from another lane.

use guestwave_isa::gfx10::{Inst, LaneForm};

use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Builtin, Type, UnOp, Value, WaveOp};

/// Where the first source comes from, and which lanes take part.
#[derive(Default)]
pub(super) struct Lanes {
    /// The lane to read, if not the own one.
    from: Option<Value>,
    /// Whether that lane can be read; what cannot reads as 0.
    readable: Option<Value>,
    /// Lanes that take part besides EXEC, if not all do.
    pub(super) enabled: Option<Value>,
}

/// How a DPP_CTRL past the quad permutations moves within a row of 16.
#[derive(Clone, Copy)]
enum Move {
    Up,
    Down,
    Rotate,
    Mirror,
    HalfMirror,
    Share,
    Xor,
}

/// First and last DPP_CTRL of each move; the amount is the low four bits.
const MOVES: [(u16, u16, Move); 7] = [
    (0x101, 0x10f, Move::Up),
    (0x111, 0x11f, Move::Down),
    (0x121, 0x12f, Move::Rotate),
    (0x140, 0x140, Move::Mirror),
    (0x141, 0x141, Move::HalfMirror),
    (0x150, 0x15f, Move::Share),
    (0x160, 0x16f, Move::Xor),
];

impl Emit<'_> {
    pub(super) fn lanes(&mut self, inst: &Inst, form: &LaneForm) -> Result<Lanes, Stop> {
        match *form {
            LaneForm::None | LaneForm::Sdwa(_) => Ok(Lanes::default()),
            LaneForm::Dpp8 { sel, fetch_inactive } => {
                let packed = sel.iter().rev().fold(0u32, |all, s| all << 4 | u32::from(s & 7));
                let from = self.chosen(packed, 7, 8);
                let readable = self.readable(from, fetch_inactive)?;
                Ok(Lanes { from: Some(from), readable, enabled: None })
            }
            LaneForm::Dpp16 { ctrl, row_mask, bank_mask, bound_ctrl, fetch_inactive } => {
                let (from, inside) = self.dpp16_lane(inst, ctrl)?;
                let readable = self.readable(from, fetch_inactive)?;
                let valid = self.both(inside, readable);
                let mut enabled = self.row_and_bank(row_mask, bank_mask);
                let mut zeroed = None;
                if bound_ctrl {
                    zeroed = valid;
                } else {
                    enabled = self.both(enabled, valid);
                }
                Ok(Lanes { from: Some(from), readable: zeroed, enabled })
            }
        }
    }

    fn both(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.b.bin(BinOp::And, a, b)),
            (one, other) => one.or(other),
        }
    }

    /// Lane `first of the group + nibble [lane in the group] of packed`, for groups of `group` lanes.
    fn chosen(&mut self, packed: u32, index_mask: u32, group: u32) -> Value {
        let lane = self.b.builtin(Builtin::Lane);
        let (mask, two, fifteen) = (self.b.c32(index_mask), self.b.c32(2), self.b.c32(15));
        let (table, keep) = (self.b.c32(packed), self.b.c32(!(group - 1)));
        let within = self.b.bin(BinOp::And, lane, mask);
        let amount = self.b.bin(BinOp::Shl, within, two);
        let nibble = self.b.bin(BinOp::ShrU, table, amount);
        let nibble = self.b.bin(BinOp::And, nibble, fifteen);
        let first = self.b.bin(BinOp::And, lane, keep);
        self.b.bin(BinOp::Or, first, nibble)
    }

    /// The lane that DPP_CTRL names, and whether it is inside the row (if it can be outside).
    fn dpp16_lane(&mut self, inst: &Inst, ctrl: u16) -> Result<(Value, Option<Value>), Stop> {
        if ctrl <= 0xff {
            let packed = (0..4u32).map(|i| u32::from(ctrl >> (2 * i) & 3) << (4 * i)).sum();
            return Ok((self.chosen(packed, 3, 4), None));
        }
        let known = MOVES.iter().find(|(first, last, _)| (*first..=*last).contains(&ctrl));
        let Some((_, _, step)) = known else { return Err(self.refuse(inst, "a reserved DPP control")) };
        Ok(self.moved(*step, u32::from(ctrl & 15)))
    }

    fn moved(&mut self, step: Move, amount: u32) -> (Value, Option<Value>) {
        let lane = self.b.builtin(Builtin::Lane);
        let (fifteen, row_mask, n) = (self.b.c32(15), self.b.c32(!15), self.b.c32(amount));
        let within = self.b.bin(BinOp::And, lane, fifteen);
        let row = self.b.bin(BinOp::And, lane, row_mask);
        let seven = self.b.c32(7);
        let to = match step {
            Move::Up => self.b.bin(BinOp::Add, within, n),
            Move::Down | Move::Rotate => self.b.bin(BinOp::Sub, within, n),
            Move::Mirror => self.b.bin(BinOp::Xor, within, fifteen),
            Move::HalfMirror => self.b.bin(BinOp::Xor, within, seven),
            Move::Share => n,
            Move::Xor => self.b.bin(BinOp::Xor, within, n),
        };
        let inside = matches!(step, Move::Up | Move::Down).then(|| self.b.bin(BinOp::LeU, to, fifteen));
        let wrapped = self.b.bin(BinOp::And, to, fifteen);
        (self.b.bin(BinOp::Or, row, wrapped), inside)
    }

    /// Whether the lane's registers can be read: it is in EXEC, or inactive lanes are fetched too.
    fn readable(&mut self, from: Value, fetch_inactive: bool) -> Result<Option<Value>, Stop> {
        let exec = self.exec();
        if fetch_inactive || self.b.constant(exec) == Some(1) {
            return Ok(None);
        }
        self.want_wave()?;
        let word = self.b.un(UnOp::FromBool, exec);
        let there = self.b.wave(WaveOp::Shuffle { value: word, lane: from });
        let zero = self.b.c32(0);
        Ok(Some(self.b.bin(BinOp::Ne, there, zero)))
    }

    fn row_and_bank(&mut self, row_mask: u8, bank_mask: u8) -> Option<Value> {
        if row_mask & 15 == 15 && bank_mask & 15 == 15 {
            return None;
        }
        let rows = self.chosen_bit(row_mask, 4);
        let banks = self.chosen_bit(bank_mask, 2);
        Some(self.b.bin(BinOp::And, rows, banks))
    }

    /// Bit `lane >> shift & 3` of `mask`.
    fn chosen_bit(&mut self, mask: u8, shift: u32) -> Value {
        let lane = self.b.builtin(Builtin::Lane);
        let (amount, three, one) = (self.b.c32(shift), self.b.c32(3), self.b.c32(1));
        let mask = self.b.c32(u32::from(mask));
        let index = self.b.bin(BinOp::ShrU, lane, amount);
        let index = self.b.bin(BinOp::And, index, three);
        let bit = self.b.bin(BinOp::ShrU, mask, index);
        let bit = self.b.bin(BinOp::And, bit, one);
        self.b.bin(BinOp::Eq, bit, one)
    }

    /// A fetched source as the lanes read it.
    pub(super) fn read_lanes(&mut self, inst: &Inst, value: Value, lanes: &Lanes) -> Result<Value, Stop> {
        let Some(from) = lanes.from else { return Ok(value) };
        if self.b.info(value).ty != Type::B32 {
            return Err(self.refuse(inst, "DPP of a 64-bit source"));
        }
        self.want_wave()?;
        let moved = self.b.wave(WaveOp::Shuffle { value, lane: from });
        let zero = self.b.c32(0);
        Ok(match lanes.readable {
            Some(readable) => self.b.select(readable, moved, zero),
            None => moved,
        })
    }
}
