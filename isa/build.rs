//! Turns the rows of `tables/` into the operations of [`gfx10::Op`]: one constant a mnemonic.

#![expect(clippy::expect_used, reason = "a build script may stop the build")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::{env, fs, path::Path};

fn main() {
    println!("cargo:rerun-if-changed=tables/gfx10");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir("tables/gfx10").expect("tables/gfx10 is part of the crate") {
        let text = fs::read_to_string(entry.expect("readable folder").path()).expect("readable table");
        for row in text.lines().filter(|l| !l.starts_with('#')) {
            names.insert(row.split('\t').nth(1).expect("a mnemonic column").to_owned());
        }
    }
    let mut out = String::from("impl Op {\n");
    for (i, n) in names.iter().enumerate() {
        let _ = writeln!(out, "    /// `{n}`.\n    pub const {}: Op = Op({i});", n.to_uppercase());
    }
    let _ = writeln!(out, "    const NAMES: [&'static str; {}] = [", names.len());
    for n in &names {
        let _ = writeln!(out, "        \"{n}\",");
    }
    out.push_str("    ];\n}\n");
    fs::write(Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("gfx10_ops.rs"), out)
        .expect("OUT_DIR is writable");
}
