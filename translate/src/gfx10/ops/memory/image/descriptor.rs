//! Image descriptors (T#) at translation: all but the base address must be known then and is taken for granted.

use guestwave_isa::format::{self, Format};
use guestwave_isa::gfx10::surface::{Device, Layout, Shape, SwizzleMode};
use guestwave_isa::gfx10::{Inst, Operand};

use crate::gfx10::emit::Emit;
use crate::gfx10::error::Stop;
use crate::program::{BinOp, Slot, Trace, Value};

/// Bits of a descriptor: word, lowest bit, width.
type Field = (usize, u32, u32);

const BASE_HIGH_BITS: u32 = 8;
const FORMAT: Field = (1, 20, 9);
const WIDTH_LOW: Field = (1, 30, 2);
const WIDTH_HIGH: Field = (2, 0, 12);
const HEIGHT: Field = (2, 14, 14);
const DST_SEL: [Field; 4] = [(3, 0, 3), (3, 3, 3), (3, 6, 3), (3, 9, 3)];
const BASE_LEVEL: Field = (3, 12, 4);
const LAST_LEVEL: Field = (3, 16, 4);
const SW_MODE: Field = (3, 20, 5);
const TYPE: Field = (3, 28, 4);
const DEPTH: Field = (4, 0, 14);
const BASE_ARRAY: Field = (4, 16, 13);
const ARRAY_PITCH: Field = (5, 0, 4);
const MAX_MIP: Field = (5, 4, 4);
const COMPRESSION_EN: Field = (6, 21, 1);

/// Every field that decides what a program does.
const FIELDS: [Field; 17] = [
    FORMAT,
    WIDTH_LOW,
    WIDTH_HIGH,
    HEIGHT,
    DST_SEL[0],
    DST_SEL[1],
    DST_SEL[2],
    DST_SEL[3],
    BASE_LEVEL,
    LAST_LEVEL,
    SW_MODE,
    TYPE,
    DEPTH,
    BASE_ARRAY,
    ARRAY_PITCH,
    MAX_MIP,
    COMPRESSION_EN,
];

fn of(words: &[u32; 8], (word, lowest, width): Field) -> u32 {
    words[word] >> lowest & ((1 << width) - 1)
}

/// What a TYPE has: rows, a third coordinate, slices, samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) rows: bool,
    pub(super) volume: bool,
    pub(super) array: bool,
    pub(super) samples: bool,
}

const fn kind(rows: bool, volume: bool, array: bool, samples: bool) -> Kind {
    Kind { rows, volume, array, samples }
}

/// TYPE from 8 on: 1D, 2D, 3D, cube, 1D array, 2D array, 2D multisampled, 2D multisampled array. Below 8 are buffers.
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

/// What an instruction knows of its image when it is translated.
pub(super) struct Image {
    pub(super) kind: Kind,
    pub(super) format: Format,
    pub(super) layout: Layout,
    /// Columns, rows, slices of a volume, at level 0.
    pub(super) size: [u32; 3],
    pub(super) selectors: [u8; 4],
    /// First and last level of the view.
    pub(super) levels: [u8; 2],
    /// First and last slice of the view.
    pub(super) slices: [u32; 2],
}

/// Why an image cannot be reached. A program with such an instruction ends without effect where a lane comes to it: lanes that
/// stay away from it do not care what its descriptor's registers hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreachable {
    /// The descriptor does not follow from what a launch says.
    Untraced,
    /// It is none of an image, or of one that has no layout.
    Unsettled,
    /// Its TYPE has other coordinates than the instruction's DIM.
    OtherDim,
    /// Its format does not do what the instruction wants.
    Format,
}

impl Unreachable {
    /// The code with which the program ends.
    pub(super) fn code(self) -> &'static str {
        match self {
            Unreachable::Untraced => "TR-IMG-001",
            Unreachable::Unsettled => "TR-IMG-002",
            Unreachable::OtherDim => "TR-IMG-003",
            Unreachable::Format => "TR-IMG-004",
        }
    }
}

impl Image {
    /// The image that eight known words describe; the base address in them does not count.
    pub(super) fn new(words: &[u32; 8], device: &Device) -> Option<Image> {
        let kind = *KINDS.get((of(words, TYPE) as usize).checked_sub(8)?)?;
        let depth = of(words, DEPTH);
        let flat = !kind.volume && !kind.array;
        let levels = [of(words, BASE_LEVEL) as u8, of(words, LAST_LEVEL) as u8];
        let surface_levels = of(words, MAX_MIP) as u8 + 1;
        let slices = if kind.array { [of(words, BASE_ARRAY), depth] } else { [0, 0] };
        let settled = !kind.samples
            && of(words, COMPRESSION_EN) == 0
            && of(words, ARRAY_PITCH) == 0
            && !(flat && depth != 0)
            && levels[0] <= levels[1]
            && levels[1] < surface_levels
            && slices[0] <= slices[1];
        let width = (of(words, WIDTH_LOW) | of(words, WIDTH_HIGH) << 2) + 1;
        let height = if kind.rows { of(words, HEIGHT) + 1 } else { 1 };
        let (format, _) = u8::try_from(of(words, FORMAT)).ok().and_then(format::gfx10).filter(|_| settled)?;
        let shape = Shape {
            mode: SwizzleMode::new(of(words, SW_MODE) as u8)?,
            volume: kind.volume,
            width,
            height,
            levels: surface_levels,
            element: format.bytes() as u8,
        };
        Some(Image {
            kind,
            format,
            layout: Layout::new(device, &shape).ok()?,
            size: [width, height, if kind.volume { depth + 1 } else { 1 }],
            selectors: DST_SEL.map(|field| of(words, field) as u8),
            levels,
            slices,
        })
    }
}

impl Emit<'_> {
    /// The descriptor in src[1]: the image, and its base address as a `B64`.
    pub(super) fn image(&mut self, inst: &Inst) -> Result<(Result<Image, Unreachable>, Value), Stop> {
        let Operand::Sgpr(first) = inst.src[1] else {
            return Err(self.refuse(inst, "a descriptor in no scalar register"));
        };
        self.within(inst, first, 8)?;
        let mut registers = Vec::new();
        for r in first..first + 8 {
            registers.push(self.sgpr(r)?);
        }
        let base = self.image_base(registers[0], registers[1]);
        let mut words = [0; 8];
        for (i, word) in words.iter_mut().enumerate() {
            let mask = FIELDS.iter().filter(|f| f.0 == i).fold(0, |m, f| m | ((1 << f.2) - 1) << f.1);
            if mask == 0 {
                continue;
            }
            let assumed = self.assume(registers[i], mask, inst.offset);
            match self.b.constant(assumed) {
                Some(bits) => *word = bits as u32,
                None => return Ok((Err(Unreachable::Untraced), base)),
            }
        }
        let source = self.input.source;
        let device = Device { target: source.target, addr_config: source.addr_config };
        Ok((Image::new(&words, &device).ok_or(Unreachable::Unsettled), base))
    }

    /// Bits 47:8 of the address.
    fn image_base(&mut self, low: Value, high: Value) -> Value {
        let high = self.with_constant(BinOp::And, high, (1 << BASE_HIGH_BITS) - 1);
        let base = self.b.bin(BinOp::Pack, low, high);
        self.shift(BinOp::Shl, base, 8)
    }

    /// The slot of an image whose base can be traced.
    pub(super) fn image_slot(&mut self, image: &Image, base: Value, written: bool) -> Option<u16> {
        let base = self.trace(base)?;
        let block = image.layout.blocks().map_or(1, |b| b.bytes);
        let start = Trace::And(Box::new(base), Box::new(Trace::Const(!(block - 1))));
        let slices = u64::from(image.slices[1].max(image.size[2] - 1)) + 1;
        let size = Trace::Const(image.layout.slice_bytes().saturating_mul(slices));
        Some(self.b.slot(Slot { base: start, size: Some(size), written }))
    }
}
