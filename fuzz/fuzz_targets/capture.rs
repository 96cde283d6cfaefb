//! Capture files: refused, or written back byte for byte.
#![no_main]

use guestwave_cp::Isa;
use guestwave_harness::capture::{Capture, Record};
use guestwave_harness::executor::ReferenceExecutor;
use guestwave_harness::replay::{Machine, parse_expectation};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(capture) = Capture::parse(bytes) else { return };
    assert_eq!(capture.to_bytes().as_deref(), Ok(bytes));
    let machine = Machine::new(Isa::Gfx1030, Box::new(ReferenceExecutor::with_steps(1)));
    for record in &capture.records {
        if let Record::Expect(text) = record {
            parse_expectation(text);
        }
        if machine.apply(record).is_err() {
            break;
        }
    }
});
