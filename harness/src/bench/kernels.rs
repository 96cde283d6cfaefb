//! Compute kernels of the code object in the repository.

use anyhow::{Context, Result, bail};
use guestwave_cp::{DispatchId, Executor, GuestMemory};

use super::baseline::Line;
use super::host::HostProgram;
use super::{Case, Clock, Work};
use crate::engine::EngineArgs;
use crate::kernel::{CodeObject, Prepared, Request, Value};

const OBJECT: &[u8] = include_bytes!("../../kernels/kernels-1030.hsaco");

/// Threads of a work-group of both kernels.
const THREADS: u32 = 256;

const SAXPY_LANES: u32 = 1 << 20;
const SIDE: u32 = 256;

/// `y = a * x + y` over a million lanes.
pub(super) const SAXPY: Case = Case {
    name: "saxpy",
    unit: "lanes per CPU-second",
    clock: Clock::Cpu,
    items: SAXPY_LANES as f64,
    repeats: 10,
    reference: Some(1.0 / 64.0),
    baseline: Some(compute("saxpy1M", " Mlane/cpu-s")),
    host: Some(HostProgram {
        entry: "saxpy",
        code: include_bytes!("../../kernels/baseline-saxpy.spv"),
        buffers: || [bytes(SAXPY_LANES), bytes(SAXPY_LANES), Vec::new()],
        groups: SAXPY_LANES / THREADS,
        runs: 1,
    }),
    usual: true,
    set_up: saxpy,
};

/// A product of two matrices of 256 by 256.
pub(super) const MATMUL: Case = Case {
    name: "matmul256",
    unit: "multiply-adds of a lane per CPU-second",
    clock: Clock::Cpu,
    items: (SIDE * SIDE * SIDE) as f64,
    repeats: 10,
    reference: Some(1.0 / 256.0),
    baseline: Some(compute("matmul256", " Mfma-lane/cpu-s")),
    host: Some(HostProgram {
        entry: "matmul",
        code: include_bytes!("../../kernels/baseline-matmul.spv"),
        buffers: || [SIDE * SIDE; 3].map(bytes),
        groups: SIDE * SIDE / THREADS,
        runs: 1,
    }),
    usual: true,
    set_up: matmul,
};

const fn compute(before: &'static str, after: &'static str) -> Line {
    Line { program: "compute", args: &[], before, after, scale: 1e6 }
}

/// A launch that is made again and again.
struct Kernel {
    executor: Box<dyn Executor>,
    prepared: Prepared,
    launches: u64,
    /// The argument that is checked, and what its dword `i` must be after so many launches.
    output: usize,
    wanted: fn(u32, u64) -> f32,
    /// Dwords that are checked.
    samples: Vec<u32>,
    /// By how much of itself each may be off, with the host's own arithmetic: sums of so many terms of one sign.
    tolerance: f32,
}

fn set_up(
    engine: &EngineArgs,
    name: &str,
    groups: u32,
    values: Vec<Value>,
    (wanted, terms): (fn(u32, u64) -> f32, u32),
) -> Result<Box<dyn Work>> {
    let object = CodeObject::parse(OBJECT)?;
    let request = Request { groups: [groups, 1, 1], threads: None, values };
    let prepared = object.prepare(object.kernel(Some(name))?, &request)?;
    let output = prepared.buffers.len() - 1;
    let last = groups * THREADS - 1;
    let samples = vec![0, 1, 77, last / 2, last - 1, last];
    let executor = engine.engine()?.executor;
    let tolerance = engine.tolerance(2 * terms);
    Ok(Box::new(Kernel { executor, prepared, launches: 0, output, wanted, samples, tolerance }))
}

/// What the inputs hold.
fn input(i: u32) -> f32 {
    (i % 1000) as f32 * 0.001
}

fn bytes(count: u32) -> Vec<u8> {
    (0..count).flat_map(|i| input(i).to_le_bytes()).collect()
}

fn floats(count: u32) -> Value {
    let contents = bytes(count);
    Value::Buffer { bytes: contents.len() as u64, contents, writable: true }
}

fn part(of: u32, part: f64) -> u32 {
    ((f64::from(of) * part) as u32).max(1)
}

fn saxpy(engine: &EngineArgs, some: f64) -> Result<Box<dyn Work>> {
    let groups = part(SAXPY_LANES / THREADS, some);
    let values =
        vec![floats(groups * THREADS), floats(groups * THREADS), Value::Bytes(2f32.to_le_bytes().into())];
    let wanted = |i, launches| (0..launches).fold(input(i), |y, _| 2f32.mul_add(input(i), y));
    // A sum of a few launches: two roundings each.
    set_up(engine, "saxpy", groups, values, (wanted, 8))
}

fn matmul(engine: &EngineArgs, some: f64) -> Result<Box<dyn Work>> {
    let values = vec![floats(SIDE * SIDE), floats(SIDE * SIDE), floats(SIDE * SIDE)];
    let wanted = |i, _| {
        let (row, column) = (i / SIDE, i % SIDE);
        (0..SIDE).fold(0f32, |sum, k| input(row * SIDE + k).mul_add(input(k * SIDE + column), sum))
    };
    set_up(engine, "matmul", part(SIDE * SIDE / THREADS, some), values, (wanted, SIDE))
}

impl Work for Kernel {
    fn run(&mut self) -> Result<()> {
        let id = DispatchId(self.launches);
        self.executor.submit(id, self.prepared.dispatch.clone(), &self.prepared.memory)?;
        self.executor.flush(&self.prepared.memory, &mut Vec::new())?;
        self.launches += 1;
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        let placed = self.prepared.buffers.get(self.output).context("there is no output")?;
        for i in &self.samples {
            let mut bytes = [0; 4];
            self.prepared.memory.read(placed.address + 4 * u64::from(*i), &mut bytes)?;
            let (found, wanted) = (f32::from_le_bytes(bytes), (self.wanted)(*i, self.launches));
            if (found - wanted).abs() > self.tolerance * wanted.abs() {
                bail!("element {i} is {found}, not {wanted}");
            }
        }
        Ok(())
    }
}
