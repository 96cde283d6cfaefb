//! Sub-dword addressing: parts of source and destination dwords.

use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::{Sdwa, SdwaSel, SdwaUnused};

/// First bit and width of a part.
const fn place(select: SdwaSel) -> (u32, u32) {
    match select {
        SdwaSel::Byte0 => (0, 8),
        SdwaSel::Byte1 => (8, 8),
        SdwaSel::Byte2 => (16, 8),
        SdwaSel::Byte3 => (24, 8),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        SdwaSel::Dword | SdwaSel::Reserved => (0, 32),
    }
}

/// Refuses the reserved selector.
pub(super) fn known(slot: &Slot, select: SdwaSel) -> Result<SdwaSel, StopKind> {
    match select {
        SdwaSel::Reserved => Err(slot.form("a reserved SDWA selector")),
        _ => Ok(select),
    }
}

/// The part of a source dword, zero- or sign-extended.
pub(super) fn extract(dword: u32, select: SdwaSel, extend: bool) -> u32 {
    let (shift, width) = place(select);
    let unused = 32 - width;
    let top = dword >> shift << unused;
    match extend {
        true => ((top as i32) >> unused) as u32,
        false => top >> unused,
    }
}

/// How results go into the destination.
pub(super) struct Destination {
    shift: u32,
    width: u32,
    unused: SdwaUnused,
}

impl Destination {
    pub(super) fn new(slot: &Slot, form: &Sdwa) -> Result<Self, StopKind> {
        if form.dst_unused == SdwaUnused::Reserved {
            return Err(slot.form("a reserved SDWA dst_unused"));
        }
        let (shift, width) = place(known(slot, form.dst_sel)?);
        Ok(Destination { shift, width, unused: form.dst_unused })
    }

    /// The destination dword from its old value and a result.
    pub(super) fn merge(&self, old: u32, result: u32) -> u32 {
        let mask = (u32::MAX >> (32 - self.width)) << self.shift;
        let placed = result << self.shift & mask;
        match self.unused {
            SdwaUnused::Preserve => old & !mask | placed,
            SdwaUnused::Sext => {
                let above = 32 - self.shift - self.width;
                ((placed << above) as i32 >> above) as u32
            }
            SdwaUnused::Pad | SdwaUnused::Reserved => placed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(select: SdwaSel, unused: SdwaUnused) -> u32 {
        let (shift, width) = place(select);
        Destination { shift, width, unused }.merge(0x1122_3344, 0xaaaa_bb99)
    }

    #[test]
    fn destination_parts() {
        for (select, unused, expected) in [
            (SdwaSel::Byte0, SdwaUnused::Pad, 0x0000_0099),
            (SdwaSel::Byte1, SdwaUnused::Pad, 0x0000_9900),
            (SdwaSel::Byte1, SdwaUnused::Sext, 0xffff_9900),
            (SdwaSel::Byte3, SdwaUnused::Sext, 0x9900_0000),
            (SdwaSel::Byte2, SdwaUnused::Preserve, 0x1199_3344),
            (SdwaSel::Word1, SdwaUnused::Preserve, 0xbb99_3344),
            (SdwaSel::Word0, SdwaUnused::Sext, 0xffff_bb99),
            (SdwaSel::Dword, SdwaUnused::Preserve, 0xaaaa_bb99),
        ] {
            assert_eq!(merge(select, unused), expected, "{select:?} {unused:?}");
        }
    }

    #[test]
    fn source_parts() {
        for (select, extend, expected) in [
            (SdwaSel::Byte0, false, 0x84),
            (SdwaSel::Byte0, true, 0xffff_ff84),
            (SdwaSel::Byte2, true, 0x12),
            (SdwaSel::Word1, false, 0x8012),
            (SdwaSel::Word1, true, 0xffff_8012),
            (SdwaSel::Dword, true, 0x8012_5684),
        ] {
            assert_eq!(extract(0x8012_5684, select, extend), expected, "{select:?} {extend}");
        }
    }
}
