//! What a thread starts with.

use std::collections::HashSet;

use guestwave_isa::mali::valhall::{Inst, Source};

use super::emit::{Cell, Emit};
use crate::gfx10::flow::End;
use crate::gfx10::lane_value;
use crate::program::{BinOp, Builtin, ParamSource, Value};

/// The first launch word: programs do not name those, instructions read them.
const LAUNCH_WORDS: u8 = 64;

impl Emit<'_> {
    /// Sets the registers that the launch's rules fill and the program names, and tells whether the lane has a thread.
    pub(super) fn prologue(&mut self) -> Value {
        let (wave, lane) = (self.b.builtin(Builtin::Wave), self.b.builtin(Builtin::Lane));
        let per_wave = self.b.param(ParamSource::ItemsPerWave);
        let items = self.b.param(ParamSource::Items);
        let first = self.b.bin(BinOp::Mul, wave, per_wave);
        let item = self.b.bin(BinOp::Add, first, lane);
        let in_wave = self.b.bin(BinOp::LtU, lane, per_wave);
        let in_items = self.b.bin(BinOp::LtU, item, items);
        let zero = self.b.c32(0);
        let named = self.named();
        for (n, shape) in (0u8..).zip(self.source.shape.vgprs.clone()) {
            if n >= LAUNCH_WORDS || named.contains(&n) {
                let value = lane_value(&mut self.b, n, shape, item, [zero; 3]);
                self.put(Cell::Register(n), value);
            }
        }
        self.b.bin(BinOp::And, in_wave, in_items)
    }

    /// Registers that the program names anywhere.
    fn named(&self) -> HashSet<u8> {
        let mut named = HashSet::new();
        for block in &self.graph.blocks {
            block.insts.iter().for_each(|i| name_registers(i, &mut named));
            if let End::Branch { condition, .. } = &block.end {
                name_registers(condition, &mut named);
            }
        }
        named
    }
}

fn name_registers(inst: &Inst, named: &mut HashSet<u8>) {
    for i in 0..inst.row.sources.len() {
        if let Source::Register(n, _) = inst.source(i) {
            named.extend([n, (n + 1) & 63]);
        }
    }
    let first = inst.register();
    let count = if inst.row.is_message() { inst.staging_count() } else { 2 };
    named.extend((0..count).map(|i| first.saturating_add(i)));
}
