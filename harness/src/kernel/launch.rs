//! Putting a kernel into guest memory and its start into a dispatch.

use guestwave_cp::{ExactDispatch, Grid, LaneRule, Origin, Outputs, ProgramRef, ScalarRule, Scratch, Stage};
use guestwave_isa::gfx10::interp::Apertures;
use guestwave_isa::gfx10::{WaveSize, disassemble_program};

use super::descriptor::{Descriptor, UserData};
use super::elf::{CodeObject, Segment};
use super::kernarg::{Shape, segment};
use super::metadata::Kernel;
use super::{KernelError, Value};
use crate::capture::{PAGE_BYTES, VA_WRITABLE, VaKind, VaOp};
use crate::executor::target;
use crate::memory::CaptureMemory;

/// Guest addresses of what a launch brings along.
const IMAGE: u64 = 0x10_0000_0000;
const KERNARG: u64 = 0x20_0000_0000;
const PACKET: u64 = 0x20_1000_0000;
const PRIVATE: u64 = 0x30_0000_0000;
const BUFFERS: u64 = 0x100_0000_0000;

/// Unmapped bytes behind a buffer, at least, and what buffers are aligned to.
pub const GAP: u64 = 1 << 16;

/// Most threads of a work-group, as the hardware has it.
const MAX_THREADS: u64 = 1024;

/// Most LDS of a work-group.
const MAX_LDS: u32 = 64 << 10;

/// Most bytes of a lane's private segment.
const MAX_PRIVATE: u32 = 64 << 10;

/// Waves that have a place in the private segment's ring at the same time.
const PRIVATE_WAVES: u32 = 1024;

/// What a private segment's ring is a multiple of, a wave.
const PRIVATE_UNIT: u32 = 1024;

/// A launch as a caller asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Work-groups along each axis.
    pub groups: [u32; 3],
    /// Threads of a work-group along each axis, where the kernel does not fix them.
    pub threads: Option<[u32; 3]>,
    /// What the kernel's arguments are given, in the order of its source.
    pub values: Vec<Value>,
}

/// A buffer in guest memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Which argument it is.
    pub argument: usize,
    /// Its first guest address.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// A kernel ready to run.
#[derive(Debug)]
pub struct Prepared {
    /// Guest memory with the code, the arguments and the buffers.
    pub memory: CaptureMemory,
    /// The launch.
    pub dispatch: ExactDispatch,
    /// The buffers.
    pub buffers: Vec<Placed>,
}

impl Prepared {
    /// Threads of a work-group along each axis.
    pub fn threads(&self) -> [u32; 3] {
        match self.dispatch.grid {
            Grid::Groups { threads, .. } => threads,
            _ => [0; 3],
        }
    }
}

impl CodeObject {
    /// Puts a kernel, its arguments and its buffers into guest memory of their own.
    ///
    /// # Errors
    /// The launch does not fit the kernel, or the kernel asks for what is not carried out.
    pub fn prepare(&self, kernel: &Kernel, request: &Request) -> Result<Prepared, KernelError> {
        let (descriptor, entry) = self.descriptor(kernel)?;
        let launch = Launch::new(self, kernel, descriptor, request)?;
        let mut place = Placer::default();
        place.image(self)?;
        let kernarg =
            segment(kernel, &request.values, &launch.shape, descriptor.lds_bytes(), |at, value| {
                place.buffer(at, value)
            })?;
        place.memory.place(KERNARG, kernarg.len() as u64, &kernarg, false)?;
        place.memory.place(PACKET, 64, &launch.packet(IMAGE + entry), false)?;
        if launch.uses_ring() {
            place.memory.place(PRIVATE, launch.ring_bytes(), &[], true)?;
        }
        let dispatch = launch.dispatch(IMAGE + entry);
        Ok(Prepared { memory: place.memory, dispatch, buffers: place.buffers })
    }
}

/// Guest memory in the making.
#[derive(Default)]
struct Placer {
    memory: CaptureMemory,
    buffers: Vec<Placed>,
    next: u64,
}

impl Placer {
    /// The code object at its address, with its pointers made right.
    fn image(&mut self, object: &CodeObject) -> Result<(), KernelError> {
        let page = PAGE_BYTES as u64;
        let bo = self.memory.place(IMAGE, object.image().len() as u64, object.image(), false)?;
        for Segment { bytes, .. } in object.segments.iter().filter(|s| s.writable && !s.bytes.is_empty()) {
            let (start, end) = (bytes.start / page * page, bytes.end.next_multiple_of(page));
            let (va, size) = (IMAGE + start, end - start);
            let op = VaOp { bo, kind: VaKind::Replace, flags: VA_WRITABLE, va, offset: start, size };
            self.memory.va(&op)?;
        }
        for (at, target) in &object.pointers {
            self.memory.fill(bo, *at, &IMAGE.wrapping_add(*target).to_le_bytes())?;
        }
        Ok(())
    }

    /// A buffer argument; gives its address.
    fn buffer(&mut self, argument: usize, value: &Value) -> Result<u64, KernelError> {
        let Value::Buffer { contents, bytes, writable } = value else { return Ok(0) };
        let address = BUFFERS.saturating_add(self.next);
        self.memory.place(address, *bytes, contents, *writable)?;
        self.next = self.next.saturating_add(*bytes).saturating_add(2 * GAP) / GAP * GAP;
        self.buffers.push(Placed { argument, address, bytes: *bytes });
        Ok(address)
    }
}

/// A launch that fits its kernel.
struct Launch<'a> {
    object: &'a CodeObject,
    descriptor: Descriptor,
    shape: Shape,
    lds_bytes: u32,
}

impl<'a> Launch<'a> {
    fn new(
        object: &'a CodeObject,
        kernel: &Kernel,
        descriptor: Descriptor,
        request: &Request,
    ) -> Result<Self, KernelError> {
        let shared = request.values.iter().map(|v| if let Value::Shared(n) = v { *n } else { 0 });
        let shared = shared.map(|n| n.saturating_add(15)).fold(0, u32::saturating_add);
        let apertures = Apertures::default();
        let shape = Shape {
            groups: request.groups,
            threads: threads(kernel, request)?,
            shared_base: (apertures.shared >> 32) as u32,
            private_base: (apertures.private >> 32) as u32,
            dynamic_lds: shared,
        };
        let lds_bytes = descriptor.lds_bytes().saturating_add(shared);
        let launch = Launch { object, descriptor, shape, lds_bytes };
        launch.check(kernel)?;
        Ok(launch)
    }

    fn check(&self, kernel: &Kernel) -> Result<(), KernelError> {
        let refuse = |what: String| Err(KernelError::Unsupported { kernel: kernel.name.clone(), what });
        let private = self.descriptor.private_bytes();
        if kernel.dynamic_stack {
            return refuse("a dynamic stack".to_owned());
        }
        if self.lds_bytes > MAX_LDS {
            return refuse(format!("{} bytes of LDS of {MAX_LDS}", self.lds_bytes));
        }
        if private > MAX_PRIVATE {
            return refuse(format!("{private} bytes of private memory a lane of {MAX_PRIVATE}"));
        }
        if self.uses_ring() && self.descriptor.wants(UserData::FlatScratch) && self.has_flat() {
            return refuse("flat accesses besides a private segment behind a descriptor".to_owned());
        }
        Ok(())
    }

    /// Whether the private segment is a ring in memory that a buffer descriptor reaches; else each lane's is its own.
    fn uses_ring(&self) -> bool {
        self.descriptor.private_bytes() > 0 && self.descriptor.wants(UserData::PrivateBuffer)
    }

    /// Whether any instruction of the code object is a flat access, which may mean private memory.
    fn has_flat(&self) -> bool {
        let lanes = if self.descriptor.wave_lanes() == 32 { WaveSize::W32 } else { WaveSize::W64 };
        let Some(target) = target(self.object.isa) else { return false };
        self.object.code().any(|code| {
            let words: Vec<u32> = code.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
            disassemble_program(&words, target, lanes).any(|line| line.text.starts_with("flat_"))
        })
    }

    fn ring_wave(&self) -> u32 {
        let lanes = u32::from(self.descriptor.wave_lanes());
        (self.descriptor.private_bytes() * lanes).next_multiple_of(PRIVATE_UNIT)
    }

    fn ring_bytes(&self) -> u64 {
        u64::from(self.ring_wave()) * u64::from(PRIVATE_WAVES)
    }

    fn dispatch(&self, entry: u64) -> ExactDispatch {
        let d = &self.descriptor;
        let (float_mode, dx10_clamp, ieee) = d.modes();
        let wave_lanes = d.wave_lanes();
        let in_lanes = d.private_bytes() > 0 && !self.uses_ring();
        let bytes_per_wave = d.private_bytes() * u32::from(wave_lanes);
        let private = ScalarRule::ScratchOffset { per_wave: self.ring_wave(), slots: PRIVATE_WAVES };
        ExactDispatch {
            stage: Stage::Compute,
            program: ProgramRef {
                isa: self.object.isa,
                address: entry,
                wave_lanes,
                float_mode,
                dx10_clamp,
                ieee,
            },
            grid: Grid::Groups {
                start: [0; 3],
                end: self.shape.groups,
                threads: self.shape.threads,
                last_threads: self.shape.threads,
            },
            sgprs: d.scalars(|data| self.user_data(data), private),
            vgprs: (0..=d.last_thread_id()).map(LaneRule::ThreadId).collect(),
            lds_bytes: self.lds_bytes,
            scratch: in_lanes.then_some(Scratch { bytes_per_wave }),
            outputs: Outputs::Dropped,
            origin: Origin::default(),
        }
    }

    fn user_data(&self, data: UserData) -> Vec<u32> {
        let wide = |n: u64| vec![n as u32, (n >> 32) as u32];
        match data {
            UserData::PrivateBuffer => self.private_buffer(),
            UserData::Packet => wide(PACKET),
            UserData::Kernarg => wide(KERNARG),
            UserData::PrivateBytes => vec![self.descriptor.private_bytes()],
            // The first dispatch of its queue, and scratch that instructions reach without an address.
            UserData::DispatchId | UserData::FlatScratch | UserData::Queue => wide(0),
        }
    }

    /// The buffer descriptor of the ring: swizzled so that a dword of all lanes lies together, with the lane's number as
    /// the index.
    fn private_buffer(&self) -> Vec<u32> {
        const SWIZZLE: u32 = 1 << 31;
        const ADD_LANE: u32 = 1 << 23;
        /// Components in their places, FORMAT 32_FLOAT, RESOURCE_LEVEL, and a range in bytes (OOB_SELECT 3).
        const PLAIN: u32 = 0xfac | 22 << 12 | 1 << 24 | 3 << 28;
        let stride_of_index = if self.descriptor.wave_lanes() == 32 { 2 << 21 } else { 3 << 21 };
        let high = (PRIVATE >> 32) as u32 | SWIZZLE;
        vec![PRIVATE as u32, high, u32::MAX, PLAIN | ADD_LANE | stride_of_index]
    }

    /// The AQL packet of the launch.
    fn packet(&self, entry: u64) -> [u8; 64] {
        const KERNEL_DISPATCH: u16 = 2;
        let Shape { groups, threads, .. } = &self.shape;
        let mut words = [0u32; 16];
        words[0] = u32::from(KERNEL_DISPATCH) | u32::from(self.shape.dims()) << 16;
        words[1] = threads[0] & 0xffff | threads[1] << 16;
        words[2] = threads[2] & 0xffff;
        for axis in 0..3 {
            words[3 + axis] = groups[axis].saturating_mul(threads[axis]);
        }
        words[6] = self.descriptor.private_bytes();
        words[7] = self.lds_bytes;
        [words[8], words[9]] = [entry as u32, (entry >> 32) as u32];
        [words[10], words[11]] = [KERNARG as u32, (KERNARG >> 32) as u32];
        bytemuck::cast(words.map(u32::to_le))
    }
}

/// Threads of a work-group: what the kernel fixes, or what the caller says.
fn threads(kernel: &Kernel, request: &Request) -> Result<[u32; 3], KernelError> {
    let wrong = |what: String| Err(KernelError::GroupSize { kernel: kernel.name.clone(), what });
    let threads = match (kernel.required_threads, request.threads) {
        (Some(fixed), Some(asked)) if fixed != asked => {
            return wrong(format!("is {asked:?}, but its source fixes {fixed:?}"));
        }
        (Some(threads), _) | (None, Some(threads)) => threads,
        (None, None) => return wrong("is not fixed by its source; say --threads X,Y,Z".to_owned()),
    };
    let total = threads.iter().map(|t| u64::from(*t)).fold(1, u64::saturating_mul);
    let most = kernel.most_threads.map_or(MAX_THREADS, u64::from).min(MAX_THREADS);
    if (1..=most).contains(&total) {
        Ok(threads)
    } else {
        wrong(format!("is {threads:?}; it may have {most} threads"))
    }
}
