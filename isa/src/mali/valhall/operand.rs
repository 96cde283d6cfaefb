//! Sources: registers, uniforms, the constant table, and special values.

/// The constant table: what source codes 0xc0 to 0xdf read as.
pub const CONSTANTS: [u32; 32] = [
    0x0000_0000,
    0xffff_ffff,
    0x7fff_ffff,
    0xfafc_fdfe,
    0x0100_0000,
    0x8000_2000,
    0x7060_5030,
    0xc0b0_a090,
    0x0302_0100,
    0x0706_0504,
    0x0b0a_0908,
    0x0f0e_0d0c,
    0x1312_1110,
    0x1716_1514,
    0x1b1a_1918,
    0x1f1e_1d1c,
    0x3f80_0000,
    0x3dcc_cccd,
    0x3ea2_f983,
    0x3f31_7218,
    0x4049_0fdb,
    0x0000_0000,
    0x477f_ff00,
    0x5c00_5bf8,
    0x2e66_0000,
    0x3400_0000,
    0x3800_0000,
    0x3c00_0000,
    0x4000_0000,
    0x4400_0000,
    0x4800_0000,
    0x4248_0000,
];

/// Special values by page and number; each is a pair of words.
pub(super) const SPECIALS: &[(u8, u8, &str)] = &[
    (0, 2, "warp_id"),
    (0, 4, "framebuffer_size"),
    (0, 5, "atest_datum"),
    (0, 6, "sample"),
    (0, 8, "blend_descriptor_0"),
    (0, 9, "blend_descriptor_1"),
    (0, 10, "blend_descriptor_2"),
    (0, 11, "blend_descriptor_3"),
    (0, 12, "blend_descriptor_4"),
    (0, 13, "blend_descriptor_5"),
    (0, 14, "blend_descriptor_6"),
    (0, 15, "blend_descriptor_7"),
    (1, 1, "thread_local_pointer"),
    (1, 3, "workgroup_local_pointer"),
    (1, 7, "resource_table_pointer"),
    (3, 1, "lane_id"),
    (3, 3, "core_id"),
    (3, 15, "program_counter"),
];

/// Where a source comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A register, 0 to 63, and whether this is its last use.
    Register(u8, bool),
    /// A word of the uniforms (FAU), 0 to 255.
    Uniform(u8),
    /// A word of the constant table, by its number.
    Constant(u8),
    /// A word (0 or 1) of a special value.
    Special(&'static str, u8),
}

impl Source {
    /// The source that a byte of the word names; `None` if the code is reserved.
    pub(super) fn decode(code: u8, page: u8) -> Option<Source> {
        let number = code & 0x3f;
        match code >> 6 {
            0 => Some(Source::Register(number, false)),
            1 => Some(Source::Register(number, true)),
            2 => Some(Source::Uniform(number | page << 6)),
            _ if number < 32 => Some(Source::Constant(number)),
            _ => {
                let special = SPECIALS.iter().find(|s| (s.0, s.1) == (page, (number - 32) >> 1))?;
                Some(Source::Special(special.2, number & 1))
            }
        }
    }
}

/// What happens to a source before the operation sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceMods {
    /// Bitwise inversion.
    pub not: bool,
    /// The sign of a float cleared.
    pub abs: bool,
    /// The sign of a float turned, after `abs`.
    pub neg: bool,
}
