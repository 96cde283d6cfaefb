//! Compiles the library that `guestwave run` preloads, so that the executable can carry it.
//!
//! The library has no dependencies, so one call of the compiler makes it. The same package is a member of the workspace, where it
//! is linted like all others.

use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "virtual-gpu/src";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    let out = PathBuf::from(variable("OUT_DIR")?).join("libguestwave_virtual_gpu.so");
    match variable("CARGO_CFG_TARGET_OS")?.as_str() {
        "linux" => compile(&out),
        // There is no preloading to be done; the command says so.
        _ => Ok(std::fs::write(out, [])?),
    }
}

fn compile(out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc.args([
        "--edition=2024",
        "--crate-type=cdylib",
        "--crate-name=guestwave_virtual_gpu",
        "--cap-lints=allow",
    ]);
    rustc.args(["-Copt-level=2", "-Cpanic=abort", "-Cstrip=symbols", "--target", &variable("TARGET")?]);
    if let Ok(linker) = variable("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    rustc.arg("-o").arg(out).arg(Path::new(SOURCE).join("lib.rs"));
    match rustc.status()?.success() {
        true => Ok(()),
        false => Err("the preloaded library does not compile".into()),
    }
}

fn variable(name: &str) -> Result<String, Box<dyn std::error::Error>> {
    std::env::var(name).map_err(|error| format!("{name}: {error}").into())
}
