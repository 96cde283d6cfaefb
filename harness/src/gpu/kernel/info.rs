//! AMDGPU_INFO: questions about the GPU.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{Call, Done, EINVAL, Errno};
use crate::gpu::file::OpenFile;

type Answer = Result<Vec<u8>, Errno>;

/// A question.
struct Query {
    number: u32,
    name: &'static str,
    answer: fn(&OpenFile, &Call) -> Answer,
}

const fn query(number: u32, name: &'static str, answer: fn(&OpenFile, &Call) -> Answer) -> Query {
    Query { number, name, answer }
}

/// Every question that is answered, and those that are refused without a word because drivers ask only to find out.
static QUERIES: [Query; 20] = [
    query(0x00, "ACCEL_WORKING", |_, _| words(&[1])),
    query(0x02, "HW_IP_INFO", engine),
    query(0x03, "HW_IP_COUNT", |_, call| words(&[u32::from(rings(call.u32(FIRST)) > 0)])),
    query(0x05, "TIMESTAMP", |_, _| longs(&[ticks()])),
    query(0x0e, "FW_VERSION", |_, _| words(&[FIRMWARE_VERSION, FIRMWARE_FEATURES])),
    query(0x0f, "NUM_BYTES_MOVED", |_, _| longs(&[0])),
    query(0x10, "VRAM_USAGE", |file, _| longs(&[file.device.store.used()[1]])),
    query(0x11, "GTT_USAGE", |file, _| longs(&[file.device.store.used()[0]])),
    query(0x13, "GDS_CONFIG", |_, _| words(&[0; 8])),
    query(0x14, "VRAM_GTT", |file, _| {
        let heap = file.device.store.limit();
        longs(&[heap, heap.min(VISIBLE), heap])
    }),
    query(0x15, "READ_MMR_REG", registers),
    query(0x16, "DEV_INFO", |file, _| Ok(file.device.model.device_info())),
    query(0x17, "VIS_VRAM_USAGE", |_, _| longs(&[0])),
    query(0x18, "NUM_EVICTIONS", |_, _| longs(&[0])),
    query(0x19, "MEMORY", memory),
    query(0x1d, "SENSOR", |_, _| Err(EINVAL)),
    query(0x1e, "NUM_VRAM_CPU_PAGE_FAULTS", |_, _| longs(&[0])),
    query(0x1f, "VRAM_LOST_COUNTER", |_, _| words(&[0])),
    query(0x20, "RAS_ENABLED_FEATURES", |_, _| longs(&[0])),
    // No codec at all: eight rows of five words.
    query(0x21, "VIDEO_CAPS", |_, _| words(&[0; 40])),
];

/// Names of questions that are not answered.
const UNANSWERED: [(u32, &str); 4] =
    [(0x01, "CRTC_FROM_ID"), (0x1a, "VCE_CLOCK_TABLE"), (0x1b, "VBIOS"), (0x1c, "NUM_HANDLES")];

/// Offset of the question's own first field.
const FIRST: usize = 16;

/// Version and features of every firmware: late enough for all that drivers make depend on it.
const FIRMWARE_VERSION: u32 = 100;
const FIRMWARE_FEATURES: u32 = 40;

/// Video memory that the CPU can reach, as without a resizable window.
const VISIBLE: u64 = 256 << 20;

/// INFO: where to at 0, room at 8, question at 12, its fields from 16.
pub(super) fn info(file: &OpenFile, call: &mut Call) -> Done {
    let number = call.u32(12);
    let Some(query) = QUERIES.iter().find(|q| q.number == number) else {
        let name = UNANSWERED.iter().find(|(n, _)| *n == number).map_or("", |(_, name)| name);
        file.device.report.unanswered(&format!("AMDGPU_INFO query {number:#x} {name}"));
        return Err(EINVAL);
    };
    let answer =
        (query.answer)(file, call).inspect_err(|e| log::debug!("{} gives error {}", query.name, e.0))?;
    call.output(0, &answer);
    Ok(())
}

fn words(values: &[u32]) -> Answer {
    Ok(values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

fn longs(values: &[u64]) -> Answer {
    Ok(values.iter().flat_map(|v| v.to_le_bytes()).collect())
}

/// Rings of an engine: one for graphics, one for compute, none of anything else.
pub(super) fn rings(engine: u32) -> u32 {
    u32::from(engine <= 1)
}

/// Engines that the interface knows.
const ENGINES: u32 = 10;

/// Where command buffers begin, and what their sizes are multiples of, in bytes.
const BUFFER_ALIGNMENT: u32 = 32;

/// Engine at 16: version, capabilities, alignments of start and size, a mask of rings, discovered version.
fn engine(file: &OpenFile, call: &Call) -> Answer {
    let engine = call.u32(FIRST);
    if engine >= ENGINES {
        return Err(EINVAL);
    }
    if rings(engine) == 0 {
        return words(&[0; 8]);
    }
    let mask = (1 << rings(engine)) - 1;
    words(&[10, file.device.model.gfx_minor, 0, 0, BUFFER_ALIGNMENT, BUFFER_ALIGNMENT, mask, 0])
}

/// The GPU's clock, 100 MHz.
fn ticks() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos() / 10).unwrap_or(u64::MAX)
}

/// Dword addresses of the registers that can be read.
const GB_ADDR_CONFIG: u32 = 0x263e;

/// First register at 16, count at 20.
fn registers(file: &OpenFile, call: &Call) -> Answer {
    match (call.u32(FIRST), call.u32(FIRST + 4)) {
        (GB_ADDR_CONFIG, 1) => words(&[file.device.model.gb_addr_config]),
        (first, count) => {
            file.device.report.unanswered(&format!("AMDGPU_INFO of {count} registers from {first:#x}"));
            Err(EINVAL)
        }
    }
}

/// Size, usable size, use and largest allocation of video memory, of the part that the CPU reaches, and of host memory.
fn memory(file: &OpenFile, _: &Call) -> Answer {
    let (heap, [host, video]) = (file.device.store.limit(), file.device.store.used());
    let row = |size: u64, used: u64| [size, size, used.min(size), size / 4 * 3];
    let rows = [row(heap, video), row(heap.min(VISIBLE), 0), row(heap, host)];
    longs(&rows.concat())
}
