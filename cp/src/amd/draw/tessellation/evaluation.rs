//! Evaluation programs in the hardware VS: the domain points of one group of patches after another.

use crate::amd::context::Context;
use crate::amd::draw::Draw;
use crate::amd::draw::last::{Items, LastStage};
use crate::amd::draw::vertex::STREAM;
use crate::amd::streamout_unit::StreamoutUnit;
use crate::tessellator::{Tessellated, Tessellator};
use crate::{LaneRule, Refusal};

/// Policy: the points that one dispatch takes at most before the next patch starts another.
const MOST_POINTS: usize = 1 << 18;

/// VGPRs of an evaluation thread: u, v, the patch's number in its group, the patch id.
pub(super) const EVALUATION_VGPRS: usize = 4;

/// The domain points that are being gathered. All patches of a dispatch are of one group: a wave has one place in the
/// tessellation buffer.
pub(super) struct Evaluation {
    last: LastStage,
    corners: u32,
    /// Points run once for every primitive that has them, in the order of storage; else once.
    stores: bool,
    columns: [Vec<u32>; EVALUATION_VGPRS],
    primitives: u64,
}

impl Evaluation {
    pub(super) fn new(last: LastStage, tessellator: &Tessellator) -> Evaluation {
        Evaluation {
            corners: tessellator.primitives.corners(),
            stores: last.unit().core().enabled(STREAM) != 0,
            last,
            columns: Default::default(),
            primitives: 0,
        }
    }

    /// Takes a patch, whose number in its group and id are `patch`.
    pub(super) fn add(
        &mut self,
        cx: &mut Context<'_>,
        draw: Draw<'_>,
        tessellated: &Tessellated,
        patch: [u32; 2],
        off_chip: u32,
    ) -> Result<(), Refusal> {
        if self.columns[0].len() >= MOST_POINTS {
            self.finish(cx, draw, off_chip)?;
        }
        let all = 0..tessellated.points.len() as u32;
        match self.stores {
            true => self.points(tessellated, tessellated.indices.iter().copied(), patch),
            false => self.points(tessellated, all, patch),
        }
        self.primitives += tessellated.indices.len() as u64 / u64::from(self.corners);
        Ok(())
    }

    fn points(&mut self, tessellated: &Tessellated, points: impl Iterator<Item = u32>, patch: [u32; 2]) {
        let floats: Vec<_> = tessellated.points.iter().map(|point| point.float_bits()).collect();
        for [u, v] in points.map(|point| floats[point as usize]) {
            for (column, word) in self.columns.iter_mut().zip([u, v, patch[0], patch[1]]) {
                column.push(word);
            }
        }
    }

    /// Runs what has been gathered.
    pub(super) fn finish(
        &mut self,
        cx: &mut Context<'_>,
        draw: Draw<'_>,
        off_chip: u32,
    ) -> Result<(), Refusal> {
        let columns = std::mem::take(&mut self.columns);
        let plan = self.last.unit().plan(STREAM, std::mem::take(&mut self.primitives), self.corners);
        let (items, together) = (columns[0].len() as u32, if self.stores { self.corners } else { 1 });
        cx.charge(columns.iter().map(Vec::len).sum::<usize>() * size_of::<u32>())?;
        let vgprs = columns.into_iter().map(|words| LaneRule::PerItem(words.into())).collect();
        self.last.run(cx, draw, &plan, Items { items, together, vgprs, off_chip })
    }

    /// The streamout unit as the draw leaves it.
    pub(super) fn into_unit(self) -> StreamoutUnit {
        self.last.into_unit()
    }
}
