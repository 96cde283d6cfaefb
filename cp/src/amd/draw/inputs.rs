//! The registers that the hardware VS starts with, whatever runs in it, and user data of any stage.

use super::assembly::Assembly;
use super::request::UserData;
use crate::amd::launch::{NoRing, ScratchFields};
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{Field, RegisterArray, field, field::SPI_SHADER_PGM_RSRC2_VS as RSRC2, reg};
use crate::amd::streamout_unit::DWORD;
use crate::streamout::{Plan, Slot};
use crate::{LaneRule, Refusal, ScalarRule, Scratch};

/// Places of the vertex count and of the stream in streamout_config.
const CONFIG_COUNT_SHIFT: u8 = 16;
const CONFIG_STREAM_SHIFT: u32 = 24;

/// The bits that give a program a buffer's position, by buffer.
const POSITION_ENABLES: [Field; 4] =
    [RSRC2::SO_BASE0_EN, RSRC2::SO_BASE1_EN, RSRC2::SO_BASE2_EN, RSRC2::SO_BASE3_EN];

const SCRATCH: ScratchFields = ScratchFields {
    enable: RSRC2::SCRATCH_EN,
    waves: field::SPI_TMPRING_SIZE::WAVES,
    wave_size: field::SPI_TMPRING_SIZE::WAVESIZE,
};

/// User data, and after it what RSRC2 adds, each only where it is enabled: streamout_config, streamout_write_index,
/// the position in dwords of each buffer, `off_chip` (where the patches lie in the tessellation buffer, in bytes), the
/// scratch offset.
///
/// # Errors
/// More user data than there are registers, or scratch without a ring.
pub(super) fn scalars(
    registers: &RegisterFile,
    told: &UserData,
    plan: &Plan,
    off_chip: u32,
) -> Result<(Vec<ScalarRule>, Option<Scratch>), Refusal> {
    let (streamout, tessellated) = (registers.flag(RSRC2::SO_EN), registers.flag(RSRC2::OC_LDS_EN));
    let scratch = SCRATCH.read(registers).map_err(|NoRing| Refusal::VertexScratch { stage: "vertex" })?;
    let mut rules = USER_DATA.read(registers, told)?;
    if streamout || tessellated {
        rules.push(streamout_config(plan));
    }
    if streamout {
        rules.push(ScalarRule::FirstItem { base: 0 });
    }
    rules.extend(positions(registers, plan));
    if tessellated {
        rules.push(ScalarRule::Word(off_chip));
    }
    rules.extend(scratch.iter().map(|(_, rule)| rule.clone()));
    Ok((rules, scratch.map(|(ring, _)| ring)))
}

/// SGPRs that follow user data, at most.
const MOST_OTHERS: usize = 8;

/// A stage's user data: its registers, and the two parts of their number.
pub(super) struct UserDataFields {
    pub(super) stage: &'static str,
    pub(super) words: RegisterArray,
    pub(super) count: [Field; 2],
}

const USER_DATA: UserDataFields = UserDataFields {
    stage: "vertex",
    words: reg::SPI_SHADER_USER_DATA_VS,
    count: [RSRC2::USER_SGPR, RSRC2::USER_SGPR_MSB],
};

impl UserDataFields {
    /// The user data registers, which follow one another, but for those that the draw itself sets.
    ///
    /// # Errors
    /// More than there are registers.
    pub(super) fn read(&self, registers: &RegisterFile, told: &UserData) -> Result<Vec<ScalarRule>, Refusal> {
        let [low, high] = self.count.map(|field| registers.field(field));
        let (count, words) = (low | high << 5, self.words);
        if count > words.count {
            return Err(Refusal::VertexUserData { stage: self.stage, count, limit: words.count });
        }
        let mut rules = Vec::with_capacity(count as usize + MOST_OTHERS);
        let values = registers.run(words.first, count as usize)?;
        rules.extend(values.iter().map(|value| ScalarRule::Word(*value)));
        for (register, value) in told.iter().flatten() {
            if let Some(n) = (0..count).find(|n| words.at(*n) == *register) {
                rules[n as usize] = ScalarRule::Word(*value);
            }
        }
        Ok(rules)
    }
}

/// The stream, and how many vertices of the wave are stored: those of the first `plan.vertices()` that are in it.
fn streamout_config(plan: &Plan) -> ScalarRule {
    let limit = u32::try_from(plan.vertices()).unwrap_or(u32::MAX);
    let base = (plan.stream().index() as u32) << CONFIG_STREAM_SHIFT;
    ScalarRule::ItemCount { base, shift: CONFIG_COUNT_SHIFT, limit }
}

fn positions<'a>(registers: &'a RegisterFile, plan: &'a Plan) -> impl Iterator<Item = ScalarRule> {
    Slot::ALL
        .into_iter()
        .filter(|slot| registers.flag(POSITION_ENABLES[slot.index()]))
        .map(|slot| ScalarRule::Word((plan.start(slot) / DWORD) as u32))
}

/// v0 the vertex id, v1 a word of the driver's, v2 the primitive id, v3 the instance id. All are loaded whatever
/// VGPR_COMP_CNT says: a program does not read what it did not ask for.
pub(super) fn lanes(registers: &RegisterFile, assembly: &Assembly) -> Vec<LaneRule> {
    vec![
        assembly.vertex_ids(),
        LaneRule::Word(user_vgpr(registers)),
        primitive_ids(registers, assembly),
        assembly.instance_ids(),
    ]
}

/// GE_USER_VGPR1, where programs are given it.
pub(super) fn user_vgpr(registers: &RegisterFile) -> u32 {
    match registers.flag(field::GE_USER_VGPR_EN::EN_USER_VGPR1) {
        true => registers.get(reg::GE_USER_VGPR1),
        false => 0,
    }
}

fn primitive_ids(registers: &RegisterFile, assembly: &Assembly) -> LaneRule {
    use field::VGT_PRIMITIVEID_EN as IDS;
    match registers.flag(IDS::PRIMITIVEID_EN) {
        true => assembly.primitive_ids(
            registers.get(reg::VGT_PRIMITIVEID_RESET),
            !registers.flag(IDS::DISABLE_RESET_ON_EOI),
        ),
        false => LaneRule::Word(0),
    }
}
