//! The named things of `names/`: dimensions, hardware registers, messages, and ranges of numbered names.

use std::{fmt::Write as _, path::Path};

use crate::layout::{number, tsv};
use crate::rows::targets;

pub(crate) fn all(tables: &Path) -> String {
    let names = tables.join("names");
    let table = |file: &str, of: &str, row: &dyn Fn(&[String]) -> String| {
        let rows = tsv(&names.join(format!("{file}.tsv")));
        let mut out = format!("pub(crate) static {}: [{of}; {}] = [\n", file.to_uppercase(), rows.len());
        for r in &rows {
            let _ = writeln!(out, "    {of} {{ {} }},", row(r));
        }
        out + "];\n"
    };
    [
        table("dims", "Dim", &|r| format!("name: {:?}, coordinates: {}, gradients: {}", r[1], r[2], r[3])),
        table("hwregs", "HwReg", &|r| {
            format!("code: {}, name: {:?}, targets: {}", r[0], r[1], targets(&r[2]))
        }),
        table("messages", "Message", &message),
        table("dpp", "Range", &range),
        table("exports", "Range", &range),
        table("sgprs", "Range", &range),
    ]
    .concat()
}

fn message(r: &[String]) -> String {
    let operation = if r[2] == "-" { "None".to_owned() } else { format!("Some(({}, {:?}))", r[2], r[3]) };
    format!("id: {}, name: {:?}, operation: {operation}, stream: {}", r[0], r[1], r[4] == "stream")
}

/// The text around the number; without a `{}` there is no number.
fn range(r: &[String]) -> String {
    let (text, numbered) = match r[3].split_once("{}") {
        Some((before, _)) => (before, true),
        None => (r[3].as_str(), false),
    };
    let [first, last, base] = [0, 1, 2].map(|i| number(&r[i]));
    format!("first: {first}, last: {last}, base: {base}, text: {text:?}, numbered: {numbered}")
}
