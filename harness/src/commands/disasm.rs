//! `guestwave disasm`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use guestwave_isa::gfx10::{Target, WaveSize, disassemble_program};
use object::{Object, ObjectSection};

use super::files;

/// What an ELF file begins with.
const ELF_MAGIC: [u8; 4] = *b"\x7fELF";

/// Arguments of `disasm`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The processor that the code is for
    #[arg(long, value_enum)]
    gpu: Gpu,
    /// Lanes of a wave: masks are named VCC_LO in waves of 32 and VCC in waves of 64
    #[arg(long, value_enum, default_value_t = Wave::W32)]
    wave: Wave,
    /// Raw code, an ELF file (its .text is taken), or - for stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Gpu {
    Gfx1010,
    Gfx1013,
    Gfx1030,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Wave {
    #[value(name = "32")]
    W32,
    #[value(name = "64")]
    W64,
}

/// Prints the listing; the exit status is 2 if some words are no instruction.
pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8> {
    let target = match args.gpu {
        Gpu::Gfx1010 => Target::Gfx1010,
        Gpu::Gfx1013 => Target::Gfx1013,
        Gpu::Gfx1030 => Target::Gfx1030,
    };
    let wave = match args.wave {
        Wave::W32 => WaveSize::W32,
        Wave::W64 => WaveSize::W64,
    };
    let words = code(&files::bytes_or_stdin(&args.file)?).with_context(|| args.file.display().to_string())?;
    let mut bad = 0;
    for line in disassemble_program(&words, target, wave) {
        writeln!(out, "{line}")?;
        if let Err(error) = &line.inst {
            anstream::eprintln!("{}: {error}", error.kind.code());
            bad += 1;
        }
    }
    Ok(if bad == 0 { 0 } else { 2 })
}

/// The words of raw code or of an ELF file's .text.
fn code(bytes: &[u8]) -> Result<Vec<u32>> {
    let code = match bytes.starts_with(&ELF_MAGIC) {
        true => {
            let file = object::File::parse(bytes).context("not a whole ELF file")?;
            let text = file.section_by_name(".text").context("the ELF file has no .text section")?;
            text.data().context("the .text section is not all in the file")?.to_vec()
        }
        false => bytes.to_vec(),
    };
    let (words, rest) = code.as_chunks();
    if !rest.is_empty() {
        bail!("the code has {} bytes, not a multiple of 4", code.len());
    }
    Ok(words.iter().map(|w| u32::from_le_bytes(*w)).collect())
}
