//! Images that a program read back from the driver.
//!
//! A driver gives texels to the CPU by a compute dispatch that copies the image, whatever its tiling, into linear
//! staging memory with rows of whole 256 bytes. The image is what the last such dispatch before the statement stored.

use std::ops::Range;

use guestwave_cp::GuestMemory;

use super::expect::Texels;
use super::report::Checked;
use super::trace::Launch;

/// What the rows of linear images are padded to.
const ROW_BYTES: u64 = 256;

/// Holds an image against what the last of `launches` that stored an image of its size left in memory.
pub(super) fn check(texels: &Texels, launches: &[Launch], memory: &dyn GuestMemory) -> Checked {
    let copies = launches.iter().rev().filter(|launch| launch.draw.is_none());
    let Some(base) = copies.filter_map(|launch| image(&launch.stored, texels)).next() else {
        return Checked::Fails("no dispatch of the submission stored an image of this size".to_owned());
    };
    match (0..texels.height).find_map(|y| wrong_in_row(texels, y, base, memory)) {
        None => Checked::Holds,
        Some(how) => Checked::Fails(how),
    }
}

fn pitch(texels: &Texels) -> u64 {
    (4 * u64::from(texels.width)).next_multiple_of(ROW_BYTES)
}

/// The address of the image, if `stored` has all its rows.
fn image(stored: &[Range<u64>], texels: &Texels) -> Option<u64> {
    let base = stored.first()?.start;
    let row = |y: u32| {
        let start = base + u64::from(y) * pitch(texels);
        start..start + 4 * u64::from(texels.width)
    };
    let has = |row: Range<u64>| stored.iter().any(|s| s.start <= row.start && row.end <= s.end);
    (0..texels.height).all(|y| has(row(y))).then_some(base)
}

/// The first texel of a row that is not as stated.
fn wrong_in_row(texels: &Texels, y: u32, base: u64, memory: &dyn GuestMemory) -> Option<String> {
    let address = base + u64::from(y) * pitch(texels);
    let mut row = vec![0; 4 * texels.width as usize];
    if let Err(fault) = memory.read(address, &mut row) {
        return Some(fault.to_string());
    }
    let words = row.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    words.zip(0..texels.width).find_map(|(found, x)| {
        let stated = texels.texel(x, y);
        let differs =
            || format!("texel ({x}, {y}) is {found:08x}, expected {stated:08x} (address {address:#x})");
        (found != stated).then(differs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{BufferObject, VaKind, VaOp};
    use crate::memory::CaptureMemory;

    /// Three rows of two texels, texel i = i + 1.
    const IMAGE: Texels = Texels { width: 2, height: 3, factor: 1, offset: 1 };
    const BASE: u64 = 0x10000;

    fn rows(count: u64) -> Vec<Range<u64>> {
        (0..count).map(|y| BASE + 256 * y..BASE + 256 * y + 8).collect()
    }

    fn memory(texels: impl Iterator<Item = u32>) -> CaptureMemory {
        let memory = CaptureMemory::new();
        let object = BufferObject { bo: 1, handle: 1, size: 4096, domains: 2, flags: 0, userptr: 0 };
        memory.create(&object).unwrap();
        let map = VaOp { bo: 1, kind: VaKind::Map, flags: 14, va: BASE, offset: 0, size: 4096 };
        memory.va(&map).unwrap();
        for (i, texel) in (0u64..).zip(texels) {
            memory.write(BASE + 256 * (i / 2) + 4 * (i % 2), &texel.to_le_bytes()).unwrap();
        }
        memory
    }

    #[test]
    fn an_image_is_where_all_its_rows_were_stored() {
        assert_eq!(image(&rows(3), &IMAGE), Some(BASE));
        assert_eq!(image(std::slice::from_ref(&(BASE..BASE + 4096)), &IMAGE), Some(BASE));
        assert_eq!(image(&rows(2), &IMAGE), None);
        assert_eq!(image(std::slice::from_ref(&(BASE..BASE + 519)), &IMAGE), None);
        assert_eq!(image(&[], &IMAGE), None);
    }

    #[test]
    fn the_first_texel_that_differs_is_named() {
        let wrong = |memory: &CaptureMemory| (0..3).find_map(|y| wrong_in_row(&IMAGE, y, BASE, memory));
        assert_eq!(wrong(&memory(1..=6)), None);
        let text = "texel (1, 1) is 00000007, expected 00000004 (address 0x10100)";
        assert_eq!(wrong(&memory([1, 2, 3, 7, 5, 6].into_iter())).unwrap(), text);
    }
}
