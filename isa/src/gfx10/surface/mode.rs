//! Swizzle modes.

/// A swizzle mode: the SW_MODE field of image descriptors and colour targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SwizzleMode(u8);

/// What a mode's number says: its name, log2 of its blocks' bytes, and whether address bits are exclusive ors.
struct Row {
    number: u8,
    name: &'static str,
    block_log2: u8,
    xor: bool,
}

const fn row(number: u8, name: &'static str, block_log2: u8, xor: bool) -> Row {
    Row { number, name, block_log2, xor }
}

/// The modes of GFX10 that have blocks of one size.
const ROWS: [Row; 16] = [
    row(1, "256B_S", 8, false),
    row(2, "256B_D", 8, false),
    row(5, "4KB_S", 12, false),
    row(6, "4KB_D", 12, false),
    row(9, "64KB_S", 16, false),
    row(10, "64KB_D", 16, false),
    row(17, "64KB_S_T", 16, true),
    row(18, "64KB_D_T", 16, true),
    row(20, "4KB_Z_X", 12, true),
    row(21, "4KB_S_X", 12, true),
    row(22, "4KB_D_X", 12, true),
    row(24, "64KB_Z_X", 16, true),
    row(25, "64KB_S_X", 16, true),
    row(26, "64KB_D_X", 16, true),
    row(27, "64KB_R_X", 16, true),
    row(0, "LINEAR", 8, false),
];

/// Bits of an address below which all pipes see the same: 256 bytes.
const PIPE_INTERLEAVE_LOG2: u32 = 8;
/// Address bits of a column, between those of the pipes and those of the banks.
const COLUMN_BITS: u32 = 2;
/// The most bits that choose a bank.
const MAX_BANK_BITS: u32 = 4;

impl SwizzleMode {
    /// The linear mode.
    pub const LINEAR: SwizzleMode = SwizzleMode(0);

    /// The mode with this number, `None` if GFX10 has none or its blocks' size is a device's choice.
    pub fn new(number: u8) -> Option<Self> {
        ROWS.iter().any(|row| row.number == number).then_some(SwizzleMode(number))
    }

    /// Its number.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Its name as AMD's register headers have it, without their prefix.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Rows of elements, not blocks.
    pub fn is_linear(self) -> bool {
        self.0 == 0
    }

    /// Address bits are exclusive ors of coordinates, and of the base's low bits.
    pub fn is_xor(self) -> bool {
        self.row().xor
    }

    /// Bytes of a block; of a linear surface, what its base is aligned to.
    pub fn block_bytes(self) -> u64 {
        1 << self.row().block_log2
    }

    /// The bits of a base that are exclusive-ored into offsets: those that choose a pipe and, above the column's, a
    /// bank. GB_ADDR_CONFIG bits 2:0 have log2 of the pipes.
    pub(super) fn xor_bits(self, addr_config: u32) -> u64 {
        if !self.is_xor() {
            return 0;
        }
        let block = u32::from(self.row().block_log2);
        let pipes = (addr_config & 7).min(block.saturating_sub(PIPE_INTERLEAVE_LOG2));
        let bank = PIPE_INTERLEAVE_LOG2 + pipes + COLUMN_BITS;
        let bank_bits = block.saturating_sub(bank).min(MAX_BANK_BITS);
        ((1 << pipes) - 1) << PIPE_INTERLEAVE_LOG2 | ((1 << bank_bits) - 1) << bank
    }

    fn row(self) -> &'static Row {
        const LINEAR: &Row = &ROWS[ROWS.len() - 1];
        ROWS.iter().find(|row| row.number == self.0).unwrap_or(LINEAR)
    }
}
