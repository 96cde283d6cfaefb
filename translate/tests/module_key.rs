//! Everything that is compiled into a module is in its key.

mod fixture;

use std::sync::Arc;

use fixture::dispatch;
use guestwave_cp::{ExactDispatch, Grid, Isa, LaneRule, Outputs, ScalarRule};
use guestwave_translate::backend::{Fidelity, Holding};
use guestwave_translate::executor::ModuleKey;

fn key(dispatch: &ExactDispatch) -> ModuleKey {
    ModuleKey::new(dispatch, Arc::from([1, 2, 3]), Fidelity::Exact, Some(Holding::Lane))
}

/// Whether a dispatch that was changed has the key still.
fn fits(change: impl FnOnce(&mut ExactDispatch)) -> bool {
    let mut other = dispatch();
    change(&mut other);
    let fits = key(&dispatch()).is_of(&other, Fidelity::Exact, Some(Holding::Lane));
    assert_eq!(fits, key(&other) == key(&dispatch()), "{other:?}");
    fits
}

fn changed(change: impl FnOnce(&mut ExactDispatch)) -> ModuleKey {
    let mut dispatch = dispatch();
    change(&mut dispatch);
    key(&dispatch)
}

#[test]
fn each_field_that_is_compiled_in_makes_another_key() {
    let key = key(&dispatch());
    // A new field of the key does not compile here until it has a row below.
    let ModuleKey {
        code: _,
        isa: _,
        wave_lanes: _,
        float_mode: _,
        dx10_clamp: _,
        ieee: _,
        shape: _,
        lds_bytes: _,
        scratch_bytes: _,
        discard_vertex_exports: _,
        fidelity: _,
        holding: _,
        together: _,
    } = &key;
    let code = |words: &[u32]| ModuleKey { code: Arc::from(words), ..key.clone() };
    let others = [
        code(&[1, 2, 4]),
        code(&[1, 2]),
        changed(|d| d.program.isa = Isa::Gfx1010),
        changed(|d| d.program.wave_lanes = 32),
        changed(|d| d.program.float_mode = 0xc0),
        changed(|d| d.program.dx10_clamp = false),
        changed(|d| d.program.ieee = true),
        changed(|d| d.vgprs.push(LaneRule::Word(0))),
        changed(|d| d.sgprs.push(ScalarRule::GroupSize)),
        changed(|d| d.vgprs[0] = LaneRule::Primitive { base: 7, items: 3 }),
        changed(|d| d.lds_bytes = 512),
        changed(|d| d.scratch = None),
        changed(|d| d.outputs = Outputs::Recorded),
        ModuleKey { fidelity: Fidelity::Fast, ..key.clone() },
        ModuleKey { holding: Some(Holding::Wave), ..key.clone() },
        ModuleKey { holding: None, ..key.clone() },
        ModuleKey { together: true, ..key.clone() },
    ];
    for (row, other) in others.iter().enumerate() {
        assert_ne!(*other, key, "row {row}");
    }
}

#[test]
fn a_key_is_held_against_a_dispatch_as_against_its_key() {
    type Change = fn(&mut ExactDispatch);
    let others: &[Change] = &[
        |d| d.program.isa = Isa::Gfx1010,
        |d| d.program.wave_lanes = 32,
        |d| d.program.float_mode = 0xc0,
        |d| d.program.dx10_clamp = false,
        |d| d.program.ieee = true,
        |d| d.grid = Grid::Subgroups { waves: Arc::from([1]) },
        |d| d.vgprs.push(LaneRule::Word(0)),
        |d| d.sgprs.push(ScalarRule::GroupSize),
        |d| drop(d.sgprs.pop()),
        |d| d.vgprs[0] = LaneRule::Primitive { base: 7, items: 3 },
        |d| d.sgprs[1] = ScalarRule::ItemCount { base: 0, shift: 16, limit: 3 },
        |d| d.lds_bytes = 512,
        |d| d.scratch = None,
        |d| d.outputs = Outputs::Recorded,
    ];
    assert!(others.iter().all(|change| !fits(change)));
    let same: &[Change] = &[
        |_| (),
        |d| d.program.address = 0x8000,
        |d| d.sgprs[0] = ScalarRule::Word(9),
        |d| d.vgprs[0] = LaneRule::Item { base: 9 },
    ];
    assert!(same.iter().all(|change| fits(change)));
    let key = key(&dispatch());
    assert!(!key.is_of(&dispatch(), Fidelity::Fast, Some(Holding::Lane)));
    assert!(!key.is_of(&dispatch(), Fidelity::Exact, None));
}

#[test]
fn what_varies_from_draw_to_draw_is_not_in_the_key() {
    let wanted = key(&dispatch());
    let same = [
        changed(|d| d.program.address = 0x8000),
        changed(|d| d.grid = Grid::Linear { items: 1, per_wave: 64 }),
        changed(|d| d.sgprs[0] = ScalarRule::Word(9)),
        changed(|d| d.sgprs[1] = ScalarRule::FirstItem { base: 9 }),
        changed(|d| d.vgprs[0] = LaneRule::Item { base: 9 }),
        changed(|d| d.origin.submission = 3),
    ];
    for (row, other) in same.iter().enumerate() {
        assert_eq!(*other, wanted, "row {row}");
    }
}
