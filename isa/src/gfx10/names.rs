//! Named values of fields: dimensions, hardware registers, messages, DPP controls, export targets, registers.
//!
//! Generated from `tables/gfx10/names`.

use super::Target;

/// A value of MIMG's DIM field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim {
    pub(crate) name: &'static str,
    /// Address components that are coordinates.
    pub(crate) coordinates: u8,
    /// Address components that are gradients, where the operation has them.
    pub(crate) gradients: u8,
}

/// A hardware register of `s_getreg` and `s_setreg`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HwReg {
    code: u16,
    name: &'static str,
    targets: u8,
}

/// A message of `s_sendmsg`, with the operation that it carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) id: u16,
    pub(crate) name: &'static str,
    /// The operation's number and name.
    pub(crate) operation: Option<(u16, &'static str)>,
    /// A stream number belongs to it.
    pub(crate) stream: bool,
}

/// Codes that are named alike, most of them by a number after a common text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    first: u16,
    last: u16,
    base: u16,
    text: &'static str,
    numbered: bool,
}

/// The dimension with this code.
pub(crate) fn dim(code: u8) -> Dim {
    DIMS[usize::from(code & 7)]
}

/// The name of a hardware register on a target.
pub(crate) fn hwreg(code: u16, target: Target) -> Option<&'static str> {
    let here = |r: &&HwReg| r.code == code && r.targets & (1 << target as u8) != 0;
    HWREGS.iter().find(here).map(|r| r.name)
}

/// The message that an operation number belongs to.
pub(crate) fn message(id: u16, operation: u16) -> Option<&'static Message> {
    MESSAGES.iter().find(|m| m.id == id && m.operation.map_or(0, |(o, _)| o) == operation)
}

/// The name that a table of ranges has for a code.
pub(crate) fn ranged(table: &[Range], code: u16) -> Option<String> {
    let range = table.iter().find(|r| (r.first..=r.last).contains(&code))?;
    Some(match range.numbered {
        true => format!("{}{}", range.text, code - range.base),
        false => range.text.to_owned(),
    })
}

include!(concat!(env!("OUT_DIR"), "/gfx10_names.rs"));
