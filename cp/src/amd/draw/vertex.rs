//! A draw of a plain vertex program.

use super::assembly::{self, Assembly, Order};
use super::last::{Items, LastStage};
use super::{Draw, VertexSide, inputs, options, topology};
use crate::amd::context::Context;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::field;
use crate::amd::streamout_unit::StreamoutUnit;
use crate::primitives::Topology;
use crate::streamout::Slot;
use crate::{DrawFacts, ExactDispatch, Refusal};

/// The stream that is stored where there is no geometry program.
pub(super) const STREAM: Slot = Slot::ALL[0];

/// A vertex draw that can be carried out.
pub(super) struct VertexHalf {
    dispatch: ExactDispatch,
    /// The last stage as the draw leaves it.
    last: LastStage,
    facts: Option<Box<DrawFacts>>,
}

impl VertexHalf {
    /// Works the draw out, without effect.
    ///
    /// # Errors
    /// State that is not carried out, more vertices than are taken for real, indices that cannot be read.
    pub(super) fn prepare(cx: &mut Context<'_>, draw: Draw<'_>) -> Result<VertexHalf, Refusal> {
        let registers = cx.registers();
        let topology = topology::current(registers)?;
        let mut last = LastStage::new(cx);
        let order = order(registers, topology, last.unit().core().enabled(STREAM) != 0)?;
        let assembly = assembly::assemble(cx, draw.packet, draw.request, topology, order)?;
        let registers = cx.registers();
        if let Some((least, most)) = assembly.id_bounds() {
            options::check_ids(registers, least, most)?;
        }
        let plan = last.unit().plan(STREAM, assembly.primitives(), topology.corners());
        let dispatch = last.dispatch(cx, draw, &plan, items(registers, &assembly))?;
        last.commit(&plan);
        let facts = last.facts(cx, draw, &plan).map(Box::new);
        Ok(VertexHalf { dispatch, last, facts })
    }
}

impl VertexSide for VertexHalf {
    fn run(self, cx: &mut Context<'_>, _: Draw<'_>) -> Result<StreamoutUnit, Refusal> {
        if self.dispatch.items() > 0 {
            cx.launch(self.dispatch, self.facts.as_deref())?;
        }
        Ok(self.last.into_unit())
    }
}

fn items(registers: &RegisterFile, assembly: &Assembly) -> Items {
    Items {
        items: assembly.items(),
        together: assembly.together(),
        vgprs: inputs::lanes(registers, assembly),
        off_chip: 0,
    }
}

/// The order in which a draw's vertices run.
///
/// # Errors
/// What is stored, or the ids of the primitives, is not known for the topology.
fn order(registers: &RegisterFile, topology: Topology, stores: bool) -> Result<Order, Refusal> {
    let ids = registers.flag(field::VGT_PRIMITIVEID_EN::PRIMITIVEID_EN);
    match (stores, ids) {
        (true, _) if topology == Topology::Rectangles => {
            Err(Refusal::StreamoutTopology { topology: topology.name() })
        }
        (_, true) if topology.is_split() => Err(Refusal::PrimitiveIds { topology: topology.name() }),
        (false, false) => Ok(Order::Drawn),
        _ => Ok(Order::Stored),
    }
}
