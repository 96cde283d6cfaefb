//! A kernel's argument segment: what the caller gives, and the hidden arguments that the launch gives.

use super::metadata::{Argument, Kernel};
use super::{KernelError, Value};

/// Most bytes of an argument segment.
const MAX_BYTES: u32 = 64 << 10;

/// What hidden arguments tell of.
pub(super) struct Shape {
    pub(super) groups: [u32; 3],
    pub(super) threads: [u32; 3],
    /// Upper halves of the apertures' addresses.
    pub(super) shared_base: u32,
    pub(super) private_base: u32,
    /// Bytes of LDS that the caller gives beyond the kernel's own.
    pub(super) dynamic_lds: u32,
}

/// What a hidden argument holds.
type Hidden = fn(&Shape) -> u64;

const HIDDEN: [(&str, Hidden); 17] = [
    ("hidden_none", |_| 0),
    ("hidden_global_offset_x", |_| 0),
    ("hidden_global_offset_y", |_| 0),
    ("hidden_global_offset_z", |_| 0),
    ("hidden_block_count_x", |s| s.groups[0].into()),
    ("hidden_block_count_y", |s| s.groups[1].into()),
    ("hidden_block_count_z", |s| s.groups[2].into()),
    ("hidden_group_size_x", |s| s.threads[0].into()),
    ("hidden_group_size_y", |s| s.threads[1].into()),
    ("hidden_group_size_z", |s| s.threads[2].into()),
    // Only whole work-groups are launched.
    ("hidden_remainder_x", |_| 0),
    ("hidden_remainder_y", |_| 0),
    ("hidden_remainder_z", |_| 0),
    ("hidden_grid_dims", |s| s.dims().into()),
    ("hidden_shared_base", |s| s.shared_base.into()),
    ("hidden_private_base", |s| s.private_base.into()),
    ("hidden_dynamic_lds_size", |s| s.dynamic_lds.into()),
];

/// Hidden arguments that are addresses of what only some launches have; others get 0.
const ABSENT: [&str; 2] = ["hidden_multigrid_sync_arg", "hidden_queue_ptr"];

impl Shape {
    /// Axes up to the last with more than one thread, at least one.
    pub(super) fn dims(&self) -> u16 {
        let more = |axis: usize| self.groups[axis] > 1 || self.threads[axis] > 1;
        match (more(1), more(2)) {
            (_, true) => 3,
            (true, false) => 2,
            (false, false) => 1,
        }
    }
}

/// The segment's bytes; `place` gives the address of the buffer that an argument is, `lds` the first byte of LDS behind the
/// kernel's own.
pub(super) fn segment(
    kernel: &Kernel,
    values: &[Value],
    shape: &Shape,
    mut lds: u32,
    mut place: impl FnMut(usize, &Value) -> Result<u64, KernelError>,
) -> Result<Vec<u8>, KernelError> {
    if kernel.kernarg_bytes > MAX_BYTES {
        let what = "has an argument segment above 64 KiB";
        return Err(KernelError::Descriptor { kernel: kernel.name.clone(), what });
    }
    check_count(kernel, values)?;
    let mut segment = vec![0; kernel.kernarg_bytes as usize];
    let own = kernel.arguments.iter().filter(|a| !a.is_hidden());
    for (index, (argument, value)) in own.zip(values).enumerate() {
        check_kind(index, argument, value)?;
        let bytes = match value {
            Value::Bytes(bytes) => bytes.clone(),
            Value::Buffer { .. } => place(index, value)?.to_le_bytes().to_vec(),
            Value::Shared(bytes) => {
                let at = lds.next_multiple_of(16);
                lds = at.saturating_add(*bytes);
                at.to_le_bytes().to_vec()
            }
        };
        put(&mut segment, index, argument, &bytes)?;
    }
    for (index, argument) in kernel.arguments.iter().enumerate().filter(|(_, a)| a.is_hidden()) {
        let value = hidden(kernel, argument, shape)?.to_le_bytes();
        put(&mut segment, index, argument, value.get(..argument.bytes as usize).unwrap_or(&value))?;
    }
    Ok(segment)
}

fn check_count(kernel: &Kernel, values: &[Value]) -> Result<(), KernelError> {
    let own: Vec<String> = kernel.arguments.iter().filter(|a| !a.is_hidden()).map(Argument::title).collect();
    if own.len() == values.len() {
        return Ok(());
    }
    let wanted =
        if own.is_empty() { "none".to_owned() } else { format!("{}: {}", own.len(), own.join(", ")) };
    Err(KernelError::Count { kernel: kernel.name.clone(), given: values.len(), wanted })
}

/// Kinds of arguments that buffers are for.
const POINTERS: [&str; 2] = ["global_buffer", "pipe"];

fn check_kind(index: usize, argument: &Argument, value: &Value) -> Result<(), KernelError> {
    let kind = argument.kind.as_str();
    let what = match value {
        Value::Buffer { .. } if POINTERS.contains(&kind) => return Ok(()),
        Value::Bytes(_) if kind == "by_value" => return Ok(()),
        Value::Shared(_) if kind == "dynamic_shared_pointer" => return Ok(()),
        Value::Buffer { .. } => "a buffer",
        Value::Bytes(_) => "a number",
        Value::Shared(_) => "LDS",
    };
    Err(mismatch(index, argument, format!("is given {what}, but is of kind {kind}")))
}

fn mismatch(index: usize, argument: &Argument, what: String) -> KernelError {
    KernelError::Argument { index, name: argument.title(), what }
}

fn put(segment: &mut [u8], index: usize, argument: &Argument, bytes: &[u8]) -> Result<(), KernelError> {
    if bytes.len() != argument.bytes as usize {
        let what = format!("is given {} bytes, but has {}", bytes.len(), argument.bytes);
        return Err(mismatch(index, argument, what));
    }
    let start = argument.offset as usize;
    match segment.get_mut(start..start + bytes.len()) {
        Some(place) => place.copy_from_slice(bytes),
        None => return Err(mismatch(index, argument, "lies outside the argument segment".to_owned())),
    }
    Ok(())
}

fn hidden(kernel: &Kernel, argument: &Argument, shape: &Shape) -> Result<u64, KernelError> {
    let kind = argument.kind.as_str();
    if ABSENT.contains(&kind) {
        return Ok(0);
    }
    let value = HIDDEN.iter().find(|(name, _)| *name == kind).map(|(_, value)| value(shape));
    let what = || format!("the hidden argument {kind}");
    value.ok_or_else(|| KernelError::Unsupported { kernel: kernel.name.clone(), what: what() })
}
