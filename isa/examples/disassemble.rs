//! Lists GFX10 code as `llvm-objdump -d` does: `disassemble [gfx1010|gfx1013|gfx1030] [32|64] < code.bin`.

use std::io::{Read, Write, stdin, stdout};

use guestwave_isa::gfx10::{Target, WaveSize, disassemble_program};

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let target = match args.first().map(String::as_str) {
        Some("gfx1010") => Target::Gfx1010,
        Some("gfx1013") => Target::Gfx1013,
        _ => Target::Gfx1030,
    };
    let wave = if args.get(1).is_some_and(|w| w == "64") { WaveSize::W64 } else { WaveSize::W32 };
    let mut code = Vec::new();
    stdin().read_to_end(&mut code)?;
    let words: Vec<u32> = code.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let mut out = stdout().lock();
    for line in disassemble_program(&words, target, wave) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
