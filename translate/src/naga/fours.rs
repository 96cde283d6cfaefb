//! Accesses of four words, made at once where they lie in their natural place: a lane's words then are one request to the
//! host's memory, not four.

use naga::Block;

use super::direct::Found;
use super::func::Ex;
use super::layout::flag;
use super::lower::Lower;
use super::memory::Reach;
use super::plan::Marking;
use crate::program::{Space, Width};

/// Words of such an access.
const WORDS: u32 = 4;
/// Bytes of it.
const BYTES: u32 = 4 * WORDS;

impl<'p> Lower<'p> {
    /// Whether an access may be made at once.
    fn is_fours(&self, reach: &Reach<'p>) -> bool {
        let words = reach.access.space == Space::Global && reach.access.width == Width::W32;
        self.caps.fours && words && reach.units == WORDS
    }

    /// Whether a load may. Where something stores meanwhile it is made of steps that are seen one by one.
    pub(super) fn loads_fours(&self, reach: &Reach<'p>) -> bool {
        self.is_fours(reach) && self.only_read(reach.access)
    }

    /// Whether a store may.
    pub(super) fn stores_fours(&self, reach: &Reach<'p>) -> bool {
        self.is_fours(reach)
    }

    fn natural(&mut self, at: Ex) -> Ex {
        let place = self.f.and_u32(at, BYTES - 1);
        self.f.is_u32(place, 0)
    }

    /// Loads from byte `at` where the access is `good`.
    pub(super) fn load_fours(&mut self, reach: &Reach<'p>, good: Ex, at: Ex) -> Vec<Ex> {
        let natural = self.natural(at);
        let natural = self.f.both(good, natural);
        let all = self.all_valid(reach);
        let natural = self.all_of(Some(natural), all).unwrap_or(natural);
        let result = self.f.local(self.types.vec4, None);
        self.f.open();
        let index = self.f.shr_u32(at, BYTES.trailing_zeros());
        let words = self.f.element(self.buffers.fours, index);
        self.f.store(result, words);
        let accept = self.f.close();
        self.f.open();
        let words = self.load_units(reach, good, at);
        let words = self.f.compose(self.types.vec4, words);
        self.f.store(result, words);
        let reject = self.f.close();
        self.f.if_else(natural, accept, reject);
        let words = self.f.load(result);
        (0..WORDS).map(|i| self.f.field(words, i)).collect()
    }

    /// Stores to a place that was found good, and marks it: a word of marks has all the bytes.
    pub(super) fn store_fours(&mut self, reach: &Reach<'p>, found: &Found, values: &[Ex], marking: Marking) {
        let natural = self.natural(found.at);
        self.f.open();
        let index = self.f.shr_u32(found.at, BYTES.trailing_zeros());
        let words = self.f.compose(self.types.vec4, values.to_vec());
        self.f.set_element(self.buffers.fours, index, words);
        if let Some(marks) = found.marks {
            let (bits, place) = (self.f.u32((1 << BYTES) - 1), self.f.and_u32(found.at, 31));
            let bits = self.f.shl(bits, place);
            let noted = (marking == Marking::Checked).then_some(flag::ORDER);
            self.mark_word_direct(reach, marks, bits, noted);
        }
        let accept: Block = self.f.close();
        self.f.open();
        self.store_found(reach, found, values, marking);
        let reject = self.f.close();
        self.f.if_else(natural, accept, reject);
    }
}
