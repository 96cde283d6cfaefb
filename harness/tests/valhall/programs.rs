//! Random programs: translated arithmetic and control against the reference interpreter.

use guestwave_isa::mali::valhall::{DecodeErrorKind, Dst, Inst, Kind, Op, Row, rows};

use super::support::{Rng, THREADS, dispatch, epilogue, memory, plain, reference, run, soft};

/// Numbers whose neighbourhoods go wrong first: as integers, f32 or pairs of f16.
const EDGES: [u32; 24] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_1234,
    0x7f80_0001,
    0x0000_0400,
    0x007f_ffff,
    0x4b00_0001,
    0x3c00_7c00,
    0xfc00_7e01,
    0x3555_b800,
];

/// Rows that compute and have a meaning.
fn arithmetic() -> Vec<&'static Row> {
    const NONE: [Op; 4] = [Op::BranchZ, Op::BranchZIndirect, Op::Nop, Op::IcmpMulti];
    rows().filter(|r| r.known && !r.is_message() && r.dst != Dst::None && !NONE.contains(&r.op)).collect()
}

/// A random word of a row that reads r0 to r11, uniforms and constants and writes r0 to r11.
fn word(rng: &mut Rng, row: &'static Row) -> u64 {
    loop {
        let mut word =
            rng.next() & !(0x1ff << 48) & !row.second.0 | u64::from(row.opcode) << 48 | row.second.1;
        // No waiting, page 0, bit 63 clear; every bit of the destination more often than a half of it.
        word &= !(0x7f << 57) & !(0xff << 40);
        let halves = if row.dst == Dst::Pair { 3 } else { rng.pick(&[1, 2, 3, 3, 3]) };
        let pair = u64::from(row.dst == Dst::Pair);
        word |= (rng.below(12) & !pair) << 40 | halves << 46;
        for (i, (byte, kind)) in row.sources.iter().enumerate() {
            let even = u64::from(matches!(kind, Kind::Pair | Kind::IntDouble | Kind::InvertPair));
            let code = match rng.below(4) {
                0 => 0x80 + (rng.below(4) & !even),
                1 => 0xc0 + rng.below(32),
                _ => rng.below(12) & !even,
            };
            word = word & !(0xff << (8 * byte)) | code << (8 * byte);
            // Sign modifiers and swizzles are there half of the time only.
            if rng.below(2) == 0 {
                word &= !kind.lanes(i).map_or(0, |l| if l.picks[0].is_some() { l.mask() } else { 0 });
            }
        }
        if let Err(e) = Inst::decode(word, 0)
            && let DecodeErrorKind::ReservedBits { bits, .. } = e.kind
        {
            word &= !bits;
        }
        if Inst::decode(word, 0).is_ok_and(|i| i.unknown_form().is_none()) {
            return word;
        }
    }
}

fn registers(rng: &mut Rng) -> Vec<Vec<u32>> {
    let value = |rng: &mut Rng| match rng.below(3) {
        0 => rng.pick(&EDGES),
        1 => rng.next() as u32 & 0x8fff_ffff | 0x3000_0000,
        _ => rng.next() as u32,
    };
    (0..12).map(|_| (0..THREADS).map(|_| value(rng)).collect()).collect()
}

/// Runs a program everywhere and compares.
fn assert_same(code: &[u64], rng: &mut Rng, native: bool) {
    let uniforms = [0, 1, 2, 3].map(|_| rng.next() as u32);
    let dispatch = dispatch(&registers(rng));
    let expected = run(reference(), &memory(code, uniforms), &dispatch).unwrap();
    let listing = || -> Vec<String> {
        code.iter().map(|w| Inst::decode(*w, 0).map_or_else(|e| e.to_string(), |i| i.to_string())).collect()
    };
    for (name, executor) in [("plain", plain as fn() -> _), ("soft", soft)] {
        if name == "plain" || native {
            let got = run(executor(), &memory(code, uniforms), &dispatch).unwrap();
            assert!(got.0 == expected.0, "{name}: {}", listing().join("\n"));
            assert_eq!(got.1.stored, expected.1.stored);
            // The translation lists what it holds, the reference what ran.
            assert!(expected.1.inexact.iter().all(|name| got.1.inexact.contains(name)));
        }
    }
}

#[test]
fn every_arithmetic_instruction_computes_what_the_reference_computes() {
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
    for (i, row) in arithmetic().into_iter().enumerate() {
        for round in 0..6 {
            let mut code: Vec<u64> = (0..6).map(|_| word(&mut rng, row)).collect();
            code.extend(epilogue());
            assert_same(&code, &mut rng, round == 0 && i % 4 == 0);
        }
    }
}

#[test]
fn random_programs_compute_what_the_reference_computes() {
    let all = arithmetic();
    let mut rng = Rng(0x1234_5678_9abc_def1);
    for n in 0..150 {
        let mut code: Vec<u64> = (0..20)
            .map(|_| {
                let row = rng.pick(&all);
                word(&mut rng, row)
            })
            .collect();
        code.extend(epilogue());
        assert_same(&code, &mut rng, n % 10 == 0);
    }
}

/// `BRANCHZ` on a register, by an offset in instructions.
fn branch(register: u64, offset: i64, eq: bool) -> u64 {
    0x001f_c000_0000_0000 | register | (offset as u64 & 0x7ff_ffff) << 8 | u64::from(eq) << 36
}

#[test]
fn threads_go_their_own_ways() {
    let all = arithmetic();
    let mut rng = Rng(0x0f0f_1e1e_2d2d_3c3d);
    for n in 0..120 {
        let length = 24;
        let mut code: Vec<u64> = (0..length)
            .map(|_| {
                let row = rng.pick(&all);
                word(&mut rng, row)
            })
            .collect();
        // Branches forward, to anywhere up to the first store.
        for at in (0..length).filter(|_| rng.below(4) == 0).collect::<Vec<_>>() {
            let offset = rng.below((length - at) as u64) as i64;
            code[at] = branch(rng.below(12), offset, rng.below(2) == 0);
        }
        code.extend(epilogue());
        assert_same(&code, &mut rng, n % 10 == 0);
    }
}

#[test]
fn loops_run_as_often_as_each_thread_says() {
    let all = arithmetic();
    let mut rng = Rng(0x5151_6262_7373_8485);
    for n in 0..40 {
        let body: Vec<u64> = (0..6)
            .map(|_| {
                let row = rng.pick(&all);
                word(&mut rng, row)
            })
            .collect();
        let mut code = body.clone();
        if rng.below(2) == 0 {
            code.push(branch(rng.below(12), 1, true));
            code.push(body[0]);
        }
        // IADD_IMM.i32 r20, r20, #-1: each thread starts with a number of rounds of its own.
        code.push(0x0110_d4ff_ffff_ff14);
        let back = -(code.len() as i64 + 1);
        code.push(branch(20, back, false));
        code.extend(epilogue());
        let uniforms = [0; 4];
        let mut dispatch = dispatch(&registers(&mut rng));
        let rounds = (0..THREADS).map(|_| rng.below(9) as u32 + 1).collect();
        dispatch.vgprs[20] = guestwave_cp::LaneRule::PerItem(rounds);
        let expected = run(reference(), &memory(&code, uniforms), &dispatch).unwrap();
        for executor in [plain as fn() -> _, soft].into_iter().take(if n % 8 == 0 { 2 } else { 1 }) {
            let got = run(executor(), &memory(&code, uniforms), &dispatch).unwrap();
            assert!(got.0 == expected.0);
        }
    }
}
