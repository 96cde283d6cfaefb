//! `Fidelity::Fast`: every row still builds, and numbers that need no care come out near the reference's.

use guestwave_isa::gfx10::Op;

use super::machine::{Lane, run_as};
use super::operands::Random;
use super::{Setting, comparable, kinds, reference, vector_row};
use crate::backend::Fidelity;

#[test]
fn every_row_builds_and_verifies() {
    for (op, row) in comparable() {
        let widths: Vec<u16> = kinds(op).iter().map(|k| k.bits).collect();
        let setting = Setting { float: 0xf0, ..Setting::default() };
        run_as(Fidelity::Fast, &row, &setting.mode(), &setting.mods, &widths, &[]);
    }
}

#[test]
fn plain_numbers_come_out_near_the_references() {
    let mut r = Random(8);
    let plain = |r: &mut Random| {
        let x = 0.25 + (r.below(1 << 20) as f32) / (1 << 18) as f32;
        u64::from(x.to_bits())
    };
    let lanes: Vec<Lane> = (0..200)
        .map(|_| Lane { sources: [plain(&mut r), plain(&mut r), plain(&mut r)], mask: false })
        .collect();
    let setting = Setting { float: 0xc0, ..Setting::default() };
    for op in [
        Op::V_ADD_F32,
        Op::V_MUL_F32,
        Op::V_FMA_F32,
        Op::V_MAC_F32,
        Op::V_MIN_F32,
        Op::V_MED3_F32,
        Op::V_FRACT_F32,
        Op::V_RCP_F32,
        Op::V_RSQ_F32,
        Op::V_SQRT_F32,
        Op::V_EXP_F32,
        Op::V_LOG_F32,
        Op::V_SIN_F32,
        Op::V_COS_F32,
        Op::V_LDEXP_F32,
        Op::V_DIV_FIXUP_F32,
    ] {
        let row = vector_row(op).unwrap();
        let widths: Vec<u16> = kinds(op).iter().map(|k| k.bits).collect();
        let found = run_as(Fidelity::Fast, &row, &setting.mode(), &setting.mods, &widths, &lanes);
        for (lane, found) in lanes.iter().zip(found) {
            let want = reference(op, &setting, lane);
            let [want, found] = [want, found].map(|l| f32::from_bits(l.sources[0] as u32));
            let near = (want - found).abs() <= want.abs().max(1.0) * 1e-5 || want == found;
            assert!(near, "{op:?} of {lane:x?}: {found} for {want}");
        }
    }
}
