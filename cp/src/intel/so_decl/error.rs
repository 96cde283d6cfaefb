//! What is wrong with a list, a record or a set of varyings.

use crate::refusal::refusals;

refusals! {
    /// Why a declaration list is not one.
    SoDeclError: SO_DECL_ERRORS;
    /// A packet of no or too few dwords.
    ShortList { dwords: u32, needs: u32 } = "CP-SODECL-001",
        "3DSTATE_SO_DECL_LIST has {dwords} dwords and its header and counts ask for {needs}";
    /// The packet's length and its entry counts disagree.
    ListLength { dwords: u32, entries: u32 } = "CP-SODECL-002",
        "3DSTATE_SO_DECL_LIST has {dwords} dwords and its longest stream {entries} entries, which take 3 + 2 * {entries}: a length cut to 8 bits looks like this";
    /// More entries than a stream has.
    TooManyEntries { stream: u32, entries: u32 } = "CP-SODECL-003",
        "stream {stream} has {entries} declarations, and there are at most 128";
    /// Bits that have no meaning.
    ReservedBits { bits: u16 } = "CP-SODECL-004",
        "declaration {bits:#06x} has reserved bits set: the list is no declaration list, or its packet lost its place";
    /// Components with a gap.
    SplitMask { bits: u16 } = "CP-SODECL-005",
        "declaration {bits:#06x} has a component mask with a gap, which the unit does not store";
    /// A hole of a shape that the manuals do not list.
    HoleMask { bits: u16 } = "CP-SODECL-006",
        "hole {bits:#06x} has a component mask that is not 0, 1, 3, 7 or 15";
    /// A slot that does not exist.
    Register { register: u32 } = "CP-SODECL-007",
        "VUE slot {register} is captured, and declarations reach slots 0 to 32";
    /// A buffer in two streams.
    SharedBuffer { buffer: u32, first: u32, second: u32 } = "CP-SODECL-008",
        "buffer {buffer} is written by streams {first} and {second}, and belongs to at most one";
    /// A buffer that a declaration names and its stream does not select.
    NotSelected { stream: u32, buffer: u32 } = "CP-SODECL-009",
        "stream {stream} has a declaration for buffer {buffer}, which it does not select";
    /// A destination between two dwords.
    Unaligned { buffer: u32, bytes: u32 } = "CP-SODECL-010",
        "byte {bytes} of a record of buffer {buffer} is no multiple of 4, the size of a hole";
    /// Outputs on top of one another.
    Overlap { buffer: u32, offset: u32, next: u32 } = "CP-SODECL-011",
        "an output of buffer {buffer} starts at byte {offset}, and those before it end at {next}";
    /// Components outside a slot.
    Components { first: u32, count: u32 } = "CP-SODECL-012",
        "{count} components from component {first} on are not 1 to 4 components of one slot";
    /// A record longer than its pitch.
    Pitch { buffer: u32, pitch: u32, bytes: u32 } = "CP-SODECL-013",
        "buffer {buffer} has a pitch of {pitch} bytes and records of {bytes}";
    /// A pitch that the field does not hold.
    PitchRange { buffer: u32, pitch: u32 } = "CP-SODECL-014",
        "buffer {buffer} has a pitch of {pitch} bytes, which is no multiple of 4 up to 2048";
    /// A varying that the slot map lacks.
    UnknownVarying { name: String } = "CP-SODECL-015",
        "varying {name:?} is in no VUE slot; give it one, or say that the program does not write it";
    /// A name captured twice.
    RepeatedVarying { name: String } = "CP-SODECL-016",
        "varying {name:?} is captured twice";
    /// An element past the end of an array.
    ArrayElement { name: String } = "CP-SODECL-017",
        "{name:?} names no element of an array";
    /// More buffers than there are.
    TooManyBuffers { buffers: u32 } = "CP-SODECL-018",
        "the varyings go to {buffers} buffers, and there are 4";
    /// A special name where each varying has its buffer.
    SpecialSeparate { name: String } = "CP-SODECL-019",
        "{name} stands only among interleaved varyings";
}
