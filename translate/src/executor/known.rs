//! What a dispatch can say about numbers before it runs.

use guestwave_cp::{GuestMemory, read_u32};

use crate::program::Trace;

/// Works a number out from a parameter block and guest memory; `None` where memory is missing.
pub(super) fn evaluate(trace: &Trace, params: &[u32], memory: &dyn GuestMemory) -> Option<u64> {
    let of = |t: &Trace| evaluate(t, params, memory);
    Some(match trace {
        Trace::Const(c) => *c,
        Trace::Param(p) => u64::from(*params.get(usize::from(*p))?),
        Trace::Dword(address) => u64::from(read_u32(memory, of(address)? & !3).ok()?),
        Trace::Pack(low, high) => u64::from(of(low)? as u32) | of(high)? << 32,
        Trace::Add(a, b) => of(a)?.wrapping_add(of(b)?),
        Trace::Mul(a, b) => of(a)?.wrapping_mul(of(b)?),
        Trace::And(a, b) => of(a)? & of(b)?,
        Trace::Or(a, b) => of(a)? | of(b)?,
        Trace::Shl(a, by) => of(a)?.wrapping_shl(u32::from(*by)),
        Trace::Shr(a, by) => of(a)?.wrapping_shr(u32::from(*by)),
    })
}
