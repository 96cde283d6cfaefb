//! Guest memory through the page table, and marks of stored bytes.

use naga::{AtomicFunction as A, GlobalVariable, Handle};

use super::func::{Ex, Func};
use super::helpers::{Helper, Maker, compare_swap, spin};
use super::layout::{NONE, PAGE_MAP_WORDS, flag, header, status};

/// Entry of an address in the page table: its place, and the entry itself.
fn entry(f: &mut Func, pages: Handle<GlobalVariable>, low: Ex, high: Ex) -> (Ex, Ex) {
    let root = f.and_u32(high, 0xffff);
    let leaf = f.element(pages, root);
    let number = f.shr_u32(low, 16);
    let offset = f.shl_u32(number, 1);
    let place = f.add(leaf, offset);
    (place, f.element(pages, place))
}

/// Whether the 4 KiB part of `low` is wholly there, and its byte of the arena.
fn part(f: &mut Func, entry: Ex, low: Ex) -> (Ex, Ex) {
    let number = f.shr_u32(low, 12);
    let number = f.and_u32(number, 15);
    let bit = f.shr(entry, number);
    let bit = f.and_u32(bit, 1);
    let (base, offset) = (f.and_u32(entry, 0xffff_0000), f.and_u32(low, 0xffff));
    (f.isnt_u32(bit, 0), f.or(base, offset))
}

/// Whether the 4 KiB part of an address is wholly there, and its byte of the arena.
pub(super) fn walk_part(f: &mut Func, pages: Handle<GlobalVariable>, low: Ex, high: Ex) -> (Ex, Ex) {
    let (_, entry) = entry(f, pages, low, high);
    part(f, entry, low)
}

/// Arguments: low, high.
pub(super) fn walk(m: &mut Maker<'_>, a: &[Ex]) {
    let pages = m.buffers.pages;
    let f = &mut m.f;
    let (place, entry) = entry(f, pages, a[0], a[1]);
    let (there, at) = part(f, entry, a[0]);
    f.when(there, |f| f.ret(Some(at)));
    let place = f.add_u32(place, 1);
    let map = f.element(pages, place);
    let some = f.isnt_u32(map, 0);
    f.when(some, |f| {
        let byte = f.and_u32(a[0], 0xffff);
        let word = f.shr_u32(byte, 5);
        let word = f.add(map, word);
        let word = f.element(pages, word);
        let number = f.and_u32(byte, 31);
        let bit = f.shr(word, number);
        let bit = f.and_u32(bit, 1);
        let there = f.isnt_u32(bit, 0);
        f.when(there, |f| f.ret(Some(at)));
    });
    let none = f.u32(NONE);
    f.ret(Some(none));
}

/// Bytes of the arena of a unit's first and last byte; returns from the function if one of them is absent.
fn ends(m: &mut Maker<'_>, [low, high, bytes]: [Ex; 3], [site, size]: [Ex; 2], gives: bool) -> [Ex; 2] {
    let f = &mut m.f;
    let one = f.u32(1);
    let reach = f.sub(bytes, one);
    let last_low = f.add(low, reach);
    let carried = f.lt(last_low, low);
    let next = f.add_u32(high, 1);
    let last_high = f.select(carried, next, high);
    [(low, high), (last_low, last_high)].map(|(low, high)| {
        let at = m.value(Helper::Walk, &[low, high]);
        let absent = m.f.is_u32(at, NONE);
        m.f.open();
        m.call(Helper::Missed, &[low, high, site, size]);
        let zero = m.f.u32(0);
        m.f.ret(gives.then_some(zero));
        let accept = m.f.close();
        m.f.if_else(absent, accept, naga::Block::new());
        at
    })
}

/// Low `bytes` bytes set.
pub(super) fn byte_mask(f: &mut Func, bytes: Ex) -> Ex {
    let (four, all) = (f.u32(4), f.u32(u32::MAX));
    let missing = f.sub(four, bytes);
    let missing = f.shl_u32(missing, 3);
    f.shr(all, missing)
}

/// `below >> 8 * place | above << 32 - 8 * place`, `place` from 0 to 3.
pub(super) fn joined(f: &mut Func, below: Ex, above: Ex, place: Ex) -> Ex {
    let shift = f.shl_u32(place, 3);
    let down = f.shr(below, shift);
    let up = above_shifted(f, above, shift);
    f.or(down, up)
}

/// `x << 32 - shift`, 0 for a shift of 0.
fn above_shifted(f: &mut Func, x: Ex, shift: Ex) -> Ex {
    let rest = f.u32(31);
    let rest = f.sub(rest, shift);
    let doubled = f.shl_u32(x, 1);
    f.shl(doubled, rest)
}

/// `x >> 32 - shift`, 0 for a shift of 0.
pub(super) fn below_shifted(f: &mut Func, x: Ex, shift: Ex) -> Ex {
    let rest = f.u32(31);
    let rest = f.sub(rest, shift);
    let halved = f.shr_u32(x, 1);
    f.shr(halved, rest)
}

/// Arguments: low, high, bytes, site, size.
pub(super) fn load_unit(m: &mut Maker<'_>, a: &[Ex]) {
    let [first, last] = ends(m, [a[0], a[1], a[2]], [a[3], a[4]], true);
    let arena = m.buffers.arena;
    let f = &mut m.f;
    let [below, above] = [first, last].map(|at| {
        let word = f.shr_u32(at, 2);
        f.element(arena, word)
    });
    let place = f.and_u32(first, 3);
    let value = joined(f, below, above, place);
    let mask = byte_mask(f, a[2]);
    let value = f.and(value, mask);
    f.ret(Some(value));
}

/// Arguments: low, high, bytes, value, site, size, check.
pub(super) fn store_unit(m: &mut Maker<'_>, a: &[Ex]) {
    let [first, last] = ends(m, [a[0], a[1], a[2]], [a[4], a[5]], false);
    let f = &mut m.f;
    let (place, mask) = (f.and_u32(first, 3), byte_mask(f, a[2]));
    let shift = f.shl_u32(place, 3);
    let value = f.and(a[3], mask);
    let [low_mask, low] = [mask, value].map(|x| f.shl(x, shift));
    let note = [a[0], a[1], a[4], a[5]];
    merge_marked(m, first, (low_mask, low), note, a[6]);
    let f = &mut m.f;
    let [high_mask, high] = [mask, value].map(|x| below_shifted(f, x, shift));
    let some = f.isnt_u32(high_mask, 0);
    f.open();
    merge_marked(m, last, (high_mask, high), note, a[6]);
    let accept = m.f.close();
    m.f.if_else(some, accept, naga::Block::new());
}

/// Stores some bits of the word of arena byte `at` and marks their bytes. Nothing is stored where there are no marks.
fn merge_marked(m: &mut Maker<'_>, at: Ex, (mask, bits): (Ex, Ex), note: [Ex; 4], check: Ex) {
    let [low, high, site, size] = note;
    let marks = m.value(Helper::MarkWord, &[at, low, high, site, size]);
    let some = m.f.isnt_u32(marks, NONE);
    m.f.open();
    let f = &mut m.f;
    // A bit a byte: gather the bytes' lowest bits.
    let ones = f.and_u32(mask, 0x0101_0101);
    let gather = f.u32(0x1020_4080);
    let stored = f.mul(ones, gather);
    let stored = f.shr_u32(stored, 28);
    let place = f.and_u32(at, 28);
    let stored = f.shl(stored, place);
    let word = f.shr_u32(at, 2);
    m.call(Helper::Merge, &[word, mask, bits]);
    m.call(Helper::Mark, &[marks, stored, check, site]);
    let accept = m.f.close();
    m.f.if_else(some, accept, naga::Block::new());
}

/// Arguments: arena byte, low, high, site, size.
pub(super) fn mark_word(m: &mut Maker<'_>, a: &[Ex]) {
    let map = m.launch_word(header::MARK_MAP);
    let (tables, status_buffer) = (m.buffers.tables, m.buffers.status);
    let f = &mut m.f;
    let page = f.shr_u32(a[0], 16);
    let chunk = f.local(m.types.u32, None);
    let zero = f.u32(0);
    f.store(chunk, zero);
    let some = f.isnt_u32(map, NONE);
    f.when(some, |f| {
        let at = f.add(map, page);
        let found = f.element(tables, at);
        f.store(chunk, found);
    });
    let found = f.load(chunk);
    let there = f.isnt_u32(found, 0);
    f.when(there, |f| {
        let one = f.u32(1);
        let number = f.sub(found, one);
        let words = f.u32(PAGE_MAP_WORDS);
        let start = f.mul(number, words);
        let byte = f.and_u32(a[0], 0xffff);
        let word = f.shr_u32(byte, 5);
        let word = f.add(start, word);
        f.ret(Some(word));
    });
    let place = f.and_u32(page, status::MISS_PLACES - 1);
    let place = f.add_u32(place, status::MARK_MISSES);
    let note = f.add_u32(page, 1);
    f.set_element(status_buffer, place, note);
    let (cause, none) = (f.u32(flag::MARK_MISS), f.u32(NONE));
    m.call(Helper::Blame, &[cause, a[3], a[1], a[2], a[4]]);
    m.f.ret(Some(none));
}

/// Arguments: word, bits, check, site.
pub(super) fn mark(m: &mut Maker<'_>, a: &[Ex]) {
    let checked = m.f.isnt_u32(a[2], 0);
    let (marks, u32) = (m.buffers.marks, m.types.u32);
    m.f.open();
    let before = m.f.atomic(marks, a[0], A::InclusiveOr, a[1], u32);
    let twice = m.f.and(before, a[1]);
    let twice = m.f.isnt_u32(twice, 0);
    m.f.open();
    let (cause, zero) = (m.f.u32(flag::ORDER), m.f.u32(0));
    m.call(Helper::Blame, &[cause, a[3], zero, zero, zero]);
    let blamed = m.f.close();
    m.f.if_else(twice, blamed, naga::Block::new());
    let accept = m.f.close();
    m.f.open();
    m.f.atomic_only(marks, a[0], A::InclusiveOr, a[1]);
    let reject = m.f.close();
    m.f.if_else(checked, accept, reject);
}

/// Stores some bits of a word of an array of atomics. Arguments: word, mask, bits.
pub(super) fn merge(m: &mut Maker<'_>, array: Handle<GlobalVariable>, a: &[Ex]) {
    let (types, spins) = (m.types, m.spins);
    let f = &mut m.f;
    let whole = f.is_u32(a[1], u32::MAX);
    f.when(whole, |f| {
        f.set_element(array, a[0], a[2]);
        f.ret(None);
    });
    f.forever(|f| {
        let old = f.element(array, a[0]);
        let others = f.un(naga::UnaryOperator::BitwiseNot, a[1]);
        let kept = f.and(old, others);
        let new = f.or(kept, a[2]);
        let (_, swapped) = compare_swap(f, &types, array, a[0], (old, new));
        f.when(swapped, |f| f.push(naga::Statement::Break));
        spin(f, spins, 1);
    });
}
