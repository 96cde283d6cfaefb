//! The element codec against independent arithmetic: every format of every vendor, every value of components of up to 16
//! bits, a million random values of each wider kind.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod model;

use std::collections::BTreeSet;

use guestwave_isa::format::{self, Component, Crossing, ELEMENT_BYTES, Format, Numeric, Register};

const REGISTERS: [Register; 9] = [
    Register::Auto32,
    Register::F16,
    Register::F32,
    Register::F64,
    Register::S16,
    Register::U16,
    Register::S32,
    Register::U32,
    Register::I64,
];

/// A small generator of random numbers (xorshift), biased towards bits that are all alike.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bits(&mut self, width: u32) -> u64 {
        let (raw, mask) = (self.next(), self.next());
        let edged = match mask >> 61 {
            0 => raw >> (mask & 63),
            1 => !(raw >> (mask & 63)),
            2 => raw & mask & mask.rotate_left(7),
            _ => raw,
        };
        edged & (u64::MAX >> (64 - width))
    }
}

/// Every format of every vendor's tables, with its name.
fn all() -> Vec<(String, Format)> {
    let amd = (0..=255).filter_map(|n| format::gfx10(n).map(|(f, name)| (format!("amd {name}"), f)));
    let intel = (0..0x200).filter_map(|n| format::intel(n).map(|(f, name)| (format!("intel {name}"), f)));
    let v5 = (0..=255u32).filter_map(|n| {
        format::mali(5, n << 12 | 0x688).ok().map(|f| (format!("mali5 {}", f.name), f.format))
    });
    let v7 = (0..=255u32)
        .filter_map(|n| format::mali(7, n << 12).ok().map(|f| (format!("mali7 {}", f.name), f.format)));
    amd.chain(intel).chain(v5).chain(v7).collect()
}

/// The kinds of components that any format has, shared exponents apart.
fn kinds() -> BTreeSet<(u32, String)> {
    let components =
        all().into_iter().flat_map(|(_, f)| f.components().iter().flatten().copied().collect::<Vec<_>>());
    components
        .filter(|c| c.numeric != Numeric::Shared)
        .map(|c| (c.width.into(), format!("{:?}", c.numeric)))
        .collect()
}

fn kind(name: &str) -> Numeric {
    const KINDS: [Numeric; 10] = [
        Numeric::Unorm,
        Numeric::Snorm,
        Numeric::Uscaled,
        Numeric::Sscaled,
        Numeric::Uint,
        Numeric::Sint,
        Numeric::Float,
        Numeric::Ufloat,
        Numeric::Fixed,
        Numeric::Snapped,
    ];
    KINDS.into_iter().find(|k| format!("{k:?}") == name).unwrap()
}

fn single(numeric: Numeric, width: u32) -> Format {
    Format::new(8, [Some(Component { shift: 0, width: width as u8, numeric }), None, None, None]).unwrap()
}

fn element(bits: u64) -> [u8; ELEMENT_BYTES] {
    let mut element = [0; ELEMENT_BYTES];
    element[..8].copy_from_slice(&bits.to_le_bytes());
    element
}

/// Registers that a kind is checked with: a 64-bit one only where the values are 64-bit or exact floats.
fn registers(numeric: Numeric, width: u32) -> impl Iterator<Item = Register> {
    let wide = match numeric {
        Numeric::Float => [true, false],
        Numeric::Uint | Numeric::Sint => [false, true],
        _ => [false, false],
    };
    let _ = width;
    REGISTERS.into_iter().filter(move |r| match r {
        Register::F64 => wide[0],
        Register::I64 => wide[1],
        _ => true,
    })
}

fn check_load(numeric: Numeric, width: u32, bits: u64, register: Register) {
    let got = single(numeric, width).read(&element(bits), register)[0];
    let wants = model::loaded(numeric, width, bits, register);
    assert_eq!(got, wants, "{numeric:?}{width} {bits:#x} into {register:?}: {got:#x}, not {wants:#x}");
}

fn check_store(numeric: Numeric, width: u32, register: Register, bits: u64) {
    let element = single(numeric, width).write([bits, 0, 0, 0], register);
    let got = u64::from_le_bytes(element[..8].try_into().unwrap());
    let wants = model::stored(numeric, width, register, bits);
    assert_eq!(got, wants, "{register:?} {bits:#x} as {numeric:?}{width}: {got:#x}, not {wants:#x}");
}

#[test]
fn every_value_of_small_components_loads_as_it_should() {
    for (width, name) in kinds().into_iter().filter(|k| k.0 <= 16) {
        for register in registers(kind(&name), width) {
            (0..1u64 << width).for_each(|bits| check_load(kind(&name), width, bits, register));
        }
    }
}

#[test]
fn a_million_values_of_wide_components_load_as_they_should() {
    let mut random = Random(0x853c_49e6_748f_ea9b);
    for (width, name) in kinds().into_iter().filter(|k| k.0 > 16) {
        let numeric = kind(&name);
        let list: Vec<_> = registers(numeric, width).collect();
        for n in 0..1_000_000 {
            let bits = random.bits(width);
            check_load(numeric, width, bits, Register::Auto32);
            check_load(numeric, width, bits, list[n % list.len()]);
        }
    }
}

#[test]
fn a_million_registers_store_as_they_should() {
    let mut random = Random(0xda3e_39cb_94b9_5bdb);
    let kinds: Vec<_> = kinds().into_iter().collect();
    for (width, name) in &kinds {
        let numeric = kind(name);
        let list: Vec<_> = registers(numeric, *width).collect();
        for n in 0..1_000_000 / kinds.len() * 4 {
            let register = if n % 2 == 0 { Register::Auto32 } else { list[n / 2 % list.len()] };
            check_store(numeric, *width, register, random.bits(register.bits().into()));
        }
    }
}

/// Every 16-bit register stores as it should, in every kind.
#[test]
fn every_half_register_stores_as_it_should() {
    for (width, name) in kinds() {
        for register in [Register::F16, Register::S16, Register::U16] {
            (0..1u64 << 16).for_each(|bits| check_store(kind(&name), width, register, bits));
        }
    }
}

/// Bits of an element one by one, so that places are checked by other means than the codec's.
fn extracted(element: &[u8; ELEMENT_BYTES], c: Component) -> u64 {
    let bit = |i: u32| u64::from(element[(i / 8) as usize] >> (i % 8) & 1);
    let first = u32::from(c.shift);
    (0..u32::from(c.width)).fold(0, |bits, i| bits | bit(first + i) << i)
}

#[test]
fn every_format_puts_its_components_where_its_row_says() {
    let mut random = Random(0x5851_f42d_4c95_7f2d);
    let formats = all();
    assert!(formats.len() > 300);
    for (name, format) in formats.iter().filter(|(name, _)| !name.contains("9E5") && !name.contains("E5BGR9"))
    {
        for _ in 0..200 {
            let mut element = [0; ELEMENT_BYTES];
            element.iter_mut().take(format.bytes()).for_each(|b| *b = random.next() as u8);
            let read = format.read(&element, Register::Auto32);
            for (i, c) in format.components().iter().enumerate() {
                let Some(c) = c else { continue };
                let wants =
                    model::loaded(c.numeric, c.width.into(), extracted(&element, *c), Register::Auto32);
                assert_eq!(read[i], wants, "{name} component {i}");
            }
            let written = format.write(read, Register::Auto32);
            assert!(written[format.bytes()..].iter().all(|b| *b == 0), "{name}");
            let once = format.read(&written, Register::Auto32);
            let again = format.read(&format.write(once, Register::Auto32), Register::Auto32);
            assert_eq!(again, once, "{name}: what was stored is kept");
            assert!(
                once == read || name.contains("SNAP"),
                "{name}: what was read is kept, unless a store snaps it"
            );
        }
    }
}

/// Largest and other values of the format with a shared exponent, by floats: all its values are exact in f64.
#[test]
fn shared_exponents() {
    let (format, _) = format::intel(0x0ed).unwrap();
    let mut random = Random(0x1405_7b7e_f767_814f);
    for _ in 0..100_000 {
        let word = random.bits(32) as u32;
        let exponent = 2f64.powi((word >> 27) as i32 - 24);
        let wants: [u64; 3] =
            std::array::from_fn(|i| ((f64::from(word >> (9 * i) & 511) * exponent) as f32).to_bits().into());
        let read = format.read(&element(word.into()), Register::Auto32);
        assert_eq!((&read[..3], read[3]), (&wants[..], 1.0f32.to_bits().into()), "{word:#x}");
        let again = format.read(&format.write(read, Register::Auto32), Register::Auto32);
        assert_eq!(again, read, "{word:#x}");
    }
    let store = |values: [f32; 3]| {
        let bytes =
            format.write([values[0], values[1], values[2], 0.0].map(|v| v.to_bits().into()), Register::F32);
        u32::from_le_bytes(bytes[..4].try_into().unwrap())
    };
    assert_eq!(store([1.0, 0.5, 0.25]), 16 << 27 | 64 << 18 | 128 << 9 | 256);
    assert_eq!(store([1e9, f32::NAN, -1.0]), 31 << 27 | 511, "clamped; NaN and negative are 0");
    assert_eq!(store([511.75, 0.0, 0.0]), 25 << 27 | 256, "rounding up takes the next exponent");
}

#[test]
fn selections_of_mali_words() {
    let bytes = |list: &[u8]| {
        let mut element = [0; ELEMENT_BYTES];
        element[..list.len()].copy_from_slice(list);
        element
    };
    let rgba8ui = 155 << 12;
    let read = |version, word| {
        format::mali(version, word).unwrap().format.read(&bytes(&[10, 20, 30, 40]), Register::U32)
    };
    // v6: selectors of three bits; 4 is 0 and 5 is 1.
    assert_eq!(read(6, rgba8ui | 0x688), [10, 20, 30, 40]);
    assert_eq!(read(6, rgba8ui | 2 | 1 << 3 | 5 << 9), [30, 20, 10, 1]);
    assert_eq!(read(6, rgba8ui | 4 | 4 << 3 | 4 << 6 | 3 << 9), [0, 0, 0, 40]);
    // v7: orders as memory holds the channels.
    let orders = [
        (0, [10, 20, 30, 40]),
        (4, [30, 20, 10, 40]),
        (8, [20, 30, 40, 10]),
        (12, [40, 30, 20, 10]),
        (16, [10, 20, 30, 1]),
        (24, [20, 30, 40, 1]),
        (226, [10, 10, 10, 10]),
        (231, [0, 0, 0, 0]),
    ];
    for (code, wants) in orders {
        assert_eq!(read(7, rgba8ui | code), wants, "order {code}");
    }
    // Stores put the channels back; a channel that is read twice is stored once.
    let format = format::mali(7, rgba8ui | 4).unwrap().format;
    assert_eq!(format.write([30, 20, 10, 40], Register::U32)[..4], [10, 20, 30, 40]);
    let format = format::mali(7, rgba8ui | 226).unwrap().format;
    assert_eq!(format.write([1, 2, 3, 4], Register::U32)[..4], [1, 0, 0, 0]);
    // The Constant format has no bytes; its 1 is the register's.
    let constant = format::mali(6, 95 << 12 | 0xb24).unwrap();
    assert!(constant.constant && constant.format.bytes() == 0);
    assert_eq!(constant.format.read(&bytes(&[9; 16]), Register::F32), [0, 0, 0, 0x3f80_0000]);
    assert_eq!(constant.format.read(&bytes(&[9; 16]), Register::S32), [0, 0, 0, 1]);
    for (version, word) in
        [(7, 1 << 20), (6, 1 << 21), (6, 6), (7, 229), (7, 12 << 12), (6, 231 << 12 | 0x688)]
    {
        assert!(format::mali(version, word).is_err(), "{word:#x}");
    }
}

#[test]
fn crossings_say_what_they_are() {
    let rows = [
        (Numeric::Uint, Register::F32, Crossing::Scaled, Crossing::Lossy),
        (Numeric::Sint, Register::S16, Crossing::Same, Crossing::Same),
        (Numeric::Float, Register::U32, Crossing::Lossy, Crossing::Lossy),
        (Numeric::Unorm, Register::F16, Crossing::Same, Crossing::Same),
        (Numeric::Uint, Register::Auto32, Crossing::Same, Crossing::Same),
        (Numeric::Float, Register::Auto32, Crossing::Same, Crossing::Same),
    ];
    for (memory, register, load, store) in rows {
        assert_eq!(register.load_crossing(memory), load, "{memory:?} {register:?}");
        assert_eq!(register.store_crossing(memory), store, "{memory:?} {register:?}");
    }
}
