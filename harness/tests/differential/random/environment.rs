//! What generated programs start with: registers, memory and descriptors, and how their registers are stored at the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use guestwave_cp::{Isa, LaneRule, ScalarRule};
use guestwave_isa::gfx10::{Encoding, Op};

use super::dice::Dice;
use super::encode::registers as r;
use crate::dump::{self, Dump, EXEC, LANE_BYTES, M0, OUTPUT, Row};
use crate::guest::Guest;

const LITERAL: u32 = 255;

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
    let mut words = places();
    words.extend(dump::before());
    words.extend(code);
    words.extend(dump::after(&Dump {
        vgprs: r::CHANGED,
        sgprs: r::SCALARS,
        mode: false,
        row: Row::Item(r::ITEM),
    }));
    let mut dice = Dice::new(setting.seed);
    let mut bytes = |n: u64| (0..n / 4).flat_map(|_| dice.hostile().to_le_bytes()).collect::<Vec<u8>>();
    let waves = u64::from(setting.waves);
    let regions = BTreeMap::from([
        (CODE, words.iter().flat_map(|w| w.to_le_bytes()).collect()),
        (INPUT, bytes(BYTES)),
        (OWN, bytes(BYTES * waves)),
        (DUMP, vec![0; (LANE_BYTES * u32::from(setting.wave_lanes) * setting.waves) as usize]),
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

/// Sets the second half of the vector registers with data, which are what the first half's parts are, and those with places.
fn places() -> Vec<u32> {
    let (all, zero, vgpr) = (193, 128, 256);
    let two = |op: u32, to: u32, first: u32, second: u32| op << 25 | to << 17 | second << 9 | first;
    let [and, add, exclusive_or] = [Op::V_AND_B32, Op::V_ADD_NC_U32, Op::V_XOR_B32].map(vop2);
    let [left, right, signed] = [Op::V_LSHLREV_B32, Op::V_LSHRREV_B32, Op::V_ASHRREV_I32].map(vop2);
    vec![
        // v_mbcnt_lo_u32_b32, v_mbcnt_hi_u32_b32
        0xd765_0000 | r::LANE,
        all | zero << 9,
        0xd766_0000 | r::LANE,
        all | (vgpr + r::LANE) << 9,
        two(left, r::OWN, zero + 6, r::LANE),
        two(left, r::OWN_LDS, zero + 4, r::LANE),
        two(and, r::SHARED, zero + 63, 3),
        two(left, r::SHARED, zero + 3, r::SHARED),
        // Halves and small numbers of both signs; floats around 1.
        two(right, 4, zero + 16, 0),
        two(signed, 5, zero + 24, 1),
        two(exclusive_or, 6, vgpr + 2, 0),
        two(and, 7, LITERAL, 3),
        0x01ff_ffff,
        two(add, 7, LITERAL, 7),
        0x3f00_0000,
    ]
}

fn vop2(op: Op) -> u32 {
    op.row(Encoding::Vop2).map_or(0, |row| row.opcode.into())
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
    set(OUTPUT.into(), ScalarRule::Word(DUMP as u32));
    rules
}

fn vgprs(setting: Setting) -> Vec<LaneRule> {
    let mut dice = Dice::new(setting.seed ^ 0xaaaa);
    let items = u32::from(setting.wave_lanes) * setting.waves;
    let mut of =
        |f: &mut dyn FnMut(&mut Dice) -> u32| LaneRule::PerItem((0..items).map(|_| f(&mut dice)).collect());
    let mut rules: Vec<LaneRule> = vec![LaneRule::Word(0); r::ITEM as usize];
    rules[..4].fill_with(|| of(&mut |d| d.hostile()));
    rules[r::WILD as usize] = of(&mut |d| if d.once_in(4) { d.hostile() } else { d.below(80) });
    rules.push(LaneRule::Item { base: 0 });
    rules
}
