//! Turns the rows of `tables/gfx10` into Rust data: the operations, their opcode rows, the bit fields of the
//! encodings, the decode index, and the named things.

#![expect(clippy::expect_used, clippy::panic, reason = "a build script may stop the build")]

use std::{env, fs, path::Path};

#[path = "build/emit.rs"]
mod emit;
#[path = "build/layout.rs"]
mod layout;
#[path = "build/names.rs"]
mod names;
#[path = "build/rows.rs"]
mod rows;

fn main() {
    println!("cargo:rerun-if-changed=tables");
    println!("cargo:rerun-if-changed=build");
    let tables = Path::new("tables/gfx10");
    let layout = layout::Layout::read(tables);
    let rows = rows::read_all(tables, &layout);
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let write = |name: &str, text: String| {
        fs::write(Path::new(&out).join(name), text).expect("OUT_DIR is writable");
    };
    write("gfx10_ops.rs", emit::ops(&rows));
    write("gfx10_bits.rs", emit::bits(&layout));
    write("gfx10_rows.rs", emit::rows(&layout, &rows));
    write("gfx10_names.rs", names::all(tables));
}
