//! Structured control from the dominator tree.
//!
//! Each block is placed once. A block that several forward edges reach, or that an edge out of a loop reaches, stands behind a
//! *scope* that all ways to it leave; the scope belongs to the block's immediate dominator, or, if that lies in a loop which does not
//! hold the block, to that loop's header, behind the loop. A way that only has to fall off the end of its scope costs
//! nothing; where that is not enough the scope becomes a loop that runs once, and ways across several loops raise a flag.
//!
//! A graph with a back edge to a block that does not dominate its source (irreducible) becomes a [`Node::Chain`].

use super::{BlockId, End, Graph, Order};

/// A program as structured control.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Tree {
    /// What runs.
    pub nodes: Vec<Node>,
    /// Number of flags that [`Node::Raise`] uses.
    pub flags: usize,
}

/// A way out of a loop by flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exit {
    /// Leaves the innermost loop.
    Break,
    /// Starts its next iteration.
    Continue,
}

/// One step of structured control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// The instructions of a block.
    Block(BlockId),
    /// The branch that ends a block.
    If {
        /// Whose branch.
        block: BlockId,
        /// Where it is taken.
        taken: Vec<Node>,
        /// Where it is not.
        next: Vec<Node>,
    },
    /// A loop of the guest, by its header.
    Loop {
        /// The header; `None` for a loop that runs once, whose end is a `Break`.
        header: Option<BlockId>,
        /// The iteration.
        body: Vec<Node>,
    },
    /// Leaves or repeats the innermost loop.
    Exit(Exit),
    /// Ends the wave.
    End,
    /// Lowers a flag.
    Lower(usize),
    /// Raises a flag.
    Raise(usize),
    /// Goes on outwards if a flag is raised.
    IfRaised(usize, Exit),
    /// Blocks that choose each other by number, in one loop.
    Chain(Vec<BlockId>),
}

/// The way to a block that is placed elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// To the block behind this scope.
    Leave(BlockId),
    /// To the header of this loop.
    Repeat(BlockId),
}

/// Structured control before the ways are resolved.
enum Draft {
    Block(BlockId),
    If { block: BlockId, taken: Vec<Draft>, next: Vec<Draft> },
    Scope { label: BlockId, body: Vec<Draft> },
    Loop { header: BlockId, body: Vec<Draft> },
    Go(Goal),
    End,
}

impl Tree {
    /// Structures a graph.
    pub fn new<I, C: Copy>(graph: &Graph<I, C>, order: &Order) -> Tree {
        if !order.reducible {
            return Tree { nodes: vec![Node::Chain(order.rpo.clone())], flags: 0 };
        }
        let draft = Shaper::new(graph, order).tree(BlockId(0));
        Resolver::default().run(draft)
    }
}

struct Shaper<'a, I, C> {
    graph: &'a Graph<I, C>,
    order: &'a Order,
    /// Innermost loop header of each block, itself for a header.
    header: Vec<Option<BlockId>>,
    /// Header of the loop around the loop of each header.
    outer: Vec<Option<BlockId>>,
    /// Blocks that stand behind a scope.
    merge: Vec<bool>,
    /// For each block, those whose scope it opens, innermost first.
    scopes: Vec<Vec<BlockId>>,
}

impl<'a, I, C: Copy> Shaper<'a, I, C> {
    fn new(graph: &'a Graph<I, C>, order: &'a Order) -> Self {
        let n = graph.blocks.len();
        let mut s = Shaper {
            graph,
            order,
            header: vec![None; n],
            outer: vec![None; n],
            merge: vec![false; n],
            scopes: vec![Vec::new(); n],
        };
        s.find_loops();
        s.find_merges();
        s
    }

    /// Marks natural loops, inner ones first (their headers come later in the order).
    fn find_loops(&mut self) {
        let predecessors = self.graph.predecessors();
        for header in self.order.rpo.iter().rev().copied() {
            let latches: Vec<BlockId> = predecessors[header.0]
                .iter()
                .copied()
                .filter(|p| self.order.is_back_edge(*p, header))
                .collect();
            if latches.is_empty() {
                continue;
            }
            self.claim(header, latches, &predecessors);
        }
    }

    /// Gives the loop of `header` every block from which a latch is reached without the header.
    fn claim(&mut self, header: BlockId, latches: Vec<BlockId>, predecessors: &[Vec<BlockId>]) {
        let mut todo = latches;
        let mut seen = vec![false; self.header.len()];
        seen[header.0] = true;
        while let Some(b) = todo.pop() {
            if std::mem::replace(&mut seen[b.0], true) {
                continue;
            }
            match self.header[b.0] {
                None => self.header[b.0] = Some(header),
                Some(inner) if inner == b => self.outer[b.0] = self.outer[b.0].or(Some(header)),
                Some(_) => {}
            }
            todo.extend(&predecessors[b.0]);
        }
        self.header[header.0] = Some(header);
    }

    fn in_loop(&self, b: BlockId, header: BlockId) -> bool {
        let mut at = self.header[b.0];
        while let Some(h) = at {
            if h == header {
                return true;
            }
            at = self.outer[h.0];
        }
        false
    }

    fn leaves_loop(&self, from: BlockId, to: BlockId) -> bool {
        self.header[from.0].is_some_and(|h| !self.in_loop(to, h))
    }

    fn find_merges(&mut self) {
        let mut forward = vec![0; self.graph.blocks.len()];
        for from in self.graph.ids() {
            for to in self.graph.block(from).end.successors() {
                if !self.order.is_back_edge(from, to) {
                    forward[to.0] += 1;
                    self.merge[to.0] |= forward[to.0] > 1 || self.leaves_loop(from, to);
                }
            }
        }
        for b in self.order.rpo.clone() {
            if self.merge[b.0] {
                let place = self.place(b);
                self.scopes[place.0].push(b);
            }
        }
    }

    /// Who opens the scope that `b` stands behind.
    fn place(&self, b: BlockId) -> BlockId {
        let mut at = self.order.idom[b.0];
        while let Some(h) = self.header[at.0].filter(|h| !self.in_loop(b, *h)) {
            at = h;
            match self.outer[h.0].filter(|o| !self.in_loop(b, *o)) {
                Some(outer) => at = outer,
                None => break,
            }
        }
        at
    }

    fn tree(&self, x: BlockId) -> Vec<Draft> {
        let is_header = self.header[x.0] == Some(x);
        let (inside, behind): (Vec<BlockId>, Vec<BlockId>) =
            self.scopes[x.0].iter().partition(|y| !is_header || self.in_loop(**y, x));
        let mut body = self.wrap(self.core(x), &inside);
        if is_header {
            body = vec![Draft::Loop { header: x, body }];
        }
        self.wrap(body, &behind)
    }

    /// Puts `body` in a scope for each of `labels` (in reverse post-order), each followed by its block.
    fn wrap(&self, body: Vec<Draft>, labels: &[BlockId]) -> Vec<Draft> {
        labels.iter().fold(body, |body, label| {
            let mut nodes = vec![Draft::Scope { label: *label, body }];
            nodes.extend(self.tree(*label));
            nodes
        })
    }

    fn core(&self, x: BlockId) -> Vec<Draft> {
        let mut nodes = vec![Draft::Block(x)];
        match self.graph.block(x).end {
            End::Program => nodes.push(Draft::End),
            End::To(b) => nodes.extend(self.way(x, b)),
            End::Branch { taken, next, .. } if taken == next => nodes.extend(self.way(x, next)),
            End::Branch { taken, next, .. } => {
                nodes.push(Draft::If { block: x, taken: self.way(x, taken), next: self.way(x, next) });
            }
        }
        nodes
    }

    fn way(&self, from: BlockId, to: BlockId) -> Vec<Draft> {
        if self.order.is_back_edge(from, to) {
            vec![Draft::Go(Goal::Repeat(to))]
        } else if self.merge[to.0] {
            vec![Draft::Go(Goal::Leave(to))]
        } else {
            self.tree(to)
        }
    }
}

/// A construct around the present place that `Break` and `Continue` mean.
struct Around {
    /// Goals that are reached by falling off behind it.
    behind: Vec<Goal>,
    /// The guest loop's header.
    header: Option<BlockId>,
    /// Flags that ways out of it raise.
    raised: Vec<(Goal, usize)>,
}

/// Turns goals into falling off, `Break`, `Continue` and flags.
#[derive(Default)]
struct Resolver {
    around: Vec<Around>,
    flags: usize,
}

impl Resolver {
    fn run(mut self, draft: Vec<Draft>) -> Tree {
        let nodes = self.list(draft, &[]);
        Tree { nodes, flags: self.flags }
    }

    /// `tail`: the goals that falling off the end of the list reaches.
    fn list(&mut self, drafts: Vec<Draft>, tail: &[Goal]) -> Vec<Node> {
        let mut nodes = Vec::new();
        let count = drafts.len();
        for (i, draft) in drafts.into_iter().enumerate() {
            let tail = if i + 1 == count { tail } else { &[] };
            self.node(draft, tail, &mut nodes);
        }
        nodes
    }

    fn node(&mut self, draft: Draft, tail: &[Goal], nodes: &mut Vec<Node>) {
        match draft {
            Draft::Block(b) => nodes.push(Node::Block(b)),
            Draft::End => nodes.push(Node::End),
            Draft::Go(goal) => self.go(goal, tail, nodes),
            Draft::If { block, taken, next } => {
                let taken = self.list(taken, tail);
                let next = self.list(next, tail);
                nodes.push(Node::If { block, taken, next });
            }
            Draft::Scope { label, body } => self.scope(label, body, tail, nodes),
            Draft::Loop { header, body } => {
                let inner = [Goal::Repeat(header)];
                self.construct(Some(header), body, &inner, tail, nodes);
            }
        }
    }

    fn scope(&mut self, label: BlockId, body: Vec<Draft>, tail: &[Goal], nodes: &mut Vec<Node>) {
        let mut behind = tail.to_vec();
        behind.push(Goal::Leave(label));
        if falls_only(&body, Goal::Leave(label), true) {
            let inner = self.list(body, &behind);
            nodes.extend(inner);
        } else {
            let inner = behind.clone();
            self.construct(None, body, &inner, &behind, nodes);
        }
    }

    /// A loop construct; `inner` is what the end of its body reaches, `behind` what its own end reaches.
    fn construct(
        &mut self,
        header: Option<BlockId>,
        body: Vec<Draft>,
        inner: &[Goal],
        behind: &[Goal],
        nodes: &mut Vec<Node>,
    ) {
        self.around.push(Around { behind: behind.to_vec(), header, raised: Vec::new() });
        let mut body = self.list(body, inner);
        if header.is_none() {
            body.push(Node::Exit(Exit::Break));
        }
        let raised = self.around.pop().map(|a| a.raised).unwrap_or_default();
        nodes.extend(raised.iter().map(|(_, flag)| Node::Lower(*flag)));
        nodes.push(Node::Loop { header, body });
        for (goal, flag) in raised {
            let exit = self.step(goal, flag);
            nodes.push(Node::IfRaised(flag, exit));
        }
    }

    fn go(&mut self, goal: Goal, tail: &[Goal], nodes: &mut Vec<Node>) {
        if tail.contains(&goal) {
            return;
        }
        let direct = self.around.last().and_then(|a| a.reach(goal));
        if let Some(exit) = direct {
            return nodes.push(Node::Exit(exit));
        }
        let flag = self.flag(goal);
        nodes.push(Node::Raise(flag));
        nodes.push(Node::Exit(Exit::Break));
    }

    /// The flag by which ways out of the innermost construct go on to `goal`.
    fn flag(&mut self, goal: Goal) -> usize {
        let known = self.around.last().and_then(|a| a.raised.iter().find(|(g, _)| *g == goal));
        if let Some((_, flag)) = known {
            return *flag;
        }
        let flag = self.flags;
        self.flags += 1;
        if let Some(a) = self.around.last_mut() {
            a.raised.push((goal, flag));
        }
        flag
    }

    /// How a raised flag goes on from behind a construct whose surroundings are now the innermost.
    fn step(&mut self, goal: Goal, flag: usize) -> Exit {
        match self.around.last().and_then(|a| a.reach(goal)) {
            Some(exit) => exit,
            None => {
                if let Some(a) = self.around.last_mut()
                    && !a.raised.iter().any(|(_, f)| *f == flag)
                {
                    a.raised.push((goal, flag));
                }
                Exit::Break
            }
        }
    }
}

impl Around {
    fn reach(&self, goal: Goal) -> Option<Exit> {
        match goal {
            Goal::Repeat(h) if self.header == Some(h) => Some(Exit::Continue),
            _ if self.behind.contains(&goal) => Some(Exit::Break),
            _ => None,
        }
    }
}

/// Whether every way to `goal` in these drafts falls off their end. `last`: they end what is asked about.
fn falls_only(drafts: &[Draft], goal: Goal, last: bool) -> bool {
    let count = drafts.len();
    drafts.iter().enumerate().all(|(i, draft)| {
        let last = last && i + 1 == count;
        match draft {
            Draft::Go(g) => *g != goal || last,
            Draft::If { taken, next, .. } => falls_only(taken, goal, last) && falls_only(next, goal, last),
            Draft::Scope { body, .. } => falls_only(body, goal, last),
            Draft::Loop { body, .. } => last || !mentions(body, goal),
            Draft::Block(_) | Draft::End => true,
        }
    })
}

/// Whether any way in these drafts goes to `goal`.
fn mentions(drafts: &[Draft], goal: Goal) -> bool {
    drafts.iter().any(|draft| match draft {
        Draft::Go(g) => *g == goal,
        Draft::If { taken, next, .. } => mentions(taken, goal) || mentions(next, goal),
        Draft::Scope { body, .. } | Draft::Loop { body, .. } => mentions(body, goal),
        Draft::Block(_) | Draft::End => false,
    })
}
