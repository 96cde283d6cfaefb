//! Everything that a command processor refuses, by name and with a stable code.
//!
//! One row of the `refusals!` table is a variant, its code and its sentence; `docs/refusals.md` is generated from
//! [`CATALOGUE`]. Codes are never reused and never change their meaning. Groups: `PKT` packet structure and opcodes,
//! `MEM` guest memory, `REG` registers, `WAIT` waits and conditions, `EVT` events, `STRM` streamout, `DRAW` draws,
//! `DISP` compute dispatches, `MALI` Mali descriptors and varyings.

use crate::{DispatchError, MemoryFault, Origin};

/// Code and sentence of one refusal; braces in the sentence name what a report fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Stable code.
    pub code: &'static str,
    /// The sentence.
    pub sentence: &'static str,
}

/// An error that has a stable code.
pub trait Coded: std::error::Error {
    /// The code.
    fn code(&self) -> &'static str;
}

impl Coded for Box<DispatchError> {
    fn code(&self) -> &'static str {
        self.code
    }
}

/// Makes an enum of refusals and its catalogue from rows of a variant, its code and its sentence; the rows stand in
/// the order of their codes. Errors named behind the catalogue become variants of their own, with their own codes.
macro_rules! refusals {
    ($(#[doc = $doc_of_all:literal])* $name:ident: $catalogue:ident
     $(, $(#[doc = $inner_doc:literal])* $wrapped:ident($inner:ty))*; $( $(#[doc = $doc:literal])* $variant:ident { $($field:ident: $ty:ty),* $(,)? } = $code:literal, $sentence:literal; )*) => {
        $(#[doc = $doc_of_all])*
        #[derive(Clone, Debug, PartialEq, thiserror::Error)]
        pub enum $name {
            $(
                $(#[doc = $doc])*
                #[error($sentence)]
                $variant {
                    $(
                        #[doc = concat!("`", stringify!($field), "` of the sentence.")]
                        $field: $ty,
                    )*
                },
            )*
            $(
                $(#[doc = $inner_doc])*
                #[error("{0}")]
                $wrapped($inner),
            )*
        }

        impl $name {
            /// The stable code.
            pub fn code(&self) -> &'static str {
                match self {
                    $( $name::$variant { .. } => $code, )*
                    $( $name::$wrapped(error) => $crate::refusal::Coded::code(error), )*
                }
            }
        }

        impl $crate::refusal::Coded for $name {
            fn code(&self) -> &'static str {
                $name::code(self)
            }
        }

        #[doc = concat!("Every row of [`", stringify!($name), "`], sorted by code.")]
        pub static $catalogue: &[$crate::refusal::CatalogueEntry] = &[
            $( $crate::refusal::CatalogueEntry { code: $code, sentence: $sentence }, )*
        ];
    };
}

/// Lets the faults of memory and of dispatches become refusals of a kind.
macro_rules! refuses_faults {
    ($name:ident) => {
        impl From<$crate::MemoryFault> for $name {
            fn from(fault: $crate::MemoryFault) -> Self {
                $name::Memory { fault }
            }
        }

        impl From<$crate::DispatchError> for $name {
            fn from(error: $crate::DispatchError) -> Self {
                $name::Dispatch(Box::new(error))
            }
        }
    };
}

pub(crate) use {refusals, refuses_faults};

refusals! {
    /// Why a packet was not carried out, or not whole.
    Refusal: CATALOGUE,
        /// The executor refused a dispatch, or the dispatch faulted.
        Dispatch(Box<DispatchError>);
    /// A dispatch with an option that changes results and is not carried out.
    DispatchOption { option: &'static str } = "CP-DISP-001",
        "the dispatch asks for {option}, which is not carried out";
    /// A workgroup's size.
    GroupThreads { x: u32, y: u32, z: u32, limit: u64 } = "CP-DISP-002",
        "a workgroup of {x} x {y} x {z} threads cannot be: it has to have at least 1 and at most {limit}";
    /// A last workgroup larger than the others.
    PartialGroup { partial: u32, threads: u32 } = "CP-DISP-003",
        "the last workgroup along an axis has {partial} threads, more than the {threads} of the others";
    /// A dispatch larger than any real one.
    DispatchSize { threads: u64, limit: u64 } = "CP-DISP-004",
        "the dispatch has {threads} threads, more than the {limit} that are taken for real work";
    /// More user data than registers for it.
    ComputeUserData { count: u32, limit: u32 } = "CP-DISP-005",
        "the compute program asks for {count} words of user data, and there are {limit}";
    /// Scratch without a ring.
    ComputeScratch {} = "CP-DISP-006",
        "the compute program asks for scratch memory, and COMPUTE_TMPRING_SIZE gives it a ring of no waves";
    /// More LDS than a workgroup can have.
    DispatchLds { bytes: u32, limit: u32 } = "CP-DISP-007",
        "the compute program asks for {bytes} bytes of LDS, and a workgroup has at most {limit}";
    /// Draws are not carried out on this ring.
    DrawOnComputeRing {} = "CP-DRAW-001",
        "a draw was submitted to a compute ring, which has no vertex stage";
    /// The raster half of a draw.
    NotDrawn {} = "CP-DRAW-002",
        "not drawn: the draw leaves rasterization on, and its pixels are not produced";
    /// A draw that would only rasterize, of a kind that is not carried out.
    DrawLeftOut { why: Box<Refusal> } = "CP-DRAW-004",
        "not drawn, and its vertex program did not run: {why}";
    /// NGG.
    PrimitiveShader {} = "CP-DRAW-005",
        "the draw's vertices come from a primitive shader (NGG), which is not carried out; only a legacy vertex program is";
    /// A draw option.
    DrawOption { option: &'static str } = "CP-DRAW-011",
        "the draw asks for {option}, which is not carried out";
    /// A primitive type without a row.
    Topology { value: u32 } = "CP-DRAW-014",
        "VGT_PRIMITIVE_TYPE {value:#x} has no row in the topology table";
    /// A topology that streamout does not expand.
    StreamoutTopology { topology: &'static str } = "CP-DRAW-015",
        "a {topology} is drawn into streamout buffers; which vertices of it are stored is not documented";
    /// Primitive ids of a topology that is stored as triangles.
    PrimitiveIds { topology: &'static str } = "CP-DRAW-016",
        "the vertices of a {topology} are to have primitive ids; how its triangles are numbered is not documented";
    /// A draw larger than any real one.
    DrawSize { vertices: u64, limit: u64 } = "CP-DRAW-017",
        "the draw has {vertices} vertices, more than the {limit} that are taken for real work";
    /// More user data than registers for it.
    VertexUserData { stage: &'static str, count: u32, limit: u32 } = "CP-DRAW-018",
        "the {stage} program asks for {count} words of user data, and there are {limit}";
    /// Scratch without a ring.
    VertexScratch { stage: &'static str } = "CP-DRAW-019",
        "the {stage} program asks for scratch memory, and SPI_TMPRING_SIZE gives it a ring of no waves";
    /// More indirect draws than any real packet has.
    IndirectDraws { draws: u32, limit: u32 } = "CP-DRAW-020",
        "the packet has {draws} indirect draws, more than the {limit} that are taken for real work";
    /// An index type that does not exist.
    IndexType { value: u32 } = "CP-DRAW-021",
        "VGT_INDEX_TYPE {value} is no size of an index";
    /// Stages that do not go together.
    Stages { value: u32 } = "CP-DRAW-022",
        "VGT_SHADER_STAGES_EN {value:#x} sets up stages that no legacy pipeline has together";
    /// A topology that no geometry program takes.
    GeometryTopology { topology: &'static str } = "CP-DRAW-023",
        "a {topology} goes into a geometry program; how it is cut up before it is not documented";
    /// A geometry ring without room.
    GeometryRing { slot: u64, ring: u64 } = "CP-DRAW-024",
        "a wave's geometry output takes {slot} bytes, and VGT_GSVS_RING_SIZE gives a ring of {ring}, which does not hold that of one primitive";
    /// An output primitive that does not exist.
    GeometryOutput { value: u32 } = "CP-DRAW-025",
        "VGT_GS_OUT_PRIM_TYPE {value} is nothing that a geometry program makes";
    /// Two streams, one buffer.
    SharedBuffer {} = "CP-DRAW-026",
        "two vertex streams store to one streamout buffer; in which order is not documented";
    /// An executor that does not record.
    Records { waves: usize, records: usize } = "CP-DRAW-027",
        "the executor recorded the messages of {records} waves of {waves}; a geometry draw needs those of all";
    /// More LDS than a workgroup can have.
    DrawLds { stage: &'static str, bytes: u32, limit: u32 } = "CP-DRAW-028",
        "the {stage} program asks for {bytes} bytes of LDS, and a workgroup has at most {limit}";
    /// Patches of no size.
    PatchVertices { side: &'static str, count: u32, limit: u32 } = "CP-DRAW-029",
        "a patch has {count} {side} vertices; it has to have 1 to {limit}";
    /// A tessellation ring without room.
    TessellationRing { ring: &'static str } = "CP-DRAW-030",
        "{ring} leaves no room for a group of patches";
    /// A way of tessellation.
    Tessellator { field: &'static str, value: u32 } = "CP-DRAW-031",
        "VGT_TF_PARAM: {field} {value} is not carried out with the rest of it";
    /// Tessellation of something else than patches.
    NotPatches { value: u32 } = "CP-DRAW-032",
        "VGT_PRIMITIVE_TYPE {value:#x} goes into tessellation, which takes patches";
    /// An event type without a row in the table.
    UnknownEvent { event: u8 } = "CP-EVT-001",
        "event type {event} has no row in the event table";
    /// An event that is not carried out.
    EventRefused { name: &'static str, reason: &'static str } = "CP-EVT-002",
        "event {name} is not carried out: {reason}";
    /// An event that should write memory but carries no address, or the reverse.
    EventAddress { name: &'static str, dwords: u32 } = "CP-EVT-003",
        "event {name} with a body of {dwords} dwords: whether and where it writes is not clear";
    /// A version that does not exist.
    MaliVersion { version: String } = "CP-MALI-001",
        "there is no Mali architecture, GPU or product called {version}";
    /// A descriptor's name.
    DescriptorName { name: String, version: u8 } = "CP-MALI-002",
        "v{version} has no descriptor called {name}";
    /// Fewer words than the descriptor has.
    DescriptorLength { record: &'static str, words: usize, needed: usize } = "CP-MALI-003",
        "{record} has {needed} words, and {words} are given";
    /// A bit outside every field.
    DescriptorReserved { record: &'static str, word: u32, bit: u32, value: u32 } = "CP-MALI-004",
        "{record}: bit {bit} of word {word} ({value:#010x}) has no meaning and is not zero";
    /// A field's code that stands for nothing.
    DescriptorCode { record: &'static str, field: &'static str, code: u64, word: u32, bit: u32 } = "CP-MALI-005",
        "{record}: {field} cannot be {code} (from bit {bit} of word {word})";
    /// Words that are none of the descriptors that may stand there.
    DescriptorKind { kinds: String, version: u8, value: u32 } = "CP-MALI-006",
        "the type in the low bits of word 0 ({value:#010x}) is that of no {kinds} of v{version}";
    /// A value that a field cannot hold.
    DescriptorField { record: &'static str, field: String, value: u64 } = "CP-MALI-007",
        "{record} cannot hold {value:#x} in {field}";
    /// An index past a table's end.
    TableIndex { what: &'static str, index: u32, count: u32 } = "CP-MALI-008",
        "{what} {index} is asked for, and there are {count}";
    /// A kind of attribute or buffer whose addresses public facts do not tell.
    AddressForm { record: &'static str } = "CP-MALI-009",
        "{record}: how an invocation's address follows from it is not public, or takes coordinates";
    /// A version without this kind of table.
    DescriptorTables { what: &'static str, version: u8 } = "CP-MALI-010",
        "v{version} has no {what}";
    /// A varying that a shader cannot have.
    VaryingShape { name: String, what: String } = "CP-MALI-011",
        "varying {name}: {what}";
    /// A layout larger than the hardware's fields.
    VaryingOffset { name: String, offset: u64, limit: u64 } = "CP-MALI-012",
        "varying {name} would lie at byte {offset}, and offsets end before {limit}";
    /// A line of a varyings file.
    VaryingLine { line: usize, what: String } = "CP-MALI-013",
        "line {line} of the varyings: {what}";
    /// Two varyings of one stage in one place.
    VaryingOverlap { name: String, other: String } = "CP-MALI-014",
        "varyings {name} and {other} of one stage have the same location";
    /// A packet accesses memory that is not mapped.
    Memory { fault: MemoryFault } = "CP-MEM-001",
        "{fault}; map it before the submission, or mend the packet's address";
    /// A place that a memory packet names is not carried out.
    Place { packet: &'static str, what: &'static str, select: u32 } = "CP-MEM-002",
        "{packet}: {what} {select} is not carried out";
    /// An address that breaks the packet's alignment.
    Misaligned { packet: &'static str, address: u64, alignment: u64 } = "CP-MEM-003",
        "{packet}: address {address:#x} is not a multiple of {alignment}";
    /// A type-1 packet.
    PacketType { header: u32 } = "CP-PKT-001",
        "packet header {header:#010x} has type 1, which does not exist: the walk has lost its place, or the buffer holds no packets";
    /// A packet runs past the end of its indirect buffer.
    Truncated { header: u32, needs: u32, left: u32 } = "CP-PKT-002",
        "packet {header:#010x} needs {needs} body dwords and its buffer has {left} left: the buffer is truncated";
    /// An opcode without a row.
    UnknownOpcode { opcode: u8 } = "CP-PKT-003",
        "opcode {opcode:#04x} has no row in the packet table";
    /// A packet that is known and not carried out.
    PacketRefused { packet: &'static str, reason: &'static str } = "CP-PKT-004",
        "{packet} is not carried out: {reason}";
    /// A body shorter than the packet's fields.
    ShortBody { packet: &'static str, needs: u32, has: u32 } = "CP-PKT-005",
        "{packet} has a body of {has} dwords and needs at least {needs}";
    /// A field value of a packet that is not carried out.
    FieldValue { packet: &'static str, field: &'static str, value: u32 } = "CP-PKT-006",
        "{packet}: {field} = {value:#x} is not carried out";
    /// Nested calls.
    CallDepth { limit: u32 } = "CP-PKT-007",
        "indirect buffers are called more than {limit} deep";
    /// A chain that comes back to where it has been.
    ChainLoop { address: u64 } = "CP-PKT-008",
        "the chain of indirect buffers comes back to {address:#x} and would not end";
    /// Too many chained buffers.
    ChainLength { limit: u32 } = "CP-PKT-009",
        "more than {limit} indirect buffers are chained";
    /// Too many dwords in one submission.
    TooManyDwords { limit: u64 } = "CP-PKT-010",
        "the submission walks more than {limit} dwords";
    /// Packets move too many bytes in one submission.
    TooManyBytes { limit: u64 } = "CP-PKT-011",
        "the submission's packets read and write more than {limit} bytes";
    /// A register outside of every space.
    NoRegister { address: u32 } = "CP-REG-001",
        "register address {address:#x} lies in no register space that a packet may reach";
    /// A register range that leaves its space.
    RegisterRange { address: u32, count: u32 } = "CP-REG-002",
        "{count} registers from {address:#x} leave their register space";
    /// A streamout position between two dwords.
    StreamoutPosition { bytes: u64 } = "CP-STRM-001",
        "a streamout buffer is to stand at byte {bytes}, which is not a multiple of 4: programs are given positions in dwords";
    /// A register by which the streamout unit keeps its positions.
    StreamoutRegister { register: &'static str } = "CP-STRM-002",
        "{register} is the streamout unit's own: no document says what reading or setting it gives; STRMOUT_BUFFER_UPDATE stores and sets positions";
    /// A conditional span that leaves its buffer.
    SpanPastEnd { dwords: u32, left: u32 } = "CP-WAIT-001",
        "COND_EXEC covers {dwords} dwords and its buffer has {left} left";
    /// A wait on memory that does not hold.
    WaitMemory { address: u64, value: u64, function: &'static str, reference: u64, mask: u64 } = "CP-WAIT-002",
        "the wait does not hold and nothing is left to make it: memory {address:#x} is {value:#x}, wanted (value & {mask:#x}) {function} {reference:#x}";
    /// A wait on a register that does not hold.
    WaitRegister { register: &'static str, address: u32, value: u64, function: &'static str, reference: u64, mask: u64 } = "CP-WAIT-003",
        "the wait does not hold and nothing is left to make it: register {register} ({address:#x}) is {value:#x}, wanted (value & {mask:#x}) {function} {reference:#x}";
    /// A REWIND whose packet was not made valid.
    RewindInvalid {} = "CP-WAIT-004",
        "REWIND waits for its own valid bit, which nothing is left to set";
    /// Predication by something that is not counted.
    Predication { operation: u32 } = "CP-WAIT-005",
        "SET_PREDICATION with operation {operation} is not carried out, and the packets after it depend on it";
    /// A comparison that does not exist.
    CompareFunction { packet: &'static str, function: u32 } = "CP-WAIT-006",
        "{packet}: comparison {function} does not exist";
    /// An atomic that loops until its comparison holds.
    AtomicLoop { address: u64, value: u64, compare: u64 } = "CP-WAIT-007",
        "ATOMIC_MEM loops until memory {address:#x} is {compare:#x}; it is {value:#x} and nothing is left to change it";
}

/// A refusal and where it happened.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("submission {}, packet at byte {:#x}: {}: {refusal}", at.submission, at.packet_offset, refusal.code())]
pub struct Refused<R: Coded = Refusal> {
    /// The packet.
    pub at: Origin,
    /// Whether the submission ended here. What was refused otherwise is one part of the packet, which the refusal
    /// names; what follows was carried out.
    pub stopped: bool,
    /// Why.
    pub refusal: R,
}

refuses_faults!(Refusal);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_sorted_and_well_formed() {
        for pair in CATALOGUE.windows(2) {
            assert!(pair[0].code < pair[1].code, "{} before {}", pair[0].code, pair[1].code);
        }
        for entry in CATALOGUE {
            let parts: Vec<_> = entry.code.split('-').collect();
            assert!(
                matches!(parts[..], ["CP", group, n] if !group.is_empty() && n.len() == 3),
                "{}",
                entry.code
            );
            assert!(!entry.sentence.is_empty());
        }
    }

    #[test]
    fn a_refusal_says_its_code_place_and_sentence() {
        let at = Origin { submission: 2, packet_offset: 0x19c, packet_address: 0 };
        let refused = Refused { at, stopped: true, refusal: Refusal::UnknownOpcode { opcode: 0x7f } };
        assert_eq!(
            refused.to_string(),
            "submission 2, packet at byte 0x19c: CP-PKT-003: opcode 0x7f has no row in the packet table"
        );
    }
}
