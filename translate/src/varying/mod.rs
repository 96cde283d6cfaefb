//! Mali's attribute path as a program: descriptors found, elements loaded, converted, and stored.
//!
//! An [`AttributeKey`] names what is compiled in (formats, registers, how elements are counted); a launch's parameter block
//! holds what varies from draw to draw (addresses, sizes, strides, offsets, divisors, counts). One lane is one invocation;
//! invocations count through the vertices of an instance, then the instances.
//!
//! | parameter words | what |
//! |---|---|
//! | 0..4 | invocations, vertices an instance, padded vertices an instance, offset start |
//! | then 9 for each side, the load's before the store's | pointer low, high; size low, high; stride; packet stride; offset; divisor, added number |

mod address;
mod element;

use guestwave_cp::mali::{Attribute, AttributeBuffer, Divisor, Frequency, Stride};
use guestwave_isa::format::{Crossing, Format, Numeric, Register};

use crate::program::{Access, BinOp, Builder, Builtin, ParamSource, Program, Space, Stmt, Value, Width};

/// Parameter words before those of the sides, and of each side.
const HEAD_WORDS: u8 = 4;
const SIDE_WORDS: u8 = 9;
/// Largest number of moves whose parameters a block can name.
pub const MOVES: usize = 12;

/// Why an attribute's path cannot be a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unsupported {
    /// A component of 64 bits or with a shared exponent.
    #[error("TR-VAR-001: the format has components that programs do not convert")]
    Component,
    /// A float meets an integer.
    #[error("TR-VAR-002: memory and register are a float and an integer, which public facts call lossy")]
    Lossy,
    /// A register of another size.
    #[error("TR-VAR-003: programs hold components in 32-bit registers")]
    Register,
    /// Something without a buffer.
    #[error("TR-VAR-004: the attribute comes from no buffer")]
    Special,
}

/// How the number of an invocation becomes the number of an element; the numbers are parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counting {
    /// The number itself.
    One,
    /// Shifted right.
    Power,
    /// A remainder.
    Modulus,
    /// A multiplication and a shift.
    Magic,
}

/// What is compiled in of one side of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Side {
    /// Format of an element.
    pub format: Format,
    /// Which number of the invocation counts.
    pub frequency: Frequency,
    /// How.
    pub counting: Counting,
    /// Whether elements lie in vertex packets.
    pub packet: bool,
    /// Whether the draw's offset start counts.
    pub started: bool,
}

/// What varies of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SideWords {
    words: [u32; SIDE_WORDS as usize],
}

/// A load and the store of what was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Where from.
    pub from: Side,
    /// Where to.
    pub to: Side,
    /// What holds a component in between: one of the 32-bit kinds.
    pub register: Register,
}

/// What is compiled into a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AttributeKey {
    /// Lanes of a wave, 32 or 64.
    pub wave_lanes: u8,
    /// In order; at most [`MOVES`].
    pub moves: Vec<Move>,
}

/// What a draw says to all its invocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DrawWords {
    /// Vertices an instance.
    pub vertices: u32,
    /// Instances.
    pub instances: u32,
    /// Vertices an instance counts for.
    pub padded: u32,
    /// Added to elements that enable it.
    pub offset_start: u32,
}

impl Side {
    /// A side from a decoded attribute, the buffer that it names, and its format.
    ///
    /// # Errors
    /// [`Unsupported::Special`] if no linear buffer stands behind it.
    pub fn linear(
        attribute: &Attribute,
        buffer: &AttributeBuffer,
        format: Format,
    ) -> Result<(Side, SideWords), Unsupported> {
        let AttributeBuffer::Linear { pointer, stride, size, divisor } = *buffer else {
            return Err(Unsupported::Special);
        };
        Ok(Side::of(attribute, format, (pointer, size.into()), (stride, divisor)))
    }

    /// A side from a decoded attribute of v9 and later, and the address and size of its buffer.
    pub fn resource(attribute: &Attribute, format: Format, buffer: (u64, u64)) -> (Side, SideWords) {
        Side::of(attribute, format, buffer, (0, attribute.divisor))
    }

    fn of(
        attribute: &Attribute,
        format: Format,
        (pointer, size): (u64, u64),
        (stride, divisor): (u32, Divisor),
    ) -> (Side, SideWords) {
        let (counting, divide, add) = match divisor {
            Divisor::One => (Counting::One, 0, 0),
            Divisor::Power { shift } => (Counting::Power, 0, shift.into()),
            // A modulus past 32 bits changes nothing, as one of 0 does.
            Divisor::Modulus { shift, odd } => {
                let modulus = (2 * u64::from(odd & 7) + 1) << (shift & 31);
                (Counting::Modulus, u32::try_from(modulus).unwrap_or(0), 0)
            }
            Divisor::Magic { shift, add, numerator } => {
                (Counting::Magic, numerator | 1 << 31, u32::from(shift & 31) | u32::from(add & 1) << 8)
            }
        };
        let (stride, packet) = match attribute.stride {
            Stride::Buffer => (stride, None),
            Stride::Bytes(bytes) => (bytes, None),
            Stride::Packet { attribute, packet } => (attribute.into(), Some(u32::from(packet))),
        };
        let side = Side {
            format,
            frequency: attribute.frequency,
            counting,
            packet: packet.is_some(),
            started: attribute.offset_enable,
        };
        let words = [
            pointer as u32,
            (pointer >> 32) as u32,
            size as u32,
            (size >> 32) as u32,
            stride,
            packet.unwrap_or(0),
            attribute.offset as u32,
            divide,
            add,
        ];
        (side, SideWords { words })
    }
}

impl Move {
    /// Nothing if a program can do it.
    fn check(&self) -> Result<(), Unsupported> {
        if self.register.bits() != 32 {
            return Err(Unsupported::Register);
        }
        for (side, store) in [(&self.from, false), (&self.to, true)] {
            for c in side.format.components().iter().flatten() {
                if c.width > 32 || c.numeric == Numeric::Shared {
                    return Err(Unsupported::Component);
                }
                let crossing = match store {
                    true => self.register.store_crossing(c.numeric),
                    false => self.register.load_crossing(c.numeric),
                };
                if crossing == Crossing::Lossy {
                    return Err(Unsupported::Lossy);
                }
            }
        }
        // An automatic register is a float or an integer: both sides have to agree which.
        let mixed =
            self.register == Register::Auto32 && self.from.format.is_integer() != self.to.format.is_integer();
        if mixed { Err(Unsupported::Lossy) } else { Ok(()) }
    }
}

/// The parameter block of a launch.
pub fn params(draw: DrawWords, sides: &[(SideWords, SideWords)]) -> Vec<u32> {
    let invocations = draw.vertices.saturating_mul(draw.instances);
    let mut words = vec![invocations, draw.vertices, draw.padded, draw.offset_start];
    for (from, to) in sides {
        words.extend(from.words);
        words.extend(to.words);
    }
    words
}

/// The program of a key.
///
/// # Errors
/// [`Unsupported`], for the first move that it cannot do.
pub fn attribute_program(key: &AttributeKey) -> Result<Program, Unsupported> {
    key.moves.iter().try_for_each(Move::check)?;
    let mut e = Emit { b: Builder::new("attributes", key.wave_lanes) };
    // Parameters in the order of the block, whether or not a move uses them.
    let count = HEAD_WORDS + 2 * SIDE_WORDS * key.moves.len().min(MOVES) as u8;
    for word in 0..count {
        e.param(word);
    }
    let invocation = e.invocation(key.wave_lanes);
    e.b.open();
    for (n, one) in (0u8..).zip(key.moves.iter().take(MOVES)) {
        let first = HEAD_WORDS + 2 * SIDE_WORDS * n;
        e.load_and_store(one, first, &invocation);
    }
    let then = e.b.close();
    e.b.push(Stmt::If { cond: invocation.exists, then, otherwise: Vec::new() });
    Ok(e.b.finish())
}

/// A program under construction.
struct Emit {
    b: Builder,
}

/// The numbers of an invocation.
struct Invocation {
    exists: Value,
    vertex: Value,
    instance: Value,
    linear: Value,
}

impl Emit {
    fn param(&mut self, word: u8) -> Value {
        self.b.param(ParamSource::Sgpr(word))
    }

    fn invocation(&mut self, lanes: u8) -> Invocation {
        let (wave, lane) = (self.b.builtin(Builtin::Wave), self.b.builtin(Builtin::Lane));
        let lanes = self.b.c32(lanes.into());
        let first = self.b.bin(BinOp::Mul, wave, lanes);
        let number = self.b.bin(BinOp::Add, first, lane);
        let (count, vertices, padded) = (self.param(0), self.param(1), self.param(2));
        let exists = self.b.bin(BinOp::LtU, number, count);
        let vertex = self.b.bin(BinOp::RemU, number, vertices);
        let instance = self.b.bin(BinOp::DivU, number, vertices);
        let before = self.b.bin(BinOp::Mul, instance, padded);
        let linear = self.b.bin(BinOp::Add, before, vertex);
        Invocation { exists, vertex, instance, linear }
    }

    fn load_and_store(&mut self, one: &Move, first: u8, invocation: &Invocation) {
        let from = self.place(&one.from, first, invocation);
        let words = self.load_element(&one.from.format, from);
        let registers = self.load_registers(one, &words);
        let to = self.place(&one.to, first + SIDE_WORDS, invocation);
        self.store_element(one, registers, to);
    }

    fn access(&self, (address, valid): (Value, Value), width: Width) -> Access {
        Access { space: Space::Global, address, valid, width, pc: 0, slot: None }
    }
}
