//! Turns the fact tables in `tables/` into constants and dispatch tables.

#[path = "build/events.rs"]
mod events;
#[path = "build/intel.rs"]
mod intel;
#[path = "build/packets.rs"]
mod packets;
#[path = "build/registers.rs"]
mod registers;
#[path = "build/tsv.rs"]
mod tsv;

use std::error::Error;
use std::path::{Path, PathBuf};

/// A build step's result; the text says which table and row is wrong.
type Built<T> = Result<T, Box<dyn Error>>;

fn main() -> Built<()> {
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    generate(&out, "amd", "registers", registers::generate)?;
    generate(&out, "amd", "packets", packets::generate)?;
    generate(&out, "amd", "events", events::generate)?;
    generate(&out, "intel", "packets", intel::packets)?;
    generate(&out, "intel", "registers", intel::registers)?;
    generate(&out, "intel", "topologies", intel::topologies)
}

fn generate(out: &Path, guest: &str, name: &str, make: fn(&tsv::Table) -> Built<String>) -> Built<()> {
    let table = tsv::Table::read(&format!("tables/{guest}/{name}.tsv"))?;
    let code = make(&table).map_err(|e| format!("{guest}/{name}.tsv: {e}"))?;
    Ok(std::fs::write(out.join(format!("{guest}_{name}.rs")), code)?)
}
