//! From an invocation to an element's address.

use guestwave_cp::mali::Frequency;

use super::{Counting, Emit, Invocation, Side};
use crate::program::{BinOp, UnOp, Value};

/// Parameter words of a side, by place.
const POINTER: u8 = 0;
const SIZE: u8 = 2;
const STRIDE: u8 = 4;
const PACKET: u8 = 5;
const OFFSET: u8 = 6;
const DIVISOR: u8 = 7;
const ADDED: u8 = 8;
/// Word of the block with the offset start.
const START: u8 = 3;
/// Logarithm of a vertex packet's vertices.
const PACKET_SHIFT: u32 = 6;

impl Emit {
    /// Address of the element, and its bytes if all of them lie in the buffer, else 0.
    pub(super) fn place(&mut self, side: &Side, first: u8, invocation: &Invocation) -> (Value, Value) {
        let number = match side.frequency {
            Frequency::Draw => invocation.linear,
            Frequency::Vertex => invocation.vertex,
            Frequency::Instance => invocation.instance,
        };
        let index = self.element_index(side, first, number);
        let start = self.start(side, first, index);
        let pointer = self.wide_param(first + POINTER);
        let address = self.b.bin(BinOp::Add, pointer, start);
        let inside = self.inside(first, start, address, side.format.bytes());
        let bytes = self.b.c32(side.format.bytes() as u32);
        let none = self.b.c32(0);
        (address, self.b.select(inside, bytes, none))
    }

    /// A `B64` of two parameter words.
    fn wide_param(&mut self, word: u8) -> Value {
        let (low, high) = (self.param(word), self.param(word + 1));
        self.b.bin(BinOp::Pack, low, high)
    }

    fn extended_param(&mut self, word: u8) -> Value {
        let value = self.param(word);
        self.b.un(UnOp::Extend, value)
    }

    /// The element's number, a `B64`.
    fn element_index(&mut self, side: &Side, first: u8, number: Value) -> Value {
        let (divisor, added) = (self.param(first + DIVISOR), self.param(first + ADDED));
        let index = match side.counting {
            Counting::One => self.b.un(UnOp::Extend, number),
            Counting::Power => {
                let shifted = self.b.bin(BinOp::ShrU, number, added);
                self.b.un(UnOp::Extend, shifted)
            }
            Counting::Modulus => {
                let rest = self.b.bin(BinOp::RemU, number, divisor);
                self.b.un(UnOp::Extend, rest)
            }
            Counting::Magic => self.magic(number, divisor, added),
        };
        if !side.started {
            return index;
        }
        let start = self.extended_param(START);
        self.b.bin(BinOp::Add, index, start)
    }

    /// `((number + bit 8 of added) * divisor >> 32) >> bits 0 to 4 of added`; the product has at most 64 bits.
    fn magic(&mut self, number: Value, divisor: Value, added: Value) -> Value {
        let eight = self.b.c32(8);
        let more = self.b.bin(BinOp::ShrU, added, eight);
        let more = self.b.un(UnOp::Extend, more);
        let wide = self.b.un(UnOp::Extend, number);
        let next = self.b.bin(BinOp::Add, wide, more);
        let divisor = self.b.un(UnOp::Extend, divisor);
        let product = self.b.bin(BinOp::Mul, next, divisor);
        let high = self.b.un(UnOp::High, product);
        let five = self.b.c32(31);
        let shift = self.b.bin(BinOp::And, added, five);
        let quotient = self.b.bin(BinOp::ShrU, high, shift);
        self.b.un(UnOp::Extend, quotient)
    }

    /// Bytes from the buffer's start to the element, a `B64` in two's complement.
    fn start(&mut self, side: &Side, first: u8, index: Value) -> Value {
        let stride = self.extended_param(first + STRIDE);
        let offset = self.param(first + OFFSET);
        let offset = self.b.un(UnOp::ExtendS, offset);
        let elements = if side.packet {
            let shift = self.b.c32(PACKET_SHIFT);
            let ones = self.b.c64((1 << PACKET_SHIFT) - 1);
            let packets = self.b.bin(BinOp::ShrU, index, shift);
            let packet = self.extended_param(first + PACKET);
            let whole = self.b.bin(BinOp::Mul, packets, packet);
            let whole = self.b.bin(BinOp::Shl, whole, shift);
            let rest = self.b.bin(BinOp::And, index, ones);
            let rest = self.b.bin(BinOp::Mul, rest, stride);
            self.b.bin(BinOp::Add, whole, rest)
        } else {
            self.b.bin(BinOp::Mul, index, stride)
        };
        self.b.bin(BinOp::Add, elements, offset)
    }

    /// Whether `bytes` bytes from `start` lie in the buffer at an address that exists.
    fn inside(&mut self, first: u8, start: Value, address: Value, bytes: usize) -> Value {
        let (zero, bytes) = (self.b.c64(0), self.b.c64(bytes as u64));
        let size = self.wide_param(first + SIZE);
        let after = self.b.bin(BinOp::LeS, zero, start);
        let end = self.b.bin(BinOp::Add, start, bytes);
        let before = self.b.bin(BinOp::LeU, end, size);
        let exists = self.b.bin(BinOp::LeS, zero, address);
        let within = self.b.bin(BinOp::And, after, before);
        self.b.bin(BinOp::And, within, exists)
    }
}
