//! The calls that the compiler cannot check.
#![expect(unsafe_code, reason = "wgpu marks these calls unsafe; each says here why its conditions hold")]

use std::borrow::Cow;

use ash::vk;
use guestwave_translate::naga::FloatModes;
use wgpu::{Adapter, Device, PipelineCache, ShaderModule};

/// A shader module from SPIR-V that goes to the driver as it is.
pub(crate) fn passthrough(device: &Device, entry: &str, words: &[u32]) -> ShaderModule {
    let entry =
        wgpu::PassthroughShaderEntryPoint { name: entry.to_owned().into(), workgroup_size: (0, 0, 0) };
    let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
        label: None,
        entry_points: Cow::Owned(vec![entry]),
        spirv: Some(Cow::Borrowed(words)),
        ..Default::default()
    };
    // SAFETY: the words were written by naga from a module that it had validated, and perhaps decorated since.
    unsafe { device.create_shader_module_passthrough(descriptor) }
}

/// A shader module without the checks that modules make themselves.
pub(crate) fn trusted(device: &Device, label: &str, module: wgpu::naga::Module) -> ShaderModule {
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(label),
        source: wgpu::ShaderSource::Naga(Cow::Owned(module)),
    };
    // SAFETY: modules index no buffer without a check of their own, and all their loops end.
    unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}

/// A pipeline cache that starts with what was kept.
pub(crate) fn pipeline_cache(device: &Device, data: Option<&[u8]>) -> PipelineCache {
    let descriptor = wgpu::PipelineCacheDescriptor { label: Some("guestwave"), data, fallback: true };
    // SAFETY: the data come from `PipelineCache::get_data` under a file name of this adapter and driver; drivers check
    // the header, and wgpu its own.
    unsafe { device.create_pipeline_cache(&descriptor) }
}

/// The float-control modes that a Vulkan device reports; none elsewhere.
pub(crate) fn float_modes(adapter: &Adapter) -> FloatModes {
    // SAFETY: the handles are used while the adapter lives, for a query that changes nothing.
    let properties = unsafe {
        let Some(vulkan) = adapter.as_hal::<wgpu::hal::api::Vulkan>() else { return FloatModes::default() };
        let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut controls);
        let instance = vulkan.shared_instance().raw_instance();
        instance.get_physical_device_properties2(vulkan.raw_physical_device(), &mut all);
        controls
    };
    let both = |narrow, wide| [narrow == vk::TRUE, wide == vk::TRUE];
    let p = properties;
    FloatModes {
        denorm_preserve: both(p.shader_denorm_preserve_float32, p.shader_denorm_preserve_float64),
        zero_inf_nan_preserve: both(
            p.shader_signed_zero_inf_nan_preserve_float32,
            p.shader_signed_zero_inf_nan_preserve_float64,
        ),
        round_to_even: both(p.shader_rounding_mode_rte_float32, p.shader_rounding_mode_rte_float64),
    }
}
