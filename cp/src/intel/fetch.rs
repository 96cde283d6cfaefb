//! The vertex fetcher: vertex elements of each vertex of a draw, as slots.
//!
//! Indices that cut a strip fetch nothing; every other vertex drawn is fetched once for each time it is drawn. Reads past
//! the end of a vertex buffer, and of a null buffer, give zeros; indices past the end of the index buffer are 0.

use super::stages::AttributeFormats;
use super::state::{FetchState, GeneratedValue, IndexBuffer, VertexBuffer, VertexElement};
use super::{Gen, Refusal};
use crate::GuestMemory;

/// In [`Fetched::order`]: the run ends.
const CUT: u32 = u32::MAX;
/// Policy: a draw that fetches more vertices, or more elements, is taken for garbage.
const MAX_VERTICES: u64 = 1 << 22;
const MAX_ELEMENTS: u64 = 1 << 24;

/// One draw, as its packet and the indirect registers give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DrawCall {
    /// Topology number.
    pub topology: u32,
    /// Whether vertices come from the index buffer.
    pub random: bool,
    /// Vertices or indices of each instance.
    pub vertices: u32,
    /// First vertex or index.
    pub start: u32,
    /// Instances.
    pub instances: u32,
    /// First instance.
    pub start_instance: u32,
    /// Added to each index.
    pub base_vertex: i32,
}

/// The vertices of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Fetched {
    /// Elements of a vertex.
    pub elements: u32,
    /// Vertices of an instance.
    pub vertices: u32,
    /// Instances.
    pub instances: u32,
    /// Component `c` of element `e` of vertex `v` (counted over all instances) is word `(v * elements + e) * 4 + c`.
    pub words: Vec<u32>,
    /// The order in which an instance's vertices are drawn, `u32::MAX` where a run ends; `None` for each once, in order.
    pub order: Option<Vec<u32>>,
}

/// Whether a draw is small enough to be one.
///
/// # Errors
/// It is not.
pub(crate) fn check_size(call: &DrawCall, elements: usize) -> Result<(), Refusal> {
    let vertices = u64::from(call.vertices).saturating_mul(u64::from(call.instances));
    let limit = MAX_VERTICES.min(MAX_ELEMENTS / elements.max(1) as u64);
    match vertices.max(u64::from(call.vertices)) > limit {
        true => Err(Refusal::DrawSize { vertices, limit }),
        false => Ok(()),
    }
}

/// Fetches the vertices of a draw, whose size has been checked.
///
/// # Errors
/// A format, component control or buffer that is not there, or memory that is not mapped.
pub(crate) fn fetch(
    state: &FetchState,
    call: &DrawCall,
    generation: Gen,
    formats: &dyn AttributeFormats,
    memory: &dyn GuestMemory,
) -> Result<Fetched, Refusal> {
    check_options(state)?;
    let (indices, order) = indices(state, call, memory)?;
    let fetcher = Fetcher::new(state, call, generation, formats)?;
    let mut words = Vec::new();
    for instance in 0..call.instances {
        for index in &indices {
            fetcher.vertex(*index, instance, memory, &mut words)?;
        }
    }
    Ok(Fetched {
        elements: fetcher.sources.len() as u32,
        vertices: indices.len() as u32,
        instances: call.instances,
        words,
        order,
    })
}

fn check_options(state: &FetchState) -> Result<(), Refusal> {
    let options = [
        (state.packed, "vertex elements packed by components"),
        (state.further_values, "the generated values of 3DSTATE_VF_SGVS_2"),
        (state.elements.iter().any(|e| e.valid && e.edge_flag), "an edge flag"),
    ];
    match options.into_iter().find(|(set, _)| *set) {
        Some((_, option)) => Err(Refusal::DrawOption { option }),
        None => Ok(()),
    }
}

/// The vertex numbers to fetch, before the start or base is added, and the order in which they are drawn.
type Indices = (Vec<u32>, Option<Vec<u32>>);

fn indices(state: &FetchState, call: &DrawCall, memory: &dyn GuestMemory) -> Result<Indices, Refusal> {
    if !call.random {
        return Ok(((0..call.vertices).collect(), None));
    }
    let buffer = state.index_buffer.ok_or(Refusal::NoIndexBuffer {})?;
    let all = buffer.read(call.start, call.vertices, memory)?;
    let cut = state.cut_index.unwrap_or(buffer.all_ones());
    let cuts = |index: &u32| state.cut_enabled && *index == cut;
    let kept: Vec<u32> = all.iter().filter(|i| !cuts(i)).copied().collect();
    if kept.len() == all.len() {
        return Ok((kept, None));
    }
    let mut next = 0..;
    let order = all.iter().map(|i| if cuts(i) { CUT } else { next.next().unwrap_or(CUT) }).collect();
    Ok((kept, Some(order)))
}

impl IndexBuffer {
    /// Bytes of an index.
    fn width(self) -> Result<u64, Refusal> {
        match self.format {
            0..=2 => Ok(1 << self.format),
            value => Err(Refusal::IndexFormat { value }),
        }
    }

    fn all_ones(self) -> u32 {
        [0xff, 0xffff].get(self.format as usize).copied().unwrap_or(u32::MAX)
    }

    fn read(self, first: u32, count: u32, memory: &dyn GuestMemory) -> Result<Vec<u32>, Refusal> {
        let width = self.width()?;
        let there = (self.size / width).saturating_sub(u64::from(first)).min(u64::from(count));
        let mut bytes = vec![0; (there * width) as usize];
        memory.read(self.start.wrapping_add(u64::from(first) * width), &mut bytes)?;
        let index = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let mut indices: Vec<u32> = bytes.chunks_exact(width as usize).map(index).collect();
        indices.resize(count as usize, 0);
        Ok(indices)
    }
}

/// One element, with its buffer.
struct Source<'a> {
    element: &'a VertexElement,
    number: u32,
    buffer: VertexBuffer,
    /// Bytes of an element.
    bytes: u32,
}

struct Fetcher<'a> {
    sources: Vec<Source<'a>>,
    generated: [(Option<GeneratedValue>, bool); 2],
    call: &'a DrawCall,
    formats: &'a dyn AttributeFormats,
}

impl<'a> Fetcher<'a> {
    fn new(
        state: &'a FetchState,
        call: &'a DrawCall,
        generation: Gen,
        formats: &'a dyn AttributeFormats,
    ) -> Result<Fetcher<'a>, Refusal> {
        let valid = (0..).zip(&state.elements).filter(|(_, element)| element.valid);
        let sources =
            valid.map(|(n, e)| source(state, n, e, generation, formats)).collect::<Result<_, _>>()?;
        let generated = [(state.vertex_id, true), (state.instance_id, false)];
        Ok(Fetcher { sources, generated, call, formats })
    }

    /// Appends the elements of one vertex.
    fn vertex(
        &self,
        index: u32,
        instance: u32,
        memory: &dyn GuestMemory,
        words: &mut Vec<u32>,
    ) -> Result<(), Refusal> {
        for source in &self.sources {
            let loaded = self.load(source, index, instance, memory)?;
            let mut components: [u32; 4] =
                std::array::from_fn(|c| component(source.element.controls[c], loaded[c], index, instance));
            for (place, is_vertex) in self.generated {
                if let Some(place) = place.filter(|p| p.element == source.number) {
                    components[(place.component & 3) as usize] = if is_vertex { index } else { instance };
                }
            }
            words.extend(components);
        }
        Ok(())
    }

    fn load(
        &self,
        source: &Source<'_>,
        index: u32,
        instance: u32,
        memory: &dyn GuestMemory,
    ) -> Result<[u32; 4], Refusal> {
        let mut element = [0; 16];
        if let Some(offset) = source.offset(self.call, index, instance) {
            let bytes = element.get_mut(..source.bytes as usize).unwrap_or_default();
            memory.read(source.buffer.start.wrapping_add(offset), bytes)?;
        }
        let (number, format) = (source.number, source.element.format);
        self.formats.load(format, &element).ok_or(Refusal::VertexFormat { element: number, format })
    }
}

/// What a component control makes of a loaded component.
fn component(control: u32, loaded: u32, vertex_id: u32, instance_id: u32) -> u32 {
    const ONE: u32 = 0x3f80_0000;
    match control {
        1 => loaded,
        3 => ONE,
        4 => 1,
        5 => vertex_id,
        6 => instance_id,
        _ => 0,
    }
}

fn source<'a>(
    state: &FetchState,
    number: u32,
    element: &'a VertexElement,
    generation: Gen,
    formats: &dyn AttributeFormats,
) -> Result<Source<'a>, Refusal> {
    let known = if generation.wide() { 1..=4 } else { 1..=6 };
    if let Some(control) = element.controls.iter().find(|c| !known.contains(*c)) {
        return Err(Refusal::ComponentControl { element: number, control: *control });
    }
    let format = element.format;
    let bytes = formats.bytes(format).filter(|bytes| (1..=16).contains(bytes));
    let bytes = bytes.ok_or(Refusal::VertexFormat { element: number, format })?;
    let reads = element.controls.contains(&1);
    let mut buffer = match state.buffers.get(&element.buffer) {
        Some(buffer) => *buffer,
        None if !reads => VertexBuffer { null: true, ..VertexBuffer::default() },
        None => return Err(Refusal::NoVertexBuffer { element: number, buffer: element.buffer }),
    };
    if let Some(step_rate) = state.instancing.get(&number).filter(|_| generation.wide()) {
        (buffer.instanced, buffer.step_rate) = (true, *step_rate);
    }
    buffer.null |= !reads;
    Ok(Source { element, number, buffer, bytes })
}

impl Source<'_> {
    /// Where a vertex's element is in its buffer; `None` where it is not wholly inside.
    fn offset(&self, call: &DrawCall, index: u32, instance: u32) -> Option<u64> {
        let buffer = &self.buffer;
        let place = match buffer.instanced {
            true => call.start_instance.wrapping_add(instance.checked_div(buffer.step_rate).unwrap_or(0)),
            false if call.random => index.wrapping_add_signed(call.base_vertex),
            false => index.wrapping_add(call.start),
        };
        let offset = u64::from(place) * u64::from(buffer.pitch) + u64::from(self.element.offset);
        let inside = offset.saturating_add(u64::from(self.bytes)) <= buffer.size;
        (inside && !buffer.null).then_some(offset)
    }
}
