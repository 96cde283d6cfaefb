//! Accesses of four lanes that lie in a row, each the same number of bytes behind the one before: that of the access if they
//! lie side by side, else what the form of the address lets expect. They are checked and found as one. Loads of the same units
//! by all lanes are made once.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value as Ir, types};
use guestwave_translate::program::{Space, Width};

use super::super::memory::guest_flags;
use super::super::{Lowering, Site, SiteInfo, SiteKind};
use super::{Quad, shape::Dwords};

/// The way of four lanes that lie in a row.
pub(super) struct Row {
    /// Where the first lane's first unit lies.
    host: Ir,
    /// Its number among the site's units, for stores.
    unit: Ir,
    /// Where all other lanes go.
    pub(super) apart: Block,
}

/// Units that are made side by side: what vectors of four dwords hold whole.
const COUNTS: [u32; 3] = [1, 2, 4];

/// Whether the lanes' units fill vectors without gaps.
fn is_dense(info: &SiteInfo) -> bool {
    info.step == info.bytes() && COUNTS.contains(&info.count())
}

impl Lowering<'_, '_> {
    /// Goes on with the lanes that lie in a row in the site's known memory, if the access may be such. Where there is a mask,
    /// only lanes in it have to.
    pub(super) fn in_a_row(&mut self, site: i32, info: &SiteInfo, mask: Option<Ir>) -> Option<Row> {
        let (first, steps) = self.distances(info)?;
        let apart = self.b.create_block();
        let step = info.step;
        self.unless_steps((steps, mask), [[0, step], [2 * step, 3 * step]], apart);
        let base = self.site_field(site, offset_of!(Site, base));
        let limit = self.site_field(site, offset_of!(Site, row_limit));
        let offset = self.b.ins().isub(first, base);
        let unit = match info.unit_shift() {
            0 => offset,
            shift => self.b.ins().rotr_imm_u(offset, i64::from(shift)),
        };
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, unit, limit);
        self.unless(inside, apart);
        let host = self.site_field(site, offset_of!(Site, host));
        Some(Row { host: self.b.ins().iadd(host, offset), unit, apart })
    }

    /// Goes on with the lanes that load the same units from the site's known memory; gives these, and where all other lanes go.
    pub(super) fn all_alike(&mut self, site: i32, info: &SiteInfo) -> Option<(Vec<Ir>, Block)> {
        let (first, steps) = self.distances(info)?;
        let apart = self.b.create_block();
        self.unless_steps((steps, None), [[0; 2]; 2], apart);
        let base = self.site_field(site, offset_of!(Site, base));
        let limit = self.site_field(site, offset_of!(Site, limit));
        let offset = self.b.ins().isub(first, base);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, offset, limit);
        self.unless(inside, apart);
        let host = self.site_field(site, offset_of!(Site, host));
        let host = self.b.ins().iadd(host, offset);
        let units = (0..info.count()).map(|i| {
            let unit = self.load_unit(Width::W32, (host, 4 * i as i32));
            self.b.ins().splat(types::I32X4, unit)
        });
        Some((units.collect(), apart))
    }

    /// Whether an access is of a kind that is made in a row.
    pub(super) fn may_lie_in_a_row(&mut self, info: &SiteInfo) -> bool {
        let access = &info.access;
        let plain = access.space == Space::Global && access.width == Width::W32;
        let apart = !matches!(self.quad(access.address), Quad::One(_));
        plain && apart && !matches!(info.kind, SiteKind::Atomic(_))
    }

    /// The first lane's address, and how far the others are from it.
    fn distances(&mut self, info: &SiteInfo) -> Option<(Ir, [Ir; 2])> {
        if !self.may_lie_in_a_row(info) {
            return None;
        }
        let sum = self.sum(info.access.address);
        let halves = sum.lanes?;
        let own = self.b.ins().extractlane(halves[0], 0);
        let all = self.b.ins().splat(types::I64X2, own);
        let first = sum.common.map_or(own, |common| self.b.ins().iadd(common, own));
        Some((first, halves.map(|v| self.b.ins().isub(v, all))))
    }

    fn unless_steps(&mut self, (steps, mask): ([Ir; 2], Option<Ir>), wanted: [[u32; 2]; 2], apart: Block) {
        let [low, high] = [0, 1].map(|i| {
            let [a, b] = wanted[i];
            let wanted = self.vector_constant([a, 0, b, 0]);
            let wanted = self.cast(types::I64X2, wanted);
            self.b.ins().icmp(IntCC::Equal, steps[i], wanted)
        });
        let [low, high] = match mask {
            None => [low, high],
            Some(mask) => {
                let masks = self.wide_mask(mask);
                [(low, masks[0]), (high, masks[1])].map(|(fits, mask)| self.b.ins().bor_not(fits, mask))
            }
        };
        let both = self.b.ins().band(low, high);
        let all = self.all_true(both);
        self.unless(all, apart);
    }

    /// The units of four lanes in a row, unit by unit.
    pub(super) fn load_row(&mut self, row: &Row, info: &SiteInfo) -> Vec<Ir> {
        if !is_dense(info) {
            let places = [0, 1, 2, 3].map(|lane| (row.host, lane * info.step as i32));
            return self.gathered_units(Width::W32, &places, info.count() as usize);
        }
        let mut load = |i| self.b.ins().load(types::I32X4, guest_flags(), row.host, 16 * i);
        match info.count() {
            1 => vec![load(0)],
            2 => {
                let (low, high) = (load(0), load(1));
                const EVEN: Dwords = [0, 2, 4, 6];
                const ODD: Dwords = [1, 3, 5, 7];
                vec![self.shuffled(low, high, EVEN), self.shuffled(low, high, ODD)]
            }
            _ => {
                let rows = [load(0), load(1), load(2), load(3)];
                self.transposed(rows).into()
            }
        }
    }

    /// The units of four lanes side by side, as they lie in memory.
    fn dense_vectors(&mut self, units: &[Ir]) -> Vec<Ir> {
        match *units {
            [unit] => vec![unit],
            [x, y] => vec![self.shuffled(x, y, [0, 4, 1, 5]), self.shuffled(x, y, [2, 6, 3, 7])],
            [x, y, z, w] => self.transposed([x, y, z, w]).into(),
            _ => Vec::new(),
        }
    }

    /// Stores the units of four lanes in a row, and marks them.
    pub(super) fn store_row(&mut self, site: i32, row: &Row, info: &SiteInfo, units: &[Ir]) {
        let marks = self.row_marks(site, row);
        if is_dense(info) {
            for (i, vector) in (0..).zip(self.dense_vectors(units)) {
                self.b.ins().store(guest_flags(), vector, row.host, 16 * i);
            }
            return self.mark_dwords((marks, 0), 4 * info.count());
        }
        let rows = self.lane_rows(Width::W32, units);
        for lane in 0..4 {
            self.store_marked_lane((&rows, units), lane, (row.host, marks), info);
        }
    }

    fn row_marks(&mut self, site: i32, row: &Row) -> Ir {
        let marks = self.site_field(site, offset_of!(Site, marks));
        self.b.ins().iadd(marks, row.unit)
    }

    fn store_marked_lane(
        &mut self,
        units: (&[[Ir; 4]], &[Ir]),
        lane: u8,
        (host, marks): (Ir, Ir),
        info: &SiteInfo,
    ) {
        let at = i32::from(lane) * info.step as i32;
        self.store_lane(Width::W32, units, lane, (host, at));
        self.mark_dwords((marks, at / 4), info.count());
    }

    /// Stores the units of those of four lanes in a row that are in `mask`, and marks them.
    pub(super) fn store_lanes(&mut self, site: i32, row: &Row, info: &SiteInfo, units: &[Ir], mask: Ir) {
        let marks = self.row_marks(site, row);
        let rows = self.lane_rows(Width::W32, units);
        for lane in 0..4 {
            let [here, next] = [(); 2].map(|()| self.b.create_block());
            let stores = self.b.ins().extractlane(mask, lane);
            self.b.ins().brif(stores, here, &[], next, &[]);
            self.to(here);
            self.store_marked_lane((&rows, units), lane, (row.host, marks), info);
            self.jump(next);
            self.to(next);
        }
    }

    /// Quotients or remainders of unsigned integers. Where all lanes' dividends are below their divisors, as thread numbers are
    /// below the size of their group, nothing is divided.
    pub(super) fn quad_division(
        &mut self,
        x: Quad,
        y: Quad,
        remainder: bool,
        divide: impl FnOnce(&mut Self) -> Quad,
    ) -> Quad {
        let (dividend, divisor) = (self.four(x), self.four(y));
        let below = self.b.ins().icmp(IntCC::UnsignedLessThan, dividend, divisor);
        let all = self.all_true(below);
        let small = if remainder { dividend } else { self.splat32(0) };
        let [large, join] = [(); 2].map(|()| self.b.create_block());
        let result = self.b.append_block_param(join, types::I32X4);
        self.b.ins().brif(all, join, &[small.into()], large, &[]);
        self.to(large);
        let quotients = divide(self);
        let quotients = self.four(quotients);
        self.b.ins().jump(join, &[quotients.into()]);
        self.to(join);
        Quad::Four(result)
    }
}
