//! Faults that other projects had, held as rules on what real drivers sent. The rules that need no program are tested in
//! the command processor's own tests, by the same numbers.

mod common;

/// Replays captures of the repository: each passes, and checks something.
fn pass(captures: &[&str]) {
    for name in captures {
        let outcome = common::run(&common::own(name));
        let report = &outcome.report;
        let verdict = common::verdict(&outcome);
        assert_eq!(verdict.own, "pass", "{name}: {:?} {:?}", report.expectations, report.refusals);
        assert_ne!(verdict.recorded, "differ", "{name}: {:?}", report.golden);
        assert!(report.expectations.len() as u64 + report.golden.pages > 0, "{name} states nothing");
    }
}

/// As [`pass`], but for the recorded pages: the executor that recorded them gave the geometry ring's slots otherwise.
fn stated(captures: &[&str]) {
    for name in captures {
        let outcome = common::run(&common::own(name));
        assert_eq!(common::verdict(&outcome).own, "pass", "{name}: {:?}", outcome.report.expectations);
        assert!(!outcome.report.expectations.is_empty(), "{name} states nothing");
    }
}

#[test]
fn rule_2_an_output_from_a_later_component_lands_on_its_dword_and_a_vec3_is_three() {
    pass(&["g_struct_array", "piglit_alignment_12", "rv_two_buffers"]);
}

#[test]
fn rule_3_partial_primitives_vanish_at_restarts() {
    pass(&["g_fan_restart8", "rv_indexed_restart", "gs_adjacency"]);
}

#[test]
fn rule_4_a_draw_whose_count_was_captured_draws_what_was_captured() {
    pass(&["draw_tf"]);
}

#[test]
fn rule_5_what_is_drawn_after_a_pause_appends_to_what_was_before_it() {
    pass(&["pause_resume", "two_draws_finish", "rv_counter_append"]);
    stated(&["gs_pause"]);
}

#[test]
fn rule_6_components_with_gaps_keep_their_places() {
    pass(&["skip_components", "rv_two_buffers"]);
}

#[test]
fn rule_7_an_exchanged_buffer_has_its_own_capacity_and_position() {
    pass(&["piglit_tf2_change_objects", "piglit_change_size_base_grow", "rebegin"]);
}

#[test]
fn rule_8_what_does_not_fit_whole_is_needed_and_not_written() {
    pass(&["g_query_span", "gs_overflow_s1"]);
}
