//! Image layouts: known places, and what must hold of every layout: no two texels share a byte, and micro blocks are
//! the first 256 bytes.

#![expect(clippy::unwrap_used, reason = "tests stop at the first thing that is wrong")]

use guestwave_isa::gfx10::Target;
use guestwave_isa::gfx10::surface::{Device, Layout, Shape, SwizzleMode, Texel, Unsettled};
use proptest::prelude::*;

/// Rows of mode, dimensions, bits, block and config, the same that the library reads.
const EQUATIONS: &str = include_str!("../tables/gfx10/surface/equations.tsv");
/// Known places.
const PLACES: &str = include_str!("surface_places.tsv");

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').collect())
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

fn device(addr_config: u32) -> Device {
    Device { target: Target::Gfx1030, addr_config }
}

fn sizes(text: &str) -> [u32; 3] {
    let numbers: Vec<u32> = text.split('x').map(|n| n.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// A mode with an equation: its shape as one block, and its device.
struct Row {
    device: Device,
    shape: Shape,
    depth: u32,
    /// Slices other than 0 are known.
    slices: bool,
}

fn tiled() -> Vec<Row> {
    let row = |columns: Vec<&str>| {
        let [width, height, depth] = sizes(columns[3]);
        let mode = SwizzleMode::new(columns[0].parse().unwrap()).unwrap();
        let element = columns[2].parse::<u8>().unwrap() / 8;
        let shape = Shape { mode, volume: columns[1] == "3D", width, height, levels: 1, element };
        Row { device: device(hex(columns[4]) as u32), shape, depth, slices: columns[5] == "any" }
    };
    rows(EQUATIONS).map(row).collect()
}

/// The bytes where the elements of one level and slice, or of some slices, begin.
fn offsets(layout: &Layout, [width, height]: [u32; 2], slices: std::ops::Range<u32>, level: u8) -> Vec<u64> {
    let mut offsets = Vec::new();
    for z in slices {
        for y in 0..height {
            offsets.extend((0..width).map(|x| layout.offset(&Texel { x, y, z, level }).unwrap()));
        }
    }
    offsets
}

/// Whether elements of `element` bytes do not overlap and end at `end` at the latest.
fn are_apart(mut offsets: Vec<u64>, element: u8, end: u64) -> bool {
    offsets.sort_unstable();
    let step = u64::from(element);
    offsets.windows(2).all(|pair| pair[1] - pair[0] >= step)
        && offsets.last().is_none_or(|last| last + step <= end)
}

#[test]
fn every_equation_fills_its_block() {
    let rows = tiled();
    assert!(rows.len() >= 40, "the table is gone");
    for Row { device, shape, depth, slices } in rows {
        let layout = Layout::new(&device, &shape).unwrap();
        let block = shape.mode.block_bytes();
        let all = offsets(&layout, [shape.width, shape.height], 0..depth, 0);
        assert_eq!(all.len() as u64 * u64::from(shape.element), block, "{shape:?}");
        assert!(are_apart(all, shape.element, block), "{shape:?} {device:?}");
        if slices && !shape.volume {
            let two = offsets(&layout, [shape.width, shape.height], 5..7, 0);
            assert_eq!(two.iter().min(), Some(&(5 * block)), "{shape:?} {device:?}");
            assert!(are_apart(two, shape.element, 7 * block), "{shape:?} {device:?}");
        }
    }
}

#[test]
fn every_block_of_a_surface_is_filled() {
    for Row { device, shape, depth, .. } in tiled().into_iter().filter(|row| row.shape.element >= 4) {
        let (width, height) = (3 * shape.width, 2 * shape.height);
        let layout = Layout::new(&device, &Shape { width, height, ..shape }).unwrap();
        assert_eq!(layout.slice_bytes(), 6 * shape.mode.block_bytes());
        let all = offsets(&layout, [width, height], 0..depth, 0);
        assert!(are_apart(all, shape.element, layout.slice_bytes()), "{shape:?} {device:?}");
    }
}

#[test]
fn a_micro_block_is_the_first_256_bytes() {
    for Row { device, shape, .. } in tiled().into_iter().filter(|row| !row.shape.volume) {
        let (across, down) = match shape.element {
            1 => (16, 16),
            2 => (16, 8),
            4 => (8, 8),
            8 => (8, 4),
            _ => (4, 4),
        };
        let layout = Layout::new(&device, &shape).unwrap();
        let first = offsets(&layout, [across, down], 0..1, 0);
        assert!(are_apart(first, shape.element, 256), "{shape:?} {device:?}");
    }
}

/// Every texel of every level, and the bytes of the whole.
fn chain(layout: &Layout, shape: &Shape) -> Vec<u64> {
    let level = |level: u8| {
        let size = |size: u32| (size >> level).max(1);
        offsets(layout, [size(shape.width), size(shape.height)], 0..1, level)
    };
    (0..shape.levels).flat_map(level).collect()
}

/// Levels of a full chain.
fn full_chain(width: u32, height: u32) -> u8 {
    (32 - width.max(height).leading_zeros()) as u8
}

#[test]
fn places() {
    for columns in rows(PLACES) {
        let [config, mode, bits, size, levels, at, base, address] = columns[..] else {
            panic!("{columns:?}")
        };
        let [width, height, depth] = sizes(size);
        let [x, y, z, level] = sizes4(at);
        let shape = Shape {
            mode: SwizzleMode::new(mode.parse().unwrap()).unwrap(),
            volume: depth > 1,
            width,
            height,
            levels: levels.parse().unwrap(),
            element: bits.parse::<u8>().unwrap() / 8,
        };
        let layout = Layout::new(&device(hex(config) as u32), &shape).unwrap();
        let found = layout.address(hex(base), &Texel { x, y, z, level: level as u8 });
        assert_eq!(found, Ok(hex(address)), "{columns:?}: {found:x?}");
    }
}

fn sizes4(text: &str) -> [u32; 4] {
    let numbers: Vec<u32> = text.split(' ').map(|n| n.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

#[test]
fn what_is_not_settled_is_named() {
    let mode = |number| SwizzleMode::new(number).unwrap();
    let shape = Shape { mode: mode(22), volume: false, width: 8, height: 8, levels: 1, element: 4 };
    let fails = |device: Device, shape: Shape| Layout::new(&device, &shape).unwrap_err();
    let addressing =
        Unsettled("a swizzle mode whose addressing is not known for its element size, dimensions and device");
    assert_eq!(fails(device(0x333), shape), addressing);
    assert_eq!(fails(Device { target: Target::Gfx1010, addr_config: 0x444 }, shape), addressing);
    assert_eq!(fails(device(0x444), Shape { mode: mode(1), ..shape }), addressing);
    let sizes = Unsettled("elements of a size that is no power of two");
    assert_eq!(fails(device(0x444), Shape { mode: SwizzleMode::LINEAR, element: 12, ..shape }), sizes);
    assert_eq!(fails(device(0x444), Shape { levels: 0, ..shape }), Unsettled("no levels or more than 16"));
    assert_eq!(
        fails(device(0x444), Shape { mode: mode(21), volume: true, levels: 2, ..shape }),
        Unsettled("mip levels of a tiled image of three dimensions")
    );
    let layout = Layout::new(&device(0x444), &Shape { mode: mode(27), ..shape }).unwrap();
    assert_eq!(
        layout.offset(&Texel { z: 1, ..Texel::default() }),
        Err(Unsettled("an array slice other than 0 of a swizzle mode that may mix slices in"))
    );
    let texel = Texel::default();
    let layout = Layout::new(&device(0x444), &shape).unwrap();
    assert_eq!(layout.address(0x1100, &texel), Ok(0x1100), "a base's pipe bits are exclusive-ored in");
    let layout = Layout::new(&device(0x444), &Shape { mode: mode(27), ..shape }).unwrap();
    assert_eq!(
        layout.address(0x1000, &texel),
        Err(Unsettled("a base address that is not aligned to its blocks"))
    );
    assert_eq!([3, 4, 7, 11, 19, 28, 31, 32].map(SwizzleMode::new), [None; 8]);
}

/// Modes with equations for flat surfaces at all element sizes, and the linear one.
fn flat_modes() -> impl Strategy<Value = SwizzleMode> {
    prop::sample::select(vec![0u8, 22, 27]).prop_map(|number| SwizzleMode::new(number).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn levels_never_share_a_byte(
        mode in flat_modes(),
        element in prop::sample::select(vec![1u8, 2, 4, 8, 16]),
        addr_config in prop::sample::select(vec![0u32, 0x444]),
        width in 1u32..300,
        height in 1u32..300,
    ) {
        let shape = Shape { mode, volume: false, width, height, levels: full_chain(width, height), element };
        let layout = Layout::new(&device(addr_config), &shape).unwrap();
        prop_assert!(are_apart(chain(&layout, &shape), element, layout.slice_bytes()));
    }

    #[test]
    fn any_texel_has_a_defined_place(
        row in 0usize..40,
        width in 1u32..=16384,
        height in 1u32..=16384,
        levels in 1u8..=16,
        x: u32, y: u32, z: u32, level: u8,
        base: u64,
    ) {
        let Row { device, shape, .. } = &tiled()[row];
        let levels = if shape.volume { 1 } else { levels };
        let layout = Layout::new(device, &Shape { width, height, levels, ..*shape }).unwrap();
        let _ = layout.address(base, &Texel { x, y, z, level });
    }
}
