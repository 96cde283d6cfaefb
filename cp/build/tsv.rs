//! Tab-separated tables with a header row, `#` comments, and bit-field columns.

use crate::Built;

/// A table of rows; cells are found by column name.
pub(crate) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// One row of a [`Table`].
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    table: &'a Table,
    cells: &'a [String],
}

/// `NAME[hi:lo]`, `NAME[bit]` or `NAME` (the whole dword).
pub(crate) struct Bits {
    pub(crate) name: String,
    pub(crate) hi: u32,
    pub(crate) lo: u32,
}

impl Table {
    pub(crate) fn read(path: &str) -> Built<Table> {
        println!("cargo::rerun-if-changed={path}");
        let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
        let mut lines = text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty());
        let split = |l: &str| l.split('\t').map(|c| c.trim().to_owned()).collect::<Vec<_>>();
        let columns = split(lines.next().ok_or("an empty table")?);
        let rows: Vec<_> = lines.map(split).collect();
        match rows.iter().find(|r| r.len() != columns.len()) {
            Some(bad) => Err(format!("{path}: a row of {} cells: {bad:?}", bad.len()).into()),
            None => Ok(Table { columns, rows }),
        }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }
}

impl<'a> Row<'a> {
    pub(crate) fn text(self, column: &str) -> Built<&'a str> {
        let i = self
            .table
            .columns
            .iter()
            .position(|c| c == column)
            .ok_or_else(|| format!("no column {column}"))?;
        Ok(&self.cells[i])
    }

    pub(crate) fn number(self, column: &str) -> Built<u32> {
        let text = self.text(column)?;
        number(text).map_err(|e| format!("{column} {text:?}: {e}").into())
    }

    /// The comma-separated items of a cell.
    pub(crate) fn list(self, column: &str) -> Built<impl Iterator<Item = &'a str>> {
        Ok(self.text(column)?.split(',').map(str::trim).filter(|s| !s.is_empty()))
    }
}

pub(crate) fn number(text: &str) -> Built<u32> {
    Ok(match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16)?,
        None => text.parse()?,
    })
}

pub(crate) fn bits(text: &str) -> Built<Bits> {
    let Some((name, range)) = text.split_once('[') else {
        return Ok(Bits { name: text.to_owned(), hi: 31, lo: 0 });
    };
    let range = range.strip_suffix(']').ok_or_else(|| format!("{text:?}: no closing bracket"))?;
    let (hi, lo) = range.split_once(':').unwrap_or((range, range));
    let (hi, lo) = (hi.parse()?, lo.parse()?);
    match lo <= hi && hi < 32 {
        true => Ok(Bits { name: name.to_owned(), hi, lo }),
        false => Err(format!("{text:?}: not a bit range").into()),
    }
}
