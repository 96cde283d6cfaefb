//! Guest dispatches through the translating executor: what varies from draw to draw is in the parameter block.

use guestwave_cp::{
    DispatchId, ExactDispatch, Executor, Grid, GuestMemory, Isa, LaneRule, Origin, Outputs, ProgramRef,
    ScalarRule, Stage,
};
use guestwave_translate::backend::Holding;
use guestwave_translate::executor::{Options, TranslatingExecutor};

use crate::support::lane::memory::Memory;
use crate::support::{HOLDINGS, open};

const CODE: u64 = 0x10_0000;
const OUT: u64 = 0x20_0000;
const VERTICES: u32 = 1000;

/// v_lshlrev_b32 v1, 2, v0; global_store_dword v1, v0, s[0:1]; s_endpgm
const STORE_VERTEX: [u32; 4] = [0x3402_0082, 0xdc70_8000, 0x0000_0001, 0xbf81_0000];

/// A draw from vertex `first` on: each lane stores v0 as the word of its vertex, counted from the first.
fn draw(first: u32, wave_lanes: u8) -> ExactDispatch {
    let place = OUT.wrapping_sub(u64::from(first) * 4);
    ExactDispatch {
        stage: Stage::Vertex,
        program: ProgramRef {
            isa: Isa::Gfx1030,
            address: CODE,
            wave_lanes,
            float_mode: 0xf0,
            dx10_clamp: false,
            ieee: false,
        },
        grid: Grid::Linear { items: VERTICES, per_wave: wave_lanes.into() },
        sgprs: vec![ScalarRule::Word(place as u32), ScalarRule::Word((place >> 32) as u32)],
        vgprs: vec![LaneRule::Item { base: first }],
        lds_bytes: 0,
        scratch: None,
        outputs: Outputs::Dropped,
        origin: Origin::default(),
    }
}

fn memory() -> Memory {
    let code = STORE_VERTEX.iter().flat_map(|w| w.to_le_bytes()).collect();
    Memory::default().map(CODE, code).map(OUT, vec![0xee; VERTICES as usize * 4])
}

#[test]
fn the_first_vertex_is_right_in_every_wave_and_shares_one_module() {
    for holding in HOLDINGS {
        // Waves of 32 lanes have no use for two lanes an invocation but can be held so.
        for wave_lanes in [32, 64] {
            let options = Options { holding: Some(holding), ..Options::default() };
            let mut executor = TranslatingExecutor::new(Box::new(open()), options);
            for (id, first) in (0..).zip([0, 5, 70_000]) {
                let memory = memory();
                executor.submit(DispatchId(id), draw(first, wave_lanes), &memory).unwrap();
                executor.flush(&memory, &mut Vec::new()).unwrap();
                for vertex in 0..VERTICES {
                    let found = memory.word(OUT + u64::from(vertex) * 4);
                    assert_eq!(found, first + vertex, "{holding:?}, {wave_lanes} lanes, vertex {vertex}");
                }
            }
            let stats = executor.stats();
            let stats = stats.lock().unwrap();
            assert_eq!((stats.modules, stats.module_hits, stats.launches), (1, 2, 3));
        }
    }
}

#[test]
fn draws_of_one_submission_go_to_the_device_together() {
    let memory = memory();
    let mut executor = TranslatingExecutor::new(Box::new(open()), Options::default());
    for id in 0..64 {
        executor.submit(DispatchId(id), draw(id as u32, 64), &memory).unwrap();
    }
    let mut done = Vec::new();
    executor.flush(&memory, &mut done).unwrap();
    let ids: Vec<u64> = done.iter().map(|d| d.id.0).collect();
    assert_eq!(ids, (0..64).collect::<Vec<_>>());
    assert_eq!(memory.word(OUT), 63, "the last draw's store is the one that stays");
    assert_eq!(executor.stats().lock().unwrap().batches, 1);
}

#[test]
fn a_program_is_held_as_asked_and_otherwise_by_the_lane() {
    for (asked, held) in [(None, Holding::Lane), (Some(Holding::Wave), Holding::Wave)] {
        let memory = memory();
        let options = Options { holding: asked, ..Options::default() };
        let mut executor = TranslatingExecutor::new(Box::new(open()), options);
        executor.submit(DispatchId(0), draw(0, 64), &memory).unwrap();
        executor.flush(&memory, &mut Vec::new()).unwrap();
        let stats = executor.stats();
        let holdings: Vec<_> = stats.lock().unwrap().held.values().map(|h| h.holding).collect();
        assert_eq!(holdings, [held]);
    }
    let missing = Memory::default();
    let mut executor = TranslatingExecutor::new(Box::new(open()), Options::default());
    let refused = executor.submit(DispatchId(0), draw(0, 64), &missing).unwrap_err();
    assert_eq!(refused.code, "TR-CODE-001");
    assert_eq!(missing.generation(), guestwave_cp::Generation(0));
}
