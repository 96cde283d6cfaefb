//! Varyings: flat and smooth loads of what the vertex stage stored.

use super::StopKind;
use super::control::Next;
use super::launch_state::launch;
use super::thread::{Special, Thread};
use crate::format::{half_of_single, single_of_half};
use crate::mali::valhall::{Inst, Op, Ty, field};

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Special)] = &[
    (Op::LoadVarBufImm, |t, i| load(t, i, i.immediate("index"))),
    (Op::LoadVarBuf, |t, i| {
        let offset = t.word(i, 1)?;
        load(t, i, offset)
    }),
    (Op::LoadVarSpecial, special),
];

/// Codes of the sample field.
const EXPLICIT: u32 = 3;

fn load(thread: &mut Thread<'_>, inst: &Inst, offset: u32) -> Result<Next, StopKind> {
    let count = inst.code(&field::VECSIZE) + 1;
    let format = inst.code(&field::SOURCE_FORMAT);
    let to_half = inst.row.ty == Ty::F16;
    let (half, flat) = (format & 1 != 0, format < 2);
    let name = inst.row.name;
    if flat && half != to_half {
        return Err(StopKind::Form { name, form: "a flat source of another width" });
    }
    if !flat && inst.code(&field::SAMPLE) == EXPLICIT {
        return Err(StopKind::Form { name, form: "an explicit position" });
    }
    let mut values = [0; 4];
    for (i, value) in (0..count).zip(&mut values) {
        let at = offset.wrapping_add(i * if half { 2 } else { 4 });
        *value = if flat {
            thread.stored(launch::FLAT_VERTEX, at, half)?
        } else {
            thread.smooth(at, half, to_half)?
        };
    }
    let words = match to_half {
        true => [values[0] | values[1] << 16, values[2] | values[3] << 16, 0, 0],
        false => values,
    };
    let registers = if to_half { count.div_ceil(2) } else { count };
    thread.set_staged(inst, &words[..registers as usize]);
    Ok(Next::Follow)
}

impl Thread<'_> {
    /// What the vertex whose number stands in launch word `vertex` stored at byte `offset` of its packet.
    fn stored(&mut self, vertex: usize, offset: u32, half: bool) -> Result<u32, StopKind> {
        let hidden = self.env.hidden;
        let packet = u64::from(self.registers[vertex]).wrapping_mul(hidden.stride.into());
        let address = hidden.address.wrapping_add(packet).wrapping_add(offset.into());
        let mut bytes = [0; 4];
        self.read(address, &mut bytes[..if half { 2 } else { 4 }])?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// A value between the three vertices: each is converted to the register's format first, then they are weighed. At a
    /// vertex, and where the three are equal, the result is the vertex's value bit for bit.
    fn smooth(&mut self, offset: u32, half: bool, to_half: bool) -> Result<u32, StopKind> {
        let mut values = [0; 3];
        for (i, value) in values.iter_mut().enumerate() {
            let stored = self.stored(launch::VERTICES + i, offset, half)?;
            *value = match (half, to_half) {
                (true, false) => single_of_half(stored as u16),
                (false, true) => half_of_single(stored).into(),
                _ => stored,
            };
        }
        let weights = [0, 1, 2].map(|i| f32::from_bits(self.registers[launch::WEIGHTS + i]));
        let at = weights.iter().position(|w| *w == 1.0);
        let exact = if values == [values[0]; 3] { Some(0) } else { at };
        Ok(exact.map_or_else(|| weighed(weights, values, to_half), |vertex| values[vertex]))
    }
}

/// The weighted sum of three values, in f32.
fn weighed(weights: [f32; 3], values: [u32; 3], to_half: bool) -> u32 {
    let single = |v: u32| if to_half { single_of_half(v as u16) } else { v };
    let [a, b, c] = values.map(|v| f32::from_bits(single(v)));
    let sum = weights[2].mul_add(c, weights[1].mul_add(b, weights[0] * a));
    super::alu::encoded(sum, if to_half { Ty::F16 } else { Ty::F32 }) as u32
}

/// Point coordinate, 1/w and depth, which the launch gives.
fn special(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let name = inst.row.name;
    let (first, most) = match inst.immediate("index") {
        0 => (launch::POINT, 2),
        2 => (launch::FRAG_W, 1),
        3 => (launch::FRAG_Z, 1),
        _ => return Err(StopKind::Form { name, form: "this special varying" }),
    };
    let count = inst.code(&field::VECSIZE) as usize + 1;
    // Special varyings are f32 only, and so is their register format code.
    if count > most || inst.code(&field::REGFMT) != 2 {
        return Err(StopKind::Form { name, form: "this many components or this register format" });
    }
    let words: Vec<u32> = thread.registers[first..first + count].to_vec();
    thread.set_staged(inst, &words);
    Ok(Next::Follow)
}
