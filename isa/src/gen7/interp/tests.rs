//! Programs made word by word, a captured one, and what they leave.

use proptest::prelude::*;

use super::super::decode;
use super::*;

/// The vertex program of a public driver for `v0 = a0; v1 = a1.xyz; gl_PointSize = a1.w; v2 = a2.xy; v3 = a2.z`, on
/// Ivy Bridge.
const CAPTURED: &str = include_str!("../../../tests/gen7/kernel.hex");

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

fn launch<'a>(code: &'a [u8], attributes: [Option<&'a [[u32; 4]]>; 2]) -> VertexLaunch<'a> {
    let count = attributes[0].map_or(0, <[_]>::len);
    VertexLaunch {
        code,
        first_register: 1,
        constants: &[],
        attributes,
        read: (0, count),
        slots: 8,
        mad: Mad::default(),
        steps: 1000,
    }
}

fn float(value: f32) -> u32 {
    value.to_bits()
}

#[test]
fn a_captured_program_makes_its_vertices() {
    let code = bytes(CAPTURED);
    let vertex = |n: f32| [0.0, 4.0, 8.0].map(|base| [0.0, 1.0, 2.0, 3.0].map(|c| float(n + base + c)));
    let (first, second) = (vertex(100.0), vertex(0.25));
    let [a, b] = vertex_of(&code, &first, &second);
    for (made, given) in [(a, first), (b, second)] {
        assert_eq!(made[1], given[0], "position");
        assert_eq!(made[2], given[0], "v0");
        assert_eq!(made[3], [given[2][0], given[2][1], given[2][2], given[1][0]], "v2, v3 and v1.x");
        assert_eq!(made[4][..2], given[1][1..3], "v1.yz");
        let size = f32::from_bits(given[1][3]).clamp(1.0, 255.0);
        assert_eq!(made[0], [0, 0, 0, float(size)], "the header");
    }
}

fn vertex_of(code: &[u8], a: &[[u32; 4]], b: &[[u32; 4]]) -> [Vec<[u32; 4]>; 2] {
    super::vertex(&launch(code, [Some(a), Some(b)])).unwrap()
}

#[test]
fn the_captured_program_disassembles() {
    let code = bytes(CAPTURED);
    let mut pc = 0;
    let mut text = Vec::new();
    while let Ok(inst) = decode(&code, pc) {
        text.push(inst.to_string());
        pc += inst.bytes;
    }
    assert_eq!(text[0], "sel.ge.f0.0(8) g10<1>.xF g2<4,4,1>.wwwwF 1F { align16 }");
    assert_eq!(text[2], "mov(8) g114<1>UD 0x00000000UD { align16 compacted }");
    assert_eq!(text[10], "or(1) g113.5<1>UD g0.5<0,1,0>UD 0x0000ff00UD { align1 WE_all }");
    assert_eq!(text[11], "send(8) null<1>F g113<4,4,1>.xyzwF 0x8e08c000UD sfid 6 { align16 }");
}

/// A full instruction word: opcode, and fields as value and lowest bit.
fn word(opcode: u8, fields: &[(u32, u32)]) -> [u8; 16] {
    // align16, eight channels.
    let base = u128::from(opcode) | 1 << 8 | 3 << 21;
    fields.iter().fold(base, |word, (value, low)| word | u128::from(*value) << low).to_le_bytes()
}

/// `op dst.mask, a.xyzw, immediate`, all of one type.
fn with_immediate(opcode: u8, ty: u32, dst: u32, a: u32, immediate: u32, more: &[(u32, u32)]) -> [u8; 16] {
    let operands = [(1, 32), (ty, 34), (1, 37), (ty, 39), (3, 42), (ty, 44), (0xf, 48), (dst, 53), (1, 61)];
    let source = [(0x4, 64), (0xe, 80), (a, 69), (3, 85), (immediate, 96)];
    word(opcode, &[&operands[..], &source, more].concat())
}

const F: u32 = 7;
const MOV: u8 = 0x01;
const CMP: u8 = 0x10;
const IF: u8 = 0x22;
const ELSE: u8 = 0x24;
const ENDIF: u8 = 0x25;
const WHILE: u8 = 0x27;
const ADD: u8 = 0x40;

/// `mov dst, immediate`.
fn mov_immediate(dst: u32, value: f32) -> [u8; 16] {
    let fields = [(1, 32), (F, 34), (3, 37), (F, 39), (0xf, 48), (dst, 53), (1, 61), (value.to_bits(), 96)];
    word(MOV, &fields)
}

/// Writes register `data` as slot 0 and ends the thread.
fn ending(data: u32) -> Vec<[u8; 16]> {
    let header = data - 1;
    let copy = word(
        MOV,
        &[(1, 9), (1, 32), (1, 37), (0xf, 48), (header, 53), (1, 61), (0x4, 64), (0xe, 80), (3, 85)],
    );
    let mask = (u128::from(0x06u8)
        | 1 << 9
        | 1 << 32
        | 1 << 37
        | 3 << 42
        | 20 << 48
        | u128::from(header) << 53
        | 1 << 61
        | 20 << 64
        | 0xff00 << 96)
        .to_le_bytes();
    let send = word(
        0x31,
        &[(6, 24), (1, 37), (F, 39), (3, 42), (0xf, 48), (header, 69), (3, 85), (0x8408_c000, 96)],
    );
    vec![copy, mask, send]
}

fn run(program: &[[u8; 16]], attributes: [[u32; 4]; 2]) -> [[u32; 4]; 2] {
    let code = program.concat();
    let [a, b] = attributes;
    let made = super::vertex(&launch(&code, [Some(&[a]), Some(&[b])])).unwrap();
    made.map(|entry| entry[0])
}

#[test]
fn channels_take_their_own_way_through_branches() {
    // r1 is the attribute: where it is below 2, r20 = 10, else r20 = 20.
    let compare = with_immediate(CMP, F, 19, 1, float(2.0), &[(5, 24)]);
    let program = [
        &[
            compare,
            word(IF, &[(1, 16), (6, 96), (8, 112)]),
            mov_immediate(20, 10.0),
            word(ELSE, &[(4, 96)]),
            mov_immediate(20, 20.0),
            word(ENDIF, &[(2, 96)]),
        ][..],
        &ending(20),
    ]
    .concat();
    let found = run(&program, [[0.0, 1.0, 2.0, 3.0].map(float), [5.0, 1.5, f32::NAN, -1.0].map(float)]);
    assert_eq!(found, [[10.0, 10.0, 20.0, 20.0].map(float), [20.0, 10.0, 20.0, 10.0].map(float)]);
}

#[test]
fn channels_leave_a_loop_when_their_predicate_fails() {
    // r20 = r1; do { r20 += 1 } while (r20 < 5)
    let program = [
        &[
            with_immediate(ADD, F, 20, 1, float(0.0), &[]),
            with_immediate(ADD, F, 20, 20, float(1.0), &[]),
            with_immediate(CMP, F, 19, 20, float(5.0), &[(5, 24)]),
            word(WHILE, &[(1, 16), (0x1_0000 - 4, 96)]),
        ][..],
        &ending(20),
    ]
    .concat();
    let found = run(&program, [[0.0, 1.0, 2.5, 7.0].map(float), [4.0, 3.0, 4.5, -2.0].map(float)]);
    assert_eq!(found, [[5.0, 5.0, 5.5, 8.0].map(float), [5.0, 5.0, 5.5, 5.0].map(float)]);
}

#[test]
fn denormals_are_flushed_by_arithmetic_and_kept_by_moves() {
    let denormal = 0x8000_0001;
    let mov = word(
        MOV,
        &[
            (1, 32),
            (F, 34),
            (1, 37),
            (F, 39),
            (0xf, 48),
            (20, 53),
            (1, 61),
            (0x4, 64),
            (0xe, 80),
            (1, 69),
            (3, 85),
        ],
    );
    let moved = run(&[&[mov][..], &ending(20)].concat(), [[denormal; 4]; 2]);
    assert_eq!(moved[0][0], denormal);
    let add = with_immediate(ADD, F, 20, 1, float(-0.0), &[]);
    let added = run(&[&[add][..], &ending(20)].concat(), [[denormal; 4]; 2]);
    assert_eq!(added[0][0], float(-0.0));
}

fn refusal(program: &[[u8; 16]]) -> &'static str {
    let code = program.concat();
    super::vertex(&launch(&code, [Some(&[[0; 4]]), None])).unwrap_err().code()
}

#[test]
fn what_is_not_run_is_refused_by_name() {
    assert_eq!(refusal(&[]), "ISA-GEN7-001");
    assert_eq!(refusal(&[word(0x70, &[])]), "ISA-GEN7-002");
    assert_eq!(refusal(&[word(0x38, &[])]), "ISA-GEN7-003");
    assert_eq!(
        refusal(&[word(0x31, &[(2, 24), (1, 37), (3, 42), (1, 69)])]),
        "ISA-GEN7-007",
        "a sampler message"
    );
    assert_eq!(refusal(&[word(0x31, &[(6, 24), (1, 37), (3, 42), (1, 69)])]), "ISA-GEN7-008");
    let mut far = ending(20);
    far[2] = word(0x31, &[(6, 24), (1, 37), (3, 42), (19, 69), (0x8408_c000 | 9 << 3, 96)]);
    assert_eq!(refusal(&far), "ISA-GEN7-009");
    assert_eq!(refusal(&[word(WHILE, &[])]), "ISA-GEN7-010", "a loop without an end");
    assert_eq!(refusal(&[word(WHILE, &[(0xffff, 96)])]), "ISA-GEN7-012");
    let product = with_immediate(0x41, 1, 20, 1, 3, &[]);
    assert_eq!(refusal(&[product]), "ISA-GEN7-005", "two dwords");
    let code = ending(20).concat();
    let many = VertexLaunch { first_register: 120, read: (0, 9), ..launch(&code, [Some(&[[0; 4]]), None]) };
    assert_eq!(super::vertex(&many).unwrap_err().code(), "ISA-GEN7-011");
}

proptest! {
    #[test]
    fn any_bytes_run_to_an_end(code in prop::collection::vec(any::<u8>(), 0..160), steps in 0u64..64) {
        let launch = VertexLaunch { steps, ..launch(&code, [Some(&[[1; 4]]), Some(&[[2; 4]])]) };
        let _ = super::vertex(&launch);
    }

    /// Known opcodes with any operands.
    #[test]
    fn any_operands_run_to_an_end(
        words in prop::collection::vec((any::<u128>(), prop::sample::select(&[0x01u8, 0x02, 0x05, 0x10, 0x22, 0x27, 0x31, 0x40, 0x41, 0x54, 0x5b][..])), 1..8),
    ) {
        let code: Vec<u8> = words.iter().flat_map(|(word, opcode)| {
            (word & !0x2000_007f | u128::from(*opcode)).to_le_bytes()
        }).collect();
        for pc in (0..code.len() as u32).step_by(16) {
            if let Ok(inst) = decode(&code, pc) {
                prop_assert!(!inst.to_string().is_empty());
            }
        }
        let _ = super::vertex(&VertexLaunch { steps: 64, ..launch(&code, [Some(&[[1; 4]]), None]) });
    }
}
