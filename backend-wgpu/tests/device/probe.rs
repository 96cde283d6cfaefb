//! The start-up probe on whatever device there is.

use crate::support::open;
use guestwave_translate::backend::Backend;

#[test]
fn the_probe_finds_a_device_and_says_what_it_does() {
    let backend = open();
    println!("{}\n{:?}\n{}", backend.caps().device, backend.caps().exact, backend.probe());
    assert!(!backend.probe().checks.is_empty());
}
