//! The last dispatch that ran a module. One that asks for the same again, which is what draw after draw does, needs no look
//! at its rules and assumptions: only what these were read from in guest memory is read again.

use guestwave_cp::{ExactDispatch, Grid, GuestMemory, LaneRule, ScalarRule, read_u32};

use crate::gfx10::LaunchWords;

/// A dword of guest memory: its address, and what it was.
pub(super) type Read = (u64, u32);

/// A dispatch, its words, and the dwords by which the module's assumptions held for it.
#[derive(Default)]
pub(super) struct Last {
    kept: Option<(ExactDispatch, LaunchWords)>,
    reads: Vec<Read>,
}

impl Last {
    /// Whether `dispatch` asks for the same, wherever it came from.
    pub(super) fn is_like(&self, dispatch: &ExactDispatch) -> bool {
        let Some((own, _)) = &self.kept else { return false };
        // A new field does not compile here until it is compared.
        let ExactDispatch { stage, program, grid, sgprs, vgprs, lds_bytes, scratch, outputs, origin: _ } =
            own;
        *program == dispatch.program
            && (*stage, *lds_bytes, *outputs) == (dispatch.stage, dispatch.lds_bytes, dispatch.outputs)
            && *scratch == dispatch.scratch
            && *grid == dispatch.grid
            && same_scalars(sgprs, &dispatch.sgprs)
            && *vgprs == dispatch.vgprs
    }

    /// The words, if every dword that was read is what it was: then each was read at the same address, and what follows from
    /// them is the same.
    pub(super) fn words(&self, memory: &dyn GuestMemory) -> Option<LaunchWords> {
        let unchanged = self.reads.iter().all(|(address, word)| read_u32(memory, *address) == Ok(*word));
        self.kept.as_ref().filter(|_| unchanged).map(|(_, words)| words.clone())
    }

    /// Keeps a dispatch in place of the last one, unless it has lists, which would be held for nothing.
    pub(super) fn keep(&mut self, dispatch: &ExactDispatch, words: &LaunchWords, reads: &[Read]) {
        if has_lists(dispatch) {
            self.kept = None;
            return;
        }
        match &mut self.kept {
            Some(kept) => replace(kept, dispatch, words),
            None => self.kept = Some((dispatch.clone(), words.clone())),
        }
        self.reads.clear();
        self.reads.extend(reads);
    }
}

/// Whether rules are equal, most of which are words.
fn same_scalars(own: &[ScalarRule], others: &[ScalarRule]) -> bool {
    own.len() == others.len()
        && own.iter().zip(others).all(|rules| match rules {
            (ScalarRule::Word(a), ScalarRule::Word(b)) => a == b,
            (a, b) => a == b,
        })
}

/// Puts others in place of a dispatch and its words, into the room that they have.
fn replace(kept: &mut (ExactDispatch, LaunchWords), dispatch: &ExactDispatch, words: &LaunchWords) {
    let ExactDispatch { stage, program, grid, sgprs, vgprs, lds_bytes, scratch, outputs, origin } = dispatch;
    let (own, own_words) = kept;
    own.sgprs.clone_from(sgprs);
    own.vgprs.clone_from(vgprs);
    own.grid.clone_from(grid);
    (own.stage, own.program, own.lds_bytes) = (*stage, *program, *lds_bytes);
    (own.scratch, own.outputs, own.origin) = (*scratch, *outputs, *origin);
    let LaunchWords { params, tables, waves, waves_per_group, group_waves } = words;
    own_words.params.clone_from(params);
    (own_words.waves, own_words.waves_per_group) = (*waves, *waves_per_group);
    own_words.tables.clone_from(tables);
    own_words.group_waves.clone_from(group_waves);
}

fn has_lists(dispatch: &ExactDispatch) -> bool {
    matches!(dispatch.grid, Grid::Subgroups { .. })
        || dispatch.vgprs.iter().any(|rule| matches!(rule, LaneRule::PerItem(_)))
        || dispatch.sgprs.iter().any(|rule| matches!(rule, ScalarRule::PerWave(_)))
}

#[cfg(test)]
#[path = "../../tests/fixture/mod.rs"]
mod fixture;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use guestwave_cp::{Isa, Origin, Outputs, Stage};

    use super::fixture::dispatch;
    use super::*;

    fn kept(dispatch: &ExactDispatch) -> Last {
        let mut last = Last::default();
        let words = LaunchWords::new(dispatch, &[]).unwrap();
        last.keep(dispatch, &words, &[]);
        last
    }

    type Change = fn(&mut ExactDispatch);

    const CHANGES: &[Change] = &[
        |d| d.stage = Stage::Compute,
        |d| d.program.isa = Isa::Gfx1010,
        |d| d.program.address = 0x8000,
        |d| d.program.wave_lanes = 32,
        |d| d.program.float_mode = 0xc0,
        |d| d.program.dx10_clamp = false,
        |d| d.program.ieee = true,
        |d| d.grid = Grid::Linear { items: 99, per_wave: 64 },
        |d| d.grid = Grid::Linear { items: 100, per_wave: 63 },
        |d| d.sgprs[0] = ScalarRule::Word(2),
        |d| d.sgprs[0] = ScalarRule::GroupSize,
        |d| d.sgprs[1] = ScalarRule::FirstItem { base: 6 },
        |d| d.sgprs[1] = ScalarRule::Word(5),
        |d| drop(d.sgprs.pop()),
        |d| d.sgprs.push(ScalarRule::Word(0)),
        |d| d.vgprs[0] = LaneRule::Item { base: 8 },
        |d| d.vgprs.push(LaneRule::Word(0)),
        |d| d.lds_bytes = 512,
        |d| d.scratch = None,
        |d| d.outputs = Outputs::Recorded,
    ];

    #[test]
    fn whatever_changes_makes_another_dispatch_but_where_it_came_from() {
        for (row, change) in CHANGES.iter().enumerate() {
            let mut last = kept(&dispatch());
            let mut other = dispatch();
            change(&mut other);
            assert!(!last.is_like(&other), "row {row}");
            // What takes its place is kept whole.
            let words = LaunchWords::new(&other, &[]).unwrap();
            last.keep(&other, &words, &[]);
            assert!(last.is_like(&other) && !last.is_like(&dispatch()), "row {row}");
            assert_eq!(last.kept, Some((other, words)));
        }
        let elsewhere = Origin { submission: 3, packet_offset: 8, packet_address: 0x100 };
        assert!(kept(&dispatch()).is_like(&ExactDispatch { origin: elsewhere, ..dispatch() }));
    }

    #[test]
    fn lists_are_not_kept() {
        let lists: [Change; 3] = [
            |d| d.sgprs[0] = ScalarRule::PerWave(Arc::from([1])),
            |d| d.vgprs[0] = LaneRule::PerItem(Arc::from([1])),
            |d| d.grid = Grid::Subgroups { waves: Arc::from([1]) },
        ];
        for change in lists {
            let mut other = dispatch();
            change(&mut other);
            assert!(!kept(&other).is_like(&other));
        }
    }
}
