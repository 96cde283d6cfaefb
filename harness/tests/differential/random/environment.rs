//! What generated programs start with: registers, memory and descriptors, and how their registers are stored at the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use guestwave_cp::{Isa, LaneRule, ScalarRule};

use super::dice::Dice;
use super::encode::registers as r;
use crate::dump::{self, Dump, EXEC, M0, OUTPUT, WAVE_BYTES};
use crate::guest::Guest;

const CODE: u64 = 0x80_0000;
const INPUT: u64 = 0x1_0000_0000;
const OWN: u64 = 0x1_4000_0000;
const DUMP: u64 = 0x7700_0000;

/// Bytes of the input, and of each wave's own memory.
const BYTES: u64 = 0x2000;
/// Bytes of LDS and of a lane's scratch.
const LDS: u32 = 0x800;
const SCRATCH: u32 = 128;

/// MODEs that programs start in: denormals kept and flushed, f32 rounded up and to zero, f16 and f64 rounded up, down and to
/// zero, DX10_CLAMP, IEEE.
pub(super) const MODES: [u32; 10] = [0xf0, 0xc0, 0x00, 0xf1, 0xf3, 0xf4, 0x38, 0xfc, 0x1f0, 0x2f0];

/// What a program is run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) wave_lanes: u8,
    pub(super) waves: u32,
    pub(super) mode: u32,
    pub(super) seed: u64,
}

/// A dispatch of `code`, each wave a workgroup of its own.
pub(super) fn guest(setting: Setting, code: &[u32]) -> Guest {
    let mut words = dump::before();
    words.extend(code);
    words.extend(dump::after(&Dump { vgprs: r::VECTORS, sgprs: 64, mode: false }));
    let mut dice = Dice::new(setting.seed);
    let mut bytes = |n: u64| (0..n / 4).flat_map(|_| dice.hostile().to_le_bytes()).collect::<Vec<u8>>();
    let waves = u64::from(setting.waves);
    let regions = BTreeMap::from([
        (CODE, words.iter().flat_map(|w| w.to_le_bytes()).collect()),
        (INPUT, bytes(BYTES)),
        (OWN, bytes(BYTES * waves)),
        (DUMP, vec![0; WAVE_BYTES as usize * setting.waves as usize]),
    ]);
    Guest {
        isa: Isa::Gfx1030,
        wave_lanes: setting.wave_lanes,
        mode: setting.mode,
        entry: CODE,
        regions,
        groups: vec![1; setting.waves as usize],
        sgprs: sgprs(setting),
        vgprs: vgprs(setting),
        lds_bytes: LDS,
        scratch_bytes: SCRATCH,
    }
}

fn sgprs(setting: Setting) -> Vec<ScalarRule> {
    let mut dice = Dice::new(setting.seed ^ 0x5555);
    let mut rules: Vec<ScalarRule> = (0..103).map(|_| ScalarRule::Word(0)).collect();
    for register in r::SCALARS {
        rules[register as usize] = ScalarRule::Word(dice.hostile());
    }
    let per_wave = |first: u64, step: u64| -> Arc<[u32]> {
        (0..u64::from(setting.waves)).map(|wave| (first + step * wave) as u32).collect()
    };
    let mut set = |register: u32, rule: ScalarRule| rules[register as usize] = rule;
    let high = |address: u64| ScalarRule::Word((address >> 32) as u32);
    set(r::INPUT, ScalarRule::Word(INPUT as u32));
    set(r::INPUT + 1, high(INPUT));
    set(r::OUTPUT, ScalarRule::PerWave(per_wave(OWN, BYTES)));
    set(r::OUTPUT + 1, high(OWN));
    // A raw buffer of bytes, a structured one of 64 bytes a record: 8_8_8_8 UNORM and 32_32_32_32 FLOAT.
    let input = [INPUT as u32, (INPUT >> 32) as u32, BYTES as u32 - 100, 0x3003_8fac];
    let own = [OWN as u32, (OWN >> 32) as u32 | 64 << 16, 64, 0x0004_dfac];
    for (i, (input, own)) in (0u32..).zip(input.into_iter().zip(own)) {
        set(r::INPUT_BUFFER + i, ScalarRule::Word(input));
        set(r::OUTPUT_BUFFER + i, ScalarRule::Word(own));
    }
    set(r::OUTPUT_BUFFER, ScalarRule::PerWave(per_wave(OWN, BYTES)));
    // A linear image of 40 by 30 texels of 8_8_8_8 UNORM.
    let image = [(INPUT >> 8) as u32, 56 << 20 | 3 << 30, 9 | 29 << 14, 0x9000_0fac, 0, 0, 0, 0];
    for (i, word) in (0u32..).zip(image) {
        set(r::IMAGE + i, ScalarRule::Word(word));
    }
    let exec = if dice.once_in(3) { u64::from(dice.word()) << 32 | u64::from(dice.word()) } else { u64::MAX };
    set(EXEC.into(), ScalarRule::Word(exec as u32));
    set(u32::from(EXEC) + 1, ScalarRule::Word((exec >> 32) as u32));
    set(M0.into(), ScalarRule::Word(dice.below(64)));
    set(OUTPUT.into(), ScalarRule::PerWave(per_wave(DUMP, WAVE_BYTES.into())));
    rules
}

fn vgprs(setting: Setting) -> Vec<LaneRule> {
    let mut dice = Dice::new(setting.seed ^ 0xaaaa);
    let lanes = u32::from(setting.wave_lanes);
    let items = lanes * setting.waves;
    let mut of = |f: &mut dyn FnMut(&mut Dice, u32) -> u32| {
        LaneRule::PerItem((0..items).map(|item| f(&mut dice, item % lanes)).collect())
    };
    let mut rules: Vec<LaneRule> = r::DATA.map(|_| of(&mut |d, _| d.hostile())).collect();
    rules.push(of(&mut |_, lane| lane * 64));
    rules.push(of(&mut |_, lane| lane * 16));
    rules.push(of(&mut |d, _| if d.once_in(4) { d.hostile() } else { d.below(80) }));
    rules.push(of(&mut |_, lane| lane));
    rules.push(of(&mut |d, _| d.below(100) * 8));
    rules
}
