//! The registers that a compute program starts with.

use super::RSRC2;
use crate::amd::launch::{NoRing, ScratchFields};
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{Field, field, reg};
use crate::{LaneRule, Refusal, ScalarRule, Scratch};

/// The bits that give a program its workgroup's id, by axis.
const GROUP_IDS: [(Field, u8); 3] = [(RSRC2::TGID_X_EN, 0), (RSRC2::TGID_Y_EN, 1), (RSRC2::TGID_Z_EN, 2)];

const SCRATCH: ScratchFields = ScratchFields {
    enable: RSRC2::SCRATCH_EN,
    waves: field::COMPUTE_TMPRING_SIZE::WAVES,
    wave_size: field::COMPUTE_TMPRING_SIZE::WAVESIZE,
};

/// User data, and after it, each only where it is enabled: the workgroup's id along each axis, TG_SIZE, the scratch
/// offset.
///
/// # Errors
/// More user data than there are registers, or scratch without a ring.
pub(super) fn scalars(registers: &RegisterFile) -> Result<(Vec<ScalarRule>, Option<Scratch>), Refusal> {
    let words = reg::COMPUTE_USER_DATA;
    let count = registers.field(RSRC2::USER_SGPR);
    if count > words.count {
        return Err(Refusal::ComputeUserData { count, limit: words.count });
    }
    let scratch = SCRATCH.read(registers).map_err(|NoRing| Refusal::ComputeScratch {})?;
    let mut rules: Vec<_> = (0..count).map(|n| ScalarRule::Word(registers.get(words.at(n)))).collect();
    let ids = GROUP_IDS.iter().filter(|(enable, _)| registers.flag(*enable));
    rules.extend(ids.map(|(_, axis)| ScalarRule::GroupId(*axis)));
    rules.extend(registers.flag(RSRC2::TG_SIZE_EN).then_some(ScalarRule::GroupSize));
    rules.extend(scratch.iter().map(|(_, rule)| rule.clone()));
    Ok((rules, scratch.map(|(ring, _)| ring)))
}

/// The thread's id along as many axes as TIDIG_COMP_CNT says.
///
/// # Errors
/// TIDIG_COMP_CNT names a fourth axis.
pub(super) fn lanes(registers: &RegisterFile) -> Result<Vec<LaneRule>, Refusal> {
    match registers.field(RSRC2::TIDIG_COMP_CNT) {
        last @ 0..=2 => Ok((0..=last as u8).map(LaneRule::ThreadId).collect()),
        _ => Err(Refusal::DispatchOption { option: "a fourth thread id (TIDIG_COMP_CNT 3)" }),
    }
}
