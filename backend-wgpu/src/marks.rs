//! From marks to the ranges that were stored.

use std::ops::Range;

/// Ranges of set bits, the first bit counted as `start`, up to `bytes` bits; in order.
pub(crate) fn runs(marks: &[u32], start: u64, bytes: u64) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for (at, word) in (start..).step_by(32).zip(marks) {
        if *word == u32::MAX {
            push(&mut runs, at, 32);
        } else if *word != 0 {
            word_runs(*word, at, &mut runs);
        }
    }
    if let Some(last) = runs.last_mut() {
        last.end = last.end.min(start + bytes);
    }
    runs
}

fn word_runs(word: u32, at: u64, runs: &mut Vec<Range<u64>>) {
    let mut rest = word;
    let mut from = 0;
    while rest != 0 {
        let zeros = rest.trailing_zeros();
        let ones = (rest >> zeros).trailing_ones();
        push(runs, at + u64::from(from + zeros), u64::from(ones));
        from += zeros + ones;
        rest = if from == 32 { 0 } else { word >> from };
    }
}

fn push(runs: &mut Vec<Range<u64>>, start: u64, len: u64) {
    match runs.last_mut() {
        Some(last) if last.end == start => last.end += len,
        _ => runs.push(start..start + len),
    }
}

/// Ranges of several lists as one list, in order and joined.
pub(crate) fn union(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|r| r.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for next in ranges {
        match joined.last_mut() {
            Some(last) if next.start <= last.end => last.end = last.end.max(next.end),
            _ => joined.push(next),
        }
    }
    joined
}

/// Whether any range of `some` meets one of `others`, which are in order and joined.
pub(crate) fn meet(some: &[Range<u64>], others: &[Range<u64>]) -> bool {
    some.iter().any(|r| {
        let after = others.partition_point(|o| o.end <= r.start);
        others.get(after).is_some_and(|o| o.start < r.end)
    })
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "runs are lists of ranges")]
mod tests {
    use super::*;

    #[test]
    fn runs_of_bits_cross_words() {
        assert_eq!(runs(&[0, 0xf000_0003, u32::MAX, 0x1], 100, 128), [132..134, 160..197]);
        assert_eq!(runs(&[u32::MAX], 0, 30), [0..30]);
        assert!(runs(&[0, 0], 0, 64).is_empty());
    }

    #[test]
    fn lists_are_joined() {
        assert_eq!(union(vec![8..12, 0..4, 4..8, 20..24, 21..22]), [0..12, 20..24]);
        assert!(meet(&[3..5], &[0..2, 4..8]));
        assert!(!meet(&[2..4], &[0..2, 4..8]));
    }
}
