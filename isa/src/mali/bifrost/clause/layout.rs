//! Quadwords to the parts of a clause and back.

use std::sync::LazyLock;

use crate::mali::WordError;

/// Bytes of a quadword.
const QUADWORD: usize = 16;
/// Bits of an embedded constant, its low four left out.
const CONSTANT_BITS: u32 = 60;
/// Tags of quadwords of further constants in bits 4 to 7: more follow, or the clause ends.
const CONSTANTS: u128 = 3;
const LAST_CONSTANTS: u128 = 7;

/// The parts of a clause as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) header: u64,
    /// 78 bits each.
    pub(super) tuples: Vec<u128>,
    /// 64 bits, the low four 0.
    pub(super) constants: Vec<u64>,
    pub(super) modifiers: u16,
}

/// What a run of a quadword's bits is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Literal(u128),
    Tuple(usize, u32),
    Header,
    /// Bits of the embedded constant from an offset on.
    Constant(u32),
    Modifiers,
    /// Whether the clause ends here.
    End,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    lowest: u32,
    width: u32,
    what: What,
}

impl Piece {
    fn ones(self) -> u128 {
        (1 << self.width) - 1
    }

    fn get(self, quadword: u128) -> u128 {
        quadword >> self.lowest & self.ones()
    }
}

/// A kind of quadword: where it stands in the clauses of which sizes.
#[derive(Debug)]
struct Kind {
    place: usize,
    tuples: (usize, usize),
    pieces: Vec<Piece>,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let rows = include_str!("../../../../tables/mali/bifrost/clause.tsv").lines();
    rows.filter(|line| !line.starts_with('#')).filter_map(kind).collect()
});

/// Codes of the quadwords of further constants, by the clause's tuples less one.
static POSITIONS: LazyLock<Vec<Vec<u128>>> = LazyLock::new(|| {
    let rows = include_str!("../../../../tables/mali/bifrost/positions.tsv").lines();
    let codes = rows.filter_map(|line| line.split_once('\t')).filter(|row| !row.0.starts_with('#'));
    codes.map(|(_, list)| list.split(' ').filter_map(|code| code.parse().ok()).collect()).collect()
});

fn kind(line: &str) -> Option<Kind> {
    let columns: Vec<_> = line.split('\t').collect();
    let [place, fewest, most, pieces] = columns[..] else { return None };
    let tuples = (fewest.parse().ok()?, most.parse().ok()?);
    let pieces = pieces.split(' ').map(piece).collect::<Option<_>>()?;
    Some(Kind { place: place.parse().ok()?, tuples, pieces })
}

fn piece(text: &str) -> Option<Piece> {
    let (bits, what) = text.split_once('=')?;
    let (lowest, width) = bits.split_once('+')?;
    let (target, offset) = what.split_once('.').unwrap_or((what, "0"));
    let offset = offset.parse().ok()?;
    let what = match target.split_at_checked(1)? {
        ("#", value) => What::Literal(value.parse().ok()?),
        ("T", number) => What::Tuple(number.parse().ok().filter(|n| *n < 8)?, offset),
        ("H", _) => What::Header,
        ("C", _) => What::Constant(offset),
        ("M", _) => What::Modifiers,
        ("Z", _) => What::End,
        _ => return None,
    };
    Some(Piece { lowest: lowest.parse().ok()?, width: width.parse().ok()?, what })
}

impl Kind {
    fn fits(&self, place: usize, tuples: (usize, usize), quadword: u128) -> bool {
        let literal = |p: &Piece| !matches!(p.what, What::Literal(v) if p.get(quadword) != v);
        let overlaps = self.tuples.0 <= tuples.1 && tuples.0 <= self.tuples.1;
        self.place == place && overlaps && self.pieces.iter().all(literal)
    }

    /// Whether its quadword is the last of the tuples'.
    fn is_last(&self) -> bool {
        self.pieces.iter().any(|p| p.what == What::End)
    }

    fn has_constant(&self) -> bool {
        self.pieces.iter().any(|p| matches!(p.what, What::Constant(_)))
    }
}

/// The quadword at `place`; nothing past the end of `bytes`.
fn quadword(bytes: &[u8], place: usize) -> Option<u128> {
    let at = place.checked_mul(QUADWORD)?;
    let bytes: [u8; QUADWORD] = bytes.get(at..at + QUADWORD)?.try_into().ok()?;
    Some(u128::from_le_bytes(bytes))
}

impl Raw {
    /// Takes the clause at the start of `bytes` apart; gives it with its length.
    pub(super) fn unpack(bytes: &[u8]) -> Result<(Raw, usize), WordError> {
        let (mut raw, mut place, mut tuples) = (Raw::default(), 0, (1, 8));
        let mut constant = None;
        let ended = loop {
            let quadword = quadword(bytes, place).ok_or(WordError::ClauseEnd { quadwords: place as u32 })?;
            let found = KINDS.iter().find(|k| k.fits(place, tuples, quadword));
            let kind = found.ok_or_else(|| bad_tag(place, quadword))?;
            tuples = (tuples.0.max(kind.tuples.0), tuples.1.min(kind.tuples.1));
            raw.take(kind, quadword, &mut constant);
            place += 1;
            if kind.is_last() {
                let end = kind.pieces.iter().find(|p| p.what == What::End);
                break end.is_some_and(|p| p.get(quadword) == 1);
            }
        };
        raw.constants.extend(constant);
        if !ended {
            place = raw.unpack_constants(bytes, place)?;
        }
        Ok((raw, place * QUADWORD))
    }

    fn take(&mut self, kind: &Kind, quadword: u128, constant: &mut Option<u64>) {
        for piece in &kind.pieces {
            let bits = piece.get(quadword);
            match piece.what {
                What::Tuple(number, offset) => {
                    if self.tuples.len() <= number {
                        self.tuples.resize(number + 1, 0);
                    }
                    self.tuples[number] |= bits << offset;
                }
                What::Header => self.header = bits as u64,
                What::Constant(offset) => *constant.get_or_insert(0) |= (bits as u64) << offset << 4,
                What::Modifiers => self.modifiers = bits as u16,
                What::Literal(_) | What::End => {}
            }
        }
    }

    /// The quadwords of constants behind the tuples; gives where they end.
    fn unpack_constants(&mut self, bytes: &[u8], first: usize) -> Result<usize, WordError> {
        let codes = POSITIONS.get(self.tuples.len().wrapping_sub(1)).map_or(&[][..], |codes| codes);
        for (place, code) in (first..).zip(codes) {
            let quadword = quadword(bytes, place).ok_or(WordError::ClauseEnd { quadwords: place as u32 })?;
            let tag = quadword >> 4 & 15;
            if quadword & 15 != *code || (tag != CONSTANTS && tag != LAST_CONSTANTS) {
                return Err(bad_tag(place, quadword));
            }
            let ones = (1u128 << CONSTANT_BITS) - 1;
            self.constants.extend([8, 8 + CONSTANT_BITS].map(|at| ((quadword >> at & ones) as u64) << 4));
            if tag == LAST_CONSTANTS {
                return Ok(place + 1);
            }
        }
        Err(WordError::ClauseEnd { quadwords: (first + codes.len()) as u32 })
    }

    /// Puts the clause together.
    pub(super) fn pack(&self) -> Result<Vec<u8>, WordError> {
        let count = self.tuples.len();
        let refused = || WordError::Layout { tuples: count as u32, constants: self.constants.len() as u32 };
        let kinds: Vec<_> = (0..6).filter_map(|place| self.kind(place, count)).collect();
        kinds.last().filter(|k| k.is_last()).ok_or_else(refused)?;
        let among = usize::from(kinds.iter().any(|k| k.has_constant()));
        let behind = self.constants.get(among..).filter(|c| c.len().is_multiple_of(2)).ok_or_else(refused)?;
        let constant = self.constants.first().filter(|_| among == 1).copied().unwrap_or(0);
        let mut bytes = Vec::new();
        for kind in &kinds {
            bytes.extend(self.put(kind, constant, behind.is_empty()).to_le_bytes());
        }
        let codes = POSITIONS.get(count - 1).map_or(&[][..], |codes| codes);
        let pairs = behind.chunks(2);
        if pairs.len() > codes.len() {
            return Err(refused());
        }
        let last = pairs.len();
        for (n, (pair, code)) in (1..).zip(pairs.zip(codes)) {
            let tag = if n == last { LAST_CONSTANTS } else { CONSTANTS };
            let half = |i: usize| u128::from(pair.get(i).copied().unwrap_or(0) >> 4);
            let quadword = code | tag << 4 | half(0) << 8 | half(1) << (8 + CONSTANT_BITS);
            bytes.extend(quadword.to_le_bytes());
        }
        Ok(bytes)
    }

    fn kind(&self, place: usize, count: usize) -> Option<&'static Kind> {
        KINDS.iter().find(|k| k.place == place && (k.tuples.0..=k.tuples.1).contains(&count))
    }

    fn put(&self, kind: &Kind, constant: u64, ends: bool) -> u128 {
        kind.pieces.iter().fold(0, |quadword, piece| {
            let bits = match piece.what {
                What::Literal(value) => value,
                What::Tuple(number, offset) => self.tuples.get(number).map_or(0, |t| t >> offset),
                What::Header => self.header.into(),
                What::Constant(offset) => u128::from(constant >> 4 >> offset),
                What::Modifiers => self.modifiers.into(),
                What::End => ends.into(),
            };
            quadword | (bits & piece.ones()) << piece.lowest
        })
    }
}

/// A quadword whose literal bits are those of no kind that may stand there.
fn bad_tag(place: usize, quadword: u128) -> WordError {
    WordError::Clause { quadword: place as u32, bit: 0, word: quadword as u64 }
}
