//! Programs of random words and of random instructions end, without a panic, within their budgets.

use guestwave_isa::gfx10::interp::{Apertures, CodeCache, ProgramInfo, WaveInit, run_group};
use guestwave_isa::gfx10::{Target, WaveSize, decode};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::memory::Memory;

const CODE: u64 = 0x80_0000;
const DATA: u64 = 0x10_0000;
const BUDGET: u64 = 500;
const S_ENDPGM: u32 = 0xbf81_0000;

/// High bits of every encoding, so that random words are often instructions.
const ENCODINGS: [u32; 22] = [
    0x8000_0000,
    0xb000_0000,
    0xbe80_0000,
    0xbf00_0000,
    0xbf80_0000,
    0xf400_0000,
    0x0000_0000,
    0x7e00_0000,
    0x7c00_0000,
    0xd500_0000,
    0xd400_0000,
    0xcc00_0000,
    0xd800_0000,
    0xe000_0000,
    0xe800_0000,
    0xdc00_0000,
    0xdc00_4000,
    0xdc00_8000,
    0xf800_0000,
    0xf000_0108,
    0xf020_0f08,
    0xf000_0f00,
];

/// Words that may begin an instruction: sparse fields are likelier than random ones, because they name registers
/// that exist and leave reserved bits alone.
fn candidate() -> impl Strategy<Value = [u32; 3]> {
    let high = prop::sample::select(ENCODINGS.to_vec());
    let low = (any::<u32>(), any::<u32>()).prop_map(|(a, b)| a & b & 0x03ff_ffff);
    let second = (any::<u32>(), any::<u32>(), any::<bool>()).prop_map(|(a, b, c)| if c { a & b } else { a });
    (high, low, second, any::<u32>()).prop_map(|(high, low, second, third)| [high | low, second, third])
}

/// The candidates that are instructions, one after another.
fn program(candidates: &[[u32; 3]], target: Target) -> Vec<u32> {
    let decoded = candidates.iter().filter_map(|words| decode(words, 0, target).ok());
    decoded.flat_map(|inst| inst.words[..usize::from(inst.len)].to_vec()).collect()
}

/// Runs words and returns how many instructions were executed.
fn run(words: &[u32], target: Target, size: WaveSize, registers: &[u32], exec: u64) -> u64 {
    let mut memory = Memory::default();
    let code = words.iter().chain(&[S_ENDPGM; 6]).flat_map(|w| w.to_le_bytes()).collect();
    memory.map(CODE, code);
    memory.map(DATA, vec![0x5a; 4096]);
    let info = ProgramInfo {
        target,
        address: CODE,
        wave_size: size,
        mode: registers.first().copied().unwrap_or(0),
        scratch_bytes: 64,
        apertures: Apertures::default(),
        addr_config: 0x444,
    };
    // Pairs of registers that are addresses of mapped memory make accesses that go through likelier.
    let mut sgprs = registers.to_vec();
    sgprs.extend([DATA as u32, 0x0010_0000, 1024, 0x3102_6fac].repeat(4));
    sgprs.extend([DATA as u32 >> 8, 0xc3c0_0000, 0x8001_c001, 0x9000_0fac, 0, 0, 0, 0].repeat(4));
    let vgprs = vec![(0..64).map(|lane| 4 * lane).collect(), vec![DATA as u32; 64], vec![0; 64]];
    let wave = WaveInit { sgprs, vgprs, exec, m0: 0 };
    let mut budget = BUDGET;
    let mut cache = CodeCache::new(target, CODE);
    let _ = run_group(&mut cache, &info, vec![wave.clone(), wave], 256, &mut memory, &mut budget);
    BUDGET - budget
}

fn target() -> impl Strategy<Value = Target> {
    prop::sample::select(vec![Target::Gfx1010, Target::Gfx1013, Target::Gfx1030])
}

fn size() -> impl Strategy<Value = WaveSize> {
    prop::sample::select(vec![WaveSize::W32, WaveSize::W64])
}

/// 2,000 programs, or as many as PROPTEST_CASES says.
fn config() -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(2000),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_words_end(
        words in prop::collection::vec(any::<u32>(), 1..20),
        target in target(),
        size in size(),
        registers in prop::collection::vec(any::<u32>(), 0..16),
        exec: u64,
    ) {
        run(&words, target, size, &registers, exec);
    }

    #[test]
    fn random_instructions_end(
        candidates in prop::collection::vec(candidate(), 1..40),
        target in target(),
        size in size(),
        registers in prop::collection::vec(any::<u32>(), 0..16),
        exec: u64,
    ) {
        run(&program(&candidates, target), target, size, &registers, exec);
    }
}

/// The property above would hold of programs that never get anywhere; most must execute several instructions.
#[test]
fn random_programs_get_somewhere() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = prop::collection::vec(candidate(), 40);
    let executed = (0..200).map(|_| {
        let candidates = strategy.new_tree(&mut runner).unwrap().current();
        let words = program(&candidates, Target::Gfx1030);
        run(&words, Target::Gfx1030, WaveSize::W32, &[], u64::MAX)
    });
    let executed: u64 = executed.sum();
    assert!(executed >= 200 * 5, "only {executed} instructions in 200 programs");
}
