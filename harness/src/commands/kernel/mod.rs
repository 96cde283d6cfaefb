//! `guestwave kernel`.

mod report;
mod values;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use guestwave_cp::{AccessKind, Completed, DispatchError, DispatchId, Executor, GuestMemory, MemoryFault};

use super::{USAGE, files};
use crate::engine::{Engine, EngineArgs};
use crate::kernel::{CodeObject, GAP, KernelError, Placed, Prepared, Request};
use report::{Output, Report};
use values::{Given, triple};

/// Arguments of `kernel`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A code object as clang and lld make it for amdgcn-amd-amdhsa
    #[arg(value_name = "FILE.hsaco")]
    file: PathBuf,
    /// The kernel, where the file has several
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Work-groups along each axis
    #[arg(long, value_name = "X,Y,Z", value_parser = triple)]
    groups: [u32; 3],
    /// Threads of a work-group along each axis, where the kernel does not fix them
    #[arg(long, value_name = "X,Y,Z", value_parser = triple)]
    threads: Option<[u32; 3]>,
    /// The kernel's arguments in order: in:FILE, out:BYTES[:FILE], inout:FILE, lds:BYTES, u32:N, f32:X and other numbers
    #[arg(long = "arg", value_name = "ARG")]
    values: Vec<Given>,
    #[command(flatten)]
    engine: EngineArgs,
    /// One JSON object on stdout
    #[arg(long)]
    json: bool,
    /// Dwords to show of each output that no file is named for
    #[arg(long, value_name = "N", default_value_t = 8)]
    rows: usize,
}

/// Runs the kernel; the exit status is 2 if it was refused or faulted.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    let bytes = files::bytes(&args.file)?;
    let values = args.values.iter().map(Given::value).collect::<Result<Vec<_>>>()?;
    let request = Request { groups: args.groups, threads: args.threads, values };
    let mut report = Report { file: args.file.display().to_string(), ..Report::default() };
    let status = match prepare(&bytes, args, &request, &mut report) {
        Ok(prepared) => launch(args, &prepared, &mut report)?,
        Err(error) => {
            report.refuse(error.code(), &error);
            if error.is_usage() { USAGE } else { 2 }
        }
    };
    report.print(args.json, args.rows, out)?;
    Ok(status)
}

fn prepare(
    bytes: &[u8],
    args: &Args,
    request: &Request,
    report: &mut Report,
) -> Result<Prepared, KernelError> {
    let object = CodeObject::parse(bytes)?;
    report.gpu = object.processor();
    let kernel = object.kernel(args.kernel.as_deref())?;
    report.kernel = kernel.name.clone();
    let prepared = object.prepare(kernel, request)?;
    report.wave_lanes = prepared.dispatch.program.wave_lanes;
    report.groups = args.groups;
    report.threads = prepared.threads();
    Ok(prepared)
}

fn launch(args: &Args, prepared: &Prepared, report: &mut Report) -> Result<u8> {
    let Engine { mut executor, stats } = args.engine.engine()?;
    let start = Instant::now();
    let ran = execute(&mut *executor, prepared);
    report.stats.wall_seconds = start.elapsed().as_secs_f64();
    report.count_modules(stats.as_deref());
    match ran {
        Ok(done) => {
            report.complete(&done, &prepared.buffers);
            report.outputs = outputs(args, prepared)?;
            Ok(0)
        }
        Err(error) => {
            report.refuse(error.code, &error);
            report.note(error.fault.and_then(|fault| place(args, &prepared.buffers, &fault)));
            Ok(2)
        }
    }
}

/// The argument that an access missed, in a clause.
fn place(args: &Args, buffers: &[Placed], fault: &MemoryFault) -> Option<String> {
    let Placed { argument, address, bytes } = buffers.iter().rev().find(|b| b.address <= fault.address)?;
    let byte = fault.address - address;
    let only_read = !args.values.get(*argument).is_some_and(Given::is_output);
    let why = match byte < *bytes && only_read && fault.kind != AccessKind::Read {
        true => "which is given as in: and not to be stored to".to_owned(),
        false => format!("which has {bytes} bytes"),
    };
    (byte < bytes.saturating_add(GAP)).then(|| format!("this is byte {byte} of argument {argument}, {why}"))
}

/// Runs a prepared kernel to its end.
fn execute(executor: &mut dyn Executor, prepared: &Prepared) -> Result<Vec<Completed>, DispatchError> {
    let mut done = Vec::new();
    executor.submit(DispatchId(0), prepared.dispatch.clone(), &prepared.memory)?;
    executor.flush(&prepared.memory, &mut done)?;
    Ok(done)
}

/// The output buffers' last contents, written to their files.
fn outputs(args: &Args, prepared: &Prepared) -> Result<Vec<Output>> {
    let outputs = args.values.iter().enumerate().filter(|(_, given)| given.is_output());
    let mut found = Vec::new();
    for (argument, given) in outputs {
        let Some(placed) = prepared.buffers.iter().find(|b| b.argument == argument) else { continue };
        let bytes = contents(prepared, placed)?;
        if let Some(file) = given.file() {
            fs::write(file, &bytes).with_context(|| format!("cannot write {}", file.display()))?;
        }
        let file = given.file().map(|f| f.display().to_string());
        let first = if file.is_none() {
            bytes.iter().copied().take(args.rows.saturating_mul(4)).collect()
        } else {
            Vec::new()
        };
        found.push(Output { argument, bytes: placed.bytes, file, first });
    }
    Ok(found)
}

fn contents(prepared: &Prepared, placed: &Placed) -> Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(placed.bytes)?];
    prepared.memory.read(placed.address, &mut bytes)?;
    Ok(bytes)
}
