//! Control flow: from code words to basic blocks to structured control.

mod dominators;
mod graph;
mod structure;

pub use dominators::Order;
pub(super) use graph::follows;
pub use graph::{Block, BlockId, Condition, End, Graph, GraphError, MAX_INSTRUCTIONS};
pub use structure::{Exit, Node, Tree};
