//! Executors, memory, and dispatches of code made here.

use std::sync::{Arc, OnceLock};

use guestwave_backend_soft::SoftBackend;
use guestwave_backend_wgpu::{Options as WgpuOptions, WgpuBackend};
use guestwave_cp::mali::job::environment::{Environment, register};
use guestwave_cp::{
    Completed, DispatchError, DispatchId, ExactDispatch, Executor, Grid, GuestMemory, Isa, LaneRule, Origin,
    Outputs, ProgramRef, ScalarRule, Stage,
};
use guestwave_harness::executor::ReferenceExecutor;
use guestwave_harness::mali::map_zeros;
use guestwave_harness::memory::CaptureMemory;
use guestwave_harness::shared_backend::SharedBackend;
use guestwave_translate::backend::{Backend, Holding};
use guestwave_translate::executor::{Options, TranslatingExecutor};
use guestwave_translate::plain::PlainBackend;

/// Instructions or loop iterations of a dispatch.
pub(crate) const BUDGET: u64 = 1 << 20;

pub(crate) fn reference() -> Box<dyn Executor> {
    Box::new(ReferenceExecutor::with_steps(BUDGET))
}

fn translating(backend: Box<dyn Backend>) -> Box<dyn Executor> {
    Box::new(TranslatingExecutor::new(backend, Options { budget: BUDGET, ..Options::default() }))
}

pub(crate) fn plain() -> Box<dyn Executor> {
    translating(Box::new(PlainBackend::new()))
}

/// The graphics device, in a holding. Without a device this fails: install a Vulkan driver.
pub(crate) fn device(holding: Holding) -> Box<dyn Executor> {
    static DEVICE: OnceLock<SharedBackend> = OnceLock::new();
    let open = || {
        let adapter = std::env::var("GUESTWAVE_ADAPTER").ok();
        let options = WgpuOptions { adapter, ..WgpuOptions::default() };
        SharedBackend::new(Box::new(WgpuBackend::open(&options).unwrap()))
    };
    let backend = Box::new(DEVICE.get_or_init(open).clone());
    let options = Options { budget: BUDGET, holding: Some(holding), ..Options::default() };
    Box::new(TranslatingExecutor::new(backend, options))
}

pub(crate) fn soft() -> Box<dyn Executor> {
    translating(Box::new(SoftBackend::new(Default::default()).unwrap()))
}

/// The launch words have the same numbers wherever they are named.
#[test]
fn the_command_processor_and_the_interpreter_number_registers_alike() {
    use guestwave_isa::mali::valhall::interp::{REGISTERS, launch};
    let numbers = [
        (register::FLAT_VERTEX, launch::FLAT_VERTEX),
        (register::VERTICES, launch::VERTICES),
        (register::WEIGHTS, launch::WEIGHTS),
        (register::FRAG_Z, launch::FRAG_Z),
        (register::FRAG_W, launch::FRAG_W),
        (register::POINT, launch::POINT),
        (register::NUMBER, launch::NUMBER),
        (register::COUNT, REGISTERS),
    ];
    assert!(numbers.iter().all(|(cp, isa)| cp == isa));
}

/// Small, reproducible randomness.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n.max(1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Where code, uniforms and results of programs made here lie.
pub(crate) const CODE: u64 = 0x10_0000;
pub(crate) const UNIFORMS: u64 = 0x20_0000;
pub(crate) const OUTPUT: u64 = 0x1_0030_0000;

/// Threads of a launch, and bytes that each stores.
pub(crate) const THREADS: u32 = 40;
pub(crate) const THREAD_BYTES: u32 = 48;

/// Memory with code and uniforms.
pub(crate) fn memory(code: &[u64], uniforms: [u32; 4]) -> CaptureMemory {
    let memory = CaptureMemory::new();
    for (at, bytes) in [(CODE, 8 * code.len() as u64), (UNIFORMS, 16), (OUTPUT, 4096)] {
        map_zeros(&memory, at, bytes).unwrap();
    }
    let bytes: Vec<u8> = code.iter().flat_map(|w| w.to_le_bytes()).collect();
    memory.write(CODE, &bytes).unwrap();
    let bytes: Vec<u8> = uniforms.iter().flat_map(|w| w.to_le_bytes()).collect();
    memory.write(UNIFORMS, &bytes).unwrap();
    memory
}

/// A launch of the code whose threads start with `registers` (by register, then by thread); r16 and r17 hold where each stores.
pub(crate) fn dispatch(registers: &[Vec<u32>]) -> ExactDispatch {
    let env = Environment { fau: UNIFORMS, fau_words: 4, ..Environment::default() };
    let mut vgprs = vec![LaneRule::Word(0); register::COUNT];
    for (rule, words) in vgprs.iter_mut().zip(registers) {
        *rule = LaneRule::PerItem(words.as_slice().into());
    }
    let places: Arc<[u32]> = (0..THREADS).map(|t| OUTPUT as u32 + t * THREAD_BYTES).collect();
    vgprs[16] = LaneRule::PerItem(places);
    vgprs[17] = LaneRule::Word((OUTPUT >> 32) as u32);
    let isa = Isa::ValhallV9;
    ExactDispatch {
        stage: Stage::Compute,
        program: ProgramRef {
            isa,
            address: CODE,
            wave_lanes: 32,
            float_mode: 0,
            dx10_clamp: false,
            ieee: false,
        },
        grid: Grid::Linear { items: THREADS, per_wave: 32 },
        sgprs: env.words().into_iter().map(ScalarRule::Word).collect(),
        vgprs,
        lds_bytes: 0,
        scratch: None,
        outputs: Outputs::Dropped,
        origin: Origin::default(),
    }
}

/// Runs a launch; what it left at the output.
pub(crate) fn run(
    mut executor: Box<dyn Executor>,
    memory: &CaptureMemory,
    dispatch: &ExactDispatch,
) -> Result<(Vec<u8>, Completed), DispatchError> {
    let mut done = Vec::new();
    executor.submit(DispatchId(0), dispatch.clone(), memory)?;
    executor.flush(memory, &mut done)?;
    let mut bytes = vec![0; 4096];
    memory.read(OUTPUT, &mut bytes).unwrap();
    Ok((bytes, done.remove(0)))
}

/// Stores r0 to r11 and ends.
pub(crate) fn epilogue() -> [u64; 3] {
    let store =
        |i: u64| 0x0061_4008_3800_0010 | (4 * i) << 40 | (16 * i) << 8 | if i == 2 { 15 << 59 } else { 0 };
    [store(0), store(1), store(2)]
}
