//! Notes that a module leaves for its host.

use naga::AtomicFunction as A;

use super::func::Ex;
use super::helpers::{Maker, compare_swap};
use super::layout::{flag, header, status};

/// Arguments: flag, pc, low, high, size, kind.
pub(super) fn blame(m: &mut Maker<'_>, a: &[Ex]) {
    let launch = m.launch_word(header::LAUNCH);
    let (types, buffer) = (m.types, m.buffers.status);
    let f = &mut m.f;
    let stop = f.u32(status::STOP);
    f.atomic_only(buffer, stop, A::Min, launch);
    let words = f.u32(status::WORDS);
    let offset = f.mul(launch, words);
    let record = f.add_u32(offset, status::RECORDS);
    let flags = f.add_u32(record, status::FLAGS);
    f.atomic_only(buffer, flags, A::InclusiveOr, a[0]);
    let (claim, none, taken) = (f.add_u32(record, status::CLAIM), f.u32(0), f.u32(1));
    let (_, mine) = compare_swap(f, &types, buffer, claim, (none, taken));
    f.when(mine, |f| {
        let places = [status::CAUSE, status::PC, status::LOW, status::HIGH, status::SIZE, status::KIND];
        for (place, what) in places.into_iter().zip(a) {
            let at = f.add_u32(record, place);
            f.set_element(buffer, at, *what);
        }
    });
}

/// Arguments: low, high, pc, size, kind.
pub(super) fn missed(m: &mut Maker<'_>, a: &[Ex]) {
    let f = &mut m.f;
    let (below, above) = (f.shr_u32(a[0], 16), f.shl_u32(a[1], 16));
    let page = f.or(below, above);
    let spread = f.u32(0x9e37_79b1);
    let place = f.mul(page, spread);
    let place = f.shr_u32(place, 20);
    let place = f.add_u32(place, status::MISSES);
    let note = f.add_u32(page, 1);
    f.set_element(m.buffers.status, place, note);
    let cause = f.u32(flag::MISS);
    m.call(super::helpers::Helper::Blame, &[cause, a[2], a[0], a[1], a[3], a[4]]);
}
