//! Contexts and lists of buffer objects.

use super::{Call, Done, EINVAL, ENOENT, ENOMEM, Errno};
use crate::gpu::file::{Context, OpenFile};
use crate::gpu::lock;

/// CTX: operation at 0 (1 allocate, 2 free, 3 and 4 tell of resets, 5 and 6 clock states), context at 8; out comes at 0.
pub(super) fn context(file: &OpenFile, call: &mut Call) -> Done {
    let (operation, number) = (call.u32(0), call.u32(8));
    let mut state = lock(&file.state);
    if operation == 1 {
        let number = state.contexts.insert(Context::default()).ok_or(ENOMEM)?;
        call.put_u64(0, u64::from(number));
        return Ok(());
    }
    state.contexts.get(number).ok_or(EINVAL)?;
    match operation {
        2 => drop(state.contexts.remove(number)),
        // Flags, hangs and a status of 0: nothing was reset.
        3..=6 => call.put(0, &[0; 16]),
        _ => return Err(EINVAL),
    }
    Ok(())
}

/// BO_LIST: operation at 0 (0 create, 1 destroy, 2 update), list at 4, bytes of an entry at 12; entries begin with a handle.
pub(super) fn list(file: &OpenFile, call: &mut Call) -> Done {
    let (operation, number) = (call.u32(0), call.u32(4));
    let handles = handles(call.input(0), call.u32(12) as usize)?;
    let mut state = lock(&file.state);
    if operation != 1 && state.lists.iter().map(|l| l.len() + 1).sum::<usize>() > MOST_LISTED {
        return Err(ENOMEM);
    }
    match operation {
        0 => {
            let number = state.lists.insert(handles).ok_or(ENOMEM)?;
            call.put_u64(0, u64::from(number));
        }
        1 => drop(state.lists.remove(number).ok_or(ENOENT)?),
        2 => *state.lists.get_mut(number).ok_or(ENOENT)? = handles,
        _ => return Err(EINVAL),
    }
    Ok(())
}

/// The most entries of one list, as the kernel has it.
const LONGEST_LIST: usize = 128 << 10;

/// The most lists and entries of all lists of an open file.
const MOST_LISTED: usize = 4 << 20;

/// The first words of entries of this size.
pub(super) fn handles(entries: &[u8], entry: usize) -> Result<Vec<u32>, Errno> {
    let first = |e: &[u8]| e.first_chunk::<4>().map(|b| u32::from_le_bytes(*b));
    let handles: Vec<_> = entries.chunks_exact(entry.max(4)).filter_map(first).collect();
    if handles.len() > LONGEST_LIST { Err(EINVAL) } else { Ok(handles) }
}

/// VM: an address space identifier is reserved or not, which makes no difference here.
pub(super) fn vm(_: &OpenFile, call: &mut Call) -> Done {
    match call.u32(0) {
        1 | 2 => {
            call.put_u64(0, 0);
            Ok(())
        }
        _ => Err(EINVAL),
    }
}

/// SCHED: priorities make no difference.
pub(super) fn schedule(_: &OpenFile, _: &mut Call) -> Done {
    Ok(())
}
