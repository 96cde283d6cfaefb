//! Generated programs: instructions of the pool in sequences, branches and loops.

use guestwave_isa::gfx10::{Encoding, Op, Target, WaveSize, disassemble_program};
use proptest::prelude::*;

use super::encode::registers::{COUNTERS, DATA, SAVED, SCALAR_COUNTERS};
use super::environment::{MODES, Setting};
use super::pool::{Entry, Pool};

/// Branches and loops inside each other at most.
const DEPTH: u32 = 3;

/// One step of a program; numbers choose from the pool.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// An instruction that a number chooses.
    Inst(usize),
    /// The instruction at a place of the pool.
    Entry(usize),
    /// By a comparison of each lane: EXEC is narrowed, and what no lane takes may be skipped.
    Lanes { compare: usize, skip: bool, then: Vec<Node>, otherwise: Vec<Node> },
    /// By a comparison of scalars.
    Scalar { compare: usize, then: Vec<Node>, otherwise: Vec<Node> },
    /// By whether any lane's comparison holds.
    AnyLane { compare: usize, then: Vec<Node> },
    /// As often as each lane's register says, up to three times.
    LaneLoop { register: u32, body: Vec<Node> },
    /// A number of times.
    ScalarLoop { count: u32, body: Vec<Node> },
}

/// A program and what it is run in.
#[derive(Clone)]
pub(super) struct Program {
    pub(super) setting: Setting,
    pub(super) nodes: Vec<Node>,
}

/// The pools of both wave sizes.
pub(super) struct Pools {
    pub(super) narrow: Pool,
    pub(super) wide: Pool,
}

impl Pools {
    fn of(&self, lanes: u8) -> &Pool {
        if lanes == 64 { &self.wide } else { &self.narrow }
    }
}

fn node() -> impl Strategy<Value = Node> {
    let leaf = any::<usize>().prop_map(Node::Inst);
    leaf.prop_recursive(DEPTH, 12, 4, |inner| {
        let block = prop::collection::vec(inner.clone(), 1..5);
        let maybe = prop::collection::vec(inner, 0..3);
        let blocks = (any::<usize>(), block.clone(), maybe);
        prop_oneof![
            (any::<bool>(), blocks.clone()).prop_map(|(skip, (compare, then, otherwise))| Node::Lanes {
                compare,
                skip,
                then,
                otherwise
            }),
            blocks.prop_map(|(compare, then, otherwise)| Node::Scalar { compare, then, otherwise }),
            (any::<usize>(), block.clone()).prop_map(|(compare, then)| Node::AnyLane { compare, then }),
            (0..DATA.end, block.clone()).prop_map(|(register, body)| Node::LaneLoop { register, body }),
            (1u32..4, block).prop_map(|(count, body)| Node::ScalarLoop { count, body }),
        ]
    })
}

/// Programs of some instructions, most of them in a row: mostly few, and now and then many.
pub(super) fn program() -> impl Strategy<Value = Program> {
    let straight = any::<usize>().prop_map(Node::Inst);
    let some = prop_oneof![6 => straight, 1 => node()].boxed();
    let nodes = prop_oneof![
        6 => prop::collection::vec(some.clone(), 1..9),
        3 => prop::collection::vec(some.clone(), 6..18),
        1 => prop::collection::vec(some, 16..48),
    ];
    let setting =
        (prop::sample::select(vec![32u8, 64]), 1u32..3, prop::sample::select(MODES.to_vec()), any::<u64>());
    (setting, nodes).prop_map(|((wave_lanes, waves, mode, seed), nodes)| {
        let setting = Setting { wave_lanes, waves, mode, seed };
        Program { setting, nodes }
    })
}

impl Program {
    /// Its words, without an end.
    pub(super) fn words(&self, pools: &Pools) -> Vec<u32> {
        let lanes = self.setting.wave_lanes;
        let mut writer = Writer { pool: pools.of(lanes), wide: lanes == 64, depth: 0, apart: 0 };
        writer.block(&self.nodes)
    }

    /// What a disassembler makes of it.
    pub(super) fn listing(&self, pools: &Pools) -> String {
        let wave = if self.setting.wave_lanes == 64 { WaveSize::W64 } else { WaveSize::W32 };
        let words = self.words(pools);
        let lines = disassemble_program(&words, Target::Gfx1030, wave).map(|line| format!("{line}\n"));
        lines.collect::<String>() + &format!("{:?}", self.setting)
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.listing(super::pools()))
    }
}

/// Writes a program's words.
struct Writer<'p> {
    pool: &'p Pool,
    wide: bool,
    depth: u32,
    /// Branches and loops around in which lanes may go their own ways.
    apart: u32,
}

const VCC: u32 = 106;
const EXEC: u32 = 126;
const ZERO: u32 = 128;

fn opcode(op: Op, encoding: Encoding) -> u32 {
    op.row(encoding).map_or(0, |row| row.opcode.into())
}

fn sop1(op: Op, to: u32, from: u32) -> u32 {
    0xbe80_0000 | to << 16 | opcode(op, Encoding::Sop1) << 8 | from
}

fn sop2(op: Op, to: u32, a: u32, b: u32) -> u32 {
    0x8000_0000 | opcode(op, Encoding::Sop2) << 23 | to << 16 | b << 8 | a
}

fn sopp(op: Op, words: i32) -> u32 {
    0xbf80_0000 | opcode(op, Encoding::Sopp) << 16 | words as u32 & 0xffff
}

impl Writer<'_> {
    /// The operation for the wave's masks.
    fn sized(&self, [narrow, wide]: [Op; 2]) -> Op {
        if self.wide { wide } else { narrow }
    }

    fn block(&mut self, nodes: &[Node]) -> Vec<u32> {
        nodes.iter().flat_map(|n| self.node(n)).collect()
    }

    fn inner(&mut self, nodes: &[Node], apart: bool) -> Vec<u32> {
        self.depth += 1;
        self.apart += u32::from(apart);
        let words = self.block(nodes);
        self.apart -= u32::from(apart);
        self.depth -= 1;
        words
    }

    fn compare(&self, number: usize) -> Vec<u32> {
        let compares = &self.pool.compares;
        self.pool.entries[compares[number % compares.len()]].words.clone()
    }

    fn scalar_compare(&self, number: usize) -> Vec<u32> {
        let compares = &self.pool.scalar_compares;
        self.pool.entries[compares[number % compares.len()]].words.clone()
    }

    fn entry(&self, entry: &Entry) -> Vec<u32> {
        if entry.together && self.apart > 0 { Vec::new() } else { entry.words.clone() }
    }

    fn node(&mut self, node: &Node) -> Vec<u32> {
        match node {
            Node::Inst(number) => self.entry(self.pool.pick(*number)),
            Node::Entry(place) => self.entry(&self.pool.entries[*place]),
            Node::Lanes { compare, skip, then, otherwise } => self.lanes(*compare, *skip, then, otherwise),
            Node::Scalar { compare, then, otherwise } => {
                let mut words = self.scalar_compare(*compare);
                let (then, otherwise) = (self.inner(then, false), self.inner(otherwise, false));
                words.push(sopp(Op::S_CBRANCH_SCC0, then.len() as i32 + 1));
                words.extend(then);
                words.push(sopp(Op::S_BRANCH, otherwise.len() as i32));
                words.extend(otherwise);
                words
            }
            Node::AnyLane { compare, then } => {
                let mut words = self.compare(*compare);
                let then = self.inner(then, false);
                words.push(sopp(Op::S_CBRANCH_VCCZ, then.len() as i32));
                words.extend(then);
                words
            }
            Node::LaneLoop { register, body } => self.lane_loop(*register, body),
            Node::ScalarLoop { count, body } => self.scalar_loop(*count, body),
        }
    }

    fn saved(&self) -> u32 {
        SAVED + 2 * self.depth
    }

    fn restore(&self) -> u32 {
        sop1(self.sized([Op::S_MOV_B32, Op::S_MOV_B64]), EXEC, self.saved())
    }

    fn lanes(&mut self, compare: usize, skip: bool, then: &[Node], otherwise: &[Node]) -> Vec<u32> {
        let saved = self.saved();
        let mut words = self.compare(compare);
        words.push(sop1(self.sized([Op::S_AND_SAVEEXEC_B32, Op::S_AND_SAVEEXEC_B64]), saved, VCC));
        for (i, block) in [then, otherwise].into_iter().enumerate() {
            if i == 1 && block.is_empty() {
                continue;
            }
            if i == 1 {
                words.push(sop2(self.sized([Op::S_XOR_B32, Op::S_XOR_B64]), EXEC, EXEC, saved));
            }
            let block = self.inner(block, true);
            if skip {
                words.push(sopp(Op::S_CBRANCH_EXECZ, block.len() as i32));
            }
            words.extend(block);
        }
        words.push(self.restore());
        words
    }

    fn lane_loop(&mut self, register: u32, body: &[Node]) -> Vec<u32> {
        let counter = COUNTERS + self.depth.min(2);
        let saved = self.saved();
        let body = self.inner(body, true);
        // v_and_b32 counter, 3, register; v_add_nc_u32 counter, -1, counter; v_cmp_lt_i32 vcc, 0, counter
        let start = opcode(Op::V_AND_B32, Encoding::Vop2) << 25 | counter << 17 | register << 9 | (ZERO + 3);
        let step = opcode(Op::V_ADD_NC_U32, Encoding::Vop2) << 25 | counter << 17 | counter << 9 | 193;
        let left = 0x7c00_0000 | opcode(Op::V_CMP_LT_I32, Encoding::Vopc) << 17 | counter << 9 | ZERO;
        let mut words = vec![start, sop1(self.sized([Op::S_MOV_B32, Op::S_MOV_B64]), saved, EXEC)];
        let turn = body.len() as i32 + 4;
        words.extend(body);
        words.extend([step, left, sop2(self.sized([Op::S_AND_B32, Op::S_AND_B64]), EXEC, EXEC, VCC)]);
        words.extend([sopp(Op::S_CBRANCH_EXECNZ, -turn), self.restore()]);
        words
    }

    fn scalar_loop(&mut self, count: u32, body: &[Node]) -> Vec<u32> {
        let counter = SCALAR_COUNTERS + self.depth;
        let body = self.inner(body, false);
        let mut words = vec![sop1(Op::S_MOV_B32, counter, ZERO + count)];
        let turn = body.len() as i32 + 3;
        words.extend(body);
        words.push(sop2(Op::S_SUB_U32, counter, counter, ZERO + 1));
        words.push(0xbf00_0000 | opcode(Op::S_CMP_LG_U32, Encoding::Sopc) << 16 | ZERO << 8 | counter);
        words.push(sopp(Op::S_CBRANCH_SCC1, -turn));
        words
    }
}
