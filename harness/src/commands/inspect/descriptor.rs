//! Buffer descriptors (V#), told in words.

/// What OOB_SELECT compares, by number.
const OUT_OF_BOUNDS: [&str; 4] = ["index or offset", "index", "only if empty", "raw offset"];

/// A buffer descriptor's fields.
pub(super) fn describe(words: [u32; 4]) -> String {
    let [w0, w1, w2, w3] = words;
    let base = u64::from(w1 & 0xffff) << 32 | u64::from(w0);
    let stride = w1 >> 16 & 0x3fff;
    let format = w3 >> 12 & 0x7f;
    let bounds = OUT_OF_BOUNDS[(w3 >> 28 & 3) as usize];
    let mut text =
        format!("base {base:#x}, stride {stride}, records {w2:#x}, format {format}, bounds {bounds}");
    if w1 >> 31 != 0 {
        let index_stride = 8 << (w3 >> 21 & 3);
        text += &format!(", swizzled by {index_stride}");
    }
    if w3 >> 23 & 1 != 0 {
        text += ", adds the lane";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told() {
        assert_eq!(
            describe([0x0004_0000, 0x8018_8001, 0x1000, 0x3180_0000 | 77 << 12]),
            "base 0x800100040000, stride 24, records 0x1000, format 77, bounds raw offset, swizzled by 8, adds the lane"
        );
    }
}
