//! The `guestwave` command.

fn main() {}
