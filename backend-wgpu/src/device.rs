//! Choosing an adapter and opening its device.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use guestwave_translate::naga::FloatModes;
use wgpu::{Adapter, AdapterInfo, Backends, Device, DeviceType, Features, Limits, Queue};

use crate::raw;

/// Why no device could be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Nothing there to run on.
    #[error(
        "WGPU-OPEN-001: no graphics adapter{wanted} was found (found: {found}); install a Vulkan driver \
         (mesa-vulkan-drivers has one for the CPU) or choose another backend"
    )]
    NoAdapter {
        /// ` named ...`, or nothing.
        wanted: String,
        /// Names of those that are there.
        found: String,
    },
    /// The adapter lacks something.
    #[error("WGPU-OPEN-002: {adapter} has no {feature}, which every module needs")]
    Lacks {
        /// The adapter's name.
        adapter: String,
        /// What is missing.
        feature: &'static str,
    },
    /// The driver refused.
    #[error("WGPU-OPEN-003: {adapter} could not be opened: {reason}")]
    Refused {
        /// The adapter's name.
        adapter: String,
        /// What it said.
        reason: String,
    },
}

/// What the device said when it went wrong, if it did.
#[derive(Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    pub(crate) fn note(&self, what: String) {
        log::error!("device: {what}");
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    }

    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes what was noted, so that what follows is told apart.
    pub(crate) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// An open device.
pub(crate) struct Opened {
    pub(crate) device: Device,
    pub(crate) queue: Queue,
    pub(crate) info: AdapterInfo,
    pub(crate) features: Features,
    pub(crate) limits: Limits,
    pub(crate) modes: FloatModes,
    pub(crate) trouble: Trouble,
}

impl Opened {
    /// Whether programs run on the CPU.
    pub(crate) fn is_cpu(&self) -> bool {
        self.info.device_type == DeviceType::Cpu
    }
}

/// Features that are used where they are there.
const WANTED: [Features; 8] = [
    Features::SHADER_INT64,
    Features::SHADER_F64,
    Features::SHADER_INT64_ATOMIC_ALL_OPS,
    Features::SUBGROUP,
    Features::SUBGROUP_BARRIER,
    Features::PASSTHROUGH_SHADERS,
    Features::PIPELINE_CACHE,
    Features::TIMESTAMP_QUERY,
];

/// Features without which no module runs.
const NEEDED: [(Features, &str); 2] =
    [(Features::SHADER_INT64, "64-bit integers"), (Features::SHADER_F64, "64-bit floats")];

/// Opens the adapter whose name contains `name`, or the best there is.
pub(crate) fn open(name: Option<&str>) -> Result<Opened, OpenError> {
    let adapter = choose(name)?;
    let info = adapter.get_info();
    let has = adapter.features();
    if let Some((_, feature)) = NEEDED.iter().find(|(f, _)| !has.contains(*f)) {
        return Err(OpenError::Lacks { adapter: info.name, feature });
    }
    let features = WANTED.into_iter().filter(|f| has.contains(*f)).fold(Features::empty(), |all, f| all | f);
    let limits = adapter.limits();
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("guestwave"),
        required_features: features,
        required_limits: limits.clone(),
        memory_hints: wgpu::MemoryHints::Performance,
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
        .map_err(|e| OpenError::Refused { adapter: info.name.clone(), reason: e.to_string() })?;
    let trouble = Trouble::default();
    let (lost, error) = (trouble.clone(), trouble.clone());
    device.set_device_lost_callback(move |reason, text| {
        if reason != wgpu::DeviceLostReason::Destroyed {
            lost.note(text);
        }
    });
    device.on_uncaptured_error(Arc::new(move |e: wgpu::Error| error.note(e.to_string())));
    let modes = raw::float_modes(&adapter);
    Ok(Opened { device, queue, info, features, limits, modes, trouble })
}

/// The process's one instance, which is never given back: with its last instance a driver's library is unloaded, and drivers
/// leave work for the ends of threads and of the process behind that would then be run where no code is any more.
static INSTANCE: LazyLock<wgpu::Instance> = LazyLock::new(|| {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = Backends::PRIMARY;
    descriptor.flags = wgpu::InstanceFlags::empty();
    wgpu::Instance::new(descriptor)
});

fn choose(name: Option<&str>) -> Result<Adapter, OpenError> {
    let mut adapters = pollster::block_on(INSTANCE.enumerate_adapters(Backends::PRIMARY));
    let names = |all: &[Adapter]| all.iter().map(|a| a.get_info().name).collect::<Vec<_>>().join(", ");
    let found = names(&adapters);
    if let Some(name) = name {
        let wanted = name.to_lowercase();
        adapters.retain(|a| a.get_info().name.to_lowercase().contains(&wanted));
    }
    adapters.sort_by_key(|a| rank(&a.get_info()));
    adapters.into_iter().next().ok_or_else(|| OpenError::NoAdapter {
        wanted: name.map(|n| format!(" named {n}")).unwrap_or_default(),
        found: if found.is_empty() { "none".into() } else { found },
    })
}

/// Vulkan first, then the stronger kinds.
fn rank(info: &AdapterInfo) -> (bool, u8) {
    let kind = match info.device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Cpu => 3,
        DeviceType::Other => 4,
    };
    (info.backend != wgpu::Backend::Vulkan, kind)
}
