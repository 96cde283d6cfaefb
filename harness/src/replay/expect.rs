//! The EXPT texts.

use crate::codes::coded_errors;

coded_errors! {
    /// A statement that a replay cannot check.
    ExpectationRefusal: EXPECTATION_REFUSALS;
    /// No part of the program can check it.
    Uncheckable { text: String, reason: &'static str } = "HN-EXP-001", "the expectation \"{text}\" cannot be checked: {reason}";
}

/// What a program states about its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// `buf TAG size S off O u32 W...`: words of a tracked buffer.
    Buffer {
        /// The buffer's tag.
        tag: u32,
        /// Its size in bytes.
        size: u32,
        /// Byte offset of the first word.
        offset: u32,
        /// The words.
        words: Vec<u32>,
    },
    /// `query NAME V`: what a query returns.
    Query {
        /// Which counter.
        kind: QueryKind,
        /// The value.
        value: u64,
    },
    /// `teximage WxH texel i = i*A+B`: texels that the program reads back.
    Texels(Texels),
    /// States nothing that could fail: the name of the case, its end, that results are approximate.
    Remark,
    /// States something that no part of this program can check, and why.
    Uncheckable(&'static str),
    /// Not in the language of expectations.
    Unknown,
}

/// An image of 32-bit texels, counted row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Texels {
    /// Texels across, at most 16384.
    pub width: u32,
    /// Rows, at most 16384.
    pub height: u32,
    /// What the number of a texel is multiplied with.
    pub factor: u32,
    /// What is added.
    pub offset: u32,
}

impl Texels {
    /// The texel in a place.
    pub fn texel(&self, x: u32, y: u32) -> u32 {
        let number = y.wrapping_mul(self.width).wrapping_add(x);
        number.wrapping_mul(self.factor).wrapping_add(self.offset)
    }
}

/// A counter that a query reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueryKind {
    /// Primitives written, not needed.
    pub written: bool,
    /// Which query it is.
    pub which: Which,
}

/// How a query is identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// `written`, `generated_s2`: some query on this stream (OpenGL names no place).
    Stream(u8),
    /// `written1`, `needed0`: the query in this slot of a pool (Vulkan).
    Slot(u32),
}

/// Texts that state nothing.
const REMARKS: [&str; 3] = ["case", "end", "approx"];

/// Texts that need what is not there yet.
const UNCHECKABLE: [(&str, &str); 2] =
    [("pixels", "pixels need the rasterizer"), ("query samples", "sample counts need the rasterizer")];

/// Reads one EXPT text.
pub fn parse_expectation(text: &str) -> Expectation {
    let words: Vec<_> = text.split_whitespace().collect();
    if words.first().is_none_or(|w| REMARKS.contains(w)) {
        return Expectation::Remark;
    }
    if let Some((_, reason)) = UNCHECKABLE.iter().find(|(start, _)| text.starts_with(start)) {
        return Expectation::Uncheckable(reason);
    }
    match words[0] {
        "buf" => buffer(&words),
        "query" => query(&words),
        "teximage" => texels(&words),
        _ => None,
    }
    .unwrap_or(Expectation::Unknown)
}

fn buffer(words: &[&str]) -> Option<Expectation> {
    let ["buf", tag, "size", size, "off", offset, "u32", values @ ..] = words else { return None };
    Some(Expectation::Buffer {
        tag: hex(tag)?,
        size: size.parse().ok()?,
        offset: offset.parse().ok()?,
        words: values.iter().map(|w| hex(w)).collect::<Option<_>>()?,
    })
}

/// The most texels along an axis.
const MAX_SIZE: u32 = 16384;

fn texels(words: &[&str]) -> Option<Expectation> {
    let ["teximage", size, "texel", "i", "=", rule] = words else { return None };
    let (width, height) = size.split_once('x')?;
    let (factor, offset) = rule.strip_prefix("i*0x")?.split_once("+0x")?;
    let size = |text: &str| text.parse().ok().filter(|size| (1..=MAX_SIZE).contains(size));
    let (width, height) = (size(width)?, size(height)?);
    Some(Expectation::Texels(Texels { width, height, factor: hex(factor)?, offset: hex(offset)? }))
}

fn hex(word: &str) -> Option<u32> {
    u32::from_str_radix(word, 16).ok()
}

fn query(words: &[&str]) -> Option<Expectation> {
    let ["query", name, value] = words else { return None };
    Some(Expectation::Query { kind: query_kind(name)?, value: value.parse().ok()? })
}

fn query_kind(name: &str) -> Option<QueryKind> {
    let (written, rest) = match name.strip_prefix("written") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix("generated").or(name.strip_prefix("needed"))?),
    };
    let which = match (rest, rest.strip_prefix("_s")) {
        ("", _) => Which::Stream(0),
        (_, Some(stream)) => Which::Stream(stream.parse().ok().filter(|s| *s < 4)?),
        (slot, None) => Which::Slot(slot.parse().ok()?),
    };
    Some(QueryKind { written, which })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read() {
        let q = |written, which, value| Expectation::Query { kind: QueryKind { written, which }, value };
        let words = vec![1, 0xeeee_eeee];
        let buffer = Expectation::Buffer { tag: 0xb0f0_0001, size: 256, offset: 16, words };
        let rows = [
            ("buf b0f00001 size 256 off 16 u32 00000001 eeeeeeee", buffer),
            ("query written 7", q(true, Which::Stream(0), 7)),
            ("query generated 12", q(false, Which::Stream(0), 12)),
            ("query written_s3 120", q(true, Which::Stream(3), 120)),
            ("query needed1 1", q(false, Which::Slot(1), 1)),
            ("case points", Expectation::Remark),
            ("end", Expectation::Remark),
            ("", Expectation::Remark),
            ("approx", Expectation::Remark),
            ("query samples 256", Expectation::Uncheckable(UNCHECKABLE[1].1)),
            ("pixels 16x16 all ff00ff00", Expectation::Uncheckable(UNCHECKABLE[0].1)),
            (
                "teximage 4x2 texel i = i*0x00010203+0xff000000",
                Expectation::Texels(Texels { width: 4, height: 2, factor: 0x10203, offset: 0xff00_0000 }),
            ),
            ("teximage 0x2 texel i = i*0x1+0x0", Expectation::Unknown),
            ("teximage 1x16385 texel i = i*0x1+0x0", Expectation::Unknown),
            ("teximage 4x2 texel i = 7", Expectation::Unknown),
            ("query written_s4 1", Expectation::Unknown),
            ("query written", Expectation::Unknown),
            ("buf b0f00001 size -1 off 0 u32", Expectation::Unknown),
            ("colour of the sky", Expectation::Unknown),
        ];
        for (text, expected) in rows {
            assert_eq!(parse_expectation(text), expected, "{text}");
        }
    }
}
