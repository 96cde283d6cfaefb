//! The programs that are timed, built as the AMD front end builds them: float operations flush denormals and propagate NaNs
//! (the mode that GL drivers choose), and accesses carry EXEC in `valid`.

use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, ParamSource, Program, Rate, Space, Stmt, TriOp, Type, UnOp, Value, Width,
};

/// First guest address of the inputs.
pub(crate) const INPUT: u64 = 0x10_0000_0000;
/// First guest address of the outputs.
pub(crate) const OUTPUT: u64 = 0x20_0000_0000;

const INFINITY: u32 = 0x7f80_0000;
const MAGNITUDE: u32 = 0x7fff_ffff;
const QUIET: u32 = 0x0040_0000;

/// Builds guest-like code.
struct Guest {
    b: Builder,
}

impl Guest {
    fn masked(&mut self, x: Value, mask: u32) -> Value {
        let mask = self.b.c32(mask);
        self.b.bin(BinOp::And, x, mask)
    }

    fn flush(&mut self, x: Value) -> Value {
        let (exponent, zero) = (self.masked(x, INFINITY), self.b.c32(0));
        let tiny = self.b.bin(BinOp::Eq, exponent, zero);
        let sign = self.masked(x, 1 << 31);
        self.b.select(tiny, sign, x)
    }

    fn is_nan(&mut self, x: Value) -> Value {
        let (size, infinity) = (self.masked(x, MAGNITUDE), self.b.c32(INFINITY));
        self.b.bin(BinOp::LtU, infinity, size)
    }

    /// A result flushed, or the first NaN of its sources.
    fn settle(&mut self, number: Value, sources: &[Value]) -> Value {
        let result = self.flush(number);
        let invalid = self.is_nan(number);
        let mut nan = self.b.c32(0xffc0_0000);
        for s in sources.iter().rev() {
            let is_nan = self.is_nan(*s);
            nan = self.b.select(is_nan, *s, nan);
        }
        let quiet = self.b.c32(QUIET);
        let nan = self.b.bin(BinOp::Or, nan, quiet);
        self.b.select(invalid, nan, result)
    }

    fn mul(&mut self, x: Value, y: Value) -> Value {
        let (p, q) = (self.flush(x), self.flush(y));
        let number = self.b.bin(BinOp::MulF32, p, q);
        self.settle(number, &[x, y])
    }

    fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        let [p, q, r] = [x, y, z].map(|v| self.flush(v));
        let number = self.b.tri(TriOp::FmaF32, p, q, r);
        self.settle(number, &[x, y, z])
    }

    fn u32(&mut self, x: u32) -> Value {
        self.b.c32(x)
    }

    fn f32(&mut self, x: f32) -> Value {
        self.b.c32(x.to_bits())
    }

    /// Item number: lane and wave; and whether it is below the count.
    fn item(&mut self) -> (Value, Value) {
        let (lane, wave) = (self.b.builtin(Builtin::Lane), self.b.builtin(Builtin::Wave));
        let lanes = self.u32(u32::from(self.b.program().wave_lanes));
        let first = self.b.bin(BinOp::Mul, wave, lanes);
        let item = self.b.bin(BinOp::Add, first, lane);
        let count = self.b.param(ParamSource::Items);
        let exec = self.b.bin(BinOp::LtU, item, count);
        (item, exec)
    }

    /// `base + index * stride + offset`.
    fn address(&mut self, base: u64, index: Value, stride: u32, offset: u32) -> Value {
        let (stride, offset) = (self.u32(stride), self.u32(offset));
        let scaled = self.b.bin(BinOp::Mul, index, stride);
        let byte = self.b.bin(BinOp::Add, scaled, offset);
        let (base, byte) = (self.b.c64(base), self.b.un(UnOp::Extend, byte));
        self.b.bin(BinOp::Add, base, byte)
    }

    /// `valid` of an access by the lanes in `exec`.
    fn valid(&mut self, exec: Value, bytes: u32) -> Value {
        let (bytes, none) = (self.u32(bytes), self.u32(0));
        self.b.select(exec, bytes, none)
    }

    fn load(&mut self, exec: Value, address: Value, count: u32) -> Vec<Value> {
        let access = access(address, self.valid(exec, 4 * count));
        self.b.load(count as usize, access)
    }

    fn store(&mut self, exec: Value, address: Value, units: Vec<Value>) {
        let access = access(address, self.valid(exec, 4 * units.len() as u32));
        self.b.store(units, access);
    }
}

fn access(address: Value, valid: Value) -> Access {
    Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: None }
}

fn guest(name: &str) -> Guest {
    Guest { b: Builder::new(name, 64) }
}

/// `y[i] = a * x[i] + y[i]`; x at `INPUT`, y at `OUTPUT`.
pub(crate) fn saxpy() -> Program {
    let mut g = guest("saxpy");
    let (item, exec) = g.item();
    let x = g.address(INPUT, item, 4, 0);
    let y = g.address(OUTPUT, item, 4, 0);
    let (xs, ys) = (g.load(exec, x, 1)[0], g.load(exec, y, 1)[0]);
    let a = g.f32(1.5);
    let result = g.fma(a, xs, ys);
    g.store(exec, y, vec![result]);
    g.b.finish()
}

/// `C = A * B` of 256 x 256; A at `INPUT`, B 256 KiB on, C at `OUTPUT`.
pub(crate) fn matmul() -> Program {
    let mut g = guest("matmul");
    let (item, exec) = g.item();
    let (k, sum) = (g.b.var("k", Type::B32, Rate::Uniform), g.b.var("sum", Type::B32, Rate::Varying));
    let eight = g.u32(8);
    let row = g.b.bin(BinOp::ShrU, item, eight);
    let column = g.masked(item, 255);
    let first = g.b.bin(BinOp::Shl, row, eight);
    g.b.open();
    let at = g.b.get(k);
    let (ia, below) = (g.b.bin(BinOp::Add, first, at), g.b.bin(BinOp::Shl, at, eight));
    let ib = g.b.bin(BinOp::Add, below, column);
    let (pa, pb) = (g.address(INPUT, ia, 4, 0), g.address(INPUT + 0x4_0000, ib, 4, 0));
    let (a, b) = (g.load(exec, pa, 1)[0], g.load(exec, pb, 1)[0]);
    let old = g.b.get(sum);
    let new = g.fma(a, b, old);
    g.b.set(sum, new);
    let one = g.u32(1);
    let next = g.b.bin(BinOp::Add, at, one);
    g.b.set(k, next);
    let end = g.u32(256);
    let done = g.b.bin(BinOp::Eq, next, end);
    g.b.open();
    g.b.push(Stmt::Break);
    let then = g.b.close();
    g.b.push(Stmt::If { cond: done, then, otherwise: vec![] });
    let body = g.b.close();
    g.b.push(Stmt::Loop { body });
    let total = g.b.get(sum);
    let c = g.address(OUTPUT, item, 4, 0);
    g.store(exec, c, vec![total]);
    g.b.finish()
}

/// The vertex program of `xfb.c`: o0 = p * a + (1, 2, 3, id), o1 = (dot(p, p), p.xyz); 16 bytes in, 32 out.
pub(crate) fn transform_feedback() -> Program {
    let mut g = guest("xfb");
    let (item, exec) = g.item();
    let from = g.address(INPUT, item, 16, 0);
    let p = g.load(exec, from, 4);
    let id = g.b.un(UnOp::F32FromU32, item);
    let a = g.f32(2.0);
    let added = [1.0, 2.0, 3.0].map(|x| g.f32(x));
    let mut o0: Vec<Value> = (0..3).map(|i| g.fma(p[i], a, added[i])).collect();
    o0.push(g.fma(p[3], a, id));
    let squares = g.mul(p[0], p[0]);
    let dot = p[1..].iter().fold(squares, |sum, x| g.fma(*x, *x, sum));
    let to = g.address(OUTPUT, item, 32, 0);
    g.store(exec, to, o0);
    let to = g.address(OUTPUT, item, 32, 16);
    g.store(exec, to, vec![dot, p[0], p[1], p[2]]);
    g.b.finish()
}
