//! Benchmarks: the same work as the baseline programs, measured in turns with them.
//!
//! A figure by itself says more of the machine and of what else it does than of the code. So each run measures ours and then
//! starts the baseline, and what is reported is the median of several runs of each and their ratio.

mod baseline;
mod clock;
mod draws;
mod first_use;
mod host;
mod kernels;
mod packets;
#[cfg(test)]
mod reuse;

use std::path::PathBuf;

use std::time::Instant;

use anyhow::{Context, Result};
use serde::Serialize;

pub use baseline::Baselines;
use clock::Clock;
use guestwave_backend_wgpu::DeviceClock;
use host::{HostProgram, Seconds};

use crate::engine::EngineArgs;

/// Work that can be done again and again.
trait Work {
    /// Does it once.
    fn run(&mut self) -> Result<()>;

    /// Whether what was done is right.
    fn check(&mut self) -> Result<()>;
}

/// One benchmark.
struct Case {
    name: &'static str,
    unit: &'static str,
    clock: Clock,
    /// Items, of the unit, that doing the work once is.
    items: f64,
    /// Times that the work is done in a run; the best counts, as it does in the baseline.
    repeats: u32,
    /// The part of the work that the reference interpreter is given, where it is compared with.
    reference: Option<f64>,
    baseline: Option<baseline::Line>,
    /// The same work for the host, in WGSL.
    host: Option<HostProgram>,
    /// Whether it runs if no benchmark is named.
    usual: bool,
    /// Sets the work up, or a part of it from 0 to 1.
    set_up: fn(&EngineArgs, f64) -> Result<Box<dyn Work>>,
}

/// All benchmarks, in the order in which they run.
const CASES: [Case; 7] = [
    kernels::SAXPY,
    kernels::MATMUL,
    draws::POINTS,
    draws::TRIANGLES,
    draws::LARGEST,
    draws::TINY,
    packets::PACKETS,
];

/// The names of all benchmarks.
pub fn names() -> Vec<&'static str> {
    CASES.iter().map(|c| c.name).chain([first_use::NAME]).collect()
}

/// Those that run if none is named.
pub fn usual_names() -> Vec<&'static str> {
    CASES.iter().filter(|c| c.usual).map(|c| c.name).chain([first_use::NAME]).collect()
}

/// A benchmark's result, in the shape of `bench --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The benchmark.
    pub name: &'static str,
    /// What ran the guest's programs: a backend's name, or `reference`.
    pub backend: &'static str,
    /// `exact` or `fast`.
    pub fidelity: &'static str,
    /// What is counted.
    pub unit: String,
    /// The median of the runs.
    pub value: f64,
    /// The worst run.
    pub min: f64,
    /// The best run.
    pub max: f64,
    /// Runs.
    pub runs: u32,
    /// The median of the baseline's runs, where it is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<f64>,
    /// `value / baseline`: above 1 is better than it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The reference interpreter's figure for a part of the same work, in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<f64>,
    /// `value / reference`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_reference: Option<f64>,
    /// What is counted, a second of dispatches on the device, where a baseline runs there too: the median of the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<f64>,
    /// The same of the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_baseline: Option<f64>,
    /// `device / device_baseline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_ratio: Option<f64>,
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// What runs the guest's programs.
    pub engine: EngineArgs,
    /// Runs of each benchmark.
    pub runs: u32,
    /// The baseline programs.
    pub baselines: Baselines,
    /// Captures whose programs [`first-use`](names) measures; without, one that is built in.
    pub captures: Vec<PathBuf>,
}

/// Runs the benchmark of that name.
///
/// # Errors
/// There is none of that name, its work cannot be done here or is done wrong, or the baseline does not run.
pub fn run(name: &str, options: &Options) -> Result<Row> {
    if name == first_use::NAME {
        return first_use::row(options);
    }
    let case = CASES.iter().find(|c| c.name == name);
    let case =
        case.with_context(|| format!("there is no benchmark {name:?}; there are {}", names().join(", ")))?;
    if let (Baselines::Wgsl, Some(host)) = (&options.baselines, &case.host) {
        return case.against_host(host, options);
    }
    let mut work = (case.set_up)(&options.engine, 1.0)?;
    work.run()?;
    work.check().with_context(|| format!("{name} came out wrong"))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..options.runs.max(1) {
        ours.push(case.measure(&mut *work)?);
        if let Some(line) = &case.baseline {
            theirs.extend(options.baselines.measure(line)?);
        }
    }
    Ok(case.row(options, ours, theirs, case.reference(options)?))
}

impl Case {
    /// Items a second of the best of several times.
    fn measure(&self, work: &mut dyn Work) -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..self.repeats {
            let start = self.clock.now();
            work.run()?;
            best = best.min((self.clock.now() - start).as_secs_f64());
        }
        // No clock is finer than a nanosecond.
        Ok(self.items / best.max(1e-9))
    }

    /// Runs ours and the host's own in turns, and takes the time that passes and the device's.
    fn against_host(&self, program: &HostProgram, options: &Options) -> Result<Row> {
        let clock = DeviceClock::default();
        let engine = EngineArgs { clock: Some(clock.clone()), ..options.engine.clone() };
        let mut host = program.open(&engine)?;
        let mut work = (self.set_up)(&engine, 1.0)?;
        // What is learnt of a program in its first runs is no part of it.
        for _ in 0..3 {
            work.run()?;
        }
        work.check().with_context(|| format!("{} came out wrong", self.name))?;
        host.measure()?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..options.runs.max(1) {
            ours.push(self.best(|| timed(&mut *work, &clock))?);
            theirs.push(self.best(|| host.measure())?);
        }
        let rate = |all: &[Seconds]| all.iter().map(|s| self.items / s.wall.max(1e-9)).collect::<Vec<_>>();
        let row = self.row(options, rate(&ours), rate(&theirs), None);
        let [device, baseline] = [&ours, &theirs].map(|all| {
            let times: Vec<f64> =
                all.iter().filter_map(|s| s.device.map(|d| self.items / d.max(1e-9))).collect();
            median(&times)
        });
        let device_ratio = device.zip(baseline).map(|(ours, theirs)| ours / theirs);
        let unit = self.unit.replace("CPU-second", "second");
        Ok(Row { unit, device, device_baseline: baseline, device_ratio, ..row })
    }

    /// The best of several times.
    fn best(&self, mut once: impl FnMut() -> Result<Seconds>) -> Result<Seconds> {
        let first = once()?;
        (1..self.repeats).try_fold(first, |best, _| Ok(best.best(once()?)))
    }

    /// The reference interpreter's figure.
    fn reference(&self, options: &Options) -> Result<Option<f64>> {
        let Some(part) = self.reference.filter(|_| !options.engine.is_reference()) else { return Ok(None) };
        let mut work = (self.set_up)(&options.engine.reference(), part)?;
        let start = self.clock.now();
        work.run()?;
        let seconds = (self.clock.now() - start).as_secs_f64();
        Ok(Some(self.items * part / seconds.max(1e-9)))
    }

    fn row(&self, options: &Options, mut ours: Vec<f64>, theirs: Vec<f64>, reference: Option<f64>) -> Row {
        ours.sort_by(f64::total_cmp);
        let value = median(&ours).unwrap_or(0.0);
        let baseline = median(&theirs);
        Row {
            name: self.name,
            backend: options.engine.backend_name(),
            fidelity: options.engine.fidelity_name(),
            unit: self.unit.into(),
            value,
            min: ours.first().copied().unwrap_or(0.0),
            max: ours.last().copied().unwrap_or(0.0),
            runs: ours.len() as u32,
            baseline,
            ratio: baseline.map(|b| value / b),
            reference,
            times_reference: reference.map(|r| value / r),
            device: None,
            device_baseline: None,
            device_ratio: None,
        }
    }
}

/// Does work once.
fn timed(work: &mut dyn Work, clock: &DeviceClock) -> Result<Seconds> {
    let (start, before) = (Instant::now(), clock.time());
    work.run()?;
    let device = (clock.time() - before).as_secs_f64();
    Ok(Seconds { wall: start.elapsed().as_secs_f64(), device: (device > 0.0).then_some(device) })
}

/// The middle of some figures, the upper of two.
fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        engine: EngineArgs,
    }

    fn engine(args: &[&str]) -> EngineArgs {
        Cli::parse_from([&["bench"], args].concat()).engine
    }

    fn options(engine: EngineArgs) -> Options {
        Options { engine, runs: 1, baselines: Baselines::default(), captures: Vec::new() }
    }

    #[test]
    fn first_uses_are_those_of_the_built_in_capture() {
        let row = run(first_use::NAME, &options(engine(&["--executor", "translate"]))).unwrap();
        assert!(row.runs > 0 && 0.0 < row.min && row.min <= row.value && row.value <= row.max, "{row:?}");
        run(first_use::NAME, &options(engine(&["--executor", "reference"]))).unwrap_err();
    }

    /// A part of each work, on the reference and translated.
    #[test]
    fn every_work_is_done_right_on_every_executor() {
        for engine in [engine(&["--executor", "reference"]), engine(&["--executor", "translate"])] {
            for case in &CASES {
                let mut work = (case.set_up)(&engine, 1.0 / 256.0).unwrap();
                for _ in 0..2 {
                    work.run().unwrap();
                    work.check().map_err(|e| format!("{}: {e}", case.name)).unwrap();
                }
            }
        }
    }

    /// The programs in WGSL do the work that they stand for.
    #[test]
    fn host_programs_do_the_same_work() {
        let engine = engine(&["--backend", "wgpu"]);
        let word = |bytes: &[u8], i: usize| f32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap());
        for case in &CASES {
            let Some(program) = case.host.as_ref().filter(|p| p.runs == 1) else { continue };
            let [x, y, z] = (program.buffers)();
            let mut host = program.open(&engine).unwrap();
            host.measure().unwrap();
            for i in [0usize, 1, 777, 65_535] {
                let wanted = match program.entry {
                    "saxpy" => 2.0 * word(&x, i) + word(&y, i),
                    "matmul" => {
                        let (row, column) = (i / 256 * 256, i % 256);
                        (0..256).map(|k| word(&x, row + k) * word(&z, 256 * k + column)).sum()
                    }
                    _ => word(&x, i / 8 * 4 + i % 4),
                };
                let found = word(host.output(), i);
                assert!((found - wanted).abs() <= wanted * 1e-4, "{} {i}: {found}, not {wanted}", case.name);
            }
        }
    }

    #[test]
    fn medians_are_of_any_number_of_figures() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[4.0, 2.0]), Some(4.0));
    }

    #[test]
    fn a_name_that_is_none_is_told() {
        let options = options(engine(&[]));
        let error = run("frobnicate", &options).unwrap_err().to_string();
        assert!(names().iter().all(|n| error.contains(n)), "{error}");
    }
}
