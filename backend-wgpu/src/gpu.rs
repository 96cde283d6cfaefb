//! The device's buffers and what is done with them: the inside of the worker thread.

use std::ops::Range;
use std::time::Duration;

use guestwave_translate::naga::layout::{LAUNCH_BYTES, binding};
use wgpu::{
    BindGroup, BindGroupLayout, Buffer, BufferUsages, CommandEncoder, ComputePipeline, PipelineCache,
    PipelineLayout, PollType, SubmissionIndex,
};

use crate::backend::Options;
use crate::cache::CacheFile;
use crate::device::Opened;
use crate::raw;
use crate::stamps::{self, DeviceClock, Stamps};

/// How many times as long the first job of a pipeline may take: drivers may finish compiling only then.
const FIRST: u32 = 10;

/// Code of a module.
pub(crate) enum Code {
    /// Hardened SPIR-V.
    Words(Vec<u32>),
    /// A module for wgpu to write.
    Module(Box<wgpu::naga::Module>),
}

/// What one submission does.
#[derive(Default)]
pub(crate) struct Job {
    /// Bytes that each buffer must have.
    pub(crate) sizes: Sizes,
    /// Data for the arena.
    pub(crate) arena: Vec<Upload>,
    /// Data for the page table.
    pub(crate) pages: Vec<Upload>,
    /// Launch tables and mark maps, from the buffer's start.
    pub(crate) tables: Vec<u32>,
    /// Launch blocks, from the buffer's start.
    pub(crate) blocks: Vec<u8>,
    /// What runs, in order.
    pub(crate) dispatches: Vec<Dispatch>,
    /// Bytes of marks in use: cleared before and read after.
    pub(crate) marks: u64,
    /// Bytes of status in use.
    pub(crate) status: u64,
}

/// Bytes of buffers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) arena: u64,
    pub(crate) pages: u64,
    pub(crate) tables: u64,
    pub(crate) blocks: u64,
    pub(crate) marks: u64,
    pub(crate) status: u64,
    pub(crate) spill: u64,
}

/// Bytes for a place in a buffer; both multiples of 4.
pub(crate) struct Upload {
    pub(crate) at: u64,
    pub(crate) data: Vec<u8>,
}

/// One dispatch of a pipeline.
pub(crate) struct Dispatch {
    pub(crate) pipeline: usize,
    /// Byte of its launch block.
    pub(crate) block: u32,
    pub(crate) groups: [u32; 2],
    /// Bytes of the spill buffer that start as 0.
    pub(crate) cleared_spill: u64,
}

/// What a submission left.
pub(crate) struct Outcome {
    pub(crate) status: Vec<u32>,
    pub(crate) marks: Vec<u32>,
}

/// A growing buffer.
struct Grown {
    label: &'static str,
    usage: BufferUsages,
    least: u64,
    buffer: Option<Buffer>,
}

impl Grown {
    fn new(label: &'static str, usage: BufferUsages, least: u64) -> Self {
        Grown { label, usage, least, buffer: None }
    }

    /// Makes the buffer at least `size` bytes large; its contents are lost if it grows. Says whether it is new.
    fn fit(&mut self, device: &wgpu::Device, size: u64) -> bool {
        if self.buffer.as_ref().is_some_and(|b| b.size() >= size) {
            return false;
        }
        let size = size.max(self.least).next_multiple_of(256);
        let descriptor = wgpu::BufferDescriptor {
            label: Some(self.label),
            size,
            usage: self.usage,
            mapped_at_creation: false,
        };
        self.buffer = Some(device.create_buffer(&descriptor));
        true
    }
}

/// The device and all that belongs to it.
pub(crate) struct Gpu {
    opened: Opened,
    timeout: Duration,
    layout: BindGroupLayout,
    pipeline_layout: PipelineLayout,
    cache: Option<PipelineCache>,
    cache_file: Option<CacheFile>,
    pipelines: Vec<ComputePipeline>,
    /// Whether a pipeline was made since the last job went well.
    fresh: bool,
    arena: Grown,
    pages: Grown,
    tables: Grown,
    blocks: Grown,
    marks: Grown,
    status: Grown,
    spill: Grown,
    staging: Grown,
    bound: Option<BindGroup>,
    stamps: Option<Stamps>,
    clock: Option<DeviceClock>,
}

/// What went wrong with the device.
pub(crate) type Lost = String;

impl Gpu {
    pub(crate) fn new(opened: Opened, cache_file: Option<CacheFile>, options: &Options) -> Self {
        let device = &opened.device;
        let stamps = options.clock.as_ref().and_then(|_| Stamps::new(&opened));
        let layout = layout(device);
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("guestwave"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let cached = opened.features.contains(wgpu::Features::PIPELINE_CACHE);
        let kept = cache_file.as_ref().and_then(CacheFile::read);
        let cache = cached.then(|| raw::pipeline_cache(device, kept.as_deref()));
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let grown = |label, usage, least| Grown::new(label, usage, least);
        Gpu {
            timeout: options.timeout,
            stamps,
            clock: options.clock.clone(),
            layout,
            pipeline_layout,
            cache,
            cache_file,
            pipelines: Vec::new(),
            fresh: false,
            arena: grown("arena", storage, 1 << 16),
            pages: grown("pages", storage, 1 << 16),
            tables: grown("tables", storage, 1 << 16),
            blocks: grown("blocks", BufferUsages::UNIFORM | BufferUsages::COPY_DST, 1 << 16),
            marks: grown("marks", storage, 1 << 16),
            status: grown("status", storage, 1 << 16),
            spill: grown("spill", storage, 1 << 12),
            staging: grown("staging", BufferUsages::MAP_READ | BufferUsages::COPY_DST, 1 << 16),
            bound: None,
            opened,
        }
    }

    /// Makes a pipeline of a module's code.
    pub(crate) fn compile(&mut self, label: &str, code: Code) -> Result<usize, String> {
        self.opened.trouble.take();
        let device = &self.opened.device;
        let module = match code {
            Code::Words(words) => raw::passthrough(device, guestwave_translate::naga::ENTRY, &words),
            Code::Module(module) => raw::trusted(device, label, *module),
        };
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(label),
            layout: Some(&self.pipeline_layout),
            module: &module,
            entry_point: Some(guestwave_translate::naga::ENTRY),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: self.cache.as_ref(),
        });
        if let Some(trouble) = self.opened.trouble.take() {
            return Err(trouble);
        }
        self.pipelines.push(pipeline);
        self.fresh = true;
        Ok(self.pipelines.len() - 1)
    }

    /// Keeps what the pipeline cache has for the next start.
    pub(crate) fn save_cache(&self) {
        if let (Some(cache), Some(file)) = (&self.cache, &self.cache_file)
            && let Some(data) = cache.get_data()
        {
            file.write(&data);
        }
    }

    fn fit(&mut self, sizes: &Sizes) {
        let device = &self.opened.device;
        let all = [
            (&mut self.arena, sizes.arena),
            (&mut self.tables, sizes.tables),
            (&mut self.blocks, sizes.blocks + u64::from(LAUNCH_BYTES)),
            (&mut self.marks, sizes.marks),
            (&mut self.status, sizes.status),
            (&mut self.spill, sizes.spill),
        ];
        let grew = all.into_iter().fold(false, |any, (buffer, size)| buffer.fit(device, size) | any);
        let table_grew = self.fit_pages(sizes.pages);
        if grew || table_grew {
            self.bound = None;
        }
    }

    /// The page table is only told of changes, so what it holds goes along when it grows.
    fn fit_pages(&mut self, size: u64) -> bool {
        let device = &self.opened.device;
        let old = self.pages.buffer.clone();
        let wanted = if old.is_some() { size.next_power_of_two() } else { size };
        let fits = old.as_ref().is_some_and(|b| b.size() >= size);
        if fits || !self.pages.fit(device, wanted) {
            return false;
        }
        if let (Some(old), Some(new)) = (old, &self.pages.buffer) {
            let descriptor = wgpu::CommandEncoderDescriptor { label: Some("page table") };
            let mut encoder = device.create_command_encoder(&descriptor);
            encoder.copy_buffer_to_buffer(&old, 0, new, 0, old.size());
            self.opened.queue.submit([encoder.finish()]);
        }
        true
    }

    fn bind(&mut self) -> Option<BindGroup> {
        if self.bound.is_none() {
            let arena = self.arena.buffer.as_ref()?;
            let places = [
                (binding::TABLES, self.tables.buffer.as_ref()?),
                (binding::PAGES, self.pages.buffer.as_ref()?),
                (binding::ARENA, arena),
                (binding::READS, arena),
                (binding::MARKS, self.marks.buffer.as_ref()?),
                (binding::STATUS, self.status.buffer.as_ref()?),
                (binding::SPILL, self.spill.buffer.as_ref()?),
                (binding::ARENA64, arena),
                (binding::FOURS, arena),
            ];
            let block = wgpu::BufferBinding {
                buffer: self.blocks.buffer.as_ref()?,
                offset: 0,
                size: std::num::NonZeroU64::new(u64::from(LAUNCH_BYTES)),
            };
            let mut entries = vec![wgpu::BindGroupEntry {
                binding: binding::LAUNCH,
                resource: wgpu::BindingResource::Buffer(block),
            }];
            entries.extend(
                places.map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() }),
            );
            self.bound = Some(self.opened.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("guestwave"),
                layout: &self.layout,
                entries: &entries,
            }));
        }
        self.bound.clone()
    }

    /// Runs a job to its end.
    pub(crate) fn run(&mut self, job: &Job) -> Result<Outcome, Lost> {
        self.fit(&job.sizes);
        let bound = self.bind().ok_or("a buffer is missing")?;
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some("job") };
        let mut encoder = self.opened.device.create_command_encoder(&descriptor);
        self.upload(job, &mut encoder);
        self.dispatch(job, &bound, &mut encoder);
        let total = job.status + job.marks;
        self.staging.fit(&self.opened.device, total + stamps::BYTES);
        if let (Some(staging), Some(status), Some(marks)) =
            (&self.staging.buffer, &self.status.buffer, &self.marks.buffer)
        {
            encoder.copy_buffer_to_buffer(status, 0, staging, 0, job.status);
            if job.marks != 0 {
                encoder.copy_buffer_to_buffer(marks, 0, staging, job.status, job.marks);
            }
        }
        let times = total;
        if let (Some(stamps), Some(staging)) = (&self.stamps, &self.staging.buffer) {
            stamps.resolve(&mut encoder, staging, times);
        }
        let index = self.opened.queue.submit([encoder.finish()]);
        self.map_staging(total + stamps::BYTES, index)?;
        self.fresh = false;
        let outcome = self.outcome(job, times);
        if let Some(staging) = &self.staging.buffer {
            staging.unmap();
        }
        outcome
    }

    /// What the mapped staging buffer has of a job that ran.
    fn outcome(&self, job: &Job, times: u64) -> Result<Outcome, Lost> {
        let Some(staging) = &self.staging.buffer else { return Err("no staging buffer".into()) };
        let view = staging.get_mapped_range(0..times + stamps::BYTES).map_err(|e| e.to_string())?;
        let (words, stamped) = view.split_at(times as usize);
        let (status, marks) = words.split_at(job.status as usize);
        if let (Some(stamps), Some(clock)) = (&self.stamps, &self.clock) {
            clock.add(stamps.nanoseconds(stamped));
        }
        Ok(Outcome {
            status: bytemuck::pod_collect_to_vec(status),
            marks: bytemuck::pod_collect_to_vec(marks),
        })
    }

    fn upload(&self, job: &Job, encoder: &mut CommandEncoder) {
        let queue = &self.opened.queue;
        let pairs = [(&self.arena, &job.arena), (&self.pages, &job.pages)];
        for (buffer, upload) in pairs.into_iter().flat_map(|(b, all)| all.iter().map(move |u| (b, u))) {
            if let Some(buffer) = &buffer.buffer {
                self.stage(buffer, upload, encoder);
            }
        }
        let small: [(&Grown, &[u8]); 2] =
            [(&self.tables, bytemuck::cast_slice(&job.tables)), (&self.blocks, &job.blocks)];
        for (buffer, data) in small {
            if let (Some(buffer), false) = (&buffer.buffer, data.is_empty()) {
                queue.write_buffer(buffer, 0, data);
            }
        }
        if let Some(status) = &self.status.buffer {
            queue.write_buffer(status, 0, &u32::MAX.to_le_bytes());
            encoder.clear_buffer(status, 4, Some(job.status - 4));
        }
        if let (Some(marks), true) = (&self.marks.buffer, job.marks != 0) {
            encoder.clear_buffer(marks, 0, Some(job.marks));
        }
    }

    /// Small data go through wgpu's own staging, large through a mapped buffer of their own.
    fn stage(&self, target: &Buffer, upload: &Upload, encoder: &mut CommandEncoder) {
        const LARGE: usize = 1 << 16;
        let size = upload.data.len();
        if size < LARGE {
            return self.opened.queue.write_buffer(target, upload.at, &upload.data);
        }
        let staging = self.opened.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("upload"),
            size: size as u64,
            usage: BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        match staging.get_mapped_range_mut(..) {
            Ok(mut view) => view.copy_from_slice(&upload.data),
            Err(e) => self.opened.trouble.note(e.to_string()),
        }
        staging.unmap();
        encoder.copy_buffer_to_buffer(&staging, 0, target, upload.at, size as u64);
    }

    fn dispatch(&self, job: &Job, bound: &BindGroup, encoder: &mut CommandEncoder) {
        let mut rest = &job.dispatches[..];
        let mut first = true;
        while !rest.is_empty() {
            // Dispatches whose scratch must be 0 first each have a pass of their own.
            let cleared = rest[0].cleared_spill;
            let alone = cleared != 0;
            if let (true, Some(spill)) = (alone, &self.spill.buffer) {
                encoder.clear_buffer(spill, 0, Some(cleared));
            }
            let count = if alone { 1 } else { rest.iter().take_while(|d| d.cleared_spill == 0).count() };
            let (now, then) = rest.split_at(count);
            let timed = self.stamps.as_ref().and_then(|s| s.writes(first, then.is_empty()));
            first = false;
            self.pass(now, (bound, timed), encoder);
            rest = then;
        }
    }

    fn pass(
        &self,
        dispatches: &[Dispatch],
        (bound, timestamp_writes): (&BindGroup, Option<wgpu::ComputePassTimestampWrites<'_>>),
        encoder: &mut CommandEncoder,
    ) {
        let descriptor = wgpu::ComputePassDescriptor { label: Some("launches"), timestamp_writes };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        let mut current = None;
        for d in dispatches {
            let Some(pipeline) = self.pipelines.get(d.pipeline) else { continue };
            if current != Some(d.pipeline) {
                pass.set_pipeline(pipeline);
                current = Some(d.pipeline);
            }
            pass.set_bind_group(0, bound, &[d.block]);
            pass.dispatch_workgroups(d.groups[0], d.groups[1], 1);
        }
    }

    /// Waits for a submission and maps what it left in the staging buffer.
    fn map_staging(&self, size: u64, index: SubmissionIndex) -> Result<(), Lost> {
        let trouble = || self.opened.trouble.get();
        let Some(staging) = &self.staging.buffer else { return Err("no staging buffer".into()) };
        staging.map_async(wgpu::MapMode::Read, 0..size, |_| {});
        let timeout = if self.fresh { self.timeout.saturating_mul(FIRST) } else { self.timeout };
        let wait = PollType::Wait { submission_index: Some(index), timeout: Some(timeout) };
        if let Err(e) = self.opened.device.poll(wait) {
            return Err(trouble().unwrap_or_else(|| format!("{e} ({} s)", timeout.as_secs())));
        }
        trouble().map_or(Ok(()), Err)
    }

    /// Reads ranges of the arena (multiples of 4), one after another, in place of what `into` has.
    pub(crate) fn fetch(&mut self, ranges: &[Range<u64>], mut into: Vec<u8>) -> Result<Vec<u8>, Lost> {
        into.clear();
        let total: u64 = ranges.iter().map(|r| r.end - r.start).sum();
        if total == 0 {
            return Ok(into);
        }
        self.staging.fit(&self.opened.device, total);
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some("fetch") };
        let mut encoder = self.opened.device.create_command_encoder(&descriptor);
        let mut at = 0;
        for range in ranges {
            if let (Some(arena), Some(staging)) = (&self.arena.buffer, &self.staging.buffer) {
                encoder.copy_buffer_to_buffer(arena, range.start, staging, at, range.end - range.start);
            }
            at += range.end - range.start;
        }
        let index = self.opened.queue.submit([encoder.finish()]);
        self.map_staging(total, index)?;
        if let Some(staging) = &self.staging.buffer {
            into.extend_from_slice(&staging.get_mapped_range(0..total).map_err(|e| e.to_string())?);
            staging.unmap();
        }
        Ok(into)
    }
}

fn layout(device: &wgpu::Device) -> BindGroupLayout {
    let entry = |binding, ty, dynamic: bool, size: u64| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: dynamic,
            min_binding_size: std::num::NonZeroU64::new(size),
        },
        count: None,
    };
    let mut entries =
        vec![entry(binding::LAUNCH, wgpu::BufferBindingType::Uniform, true, u64::from(LAUNCH_BYTES))];
    entries.extend((1..binding::COUNT).map(|b| {
        let read_only = b == binding::TABLES || b == binding::PAGES;
        entry(b, wgpu::BufferBindingType::Storage { read_only }, false, 0)
    }));
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("guestwave"),
        entries: &entries,
    })
}
