//! Accesses of four lanes: in line where all four exist and lie in the known place, through a helper where some do.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, FuncRef, InstBuilder, MemFlagsData, Value as Ir, types};
use guestwave_translate::program::{Access, Rate, Space, Stmt, Type, Value, Width};

use super::super::memory::{Existing, guest_flags};
use super::super::{Context, Lowering, QuadContext, Site, SiteInfo, SiteKind, status};
use super::Quad;

/// Where four lanes find their units.
struct Places {
    host: Ir,
    /// Bytes from `host`, 64 bits.
    offsets: [Ir; 4],
    /// Units from the site's first byte, for guest stores.
    units: Option<[Ir; 4]>,
}

/// The blocks of one access.
struct Ways {
    full: Block,
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
        if let Some(row) = self.in_a_row(site, &info) {
            let found = self.load_row(&row, dst.len());
            self.four_done(&ways, &found);
            self.to(row.apart);
        }
        if let Some((found, apart)) = self.all_alike(site, &info) {
            self.four_done(&ways, &found);
            self.to(apart);
        }
        let places = self.places(site, &info, ways.slow);
        let found = self.gathered_units(access.width, &places, dst.len());
        self.four_done(&ways, &found);
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
        if let Some(row) = self.in_a_row(site, &info) {
            self.store_row(site, &row, &units);
            self.four_done(&ways, &[]);
            self.to(row.apart);
        }
        let places = self.places(site, &info, ways.slow);
        self.scatter_units(access.width, &places, &units);
        self.mark_four(site, &info, &places);
        self.four_done(&ways, &[]);
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
        match (self.existing(info), here) {
            (Existing::None, _) => self.jump(none),
            (Existing::All, None) => self.jump(full),
            (Existing::All, Some(mask)) => self.all_or_none(mask, full, slow, none),
            (Existing::If(cond), here) => {
                let cond = self.quad(cond);
                let cond = self.four(cond);
                let mask = here.map_or(cond, |mask| self.b.ins().band(cond, mask));
                self.all_or_none(mask, full, slow, none);
            }
            (Existing::Unknown, _) => self.split_four_by_valid(info, valid, full, slow, none),
        }
        (Ways { full, slow, none, done }, valid)
    }

    /// Lanes of the mask have all their units, the others none.
    fn all_or_none(&mut self, mask: Ir, full: Block, slow: Block, none: Block) {
        let some = self.b.create_block();
        let all = self.b.ins().vall_true(mask);
        self.b.ins().brif(all, full, &[], some, &[]);
        self.to(some);
        let any = self.b.ins().vany_true(mask);
        self.b.ins().brif(any, slow, &[], none, &[]);
    }

    fn split_four_by_valid(&mut self, info: &SiteInfo, valid: Ir, full: Block, slow: Block, none: Block) {
        let some = self.b.create_block();
        let least = self.splat32(self.all_exist_from(info));
        let whole = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, valid, least);
        let all = self.b.ins().vall_true(whole);
        self.b.ins().brif(all, full, &[], some, &[]);
        self.to(some);
        let any = self.b.ins().vany_true(valid);
        self.b.ins().brif(any, slow, &[], none, &[]);
    }

    /// Where four lanes, all of whose units exist, find them. Goes to `slow` where a place is not known.
    fn places(&mut self, site: i32, info: &SiteInfo, slow: Block) -> Places {
        let address = self.quad(info.access.address);
        match info.access.space {
            Space::Global => self.guest_places(site, info, address, slow),
            Space::Lds => {
                let host = self.context_field(types::I64, offset_of!(Context, lds));
                let offsets = self.local_offsets(self.plan.program.lds_bytes, info, address, slow);
                Places { host, offsets, units: None }
            }
            Space::Scratch => {
                let bytes = self.plan.program.scratch_bytes;
                let (host, offsets) = (self.scratch(), self.local_offsets(bytes, info, address, slow));
                let offsets = [0, 1, 2, 3].map(|i| {
                    let before = i64::from(bytes) * i as i64;
                    self.b.ins().iadd_imm_s(offsets[i], before)
                });
                Places { host, offsets, units: None }
            }
            Space::Table => self.table_places(info, address, slow),
        }
    }

    fn guest_places(&mut self, site: i32, info: &SiteInfo, address: Quad, slow: Block) -> Places {
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
        Places { host, offsets, units: stores.then(|| self.elements(units)) }
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
        let all = self.b.ins().vall_true(inside);
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
        Places { host, offsets: self.byte_offsets(address), units: None }
    }

    /// The units of four lanes, unit by unit.
    fn gathered_units(&mut self, width: Width, places: &Places, count: usize) -> Vec<Ir> {
        let hosts = places.offsets.map(|offset| self.b.ins().iadd(places.host, offset));
        let mut found = Vec::new();
        while found.len() < count {
            let first = found.len() as i32;
            if width == Width::W32 && count - found.len() >= 4 {
                let rows = hosts.map(|h| self.b.ins().load(types::I32X4, guest_flags(), h, 4 * first));
                found.extend(self.transposed(rows));
            } else {
                let lanes = hosts.map(|h| self.load_unit(width, h, first));
                found.push(self.vector_of(lanes));
            }
        }
        found
    }

    /// Stores the units of four lanes, lane by lane.
    fn scatter_units(&mut self, width: Width, places: &Places, units: &[Ir]) {
        let hosts = places.offsets.map(|offset| self.b.ins().iadd(places.host, offset));
        let whole = if width == Width::W32 { units.len() / 4 * 4 } else { 0 };
        let rows: Vec<[Ir; 4]> =
            units[..whole].as_chunks::<4>().0.iter().map(|columns| self.transposed(*columns)).collect();
        for (lane, host) in hosts.into_iter().enumerate() {
            for (i, rows) in (0..).zip(&rows) {
                self.b.ins().store(guest_flags(), rows[lane], host, 16 * i);
            }
            for (i, unit) in units.iter().enumerate().skip(whole) {
                let unit = self.b.ins().extractlane(*unit, lane as u8);
                self.store_unit(width, unit, host, i as i32);
            }
        }
    }

    fn mark_four(&mut self, site: i32, info: &SiteInfo, places: &Places) {
        for unit in places.units.into_iter().flatten() {
            self.mark(site, info, unit);
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
        let site = self.b.ins().iconst(types::I32, i64::from(site));
        let refused = self.call(helper, &[self.context, site, lane]);
        self.stop_if(refused, status::FAULT);
    }
}
