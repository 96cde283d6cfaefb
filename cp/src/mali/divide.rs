//! From an invocation to the element of a buffer that it uses.

use super::record::Record;

/// How the number of an invocation becomes the number of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Divisor {
    /// The number itself.
    One,
    /// `n >> shift`.
    Power {
        /// Logarithm of the divisor.
        shift: u8,
    },
    /// `n mod ((2 * odd + 1) << shift)`.
    Modulus {
        /// Logarithm of the power of two in the modulus.
        shift: u8,
        /// Half of the odd part, rounded down.
        odd: u8,
    },
    /// `((n + add) * (numerator | 2^31) >> 32) >> shift`: division by a number that is no power of two.
    Magic {
        /// Shift after the multiplication.
        shift: u8,
        /// 1 to multiply the next number instead (the numerator was rounded down).
        add: u8,
        /// Multiplier without its top bit.
        numerator: u32,
    },
}

impl Divisor {
    /// The element that invocation `n` uses.
    pub fn element(self, n: u32) -> u64 {
        let n = u64::from(n);
        match self {
            Divisor::One => n,
            Divisor::Power { shift } => n >> (shift & 31),
            Divisor::Modulus { shift, odd } => n % ((2 * u64::from(odd & 7) + 1) << (shift & 31)),
            Divisor::Magic { shift, add, numerator } => {
                let multiplier = u64::from(numerator | 1 << 31);
                // 33 bits times 32 bits: the sum must not lose its top bit for the last invocation.
                let product = u128::from(n + u64::from(add & 1)) * u128::from(multiplier);
                (product >> 32) as u64 >> (shift & 31)
            }
        }
    }

    /// The divisor in a record's fields: `numerator` from wherever the record keeps it.
    pub(super) fn of_record(record: &Record, numerator: u64) -> Divisor {
        let shift = record.value("divisor_r") as u8;
        let add = record.value("divisor_e") as u8;
        match record.name() {
            name if name.contains("pot") && !name.contains("npot") => Divisor::Power { shift },
            name if name.contains("modulus") => {
                Divisor::Modulus { shift, odd: record.value("divisor_p") as u8 }
            }
            name if name.contains("npot") => Divisor::Magic { shift, add, numerator: numerator as u32 },
            _ => Divisor::One,
        }
    }

    /// The divisor that divides by `count` (not 0).
    pub fn by(count: u32) -> Divisor {
        match count {
            0 | 1 => Divisor::One,
            count if count.is_power_of_two() => Divisor::Power { shift: count.trailing_zeros() as u8 },
            count => magic(count),
        }
    }
}

/// The multiplication that divides by `count`, which is no power of two.
pub fn magic(count: u32) -> Divisor {
    let shift = count.max(1).ilog2();
    let dividend = 1u128 << (32 + shift);
    let (quotient, rest) = (dividend / u128::from(count.max(1)), dividend % u128::from(count.max(1)));
    // Rounded down and made good by the added one where that stays exact, else rounded up.
    let down = rest <= 1 << shift;
    let multiplier = if down { quotient } else { quotient + 1 } as u32;
    Divisor::Magic { shift: shift as u8, add: u8::from(down), numerator: multiplier & !(1 << 31) }
}

/// The number of vertices an instance that a draw of `count` vertices has for its indices: the next number of one odd
/// digit (1, 3, 5, 7 or 9) times a power of two. `None` past the largest of 32 bits.
pub fn padded_count(count: u32) -> Option<u32> {
    match count {
        0..=9 => Some(count),
        10..=19 => Some(count.next_multiple_of(2)),
        _ => {
            let shift = 28 - count.leading_zeros();
            let (factor, more) = match count >> shift {
                8 => (9, 0),
                9 => (5, 1),
                10 | 11 => (3, 2),
                12 | 13 => (7, 1),
                _ => (1, 4),
            };
            u32::try_from(u64::from(factor as u32) << (shift + more)).ok()
        }
    }
}

/// Number of an invocation among all of a draw: v4 to v7 count vertices through all instances.
pub fn linear_id(instance: u32, padded: u32, vertex: u32) -> u32 {
    instance.wrapping_mul(padded).wrapping_add(vertex)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn padded_counts_are_the_documented_ones() {
        let rows = [
            (0, 0),
            (9, 9),
            (10, 10),
            (11, 12),
            (19, 20),
            (20, 24),
            (23, 24),
            (24, 28),
            (29, 32),
            (32, 36),
            (36, 40),
        ];
        for (count, padded) in rows {
            assert_eq!(padded_count(count), Some(padded), "{count}");
        }
        assert_eq!(padded_count(u32::MAX), None);
    }

    #[test]
    fn the_captured_divisor_divides_by_18() {
        assert_eq!(magic(18), Divisor::Magic { shift: 4, add: 1, numerator: 0x638e_38e3 });
        assert_eq!(magic(3), Divisor::Magic { shift: 1, add: 1, numerator: 0x2aaa_aaaa });
    }

    /// What drivers put for draws without instances.
    #[test]
    fn the_neutral_records_are_neutral() {
        let vertex = Divisor::Modulus { shift: 31, odd: 4 };
        let instance = Divisor::Magic { shift: 31, add: 1, numerator: 0x7fff_ffff };
        for n in [0, 1, 5, 65_535, 0x7fff_fffe] {
            assert_eq!(vertex.element(n), n.into());
            assert_eq!(instance.element(n), 0);
        }
    }

    proptest! {
        #[test]
        fn division_is_exact(count in 1u32..1 << 20, n in 0u32..u32::MAX) {
            prop_assert_eq!(Divisor::by(count).element(n), u64::from(n / count));
        }

        #[test]
        fn padded_counts_hold_the_count_and_one_odd_digit(count in 1u32..1 << 28) {
            let padded = padded_count(count).unwrap();
            prop_assert!(padded >= count && padded / 2 <= count);
            prop_assert!([1, 3, 5, 7, 9].contains(&(padded >> padded.trailing_zeros())), "{}", padded);
        }
    }
}
