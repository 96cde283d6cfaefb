//! Programs small enough to work out by hand, on the evaluator.

#[cfg(test)]
mod lane;

use guestwave_translate::backend::Holding;
use guestwave_translate::plain::PlainBackend;
use lane::worked;

#[test]
fn worked_programs_leave_what_they_should() {
    worked::hold_on(&mut PlainBackend::new(), Holding::Wave);
}
