//! Decoding: places of operands, lengths and errors.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use guestwave_isa::gfx10::{
    DecodeErrorKind, Encoding, Mods, Op, Operand, Target, WaveSize, decode, disassemble, sreg,
};

fn one(words: &[u32]) -> guestwave_isa::gfx10::Inst {
    decode(words, 0x40, Target::Gfx1030).unwrap()
}

#[test]
fn implicit_masks_are_written_out() {
    // v_cndmask_b32_e32 v4, v8, v6, vcc
    let inst = one(&[0x0208_0d08]);
    assert_eq!((inst.op, inst.encoding, inst.len), (Op::V_CNDMASK_B32, Encoding::Vop2, 1));
    assert_eq!(inst.dst, [Operand::Vgpr(4), Operand::None]);
    assert_eq!(inst.src, [Operand::Vgpr(8), Operand::Vgpr(6), Operand::Sgpr(sreg::VCC_LO), Operand::None]);
    // v_cmpx_gt_u32_e32 v8, v6
    let inst = one(&[0x7da8_0d08]);
    assert_eq!((inst.op, inst.dst[0]), (Op::V_CMPX_GT_U32, Operand::Sgpr(sreg::EXEC_LO)));
}

#[test]
fn literals_count_once_and_extend_the_instruction() {
    // v_fmamk_f32 v4, lit, lit, v6
    let inst = one(&[0x5808_0cff, 0x4048_f5c3]);
    assert_eq!((inst.op, inst.len, inst.next_offset()), (Op::V_FMAMK_F32, 2, 0x48));
    assert_eq!(
        inst.src[..3],
        [Operand::Literal(0x4048_f5c3), Operand::Literal(0x4048_f5c3), Operand::Vgpr(6)]
    );
    let error = decode(&[0x5808_0cff], 0x40, Target::Gfx1030).unwrap_err();
    assert_eq!(
        (error.offset, error.word, error.kind),
        (0x40, 0x5808_0cff, DecodeErrorKind::Truncated { needed: 2 })
    );
}

#[test]
fn targets_have_their_own_opcodes() {
    let word = [0x3e08_0d08];
    assert_eq!(decode(&word, 0, Target::Gfx1010).unwrap().op, Op::V_MAC_F32);
    assert!(matches!(
        decode(&word, 0, Target::Gfx1030).unwrap_err().kind,
        DecodeErrorKind::UnknownOpcode { .. }
    ));
}

#[test]
fn buffer_stores_have_their_data_among_the_sources() {
    // buffer_store_dwordx3 v[8:10], v4, s[12:15], s5 offen offset:20 glc
    let inst = one(&[0xe07c_5014, 0x0503_0804]);
    assert_eq!(inst.dst[0], Operand::None);
    assert_eq!(inst.src, [Operand::Vgpr(4), Operand::Sgpr(12), Operand::Sgpr(5), Operand::Vgpr(8)]);
    let Mods::Buffer(mods) = inst.mods else { panic!("buffer modifiers") };
    assert_eq!((mods.offset, mods.offen, mods.idxen, mods.glc), (20, true, false, true));
}

/// The encodings' fixed high bits, so that random words reach all of them.
const HEADS: [(u32, u32); 12] = [
    (0x7fff_ffff, 0),
    (0x3fff_ffff, 0x8000_0000),
    (0x01ff_ffff, 0x7e00_0000),
    (0x03ff_ffff, 0xcc00_0000),
    (0x03ff_ffff, 0xd400_0000),
    (0x03ff_ffff, 0xd800_0000),
    (0x03ff_ffff, 0xdc00_0000),
    (0x03ff_ffff, 0xe000_0000),
    (0x03ff_ffff, 0xe800_0000),
    (0x03ff_ffff, 0xf000_0000),
    (0x03ff_ffff, 0xf400_0000),
    (0xffff_ffff, 0),
];

/// What decoding of any words keeps to.
fn check(words: &[u32], offset: u32, target: Target) {
    let inst = match decode(words, offset, target) {
        Ok(inst) => inst,
        Err(error) => {
            assert_eq!((error.offset, error.word), (offset, words.first().copied().unwrap_or(0)));
            assert!(error.to_string().contains(&format!("{offset:#x}")));
            return;
        }
    };
    let len = usize::from(inst.len);
    assert!((1..=words.len()).contains(&len));
    assert_eq!((inst.offset, &inst.words[..len]), (offset, &words[..len]));
    // What follows the instruction has no say, and without its last word it is none.
    assert_eq!(decode(&words[..len], offset, target), Ok(inst));
    let cut = decode(&words[..len - 1], offset, target).unwrap_err();
    assert!(matches!(cut.kind, DecodeErrorKind::Truncated { needed } if usize::from(needed) >= len), "{cut}");
    for wave in [WaveSize::W32, WaveSize::W64] {
        assert!(disassemble(&inst, target, wave).starts_with(inst.op.name()));
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 20_000, ..Default::default() })]

    #[test]
    fn decoding_is_total(
        head in 0..HEADS.len(),
        words in proptest::collection::vec(proptest::num::u32::ANY, 0..=5),
        offset: u32,
    ) {
        let (random, fixed) = HEADS[head];
        let mut words = words;
        if let Some(first) = words.first_mut() {
            *first = *first & random | fixed;
        }
        for target in [Target::Gfx1010, Target::Gfx1013, Target::Gfx1030] {
            check(&words, offset, target);
        }
    }
}
