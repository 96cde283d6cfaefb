//! The bodies of the records, one row a tag.

use super::reader::Cursor;
use super::*;

type Read = fn(&mut Body<'_>) -> Result<Record, CaptureError>;

/// One kind of record.
pub(super) struct Kind {
    /// The tag, first letter in the lowest byte.
    pub(super) tag: u32,
    /// Its letters.
    pub(super) name: &'static str,
    /// Reads the body.
    pub(super) read: Read,
}

const fn kind(name: &'static str, read: Read) -> Kind {
    let b = name.as_bytes();
    Kind { tag: u32::from_le_bytes([b[0], b[1], b[2], b[3]]), name, read }
}

/// All kinds of version 1.
pub(super) const KINDS: [Kind; 12] = [
    kind("DEVI", |b| Ok(Record::Device(b.rest()?.to_vec()))),
    kind("BONW", |b| b.buffer_object().map(Record::Create)),
    kind("BOFR", |b| Ok(Record::Free { bo: b.u32()? })),
    kind("VAOP", |b| b.va_op().map(Record::Va)),
    kind("PAGE", |b| b.page().map(Record::Page)),
    kind("PDIF", |b| b.diff().map(Record::Diff)),
    kind("CHNK", |b| b.chunk().map(Record::Chunk)),
    kind("SUBM", |b| b.submit().map(Record::Submit)),
    kind("GPAG", |b| b.page().map(Record::GoldenPage)),
    kind("GPDF", |b| b.diff().map(Record::GoldenDiff)),
    kind("MARK", |b| b.text().map(Record::Mark)),
    kind("EXPT", |b| b.text().map(Record::Expect)),
];

/// The tag of a record.
pub(super) fn tag_of(record: &Record) -> u32 {
    let place = match record {
        Record::Device(_) => 0,
        Record::Create(_) => 1,
        Record::Free { .. } => 2,
        Record::Va(_) => 3,
        Record::Page(_) => 4,
        Record::Diff(_) => 5,
        Record::Chunk(_) => 6,
        Record::Submit(_) => 7,
        Record::GoldenPage(_) => 8,
        Record::GoldenDiff(_) => 9,
        Record::Mark(_) => 10,
        Record::Expect(_) => 11,
    };
    KINDS[place].tag
}

/// A body being read.
pub(super) struct Body<'a> {
    pub(super) tag: &'static str,
    pub(super) cursor: Cursor<'a>,
}

impl<'a> Body<'a> {
    pub(super) fn bad(&self, problem: &'static str) -> CaptureError {
        CaptureError::BadBody { offset: self.cursor.offset, tag: self.tag, problem }
    }

    fn u32(&mut self) -> Result<u32, CaptureError> {
        self.cursor.u32(self.tag)
    }

    fn u64(&mut self) -> Result<u64, CaptureError> {
        self.cursor.u64(self.tag)
    }

    fn zero(&mut self) -> Result<(), CaptureError> {
        match self.u32()? {
            0 => Ok(()),
            _ => Err(self.bad("has a reserved word that is not zero")),
        }
    }

    fn rest(&mut self) -> Result<&'a [u8], CaptureError> {
        self.cursor.take(self.cursor.left(), self.tag)
    }

    fn buffer_object(&mut self) -> Result<BufferObject, CaptureError> {
        Ok(BufferObject {
            bo: self.u32()?,
            handle: self.u32()?,
            size: self.u64()?,
            domains: self.u64()?,
            flags: self.u64()?,
            userptr: self.u64()?,
        })
    }

    fn va_op(&mut self) -> Result<VaOp, CaptureError> {
        let bo = self.u32()?;
        let op = self.u32()?;
        let Some((_, kind)) = VA_KINDS.iter().find(|(n, _)| *n == op) else {
            return Err(self.bad("has an operation other than 1 to 4"));
        };
        let flags = self.u32()?;
        self.zero()?;
        Ok(VaOp { bo, kind: *kind, flags, va: self.u64()?, offset: self.u64()?, size: self.u64()? })
    }

    fn page(&mut self) -> Result<Page, CaptureError> {
        let (bo, page) = (self.u32()?, self.u32()?);
        let mut data = Box::new([0; PAGE_BYTES]);
        data.copy_from_slice(self.cursor.take(PAGE_BYTES, self.tag)?);
        Ok(Page { bo, page, data })
    }

    fn diff(&mut self) -> Result<PageDiff, CaptureError> {
        let (bo, page) = (self.u32()?, self.u32()?);
        let mut runs = Vec::new();
        while self.cursor.left() > 0 {
            runs.push(self.run()?);
        }
        Ok(PageDiff { bo, page, runs })
    }

    fn run(&mut self) -> Result<Run, CaptureError> {
        let first = self.cursor.u16(self.tag)?;
        let count = self.cursor.u16(self.tag)?;
        if usize::from(first) + usize::from(count) > PAGE_BYTES / 4 {
            return Err(self.bad("has a run that leaves its page"));
        }
        Ok(Run { first, words: self.cursor.words(usize::from(count), self.tag)? })
    }

    fn chunk(&mut self) -> Result<Chunk, CaptureError> {
        let (submission, id, length) = (self.u32()?, self.u32()?, self.u32()?);
        self.zero()?;
        Ok(Chunk { submission, id, words: self.cursor.words(length as usize, self.tag)? })
    }

    fn submit(&mut self) -> Result<Submit, CaptureError> {
        let (index, context, ip_type, ring) = (self.u32()?, self.u32()?, self.u32()?, self.u32()?);
        let (sequence, flags) = (self.u64()?, self.u32()?);
        let (ib_count, bo_count) = (self.u32()?, self.u32()?);
        let fence = self.fence()?;
        let ibs = self.indirect_buffers(ib_count as usize)?;
        let bos = self.cursor.words(bo_count as usize, self.tag)?;
        Ok(Submit { index, context, ip_type, ring, sequence, flags, ibs, bos, fence })
    }

    fn fence(&mut self) -> Result<Fence, CaptureError> {
        let used = match self.u32()? {
            0 => false,
            1 => true,
            _ => return Err(self.bad("has a fence flag other than 0 and 1")),
        };
        Ok(Fence { used, bo: self.u32()?, offset: self.u32()? })
    }

    fn indirect_buffers(&mut self, count: usize) -> Result<Vec<IndirectBuffer>, CaptureError> {
        const BYTES: usize = 32;
        if count.saturating_mul(BYTES) > self.cursor.left() {
            return Err(self.bad("has fewer indirect buffers than it says"));
        }
        (0..count).map(|_| self.indirect_buffer()).collect()
    }

    fn indirect_buffer(&mut self) -> Result<IndirectBuffer, CaptureError> {
        let ib = IndirectBuffer {
            va: self.u64()?,
            bytes: self.u32()?,
            flags: self.u32()?,
            ip_type: self.u32()?,
            ip_instance: self.u32()?,
            ring: self.u32()?,
        };
        self.zero()?;
        Ok(ib)
    }

    /// NUL-terminated UTF-8.
    fn text(&mut self) -> Result<String, CaptureError> {
        let bytes = self.rest()?;
        let Some((0, text)) = bytes.split_last() else {
            return Err(self.bad("is not terminated by a zero byte"));
        };
        match std::str::from_utf8(text) {
            Ok(s) if !s.contains('\0') => Ok(s.to_owned()),
            _ => Err(self.bad("is not UTF-8 text")),
        }
    }
}
