//! Sequences after sequences: what one knows of another's result must hold.

use guestwave_isa::gfx10::interp::alu::vector_op;
use guestwave_isa::gfx10::{NumberKind, Op, VopMods};

use super::machine::{Lane, launch, loaded, outcome, store};
use super::operands::{Kind, Random, operands};
use super::{Setting, kinds, vector_row};
use crate::backend::Fidelity;
use crate::gfx10::exact::{Exact, Facts};
use crate::program::{Builder, Value};

/// f32 operations that make or use what is known of results.
const OPERATIONS: [Op; 28] = [
    Op::V_ADD_F32,
    Op::V_SUBREV_F32,
    Op::V_MUL_F32,
    Op::V_MUL_LEGACY_F32,
    Op::V_FMA_F32,
    Op::V_MAD_F32,
    Op::V_MULLIT_F32,
    Op::V_MIN_F32,
    Op::V_MED3_F32,
    Op::V_MAX3_F32,
    Op::V_FLOOR_F32,
    Op::V_FRACT_F32,
    Op::V_LDEXP_F32,
    Op::V_FREXP_MANT_F32,
    Op::V_FREXP_EXP_I32_F32,
    Op::V_RCP_F32,
    Op::V_SQRT_F32,
    Op::V_EXP_F32,
    Op::V_LOG_F32,
    Op::V_SIN_F32,
    Op::V_CVT_F32_I32,
    Op::V_CVT_U32_F32,
    Op::V_CVT_PKRTZ_F16_F32,
    Op::V_DIV_SCALE_F32,
    Op::V_DIV_FMAS_F32,
    Op::V_DIV_FIXUP_F32,
    Op::V_CUBESC_F32,
    Op::V_MOV_B32,
];

/// One operation of a chain: its sources among the values so far.
struct Link {
    op: Op,
    sources: [usize; 3],
    mods: VopMods,
}

fn link(r: &mut Random, values: usize) -> Link {
    let op = OPERATIONS[r.below(OPERATIONS.len() as u64) as usize];
    // Mostly results of late: what is known of them is to be used.
    let source = |r: &mut Random| values - 1 - r.below(4.min(values as u64)) as usize;
    let sources = std::array::from_fn(|_| source(r));
    let float = op != Op::V_MOV_B32;
    let mods = VopMods {
        neg: if float { r.below(8) as u8 } else { 0 },
        abs: if float { r.below(8) as u8 & r.below(8) as u8 } else { 0 },
        clamp: r.below(4) == 0,
        omod: if r.below(4) == 0 { r.below(4) as u8 } else { 0 },
        ..VopMods::default()
    };
    Link { op, sources, mods }
}

/// NEG and ABS of a source that is a float.
fn modified(link: &Link, i: usize, kind: NumberKind) -> [bool; 2] {
    let float = kind == NumberKind::Float;
    [float && link.mods.abs >> i & 1 != 0, float && link.mods.neg >> i & 1 != 0]
}

fn built(links: &[Link], setting: &Setting) -> crate::program::Program {
    let mut b = Builder::new("chain", 32);
    let (first, mask) = loaded(&mut b, &[32, 32, 32], false);
    let mut facts = Facts::default();
    let mut values: Vec<Value> = first.to_vec();
    for link in links {
        let mut e = Exact::new(&mut b, &mut facts, setting.mode(), Fidelity::Exact);
        let zero = e.c32(0);
        let mut sources = [zero; 3];
        for (i, kind) in kinds(link.op).into_iter().enumerate() {
            let [abs, neg] = modified(link, i, kind.number);
            let value = values[link.sources[i]];
            let value = if abs { e.and(value, 0x7fff_ffff) } else { value };
            sources[i] = if neg { e.xor(value, 0x8000_0000) } else { value };
        }
        let row = vector_row(link.op).unwrap();
        values.extend(outcome(&mut e, &row, sources, mask, &link.mods).0);
    }
    store(&mut b, values);
    b.finish()
}

fn expected(links: &[Link], setting: &Setting, lane: &Lane) -> Vec<u32> {
    let mut values: Vec<u64> = lane.sources.to_vec();
    for link in links {
        let mut sources = [0; 3];
        for (i, kind) in kinds(link.op).into_iter().enumerate() {
            let [abs, neg] = modified(link, i, kind.number);
            let value = values[link.sources[i]] & if abs { 0x7fff_ffff } else { u64::MAX };
            sources[i] = value ^ if neg { 0x8000_0000 } else { 0 };
        }
        let row = vector_op(link.op).unwrap();
        values.push(row.evaluate(&setting.reference_mode(), sources, lane.mask, &link.mods).value);
    }
    values.into_iter().map(|v| v as u32).collect()
}

#[test]
fn chains_of_operations_agree_with_the_reference() {
    let float = Kind { number: NumberKind::Float, bits: 32 };
    let lanes: Vec<Lane> = operands(&[float; 3], 2_000, 7).into_iter().step_by(10).collect();
    let mut r = Random(11);
    for chain in 0..120 {
        let links: Vec<Link> = (0..16).map(|i| link(&mut r, 3 + i)).collect();
        let floats = [0x00, 0xf0, 0x10, 0x20, 0x05];
        let float = floats[chain % floats.len()];
        let setting =
            Setting { float, dx10_clamp: chain % 3 != 0, ieee: chain % 7 == 0, ..Setting::default() };
        let width = links.len() + 3;
        let found = launch(&built(&links, &setting), &lanes, width as u32);
        for (lane, found) in lanes.iter().zip(found.chunks(width)) {
            let want = expected(&links, &setting, lane);
            let wrong = (0..links.len()).find(|i| want[i + 3] != found[i + 3]);
            assert!(
                wrong.is_none(),
                "chain {chain} in {setting}: {:?} gives {:x?} for {:x?} from {lane:x?}",
                wrong.map(|i| (links[i].op, links[i].sources, links[i].mods)),
                wrong.map(|i| found[i + 3]),
                want
            );
        }
    }
}
