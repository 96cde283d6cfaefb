//! Runs guest programs on wgpu.
