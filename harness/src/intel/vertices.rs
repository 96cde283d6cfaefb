//! Vertex programs of Gen7, on the reference interpreter.

use guestwave_cp::intel::sol::{DrawnStream, Vues};
use guestwave_cp::intel::state::{State, VertexProgram};
use guestwave_cp::intel::{Gen, Refusal, VertexStage, VertexWork};
use guestwave_cp::{DispatchError, DispatchId, GuestMemory, Origin};
use guestwave_isa::gen7::interp::Mad;
use guestwave_isa::gen7::{self, VertexLaunch};

/// Bytes of code that are read at most.
const CODE_BYTES: u64 = 1 << 16;
/// Bytes of a register of constants.
const REGISTER_BYTES: u64 = 32;
/// Slots of a 64-byte unit of the URB.
const SLOTS_PER_UNIT: u32 = 4;
/// Slots of all vertices of a draw, at most: 256 MiB.
const MAX_SLOTS: u64 = 1 << 24;
/// Instructions that the threads of a draw may execute together.
const DRAW_STEPS: u64 = 1 << 30;
/// Attributes of a unit of the read length and offset.
const ATTRIBUTES_PER_READ: u32 = 2;

/// Runs the vertex programs of Gen7 and Gen7.5, two vertices a thread.
#[derive(Clone, Copy, Debug)]
pub struct KernelStage {
    /// How MAD rounds.
    pub mad: Mad,
    /// Instructions that a thread may execute; in large draws fewer.
    pub steps: u64,
}

impl Default for KernelStage {
    fn default() -> Self {
        KernelStage { mad: Mad::default(), steps: 1 << 20 }
    }
}

impl VertexStage for KernelStage {
    fn run(&mut self, work: &VertexWork<'_>, memory: &dyn GuestMemory) -> Result<Vec<DrawnStream>, Refusal> {
        let program = &work.state.pipeline.vertex;
        check(work.generation, program)?;
        let code = code(work.state, memory)?;
        let constants = constants(program, memory)?;
        let vertices: Vec<Vec<[u32; 4]>> = attributes(work);
        let slots = program.urb_units * SLOTS_PER_UNIT;
        check_size(vertices.len() as u64, slots)?;
        let steps = self.steps.min(DRAW_STEPS / (vertices.len() as u64 / 2 + 1));
        let reads = |units: u32| (units * ATTRIBUTES_PER_READ) as usize;
        let mut words = Vec::new();
        for pair in vertices.chunks(2) {
            let second = pair.get(1);
            let launch = VertexLaunch {
                code: &code,
                first_register: program.grf_start,
                constants: &constants,
                attributes: [Some(&pair[0]), second.map(Vec::as_slice)],
                read: (reads(program.read_offset), reads(program.read_length)),
                slots: slots as usize,
                mad: self.mad,
                steps,
            };
            let made = gen7::vertex(&launch).map_err(|r| refused(work.origin, &r))?;
            words.extend(made.into_iter().take(pair.len()).flatten().flatten());
        }
        Ok(vec![work.stream0(Vues { slots, words: words.into() })])
    }
}

/// What of a program's state is not carried out.
fn check(generation: Gen, program: &VertexProgram) -> Result<(), Refusal> {
    let reasons = [
        (generation.wide(), "programs of Gen8 and later are not run"),
        (!program.enabled, "a stage after the vertex program is on, and that one is not"),
        (program.scratch, "it asks for scratch memory"),
        (program.alternate_floats, "it asks for the alternate floating-point mode"),
        (program.single_program_flow, "it asks for a single program flow"),
    ];
    match reasons.into_iter().find(|(met, _)| *met) {
        Some((_, why)) => Err(Refusal::VertexProgram { why }),
        None => Ok(()),
    }
}

fn check_size(vertices: u64, slots: u32) -> Result<(), Refusal> {
    let limit = MAX_SLOTS / u64::from(slots.max(1));
    match vertices > limit {
        true => Err(Refusal::DrawSize { vertices, limit }),
        false => Ok(()),
    }
}

/// The program's code, as far as memory goes.
fn code(state: &State, memory: &dyn GuestMemory) -> Result<Vec<u8>, Refusal> {
    let address = state.bases.instruction.wrapping_add(state.pipeline.vertex.kernel);
    let why = Refusal::VertexProgram { why: "no memory is mapped at its first instruction" };
    let there = memory.mapping(address).ok_or(why)?.end.saturating_sub(address);
    let mut code = vec![0; there.min(CODE_BYTES) as usize];
    memory.read(address, &mut code)?;
    Ok(code)
}

fn constants(program: &VertexProgram, memory: &dyn GuestMemory) -> Result<Vec<[u32; 8]>, Refusal> {
    let mut registers = Vec::new();
    for range in program.constants {
        for n in 0..u64::from(range.registers) {
            if registers.len() > 128 {
                return Err(Refusal::VertexProgram { why: "its constants do not fit the register file" });
            }
            let mut bytes = [0; REGISTER_BYTES as usize];
            memory.read(range.pointer.wrapping_add(n * REGISTER_BYTES), &mut bytes)?;
            let (words, _) = bytes.as_chunks();
            registers.push(std::array::from_fn(|i| u32::from_le_bytes(words[i])));
        }
    }
    Ok(registers)
}

/// The fetched elements of each vertex.
fn attributes(work: &VertexWork<'_>) -> Vec<Vec<[u32; 4]>> {
    let fetched = work.fetched;
    let vertices = fetched.vertices as usize * fetched.instances as usize;
    let (vectors, _) = fetched.words.as_chunks::<4>();
    match fetched.elements as usize {
        0 => vec![Vec::new(); vertices],
        elements => vectors.chunks(elements).map(<[_]>::to_vec).collect(),
    }
}

fn refused(origin: Origin, refusal: &gen7::Refusal) -> Refusal {
    DispatchError {
        id: DispatchId::default(),
        origin,
        code: refusal.code(),
        text: format!("the vertex program: {refusal}"),
        pc: Some(refusal.pc()),
        fault: None,
    }
    .into()
}
