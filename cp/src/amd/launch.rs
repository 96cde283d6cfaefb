//! What draws and dispatches have in common: the program that a stage's registers name, its scratch ring, and options
//! that must be off.

use super::register_file::RegisterFile;
use super::registers::{Field, Register, field, reg};
use crate::{Isa, ProgramRef, ScalarRule, Scratch};

/// The registers by which a hardware stage names its program.
pub(super) struct ProgramFields {
    address_lo: Register,
    address_hi: Field,
    float_mode: Field,
    dx10_clamp: Field,
    ieee: Field,
}

/// The hardware VS's program.
pub(super) const VERTEX_PROGRAM: ProgramFields = ProgramFields {
    address_lo: reg::SPI_SHADER_PGM_LO_VS,
    address_hi: field::SPI_SHADER_PGM_HI_VS::MEM_BASE,
    float_mode: field::SPI_SHADER_PGM_RSRC1_VS::FLOAT_MODE,
    dx10_clamp: field::SPI_SHADER_PGM_RSRC1_VS::DX10_CLAMP,
    ieee: field::SPI_SHADER_PGM_RSRC1_VS::IEEE_MODE,
};

/// The merged ES and GS: the address is the ES half's, the modes are the GS half's.
pub(super) const EXPORT_GEOMETRY_PROGRAM: ProgramFields = ProgramFields {
    address_lo: reg::SPI_SHADER_PGM_LO_ES,
    address_hi: field::SPI_SHADER_PGM_HI_ES::MEM_BASE,
    float_mode: field::SPI_SHADER_PGM_RSRC1_GS::FLOAT_MODE,
    dx10_clamp: field::SPI_SHADER_PGM_RSRC1_GS::DX10_CLAMP,
    ieee: field::SPI_SHADER_PGM_RSRC1_GS::IEEE_MODE,
};

/// The merged LS and HS, likewise.
pub(super) const LOCAL_HULL_PROGRAM: ProgramFields = ProgramFields {
    address_lo: reg::SPI_SHADER_PGM_LO_LS,
    address_hi: field::SPI_SHADER_PGM_HI_LS::MEM_BASE,
    float_mode: field::SPI_SHADER_PGM_RSRC1_HS::FLOAT_MODE,
    dx10_clamp: field::SPI_SHADER_PGM_RSRC1_HS::DX10_CLAMP,
    ieee: field::SPI_SHADER_PGM_RSRC1_HS::IEEE_MODE,
};

/// The compute program.
pub(super) const COMPUTE_PROGRAM: ProgramFields = ProgramFields {
    address_lo: reg::COMPUTE_PGM_LO,
    address_hi: field::COMPUTE_PGM_HI::DATA,
    float_mode: field::COMPUTE_PGM_RSRC1::FLOAT_MODE,
    dx10_clamp: field::COMPUTE_PGM_RSRC1::DX10_CLAMP,
    ieee: field::COMPUTE_PGM_RSRC1::IEEE_MODE,
};

impl ProgramFields {
    /// The program as the registers stand. Addresses are kept in units of 256 bytes.
    pub(super) fn read(&self, registers: &RegisterFile, isa: Isa, wave_lanes: u8) -> ProgramRef {
        let page =
            u64::from(registers.field(self.address_hi)) << 32 | u64::from(registers.get(self.address_lo));
        ProgramRef {
            isa,
            address: page << 8,
            wave_lanes,
            float_mode: registers.field(self.float_mode) as u8,
            dx10_clamp: registers.flag(self.dx10_clamp),
            ieee: registers.flag(self.ieee),
        }
    }
}

/// A field that changes what a program sees or does in a way that is not carried out, and what it asks for.
pub(super) type MustBeZero = (Field, &'static str);

/// What the first field that is not 0 asks for.
pub(super) fn first_set(registers: &RegisterFile, fields: &[MustBeZero]) -> Option<&'static str> {
    fields.iter().find(|(field, _)| registers.flag(*field)).map(|(_, what)| *what)
}

/// A stage's scratch ring: its size register, and the bit that gives waves their place in it.
pub(super) struct ScratchFields {
    pub(super) enable: Field,
    pub(super) waves: Field,
    pub(super) wave_size: Field,
}

/// Bytes in a unit of WAVESIZE.
const SCRATCH_UNIT: u32 = 1024;

impl ScratchFields {
    /// The ring and the rule for the SGPR that gives each wave its place in it; `None` where scratch is off.
    ///
    /// # Errors
    /// Scratch is on and the ring holds no wave.
    pub(super) fn read(&self, registers: &RegisterFile) -> Result<Option<(Scratch, ScalarRule)>, NoRing> {
        if !registers.flag(self.enable) {
            return Ok(None);
        }
        let slots = registers.field(self.waves);
        let bytes_per_wave = registers.field(self.wave_size) * SCRATCH_UNIT;
        match slots {
            0 => Err(NoRing),
            _ => Ok(Some((
                Scratch { bytes_per_wave },
                ScalarRule::ScratchOffset { per_wave: bytes_per_wave, slots },
            ))),
        }
    }
}

/// Scratch is enabled without a ring.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoRing;
