//! How long dispatches take on the device.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wgpu::{Buffer, BufferUsages, CommandEncoder, ComputePassTimestampWrites, QuerySet};

use crate::device::Opened;

/// Bytes that the two moments take in a buffer.
pub(crate) const BYTES: u64 = 16;

/// Time that dispatches have taken on a device, as it says itself; clones count together.
#[derive(Clone, Debug, Default)]
pub struct DeviceClock(Arc<AtomicU64>);

impl DeviceClock {
    /// All time so far; it stands still where the device does not tell.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn add(&self, nanoseconds: u64) {
        self.0.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

/// The moments when the first dispatch of a submission starts and the last ends.
pub(crate) struct Stamps {
    set: QuerySet,
    resolved: Buffer,
    /// Nanoseconds of a tick.
    period: f64,
}

impl Stamps {
    /// `None` where the device has no clock.
    pub(crate) fn new(opened: &Opened) -> Option<Self> {
        let has = opened.features.contains(wgpu::Features::TIMESTAMP_QUERY);
        has.then(|| Stamps {
            set: opened.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("moments"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: opened.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("moments"),
                size: BYTES,
                usage: BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            period: f64::from(opened.queue.get_timestamp_period()),
        })
    }

    /// What a pass notes, if it is the first or the last one.
    pub(crate) fn writes(&self, first: bool, last: bool) -> Option<ComputePassTimestampWrites<'_>> {
        (first || last).then_some(ComputePassTimestampWrites {
            query_set: &self.set,
            beginning_of_pass_write_index: first.then_some(0),
            end_of_pass_write_index: last.then_some(1),
        })
    }

    /// Has the moments put into a buffer.
    pub(crate) fn resolve(&self, encoder: &mut CommandEncoder, into: &Buffer, at: u64) {
        encoder.resolve_query_set(&self.set, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, into, at, BYTES);
    }

    /// The time between the moments that a buffer has.
    pub(crate) fn nanoseconds(&self, bytes: &[u8]) -> u64 {
        let mut moments = bytes.chunks_exact(8).filter_map(|b| b.try_into().ok().map(u64::from_le_bytes));
        let (start, end) = (moments.next().unwrap_or(0), moments.next().unwrap_or(0));
        (end.saturating_sub(start) as f64 * self.period) as u64
    }
}
