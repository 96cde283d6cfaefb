//! Everything that the Intel command processor refuses.
//!
//! Groups: `IPKT` packets and batches, `IMEM` memory, `IREG` registers, `IDRAW` draws and vertices, `ISOL` stream output;
//! declaration lists have codes of their own ([`SoDeclError`]).

use super::so_decl::SoDeclError;
use crate::refusal::{refusals, refuses_faults};
use crate::{DispatchError, MemoryFault};

refusals! {
    /// Why a packet was not carried out, or not whole.
    Refusal: CATALOGUE,
        /// A malformed declaration list.
        SoDecl(SoDeclError),
        /// The stream-output copies or the vertex stage were refused, or faulted.
        Dispatch(Box<DispatchError>);
    /// The pixels of a draw.
    NotDrawn {} = "CP-IDRAW-001",
        "not drawn: the draw leaves rendering on, and its pixels are not produced";
    /// A topology without a row.
    Topology { number: u32 } = "CP-IDRAW-002",
        "topology {number} has no row in the topology table";
    /// A topology that is known and not carried out.
    TopologyRefused { topology: &'static str, reason: &'static str } = "CP-IDRAW-003",
        "topology {topology} is not carried out: {reason}";
    /// An option of a draw.
    DrawOption { option: &'static str } = "CP-IDRAW-004",
        "the draw asks for {option}, which is not carried out";
    /// A stage before stream output that nobody runs.
    Stage { stage: &'static str } = "CP-IDRAW-005",
        "the draw has a {stage}, and the vertex stage at hand does not run one";
    /// A draw larger than any real one.
    DrawSize { vertices: u64, limit: u64 } = "CP-IDRAW-006",
        "the draw has {vertices} vertices, more than the {limit} that are taken for real work";
    /// A vertex format that is not known.
    VertexFormat { element: u32, format: u32 } = "CP-IDRAW-007",
        "vertex element {element} has surface format {format:#x}, which the vertex fetcher does not read";
    /// A component control without a meaning.
    ComponentControl { element: u32, control: u32 } = "CP-IDRAW-008",
        "vertex element {element} has component control {control}, which is not carried out on this generation";
    /// A vertex buffer that was never set.
    NoVertexBuffer { element: u32, buffer: u32 } = "CP-IDRAW-009",
        "vertex element {element} reads vertex buffer {buffer}, which no packet has set";
    /// An indexed draw without indices.
    NoIndexBuffer {} = "CP-IDRAW-010",
        "the draw reads indices, and no packet has set an index buffer";
    /// An index size that does not exist.
    IndexFormat { value: u32 } = "CP-IDRAW-011",
        "index format {value} is no size of an index";
    /// A vertex program that nobody runs.
    VertexProgram { why: &'static str } = "CP-IDRAW-012",
        "the draw's vertex program is not run: {why}";
    /// What a vertex stage returned does not fit together.
    Shaded { what: &'static str } = "CP-IDRAW-013",
        "the vertex stage gave vertices that do not fit together: {what}";
    /// More vertices in a submission than any real one has.
    TooManyVertices { limit: u64 } = "CP-IDRAW-014",
        "the submission streams out more than {limit} vertices";
    /// A packet accesses memory that is not mapped.
    Memory { fault: MemoryFault } = "CP-IMEM-001",
        "{fault}; map it before the submission, or mend the packet's address";
    /// Addresses in the kernel's table.
    GlobalTable { packet: &'static str } = "CP-IMEM-002",
        "{packet} addresses memory by the kernel driver's global table, which is not given";
    /// No batch where one should be.
    BatchMemory { address: u64 } = "CP-IMEM-003",
        "no memory is mapped at {address:#x}, where the batch goes on";
    /// The walk has lost its place.
    PacketType { header: u32 } = "CP-IPKT-001",
        "header {header:#010x} is of a type that no packet has: the walk has lost its place, or the buffer holds no packets";
    /// A packet runs past the end of its batch.
    Truncated { header: u32, needs: u64, left: u64 } = "CP-IPKT-002",
        "packet {header:#010x} needs {needs} dwords and its batch has {left} left";
    /// A packet without a row whose effect is not known.
    UnknownPacket { header: u32 } = "CP-IPKT-003",
        "packet {header:#010x} has no row in this generation's packet table";
    /// A packet that is known and not carried out.
    PacketRefused { packet: &'static str, reason: &'static str } = "CP-IPKT-004",
        "{packet} is not carried out: {reason}";
    /// Fewer dwords than fields.
    ShortPacket { packet: &'static str, needs: u32, has: u32 } = "CP-IPKT-005",
        "{packet} has {has} dwords and needs at least {needs}";
    /// A field value that is not carried out.
    FieldValue { packet: &'static str, field: &'static str, value: u32 } = "CP-IPKT-006",
        "{packet}: {field} = {value:#x} is not carried out";
    /// State that is skipped without a name.
    Unnamed { header: u32 } = "CP-IPKT-007",
        "state packet {header:#010x} has no row in this generation's packet table and was skipped by its length";
    /// A batch that does not end.
    TooManyDwords { limit: u64 } = "CP-IPKT-008",
        "the submission walks more than {limit} dwords";
    /// Batches that lead to one another.
    TooManyBatches { limit: u32 } = "CP-IPKT-009",
        "more than {limit} batches are chained or called";
    /// A batch without an end packet.
    NoBatchEnd { bytes: u64 } = "CP-IPKT-010",
        "the batch's {bytes} bytes were walked and none of them is MI_BATCH_BUFFER_END";
    /// A trailing part of a repeated group.
    Groups { packet: &'static str, dwords: u32, group: u32 } = "CP-IPKT-011",
        "{packet} has {dwords} dwords of entries, which are no whole number of {group}";
    /// An ALU instruction that does not exist.
    MathInstruction { instruction: u32 } = "CP-IPKT-012",
        "MI_MATH instruction {instruction:#010x} has no meaning";
    /// A register whose contents are not kept.
    NoRegister { address: u32 } = "CP-IREG-001",
        "register {address:#07x} is read, and what it holds is not kept";
    /// A register that batches cannot write.
    ReadOnly { register: &'static str } = "CP-IREG-002",
        "{register} is written, and only a context's restore sets it";
    /// Part of a register.
    BytesOfRegister { disabled: u32 } = "CP-IREG-003",
        "MI_LOAD_REGISTER_IMM leaves bytes {disabled:#x} of its registers as they are, which is not carried out";
    /// A draw that streams without a list.
    SlotNotRead { stream: u32, register: u32, slots: u32 } = "CP-ISOL-001",
        "stream {stream} declares VUE slot {register}, and its read length covers {slots} slots";
    /// A slot that the vertices do not have.
    SlotNotThere { stream: u32, slot: u32, slots: u32 } = "CP-ISOL-002",
        "stream {stream} reads VUE slot {slot}, and the vertices have {slots}";
    /// A record that is longer than its pitch.
    Record { buffer: u32, bytes: u32, pitch: u32 } = "CP-ISOL-003",
        "the declarations of buffer {buffer} cover {bytes} bytes of each vertex and its pitch is {pitch}";
    /// A pitch that cannot be.
    Pitch { buffer: u32, pitch: u32 } = "CP-ISOL-004",
        "stream-output buffer {buffer} has a pitch of {pitch} bytes, which is no multiple of 4 up to 2048";
    /// Records on top of one another.
    Overlap { first: u32, second: u32 } = "CP-ISOL-005",
        "stream-output buffers {first} and {second} store to the same bytes, in an order that is not documented";
}

/// A refusal and where it happened.
pub type Refused = crate::Refused<Refusal>;

refuses_faults!(Refusal);

impl From<SoDeclError> for Refusal {
    fn from(error: SoDeclError) -> Self {
        Refusal::SoDecl(error)
    }
}
