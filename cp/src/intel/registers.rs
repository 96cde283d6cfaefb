//! Registers of the render engine, as batches read and write them.
//!
//! The stream-output unit keeps offsets and counters itself; their registers are windows on it. What is written to any
//! other register is kept, and can be read where the table says what the register is.

use std::collections::BTreeMap;

use super::Refusal;
use crate::streamout::{Counters, Slot, Streamout};

/// One row of the register table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterRow {
    /// Name.
    pub name: &'static str,
    /// Byte address of the first element.
    pub address: u32,
    /// Elements.
    pub count: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Dwords of an element.
    pub words: u32,
    /// Whether the high half of a write says which bits of the low half it changes.
    pub masked: bool,
    /// Each dword before anything writes it.
    pub reset: u32,
    /// Where the facts come from.
    pub source: &'static str,
}

impl RegisterRow {
    fn end(&self) -> u32 {
        self.address + self.count * self.stride
    }
}

include!(concat!(env!("OUT_DIR"), "/intel_registers.rs"));

/// Byte addresses that a packet can name.
pub(crate) const ADDRESS_BITS: u32 = 0x7f_fffc;

/// A register that the table knows: its row, the element, and the dword of the element.
pub fn describe(address: u32) -> Option<(&'static RegisterRow, u32, u32)> {
    let row = ROWS.iter().find(|row| (row.address..row.end()).contains(&address))?;
    let offset = address - row.address;
    Some((row, offset / row.stride, offset % row.stride / 4))
}

/// The register's name with its element and half, or its address.
pub fn name(address: u32) -> String {
    let Some((row, element, word)) = describe(address) else { return format!("register {address:#07x}") };
    let element = if row.count > 1 { format!("[{element}]") } else { String::new() };
    let half = if word > 0 { ".high" } else { "" };
    format!("{}{element}{half}", row.name)
}

/// What registers hold, but for the stream-output unit's.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct RegisterFile {
    values: BTreeMap<u32, u32>,
}

/// A register of the stream-output unit.
enum Own {
    Offset(Slot),
    Written(Slot, u32),
    Needed,
}

fn own(address: u32) -> Option<Own> {
    let (row, element, word) = describe(address)?;
    let slot = Slot::from_bits(element);
    match row.address {
        reg::SO_WRITE_OFFSET => Some(Own::Offset(slot)),
        reg::SO_NUM_PRIMS_WRITTEN => Some(Own::Written(slot, word)),
        reg::SO_PRIM_STORAGE_NEEDED => Some(Own::Needed),
        _ => None,
    }
}

impl RegisterFile {
    /// One dword, without the stream-output unit's registers.
    pub(crate) fn get(&self, address: u32) -> u32 {
        let reset = describe(address).map_or(0, |(row, ..)| row.reset);
        self.values.get(&address).copied().unwrap_or(reset)
    }

    /// A register of two dwords.
    pub(crate) fn get64(&self, address: u32) -> u64 {
        u64::from(self.get(address)) | u64::from(self.get(address + 4)) << 32
    }

    /// Sets a register of two dwords.
    pub(crate) fn set64(&mut self, address: u32, value: u64) {
        self.values.insert(address, value as u32);
        self.values.insert(address + 4, (value >> 32) as u32);
    }

    /// Counts on in a register of two dwords.
    pub(crate) fn add64(&mut self, address: u32, more: u64) {
        self.set64(address, self.get64(address).wrapping_add(more));
    }

    /// A dword as a batch reads it.
    ///
    /// # Errors
    /// The table does not have the register.
    pub(crate) fn read(&self, unit: &Streamout, address: u32) -> Result<u32, Refusal> {
        let half = |value: u64, word: u32| (value >> (32 * word)) as u32;
        let (row, element, word) = describe(address).ok_or(Refusal::NoRegister { address })?;
        let slot = Slot::from_bits(element);
        Ok(match row.address {
            reg::SO_WRITE_OFFSET => unit.buffer(slot).position as u32,
            reg::SO_NUM_PRIMS_WRITTEN => half(unit.counters(slot).written, word),
            reg::SO_PRIM_STORAGE_NEEDED => half(unit.counters(slot).needed, word),
            _ => self.get(address),
        })
    }

    /// Whether a batch may write a register.
    ///
    /// # Errors
    /// It is one that only a context's restore sets.
    pub(crate) fn writable(address: u32) -> Result<(), Refusal> {
        match own(address) {
            Some(Own::Needed) => Err(Refusal::ReadOnly { register: "SO_PRIM_STORAGE_NEEDED" }),
            _ => Ok(()),
        }
    }

    /// A dword as a batch writes it; what [`RegisterFile::writable`] refuses changes nothing.
    pub(crate) fn write(&mut self, unit: &mut Streamout, address: u32, value: u32) {
        match own(address) {
            Some(Own::Offset(buffer)) => unit.set_position(buffer, u64::from(value & !3)),
            Some(Own::Written(stream, word)) => {
                let Counters { needed, written } = unit.counters(stream);
                let kept = written & !(u64::from(u32::MAX) << (32 * word));
                let written = kept | u64::from(value) << (32 * word);
                unit.set_counters(stream, Counters { needed, written });
            }
            Some(Own::Needed) => {}
            None => self.set_plain(address, value),
        }
    }

    fn set_plain(&mut self, address: u32, value: u32) {
        let masked = describe(address).is_some_and(|(row, ..)| row.masked);
        let value = match masked {
            true => {
                let mask = value >> 16;
                self.get(address) & !mask | value & mask
            }
            false => value,
        };
        self.values.insert(address, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(writes: &[(u32, u32)]) -> (RegisterFile, Streamout) {
        let (mut file, mut unit) = (RegisterFile::default(), Streamout::default());
        for (address, value) in writes {
            file.write(&mut unit, *address, *value);
        }
        (file, unit)
    }

    #[test]
    fn offsets_are_bytes_of_whole_dwords() {
        let (file, unit) = after(&[(0x5288, 0x1237)]);
        assert_eq!(unit.buffer(Slot::from_bits(2)).position, 0x1234);
        assert_eq!(file.read(&unit, 0x5288), Ok(0x1234));
    }

    #[test]
    fn counters_are_reached_in_halves() {
        let (file, unit) = after(&[(0x5208, 0x8765_4321), (0x520c, 9)]);
        assert_eq!(unit.counters(Slot::from_bits(1)).written, 0x9_8765_4321);
        assert_eq!(file.read(&unit, 0x5208), Ok(0x8765_4321));
        assert_eq!(file.read(&unit, 0x520c), Ok(9));
        assert_eq!(file.read(&unit, 0x5248), Ok(0));
    }

    #[test]
    fn masked_registers_change_the_bits_that_a_write_names() {
        let (file, unit) = after(&[(0x20c0, 0x00c0_0040), (0x20c0, 0x0080_ffff), (0x20c0, 0x0001_0000)]);
        assert_eq!(file.read(&unit, 0x20c0), Ok(0xc0));
    }

    #[test]
    fn what_is_not_known_cannot_be_read_and_what_is_read_only_not_written() {
        let (file, unit) = after(&[(0xb010, 7)]);
        assert_eq!(file.read(&unit, 0xb010), Err(Refusal::NoRegister { address: 0xb010 }));
        assert!(RegisterFile::writable(0x5244).is_err());
        assert!(RegisterFile::writable(0x5280).is_ok());
    }

    #[test]
    fn names_tell_element_and_half() {
        assert_eq!(name(0x5284), "SO_WRITE_OFFSET[1]");
        assert_eq!(name(0x521c), "SO_NUM_PRIMS_WRITTEN[3].high");
        assert_eq!(name(0x2440), "3DPRIM_BASE_VERTEX");
        assert_eq!(name(0x9999), "register 0x09999");
    }
}
