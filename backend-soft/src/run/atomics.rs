//! What each atomic leaves in its unit.

use guestwave_translate::program::AtomicOp;

/// What `op` leaves in a dword that held `old`.
pub(crate) fn new_u32(op: AtomicOp, old: u32, data: u32, compare: u32) -> u32 {
    let (s, t) = (old as i32, data as i32);
    match op {
        AtomicOp::MinS => s.min(t) as u32,
        AtomicOp::MaxS => s.max(t) as u32,
        AtomicOp::MinF => pick(old, data, order_f32, std::cmp::Ordering::Less),
        AtomicOp::MaxF => pick(old, data, order_f32, std::cmp::Ordering::Greater),
        AtomicOp::Add => old.wrapping_add(data),
        AtomicOp::Sub => old.wrapping_sub(data),
        op => unsigned(op, u64::from(old), u64::from(data), u64::from(compare)) as u32,
    }
}

/// What `op` leaves in a 64-bit word that held `old`.
pub(crate) fn new_u64(op: AtomicOp, old: u64, data: u64, compare: u64) -> u64 {
    let (s, t) = (old as i64, data as i64);
    match op {
        AtomicOp::MinS => s.min(t) as u64,
        AtomicOp::MaxS => s.max(t) as u64,
        AtomicOp::MinF => pick(old, data, order_f64, std::cmp::Ordering::Less),
        AtomicOp::MaxF => pick(old, data, order_f64, std::cmp::Ordering::Greater),
        AtomicOp::Add => old.wrapping_add(data),
        AtomicOp::Sub => old.wrapping_sub(data),
        op => unsigned(op, old, data, compare),
    }
}

/// Operations that are the same at every width.
fn unsigned(op: AtomicOp, old: u64, data: u64, compare: u64) -> u64 {
    match op {
        AtomicOp::CompareSwap if old != compare => old,
        AtomicOp::MinU => old.min(data),
        AtomicOp::MaxU => old.max(data),
        AtomicOp::And => old & data,
        AtomicOp::Or => old | data,
        AtomicOp::Xor => old ^ data,
        AtomicOp::IncWrap if old >= data => 0,
        AtomicOp::IncWrap => old + 1,
        AtomicOp::DecWrap if old != 0 && old <= data => old - 1,
        AtomicOp::SubClamp => old.saturating_sub(data),
        // `Swap`, and the comparisons that held.
        _ => data,
    }
}

/// `data` if it stands to `old` as `wanted`, else `old`; a NaN (which has no order) in `data` loses, one in `old` gives way.
fn pick<T: Copy>(
    old: T,
    data: T,
    order: impl Fn(T, T) -> Option<std::cmp::Ordering>,
    wanted: std::cmp::Ordering,
) -> T {
    match (order(data, data), order(old, old)) {
        (None, _) => old,
        (_, None) => data,
        _ if order(data, old) == Some(wanted) => data,
        _ => old,
    }
}

fn order_f32(a: u32, b: u32) -> Option<std::cmp::Ordering> {
    let [a, b] = [a, b].map(f32::from_bits);
    (!a.is_nan() && !b.is_nan()).then(|| a.total_cmp(&b))
}

fn order_f64(a: u64, b: u64) -> Option<std::cmp::Ordering> {
    let [a, b] = [a, b].map(f64::from_bits);
    (!a.is_nan() && !b.is_nan()).then(|| a.total_cmp(&b))
}
