//! Launches and compilation, timed: nanoseconds a lane (or a compilation), and how many times the evaluator is slower.
//!
//! The figures only mean something beside each other or beside a baseline measured in the same minute.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that cannot be set up has to stop")]

mod programs;

#[path = "../tests/support/memory.rs"]
mod memory;

use std::hint::black_box;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use guestwave_backend_soft::{SoftBackend, SoftOptions};
use guestwave_cp::DispatchId;
use guestwave_translate::backend::{Backend, Batch, Holding, Launch, ProgramId};
use guestwave_translate::program::{Program, eval};
use memory::Arena;
use programs::{INPUT, OUTPUT};

const RUNS: usize = 9;
/// Time of a sample.
const SAMPLE: Duration = Duration::from_millis(80);

struct Case {
    name: &'static str,
    program: Program,
    items: u32,
    /// Bytes at `INPUT` and at `OUTPUT`.
    bytes: [usize; 2],
}

fn main() {
    let cases = [
        Case { name: "saxpy", program: programs::saxpy(), items: 1 << 20, bytes: [4 << 20, 4 << 20] },
        Case {
            name: "matmul256",
            program: programs::matmul(),
            items: 1 << 16,
            bytes: [512 << 10, 256 << 10],
        },
        Case {
            name: "xfb",
            program: programs::transform_feedback(),
            items: 1 << 20,
            bytes: [16 << 20, 32 << 20],
        },
        Case { name: "xfb-3", program: programs::transform_feedback(), items: 3, bytes: [64, 96] },
    ];
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    for case in cases.iter().filter(|c| wanted.is_empty() || wanted.iter().any(|w| w == c.name)) {
        report(case);
    }
}

fn report(case: &Case) {
    let (program, arena) = (Arc::new(case.program.clone()), arena(case));
    let mut compiler = SoftBackend::new(SoftOptions::default()).expect("a host that Cranelift knows");
    let compile = median(|| {
        black_box(compiler.compile(&program, Holding::Wave).expect("compiles"));
    });
    let mut backend = SoftBackend::new(SoftOptions::default()).expect("a host that Cranelift knows");
    let id = backend.compile(&program, Holding::Wave).expect("compiles");
    let native = median(|| run(&mut backend, launch(case.items, id), &arena));
    // The evaluator runs a small part of it.
    let some = case.items.min(2048);
    let start = now();
    let done = eval::run(&program, &launch(some, id), &arena);
    let plain = (now() - start).as_secs_f64() / f64::from(some);
    done.expect("runs");
    let each = native.as_secs_f64() / f64::from(case.items);
    println!(
        "{:10} {:9.2} ns/lane  {:7.0} times the evaluator's speed  launch {:9.1} us  compile {:6.0} us",
        case.name,
        each * 1e9,
        plain / each,
        native.as_secs_f64() * 1e6,
        compile.as_secs_f64() * 1e6
    );
}

fn arena(case: &Case) -> Arena {
    let floats = |bytes: usize| -> Vec<u8> {
        (0..bytes / 4).flat_map(|i| ((i % 1000) as f32 * 0.001).to_le_bytes()).collect()
    };
    Arena::new().with(INPUT, &floats(case.bytes[0])).with(OUTPUT, &floats(case.bytes[1]))
}

fn launch(items: u32, program: ProgramId) -> Launch {
    Launch {
        id: DispatchId(0),
        program,
        params: vec![items],
        tables: Arc::new([]),
        waves: items.div_ceil(64),
        waves_per_group: 1,
        group_waves: None,
        budget: 1 << 32,
    }
}

fn run(backend: &mut SoftBackend, launch: Launch, arena: &Arena) {
    let ticket = backend.submit(Batch { launches: vec![launch] }, arena).expect("a device");
    let completion = backend.poll(ticket, arena).expect("a ticket").expect("done");
    assert_eq!(completion.fault, None);
}

/// The time that this thread has run; where the host does not tell, the time that has passed.
fn now() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = ran.and_then(|s| s.split(' ').next()?.parse().ok());
    ran.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Median time of `run`, each sample long enough for the clock.
fn median(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    run();
    let once = start.elapsed();
    let repeats = (SAMPLE.as_nanos() / once.as_nanos().max(1)).clamp(1, 10_000) as u32;
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = now();
            (0..repeats).for_each(|_| run());
            (now() - start) / repeats
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}
