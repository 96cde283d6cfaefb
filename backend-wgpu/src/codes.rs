//! Every code of this backend, and of the modules that it makes, with its sentence.

use guestwave_translate::backend::codes::HOST_LOOPS;
use guestwave_translate::naga::codes as modules;

/// The device is gone or did not answer in time.
pub const LOST: &str = "WGPU-LOST-001";
/// What one launch reaches does not fit the device.
pub const ROOM: &str = "WGPU-ROOM-001";
/// Lanes store one byte twice where no order could be kept.
pub const ORDER: &str = "WGPU-ORDER-001";

/// Codes and sentences, by code.
pub const CATALOGUE: &[(&str, &str)] = &[
    (
        modules::ATOMICS64,
        "The program has 64-bit atomics that the device has not: on guest memory, or on LDS that waves have in common.",
    ),
    (modules::FLOW, "Lanes or waves of a workgroup would meet where each may go its own way."),
    (modules::GROUP, "A workgroup has more lanes than the device runs together."),
    (modules::INTERNAL, "The module does not pass validation: a fault of the translator, not of the guest."),
    (modules::PARAMS, "The program has more parameters and slots than a launch block holds."),
    (modules::SHARED, "The program takes more workgroup memory than the device has."),
    (HOST_LOOPS, "The device ends loops by itself after fewer iterations than the program makes."),
    (LOST, "The device is gone or did not answer in time."),
    ("WGPU-OPEN-001", "There is no graphics adapter, or none of the name that was asked for."),
    ("WGPU-OPEN-002", "The adapter lacks something that every module needs."),
    ("WGPU-OPEN-003", "The adapter's device could not be opened."),
    (ORDER, "Lanes store one byte twice, and their order could not be kept."),
    (ROOM, "What one launch reaches does not fit the memory that the device binds."),
];
