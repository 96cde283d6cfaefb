//! A driver's tables in guest memory, walked to one element.

use super::attribute::{Attribute, AttributeBuffer, Element, Frequency, Special, Stride};
use super::divide::linear_id;
use super::record::Record;
use super::{Generation, Version};
use crate::{GuestMemory, Refusal};

/// Bytes of a buffer record of v4 to v7 and of a resource table's entry.
const RECORD_BYTES: u64 = 16;
/// Bytes of an attribute descriptor, v4 to v7.
const ATTRIBUTE_BYTES: u64 = 8;
/// Bytes of a descriptor, v9 and later.
const DESCRIPTOR_BYTES: u64 = 32;
/// The table that the hardware fills with a draw's outputs, v9 and later.
const OUTPUT_TABLE: u32 = 61;

/// What a draw says for all its invocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Draw {
    /// Vertices that an instance counts for (v4 to v7): [`padded_count`](super::padded_count).
    pub padded: u32,
    /// Added to the element index of attributes that enable it.
    pub offset_start: u32,
}

/// One invocation of a vertex program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Invocation {
    /// Vertex of the instance.
    pub vertex: u32,
    /// Instance.
    pub instance: u32,
}

/// Where an attribute's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// An element of a buffer.
    Element(Element),
    /// A value without memory.
    Special(Special),
}

/// An attribute of an invocation: its format word and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Located {
    /// Format word, 22 bits.
    pub format: u32,
    /// Its source.
    pub source: Source,
}

/// Reads `N` little-endian words.
fn words<const N: usize>(memory: &dyn GuestMemory, address: u64) -> Result<[u32; N], Refusal> {
    let mut bytes = vec![0; 4 * N];
    memory.read(address, &mut bytes)?;
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    Ok(words)
}

fn checked(what: &'static str, index: u32, count: u32) -> Result<u64, Refusal> {
    if index < count { Ok(index.into()) } else { Err(Refusal::TableIndex { what, index, count }) }
}

/// A set of attributes or varyings of v4 to v7: an array of descriptors and one of buffer records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttributeSet {
    /// The architecture.
    pub version: Version,
    /// Address of the descriptors, and how many there are.
    pub attributes: (u64, u32),
    /// Address of the buffer records, and how many there are, continuations counted.
    pub buffers: (u64, u32),
}

impl AttributeSet {
    /// The descriptor at `index`.
    ///
    /// # Errors
    /// An index past the end, unmapped memory, or the word and bit that have no meaning.
    pub fn attribute(&self, memory: &dyn GuestMemory, index: u32) -> Result<Attribute, Refusal> {
        let index = checked("attribute", index, self.attributes.1)?;
        let address = self.attributes.0.wrapping_add(index * ATTRIBUTE_BYTES);
        Attribute::decode(self.version, &words::<2>(memory, address)?)
    }

    fn record(&self, memory: &dyn GuestMemory, index: u32) -> Result<[u32; 4], Refusal> {
        let index = checked("buffer record", index, self.buffers.1)?;
        words::<4>(memory, self.buffers.0.wrapping_add(index * RECORD_BYTES))
    }

    /// The buffer at `index`, with the continuation that follows it if it needs one.
    ///
    /// # Errors
    /// As [`AttributeSet::attribute`].
    pub fn buffer(&self, memory: &dyn GuestMemory, index: u32) -> Result<AttributeBuffer, Refusal> {
        let first = self.record(memory, index)?;
        let record = Record::decode_any(&["buffer_", "special_"], self.version, &first)?;
        let Some(name) = AttributeBuffer::continuation(record.name()) else {
            return AttributeBuffer::of_records(&record, None);
        };
        let second = self.record(memory, index.saturating_add(1))?;
        let continuation = Record::decode(name, self.version, &second)?;
        AttributeBuffer::of_records(&record, Some(&continuation))
    }

    /// The attribute at `index` for an invocation.
    ///
    /// # Errors
    /// As [`AttributeSet::attribute`], and [`Refusal::AddressForm`] for records that take coordinates.
    pub fn locate(
        &self,
        memory: &dyn GuestMemory,
        draw: Draw,
        index: u32,
        invocation: Invocation,
    ) -> Result<Located, Refusal> {
        let attribute = self.attribute(memory, index)?;
        let buffer = self.buffer(memory, attribute.buffer)?;
        let linear = linear_id(invocation.instance, draw.padded, invocation.vertex);
        let source = match buffer {
            AttributeBuffer::Linear { pointer, stride, size, divisor } => {
                let started = if attribute.offset_enable { draw.offset_start } else { 0 };
                let index = divisor.element(linear) + u64::from(started);
                Source::Element(Element::linear(pointer, size.into(), index, stride, attribute.offset))
            }
            AttributeBuffer::Special(special) => Source::Special(special),
            AttributeBuffer::Grid(_) => return Err(Refusal::AddressForm { record: "buffer_3d_linear" }),
        };
        Ok(Located { format: attribute.format, source })
    }
}

/// The resource tables of v9 and later: an array of entries, each the address of an array of descriptors.
#[derive(Clone, Debug)]
pub struct ResourceTables {
    /// The architecture.
    pub version: Version,
    /// Address of the entries, and how many there are.
    pub entries: (u64, u32),
    /// Buffers that the hardware puts into table 61 for a draw's outputs.
    pub outputs: Vec<Record>,
}

impl ResourceTables {
    /// The tables that a shader environment's resource pointer names: the count stands in its low six bits.
    ///
    /// # Errors
    /// [`Refusal::DescriptorTables`] before v9.
    pub fn of_pointer(version: Version, pointer: u64) -> Result<Self, Refusal> {
        if version.generation() != Generation::Valhall {
            return Err(Refusal::DescriptorTables { what: "resource tables", version: version.number() });
        }
        let entries = (pointer & !63, (pointer & 63) as u32);
        Ok(ResourceTables { version, entries, outputs: Vec::new() })
    }

    /// Words of descriptor `index` of table `table`.
    fn descriptor(&self, memory: &dyn GuestMemory, table: u32, index: u32) -> Result<[u32; 8], Refusal> {
        let place = checked("resource table", table, self.entries.1)?;
        let entry = words::<4>(memory, self.entries.0.wrapping_add(place * RECORD_BYTES))?;
        let entry = Record::decode("resource_entry", self.version, &entry)?;
        let count = u32::try_from(entry.value("size") / DESCRIPTOR_BYTES).unwrap_or(u32::MAX);
        let place = checked("descriptor of a resource table", index, count)?;
        words::<8>(memory, entry.value("address").wrapping_add(place * DESCRIPTOR_BYTES))
    }

    /// The attribute descriptor `index` of table `table`.
    ///
    /// # Errors
    /// An index past the end, unmapped memory, or the word and bit that have no meaning.
    pub fn attribute(&self, memory: &dyn GuestMemory, table: u32, index: u32) -> Result<Attribute, Refusal> {
        Attribute::decode(self.version, &self.descriptor(memory, table, index)?)
    }

    /// The buffer descriptor `index` of table `table`.
    ///
    /// # Errors
    /// As [`ResourceTables::attribute`].
    pub fn buffer(&self, memory: &dyn GuestMemory, table: u32, index: u32) -> Result<Record, Refusal> {
        if table == OUTPUT_TABLE {
            let count = self.outputs.len() as u32;
            let found = self.outputs.get(index as usize).cloned();
            return found.ok_or(Refusal::TableIndex { what: "output buffer", index, count });
        }
        let words = self.descriptor(memory, table, index)?;
        Record::decode_any(&["buffer_"], self.version, &words)
    }

    /// The attribute `index` of table `table` for an invocation.
    ///
    /// # Errors
    /// As [`ResourceTables::attribute`].
    pub fn locate(
        &self,
        memory: &dyn GuestMemory,
        draw: Draw,
        handle: (u32, u32),
        invocation: Invocation,
    ) -> Result<Located, Refusal> {
        let attribute = self.attribute(memory, handle.0, handle.1)?;
        let buffer = self.buffer(memory, attribute.table.into(), attribute.buffer)?;
        let count = match attribute.frequency {
            Frequency::Instance => invocation.instance,
            Frequency::Vertex | Frequency::Draw => invocation.vertex,
        };
        let started = if attribute.offset_enable { draw.offset_start } else { 0 };
        let index = attribute.divisor.element(count) + u64::from(started);
        let (pointer, size) = (buffer.value("address"), size(&buffer));
        let element = match attribute.stride {
            Stride::Packet { attribute: a, packet } => {
                Element::packet(pointer, size, index, (a, packet), attribute.offset)
            }
            Stride::Bytes(stride) => Element::linear(pointer, size, index, stride, attribute.offset),
            Stride::Buffer => {
                Element::linear(pointer, size, index, buffer.value("stride") as u32, attribute.offset)
            }
        };
        Ok(Located { format: attribute.format, source: Source::Element(element) })
    }
}

/// Bytes of a buffer, which later versions count in two words.
fn size(buffer: &Record) -> u64 {
    buffer.value("size") | buffer.value("size_high") << 32
}
