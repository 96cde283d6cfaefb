//! A guest program with everything it starts with, and what an executor makes of it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use guestwave_cp::{
    DispatchId, ExactDispatch, Executor, Grid, GuestMemory, Isa, LaneRule, Origin, Outputs, ProgramRef,
    ScalarRule, Scratch, Stage, WaveRecord,
};
use guestwave_harness::capture::{BufferObject, VaKind, VaOp};
use guestwave_harness::memory::CaptureMemory;

/// A program, its registers and its memory.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    pub(crate) isa: Isa,
    pub(crate) wave_lanes: u8,
    /// FP_ROUND and FP_DENORM in 7:0, DX10_CLAMP in bit 8, IEEE in bit 9.
    pub(crate) mode: u32,
    /// Guest address of the first instruction.
    pub(crate) entry: u64,
    /// Everything that is mapped.
    pub(crate) regions: BTreeMap<u64, Vec<u8>>,
    /// Waves of each workgroup.
    pub(crate) groups: Vec<u32>,
    pub(crate) sgprs: Vec<ScalarRule>,
    pub(crate) vgprs: Vec<LaneRule>,
    pub(crate) lds_bytes: u32,
    /// Scratch bytes of a lane.
    pub(crate) scratch_bytes: u32,
}

/// One lane's messages and exports in its own order: what was said, and with what.
pub(crate) type LaneRecord = (Vec<[u32; 2]>, Vec<([u8; 5], [u32; 4])>);

/// What a program left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Left {
    /// Every mapped byte.
    pub(crate) regions: BTreeMap<u64, Vec<u8>>,
    /// What was stored.
    pub(crate) stored: Vec<Range<u64>>,
    /// Of each lane of each wave.
    pub(crate) records: Vec<Vec<LaneRecord>>,
}

impl Guest {
    fn dispatch(&self) -> ExactDispatch {
        let scratch = self.scratch_bytes * u32::from(self.wave_lanes);
        ExactDispatch {
            stage: Stage::Compute,
            program: ProgramRef {
                isa: self.isa,
                address: self.entry,
                wave_lanes: self.wave_lanes,
                float_mode: self.mode as u8,
                dx10_clamp: self.mode >> 8 & 1 != 0,
                ieee: self.mode >> 9 & 1 != 0,
            },
            grid: Grid::Subgroups { waves: Arc::from(self.groups.as_slice()) },
            sgprs: self.sgprs.clone(),
            vgprs: self.vgprs.clone(),
            lds_bytes: self.lds_bytes,
            scratch: (scratch != 0).then_some(Scratch { bytes_per_wave: scratch }),
            outputs: Outputs::Recorded,
            origin: Origin::default(),
        }
    }

    fn memory(&self) -> CaptureMemory {
        let memory = CaptureMemory::new();
        for (bo, (va, bytes)) in (1..).zip(&self.regions) {
            let size = bytes.len() as u64;
            memory.create(&BufferObject { bo, handle: bo, size, domains: 2, flags: 0, userptr: 0 }).unwrap();
            memory.va(&VaOp { bo, kind: VaKind::Map, flags: 14, va: *va, offset: 0, size }).unwrap();
            memory.write(*va, bytes).unwrap();
        }
        memory
    }

    /// What an executor makes of it, or the code with which it is refused or ends.
    pub(crate) fn run(&self, executor: &mut dyn Executor) -> Result<Left, (&'static str, String)> {
        let memory = self.memory();
        let mut done = Vec::new();
        let ran = executor.submit(DispatchId(1), self.dispatch(), &memory);
        let ended = ran.and_then(|()| executor.flush(&memory, &mut done));
        ended.map_err(|e| (e.code, e.text))?;
        let completed = done.pop().unwrap();
        let read = |(va, bytes): (&u64, &Vec<u8>)| {
            let mut now = vec![0; bytes.len()];
            memory.read(*va, &mut now).unwrap();
            (*va, now)
        };
        let lanes = usize::from(self.wave_lanes);
        Ok(Left {
            regions: self.regions.iter().map(read).collect(),
            stored: completed.stored,
            records: completed.records.iter().map(|wave| by_lane(wave, lanes)).collect(),
        })
    }
}

/// A wave's record lane by lane: how lanes share one entry is the executor's business.
fn by_lane(wave: &WaveRecord, lanes: usize) -> Vec<LaneRecord> {
    let of = |lane: usize| {
        let messages = wave.messages.iter().filter(|m| m.exec >> lane & 1 != 0);
        let exports = wave.exports.iter().filter(|e| e.exec >> lane & 1 != 0);
        let flags = |b: bool| u8::from(b);
        (
            messages.map(|m| [m.simm16.into(), m.m0]).collect(),
            exports
                .map(|e| ([e.target, e.en, flags(e.compr), flags(e.done), flags(e.vm)], e.values[lane]))
                .collect(),
        )
    };
    (0..lanes).map(of).collect()
}

impl Left {
    /// The first thing that is not as `wanted` has it.
    pub(crate) fn differs_from(&self, wanted: &Left) -> Option<String> {
        let place = self.regions.iter().zip(&wanted.regions).find_map(|((va, found), (_, wanted))| {
            let at = found.iter().zip(wanted).position(|(f, w)| f != w)? / 4 * 4;
            let word = |bytes: &[u8]| bytes[at..(at + 4).min(bytes.len())].to_vec();
            Some(format!("at {:#x}: {:x?}, wanted {:x?}", va + at as u64, word(found), word(wanted)))
        });
        let stored = (self.stored != wanted.stored)
            .then(|| format!("stored {:x?}, wanted {:x?}", self.stored, wanted.stored));
        let records = (self.records != wanted.records)
            .then(|| format!("recorded {:x?}, wanted {:x?}", self.records, wanted.records));
        place.or(stored).or(records)
    }
}
