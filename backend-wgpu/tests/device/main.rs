//! Programs on whatever device there is; without one these tests fail.

mod probe;
mod random_programs;
mod support;
