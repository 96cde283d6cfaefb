//! From code words to a program.

use super::Refusal;
use super::emit::Emit;
use super::graph::graph;
use crate::backend::Fidelity;
use crate::gfx10::flow::{Order, Tree};
use crate::gfx10::{Known, LaunchShape, Translation};

/// A guest program and everything that is compiled into its translation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source<'a> {
    /// Code from the first instruction on; may reach past the end.
    pub words: &'a [u32],
    /// Lanes of the waves that threads are put into.
    pub wave_lanes: u8,
    /// Which rule fills which register and environment word.
    pub shape: LaunchShape,
    /// How close to the guest's bits floats are to be. There is only one way of them here.
    pub fidelity: Fidelity,
}

/// Translates a guest program for launches that say what `known` says, and tells how many bytes of code it reaches.
///
/// # Errors
/// The first thing in it that is not translated.
pub fn translate(source: &Source<'_>, name: &str, known: Known<'_>) -> Result<(Translation, u32), Refusal> {
    let graph = graph(source.words)?;
    let order = Order::new(&graph);
    let tree = Tree::new(&graph, &order);
    let emit = Emit::new(&graph, source, name, known);
    let (program, assumptions) = emit.run(&tree)?;
    Ok((Translation { program, assumptions, events: Vec::new() }, graph.bytes))
}
