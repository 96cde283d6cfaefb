//! Whatever registers and packets say, a launch is well formed or refused.

use guestwave_cp::amd::{Config, Register, Ring, reg};
use guestwave_cp::{ExactDispatch, Grid, Isa, ScalarRule};
use proptest::prelude::*;

use crate::support::{DATA, Machine};
use crate::{compute, draw};

/// Every register that a launch reads.
fn registers() -> Vec<Register> {
    let streamout = [reg::VGT_STRMOUT_BUFFER_SIZE, reg::VGT_STRMOUT_VTX_STRIDE];
    let mut registers: Vec<_> = streamout.iter().flat_map(|a| (0..a.count).map(|n| a.at(n))).collect();
    registers.extend([
        reg::VGT_SHADER_STAGES_EN,
        reg::VGT_PRIMITIVE_TYPE,
        reg::VGT_NUM_INSTANCES,
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
    prop_assert!(d.sgprs.len() <= 40 && d.vgprs.len() <= 4 && d.lds_bytes <= 1 << 16);
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
        Grid::Subgroups { .. } => prop_assert!(false, "no merged stage is launched"),
    }
    let no_ring = d.sgprs.iter().any(|rule| matches!(rule, ScalarRule::ScratchOffset { slots: 0, .. }));
    prop_assert!(!no_ring, "a scratch ring without a slot");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn launches_are_well_formed(
        values in prop::collection::vec(prop_oneof![14 => Just(None), 1 => word().prop_map(Some)], registers().len()),
        packets in prop::collection::vec(packet(), 1..8),
        on_compute in any::<bool>(),
    ) {
        let ring = if on_compute { Ring::Compute } else { Ring::Gfx };
        let mut m = Machine::with(Config::new(Isa::Gfx1030), ring);
        m.executor.idle = true;
        draw::set_up(&mut m, draw::TRIANGLES, 1000);
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
}
