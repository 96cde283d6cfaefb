//! Units of the tables, of LDS and of scratch. Units that are not wholly inside read 0 and store nothing.

use naga::{GlobalVariable, Handle};

use super::func::{Ex, Func};
use super::helpers::{Helper, Maker};
use super::layout::header;
use super::pages::{below_shifted, byte_mask, joined};

/// Whether the unit of `bytes` at byte `at` is inside a memory of `size` bytes.
fn inside(f: &mut Func, at: Ex, bytes: Ex, size: Ex) -> Ex {
    let fits = f.ge(size, bytes);
    let room = f.sub(size, bytes);
    let starts = f.le(at, room);
    f.both(fits, starts)
}

/// Returns (0, where the function gives something) unless the unit is inside.
fn leave_unless_inside(f: &mut Func, at: Ex, bytes: Ex, size: Ex, gives: bool) {
    let inside = inside(f, at, bytes, size);
    let outside = f.not(inside);
    let zero = f.u32(0);
    f.when(outside, |f| f.ret(gives.then_some(zero)));
}

/// The first and the last word of a unit, as numbers of words.
fn words(f: &mut Func, at: Ex, bytes: Ex) -> [Ex; 2] {
    let one = f.u32(1);
    let reach = f.sub(bytes, one);
    let last = f.add(at, reach);
    [at, last].map(|byte| f.shr_u32(byte, 2))
}

fn give(f: &mut Func, [below, above]: [Ex; 2], at: Ex, bytes: Ex) {
    let place = f.and_u32(at, 3);
    let value = joined(f, below, above, place);
    let mask = byte_mask(f, bytes);
    let value = f.and(value, mask);
    f.ret(Some(value));
}

/// Arguments: byte, bytes.
pub(super) fn table_unit(m: &mut Maker<'_>, a: &[Ex]) {
    let (size, start) = (m.launch_word(header::TABLE_BYTES), m.launch_word(header::TABLE_START));
    let tables = m.buffers.tables;
    let f = &mut m.f;
    leave_unless_inside(f, a[0], a[1], size, true);
    let words = words(f, a[0], a[1]).map(|w| {
        let at = f.add(start, w);
        f.element(tables, at)
    });
    give(f, words, a[0], a[1]);
}

fn lds(m: &Maker<'_>) -> Option<(Handle<GlobalVariable>, u32)> {
    m.lds.map(|lds| (lds, m.lds_bytes))
}

/// Arguments: byte, bytes.
pub(super) fn lds_load(m: &mut Maker<'_>, a: &[Ex]) {
    let Some((lds, bytes)) = lds(m) else {
        let zero = m.f.u32(0);
        return m.f.ret(Some(zero));
    };
    let f = &mut m.f;
    let size = f.u32(bytes);
    leave_unless_inside(f, a[0], a[1], size, true);
    let words = words(f, a[0], a[1]).map(|w| f.element(lds, w));
    give(f, words, a[0], a[1]);
}

/// A unit to be stored at byte `at`, as masks and bits for its first and its last word.
fn split(f: &mut Func, at: Ex, bytes: Ex, value: Ex) -> [(Ex, Ex); 2] {
    let (place, mask) = (f.and_u32(at, 3), byte_mask(f, bytes));
    let shift = f.shl_u32(place, 3);
    let value = f.and(value, mask);
    let [low_mask, low] = [mask, value].map(|x| f.shl(x, shift));
    let [high_mask, high] = [mask, value].map(|x| below_shifted(f, x, shift));
    [(low_mask, low), (high_mask, high)]
}

/// Arguments: byte, bytes, value.
pub(super) fn lds_store(m: &mut Maker<'_>, a: &[Ex]) {
    let Some((_, bytes)) = lds(m) else { return };
    let f = &mut m.f;
    let size = f.u32(bytes);
    leave_unless_inside(f, a[0], a[1], size, false);
    let [first, last] = words(f, a[0], a[1]);
    let [(low_mask, low), (high_mask, high)] = split(f, a[0], a[1], a[2]);
    m.call(Helper::LdsMerge, &[first, low_mask, low]);
    let some = m.f.isnt_u32(high_mask, 0);
    m.f.open();
    m.call(Helper::LdsMerge, &[last, high_mask, high]);
    let accept = m.f.close();
    m.f.if_else(some, accept, naga::Block::new());
}

/// Place in the spill buffer of a word of a lane's scratch, whose words are as far apart as a wave has lanes.
fn scratch_place(f: &mut Func, first: Ex, word: Ex, lanes: u32) -> Ex {
    let lanes = f.u32(lanes);
    let offset = f.mul(word, lanes);
    f.add(first, offset)
}

/// Arguments: first word, byte, bytes.
pub(super) fn scratch_load(m: &mut Maker<'_>, a: &[Ex]) {
    let (size, spill, lanes) = (m.scratch_bytes, m.buffers.spill, m.lanes);
    let f = &mut m.f;
    let size = f.u32(size);
    leave_unless_inside(f, a[1], a[2], size, true);
    let words = words(f, a[1], a[2]).map(|w| {
        let place = scratch_place(f, a[0], w, lanes);
        f.element(spill, place)
    });
    give(f, words, a[1], a[2]);
}

/// Arguments: first word, byte, bytes, value.
pub(super) fn scratch_store(m: &mut Maker<'_>, a: &[Ex]) {
    let (size, spill, lanes) = (m.scratch_bytes, m.buffers.spill, m.lanes);
    let f = &mut m.f;
    let size = f.u32(size);
    leave_unless_inside(f, a[1], a[2], size, false);
    let words = words(f, a[1], a[2]);
    for (word, (mask, bits)) in words.into_iter().zip(split(f, a[1], a[2], a[3])) {
        let some = f.isnt_u32(mask, 0);
        f.when(some, |f| {
            let place = scratch_place(f, a[0], word, lanes);
            let old = f.element(spill, place);
            let others = f.un(naga::UnaryOperator::BitwiseNot, mask);
            let kept = f.and(old, others);
            let new = f.or(kept, bits);
            f.set_element(spill, place, new);
        });
    }
}
