//! Basic blocks of a Valhall program.

use std::collections::{BTreeMap, BTreeSet};

use guestwave_isa::mali::valhall::{Flow, Inst, Op};

use super::Refusal;
use crate::gfx10::flow::{Block, BlockId, End, Graph, MAX_INSTRUCTIONS};

/// The graph of a Valhall program; a branch's condition is the branch itself.
pub(super) type ValhallGraph = Graph<Inst, Inst>;

/// Where an instruction goes on.
enum Next {
    Follow,
    Stop,
    Jump(u32),
    Fork(u32),
}

fn next(inst: &Inst) -> Next {
    let after = |instructions: u32| inst.offset.wrapping_add(8).wrapping_add(instructions.wrapping_mul(8));
    match (inst.row.op, inst.flow()) {
        (Op::BranchZ, _) => Next::Fork(after(inst.immediate("offset"))),
        (Op::Blend, Flow::Next) => Next::Jump(after(inst.immediate("target"))),
        (_, Flow::End) => Next::Stop,
        _ => Next::Follow,
    }
}

/// Follows a program from its first word.
///
/// # Errors
/// The first place where the code cannot be followed.
pub(super) fn graph(words: &[u32]) -> Result<ValhallGraph, Refusal> {
    let code = reach(words)?;
    let mut leaders = BTreeSet::from([0]);
    for inst in code.values() {
        if let Next::Fork(to) | Next::Jump(to) = next(inst) {
            leaders.extend([to, inst.offset.wrapping_add(8)]);
        }
    }
    leaders.retain(|offset| code.contains_key(offset));
    let ids: BTreeMap<u32, BlockId> =
        leaders.iter().enumerate().map(|(i, offset)| (*offset, BlockId(i))).collect();
    let blocks = leaders.iter().map(|start| block(*start, &code, &ids)).collect();
    let bytes = code.values().next_back().map_or(0, |i| i.offset + 8);
    Ok(Graph { blocks, bytes })
}

/// Every instruction that can be reached, by offset.
fn reach(words: &[u32]) -> Result<BTreeMap<u32, Inst>, Refusal> {
    let mut code = BTreeMap::new();
    let mut todo = vec![0u32];
    while let Some(mut at) = todo.pop() {
        while !code.contains_key(&at) {
            let inst = fetch(words, at)?;
            if code.len() == MAX_INSTRUCTIONS {
                return Err(Refusal::TooLong(MAX_INSTRUCTIONS));
            }
            code.insert(at, inst);
            match next(&inst) {
                Next::Stop => break,
                Next::Follow => at = at.wrapping_add(8),
                Next::Jump(to) => at = to,
                Next::Fork(to) => {
                    todo.push(to);
                    at = at.wrapping_add(8);
                }
            }
        }
    }
    Ok(code)
}

fn fetch(words: &[u32], at: u32) -> Result<Inst, Refusal> {
    let first = at as usize / 4;
    match words.get(first..).and_then(|w| w.first_chunk()) {
        Some([low, high]) => Ok(Inst::decode(u64::from(*low) | u64::from(*high) << 32, at)?),
        None => Err(Refusal::Outside { to: (at as i32).into() }),
    }
}

fn block(start: u32, code: &BTreeMap<u32, Inst>, ids: &BTreeMap<u32, BlockId>) -> Block<Inst, Inst> {
    let id = |offset: u32| ids.get(&offset).copied().unwrap_or(BlockId(0));
    let made = |insts, end: End<Inst>| {
        let jumps = matches!(end, End::Branch { .. });
        Block { insts, end, offset: start, jumps }
    };
    let mut insts = Vec::new();
    let mut at = start;
    while let Some(inst) = code.get(&at) {
        let after = at.wrapping_add(8);
        if let Next::Fork(to) = next(inst) {
            let end = End::Branch { condition: *inst, taken: id(to), next: id(after) };
            return made(insts, end);
        }
        insts.push(*inst);
        match next(inst) {
            Next::Stop => break,
            Next::Jump(to) => return made(insts, End::To(id(to))),
            _ => at = after,
        }
        if ids.contains_key(&at) {
            return made(insts, End::To(id(at)));
        }
    }
    made(insts, End::Program)
}
