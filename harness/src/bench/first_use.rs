//! The first use of a program: from its first dispatch to code, with all that captures bring.

use std::sync::PoisonError;

use anyhow::{Context, Result, bail};

use super::{Options, Row, median};
use crate::capture::{Capture, load, read};
use crate::engine::EngineArgs;
use crate::replay::{ReplayOptions, replay};

pub(super) const NAME: &str = "first-use";

/// A capture of the repository, for where none is named.
const BUILT_IN: &[u8] = include_bytes!("../../captures/draw_tf.cap.zst");

/// Milliseconds of each program: the median, the least and the most; `runs` are the programs. Of several replays, each by an executor
/// of its own, the least counts.
pub(super) fn row(options: &Options) -> Result<Row> {
    let mut all = Vec::new();
    if options.captures.is_empty() {
        all.extend(least(&read(BUILT_IN)?, options)?);
    }
    for path in &options.captures {
        let capture = load(path).with_context(|| path.display().to_string())?;
        all.extend(least(&capture, options)?);
    }
    let Some(value) = median(&all) else { bail!("no program was translated") };
    Ok(Row {
        name: NAME,
        backend: options.engine.backend_name(),
        fidelity: options.engine.fidelity_name(),
        unit: "milliseconds a program".into(),
        value,
        min: all.iter().copied().fold(f64::INFINITY, f64::min),
        max: all.iter().copied().fold(0.0, f64::max),
        runs: all.len() as u32,
        baseline: None,
        ratio: None,
        reference: None,
        times_reference: None,
        device: None,
        device_baseline: None,
        device_ratio: None,
    })
}

/// Milliseconds of the first use of each of a capture's programs.
fn least(capture: &Capture, options: &Options) -> Result<Vec<f64>> {
    let mut least = first_uses(capture, &options.engine)?;
    for _ in 1..options.runs {
        let again = first_uses(capture, &options.engine)?;
        least.iter_mut().zip(again).for_each(|(known, new)| *known = known.min(new));
    }
    Ok(least)
}

fn first_uses(capture: &Capture, engine: &EngineArgs) -> Result<Vec<f64>> {
    let engine = engine.engine()?;
    let stats = engine.stats.context("nothing is translated here")?;
    replay(capture, engine.executor, ReplayOptions::default());
    let stats = stats.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(stats.first_uses.iter().map(|d| d.as_secs_f64() * 1e3).collect())
}
