//! An open file of the node, and the device that all of them share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::engine::EngineArgs;
use crate::memory::map::AddressMap;

use super::exports::Exports;
use super::handles::Handles;
use super::lock;
use super::models::Model;
use super::progress::{Fence, Progress};
use super::record::Recorder;
use super::report::Report;
use super::ring::Ring;
use super::store::{Bo, Store};
use super::syncobj::Syncobj;

/// What all open files share.
pub(super) struct Device {
    /// The GPU.
    pub(super) model: &'static Model,
    /// What runs its programs.
    pub(super) engine: EngineArgs,
    /// Memory.
    pub(super) store: Arc<Store>,
    /// Where waits wait.
    pub(super) progress: Arc<Progress>,
    /// Objects that are known by descriptors.
    pub(super) exports: Exports,
    /// What has been seen.
    pub(super) report: Report,
    /// Writes a capture, if one is wanted.
    pub(super) recorder: Option<Recorder>,
    /// Submissions so far.
    pub(super) submissions: AtomicU32,
}

/// The number of an engine and of a ring of it.
pub(super) type RingNumber = (u32, u32);

/// An open file: a program's own view of the device.
pub(super) struct OpenFile {
    /// Its number.
    pub(super) number: u64,
    /// The device.
    pub(super) device: Arc<Device>,
    /// What the program has made.
    pub(super) state: Mutex<State>,
    /// Its rings, made when first used.
    rings: Mutex<BTreeMap<RingNumber, Arc<Ring>>>,
    closed: Arc<AtomicBool>,
}

/// What a program has made.
#[derive(Default)]
pub(super) struct State {
    /// Buffer objects.
    pub(super) buffers: Handles<Arc<Bo>>,
    /// Contexts.
    pub(super) contexts: Handles<Context>,
    /// Lists of buffer objects, by their handles.
    pub(super) lists: Handles<Vec<u32>>,
    /// Synchronization objects.
    pub(super) syncobjs: Handles<Arc<Syncobj>>,
    /// The address space. Submissions hold on to it as it was.
    pub(super) map: Arc<AddressMap<Bo>>,
}

/// A context: a sequence of submissions on each ring.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// By ring: the last sequence number, and the fences of submissions that may not be done.
    pub(super) sequences: BTreeMap<RingNumber, Sequence>,
}

/// Submissions of a context to a ring.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    /// The last one's number; the first has 1.
    pub(super) last: u64,
    pending: BTreeMap<u64, Arc<Fence>>,
}

impl Sequence {
    /// The next submission's number.
    pub(super) fn next(&mut self, fence: &Arc<Fence>) -> u64 {
        self.pending.retain(|_, f| !f.is_done());
        self.last += 1;
        self.pending.insert(self.last, Arc::clone(fence));
        self.last
    }

    /// The fence of a submission, unless it has completed.
    pub(super) fn fence(&self, number: u64) -> Option<Arc<Fence>> {
        self.pending.get(&number).cloned()
    }

    /// Everything that may not have completed.
    pub(super) fn pending(&self) -> impl Iterator<Item = &Arc<Fence>> {
        self.pending.values()
    }
}

impl OpenFile {
    /// A fresh one.
    pub(super) fn new(number: u64, device: Arc<Device>) -> Arc<OpenFile> {
        Arc::new(OpenFile {
            number,
            device,
            state: Mutex::default(),
            rings: Mutex::default(),
            closed: Arc::default(),
        })
    }

    /// Whether the program has closed it; waits end then.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The ring of that number.
    ///
    /// # Errors
    /// Its executor or its thread could not be made.
    pub(super) fn ring(&self, number: RingNumber) -> anyhow::Result<Arc<Ring>> {
        let mut rings = lock(&self.rings);
        if let Some(ring) = rings.get(&number) {
            return Ok(Arc::clone(ring));
        }
        let ring = Arc::new(Ring::start(&self.device, Arc::clone(&self.closed))?);
        rings.insert(number, Arc::clone(&ring));
        Ok(ring)
    }

    /// Every fence of a submission that may not have completed.
    pub(super) fn pending(&self) -> Vec<Arc<Fence>> {
        let state = lock(&self.state);
        let sequences = state.contexts.iter().flat_map(|c| c.sequences.values());
        sequences.flat_map(Sequence::pending).cloned().collect()
    }

    /// The program has closed it: waits end, what was submitted runs, and everything is given back.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.device.progress.changed();
        let rings = std::mem::take(&mut *lock(&self.rings));
        rings.values().for_each(|ring| ring.end());
        self.device.exports.forget(self.number);
        *lock(&self.state) = State::default();
    }
}
