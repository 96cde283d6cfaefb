//! Notes that a module leaves for its host.

use naga::{AtomicFunction as A, GlobalVariable, Handle};

use super::func::{Ex, Func};
use super::helpers::{Maker, compare_swap};
use super::layout::{flag, header, status};

/// Arguments: flags, site, low, high, size.
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
    let paged = f.and_u32(a[0], flag::MISS | flag::INDIRECT);
    let paged = f.isnt_u32(paged, 0);
    f.when(paged, |f| list_page(f, buffer, a[2], a[3]));
    let (claim, none, taken) = (f.add_u32(record, status::CLAIM), f.u32(0), f.u32(1));
    let (_, mine) = compare_swap(f, &types, buffer, claim, (none, taken));
    f.when(mine, |f| {
        let places = [status::SITE, status::LOW, status::HIGH, status::SIZE];
        for (place, what) in places.into_iter().zip(&a[1..]) {
            let at = f.add_u32(record, place);
            f.set_element(buffer, at, *what);
        }
    });
}

fn list_page(f: &mut Func, buffer: Handle<GlobalVariable>, low: Ex, high: Ex) {
    let (below, above) = (f.shr_u32(low, 16), f.shl_u32(high, 16));
    let page = f.or(below, above);
    let spread = f.u32(0x9e37_79b1);
    let place = f.mul(page, spread);
    let place = f.shr_u32(place, 20);
    let place = f.add_u32(place, status::MISSES);
    let note = f.add_u32(page, 1);
    f.set_element(buffer, place, note);
}

/// Arguments: low, high, site, size.
pub(super) fn missed(m: &mut Maker<'_>, a: &[Ex]) {
    let cause = m.f.u32(flag::MISS);
    m.call(super::helpers::Helper::Blame, &[cause, a[2], a[0], a[1], a[3]]);
}
