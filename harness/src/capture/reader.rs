//! From bytes to records.

use super::body::{self, Body};
use super::{Capture, CaptureError, HEADER_BYTES, MAGIC, PAGE_BYTES, Record, VERSION};

/// A place in a byte slice that knows its offset in the file and never runs past the end.
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    /// Offset of `rest` in the file.
    pub(super) offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], offset: usize) -> Self {
        Cursor { rest: bytes, offset }
    }

    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], CaptureError> {
        let Some((head, tail)) = self.rest.split_at_checked(n) else {
            return Err(CaptureError::Truncated {
                offset: self.offset,
                what,
                needed: n,
                left: self.rest.len(),
            });
        };
        self.rest = tail;
        self.offset += n;
        Ok(head)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], CaptureError> {
        let bytes = self.take(N, what)?;
        let mut out = [0; N];
        out.copy_from_slice(bytes);
        Ok(out)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, CaptureError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, CaptureError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, CaptureError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// `n` dwords; the bytes are there before the vector is.
    pub(super) fn words(&mut self, n: usize, what: &'static str) -> Result<Vec<u32>, CaptureError> {
        let bytes = self.take(n.saturating_mul(4), what)?;
        Ok(bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect())
    }
}

pub(super) fn parse(bytes: &[u8]) -> Result<Capture, CaptureError> {
    let mut file = Cursor::new(bytes, 0);
    let gpu = header(&mut file)?;
    let mut records = Vec::new();
    while file.left() > 0 {
        records.push(record(&mut file)?);
    }
    Ok(Capture { gpu, records })
}

fn header(file: &mut Cursor<'_>) -> Result<String, CaptureError> {
    let mut h = Cursor::new(file.take(HEADER_BYTES, "the header")?, 0);
    field(&mut h, "the magic number", MAGIC, Cursor::u64)?;
    field(&mut h, "the version", u64::from(VERSION), |c, w| c.u32(w).map(u64::from))?;
    field(&mut h, "the page size", PAGE_BYTES as u64, |c, w| c.u32(w).map(u64::from))?;
    field(&mut h, "the reserved word", 0, Cursor::u64)?;
    gpu_name(&mut h)
}

fn field<'a>(
    h: &mut Cursor<'a>,
    field: &'static str,
    expected: u64,
    get: impl Fn(&mut Cursor<'a>, &'static str) -> Result<u64, CaptureError>,
) -> Result<(), CaptureError> {
    let offset = h.offset;
    let found = get(h, field)?;
    if found == expected { Ok(()) } else { Err(CaptureError::Header { offset, field, found, expected }) }
}

/// 16 bytes: the name, then zeros.
fn gpu_name(h: &mut Cursor<'_>) -> Result<String, CaptureError> {
    let bad = CaptureError::BadBody { offset: h.offset, tag: "the header", problem: "has no plain GPU name" };
    let bytes = h.take(16, "the GPU name")?;
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    let (name, zeros) = bytes.split_at(end);
    if zeros.iter().any(|b| *b != 0) || !name.iter().all(u8::is_ascii_graphic) {
        return Err(bad);
    }
    Ok(name.iter().map(|b| char::from(*b)).collect())
}

fn record(file: &mut Cursor<'_>) -> Result<Record, CaptureError> {
    let start = file.offset;
    let tag = file.u32("a record's tag")?;
    let Some(kind) = body::KINDS.iter().find(|k| k.tag == tag) else {
        return Err(CaptureError::unknown_tag(start, tag));
    };
    let size = file.u32("a record's size")? as usize;
    let at = file.offset;
    let bytes = file.take(size, "a record's body")?;
    padding(file, size, kind.name)?;
    let mut body = Body { tag: kind.name, cursor: Cursor::new(bytes, at) };
    let record = (kind.read)(&mut body)?;
    match body.cursor.left() {
        0 => Ok(record),
        _ => Err(body.bad("has bytes left over")),
    }
}

fn padding(file: &mut Cursor<'_>, size: usize, tag: &'static str) -> Result<(), CaptureError> {
    let offset = file.offset;
    let pad = file.take(size.wrapping_neg() % 8, "a record's padding")?;
    match pad.iter().all(|b| *b == 0) {
        true => Ok(()),
        false => Err(CaptureError::BadBody { offset, tag, problem: "is not padded with zeros" }),
    }
}
