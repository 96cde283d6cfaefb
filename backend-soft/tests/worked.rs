//! Programs small enough to work out by hand, as native code.

#[cfg(test)]
mod support;

use guestwave_backend_soft::SoftBackend;
use guestwave_translate::backend::Holding;
use support::{WAYS, lane::worked};

#[test]
fn worked_programs_leave_what_they_should() {
    for options in WAYS {
        worked::hold_on(&mut SoftBackend::new(options).unwrap(), Holding::Wave);
    }
}
