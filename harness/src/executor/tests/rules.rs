use std::sync::Arc;

use guestwave_cp::{ExactDispatch, Grid, Isa, LaneRule, Origin, Outputs, ProgramRef, ScalarRule, Stage};
use guestwave_isa::gfx10::interp::WaveInit;

use crate::executor::grid::Groups;
use crate::executor::rules::wave_init;

fn dispatch(grid: Grid, sgprs: Vec<ScalarRule>, vgprs: Vec<LaneRule>) -> ExactDispatch {
    let program = ProgramRef {
        isa: Isa::Gfx1030,
        address: 0x1000,
        wave_lanes: 32,
        float_mode: 0xc0,
        dx10_clamp: true,
        ieee: false,
    };
    let (outputs, origin) = (Outputs::Dropped, Origin::default());
    let stage = Stage::Compute;
    ExactDispatch { stage, program, grid, sgprs, vgprs, lds_bytes: 0, scratch: None, outputs, origin }
}

/// The waves of every workgroup.
fn groups(d: &ExactDispatch) -> Vec<Vec<WaveInit>> {
    let groups = Groups::new(d).unwrap();
    groups.map(|waves| waves.iter().map(|w| wave_init(d, w)).collect()).collect()
}

/// SGPR `n` of all waves in order.
fn sgpr(d: &ExactDispatch, n: usize) -> Vec<u32> {
    groups(d).concat().iter().map(|w| w.sgprs[n]).collect()
}

#[test]
fn a_linear_grid_is_cut_into_waves_of_their_own() {
    let sgprs = vec![
        ScalarRule::Word(7),
        ScalarRule::ItemCount { base: 1 << 24, shift: 16, limit: 36 },
        ScalarRule::FirstItem { base: 100 },
        ScalarRule::PerWave(Arc::new([5, 6])),
        ScalarRule::ScratchOffset { per_wave: 1024, slots: 2 },
    ];
    let vgprs = vec![
        LaneRule::Item { base: u32::MAX },
        LaneRule::Word(3),
        LaneRule::Primitive { base: 10, items: 3 },
        LaneRule::PerItem((0..70).map(|i| i * i).collect()),
        LaneRule::PerItem(Arc::new([4, 5, 6])),
        LaneRule::PerItem(Arc::new([])),
    ];
    let d = dispatch(Grid::Linear { items: 70, per_wave: 30 }, sgprs, vgprs);
    assert_eq!(groups(&d).iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
    let waves = groups(&d).concat();
    assert_eq!(waves.iter().map(|w| w.exec).collect::<Vec<_>>(), [0x3fff_ffff, 0x3fff_ffff, 0x3ff]);
    assert_eq!(sgpr(&d, 0), [7, 7, 7]);
    assert_eq!(sgpr(&d, 1), [1 << 24 | 30 << 16, 1 << 24 | 6 << 16, 1 << 24]);
    assert_eq!(sgpr(&d, 2), [100, 130, 160]);
    assert_eq!(sgpr(&d, 3), [5, 6, 0]);
    assert_eq!(sgpr(&d, 4), [0, 1024, 0]);
    assert_eq!(waves[0].vgprs[0][..2], [u32::MAX, 0]);
    assert_eq!(waves[2].vgprs[0][9], 68);
    assert_eq!(waves[1].vgprs[1], [3; 32]);
    assert_eq!(waves[1].vgprs[4][..4], [4, 5, 6, 4], "item 30 is the first word again");
    assert_eq!(waves[1].vgprs[5], [0; 32]);
    assert_eq!(waves[1].vgprs[2][..4], [20, 20, 20, 21]);
    assert_eq!(waves[2].vgprs[3][9], 69 * 69);
}

#[test]
fn a_grid_without_items_has_no_waves() {
    let none = dispatch(Grid::Linear { items: 0, per_wave: 32 }, vec![], vec![]);
    assert_eq!(groups(&none).len(), 0);
    let empty =
        Grid::Groups { start: [0, 3, 0], end: [9, 3, 9], threads: [8, 1, 1], last_threads: [8, 1, 1] };
    assert_eq!(groups(&dispatch(empty, vec![], vec![])).len(), 0);
}

#[test]
fn workgroups_are_counted_x_fastest_and_so_are_their_threads() {
    let grid = Grid::Groups { start: [1, 0, 0], end: [3, 2, 1], threads: [5, 8, 1], last_threads: [2, 8, 1] };
    let sgprs = vec![ScalarRule::GroupId(0), ScalarRule::GroupId(1), ScalarRule::GroupSize];
    let vgprs = (0..3).map(LaneRule::ThreadId).collect();
    let d = dispatch(grid, sgprs, vgprs);
    assert_eq!(d.items(), 2 * (40 + 16));
    let all = groups(&d);
    assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 2, 1]);
    assert_eq!(sgpr(&d, 0), [1, 1, 2, 1, 1, 2]);
    assert_eq!(sgpr(&d, 1), [0, 0, 0, 1, 1, 1]);
    let (two, first) = (2, 1 << 31);
    assert_eq!(sgpr(&d, 2), [two | first, two | 1 << 6, 1 | first, two | first, two | 1 << 6, 1 | first]);
    let execs: Vec<_> = all[0].iter().chain(&all[1]).map(|w| w.exec).collect();
    assert_eq!(execs, [0xffff_ffff, 0xff, 0xffff]);
    let last = &all[0][1];
    assert_eq!([0, 1, 2].map(|a| last.vgprs[a][7]), [4, 7, 0]);
    assert_eq!([0, 1, 2].map(|a| all[1][0].vgprs[a][5]), [1, 2, 0]);
}

#[test]
fn subgroups_have_the_waves_they_are_given_all_lanes_active() {
    let grid = Grid::Subgroups { waves: Arc::new([2, 0, 1]) };
    let vgprs = vec![LaneRule::PerItem((0..96).collect())];
    let d = dispatch(grid, vec![ScalarRule::PerWave(Arc::new([8, 9, 10]))], vgprs);
    assert_eq!(groups(&d).iter().map(Vec::len).collect::<Vec<_>>(), [2, 0, 1]);
    assert_eq!(sgpr(&d, 0), [8, 9, 10]);
    let waves = groups(&d).concat();
    assert_eq!(waves[2].vgprs[0][31], 95);
    assert_eq!(waves[2].exec, 0xffff_ffff);
}

#[test]
fn grids_that_no_hardware_has_are_refused_by_name() {
    let refused = |grid| Groups::new(&dispatch(grid, vec![], vec![])).err().map(|e| e.code());
    assert_eq!(refused(Grid::Linear { items: 1, per_wave: 0 }), Some("HN-EXE-002"));
    assert_eq!(refused(Grid::Linear { items: 1, per_wave: 33 }), Some("HN-EXE-002"));
    let sized = |threads: [u32; 3]| {
        refused(Grid::Groups { start: [0; 3], end: [1; 3], threads, last_threads: threads })
    };
    assert_eq!(sized([0, 1, 1]), Some("HN-EXE-003"));
    assert_eq!(sized([1025, 1, 1]), Some("HN-EXE-003"));
    assert_eq!(sized([u32::MAX; 3]), Some("HN-EXE-003"));
    assert_eq!(refused(Grid::Subgroups { waves: Arc::new([33]) }), Some("HN-EXE-003"));
}
