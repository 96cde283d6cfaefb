//! Code around a program: what sets the registers that no rule of a dispatch sets, and what stores all registers at the
//! end.

use std::ops::Range;

/// Bytes that the code here stores for each lane, and for each wave.
pub(crate) const LANE_BYTES: u32 = 512;
pub(crate) const WAVE_BYTES: u32 = 64 * LANE_BYTES;

/// Scalar registers with EXEC, M0 and the address of the wave's output.
pub(crate) const EXEC: u8 = 100;
pub(crate) const M0: u8 = 102;
pub(crate) const OUTPUT: u8 = 90;

const VCC_LO: u32 = 106;
const M0_OPERAND: u32 = 124;
const EXEC_LO: u32 = 126;
const ZERO: u32 = 128;
const MINUS_ONE: u32 = 193;
const VGPR: u32 = 256;
/// Vector register that the code here uses: the byte of the lane's row.
const ROW: u32 = 254;
/// Scalar registers that one vector register takes: one a lane of the narrower wave.
const LANES: u32 = 32;

const S_ENDPGM: u32 = 0xbf81_0000;

fn sop1(op: u32, to: u32, from: u32) -> u32 {
    0xbe80_0000 | to << 16 | op << 8 | from
}

fn s_mov_b32(to: u32, from: u32) -> u32 {
    sop1(3, to, from)
}

fn s_mov_b64(to: u32, from: u32) -> u32 {
    sop1(4, to, from)
}

/// `s_branch` over `words` dwords from the next instruction.
pub(crate) fn s_branch(words: i32) -> u32 {
    0xbf82_0000 | words as u32 & 0xffff
}

/// Stores registers from `first` on, one to four, at a byte of the lane's row: `global_store_dword`, `x2`, `x3` or `x4`.
fn store(first: u32, count: u32, offset: u32) -> [u32; 2] {
    let op = [0x1c, 0x1d, 0x1f, 0x1e][count as usize - 1];
    [0xdc00_8000 | op << 18 | offset, ROW | first << 8 | u32::from(OUTPUT) << 16]
}

/// `v_writelane_b32`
fn write_lane(to: u32, from: u32, lane: u32) -> [u32; 2] {
    [0xd761_0000 | to, from | (ZERO + lane) << 9]
}

/// Sets EXEC and M0 from their registers, which are 0 then as they would be without this code.
pub(crate) fn before() -> Vec<u32> {
    let (exec, m0) = (u32::from(EXEC), u32::from(M0));
    vec![s_mov_b64(EXEC_LO, exec), s_mov_b32(M0_OPERAND, m0), s_mov_b64(exec, ZERO), s_mov_b32(m0, ZERO)]
}

/// Which registers are stored.
#[derive(Clone, Debug)]
pub(crate) struct Dump {
    /// Vector registers from v0 on, at most 64. Scalar registers are put into the lanes of those that follow.
    pub(crate) vgprs: u32,
    /// Scalar registers, at most 80.
    pub(crate) sgprs: Range<u32>,
    /// MODE too.
    pub(crate) mode: bool,
    pub(crate) row: Row,
}

/// Which row a lane's registers go to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    /// That of its number in the wave: the output is the wave's.
    Lane,
    /// That of the number in a vector register.
    Item(u32),
}

/// Stores vector registers, scalar registers, EXEC, VCC, SCC and M0.
pub(crate) fn after(dump: &Dump) -> Vec<u32> {
    let mut code = vec![
        s_mov_b64(96, EXEC_LO),
        s_mov_b64(98, VCC_LO),
        // s_cselect_b32 s95, 1, 0
        0x8500_0000 | 95 << 16 | ZERO << 8 | (ZERO + 1),
        s_mov_b32(94, M0_OPERAND),
        // s_getreg_b32 s93, hwreg(HW_REG_MODE), or nothing
        if dump.mode { 0xb900_f801 | 93 << 16 } else { s_mov_b32(93, ZERO) },
        s_mov_b64(EXEC_LO, MINUS_ONE),
    ];
    let number = match dump.row {
        Row::Item(register) => register,
        Row::Lane => {
            // v_mbcnt_lo_u32_b32, v_mbcnt_hi_u32_b32
            code.extend([0xd765_0000 | ROW, MINUS_ONE | ZERO << 9]);
            code.extend([0xd766_0000 | ROW, MINUS_ONE | (VGPR + ROW) << 9]);
            ROW
        }
    };
    // v_lshlrev_b32
    code.push(0x3400_0000 | ROW << 17 | number << 9 | (ZERO + LANE_BYTES.ilog2()));
    let scalars = dump.sgprs.clone().chain(93..100);
    let (first, count) = (dump.vgprs, dump.sgprs.len() as u32 + 7);
    let all = first + count.div_ceil(LANES);
    // v_mov_b32
    code.extend((first..all).map(|to| 0x7e00_0200 | to << 17 | ZERO));
    code.extend((0..).zip(scalars).flat_map(|(i, n)| write_lane(first + i / LANES, n, i % LANES)));
    code.extend((0..all).step_by(4).flat_map(|n| store(n, (all - n).min(4), 4 * n)));
    code.push(S_ENDPGM);
    code
}
