//! Exports, which are recorded.

use super::StopKind;
use super::launch::Export;
use super::machine::{Flow, Machine};
use super::meaning::Meaning;
use super::slot::Slot;
use super::wave::lanes_of;
use crate::gfx10::{Mods, Op};

pub(super) const ROWS: &[(Op, Meaning)] = &[(Op::EXP, Meaning::Special(export))];

/// Exports that one wave may make; a pipeline has 48 targets, and loops of them make no sense.
const MAX_EXPORTS: usize = 1024;

fn export(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let Mods::Export { target, en, compr, done, vm } = slot.inst.mods else {
        return Err(slot.form("no export modifiers"));
    };
    if m.outcome.exports.len() >= MAX_EXPORTS {
        return Err(StopKind::TooManyOutputs { mnemonic: slot.mnemonic(), limit: MAX_EXPORTS });
    }
    let exec = m.wave.exec();
    let mut values = vec![[0; 4]; m.wave.lanes()];
    for (component, enabled) in enabled_registers(en, compr).into_iter().enumerate() {
        let Some(number) = slot.vector_source(component).filter(|_| enabled) else { continue };
        for lane in lanes_of(exec) {
            if let Some(value) = values.get_mut(lane) {
                value[component] = m.wave.vgpr(number, lane);
            }
        }
    }
    m.outcome.exports.push(Export { target, en, compr, done, vm, exec, values });
    Ok(Flow::Next)
}

/// Which of the four registers are read: one an enabled component, or in the compressed form one a pair of them.
fn enabled_registers(en: u8, compr: bool) -> [bool; 4] {
    match compr {
        true => [en & 3 != 0, en & 12 != 0, false, false],
        false => std::array::from_fn(|i| en >> i & 1 != 0),
    }
}
