//! `packets.tsv` -> body-field constants, rows for inspection, and the table from opcode to handler.

use std::fmt::Write;

use crate::Built;
use crate::tsv::{Row, Table, bits};

pub(crate) fn generate(table: &Table) -> Built<String> {
    let mut fields = String::new();
    let mut rows = String::new();
    let mut index = [None::<usize>; 256];
    for (i, row) in table.rows().enumerate() {
        let opcode = row.number("opcode")? as usize;
        if index.get(opcode).is_none_or(Option::is_some) {
            return Err(format!("opcode {opcode:#x} twice or too large").into());
        }
        index[opcode] = Some(i);
        field_module(row, &mut fields)?;
        packet_row(row, &mut rows)?;
    }
    let index: Vec<_> = index.iter().map(|i| i.map_or("NO_ROW".to_owned(), |i| i.to_string())).collect();
    Ok(format!(
        "/// Body fields by packet and name.\n\
         #[expect(non_snake_case, reason = \"modules are named as the packets are\")]\n\
         #[allow(dead_code, reason = \"fields that only inspection prints have no other user\")]\n\
         pub(crate) mod body {{\n{fields}}}\n\
         /// Every row of the table.\npub(crate) static ROWS: &[PacketRow] = &[\n{rows}];\n\
         /// Row number by opcode.\npub(crate) static ROW_OF: [u8; 256] = [{}];\n",
        index.join(", ")
    ))
}

/// One item of the fields column: `ordinal:NAME[hi:lo]`, or `ordinal+:NAME` for what repeats to the packet's end.
fn item(text: &str) -> Built<(u32, bool, crate::tsv::Bits)> {
    let (ordinal, field) = text.split_once(':').ok_or_else(|| format!("{text:?}: no ordinal"))?;
    let repeats = ordinal.ends_with('+');
    let ordinal: u32 = ordinal.trim_end_matches('+').parse()?;
    let dword = ordinal.checked_sub(2).ok_or_else(|| format!("{text:?}: body ordinals start at 2"))?;
    Ok((dword, repeats, bits(field)?))
}

fn field_module(row: Row<'_>, out: &mut String) -> Built<()> {
    writeln!(
        out,
        "pub(crate) mod {} {{\n#[allow(unused_imports, reason = \"some packets have no fields\")]\nuse super::super::BodyField;",
        row.text("name")?
    )?;
    for text in row.list("fields")? {
        let (dword, _, f) = item(text)?;
        writeln!(
            out,
            "pub(crate) const {}: BodyField = BodyField::new({dword}, {}, {});",
            f.name, f.hi, f.lo
        )?;
    }
    writeln!(out, "}}")?;
    Ok(())
}

fn packet_row(row: Row<'_>, out: &mut String) -> Built<()> {
    write!(
        out,
        "PacketRow {{ name: {:?}, min_body: {}, space: {}, handling: {}, source: {:?}, fields: &[",
        row.text("name")?,
        row.number("min")?,
        space(row.text("space")?)?,
        handling(row.text("handling")?)?,
        row.text("source")?
    )?;
    for text in row.list("fields")? {
        let (dword, repeats, f) = item(text)?;
        write!(
            out,
            "BodyFieldRow {{ dword: {dword}, repeats: {repeats}, name: {:?}, hi: {}, lo: {} }}, ",
            f.name, f.hi, f.lo
        )?;
    }
    writeln!(out, "] }},")?;
    Ok(())
}

/// A register space by its lower-case name, or empty for none.
fn space(text: &str) -> Built<String> {
    let variant = match text {
        "" => return Ok("None".to_owned()),
        "config" => "Config",
        "sh" => "Sh",
        "context" => "Context",
        "uconfig" => "Uconfig",
        _ => return Err(format!("{text:?}: not a register space").into()),
    };
    Ok(format!("Some(crate::amd::registers::Space::{variant})"))
}

/// `run module::function`, `inert reason` or `refuse reason`.
fn handling(text: &str) -> Built<String> {
    match text.split_once(' ') {
        Some(("run", path)) => Ok(format!("Handling::Run(crate::amd::{path})")),
        Some(("inert", reason)) => Ok(format!("Handling::Inert({reason:?})")),
        Some(("refuse", reason)) => Ok(format!("Handling::Refuse({reason:?})")),
        _ => Err(format!("{text:?}: not `run path`, `inert reason` or `refuse reason`").into()),
    }
}
