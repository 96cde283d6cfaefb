//! The tables against the decoder: every row's opcode is found again, whatever else is said about it.

use guestwave_isa::gfx10::{Encoding, NumberKind, Op, OpRow, Target, WaveSize, decode, disassemble};

const TARGETS: [Target; 3] = [Target::Gfx1010, Target::Gfx1013, Target::Gfx1030];

/// First word of an encoding, and the opcode's bit fields in the instruction: lsb and width, low part first.
fn layout(encoding: Encoding) -> (u64, [(u32, u32); 2]) {
    match encoding {
        Encoding::Sop2 => (0x8000_0000, [(23, 7), (0, 0)]),
        Encoding::Sopk => (0xb000_0000, [(23, 5), (0, 0)]),
        Encoding::Sop1 => (0xbe80_0000, [(8, 8), (0, 0)]),
        Encoding::Sopc => (0xbf00_0000, [(16, 7), (0, 0)]),
        Encoding::Sopp => (0xbf80_0000, [(16, 7), (0, 0)]),
        Encoding::Smem => (0xf400_0000, [(18, 8), (0, 0)]),
        Encoding::Vop2 => (0x0000_0000, [(25, 6), (0, 0)]),
        Encoding::Vop1 => (0x7e00_0000, [(9, 8), (0, 0)]),
        Encoding::Vopc => (0x7c00_0000, [(17, 8), (0, 0)]),
        Encoding::Vintrp => (0xc800_0000, [(16, 2), (0, 0)]),
        Encoding::Vop3 => (0xd400_0000, [(16, 10), (0, 0)]),
        Encoding::Vop3p => (0xcc00_0000, [(16, 7), (0, 0)]),
        Encoding::Ds => (0xd800_0000, [(18, 8), (0, 0)]),
        Encoding::Mubuf => (0xe000_0000, [(18, 8), (0, 0)]),
        Encoding::Mtbuf => (0xe800_0000, [(16, 3), (53, 1)]),
        Encoding::Mimg => (0xf000_0000, [(18, 7), (0, 1)]),
        // SADDR is off.
        Encoding::Flat => (0x007d_0000_dc00_0000, [(18, 7), (0, 0)]),
        Encoding::Scratch => (0x007d_0000_dc00_4000, [(18, 7), (0, 0)]),
        Encoding::Global => (0x007d_0000_dc00_8000, [(18, 7), (0, 0)]),
        Encoding::Exp => (0xf800_0000, [(0, 0), (0, 0)]),
    }
}

/// Bits beside the opcode without which some operations are none: GDS, GLC, DMASK, and what ray tracing fixes.
fn needed(row: &OpRow) -> u64 {
    let name = row.op.name();
    match row.encoding {
        Encoding::Ds if name.starts_with("ds_gws") || name == "ds_ordered_count" => 1 << 17,
        Encoding::Mubuf if name.ends_with("_csub") => 1 << 14,
        Encoding::Global if name.ends_with("_csub") => 1 << 16,
        Encoding::Mimg if name.contains("_bvh") => 0x9f00,
        Encoding::Mimg if name.contains("_atomic") => 0x300,
        _ => 0,
    }
}

/// An instruction of the row with every other field zero.
fn words(row: &OpRow) -> [u32; 3] {
    let (fixed, [low, high]) = layout(row.encoding);
    let opcode = u64::from(row.opcode);
    let bits = fixed | needed(row) | (opcode & ((1 << low.1) - 1)) << low.0 | opcode >> low.1 << high.0;
    [bits as u32, (bits >> 32) as u32, 0]
}

fn rows() -> impl Iterator<Item = &'static OpRow> {
    Op::all().flat_map(Op::rows)
}

#[test]
fn every_row_decodes_to_itself_on_its_targets_only() {
    for row in rows() {
        for target in TARGETS {
            let words = words(row);
            let decoded = decode(&words, 0, target);
            if !row.on(target) {
                assert_ne!(decoded.ok().map(|i| i.op), Some(row.op), "{target:?} {row:?}");
                continue;
            }
            let inst = decoded.unwrap_or_else(|e| panic!("{target:?} {row:?}: {e}"));
            assert_eq!((inst.op, inst.encoding), (row.op, row.encoding), "{words:08x?}");
            assert_eq!(inst.row(), Some(row));
            assert!(disassemble(&inst, target, WaveSize::W32).starts_with(row.op.name()));
        }
    }
}

/// Opcodes a target and encoding, as they were counted with LLVM's disassembler.
#[test]
fn the_tables_are_complete() {
    let counts: [(Encoding, [usize; 3]); 20] = [
        (Encoding::Sop2, [51; 3]),
        (Encoding::Sopk, [27; 3]),
        (Encoding::Sop1, [65; 3]),
        (Encoding::Sopc, [18; 3]),
        (Encoding::Sopp, [37; 3]),
        (Encoding::Smem, [84, 84, 16]),
        (Encoding::Vop2, [48, 48, 47]),
        (Encoding::Vop1, [81; 3]),
        (Encoding::Vopc, [190; 3]),
        (Encoding::Vintrp, [3; 3]),
        (Encoding::Vop3, [428, 428, 425]),
        (Encoding::Vop3p, [22, 22, 29]),
        (Encoding::Ds, [154, 154, 123]),
        (Encoding::Mubuf, [72, 72, 73]),
        (Encoding::Mtbuf, [16; 3]),
        (Encoding::Mimg, [108, 111, 111]),
        (Encoding::Flat, [54; 3]),
        (Encoding::Scratch, [22; 3]),
        (Encoding::Global, [54, 54, 57]),
        (Encoding::Exp, [1; 3]),
    ];
    for (encoding, expected) in counts {
        let count = |target: Target| rows().filter(|r| r.encoding == encoding && r.on(target)).count();
        assert_eq!(TARGETS.map(count), expected, "{encoding:?}");
    }
}

#[test]
fn an_operation_has_one_row_an_encoding() {
    for op in Op::all() {
        let encodings: Vec<Encoding> = op.rows().map(|r| r.encoding).collect();
        assert!(!encodings.is_empty(), "{op:?}");
        assert!(
            (1..encodings.len()).all(|i| !encodings[..i].contains(&encodings[i])),
            "{op:?}: {encodings:?}"
        );
    }
}

/// The short and the long form of an operation read operands of the same width and kind in the same places.
#[test]
fn encodings_of_an_operation_agree_about_its_operands() {
    let shape = |s: Option<guestwave_isa::gfx10::OperandSpec>| s.map(|s| (s.kind, s.bits));
    for op in Op::all() {
        let vector = |e| matches!(e, Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vop3);
        let mut rows = op.rows().filter(|r| vector(r.encoding));
        let (Some(a), Some(b)) = (rows.next(), rows.next()) else { continue };
        assert_eq!(a.dst.map(shape), b.dst.map(shape), "{op:?}");
        assert_eq!(a.src.map(shape), b.src.map(shape), "{op:?}");
    }
    assert_eq!(
        Op::V_CNDMASK_B32.row(Encoding::Vop2).and_then(|r| r.src[2]).map(|s| s.kind),
        Some(NumberKind::Mask)
    );
}
