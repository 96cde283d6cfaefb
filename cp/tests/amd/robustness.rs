//! Whatever registers and packets say, a launch is well formed or refused.

use guestwave_cp::amd::{Config, Limits, Register, Ring, reg};
use guestwave_cp::{ExactDispatch, Grid, GuestMemory, Isa, LaneRule, Message, ScalarRule, Stage, WaveRecord};
use proptest::prelude::*;

use crate::support::{DATA, Machine};
use crate::{compute, draw, geometry_programs, tessellation};

/// Every register that a launch reads.
fn registers() -> Vec<Register> {
    let streamout = [reg::VGT_STRMOUT_BUFFER_SIZE, reg::VGT_STRMOUT_VTX_STRIDE];
    let mut registers: Vec<_> = streamout.iter().flat_map(|a| (0..a.count).map(|n| a.at(n))).collect();
    registers.extend([
        reg::VGT_SHADER_STAGES_EN,
        reg::VGT_PRIMITIVE_TYPE,
        reg::VGT_NUM_INSTANCES,
        reg::VGT_INDEX_TYPE,
        reg::VGT_MULTI_PRIM_IB_RESET_INDX,
        reg::GE_MULTI_PRIM_IB_RESET_EN,
        reg::PA_SU_SC_MODE_CNTL,
        reg::VGT_STRMOUT_DRAW_OPAQUE_OFFSET,
        reg::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE,
        reg::VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE,
        reg::VGT_PRIMITIVEID_EN,
        reg::VGT_PRIMITIVEID_RESET,
        reg::VGT_STRMOUT_CONFIG,
        reg::VGT_STRMOUT_BUFFER_CONFIG,
        reg::PA_CL_CLIP_CNTL,
        reg::GE_INDX_OFFSET,
        reg::GE_MIN_VTX_INDX,
        reg::GE_MAX_VTX_INDX,
        reg::GE_USER_VGPR_EN,
        reg::SPI_SHADER_PGM_LO_VS,
        reg::SPI_SHADER_PGM_HI_VS,
        reg::SPI_SHADER_PGM_RSRC1_VS,
        reg::SPI_SHADER_PGM_RSRC2_VS,
        reg::SPI_TMPRING_SIZE,
        reg::COMPUTE_START_X,
        reg::COMPUTE_START_Z,
        reg::COMPUTE_NUM_THREAD_X,
        reg::COMPUTE_NUM_THREAD_Y,
        reg::COMPUTE_NUM_THREAD_Z,
        reg::COMPUTE_PGM_LO,
        reg::COMPUTE_PGM_HI,
        reg::COMPUTE_PGM_RSRC1,
        reg::COMPUTE_PGM_RSRC2,
        reg::COMPUTE_PGM_RSRC3,
        reg::COMPUTE_TMPRING_SIZE,
    ]);
    registers
}

/// 0 and 1 often, few bits most often, anything now and then.
fn word() -> impl Strategy<Value = u32> {
    let bit = (0u32..32).prop_map(|n| 1 << n);
    let two = (0u32..32, 0u32..32).prop_map(|(a, b)| 1 << a | 1 << b);
    prop_oneof![4 => 0u32..5, 2 => bit, 2 => two, 1 => any::<u32>()]
}

/// A draw, a dispatch, a streamout update or a sample.
fn packet() -> impl Strategy<Value = (u32, Vec<u32>)> {
    prop_oneof![
        4 => word().prop_map(|count| (0x2d, vec![count, 2])),
        1 => (word(), word()).prop_map(|(count, initiator)| (0x2d, vec![count, initiator])),
        1 => word().prop_map(|count| (0x2d, vec![count, 0x42])),
        3 => (word(), word(), 0u32..8).prop_map(|(limit, count, at)| {
            (0x27, vec![limit, DATA as u32 + 4 * at, 0, count, 0])
        }),
        1 => prop::array::uniform3(word()).prop_map(|[limit, first, count]| (0x35, vec![limit, first, count, 0])),
        2 => prop_oneof![Just((0x24u32, 2u32)), Just((0x25, 0))].prop_flat_map(|(opcode, source)| {
            (0u32..64, word(), word()).prop_map(move |(at, vertex, instance)| (opcode, vec![4 * at, vertex, instance, source]))
        }),
        2 => prop_oneof![Just((0x2cu32, 2u32)), Just((0x38, 0))].prop_flat_map(|(opcode, source)| {
            (prop::array::uniform4(word()), 0u32..64).prop_map(move |([place, flags, draws, stride], at)| {
                let flags = flags | if at % 2 == 0 { 1 << 30 } else { 0 };
                (opcode, vec![4 * at, 0x4c + place % 32, 0, flags, draws, DATA as u32, 0, stride & !3, source])
            })
        }),
        1 => word().prop_map(|instances| (0x2f, vec![instances])),
        3 => prop::array::uniform3(word()).prop_map(|[x, y, z]| (0x15, vec![x, y, z, 1])),
        2 => prop::collection::vec(word(), 4).prop_map(|body| (0x15, body)),
        1 => prop::collection::vec(word(), 2..4).prop_map(|body| (0x16, body)),
        2 => (0u32..0x400, word()).prop_map(|(control, position)| {
            (0x34, vec![control & 0x387, DATA as u32, 0, position, 0])
        }),
        1 => (0u32..64).prop_map(|event| (0x46, vec![event | 3 << 8, DATA as u32 + 0x100, 0])),
    ]
}

fn check(d: &ExactDispatch) -> Result<(), TestCaseError> {
    let lanes = u32::from(d.program.wave_lanes);
    prop_assert!(lanes == 32 || lanes == 64);
    prop_assert!(d.items() > 0 && d.items() <= 1 << 32, "{} items", d.items());
    prop_assert!(d.sgprs.len() <= 40 && d.vgprs.len() <= 9 && d.lds_bytes <= 1 << 16);
    prop_assert!(d.program.address < 1 << 48);
    match &d.grid {
        Grid::Linear { per_wave, .. } => prop_assert!((1..=lanes).contains(per_wave)),
        Grid::Groups { start, end, threads, last_threads } => {
            prop_assert!(threads.iter().product::<u32>() <= 1024);
            for axis in 0..3 {
                prop_assert!(start[axis] < end[axis]);
                prop_assert!((1..=threads[axis]).contains(&last_threads[axis]));
            }
        }
        Grid::Subgroups { waves } => {
            prop_assert!(waves.iter().all(|n| *n > 0 && n * lanes <= 1024), "{waves:?}");
            let all = waves.iter().sum::<u32>() as usize;
            let told = |rule: &ScalarRule| !matches!(rule, ScalarRule::PerWave(words) if words.len() != all);
            prop_assert!(d.sgprs.iter().all(told), "not one word a wave");
        }
    }
    for rule in &d.vgprs {
        if let LaneRule::PerItem(words) = rule {
            prop_assert!(
                d.items().is_multiple_of(words.len() as u64),
                "{} items of {} words",
                d.items(),
                words.len()
            );
        }
    }
    let no_ring = d.sgprs.iter().any(|rule| matches!(rule, ScalarRule::ScratchOffset { slots: 0, .. }));
    prop_assert!(!no_ring, "a scratch ring without a slot");
    Ok(())
}

/// Every register that a launch of a merged stage reads beside those.
fn merged_registers() -> Vec<Register> {
    let arrays = [reg::VGT_GSVS_RING_OFFSET, reg::VGT_GS_VERT_ITEMSIZE, reg::VGT_STRMOUT_BUFFER_SIZE];
    let mut registers: Vec<_> = arrays.iter().flat_map(|a| (0..a.count).map(|n| a.at(n))).collect();
    registers.extend([
        reg::VGT_SHADER_STAGES_EN,
        reg::VGT_PRIMITIVE_TYPE,
        reg::VGT_GS_MODE,
        reg::VGT_GS_ONCHIP_CNTL,
        reg::VGT_GS_INSTANCE_CNT,
        reg::VGT_GS_MAX_VERT_OUT,
        reg::VGT_GS_OUT_PRIM_TYPE,
        reg::VGT_ESGS_RING_ITEMSIZE,
        reg::VGT_GSVS_RING_ITEMSIZE,
        reg::VGT_GSVS_RING_SIZE,
        reg::VGT_LS_HS_CONFIG,
        reg::VGT_TF_PARAM,
        reg::VGT_TF_RING_SIZE,
        reg::VGT_TF_MEMORY_BASE,
        reg::VGT_TF_MEMORY_BASE_HI,
        reg::VGT_HS_OFFCHIP_PARAM,
        reg::VGT_HOS_MAX_TESS_LEVEL,
        reg::VGT_STRMOUT_CONFIG,
        reg::VGT_STRMOUT_BUFFER_CONFIG,
        reg::SPI_SHADER_PGM_RSRC1_GS,
        reg::SPI_SHADER_PGM_RSRC2_GS,
        reg::SPI_SHADER_PGM_RSRC1_HS,
        reg::SPI_SHADER_PGM_RSRC2_HS,
        reg::SPI_SHADER_PGM_RSRC2_VS,
        reg::SPI_TMPRING_SIZE,
        reg::GE_INDX_OFFSET,
        reg::PA_SU_SC_MODE_CNTL,
        reg::PA_CL_CLIP_CNTL,
    ]);
    registers
}

/// What programs leave: the bits of each level in turn, and messages with the lanes that sent them.
type Left = (Vec<u32>, Vec<(u16, u64)>);

/// Levels of all kinds, NaN and infinity among them, seldom large ones; messages mostly of the geometry stage.
fn left() -> impl Strategy<Value = Left> {
    let small = (0u32..12).prop_map(|n| (n as f32 / 2.0).to_bits());
    let odd = prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-40, 64.0]);
    let level = prop_oneof![20 => small, 1 => odd.prop_map(f32::to_bits), 1 => any::<u32>()];
    let message = prop_oneof![
        8 => (0u16..4, 0u16..4).prop_map(|(operation, stream)| 2 | operation << 4 | stream << 8),
        1 => any::<u16>(),
    ];
    (prop::collection::vec(level, 1..16), prop::collection::vec((message, any::<u64>()), 0..24))
}

/// A machine that gives up early: a packet may ask for a million draws, and each for a list of vertices.
fn small(ring: Ring) -> Machine {
    let limits = Limits { bytes: 1 << 20, ..Limits::DEFAULT };
    Machine::with(Config { limits, ..Config::new(Isa::Gfx1030) }, ring)
}

/// Leaves levels in the ring that a test's [`tessellation::set_up`] names, and messages.
fn leave(dispatch: &ExactDispatch, memory: &dyn GuestMemory, (levels, messages): &Left) -> Vec<WaveRecord> {
    if dispatch.stage == Stage::LsHs {
        let words = levels.iter().cycle().take(1024).flat_map(|level| level.to_le_bytes());
        memory.write(tessellation::LEVELS, &words.collect::<Vec<_>>()).unwrap();
    }
    let record = |_| WaveRecord {
        messages: messages
            .iter()
            .map(|(simm16, exec)| Message { simm16: *simm16, m0: 0, exec: *exec })
            .collect(),
        exports: Vec::new(),
    };
    (0..dispatch.items() / u64::from(dispatch.program.wave_lanes)).map(record).collect()
}

#[test]
fn very_many_instances_of_nothing_end_at_once() {
    for (stages, topology) in [(geometry_programs::STAGES, draw::TRIANGLES), (tessellation::STAGES, 9)] {
        let mut m = Machine::new();
        geometry_programs::set_up(&mut m, [100; 4]);
        tessellation::set_up(&mut m, 100);
        m.set(reg::VGT_SHADER_STAGES_EN, stages).set(reg::VGT_PRIMITIVE_TYPE, topology);
        draw::draw(m.packet(0x2f, &[u32::MAX]), 0).run();
        assert_eq!(m.ran(), []);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn launches_are_well_formed(
        values in prop::collection::vec(prop_oneof![14 => Just(None), 1 => word().prop_map(Some)], registers().len()),
        packets in prop::collection::vec(packet(), 1..8),
        data in prop::collection::vec(word(), 64),
        on_compute in any::<bool>(),
    ) {
        let ring = if on_compute { Ring::Compute } else { Ring::Gfx };
        let mut m = small(ring);
        m.executor.idle = true;
        draw::set_up(&mut m, draw::TRIANGLES, 1000);
        m.memory.put(DATA, &data);
        m.packet(0x11, &[1, DATA as u32, 0]).packet(0x26, &[DATA as u32, 0]).packet(0x13, &[data.len() as u32]);
        compute::set_up(&mut m);
        for (register, value) in registers().into_iter().zip(values) {
            if let Some(value) = value {
                m.set(register, value);
            }
        }
        for (opcode, body) in packets {
            m.packet(opcode, &body).submit();
        }
        for dispatch in m.ran() {
            check(&dispatch)?;
        }
    }

    #[test]
    fn merged_stages_are_well_formed_or_refused(
        values in prop::collection::vec(
            prop_oneof![20 => Just(None), 1 => word().prop_map(Some)],
            merged_registers().len()
        ),
        stages in prop::sample::select(vec![geometry_programs::STAGES, tessellation::STAGES, tessellation::STAGES_GEOMETRY]),
        vertices in prop_oneof![8 => 0u32..60, 1 => Just(u32::MAX)],
        left in left(),
    ) {
        let mut m = small(Ring::Gfx);
        m.executor.programs = Some(Box::new(move |dispatch, memory| leave(dispatch, memory, &left)));
        geometry_programs::set_up(&mut m, [100; 4]);
        if stages != geometry_programs::STAGES {
            tessellation::set_up(&mut m, 100);
        }
        m.set(reg::VGT_SHADER_STAGES_EN, stages);
        for (register, value) in merged_registers().into_iter().zip(values) {
            if let Some(value) = value {
                m.set(register, value);
            }
        }
        draw::draw(&mut m, vertices).submit();
        for dispatch in m.ran() {
            check(&dispatch)?;
        }
    }
}
