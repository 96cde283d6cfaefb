//! The MODE register, followed through the program: sequences are made for the MODE that is known where they stand.

use std::collections::HashMap;

use guestwave_isa::gfx10::{Inst, Op};

use super::{Emit, Input};
use crate::gfx10::error::{Refusal, Stop};
use crate::gfx10::exact::Mode;
use crate::gfx10::flow::BlockId;

/// Operations that change MODE (the first two may).
const CHANGERS: [Op; 4] = [Op::S_SETREG_B32, Op::S_SETREG_IMM32_B32, Op::S_ROUND_MODE, Op::S_DENORM_MODE];

/// Bits of MODE that exist: rounding, denormals, DX10_CLAMP, IEEE, LOD_CLAMPED, DEBUG_EN, exception enables, FP16_OVFL,
/// DISABLE_PERF.
const BITS: u32 = 0x089f_ffff;

/// MODE where emission stands and at the ends of blocks; `None` where it is not one number.
pub(super) struct Modes {
    /// Whether the program changes it at all.
    changes: bool,
    here: Option<u32>,
    ends: HashMap<BlockId, Option<u32>>,
    /// What blocks were entered with, and by which edges that was not checked yet.
    assumed: Vec<(BlockId, Option<u32>)>,
}

impl Modes {
    pub(super) fn new(input: &Input<'_>) -> Modes {
        let source = input.source;
        let mut insts = input.graph.blocks.iter().flat_map(|b| &b.insts);
        let changes = insts.any(|i| CHANGERS.contains(&i.op));
        let bits =
            u32::from(source.float_mode) | u32::from(source.dx10_clamp) << 8 | u32::from(source.ieee) << 9;
        Modes { changes, here: Some(bits), ends: HashMap::new(), assumed: Vec::new() }
    }
}

impl Emit<'_> {
    /// MODE where a block starts: what its predecessors agree on. Those that come later are held to it at the end.
    pub(super) fn enter_mode(&mut self, b: BlockId) {
        if !self.mode.changes {
            return;
        }
        let graph = self.input.graph;
        let before: Vec<BlockId> =
            graph.ids().filter(|p| graph.block(*p).end.successors().any(|s| s == b)).collect();
        let mut known = before.iter().filter_map(|p| self.mode.ends.get(p)).copied();
        let first = if b == BlockId(0) { Some(self.mode.here) } else { known.next() };
        let entry = match first {
            Some(first) if known.all(|k| k == first) => first,
            _ => None,
        };
        self.mode.here = entry;
        let later = before.into_iter().filter(|p| !self.mode.ends.contains_key(p));
        let assumed: Vec<_> = later.map(|p| (p, entry)).collect();
        self.mode.assumed.extend(assumed);
    }

    pub(super) fn leave_mode(&mut self, b: BlockId) {
        self.mode.ends.insert(b, self.mode.here);
    }

    /// Refuses a program whose loops change MODE.
    pub(super) fn check_modes(&self) -> Result<(), Stop> {
        let wrong = self
            .mode
            .assumed
            .iter()
            .find(|(b, entry)| entry.is_some() && self.mode.ends.get(b).is_some_and(|end| end != entry));
        match wrong {
            None => Ok(()),
            Some((b, _)) => {
                let pc = self.input.graph.block(*b).offset;
                Err(Refusal::Mode { mnemonic: "a loop", pc, what: "a MODE of its own" }.into())
            }
        }
    }

    /// MODE's bits here.
    ///
    /// # Errors
    /// It is not one number here.
    pub(in crate::gfx10) fn mode_bits(&self, inst: &Inst) -> Result<u32, Stop> {
        let what = "results that depend on a MODE which is not known here";
        self.mode.here.ok_or_else(|| Refusal::Mode { mnemonic: inst.op.name(), pc: inst.offset, what }.into())
    }

    /// Sets MODE from here on.
    pub(in crate::gfx10) fn set_mode_bits(&mut self, bits: Option<u32>) {
        self.mode.here = bits.map(|b| b & BITS);
    }

    /// The MODE that sequences are made for; of an unknown one, that of the start, for a sequence that will be refused.
    pub(super) fn mode(&self) -> Mode {
        let bits = self.mode.here.unwrap_or(0);
        Mode { float: bits as u8, dx10_clamp: bits >> 8 & 1 != 0, ieee: bits >> 9 & 1 != 0 }
    }
}
