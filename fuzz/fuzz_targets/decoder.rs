//! The decoder and the disassembler: any words, any target.
#![no_main]

use guestwave_isa::gfx10::{Target, WaveSize, decode, disassemble};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let words: Vec<_> = bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
    for target in [Target::Gfx1010, Target::Gfx1013, Target::Gfx1030] {
        let mut at = 0;
        while at < words.len() {
            let offset = 4 * at as u32;
            match decode(&words[at..], offset, target) {
                Ok(inst) => {
                    assert!((1..=5).contains(&inst.len));
                    assert_eq!(inst.offset, offset);
                    assert_eq!(inst.words[0], words[at]);
                    for wave in [WaveSize::W32, WaveSize::W64] {
                        assert!(disassemble(&inst, target, wave).starts_with(inst.op.name()));
                    }
                    at += usize::from(inst.len);
                }
                Err(error) => {
                    assert_eq!(error.offset, offset);
                    at += 1;
                }
            }
        }
    }
});
