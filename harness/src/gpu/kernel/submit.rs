//! CS: submissions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::contexts::handles;
use super::syncobjs::{object, object_with_room};
use super::{Call, Done, EINVAL, ENOENT, ENOMEM, Errno, buffers, info};
use crate::capture::{Chunk, Fence as FencePlace, IndirectBuffer, Submit};
use crate::gpu::file::{OpenFile, RingNumber, State};
use crate::gpu::lock;
use crate::gpu::progress::{Deadline, Fence};
use crate::gpu::ring::{Job, Wait};
use crate::gpu::store::Bo;
use crate::gpu::syncobj::Syncobj;

/// What the chunks of a submission say.
#[derive(Default)]
struct Wanted {
    ibs: Vec<IndirectBuffer>,
    bos: Vec<Arc<Bo>>,
    waits: Vec<Wait>,
    signals: Vec<(Arc<Syncobj>, u64)>,
    /// Where the sequence number goes, and that place in the memory file.
    fence: Option<(FencePlace, u64)>,
}

type Take = fn(&mut Wanted, &State, &[u32]) -> Done;

/// Chunks by number. 7 waits until something has been scheduled, which a wait for its end covers.
const CHUNKS: [(u32, Take); 9] = [
    (1, Wanted::buffer),
    (2, Wanted::user_fence),
    (3, Wanted::dependencies),
    (4, Wanted::syncobjs_in),
    (5, Wanted::syncobjs_out),
    (LIST, Wanted::list),
    (7, Wanted::dependencies),
    (8, Wanted::points_in),
    (9, Wanted::points_out),
];

impl Wanted {
    /// An IB: flags at word 1, address, bytes, engine, instance, ring.
    fn buffer(&mut self, _: &State, words: &[u32]) -> Done {
        let [_, flags, low, high, bytes, ip_type, ip_instance, ring] = *words else { return Err(EINVAL) };
        let va = u64::from(high) << 32 | u64::from(low);
        self.ibs.push(IndirectBuffer { va, bytes, flags, ip_type, ip_instance, ring });
        Ok(())
    }

    /// The user fence: buffer object and byte.
    fn user_fence(&mut self, state: &State, words: &[u32]) -> Done {
        let [handle, offset] = *words else { return Err(EINVAL) };
        let bo = buffers::buffer(state, handle)?;
        let place = bo.part(u64::from(offset), 8).filter(|_| offset.is_multiple_of(8)).ok_or(EINVAL)?;
        self.fence = Some((FencePlace { used: true, bo: bo.number, offset }, place.start));
        Ok(())
    }

    /// Other submissions: engine, instance, ring, context, number.
    fn dependencies(&mut self, state: &State, words: &[u32]) -> Done {
        for [engine, _, ring, context, low, high] in words.as_chunks().0 {
            let context = state.contexts.get(*context).ok_or(EINVAL)?;
            let number = u64::from(*high) << 32 | u64::from(*low);
            let fence = context.sequences.get(&(*engine, *ring)).and_then(|s| s.fence(number));
            self.waits.extend(fence.map(Wait::Fence));
        }
        Ok(())
    }

    /// Handles of objects whose fences are waited for.
    fn syncobjs_in(&mut self, state: &State, words: &[u32]) -> Done {
        for handle in words {
            let fences = object(state, *handle)?.fences(0).ok_or(EINVAL)?;
            self.waits.extend(fences.into_iter().map(Wait::Fence));
        }
        Ok(())
    }

    /// Handles of objects that get the submission's fence.
    fn syncobjs_out(&mut self, state: &State, words: &[u32]) -> Done {
        for handle in words {
            self.signals.push((object(state, *handle)?, 0));
        }
        Ok(())
    }

    /// The buffer objects: operation, list, count, bytes of an entry, pointer, and then what the pointer leads to.
    fn list(&mut self, state: &State, words: &[u32]) -> Done {
        let Some((head, entries)) = words.split_at_checked(LIST_WORDS) else { return Err(EINVAL) };
        let bytes: Vec<u8> = entries.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.take_list(state, &handles(&bytes, head[3] as usize)?)
    }

    /// Points that are waited for: handle, flags, point. What stands there already is waited for and not what this or a later
    /// submission puts in its place.
    fn points_in(&mut self, state: &State, words: &[u32]) -> Done {
        for [handle, _, low, high] in words.as_chunks().0 {
            let point = u64::from(*high) << 32 | u64::from(*low);
            let object = object(state, *handle)?;
            match object.fences(point) {
                Some(fences) => self.waits.extend(fences.into_iter().map(Wait::Fence)),
                None => self.waits.push(Wait::Point(object, point)),
            }
        }
        Ok(())
    }

    /// Points that get the submission's fence.
    fn points_out(&mut self, state: &State, words: &[u32]) -> Done {
        for [handle, _, low, high] in words.as_chunks().0 {
            let point = u64::from(*high) << 32 | u64::from(*low);
            self.signals.push((object_with_room(state, *handle)?, point));
        }
        Ok(())
    }

    fn take_list(&mut self, state: &State, handles: &[u32]) -> Done {
        for handle in handles {
            self.bos.push(buffers::buffer(state, *handle)?);
        }
        Ok(())
    }

    /// The ring that all buffers are for.
    fn ring(&self) -> Result<RingNumber, Errno> {
        let first = self.ibs.first().ok_or(EINVAL)?;
        let ring = (first.ip_type, first.ring);
        let same = self.ibs.iter().all(|ib| (ib.ip_type, ib.ring) == ring);
        (same && ring.1 < info::rings(ring.0)).then_some(ring).ok_or(EINVAL)
    }
}

/// The chunk that is a list of buffer objects, and its words before the entries.
const LIST: u32 = 6;
const LIST_WORDS: usize = 6;

/// CS: context at 0, list at 4, flags at 12, and chunks; out comes the submission's number in its context and ring.
pub(super) fn submit(file: &OpenFile, call: &mut Call) -> Done {
    let alone = file.device.recorder.as_ref().map(|r| r.alone());
    let (context, list, flags) = (call.u32(0), call.u32(4), call.u32(12));
    let wanted = wanted(file, list, call.chunks())?;
    let number = wanted.ring()?;
    let ring = file.ring(number).map_err(|_| ENOMEM)?;
    let order = ring.order();
    let (job, fence) = job(file, wanted, number, context, flags)?;
    let sequence = job.submit.sequence;
    if let Some(recorder) = &file.device.recorder {
        recorder.submitted(file.number, chunks(job.submit.index, call.chunks()), &job.submit);
    }
    ring.submit(job);
    drop(order);
    if alone.is_some() {
        file.device.progress.wait(Deadline::Never, || (fence.is_done() || file.is_closed()).then_some(()));
    }
    call.put_u64(0, sequence);
    Ok(())
}

fn wanted(file: &OpenFile, list: u32, chunks: &[(u32, Vec<u32>)]) -> Result<Wanted, Errno> {
    let state = lock(&file.state);
    let mut wanted = Wanted::default();
    if list != 0 {
        let handles = state.lists.get(list).ok_or(ENOENT)?;
        wanted.take_list(&state, handles)?;
    }
    for (id, words) in chunks {
        let Some((_, take)) = CHUNKS.iter().find(|(n, _)| n == id) else {
            file.device.report.unanswered(&format!("submission chunk {id:#x}"));
            return Err(EINVAL);
        };
        take(&mut wanted, &state, words)?;
    }
    // One that is named twice is used once.
    wanted.bos.sort_by_key(|bo| bo.number);
    wanted.bos.dedup_by_key(|bo| bo.number);
    Ok(wanted)
}

/// Makes the job, gives it its number, and puts its fence where it is wanted.
fn job(
    file: &OpenFile,
    wanted: Wanted,
    ring: RingNumber,
    context: u32,
    flags: u32,
) -> Result<(Job, Arc<Fence>), Errno> {
    let fence = Fence::new();
    let mut state = lock(&file.state);
    let sequences = &mut state.contexts.get_mut(context).ok_or(EINVAL)?.sequences;
    let sequence = sequences.entry(ring).or_default().next(&fence);
    let Wanted { ibs, bos, waits, signals, fence: place } = wanted;
    bos.iter().for_each(|bo| bo.used_by(&fence));
    signals.iter().for_each(|(object, point)| object.put(*point, Arc::clone(&fence)));
    let submit = Submit {
        index: file.device.submissions.fetch_add(1, Ordering::Relaxed),
        context,
        ip_type: ring.0,
        ring: ring.1,
        sequence,
        flags,
        ibs,
        bos: bos.iter().map(|bo| bo.number).collect(),
        fence: place.map_or(FencePlace { used: false, bo: 0, offset: 0 }, |(fence, _)| fence),
    };
    let user_fence = place.map(|(_, at)| at);
    let map = Arc::clone(&state.map);
    let job = Job { file: file.number, submit, map, waits, fence: Arc::clone(&fence), user_fence };
    drop(state);
    file.device.progress.changed();
    Ok((job, fence))
}

/// The chunks as a capture has them.
fn chunks(submission: u32, chunks: &[(u32, Vec<u32>)]) -> Vec<Chunk> {
    let own = |id, words: &[u32]| match id {
        LIST => words[..words.len().min(LIST_WORDS)].to_vec(),
        _ => words.to_vec(),
    };
    chunks.iter().map(|(id, words)| Chunk { submission, id: *id, words: own(*id, words) }).collect()
}
