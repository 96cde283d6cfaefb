//! The command line.
//!
//! Results go to stdout, messages to stderr. The exit status is 0 if all expectations hold and nothing was refused, 1
//! if an expectation failed, 2 if something was refused or faulted, 3 for bad usage or an unreadable file; of several
//! files the highest counts.

mod bench;
mod disasm;
mod files;
mod inspect;
mod kernel;
mod probe;
mod progress;
pub mod refusals;
mod replay;
#[cfg(target_os = "linux")]
mod run;
mod so_decl;
mod style;
mod summary;
mod varyings;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exit status of bad usage and unreadable files.
const USAGE: u8 = 3;

/// An emulator core that runs a guest GPU's own programs as exact dispatches.
#[derive(Debug, Parser)]
#[command(name = "guestwave", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run captures and check what comes out
    Replay(replay::Args),
    /// Show a capture: packets with named registers, draws with their state, programs
    Inspect(inspect::Args),
    /// Disassemble code and print the text that LLVM prints
    Disasm(disasm::Args),
    /// Run a compute kernel of a code object, as clang and lld make it
    Kernel(kernel::Args),
    /// Measure speed, in turns with a baseline where it is at hand
    Bench(bench::Args),
    /// Intel's stream-output declaration lists: encode, decode, run
    SoDecl(so_decl::Args),
    /// Work with Mali attributes and varyings
    Varyings(varyings::Args),
    /// Show what a graphics device does to floats, loops and subgroups
    Probe(probe::Args),
    /// Run an unmodified program on the virtual GPU
    #[cfg(target_os = "linux")]
    Run(run::Args),
    /// Print every refusal code and its sentence
    Refusals,
}

/// Runs the command and returns its exit status.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut out = anstream::stdout().lock();
    let done = match cli.command {
        Command::Replay(args) => replay::run(&args, &mut out),
        Command::Inspect(args) => inspect::run(&args, &mut out),
        Command::Disasm(args) => disasm::run(&args, &mut out),
        Command::Kernel(args) => kernel::run(&args, &mut out),
        Command::Bench(args) => bench::run(&args, &mut out),
        Command::SoDecl(args) => so_decl::run(&args, &mut out),
        Command::Probe(args) => probe::run(&args, &mut out),
        #[cfg(target_os = "linux")]
        Command::Run(args) => run::run(&args, &mut out),
        Command::Refusals => refusals::run(&mut out).map_err(Into::into),
        Command::Varyings(args) => varyings::run(&args, &mut out),
    };
    done.map_or_else(|error| failed(&error), ExitCode::from)
}

/// Prints help to stdout, mistakes to stderr.
fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    match error.use_stderr() || printed.is_err() {
        true => ExitCode::from(USAGE),
        false => ExitCode::SUCCESS,
    }
}

/// A reader that has seen enough (`| head`) is not a failure.
fn failed(error: &anyhow::Error) -> ExitCode {
    let io_error = error.chain().find_map(|e| e.downcast_ref::<io::Error>());
    if io_error.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    tell(error);
    ExitCode::from(USAGE)
}

/// Tells what went wrong.
fn tell(error: &anyhow::Error) {
    anstream::eprintln!("{}: {error:#}", style::bad("guestwave"));
}
