//! Speed of the plain packet walk: register writes, events and padding in the proportions that radeonsi sends them, with
//! no draws.

#[path = "../tests/support/mod.rs"]
mod support;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use guestwave_cp::amd::{CommandProcessor, Config, IndirectBuffer, Ring, Submission};
use guestwave_cp::{Isa, NoObserver};
use support::{FakeExecutor, FlatMemory, packet, set_sh};

/// Bytes of the stream.
const BYTES: usize = 8 << 20;
/// Where it is.
const BASE: u64 = 0x1000_0000;

/// One draw's worth of state, as counted in captures: runs of one to four registers, some events, padding.
fn state() -> Vec<u32> {
    let mut words = Vec::new();
    for i in 0..12u32 {
        words.extend(packet(
            support::SET_CONTEXT_REG,
            &[0x200 + 8 * i, i, i + 1, i + 2][..2 + (i as usize % 3)],
        ));
    }
    for i in 0..5u32 {
        words.extend(set_sh(0xb130 + 16 * i, &[i, i + 1]));
    }
    for i in 0..3u32 {
        words.extend(packet(support::SET_UCONFIG_REG, &[0x242 + i, i]));
    }
    words.extend(packet(0x46, &[0xe]));
    words.extend(packet(0x46, &[0x40f]));
    words.extend(packet(0x2f, &[1]));
    words.push(0xffff_1000);
    words
}

fn stream() -> Vec<u32> {
    let state = state();
    let mut words: Vec<u32> =
        state.iter().copied().cycle().take(BYTES / 4 / state.len() * state.len()).collect();
    words.resize(BYTES / 4, 0xffff_1000);
    words
}

fn packets(c: &mut Criterion) {
    let memory = FlatMemory::new(BASE, BYTES);
    memory.put(BASE, &stream());
    let ibs = [IndirectBuffer { address: BASE, dwords: (BYTES / 4) as u32 }];
    let mut cp = CommandProcessor::new(Config::new(Isa::Gfx1030));
    let mut executor = FakeExecutor::default();
    let mut group = c.benchmark_group("packets");
    group.throughput(Throughput::Bytes(BYTES as u64)).sample_size(20);
    group.bench_function("walk", |b| {
        b.iter(|| {
            let submission = Submission { ring: Ring::Gfx, ibs: &ibs };
            let report = cp.submit(&submission, &memory, &mut executor, &mut NoObserver);
            assert!(report.refusals.is_empty());
        });
    });
    group.finish();
}

criterion_group!(benches, packets);
criterion_main!(benches);
