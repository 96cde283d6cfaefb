//! What a command processor asks an executor to run.
//!
//! An [`ExactDispatch`] describes its waves by a rule: wave i's registers follow from i and the fields here, so that a
//! draw of a million vertices is as small as a draw of three, and an executor may put all of it into one parameter
//! block and one host dispatch.

use std::sync::Arc;

/// The instruction set of a guest program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isa {
    /// AMD GFX10.1 (gfx1010).
    Gfx1010,
    /// AMD GFX10.1 with ray-tracing image instructions (gfx1013).
    Gfx1013,
    /// AMD GFX10.3 (gfx1030).
    Gfx1030,
    /// Arm Valhall of the ninth architecture (Mali-G57, G77); see [`crate::mali::job::environment`].
    ValhallV9,
}

/// Which part of the pipeline a dispatch plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Compute shader.
    Compute,
    /// Hardware VS: the last vertex stage of a legacy pipeline (vertex, evaluation or copy program).
    Vertex,
    /// Merged ES and GS.
    EsGs,
    /// Merged LS and HS.
    LsHs,
    /// Fragment shader.
    Fragment,
}

/// A guest program and the modes it starts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProgramRef {
    /// Its instruction set.
    pub isa: Isa,
    /// Guest address of the first instruction.
    pub address: u64,
    /// Lanes of a wave: 32 or 64.
    pub wave_lanes: u8,
    /// The FLOAT_MODE field of RSRC1: round32 1:0, round16_64 3:2, denorm32 5:4, denorm16_64 7:6.
    pub float_mode: u8,
    /// DX10_CLAMP of RSRC1.
    pub dx10_clamp: bool,
    /// IEEE_MODE of RSRC1.
    pub ieee: bool,
}

/// How a dispatch is cut into waves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Grid {
    /// `items` one after another; wave i takes items `i * per_wave ..` with one lane an item. The waves have no LDS
    /// in common. EXEC holds one bit for each lane with an item.
    Linear {
        /// Items in all.
        items: u32,
        /// Items of each wave but the last; at most the wave size.
        per_wave: u32,
    },
    /// Workgroups of threads, x fastest, both of groups and of threads in a group. EXEC holds one bit for each lane
    /// with a thread.
    Groups {
        /// First group id of each axis.
        start: [u32; 3],
        /// End (exclusive) of the group ids of each axis.
        end: [u32; 3],
        /// Threads of a group.
        threads: [u32; 3],
        /// Threads of the last group of each axis where that differs (PARTIAL_TG_EN); else as `threads`.
        last_threads: [u32; 3],
    },
    /// Workgroups given one by one, for merged stages whose groups differ. Every lane of every wave is active.
    Subgroups {
        /// Waves of each workgroup.
        waves: Arc<[u32]>,
    },
}

/// The initial value of one SGPR of wave i, counted over the whole dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScalarRule {
    /// The same in every wave.
    Word(u32),
    /// `base | (items of this wave below limit) << shift` (streamout_config: how many vertices the wave stores).
    ItemCount {
        /// Bits that do not depend on the wave.
        base: u32,
        /// Place of the count.
        shift: u8,
        /// Items of the dispatch that count, from its first one; the others run and are not counted.
        limit: u32,
    },
    /// `base + (first item of this wave)` (streamout_write_index).
    FirstItem {
        /// Value of the first wave.
        base: u32,
    },
    /// Workgroup id along an axis, 0 to 2.
    GroupId(u8),
    /// TG_SIZE: waves in the group in 5:0, this wave's number in 11:6, and bit 31 set in a group's first wave.
    GroupSize,
    /// Byte offset of this wave's scratch memory in the ring: `per_wave * (wave number % slots)`. Scratch memory is a
    /// wave's own, so waves that run at the same time must not share a slot.
    ScratchOffset {
        /// Bytes of one wave.
        per_wave: u32,
        /// Waves that the ring holds; at least 1.
        slots: u32,
    },
    /// One word a wave.
    PerWave(Arc<[u32]>),
}

/// The initial value of one VGPR in each lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LaneRule {
    /// The same in every lane.
    Word(u32),
    /// `base + item` (the vertex id of an auto-index draw).
    Item {
        /// Value of the first item.
        base: u32,
    },
    /// `base + item / items` (the primitive id of a list).
    Primitive {
        /// Value of the first item.
        base: u32,
        /// Items of a primitive; at least 1.
        items: u32,
    },
    /// `base + item % items` (the vertex of an instanced draw).
    Cycle {
        /// Value of the first item.
        base: u32,
        /// Items until the first value comes again; at least 1.
        items: u32,
    },
    /// Thread id along an axis, 0 to 2.
    ThreadId(u8),
    /// One word an item (or a lane, for [`Grid::Subgroups`]), from the first again after the last: each instance of a
    /// draw has the same vertices. Empty, it gives 0.
    PerItem(Arc<[u32]>),
}

/// What becomes of a program's exports and messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Outputs {
    /// Exports are dropped (`discard_vertex_exports`); messages have no effect.
    #[default]
    Dropped,
    /// Exports and messages are recorded in [`Completed::records`](crate::Completed::records).
    Recorded,
}

/// Where a dispatch came from, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Origin {
    /// Submission, counted from 0 in the life of the command processor.
    pub submission: u32,
    /// Byte offset of the packet in its indirect buffer.
    pub packet_offset: u32,
    /// Guest address of the packet.
    pub packet_address: u64,
}

/// A launch of one guest program whose effect on memory is exactly the bytes it stores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExactDispatch {
    /// The stage it plays.
    pub stage: Stage,
    /// The program.
    pub program: ProgramRef,
    /// How it is cut into waves.
    pub grid: Grid,
    /// SGPRs from s0 on; the others start as 0.
    pub sgprs: Vec<ScalarRule>,
    /// VGPRs from v0 on; the others start as 0.
    pub vgprs: Vec<LaneRule>,
    /// LDS bytes of a workgroup.
    pub lds_bytes: u32,
    /// Scratch bytes of a wave, 0 for none, and the ring's guest address.
    pub scratch: Option<Scratch>,
    /// What becomes of exports.
    pub outputs: Outputs,
    /// Where it came from.
    pub origin: Origin,
}

/// The scratch ring of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scratch {
    /// Bytes of each wave.
    pub bytes_per_wave: u32,
}

impl ExactDispatch {
    /// Items or threads the dispatch has in all (0 if it runs nothing).
    pub fn items(&self) -> u64 {
        match &self.grid {
            Grid::Linear { items, .. } => u64::from(*items),
            Grid::Groups { start, end, threads, last_threads } => (0..3)
                .map(|a| {
                    let groups = u64::from(end[a].saturating_sub(start[a]));
                    match groups {
                        0 => 0,
                        n => (n - 1).saturating_mul(u64::from(threads[a])) + u64::from(last_threads[a]),
                    }
                })
                .fold(1u64, u64::saturating_mul),
            Grid::Subgroups { waves } => {
                waves.iter().map(|w| u64::from(*w) * u64::from(self.program.wave_lanes)).sum()
            }
        }
    }
}
