//! Float operations against what they should give.

use guestwave_translate::backend::{BackendError, Holding};
use guestwave_translate::naga::FloatCaps;
use guestwave_translate::program::{BinOp, Builder, Builtin, Program, TriOp, UnOp, Value};

use super::lanes::word;
use super::{Check, launch};
use crate::backend::WgpuBackend;

/// Operands that are looked at.
const CASES: u32 = 2048;
/// Words of a case: three operands of 64 bits.
const OPERANDS: u32 = 6;

/// Three operands: f32 bits and f64 bits.
#[derive(Clone, Copy)]
struct Case {
    narrow: [u32; 3],
    wide: [u64; 3],
}

/// An operation that is looked at: what the device does and what is right. Results of 32 bits stand in the low half.
struct Looked {
    name: &'static str,
    emit: fn(&mut Builder, [Value; 3], [Value; 3]) -> Value,
    right: fn(&Case) -> u64,
    /// Whether a NaN may be any NaN: of 32 bits, of 64 bits.
    nan: Nan,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nan {
    Of32,
    Of64,
    No,
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn b32(x: f32) -> u64 {
    u64::from(x.to_bits())
}

/// A `Bool` as a number.
fn truth(b: &mut Builder, x: Value) -> Value {
    b.un(UnOp::FromBool, x)
}

const LOOKED: [Looked; 17] = [
    Looked {
        name: "f32 addition and multiplication, each rounded",
        emit: |b, x, _| {
            let product = b.bin(BinOp::MulF32, x[0], x[1]);
            b.bin(BinOp::AddF32, product, x[2])
        },
        right: |c| b32(f(c.narrow[0]) * f(c.narrow[1]) + f(c.narrow[2])),
        nan: Nan::Of32,
    },
    Looked {
        name: "f32 (a + b) - b",
        emit: |b, x, _| {
            let sum = b.bin(BinOp::AddF32, x[0], x[1]);
            b.bin(BinOp::SubF32, sum, x[1])
        },
        right: |c| b32(f(c.narrow[0]) + f(c.narrow[1]) - f(c.narrow[1])),
        nan: Nan::Of32,
    },
    Looked {
        name: "f32 a + 0 and a * 0",
        emit: |b, x, _| {
            let zero = b.c32(0);
            let sum = b.bin(BinOp::AddF32, x[0], zero);
            let product = b.bin(BinOp::MulF32, x[0], zero);
            let one = b.c32(1);
            let product = b.bin(BinOp::ShrU, product, one);
            b.bin(BinOp::Xor, sum, product)
        },
        right: |c| {
            let a = f(c.narrow[0]);
            // A NaN of the product may be any NaN, so the case is left out where there is one.
            if a.is_finite() { u64::from((a + 0.0).to_bits() ^ (a * 0.0).to_bits() >> 1) } else { ANY }
        },
        nan: Nan::No,
    },
    Looked {
        name: "f32 fused multiply-add",
        emit: |b, x, _| b.tri(TriOp::FmaF32, x[0], x[1], x[2]),
        right: |c| b32(f(c.narrow[0]).mul_add(f(c.narrow[1]), f(c.narrow[2]))),
        nan: Nan::Of32,
    },
    Looked {
        name: "f32 fused multiply-add without denormals",
        emit: |b, x, _| b.tri(TriOp::FmaF32, x[0], x[1], x[2]),
        right: |c| {
            let result = f(c.narrow[0]).mul_add(f(c.narrow[1]), f(c.narrow[2]));
            let denormal = c.narrow.iter().any(|x| f(*x).is_subnormal());
            if denormal || result.abs() < f32::MIN_POSITIVE { ANY } else { b32(result) }
        },
        nan: Nan::Of32,
    },
    Looked {
        name: "f32 division",
        emit: |b, x, _| b.bin(BinOp::DivF32, x[0], x[1]),
        right: |c| b32(f(c.narrow[0]) / f(c.narrow[1])),
        nan: Nan::Of32,
    },
    Looked {
        name: "f32 square root",
        emit: |b, x, _| b.un(UnOp::SqrtF32, x[0]),
        right: |c| b32(f(c.narrow[0]).sqrt()),
        nan: Nan::Of32,
    },
    Looked {
        name: "f32 comparison",
        emit: |b, x, _| {
            let (less, same) = (b.bin(BinOp::LtF32, x[0], x[1]), b.bin(BinOp::EqF32, x[0], x[1]));
            let (less, same) = (truth(b, less), truth(b, same));
            let one = b.c32(1);
            let same = b.bin(BinOp::Shl, same, one);
            b.bin(BinOp::Or, less, same)
        },
        right: |c| {
            let (x, y) = (f(c.narrow[0]), f(c.narrow[1]));
            u64::from(x < y) | u64::from(x == y) << 1
        },
        nan: Nan::No,
    },
    Looked {
        name: "f32 rounding to whole numbers",
        emit: |b, x, _| {
            let (floor, round) = (b.un(UnOp::FloorF32, x[0]), b.un(UnOp::RoundF32, x[0]));
            let (ceil, trunc) = (b.un(UnOp::CeilF32, x[0]), b.un(UnOp::TruncF32, x[0]));
            let (floor, ceil) = (b.bin(BinOp::Xor, floor, round), b.bin(BinOp::Xor, ceil, trunc));
            let seven = b.c32(7);
            let ceil = b.bin(BinOp::ShrU, ceil, seven);
            b.bin(BinOp::Add, floor, ceil)
        },
        right: |c| {
            let x = f(c.narrow[0]);
            if x.is_nan() {
                return ANY;
            }
            let (floor, round) = (x.floor().to_bits(), x.round_ties_even().to_bits());
            let (ceil, trunc) = (x.ceil().to_bits(), x.trunc().to_bits());
            u64::from((floor ^ round).wrapping_add((ceil ^ trunc) >> 7))
        },
        nan: Nan::No,
    },
    Looked {
        name: "f64 addition and multiplication, each rounded",
        emit: |b, _, y| {
            let product = b.bin(BinOp::MulF64, y[0], y[1]);
            b.bin(BinOp::AddF64, product, y[2])
        },
        right: |c| (d(c.wide[0]) * d(c.wide[1]) + d(c.wide[2])).to_bits(),
        nan: Nan::Of64,
    },
    Looked {
        name: "f64 (a + b) - b",
        emit: |b, _, y| {
            let sum = b.bin(BinOp::AddF64, y[0], y[1]);
            b.bin(BinOp::SubF64, sum, y[1])
        },
        right: |c| (d(c.wide[0]) + d(c.wide[1]) - d(c.wide[1])).to_bits(),
        nan: Nan::Of64,
    },
    Looked {
        name: "f64 fused multiply-add",
        emit: |b, _, y| b.tri(TriOp::FmaF64, y[0], y[1], y[2]),
        right: |c| d(c.wide[0]).mul_add(d(c.wide[1]), d(c.wide[2])).to_bits(),
        nan: Nan::Of64,
    },
    Looked {
        name: "f64 division",
        emit: |b, _, y| b.bin(BinOp::DivF64, y[0], y[1]),
        right: |c| (d(c.wide[0]) / d(c.wide[1])).to_bits(),
        nan: Nan::Of64,
    },
    Looked {
        name: "f64 square root",
        emit: |b, _, y| b.un(UnOp::SqrtF64, y[0]),
        right: |c| d(c.wide[0]).sqrt().to_bits(),
        nan: Nan::Of64,
    },
    Looked {
        name: "f64 to f32",
        emit: |b, _, y| b.un(UnOp::F32FromF64, y[0]),
        right: |c| b32(d(c.wide[0]) as f32),
        nan: Nan::Of32,
    },
    Looked {
        name: "f32 to f64",
        emit: |b, x, _| b.un(UnOp::F64FromF32, x[0]),
        right: |c| f64::from(f(c.narrow[0])).to_bits(),
        nan: Nan::Of64,
    },
    Looked {
        name: "f64 comparison",
        emit: |b, _, y| {
            let (less, same) = (b.bin(BinOp::LtF64, y[0], y[1]), b.bin(BinOp::EqF64, y[0], y[1]));
            let (less, same) = (truth(b, less), truth(b, same));
            let one = b.c32(1);
            let same = b.bin(BinOp::Shl, same, one);
            b.bin(BinOp::Or, less, same)
        },
        right: |c| {
            let (x, y) = (d(c.wide[0]), d(c.wide[1]));
            u64::from(x < y) | u64::from(x == y) << 1
        },
        nan: Nan::No,
    },
];

/// A result that is not looked at.
const ANY: u64 = u64::MAX - 1;

/// Runs every operation that is looked at on every case.
pub(super) fn run(
    backend: &mut WgpuBackend,
    presumed: FloatCaps,
) -> Result<(Vec<Check>, FloatCaps), BackendError> {
    let cases = cases();
    let mut words: Vec<u32> = cases.iter().flat_map(case_words).collect();
    let results = words.len();
    words.resize(results + LOOKED.len() * 2 * CASES as usize, 0);
    let (words, completion) = launch(backend, program(), Holding::Lane, CASES / 32, words)?;
    let ran = completion.fault.is_none();
    let checks: Vec<Check> = LOOKED
        .iter()
        .zip(words[results..].chunks_exact(2 * CASES as usize))
        .map(|(looked, found)| {
            let good = cases.iter().zip(found.chunks_exact(2)).filter(|(c, w)| {
                let found = u64::from(w[0]) | u64::from(w[1]) << 32;
                same((looked.right)(c), found, looked.nan)
            });
            Check { name: looked.name, right: if ran { good.count() as u32 } else { 0 }, of: CASES }
        })
        .collect();
    let floats = caps(&checks, presumed);
    Ok((checks, floats))
}

fn caps(checks: &[Check], presumed: FloatCaps) -> FloatCaps {
    let holds = |name: &str| checks.iter().any(|c| c.name == name && c.holds());
    FloatCaps {
        arithmetic32: holds("f32 addition and multiplication, each rounded")
            && holds("f32 (a + b) - b")
            && holds("f32 a + 0 and a * 0")
            && holds("f32 rounding to whole numbers"),
        fma32: holds("f32 fused multiply-add"),
        fma32_normal: holds("f32 fused multiply-add without denormals"),
        div32: holds("f32 division"),
        sqrt32: holds("f32 square root"),
        compare32: holds("f32 comparison"),
        arithmetic64: holds("f64 addition and multiplication, each rounded")
            && holds("f64 (a + b) - b")
            && holds("f64 comparison"),
        fma64: holds("f64 fused multiply-add"),
        div64: holds("f64 division"),
        sqrt64: holds("f64 square root"),
        narrow64: holds("f64 to f32"),
        widen32: holds("f32 to f64"),
        modes: presumed.modes,
    }
}

fn same(right: u64, found: u64, nan: Nan) -> bool {
    let is_nan = |x: u64| match nan {
        Nan::Of32 => f(x as u32).is_nan(),
        Nan::Of64 => d(x).is_nan(),
        Nan::No => false,
    };
    right == ANY || right == found || is_nan(right) && is_nan(found)
}

/// The operands of f32 follow from those of f64, so that they need no words of their own.
fn case_words(c: &Case) -> [u32; OPERANDS as usize] {
    let half = |i: usize| (c.wide[i / 2] >> (i % 2 * 32)) as u32;
    std::array::from_fn(half)
}

/// Random bits, bits near each other, and every pair of special ones.
fn cases() -> Vec<Case> {
    let mut state = 0x1234_5678_9abc_def0u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let special = special();
    (0..CASES as usize)
        .map(|i| {
            let pick = |n: usize| special[n % special.len()];
            let wide = match i % 4 {
                0 => [pick(i / 4), pick(i / 4 / special.len()), pick(i / 7)],
                1 => [next(), next(), next()],
                2 => near(next(), next(), next()),
                _ => [pick(i / 4), next(), near(next(), next(), next())[2]],
            };
            Case { narrow: wide.map(narrow), wide }
        })
        .collect()
}

/// An f32 from f64 bits: their high half, unless the low half is wanted.
fn narrow(wide: u64) -> u32 {
    (wide >> 32) as u32 ^ wide as u32
}

/// Numbers whose product nearly cancels the third, or of like size.
fn near(a: u64, b: u64, c: u64) -> [u64; 3] {
    let small = |x: u64| {
        let narrow = 0x3f00_0000 | (x as u32 & 0x80ff_ffff);
        let exponent = 0x3f0 + (x >> 40 & 0x1f);
        (exponent << 52) | (x & 0x800f_ffff_ffff_ffff) & !0xffff_ffff | u64::from(narrow)
    };
    [small(a), small(b), small(c)]
}

/// Zeros, denormals, the ends of the normal range, infinities and NaNs, of f32 in the xor of the halves or of f64.
fn special() -> Vec<u64> {
    let narrow = [
        0u32,
        1,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x3f80_0000,
        0x3f80_0001,
        0x4b80_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7fc0_0001,
        0x7f80_0001,
        0x0100_0000,
        0x3400_0000,
        0x1f80_0000,
        0x5f00_0001,
    ];
    let wide = [
        0u64,
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0x3ff0_0000_0000_0001,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0x7ff8_0000_0000_0001,
        0x47ef_ffff_f000_0000,
        0x3690_0000_0000_0000,
        0x380f_ffff_f000_0000,
    ];
    let signed = |x: u32| [x, x | 0x8000_0000].map(u64::from);
    let narrow = narrow.into_iter().flat_map(signed);
    narrow.chain(wide.into_iter().flat_map(|x| [x, x | 1 << 63])).collect()
}

/// Does every operation that is looked at with each lane's case.
fn program() -> Program {
    let mut b = Builder::new("probe-floats", 32);
    let (lane, wave, lanes) = (b.builtin(Builtin::Lane), b.builtin(Builtin::Wave), b.c32(32));
    let first = b.bin(BinOp::Mul, wave, lanes);
    let item = b.bin(BinOp::Add, first, lane);
    let operands = b.c32(OPERANDS);
    let start = b.bin(BinOp::Mul, item, operands);
    let words: Vec<Value> = (0..OPERANDS).map(|i| offset_word(&mut b, start, i)).collect();
    let wide = [0, 2, 4].map(|i| b.bin(BinOp::Pack, words[i], words[i + 1]));
    let narrow = [0, 2, 4].map(|i| b.bin(BinOp::Xor, words[i], words[i + 1]));
    let one = b.c32(1);
    let twice = b.bin(BinOp::Shl, item, one);
    for (i, looked) in (0..).zip(&LOOKED) {
        let result = (looked.emit)(&mut b, narrow, wide);
        let halves = match b.info(result).ty {
            guestwave_translate::program::Type::B64 => {
                vec![b.un(UnOp::Low, result), b.un(UnOp::High, result)]
            }
            _ => vec![result],
        };
        for (half, what) in (0..).zip(halves) {
            let at = b.c32(CASES * (OPERANDS + 2 * i) + half);
            let at = b.bin(BinOp::Add, twice, at);
            let access = word(&mut b, at);
            b.store(vec![what], access);
        }
    }
    b.finish()
}

fn offset_word(b: &mut Builder, start: Value, i: u32) -> Value {
    let i = b.c32(i);
    let at = b.bin(BinOp::Add, start, i);
    let access = word(b, at);
    b.load(1, access)[0]
}
