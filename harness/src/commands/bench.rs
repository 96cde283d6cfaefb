//! `guestwave bench`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::value_parser;

use super::style;
use crate::bench::{Options, Row, names, run as measure, usual_names};
use crate::engine::EngineArgs;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Benchmarks to run; all but the largest (xfb-stream) if none is named
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    names: Vec<String>,
    /// One JSON object a benchmark on stdout, one per line
    #[arg(long)]
    json: bool,
    /// The folder with the baseline programs `xfb` and `compute`, each run of which follows one of ours; or `wgsl`, for the same work
    /// in WGSL on the same device, by the time that passes and by the device's own
    #[arg(long, value_name = "DIR|wgsl")]
    baseline: Option<PathBuf>,
    /// Runs of each benchmark, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(1..))]
    runs: u32,
    /// A capture whose programs `first-use` measures, instead of one that is built in; may be given again
    #[arg(long = "capture", value_name = "FILE")]
    captures: Vec<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
}

/// Runs the benchmarks.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    let wanted: Vec<&str> =
        if args.names.is_empty() { usual_names() } else { args.names.iter().map(String::as_str).collect() };
    let baselines = args.baseline.clone().into();
    let captures = args.captures.clone();
    let options = Options { engine: args.engine.strict(), runs: args.runs, baselines, captures };
    for name in wanted {
        let row = measure(name, &options)?;
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string(&row)?)?,
            false => print(&row, out)?,
        }
    }
    Ok(0)
}

fn print(row: &Row, out: &mut dyn Write) -> Result<()> {
    let Row { name, value, min, max, unit, .. } = row;
    let name = style::heading(format!("{name:14}"));
    write!(out, "{name} {value:>12.4e} {unit} {}", style::dim(format!("({min:.3e} to {max:.3e})")))?;
    if let Some(ratio) = row.ratio {
        write!(out, ", {ratio:.2} times the baseline")?;
    }
    if let Some(times) = row.times_reference {
        write!(out, ", {times:.0} times the reference")?;
    }
    if let (Some(device), Some(ratio)) = (row.device, row.device_ratio) {
        write!(out, "; on the device {device:.4e}, {ratio:.2} times the baseline")?;
    }
    Ok(writeln!(out)?)
}
