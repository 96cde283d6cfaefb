//! What programs are made of, and what makes two of them different.

use guestwave_cp::intel::so_decl::{HoleMasks, SoDecl};
use guestwave_cp::intel::sol::{SolOrder, SolShape};
use guestwave_cp::primitives::{Provoking, Topology};

use super::program;
use crate::program::{Space, Stmt, verify};

const LIST: SolOrder = SolOrder::Listed;
const STRIP: SolOrder = SolOrder::Assembled(Topology::TriangleStrip, Provoking::Last);

fn shape(decls: &[u16], pitch: u32, order: SolOrder) -> SolShape {
    let decls: Vec<_> = decls.iter().map(|bits| SoDecl::decode(*bits, HoleMasks::Listed).unwrap()).collect();
    SolShape::new(&decls, [pitch; 4], order)
}

/// Units of each store to guest memory.
fn stores(shape: &SolShape) -> Vec<usize> {
    let program = program(shape);
    verify(&program).unwrap();
    let units = |stmt: &Stmt| match stmt {
        Stmt::Store { src, access } if access.space == Space::Global => Some(src.len()),
        _ => None,
    };
    program.body.iter().filter_map(units).collect()
}

#[test]
fn a_hole_is_no_store() {
    assert_eq!(stores(&shape(&[0x0021, 0x080f, 0x0803, 0x0036, 0x102f], 48, STRIP)), [1, 2, 4]);
    assert_eq!(stores(&shape(&[0x080f], 16, LIST)), [0usize; 0]);
}

#[test]
fn every_topology_and_order_makes_a_sound_program() {
    for topology in Topology::all() {
        for provoking in [Provoking::First, Provoking::Last] {
            assert_eq!(stores(&shape(&[0x002f], 16, SolOrder::Assembled(topology, provoking))), [4]);
        }
    }
}

#[test]
fn whatever_is_compiled_in_makes_another_program() {
    let base = shape(&[0x0021, 0x0801, 0x0022], 12, STRIP);
    let others = [
        shape(&[0x0021, 0x0803, 0x0022], 12, STRIP),
        shape(&[0x0031, 0x0801, 0x0022], 12, STRIP),
        shape(&[0x0022, 0x0801, 0x0022], 12, STRIP),
        shape(&[0x1021, 0x0801, 0x0022], 12, STRIP),
        shape(&[0x0021, 0x0801, 0x0022], 16, STRIP),
        shape(&[0x0021, 0x0801, 0x0022], 12, LIST),
        shape(&[0x0021, 0x0801, 0x0022], 12, SolOrder::Assembled(Topology::TriangleStrip, Provoking::First)),
    ];
    for other in others {
        assert_ne!(other, base);
        assert_ne!(program(&other), program(&base), "{other:?}");
    }
}
