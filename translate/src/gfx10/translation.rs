//! From code words to a verified program.

use guestwave_isa::gfx10::{Target, WaveSize};

use super::emit::{Input, emit};
use super::error::{Refusal, Stop};
use super::flow::{Graph, Order, Tree};
use super::plan::{Facts, Kinds, Liveness, Plan};
use super::shape::LaunchShape;
use crate::backend::Fidelity;
use crate::program::Program;

/// A guest program and everything that is compiled into its translation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source<'a> {
    /// Code from the first instruction on; may reach past the end.
    pub words: &'a [u32],
    /// Instruction set.
    pub target: Target,
    /// Lanes of a wave.
    pub wave: WaveSize,
    /// FLOAT_MODE: round32 1:0, round16_64 3:2, denorm32 5:4, denorm16_64 7:6.
    pub float_mode: u8,
    /// DX10_CLAMP.
    pub dx10_clamp: bool,
    /// IEEE_MODE.
    pub ieee: bool,
    /// Which rule fills which register.
    pub shape: LaunchShape,
    /// LDS bytes of a workgroup.
    pub lds_bytes: u32,
    /// Scratch bytes of a lane.
    pub scratch_bytes: u32,
    /// How close to the guest's bits floats are to be.
    pub fidelity: Fidelity,
}

/// Translates a guest program.
///
/// # Errors
/// The first thing in it that is not translated.
pub fn translate(source: &Source<'_>, name: &str) -> Result<Program, Refusal> {
    let graph = Graph::new(source.words, source.target)?;
    let order = Order::new(&graph);
    let tree = Tree::new(&graph, &order);
    let kinds = Kinds::new(&graph, source.wave);
    let live = Liveness::new(&graph, source.wave);
    let facts = Facts { graph: &graph, order: &order, kinds: &kinds, live: &live, wave: source.wave };
    let mut plan = Plan::new(&facts);
    loop {
        let input =
            Input { graph: &graph, tree: &tree, kinds: &kinds, live: &live, plan: &plan, source, name };
        match emit(&input) {
            Ok(program) => return Ok(program),
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::NeedsVote(block)) => match plan.without(&facts, block) {
                Some(next) => plan = next,
                None => return Err(Refusal::Zone { pc: graph.block(block).offset }),
            },
        }
    }
}
