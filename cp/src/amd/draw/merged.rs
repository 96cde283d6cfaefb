//! Two halves of the pipeline in one program: ES with GS, LS with HS.
//!
//! Both kinds start alike: s0 and s1 the second half's own user data address, s2 and s4 places in rings, s3 how many
//! threads of each half the wave has, s5 the scratch offset, user data from s8 on. The second half's VGPRs come first. A
//! workgroup's threads of either half fill its waves from the first lane on; EXEC is all lanes, and the program itself
//! compares lanes with the counts.

use super::inputs::UserDataFields;
use super::request::UserData;
use super::stages;
use crate::amd::launch::{
    EXPORT_GEOMETRY_PROGRAM, LOCAL_HULL_PROGRAM, MustBeZero, NoRing, ProgramFields, ScratchFields, first_set,
};
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{Field, Register, field, reg};
use crate::{
    ExactDispatch, Grid, Isa, LaneRule, Origin, Outputs, ProgramRef, Refusal, ScalarRule, Scratch, Stage,
};
use field::SPI_SHADER_PGM_RSRC2_GS as RSRC2_GS;
use field::SPI_SHADER_PGM_RSRC2_HS as RSRC2_HS;

/// Bytes in a unit of LDS_SIZE, and the most that a workgroup can have.
const LDS_UNIT: u32 = 512;
const MAX_LDS_BYTES: u32 = 1 << 16;

/// The registers of a merged stage.
pub(super) struct MergedFields {
    stage: Stage,
    program: ProgramFields,
    lanes: fn(&RegisterFile) -> u8,
    address: [Register; 2],
    user_data: UserDataFields,
    scratch: ScratchFields,
    lds: Field,
    must_be_zero: &'static [MustBeZero],
}

const fn scratch(enable: Field) -> ScratchFields {
    ScratchFields {
        enable,
        waves: field::SPI_TMPRING_SIZE::WAVES,
        wave_size: field::SPI_TMPRING_SIZE::WAVESIZE,
    }
}

/// ES and GS.
pub(super) const EXPORT_GEOMETRY: MergedFields = MergedFields {
    stage: Stage::EsGs,
    program: EXPORT_GEOMETRY_PROGRAM,
    lanes: |_| 64,
    address: [reg::SPI_SHADER_USER_DATA_ADDR_LO_GS, reg::SPI_SHADER_USER_DATA_ADDR_HI_GS],
    user_data: UserDataFields {
        stage: "geometry",
        words: reg::SPI_SHADER_USER_DATA_GS,
        count: [RSRC2_GS::USER_SGPR, RSRC2_GS::USER_SGPR_MSB],
    },
    scratch: scratch(RSRC2_GS::SCRATCH_EN),
    lds: RSRC2_GS::LDS_SIZE,
    must_be_zero: &[
        (field::SPI_SHADER_PGM_RSRC1_GS::FP16_OVFL, "clamping of half-precision overflow (FP16_OVFL)"),
        (RSRC2_GS::TRAP_PRESENT, "a trap handler"),
        (RSRC2_GS::SHARED_VGPR_CNT, "shared VGPRs"),
    ],
};

/// LS and HS.
pub(super) const LOCAL_HULL: MergedFields = MergedFields {
    stage: Stage::LsHs,
    program: LOCAL_HULL_PROGRAM,
    lanes: stages::hull_lanes,
    address: [reg::SPI_SHADER_USER_DATA_ADDR_LO_HS, reg::SPI_SHADER_USER_DATA_ADDR_HI_HS],
    user_data: UserDataFields {
        stage: "tessellation control",
        words: reg::SPI_SHADER_USER_DATA_HS,
        count: [RSRC2_HS::USER_SGPR, RSRC2_HS::USER_SGPR_MSB],
    },
    scratch: scratch(RSRC2_HS::SCRATCH_EN),
    lds: RSRC2_HS::LDS_SIZE,
    must_be_zero: &[
        (field::SPI_SHADER_PGM_RSRC1_HS::FP16_OVFL, "clamping of half-precision overflow (FP16_OVFL)"),
        (RSRC2_HS::TRAP_PRESENT, "a trap handler"),
        (RSRC2_HS::TG_SIZE_EN, "the size of the group (TG_SIZE_EN)"),
        (RSRC2_HS::SHARED_VGPR_CNT, "shared VGPRs"),
    ],
};

/// What all dispatches of a merged stage in one draw have in common.
pub(super) struct Merged {
    stage: Stage,
    program: ProgramRef,
    address: [u32; 2],
    scratch_offset: ScalarRule,
    user_data: Vec<ScalarRule>,
    scratch: Option<Scratch>,
    lds_bytes: u32,
}

impl MergedFields {
    /// # Errors
    /// An option that is not carried out, more user data or LDS than there is, scratch without a ring.
    pub(super) fn read(
        &self,
        registers: &RegisterFile,
        isa: Isa,
        told: &UserData,
    ) -> Result<Merged, Refusal> {
        if let Some(option) = first_set(registers, self.must_be_zero) {
            return Err(Refusal::DrawOption { option });
        }
        let stage = self.user_data.stage;
        let ring = self.scratch.read(registers).map_err(|NoRing| Refusal::VertexScratch { stage })?;
        let (scratch, scratch_offset) = match ring {
            Some((scratch, rule)) => (Some(scratch), rule),
            None => (None, ScalarRule::Word(0)),
        };
        let lds_bytes = registers.field(self.lds) * LDS_UNIT;
        if lds_bytes > MAX_LDS_BYTES {
            return Err(Refusal::DrawLds { stage, bytes: lds_bytes, limit: MAX_LDS_BYTES });
        }
        Ok(Merged {
            stage: self.stage,
            program: self.program.read(registers, isa, (self.lanes)(registers)),
            address: self.address.map(|register| registers.get(register)),
            scratch_offset,
            user_data: self.user_data.read(registers, told)?,
            scratch,
            lds_bytes,
        })
    }
}

impl Merged {
    /// Lanes of a wave.
    pub(super) fn lanes(&self) -> u32 {
        u32::from(self.program.wave_lanes)
    }

    /// LDS of a workgroup.
    pub(super) fn lds_bytes(&self) -> u32 {
        self.lds_bytes
    }

    /// The dispatch of the waves that were gathered.
    pub(super) fn dispatch<const F: usize, const S: usize>(
        &self,
        waves: Waves<F, S>,
        outputs: Outputs,
        origin: Origin,
    ) -> ExactDispatch {
        let [s2, s3, s4] = [waves.s2, waves.s3, waves.s4].map(|words| ScalarRule::PerWave(words.into()));
        let [lo, hi] = self.address.map(ScalarRule::Word);
        let mut sgprs = vec![lo, hi, s2, s3, s4, self.scratch_offset.clone()];
        sgprs.extend([ScalarRule::Word(0), ScalarRule::Word(0)]);
        sgprs.extend(self.user_data.iter().cloned());
        let columns = waves.second.into_iter().chain(waves.first);
        ExactDispatch {
            stage: self.stage,
            program: self.program,
            grid: Grid::Subgroups { waves: waves.groups.into() },
            sgprs,
            vgprs: columns.map(|words| LaneRule::PerItem(words.into())).collect(),
            lds_bytes: self.lds_bytes,
            scratch: self.scratch,
            outputs,
            origin,
        }
    }
}

/// One workgroup: the VGPRs of its threads of either half.
pub(super) struct Group<'a, const F: usize, const S: usize> {
    pub(super) first: &'a [[u32; F]],
    pub(super) second: &'a [[u32; S]],
}

/// Waves gathered for one dispatch, whose halves have `F` and `S` VGPRs.
pub(super) struct Waves<const F: usize, const S: usize> {
    lanes: usize,
    /// Waves of each workgroup.
    groups: Vec<u32>,
    s2: Vec<u32>,
    s3: Vec<u32>,
    s4: Vec<u32>,
    first: [Vec<u32>; F],
    second: [Vec<u32>; S],
}

impl<const F: usize, const S: usize> Waves<F, S> {
    pub(super) fn new(lanes: u32) -> Self {
        let (first, second) = ([const { Vec::new() }; F], [const { Vec::new() }; S]);
        Waves {
            lanes: lanes as usize,
            groups: Vec::new(),
            s2: Vec::new(),
            s3: Vec::new(),
            s4: Vec::new(),
            first,
            second,
        }
    }

    /// Waves so far.
    pub(super) fn len(&self) -> u32 {
        self.s3.len() as u32
    }

    /// Bytes of what the waves start with.
    pub(super) fn bytes(&self) -> usize {
        self.s3.len() * (self.lanes * (F + S) + 3) * size_of::<u32>()
    }

    /// Waves of the second half's threads, in order: s2 and how many threads.
    pub(super) fn second_threads(&self) -> Vec<(u32, u32)> {
        self.s2.iter().zip(&self.s3).map(|(s2, info)| (*s2, info >> 8 & 0xff)).collect()
    }

    /// Adds a workgroup. `places` gives s2 and s4 of each of its waves.
    pub(super) fn add(&mut self, group: &Group<'_, F, S>, mut places: impl FnMut(&WaveThreads) -> [u32; 2]) {
        let waves = group.first.len().max(group.second.len()).div_ceil(self.lanes).max(1);
        self.groups.push(waves as u32);
        for wave in 0..waves {
            let of = |threads: usize| threads.saturating_sub(wave * self.lanes).min(self.lanes) as u32;
            let threads = WaveThreads { first: of(group.first.len()), second: of(group.second.len()) };
            let [s2, s4] = places(&threads);
            self.s2.push(s2);
            self.s3
                .push(threads.first | threads.second << 8 | (wave as u32 & 0xf) << 24 | (waves as u32) << 28);
            self.s4.push(s4);
        }
        let lanes = waves * self.lanes;
        columns(&mut self.first, group.first, lanes);
        columns(&mut self.second, group.second, lanes);
    }
}

/// Threads of either half in one wave.
pub(super) struct WaveThreads {
    pub(super) first: u32,
    pub(super) second: u32,
}

/// Appends rows to columns and fills them up to `lanes` with zeros.
fn columns<const N: usize>(columns: &mut [Vec<u32>; N], rows: &[[u32; N]], lanes: usize) {
    for (n, column) in columns.iter_mut().enumerate() {
        column.extend(rows.iter().map(|row| row[n]));
        column.extend(std::iter::repeat_n(0, lanes - rows.len()));
    }
}
