//! The geometry pipeline: ES and GS in one program, a ring in memory, and a copy program in the hardware VS.
//!
//! Primitives are gathered into subgroups, and as many waves as the ring has slots make a dispatch. Its messages say
//! which vertices each thread emitted; they are made into the primitives of each stream, of which as many are stored as
//! fit the stream's buffers. A copy wave takes the vertices of one stream from the ring and stores them. A slot is used
//! again only after its copy waves have run, which the order of dispatches sees to.
//!
//! Copy waves run for streams that store; what a stream only counts needs none.

mod emission;
mod source;
mod state;
mod subgroup;

use super::Draw;
use super::assembly::provoking;
use super::last::{Items, LastStage};
use super::merged::{Merged, Waves};
use crate::amd::context::Context;
use crate::amd::register_file::RegisterFile;
use crate::amd::streamout_unit::StreamoutUnit;
use crate::primitives::Provoking;
use crate::streamout::{STREAMS, Slot};
use crate::{LaneRule, Outputs, Refusal, WaveRecord};
use emission::{Assembler, Emitted, Primitives};
pub(super) use source::GeometryHalf;
use state::{MOST_WAVES, State};
use subgroup::{EXPORT_VGPRS, GEOMETRY_VGPRS, Subgroup};
pub(super) use subgroup::{Primitive, Vertex};

/// The geometry pipeline of one draw, from the primitives that go into it to what its streams store.
pub(super) struct Geometry {
    merged: Merged,
    state: State,
    /// Vertices of each primitive.
    inputs: usize,
    provoking: Provoking,
    last: LastStage,
    /// Whether the draw's messages matter: a stream stores or counts.
    records: bool,
    subgroup: Subgroup,
    waves: Waves<EXPORT_VGPRS, GEOMETRY_VGPRS>,
    /// Slots of the ring that these waves have.
    slots: u32,
}

impl Geometry {
    /// Sets the pipeline up for primitives of `inputs` vertices.
    ///
    /// # Errors
    /// State that is not carried out.
    pub(super) fn new(
        registers: &RegisterFile,
        merged: Merged,
        last: LastStage,
        draw: Draw<'_>,
        inputs: u32,
    ) -> Result<Self, Refusal> {
        check_buffers(last.unit())?;
        last.check(registers, draw)?;
        Ok(Geometry {
            state: State::read(registers, &merged, inputs)?,
            inputs: inputs as usize,
            provoking: provoking(registers),
            records: Slot::ALL.into_iter().any(|stream| last.unit().is_on(stream)),
            last,
            subgroup: Subgroup::default(),
            waves: Waves::new(merged.lanes()),
            slots: 0,
            merged,
        })
    }

    /// Threads of each primitive.
    pub(super) fn invocations(&self) -> u32 {
        self.state.invocations
    }

    /// Takes a primitive; runs what has been gathered if it does not go in.
    pub(super) fn add(
        &mut self,
        cx: &mut Context<'_>,
        draw: Draw<'_>,
        primitive: &Primitive,
    ) -> Result<(), Refusal> {
        if !self.subgroup.takes(&self.state, primitive, self.inputs) {
            self.close(cx, draw)?;
        }
        self.subgroup.add(&self.state, primitive, self.inputs);
        Ok(())
    }

    /// Runs whatever has been gathered.
    pub(super) fn finish(&mut self, cx: &mut Context<'_>, draw: Draw<'_>) -> Result<(), Refusal> {
        self.close(cx, draw)?;
        self.launch(cx, draw)
    }

    /// The streamout unit as the draw leaves it.
    pub(super) fn into_unit(self) -> StreamoutUnit {
        self.last.into_unit()
    }

    /// Ends the subgroup.
    fn close(&mut self, cx: &mut Context<'_>, draw: Draw<'_>) -> Result<(), Refusal> {
        if self.subgroup.is_empty() {
            return Ok(());
        }
        let limits = self.state.limits;
        let slots = self.slots + self.subgroup.geometry_waves();
        if slots > limits.slots || self.waves.len() + self.subgroup.waves() > MOST_WAVES {
            self.launch(cx, draw)?;
        }
        let (mut slot, bytes, off_chip) = (self.slots, self.state.slot_bytes, self.subgroup.off_chip());
        self.waves.add(&self.subgroup.group(), |threads| {
            let place = slot.wrapping_mul(bytes);
            slot += u32::from(threads.second > 0);
            [place, off_chip]
        });
        self.slots = slot;
        self.subgroup.clear();
        Ok(())
    }

    /// Runs the waves, and copies what they emitted.
    fn launch(&mut self, cx: &mut Context<'_>, draw: Draw<'_>) -> Result<(), Refusal> {
        if self.waves.len() == 0 {
            return Ok(());
        }
        let waves = std::mem::replace(&mut self.waves, Waves::new(self.merged.lanes()));
        self.slots = 0;
        let threads = waves.second_threads();
        cx.charge(waves.bytes())?;
        let outputs = if self.records { Outputs::Recorded } else { Outputs::Dropped };
        let dispatch = self.merged.dispatch(waves, outputs, draw.packet.at);
        let facts = self.last.no_facts(cx.registers(), draw);
        if !self.records {
            return cx.launch(dispatch, Some(&facts));
        }
        let records = cx.run(dispatch, Some(&facts))?;
        let streams = self.assemble(&records, &threads)?;
        for (stream, primitives) in Slot::ALL.into_iter().zip(streams) {
            self.copy(cx, draw, stream, primitives)?;
        }
        Ok(())
    }

    fn assemble(
        &self,
        records: &[WaveRecord],
        threads: &[(u32, u32)],
    ) -> Result<[Primitives; STREAMS], Refusal> {
        if records.len() != threads.len() {
            return Err(Refusal::Records { waves: threads.len(), records: records.len() });
        }
        let mut assembler = Assembler {
            state: &self.state,
            provoking: self.provoking,
            listed: Slot::ALL.map(|stream| self.last.unit().core().enabled(stream) != 0),
            primitives: Default::default(),
        };
        for (record, (slot, threads)) in records.iter().zip(threads) {
            assembler.wave(&Emitted { record, slot: *slot, threads: *threads });
        }
        Ok(assembler.primitives)
    }

    /// Stores and counts the primitives of one stream.
    fn copy(
        &mut self,
        cx: &mut Context<'_>,
        draw: Draw<'_>,
        stream: Slot,
        primitives: Primitives,
    ) -> Result<(), Refusal> {
        let together = self.state.streams[stream.index()].topology.corners();
        let plan = self.last.unit().plan(stream, primitives.count, together);
        let items = primitives.places.len() as u32;
        cx.charge(primitives.places.len() * size_of::<u32>())?;
        let vgprs = vec![LaneRule::PerItem(primitives.places.into())];
        self.last.run(cx, draw, &plan, Items { items, together, vgprs, off_chip: 0 })
    }
}

/// Refuses streams that share a buffer: in which order they would store to it is not documented.
fn check_buffers(unit: &StreamoutUnit) -> Result<(), Refusal> {
    let masks = Slot::ALL.map(|stream| unit.core().enabled(stream));
    let all = masks.iter().fold(0, |all, mask| all | mask);
    match masks.iter().map(|mask| mask.count_ones()).sum::<u32>() == all.count_ones() {
        true => Ok(()),
        false => Err(Refusal::SharedBuffer {}),
    }
}
