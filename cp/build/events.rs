//! `events.tsv` -> event names and effects by event type.

use crate::Built;
use crate::tsv::{Row, Table};

pub(crate) fn generate(table: &Table) -> Built<String> {
    let mut slots = vec!["None".to_owned(); 64];
    for row in table.rows() {
        let number = row.number("type")?;
        let slot = slots
            .get_mut(number as usize)
            .ok_or_else(|| format!("event type {number} has more than six bits"))?;
        if slot != "None" {
            return Err(format!("event type {number} twice").into());
        }
        let name = row.text("name")?;
        *slot = event(row, name)?;
    }
    Ok(format!("pub(crate) static EVENTS: [Option<EventRow>; 64] = [{}];\n", slots.join(",\n")))
}

fn event(row: Row<'_>, name: &str) -> Built<String> {
    let text = row.text("effect")?;
    let effect = match text.split_once(' ') {
        Some(("inert", reason)) => format!("Effect::Inert({reason:?})"),
        Some(("refuse", reason)) => format!("Effect::Refuse({reason:?})"),
        Some(("report", reason)) => format!("Effect::Report({reason:?})"),
        Some(("run", variant)) => format!("Effect::{variant}"),
        _ => return Err(format!("{text:?}: not `inert`, `refuse`, `report` or `run`").into()),
    };
    Ok(format!("Some(EventRow {{ name: {name:?}, effect: {effect} }})"))
}
