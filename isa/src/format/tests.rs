//! Exact conversions held against f64 arithmetic, which is exact enough for every component width here.

use proptest::prelude::*;

use super::*;

fn one_component(width: u8, numeric: Numeric) -> Format {
    Format::new(4, [Some(Component { shift: 0, width, numeric }), None, None, None]).unwrap()
}

fn load(format: &Format, bits: u32) -> u32 {
    let mut element = [0; 16];
    element[..4].copy_from_slice(&bits.to_le_bytes());
    format.load(&element)[0]
}

fn store(format: &Format, register: u32) -> u32 {
    let bytes = format.store([register, 0, 0, 0]);
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn signed(bits: u32, width: u8) -> i32 {
    ((bits << (32 - width)) as i32) >> (32 - width)
}

#[test]
fn normalised_loads_are_the_nearest_f32() {
    for width in [2u8, 8, 10, 11, 16] {
        let (top, half) = ((1u32 << width) - 1, (1i32 << (width - 1)) - 1);
        for bits in 0..=top {
            let unorm = (f64::from(bits) / f64::from(top)) as f32;
            assert_eq!(
                load(&one_component(width, Numeric::Unorm), bits),
                unorm.to_bits(),
                "unorm{width} {bits}"
            );
            let snorm = (f64::from(signed(bits, width)) / f64::from(half)).max(-1.0) as f32;
            assert_eq!(
                load(&one_component(width, Numeric::Snorm), bits),
                snorm.to_bits(),
                "snorm{width} {bits}"
            );
        }
    }
}

#[test]
fn normalised_values_survive_a_round_trip() {
    for width in [2u8, 8, 10, 11, 16] {
        for bits in 0..1u32 << width {
            let unorm = one_component(width, Numeric::Unorm);
            assert_eq!(store(&unorm, load(&unorm, bits)), bits);
            let snorm = one_component(width, Numeric::Snorm);
            let lowest = 1u32 << (width - 1);
            let expected = if bits == lowest { lowest + 1 } else { bits };
            assert_eq!(store(&snorm, load(&snorm, bits)), expected);
        }
    }
}

#[test]
fn half_floats_survive_a_round_trip() {
    let half = one_component(16, Numeric::Float);
    for bits in 0..1u32 << 16 {
        assert_eq!(store(&half, load(&half, bits)), bits);
    }
    // 1, -2, the least denormal, the largest finite number, infinity.
    for (bits, value) in
        [(0x3c00, 1.0f32), (0xc000, -2.0), (1, 2f32.powi(-24)), (0x7bff, 65504.0), (0x7c00, f32::INFINITY)]
    {
        assert_eq!(load(&half, bits), value.to_bits());
    }
}

#[test]
fn small_unsigned_floats() {
    let (ten, eleven) = (one_component(10, Numeric::Ufloat), one_component(11, Numeric::Ufloat));
    for bits in 0..1u32 << 11 {
        assert_eq!(store(&eleven, load(&eleven, bits)), bits);
        assert_eq!(store(&ten, load(&ten, bits & 0x3ff)), bits & 0x3ff);
    }
    assert_eq!(load(&eleven, 0x3c0), 1.0f32.to_bits());
    assert_eq!(load(&ten, 0x1e0), 1.0f32.to_bits());
    assert_eq!(store(&eleven, (-3.0f32).to_bits()), 0, "no sign: negative is 0");
    assert_eq!(store(&eleven, f32::NEG_INFINITY.to_bits()), 0);
    assert_eq!(store(&eleven, f32::NAN.to_bits()) & 0x7c0, 0x7c0);
}

#[test]
fn stores_round_and_clamp() {
    let rows: [(Numeric, u8, f32, u32); 16] = [
        (Numeric::Unorm, 8, f32::NAN, 0),
        (Numeric::Unorm, 8, 2.0, 255),
        (Numeric::Unorm, 8, f32::INFINITY, 255),
        (Numeric::Unorm, 8, -1.0, 0),
        (Numeric::Unorm, 8, 0.5, 128),
        (Numeric::Unorm, 8, 1e-40, 0),
        (Numeric::Snorm, 8, -1.0, 0x81),
        (Numeric::Snorm, 8, -7.0, 0x81),
        (Numeric::Snorm, 8, f32::NEG_INFINITY, 0x81),
        (Numeric::Snorm, 8, 0.5, 64),
        (Numeric::Uscaled, 8, 7.9, 7),
        (Numeric::Uscaled, 8, 1e30, 255),
        (Numeric::Sscaled, 8, -7.9, 0xf9),
        (Numeric::Sscaled, 8, -1e30, 0x80),
        (Numeric::Float, 16, 65520.0, 0x7c00),
        (Numeric::Float, 16, 65519.0, 0x7bff),
    ];
    for (numeric, width, value, bits) in rows {
        assert_eq!(
            store(&one_component(width, numeric), value.to_bits()),
            bits,
            "{numeric:?}{width} {value}"
        );
    }
    let rows: [(Numeric, u8, u32, u32); 5] = [
        (Numeric::Uint, 8, 300, 255),
        (Numeric::Uint, 32, u32::MAX, u32::MAX),
        (Numeric::Sint, 8, 200, 127),
        (Numeric::Sint, 8, (-200i32) as u32, 0x80),
        (Numeric::Sint, 32, i32::MIN as u32, i32::MIN as u32),
    ];
    for (numeric, width, value, bits) in rows {
        assert_eq!(store(&one_component(width, numeric), value), bits, "{numeric:?}{width} {value}");
    }
}

#[test]
fn missing_components_read_as_0_0_0_1() {
    assert_eq!(one_component(8, Numeric::Unorm).load(&[255; 16]), [1.0f32.to_bits(), 0, 0, 1.0f32.to_bits()]);
    assert_eq!(one_component(8, Numeric::Sint).load(&[255; 16]), [u32::MAX, 0, 0, 1]);
}

#[test]
fn hostile_shapes_are_refused() {
    let c = |shift, width, numeric| Some(Component { shift, width, numeric });
    for (bytes, first) in [
        (0, None),
        (33, None),
        (4, c(0, 0, Numeric::Uint)),
        (4, c(0, 33, Numeric::Uint)),
        (4, c(25, 8, Numeric::Uint)),
        (4, c(0, 24, Numeric::Float)),
        (4, c(0, 16, Numeric::Ufloat)),
        (4, c(0, 1, Numeric::Snorm)),
    ] {
        assert_eq!(Format::new(bytes, [first, None, None, None]), None);
    }
}

#[test]
fn gfx10_has_77_formats() {
    assert_eq!((0..=255u8).filter(|n| gfx10(*n).is_some()).collect::<Vec<_>>(), (1..=77).collect::<Vec<_>>());
    for n in 1..=77 {
        let (format, name) = gfx10(n).unwrap();
        let widths: Vec<_> = format.components().iter().flatten().map(|c| c.width).collect();
        let named = name.rsplit_once('_').unwrap().0;
        let mut listed: Vec<u8> = named.split('_').map(|w| w.parse().unwrap()).collect();
        let uneven = listed.iter().any(|w| *w != listed[0]);
        if uneven {
            listed.reverse();
        }
        assert_eq!(widths, listed, "{name}");
        assert_eq!(8 * format.bytes(), widths.iter().map(|w| usize::from(*w)).sum::<usize>(), "{name}");
    }
}

#[test]
fn packed_fields_start_at_the_low_bit() {
    // 2_10_10_10_UINT: X is the lowest ten bits, W the highest two.
    let (format, _) = gfx10(54).unwrap();
    let word = 1 | 2 << 10 | 3 << 20 | 3u32 << 30;
    let mut element = [0; 16];
    element[..4].copy_from_slice(&word.to_le_bytes());
    assert_eq!(format.load(&element), [1, 2, 3, 3]);
    assert_eq!(format.store([1, 2, 3, 3]), element);
}

proptest! {
    #[test]
    fn unorm_and_snorm_stores_round_to_nearest_even(value: f32, width in prop::sample::select(vec![2u8, 8, 10, 11, 16])) {
        let (top, half) = (f64::from((1u32 << width) - 1), f64::from((1u32 << (width - 1)) - 1));
        let value = value % 1.25;
        let unorm = (f64::from(value).clamp(0.0, 1.0) * top).round_ties_even() as u32;
        prop_assert_eq!(store(&one_component(width, Numeric::Unorm), value.to_bits()), if value.is_nan() { 0 } else { unorm });
        let snorm = (f64::from(value).clamp(-1.0, 1.0) * half).round_ties_even() as i32;
        let snorm = if value.is_nan() { 0 } else { snorm };
        prop_assert_eq!(store(&one_component(width, Numeric::Snorm), value.to_bits()), snorm as u32 & mask(width) as u32);
    }

    #[test]
    fn integers_become_the_nearest_f32(bits: u32) {
        prop_assert_eq!(load(&one_component(32, Numeric::Uscaled), bits), (bits as f32).to_bits());
        prop_assert_eq!(load(&one_component(32, Numeric::Sscaled), bits), (bits as i32 as f32).to_bits());
    }

    #[test]
    fn wide_normalised_loads_are_within_half_a_step(bits: u32) {
        let exact = f64::from(bits) / f64::from(u32::MAX);
        let got = f32::from_bits(load(&one_component(32, Numeric::Unorm), bits));
        let step = f64::from(got) * 2f64.powi(-24);
        prop_assert!((f64::from(got) - exact).abs() <= step * 1.0001);
    }

    #[test]
    fn any_store_and_load_is_defined(number in 1u8..=77, registers: [u32; 4], element: [u8; 16]) {
        let (format, _) = gfx10(number).unwrap();
        let stored = format.store(registers);
        prop_assert!(stored[format.bytes()..].iter().all(|b| *b == 0));
        let once = format.load(&stored);
        // NaN payloads may shrink once; after that nothing changes.
        prop_assert_eq!(format.load(&format.store(once)), once);
        let _ = format.load(&element);
    }
}
