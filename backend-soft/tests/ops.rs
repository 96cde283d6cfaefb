//! Each operation on special and random operands, natively and by the evaluator, whose operations are Rust's own.

#[cfg(test)]
mod support;

use guestwave_backend_soft::SoftOptions;
use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, Expr, Program, Space, TriOp, Type, UnOp, Value, Width,
};
use proptest::prelude::*;
use support::{Arena, ONE_THREAD, agree, launch, run_native};

const INPUT: u64 = 0x1_0000;
const OUTPUT: u64 = 0x8_0000;
const LANES: u64 = 64;

/// One operation with the types of its operands.
#[derive(Clone, Copy, Debug)]
enum Op {
    Un(UnOp, Type),
    Bin(BinOp, Type, Type),
    Tri(TriOp, Type, Type),
}

fn int_ops(ty: Type) -> Vec<Op> {
    use BinOp as B;
    use UnOp as U;
    let un = [U::Not, U::Neg, U::CountOnes, U::LeadingZeros, U::TrailingZeros, U::ReverseBits];
    let bin = [
        B::Add,
        B::Sub,
        B::Mul,
        B::And,
        B::Or,
        B::Xor,
        B::MinU,
        B::MaxU,
        B::MinS,
        B::MaxS,
        B::Eq,
        B::Ne,
        B::LtU,
        B::LeU,
        B::LtS,
        B::LeS,
    ];
    let shifts = [B::Shl, B::ShrU, B::ShrS];
    let un = un.map(|op| Op::Un(op, ty));
    let bin = bin.map(|op| Op::Bin(op, ty, ty)).into_iter();
    let shifts = shifts.map(|op| Op::Bin(op, ty, Type::B32));
    let select = Op::Tri(TriOp::Select, Type::Bool, ty);
    un.into_iter().chain(bin).chain(shifts).chain([select]).collect()
}

fn narrow_ops() -> Vec<Op> {
    use Type::{B32, B64, Bool};
    use UnOp as U;
    let bools = [BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Eq, BinOp::Ne];
    let narrow = [U::Extend, U::ExtendS, U::Sext8, U::Sext16, U::F32FromF16];
    let mut ops: Vec<Op> = bools.map(|op| Op::Bin(op, Bool, Bool)).into();
    ops.extend([Op::Un(U::Not, Bool), Op::Un(U::FromBool, Bool), Op::Tri(TriOp::Select, Bool, Bool)]);
    ops.extend(narrow.map(|op| Op::Un(op, B32)));
    ops.extend([Op::Un(U::Low, B64), Op::Un(U::High, B64)]);
    ops.extend(
        [BinOp::MulHighU, BinOp::MulHighS, BinOp::DivU, BinOp::RemU, BinOp::Pack]
            .map(|op| Op::Bin(op, B32, B32)),
    );
    ops
}

fn float_ops() -> Vec<Op> {
    use BinOp as B;
    use Type::{B32, B64};
    use UnOp as U;
    let un32 = [
        U::SqrtF32,
        U::FloorF32,
        U::CeilF32,
        U::TruncF32,
        U::RoundF32,
        U::F32FromU32,
        U::F32FromS32,
        U::F64FromU32,
        U::F64FromS32,
        U::U32FromF32,
        U::S32FromF32,
        U::F64FromF32,
        U::F16FromF32,
        U::FastRcpF32,
        U::FastRsqF32,
        U::FastSqrtF32,
        U::FastExp2F32,
        U::FastLog2F32,
        U::FastSinF32,
        U::FastCosF32,
    ];
    let un64 = [
        U::SqrtF64,
        U::FloorF64,
        U::CeilF64,
        U::TruncF64,
        U::RoundF64,
        U::U32FromF64,
        U::S32FromF64,
        U::F32FromF64,
    ];
    let bin32 = [B::AddF32, B::SubF32, B::MulF32, B::DivF32, B::EqF32, B::LtF32, B::LeF32];
    let bin64 = [B::AddF64, B::SubF64, B::MulF64, B::DivF64, B::EqF64, B::LtF64, B::LeF64];
    let mut ops: Vec<Op> = un32.map(|op| Op::Un(op, B32)).into();
    ops.extend(un64.map(|op| Op::Un(op, B64)));
    ops.extend(bin32.map(|op| Op::Bin(op, B32, B32)));
    ops.extend(bin64.map(|op| Op::Bin(op, B64, B64)));
    ops.extend([Op::Tri(TriOp::FmaF32, B32, B32), Op::Tri(TriOp::FmaF64, B64, B64)]);
    ops
}

/// Operands of operation number `i` in lane `lane` stand at `INPUT + lane * 24`, results at `OUTPUT + (i * 64 + lane) * 8`.
struct Table {
    b: Builder,
    operands: [[Value; 3]; 3],
}

impl Table {
    fn new() -> Self {
        let mut b = Builder::new("ops", LANES as u8);
        let (lane, stride) = (b.builtin(Builtin::Lane), b.c32(24));
        let offset = b.bin(BinOp::Mul, lane, stride);
        let address = at(&mut b, INPUT, offset);
        let access = whole(&mut b, address);
        let words = b.load(6, access);
        let one = b.c32(1);
        let operands = [0, 1, 2].map(|i| {
            let (low, high) = (words[2 * i], words[2 * i + 1]);
            let bit = b.bin(BinOp::And, low, one);
            [b.bin(BinOp::Eq, bit, one), low, b.bin(BinOp::Pack, low, high)]
        });
        Table { b, operands }
    }

    fn operand(&self, i: usize, ty: Type) -> Value {
        self.operands[i][ty as usize]
    }

    fn apply(&mut self, op: Op) -> Value {
        let expr = match op {
            Op::Un(op, a) => Expr::Un(op, self.operand(0, a)),
            Op::Bin(op, a, b) => Expr::Bin(op, self.operand(0, a), self.operand(1, b)),
            Op::Tri(op, a, b) => {
                let third = self.operand(2, b);
                Expr::Tri(op, self.operand(0, a), self.operand(1, b), third)
            }
        };
        self.b.expr(expr)
    }

    /// The result, with one bit pattern for all NaNs if it is a float.
    fn settled(&mut self, op: Op, value: Value) -> Value {
        let (eq, nan) = match (op, self.b.info(value).ty) {
            (Op::Un(UnOp::F16FromF32, _), _) => {
                let x = self.operand(0, Type::B32);
                let number = self.b.bin(BinOp::EqF32, x, x);
                let nan = self.b.c32(0x7e00);
                return self.b.select(number, value, nan);
            }
            (op, Type::B32) if gives_float(op) => (BinOp::EqF32, self.b.c32(0x7fc0_0000)),
            (op, Type::B64) if gives_float(op) => (BinOp::EqF64, self.b.c64(0x7ff8 << 48)),
            _ => return value,
        };
        let number = self.b.bin(eq, value, value);
        self.b.select(number, value, nan)
    }

    fn store(&mut self, i: u64, value: Value) {
        let words = match self.b.info(value).ty {
            Type::Bool => vec![self.b.un(UnOp::FromBool, value)],
            Type::B32 => vec![value],
            Type::B64 => [UnOp::Low, UnOp::High].map(|half| self.b.un(half, value)).into(),
        };
        let (lane, eight) = (self.b.builtin(Builtin::Lane), self.b.c32(8));
        let offset = self.b.bin(BinOp::Mul, lane, eight);
        let address = at(&mut self.b, OUTPUT + i * LANES * 8, offset);
        let access = whole(&mut self.b, address);
        self.b.store(words, access);
    }
}

fn gives_float(op: Op) -> bool {
    let name = match op {
        Op::Un(op, _) => format!("{op:?}"),
        Op::Bin(op, ..) => format!("{op:?}"),
        Op::Tri(op, ..) => format!("{op:?}"),
    };
    let first = name.find("From").map_or(name.as_str(), |at| &name[..at]);
    first.ends_with("F32") || first.ends_with("F64")
}

fn at(b: &mut Builder, base: u64, offset: Value) -> Value {
    let (base, offset) = (b.c64(base), b.un(UnOp::Extend, offset));
    b.bin(BinOp::Add, base, offset)
}

fn whole(b: &mut Builder, address: Value) -> Access {
    let valid = b.c32(64);
    Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None }
}

fn program(ops: &[Op]) -> Program {
    let mut table = Table::new();
    for (i, op) in (0..).zip(ops) {
        let value = table.apply(*op);
        let value = table.settled(*op, value);
        table.store(i, value);
    }
    table.b.finish()
}

fn arena(ops: usize, operands: &[u64]) -> Arena {
    let input: Vec<u8> = operands.iter().flat_map(|x| x.to_le_bytes()).collect();
    Arena::new().with(INPUT, &input).with(OUTPUT, &vec![0; ops * LANES as usize * 8])
}

/// Bits that are special as an integer, an f16, an f32 or an f64, and random ones near them.
fn operand() -> impl Strategy<Value = u64> {
    let special32 = prop::sample::select(vec![
        0u32,
        1,
        2,
        0x7f_ffff,
        0x80_0000,
        0x3f80_0000,
        0x3f00_0000,
        0x4b00_0000,
        0x4f00_0000,
        0x4f80_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7fc0_0000,
        0x7f80_0001,
        0x477f_efff,
        0x477f_f000,
        0x3880_0000,
        0x3300_0000,
        0x3300_0001,
        0x7fff_ffff,
        0x3c00,
        0x7c00,
        0x7bff,
        0x3ff,
        0x400,
        0x7e01,
    ]);
    let special64 = prop::sample::select(vec![
        0u64,
        1,
        1 << 52,
        0x3ff0 << 48,
        0x41e0 << 48,
        0x41f0 << 48,
        0x7ff0 << 48,
        0x7ff8 << 48,
        0x7fef_ffff_ffff_ffff,
        0x433f_ffff_ffff_ffff,
        0x36a0 << 48,
        0x47ef_ffff_f000_0000,
    ]);
    let twice = |x: u32| u64::from(x) << 32 | u64::from(x);
    let near = |x: u64, d: i8, sign: u64| x.wrapping_add(i64::from(d) as u64) ^ sign;
    prop_oneof![
        any::<u64>(),
        (special32, -2i8..3, any::<bool>()).prop_map(move |(x, d, s)| twice(near(
            u64::from(x),
            d,
            u64::from(s) << 31
        ) as u32)),
        (special64, -2i8..3, any::<bool>()).prop_map(move |(x, d, s)| near(x, d, u64::from(s) << 63)),
        (any::<f32>(), any::<f32>()).prop_map(|(a, b)| u64::from(a.to_bits()) | u64::from(b.to_bits()) << 32),
        any::<f64>().prop_map(f64::to_bits),
        (any::<i32>(), -40..40i32).prop_map(|(m, e)| (f64::from(m) * 2f64.powi(e)).to_bits()),
        (any::<i32>(), -40..40i32).prop_map(move |(m, e)| twice((m as f32 * 2f32.powi(e)).to_bits())),
    ]
}

fn operands() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(operand(), 3 * LANES as usize)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn integers_of_32_bits(operands in operands()) {
        check(&int_ops(Type::B32), &operands);
    }

    #[test]
    fn integers_of_64_bits(operands in operands()) {
        check(&int_ops(Type::B64), &operands);
    }

    #[test]
    fn bools_and_changes_of_width(operands in operands()) {
        check(&narrow_ops(), &operands);
    }

    #[test]
    fn floats(operands in operands()) {
        check(&float_ops(), &operands);
    }

    #[test]
    fn fused_multiply_add_in_software(operands in operands(), vectors in any::<bool>()) {
        use Type::{B32, B64};
        let ops = [Op::Tri(TriOp::FmaF32, B32, B32), Op::Tri(TriOp::FmaF64, B64, B64)];
        let (program, native) = (program(&ops), arena(ops.len(), &operands));
        let software = native.copy();
        run_native(SoftOptions::default(), &program, &launch(1, 1), &native).unwrap();
        run_native(SoftOptions { native_fma: false, vectors, ..ONE_THREAD }, &program, &launch(1, 1), &software).unwrap();
        prop_assert_eq!(native.first_difference(&software), None);
    }
}

fn check(ops: &[Op], operands: &[u64]) {
    let (outcome, _) = agree(&program(ops), &launch(1, 1), &arena(ops.len(), operands));
    assert_eq!(outcome.err(), None);
}
