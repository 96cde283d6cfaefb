//! What every DRM device answers.

use super::{Call, Done, EACCES, EINVAL};
use crate::gpu::file::OpenFile;

/// Major, minor and patch level of the amdgpu interface: that of Linux 5.13, the oldest that has everything drivers need here.
pub(super) const INTERFACE: [u32; 3] = [3, 42, 0];

/// Name, date and description of the driver, as the kernel's gives them.
const NAMES: [&str; 3] = ["amdgpu", "20150101", "AMD GPU"];

/// Offsets of the lengths of [`NAMES`].
const LENGTHS: [usize; 3] = [16, 32, 48];

/// VERSION: three numbers at 0, 4 and 8; three strings.
pub(super) fn version(_: &OpenFile, call: &mut Call) -> Done {
    for (i, number) in INTERFACE.into_iter().enumerate() {
        call.put_u32(4 * i, number);
    }
    for (i, name) in NAMES.into_iter().enumerate() {
        call.output(i, name.as_bytes());
        call.put_u64(LENGTHS[i], name.len() as u64);
    }
    Ok(())
}

/// Capabilities and their values: sharing of buffers both ways, a monotonic clock, synchronization objects and their timelines.
const CAPABILITIES: [(u64, u64); 4] = [(0x5, 3), (0x6, 1), (0x13, 1), (0x14, 1)];

/// GET_CAP: capability at 0, value at 8.
pub(super) fn get_cap(_: &OpenFile, call: &mut Call) -> Done {
    let wanted = call.u64(0);
    let (_, value) = CAPABILITIES.iter().find(|(capability, _)| *capability == wanted).ok_or(EINVAL)?;
    call.put_u64(8, *value);
    Ok(())
}

/// What only the node of a display answers.
pub(super) fn only_primary_nodes(_: &OpenFile, _: &mut Call) -> Done {
    Err(EACCES)
}

/// SET_CLIENT_CAP: what clients can do with displays, of which there is none.
pub(super) fn no_display(_: &OpenFile, _: &mut Call) -> Done {
    Err(EINVAL)
}
