//! Scalar arithmetic: SOP1, SOP2, SOPC and SOPK.

use super::bits::{leading_signs, leading_zeros, trailing_zeros};
use crate::gfx10::Op;

/// What a scalar operation leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarOut {
    /// The destination's bits, zero-extended; 0 for comparisons.
    pub value: u64,
    /// The new SCC, or `None` if it is left as it was.
    pub scc: Option<bool>,
}

/// The function of a scalar operation: of `a`, `b` and SCC.
///
/// | encoding | `a` | `b` |
/// |---|---|---|
/// | SOP1 | SSRC0 | the destination's old bits (`s_cmov`, `s_bitset`) |
/// | SOP2, SOPC | SSRC0 | SSRC1 |
/// | SOPK | the old bits of SDST | SIMM16, zero-extended (the function extends the sign where the operation does) |
///
/// Operands are zero-extended from their width.
pub type ScalarFn = fn(a: u64, b: u64, scc: bool) -> ScalarOut;

/// A result that leaves SCC.
fn plain(value: u64) -> ScalarOut {
    ScalarOut { value, scc: None }
}

fn plain32(value: u32) -> ScalarOut {
    plain(value.into())
}

/// A result with SCC telling whether it is not zero.
fn nonzero(value: u64) -> ScalarOut {
    ScalarOut { value, scc: Some(value != 0) }
}

fn nonzero32(value: u32) -> ScalarOut {
    nonzero(value.into())
}

/// A result with another SCC.
fn with_scc(value: u32, scc: bool) -> ScalarOut {
    ScalarOut { value: value.into(), scc: Some(scc) }
}

fn condition(scc: bool) -> ScalarOut {
    ScalarOut { value: 0, scc: Some(scc) }
}

/// An unsigned sum or difference with SCC as carry or borrow.
fn unsigned(exact: i64) -> ScalarOut {
    with_scc(exact as u32, exact >> 32 & 1 != 0)
}

/// A signed sum or difference with SCC as overflow.
fn signed(exact: i64) -> ScalarOut {
    with_scc(exact as u32, i32::try_from(exact).is_err())
}

/// SIMM16 as a signed number.
fn simm(b: u64) -> i64 {
    (b as i16).into()
}

fn i32(bits: u64) -> i64 {
    (bits as i32).into()
}

fn u32(bits: u64) -> i64 {
    (bits as u32).into()
}

/// `a` if it is chosen, which SCC tells, else `b`.
fn choose(chosen: bool, a: u64, b: u64) -> ScalarOut {
    ScalarOut { value: if chosen { a } else { b }, scc: Some(chosen) }
}

/// One bit for each four: 1 if any of the four is.
fn quads(a: u64) -> u64 {
    (0..16).filter(|i| a >> (4 * i) & 0xf != 0).map(|i| 1 << i).sum()
}

/// Every group of four with a one becomes all ones.
fn whole_quads(a: u64) -> u64 {
    (0..16).filter(|i| a >> (4 * i) & 0xf != 0).map(|i| 0xf << (4 * i)).sum()
}

/// Every bit twice.
fn replicated(a: u64) -> u64 {
    (0..32).map(|i| (3 * (a >> i & 1)) << (2 * i)).sum()
}

/// Field width of the bit-field extracts: the offset is the low part of `b`, the width bits 22:16.
fn field_width(b: u64) -> u32 {
    (b >> 16 & 0x7f) as u32
}

/// The lowest `width` bits of a shifted source; all of it for widths past the end.
fn bfe_unsigned(shifted: u64, width: u32) -> u64 {
    shifted & !u64::MAX.checked_shl(width).unwrap_or(0)
}

/// As [`bfe_unsigned`] of an arithmetically shifted source, with the sign of the field's highest bit.
fn bfe_signed(shifted: i64, width: u32) -> i64 {
    match width {
        0 => 0,
        1..64 => shifted << (64 - width) >> (64 - width),
        _ => shifted,
    }
}

fn bfm(width: u64, offset: u64) -> u64 {
    ((1u64 << (width & 63)) - 1) << (offset & 63)
}

fn ones64(a: u64) -> u32 {
    a.count_ones()
}

/// Zeros above the highest one of 64 bits, or -1.
fn leading_zeros64(a: u64) -> u32 {
    if a == 0 { u32::MAX } else { a.leading_zeros() }
}

/// Zeros below the lowest one of 64 bits, or -1.
fn trailing_zeros64(a: u64) -> u32 {
    if a == 0 { u32::MAX } else { a.trailing_zeros() }
}

/// Leading bits equal to the sign of 64 bits, or -1 if all are.
fn leading_signs64(a: u64) -> u32 {
    leading_zeros64(a ^ ((a as i64) >> 63) as u64)
}

fn low16(a: u64) -> u32 {
    u32::from(a as u16)
}

fn high16(a: u64) -> u32 {
    u32::from((a >> 16) as u16)
}

fn absolute_difference(a: u64, b: u64) -> u32 {
    (a as i32).wrapping_sub(b as i32).unsigned_abs()
}

fn high_product(exact: i128) -> ScalarOut {
    plain32((exact >> 32) as u32)
}

/// A shift left and a sum with SCC as carry.
fn shift_add(a: u64, by: u32, b: u64) -> ScalarOut {
    let exact = (u32(a) << by) + u32(b);
    with_scc(exact as u32, exact >> 32 != 0)
}

macro_rules! scalar_rows {
    ($($op:ident: $f:expr;)*) => { &[$((Op::$op, $f as ScalarFn)),*] };
}

/// SOP2.
pub(super) const BINARY: &[(Op, ScalarFn)] = scalar_rows! {
    S_ADD_U32: |a, b, _| unsigned(u32(a) + u32(b));
    S_SUB_U32: |a, b, _| unsigned(u32(a) - u32(b));
    S_ADD_I32: |a, b, _| signed(i32(a) + i32(b));
    S_SUB_I32: |a, b, _| signed(i32(a) - i32(b));
    S_ADDC_U32: |a, b, scc| unsigned(u32(a) + u32(b) + i64::from(scc));
    S_SUBB_U32: |a, b, scc| unsigned(u32(a) - u32(b) - i64::from(scc));
    S_MIN_I32: |a, b, _| choose(i32(a) < i32(b), a, b);
    S_MIN_U32: |a, b, _| choose(u32(a) < u32(b), a, b);
    S_MAX_I32: |a, b, _| choose(i32(a) > i32(b), a, b);
    S_MAX_U32: |a, b, _| choose(u32(a) > u32(b), a, b);
    S_CSELECT_B32: |a, b, scc| plain(if scc { a } else { b });
    S_CSELECT_B64: |a, b, scc| plain(if scc { a } else { b });
    S_AND_B32: |a, b, _| nonzero(a & b);
    S_AND_B64: |a, b, _| nonzero(a & b);
    S_OR_B32: |a, b, _| nonzero(a | b);
    S_OR_B64: |a, b, _| nonzero(a | b);
    S_XOR_B32: |a, b, _| nonzero(a ^ b);
    S_XOR_B64: |a, b, _| nonzero(a ^ b);
    S_ANDN2_B32: |a, b, _| nonzero32((a & !b) as u32);
    S_ANDN2_B64: |a, b, _| nonzero(a & !b);
    S_ORN2_B32: |a, b, _| nonzero32((a | !b) as u32);
    S_ORN2_B64: |a, b, _| nonzero(a | !b);
    S_NAND_B32: |a, b, _| nonzero32(!(a & b) as u32);
    S_NAND_B64: |a, b, _| nonzero(!(a & b));
    S_NOR_B32: |a, b, _| nonzero32(!(a | b) as u32);
    S_NOR_B64: |a, b, _| nonzero(!(a | b));
    S_XNOR_B32: |a, b, _| nonzero32(!(a ^ b) as u32);
    S_XNOR_B64: |a, b, _| nonzero(!(a ^ b));
    S_LSHL_B32: |a, b, _| nonzero32((a as u32) << (b & 31));
    S_LSHL_B64: |a, b, _| nonzero(a << (b & 63));
    S_LSHR_B32: |a, b, _| nonzero32((a as u32) >> (b & 31));
    S_LSHR_B64: |a, b, _| nonzero(a >> (b & 63));
    S_ASHR_I32: |a, b, _| nonzero32(((a as i32) >> (b & 31)) as u32);
    S_ASHR_I64: |a, b, _| nonzero(((a as i64) >> (b & 63)) as u64);
    S_BFM_B32: |a, b, _| plain32(bfm(a & 31, b & 31) as u32);
    S_BFM_B64: |a, b, _| plain(bfm(a, b));
    S_BFE_U32: |a, b, _| nonzero32(bfe_unsigned(a >> (b & 31), field_width(b)) as u32);
    S_BFE_I32: |a, b, _| nonzero32(bfe_signed(i32(a) >> (b & 31), field_width(b)) as u32);
    S_BFE_U64: |a, b, _| nonzero(bfe_unsigned(a >> (b & 63), field_width(b)));
    S_BFE_I64: |a, b, _| nonzero(bfe_signed((a as i64) >> (b & 63), field_width(b)) as u64);
    S_MUL_I32: |a, b, _| plain32((a as u32).wrapping_mul(b as u32));
    S_MUL_HI_U32: |a, b, _| high_product(i128::from(u32(a)) * i128::from(u32(b)));
    S_MUL_HI_I32: |a, b, _| high_product(i128::from(i32(a)) * i128::from(i32(b)));
    S_ABSDIFF_I32: |a, b, _| nonzero32(absolute_difference(a, b));
    S_LSHL1_ADD_U32: |a, b, _| shift_add(a, 1, b);
    S_LSHL2_ADD_U32: |a, b, _| shift_add(a, 2, b);
    S_LSHL3_ADD_U32: |a, b, _| shift_add(a, 3, b);
    S_LSHL4_ADD_U32: |a, b, _| shift_add(a, 4, b);
    S_PACK_LL_B32_B16: |a, b, _| plain32(low16(a) | low16(b) << 16);
    S_PACK_LH_B32_B16: |a, b, _| plain32(low16(a) | high16(b) << 16);
    S_PACK_HH_B32_B16: |a, b, _| plain32(high16(a) | high16(b) << 16);
};

/// SOP1.
pub(super) const UNARY: &[(Op, ScalarFn)] = scalar_rows! {
    S_MOV_B32: |a, _, _| plain(a);
    S_MOV_B64: |a, _, _| plain(a);
    S_CMOV_B32: |a, old, scc| plain(if scc { a } else { old });
    S_CMOV_B64: |a, old, scc| plain(if scc { a } else { old });
    S_NOT_B32: |a, _, _| nonzero32(!a as u32);
    S_NOT_B64: |a, _, _| nonzero(!a);
    S_WQM_B32: |a, _, _| nonzero(whole_quads(a));
    S_WQM_B64: |a, _, _| nonzero(whole_quads(a));
    S_QUADMASK_B32: |a, _, _| nonzero(quads(a));
    S_QUADMASK_B64: |a, _, _| nonzero(quads(a));
    S_BREV_B32: |a, _, _| plain32((a as u32).reverse_bits());
    S_BREV_B64: |a, _, _| plain(a.reverse_bits());
    S_BCNT0_I32_B32: |a, _, _| nonzero32(ones64(!a & 0xffff_ffff));
    S_BCNT0_I32_B64: |a, _, _| nonzero32(ones64(!a));
    S_BCNT1_I32_B32: |a, _, _| nonzero32(ones64(a));
    S_BCNT1_I32_B64: |a, _, _| nonzero32(ones64(a));
    S_FF0_I32_B32: |a, _, _| plain32(trailing_zeros(!a as u32));
    S_FF0_I32_B64: |a, _, _| plain32(trailing_zeros64(!a));
    S_FF1_I32_B32: |a, _, _| plain32(trailing_zeros(a as u32));
    S_FF1_I32_B64: |a, _, _| plain32(trailing_zeros64(a));
    S_FLBIT_I32_B32: |a, _, _| plain32(leading_zeros(a as u32));
    S_FLBIT_I32_B64: |a, _, _| plain32(leading_zeros64(a));
    S_FLBIT_I32: |a, _, _| plain32(leading_signs(a as u32));
    S_FLBIT_I32_I64: |a, _, _| plain32(leading_signs64(a));
    S_SEXT_I32_I8: |a, _, _| plain32(i32::from(a as i8) as u32);
    S_SEXT_I32_I16: |a, _, _| plain32(i32::from(a as i16) as u32);
    S_BITSET0_B32: |a, old, _| plain(old & !(1 << (a & 31)));
    S_BITSET0_B64: |a, old, _| plain(old & !(1 << (a & 63)));
    S_BITSET1_B32: |a, old, _| plain(old | 1 << (a & 31));
    S_BITSET1_B64: |a, old, _| plain(old | 1 << (a & 63));
    S_ABS_I32: |a, _, _| nonzero32((a as i32).unsigned_abs());
    S_BITREPLICATE_B64_B32: |a, _, _| plain(replicated(a));
};

/// SOPC.
pub(super) const COMPARE: &[(Op, ScalarFn)] = scalar_rows! {
    S_CMP_EQ_I32: |a, b, _| condition(a == b);
    S_CMP_LG_I32: |a, b, _| condition(a != b);
    S_CMP_GT_I32: |a, b, _| condition(i32(a) > i32(b));
    S_CMP_GE_I32: |a, b, _| condition(i32(a) >= i32(b));
    S_CMP_LT_I32: |a, b, _| condition(i32(a) < i32(b));
    S_CMP_LE_I32: |a, b, _| condition(i32(a) <= i32(b));
    S_CMP_EQ_U32: |a, b, _| condition(a == b);
    S_CMP_LG_U32: |a, b, _| condition(a != b);
    S_CMP_GT_U32: |a, b, _| condition(u32(a) > u32(b));
    S_CMP_GE_U32: |a, b, _| condition(u32(a) >= u32(b));
    S_CMP_LT_U32: |a, b, _| condition(u32(a) < u32(b));
    S_CMP_LE_U32: |a, b, _| condition(u32(a) <= u32(b));
    S_BITCMP0_B32: |a, b, _| condition(a >> (b & 31) & 1 == 0);
    S_BITCMP1_B32: |a, b, _| condition(a >> (b & 31) & 1 == 1);
    S_BITCMP0_B64: |a, b, _| condition(a >> (b & 63) & 1 == 0);
    S_BITCMP1_B64: |a, b, _| condition(a >> (b & 63) & 1 == 1);
    S_CMP_EQ_U64: |a, b, _| condition(a == b);
    S_CMP_LG_U64: |a, b, _| condition(a != b);
};

/// SOPK.
pub(super) const IMMEDIATE: &[(Op, ScalarFn)] = scalar_rows! {
    S_MOVK_I32: |_, b, _| plain32(simm(b) as u32);
    S_CMOVK_I32: |old, b, scc| plain(if scc { u64::from(simm(b) as u32) } else { old });
    S_CMPK_EQ_I32: |a, b, _| condition(i32(a) == simm(b));
    S_CMPK_LG_I32: |a, b, _| condition(i32(a) != simm(b));
    S_CMPK_GT_I32: |a, b, _| condition(i32(a) > simm(b));
    S_CMPK_GE_I32: |a, b, _| condition(i32(a) >= simm(b));
    S_CMPK_LT_I32: |a, b, _| condition(i32(a) < simm(b));
    S_CMPK_LE_I32: |a, b, _| condition(i32(a) <= simm(b));
    S_CMPK_EQ_U32: |a, b, _| condition(u32(a) == u32(b));
    S_CMPK_LG_U32: |a, b, _| condition(u32(a) != u32(b));
    S_CMPK_GT_U32: |a, b, _| condition(u32(a) > u32(b));
    S_CMPK_GE_U32: |a, b, _| condition(u32(a) >= u32(b));
    S_CMPK_LT_U32: |a, b, _| condition(u32(a) < u32(b));
    S_CMPK_LE_U32: |a, b, _| condition(u32(a) <= u32(b));
    S_ADDK_I32: |a, b, _| signed(i32(a) + simm(b));
    S_MULK_I32: |a, b, _| plain32((a as u32).wrapping_mul(simm(b) as u32));
};
