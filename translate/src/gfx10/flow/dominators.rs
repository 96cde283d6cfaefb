//! Orders and dominators of a graph.

use super::{BlockId, Graph};

/// Reverse post-order, dominators and post-dominators of the reachable blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The blocks in reverse post-order.
    pub rpo: Vec<BlockId>,
    /// Place of each block in `rpo`.
    pub number: Vec<usize>,
    /// Immediate dominator of each block; the entry's is itself.
    pub idom: Vec<BlockId>,
    /// Immediate post-dominator of each block; `None` where only the end of the program post-dominates it.
    pub ipdom: Vec<Option<BlockId>>,
    /// Whether each back edge goes to a dominator of its source.
    pub reducible: bool,
}

impl Order {
    /// Works them out.
    pub fn new<I, C: Copy>(graph: &Graph<I, C>) -> Order {
        let successors: Vec<Vec<usize>> =
            graph.blocks.iter().map(|b| b.end.successors().map(|s| s.0).collect()).collect();
        let rpo = reverse_post_order(&successors, 0);
        let number = numbering(&rpo, successors.len());
        let predecessors = invert(&successors);
        let idom = immediate(&rpo, &number, &predecessors);
        let ipdom = post_dominators(&successors, &predecessors);
        let mut order = Order {
            rpo: rpo.iter().copied().map(BlockId).collect(),
            number,
            idom: idom.into_iter().enumerate().map(|(b, d)| BlockId(d.unwrap_or(b))).collect(),
            ipdom,
            reducible: true,
        };
        order.reducible = graph.ids().all(|b| {
            graph.block(b).end.successors().all(|s| !order.is_back_edge(b, s) || order.dominates(s, b))
        });
        order
    }

    /// Whether an edge goes backwards in reverse post-order.
    pub fn is_back_edge(&self, from: BlockId, to: BlockId) -> bool {
        self.number[to.0] <= self.number[from.0]
    }

    /// Whether every way to `b` goes through `a`.
    pub fn dominates(&self, a: BlockId, mut b: BlockId) -> bool {
        while self.number[b.0] > self.number[a.0] {
            b = self.idom[b.0];
        }
        a == b
    }
}

fn invert(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (from, list) in successors.iter().enumerate() {
        for to in list {
            predecessors[*to].push(from);
        }
    }
    predecessors
}

fn numbering(rpo: &[usize], len: usize) -> Vec<usize> {
    let mut number = vec![usize::MAX; len];
    for (n, b) in rpo.iter().enumerate() {
        number[*b] = n;
    }
    number
}

/// Depth-first without recursion, since guest graphs can be deep.
fn reverse_post_order(successors: &[Vec<usize>], entry: usize) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::with_capacity(successors.len());
    let mut stack = vec![(entry, 0)];
    seen[entry] = true;
    while let Some((block, next)) = stack.pop() {
        // `taken` is visited first and so comes after `next` once the order is reversed.
        match successors[block].get(next).copied() {
            Some(s) => {
                stack.push((block, next + 1));
                if !seen[s] {
                    seen[s] = true;
                    stack.push((s, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

/// Immediate dominators by the iterative algorithm of Cooper, Harvey and Kennedy.
fn immediate(rpo: &[usize], number: &[usize], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut idom = vec![None; predecessors.len()];
    let Some(entry) = rpo.first() else { return idom };
    idom[*entry] = Some(*entry);
    let mut changed = true;
    while changed {
        changed = false;
        for b in &rpo[1..] {
            let known = predecessors[*b].iter().copied().filter(|p| idom[*p].is_some());
            let new = known.reduce(|x, y| intersect(&idom, number, x, y));
            changed |= idom[*b] != new;
            idom[*b] = new;
        }
    }
    idom
}

fn intersect(idom: &[Option<usize>], number: &[usize], mut x: usize, mut y: usize) -> usize {
    while x != y {
        while number[x] > number[y] {
            x = idom[x].unwrap_or(y);
        }
        while number[y] > number[x] {
            y = idom[y].unwrap_or(x);
        }
    }
    x
}

/// Dominators of the reversed graph, whose entry is a node behind every block that ends the program.
fn post_dominators(successors: &[Vec<usize>], predecessors: &[Vec<usize>]) -> Vec<Option<BlockId>> {
    let n = successors.len();
    let mut reversed: Vec<Vec<usize>> = predecessors.to_vec();
    let ends: Vec<usize> = (0..n).filter(|b| successors[*b].is_empty()).collect();
    reversed.push(ends.clone());
    let mut into = successors.to_vec();
    for end in &ends {
        into[*end].push(n);
    }
    into.push(Vec::new());
    let rpo = reverse_post_order(&reversed, n);
    let idom = immediate(&rpo, &numbering(&rpo, n + 1), &into);
    idom[..n].iter().map(|d| d.filter(|d| *d != n).map(BlockId)).collect()
}
