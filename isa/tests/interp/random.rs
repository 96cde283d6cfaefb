//! Programs of random words and of random instructions end, without a panic, within their budgets.

use guestwave_isa::gfx10::interp::{Apertures, CodeCache, ProgramInfo, WaveInit, run_group};
use guestwave_isa::gfx10::{Target, WaveSize};
use proptest::prelude::*;

use crate::memory::Memory;

const CODE: u64 = 0x80_0000;
const DATA: u64 = 0x10_0000;
const S_ENDPGM: u32 = 0xbf81_0000;

/// High bits of every encoding, so that random words are often instructions.
const ENCODINGS: [u32; 19] = [
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
];

fn word() -> impl Strategy<Value = u32> {
    let encoded = (prop::sample::select(ENCODINGS.to_vec()), any::<u32>(), any::<u32>());
    // Small fields are likelier than random ones: they name registers that exist and opcodes that are taken.
    encoded.prop_map(|(high, low, mask)| high | low & (mask | 0x0101) & 0x03ff_ffff)
}

fn run(words: &[u32], target: Target, size: WaveSize, registers: &[u32], exec: u64) {
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
    };
    // Pairs of registers that are addresses of mapped memory make accesses that go through likelier.
    let mut sgprs = registers.to_vec();
    sgprs.extend([DATA as u32, 0x0010_0000, 1024, 0x3102_6fac].repeat(8));
    let vgprs = vec![(0..64).map(|lane| 4 * lane).collect(), vec![DATA as u32; 64], vec![0; 64]];
    let wave = WaveInit { sgprs, vgprs, exec, m0: 0 };
    let mut budget = 500;
    let mut cache = CodeCache::new(target, CODE);
    let _ = run_group(&mut cache, &info, vec![wave.clone(), wave], 256, &mut memory, &mut budget);
}

fn target() -> impl Strategy<Value = Target> {
    prop::sample::select(vec![Target::Gfx1010, Target::Gfx1013, Target::Gfx1030])
}

fn size() -> impl Strategy<Value = WaveSize> {
    prop::sample::select(vec![WaveSize::W32, WaveSize::W64])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

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
        words in prop::collection::vec(word(), 1..20),
        target in target(),
        size in size(),
        registers in prop::collection::vec(any::<u32>(), 0..16),
        exec: u64,
    ) {
        run(&words, target, size, &registers, exec);
    }
}
