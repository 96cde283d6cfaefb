//! All that the compiler cannot check: running generated code, and reaching memory that it and the embedder share.
//!
//! # Invariants
//!
//! 1. [`HostMemory`] only comes from a [`HostSpan`], for whose validity during the borrow the embedder answers, or from a [`Buffer`]
//!    that outlives it. Every access through it is checked against its length.
//!    A span is kept longer only in [`KeptSpans`], which gives it out again only to the memory that gave it and while that says that
//!    its mappings are the same; windows that are left open go when these spans do.
//! 2. Memory that generated code or other threads of the embedder may touch is only ever reached through raw pointers, with
//!    atomic operations where others may touch it at the same time; no reference to it is ever made.
//! 3. Generated code comes from programs that passed `verify`. It touches: the [`Context`] it is given, which names the worker that
//!    has it while its code runs; the `Site`s of its own accesses; its frame, which is as long as its plan says; parameters, tables,
//!    LDS and scratch inside their lengths; and guest memory at `host + i` for `i` below a site's limit. It calls the helpers of
//!    accesses through the generator's gate alone, which gives back every register as it was. [`Code::run`] checks the lengths that
//!    it is given.
//! 4. A site's limit is above 0 only while the memory behind it is valid: a launch begins with sites that were filled since
//!    spans were last forgotten, or with empty ones, and those that store are empty if windows were closed since.
//! 5. Code lives until its library and all handles to it are gone.
#![expect(
    unsafe_code,
    reason = "this is the one place for it; the invariants above say why each use is sound"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use cranelift_codegen::ir::{Type, types};
use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use guestwave_cp::{GuestMemory, HostSpan, MappingState};

use crate::fma;
use crate::lower::{Context, status};
use crate::run::{Span, Worker};

/// Owned memory that generated code may touch, zero at first and aligned for vectors and cache lines.
#[derive(Debug)]
pub(crate) struct Buffer<T: Copy> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: a buffer owns its memory alone, and its elements are plain data.
unsafe impl<T: Copy> Send for Buffer<T> {}

impl<T: Copy> Buffer<T> {
    /// `len` elements, all bytes 0.
    pub(crate) fn zeroed(len: usize) -> Self {
        let Some(layout) = Self::layout(len) else { return Buffer { start: NonNull::dangling(), len: 0 } };
        // SAFETY: the layout's size is not 0.
        let start = unsafe { alloc_zeroed(layout) };
        match NonNull::new(start.cast()) {
            Some(start) => Buffer { start, len },
            None => handle_alloc_error(layout),
        }
    }

    fn layout(len: usize) -> Option<Layout> {
        let bytes = len.checked_mul(size_of::<T>()).filter(|b| *b > 0)?;
        Layout::from_size_align(bytes, 64.max(align_of::<T>())).ok()
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The first element's address.
    pub(crate) fn start(&self) -> *mut T {
        self.start.as_ptr()
    }

    /// Makes the buffer at least `len` elements long; its contents are lost if it was shorter.
    pub(crate) fn at_least(&mut self, len: usize) {
        if self.len < len {
            *self = Self::zeroed(len);
        }
    }

    /// Element `at`, if there is one.
    pub(crate) fn get(&self, at: usize) -> Option<T> {
        // SAFETY: inside; generated code of this thread does not run at the same time.
        (at < self.len).then(|| unsafe { self.start().add(at).read() })
    }

    /// Sets element `at`, if there is one.
    pub(crate) fn set(&mut self, at: usize, to: T) {
        if at < self.len {
            // SAFETY: inside, and as for `get`.
            unsafe { self.start().add(at).write(to) };
        }
    }
}

impl Buffer<u64> {
    /// Sets all elements to 0.
    pub(crate) fn clear(&mut self) {
        // SAFETY: inside, and as for `get`.
        unsafe { self.start().write_bytes(0, self.len) };
    }
}

impl Buffer<u8> {
    /// Sets `len` bytes from `at` to 0, as far as there are so many.
    pub(crate) fn clear_part(&mut self, at: usize, len: usize) {
        let at = at.min(self.len);
        let len = len.min(self.len - at);
        // A store of nothing to where nothing is mapped costs hosts with masked stores more than one of many bytes.
        if len > 0 {
            // SAFETY: inside, and as for `get`.
            unsafe { self.start().add(at).write_bytes(0, len) };
        }
    }

    /// The buffer as memory. It must outlive all uses, which its owner sees to by dropping both together.
    pub(crate) fn memory(&self) -> HostMemory<'static> {
        HostMemory { start: self.start(), len: self.len as u64, owner: PhantomData }
    }
}

impl<T: Copy> Drop for Buffer<T> {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.len) {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }
}

/// Host bytes behind guest addresses. Others may touch them at any time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostMemory<'m> {
    start: *mut u8,
    len: u64,
    owner: PhantomData<&'m [AtomicU8]>,
}

// SAFETY: every access through it is atomic.
unsafe impl Send for HostMemory<'_> {}
// SAFETY: as above.
unsafe impl Sync for HostMemory<'_> {}

impl<'m> HostMemory<'m> {
    /// The bytes of a span that `_memory` gave.
    pub(crate) fn of_span(span: &HostSpan, _memory: &'m dyn guestwave_cp::GuestMemory) -> Self {
        HostMemory { start: span.host.as_ptr(), len: span.len, owner: PhantomData }
    }

    /// The same memory for who keeps it together with the spans that it is of, and drops it when these are forgotten.
    pub(crate) fn kept(self) -> HostMemory<'static> {
        HostMemory { start: self.start, len: self.len, owner: PhantomData }
    }

    /// Bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The first byte's address.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    /// `len` bytes from `at`, less what does not exist.
    pub(crate) fn part(&self, at: u64, len: u64) -> Self {
        let at = at.min(self.len);
        let len = len.min(self.len - at);
        // SAFETY: `at` is inside or one past the end.
        HostMemory { start: unsafe { self.start.add(at as usize) }, len, owner: PhantomData }
    }

    /// Fills `into` from `at`; gives whether all of it exists.
    pub(crate) fn read(&self, at: u64, into: &mut [u8]) -> bool {
        let from = self.part(at, into.len() as u64);
        if from.len < into.len() as u64 {
            return false;
        }
        // SAFETY: `from` is as long as `into`, and the destination is a reference's.
        unsafe { from.copy_out(into) };
        true
    }

    /// # Safety
    /// The memory is at least as long as `into`.
    unsafe fn copy_out(&self, into: &mut [u8]) {
        let head = self.start.align_offset(8).min(into.len());
        let (head, rest) = into.split_at_mut(head);
        let words = head.len();
        let (chunks, tail) = rest.as_chunks_mut::<8>();
        let last = words + chunks.len() * 8;
        // SAFETY: all offsets are below `into.len()`, and words start where their address is a multiple of 8.
        unsafe {
            for (i, byte) in head.iter_mut().enumerate() {
                *byte = self.byte(i);
            }
            for (i, chunk) in chunks.iter_mut().enumerate() {
                let word = AtomicU64::from_ptr(self.start.add(words + 8 * i).cast());
                *chunk = word.load(Ordering::Relaxed).to_ne_bytes();
            }
            for (i, byte) in tail.iter_mut().enumerate() {
                *byte = self.byte(last + i);
            }
        }
    }

    /// # Safety
    /// `at` is inside.
    unsafe fn byte(&self, at: usize) -> u8 {
        // SAFETY: inside; bytes are always aligned.
        unsafe { AtomicU8::from_ptr(self.start.add(at)).load(Ordering::Relaxed) }
    }

    /// Writes `bytes` at `at` and touches no other byte; gives whether all of them exist, else nothing is written.
    pub(crate) fn write(&self, at: u64, bytes: &[u8]) -> bool {
        let to = self.part(at, bytes.len() as u64);
        if to.len < bytes.len() as u64 {
            return false;
        }
        // SAFETY: `to` is as long as `bytes`, and the source is a reference's.
        unsafe { to.copy_in(bytes) };
        true
    }

    /// # Safety
    /// The memory is at least as long as `bytes`.
    unsafe fn copy_in(&self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(self.start.align_offset(4).min(bytes.len()));
        let (words, tail) = rest.as_chunks::<4>();
        // SAFETY: all offsets are below `bytes.len()`, and words start where their address is a multiple of 4.
        unsafe {
            for (i, byte) in head.iter().enumerate() {
                AtomicU8::from_ptr(self.start.add(i)).store(*byte, Ordering::Relaxed);
            }
            for (i, word) in words.iter().enumerate() {
                let to = AtomicU32::from_ptr(self.start.add(head.len() + 4 * i).cast());
                to.store(u32::from_ne_bytes(*word), Ordering::Relaxed);
            }
            let last = head.len() + 4 * words.len();
            for (i, byte) in tail.iter().enumerate() {
                AtomicU8::from_ptr(self.start.add(last + i)).store(*byte, Ordering::Relaxed);
            }
        }
    }

    /// Replaces the dword at `at` by `f` of it; gives what was there, or `None` if it is not inside. Atomic where the host's
    /// address is a multiple of 4.
    pub(crate) fn update_u32(&self, at: u64, mut f: impl FnMut(u32) -> u32) -> Option<u32> {
        let unit = self.part(at, 4);
        if unit.len < 4 {
            return None;
        }
        if !unit.start.cast::<u32>().is_aligned() {
            let mut bytes = [0; 4];
            unit.read(0, &mut bytes);
            let old = u32::from_le_bytes(bytes);
            unit.write(0, &f(old).to_le_bytes());
            return Some(old);
        }
        // SAFETY: inside and aligned.
        let atomic = unsafe { AtomicU32::from_ptr(unit.start.cast()) };
        let f = |old: u32| Some(f(u32::from_le(old)).to_le());
        atomic.fetch_update(Ordering::SeqCst, Ordering::SeqCst, f).ok().map(u32::from_le)
    }

    /// Replaces the 64-bit word at `at` likewise; atomic where the host's address is a multiple of 8.
    pub(crate) fn update_u64(&self, at: u64, mut f: impl FnMut(u64) -> u64) -> Option<u64> {
        let unit = self.part(at, 8);
        if unit.len < 8 {
            return None;
        }
        if !unit.start.cast::<u64>().is_aligned() {
            let mut bytes = [0; 8];
            unit.read(0, &mut bytes);
            let old = u64::from_le_bytes(bytes);
            unit.write(0, &f(old).to_le_bytes());
            return Some(old);
        }
        // SAFETY: inside and aligned.
        let atomic = unsafe { AtomicU64::from_ptr(unit.start.cast()) };
        let f = |old: u64| Some(f(u64::from_le(old)).to_le());
        atomic.fetch_update(Ordering::SeqCst, Ordering::SeqCst, f).ok().map(u64::from_le)
    }
}

/// Spans that a memory gave, kept while its mappings stay what they are.
pub(crate) struct KeptSpans {
    of: Option<MappingState>,
    /// By first address.
    spans: Vec<HostSpan>,
    /// Where the last address was found.
    last: usize,
    epoch: u64,
}

// SAFETY: the spans' pointers are only followed through `HostMemory`.
unsafe impl Send for KeptSpans {}

impl Default for KeptSpans {
    fn default() -> Self {
        KeptSpans { of: None, spans: Vec::new(), last: 0, epoch: 1 }
    }
}

impl KeptSpans {
    /// Forgets what another memory gave, or this one when its mappings were others.
    pub(crate) fn turn_to(&mut self, memory: &dyn GuestMemory) {
        let now = memory.mappings();
        if now.is_none() || now != self.of {
            self.forget();
            self.of = now;
        }
    }

    /// Forgets all spans.
    pub(crate) fn forget(&mut self) {
        self.spans.clear();
        self.of = None;
        self.epoch += 1;
    }

    /// How often spans were forgotten, from 1 on.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The span of `memory`, which is the one last turned to, that contains `address` (48 bits), if it offers one.
    pub(crate) fn at<'m>(&mut self, address: u64, memory: &'m dyn GuestMemory) -> Option<Span<'m>> {
        if let Some(found) = self.spans.get(self.last).filter(|s| contains(s, address)) {
            return Some(span_of(found, memory));
        }
        let place = self.spans.partition_point(|s| s.guest <= address);
        self.last = place.saturating_sub(1);
        if let Some(found) = self.spans.get(self.last).filter(|s| contains(s, address)) {
            return Some(span_of(found, memory));
        }
        let span = memory.host_span(address).filter(|s| contains(s, address))?;
        let place = self.spans.partition_point(|s| s.guest <= span.guest);
        self.spans.insert(place, span);
        self.last = place;
        Some(span_of(&span, memory))
    }
}

fn contains(span: &HostSpan, address: u64) -> bool {
    address.wrapping_sub(span.guest) < span.len
}

fn span_of<'m>(span: &HostSpan, memory: &'m dyn GuestMemory) -> Span<'m> {
    let host = HostMemory::of_span(span, memory);
    Span { guest: span.guest, host, writable: span.writable, copy: false }
}

/// The record that generated code works on: one element, whose pointers whoever runs code sets before.
pub(crate) struct Desk(Buffer<Context>);

impl Default for Desk {
    fn default() -> Self {
        Desk(Buffer::zeroed(1))
    }
}

impl Deref for Desk {
    type Target = Context;

    fn deref(&self) -> &Context {
        // SAFETY: there is one element, of which all bytes 0 are a value; code that touches it runs while nobody holds this.
        unsafe { &*self.0.start() }
    }
}

impl DerefMut for Desk {
    fn deref_mut(&mut self) -> &mut Context {
        // SAFETY: as for `deref`.
        unsafe { &mut *self.0.start() }
    }
}

/// The module that owns all generated code. It is freed with the last handle to its code.
pub(crate) struct Library {
    module: ManuallyDrop<JITModule>,
    users: Arc<()>,
}

impl Library {
    pub(crate) fn new(module: JITModule) -> Self {
        Library { module: ManuallyDrop::new(module), users: Arc::new(()) }
    }

    /// The module, to add code to.
    pub(crate) fn module(&mut self) -> &mut JITModule {
        &mut self.module
    }

    /// A finished function of the module, which must have the signature of a wave's code.
    pub(crate) fn code(&self, id: FuncId) -> Code {
        Code { entry: self.module.get_finalized_function(id) as usize, _library: Arc::clone(&self.users) }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the module is not used after this.
        let module = unsafe { ManuallyDrop::take(&mut self.module) };
        if Arc::strong_count(&self.users) == 1 {
            // SAFETY: no handle to any of its code is left. Otherwise it is leaked.
            unsafe { module.free_memory() };
        }
    }
}

type Entry = unsafe extern "C" fn(*mut Context, *mut u8) -> u32;

/// A program's code.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    entry: usize,
    _library: Arc<()>,
}

impl Code {
    /// Runs one wave to its next barrier or its end; `frame` is the byte at which its frame of `frame_bytes` bytes starts. Gives a
    /// [`status`].
    pub(crate) fn run(&self, worker: &mut Worker<'_>, frame: usize, frame_bytes: usize) -> u32 {
        let fits = frame.checked_add(frame_bytes).is_some_and(|end| end <= worker.own.frames.len());
        if !fits || worker.refuses_to_run() {
            return status::FAULT;
        }
        let frame = worker.own.frames.start().wrapping_add(frame);
        let context = worker.own.context.0.start();
        let worker: *mut Worker<'_> = worker;
        // SAFETY: the entry is a finished function with this signature, alive by `_library`. The context is the worker's
        // own and names it. Lengths were checked above; `refuses_to_run` checks the others of the invariants.
        unsafe {
            (*context).worker = worker.cast();
            let entry = std::mem::transmute::<usize, Entry>(self.entry);
            entry(context, frame)
        }
    }
}

/// The address of a helper.
#[derive(Clone, Copy)]
pub(crate) struct Address(*const u8);

// SAFETY: the address of a function.
unsafe impl Sync for Address {}

impl Address {
    pub(crate) fn get(self) -> *const u8 {
        self.0
    }
}

/// A function that generated code calls.
pub(crate) struct Helper {
    pub(crate) name: &'static str,
    pub(crate) address: Address,
    /// `None`: a pointer.
    pub(crate) params: &'static [Option<Type>],
    pub(crate) result: Type,
}

/// Of all accesses: context, site, address, `valid`, lane.
pub(crate) const ACCESS: &[Option<Type>] =
    &[None, Some(types::I32), Some(types::I64), Some(types::I32), Some(types::I32)];
const F32X1: &[Option<Type>] = &[Some(types::I32)];
const F32X3: &[Option<Type>] = &[Some(types::I32); 3];
const F64X3: &[Option<Type>] = &[Some(types::I64); 3];

const fn helper(
    name: &'static str,
    address: *const u8,
    params: &'static [Option<Type>],
    result: Type,
) -> Helper {
    Helper { name, address: Address(address), params, result }
}

/// All helpers.
pub(crate) static HELPERS: [Helper; 12] = [
    helper("guestwave_load", load as *const u8, ACCESS, types::I32),
    helper("guestwave_store", store as *const u8, ACCESS, types::I32),
    helper("guestwave_atomic", atomic as *const u8, ACCESS, types::I32),
    helper("guestwave_load_quad", load_quad as *const u8, ACCESS, types::I32),
    helper("guestwave_store_quad", store_quad as *const u8, ACCESS, types::I32),
    helper("guestwave_atomic_quad", atomic_quad as *const u8, ACCESS, types::I32),
    helper("guestwave_fma_f32", fma_f32 as *const u8, F32X3, types::I32),
    helper("guestwave_fma_f64", fma_f64 as *const u8, F64X3, types::I64),
    helper("guestwave_exp2", exp2 as *const u8, F32X1, types::I32),
    helper("guestwave_log2", log2 as *const u8, F32X1, types::I32),
    helper("guestwave_sin", sin as *const u8, F32X1, types::I32),
    helper("guestwave_cos", cos as *const u8, F32X1, types::I32),
];

/// The worker whose context generated code was given.
///
/// # Safety
/// Called by code that [`Code::run`] runs, with the context that it was given; the reference is the only one while the
/// helper runs.
unsafe fn worker<'a>(context: *mut Context) -> &'a mut Worker<'a> {
    // SAFETY: the context names its worker, which `Code::run` has borrowed mutably.
    unsafe { &mut *(*context).worker.cast() }
}

/// The load of generated code; 1 if it faults.
///
/// # Safety
/// As [`worker`].
unsafe extern "C" fn load(context: *mut Context, site: u32, address: u64, valid: u32, lane: u32) -> u32 {
    // SAFETY: as `worker` asks.
    u32::from(unsafe { worker(context) }.load(site, address, valid, lane).is_err())
}

/// The store of generated code; 1 if it faults.
///
/// # Safety
/// As [`worker`].
unsafe extern "C" fn store(context: *mut Context, site: u32, address: u64, valid: u32, lane: u32) -> u32 {
    // SAFETY: as `worker` asks.
    u32::from(unsafe { worker(context) }.store(site, address, valid, lane).is_err())
}

/// The atomic of generated code; 1 if it faults.
///
/// # Safety
/// As [`worker`].
unsafe extern "C" fn atomic(context: *mut Context, site: u32, address: u64, valid: u32, lane: u32) -> u32 {
    // SAFETY: as `worker` asks.
    u32::from(unsafe { worker(context) }.atomic(site, address, valid, lane).is_err())
}

/// The load of a quad of generated code, whose addresses and bytes are in the context; 1 if it faults.
///
/// # Safety
/// As [`worker`].
unsafe extern "C" fn load_quad(context: *mut Context, site: u32, _: u64, _: u32, lane: u32) -> u32 {
    // SAFETY: as `worker` asks.
    u32::from(unsafe { worker(context) }.load_quad(site, lane).is_err())
}

/// The store of a quad of generated code, whose addresses and bytes are in the context; 1 if it faults.
///
/// # Safety
/// As [`worker`].
unsafe extern "C" fn store_quad(context: *mut Context, site: u32, _: u64, _: u32, lane: u32) -> u32 {
    // SAFETY: as `worker` asks.
    u32::from(unsafe { worker(context) }.store_quad(site, lane).is_err())
}

/// The atomic of a quad of generated code, whose addresses and bytes are in the context; 1 if it faults.
///
/// # Safety
/// As [`worker`].
unsafe extern "C" fn atomic_quad(context: *mut Context, site: u32, _: u64, _: u32, lane: u32) -> u32 {
    // SAFETY: as `worker` asks.
    u32::from(unsafe { worker(context) }.atomic_quad(site, lane).is_err())
}

extern "C" fn fma_f32(a: u32, b: u32, c: u32) -> u32 {
    fma::fma_f32(a, b, c)
}

extern "C" fn fma_f64(a: u64, b: u64, c: u64) -> u64 {
    fma::fma_f64(a, b, c)
}

extern "C" fn exp2(x: u32) -> u32 {
    f32::from_bits(x).exp2().to_bits()
}

extern "C" fn log2(x: u32) -> u32 {
    f32::from_bits(x).log2().to_bits()
}

extern "C" fn sin(x: u32) -> u32 {
    (f32::from_bits(x) * std::f32::consts::TAU).sin().to_bits()
}

extern "C" fn cos(x: u32) -> u32 {
    (f32::from_bits(x) * std::f32::consts::TAU).cos().to_bits()
}
