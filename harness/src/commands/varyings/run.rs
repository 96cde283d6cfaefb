//! `guestwave varyings run`: a chain of jobs, as exact dispatches.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use guestwave_cp::mali::job::{Ran, Refusal, corners, run_chain, run_launch};
use guestwave_cp::{Completed, Executor, GuestMemory, Origin, read_u32};
use serde_json::{Value, json};

use crate::commands::files;
use crate::engine::EngineArgs;
use crate::mali::{hex, map_zeros, read_dump};
use crate::memory::CaptureMemory;

/// Exit status of refusals and faults.
const REFUSED: u8 = 2;

/// Arguments of `varyings run`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Dump of guest memory: `segment ADDRESS len BYTES` and `ADDRESS: BYTES` lines
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Guest address of the first job, hexadecimal
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    job: u64,
    /// More memory, of zeros: a hexadecimal address and a number of bytes
    #[arg(long, value_name = "ADDRESS:BYTES", value_parser = place)]
    map: Vec<(u64, u64)>,
    /// Also run the fragment programs at their draws' vertices and store their colours here, 128 bytes a vertex
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    corners: Option<u64>,
    /// Print words of memory at the end: a hexadecimal address and a number of words
    #[arg(long, value_name = "ADDRESS:WORDS", value_parser = words_at)]
    words: Vec<(u64, u64)>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineArgs,
}

fn address(text: &str) -> Result<u64, String> {
    hex(text).ok_or_else(|| format!("{text} is not a hexadecimal address"))
}

fn place(text: &str) -> Result<(u64, u64), String> {
    let (at, count) = text.split_once(':').ok_or("an address, a colon and a number are wanted")?;
    Ok((address(at)?, count.parse().map_err(|_| format!("{count} is not a number"))?))
}

fn words_at(text: &str) -> Result<(u64, u64), String> {
    let (at, count) = place(text)?;
    match count <= MAX_WORDS {
        true => Ok((at, count)),
        false => Err(format!("{count} words are more than the {MAX_WORDS} that are printed")),
    }
}

/// Runs the chain; the exit status is 2 if something was refused.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    let name = args.file.display();
    let text = files::text(&args.file)?;
    let memory = read_dump(&text).with_context(|| format!("{name}"))?;
    for (at, bytes) in &args.map {
        map_zeros(&memory, *at, *bytes).map_err(|e| anyhow!(e))?;
    }
    let mut executor = args.engine.engine()?.executor;
    let mut ran = Vec::new();
    let mut refused = run_chain(&memory, &mut *executor, args.job, &mut ran).err();
    if let (None, Some(colours)) = (&refused, args.corners) {
        refused = run_corners(&memory, &mut *executor, colours, &mut ran).err();
    }
    let words = args.words.iter().map(|w| words(&memory, *w)).collect::<Result<Vec<_>>>()?;
    if args.json {
        writeln!(out, "{}", report(args, &ran, refused.as_ref(), &words))?;
    } else {
        print(out, args, &ran, &words)?;
    }
    if let Some(refusal) = &refused {
        anstream::eprintln!("{}: {refusal}", refusal.code());
    }
    Ok(if refused.is_some() { REFUSED } else { 0 })
}

/// Runs the fragment program of every draw that was carried out.
fn run_corners(
    memory: &CaptureMemory,
    executor: &mut dyn Executor,
    colours: u64,
    ran: &mut [Ran],
) -> Result<(), Refusal> {
    for (id, draw) in (1u64 << 32..).zip(ran) {
        let Some(packets) = draw.job.packets else { continue };
        let launch = corners(memory, draw.job.address, &packets, colours, Origin::default())?;
        run_launch(memory, executor, &launch, id, &mut draw.completed)?;
        draw.job.launches.push(launch);
    }
    Ok(())
}

/// Words that a user may ask for at once.
const MAX_WORDS: u64 = 1 << 20;

fn words(memory: &dyn GuestMemory, (at, count): (u64, u64)) -> Result<Vec<u32>> {
    let word = |i: u64| read_u32(memory, at.wrapping_add(4 * i));
    Ok((0..count).map(word).collect::<Result<_, _>>()?)
}

fn ranges(completed: &Completed) -> Vec<String> {
    completed.stored.iter().map(|r| format!("{:x}..{:x}", r.start, r.end)).collect()
}

fn print(out: &mut dyn Write, args: &Args, ran: &[Ran], words: &[Vec<u32>]) -> Result<()> {
    for Ran { job, completed } in ran {
        writeln!(out, "job {:#x}", job.address)?;
        for (launch, done) in job.launches.iter().zip(completed) {
            let (role, program) = (launch.role, launch.dispatch.program.address);
            let threads = launch.dispatch.items();
            write!(out, "  {role:?} program at {program:#x}, {threads} threads: stored")?;
            writeln!(out, " {}", ranges(done).join(" "))?;
        }
    }
    for ((at, _), words) in args.words.iter().zip(words) {
        for (i, line) in words.chunks(4).enumerate() {
            let words: Vec<String> = line.iter().map(|w| format!("{w:08x}")).collect();
            writeln!(out, "{:x}: {}", at + 16 * i as u64, words.join(" "))?;
        }
    }
    Ok(())
}

fn report(args: &Args, ran: &[Ran], refused: Option<&Refusal>, words: &[Vec<u32>]) -> Value {
    let launches = |ran: &Ran| -> Vec<Value> {
        let pairs = ran.job.launches.iter().zip(&ran.completed);
        let one = |(launch, done): (&guestwave_cp::mali::job::Launch, &Completed)| {
            json!({
                "role": format!("{:?}", launch.role).to_lowercase(),
                "program": launch.dispatch.program.address,
                "threads": launch.dispatch.items(),
                "instructions": done.instructions,
                "stored": ranges(done),
                "inexact": done.inexact,
            })
        };
        pairs.map(one).collect()
    };
    let jobs: Vec<Value> =
        ran.iter().map(|r| json!({"address": r.job.address, "launches": launches(r)})).collect();
    json!({
        "file": args.file.display().to_string(),
        "ok": refused.is_none(),
        "jobs": jobs,
        "words": words,
        "refusal": refused.map(|r| json!({"code": r.code(), "text": r.to_string()})),
    })
}
