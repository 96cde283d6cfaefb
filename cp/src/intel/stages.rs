//! What an embedder gives: the stages between the vertex fetcher and stream output.

use super::fetch::Fetched;
use super::sol::{DrawnStream, Vues};
use super::topology::Strips;
use super::{Gen, Refusal, State};
use crate::streamout::Slot;
use crate::{GuestMemory, Origin};

/// Reads vertex formats.
pub trait AttributeFormats: Send {
    /// Bytes of an element of a surface format, 1 to 16; `None` where it is no vertex format.
    fn bytes(&self, format: u32) -> Option<u32>;

    /// The four components of an element, whose first bytes count.
    fn load(&self, format: u32, element: &[u8; 16]) -> Option<[u32; 4]>;
}

/// A draw's fetched vertices on their way to stream output.
#[derive(Clone, Copy, Debug)]
pub struct VertexWork<'a> {
    /// The generation whose programs they meet.
    pub generation: Gen,
    /// What packets have set.
    pub state: &'a State,
    /// The vertices.
    pub fetched: &'a Fetched,
    /// How they become primitives where no geometry program makes others.
    pub strips: Strips,
    /// The draw.
    pub origin: Origin,
}

impl VertexWork<'_> {
    /// Stream 0 with the draw's own topology and order, and these vertices.
    pub fn stream0(&self, vues: Vues) -> DrawnStream {
        DrawnStream {
            stream: Slot::default(),
            strips: self.strips,
            vues,
            order: self.fetched.order.clone(),
            instances: self.fetched.instances,
        }
    }
}

/// Runs what stands between the vertex fetcher and stream output.
pub trait VertexStage: Send {
    /// Whether geometry programs are run.
    fn runs_geometry(&self) -> bool {
        false
    }

    /// Whether tessellation is run.
    fn runs_tessellation(&self) -> bool {
        false
    }

    /// The vertices of each stream that comes of a draw, in order of the streams.
    ///
    /// # Errors
    /// A program that is not run.
    fn run(&mut self, work: &VertexWork<'_>, memory: &dyn GuestMemory) -> Result<Vec<DrawnStream>, Refusal>;
}

/// No programs: only draws with every stage off pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPrograms;

impl VertexStage for NoPrograms {
    fn run(&mut self, _: &VertexWork<'_>, _: &dyn GuestMemory) -> Result<Vec<DrawnStream>, Refusal> {
        Err(Refusal::VertexProgram { why: "no vertex stage is given" })
    }
}
