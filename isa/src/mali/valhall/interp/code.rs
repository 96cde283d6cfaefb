//! Decoded instructions by their place, so that a program of many threads is decoded once.

use std::collections::HashMap;

use super::{Bus, Stop, StopKind};
use crate::mali::valhall::Inst;

/// Instructions that are kept.
const MAX_KEPT: usize = 1 << 16;

/// A program's instructions as they have been met.
#[derive(Clone, Debug, Default)]
pub struct CodeCache {
    address: u64,
    kept: HashMap<u32, Inst>,
}

impl CodeCache {
    /// The instructions of the program at `address`, none of which has been met yet.
    pub fn new(address: u64) -> Self {
        CodeCache { address, kept: HashMap::new() }
    }

    /// The instruction at byte `pc` of the program.
    pub(super) fn fetch(&mut self, pc: u32, bus: &mut dyn Bus) -> Result<Inst, Stop> {
        if let Some(inst) = self.kept.get(&pc) {
            return Ok(*inst);
        }
        let mut bytes = [0; 8];
        let address = self.address.wrapping_add(u64::from(pc)) & super::memory::ADDRESS_BITS;
        let fault = |fault| Stop { pc, word: 0, kind: StopKind::CodeFault { fault } };
        bus.load(address, &mut bytes).map_err(fault)?;
        let word = u64::from_le_bytes(bytes);
        let bad =
            |e: crate::mali::valhall::DecodeError| Stop { pc, word, kind: StopKind::Undecodable(e.kind) };
        let inst = Inst::decode(word, pc).map_err(bad)?;
        if self.kept.len() < MAX_KEPT {
            self.kept.insert(pc, inst);
        }
        Ok(inst)
    }
}
