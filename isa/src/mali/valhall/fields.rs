//! Modifier fields: where they lie in the word and what their codes are called.

/// A modifier: a field of the word whose codes have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// What it is.
    pub name: &'static str,
    /// Lowest bit.
    pub lsb: u8,
    /// Bits.
    pub width: u8,
    /// Name of each code as listings show it; empty where a listing shows nothing, `-` where the code is reserved.
    pub names: &'static [&'static str],
}

impl Field {
    const fn new(name: &'static str, lsb: u8, width: u8, names: &'static [&'static str]) -> Field {
        Field { name, lsb, width, names }
    }

    /// Its bits in the word.
    pub const fn mask(&self) -> u64 {
        ((1 << self.width) - 1) << self.lsb
    }

    /// Its code in `word`.
    pub const fn of(&self, word: u64) -> u32 {
        ((word & self.mask()) >> self.lsb) as u32
    }

    /// The name of its code in `word`; `None` if that is reserved.
    pub fn name_in(&self, word: u64) -> Option<&'static str> {
        self.names.get(self.of(word) as usize).copied().filter(|n| *n != "-")
    }
}

/// Names of the codes of [`field::FLOW`].
const FLOWS: &[&str] = &[
    "",
    "wait0",
    "wait1",
    "wait01",
    "wait2",
    "wait02",
    "wait12",
    "wait012",
    "wait0126",
    "wait",
    "reconverge",
    "-",
    "-",
    "discard",
    "-",
    "end",
];

const LOAD_8: &[&str] = &["b0", "b1", "b2", "b3", "h0", "h1", "w0", "d0"];
const LOAD_16: &[&str] = &["h0", "h1", "w0", "d0"];
const LOAD_32: &[&str] = &["", "d0"];

/// The fields, one a row.
pub mod field {
    use super::{FLOWS, Field, LOAD_8, LOAD_16, LOAD_32};

    macro_rules! fields {
        ($($(#[doc = $doc:literal])* $id:ident = $name:literal $lsb:literal $width:literal $names:expr;)*) => {
            $($(#[doc = $doc])* pub const $id: Field = Field::new($name, $lsb, $width, $names);)*
        };
    }

    fields! {
        /// What is waited for before the next instruction, or how the thread goes on.
        FLOW = "flow" 59 4 FLOWS;
        /// Page of uniforms (64 words each) and of special constants.
        PAGE = "page" 57 2 &["0", "1", "2", "3"];
        /// Rounding of floats.
        ROUND = "round" 30 2 &["", "rtp", "rtn", "rtz"];
        /// Clamp of a float result.
        CLAMP = "clamp" 32 2 &["", "clamp_0_inf", "clamp_m1_1", "clamp_0_1"];
        /// Condition of a float comparison.
        CONDITION = "condition" 32 3 &["eq", "gt", "ge", "ne", "lt", "le", "gtlt", "total"];
        /// Condition of an integer comparison.
        CONDITION_INT = "condition" 32 3 &["eq", "gt", "ge", "ne", "lt", "le", "-", "-"];
        /// How a comparison's truth is written.
        RESULT = "result" 30 2 &["i1", "f1", "m1", "u1"];
        /// Saturation of an integer result.
        SATURATE = "saturate" 30 1 &["", "saturate"];
        /// Rounding up of a halving addition.
        RHADD = "rhadd" 30 1 &["", "rhadd"];
        /// Inversion of a result.
        NOT_RESULT = "not_result" 29 1 &["", "not_result"];
        /// Arithmetic right shift.
        SIGNED = "signed" 34 1 &["", "signed"];
        /// Condition of a mux.
        MUX = "mux" 32 2 &["neg", "", "fp_zero", "bit"];
        /// Branch on zero instead of on other than zero.
        EQ = "eq" 36 1 &["", "eq"];
        /// Target is an address and not an offset.
        ABSOLUTE = "absolute" 40 1 &["", "absolute"];
        /// Hint to branches.
        CONSERVATIVE = "conservative" 35 1 &["", "conservative"];
        /// Dependency slot of a message.
        SLOT = "slot" 30 3 &["slot0", "slot1", "slot2", "-", "-", "-", "-", "slot7"];
        /// Components of a message.
        VECSIZE = "vecsize" 28 2 &["", "v2", "v3", "v4"];
        /// Format of the staging registers.
        REGFMT = "regfmt" 24 3 &["auto", "-", "f32", "f16", "s32", "s16", "u32", "u16"];
        /// Format of a varying in memory.
        SOURCE_FORMAT = "source_format" 24 2 &["src_flat32", "src_flat16", "src_f32", "src_f16"];
        /// Where a varying is interpolated.
        SAMPLE = "sample" 38 2 &["center", "centroid", "sample", "explicit"];
        /// What becomes of the interpolation position.
        UPDATE = "update" 36 2 &["store", "retrieve", "-", "clobber"];
        /// Cache hint of loads and stores.
        ACCESS = "access" 24 2 &["", "istream", "estream", "force"];
        /// Cache hint of converting loads and stores.
        CVT_ACCESS = "access" 37 3 &["", "istream", "estream", "force"];
        /// Zero extension of a load.
        UNSIGNED = "unsigned" 39 1 &["", "unsigned"];
        /// Where a loaded byte goes.
        LANE_8 = "lane" 36 3 LOAD_8;
        /// Where a loaded half goes.
        LANE_16 = "lane" 36 3 LOAD_16;
        /// Where three loaded bytes go.
        LANE_24 = "lane" 36 3 &[""];
        /// Where a loaded word goes.
        LANE_32 = "lane" 36 3 LOAD_32;
        /// Where six loaded bytes go.
        LANE_48 = "lane" 36 3 &["-", "-", "-", "-", ""];
        /// Where twelve loaded bytes go.
        LANE_96 = "lane" 36 3 &["-", "-", "-", "-", "-", "-", ""];
        /// Where eight or sixteen loaded bytes go.
        LANE_ALL = "lane" 36 3 &["-", "-", "-", "-", "-", "-", "-", ""];
        /// What becomes of NaNs.
        NAN_MODE = "nan_mode" 8 2 &["", "flush_nan", "quiet_nan", "-"];
        /// Denormals to zero.
        FTZ = "ftz" 10 1 &["", "ftz"];
        /// Infinities to the largest finite number.
        FLUSH_INF = "flush_inf" 11 1 &["", "flush_inf"];
        /// Staging registers.
        STAGING_COUNT = "staging_count" 33 3 &["0", "1", "2", "3", "4", "5", "6", "7"];
    }
}
