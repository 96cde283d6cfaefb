//! What `--arg` says.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Result;

use crate::commands::files;
use crate::kernel::Value;

/// One `--arg`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Given {
    /// A buffer with a file's contents.
    In(PathBuf),
    /// A buffer of zeros, written to a file in the end if one is named.
    Out { bytes: u64, file: Option<PathBuf> },
    /// A buffer with a file's contents, written back in the end.
    InOut(PathBuf),
    /// A number's bytes.
    Number(Vec<u8>),
    /// Bytes of LDS.
    Lds(u32),
}

/// From the text of a number to its bytes.
type Parse = fn(&str) -> Option<Vec<u8>>;

/// A decimal or 0x number as N little-endian bytes of a type.
macro_rules! integer {
    ($ty:ty) => {
        |text| {
            let hex = text.strip_prefix("0x").map(|digits| <$ty>::from_str_radix(digits, 16));
            hex.unwrap_or_else(|| text.parse()).ok().map(|n| n.to_le_bytes().to_vec())
        }
    };
}

const NUMBERS: [(&str, Parse); 10] = [
    ("u8", integer!(u8)),
    ("i8", integer!(i8)),
    ("u16", integer!(u16)),
    ("i16", integer!(i16)),
    ("u32", integer!(u32)),
    ("i32", integer!(i32)),
    ("u64", integer!(u64)),
    ("i64", integer!(i64)),
    ("f32", |text| text.parse::<f32>().ok().map(|x| x.to_le_bytes().to_vec())),
    ("f64", |text| text.parse::<f64>().ok().map(|x| x.to_le_bytes().to_vec())),
];

/// What an `--arg` must look like.
const FORMS: &str = "in:FILE, out:BYTES[:FILE], inout:FILE, lds:BYTES, or a number such as u32:7 or f32:0.5";

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is none of {FORMS}");
        let (kind, rest) = text.split_once(':').filter(|(_, rest)| !rest.is_empty()).ok_or_else(wrong)?;
        match kind {
            "in" => Ok(Given::In(rest.into())),
            "inout" => Ok(Given::InOut(rest.into())),
            "lds" => rest.parse().map(Given::Lds).map_err(|_| wrong()),
            "out" => {
                let (bytes, file) = rest.split_once(':').map_or((rest, None), |(b, f)| (b, Some(f.into())));
                bytes.parse().map(|bytes| Given::Out { bytes, file }).map_err(|_| wrong())
            }
            _ => {
                let number = NUMBERS.iter().find(|(name, _)| *name == kind);
                number.and_then(|(_, parse)| parse(rest)).map(Given::Number).ok_or_else(wrong)
            }
        }
    }
}

impl Given {
    /// What the kernel gets.
    pub(super) fn value(&self) -> Result<Value> {
        let of_file = |file: &PathBuf, writable| {
            let contents = files::bytes(file)?;
            let bytes = contents.len() as u64;
            Ok(Value::Buffer { contents, bytes, writable })
        };
        match self {
            Given::In(file) => of_file(file, false),
            Given::InOut(file) => of_file(file, true),
            Given::Out { bytes, .. } => {
                Ok(Value::Buffer { contents: Vec::new(), bytes: *bytes, writable: true })
            }
            Given::Number(bytes) => Ok(Value::Bytes(bytes.clone())),
            Given::Lds(bytes) => Ok(Value::Shared(*bytes)),
        }
    }

    /// Whether the buffer is shown or written in the end.
    pub(super) fn is_output(&self) -> bool {
        matches!(self, Given::Out { .. } | Given::InOut(_))
    }

    /// Where the buffer is written in the end.
    pub(super) fn file(&self) -> Option<&PathBuf> {
        match self {
            Given::InOut(file) => Some(file),
            Given::Out { file, .. } => file.as_ref(),
            _ => None,
        }
    }
}

/// `X,Y,Z`, `X,Y` or `X`, each at least 1.
pub(super) fn triple(text: &str) -> Result<[u32; 3], String> {
    let wrong = || format!("{text:?} is not X,Y,Z, numbers from 1");
    let numbers: Vec<u32> = text.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    match numbers[..] {
        _ if numbers.contains(&0) => Err(wrong()),
        [x] => Ok([x, 1, 1]),
        [x, y] => Ok([x, y, 1]),
        [x, y, z] => Ok([x, y, z]),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_argument_is_read() {
        let cases = [
            ("in:a:b", Given::In("a:b".into())),
            ("inout:x", Given::InOut("x".into())),
            ("out:64", Given::Out { bytes: 64, file: None }),
            ("out:64:f:g", Given::Out { bytes: 64, file: Some("f:g".into()) }),
            ("lds:256", Given::Lds(256)),
            ("u32:0xff", Given::Number(vec![255, 0, 0, 0])),
            ("i16:-2", Given::Number(vec![0xfe, 0xff])),
            ("f32:1.5", Given::Number(1.5f32.to_le_bytes().to_vec())),
            ("f64:-inf", Given::Number(f64::NEG_INFINITY.to_le_bytes().to_vec())),
        ];
        for (text, given) in cases {
            assert_eq!(text.parse::<Given>(), Ok(given), "{text}");
        }
    }

    #[test]
    fn what_is_no_argument_is_told_in_a_sentence() {
        for text in ["", "in", "in:", "out:x", "out:-1", "u32:1.5", "u8:256", "q32:1", "lds:f"] {
            let error = text.parse::<Given>().unwrap_err();
            assert!(error.contains(FORMS), "{text}: {error}");
        }
    }

    #[test]
    fn groups_may_leave_out_axes() {
        assert_eq!(triple("4096"), Ok([4096, 1, 1]));
        assert_eq!(triple("2,3"), Ok([2, 3, 1]));
        assert_eq!(triple("2,3,4"), Ok([2, 3, 4]));
        assert!(["", "1,2,3,4", "x", "1,,2", "0", "2,0,1"].iter().all(|t| triple(t).is_err()));
    }
}
