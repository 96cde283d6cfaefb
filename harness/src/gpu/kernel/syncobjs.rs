//! Synchronization objects.

use std::sync::Arc;

use super::{Call, Done, EINVAL, EMFILE, ENOENT, ENOMEM, Errno};
use crate::gpu::exports::Object;
use crate::gpu::file::{OpenFile, State};
use crate::gpu::lock;
use crate::gpu::progress::{Deadline, Fence};
use crate::gpu::syncobj::{Standing, Syncobj};

/// The object of a handle.
pub(super) fn object(state: &State, handle: u32) -> Result<Arc<Syncobj>, Errno> {
    state.syncobjs.get(handle).cloned().ok_or(ENOENT)
}

/// The object of a handle, which takes another point.
pub(super) fn object_with_room(state: &State, handle: u32) -> Result<Arc<Syncobj>, Errno> {
    let object = object(state, handle)?;
    if object.is_full() { Err(ENOMEM) } else { Ok(object) }
}

/// The objects of handles.
pub(super) fn objects(file: &OpenFile, handles: &[u32]) -> Result<Vec<Arc<Syncobj>>, Errno> {
    let state = lock(&file.state);
    handles.iter().map(|handle| object(&state, *handle)).collect()
}

/// SYNCOBJ_CREATE: handle at 0, flags at 4: 1 makes it signalled.
pub(super) fn create(file: &OpenFile, call: &mut Call) -> Done {
    let object = Syncobj::new(call.u32(4) & 1 != 0);
    let handle = lock(&file.state).syncobjs.insert(object).ok_or(ENOMEM)?;
    call.put_u32(0, handle);
    Ok(())
}

/// SYNCOBJ_DESTROY: handle at 0.
pub(super) fn destroy(file: &OpenFile, call: &mut Call) -> Done {
    lock(&file.state).syncobjs.remove(call.u32(0)).map(drop).ok_or(EINVAL)
}

/// SYNCOBJ_RESET: handles.
pub(super) fn reset(file: &OpenFile, call: &mut Call) -> Done {
    objects(file, &call.words(0))?.iter().for_each(|o| o.reset());
    file.device.progress.changed();
    Ok(())
}

/// SYNCOBJ_SIGNAL: handles.
pub(super) fn signal(file: &OpenFile, call: &mut Call) -> Done {
    objects(file, &call.words(0))?.iter().for_each(|o| o.replace(Fence::completed()));
    file.device.progress.changed();
    Ok(())
}

/// SYNCOBJ_TIMELINE_SIGNAL: handles, points.
pub(super) fn signal_timelines(file: &OpenFile, call: &mut Call) -> Done {
    let objects = objects(file, &call.words(0))?;
    let mut done = Ok(());
    for (object, point) in objects.iter().zip(call.longs(1)) {
        if object.is_full() {
            done = Err(ENOMEM);
            break;
        }
        object.put(point, Fence::completed());
    }
    file.device.progress.changed();
    done
}

/// SYNCOBJ_QUERY: handles, room for points, flags at 20: 1 asks for what was submitted.
pub(super) fn query(file: &OpenFile, call: &mut Call) -> Done {
    let submitted = call.u32(20) & 1 != 0;
    let objects = objects(file, &call.words(0))?;
    let points: Vec<u8> = objects.iter().flat_map(|o| o.reached(submitted).to_le_bytes()).collect();
    call.output(1, &points);
    Ok(())
}

/// SYNCOBJ_TRANSFER: from handle at 0, to handle at 4, from point at 8, to point at 16, flags at 24: 2 waits until something is there.
pub(super) fn transfer(file: &OpenFile, call: &mut Call) -> Done {
    let both = objects(file, &[call.u32(0), call.u32(4)])?;
    let [from, to] = both.as_slice() else { return Err(EINVAL) };
    if to.is_full() {
        return Err(ENOMEM);
    }
    let (from_point, to_point) = (call.u64(8), call.u64(16));
    let wait = call.u32(24) & 2 != 0;
    let moved = || to.transfer(to_point, from, from_point).then_some(true);
    let ended = || moved().or_else(|| (!wait || file.is_closed()).then_some(false));
    let moved = file.device.progress.wait(Deadline::Never, ended).unwrap_or(false);
    file.device.progress.changed();
    moved.then_some(()).ok_or(EINVAL)
}

/// SYNCOBJ_HANDLE_TO_FD: handle at 0, flags at 4, descriptor at 8. With flag 1 the descriptor stands for what is in the object now, and
/// such a descriptor can be polled: it is given when its fence has completed.
pub(super) fn to_descriptor(file: &OpenFile, call: &mut Call) -> Done {
    let object = object(&lock(&file.state), call.u32(0))?;
    let exported = match call.u32(4) & 1 {
        0 => object,
        _ => completed(file, &object)?,
    };
    let descriptor =
        file.device.exports.export(file.number, Object::Syncobj(exported)).map_err(|_| EMFILE)?;
    call.put_u32(8, descriptor);
    Ok(())
}

fn completed(file: &OpenFile, object: &Syncobj) -> Result<Arc<Syncobj>, Errno> {
    let fences = object.fences(0).ok_or(EINVAL)?;
    let ready = || (file.is_closed() || fences.iter().all(|f| f.is_done())).then_some(());
    file.device.progress.wait(Deadline::Never, ready);
    Ok(Syncobj::new(true))
}

/// SYNCOBJ_FD_TO_HANDLE: handle at 0, flags at 4. With flag 1 the descriptor's fence goes into the object of the handle.
pub(super) fn from_descriptor(file: &OpenFile, call: &mut Call) -> Done {
    let Some(Object::Syncobj(found)) = file.device.exports.find(call.inode) else { return Err(EINVAL) };
    if call.u32(4) & 1 != 0 {
        let into = object(&lock(&file.state), call.u32(0))?;
        let moved = into.transfer(0, &found, 0);
        file.device.progress.changed();
        return moved.then_some(()).ok_or(EINVAL);
    }
    let handle = lock(&file.state).syncobjs.insert(found).ok_or(ENOMEM)?;
    call.put_u32(0, handle);
    Ok(())
}

/// FENCE_TO_HANDLE: a submission at 0 (context, engine, instance, ring, number), what to make of it at 24; out comes the handle at 0.
pub(super) fn of_fence(file: &OpenFile, call: &mut Call) -> Done {
    let (context, ring, number) = (call.u32(0), (call.u32(4), call.u32(12)), call.u64(16));
    let object = Syncobj::new(true);
    let mut state = lock(&file.state);
    let fence = state.contexts.get(context).ok_or(EINVAL)?.sequences.get(&ring).and_then(|s| s.fence(number));
    if let Some(fence) = fence {
        object.replace(fence);
    }
    if call.u32(24) != 0 {
        file.device.report.unanswered("AMDGPU_FENCE_TO_HANDLE to a descriptor");
        return Err(EINVAL);
    }
    let handle = state.syncobjs.insert(object).ok_or(ENOMEM)?;
    call.put_u32(0, handle);
    Ok(())
}

/// Where the points of objects stand.
pub(super) fn standings(objects: &[Arc<Syncobj>], points: &[u64]) -> Vec<Standing> {
    let point = |i: usize| points.get(i).copied().unwrap_or(0);
    objects.iter().enumerate().map(|(i, o)| o.standing(point(i))).collect()
}
