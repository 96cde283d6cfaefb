//! Programs on whatever device there is; without one these tests fail.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what cannot be set up has to stop the test"
)]
#![expect(dead_code, reason = "the support is for more tests than there are so far")]

mod probe;
mod random_programs;
mod support;
