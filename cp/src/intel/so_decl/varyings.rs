//! From OpenGL's names to a record.
//!
//! `gl_SkipComponents1` to `4` leave that many components as they are, `gl_NextBuffer` moves on to the next buffer; any
//! other name is a varying that the slot map places: `gl_Position`, `gl_PointSize`, a name of the program's, an array
//! (`a`, all of it) or one of its elements (`a[2]`). Interleaved varyings share a buffer's record; separate ones have a
//! buffer each and know no special names. A varying that a slot does not hold whole becomes two outputs; one that the
//! program does not write keeps its place in the record and becomes none.

use std::collections::BTreeSet;

use super::{DWORD, MAX_PITCH, Output, Record, SoDeclError};
use crate::streamout::{BUFFERS, Slot};

/// Components of a slot.
const SLOT: u32 = 4;

/// How varyings are spread over buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// INTERLEAVED_ATTRIBS.
    #[default]
    Interleaved,
    /// SEPARATE_ATTRIBS.
    Separate,
}

/// Where the linked program has a varying.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Varying {
    /// Its name, without brackets.
    pub name: String,
    /// First VUE slot and first component; `None` where the program does not write it.
    pub place: Option<(u8, u8)>,
    /// Components of the varying, or of one element.
    pub components: u8,
    /// Elements of an array, each of which starts a slot further on; `None` for what is no array.
    pub elements: Option<u8>,
    /// Vertex stream.
    pub stream: Slot,
}

impl Varying {
    /// A varying of `components` components at a slot and component, on stream 0.
    pub fn new(name: &str, slot: u8, component: u8, components: u8) -> Varying {
        Varying {
            name: name.to_owned(),
            place: Some((slot, component)),
            components,
            elements: None,
            stream: Slot::default(),
        }
    }
}

/// What one name asks for.
enum Asked {
    NextBuffer,
    Skip(u32),
    Varying,
}

fn asked(name: &str) -> Asked {
    let skip = name.strip_prefix("gl_SkipComponents").and_then(|n| n.parse().ok());
    match skip {
        Some(n @ 1..=SLOT) => Asked::Skip(n),
        _ if name == "gl_NextBuffer" => Asked::NextBuffer,
        _ => Asked::Varying,
    }
}

/// Places the named varyings in records, in the order of the names.
///
/// # Errors
/// A name that the map lacks or that comes twice, a special name among separate varyings, or more than four buffers.
pub fn record(names: &[&str], mode: Mode, map: &[Varying]) -> Result<Record, SoDeclError> {
    let mut record = Record::default();
    let mut seen = BTreeSet::new();
    let mut buffer = 0;
    for (place, name) in names.iter().enumerate() {
        let special = !matches!(asked(name), Asked::Varying);
        match mode {
            Mode::Separate if special => {
                return Err(SoDeclError::SpecialSeparate { name: (*name).to_owned() });
            }
            Mode::Separate => buffer = place,
            Mode::Interleaved => {}
        }
        if !special && !seen.insert(*name) {
            return Err(SoDeclError::RepeatedVarying { name: (*name).to_owned() });
        }
        if buffer >= BUFFERS {
            return Err(SoDeclError::TooManyBuffers { buffers: buffer as u32 + 1 });
        }
        match asked(name) {
            Asked::NextBuffer => buffer += 1,
            Asked::Skip(components) => advance(&mut record, buffer, components)?,
            Asked::Varying => varying(&mut record, buffer, name, map)?,
        }
    }
    match buffer < BUFFERS {
        true => Ok(record),
        false => Err(SoDeclError::TooManyBuffers { buffers: buffer as u32 + 1 }),
    }
}

/// Makes a buffer's record longer.
fn advance(record: &mut Record, buffer: usize, components: u32) -> Result<(), SoDeclError> {
    let pitch = record.pitches[buffer] + components * DWORD;
    if pitch > MAX_PITCH {
        return Err(SoDeclError::PitchRange { buffer: buffer as u32, pitch });
    }
    record.pitches[buffer] = pitch;
    Ok(())
}

fn varying(record: &mut Record, buffer: usize, name: &str, map: &[Varying]) -> Result<(), SoDeclError> {
    let (base, index) = match name.strip_suffix(']').and_then(|n| n.split_once('[')) {
        Some((base, index)) => (base, Some(index)),
        None => (name, None),
    };
    let unknown = || SoDeclError::UnknownVarying { name: name.to_owned() };
    let varying = map.iter().find(|v| v.name == base).ok_or_else(unknown)?;
    for element in elements(varying, index, name)? {
        capture(record, buffer, varying, element)?;
    }
    Ok(())
}

/// The elements that a name with or without an index names.
fn elements(varying: &Varying, index: Option<&str>, name: &str) -> Result<std::ops::Range<u8>, SoDeclError> {
    let none = || SoDeclError::ArrayElement { name: name.to_owned() };
    match (index, varying.elements) {
        (None, elements) => Ok(0..elements.unwrap_or(1)),
        (Some(index), Some(elements)) => {
            let index: u8 = index.parse().map_err(|_| none())?;
            (index < elements).then(|| index..index + 1).ok_or_else(none)
        }
        (Some(_), None) => Err(none()),
    }
}

/// Appends one element: the part in each slot, one after another.
fn capture(record: &mut Record, buffer: usize, varying: &Varying, element: u8) -> Result<(), SoDeclError> {
    let components = u32::from(varying.components);
    let Some((slot, component)) = varying.place else { return advance(record, buffer, components) };
    let mut at = (u32::from(slot) + u32::from(element)) * SLOT + u32::from(component & 3);
    let end = at + components;
    while at < end {
        let count = (SLOT - at % SLOT).min(end - at);
        let register = u8::try_from(at / SLOT).map_err(|_| SoDeclError::Register { register: at / SLOT })?;
        record.outputs.push(Output {
            buffer: Slot::from_bits(buffer as u32),
            stream: varying.stream,
            register,
            first: (at % SLOT) as u8,
            count: count as u8,
            offset: record.pitches[buffer],
        });
        advance(record, buffer, count)?;
        at += count;
    }
    Ok(())
}
