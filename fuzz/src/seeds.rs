//! Writes first inputs for the fuzz targets from the repository's captures.

use std::error::Error;
use std::fs;
use std::path::Path;

use guestwave_cp::{GuestMemory, Isa};
use guestwave_harness::capture::{self, Capture, Record};
use guestwave_harness::executor::ReferenceExecutor;
use guestwave_harness::replay::Machine;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in fs::read_dir(root.join("../harness/captures"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "zst") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            seeds(&capture::load(&path)?, &name, &root.join("corpus"))?;
        }
    }
    Ok(())
}

fn seeds(capture: &Capture, name: &str, corpus: &Path) -> Result<(), Box<dyn Error>> {
    write(corpus, "capture", name, &capture.to_bytes()?)?;
    let machine = Machine::new(Isa::Gfx1030, Box::new(ReferenceExecutor::with_steps(1)));
    for record in &capture.records {
        if let Record::Free { bo } = record {
            code_seeds(&machine, *bo, name, corpus)?;
        }
        machine.apply(record)?;
        let Record::Submit(submit) = record else { continue };
        for (i, ib) in submit.ibs.iter().enumerate() {
            let mut bytes = vec![0; ib.bytes as usize];
            machine.memory.read(ib.va, &mut bytes)?;
            write(corpus, "packets", &format!("{name}-{}-{i}", submit.index), &bytes)?;
            write(corpus, "decoder", &format!("{name}-{}-{i}", submit.index), &bytes)?;
        }
    }
    Ok(())
}

/// The pages of a buffer object, most of which hold no code.
fn code_seeds(machine: &Machine, bo: u32, name: &str, corpus: &Path) -> Result<(), Box<dyn Error>> {
    let mut pages = Vec::new();
    machine.memory.buffer(bo)?.written(|range, bytes| pages.push((range.start, bytes[..4096].to_vec())));
    for (start, bytes) in pages {
        write(corpus, "decoder", &format!("{name}-bo{bo}-{start:x}"), &bytes)?;
    }
    Ok(())
}

fn write(corpus: &Path, target: &str, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let folder = corpus.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}
