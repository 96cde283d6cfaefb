//! The backend as its users see it.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guestwave_cp::GuestMemory;
use guestwave_translate::backend::{
    Backend, BackendError, Batch, Caps, Completion, Fidelity, Held, Holding, ProgramId, Ticket,
};
use guestwave_translate::naga::HostCaps;
use guestwave_translate::program::{Program, Workgroups, simplify, verify};

use crate::cache::CacheFile;
use crate::codes;
use crate::device::{self, OpenError};
use crate::flight::{Flight, Patience};
use crate::gpu::Gpu;
use crate::prepare::{Bounds, Maker};
use crate::probe::{self, Probe};
use crate::residency::Residency;
use crate::stamps::DeviceClock;
use crate::variants::{Entry, Launched, Workshop};
use crate::worker::Worker;

/// How a backend is to be opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Part of the adapter's name; the best adapter if absent.
    pub adapter: Option<String>,
    /// How exact floats are.
    pub fidelity: Fidelity,
    /// Folder that keeps compiled pipelines from one process to the next.
    pub cache: Option<PathBuf>,
    /// Most bytes of guest memory that the device mirrors at once; as many as it can bind if absent.
    pub arena_bytes: Option<u64>,
    /// After what time a submission counts as lost; ten times that where the device may have to compile programs first.
    pub timeout: Duration,
    /// Whether SPIR-V may go to the driver as it is, which exactness needs.
    pub passthrough: bool,
    /// Whether subgroups may be used where they were found to lie as wanted.
    pub subgroups: bool,
    /// What the time that dispatches take on the device is added to, if that is wanted.
    pub clock: Option<DeviceClock>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            adapter: None,
            fidelity: Fidelity::default(),
            cache: None,
            arena_bytes: None,
            timeout: Duration::from_secs(60),
            passthrough: true,
            subgroups: true,
            clock: None,
        }
    }
}

/// What a backend has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Modules made.
    pub modules: u64,
    /// Submissions to the device, those run again included.
    pub runs: u64,
    /// Launches that took effect.
    pub launches: u64,
}

/// Runs programs on a wgpu device.
pub struct WgpuBackend {
    caps: Caps,
    probe: Probe,
    shop: Workshop,
    worker: Worker,
    residency: Residency,
    bounds: Bounds,
    entries: HashMap<ProgramId, Entry>,
    flights: VecDeque<Flight>,
    ended: HashMap<Ticket, Completion>,
    next_ticket: u64,
    stats: Stats,
}

impl WgpuBackend {
    /// Opens a device and finds out what it does.
    ///
    /// # Errors
    /// No device, or one that lacks what every module needs.
    pub fn open(options: &Options) -> Result<Self, OpenError> {
        let opened = device::open(options.adapter.as_deref())?;
        let info = opened.info.clone();
        let has_passthrough = opened.features.contains(wgpu::Features::PASSTHROUGH_SHADERS);
        let cache = options.cache.as_deref().and_then(|folder| CacheFile::new(folder, &info));
        let limits = &opened.limits;
        let storage = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let bounds = Bounds { storage, block_align: limits.min_uniform_buffer_offset_alignment.max(16) };
        let host = probe::presumed(&opened);
        let device = format!("{} ({:?}, {} {})", info.name, info.backend, info.driver, info.driver_info);
        let refused = |reason: String| OpenError::Refused { adapter: info.name.clone(), reason };
        let worker = Worker::new(Gpu::new(opened, cache, options)).map_err(|e| refused(e.to_string()))?;
        let most =
            options.arena_bytes.unwrap_or(u64::MAX).min(storage).min(u64::from(u32::MAX) + 1) >> 16 << 16;
        let mut backend = WgpuBackend {
            caps: Caps {
                name: "wgpu",
                device,
                exact: Ok(()),
                holdings: vec![Holding::Lane, Holding::Pair, Holding::Wave],
                lds_bytes: host.workgroup_bytes,
            },
            probe: Probe::default(),
            shop: Workshop {
                host,
                fidelity: options.fidelity,
                passthrough: has_passthrough && options.passthrough,
                modules: 0,
            },
            worker,
            residency: Residency::new(most),
            bounds,
            entries: HashMap::new(),
            flights: VecDeque::new(),
            ended: HashMap::new(),
            next_ticket: 0,
            stats: Stats::default(),
        };
        backend.find_out(options, &info).map_err(|e| refused(e.to_string()))?;
        Ok(backend)
    }

    /// Runs the start-up probe and takes its findings.
    fn find_out(&mut self, options: &Options, info: &wgpu::AdapterInfo) -> Result<(), BackendError> {
        let subgroup = (info.subgroup_min_size == info.subgroup_max_size && options.subgroups)
            .then_some(info.subgroup_min_size);
        self.probe = probe::run(self, subgroup)?;
        self.shop.host = self.probe.host.clone();
        self.caps.exact = self.probe.exact(self.shop.passthrough);
        self.entries.clear();
        self.stats = Stats::default();
        self.shop.modules = 0;
        Ok(())
    }

    /// What the device was found to do.
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// What modules are made for. Changing it concerns programs that are compiled afterwards.
    pub fn host_mut(&mut self) -> &mut HostCaps {
        &mut self.shop.host
    }

    /// What it has done.
    pub fn stats(&self) -> Stats {
        Stats { modules: self.shop.modules, ..self.stats }
    }

    /// Takes batches on in order, as far as patience lasts, up to the one with this ticket.
    fn advance(
        &mut self,
        ticket: Ticket,
        memory: &dyn GuestMemory,
        patience: Patience,
    ) -> Result<(), BackendError> {
        while let Some(mut flight) = self.flights.pop_front() {
            let runs = flight.runs;
            let advanced = flight.advance(&mut self.maker(memory), patience);
            self.stats.runs += flight.runs - runs;
            if let Err(reason) = advanced {
                self.flights.clear();
                return Err(BackendError::DeviceLost { code: codes::LOST, reason });
            }
            if !flight.ended() {
                self.flights.push_front(flight);
                return Ok(());
            }
            let ended = flight.ticket;
            // What the batch alone had mapped is gone with it.
            self.residency.refresh(memory);
            let completion = flight.completion();
            self.stats.launches += completion.done.len() as u64;
            self.ended.insert(ended, completion);
            if ended == ticket {
                break;
            }
        }
        // The next batch starts at once.
        let Some(next) = self.flights.front() else { return Ok(()) };
        if next.is_ready() { self.advance(next.ticket, memory, Patience::None) } else { Ok(()) }
    }

    fn maker<'a>(&'a mut self, memory: &'a dyn GuestMemory) -> Maker<'a> {
        Maker {
            entries: &mut self.entries,
            shop: &mut self.shop,
            worker: &self.worker,
            residency: &mut self.residency,
            memory,
            bounds: self.bounds,
        }
    }

    /// Takes a program in, for a holding or for the best.
    fn enter(&mut self, program: &Arc<Program>, holding: Option<Holding>) -> Result<ProgramId, BackendError> {
        let refuse = |code, reason| BackendError::Compile { code, backend: "wgpu", reason };
        let internal = guestwave_translate::naga::codes::INTERNAL;
        verify(program).map_err(|e| refuse(internal, e.to_string()))?;
        let program = &Arc::new(simplify(program));
        let mut entry = Entry::new(program, holding);
        // Programs whose waves have something in common, or that ask for their workgroups, are made when those are known.
        if !guestwave_translate::naga::shares(program) && !Workgroups::concern(program) {
            let launched = Launched { groups: (1, false), apart: true, hoisted: true, workgroups: None };
            let made = entry.module(launched, program, &mut self.shop, &self.worker);
            made.map_err(|e| refuse(e.code, e.reason))?;
        }
        let id = ProgramId(self.entries.len() as u32);
        self.entries.insert(id, entry);
        Ok(id)
    }

    fn known(&self, ticket: Ticket) -> Result<(), BackendError> {
        let known = self.ended.contains_key(&ticket) || self.flights.iter().any(|f| f.ticket == ticket);
        if known { Ok(()) } else { Err(BackendError::UnknownTicket(ticket)) }
    }
}

impl Backend for WgpuBackend {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn compile(&mut self, program: &Arc<Program>, holding: Holding) -> Result<ProgramId, BackendError> {
        self.enter(program, Some(holding))
    }

    fn compile_best(&mut self, program: &Arc<Program>) -> Result<ProgramId, BackendError> {
        self.enter(program, None)
    }

    fn held(&self, program: ProgramId) -> Option<Held> {
        self.entries.get(&program).map(Entry::held)
    }

    fn submit(&mut self, batch: Batch, memory: &dyn GuestMemory) -> Result<Ticket, BackendError> {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.flights.push_back(Flight::new(ticket, batch.launches));
        if self.flights.len() == 1 {
            self.advance(ticket, memory, Patience::None)?;
        }
        Ok(ticket)
    }

    fn poll(&mut self, ticket: Ticket, memory: &dyn GuestMemory) -> Result<Option<Completion>, BackendError> {
        self.known(ticket)?;
        if !self.ended.contains_key(&ticket) {
            self.advance(ticket, memory, Patience::None)?;
        }
        Ok(self.ended.remove(&ticket))
    }

    fn wait(
        &mut self,
        ticket: Ticket,
        memory: &dyn GuestMemory,
        timeout: Duration,
    ) -> Result<Option<Completion>, BackendError> {
        self.known(ticket)?;
        if !self.ended.contains_key(&ticket) {
            let now = Instant::now();
            let end = now.checked_add(timeout).unwrap_or(now + Duration::from_secs(1 << 30));
            self.advance(ticket, memory, Patience::Until(end))?;
        }
        Ok(self.ended.remove(&ticket))
    }
}
