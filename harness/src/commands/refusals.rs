//! `guestwave refusals`: every refusal code and its sentence, as `docs/refusals.md` shows them.

use std::io::{self, Write};

use crate::capture::CAPTURE_ERRORS;
use crate::executor::EXECUTOR_ERRORS;
use crate::intel::INTEL_ERRORS;
use crate::kernel::KERNEL_ERRORS;
use crate::mali::DUMP_ERRORS;
use crate::mali::attributes::MALI_ERRORS;
use crate::memory::MEMORY_ERRORS;
use crate::replay::{EXPECTATION_REFUSALS, REPLAY_ERRORS};

/// What the page begins with.
const HEAD: &str = "\
# Refusals

Whatever is not carried out is refused by name. A code keeps its meaning for ever and is not used for anything else. Braces
stand for what a report fills in. This page is made from the tables in the code: `guestwave refusals > docs/refusals.md`.
";

/// A row of the page.
struct Row {
    code: &'static str,
    sentence: &'static str,
}

/// Codes that begin alike, with what they are about.
const GROUPS: [(&str, &str); 13] = [
    ("CP-", "Command processor (`guestwave-cp`)"),
    ("ISA-DEC-", "Decoder (`guestwave-isa`)"),
    ("ISA-GEN7-", "Intel Gen7 execution unit (`guestwave-isa`)"),
    ("ISA-MALI-", "Mali instruction words (`guestwave-isa`)"),
    ("ISA-RUN-", "Interpreter (`guestwave-isa`)"),
    ("ISA-VAL-", "Valhall decoder and interpreter (`guestwave-isa`)"),
    ("TR-", "Translator (`guestwave-translate`)"),
    ("RUN-", "Translated programs as they run, on every backend (`guestwave-translate`)"),
    ("PLAIN-", "Evaluator (`guestwave-translate`)"),
    ("SOFT-", "Native code (`guestwave-backend-soft`)"),
    ("NAGA-", "Modules (`guestwave-translate`)"),
    ("WGPU-", "Graphics devices (`guestwave-backend-wgpu`)"),
    ("HN-", "Captures, guest memory, executor, kernels, replay (`guestwave-harness`)"),
];

fn rows() -> Vec<Row> {
    let cp = [
        guestwave_cp::refusal::CATALOGUE,
        guestwave_cp::intel::CATALOGUE,
        guestwave_cp::mali::job::CATALOGUE,
        guestwave_cp::intel::so_decl::SO_DECL_ERRORS,
    ];
    let cp = cp.into_iter().flatten().map(|e| Row { code: e.code, sentence: e.sentence });
    let own = [
        CAPTURE_ERRORS,
        DUMP_ERRORS,
        MALI_ERRORS,
        MEMORY_ERRORS,
        EXECUTOR_ERRORS,
        #[cfg(target_os = "linux")]
        crate::gpu::GPU_ERRORS,
        INTEL_ERRORS,
        KERNEL_ERRORS,
        REPLAY_ERRORS,
        EXPECTATION_REFUSALS,
    ];
    let own = own.into_iter().flatten().map(|e| Row { code: e.code, sentence: e.sentence });
    let interpreter = guestwave_isa::gfx10::interp::CATALOGUE;
    let interpreter = interpreter.iter().map(|e| Row { code: e.code, sentence: e.sentence });
    let decoder = guestwave_isa::gfx10::DECODE_CATALOGUE.iter();
    let decoder = decoder.map(|e| Row { code: e.code, sentence: e.sentence });
    let mali = guestwave_isa::mali::CATALOGUE
        .iter()
        .chain(guestwave_isa::gen7::CATALOGUE)
        .map(|e| Row { code: e.code, sentence: e.sentence });
    let valhall = guestwave_isa::mali::valhall::DECODE_CATALOGUE.iter();
    let valhall = valhall.chain(guestwave_isa::mali::valhall::interp::CATALOGUE);
    let decoder = decoder.chain(valhall.map(|e| Row { code: e.code, sentence: e.sentence }));
    let translated = guestwave_translate::codes::catalogue().into_iter();
    let soft = guestwave_backend_soft::CATALOGUE.iter().copied();
    let wgpu = guestwave_backend_wgpu::codes::CATALOGUE.iter().copied();
    let translated = translated.chain(soft).chain(wgpu).map(|(code, sentence)| Row { code, sentence });
    let mut rows: Vec<_> =
        cp.chain(mali).chain(interpreter).chain(decoder).chain(translated).chain(own).collect();
    rows.sort_by_key(|row| row.code);
    rows
}

/// The whole page.
pub fn page() -> String {
    let rows = rows();
    let mut page = HEAD.to_owned();
    for (prefix, title) in GROUPS {
        page += &format!("\n## {title}\n\n| code | sentence |\n|---|---|\n");
        for row in rows.iter().filter(|row| row.code.starts_with(prefix)) {
            page += &format!("| `{}` | {} |\n", row.code, row.sentence.replace('|', "\\|"));
        }
    }
    page
}

pub(super) fn run(out: &mut dyn Write) -> io::Result<u8> {
    out.write_all(page().as_bytes())?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_page_in_docs_is_the_one_the_code_makes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/refusals.md");
        let checked_in = std::fs::read_to_string(path).unwrap();
        assert!(checked_in == page(), "run: cargo run -- refusals > docs/refusals.md");
    }

    #[test]
    fn codes_are_unique_and_every_one_is_on_the_page() {
        let rows = rows();
        let codes: BTreeSet<_> = rows.iter().map(|row| row.code).collect();
        assert_eq!(codes.len(), rows.len());
        for code in codes {
            assert!(GROUPS.iter().any(|(prefix, _)| code.starts_with(prefix)), "{code} has no group");
        }
    }
}
