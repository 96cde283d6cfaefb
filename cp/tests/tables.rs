//! The tables against facts written down by hand, and the constants against the tables.

use guestwave_cp::amd::{Register, RegisterFile, describe, field, reg, registers};
use guestwave_cp::refusal::CATALOGUE;

/// Address, name and some fields (name, high bit, low bit) as public documents give them.
type Fact = (u32, &'static str, &'static [(&'static str, u8, u8)]);

const FACTS: &[Fact] = &[
    (0x0b120, "SPI_SHADER_PGM_LO_VS", &[]),
    (
        0x0b128,
        "SPI_SHADER_PGM_RSRC1_VS",
        &[("FLOAT_MODE", 19, 12), ("DX10_CLAMP", 21, 21), ("IEEE_MODE", 23, 23)],
    ),
    (
        0x0b12c,
        "SPI_SHADER_PGM_RSRC2_VS",
        &[("USER_SGPR", 5, 1), ("SO_BASE0_EN", 8, 8), ("SO_EN", 12, 12), ("USER_SGPR_MSB", 27, 27)],
    ),
    (0x0b130, "SPI_SHADER_USER_DATA_VS_0", &[]),
    (0x0b1ac, "SPI_SHADER_USER_DATA_VS_31", &[]),
    (0x0b800, "COMPUTE_DISPATCH_INITIATOR", &[("CS_W32_EN", 15, 15)]),
    (0x0b81c, "COMPUTE_NUM_THREAD_X", &[("NUM_THREAD_FULL", 15, 0), ("NUM_THREAD_PARTIAL", 31, 16)]),
    (0x0b84c, "COMPUTE_PGM_RSRC2", &[("LDS_SIZE", 23, 15), ("TIDIG_COMP_CNT", 12, 11)]),
    (0x0b93c, "COMPUTE_USER_DATA_15", &[]),
    (0x28814, "PA_SU_SC_MODE_CNTL", &[("PROVOKING_VTX_LAST", 19, 19)]),
    (0x28810, "PA_CL_CLIP_CNTL", &[("DX_RASTERIZATION_KILL", 22, 22)]),
    (0x28ad0, "VGT_STRMOUT_BUFFER_SIZE_0", &[]),
    (0x28ae4, "VGT_STRMOUT_VTX_STRIDE_1", &[("STRIDE", 9, 0)]),
    (0x28b0c, "VGT_STRMOUT_BUFFER_OFFSET_3", &[]),
    (0x28b54, "VGT_SHADER_STAGES_EN", &[("VS_EN", 7, 6), ("VS_W32_EN", 23, 23), ("PRIMGEN_EN", 13, 13)]),
    (0x28b94, "VGT_STRMOUT_CONFIG", &[("STREAMOUT_0_EN", 0, 0), ("RAST_STREAM", 6, 4)]),
    (0x28b98, "VGT_STRMOUT_BUFFER_CONFIG", &[("STREAM_3_BUFFER_EN", 15, 12)]),
    (0x28b2c, "VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE", &[]),
    (0x28c9c, "CB_COLOR1_BASE", &[]),
    (0x28454, "PA_CL_VPORT_XSCALE_1", &[]),
    (0x286c0, "SPI_PS_INPUT_CNTL_31", &[("OFFSET", 5, 0)]),
    (0x300fc, "CP_STRMOUT_CNTL", &[("OFFSET_UPDATE_DONE", 0, 0)]),
    (0x30908, "VGT_PRIMITIVE_TYPE", &[("PRIM_TYPE", 5, 0)]),
    (0x3090c, "VGT_INDEX_TYPE", &[("INDEX_TYPE", 1, 0)]),
    (0x3091c, "VGT_STRMOUT_BUFFER_FILLED_SIZE_3", &[]),
    (0x30928, "GE_INDX_OFFSET", &[]),
    (0x3092c, "GE_MULTI_PRIM_IB_RESET_EN", &[("RESET_EN", 0, 0), ("MATCH_ALL_BITS", 1, 1)]),
    (0x30934, "VGT_NUM_INSTANCES", &[]),
    (0x3093c, "VGT_HS_OFFCHIP_PARAM", &[]),
];

#[test]
fn registers_have_their_names_and_fields() {
    for (address, name, fields) in FACTS {
        let description = describe(Register(*address)).unwrap_or_else(|| panic!("{name} has no row"));
        assert_eq!(&description.to_string(), name);
        for (field, hi, lo) in *fields {
            let found = description.row.fields.iter().find(|f| f.name == *field);
            let found = found.unwrap_or_else(|| panic!("{name} has no {field}"));
            assert_eq!((found.hi, found.lo), (*hi, *lo), "{name}.{field}");
        }
    }
}

#[test]
fn every_row_is_sorted_in_a_space_and_described_as_itself() {
    assert!(registers::ROWS.windows(2).all(|w| w[0].address < w[1].address));
    for row in registers::ROWS {
        let first = Register(row.address);
        let last = Register(row.address + (row.count - 1) * row.stride);
        assert_eq!(first.space(), last.space(), "{}", row.name);
        assert!(first.space().is_some(), "{}", row.name);
        for (i, register) in [(0, first), (row.count - 1, last)] {
            let description = describe(register).unwrap();
            assert_eq!((description.row.name, description.index), (row.name, i));
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = registers::ROWS.iter().map(|r| r.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|w| w[0] != w[1]));
}

#[test]
fn fields_of_a_register_do_not_overlap() {
    for row in registers::ROWS {
        let mut taken = 0u32;
        for f in row.fields {
            let mask = (u32::MAX >> (31 - f.hi + f.lo)) << f.lo;
            assert_eq!(taken & mask, 0, "{}.{}", row.name, f.name);
            taken |= mask;
        }
    }
}

#[test]
fn constants_are_the_rows() {
    assert_eq!(reg::VGT_STRMOUT_CONFIG, Register(0x28b94));
    assert_eq!(reg::VGT_STRMOUT_VTX_STRIDE.at(2), Register(0x28af4));
    assert_eq!(reg::COMPUTE_USER_DATA.at(15), Register(0xb93c));
    assert_eq!(reg::COMPUTE_USER_DATA.at(99), Register(0xb93c));
    assert_eq!(reg::CB_COLOR_BASE.at(7), Register(0x28c60 + 7 * 0x3c));
    let so_en = field::SPI_SHADER_PGM_RSRC2_VS::SO_EN;
    assert_eq!((so_en.register, so_en.hi, so_en.lo), (Register(0xb12c), 12, 12));
    assert_eq!(field::SPI_SHADER_PGM_RSRC1_VS::FLOAT_MODE.of(0x0b2c_0003), 0xc0);
}

/// Reset values that drivers rely on.
const RESETS: &[(Register, u32)] = &[
    (reg::PA_SC_AA_MASK_X0Y0_X1Y0, 0xffff_ffff),
    (reg::PA_SC_AA_MASK_X0Y1_X1Y1, 0xffff_ffff),
    (reg::PA_SC_CLIPRECT_RULE, 0xffff),
    (reg::CB_TARGET_MASK, 0xffff_ffff),
    (reg::CB_SHADER_MASK, 0xffff_ffff),
    (reg::PA_CL_CLIP_CNTL, 0x9_0000),
    (reg::PA_SU_VTX_CNTL, 5),
    (reg::PA_SC_LINE_CNTL, 0x1000),
    (reg::PA_CL_GB_HORZ_DISC_ADJ, 0x3f80_0000),
    (reg::SPI_PS_IN_CONTROL, 2),
    (reg::VGT_VERTEX_REUSE_BLOCK_CNTL, 0x1e),
    (reg::VGT_GS_OUT_PRIM_TYPE, 0),
    (reg::PA_SU_SC_MODE_CNTL, 0),
];

#[test]
fn reset_values_are_those_that_drivers_rely_on() {
    let file = RegisterFile::new();
    for (register, value) in RESETS {
        assert_eq!(file.get(*register), *value, "{register}");
        assert!(file.is_known(*register) && !file.is_written(*register), "{register}");
    }
    let open = reg::PA_SC_SCREEN_SCISSOR_BR;
    assert!(!file.is_known(open) && file.get(open) == 0);
}

#[test]
fn the_catalogue_has_every_group() {
    for group in ["DISP", "DRAW", "EVT", "MEM", "PKT", "REG", "STRM", "WAIT"] {
        assert!(CATALOGUE.iter().any(|e| e.code.starts_with(&format!("CP-{group}-"))), "{group}");
    }
}

/// The tests that bring about the refusals of the walk and of packets; draws, dispatches and streamout have their own.
const TESTS: [&str; 3] =
    [include_str!("walk.rs"), include_str!("memory_packets.rs"), include_str!("deferral.rs")];

#[test]
fn every_refusal_of_packets_has_a_test() {
    for group in ["EVT", "MEM", "PKT", "REG", "WAIT"] {
        for entry in CATALOGUE.iter().filter(|e| e.code.starts_with(&format!("CP-{group}-"))) {
            let quoted = format!("\"{}\"", entry.code);
            assert!(TESTS.iter().any(|test| test.contains(&quoted)), "no test brings about {}", entry.code);
        }
    }
}
