//! From records to bytes.

use super::body::tag_of;
use super::*;

pub(super) fn write(capture: &Capture) -> Result<Vec<u8>, CaptureError> {
    let mut out = Vec::new();
    header(&mut out, &capture.gpu)?;
    for record in &capture.records {
        frame(&mut out, record)?;
    }
    Ok(out)
}

fn header(out: &mut Vec<u8>, gpu: &str) -> Result<(), CaptureError> {
    if gpu.len() > 16 || !gpu.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(CaptureError::Unwritable { what: "the GPU name" });
    }
    out.extend(MAGIC.to_le_bytes());
    words(out, &[VERSION, PAGE_BYTES as u32, 0, 0]);
    out.extend(gpu.bytes());
    out.resize(HEADER_BYTES, 0);
    Ok(())
}

fn frame(out: &mut Vec<u8>, record: &Record) -> Result<(), CaptureError> {
    words(out, &[tag_of(record), 0]);
    let start = out.len();
    body(out, record)?;
    let size = fit(out.len() - start, "a record's body")?;
    out[start - 4..start].copy_from_slice(&size.to_le_bytes());
    out.resize(out.len().next_multiple_of(8), 0);
    Ok(())
}

fn body(out: &mut Vec<u8>, record: &Record) -> Result<(), CaptureError> {
    match record {
        Record::Device(bytes) => out.extend(bytes),
        Record::Create(bo) => buffer_object(out, bo),
        Record::Free { bo } => words(out, &[*bo]),
        Record::Va(op) => va_op(out, op),
        Record::Page(p) | Record::GoldenPage(p) => page(out, p),
        Record::Diff(d) | Record::GoldenDiff(d) => return diff(out, d),
        Record::Chunk(c) => return chunk(out, c),
        Record::Submit(s) => return submit(out, s),
        Record::Mark(t) | Record::Expect(t) => return text(out, t),
    }
    Ok(())
}

fn buffer_object(out: &mut Vec<u8>, bo: &BufferObject) {
    words(out, &[bo.bo, bo.handle]);
    longs(out, &[bo.size, bo.domains, bo.flags, bo.userptr]);
}

fn va_op(out: &mut Vec<u8>, op: &VaOp) {
    let number = VA_KINDS.iter().find(|(_, k)| *k == op.kind).map_or(0, |(n, _)| *n);
    words(out, &[op.bo, number, op.flags, 0]);
    longs(out, &[op.va, op.offset, op.size]);
}

fn page(out: &mut Vec<u8>, p: &Page) {
    words(out, &[p.bo, p.page]);
    out.extend(p.data.iter());
}

fn diff(out: &mut Vec<u8>, d: &PageDiff) -> Result<(), CaptureError> {
    words(out, &[d.bo, d.page]);
    for run in &d.runs {
        if usize::from(run.first) + run.words.len() > PAGE_BYTES / 4 {
            return Err(CaptureError::Unwritable { what: "a run of dwords" });
        }
        words(out, &[u32::from(run.first) | (run.words.len() as u32) << 16]);
        words(out, &run.words);
    }
    Ok(())
}

fn chunk(out: &mut Vec<u8>, c: &Chunk) -> Result<(), CaptureError> {
    words(out, &[c.submission, c.id, fit(c.words.len(), "a chunk")?, 0]);
    words(out, &c.words);
    Ok(())
}

fn submit(out: &mut Vec<u8>, s: &Submit) -> Result<(), CaptureError> {
    words(out, &[s.index, s.context, s.ip_type, s.ring]);
    longs(out, &[s.sequence]);
    words(out, &[s.flags, fit(s.ibs.len(), "the list of IBs")?, fit(s.bos.len(), "the BO list")?]);
    words(out, &[u32::from(s.fence.used), s.fence.bo, s.fence.offset]);
    for ib in &s.ibs {
        longs(out, &[ib.va]);
        words(out, &[ib.bytes, ib.flags, ib.ip_type, ib.ip_instance, ib.ring, 0]);
    }
    words(out, &s.bos);
    Ok(())
}

fn text(out: &mut Vec<u8>, t: &str) -> Result<(), CaptureError> {
    if t.contains('\0') {
        return Err(CaptureError::Unwritable { what: "a text with a zero byte in it" });
    }
    out.extend(t.bytes());
    out.push(0);
    Ok(())
}

fn words(out: &mut Vec<u8>, words: &[u32]) {
    out.extend(words.iter().flat_map(|w| w.to_le_bytes()));
}

fn longs(out: &mut Vec<u8>, longs: &[u64]) {
    out.extend(longs.iter().flat_map(|w| w.to_le_bytes()));
}

fn fit(n: usize, what: &'static str) -> Result<u32, CaptureError> {
    u32::try_from(n).map_err(|_| CaptureError::Unwritable { what })
}
