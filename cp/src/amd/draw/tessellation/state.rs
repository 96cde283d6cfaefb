//! What the registers say of a tessellation pipeline.

use crate::Refusal;
use crate::amd::draw::merged::Merged;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{Field, field, reg};
use crate::tessellator::{Domain, Levels, Primitives, Spacing, Tessellator};
use field::VGT_HS_OFFCHIP_PARAM as OFF_CHIP;
use field::VGT_LS_HS_CONFIG as CONFIG;
use field::VGT_TF_PARAM as PARAM;

/// VGT_PRIMITIVE_TYPE of patches.
const PATCHES: u32 = 9;
/// Vertices of a patch on either side of the control program.
const MOST_VERTICES: u32 = 32;
/// Policy: the most waves of a group, whatever NUM_PATCHES says: a wave is told its number in four bits. Results do not
/// depend on how patches are grouped.
const MOST_GROUP_WAVES: u32 = 15;
/// Threads that a workgroup can have.
const MOST_GROUP_THREADS: u32 = 1024;
/// Policy: the most waves of one dispatch. A draw of more is cut into several.
const MOST_WAVES: u32 = 1024;
/// Bytes of a dword.
const DWORD: u32 = 4;
/// VGT_HOS_MAX_TESS_LEVEL as all drivers set it: the tessellator's own limit.
const MAX_LEVEL: f32 = 64.0;

/// A domain: its TYPE, and what its levels in the ring are, outer ones as 0 to 3 and inner ones as 4 and 5.
type DomainRow = (u32, Domain, &'static [usize]);

const DOMAINS: &[DomainRow] = &[
    // The segments of a line come before the number of lines.
    (0, Domain::Isolines, &[1, 0]),
    (1, Domain::Triangles, &[0, 1, 2, 4]),
    (2, Domain::Quads, &[0, 1, 2, 3, 4, 5]),
];

/// PARTITIONING. 1, powers of two, is not carried out.
const SPACINGS: &[(u32, Spacing)] =
    &[(0, Spacing::Equal), (2, Spacing::FractionalOdd), (3, Spacing::FractionalEven)];

/// TOPOLOGY.
const OUTPUTS: &[(u32, Primitives)] = &[
    (0, Primitives::Points),
    (1, Primitives::Lines),
    (2, Primitives::Clockwise),
    (3, Primitives::CounterClockwise),
];

/// Bytes of a group's place in the tessellation buffer, by OFFCHIP_GRANULARITY.
const OFF_CHIP_BYTES: [u32; 4] = [0x8000, 0x4000, 0x2000, 0x1000];

/// The tessellation pipeline's own state.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// Vertices of a patch before and after the control program.
    pub(super) inputs: u32,
    pub(super) outputs: u32,
    /// Patches of a group.
    pub(super) patches: u32,
    /// Groups of a dispatch: as many as have a place in both rings.
    pub(super) groups: u32,
    /// Bytes of a group's place in the tessellation buffer.
    pub(super) off_chip_bytes: u32,
    /// Guest address of the ring of levels.
    levels: u64,
    layout: &'static [usize],
    pub(super) tessellator: Tessellator,
}

impl State {
    /// # Errors
    /// State that is not carried out, patches without vertices or with too many, or a ring without room for a group.
    pub(super) fn read(registers: &RegisterFile, merged: &Merged) -> Result<State, Refusal> {
        check_type(registers)?;
        let (tessellator, layout) = tessellator(registers)?;
        let inputs = vertices(registers, CONFIG::HS_NUM_INPUT_CP, "input")?;
        let outputs = vertices(registers, CONFIG::HS_NUM_OUTPUT_CP, "output")?;
        let threads = (MOST_GROUP_WAVES * merged.lanes()).min(MOST_GROUP_THREADS);
        let patches = registers.field(CONFIG::NUM_PATCHES).min(threads / inputs.max(outputs));
        let mut state = State {
            inputs,
            outputs,
            patches,
            groups: 0,
            off_chip_bytes: OFF_CHIP_BYTES[registers.field(OFF_CHIP::OFFCHIP_GRANULARITY) as usize & 3],
            levels: u64::from(registers.field(field::VGT_TF_MEMORY_BASE_HI::BASE_HI)) << 40
                | u64::from(registers.get(reg::VGT_TF_MEMORY_BASE)) << 8,
            layout,
            tessellator,
        };
        state.groups = state.groups(registers, merged.lanes())?;
        Ok(state)
    }

    /// Groups of a dispatch.
    fn groups(&self, registers: &RegisterFile, lanes: u32) -> Result<u32, Refusal> {
        if self.patches == 0 {
            return Err(Refusal::TessellationRing { ring: "VGT_LS_HS_CONFIG (NUM_PATCHES)" });
        }
        let places = registers.field(OFF_CHIP::OFFCHIP_BUFFERING) + 1;
        let level_bytes = registers.field(field::VGT_TF_RING_SIZE::SIZE) * DWORD;
        let waves = (self.patches * self.inputs.max(self.outputs)).div_ceil(lanes).max(1);
        match (level_bytes / self.group_level_bytes()).min(places).min(MOST_WAVES / waves) {
            0 => Err(Refusal::TessellationRing { ring: "VGT_TF_RING_SIZE" }),
            groups => Ok(groups),
        }
    }

    /// Bytes of a group's levels.
    pub(super) fn group_level_bytes(&self) -> u32 {
        self.patches * self.patch_level_bytes()
    }

    /// Bytes of a patch's levels.
    pub(super) fn patch_level_bytes(&self) -> u32 {
        self.layout.len() as u32 * DWORD
    }

    /// Guest address of the levels of group number `group` of a dispatch.
    pub(super) fn levels_at(&self, group: u32) -> u64 {
        self.levels + u64::from(group) * u64::from(self.group_level_bytes())
    }

    /// The levels of one patch, from the ring.
    pub(super) fn levels(&self, bytes: &[u8]) -> Levels {
        let mut all = [0.0; 6];
        for (place, word) in self.layout.iter().zip(bytes.as_chunks().0) {
            all[*place] = f32::from_le_bytes(*word);
        }
        let [a, b, c, d, e, f] = all;
        Levels { outer: [a, b, c, d], inner: [e, f] }
    }
}

fn check_type(registers: &RegisterFile) -> Result<(), Refusal> {
    let value = registers.field(field::VGT_PRIMITIVE_TYPE::PRIM_TYPE);
    let limit = reg::VGT_HOS_MAX_TESS_LEVEL;
    let limited = registers.is_written(limit) && registers.get(limit) != MAX_LEVEL.to_bits();
    match value == PATCHES {
        false => Err(Refusal::NotPatches { value }),
        true if limited => Err(Refusal::DrawOption { option: "another greatest tessellation level than 64" }),
        true => Ok(()),
    }
}

fn vertices(registers: &RegisterFile, field: Field, side: &'static str) -> Result<u32, Refusal> {
    match registers.field(field) {
        count @ 1..=MOST_VERTICES => Ok(count),
        count => Err(Refusal::PatchVertices { side, count, limit: MOST_VERTICES }),
    }
}

fn tessellator(registers: &RegisterFile) -> Result<(Tessellator, &'static [usize]), Refusal> {
    let [domain, spacing, output] =
        [PARAM::TYPE, PARAM::PARTITIONING, PARAM::TOPOLOGY].map(|field| registers.field(field));
    let bad = |field, value| Refusal::Tessellator { field, value };
    let (_, domain, layout) = DOMAINS.iter().find(|row| row.0 == domain).ok_or(bad("TYPE", domain))?;
    let (_, spacing) = SPACINGS.iter().find(|row| row.0 == spacing).ok_or(bad("PARTITIONING", spacing))?;
    let (_, primitives) = OUTPUTS.iter().find(|row| row.0 == output).ok_or(bad("TOPOLOGY", output))?;
    let tessellator = Tessellator { domain: *domain, spacing: *spacing, primitives: *primitives };
    match tessellator.is_possible() {
        true => Ok((tessellator, layout)),
        false => Err(bad("TOPOLOGY", output)),
    }
}
