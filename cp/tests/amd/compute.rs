//! What a dispatch asks the executor.

use guestwave_cp::amd::{Config, Ring, reg};
use guestwave_cp::{ExactDispatch, Grid, Isa, LaneRule, Outputs, ScalarRule, Scratch, Stage};

use crate::support::{DATA, Machine};

/// DISPATCH_INITIATOR.
pub(crate) const SHADER_EN: u32 = 1;
const PARTIAL: u32 = 1 << 1;
const FROM_ZERO: u32 = 1 << 2;
const THREADS: u32 = 1 << 5;
const WAVE32: u32 = 1 << 15;

/// A machine that is set up to dispatch.
pub(crate) fn compute() -> Machine {
    let mut m = Machine::new();
    set_up(&mut m);
    m
}

/// Workgroups of 8 x 4 x 2 threads.
pub(crate) fn set_up(m: &mut Machine) {
    m.set(reg::COMPUTE_NUM_THREAD_X, 8).set(reg::COMPUTE_NUM_THREAD_Y, 4).set(reg::COMPUTE_NUM_THREAD_Z, 2);
}

pub(crate) fn dispatch(m: &mut Machine, dims: [u32; 3], initiator: u32) -> &mut Machine {
    m.packet(0x15, &[dims[0], dims[1], dims[2], initiator])
}

fn one(m: &mut Machine, dims: [u32; 3], initiator: u32) -> ExactDispatch {
    dispatch(m, dims, initiator).run();
    let mut ran = m.ran();
    assert_eq!(ran.len(), 1);
    ran.remove(0)
}

#[test]
fn the_dispatch_is_the_program_of_the_registers() {
    let mut m = compute();
    m.set(reg::COMPUTE_PGM_LO, 0x1234_5678)
        .set(reg::COMPUTE_PGM_HI, 0xff9a)
        .set(reg::COMPUTE_PGM_RSRC1, 0xf0 << 12 | 1 << 21)
        .set(reg::COMPUTE_PGM_RSRC2, 3 << 15);
    let d = one(&mut m, [1, 1, 1], SHADER_EN);
    assert_eq!((d.stage, d.outputs, d.scratch, d.lds_bytes), (Stage::Compute, Outputs::Dropped, None, 1536));
    assert_eq!((d.program.address, d.program.isa), (0x9a12_3456_7800, Isa::Gfx1030));
    assert_eq!((d.program.float_mode, d.program.dx10_clamp, d.program.ieee), (0xf0, true, false));
}

#[test]
fn waves_are_as_wide_as_the_initiator_says() {
    for (initiator, lanes) in [(SHADER_EN, 64), (SHADER_EN | WAVE32, 32)] {
        assert_eq!(one(&mut compute(), [1, 1, 1], initiator).program.wave_lanes, lanes);
    }
}

/// (initiator, dims, start, end, threads of the last group)
type Row = (u32, [u32; 3], [u32; 3], [u32; 3], [u32; 3]);

/// With COMPUTE_START = 1, 2, 0 and partial sizes 3, 0, 1.
const GRIDS: &[Row] = &[
    (0, [5, 6, 7], [1, 2, 0], [5, 6, 7], [8, 4, 2]),
    (FROM_ZERO, [5, 6, 7], [0, 0, 0], [5, 6, 7], [8, 4, 2]),
    // A partial size of 0 is a full group.
    (FROM_ZERO | PARTIAL, [5, 6, 7], [0, 0, 0], [5, 6, 7], [3, 4, 1]),
    // Dims in threads: 17 = 2 * 8 + 1, 8 = 2 * 4, 1 = half a group.
    (FROM_ZERO | THREADS, [17, 8, 1], [0, 0, 0], [3, 2, 1], [1, 4, 1]),
    // Thread dims say how large the last group is.
    (FROM_ZERO | THREADS | PARTIAL, [16, 7, 2], [0, 0, 0], [2, 2, 1], [8, 3, 2]),
    (THREADS, [17, 12, 2], [1, 2, 0], [3, 3, 1], [1, 4, 2]),
];

#[test]
fn grids_follow_the_initiator() {
    for (initiator, dims, start, end, last_threads) in GRIDS {
        let mut m = compute();
        m.set(reg::COMPUTE_START_X, 1)
            .set(reg::COMPUTE_START_Y, 2)
            .set(reg::COMPUTE_NUM_THREAD_X, 8 | 3 << 16)
            .set(reg::COMPUTE_NUM_THREAD_Z, 2 | 1 << 16);
        let d = one(&mut m, *dims, SHADER_EN | initiator);
        let (start, end, threads, last_threads) = (*start, *end, [8, 4, 2], *last_threads);
        assert_eq!(d.grid, Grid::Groups { start, end, threads, last_threads }, "{initiator:#x} {dims:?}");
    }
}

#[test]
fn an_empty_dispatch_runs_nothing() {
    for dims in [[0, 1, 1], [1, 0, 1], [1, 1, 0], [2, 1, 1]] {
        let mut m = compute();
        m.set(reg::COMPUTE_START_X, 2);
        dispatch(&mut m, dims, SHADER_EN).run();
        assert_eq!(m.ran(), [], "{dims:?} from 2, 0, 0");
    }
}

/// RSRC2 bits besides user data, and the rules after it.
const LAYOUTS: &[(u32, &[ScalarRule])] = &[
    (0, &[]),
    (1 << 7, &[ScalarRule::GroupId(0)]),
    (1 << 7 | 1 << 9, &[ScalarRule::GroupId(0), ScalarRule::GroupId(2)]),
    (1 << 8 | 1 << 10, &[ScalarRule::GroupId(1), ScalarRule::GroupSize]),
    (
        7 << 7 | 1 << 10 | 1,
        &[
            ScalarRule::GroupId(0),
            ScalarRule::GroupId(1),
            ScalarRule::GroupId(2),
            ScalarRule::GroupSize,
            ScalarRule::ScratchOffset { per_wave: 2048, slots: 32 },
        ],
    ),
];

#[test]
fn sgprs_after_user_data_are_packed() {
    for (bits, rules) in LAYOUTS {
        let mut m = compute();
        m.set(reg::COMPUTE_PGM_RSRC2, 2 << 1 | bits)
            .set(reg::COMPUTE_USER_DATA.at(0), 0xaaaa)
            .set(reg::COMPUTE_USER_DATA.at(1), 0xbbbb)
            .set(reg::COMPUTE_TMPRING_SIZE, 2 << 12 | 32);
        let d = one(&mut m, [1, 1, 1], SHADER_EN);
        assert_eq!(d.sgprs[..2], [ScalarRule::Word(0xaaaa), ScalarRule::Word(0xbbbb)]);
        assert_eq!(d.sgprs[2..], **rules, "RSRC2 {bits:#x}");
        assert_eq!(d.scratch, (bits & 1 != 0).then_some(Scratch { bytes_per_wave: 2048 }));
    }
}

#[test]
fn all_sixteen_words_of_user_data_reach_the_program() {
    let mut m = compute();
    m.set(reg::COMPUTE_PGM_RSRC2, 16 << 1).set(reg::COMPUTE_USER_DATA.at(15), 0xf);
    let d = one(&mut m, [1, 1, 1], SHADER_EN);
    assert_eq!((d.sgprs.len(), &d.sgprs[15]), (16, &ScalarRule::Word(0xf)));
}

#[test]
fn thread_ids_come_along_as_many_axes_as_are_asked_for() {
    for count in 0..3 {
        let mut m = compute();
        m.set(reg::COMPUTE_PGM_RSRC2, u32::from(count) << 11);
        let ids: Vec<_> = (0..=count).map(LaneRule::ThreadId).collect();
        assert_eq!(one(&mut m, [1, 1, 1], SHADER_EN).vgprs, ids);
    }
}

#[test]
fn an_indirect_dispatch_reads_its_dims_from_the_base() {
    let mut m = compute();
    m.memory.put(DATA + 0x108, &[5, 6, 7]);
    m.packet(0x11, &[1, DATA as u32 + 0x100, 0]).packet(0x16, &[8, SHADER_EN]).run();
    let Grid::Groups { end, .. } = m.ran().remove(0).grid else { panic!("not a compute grid") };
    assert_eq!(end, [5, 6, 7]);
}

#[test]
fn an_indirect_dispatch_on_a_compute_ring_has_an_address() {
    let mut m = Machine::with(Config::new(Isa::Gfx1030), Ring::Compute);
    set_up(&mut m);
    m.memory.put(DATA + 0x100, &[5, 6, 7]);
    m.packet(0x16, &[DATA as u32 + 0x100, 0, SHADER_EN]).run();
    let Grid::Groups { end, .. } = m.ran().remove(0).grid else { panic!("not a compute grid") };
    assert_eq!(end, [5, 6, 7]);
}

#[test]
fn an_indirect_dispatch_sees_what_earlier_programs_stored() {
    // The executor holds the first dispatch back until memory is read.
    let mut m = compute();
    m.packet(0x11, &[1, DATA as u32, 0]);
    dispatch(&mut m, [1, 1, 1], SHADER_EN);
    m.memory.put(DATA, &[2, 1, 1]);
    m.packet(0x16, &[0, SHADER_EN]).run();
    let items: Vec<_> = m.ran().iter().map(ExactDispatch::items).collect();
    assert_eq!(items, [64, 128]);
}
