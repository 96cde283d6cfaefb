//! `guestwave varyings`: what Mali drivers and shaders do with attributes and varyings.

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
    /// Run a chain of jobs from a dump of guest memory
    Run(run::Args),
}

/// Runs the command and returns its exit status.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    match &args.command {
        Command::Run(args) => run::run(args, out),
    }
}
