//! Every opcode of the tables is decoded and run once: it must come to its end or be one of the refused operations.

use std::collections::{BTreeMap, BTreeSet};

use guestwave_isa::gfx10::interp::{Apertures, CodeCache, ProgramInfo, StopKind, WaveInit, run_group};
use guestwave_isa::gfx10::{Encoding, Inst, Op, Target, WaveSize, decode};

use crate::memory::Memory;

const CODE: u64 = 0x80_0000;
const DATA: u64 = 0x10_0000;
const S_ENDPGM: u32 = 0xbf81_0000;

/// How an encoding's opcodes are tried: the words without the opcode, and where the opcode goes. Registers are small
/// and even; several choices are made where operations differ in what may stand in a field.
struct Form {
    words: [u32; 2],
    shift: u32,
    opcodes: u32,
}

const fn form(words: [u32; 2], shift: u32, opcodes: u32) -> Form {
    Form { words, shift, opcodes }
}

/// SGPRs 0 and 1 lead to an `s_endpgm`, 2 and 3 to data, 4 to 7 are a descriptor of it, 8 to 15
/// one of it as an image of 64 words. VGPRs 10 and 11 are the
/// address of the data, v0 is 16 times the lane.
const FORMS: &[Form] = &[
    form([0x8008_0200, 0], 23, 0x5d),           // SOP2: s8, s0, s2
    form([0xb008_0001, 0], 23, 0x1d),           // SOPK: s8, 1
    form([0xbe88_0000, 0], 8, 0x100),           // SOP1: s8, s0
    form([0xbf00_0200, 0], 16, 0x80),           // SOPC: s0, s2
    form([0xbf80_0000, 0], 16, 0x80),           // SOPP: 0
    form([0xf400_0201, 0xfa00_0000], 18, 256),  // SMEM: s8, s[2:3], 0
    form([0xf400_0202, 0xfa00_0000], 18, 256),  // SMEM: s8, s[4:7], 0
    form([0xf400_0200, 0xfa00_0000], 18, 256),  // SMEM without a base
    form([0x0010_0702, 0], 25, 0x3e),           // VOP2: v8, v2, v3
    form([0x7e10_0102, 0], 9, 0x100),           // VOP1: v8, v2
    form([0x7c00_0702, 0], 17, 0x100),          // VOPC: v2, v3
    form([0xd400_0008, 0x041a_0902], 16, 1024), // VOP3: v8, v2, v4, v6
    form([0xd400_0008, 0x0002_0902], 16, 1024), // VOP3: v8, v2, v4, s0
    form([0xd400_0008, 0x0000_0502], 16, 1024), // VOP3: v8, v2, s2, s0
    form([0xd400_0008, 0x0402_0400], 16, 1024), // VOP3: v8, s0, s2, v0
    form([0xcc00_4008, 0x1c1a_0902], 16, 128),  // VOP3P: v8, v2, v4, v6
    form([0xcc00_4008, 0x1802_0902], 16, 128),  // VOP3P: v8, v2, v4
    form([0x7e00_0000, 0], 9, 0x100),           // VOP1 without operands
    form([0xd400_0008, 0x0000_0400], 16, 1024), // VOP3: v8, s0, s2
    form([0xc820_0002, 0], 16, 4),              // VINTRP: v8, v2
    form([0xd802_0000, 0], 18, 256),            // DS: GDS
    form([0xd800_0000, 0], 18, 256),            // DS: v0 everywhere
    form([0xe000_0000, 0x8001_0800], 18, 256),  // MUBUF: v8, s[4:7], 0
    form([0xe8b0_0000, 0x8001_0800], 16, 8),    // MTBUF: v8, s[4:7], 0, format 22
    form([0xdc00_0000, 0x087d_020a], 18, 128),  // FLAT, GLOBAL and SCRATCH by bits 15:14
    form([0xdc00_8000, 0x0802_0200], 18, 128),  // GLOBAL: v8, v0, v2, s[2:3]
    form([0xdc00_4000, 0x0800_000a], 18, 128),  // SCRATCH with a scalar base
    form([0xf800_00f0, 0x0302_0100], 31, 1),    // EXP
    form([0xf000_0100, 0x0002_0800], 18, 128),  // MIMG: v8, v0, s[8:15], s[0:3], one component of 1D
    form([0xf000_9f01, 0x0002_0800], 18, 128),  // MIMG: the upper opcodes, four components
];

/// Opcode bits that lie apart from the others, and the segments of flat memory: variations of the first two words.
const VARIATIONS: [[u32; 2]; 8] = [
    [0, 0],
    [0, 0x0020_0000],      // MTBUF's highest opcode bit
    [0x8000, 0],           // GLOBAL
    [0x4000, 0],           // SCRATCH
    [0x1_0000, 0],         // GLC
    [0x4000, 0xffff_ff00], // SCRATCH without data
    [0x200, 0],
    [0x100, 0],
];

fn candidates() -> impl Iterator<Item = [u32; 4]> {
    FORMS.iter().flat_map(|form| {
        (0..form.opcodes).flat_map(move |opcode| {
            VARIATIONS.iter().map(move |extra| {
                let first = form.words[0] | opcode.checked_shl(form.shift).unwrap_or(0);
                [first | extra[0], form.words[1] | extra[1], S_ENDPGM, S_ENDPGM]
            })
        })
    })
}

/// Runs one instruction and tells why it stopped, if it did.
fn run(inst: &Inst, target: Target) -> Option<StopKind> {
    let words = &inst.words[..usize::from(inst.len)];
    let mut memory = Memory::default();
    memory.map(CODE, words.iter().chain(&[S_ENDPGM; 32]).flat_map(|w| w.to_le_bytes()).collect());
    memory.map(DATA, vec![0; 4096]);
    let info = ProgramInfo {
        target,
        address: CODE,
        wave_size: WaveSize::W64,
        mode: 0xf0,
        scratch_bytes: 2048,
        apertures: Apertures::default(),
        addr_config: 0x444,
    };
    let (end, data) = (CODE as u32 + 64, DATA as u32);
    let mut vgprs = vec![vec![0; 64]; 12];
    vgprs[0] = (0..64).map(|lane| 16 * lane).collect();
    // Scratch has no address of its own: 64 is in bounds of it.
    vgprs[10] = vec![if inst.encoding == Encoding::Scratch { 64 } else { data }; 64];
    let mut sgprs = vec![end, 0, data, 0, data, 0, 4096, 0x3001_6fac];
    sgprs.extend([data >> 8, 0xc140_0000, 15, 0x8000_0fac, 0, 0, 0, 0]);
    let wave = WaveInit { sgprs, vgprs, exec: u64::MAX, m0: 0 };
    let mut code = CodeCache::new(target, CODE);
    let result = run_group(&mut code, &info, vec![wave], 2048, &mut memory, &mut 1000);
    result.err().map(|stop| stop.kind)
}

/// Operations that are refused, by the beginning of their mnemonics or by what they contain.
const REFUSED: [&str; 20] = [
    "image_sample",
    "image_gather4",
    "image_get_lod",
    "image_msaa_load",
    "_pck",
    "_intersect_ray",
    "v_interp_",
    "_src2_",
    "ds_append",
    "ds_consume",
    "ds_condxchg32",
    "ds_ordered_count",
    "ds_gws_",
    "s_scratch_",
    "s_code_end",
    "s_endpgm_",
    "s_rfe_b64",
    "s_sendmsghalt",
    "s_setkill",
    "s_trap",
];

/// Refusals of an operation in one encoding, in the forms that did not run.
type Tries = BTreeMap<(&'static str, String), Result<(), String>>;

fn try_all() -> Tries {
    let mut tries = Tries::new();
    for target in [Target::Gfx1010, Target::Gfx1030] {
        for words in candidates() {
            let Ok(inst) = decode(&words, 0, target) else { continue };
            let entry = tries.entry((inst.op.name(), format!("{:?}", inst.encoding)));
            let result = entry.or_insert(Err(String::new()));
            match run(&inst, target) {
                None => *result = Ok(()),
                Some(kind) if result.is_err() => *result = Err(format!("{} {kind}", kind.code())),
                Some(_) => {}
            }
        }
    }
    tries
}

#[test]
fn every_opcode_runs_or_is_refused_by_name() {
    let tries = try_all();
    let mut wrong = Vec::new();
    for ((name, encoding), result) in &tries {
        let refused = REFUSED.iter().any(|part| name.contains(part));
        if result.is_ok() == refused {
            wrong.push(format!("{name} in {encoding}: {result:?}"));
        }
    }
    let tried: BTreeSet<_> = tries.keys().map(|(name, _)| *name).collect();
    let missed: Vec<_> = Op::all().map(Op::name).filter(|n| !tried.contains(n)).collect();
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
    assert!(missed.is_empty(), "{} not tried: {missed:?}", missed.len());
}
