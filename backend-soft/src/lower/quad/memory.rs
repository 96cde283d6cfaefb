//! Accesses of four lanes: in line where all four exist and lie in the known place, through a helper where some do.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, FuncRef, InstBuilder, MemFlagsData, Value as Ir, types};
use guestwave_translate::program::{Access, Rate, Space, Stmt, Type, Value, Width};

use super::super::memory::{Existing, guest_flags};
use super::super::{Context, Lowering, QuadContext, Site, SiteInfo, SiteKind};
use super::Quad;
use super::row::Row;

/// Where four lanes find their units: host addresses, each a sum.
pub(super) type Places = [(Ir, i32); 4];

/// The blocks of one access.
struct Ways {
    full: Block,
    /// Lanes of the mask have all their units and the others none; only where the lanes may lie in a row.
    partial: Option<(Block, Ir)>,
    slow: Block,
    none: Block,
    done: Block,
}

/// Offset of a field of [`QuadContext`] in the context.
fn field(offset: usize) -> i32 {
    (offset_of!(Context, quad) + offset) as i32
}

impl Lowering<'_, '_> {
    pub(super) fn quad_memory(&mut self, stmt: &Stmt) {
        let (Stmt::Load { access, .. } | Stmt::Store { access, .. } | Stmt::Atomic { access, .. }) = stmt
        else {
            return;
        };
        if self.plan.program.access_rate(access) == Rate::Uniform {
            return self.memory_once(stmt);
        }
        match stmt {
            Stmt::Load { dst, access } if !dst.is_empty() => self.load_four(dst, access),
            Stmt::Store { src, access } if !src.is_empty() => self.store_four(src, access),
            Stmt::Atomic { dst, op, data, compare, access } => {
                self.atomic_four(*dst, SiteKind::Atomic(*op), (*data, *compare), access);
            }
            _ => {}
        }
    }

    /// An access that lanes have in common is done once, if any lane is here.
    fn memory_once(&mut self, stmt: &Stmt) {
        self.guard = self.active().map(|mask| self.b.ins().vany_true(mask));
        self.memory_stmt(stmt);
        self.guard = None;
    }

    fn load_four(&mut self, dst: &[Value], access: &Access) {
        let (site, info) = self.site(access, SiteKind::Load(dst.len() as u32));
        let (ways, valid) = self.split_four(&info, dst.len());
        self.to(ways.full);
        let expected = self.expected_step(&info);
        if expected.is_none_or(|step| step <= 0)
            && let Some((found, apart)) = self.all_alike(site, &info)
        {
            self.four_done(&ways, &found);
            self.to(apart);
        }
        if expected != Some(0)
            && let Some(row) = self.in_a_row(site, &info, None)
        {
            let found = self.load_row(&row, &info);
            self.four_done(&ways, &found);
            self.to(row.apart);
        }
        let (places, _) = self.places(site, &info, ways.slow);
        let found = self.gathered_units(access.width, &places, dst.len());
        self.four_done(&ways, &found);
        self.partly(site, &info, &ways, |l, row, mask| {
            let found = l.load_row(row, &info);
            found.into_iter().map(|unit| l.b.ins().band(unit, mask)).collect()
        });
        self.to(ways.none);
        let zero = self.splat32(0);
        self.four_done(&ways, &vec![zero; dst.len()]);
        self.to(ways.slow);
        self.help_four(self.helpers.load_quad, site, access, valid);
        let found: Vec<Ir> = (0..dst.len())
            .map(|i| self.quad_field(types::I32X4, offset_of!(QuadContext, units) + 16 * i))
            .collect();
        self.four_done(&ways, &found);
        self.to(ways.done);
        for (i, value) in dst.iter().enumerate() {
            let v = self.b.block_params(ways.done)[i];
            self.define_quad(*value, Quad::Four(v));
        }
    }

    fn store_four(&mut self, src: &[Value], access: &Access) {
        let (site, info) = self.site(access, SiteKind::Store(src.len() as u32));
        let units: Vec<Ir> = src
            .iter()
            .map(|v| {
                let quad = self.quad(*v);
                self.four(quad)
            })
            .collect();
        let (ways, valid) = self.split_four(&info, 0);
        self.to(ways.full);
        if let Some(row) = self.in_a_row(site, &info, None) {
            self.store_row(site, &row, &info, &units);
            self.four_done(&ways, &[]);
            self.to(row.apart);
        }
        let (places, numbers) = self.places(site, &info, ways.slow);
        self.scatter_units(access.width, &places, &units);
        numbers.into_iter().flatten().for_each(|unit| self.mark(site, &info, unit));
        self.four_done(&ways, &[]);
        self.partly(site, &info, &ways, |l, row, mask| {
            l.store_lanes(site, row, &info, &units, mask);
            Vec::new()
        });
        self.to(ways.none);
        self.four_done(&ways, &[]);
        self.to(ways.slow);
        for (i, unit) in units.iter().enumerate() {
            self.set_quad_field(*unit, offset_of!(QuadContext, units) + 16 * i);
        }
        self.help_four(self.helpers.store_quad, site, access, valid);
        self.four_done(&ways, &[]);
        self.to(ways.done);
    }

    fn atomic_four(
        &mut self,
        dst: Option<Value>,
        kind: SiteKind,
        (data, compare): (Value, Option<Value>),
        access: &Access,
    ) {
        let (site, info) = self.site(access, kind);
        let ty = if access.width == Width::W64 { Type::B64 } else { Type::B32 };
        let (ways, valid) = self.split_four(&info, 0);
        let params = [types::I64X2; 2].map(|ty| self.b.append_block_param(ways.done, ty));
        self.to(ways.none);
        let zero = self.splat32(0);
        let zero = self.cast(types::I64X2, zero);
        self.four_done(&ways, &[zero; 2]);
        self.to(ways.full);
        self.jump(ways.slow);
        self.to(ways.slow);
        self.set_operands(data, offset_of!(QuadContext, data));
        if let Some(compare) = compare {
            self.set_operands(compare, offset_of!(QuadContext, compare));
        }
        self.help_four(self.helpers.atomic_quad, site, access, valid);
        let old = [0, 16].map(|at| self.quad_field(types::I64X2, offset_of!(QuadContext, data) + at));
        self.four_done(&ways, &old);
        self.to(ways.done);
        if let Some(dst) = dst {
            let old =
                if ty == Type::B64 { Quad::Wide(params) } else { Quad::Four(self.dwords_of(params, false)) };
            self.define_quad(dst, old);
        }
    }

    /// Leaves four operands of an atomic, each of 64 bits, in the context.
    fn set_operands(&mut self, value: Value, offset: usize) {
        let quad = self.quad(value);
        let halves = match self.ty(value) {
            Type::B64 => self.wide(quad),
            _ => {
                let v = self.four(quad);
                [self.b.ins().uwiden_low(v), self.b.ins().uwiden_high(v)]
            }
        };
        for (i, half) in halves.into_iter().enumerate() {
            self.set_quad_field(half, offset + 16 * i);
        }
    }

    fn quad_field(&mut self, ty: cranelift_codegen::ir::Type, offset: usize) -> Ir {
        self.b.ins().load(ty, MemFlagsData::new().with_notrap(), self.context, field(offset))
    }

    fn set_quad_field(&mut self, value: Ir, offset: usize) {
        self.b.ins().store(MemFlagsData::new().with_notrap(), value, self.context, field(offset));
    }

    fn four_done(&mut self, ways: &Ways, results: &[Ir]) {
        let results: Vec<BlockArg> = results.iter().map(|v| BlockArg::Value(*v)).collect();
        self.b.ins().jump(ways.done, &results);
    }

    /// The way of accesses of some lanes: `access` makes that of lanes in a row, all others go to a helper.
    fn partly(
        &mut self,
        site: i32,
        info: &SiteInfo,
        ways: &Ways,
        access: impl FnOnce(&mut Self, &Row, Ir) -> Vec<Ir>,
    ) {
        let Some((block, mask)) = ways.partial else { return };
        self.to(block);
        if let Some(row) = self.in_a_row(site, info, Some(mask)) {
            let found = access(self, &row, mask);
            self.four_done(ways, &found);
            self.to(row.apart);
        }
        self.jump(ways.slow);
    }

    /// Parts ways by what exists in the four lanes; gives `valid` of each, 0 in those that are away.
    fn split_four(&mut self, info: &SiteInfo, results: usize) -> (Ways, Ir) {
        let [full, slow, none, done] = [(); 4].map(|()| self.b.create_block());
        for _ in 0..results {
            self.b.append_block_param(done, types::I32X4);
        }
        self.b.set_cold_block(slow);
        let valid = self.quad(info.access.valid);
        let valid = self.four(valid);
        let here = self.active();
        let valid = here.map_or(valid, |mask| self.b.ins().band(valid, mask));
        let mut ways = Ways { full, partial: None, slow, none, done };
        match (self.existing(info), here) {
            _ if !self.host.in_line => self.jump(slow),
            (Existing::None, _) => self.jump(none),
            (Existing::All, None) => self.jump(full),
            (Existing::All, Some(mask)) => self.all_or_none(info, mask, &mut ways),
            (Existing::If(cond), here) => {
                let cond = self.quad(cond);
                let cond = self.four(cond);
                let mask = here.map_or(cond, |mask| self.b.ins().band(cond, mask));
                self.all_or_none(info, mask, &mut ways);
            }
            (Existing::Unknown, _) => self.split_four_by_valid(info, valid, &mut ways),
        }
        (ways, valid)
    }

    /// Where accesses of some lanes go, which are those of `mask`.
    fn partial_way(&mut self, info: &SiteInfo, mask: Ir, ways: &mut Ways) -> Block {
        if !self.may_lie_in_a_row(info) {
            return ways.slow;
        }
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        ways.partial = Some((block, mask));
        block
    }

    /// Lanes of the mask have all their units, the others none.
    fn all_or_none(&mut self, info: &SiteInfo, mask: Ir, ways: &mut Ways) {
        let some = self.b.create_block();
        let partial = self.partial_way(info, mask, ways);
        let all = self.all_true(mask);
        self.b.ins().brif(all, ways.full, &[], some, &[]);
        self.to(some);
        let any = self.b.ins().vany_true(mask);
        self.b.ins().brif(any, partial, &[], ways.none, &[]);
    }

    fn split_four_by_valid(&mut self, info: &SiteInfo, valid: Ir, ways: &mut Ways) {
        let [some, mixed] = [(); 2].map(|()| self.b.create_block());
        let least = self.splat32(self.all_exist_from(info));
        let whole = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, valid, least);
        let partial = self.partial_way(info, whole, ways);
        let all = self.all_true(whole);
        self.b.ins().brif(all, ways.full, &[], some, &[]);
        self.to(some);
        let any = self.b.ins().vany_true(valid);
        self.b.ins().brif(any, mixed, &[], ways.none, &[]);
        self.to(mixed);
        if partial == ways.slow {
            return self.jump(partial);
        }
        let zero = self.splat32(0);
        let absent = self.b.ins().icmp(IntCC::Equal, valid, zero);
        let either = self.b.ins().bor(absent, whole);
        let clean = self.all_true(either);
        self.b.ins().brif(clean, partial, &[], ways.slow, &[]);
    }

    /// Where four lanes, all of whose units exist, find them; for guest stores also the numbers of the first units. Goes to
    /// `slow` where a place is not known.
    fn places(&mut self, site: i32, info: &SiteInfo, slow: Block) -> (Places, Option<[Ir; 4]>) {
        let address = self.quad(info.access.address);
        match info.access.space {
            Space::Global => self.guest_places(site, info, address, slow),
            Space::Lds | Space::Exchange => {
                let host = self.context_field(types::I64, offset_of!(Context, lds));
                let offsets = self.local_offsets(self.plan.program.lds_bytes, info, address, slow);
                (self.places_from(host, offsets), None)
            }
            Space::Scratch => {
                let bytes = self.plan.program.scratch_bytes;
                let (host, offsets) = (self.scratch(), self.local_offsets(bytes, info, address, slow));
                let offsets = [0, 1, 2, 3].map(|i| {
                    let before = i64::from(bytes) * i as i64;
                    self.b.ins().iadd_imm_s(offsets[i], before)
                });
                (self.places_from(host, offsets), None)
            }
            Space::Table => (self.table_places(info, address, slow), None),
        }
    }

    fn places_from(&mut self, host: Ir, offsets: [Ir; 4]) -> Places {
        offsets.map(|offset| (self.b.ins().iadd(host, offset), 0))
    }

    fn guest_places(
        &mut self,
        site: i32,
        info: &SiteInfo,
        address: Quad,
        slow: Block,
    ) -> (Places, Option<[Ir; 4]>) {
        let base = self.site_field(site, offset_of!(Site, base));
        let limit = self.site_field(site, offset_of!(Site, limit));
        let (base, last) = (self.b.ins().splat(types::I64X2, base), self.b.ins().iadd_imm_s(limit, -1));
        let last = self.b.ins().splat(types::I64X2, last);
        let halves = self.wide(address).map(|a| self.b.ins().isub(a, base));
        let units = halves.map(|v| self.rotated(v, info.unit_shift()));
        // A place is inside if neither it nor what is left up to the last one is negative.
        let signs = units.map(|v| {
            let left = self.b.ins().isub(last, v);
            self.b.ins().bor(left, v)
        });
        let signs = self.b.ins().bor(signs[0], signs[1]);
        let outside = self.b.ins().vhigh_bits(types::I32, signs);
        self.go_if(outside, slow);
        let host = self.site_field(site, offset_of!(Site, host));
        let stores = matches!(info.kind, SiteKind::Store(_));
        let offsets = self.elements(halves);
        (self.places_from(host, offsets), stores.then(|| self.elements(units)))
    }

    /// Each 64-bit lane rotated right by `by` bits.
    fn rotated(&mut self, v: Ir, by: u32) -> Ir {
        if by == 0 {
            return v;
        }
        let low = self.b.ins().ushr_imm_u(v, i64::from(by));
        let high = self.b.ins().ishl_imm_u(v, i64::from(64 - by));
        self.b.ins().bor(low, high)
    }

    fn elements(&mut self, halves: [Ir; 2]) -> [Ir; 4] {
        [0, 1, 2, 3].map(|i: u8| self.b.ins().extractlane(halves[usize::from(i / 2)], i % 2))
    }

    fn go_if(&mut self, cond: Ir, to: Block) {
        let on = self.b.create_block();
        self.b.ins().brif(cond, to, &[], on, &[]);
        self.to(on);
    }

    /// Byte offsets in a local memory of `bytes` bytes.
    fn local_offsets(&mut self, bytes: u32, info: &SiteInfo, address: Quad, slow: Block) -> [Ir; 4] {
        let address = self.four(address);
        match bytes.checked_sub(info.bytes()) {
            Some(last) => {
                let last = self.splat32(last);
                self.all_up_to(address, last, slow);
            }
            None => {
                let outside = self.b.ins().iconst(types::I8, 1);
                self.go_if(outside, slow);
            }
        }
        self.byte_offsets(address)
    }

    fn all_up_to(&mut self, offsets: Ir, last: Ir, slow: Block) {
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, offsets, last);
        let all = self.all_true(inside);
        self.unless(all, slow);
    }

    fn byte_offsets(&mut self, offsets: Ir) -> [Ir; 4] {
        [0, 1, 2, 3].map(|i| {
            let offset = self.b.ins().extractlane(offsets, i);
            self.b.ins().uextend(types::I64, offset)
        })
    }

    fn table_places(&mut self, info: &SiteInfo, address: Quad, slow: Block) -> Places {
        let bytes = self.context_field(types::I64, offset_of!(Context, tables_bytes));
        let size = i64::from(info.bytes());
        let short = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, bytes, size);
        self.go_if(short, slow);
        let last = self.b.ins().iadd_imm_s(bytes, -size);
        let most = self.b.ins().iconst(types::I64, i64::from(u32::MAX));
        let last = self.b.ins().umin(last, most);
        let last = self.b.ins().ireduce(types::I32, last);
        let last = self.b.ins().splat(types::I32X4, last);
        let address = self.four(address);
        self.all_up_to(address, last, slow);
        let host = self.context_field(types::I64, offset_of!(Context, tables));
        let offsets = self.byte_offsets(address);
        self.places_from(host, offsets)
    }

    /// The units of four lanes, unit by unit.
    pub(super) fn gathered_units(&mut self, width: Width, places: &Places, count: usize) -> Vec<Ir> {
        let mut found = Vec::new();
        while found.len() < count {
            let first = found.len() as i32;
            if width == Width::W32 && count - found.len() >= 4 {
                let rows =
                    places.map(|(h, at)| self.b.ins().load(types::I32X4, guest_flags(), h, at + 4 * first));
                found.extend(self.transposed(rows));
            } else {
                let at = first * width.bytes() as i32;
                let lanes = places.map(|(h, lane)| self.load_unit(width, (h, lane + at)));
                found.push(self.vector_of(lanes));
            }
        }
        found
    }

    /// Stores the units of four lanes, lane by lane.
    pub(super) fn scatter_units(&mut self, width: Width, places: &Places, units: &[Ir]) {
        let rows = self.lane_rows(width, units);
        for (lane, place) in (0..).zip(places) {
            self.store_lane(width, (&rows, units), lane, *place);
        }
    }

    /// Four units of each of four lanes a vector, as far as units go in fours.
    pub(super) fn lane_rows(&mut self, width: Width, units: &[Ir]) -> Vec<[Ir; 4]> {
        let whole = if width == Width::W32 { units.len() / 4 * 4 } else { 0 };
        units[..whole].as_chunks::<4>().0.iter().map(|columns| self.transposed(*columns)).collect()
    }

    /// Stores one lane's units, `rows` of which are put together already.
    pub(super) fn store_lane(
        &mut self,
        width: Width,
        (rows, units): (&[[Ir; 4]], &[Ir]),
        lane: u8,
        (host, at): (Ir, i32),
    ) {
        for (i, row) in (0..).zip(rows) {
            self.b.ins().store(guest_flags(), row[usize::from(lane)], host, at + 16 * i);
        }
        for (i, unit) in (0..).zip(units).skip(4 * rows.len()) {
            let unit = self.b.ins().extractlane(*unit, lane);
            self.store_unit(width, unit, (host, at + i * width.bytes() as i32));
        }
    }

    /// Calls a helper for four lanes, and stops if it refuses.
    fn help_four(&mut self, helper: FuncRef, site: i32, access: &Access, valid: Ir) {
        let address = self.quad(access.address);
        let halves = match self.ty(access.address) {
            Type::B64 => self.wide(address),
            _ => {
                let v = self.four(address);
                [self.b.ins().uwiden_low(v), self.b.ins().uwiden_high(v)]
            }
        };
        for (i, half) in halves.into_iter().enumerate() {
            self.set_quad_field(half, offset_of!(QuadContext, addresses) + 16 * i);
        }
        self.set_quad_field(valid, offset_of!(QuadContext, valid));
        let lane = self.lane_index();
        let lane = self.b.ins().ireduce(types::I32, lane);
        let [address, valid] = [types::I64, types::I32].map(|ty| self.b.ins().iconst(ty, 0));
        self.ask(helper, site, [address, valid, lane]);
    }
}
