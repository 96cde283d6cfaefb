//! Codes of what this backend refuses by itself; others come from `guestwave-translate`.

/// The device is gone or did not answer in time.
pub const LOST: &str = "WGPU-LOST-001";
/// The device would end the program's loops by itself.
pub const HOST_LOOPS: &str = "WGPU-LOOP-001";
/// What one launch reaches does not fit the device.
pub const ROOM: &str = "WGPU-ROOM-001";
/// Lanes store one byte twice where no order could be kept.
pub const ORDER: &str = "WGPU-ORDER-001";
