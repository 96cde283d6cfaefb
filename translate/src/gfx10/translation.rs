//! From code words to a verified program.

use guestwave_isa::gfx10::{Target, WaveSize};

use super::emit::{Input, emit, reads_clock};
use super::error::{Refusal, Stop};
use super::event::Event;
use super::flow::{Graph, Order, Tree};
use super::plan::{Facts, Kinds, Liveness, Plan};
use super::shape::LaunchShape;
use crate::backend::Fidelity;
use crate::program::{ParamSource, Program, Trace, verify};

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
    /// GB_ADDR_CONFIG of the device, which the layouts of tiled images depend on.
    pub addr_config: u32,
    /// Whether exports and messages are recorded.
    pub record: bool,
    /// How close to the guest's bits floats are to be.
    pub fidelity: Fidelity,
    /// Whether the lanes of a wave are to go one way together everywhere, so that it can be held back between iterations of its loops.
    pub together: bool,
}

/// What the launch at hand can say about a number.
/// It is asked with the parameter words that the program has so far.
pub type Known<'a> = &'a dyn Fn(&Trace, &[ParamSource]) -> Option<u64>;

/// Bits of a number that a translation takes for granted: formats and modes of descriptors.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Assumption {
    /// How a launch works the number out.
    pub trace: Trace,
    /// Which of its bits count.
    pub mask: u32,
    /// What they are.
    pub value: u32,
}

/// A translated program and what it takes for granted. If a launch breaks an assumption, the program ends without effect
/// with code `TR-SPEC-001`.
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// The program.
    pub program: Program,
    /// What it takes for granted.
    pub assumptions: Vec<Assumption>,
    /// The instructions whose exports and messages it records.
    pub events: Vec<Event>,
}

/// Translates a guest program for launches that say what `known` says, and tells how many bytes of code it reaches.
///
/// # Errors
/// The first thing in it that is not translated.
pub fn translate(source: &Source<'_>, name: &str, known: Known<'_>) -> Result<(Translation, u32), Refusal> {
    let graph = Graph::new(source.words, source.target)?;
    let order = Order::new(&graph);
    let tree = Tree::new(&graph, &order);
    let kinds = Kinds::new(&graph, source.wave);
    let live = Liveness::new(&graph, source.wave);
    let facts = Facts { graph: &graph, order: &order, kinds: &kinds, live: &live, wave: source.wave };
    // A clock counts what the whole wave executes.
    let mut plan =
        if source.together || reads_clock(&graph) { Plan::together(&facts) } else { Plan::new(&facts) };
    loop {
        let input = Input {
            graph: &graph,
            tree: &tree,
            kinds: &kinds,
            live: &live,
            plan: &plan,
            source,
            name,
            known,
        };
        match emit(&input) {
            // Lanes that leave a loop by themselves are away for the rest of it: no uniform register may change there.
            Ok(translation) if plan.parts() && verify(&translation.program).is_err() => {
                plan = Plan::together(&facts);
            }
            Ok(translation) => return Ok((translation, graph.bytes)),
            Err(Stop::Refused(refusal)) => return Err(refusal),
            Err(Stop::NeedsVote(block)) => match plan.without(&facts, block) {
                Some(next) => plan = next,
                None => return Err(Refusal::Zone { pc: graph.block(block).offset }),
            },
        }
    }
}
