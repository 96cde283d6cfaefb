//! Basic blocks of a guest program.

use std::collections::{BTreeMap, BTreeSet};

use guestwave_isa::gfx10::{self, DecodeError, Inst, Mods, Op, Target};

/// Index of a block in [`Graph::blocks`]; blocks are in the order of their offsets, the entry is block 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub usize);

/// The question that a conditional branch asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// SCC is set (or clear).
    Scc(bool),
    /// VCC is zero (or not).
    VccZero(bool),
    /// EXEC is zero (or not).
    ExecZero(bool),
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End<C = Condition> {
    /// s_endpgm.
    Program,
    /// Goes on to one block.
    To(BlockId),
    /// Goes to `taken` if the condition holds, else to `next`.
    Branch {
        /// The condition.
        condition: C,
        /// Where to if it holds.
        taken: BlockId,
        /// Where to if not.
        next: BlockId,
    },
}

impl<C: Copy> End<C> {
    /// Where it goes on, without the condition.
    pub(crate) fn ways(self) -> End<()> {
        match self {
            End::Program => End::Program,
            End::To(to) => End::To(to),
            End::Branch { taken, next, .. } => End::Branch { condition: (), taken, next },
        }
    }

    /// The blocks that may follow, `taken` first.
    pub fn successors(self) -> impl Iterator<Item = BlockId> {
        match self {
            End::Program => [None, None],
            End::To(b) => [Some(b), None],
            End::Branch { taken, next, .. } => [Some(taken), (next != taken).then_some(next)],
        }
        .into_iter()
        .flatten()
    }
}

/// Instructions that run one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<I = Inst, C = Condition> {
    /// The instructions, without the branch that ends the block.
    pub insts: Vec<I>,
    /// How it ends.
    pub end: End<C>,
    /// Byte offset of its first instruction.
    pub offset: u32,
    /// Whether an instruction of its own ends it: a branch, or `s_endpgm`.
    pub jumps: bool,
}

/// A program as basic blocks, all of them reachable.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph<I = Inst, C = Condition> {
    /// The blocks by offset; block 0 is the entry.
    pub blocks: Vec<Block<I, C>>,
    /// Bytes of code that were read, from the program's start.
    pub bytes: u32,
}

/// Why a program has no graph.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GraphError {
    /// A word that is no instruction is reached.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A branch leaves the code or goes backwards past its start.
    #[error("the branch at {pc:#x} goes to {to:#x}, outside the program")]
    Outside {
        /// Byte offset of the branch.
        pc: u32,
        /// Where it goes.
        to: i64,
    },
    /// A jump whose target is in a register.
    #[error("{mnemonic} at {pc:#x} jumps to an address in a register")]
    Indirect {
        /// Byte offset of the jump.
        pc: u32,
        /// Its mnemonic.
        mnemonic: &'static str,
    },
    /// A jump into the middle of an instruction that is reached otherwise.
    #[error("the instructions at {first:#x} and {second:#x} overlap")]
    Overlap {
        /// Byte offset of the first.
        first: u32,
        /// Byte offset of the second.
        second: u32,
    },
    /// More instructions than a program may have.
    #[error("the program has more than {0} instructions")]
    TooLong(usize),
}

/// Most instructions that a program may have.
pub const MAX_INSTRUCTIONS: usize = 1 << 18;

/// Where an instruction goes on.
#[derive(Clone, Copy)]
enum Flow {
    Next,
    Stop,
    Jump,
    Fork(Condition),
    Indirect,
}

const FLOWS: &[(Op, Flow)] = &[
    (Op::S_ENDPGM, Flow::Stop),
    (Op::S_BRANCH, Flow::Jump),
    (Op::S_CBRANCH_SCC0, Flow::Fork(Condition::Scc(false))),
    (Op::S_CBRANCH_SCC1, Flow::Fork(Condition::Scc(true))),
    (Op::S_CBRANCH_VCCZ, Flow::Fork(Condition::VccZero(true))),
    (Op::S_CBRANCH_VCCNZ, Flow::Fork(Condition::VccZero(false))),
    (Op::S_CBRANCH_EXECZ, Flow::Fork(Condition::ExecZero(true))),
    (Op::S_CBRANCH_EXECNZ, Flow::Fork(Condition::ExecZero(false))),
    (Op::S_SETPC_B64, Flow::Indirect),
    (Op::S_SWAPPC_B64, Flow::Indirect),
    (Op::S_RFE_B64, Flow::Indirect),
    (Op::S_CALL_B64, Flow::Indirect),
    (Op::S_SUBVECTOR_LOOP_BEGIN, Flow::Indirect),
    (Op::S_SUBVECTOR_LOOP_END, Flow::Indirect),
];

/// Whether the operation is control that graphs follow.
pub(in crate::gfx10) fn follows(op: Op) -> bool {
    matches!(flow(op), Flow::Stop | Flow::Jump | Flow::Fork(_))
}

fn flow(op: Op) -> Flow {
    FLOWS.iter().find(|(o, _)| *o == op).map_or(Flow::Next, |(_, f)| *f)
}

/// Byte offset that a SOPP branch goes to.
fn target(inst: &Inst) -> i64 {
    let words = match inst.mods {
        Mods::Simm(imm) => i64::from(imm as i16),
        _ => 0,
    };
    i64::from(inst.next_offset()) + 4 * words
}

impl Graph {
    /// Follows the code from its first word. `words` may reach past the program's end.
    ///
    /// # Errors
    /// The first place where the code cannot be followed.
    pub fn new(words: &[u32], isa: Target) -> Result<Graph, GraphError> {
        let code = reach(words, isa)?;
        let leaders = leaders(&code)?;
        let ids: BTreeMap<u32, BlockId> =
            leaders.iter().enumerate().map(|(i, offset)| (*offset, BlockId(i))).collect();
        let blocks = leaders.iter().map(|start| block(*start, &code, &ids)).collect();
        let bytes = code.values().next_back().map_or(0, Inst::next_offset);
        Ok(Graph { blocks, bytes })
    }
}

impl<I, C: Copy> Graph<I, C> {
    /// The block.
    pub fn block(&self, id: BlockId) -> &Block<I, C> {
        &self.blocks[id.0]
    }

    /// All block ids in order.
    pub fn ids(&self) -> impl Iterator<Item = BlockId> + use<I, C> {
        (0..self.blocks.len()).map(BlockId)
    }

    /// For each block, the blocks that may come before it.
    pub fn predecessors(&self) -> Vec<Vec<BlockId>> {
        let mut all = vec![Vec::new(); self.blocks.len()];
        for id in self.ids() {
            for s in self.block(id).end.successors() {
                all[s.0].push(id);
            }
        }
        all
    }
}

/// Every instruction that can be reached, by offset.
fn reach(words: &[u32], isa: Target) -> Result<BTreeMap<u32, Inst>, GraphError> {
    let mut code = BTreeMap::new();
    let mut todo = vec![0u32];
    while let Some(mut at) = todo.pop() {
        while !code.contains_key(&at) {
            let tail = words.get(at as usize / 4..).unwrap_or_default();
            let inst = gfx10::decode(tail, at, isa)?;
            if code.len() == MAX_INSTRUCTIONS {
                return Err(GraphError::TooLong(MAX_INSTRUCTIONS));
            }
            code.insert(at, inst);
            match flow(inst.op) {
                Flow::Next => at = inst.next_offset(),
                Flow::Stop => break,
                Flow::Jump => at = inside(&inst, words)?,
                Flow::Fork(_) => {
                    todo.push(inside(&inst, words)?);
                    at = inst.next_offset();
                }
                Flow::Indirect => return Err(GraphError::Indirect { pc: at, mnemonic: inst.op.name() }),
            }
        }
    }
    Ok(code)
}

fn inside(inst: &Inst, words: &[u32]) -> Result<u32, GraphError> {
    let to = target(inst);
    match u32::try_from(to) {
        Ok(offset) if (offset as usize) < words.len() * 4 => Ok(offset),
        _ => Err(GraphError::Outside { pc: inst.offset, to }),
    }
}

/// Offsets at which a block starts.
fn leaders(code: &BTreeMap<u32, Inst>) -> Result<BTreeSet<u32>, GraphError> {
    let mut leaders = BTreeSet::from([0]);
    let mut last: Option<&Inst> = None;
    for inst in code.values() {
        if let Some(before) = last
            && before.next_offset() > inst.offset
        {
            return Err(GraphError::Overlap { first: before.offset, second: inst.offset });
        }
        last = Some(inst);
        if matches!(flow(inst.op), Flow::Jump | Flow::Fork(_)) {
            leaders.insert(target(inst) as u32);
            leaders.insert(inst.next_offset());
        }
    }
    leaders.retain(|offset| code.contains_key(offset));
    Ok(leaders)
}

fn block(start: u32, code: &BTreeMap<u32, Inst>, ids: &BTreeMap<u32, BlockId>) -> Block {
    let id = |offset: u32| ids.get(&offset).copied().unwrap_or(BlockId(0));
    let mut insts = Vec::new();
    let mut at = start;
    while let Some(inst) = code.get(&at) {
        let end = match flow(inst.op) {
            Flow::Stop => Some(End::Program),
            Flow::Jump => Some(End::To(id(target(inst) as u32))),
            Flow::Fork(condition) => {
                Some(End::Branch { condition, taken: id(target(inst) as u32), next: id(inst.next_offset()) })
            }
            Flow::Next | Flow::Indirect => None,
        };
        if let Some(end) = end {
            return Block { insts, end, offset: start, jumps: true };
        }
        insts.push(*inst);
        at = inst.next_offset();
        if ids.contains_key(&at) {
            return Block { insts, end: End::To(id(at)), offset: start, jumps: false };
        }
    }
    Block { insts, end: End::Program, offset: start, jumps: false }
}
