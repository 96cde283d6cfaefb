//! What packets set, but for stream output.

use std::collections::BTreeMap;

use super::registers::RegisterFile;
use super::sol::SolState;

/// Base addresses of STATE_BASE_ADDRESS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Bases {
    /// General state.
    pub general: u64,
    /// Surface state.
    pub surface: u64,
    /// Dynamic state; constants of Gen7 are relative to it unless INSTPM says otherwise.
    pub dynamic: u64,
    /// Indirect objects.
    pub indirect: u64,
    /// Programs.
    pub instruction: u64,
}

/// One run of a vertex program's constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ConstantRange {
    /// Bytes from the base that the run's pointer counts from.
    pub pointer: u64,
    /// 32-byte registers.
    pub registers: u32,
}

/// 3DSTATE_VS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VertexProgram {
    /// Whether a program runs; else vertices pass unchanged.
    pub enabled: bool,
    /// First instruction, in bytes from the instruction base.
    pub kernel: u64,
    /// First register of constants and attributes.
    pub grf_start: u32,
    /// 256-bit units of each vertex that are given to the program.
    pub read_length: u32,
    /// 256-bit units of each vertex before them.
    pub read_offset: u32,
    /// Single Program Flow (Gen7).
    pub single_program_flow: bool,
    /// Floating Point Mode: alternate (non-IEEE) arithmetic (Gen7).
    pub alternate_floats: bool,
    /// Bytes of scratch a thread asks for (Gen7); 0 for none.
    pub scratch: bool,
    /// Whether VS_INVOCATION_COUNT counts.
    pub statistics: bool,
    /// Constants (Gen7).
    pub constants: [ConstantRange; 4],
    /// 64-byte units of a vertex in the URB.
    pub urb_units: u32,
}

/// The stages between the vertex fetcher and stream output, and their statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pipeline {
    /// The vertex program.
    pub vertex: VertexProgram,
    /// Whether a geometry program runs.
    pub geometry: bool,
    /// Whether a hull program runs.
    pub hull: bool,
    /// Whether the tessellator runs.
    pub tessellator: bool,
    /// Whether a domain program runs.
    pub domain: bool,
    /// Whether IA_VERTICES_COUNT and IA_PRIMITIVES_COUNT count.
    pub fetch_statistics: bool,
    /// Whether CL_INVOCATION_COUNT counts.
    pub clip_statistics: bool,
}

/// One vertex buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VertexBuffer {
    /// Guest address of the first byte.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes from one element to the next.
    pub pitch: u32,
    /// Reads give 0.
    pub null: bool,
    /// Elements advance by instances (Gen7), one for each `step_rate`.
    pub instanced: bool,
    /// Instances that share an element; 0: all do.
    pub step_rate: u32,
}

/// One vertex element: where an attribute comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VertexElement {
    /// Vertex buffer.
    pub buffer: u32,
    /// Whether it counts.
    pub valid: bool,
    /// Surface format.
    pub format: u32,
    /// Bytes from the buffer's element.
    pub offset: u32,
    /// Whether it is the edge flag.
    pub edge_flag: bool,
    /// What becomes of X, Y, Z and W: 1 the source's, 2 zero, 3 one as a float, 4 one as an integer, 5 the vertex id,
    /// 6 the instance id.
    pub controls: [u32; 4],
}

/// Where the vertex or instance id goes (3DSTATE_VF_SGVS): an element and a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct GeneratedValue {
    /// Vertex element.
    pub element: u32,
    /// Component.
    pub component: u32,
}

/// The index buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct IndexBuffer {
    /// Guest address of the first index.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// 0 bytes, 1 words, 2 dwords.
    pub format: u32,
}

/// What the vertex fetcher is told.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FetchState {
    /// Vertex buffers by number.
    pub buffers: BTreeMap<u32, VertexBuffer>,
    /// Vertex elements in order.
    pub elements: Vec<VertexElement>,
    /// 3DSTATE_VF_INSTANCING: elements that advance by instances, and their step rates (Gen8 and later).
    pub instancing: BTreeMap<u32, u32>,
    /// Where the vertex id goes (Gen8 and later).
    pub vertex_id: Option<GeneratedValue>,
    /// Where the instance id goes (Gen8 and later).
    pub instance_id: Option<GeneratedValue>,
    /// Whether values of Gen11's second packet are generated, which is not carried out.
    pub further_values: bool,
    /// Whether elements are packed (Gen9 and later), which is not carried out.
    pub packed: bool,
    /// The index buffer.
    pub index_buffer: Option<IndexBuffer>,
    /// Whether an index cuts strips.
    pub cut_enabled: bool,
    /// Which index does; `None` for all ones of the index's size.
    pub cut_index: Option<u32>,
    /// Topology of draws (Gen8 and later).
    pub topology: u32,
}

/// Everything that lives on from packet to packet.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct State {
    /// Base addresses.
    pub bases: Bases,
    /// The stages before stream output.
    pub pipeline: Pipeline,
    /// The vertex fetcher.
    pub fetch: FetchState,
    /// Stream output.
    pub sol: SolState,
    pub(crate) registers: RegisterFile,
}

impl State {
    /// A register that is one dword, by its byte address, as a batch would read it; `None` where that is refused.
    pub fn register(&self, address: u32) -> Option<u32> {
        self.registers.read(&self.sol.unit, address).ok()
    }
}
