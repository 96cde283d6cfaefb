//! The worked examples on every executor.

use guestwave_cp::intel::sol::{Policies, Room};
use guestwave_harness::intel::Example;
use guestwave_translate::backend::Holding;

use crate::support::{Shared, evaluated, folder, native, on_device, plainly};

fn examples() -> Vec<Example> {
    Example::load(&folder().join("examples.json")).unwrap()
}

fn all_come_out(stream_out: &Shared) {
    let examples = examples();
    assert_eq!(examples.len(), 18);
    for example in examples {
        let found = example.run(Policies::default(), stream_out.boxed()).unwrap();
        assert_eq!(found, example.expected, "{}", example.name);
    }
}

#[test]
fn examples_come_out_plainly() {
    all_come_out(&plainly());
}

#[test]
fn examples_come_out_of_evaluated_programs() {
    all_come_out(&evaluated());
}

#[test]
fn examples_come_out_of_native_programs() {
    all_come_out(&native());
}

#[test]
fn examples_come_out_of_programs_on_a_device() {
    for holding in [Holding::Lane, Holding::Wave] {
        all_come_out(&on_device(holding));
    }
}

/// c23: 76 bytes, records of 16 bytes 28 apart. Two whole pitches fit; the third record's data would too.
#[test]
fn the_room_policy_decides_about_a_record_that_ends_in_a_hole() {
    let example = examples().into_iter().find(|e| e.name == "c23_trail_ovf").unwrap();
    let policies = Policies { room: Room::LastDword, ..Policies::default() };
    let found = example.run(policies, plainly().boxed()).unwrap();
    assert_eq!((found.counters.written, found.counters.needed), (3, 3));
    let slot2_of_vertex2 = (2 * example.vues.slots as usize + 2) * 4;
    assert_eq!(found.buffers[&0][14..18], example.vues.words[slot2_of_vertex2..][..4]);
}
