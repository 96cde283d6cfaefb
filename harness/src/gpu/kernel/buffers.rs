//! Buffer objects and addresses.

use std::sync::Arc;

use guestwave_cp::canonical;

use super::{Call, Done, EINVAL, EMFILE, ENOENT, ENOMEM, Errno};
use crate::capture::{PAGE_BYTES, VA_KINDS, VA_WRITABLE, VaKind, VaOp};
use crate::gpu::exports::Object;
use crate::gpu::file::{OpenFile, State};
use crate::gpu::lock;
use crate::gpu::store::{Bo, Wanted};
use crate::memory::map::Mapping;

/// Memory domains of buffer objects: CPU, GTT, video memory. The others are on-chip memories, which are not there.
const DOMAINS: u64 = 7;

/// What drivers tell one another about a buffer object: flags, tiling, and up to 64 dwords.
#[derive(Clone, Debug, Default)]
pub(in crate::gpu) struct Metadata(Vec<u8>);

/// Bytes of flags, tiling, size and dwords.
const METADATA_BYTES: usize = 8 + 8 + 4 + 256;

/// GEM_CREATE: bytes, alignment, domains, flags; out comes the handle at 0.
pub(super) fn create(file: &OpenFile, call: &mut Call) -> Done {
    let [size, alignment, domains, flags] = [0, 8, 16, 24].map(|at| call.u64(at));
    if domains & !DOMAINS != 0 {
        file.device.report.unanswered(&format!("buffer objects in on-chip memory (domains {domains:#x})"));
        return Err(EINVAL);
    }
    let bo = file.device.store.create(&Wanted { size, domains, flags, alignment }).ok_or(ENOMEM)?;
    let mut state = lock(&file.state);
    let handle = take_in(file, &mut state, bo)?;
    call.put_u64(0, u64::from(handle));
    Ok(())
}

fn take_in(file: &OpenFile, state: &mut State, bo: Arc<Bo>) -> Result<u32, Errno> {
    let handle = state.buffers.insert(Arc::clone(&bo)).ok_or(ENOMEM)?;
    if let Some(recorder) = &file.device.recorder {
        recorder.created(file.number, &bo, handle);
    }
    Ok(handle)
}

/// The buffer object of a handle.
pub(super) fn buffer(state: &State, handle: u32) -> Result<Arc<Bo>, Errno> {
    state.buffers.get(handle).cloned().ok_or(ENOENT)
}

/// GEM_CLOSE: handle at 0. Its mappings in this file's address space go as well.
pub(super) fn close(file: &OpenFile, call: &mut Call) -> Done {
    let mut state = lock(&file.state);
    let bo = state.buffers.remove(call.u32(0)).ok_or(EINVAL)?;
    if state.map.iter().any(|m| Arc::ptr_eq(&m.buffer, &bo)) {
        Arc::make_mut(&mut state.map).remove(0..canonical(u64::MAX) + 1, Some(bo.number));
    }
    if let Some(recorder) = &file.device.recorder {
        recorder.freed(file.number, bo.number);
    }
    Ok(())
}

/// GEM_MMAP: handle at 0; out comes the offset at which the node shows the buffer object.
pub(super) fn map(file: &OpenFile, call: &mut Call) -> Done {
    let bo = buffer(&lock(&file.state), call.u32(0))?;
    call.put_u64(0, bo.range().start);
    Ok(())
}

/// GEM_METADATA: handle at 0, set (1) or get (2) at 4, data from 8.
pub(super) fn metadata(file: &OpenFile, call: &mut Call) -> Done {
    let bo = buffer(&lock(&file.state), call.u32(0))?;
    let mut metadata = lock(&bo.metadata);
    match call.u32(4) {
        1 => metadata.0 = call.structure.get(8..8 + METADATA_BYTES).ok_or(EINVAL)?.to_vec(),
        2 => call.put(8, &metadata.0),
        _ => return Err(EINVAL),
    }
    Ok(())
}

/// GEM_OP: handle at 0, operation at 4: 0 tells how the buffer object was made, 1 says where it had better be.
pub(super) fn operation(file: &OpenFile, call: &mut Call) -> Done {
    let bo = buffer(&lock(&file.state), call.u32(0))?;
    match call.u32(4) {
        0 => {
            let Wanted { alignment, domains, flags, .. } = bo.wanted;
            let told: Vec<u8> =
                [bo.size, alignment, domains, flags].iter().flat_map(|v| v.to_le_bytes()).collect();
            call.output(0, &told);
            Ok(())
        }
        1 => Ok(()),
        _ => Err(EINVAL),
    }
}

/// `AMDGPU_VM_PAGE_PRT`: addresses that are set apart without memory behind them. They are taken out of the address space, so that a
/// program that reaches there is refused by name.
const SPARSE: u32 = 1 << 4;

/// GEM_VA: handle at 0, operation at 8, page flags at 12, address at 16, offset at 24, size at 32.
pub(super) fn va(file: &OpenFile, call: &mut Call) -> Done {
    let (handle, flags) = (call.u32(0), call.u32(12));
    let kind = VA_KINDS.iter().find(|(n, _)| *n == call.u32(8)).ok_or(EINVAL)?.1;
    let kind = if flags & SPARSE != 0 { VaKind::Clear } else { kind };
    let [va, offset, size] = [16, 24, 32].map(|at| call.u64(at));
    let page = PAGE_BYTES as u64;
    let aligned = [va, offset, size].iter().all(|n| n.is_multiple_of(page));
    if !aligned
        || size == 0
        || canonical(va).checked_add(size).is_none_or(|end| end > canonical(u64::MAX) + 1)
    {
        return Err(EINVAL);
    }
    let mut state = lock(&file.state);
    let bo = match kind {
        VaKind::Clear => None,
        // What is given up may be sparse.
        VaKind::Unmap if handle == 0 => None,
        _ => Some(buffer(&state, handle)?),
    };
    let kind = if bo.is_none() { VaKind::Clear } else { kind };
    let op = VaOp { bo: bo.as_ref().map_or(0, |bo| bo.number), kind, flags, va, offset, size };
    change_addresses(&mut state, &op, bo)?;
    if let Some(recorder) = &file.device.recorder {
        recorder.va(file.number, op);
    }
    Ok(())
}

/// The most mappings of an address space.
const MOST_MAPPINGS: usize = 1 << 18;

/// Makes a new version of the address space; submissions that hold on to the old one keep it.
fn change_addresses(state: &mut State, op: &VaOp, bo: Option<Arc<Bo>>) -> Done {
    let start = canonical(op.va);
    let range = start..start + op.size;
    let taken = || state.map.iter().any(|m| m.range.start < range.end && range.start < m.range.end);
    match (op.kind, bo) {
        (VaKind::Map, _) if taken() => return Err(EINVAL),
        (VaKind::Map | VaKind::Replace, _) if state.map.iter().len() >= MOST_MAPPINGS => return Err(ENOMEM),
        (VaKind::Map | VaKind::Replace, Some(buffer)) => {
            buffer.part(op.offset, op.size).ok_or(EINVAL)?;
            let writable = op.flags & VA_WRITABLE != 0;
            Arc::make_mut(&mut state.map).insert(Mapping { range, buffer, offset: op.offset, writable });
        }
        (VaKind::Unmap, Some(buffer)) => {
            Arc::make_mut(&mut state.map).remove(range, Some(buffer.number));
        }
        _ => drop(Arc::make_mut(&mut state.map).remove(range, None)),
    }
    Ok(())
}

/// PRIME_HANDLE_TO_FD: handle at 0, descriptor at 8.
pub(super) fn to_descriptor(file: &OpenFile, call: &mut Call) -> Done {
    let bo = buffer(&lock(&file.state), call.u32(0))?;
    let descriptor = file.device.exports.export(file.number, Object::Buffer(bo)).map_err(|_| EMFILE)?;
    call.put_u32(8, descriptor);
    Ok(())
}

/// PRIME_FD_TO_HANDLE: handle at 0. A buffer object that the file knows already keeps its handle.
pub(super) fn from_descriptor(file: &OpenFile, call: &mut Call) -> Done {
    let Some(Object::Buffer(bo)) = file.device.exports.find(call.inode) else { return Err(EINVAL) };
    let mut state = lock(&file.state);
    let known = state.buffers.find(|known| Arc::ptr_eq(known, &bo));
    let handle = match known {
        Some(handle) => handle,
        None => take_in(file, &mut state, bo)?,
    };
    call.put_u32(0, handle);
    Ok(())
}
