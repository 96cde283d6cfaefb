//! Buffer descriptors (V#) and the places that they lead to.

use super::Location;
use crate::gfx10::interp::StopKind;
use crate::gfx10::interp::machine::{Machine, Place};
use crate::gfx10::interp::slot::Slot;
use crate::gfx10::interp::wave::Wave;
use crate::gfx10::{BufferMods, Mods, Operand};

/// Bytes of an element of swizzled buffers. Source: GFX10 has no ELEMENT_SIZE field; drivers assume 4.
const ELEMENT_BYTES: u64 = 4;

/// Whether SOFFSET counts in range checks. Source: LLVM's documentation of the buffer intrinsics excludes it on
/// GFX10; inferred where it says "may".
const SOFFSET_IS_CHECKED: bool = false;

/// A decoded buffer descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10::interp) struct Descriptor {
    pub base: u64,
    /// Bytes from one record to the next, 0 to 16383.
    pub stride: u32,
    pub swizzled: bool,
    pub records: u32,
    /// What each register of a formatted load gets: 0 zero, 1 one, 4 to 7 a component.
    pub selectors: [u8; 4],
    /// Unified format number.
    pub format: u8,
    /// Records that are interleaved, 8 to 64.
    pub index_stride: u32,
    pub add_lane: bool,
    pub bounds: Bounds,
    /// TYPE; only 0 is a buffer.
    pub kind: u8,
}

/// OOB_SELECT: when an access is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gfx10::interp) enum Bounds {
    /// 0: index >= records, or offset >= stride.
    Structured,
    /// 1: index >= records.
    Index,
    /// 2: there are no records.
    Unchecked,
    /// 3: offset (swizzled: the swizzled offset) >= records.
    Raw,
}

const BOUNDS: [Bounds; 4] = [Bounds::Structured, Bounds::Index, Bounds::Unchecked, Bounds::Raw];

impl Descriptor {
    /// The descriptor in four scalar registers.
    pub(in crate::gfx10::interp) fn read(wave: &Wave, first: u8) -> Self {
        Self::decode(std::array::from_fn(|i| wave.sgpr_of(first, i as u8)))
    }

    pub(super) fn decode(words: [u32; 4]) -> Self {
        let [low, high, records, flags] = words;
        Descriptor {
            base: u64::from(low) | u64::from(high & 0xffff) << 32,
            stride: high >> 16 & 0x3fff,
            swizzled: high >> 31 != 0,
            records,
            selectors: std::array::from_fn(|i| (flags >> (3 * i) & 7) as u8),
            format: (flags >> 12 & 0x7f) as u8,
            index_stride: 8 << (flags >> 21 & 3),
            add_lane: flags >> 23 & 1 != 0,
            bounds: BOUNDS[(flags >> 28 & 3) as usize],
            kind: (flags >> 30) as u8,
        }
    }

    /// Bytes of the whole buffer, as scalar loads see it.
    pub(in crate::gfx10::interp) fn bytes(&self) -> u64 {
        u64::from(self.records) * u64::from(self.stride.max(1))
    }

    /// Byte offset from base and SOFFSET of byte `offset` of record `index`.
    fn address_offset(&self, index: u64, offset: u64) -> u64 {
        let stride = u64::from(self.stride);
        if !self.swizzled {
            return index * stride + offset;
        }
        let interleaved = u64::from(self.index_stride);
        (index / interleaved) * stride * interleaved
            + (offset / ELEMENT_BYTES) * ELEMENT_BYTES * interleaved
            + (index % interleaved) * ELEMENT_BYTES
            + offset % ELEMENT_BYTES
    }

    /// Whether an access that begins at byte `offset` of record `index` is out of bounds.
    fn is_outside(&self, index: u64, offset: u64, soffset: u64) -> bool {
        let (records, checked) = (u64::from(self.records), if SOFFSET_IS_CHECKED { soffset } else { 0 });
        match self.bounds {
            Bounds::Structured => index >= records || offset + checked >= u64::from(self.stride),
            Bounds::Index => index >= records,
            Bounds::Unchecked => records == 0,
            Bounds::Raw if self.swizzled => self.address_offset(index, offset) + checked >= records,
            Bounds::Raw => offset + checked >= records,
        }
    }
}

/// What one buffer instruction accesses, the same in every lane but for two registers.
pub(super) struct Buffer {
    pub descriptor: Descriptor,
    soffset: u64,
    immediate: u32,
    index: Option<u8>,
    offset: Option<u8>,
}

impl Buffer {
    pub(super) fn new(m: &Machine<'_>, slot: &Slot, mods: &BufferMods) -> Result<Self, StopKind> {
        let Operand::Sgpr(first) = slot.inst.src[1] else {
            return Err(slot.form("a descriptor that is not in scalar registers"));
        };
        let descriptor = Descriptor::read(m.wave, first);
        if descriptor.kind != 0 {
            return Err(descriptor_refusal(slot, "a TYPE that is no buffer"));
        }
        let address = slot.vector_source(0);
        let offset_register = address.map(|first| first.wrapping_add(u8::from(mods.idxen)));
        Ok(Buffer {
            descriptor,
            soffset: m.scalar_source(slot, 2)?,
            immediate: mods.offset.into(),
            index: address.filter(|_| mods.idxen),
            offset: offset_register.filter(|_| mods.offen),
        })
    }

    /// The place of the access in a lane.
    pub(super) fn locate(&self, wave: &Wave, lane: usize) -> Location {
        let register = |number: Option<u8>| number.map_or(0, |n| wave.vgpr(n, lane));
        let lane_index = if self.descriptor.add_lane { lane as u64 } else { 0 };
        let index = u64::from(register(self.index)) + lane_index;
        // The sum of register and immediate wraps at 32 bits; compilers rely on it.
        let offset = u64::from(register(self.offset).wrapping_add(self.immediate));
        Location::Buffer { index, offset }
    }

    /// Where byte `further` of a lane's access lies, by itself.
    pub(super) fn place(&self, index: u64, offset: u64, further: u64) -> Place {
        let offset = offset + further;
        match self.descriptor.is_outside(index, offset, self.soffset) {
            true => Place::Nowhere,
            false => self.place_inside(index, offset, 0),
        }
    }

    /// Where byte `further` of an access lies that is in bounds as a whole.
    pub(super) fn place_inside(&self, index: u64, offset: u64, further: u64) -> Place {
        let from_base = self.descriptor.address_offset(index, offset + further);
        Place::guest(self.descriptor.base.wrapping_add(self.soffset).wrapping_add(from_base))
    }

    /// Whether the access as a whole is in bounds, judged by its first byte.
    pub(super) fn begins_inside(&self, index: u64, offset: u64) -> bool {
        !self.descriptor.is_outside(index, offset, self.soffset)
    }
}

/// The modifiers of a buffer instruction, without the forms that are refused.
pub(super) fn modifiers(slot: &Slot) -> Result<BufferMods, StopKind> {
    let Mods::Buffer(mods) = slot.inst.mods else { return Err(slot.form("no buffer modifiers")) };
    if mods.lds {
        return Err(slot.form("lds"));
    }
    if mods.tfe {
        return Err(slot.form("tfe"));
    }
    Ok(mods)
}

/// The refusal of a descriptor.
pub(super) fn descriptor_refusal(slot: &Slot, what: &'static str) -> StopKind {
    StopKind::Descriptor { mnemonic: slot.mnemonic(), what }
}
