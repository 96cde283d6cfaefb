//! Moves, bitwise operations, shifts, bit fields and bit counts.

use super::{Mode, Output, Sources, VectorOp, VectorRow};
use crate::gfx10::Op;

fn low(bits: u64) -> u32 {
    bits as u32
}

/// The lowest `width` bits, for widths below 32.
fn field_mask(width: u64) -> u32 {
    (1u32 << (width & 31)) - 1
}

fn bfe_u32([a, offset, width]: Sources) -> u32 {
    low(a) >> (offset & 31) & field_mask(width)
}

/// The field of a sign-extended source, sign-extended from its own highest bit.
fn bfe_i32([a, offset, width]: Sources) -> u32 {
    match (width & 31) as u32 {
        0 => 0,
        w => (((a as i32) >> (offset & 31) << (32 - w)) >> (32 - w)) as u32,
    }
}

fn bfi([mask, a, b]: Sources) -> u32 {
    low(mask & a | !mask & b)
}

fn align([high, low, _]: Sources, bits: u64) -> u32 {
    ((high << 32 | low) >> bits) as u32
}

/// One byte of the eight of `data`, or one of the constants that selectors above 7 mean.
fn permuted_byte(data: u64, selector: u64) -> u64 {
    match selector {
        0..8 => data >> (8 * selector) & 0xff,
        8..12 => 0xff * (data >> (16 * (selector - 8) + 15) & 1),
        12 => 0,
        _ => 0xff,
    }
}

fn permute([high, low, selectors]: Sources) -> u32 {
    let data = high << 32 | low;
    let byte = |i: u64| permuted_byte(data, selectors >> (8 * i) & 0xff) << (8 * i);
    (byte(0) | byte(1) | byte(2) | byte(3)) as u32
}

/// Zeros above the highest one, or -1 if there is no one.
pub(super) fn leading_zeros(a: u32) -> u32 {
    if a == 0 { u32::MAX } else { a.leading_zeros() }
}

/// Zeros below the lowest one, or -1 if there is no one.
pub(super) fn trailing_zeros(a: u32) -> u32 {
    if a == 0 { u32::MAX } else { a.trailing_zeros() }
}

/// Leading bits that are equal to the sign, the sign included, or -1 if all are.
pub(super) fn leading_signs(a: u32) -> u32 {
    leading_zeros(a ^ ((a as i32) >> 31) as u32)
}

macro_rules! rows32 {
    ($($op:ident: $f:expr;)*) => {
        &[$(VectorRow::new(Op::$op, VectorOp::Value(|_: &Mode, s: Sources| u64::from(($f as fn(Sources) -> u32)(s))), Output::U32)),*]
    };
}

/// Operations with a dword for a result, from whole dwords.
pub(super) const ROWS_32: &[VectorRow] = rows32! {
    V_MOV_B32: |[a, ..]| low(a);
    V_NOT_B32: |[a, ..]| !low(a);
    V_AND_B32: |[a, b, _]| low(a & b);
    V_OR_B32: |[a, b, _]| low(a | b);
    V_XOR_B32: |[a, b, _]| low(a ^ b);
    V_XNOR_B32: |[a, b, _]| !low(a ^ b);
    V_AND_OR_B32: |[a, b, c]| low(a & b | c);
    V_OR3_B32: |[a, b, c]| low(a | b | c);
    V_XOR3_B32: |[a, b, c]| low(a ^ b ^ c);
    V_LSHL_OR_B32: |[a, b, c]| low(a) << (b & 31) | low(c);
    V_LSHLREV_B32: |[a, b, _]| low(b) << (a & 31);
    V_LSHRREV_B32: |[a, b, _]| low(b) >> (a & 31);
    V_ASHRREV_I32: |[a, b, _]| ((b as i32) >> (a & 31)) as u32;
    V_BFE_U32: bfe_u32;
    V_BFE_I32: bfe_i32;
    V_BFI_B32: bfi;
    V_BFM_B32: |[width, offset, _]| field_mask(width) << (offset & 31);
    V_BFREV_B32: |[a, ..]| low(a).reverse_bits();
    V_ALIGNBIT_B32: |s| align(s, s[2] & 31);
    V_ALIGNBYTE_B32: |s| align(s, 8 * (s[2] & 3));
    V_PERM_B32: permute;
    V_BCNT_U32_B32: |[a, b, _]| low(b).wrapping_add(low(a).count_ones());
    V_FFBH_U32: |[a, ..]| leading_zeros(low(a));
    V_FFBL_B32: |[a, ..]| trailing_zeros(low(a));
    V_FFBH_I32: |[a, ..]| leading_signs(low(a));
};

const fn row(op: Op, f: fn(&Mode, Sources) -> u64, output: Output) -> VectorRow {
    VectorRow::new(op, VectorOp::Value(f), output)
}

/// Shifts of other widths, and selection.
pub(super) const ROWS: &[VectorRow] = &[
    row(Op::V_LSHLREV_B16, |_, [a, b, _]| b << (a & 15) & 0xffff, Output::U16),
    row(Op::V_LSHRREV_B16, |_, [a, b, _]| (b & 0xffff) >> (a & 15), Output::U16),
    row(Op::V_ASHRREV_I16, |_, [a, b, _]| u64::from(((b as i16) >> (a & 15)) as u16), Output::I16),
    row(Op::V_LSHLREV_B64, |_, [a, b, _]| b << (a & 63), Output::U64),
    row(Op::V_LSHRREV_B64, |_, [a, b, _]| b >> (a & 63), Output::U64),
    row(Op::V_ASHRREV_I64, |_, [a, b, _]| ((b as i64) >> (a & 63)) as u64, Output::I64),
    VectorRow::new(
        Op::V_CNDMASK_B32,
        VectorOp::MaskIn(|_, [a, b, _], mask| if mask { b } else { a }),
        Output::U32,
    ),
];
