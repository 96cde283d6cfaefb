//! When decoded code is used again and when it is not.

use guestwave_isa::gfx10::interp::{
    Apertures, CodeCache, GroupResult, ProgramInfo, Stop, WaveInit, run_group,
};
use guestwave_isa::gfx10::{Target, WaveSize};

use crate::memory::Memory;

const CODE: u64 = 0x80_0000;
/// `s_mov_b32 s4, 1`, `s_mov_b32 s4, 2`, `s_endpgm`.
const ONE: u32 = 0xbe84_0381;
const TWO: u32 = 0xbe84_0382;
const END: u32 = 0xbf81_0000;

fn memory(words: &[u32]) -> Memory {
    let mut memory = Memory::default();
    memory.map(CODE, words.iter().flat_map(|w| w.to_le_bytes()).collect());
    memory
}

fn run(
    code: &mut CodeCache,
    memory: &mut Memory,
    size: WaveSize,
    target: Target,
) -> Result<GroupResult, Stop> {
    let info = ProgramInfo {
        target,
        address: CODE,
        wave_size: size,
        mode: 0,
        scratch_bytes: 0,
        apertures: Apertures::default(),
        addr_config: 0x444,
    };
    let wave = WaveInit { sgprs: vec![CODE as u32, 0], exec: 1, ..WaveInit::default() };
    run_group(code, &info, vec![wave], 0, memory, &mut 100)
}

fn s4(result: Result<GroupResult, Stop>) -> u32 {
    result.unwrap().waves[0].last.as_ref().unwrap().sgpr(4)
}

#[test]
fn code_is_decoded_once_and_kept_until_it_changes() {
    let mut code = CodeCache::new(Target::Gfx1030, CODE);
    let mut before = memory(&[ONE, END]);
    assert_eq!(s4(run(&mut code, &mut before, WaveSize::W32, Target::Gfx1030)), 1);
    assert_eq!(code.decoded(), 2);
    assert!(code.revalidate(&mut before));
    assert_eq!(code.decoded(), 2);

    let mut after = memory(&[TWO, END]);
    assert_eq!(
        s4(run(&mut code, &mut after, WaveSize::W32, Target::Gfx1030)),
        1,
        "taken as constant until then"
    );
    assert!(!code.revalidate(&mut after));
    assert_eq!(code.decoded(), 0);
    assert_eq!(s4(run(&mut code, &mut after, WaveSize::W32, Target::Gfx1030)), 2);
}

#[test]
fn code_that_vanished_is_forgotten() {
    let mut code = CodeCache::new(Target::Gfx1030, CODE);
    let mut before = memory(&[ONE, END]);
    s4(run(&mut code, &mut before, WaveSize::W32, Target::Gfx1030));
    let mut gone = Memory::default();
    assert!(!code.revalidate(&mut gone));
    assert_eq!(
        run(&mut code, &mut gone, WaveSize::W32, Target::Gfx1030).unwrap_err().kind.code(),
        "ISA-RUN-001"
    );
}

#[test]
fn another_target_or_wave_size_decodes_anew() {
    let mut code = CodeCache::new(Target::Gfx1030, CODE);
    // `v_mac_f32` of gfx1010 is no instruction of gfx1030.
    let mut memory = memory(&[0x3e00_0300, ONE, END]);
    assert_eq!(s4(run(&mut code, &mut memory, WaveSize::W32, Target::Gfx1010)), 1);
    assert_eq!(code.target(), Target::Gfx1010);
    assert!(run(&mut code, &mut memory, WaveSize::W32, Target::Gfx1030).is_err());
    assert_eq!(s4(run(&mut code, &mut memory, WaveSize::W64, Target::Gfx1010)), 1);
    assert_eq!(code.decoded(), 3);
}

#[test]
fn invalidating_the_instruction_cache_shows_stored_code() {
    // Runs the patched instruction once, stores `s_mov_b32 s4, 2` over it, invalidates, and runs it again.
    let words = [
        ONE,         // 0x00: s_mov_b32 s4, 1
        0xbf07_8005, // 0x04: s_cmp_lg_u32 s5, 0
        0xbf85_0009, // 0x08: s_cbranch_scc1 to the end
        0xbe85_0381, // 0x0c: s_mov_b32 s5, 1
        0x7e00_0280, // 0x10: v_mov_b32 v0, 0
        0x7e02_02ff, // 0x14: v_mov_b32 v1, the patch
        TWO,         // 0x18
        0xdc70_8000, // 0x1c: global_store_dword v0, v1, s[0:1]
        0x0000_0100, // 0x20
        0xbf93_0000, // 0x24: s_icache_inv
        0xbf82_fff5, // 0x28: s_branch to the beginning
        END,         // 0x2c
        END,         // 0x30
    ];
    let mut code = CodeCache::new(Target::Gfx1030, CODE);
    assert_eq!(s4(run(&mut code, &mut memory(&words), WaveSize::W32, Target::Gfx1030)), 2);
}
