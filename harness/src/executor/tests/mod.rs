//! The reference executor: how dispatches are cut into waves, and what programs leave in memory.

mod programs;
mod rules;
