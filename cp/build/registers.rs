//! `registers.tsv` -> register and field constants, and the rows for inspection.

use std::fmt::Write;

use crate::Built;
use crate::tsv::{Row, Table, bits, number};

pub(crate) fn generate(table: &Table) -> Built<String> {
    let mut constants = String::new();
    let mut fields = String::new();
    let mut rows = String::new();
    for row in table.rows() {
        constant(row, &mut constants)?;
        field_module(row, &mut fields)?;
        description(row, &mut rows)?;
    }
    Ok(format!(
        "/// Registers by name.\npub mod reg {{\n use super::{{Register, RegisterArray}};\n{constants}}}\n\
         /// Fields by register and name.\n#[expect(non_snake_case, reason = \"modules are named as the registers are\")]\n\
         pub mod field {{\n{fields}}}\n\
         /// Every row of the table, by address.\npub static ROWS: &[Row] = &[\n{rows}];\n"
    ))
}

/// `CB_COLOR#_BASE` -> `CB_COLOR_BASE`, `USER_DATA_VS_#` -> `USER_DATA_VS`.
fn identifier(name: &str) -> String {
    name.replace("_#", "").replace('#', "")
}

fn constant(row: Row<'_>, out: &mut String) -> Built<()> {
    let (name, address) = (row.text("name")?, row.number("address")?);
    let (count, stride) = (row.number("count")?, row.number("stride")?);
    let id = identifier(name);
    let value = match count {
        1 => format!("Register = Register({address:#x})"),
        _ => {
            format!(
                "RegisterArray = RegisterArray {{ first: Register({address:#x}), count: {count}, stride: {stride} }}"
            )
        }
    };
    writeln!(out, "/// {name}, {address:#07x}: {count}, {stride} bytes apart.\npub const {id}: {value};")?;
    Ok(())
}

fn field_module(row: Row<'_>, out: &mut String) -> Built<()> {
    let (name, address) = (row.text("name")?, row.number("address")?);
    let mut items = row.list("fields")?.peekable();
    if items.peek().is_none() {
        return Ok(());
    }
    writeln!(
        out,
        "/// Fields of {name}.\npub mod {} {{\nuse super::super::{{Field, Register}};",
        identifier(name)
    )?;
    for item in items {
        let f = bits(item)?;
        writeln!(
            out,
            "/// Bits {}:{}.\npub const {}: Field = Field::new(Register({address:#x}), {}, {});",
            f.hi, f.lo, f.name, f.hi, f.lo
        )?;
    }
    writeln!(out, "}}")?;
    Ok(())
}

fn description(row: Row<'_>, out: &mut String) -> Built<()> {
    let (name, address) = (row.text("name")?, row.number("address")?);
    let (count, stride) = (row.number("count")?, row.number("stride")?.max(4));
    let reset = match row.text("reset")? {
        "" | "?" => "None".to_owned(),
        value => format!("Some({:#x})", number(value)?),
    };
    write!(
        out,
        "Row {{ name: {name:?}, address: {address:#x}, count: {count}, stride: {stride}, reset: {reset}, \
         source: {:?}, fields: &[",
        row.text("source")?
    )?;
    for item in row.list("fields")? {
        let f = bits(item)?;
        write!(out, "FieldRow {{ name: {:?}, hi: {}, lo: {} }}, ", f.name, f.hi, f.lo)?;
    }
    writeln!(out, "] }},")?;
    Ok(())
}
