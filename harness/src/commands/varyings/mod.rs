//! `guestwave varyings`: what Mali drivers and shaders do with attributes and varyings.

mod decode;
mod link;
mod run;

use std::io::Write;

use anyhow::Result;

/// Arguments of `varyings`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Decode attribute, buffer and resource descriptors
    Decode(decode::Args),
    /// Choose a memory layout and instructions for the varyings of two shaders
    Link(link::Args),
    /// Run a chain of jobs from a dump of guest memory
    Run(run::Args),
}

/// Runs the command and returns its exit status.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    match &args.command {
        Command::Decode(args) => decode::run(args, out),
        Command::Link(args) => link::run(args, out),
        Command::Run(args) => run::run(args, out),
    }
}
