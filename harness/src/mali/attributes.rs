//! Mali's attribute path by reference: descriptors in guest memory, an invocation, and the converted value.
//!
//! `guestwave-cp` finds the bytes, `guestwave-isa` converts them; here they meet. What LD_ATTR, LD_VAR_FLAT and LD_CVT load and what
//! ST_VARY, ST_CVT store goes through [`load`] and [`store`].

use guestwave_cp::mali::{AttributeSet, Draw, Element, Invocation, Located, ResourceTables, Source, Special};
use guestwave_cp::{GuestMemory, Refusal};
use guestwave_isa::format::{self, Crossing, ELEMENT_BYTES, MaliFormat, Register};

use crate::codes::coded_errors;

coded_errors! {
    /// Why an attribute could not be loaded or stored.
    MaliError: MALI_ERRORS;
    /// A descriptor that cannot be used.
    Descriptor { text: String } = "HN-MALI-001", "the attribute's descriptors: {text}";
    /// A format word that cannot be used.
    Format { text: String } = "HN-MALI-002", "the attribute's format: {text}";
    /// Memory that is not there.
    Memory { text: String } = "HN-MALI-003", "the attribute's element: {text}";
    /// A value that only the rasterizer has.
    Rasterized { input: String } = "HN-MALI-004", "the attribute is {input}, which only the rasterizer can tell";
}

impl From<Refusal> for MaliError {
    fn from(refusal: Refusal) -> Self {
        MaliError::Descriptor { text: format!("{}: {refusal}", refusal.code()) }
    }
}

/// Which descriptor an instruction names.
#[derive(Clone, Debug)]
pub enum Tables {
    /// v4 to v7: an index into one of the two sets.
    Set(AttributeSet),
    /// v9 and later: a table and an index.
    Resources(ResourceTables),
}

impl Tables {
    /// The attribute at `index` (of table `table` on v9 and later) for an invocation.
    ///
    /// # Errors
    /// [`MaliError::Descriptor`].
    pub fn locate(
        &self,
        memory: &dyn GuestMemory,
        draw: Draw,
        (table, index): (u32, u32),
        invocation: Invocation,
    ) -> Result<Located, MaliError> {
        Ok(match self {
            Tables::Set(set) => set.locate(memory, draw, index, invocation)?,
            Tables::Resources(tables) => tables.locate(memory, draw, (table, index), invocation)?,
        })
    }

    fn version(&self) -> u8 {
        match self {
            Tables::Set(set) => set.version.number(),
            Tables::Resources(tables) => tables.version.number(),
        }
    }

    /// What the low 22 bits of a format word mean here.
    ///
    /// # Errors
    /// [`MaliError::Format`].
    pub fn format(&self, word: u32) -> Result<MaliFormat, MaliError> {
        format::mali(self.version(), word).map_err(|e| MaliError::Format { text: e.to_string() })
    }
}

/// What a load gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Register bits of the four components.
    pub registers: [u64; 4],
    /// Whether the element lay in its buffer; zeros were read if not.
    pub inside: bool,
    /// What became of a float where an integer was wanted, or the other way round.
    pub crossing: Crossing,
}

/// Loads the element of an attribute into a register of a kind.
///
/// # Errors
/// Formats and memory that cannot be used, and inputs that the rasterizer makes.
pub fn load(
    memory: &dyn GuestMemory,
    tables: &Tables,
    located: Located,
    linear: u32,
    register: Register,
) -> Result<Loaded, MaliError> {
    let element = match located.source {
        Source::Element(element) => element,
        Source::Special(special) => return special_input(special, linear),
    };
    let format = tables.format(located.format)?.format;
    let (bytes, inside) = read(memory, element, format.bytes())?;
    let crossing = format.components().iter().flatten().map(|c| register.load_crossing(c.numeric)).next();
    let registers = format.read(&bytes, register);
    Ok(Loaded { registers, inside, crossing: crossing.unwrap_or(Crossing::Same) })
}

/// Stores four registers as the element of an attribute; gives whether it lay in its buffer, else nothing was stored.
///
/// # Errors
/// As [`load`].
pub fn store(
    memory: &dyn GuestMemory,
    tables: &Tables,
    located: Located,
    registers: [u64; 4],
    register: Register,
) -> Result<bool, MaliError> {
    let Source::Element(element) = located.source else {
        return Err(MaliError::Rasterized { input: "an input without memory".to_owned() });
    };
    let format = tables.format(located.format)?.format;
    let place = element.place(format.bytes());
    if place.inside && format.bytes() > 0 {
        let bytes = format.write(registers, register);
        let element = bytes.get(..format.bytes()).unwrap_or(&[]);
        memory.write(place.address, element).map_err(|e| MaliError::Memory { text: e.to_string() })?;
    }
    Ok(place.inside)
}

/// The bytes of an element; zeros outside its buffer.
fn read(
    memory: &dyn GuestMemory,
    element: Element,
    bytes: usize,
) -> Result<([u8; ELEMENT_BYTES], bool), MaliError> {
    let mut into = [0; ELEMENT_BYTES];
    let place = element.place(bytes);
    if let Some(part) = into.get_mut(..bytes).filter(|part| place.inside && !part.is_empty()) {
        memory.read(place.address, part).map_err(|e| MaliError::Memory { text: e.to_string() })?;
    }
    Ok((into, place.inside))
}

fn special_input(special: Special, linear: u32) -> Result<Loaded, MaliError> {
    let rasterized = || MaliError::Rasterized { input: format!("{special:?}") };
    let value = special.of_invocation(linear).ok_or_else(rasterized)?;
    Ok(Loaded { registers: [value.into(), 0, 0, 1], inside: true, crossing: Crossing::Same })
}
