//! The disassembly of every program in the captures against llvm-objdump's.
//!
//! Programs are found without running anything: the packets of each submission are walked for the registers that name
//! a stage's program, whatever stage it is and whether or not its draw can be carried out.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that cannot read its inputs has to stop")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use guestwave_cp::{GuestMemory, canonical};
use guestwave_harness::capture::{Record, load};
use guestwave_harness::memory::CaptureMemory;
use guestwave_isa::gfx10::{Target, WaveSize, disassemble_program};

/// Shader registers begin here; an offset in a packet counts dwords from it.
const SH_BASE: u32 = 0xb000;
/// SPI_SHADER_PGM_LO of each stage: PS, VS, GS, ES, HS, LS, then COMPUTE_PGM_LO. PGM_HI follows.
const PGM_LO: [u32; 7] = [0xb020, 0xb120, 0xb220, 0xb320, 0xb420, 0xb520, 0xb830];

const SET_SH_REG: u32 = 0x76;
const SET_SH_REG_INDEX: u32 = 0x9b;
const INDIRECT_BUFFER: u32 = 0x3f;

/// What follows a program's last instruction.
const S_CODE_END: u32 = 0xbf9f_0000;
const S_ENDPGM: u32 = 0xbf81_0000;
/// Dwords of the longest program that is looked at.
const LONGEST: usize = 1 << 16;

/// The programs of a capture, in the order of first mention.
#[derive(Default)]
struct Programs {
    memory: CaptureMemory,
    /// The shader registers, by byte address.
    registers: BTreeMap<u32, u32>,
    found: BTreeSet<Vec<u32>>,
}

impl Programs {
    fn apply(&mut self, record: &Record) {
        match record {
            Record::Create(bo) => self.memory.create(bo).unwrap(),
            Record::Free { bo } => drop(self.memory.free(*bo).unwrap()),
            Record::Va(op) => self.memory.va(op).unwrap(),
            Record::Page(page) | Record::GoldenPage(page) => self.memory.set_page(page).unwrap(),
            Record::Diff(diff) | Record::GoldenDiff(diff) => self.memory.apply_diff(diff).unwrap(),
            Record::Submit(submit) => {
                submit.ibs.iter().for_each(|ib| self.walk(ib.va, ib.bytes as usize / 4, 0))
            }
            _ => {}
        }
    }

    /// The words from an address on, as far as it is mapped.
    fn words(&self, address: u64, count: usize) -> Vec<u32> {
        let address = canonical(address);
        let mapped = self.memory.mapping(address).map_or(0, |range| range.end - address) as usize / 4;
        let mut bytes = vec![0; 4 * count.min(mapped)];
        self.memory.read(address, &mut bytes).unwrap();
        bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
    }

    fn walk(&mut self, address: u64, count: usize, depth: u8) {
        let words = self.words(address, count);
        let mut rest = words.as_slice();
        while let [header, after @ ..] = rest {
            let body = match header >> 30 {
                3 if header >> 16 & 0x3fff != 0x3fff => (header >> 16 & 0x3fff) as usize + 1,
                _ => 0,
            };
            let (body, next) = after.split_at(body.min(after.len()));
            match (header >> 8 & 0xff, body) {
                (SET_SH_REG | SET_SH_REG_INDEX, [first, values @ ..]) => {
                    self.registers(first & 0xffff, values)
                }
                (INDIRECT_BUFFER, [low, high, size]) if depth < 2 => {
                    let address = u64::from(high & 0xffff) << 32 | u64::from(*low);
                    self.walk(address, (size & 0xf_ffff) as usize, depth + 1);
                }
                _ => {}
            }
            rest = next;
        }
    }

    /// A program may be named as soon as one half of its address is set.
    fn registers(&mut self, first: u32, values: &[u32]) {
        for (address, value) in (SH_BASE + 4 * first..).step_by(4).zip(values) {
            self.registers.insert(address, *value);
            let lo = if PGM_LO.contains(&address) { address } else { address.wrapping_sub(4) };
            if let (true, Some(low)) = (PGM_LO.contains(&lo), self.registers.get(&lo)) {
                let high = self.registers.get(&(lo + 4)).copied().unwrap_or(0);
                self.program((u64::from(high & 0xff) << 32 | u64::from(*low)) << 8);
            }
        }
    }

    fn program(&mut self, address: u64) {
        let words = self.words(address, LONGEST);
        let position = |word| words.iter().position(|w| *w == word);
        if let Some(end) = position(S_CODE_END).or_else(|| position(S_ENDPGM).map(|at| at + 1)) {
            self.found.insert(words[..end].to_vec());
        }
    }
}

fn pipe(command: &mut Command, input: &str) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap_or_else(|e| {
        let program = command.get_program().display();
        panic!("this test needs {program} of LLVM 14 (Debian: apt-get install llvm): {e}")
    });
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// What llvm-objdump lists, without headings and without what it adds behind the words of branches and operands.
fn objdump(words: &[u32], cpu: &str, wave: WaveSize) -> Vec<String> {
    let object = std::env::temp_dir().join(format!("guestwave-{}-{cpu}-{wave:?}.o", std::process::id()));
    let source: String = words.iter().map(|w| format!(".long {w:#x}\n")).collect();
    let mut assembler = Command::new("llvm-mc");
    assembler.args(["-arch=amdgcn", "-filetype=obj", "-o"]).arg(&object).arg(format!("-mcpu={cpu}"));
    pipe(&mut assembler, &source);
    let features = match wave {
        WaveSize::W32 => "--mattr=+wavefrontsize32,-wavefrontsize64",
        WaveSize::W64 => "--mattr=-wavefrontsize32,+wavefrontsize64",
    };
    let mut lister = Command::new("llvm-objdump");
    let listing = pipe(lister.arg("-d").arg(format!("--mcpu={cpu}")).arg(features).arg(&object), "");
    std::fs::remove_file(object).unwrap();
    let bare = |line: &str| {
        let line = line.split(" <.text+").next().unwrap_or(line);
        line.split(" ; Warning").next().unwrap_or(line).trim_end().to_owned()
    };
    listing.lines().filter(|l| l.starts_with('\t')).map(bare).collect()
}

/// The programs of all captures for a processor, one after the other.
fn code_for(gpu: &str, captures: &[PathBuf]) -> (usize, Vec<u32>) {
    let mut found = BTreeSet::new();
    for path in captures {
        let capture = load(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        if capture.gpu != gpu {
            continue;
        }
        let mut programs = Programs::default();
        capture.records.iter().for_each(|r| programs.apply(r));
        found.extend(programs.found);
    }
    (found.len(), found.into_iter().flatten().collect())
}

#[test]
fn programs_of_the_captures_list_as_llvm_objdump_lists_them() {
    let captures = common::all_captures();
    for (gpu, cpu, target) in [("navi10", "gfx1010", Target::Gfx1010), ("navi21", "gfx1030", Target::Gfx1030)]
    {
        let (programs, code) = code_for(gpu, &captures);
        assert!(programs > 2, "the captures for {gpu} have programs");
        println!("{gpu}: {programs} programs, {} dwords", code.len());
        for wave in [WaveSize::W32, WaveSize::W64] {
            let llvm = objdump(&code, cpu, wave);
            let ours: Vec<String> = disassemble_program(&code, target, wave).map(|l| l.to_string()).collect();
            let differ = llvm.iter().zip(&ours).find(|(l, o)| l != o);
            assert_eq!(differ, None, "{gpu} {wave:?}: llvm-objdump, ours");
            assert_eq!(llvm.len(), ours.len());
        }
    }
}
