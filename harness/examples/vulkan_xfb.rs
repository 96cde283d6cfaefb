//! Captures vertices with Vulkan's transform feedback (VK_EXT_transform_feedback) and prints them. It leaves nothing drawn and
//! cleans nothing up: it ends.
#![expect(unsafe_code, reason = "Vulkan is a C interface")]

use std::error::Error;
use std::ffi::CStr;

use ash::ext::transform_feedback;
use ash::{Device, Entry, Instance, vk};

/// Vertices, each of which captures a number.
const VERTICES: u32 = 100;

/// Bytes of the captured numbers.
const BYTES: u64 = 4 * VERTICES as u64;

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: whatever is made lives until the program ends, which is longer than anything that uses it.
    unsafe {
        let gpu = Gpu::open()?;
        let (buffer, memory) = gpu.buffer()?;
        let (pass, pipeline) = gpu.pipeline()?;
        gpu.submit(|commands| gpu.record(commands, pass, pipeline, buffer))?;
        let at = gpu.device.map_memory(memory, 0, BYTES, vk::MemoryMapFlags::empty())?.cast::<u32>();
        let numbers: Vec<u32> = (0..VERTICES as usize).map(|i| at.add(i).read()).collect();
        println!("{}: {:?}", gpu.name, &numbers[..5]);
        let right = numbers.iter().zip(0..).all(|(number, i)| *number == 3 * i + 1);
        right.then(|| println!("all {VERTICES} right")).ok_or_else(|| format!("wrong: {numbers:?}").into())
    }
}

/// A device that has transform feedback.
struct Gpu {
    _entry: Entry,
    instance: Instance,
    physical: vk::PhysicalDevice,
    device: Device,
    name: String,
}

/// The first family of queues, which draws.
const FAMILY: u32 = 0;

impl Gpu {
    /// Opens the first device.
    ///
    /// # Safety
    /// As for all of Vulkan: what is made is not used after its device.
    unsafe fn open() -> Result<Gpu, Box<dyn Error>> {
        // SAFETY: the structures are made here and used by the calls alone.
        unsafe {
            let entry = Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
            let instance = entry
                .create_instance(&vk::InstanceCreateInfo::default().application_info(&application), None)?;
            let physical = *instance.enumerate_physical_devices()?.first().ok_or("there is no device")?;
            let properties = instance.get_physical_device_properties(physical);
            let name = properties.device_name_as_c_str()?.to_string_lossy().into_owned();
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(FAMILY).queue_priorities(&[1.0])];
            let mut feature =
                vk::PhysicalDeviceTransformFeedbackFeaturesEXT::default().transform_feedback(true);
            let extensions = [transform_feedback::NAME.as_ptr()];
            let wanted = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .push_next(&mut feature);
            let device = instance.create_device(physical, &wanted, None)?;
            Ok(Gpu { _entry: entry, instance, physical, device, name })
        }
    }

    /// A buffer for the captured numbers, in memory that can be mapped.
    ///
    /// # Safety
    /// As [`Gpu::open`].
    unsafe fn buffer(&self) -> Result<(vk::Buffer, vk::DeviceMemory), Box<dyn Error>> {
        // SAFETY: as the caller's.
        unsafe {
            let usage = vk::BufferUsageFlags::TRANSFORM_FEEDBACK_BUFFER_EXT;
            let wanted = vk::BufferCreateInfo::default().size(BYTES).usage(usage);
            let buffer = self.device.create_buffer(&wanted, None)?;
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let kinds = self.instance.get_physical_device_memory_properties(self.physical);
            let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let fits = |i: &u32| {
                needs.memory_type_bits >> i & 1 == 1
                    && kinds.memory_types[*i as usize].property_flags.contains(visible)
            };
            let kind = (0..kinds.memory_type_count).find(fits).ok_or("no memory can be mapped")?;
            let wanted =
                vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = self.device.allocate_memory(&wanted, None)?;
            self.device.bind_buffer_memory(buffer, memory, 0)?;
            Ok((buffer, memory))
        }
    }

    /// A pass without attachments, and a pipeline of points that are not rasterized.
    ///
    /// # Safety
    /// As [`Gpu::open`].
    unsafe fn pipeline(&self) -> Result<(vk::RenderPass, vk::Pipeline), Box<dyn Error>> {
        const MAIN: &CStr = c"main";
        // SAFETY: as the caller's.
        unsafe {
            let subpasses = [vk::SubpassDescription::default()];
            let pass = self
                .device
                .create_render_pass(&vk::RenderPassCreateInfo::default().subpasses(&subpasses), None)?;
            let code = shader();
            let module =
                self.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)?;
            let stages = [vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::VERTEX)
                .module(module)
                .name(MAIN)];
            let layout =
                self.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None)?;
            let input = vk::PipelineVertexInputStateCreateInfo::default();
            let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
                .topology(vk::PrimitiveTopology::POINT_LIST);
            let raster = vk::PipelineRasterizationStateCreateInfo::default()
                .rasterizer_discard_enable(true)
                .line_width(1.0);
            let wanted = vk::GraphicsPipelineCreateInfo::default()
                .stages(&stages)
                .vertex_input_state(&input)
                .input_assembly_state(&assembly)
                .rasterization_state(&raster)
                .layout(layout)
                .render_pass(pass);
            let made = self.device.create_graphics_pipelines(vk::PipelineCache::null(), &[wanted], None);
            let pipeline = *made.map_err(|(_, error)| error)?.first().ok_or("no pipeline")?;
            Ok((pass, pipeline))
        }
    }

    /// Records the draw.
    ///
    /// # Safety
    /// As [`Gpu::open`]; the commands are being recorded.
    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        pass: vk::RenderPass,
        pipeline: vk::Pipeline,
        buffer: vk::Buffer,
    ) -> Result<(), Box<dyn Error>> {
        let capture = transform_feedback::Device::new(&self.instance, &self.device);
        let capture = capture.fp();
        // SAFETY: as the caller's; the arrays have one element, as the counts say.
        unsafe {
            let size = vk::Extent2D { width: 1, height: 1 };
            let wanted = vk::FramebufferCreateInfo::default().render_pass(pass).width(1).height(1).layers(1);
            let framebuffer = self.device.create_framebuffer(&wanted, None)?;
            let begin = vk::RenderPassBeginInfo::default()
                .render_pass(pass)
                .framebuffer(framebuffer)
                .render_area(size.into());
            self.device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            self.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            (capture.cmd_bind_transform_feedback_buffers_ext)(commands, 0, 1, &buffer, &0, &BYTES);
            (capture.cmd_begin_transform_feedback_ext)(commands, 0, 0, std::ptr::null(), std::ptr::null());
            self.device.cmd_draw(commands, VERTICES, 1, 0, 0);
            (capture.cmd_end_transform_feedback_ext)(commands, 0, 0, std::ptr::null(), std::ptr::null());
            self.device.cmd_end_render_pass(commands);
            Ok(())
        }
    }

    /// Records commands, submits them and waits for them.
    ///
    /// # Safety
    /// As [`Gpu::open`].
    unsafe fn submit(
        &self,
        record: impl FnOnce(vk::CommandBuffer) -> Result<(), Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        // SAFETY: as the caller's.
        unsafe {
            let wanted = vk::CommandPoolCreateInfo::default().queue_family_index(FAMILY);
            let pool = self.device.create_command_pool(&wanted, None)?;
            let wanted = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = self.device.allocate_command_buffers(&wanted)?;
            let first = *commands.first().ok_or("no command buffer")?;
            self.device.begin_command_buffer(first, &vk::CommandBufferBeginInfo::default())?;
            record(first)?;
            self.device.end_command_buffer(first)?;
            let fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let queue = self.device.get_device_queue(FAMILY, 0);
            self.device.queue_submit(
                queue,
                &[vk::SubmitInfo::default().command_buffers(&commands)],
                fence,
            )?;
            Ok(self.device.wait_for_fences(&[fence], true, u64::MAX)?)
        }
    }
}

/// The vertex shader, in SPIR-V: `number = 3 * gl_VertexIndex + 1`, captured at byte 0 of 4 of buffer 0.
fn shader() -> Vec<u32> {
    let [void, function, int, input, output, index, number, three, one, main, label, loaded, scaled, sum] =
        std::array::from_fn(|i| i as u32 + 1);
    const NAME: u32 = u32::from_le_bytes(*b"main");
    // Opcodes and operands, by the numbers of the SPIR-V specification.
    let instructions: [&[u32]; 26] = [
        &[17, 1],                               // capability: shaders
        &[17, 53],                              // capability: transform feedback
        &[14, 0, 1],                            // logical addresses, GLSL's memory model
        &[15, 0, main, NAME, 0, index, number], // entry point of a vertex shader
        &[16, main, 11],                        // execution mode: captures
        &[71, index, 11, 42],                   // built-in: vertex index
        &[71, number, 30, 0],                   // location 0
        &[71, number, 36, 0],                   // capture buffer 0
        &[71, number, 37, 4],                   // stride 4
        &[71, number, 35, 0],                   // offset 0
        &[19, void],
        &[33, function, void],
        &[21, int, 32, 1],
        &[32, input, 1, int],
        &[32, output, 3, int],
        &[59, input, index, 1],
        &[59, output, number, 3],
        &[43, int, three, 3],
        &[43, int, one, 1],
        &[54, void, main, 0, function],
        &[248, label],
        &[61, int, loaded, index],
        &[132, int, scaled, loaded, three], // multiplication
        &[128, int, sum, scaled, one],      // addition
        &[62, number, sum],
        &[253],
    ];
    // Magic number, version 1.0, no generator, numbers in use, and a zero; the last instruction ends the function.
    let head = [0x0723_0203, 0x0001_0000, 0, sum + 1, 0];
    let words = |i: &[u32]| [&[i[0] | (i.len() as u32) << 16], &i[1..]].concat();
    head.into_iter().chain(instructions.into_iter().chain([&[56][..]]).flat_map(words)).collect()
}
