//! The packet walk: guest memory that is its own command buffer.
#![no_main]

use guestwave_cp::amd::{CommandProcessor, Config, IndirectBuffer, Limits, Ring, Submission};
use guestwave_cp::{Isa, NoObserver};
use guestwave_harness::capture::{BufferObject, PAGE_BYTES, Page, VaKind, VaOp};
use guestwave_harness::executor::ReferenceExecutor;
use guestwave_harness::memory::CaptureMemory;
use libfuzzer_sys::fuzz_target;

/// Guest address and pages of the memory. Addresses with either half of a pointer zero reach it often.
const BASE: u64 = 0x1_0000;
const PAGES: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let memory = CaptureMemory::new();
    let size = (PAGES * PAGE_BYTES) as u64;
    let bo = BufferObject { bo: 1, handle: 1, size, domains: 2, flags: 0, userptr: 0 };
    let va = VaOp { bo: 1, kind: VaKind::Map, flags: 14, va: BASE, offset: 0, size };
    memory.create(&bo).expect("there is room");
    memory.va(&va).expect("the range is free");
    for (page, part) in bytes.chunks(PAGE_BYTES).take(PAGES).enumerate() {
        let mut data = Box::new([0; PAGE_BYTES]);
        data[..part.len()].copy_from_slice(part);
        memory.set_page(&Page { bo: 1, page: page as u32, data }).expect("the page is there");
    }
    let limits = Limits { call_depth: 4, chained: 64, dwords: 1 << 16, bytes: 1 << 20 };
    let mut processor = CommandProcessor::new(Config { limits, ..Config::new(Isa::Gfx1030) });
    let mut executor = ReferenceExecutor::with_steps(4096);
    let dwords = (bytes.len().min(PAGES * PAGE_BYTES) / 4) as u32;
    let ibs = [IndirectBuffer { address: BASE, dwords }];
    let ring = if bytes.len() % 2 == 0 { Ring::Gfx } else { Ring::Compute };
    let report = processor.submit(&Submission { ring, ibs: &ibs }, &memory, &mut executor, &mut NoObserver);
    for refused in &report.refusals {
        assert!(!refused.refusal.code().is_empty());
    }
});
