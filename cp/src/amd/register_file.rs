//! The values of all registers that packets reach.

use super::registers::{self, Field, Register, Space};
use crate::Refusal;

/// Registers of all four spaces, one dense array, with a bit for each that a packet has written.
#[derive(Clone, Debug)]
pub struct RegisterFile {
    values: Box<[u32; SLOTS]>,
    written: Box<[u64; SLOTS.div_ceil(64)]>,
}

/// One past the last dword index of the dense array: the address range of all spaces without its two holes.
const SLOTS: usize = 0x400 + 0xc00 + 0x2000 + 0x4000;

/// The place of a register in the dense array.
const fn slot(register: Register) -> Option<usize> {
    let dword = (register.0 >> 2) as usize;
    match register.0 {
        0x8000..0xc000 => Some(dword - 0x2000),
        0x2_8000..0x4_0000 => Some(dword - 0xa000 + 0x1000),
        _ => None,
    }
}

impl Default for RegisterFile {
    fn default() -> Self {
        Self::new()
    }
}

impl RegisterFile {
    /// Registers as after a reset: the context space as [`RegisterFile::clear_context`] leaves it, the others 0.
    pub fn new() -> RegisterFile {
        let (values, written) = (Box::new([0; SLOTS]), Box::new([0; SLOTS.div_ceil(64)]));
        let mut file = RegisterFile { values, written };
        file.clear_context();
        file
    }

    /// The value of `register`: what was last written, else its reset value where that is known, else 0.
    #[inline]
    pub fn get(&self, register: Register) -> u32 {
        slot(register).map_or(0, |i| self.values[i])
    }

    /// The value of a field.
    #[inline]
    pub fn field(&self, field: Field) -> u32 {
        field.of(self.get(field.register))
    }

    /// Whether a one-bit field is set.
    #[inline]
    pub fn flag(&self, field: Field) -> bool {
        self.field(field) != 0
    }

    /// Whether a packet has written `register` (for a context register: since the last CLEAR_STATE).
    pub fn is_written(&self, register: Register) -> bool {
        slot(register).is_some_and(|i| self.written[i / 64] >> (i % 64) & 1 != 0)
    }

    /// Whether the value of `register` is known: it was written, or its reset value is public.
    pub fn is_known(&self, register: Register) -> bool {
        self.is_written(register) || registers::describe(register).is_some_and(|d| d.row.reset.is_some())
    }

    /// Sets one register.
    ///
    /// # Errors
    /// The register lies in no space.
    #[inline]
    pub fn set(&mut self, register: Register, value: u32) -> Result<(), Refusal> {
        let Some(i) = slot(register) else { return Err(Refusal::NoRegister { address: register.0 }) };
        self.values[i] = value;
        self.written[i / 64] |= 1 << (i % 64);
        Ok(())
    }

    /// Sets consecutive registers from `first`, all of them or none.
    ///
    /// # Errors
    /// `first` lies in no space, or the run leaves it.
    #[inline]
    pub fn set_run(&mut self, first: Register, values: &[u32]) -> Result<(), Refusal> {
        if let [value] = values {
            return self.set(first, *value);
        }
        let start = run_slot(first, values.len())?;
        self.values[start..start + values.len()].copy_from_slice(values);
        mark(&mut self.written[..], start, values.len());
        Ok(())
    }

    /// The values of `count` consecutive registers from `first`.
    ///
    /// # Errors
    /// As [`RegisterFile::set_run`].
    pub fn run(&self, first: Register, count: usize) -> Result<&[u32], Refusal> {
        let start = run_slot(first, count)?;
        Ok(&self.values[start..start + count])
    }

    /// CLEAR_STATE: gives every context register its reset value (0 where none is known) and counts it as not
    /// written.
    pub fn clear_context(&mut self) {
        const FIRST: usize = 0x1000;
        const END: usize = 0x3000;
        self.values[FIRST..END].fill(0);
        self.written[FIRST / 64..END / 64].fill(0);
        for row in registers::ROWS.iter().filter(|row| Space::Context.contains(Register(row.address))) {
            let Some(reset @ 1..) = row.reset else { continue };
            for i in (0..row.count).filter_map(|i| slot(Register(row.address + i * row.stride))) {
                self.values[i] = reset;
            }
        }
    }

    /// Puts back what [`RegisterFile::peek`] gave.
    pub(crate) fn restore(&mut self, register: Register, (value, written): (u32, bool)) {
        let Some(i) = slot(register) else { return };
        self.values[i] = value;
        let bit = 1 << (i % 64);
        self.written[i / 64] = self.written[i / 64] & !bit | if written { bit } else { 0 };
    }

    /// A register's value and whether it was written.
    pub(crate) fn peek(&self, register: Register) -> (u32, bool) {
        (self.get(register), self.is_written(register))
    }
}

/// The slot of `first`, if `count` registers from it lie in one space.
fn run_slot(first: Register, count: usize) -> Result<usize, Refusal> {
    let (Some(space), Some(start)) = (first.space(), slot(first)) else {
        return Err(Refusal::NoRegister { address: first.0 });
    };
    let room = ((space.bounds().1 - first.0) >> 2) as usize;
    match count <= room {
        true => Ok(start),
        false => {
            Err(Refusal::RegisterRange { address: first.0, count: count.try_into().unwrap_or(u32::MAX) })
        }
    }
}

/// Sets `count` bits from bit `start`.
fn mark(bits: &mut [u64], start: usize, count: usize) {
    if start % 64 + count <= 64 && count > 0 {
        bits[start / 64] |= (u64::MAX >> (64 - count)) << (start % 64);
        return;
    }
    let mut at = start;
    let end = start + count;
    while at < end {
        let in_word = (64 - at % 64).min(end - at);
        bits[at / 64] |= (u64::MAX >> (64 - in_word)) << (at % 64);
        at += in_word;
    }
}
