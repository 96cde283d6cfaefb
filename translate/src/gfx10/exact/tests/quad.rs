//! `v_mqsad_u32_u8`, whose operands the other tests cannot hold.

use guestwave_isa::gfx10::Op;
use guestwave_isa::gfx10::interp::alu::{VectorOp, vector_op};

use super::machine::{Lane, launch, loaded, store};
use super::operands::Random;
use super::vector_row;
use crate::backend::Fidelity;
use crate::gfx10::exact::{Exact, Facts, Mode, VectorKind};
use crate::program::{BinOp, Builder, Program, UnOp};

/// The sums of a lane whose accumulators are its third source, and that with the halves' bits mixed.
fn built(clamp: bool) -> Program {
    let mut b = Builder::new("quad", 32);
    let ([a, reference, c], _) = loaded(&mut b, &[64, 32, 64], false);
    let (low, high) = (b.un(UnOp::Low, c), b.un(UnOp::High, c));
    let (sum, or) = (b.bin(BinOp::Add, low, high), b.bin(BinOp::Or, low, high));
    let (mut facts, mode) = (Facts::default(), Mode { float: 0, dx10_clamp: false, ieee: false });
    let mut e = Exact::new(&mut b, &mut facts, mode, Fidelity::Exact);
    let VectorKind::Quad(f) = vector_row(Op::V_MQSAD_U32_U8).unwrap().kind else { panic!("no quad") };
    let sums = f(&mut e, (a, reference), [low, high, sum, or], clamp);
    store(&mut b, sums.to_vec());
    b.finish()
}

#[test]
fn four_masked_sums_agree_with_the_reference() {
    let VectorOp::Quad(f) = vector_op(Op::V_MQSAD_U32_U8).unwrap().kind else { panic!("no quad") };
    let mut r = Random(6);
    let lanes: Vec<Lane> = (0..500)
        .map(|_| {
            // Reference bytes of 0 are masked; accumulators near the end saturate.
            let reference = r.bits()
                & r.bits()
                & u64::from(u32::MAX)
                & 0xffff_00ff_u64.rotate_left(8 * r.below(4) as u32);
            let c = if r.below(2) == 0 { r.bits() } else { !(r.bits() & 0x3ff_0000_03ff) };
            Lane { sources: [r.bits(), reference, c], mask: false }
        })
        .collect();
    for clamp in [false, true] {
        let found = launch(&built(clamp), &lanes, 4);
        for (lane, found) in lanes.iter().zip(found.chunks(4)) {
            let [a, b, c] = lane.sources;
            let (low, high) = (c as u32, (c >> 32) as u32);
            let want = f(a, b as u32, [low, high, low.wrapping_add(high), low | high], clamp);
            assert_eq!(found, want, "{lane:x?}");
        }
    }
}
