//! Programs with first and last registers and memory, one subject a file of `cases/`, run on the interpreter.
//!
//! `cases/README.md` has the format. `GUESTWAVE_BLESS=1` writes the words that llvm-mc gives into the files.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first thing that is wrong")]

mod cache;
mod case;
mod coverage;
mod llvm;
mod memory;
mod random;
mod run;
mod value;

use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interp/cases");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
    files.sort();
    files
}

#[test]
fn cases_end_as_they_say() {
    let mut failures = Vec::new();
    let mut count = 0;
    for file in files() {
        for case in case::parse(&file) {
            count += 1;
            failures.extend(
                run::run(&case).into_iter().map(|f| format!("{}: {}: {f}", file.display(), case.name)),
            );
        }
    }
    assert!(count > 0, "no case was found");
    assert!(failures.is_empty(), "{} of {count} cases:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn words_are_what_llvm_assembles() {
    let Some(tool) = llvm::tool() else { return };
    for file in files() {
        llvm::check(&tool, &file);
    }
}
