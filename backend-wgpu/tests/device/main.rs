//! Programs on whatever device there is; without one these tests fail.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "what cannot be set up has to stop the test"
)]

mod ahead;
mod draws;
mod held;
mod kernels;
mod parted;
mod probe;
mod promises;
mod random_programs;
mod support;
