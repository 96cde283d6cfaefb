//! Worked examples: stream-output draws whose vertices and results are given.

use std::collections::BTreeMap;
use std::path::Path;

use guestwave_cp::intel::sol::{DrawnStream, Policies, StreamOut, Vues};
use guestwave_cp::intel::{Gen, NoObserver, Refusal, VertexStage, VertexWork};
use guestwave_cp::streamout::{Counters, Slot};
use guestwave_cp::{GuestMemory, read_u32};
use serde::Deserialize;

use super::capture::{text, words};
use super::{IntelBuffer, IntelError, IntelMachine};

/// Where the batch is, and where buffer 0 is; buffers lie [`APART`] bytes from one another.
const BATCH: u64 = 0x10_0000;
const BUFFERS: u64 = 0x20_0000;
const APART: u64 = 0x1_0000;
/// What the buffers hold before the draw.
const PREFILL: u32 = 0xdead_beef;

/// One example.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Its name.
    pub name: String,
    /// 3DSTATE_STREAMOUT, 3DSTATE_SO_DECL_LIST and 3DPRIMITIVE.
    pub packets: Vec<u32>,
    /// Number, pitch and bytes of each buffer.
    pub buffers: Vec<(u32, u32, u32)>,
    /// The vertices' slots.
    pub vues: Vues,
    /// What must come out.
    pub expected: ExampleRun,
}

/// What an example comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleRun {
    /// Words of each buffer.
    pub buffers: BTreeMap<u32, Vec<u32>>,
    /// SO_WRITE_OFFSET of each buffer.
    pub offsets: [u64; 4],
    /// Primitives of stream 0.
    pub counters: Counters,
}

#[derive(Deserialize)]
struct File {
    name: String,
    #[serde(default)]
    vue: Vec<BTreeMap<String, String>>,
    so_buffer: Vec<FileBuffer>,
    streamout_dwords: Vec<String>,
    decl_list_dwords: Vec<String>,
    primitive_dwords: Vec<String>,
    #[serde(default)]
    final_write_offsets_bytes: Vec<Option<u64>>,
    #[serde(default)]
    prims_written: u64,
    #[serde(default)]
    prim_storage_needed: u64,
    #[serde(default)]
    expected_buffers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct FileBuffer {
    index: u32,
    pitch: u32,
    bytes: u32,
}

impl Example {
    /// Reads a file of examples; those without vertices (a capture stands behind them) are left out.
    ///
    /// # Errors
    /// The file cannot be read or is no list of examples.
    pub fn load(path: &Path) -> Result<Vec<Example>, IntelError> {
        let files: Vec<File> = serde_json::from_str(&text(path)?)?;
        files.iter().filter(|file| !file.vue.is_empty()).map(Example::new).collect()
    }

    fn new(file: &File) -> Result<Example, IntelError> {
        let packets = [&file.streamout_dwords, &file.decl_list_dwords, &file.primitive_dwords];
        let mut buffers = BTreeMap::new();
        for (number, text) in &file.expected_buffers {
            let number = number.parse().map_err(|_| file.bad("a buffer's number is none"))?;
            buffers.insert(number, words([text.as_str()])?);
        }
        let offset = |b: usize| file.final_write_offsets_bytes.get(b).copied().flatten().unwrap_or(0);
        let counters = Counters { needed: file.prim_storage_needed, written: file.prims_written };
        Ok(Example {
            name: file.name.clone(),
            packets: words(packets.into_iter().flatten().map(String::as_str))?,
            buffers: file.so_buffer.iter().map(|b| (b.index, b.pitch, b.bytes)).collect(),
            vues: file.vues()?,
            expected: ExampleRun { buffers, offsets: std::array::from_fn(offset), counters },
        })
    }

    /// Runs the example as a batch of Gen7.
    ///
    /// # Errors
    /// The example's buffers do not fit, or something was refused.
    pub fn run(&self, policies: Policies, stream_out: Box<dyn StreamOut>) -> anyhow::Result<ExampleRun> {
        let vertices = Box::new(GivenVertices { vues: self.vues.clone() });
        let mut machine = IntelMachine::new(Gen::Gen7, policies, vertices, stream_out);
        let batch = self.batch();
        let bytes: Vec<u8> = batch.iter().flat_map(|word| word.to_le_bytes()).collect();
        machine.map(&IntelBuffer { number: 4, address: BATCH, size: bytes.len() as u64 })?;
        machine.fill(BATCH, &bytes)?;
        for (number, _, size) in &self.buffers {
            let address = base(*number);
            machine.map(&IntelBuffer { number: *number, address, size: u64::from(*size) })?;
            let words = size.div_ceil(4) as usize;
            machine.fill(address, &PREFILL.to_le_bytes().repeat(words)[..*size as usize])?;
        }
        let report = machine.submit(BATCH, bytes.len() as u64, &mut NoObserver);
        if let Some(refused) = report.stopped() {
            anyhow::bail!("{}: {refused}", self.name);
        }
        self.result(&machine)
    }

    /// What stands in the machine after the draw.
    fn result(&self, machine: &IntelMachine) -> anyhow::Result<ExampleRun> {
        let mut buffers = BTreeMap::new();
        for (number, _, size) in &self.buffers {
            let word = |i: u32| read_u32(&machine.memory, base(*number) + u64::from(i) * 4);
            buffers.insert(*number, (0..size / 4).map(word).collect::<Result<_, _>>()?);
        }
        let unit = &machine.state().sol.unit;
        Ok(ExampleRun {
            buffers,
            offsets: Slot::ALL.map(|b| unit.buffer(b).position),
            counters: unit.counters(Slot::default()),
        })
    }

    /// A vertex program's state, the buffers, and the example's packets.
    fn batch(&self) -> Vec<u32> {
        let mut batch = vec![0x7810_0004, 0, 0, 0, 0, 1];
        for (number, pitch, size) in &self.buffers {
            let base = base(*number) as u32;
            batch.extend([0x7918_0002, number << 29 | pitch, base, base.wrapping_add(*size)]);
        }
        batch.extend(&self.packets);
        batch.push(0x0500_0000);
        batch
    }
}

/// Guest address of a buffer.
fn base(number: u32) -> u64 {
    BUFFERS + APART * u64::from(number & 3)
}

impl File {
    fn bad(&self, what: &'static str) -> IntelError {
        IntelError::Example { example: self.name.clone(), what }
    }

    /// The vertices: components `sSLOT.COMPONENT`, the others 0.
    fn vues(&self) -> Result<Vues, IntelError> {
        let mut components = Vec::new();
        for (vertex, map) in self.vue.iter().enumerate() {
            for (name, value) in map {
                let (slot, component) = component(name).ok_or_else(|| self.bad("a component's name"))?;
                components.push((vertex, slot, component, words([value.as_str()])?));
            }
        }
        let slots = components.iter().map(|(_, slot, ..)| slot + 1).max().unwrap_or(0);
        let mut all = vec![0; self.vue.len() * slots * 4];
        for (vertex, slot, component, value) in components {
            all[(vertex * slots + slot) * 4 + component] = value.first().copied().unwrap_or(0);
        }
        Ok(Vues { slots: slots as u32, words: all.into() })
    }
}

/// `s2.y` as slot 2 and component 1.
fn component(name: &str) -> Option<(usize, usize)> {
    let (slot, component) = name.strip_prefix('s')?.split_once('.')?;
    let slot = slot.parse().ok().filter(|slot| *slot < 64)?;
    Some((slot, "xyzw".find(component)?))
}

/// A vertex stage whose vertices are known.
struct GivenVertices {
    vues: Vues,
}

impl VertexStage for GivenVertices {
    fn run(&mut self, work: &VertexWork<'_>, _: &dyn GuestMemory) -> Result<Vec<DrawnStream>, Refusal> {
        Ok(vec![work.stream0(self.vues.clone())])
    }
}
