//! Random programs, natively and by the evaluator: the same bytes, the same stored ranges, or both a fault.

#[cfg(test)]
mod support;

use guestwave_translate::backend::Launch;
use proptest::prelude::*;
use support::lane::access::{HEAP, HEAP_BYTES, INPUT, INPUT_BYTES};
use support::lane::random::{Menu, program};
use support::memory::Offer;
use support::{Arena, agree, launch};

fn bytes(count: u64) -> Vec<u8> {
    (0..count).map(|i| (i * i / 3) as u8).collect()
}

fn memory() -> Arena {
    Arena::new().with(HEAP, &bytes(HEAP_BYTES)).with(INPUT, &bytes(INPUT_BYTES))
}

/// All that native code must do alike.
const MENU: Menu = Menu { hostile: false, odd: true, lds: true, groups: true, in_common: true };

/// A launch with parameters and a table.
fn some_launch(waves: u32, per_group: u32) -> Launch {
    Launch { params: vec![3, 0x4000_0001], tables: [1, 2, 3].into(), ..launch(waves, per_group) }
}

fn choices(most: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn one_wave(choices in choices(400)) {
        let program = program(&choices, Menu { groups: false, ..MENU });
        agree(&program, &some_launch(1, 1), &memory()).0.unwrap();
    }

    #[test]
    fn waves_with_barriers(choices in choices(400)) {
        let program = program(&choices, MENU);
        agree(&program, &some_launch(5, 2), &memory()).0.unwrap();
    }

    /// Faults leave memory as it was, wherever the memory's pieces begin and end and however they are offered.
    #[test]
    fn hostile_addresses(choices in choices(300), cut in 1..HEAP_BYTES - 1, copied in any::<bool>(), writable in 0..8) {
        let program = program(&choices, Menu { hostile: true, ..MENU });
        let offer = if copied { Offer::Copied } else { Offer::InPlace };
        // A page is offered in place as a whole or not at all.
        let cut = if copied { cut.next_multiple_of(0x1000) - (HEAP & 0xfff) } else { cut };
        let (heap, cut) = (bytes(HEAP_BYTES), cut as usize);
        let arena = Arena::new()
            .with_segment(HEAP, &heap[..cut], true, offer)
            .with_segment(HEAP + cut as u64, &heap[cut..], writable > 0, Offer::InPlace);
        let _ = agree(&program, &some_launch(3, 3), &arena);
    }
}
