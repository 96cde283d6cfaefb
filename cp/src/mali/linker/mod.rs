//! Chooses how the varyings of a vertex and a fragment shader lie in memory, and which instruction each access uses.
//!
//! # Rules
//!
//! 1. The vertex shader decides the layout; only the fragment shader knows which varyings are smooth.
//! 2. Where types cannot be trusted (OpenGL, both shaders compiled together), every high-precision output is stored as
//!    U32; high-precision flat inputs are loaded as U32 and smooth ones as F32. Mediump, trusted and separately compiled
//!    varyings keep their own types, and v4, whose stores cannot take the type from the descriptor, keeps them too.
//! 3. Slots follow each other in the order of the vertex shader's outputs, each aligned to its size rounded up to a power
//!    of two.
//! 4. A load's format has the base type of the fragment shader and the size of the vertex shader's slot. Where the shader
//!    wants another size, a conversion of values follows.
//! 5. v9 and later load by [`Form::LoadBuffer`] if the shaders are compiled together and every offset fits the immediate of
//!    the version; otherwise every load goes through an attribute descriptor. The vertex shader always stores through
//!    the output buffer. Earlier versions always use descriptors.
//! 6. An input without an output reads zeros: a constant where the shaders are compiled together on v9 and later, else a
//!    descriptor of the Constant format. An output that nobody reads is stored nowhere: Constant too.
//! 7. Position, point size, layer, viewport and primitive id have places of their own. What the rasterizer makes (point
//!    coordinate, window coordinate, facing) is a special descriptor on v4 and v5, an instruction or a preloaded register
//!    later.
//!
//! Every choice is recorded with its reason in [`Access::why`].

mod access;
mod parse;
mod slots;
mod text;
mod types;
mod words;

use crate::Refusal;
use crate::mali::{Generation, Version};

pub use parse::parse;
pub use types::{Base, Element, Location, Sampling, Stage, Varying};
pub use words::{Descriptor, constant_word, format_word};

/// What is linked.
#[derive(Clone, Debug)]
pub struct Request {
    /// The architecture.
    pub version: Version,
    /// Outputs of the vertex shader and inputs of the fragment shader, each in the order of the shader.
    pub varyings: Vec<Varying>,
    /// Whether the two shaders are compiled without knowing each other.
    pub separate: bool,
    /// Whether the types of the shaders can be trusted (Vulkan), so that they are kept.
    pub trusted: bool,
    /// Whether floats that every access calls mediump may be stored in 16 bits.
    pub shrink: bool,
}

/// Where a slot's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// With the other varyings of a vertex, from this byte on.
    Generic {
        /// Byte in the vertex's varyings.
        offset: u32,
    },
    /// In the position buffer.
    Position,
    /// In the attribute entry that holds point size, layer, viewport and primitive id, from this byte on (v4 to v7: a
    /// buffer of its own).
    Attributes {
        /// Byte in the entry.
        offset: u32,
    },
    /// Made by the rasterizer.
    Special,
    /// Nowhere.
    Nowhere,
}

/// A location as it lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// Which.
    pub location: Location,
    /// Type of a component.
    pub element: Element,
    /// Components from the first to the last one used, 1 to 4.
    pub components: u8,
    /// Where.
    pub section: Section,
}

impl Slot {
    /// Bytes of all components.
    pub fn bytes(&self) -> u32 {
        u32::from(self.components) * u32::from(self.element.bits) / 8
    }
}

/// How an access is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// v4, v5: ST_VARY through a descriptor.
    StoreVarying,
    /// v6, v7: LEA_ATTR and ST_CVT through a descriptor; the index is an immediate or in a register.
    StoreConverted {
        /// Whether the immediate form reaches the index.
        immediate: bool,
    },
    /// v9 and later: LEA_BUF and STORE.
    StoreBuffer,
    /// v4, v5: LD_VARY through a descriptor.
    LoadVarying,
    /// v6 and later: LD_VAR or LD_VAR_FLAT through a descriptor.
    LoadDescriptor {
        /// Whether the immediate form reaches the index.
        immediate: bool,
    },
    /// v9 and later: LD_VAR_BUF with the offset in the instruction.
    LoadBuffer,
    /// v6 and later: LD_VAR_SPECIAL of this name.
    LoadSpecial(&'static str),
    /// A register that the hardware fills before the shader starts.
    Preloaded(&'static str),
    /// The constant 0, no instruction.
    Zero,
}

/// One varying of one shader: what the shader does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Index in [`Request::varyings`].
    pub varying: usize,
    /// Instruction form.
    pub form: Form,
    /// Type of the register that the instruction reads or writes.
    pub register: Element,
    /// Type and number of the components in memory.
    pub memory: Element,
    /// Components that the instruction moves, counted from the slot's first for descriptors, from the varying's first
    /// for [`Form::LoadBuffer`] and [`Form::StoreBuffer`].
    pub components: u8,
    /// Where in memory; [`Section::Nowhere`] for stores that are discarded and loads of constants.
    pub section: Section,
    /// Index of the descriptor, if the access uses one.
    pub descriptor: Option<u32>,
    /// Bits that the shader's own type has, if a conversion of values follows the load or goes before the store.
    pub converts: Option<u8>,
    /// The choices and their reasons.
    pub why: Vec<String>,
}

/// A buffer that the driver binds for varyings, v4 to v7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferUse {
    /// What it holds.
    pub holds: &'static str,
    /// Index of its record.
    pub index: u32,
    /// Bytes a vertex; 0 for special inputs.
    pub stride: u32,
    /// The code of a special input's record.
    pub special: Option<u32>,
}

/// What the linker chose.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The architecture.
    pub version: Version,
    /// The vertex shader's slots, in layout order.
    pub slots: Vec<Slot>,
    /// Bytes of generic varyings a vertex.
    pub generic_bytes: u32,
    /// Every access, in the order of [`Request::varyings`].
    pub accesses: Vec<Access>,
    /// Attribute descriptors in the order that indices count them.
    pub descriptors: Vec<Descriptor>,
    /// Buffers, v4 to v7.
    pub buffers: Vec<BufferUse>,
    /// Whether loads go through descriptors on v9 and later, and why.
    pub fallback: Option<String>,
}

/// Links the shaders of a request.
///
/// # Errors
/// [`Refusal::VaryingShape`], [`Refusal::VaryingOverlap`] or [`Refusal::VaryingOffset`].
pub fn link(request: &Request) -> Result<Layout, Refusal> {
    request.varyings.iter().try_for_each(|v| v.check(request.version))?;
    slots::check_overlaps(&request.varyings)?;
    let vertex = slots::collect(request, Stage::Vertex);
    let (vertex, generic_bytes) = slots::lay_out(vertex, request.version)?;
    let fragment = slots::collect(request, Stage::Fragment);
    let mut layout = Layout {
        version: request.version,
        slots: vertex,
        generic_bytes,
        accesses: Vec::new(),
        descriptors: Vec::new(),
        buffers: words::buffers(request, generic_bytes),
        fallback: access::fallback(request, &fragment),
    };
    layout.fallback = layout.fallback.or_else(|| access::overflow(request, &layout.slots));
    layout.accesses = access::choose(request, &layout, &fragment);
    layout.descriptors = words::descriptors(request, &layout, &fragment)?;
    Ok(layout)
}

impl Layout {
    /// The slot of a location.
    pub fn slot(&self, location: Location) -> Option<&Slot> {
        self.slots.iter().find(|s| s.location == location)
    }

    /// Whether loads of v9 and later may use the instruction's own offset.
    fn direct(&self) -> bool {
        self.version.generation() == Generation::Valhall && self.fallback.is_none()
    }
}
