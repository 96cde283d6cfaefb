//! The tables of `tables/intel`: packets with their fields and handlers, registers, topologies.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::Built;
use crate::tsv::{Bits, Row, Table, bits};

/// Generations in the order of the mask's bits.
const GENS: [&str; 6] = ["7", "7.5", "8", "9", "11", "12"];

/// `packets.tsv` -> field constants by id, and rows sorted by key.
pub(crate) fn packets(table: &Table) -> Built<String> {
    let mut fields = String::new();
    let mut rows = Vec::new();
    let mut taken = BTreeSet::new();
    for row in table.rows() {
        let (key, gens) = (row.number("key")?, gens(row.text("gens")?)?);
        for (bit, name) in GENS.iter().enumerate() {
            if gens >> bit & 1 != 0 && !taken.insert((key, bit)) {
                return Err(format!("key {key:#06x} has two rows for Gen{name}").into());
            }
        }
        field_module(row, &mut fields)?;
        rows.push((key, packet_row(row, gens)?));
    }
    rows.sort();
    let rows: String = rows.into_iter().map(|(_, row)| row).collect();
    Ok(format!(
        "/// Fields by the ids of the table.\n\
         #[expect(non_snake_case, reason = \"modules are named as the packets are\")]\n\
         #[allow(dead_code, reason = \"fields that only inspection prints have no other user\")]\n\
         pub(crate) mod field {{\n{fields}}}\n\
         /// Every row of the table, by key.\npub(crate) static ROWS: &[PacketRow] = &[\n{rows}];\n"
    ))
}

/// `FIRST..LAST` or one generation, as a mask.
fn gens(text: &str) -> Built<u8> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let place =
        |name: &str| GENS.iter().position(|g| *g == name).ok_or_else(|| format!("{name:?} is no generation"));
    Ok((place(first)?..=place(last)?).fold(0, |mask, bit| mask | 1 << bit))
}

/// `DWORD:NAME[hi:lo]`, with `DWORD+` for what repeats to the packet's end.
fn item(text: &str) -> Built<(u32, bool, Bits)> {
    let (dword, field) = text.split_once(':').ok_or_else(|| format!("{text:?}: no dword"))?;
    Ok((dword.trim_end_matches('+').parse()?, dword.ends_with('+'), bits(field)?))
}

/// The items of the fields column; `-` is none.
fn items(row: Row<'_>) -> Built<Vec<(u32, bool, Bits)>> {
    match row.text("fields")? {
        "-" => Ok(Vec::new()),
        _ => row.list("fields")?.map(item).collect(),
    }
}

fn field_module(row: Row<'_>, out: &mut String) -> Built<()> {
    let id = row.text("id")?;
    if id == "-" {
        return Ok(());
    }
    writeln!(out, "pub(crate) mod {id} {{\nuse super::super::Field;")?;
    for (dword, _, f) in items(row)? {
        writeln!(out, "pub(crate) const {}: Field = Field::new({dword}, {}, {});", f.name, f.hi, f.lo)?;
    }
    writeln!(out, "}}")?;
    Ok(())
}

fn packet_row(row: Row<'_>, gens: u8) -> Built<String> {
    let items = items(row)?;
    let least = items.iter().filter(|(_, repeats, _)| !repeats).map(|(dword, ..)| dword + 1).max();
    let mut text = format!(
        "PacketRow {{ key: {}, name: {:?}, gens: {gens}, length: {}, least: {}, handling: {}, source: {:?}, fields: &[",
        row.number("key")?,
        row.text("name")?,
        length(row.text("length")?)?,
        least.unwrap_or(1),
        handling(row.text("handling")?)?,
        row.text("source")?,
    );
    for (dword, repeats, f) in items {
        write!(
            text,
            "FieldRow {{ dword: {dword}, repeats: {repeats}, name: {:?}, hi: {}, lo: {} }}, ",
            f.name, f.hi, f.lo
        )?;
    }
    Ok(text + "] },\n")
}

/// `N`, or `HI:LO+BIAS`.
fn length(text: &str) -> Built<String> {
    let Some((field, bias)) = text.split_once('+') else {
        return Ok(format!("Length::Fixed({})", text.parse::<u32>()?));
    };
    let field = bits(&format!("length[{field}]"))?;
    match field.lo {
        0 => Ok(format!("Length::Counted {{ hi: {}, bias: {} }}", field.hi, bias.parse::<u32>()?)),
        _ => Err(format!("{text:?}: a length starts at bit 0").into()),
    }
}

/// `run module::function`, `skip reason` or `refuse reason`.
fn handling(text: &str) -> Built<String> {
    match text.split_once(' ') {
        Some(("run", path)) => Ok(format!("Handling::Run(crate::intel::{path})")),
        Some(("skip", reason)) => Ok(format!("Handling::Skip({reason:?})")),
        Some(("refuse", reason)) => Ok(format!("Handling::Refuse({reason:?})")),
        _ => Err(format!("{text:?}: not `run path`, `skip reason` or `refuse reason`").into()),
    }
}

/// `registers.tsv` -> addresses by name, and the rows.
pub(crate) fn registers(table: &Table) -> Built<String> {
    let (mut constants, mut rows) = (String::new(), String::new());
    for row in table.rows() {
        let (name, address) = (row.text("name")?, row.number("address")?);
        let (count, stride, words) = (row.number("count")?, row.number("stride")?, row.number("words")?);
        let id = name.strip_prefix("3D").map_or(name.to_owned(), |rest| format!("D3{rest}"));
        writeln!(constants, "/// {name}.\npub const {id}: u32 = {address:#x};")?;
        writeln!(
            rows,
            "RegisterRow {{ name: {name:?}, address: {address:#x}, count: {count}, stride: {stride}, words: {words}, \
             masked: {}, reset: {}, source: {:?} }},",
            row.number("masked")? != 0,
            row.number("reset")?,
            row.text("source")?
        )?;
    }
    Ok(format!(
        "/// First addresses by name.\n\
         #[allow(dead_code, reason = \"registers that only inspection names have no other user\")]\n\
         pub mod reg {{\n{constants}}}\n/// Every row of the table.\npub static ROWS: &[RegisterRow] = &[\n{rows}];\n"
    ))
}

/// `topologies.tsv` -> the rows.
pub(crate) fn topologies(table: &Table) -> Built<String> {
    let mut rows = String::new();
    for row in table.rows() {
        let assembly = row.text("assembly")?;
        let assembly = match assembly.split_once(' ') {
            Some(("refuse", reason)) => format!("Assembly::Refused({reason:?})"),
            None => format!("Assembly::Table(Topology::{assembly})"),
            _ => return Err(format!("{assembly:?}: not a topology or `refuse reason`").into()),
        };
        writeln!(
            rows,
            "TopologyRow {{ number: {}, name: {:?}, assembly: {assembly}, leading: Provoking::{}, trailing: Provoking::{} }},",
            row.number("number")?,
            row.text("name")?,
            row.text("leading")?,
            row.text("trailing")?
        )?;
    }
    Ok(format!("static ROWS: &[TopologyRow] = &[\n{rows}];\n"))
}
