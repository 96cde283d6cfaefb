//! Varyings: flat and smooth loads of what the vertex stage stored.

use guestwave_cp::mali::job::environment::register;
use guestwave_isa::mali::valhall::{Inst, Op, Ty, field};

use super::Refusal;
use super::alu::encoded;
use super::emit::{Emit, Lower};
use crate::program::{BinOp, TriOp, UnOp, Value, Width};

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Lower)] = &[
    (Op::LoadVarBufImm, |e, i| {
        let offset = e.b.c32(i.immediate("index"));
        load(e, i, offset)
    }),
    (Op::LoadVarBuf, |e, i| {
        let offset = e.word(i, 1)?;
        load(e, i, offset)
    }),
    (Op::LoadVarSpecial, special),
];

/// Code of the sample field for a position in a register.
const EXPLICIT: u32 = 3;

/// What a load of a varying does.
struct Shape {
    /// 16 bits a component in memory.
    half: bool,
    /// 16 bits a component in registers.
    to_half: bool,
    pc: u32,
}

fn load(e: &mut Emit<'_>, inst: &Inst, offset: Value) -> Result<(), Refusal> {
    let count = inst.code(&field::VECSIZE) + 1;
    let format = inst.code(&field::SOURCE_FORMAT);
    let (half, flat) = (format & 1 != 0, format < 2);
    let shape = Shape { half, to_half: inst.row.ty == Ty::F16, pc: inst.offset };
    if flat && half != shape.to_half {
        return Err(e.refuse(inst, "a flat source of another width"));
    }
    if !flat && inst.code(&field::SAMPLE) == EXPLICIT {
        return Err(e.refuse(inst, "an explicit position"));
    }
    let values: Vec<Value> = (0..count)
        .map(|i| {
            let at = e.b.with_constant(BinOp::Add, offset, u64::from(i * if half { 2 } else { 4 }));
            if flat { e.stored(register::FLAT_VERTEX, at, &shape) } else { e.smooth(at, &shape) }
        })
        .collect();
    let words = if shape.to_half { e.halves(&values) } else { values };
    e.set_staged(inst, &words);
    Ok(())
}

impl Emit<'_> {
    /// What the vertex whose number stands in launch word `vertex` stored at byte `offset` of its packet.
    fn stored(&mut self, vertex: usize, offset: Value, shape: &Shape) -> Value {
        let number = self.register(vertex);
        let packet = self.packet(number);
        let offset = self.b.un(UnOp::Extend, offset);
        let address = self.b.bin(BinOp::Add, packet, offset);
        let width = if shape.half { Width::W16 } else { Width::W32 };
        let valid = self.b.c32(width.bytes());
        self.load_units(address, valid, (width, 1), shape.pc)[0]
    }

    /// A value between the three vertices: each is converted to the register's format first, then they are weighed. At a
    /// vertex, and where the three are equal, the result is the vertex's value bit for bit.
    fn smooth(&mut self, offset: Value, shape: &Shape) -> Value {
        let values: [Value; 3] = std::array::from_fn(|i| {
            let stored = self.stored(register::VERTICES + i, offset, shape);
            match (shape.half, shape.to_half) {
                (true, false) => self.convert().single_of_half(stored),
                (false, true) => self.convert().half_of_single(stored),
                _ => stored,
            }
        });
        let weights: [Value; 3] = std::array::from_fn(|i| self.register(register::WEIGHTS + i));
        let mut result = self.weighed(weights, values, shape.to_half);
        let one = self.b.c32(1f32.to_bits());
        for (weight, value) in weights.into_iter().zip(values).rev() {
            let there = self.b.bin(BinOp::EqF32, weight, one);
            result = self.b.select(there, value, result);
        }
        let [first, second] = [values[1], values[2]].map(|v| self.b.bin(BinOp::Eq, values[0], v));
        let equal = self.b.bin(BinOp::And, first, second);
        self.b.select(equal, values[0], result)
    }

    /// The weighted sum of three values, in f32.
    fn weighed(&mut self, weights: [Value; 3], values: [Value; 3], to_half: bool) -> Value {
        let singles = values.map(|v| if to_half { self.convert().single_of_half(v) } else { v });
        let first = self.b.bin(BinOp::MulF32, weights[0], singles[0]);
        let second = self.b.tri(TriOp::FmaF32, weights[1], singles[1], first);
        let sum = self.b.tri(TriOp::FmaF32, weights[2], singles[2], second);
        encoded(&mut self.b, sum, if to_half { 16 } else { 32 })
    }

    /// Halves side by side.
    fn halves(&mut self, values: &[Value]) -> Vec<Value> {
        let pair = |e: &mut Self, chunk: &[Value]| match chunk {
            [low, high] => {
                let high = e.b.shift(BinOp::Shl, *high, 16);
                e.b.bin(BinOp::Or, *low, high)
            }
            _ => chunk[0],
        };
        values.chunks(2).map(|chunk| pair(self, chunk)).collect()
    }
}

/// Point coordinate, 1/w and depth, which the launch gives.
fn special(e: &mut Emit<'_>, inst: &Inst) -> Result<(), Refusal> {
    let (first, most) = match inst.immediate("index") {
        0 => (register::POINT, 2),
        2 => (register::FRAG_W, 1),
        3 => (register::FRAG_Z, 1),
        _ => return Err(e.refuse(inst, "a special varying of no known name")),
    };
    let count = inst.code(&field::VECSIZE) as usize + 1;
    // Special varyings are f32 only, and so is their register format code.
    if count > most || inst.code(&field::REGFMT) != 2 {
        return Err(e.refuse(inst, "more components or another register format than its special varying"));
    }
    let words: Vec<Value> = (0..count).map(|i| e.register(first + i)).collect();
    e.set_staged(inst, &words);
    Ok(())
}
