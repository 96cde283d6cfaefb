//! What a dispatch can say about numbers before it runs.

use crate::program::Trace;

/// Works a number out from a parameter block and from dwords of guest memory, as `read` gives them; `None` where memory is
/// missing.
pub(super) fn evaluate(
    trace: &Trace,
    params: &[u32],
    read: &mut dyn FnMut(u64) -> Option<u32>,
) -> Option<u64> {
    let mut of = |t: &Trace| evaluate(t, params, read);
    Some(match trace {
        Trace::Const(c) => *c,
        Trace::Param(p) => u64::from(*params.get(usize::from(*p))?),
        Trace::Dword(address) => {
            let address = of(address)? & !3;
            u64::from(read(address)?)
        }
        Trace::Pack(low, high) => u64::from(of(low)? as u32) | of(high)? << 32,
        Trace::Add(a, b) => of(a)?.wrapping_add(of(b)?),
        Trace::Mul(a, b) => of(a)?.wrapping_mul(of(b)?),
        Trace::And(a, b) => of(a)? & of(b)?,
        Trace::Or(a, b) => of(a)? | of(b)?,
        Trace::Shl(a, by) => of(a)?.wrapping_shl(u32::from(*by)),
        Trace::Shr(a, by) => of(a)?.wrapping_shr(u32::from(*by)),
    })
}
