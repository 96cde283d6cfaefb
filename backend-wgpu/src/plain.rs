//! Host programs on plain buffers: what guest programs on the same device are measured against.

use std::time::Duration;

use wgpu::{BindGroup, Buffer, BufferUsages, ComputePipeline};

use crate::device::{self, OpenError, Opened};
use crate::raw;
use crate::stamps::{self, DeviceClock, Stamps};

/// A compute program with up to three storage buffers, the second of which it writes.
pub struct PlainProgram {
    opened: Opened,
    pipeline: ComputePipeline,
    bound: BindGroup,
    output: Buffer,
    staging: Buffer,
    stamps: Option<Stamps>,
    clock: DeviceClock,
    read: Vec<u8>,
}

/// How long a run took.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// On the device, where it tells.
    pub device: Option<Duration>,
}

/// Bindings that are only read.
const READ_ONLY: [bool; 3] = [true, false, true];

impl PlainProgram {
    /// Opens a device as the backend does, and puts `contents` into the buffers. `code`: SPIR-V without run-time checks, its entry
    /// point named `entry`.
    ///
    /// # Errors
    /// No device, or one that does not take SPIR-V as it is.
    pub fn open(
        adapter: Option<&str>,
        code: &[u8],
        entry: &str,
        contents: [&[u8]; 3],
    ) -> Result<Self, OpenError> {
        let opened = device::open(adapter)?;
        if !opened.features.contains(wgpu::Features::PASSTHROUGH_SHADERS) {
            let reason = "it takes no SPIR-V as it is".into();
            return Err(OpenError::Refused { adapter: opened.info.name, reason });
        }
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(code);
        let storage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let buffers = contents.map(|bytes| {
            let buffer = buffer(&opened, bytes.len() as u64, storage);
            // In parts, so that the queue's own staging stays small.
            for (i, part) in bytes.chunks(16 << 20).enumerate() {
                opened.queue.write_buffer(&buffer, (i as u64) << 24, part);
                opened.queue.submit([]);
            }
            buffer
        });
        let (layout, pipeline) = pipeline(&opened, entry, &words);
        let entries: Vec<_> = (0..)
            .zip(&buffers)
            .map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.as_entire_binding() })
            .collect();
        let bound = opened.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(entry),
            layout: &layout,
            entries: &entries,
        });
        let [_, output, _] = buffers;
        let staging =
            buffer(&opened, output.size() + stamps::BYTES, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let stamps = Stamps::new(&opened);
        Ok(PlainProgram {
            pipeline,
            bound,
            output,
            staging,
            stamps,
            clock: DeviceClock::default(),
            read: Vec::new(),
            opened,
        })
    }

    /// Runs workgroups along the first axis and reads the written buffer.
    ///
    /// # Errors
    /// What the device says when it is lost.
    pub fn run(&mut self, groups: u32) -> Result<Measured, String> {
        let mut encoder =
            self.opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let timestamp_writes = self.stamps.as_ref().and_then(|s| s.writes(true, true));
        {
            let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
            let mut pass = encoder.begin_compute_pass(&descriptor);
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.bound, &[]);
            pass.dispatch_workgroups(groups, 1, 1);
        }
        let size = self.output.size();
        encoder.copy_buffer_to_buffer(&self.output, 0, &self.staging, 0, size);
        if let Some(stamps) = &self.stamps {
            stamps.resolve(&mut encoder, &self.staging, size);
        }
        let index = self.opened.queue.submit([encoder.finish()]);
        self.staging.map_async(wgpu::MapMode::Read, .., |_| {});
        let wait =
            wgpu::PollType::Wait { submission_index: Some(index), timeout: Some(Duration::from_secs(60)) };
        self.opened.device.poll(wait).map_err(|e| e.to_string())?;
        if let Some(trouble) = self.opened.trouble.get() {
            return Err(trouble);
        }
        let before = self.clock.time();
        self.take(size).map_err(|e| e.to_string())?;
        self.staging.unmap();
        Ok(Measured { device: self.stamps.as_ref().map(|_| self.clock.time() - before) })
    }

    fn take(&mut self, size: u64) -> Result<(), wgpu::MapRangeError> {
        let view = self.staging.get_mapped_range(..)?;
        let (bytes, stamped) = view.split_at(size as usize);
        self.read.clear();
        self.read.extend_from_slice(bytes);
        if let Some(stamps) = &self.stamps {
            self.clock.add(stamps.nanoseconds(stamped));
        }
        Ok(())
    }

    /// What the last run wrote.
    pub fn output(&self) -> &[u8] {
        &self.read
    }
}

fn buffer(opened: &Opened, size: u64, usage: BufferUsages) -> Buffer {
    let descriptor =
        wgpu::BufferDescriptor { label: None, size: size.max(16), usage, mapped_at_creation: false };
    opened.device.create_buffer(&descriptor)
}

fn pipeline(opened: &Opened, entry: &str, words: &[u32]) -> (wgpu::BindGroupLayout, ComputePipeline) {
    let device = &opened.device;
    let entries: Vec<_> = (0..)
        .zip(READ_ONLY)
        .map(|(binding, read_only)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    let layout = device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(entry), entries: &entries });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(entry),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let module = raw::passthrough(device, entry, words);
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(entry),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(entry),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    (layout, pipeline)
}
