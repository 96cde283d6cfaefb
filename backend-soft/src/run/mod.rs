//! Launches: waves in their order, and what their code asks for.

mod access;
mod atomics;
mod launch;
mod ordered;
mod parallel;
mod places;
mod spans;
mod windows;
mod worker;

pub(crate) use launch::{Ready, Threads, run};
pub(crate) use spans::Span;
pub(crate) use windows::WHOLE;
pub(crate) use worker::{Pool, Worker};
