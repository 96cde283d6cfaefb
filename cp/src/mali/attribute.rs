//! Attribute descriptors and what they point at, with the arithmetic of addresses.

use super::divide::Divisor;
use super::record::Record;
use super::{Generation, Version};
use crate::Refusal;

/// Vertices of a vertex packet (policy *packets*).
const PACKET_VERTICES: u64 = 64;

/// Which number of an invocation an attribute counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frequency {
    /// All invocations of the draw, instances one after another (v4 to v7).
    Draw,
    /// The vertex (v9 and later).
    Vertex,
    /// The instance (v9 and later).
    Instance,
}

/// How far apart elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// As the buffer's record says (v4 to v7).
    Buffer,
    /// Bytes.
    Bytes(u32),
    /// In vertex packets: an attribute's and a packet's stride a vertex.
    Packet {
        /// Bytes of a vertex's varyings.
        attribute: u16,
        /// Bytes of a vertex's varyings and position.
        packet: u16,
    },
}

/// A decoded attribute descriptor of any generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attribute {
    /// Format word, 22 bits.
    pub format: u32,
    /// Bytes from the element's start.
    pub offset: i32,
    /// Whether the draw's offset start counts.
    pub offset_enable: bool,
    /// Table of the buffer (v9 and later; 0 else).
    pub table: u8,
    /// Index of the buffer.
    pub buffer: u32,
    /// What counts the elements.
    pub frequency: Frequency,
    /// How (v9 and later; the buffer's record says it else).
    pub divisor: Divisor,
    /// How far apart they lie.
    pub stride: Stride,
}

impl Attribute {
    /// The attribute in the words of a descriptor.
    ///
    /// # Errors
    /// The word and bit that have no meaning.
    pub fn decode(version: Version, words: &[u32]) -> Result<Self, Refusal> {
        let record = Record::decode_any(&["attribute"], version, words)?;
        Attribute::of_record(version, &record)
    }

    /// The attribute that a record describes.
    ///
    /// # Errors
    /// [`Refusal::AddressForm`] for primitive index buffers.
    pub fn of_record(version: Version, record: &Record) -> Result<Self, Refusal> {
        let plain = Attribute {
            format: record.value("format") as u32,
            offset: record.value("offset") as i32,
            offset_enable: record.value("offset_enable") != 0,
            table: record.value("table") as u8,
            buffer: record.value("buffer_index") as u32,
            frequency: Frequency::Draw,
            divisor: Divisor::One,
            stride: Stride::Buffer,
        };
        if version.generation() != Generation::Valhall {
            return Ok(plain);
        }
        let instance = record.value("frequency") == 1;
        let frequency = if instance { Frequency::Instance } else { Frequency::Vertex };
        let packet = Stride::Packet {
            attribute: record.value("attribute_stride") as u16,
            packet: record.value("packet_stride") as u16,
        };
        let (divisor, stride) = match record.get("attribute_type") {
            Some(6) => (Divisor::One, packet),
            Some(5) => return Err(Refusal::AddressForm { record: record.name() }),
            kind => (valhall_divisor(kind, record), Stride::Bytes(record.value("stride") as u32)),
        };
        Ok(Attribute { frequency, divisor, stride, ..plain })
    }
}

fn valhall_divisor(kind: Option<u64>, record: &Record) -> Divisor {
    let shift = record.value("divisor_r") as u8;
    let add = record.value("divisor_e") as u8;
    match kind {
        Some(2) => Divisor::Power { shift },
        Some(3) => Divisor::Magic { shift, add, numerator: record.value("divisor_d") as u32 },
        _ => Divisor::One,
    }
}

/// Values that v4 and v5 make up without memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// Point coordinate, 0 at the top.
    PointCoordMinY,
    /// Point coordinate, 0 at the bottom.
    PointCoordMaxY,
    /// Window coordinates and 1/w.
    FragCoord,
    /// Whether the front faces.
    FrontFacing,
    /// The vertex of the instance: the invocation by a modulus, and an offset.
    VertexId {
        /// The modulus.
        divisor: Divisor,
        /// Added to it.
        offset: i32,
    },
    /// The instance: the invocation divided, and an offset.
    InstanceId {
        /// The division.
        divisor: Divisor,
        /// Added to it.
        offset: i32,
    },
}

impl Special {
    /// The integer that an invocation reads; `None` for what the rasterizer makes.
    pub fn of_invocation(self, linear: u32) -> Option<u32> {
        match self {
            Special::VertexId { divisor, offset } | Special::InstanceId { divisor, offset } => {
                Some((divisor.element(linear) as u32).wrapping_add_signed(offset))
            }
            _ => None,
        }
    }
}

/// A three-dimensional record: elements in rows and slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// First byte.
    pub pointer: u64,
    /// Bytes in all.
    pub size: u32,
    /// Elements along x, y and z.
    pub extent: [u32; 3],
    /// Bytes from one element to the next along x, y and z.
    pub strides: [u32; 3],
}

impl Grid {
    /// Where the element at a coordinate lies. Coordinates past the extent are out of range.
    pub fn element(&self, at: [u32; 3], offset: i32) -> Element {
        let inside = at.iter().zip(self.extent).all(|(c, extent)| *c < extent);
        let steps = at.iter().zip(self.strides).map(|(c, stride)| i128::from(*c) * i128::from(stride));
        let start = if inside { steps.sum::<i128>() + i128::from(offset) } else { i128::from(self.size) };
        Element { pointer: self.pointer, start, size: self.size.into() }
    }
}

/// What a buffer record of v4 to v7 points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributeBuffer {
    /// Elements one after another.
    Linear {
        /// First byte; a multiple of 64.
        pointer: u64,
        /// Bytes from one element to the next.
        stride: u32,
        /// Bytes from the pointer.
        size: u32,
        /// From invocation to element.
        divisor: Divisor,
    },
    /// Elements in rows and slices.
    Grid(Grid),
    /// No memory.
    Special(Special),
}

impl AttributeBuffer {
    /// The buffer that a record and, where it needs one, its continuation describe.
    ///
    /// # Errors
    /// [`Refusal::AddressForm`] for kinds that public facts do not explain.
    pub fn of_records(record: &Record, continuation: Option<&Record>) -> Result<Self, Refusal> {
        let numerator = continuation.map_or_else(|| record.value("numerator"), |c| c.value("numerator"));
        let divisor = Divisor::of_record(record, numerator);
        let (pointer, stride) = (record.value("pointer"), record.value("stride") as u32);
        let (size, offset) = (record.value("size") as u32, record.value("offset") as i32);
        let shift = record.value("divisor_r") as u8;
        Ok(match record.name() {
            "buffer_1d" | "buffer_pot" | "buffer_modulus" | "buffer_npot" => {
                AttributeBuffer::Linear { pointer, stride, size, divisor }
            }
            "buffer_3d_linear" => {
                let of = |field: &str| continuation.map_or(0, |c| c.value(field) as u32);
                let extent = [of("s_size"), of("t_size"), of("r_size")];
                let strides = [stride, of("row_stride"), of("slice_stride")];
                AttributeBuffer::Grid(Grid { pointer, size, extent, strides })
            }
            "special_point_coord_min_y" => AttributeBuffer::Special(Special::PointCoordMinY),
            "special_point_coord_max_y" => AttributeBuffer::Special(Special::PointCoordMaxY),
            "special_frag_coord" => AttributeBuffer::Special(Special::FragCoord),
            "special_front_facing" => AttributeBuffer::Special(Special::FrontFacing),
            "special_vertex_id" => {
                let divisor = Divisor::Modulus { shift, odd: record.value("divisor_p") as u8 };
                AttributeBuffer::Special(Special::VertexId { divisor, offset })
            }
            "special_instance_id" => {
                let add = record.value("divisor_e") as u8;
                let divisor = Divisor::Magic { shift, add, numerator: numerator as u32 };
                AttributeBuffer::Special(Special::InstanceId { divisor, offset })
            }
            other => return Err(Refusal::AddressForm { record: other }),
        })
    }

    /// The name of the continuation that a record needs.
    pub fn continuation(record: &str) -> Option<&'static str> {
        match record {
            "buffer_npot" | "buffer_npot_write_reduction" => Some("continuation_npot"),
            "buffer_3d_linear" | "buffer_3d_interleaved" => Some("continuation_3d"),
            _ => None,
        }
    }
}

/// The start of an element in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// First byte of the buffer.
    pub pointer: u64,
    /// Bytes from there; may lie before or past the buffer.
    pub start: i128,
    /// Bytes of the buffer.
    pub size: u64,
}

/// Where an element's bytes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Address of the first byte, 64 bits as the hardware computes it.
    pub address: u64,
    /// Whether all its bytes are in the buffer, and the address is one that exists (bit 63 is clear).
    pub inside: bool,
}

impl Element {
    /// An element of a buffer whose elements lie `stride` bytes apart.
    pub fn linear(pointer: u64, size: u64, index: u64, stride: u32, offset: i32) -> Element {
        let start = i128::from(index) * i128::from(stride) + i128::from(offset);
        Element { pointer, start, size }
    }

    /// An element of a buffer of vertex packets (policy *packets*): `offset` counts from the packet's start, so that a
    /// varying's has 1024 in it.
    pub fn packet(pointer: u64, size: u64, vertex: u64, strides: (u16, u16), offset: i32) -> Element {
        let (attribute, packet) = strides;
        let whole = i128::from(vertex / PACKET_VERTICES) * i128::from(PACKET_VERTICES) * i128::from(packet);
        let start = whole + i128::from(vertex % PACKET_VERTICES) * i128::from(attribute) + i128::from(offset);
        Element { pointer, start, size }
    }

    /// Where `bytes` bytes of the element lie.
    pub fn place(&self, bytes: usize) -> Place {
        let address = (i128::from(self.pointer) + self.start) as u64;
        let end = self.start + bytes as i128;
        let inside = self.start >= 0 && end <= i128::from(self.size) && address >> 63 == 0;
        Place { address, inside }
    }
}
