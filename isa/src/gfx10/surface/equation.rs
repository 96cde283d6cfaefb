//! Block equations: which coordinate bits make each address bit.

use std::sync::LazyLock;

use super::{Device, Shape};
use crate::gfx10::Target;

const ROWS: &str = include_str!("../../../tables/gfx10/surface/equations.tsv");

/// One address bit: the bits of x, y and z whose exclusive or it is.
pub type Term = [u32; 3];

/// How a block is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Equation {
    /// Elements across, down and deep.
    pub(super) block: [u32; 3],
    /// Address bits from the lowest above the element's own on.
    terms: Vec<Term>,
    /// log2 of an element's bytes.
    element_log2: u32,
    /// What the bits of any slice's number do is known.
    pub(super) any_slice: bool,
}

/// What an equation holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    mode: u8,
    volume: bool,
    element: u8,
    addr_config: u32,
}

/// The rows were taken on GFX10.3, whose patterns differ from GFX10.1's.
static EQUATIONS: LazyLock<Vec<(Key, Equation)>> =
    LazyLock::new(|| ROWS.lines().filter(|l| !l.starts_with('#')).filter_map(parse).collect());

/// The equation of a shape on a device.
pub(super) fn find(device: &Device, shape: &Shape) -> Option<&'static Equation> {
    if device.target != Target::Gfx1030 {
        return None;
    }
    let key = Key {
        mode: shape.mode.number(),
        volume: shape.volume,
        element: shape.element,
        addr_config: device.addr_config,
    };
    EQUATIONS.iter().find(|(row, _)| *row == key).map(|(_, equation)| equation)
}

fn parse(row: &str) -> Option<(Key, Equation)> {
    let columns: Vec<&str> = row.split('\t').collect();
    let [mode, dimensions, bits, block, config, slices, terms] = columns[..] else { return None };
    let element = bits.parse::<u8>().ok()? / 8;
    let addr_config = u32::from_str_radix(config.strip_prefix("0x")?, 16).ok()?;
    let key = Key { mode: mode.parse().ok()?, volume: dimensions == "3D", element, addr_config };
    let sizes: Vec<u32> = block.split('x').filter_map(|size| size.parse().ok()).collect();
    let terms = terms.split(' ').map(term).collect::<Option<_>>()?;
    let block = sizes.try_into().ok()?;
    let element_log2 = element.trailing_zeros();
    Some((key, Equation { block, terms, element_log2, any_slice: slices == "any" }))
}

/// The coordinate bits that text such as `x7^y4` names.
fn term(text: &str) -> Option<Term> {
    let mut term = [0; 3];
    for part in text.split('^') {
        let axis = "xyz".find(part.get(..1)?)?;
        let bit: u32 = part.get(1..)?.parse().ok()?;
        *term.get_mut(axis)? |= 1u32.checked_shl(bit)?;
    }
    Some(term)
}

impl Equation {
    /// Bytes from the start of the block to the element at `at`.
    pub(super) fn offset(&self, at: [u32; 3]) -> u64 {
        let bit =
            |term: &Term| term.iter().zip(at).fold(0, |sum, (mask, c)| sum ^ (mask & c).count_ones() & 1);
        let elements = self.terms.iter().rev().fold(0u64, |bits, term| bits << 1 | u64::from(bit(term)));
        elements << self.element_log2
    }

    /// Address bits from the lowest above the element's own on.
    pub(super) fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Bytes of a block.
    pub(super) fn block_bytes(&self) -> u64 {
        1 << (self.terms.len() as u32 + self.element_log2)
    }

    /// The layer of blocks that slice `z` is in.
    pub(super) fn layer(&self, z: u32) -> u32 {
        z / self.block[2].max(1)
    }

    /// Elements across and down of the micro block, the first 256 bytes: alternating halvings of a square, the
    /// width first.
    pub(super) fn micro_block(&self) -> [u32; 2] {
        let bits = 8 - self.element_log2.min(8);
        [1 << bits.div_ceil(2), 1 << (bits / 2)]
    }
}
