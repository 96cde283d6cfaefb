//! The registers of one wave.

use super::machine::ADDRESS_BITS;
use super::{ProgramInfo, WaveInit};
use crate::gfx10::{WaveSize, sreg};

/// One vector register: a word for each of up to 64 lanes.
pub(super) type LaneWords = [u32; 64];

/// The architectural state of one wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wave {
    size: WaveSize,
    /// By scalar destination number: s0-s105, VCC, TTMP, M0, NULL (always 0), EXEC.
    sgprs: [u32; 128],
    vgprs: Vec<LaneWords>,
    pub(super) scc: bool,
    pub(super) mode: u32,
    pub(super) pc: u64,
    /// The FLAT_SCRATCH registers, kept for `s_getreg`; scratch is private to each wave here.
    pub(super) flat_scratch: [u32; 2],
    /// Scratch of all lanes, one after another; allocated by the first access.
    pub(super) scratch: Vec<u8>,
    /// Number of the wave in its group.
    pub(super) number: u32,
}

/// Registers of the vector register file.
pub(super) const VGPRS: usize = 256;

impl Wave {
    pub(super) fn new(info: &ProgramInfo, number: u32, init: &WaveInit) -> Self {
        let mut wave = Wave {
            size: info.wave_size,
            sgprs: [0; 128],
            vgprs: vec![[0; 64]; VGPRS],
            scc: false,
            mode: info.mode,
            pc: info.address & ADDRESS_BITS,
            flat_scratch: [0; 2],
            scratch: Vec::new(),
            number,
        };
        for (register, value) in wave.sgprs[..=105].iter_mut().zip(&init.sgprs) {
            *register = *value;
        }
        for (register, values) in wave.vgprs.iter_mut().zip(&init.vgprs) {
            for (lane, value) in register.iter_mut().zip(values) {
                *lane = *value;
            }
        }
        wave.set_sgpr(sreg::M0, init.m0);
        wave.set_exec(init.exec);
        wave
    }

    /// Lanes and the width of masks.
    pub fn size(&self) -> WaveSize {
        self.size
    }

    /// A scalar register by its number in the scalar destination field, see [`sreg`]; NULL and numbers from 128 on
    /// read as 0.
    pub fn sgpr(&self, number: u8) -> u32 {
        self.sgprs.get(usize::from(number)).copied().unwrap_or(0)
    }

    /// Register `i` of a tuple that begins at `first`; all of a tuple at NULL is 0.
    pub(super) fn sgpr_of(&self, first: u8, i: u8) -> u32 {
        match first {
            sreg::NULL => 0,
            _ => self.sgpr(first.saturating_add(i)),
        }
    }

    /// A pair of scalar registers, the low one first.
    pub fn sgpr_pair(&self, first: u8) -> u64 {
        u64::from(self.sgpr_of(first, 0)) | u64::from(self.sgpr_of(first, 1)) << 32
    }

    /// A word of a vector register; lanes count modulo 64.
    pub fn vgpr(&self, number: u8, lane: usize) -> u32 {
        self.vgprs[usize::from(number)][lane & 63]
    }

    /// EXEC: one bit for each active lane.
    pub fn exec(&self) -> u64 {
        self.mask(sreg::EXEC_LO)
    }

    /// VCC as a mask.
    pub fn vcc(&self) -> u64 {
        self.mask(sreg::VCC_LO)
    }

    /// The scalar condition code.
    pub fn scc(&self) -> bool {
        self.scc
    }

    /// The MODE register.
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// The mask in one scalar register (wave32) or two (wave64).
    pub(super) fn mask(&self, first: u8) -> u64 {
        match self.size {
            WaveSize::W32 => u64::from(self.sgpr(first)),
            WaveSize::W64 => self.sgpr_pair(first),
        }
    }

    pub(super) fn set_sgpr(&mut self, number: u8, value: u32) {
        if number != sreg::NULL
            && let Some(register) = self.sgprs.get_mut(usize::from(number))
        {
            *register = value;
        }
    }

    /// Writes register `i` of a tuple that begins at `first`; a tuple at NULL vanishes.
    pub(super) fn set_sgpr_of(&mut self, first: u8, i: u8, value: u32) {
        if first != sreg::NULL {
            self.set_sgpr(first.saturating_add(i), value);
        }
    }

    /// Writes a pair, the low register first.
    pub(super) fn set_sgpr_pair(&mut self, first: u8, value: u64) {
        self.set_sgpr_of(first, 0, value as u32);
        self.set_sgpr_of(first, 1, (value >> 32) as u32);
    }

    pub(super) fn set_mask(&mut self, first: u8, value: u64) {
        match self.size {
            WaveSize::W32 => self.set_sgpr(first, value as u32),
            WaveSize::W64 => self.set_sgpr_pair(first, value),
        }
    }

    pub(super) fn set_exec(&mut self, value: u64) {
        self.set_mask(sreg::EXEC_LO, value);
    }

    pub(super) fn vgpr_all(&self, number: u8) -> &LaneWords {
        &self.vgprs[usize::from(number)]
    }

    pub(super) fn set_vgpr(&mut self, number: u8, lane: usize, value: u32) {
        self.vgprs[usize::from(number)][lane & 63] = value;
    }

    /// A pair of vector registers in one lane, the low one first.
    pub(super) fn vgpr_pair(&self, first: u8, lane: usize) -> u64 {
        u64::from(self.vgpr(first, lane)) | u64::from(self.vgpr(first.wrapping_add(1), lane)) << 32
    }

    pub(super) fn set_vgpr_pair(&mut self, first: u8, lane: usize, value: u64) {
        self.set_vgpr(first, lane, value as u32);
        self.set_vgpr(first.wrapping_add(1), lane, (value >> 32) as u32);
    }

    pub(super) fn lanes(&self) -> usize {
        self.size.lanes() as usize
    }

    /// The lane that `v_readfirstlane` reads: the first active one, or 0.
    pub(super) fn first_lane(&self) -> usize {
        match self.exec() {
            0 => 0,
            exec => exec.trailing_zeros() as usize,
        }
    }
}

/// The lanes of a mask, lowest first.
pub(super) fn lanes_of(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 64).then_some(lane as usize)
    })
}
