//! Options of a draw that are not carried out.

use crate::Refusal;
use crate::amd::launch::{MustBeZero, first_set};
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{field, field::VGT_STRMOUT_CONFIG as CONFIG, reg};

/// Fields that change what a vertex program sees or does.
const MUST_BE_ZERO: &[MustBeZero] = &[
    (field::SPI_SHADER_PGM_RSRC1_VS::FP16_OVFL, "clamping of half-precision overflow (FP16_OVFL)"),
    (field::SPI_SHADER_PGM_RSRC2_VS::TRAP_PRESENT, "a trap handler"),
    (field::SPI_SHADER_PGM_RSRC2_VS::PC_BASE_EN, "the parameter cache's base (PC_BASE_EN)"),
    (field::SPI_SHADER_PGM_RSRC2_VS::DISPATCH_DRAW_EN, "dispatch draws"),
    (field::SPI_SHADER_PGM_RSRC2_VS::SHARED_VGPR_CNT, "shared VGPRs"),
];

/// Whether any stream is on, or counts.
pub(super) fn streams(registers: &RegisterFile) -> bool {
    const STREAMS: [crate::amd::registers::Field; 5] = [
        CONFIG::STREAMOUT_0_EN,
        CONFIG::STREAMOUT_1_EN,
        CONFIG::STREAMOUT_2_EN,
        CONFIG::STREAMOUT_3_EN,
        CONFIG::EN_PRIMS_NEEDED_CNT,
    ];
    STREAMS.into_iter().any(|field| registers.flag(field))
}

/// Refuses what a draw of the vertex program alone cannot have. `goes_on` is the draw's NOT_EOP.
pub(super) fn check(registers: &RegisterFile, goes_on: bool) -> Result<(), Refusal> {
    let counts_alone = registers.flag(CONFIG::EN_PRIMS_NEEDED_CNT) && !registers.flag(CONFIG::STREAMOUT_0_EN);
    let ids_go_on = goes_on && registers.flag(field::VGT_PRIMITIVEID_EN::PRIMITIVEID_EN);
    let option = first_set(registers, MUST_BE_ZERO)
        .or(counts_alone.then_some("counting of needed primitives without streamout"))
        .or(ids_go_on.then_some("primitive ids that go on into the next draw (NOT_EOP)"))
        .or((registers.get(reg::VGT_INSTANCE_BASE_ID) != 0).then_some("a base of instance ids"));
    match option {
        Some(option) => Err(Refusal::DrawOption { option }),
        None => Ok(()),
    }
}

/// Vertex ids from `least` to `most` stay within GE_MIN_VTX_INDX and GE_MAX_VTX_INDX, or those were never written.
pub(super) fn check_ids(registers: &RegisterFile, least: u32, most: u32) -> Result<(), Refusal> {
    let bound =
        |register, unset| if registers.is_written(register) { registers.get(register) } else { unset };
    let allowed = bound(reg::GE_MIN_VTX_INDX, 0)..=bound(reg::GE_MAX_VTX_INDX, u32::MAX);
    match allowed.contains(&least) && allowed.contains(&most) {
        true => Ok(()),
        false => {
            Err(Refusal::DrawOption { option: "clamping of vertex ids (GE_MIN_VTX_INDX, GE_MAX_VTX_INDX)" })
        }
    }
}

/// As [`check_ids`], of listed ids.
pub(super) fn check_listed(registers: &RegisterFile, ids: impl Iterator<Item = u32>) -> Result<(), Refusal> {
    let bounds = |bounds: Option<(u32, u32)>, id: u32| match bounds {
        Some((least, most)) => Some((least.min(id), most.max(id))),
        None => Some((id, id)),
    };
    match ids.fold(None, bounds) {
        Some((least, most)) => check_ids(registers, least, most),
        None => Ok(()),
    }
}
