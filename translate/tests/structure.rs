//! Structured control takes the same way through the blocks as the graph it was made from.

use guestwave_translate::gfx10::flow::{Block, BlockId, Condition, End, Exit, Graph, Node, Order, Tree};
use proptest::prelude::*;

/// Decisions of the branches, by block and visit, the same for the graph and the tree.
fn decision(seed: u64, block: usize, visit: usize) -> bool {
    let mut x =
        seed ^ (block as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (visit as u64).wrapping_mul(0xd1b5_4a32);
    x ^= x >> 29;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 32;
    x & 1 != 0
}

const STEPS: usize = 200;

struct Walk {
    seed: u64,
    visits: Vec<usize>,
    path: Vec<usize>,
}

impl Walk {
    fn new(seed: u64, blocks: usize) -> Walk {
        Walk { seed, visits: vec![0; blocks], path: Vec::new() }
    }

    fn full(&self) -> bool {
        self.path.len() >= STEPS
    }

    fn visit(&mut self, b: BlockId) {
        self.path.push(b.0);
        self.visits[b.0] += 1;
    }

    fn takes(&self, b: BlockId) -> bool {
        decision(self.seed, b.0, self.visits[b.0])
    }
}

fn walk_graph(graph: &Graph, seed: u64) -> Vec<usize> {
    let mut w = Walk::new(seed, graph.blocks.len());
    let mut at = BlockId(0);
    while !w.full() {
        w.visit(at);
        at = match graph.block(at).end {
            End::Program => break,
            End::To(b) => b,
            End::Branch { taken, next, .. } => {
                if w.takes(at) {
                    taken
                } else {
                    next
                }
            }
        };
    }
    w.path
}

enum Went {
    On,
    Break,
    Continue,
    End,
}

fn walk_nodes(nodes: &[Node], flags: &mut [bool], w: &mut Walk) -> Went {
    for node in nodes {
        if w.full() {
            return Went::End;
        }
        let went = match node {
            Node::Block(b) => {
                w.visit(*b);
                Went::On
            }
            Node::If { block, taken, next } => {
                walk_nodes(if w.takes(*block) { taken } else { next }, flags, w)
            }
            Node::Loop { body, .. } => loop {
                match walk_nodes(body, flags, w) {
                    Went::Break => break Went::On,
                    Went::End => break Went::End,
                    Went::On | Went::Continue => {}
                }
            },
            Node::Exit(Exit::Break) => Went::Break,
            Node::Exit(Exit::Continue) => Went::Continue,
            Node::End => Went::End,
            Node::Lower(f) => {
                flags[*f] = false;
                Went::On
            }
            Node::Raise(f) => {
                flags[*f] = true;
                Went::On
            }
            Node::IfRaised(f, exit) if flags[*f] => match exit {
                Exit::Break => Went::Break,
                Exit::Continue => Went::Continue,
            },
            Node::IfRaised(..) => Went::On,
            Node::Chain(_) => unreachable!("reducible graphs only"),
        };
        if !matches!(went, Went::On) {
            return went;
        }
    }
    Went::On
}

/// A graph of blocks without instructions; unreachable blocks are dropped.
fn graph(ends: &[(u8, usize, usize)]) -> Graph {
    let n = ends.len();
    let end = |(kind, a, b): (u8, usize, usize)| match kind {
        0 => End::Program,
        1 | 2 => End::To(BlockId(a % n)),
        _ => End::Branch { condition: Condition::Scc(true), taken: BlockId(a % n), next: BlockId(b % n) },
    };
    let mut reached = vec![false; n];
    let mut todo = vec![0];
    while let Some(b) = todo.pop() {
        if !std::mem::replace(&mut reached[b], true) {
            todo.extend(end(ends[b]).successors().map(|s| s.0));
        }
    }
    let new: Vec<usize> = (0..n)
        .scan(0, |c, b| {
            let i = *c;
            *c += usize::from(reached[b]);
            Some(i)
        })
        .collect();
    let map = |b: BlockId| BlockId(new[b.0]);
    let blocks = (0..n)
        .filter(|b| reached[*b])
        .map(|b| Block {
            insts: Vec::new(),
            offset: 0,
            jumps: true,
            end: match end(ends[b]) {
                End::Program => End::Program,
                End::To(t) => End::To(map(t)),
                End::Branch { condition, taken, next } => {
                    End::Branch { condition, taken: map(taken), next: map(next) }
                }
            },
        })
        .collect();
    Graph { blocks, bytes: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]
    #[test]
    fn the_tree_goes_where_the_graph_goes(
        ends in prop::collection::vec((0u8..8, 0usize..12, 0usize..12), 1..12),
        seeds in prop::collection::vec(any::<u64>(), 8),
    ) {
        let graph = graph(&ends);
        let order = Order::new(&graph);
        let tree = Tree::new(&graph, &order);
        if order.reducible {
            for seed in seeds {
                let mut w = Walk::new(seed, graph.blocks.len());
                walk_nodes(&tree.nodes, &mut vec![false; tree.flags], &mut w);
                prop_assert_eq!(&w.path, &walk_graph(&graph, seed));
            }
        } else {
            prop_assert!(matches!(tree.nodes.as_slice(), [Node::Chain(_)]));
        }
    }
}

#[test]
fn an_if_without_else_needs_no_loop() {
    let tree = |ends: &[(u8, usize, usize)]| {
        let g = graph(ends);
        Tree::new(&g, &Order::new(&g)).nodes
    };
    let nodes = tree(&[(3, 2, 1), (1, 2, 0), (0, 0, 0)]);
    assert_eq!(nodes.len(), 4, "{nodes:?}");
    assert!(!format!("{nodes:?}").contains("Loop"), "{nodes:?}");
}

#[test]
fn a_loop_with_one_exit_needs_one_loop_and_no_flag() {
    let g = graph(&[(1, 1, 0), (3, 3, 2), (1, 1, 0), (0, 0, 0)]);
    let tree = Tree::new(&g, &Order::new(&g));
    assert_eq!(tree.flags, 0);
    assert_eq!(format!("{tree:?}").matches("Loop {").count(), 1, "{tree:?}");
}
