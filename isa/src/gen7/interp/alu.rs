//! Arithmetic of one channel, and of the four components of a vertex.

use super::super::error::Refusal;
use super::super::inst::{Condition, Inst, Type};
use super::Mad;
use super::operand::Element;

const NAN: u32 = 0x7fc0_0000;
const SIGN: u32 = 1 << 31;

/// One row an operation of up to two sources; those of one see their source twice. `None` where it does not take such
/// operands.
struct Operation {
    mnemonic: &'static str,
    floats: Option<fn(f32, f32) -> f32>,
    integers: Option<fn(i64, i64) -> i64>,
}

const fn floats(mnemonic: &'static str, floats: fn(f32, f32) -> f32) -> Operation {
    Operation { mnemonic, floats: Some(floats), integers: None }
}

const fn integers(mnemonic: &'static str, integers: fn(i64, i64) -> i64) -> Operation {
    Operation { mnemonic, floats: None, integers: Some(integers) }
}

/// Bits of a shift amount that count.
const SHIFT: i64 = 31;

#[rustfmt::skip]
const OPERATIONS: &[Operation] = &[
    Operation { mnemonic: "add", floats: Some(|a, b| a + b), integers: Some(|a, b| a + b) },
    Operation { mnemonic: "mul", floats: Some(|a, b| a * b), integers: Some(i64::wrapping_mul) },
    floats("frc",  |a, _| a - a.floor()),
    floats("rndu", |a, _| a.ceil()),
    floats("rndd", |a, _| a.floor()),
    floats("rnde", |a, _| a.round_ties_even()),
    floats("rndz", |a, _| a.trunc()),
    integers("not", |a, _| !a),
    integers("and", |a, b| a & b),
    integers("or",  |a, b| a | b),
    integers("xor", |a, b| a ^ b),
    integers("shr", |a, b| i64::from(a as u32 >> (b & SHIFT))),
    integers("shl", |a, b| i64::from((a as u32) << (b & SHIFT))),
    integers("asr", |a, b| a >> (b & SHIFT)),
    integers("lzd", |a, _| i64::from((a as u32).leading_zeros())),
    integers("cbit", |a, _| i64::from((a as u32).count_ones())),
];

/// A float with denormals flushed.
fn flush(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & SIGN } else { bits }
}

fn float(bits: u32) -> f32 {
    f32::from_bits(flush(bits))
}

fn rounded(value: f32) -> u32 {
    if value.is_nan() { NAN } else { flush(value.to_bits()) }
}

/// The result of an operation in one channel, in the kind that its sources have.
///
/// # Errors
/// Sources of kinds that the operation does not take.
pub(super) fn compute(inst: &Inst, src: &[Element; 3], mad: Mad) -> Result<Element, Refusal> {
    match inst.row.mnemonic {
        "mov" => Ok(src[0]),
        "mad" => multiply_add(inst, src, mad),
        mnemonic => {
            let row = OPERATIONS.iter().find(|row| row.mnemonic == mnemonic);
            let second = if inst.row.sources > 1 { src[1] } else { src[0] };
            operate(inst, row, src[0], second)
        }
    }
}

fn operate(inst: &Inst, row: Option<&Operation>, a: Element, b: Element) -> Result<Element, Refusal> {
    let result = match (row, a, b) {
        (Some(Operation { floats: Some(f), .. }), Element::Float(a), Element::Float(b)) => {
            Element::Float(rounded(f(float(a), float(b))))
        }
        (Some(Operation { integers: Some(f), .. }), Element::Integer(a), Element::Integer(b)) => {
            check_multiplication(inst)?;
            Element::Integer(f(a, b))
        }
        _ => {
            let what = "sources of a kind that its operation does not take";
            return Err(Refusal::Operand { pc: inst.pc, what });
        }
    };
    Ok(result)
}

/// The unit multiplies dwords by words only: what it gives for two dwords is not the product.
fn check_multiplication(inst: &Inst) -> Result<(), Refusal> {
    let dwords = inst.src[..2].iter().all(|src| src.ty.bytes() == 4);
    match inst.row.mnemonic == "mul" && dwords {
        true => Err(Refusal::Operand { pc: inst.pc, what: "a product of two dwords" }),
        false => Ok(()),
    }
}

/// `src1 * src2 + src0`.
fn multiply_add(inst: &Inst, src: &[Element; 3], mad: Mad) -> Result<Element, Refusal> {
    let [Element::Float(c), Element::Float(a), Element::Float(b)] = *src else {
        return Err(Refusal::Operand { pc: inst.pc, what: "a multiplication and addition of integers" });
    };
    let (a, b, c) = (float(a), float(b), float(c));
    Ok(Element::Float(match mad {
        Mad::Fused => rounded(a.mul_add(b, c)),
        Mad::Separate => rounded(float(rounded(a * b)) + c),
    }))
}

/// The dot products: components that are multiplied, and whether the fourth of the first source counts as 1.
const DOTS: [(&str, usize, bool); 4] =
    [("dp4", 4, false), ("dph", 4, true), ("dp3", 3, false), ("dp2", 2, false)];

/// A dot product of two vectors, summed from the first component on.
///
/// # Errors
/// Integers.
pub(super) fn dot(inst: &Inst, first: [Element; 4], second: [Element; 4]) -> Result<Element, Refusal> {
    let integers = Refusal::Operand { pc: inst.pc, what: "a dot product of integers" };
    let row = DOTS.iter().find(|(name, ..)| *name == inst.row.mnemonic);
    let (_, count, homogeneous) = *row.ok_or(integers.clone())?;
    let mut sum = None;
    for component in 0..count {
        let (Element::Float(a), Element::Float(b)) = (first[component], second[component]) else {
            return Err(integers);
        };
        let a = if homogeneous && component == 3 { 1.0 } else { float(a) };
        let product = float(rounded(a * float(b)));
        sum = Some(sum.map_or(product, |sum: f32| float(rounded(sum + product))));
    }
    Ok(Element::Float(rounded(sum.unwrap_or(0.0))))
}

/// Whether a condition holds between two elements.
///
/// # Errors
/// A float and an integer, or a test of overflow.
pub(super) fn holds(inst: &Inst, condition: Condition, a: Element, b: Element) -> Result<bool, Refusal> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = match (a, b) {
        (Element::Float(a), Element::Float(b)) => float(a).partial_cmp(&float(b)),
        (Element::Integer(a), Element::Integer(b)) => Some(a.cmp(&b)),
        _ => return Err(Refusal::Operand { pc: inst.pc, what: "a comparison of floats and integers" }),
    };
    Ok(match condition {
        Condition::Z => order == Some(Equal),
        Condition::Nz => order != Some(Equal),
        Condition::G => order == Some(Greater),
        Condition::Ge => matches!(order, Some(Greater | Equal)),
        Condition::L => order == Some(Less),
        Condition::Le => matches!(order, Some(Less | Equal)),
        Condition::U => order.is_none(),
        Condition::O => return Err(Refusal::Operand { pc: inst.pc, what: "a test of overflow" }),
    })
}

/// The smaller or larger of two elements, as SEL with a condition takes it: a NaN loses.
///
/// # Errors
/// As [`holds`].
pub(super) fn select(inst: &Inst, condition: Condition, a: Element, b: Element) -> Result<Element, Refusal> {
    let nan = |element: Element| matches!(element, Element::Float(bits) if f32::from_bits(bits).is_nan());
    match (nan(a), nan(b)) {
        (true, _) => Ok(b),
        (_, true) => Ok(a),
        _ => Ok(if holds(inst, condition, a, b)? { a } else { b }),
    }
}

/// A result in the type of the destination, clamped where the instruction says so.
pub(super) fn converted(inst: &Inst, value: Element) -> Element {
    let ty = inst.dst.ty;
    match (value, ty.is_float()) {
        (Element::Float(bits), true) => Element::Float(if inst.saturate { clamp_unit(bits) } else { bits }),
        (Element::Integer(value), true) => {
            let bits = rounded(value as f32);
            Element::Float(if inst.saturate { clamp_unit(bits) } else { bits })
        }
        // Float to integer drops the fraction and stays in range whether or not it is asked to.
        (Element::Float(bits), false) => Element::Integer(clamp(f64::from(float(bits)) as i64, ty)),
        (Element::Integer(value), false) => {
            Element::Integer(if inst.saturate { clamp(value, ty) } else { value })
        }
    }
}

/// A float in 0 to 1; NaN is 0.
fn clamp_unit(bits: u32) -> u32 {
    let value = float(bits);
    if value > 0.0 { value.min(1.0).to_bits() } else { 0 }
}

fn clamp(value: i64, ty: Type) -> i64 {
    let bits = 8 * ty.bytes().min(4);
    match ty {
        Type::D | Type::W | Type::B => value.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => value.clamp(0, (1 << bits) - 1),
    }
}
