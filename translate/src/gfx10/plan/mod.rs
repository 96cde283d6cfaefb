//! What is decided about a program before anything is emitted: which scalar registers hold masks, which are live where, and which
//! branches each lane may take by itself.

mod effects;
mod kinds;
mod liveness;
mod logic;
mod regions;

pub(super) use effects::{RegisterSet, SCC, effects, file_end};
pub(super) use kinds::{Kinds, State, is_mask_operation};
pub(super) use liveness::Liveness;
pub(super) use logic::{Class, Logic, class};
pub(super) use regions::{Facts, Plan, Way};
