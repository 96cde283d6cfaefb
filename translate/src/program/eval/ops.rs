//! What each operation means on one lane's bits. Values of 32 bits and `Bool`s stand in the low bits of a `u64`.

use crate::program::{BinOp, TriOp, Type, UnOp};

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn bits32(x: f32) -> u64 {
    u64::from(x.to_bits())
}

/// `op` of a value of type `ty`.
pub(in crate::program) fn un(op: UnOp, ty: Type, x: u64) -> u64 {
    if let Some(f) = function_f32(op) {
        return bits32(f(f32_of(x)));
    }
    if let Some(f) = function_f64(op) {
        return f(f64::from_bits(x)).to_bits();
    }
    match ty {
        Type::Bool => u64::from((op == UnOp::Not) != (x != 0)),
        Type::B32 => un32(op, x as u32),
        Type::B64 => un64(op, x),
    }
}

fn function_f32(op: UnOp) -> Option<fn(f32) -> f32> {
    Some(match op {
        UnOp::SqrtF32 | UnOp::FastSqrtF32 => f32::sqrt,
        UnOp::FloorF32 => f32::floor,
        UnOp::CeilF32 => f32::ceil,
        UnOp::TruncF32 => f32::trunc,
        UnOp::RoundF32 => f32::round_ties_even,
        UnOp::FastRcpF32 => |x| 1.0 / x,
        UnOp::FastRsqF32 => |x| 1.0 / x.sqrt(),
        UnOp::FastExp2F32 => f32::exp2,
        UnOp::FastLog2F32 => f32::log2,
        UnOp::FastSinF32 => |x| (x * std::f32::consts::TAU).sin(),
        UnOp::FastCosF32 => |x| (x * std::f32::consts::TAU).cos(),
        _ => return None,
    })
}

fn function_f64(op: UnOp) -> Option<fn(f64) -> f64> {
    Some(match op {
        UnOp::SqrtF64 => f64::sqrt,
        UnOp::FloorF64 => f64::floor,
        UnOp::CeilF64 => f64::ceil,
        UnOp::TruncF64 => f64::trunc,
        UnOp::RoundF64 => f64::round_ties_even,
        _ => return None,
    })
}

fn un32(op: UnOp, x: u32) -> u64 {
    let s = x as i32;
    match op {
        UnOp::Not => u64::from(!x),
        UnOp::Neg => u64::from(x.wrapping_neg()),
        UnOp::CountOnes => u64::from(x.count_ones()),
        UnOp::LeadingZeros => u64::from(x.leading_zeros()),
        UnOp::TrailingZeros => u64::from(x.trailing_zeros()),
        UnOp::ReverseBits => u64::from(x.reverse_bits()),
        UnOp::ExtendS => i64::from(s) as u64,
        UnOp::Sext8 => u64::from(i32::from(x as i8) as u32),
        UnOp::Sext16 => u64::from(i32::from(x as i16) as u32),
        _ => convert32(op, x),
    }
}

fn convert32(op: UnOp, x: u32) -> u64 {
    let (s, f) = (x as i32, f32::from_bits(x));
    match op {
        UnOp::F32FromU32 => bits32(x as f32),
        UnOp::F32FromS32 => bits32(s as f32),
        UnOp::F64FromU32 => f64::from(x).to_bits(),
        UnOp::F64FromS32 => f64::from(s).to_bits(),
        UnOp::U32FromF32 => u64::from(f as u32),
        UnOp::S32FromF32 => u64::from(f as i32 as u32),
        UnOp::F64FromF32 => f64::from(f).to_bits(),
        UnOp::F32FromF16 => bits32(f32_from_f16(x)),
        UnOp::F16FromF32 => u64::from(f16_from_f32(f)),
        // `Extend` and `FromBool`.
        _ => u64::from(x),
    }
}

fn un64(op: UnOp, x: u64) -> u64 {
    let f = f64::from_bits(x);
    match op {
        UnOp::Not => !x,
        UnOp::Neg => x.wrapping_neg(),
        UnOp::CountOnes => u64::from(x.count_ones()),
        UnOp::LeadingZeros => u64::from(x.leading_zeros()),
        UnOp::TrailingZeros => u64::from(x.trailing_zeros()),
        UnOp::ReverseBits => x.reverse_bits(),
        UnOp::High => x >> 32,
        UnOp::U32FromF64 => u64::from(f as u32),
        UnOp::S32FromF64 => u64::from(f as i32 as u32),
        UnOp::F32FromF64 => bits32(f as f32),
        // `Low`.
        _ => x & u64::from(u32::MAX),
    }
}

fn f32_from_f16(half: u32) -> f32 {
    let (sign, exponent, fraction) = (half >> 15 & 1, half >> 10 & 31, (half & 0x3ff) as f32);
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        e => (1024.0 + fraction) * 2f32.powi(e as i32 - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

fn f16_from_f32(x: f32) -> u32 {
    let (sign, magnitude) = ((x.to_bits() >> 16) & 0x8000, f64::from(x.abs()));
    let bits = if x.is_nan() {
        0x7e00
    } else if magnitude >= 65520.0 {
        0x7c00
    } else {
        // Units of the last place: 2^-24 for denormals and the first binade, then with the exponent.
        let exponent = ((x.to_bits() >> 23 & 255) as i32 - 127).max(-14);
        let units = (magnitude * 2f64.powi(10 - exponent)).round_ties_even() as u32;
        ((exponent + 14) as u32) * 1024 + units
    };
    sign | bits
}

/// `op` of two values of type `ty` (a shift's amount is 32 bits).
pub(in crate::program) fn bin(op: BinOp, ty: Type, x: u64, y: u64) -> u64 {
    if let Some(f) = arithmetic_f32(op) {
        return bits32(f(f32_of(x), f32_of(y)));
    }
    if let Some(f) = arithmetic_f64(op) {
        return f(f64::from_bits(x), f64::from_bits(y)).to_bits();
    }
    if let Some(truth) = compare_float(op, x, y) {
        return u64::from(truth);
    }
    match ty {
        Type::B64 => bin64(op, x, y),
        _ if op == BinOp::Pack => x | y << 32,
        _ => bin32(op, x as u32, y as u32),
    }
}

fn arithmetic_f32(op: BinOp) -> Option<fn(f32, f32) -> f32> {
    Some(match op {
        BinOp::AddF32 => |x, y| x + y,
        BinOp::SubF32 => |x, y| x - y,
        BinOp::MulF32 => |x, y| x * y,
        BinOp::DivF32 => |x, y| x / y,
        _ => return None,
    })
}

fn arithmetic_f64(op: BinOp) -> Option<fn(f64, f64) -> f64> {
    Some(match op {
        BinOp::AddF64 => |x, y| x + y,
        BinOp::SubF64 => |x, y| x - y,
        BinOp::MulF64 => |x, y| x * y,
        BinOp::DivF64 => |x, y| x / y,
        _ => return None,
    })
}

fn compare_float(op: BinOp, x: u64, y: u64) -> Option<bool> {
    let (f, g) = (f32_of(x), f32_of(y));
    let (d, e) = (f64::from_bits(x), f64::from_bits(y));
    Some(match op {
        BinOp::EqF32 => f == g,
        BinOp::LtF32 => f < g,
        BinOp::LeF32 => f <= g,
        BinOp::EqF64 => d == e,
        BinOp::LtF64 => d < e,
        BinOp::LeF64 => d <= e,
        _ => return None,
    })
}

fn bin32(op: BinOp, x: u32, y: u32) -> u64 {
    let (s, t) = (x as i32, y as i32);
    u64::from(match op {
        BinOp::Add => x.wrapping_add(y),
        BinOp::Sub => x.wrapping_sub(y),
        BinOp::Mul => x.wrapping_mul(y),
        BinOp::MulHighU => ((u64::from(x) * u64::from(y)) >> 32) as u32,
        BinOp::MulHighS => ((i64::from(s) * i64::from(t)) >> 32) as u32,
        BinOp::DivU => x.checked_div(y).unwrap_or(u32::MAX),
        BinOp::RemU => x.checked_rem(y).unwrap_or(x),
        BinOp::And => x & y,
        BinOp::Or => x | y,
        BinOp::Xor => x ^ y,
        BinOp::Shl => x.wrapping_shl(y),
        BinOp::ShrU => x.wrapping_shr(y),
        BinOp::ShrS => s.wrapping_shr(y) as u32,
        BinOp::MinU => x.min(y),
        BinOp::MaxU => x.max(y),
        BinOp::MinS => s.min(t) as u32,
        BinOp::MaxS => s.max(t) as u32,
        _ => u32::from(compare(op, (u64::from(x), u64::from(y)), (i64::from(s), i64::from(t)))),
    })
}

fn bin64(op: BinOp, x: u64, y: u64) -> u64 {
    let (s, t) = (x as i64, y as i64);
    match op {
        BinOp::Add => x.wrapping_add(y),
        BinOp::Sub => x.wrapping_sub(y),
        BinOp::Mul => x.wrapping_mul(y),
        BinOp::And => x & y,
        BinOp::Or => x | y,
        BinOp::Xor => x ^ y,
        BinOp::Shl => x.wrapping_shl(y as u32),
        BinOp::ShrU => x.wrapping_shr(y as u32),
        BinOp::ShrS => s.wrapping_shr(y as u32) as u64,
        BinOp::MinU => x.min(y),
        BinOp::MaxU => x.max(y),
        BinOp::MinS => s.min(t) as u64,
        BinOp::MaxS => s.max(t) as u64,
        _ => u64::from(compare(op, (x, y), (s, t))),
    }
}

fn compare(op: BinOp, (x, y): (u64, u64), (s, t): (i64, i64)) -> bool {
    match op {
        BinOp::Eq => x == y,
        BinOp::Ne => x != y,
        BinOp::LtU => x < y,
        BinOp::LeU => x <= y,
        BinOp::LtS => s < t,
        _ => s <= t,
    }
}

/// `op` of three values.
pub(in crate::program) fn tri(op: TriOp, x: u64, y: u64, z: u64) -> u64 {
    match op {
        TriOp::Select => {
            if x != 0 {
                y
            } else {
                z
            }
        }
        TriOp::FmaF32 | TriOp::FastMadF32 => bits32(f32_of(x).mul_add(f32_of(y), f32_of(z))),
        TriOp::FmaF64 => f64::from_bits(x).mul_add(f64::from_bits(y), f64::from_bits(z)).to_bits(),
    }
}
