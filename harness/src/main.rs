//! The `guestwave` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    guestwave_harness::commands::main(std::env::args_os())
}
