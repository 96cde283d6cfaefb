//! Random instruction words of every encoding against llvm-mc: what is accepted, how long it is, and its text.
//!
//! The seed is fixed; `GUESTWAVE_SEED` and `GUESTWAVE_WORDS` (items a target and wave size) make longer runs. Where
//! the decoder refuses what LLVM prints stands in `data/gfx10_differences.tsv`, each with its reason.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

mod llvm;

use guestwave_isa::gfx10::{DecodeErrorKind, Target, WaveSize, decode_wave, disassemble};

/// Fixed bits of the encodings: value, and the bits that are random.
const ENCODINGS: [(&str, u32, u32); 20] = [
    ("SOP2", 0x8000_0000, 0x3fff_ffff),
    ("SOPK", 0xb000_0000, 0x0fff_ffff),
    ("SOP1", 0xbe80_0000, 0x007f_ffff),
    ("SOPC", 0xbf00_0000, 0x007f_ffff),
    ("SOPP", 0xbf80_0000, 0x007f_ffff),
    ("SMEM", 0xf400_0000, 0x03ff_ffff),
    ("VOP2", 0x0000_0000, 0x7fff_ffff),
    ("VOP1", 0x7e00_0000, 0x01ff_ffff),
    ("VOPC", 0x7c00_0000, 0x01ff_ffff),
    ("VINTRP", 0xc800_0000, 0x03ff_ffff),
    ("VOP3", 0xd400_0000, 0x03ff_ffff),
    ("VOP3P", 0xcc00_0000, 0x03ff_ffff),
    ("DS", 0xd800_0000, 0x03ff_ffff),
    ("MUBUF", 0xe000_0000, 0x03ff_ffff),
    ("MTBUF", 0xe800_0000, 0x03ff_ffff),
    ("MIMG", 0xf000_0000, 0x03ff_ffff),
    ("FLAT", 0xdc00_0000, 0x03ff_3fff),
    ("SCRATCH", 0xdc00_4000, 0x03ff_3fff),
    ("GLOBAL", 0xdc00_8000, 0x03ff_3fff),
    ("EXP", 0xf800_0000, 0x03ff_ffff),
];

/// Source codes that words get more often than chance would have it: constants, escapes, special registers.
const CODES: [u32; 16] = [106, 107, 124, 125, 126, 128, 193, 208, 233, 234, 235, 240, 249, 250, 254, 255];

/// xorshift64*: enough to scatter bits.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }

    /// Random bits, often few of them: most fields must be zero in most operations.
    fn sparse(&mut self) -> u32 {
        match self.below(4) {
            0 => self.next(),
            1 => self.next() & self.next(),
            2 => self.next() & self.next() & self.next(),
            _ => 0,
        }
    }

    fn words(&mut self, (_, value, random): (&str, u32, u32)) -> [u32; 5] {
        // The opcode's bits are high in most encodings; they are always random.
        let first = value | random & (self.sparse() | self.next() & 0x03ff_0000);
        let code = CODES[self.below(CODES.len() as u32) as usize];
        let mut words = [first, self.sparse(), self.sparse(), self.next(), self.next()];
        match self.below(6) {
            0 if random & 0x1ff == 0x1ff => words[0] = words[0] & !0x1ff | code,
            1 => words[1] = words[1] & !0x1ff | code,
            2 => words[1] = words[1] & !(0x1ff << 9) | code << 9,
            3 => words[1] = words[1] & !(0x7f << 16) | 0x7d << 16,
            4 => words[1] = self.next() & 0x0303_ffff | 0x0606_0000,
            _ => {}
        }
        words
    }
}

fn env(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// Known differences: the decoder's refusal code or "text", and what LLVM's text contains.
struct Differences(Vec<(&'static str, Vec<&'static str>)>);

impl Differences {
    fn read() -> Self {
        let rows = include_str!("data/gfx10_differences.tsv").lines().filter(|l| !l.starts_with('#'));
        let row = |row: &'static str| {
            let columns: Vec<&str> = row.split('\t').collect();
            assert_eq!(columns.len(), 3, "{row}");
            (columns[0], columns[1].split('*').collect())
        };
        Differences(rows.map(row).collect())
    }

    fn explain(&self, ours: &Result<String, &'static str>, llvm: Option<&String>) -> bool {
        let (kind, text) = match (ours, llvm) {
            (Err(code), Some(text)) => (*code, text),
            (Ok(_), Some(text)) => ("text", text),
            (Ok(text), None) => ("accept", text),
            (Err(_), None) => return true,
        };
        let contains = |parts: &[&str]| {
            let mut rest = Some(text.as_str());
            parts.iter().all(|p| {
                rest = rest.and_then(|r| r.split_once(p)).map(|(_, after)| after);
                rest.is_some()
            })
        };
        self.0.iter().any(|(code, parts)| *code == kind && contains(parts))
    }
}

/// An item for LLVM: the words of one instruction, and its text or the refusal's code.
fn item(words: [u32; 5], target: Target, wave: WaveSize) -> Option<(Vec<u32>, Result<String, &'static str>)> {
    match decode_wave(&words, 0, target, wave) {
        // llvm-mc 14 crashes on reserved SDWA selectors.
        Err(e) if matches!(e.kind, DecodeErrorKind::LaneControl { .. }) => None,
        Err(_) => {
            // Nothing may follow that LLVM would go on with.
            let words = [words[0], words[1], 0, 0, 0];
            let error = decode_wave(&words, 0, target, wave).err()?;
            Some((words.to_vec(), Err(error.kind.code())))
        }
        Ok(inst) => Some((words[..usize::from(inst.len)].to_vec(), Ok(disassemble(&inst, target, wave)))),
    }
}

#[test]
fn random_words_read_as_llvm_reads_them() {
    let per_run = env("GUESTWAVE_WORDS", 4000) as usize;
    let mut random = Random(env("GUESTWAVE_SEED", 0x6775_6573_7477_6176));
    let known = Differences::read();
    let (mut accepted, mut wrong) = (0, Vec::new());
    for target in [Target::Gfx1010, Target::Gfx1013, Target::Gfx1030] {
        for wave in [WaveSize::W32, WaveSize::W64] {
            let words = (0..per_run).map(|i| random.words(ENCODINGS[i % ENCODINGS.len()]));
            let items: Vec<_> = words.filter_map(|w| item(w, target, wave)).collect();
            let words: Vec<Vec<u32>> = items.iter().map(|(w, _)| w.clone()).collect();
            for ((words, ours), llvm) in items.iter().zip(llvm::disassemble(&words, target, wave)) {
                let same = match ours {
                    Ok(text) => llvm == [text.as_str()],
                    Err(_) => llvm.is_empty(),
                } || known.explain(ours, llvm.first());
                accepted += usize::from(ours.is_ok());
                if !same {
                    wrong.push(format!("{target:?} {wave:?} {words:08x?}\n  ours {ours:?}\n  llvm {llvm:?}"));
                }
            }
        }
    }
    println!("{accepted} instructions of {} items", 6 * per_run);
    assert!(accepted > per_run, "too few words are instructions to say anything: {accepted}");
    assert!(
        wrong.is_empty(),
        "{} of {} items differ:\n{}",
        wrong.len(),
        6 * per_run,
        wrong[..wrong.len().min(60)].join("\n")
    );
}

/// The checked-in listings are what the installed llvm-objdump prints.
#[test]
fn the_sample_programs_are_listed_by_llvm_objdump_as_stored() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/programs");
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let [_, cpu, wave, "bin"] = name.split('.').collect::<Vec<_>>()[..] else { continue };
        let target = if cpu == "gfx1010" { Target::Gfx1010 } else { Target::Gfx1030 };
        let wave = if wave == "w64" { WaveSize::W64 } else { WaveSize::W32 };
        let code = std::fs::read(&path).unwrap();
        let words: Vec<u32> = code.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
        let stored = std::fs::read_to_string(path.with_extension("txt")).unwrap();
        assert_eq!(llvm::list(&words, target, wave), stored.lines().collect::<Vec<_>>(), "{name}");
    }
}
