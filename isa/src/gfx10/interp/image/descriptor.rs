//! Image descriptors (T#): 256 bits in eight scalar registers.

use crate::gfx10::interp::wave::Wave;

/// Bits of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    word: u8,
    lsb: u8,
    width: u8,
}

const fn field(word: u8, lsb: u8, width: u8) -> Field {
    Field { word, lsb, width }
}

impl Field {
    fn of(self, words: &[u32; 8]) -> u32 {
        let word = u64::from(words[usize::from(self.word & 7)]);
        ((word >> self.lsb) & ((1 << self.width) - 1)) as u32
    }
}

/// Bits 39:8 of the base address; the low 8 of those are bits 15:8, which tiled surfaces exclusive-or in.
const BASE_LOW: Field = field(0, 0, 32);
/// Bits 47:40 of the base address.
const BASE_HIGH: Field = field(1, 0, 8);
/// Unified format number.
const FORMAT: Field = field(1, 20, 9);
/// Bits 1:0 of the width less 1.
const WIDTH_LOW: Field = field(1, 30, 2);
/// Bits 13:2 of the width less 1.
const WIDTH_HIGH: Field = field(2, 0, 12);
/// The height less 1.
const HEIGHT: Field = field(2, 14, 14);
/// Selectors of X, Y, Z, W.
const DST_SEL: [Field; 4] = [field(3, 0, 3), field(3, 3, 3), field(3, 6, 3), field(3, 9, 3)];
/// The first level that the view shows; of multisampled images log2 of the samples.
const BASE_LEVEL: Field = field(3, 12, 4);
/// The last level that the view shows.
const LAST_LEVEL: Field = field(3, 16, 4);
/// Swizzle mode.
const SW_MODE: Field = field(3, 20, 5);
/// The kind of image.
const TYPE: Field = field(3, 28, 4);
/// The depth less 1, or the last slice that the view shows. Of GFX10.3's flat images, with one more bit, a pitch of
/// the driver's choice.
const DEPTH: Field = field(4, 0, 14);
/// The first slice that the view shows.
const BASE_ARRAY: Field = field(4, 16, 13);
/// Not 0 where a volume is seen as an array.
const ARRAY_PITCH: Field = field(5, 0, 4);
/// The surface's last level.
const MAX_MIP: Field = field(5, 4, 4);
/// Texels may be compressed (DCC), and only with their keys can one tell.
const COMPRESSION_EN: Field = field(6, 21, 1);

/// What a value of TYPE says of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// It has rows.
    pub rows: bool,
    /// It has a third coordinate.
    pub volume: bool,
    /// It has slices (faces of cubes count as such).
    pub array: bool,
    /// Texels have several samples.
    pub multisampled: bool,
}

const fn kind(rows: bool, volume: bool, array: bool, multisampled: bool) -> Kind {
    Kind { rows, volume, array, multisampled }
}

/// Values of TYPE from 8 on: 1D, 2D, 3D, cube, 1D array, 2D array, multisampled, multisampled array. Below 8 are
/// buffers.
const KINDS: [Kind; 8] = [
    kind(false, false, false, false),
    kind(true, false, false, false),
    kind(true, true, false, false),
    kind(true, false, true, false),
    kind(false, false, true, false),
    kind(true, false, true, false),
    kind(true, false, false, true),
    kind(true, false, true, true),
];

/// A decoded image descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Guest address; the low bits of tiled surfaces are no part of it.
    pub base: u64,
    /// Unified format number.
    pub format: u16,
    /// Texels across, rows, and slices of a volume, at level 0.
    pub size: [u32; 3],
    /// What each component of a load gets: 0 zero, 1 one, 4 to 7 a component.
    pub selectors: [u8; 4],
    /// First and last level of the view.
    pub levels: [u8; 2],
    /// Levels of the surface.
    pub surface_levels: u8,
    /// First and last slice of the view.
    pub slices: [u32; 2],
    /// Number of the swizzle mode.
    pub mode: u8,
    /// `None` for a descriptor of a buffer.
    pub kind: Option<Kind>,
    /// DEPTH of an image that has neither depth nor slices.
    pub pitch: u32,
    /// A volume seen as an array.
    pub array_pitch: u8,
    /// Texels may be compressed.
    pub compressed: bool,
}

impl Descriptor {
    /// The descriptor in eight scalar registers.
    pub(super) fn read(wave: &Wave, first: u8) -> Self {
        Self::decode(&std::array::from_fn(|i| wave.sgpr_of(first, i as u8)))
    }

    pub(super) fn decode(words: &[u32; 8]) -> Self {
        let of = |field: Field| field.of(words);
        let code = of(TYPE) as usize;
        let kind = code.checked_sub(8).and_then(|i| KINDS.get(i)).copied();
        let has = |flag: fn(&Kind) -> bool| kind.as_ref().is_some_and(flag);
        let depth = of(DEPTH);
        let flat = !has(|k| k.volume || k.array);
        let width = of(WIDTH_LOW) | of(WIDTH_HIGH) << 2;
        Descriptor {
            base: (u64::from(of(BASE_LOW)) | u64::from(of(BASE_HIGH)) << 32) << 8,
            format: of(FORMAT) as u16,
            size: [
                width + 1,
                if has(|k| k.rows) { of(HEIGHT) + 1 } else { 1 },
                if has(|k| k.volume) { depth + 1 } else { 1 },
            ],
            selectors: DST_SEL.map(|field| of(field) as u8),
            levels: [of(BASE_LEVEL) as u8, of(LAST_LEVEL) as u8],
            surface_levels: of(MAX_MIP) as u8 + 1,
            slices: if has(|k| k.array) { [of(BASE_ARRAY), depth] } else { [0, 0] },
            mode: of(SW_MODE) as u8,
            kind,
            pitch: if flat { depth } else { 0 },
            array_pitch: of(ARRAY_PITCH) as u8,
            compressed: of(COMPRESSION_EN) != 0,
        }
    }
}
