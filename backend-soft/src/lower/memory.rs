//! Accesses: the ways that need no help are compiled in line, all others go through a helper.
//!
//! In line goes an access whose units all exist and all lie in one known place: for guest memory the site's last place, for
//! local memory the memory itself. An access none of whose units exist is skipped. The rest (partial accesses, misses,
//! faults, atomics) is a call.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, Endianness, FuncRef, InstBuilder, MemFlagsData, Type, Value as Ir, types,
};
use guestwave_translate::program::{Access, Expr, Space, Stmt, TriOp, Type as Ty, Value, Width};

use crate::run::WHOLE;

use super::{Context, Lowering, Site, SiteInfo, SiteKind, status};

/// Which units of an access exist.
#[derive(Clone, Copy)]
pub(super) enum Existing {
    All,
    None,
    /// All where the `Bool` is true, else none.
    If(Value),
    Unknown,
}

/// Flags of accesses to guest, local and table memory, which the check before them makes safe.
pub(super) fn guest_flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap().with_endianness(Endianness::Little)
}

/// The blocks of one access.
struct Ways {
    /// All units exist: find the place.
    full: Block,
    /// A helper does it.
    slow: Block,
    /// Nothing exists.
    none: Block,
    done: Block,
}

impl Lowering<'_, '_> {
    pub(super) fn memory_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Load { dst, access } if !dst.is_empty() => self.load(dst, access),
            Stmt::Store { src, access } if !src.is_empty() => self.store(src, access),
            Stmt::Atomic { dst, op, data, compare, access } => {
                self.atomic(*dst, SiteKind::Atomic(*op), (*data, *compare), access);
            }
            _ => {}
        }
    }

    pub(super) fn site(&mut self, access: &Access, kind: SiteKind) -> (i32, SiteInfo) {
        let mut info = SiteInfo { access: *access, kind, step: 0 };
        info.step = self.lane_step(&info);
        self.lowered.sites.push(info);
        (self.lowered.sites.len() as i32 - 1, info)
    }

    fn load(&mut self, dst: &[Value], access: &Access) {
        let (site, info) = self.site(access, SiteKind::Load(dst.len() as u32));
        let ways = self.split(&info, dst.len());
        self.to(ways.full);
        let (host, _) = self.place(site, &info, ways.slow);
        let width = access.width.bytes() as i32;
        let found: Vec<Ir> =
            (0..).zip(dst).map(|(i, _)| self.load_unit(access.width, (host, i * width))).collect();
        self.done(&ways, &found);
        self.to(ways.none);
        let zero = self.c32(0);
        self.done(&ways, &vec![zero; dst.len()]);
        self.to(ways.slow);
        self.help(self.helpers.load, site, access);
        let units = offset_of!(Context, units);
        let found: Vec<Ir> = (0..dst.len()).map(|i| self.context_field(types::I32, units + 4 * i)).collect();
        self.done(&ways, &found);
        self.to(ways.done);
        for (i, value) in dst.iter().enumerate() {
            let v = self.b.block_params(ways.done)[i];
            self.define(*value, v);
        }
    }

    fn store(&mut self, src: &[Value], access: &Access) {
        let (site, info) = self.site(access, SiteKind::Store(src.len() as u32));
        let units: Vec<Ir> = src.iter().map(|v| self.int(*v)).collect();
        let ways = self.split(&info, 0);
        self.to(ways.full);
        let (host, place) = self.place(site, &info, ways.slow);
        for (i, unit) in (0..).zip(&units) {
            self.store_unit(access.width, *unit, (host, i * access.width.bytes() as i32));
        }
        if let Some(place) = place {
            self.mark(site, &info, place);
        }
        self.done(&ways, &[]);
        self.to(ways.none);
        self.done(&ways, &[]);
        self.to(ways.slow);
        for (i, unit) in units.iter().enumerate() {
            self.set_context_field(*unit, offset_of!(Context, units) + 4 * i);
        }
        self.help(self.helpers.store, site, access);
        self.done(&ways, &[]);
        self.to(ways.done);
    }

    fn atomic(
        &mut self,
        dst: Option<Value>,
        kind: SiteKind,
        operands: (Value, Option<Value>),
        access: &Access,
    ) {
        let (site, info) = self.site(access, kind);
        let ty = if access.width == Width::W64 { types::I64 } else { types::I32 };
        let (data, compare) = (self.int(operands.0), operands.1.map(|c| self.int(c)));
        let ways = self.split(&info, 0);
        self.b.append_block_param(ways.done, ty);
        self.to(ways.none);
        let zero = self.b.ins().iconst(ty, 0);
        self.done(&ways, &[zero]);
        self.to(ways.full);
        self.jump(ways.slow);
        self.to(ways.slow);
        self.set_context_field(data, offset_of!(Context, data));
        if let Some(compare) = compare {
            self.set_context_field(compare, offset_of!(Context, compare));
        }
        self.help(self.helpers.atomic, site, access);
        let old = self.context_field(ty, offset_of!(Context, data));
        self.done(&ways, &[old]);
        self.to(ways.done);
        if let Some(dst) = dst {
            let old = self.b.block_params(ways.done)[0];
            self.define(dst, old);
        }
    }

    fn done(&mut self, ways: &Ways, results: &[Ir]) {
        let results: Vec<BlockArg> = results.iter().map(|v| BlockArg::Value(*v)).collect();
        self.b.ins().jump(ways.done, &results);
    }

    /// Parts ways by what exists; the last block takes `results` 32-bit values.
    fn split(&mut self, info: &SiteInfo, results: usize) -> Ways {
        let [full, slow, none, done] = [(); 4].map(|()| self.b.create_block());
        for _ in 0..results {
            self.b.append_block_param(done, types::I32);
        }
        self.b.set_cold_block(slow);
        if let Some(guard) = self.guard {
            let on = self.b.create_block();
            self.b.ins().brif(guard, on, &[], none, &[]);
            // `none` gets another predecessor below.
            self.b.switch_to_block(on);
            self.b.seal_block(on);
        }
        match self.existing(info) {
            _ if !self.host.in_line => self.jump(slow),
            Existing::All => self.jump(full),
            Existing::None => self.jump(none),
            Existing::If(cond) => {
                let cond = self.int(cond);
                self.b.ins().brif(cond, full, &[], none, &[]);
            }
            Existing::Unknown => self.split_by_valid(info, full, slow, none),
        }
        Ways { full, slow, none, done }
    }

    fn split_by_valid(&mut self, info: &SiteInfo, full: Block, slow: Block, none: Block) {
        let partial = self.b.create_block();
        let valid = self.int(info.access.valid);
        let least = self.all_exist_from(info);
        let all = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, valid, i64::from(least));
        self.b.ins().brif(all, full, &[], partial, &[]);
        self.to(partial);
        self.b.ins().brif(valid, slow, &[], none, &[]);
    }

    /// The least `valid` with which all units exist: the last needs one byte.
    pub(super) fn all_exist_from(&self, info: &SiteInfo) -> u32 {
        info.bytes() - info.access.width.bytes() + 1
    }

    pub(super) fn existing(&self, info: &SiteInfo) -> Existing {
        let least = self.all_exist_from(info);
        let valid = info.access.valid;
        match (self.constant(valid), self.definitions[valid.0 as usize]) {
            (Some(0), _) => Existing::None,
            (Some(n), _) if n >= u64::from(least) => Existing::All,
            (_, Some(Expr::Tri(TriOp::Select, cond, yes, no))) if self.at_hand(cond) => {
                match (self.constant(yes), self.constant(no)) {
                    (Some(y), Some(0)) if y >= u64::from(least) => Existing::If(cond),
                    _ => Existing::Unknown,
                }
            }
            _ => Existing::Unknown,
        }
    }

    /// Where an access whose units all exist finds them: the host address, and for guest stores the number of units from the
    /// site's first byte. Goes to `slow` where the place is not known.
    fn place(&mut self, site: i32, info: &SiteInfo, slow: Block) -> (Ir, Option<Ir>) {
        let address = self.int(info.access.address);
        match info.access.space {
            Space::Global => self.guest_place(site, info, address, slow),
            Space::Lds | Space::Exchange => {
                let start = self.context_field(types::I64, offset_of!(Context, lds));
                (self.local_place(start, self.plan.program.lds_bytes, info, address, slow), None)
            }
            Space::Scratch => {
                let start = self.scratch();
                (self.local_place(start, self.plan.program.scratch_bytes, info, address, slow), None)
            }
            Space::Table => (self.table_place(info, address, slow), None),
        }
    }

    pub(super) fn site_field(&mut self, site: i32, field: usize) -> Ir {
        let sites = self.context_field(types::I64, offset_of!(Context, sites));
        let at = site * size_of::<Site>() as i32 + field as i32;
        self.b.ins().load(types::I64, MemFlagsData::trusted(), sites, at)
    }

    fn guest_place(&mut self, site: i32, info: &SiteInfo, address: Ir, slow: Block) -> (Ir, Option<Ir>) {
        let base = self.site_field(site, offset_of!(Site, base));
        let limit = self.site_field(site, offset_of!(Site, limit));
        let offset = self.b.ins().isub(address, base);
        let place = match info.unit_shift() {
            0 => offset,
            shift => self.b.ins().rotr_imm_u(offset, i64::from(shift)),
        };
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, place, limit);
        self.unless(inside, slow);
        let host = self.site_field(site, offset_of!(Site, host));
        let stores = matches!(info.kind, SiteKind::Store(_));
        (self.b.ins().iadd(host, offset), stores.then_some(place))
    }

    pub(super) fn unless(&mut self, fine: Ir, slow: Block) {
        let on = self.b.create_block();
        self.b.ins().brif(fine, on, &[], slow, &[]);
        self.to(on);
    }

    pub(super) fn scratch(&mut self) -> Ir {
        let start = self.context_field(types::I64, offset_of!(Context, scratch));
        let lane = self.lane_index();
        let bytes = i64::from(self.plan.program.scratch_bytes);
        let before = self.b.ins().imul_imm_u(lane, bytes);
        self.b.ins().iadd(start, before)
    }

    /// A place in a local memory of `bytes` bytes.
    fn local_place(&mut self, start: Ir, bytes: u32, info: &SiteInfo, address: Ir, slow: Block) -> Ir {
        let inside = match bytes.checked_sub(info.bytes()) {
            Some(last) => self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, address, i64::from(last)),
            None => self.b.ins().iconst(types::I8, 0),
        };
        self.unless(inside, slow);
        let wide = self.b.ins().uextend(types::I64, address);
        self.b.ins().iadd(start, wide)
    }

    fn table_place(&mut self, info: &SiteInfo, address: Ir, slow: Block) -> Ir {
        let wide = self.b.ins().uextend(types::I64, address);
        let end = self.b.ins().iadd_imm_u(wide, i64::from(info.bytes()));
        let bytes = self.context_field(types::I64, offset_of!(Context, tables_bytes));
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, bytes);
        self.unless(inside, slow);
        let start = self.context_field(types::I64, offset_of!(Context, tables));
        self.b.ins().iadd(start, wide)
    }

    pub(super) fn load_unit(&mut self, width: Width, (host, at): (Ir, i32)) -> Ir {
        match width {
            Width::W8 => self.b.ins().uload8(types::I32, guest_flags(), host, at),
            Width::W16 => self.b.ins().uload16(types::I32, guest_flags(), host, at),
            _ => self.b.ins().load(types::I32, guest_flags(), host, at),
        }
    }

    pub(super) fn store_unit(&mut self, width: Width, unit: Ir, (host, at): (Ir, i32)) {
        match width {
            Width::W8 => self.b.ins().istore8(guest_flags(), unit, host, at),
            Width::W16 => self.b.ins().istore16(guest_flags(), unit, host, at),
            _ => self.b.ins().store(guest_flags(), unit, host, at),
        };
    }

    /// Marks the units of a guest store, the first of which is number `place` of the site's memory.
    pub(super) fn mark(&mut self, site: i32, info: &SiteInfo, place: Ir) {
        let marks = self.site_field(site, offset_of!(Site, marks));
        if info.access.width == Width::W32 {
            let first = self.b.ins().iadd(marks, place);
            return self.mark_dwords((first, 0), info.count());
        }
        for i in 0..info.count() {
            let unit = self.b.ins().iadd_imm_u(place, i64::from(i));
            self.mark_part(marks, unit, info.access.width.bytes());
        }
    }

    /// Marks whole dwords: as many bytes of marks, in steps as wide as will do.
    pub(super) fn mark_dwords(&mut self, (first, from): (Ir, i32), dwords: u32) {
        let mut done = 0;
        while done < dwords {
            let step = 1 << (dwords - done).ilog2().min(3);
            let ty = Type::int_with_byte_size(step as u16).unwrap_or(types::I8);
            let whole = u64::from_le_bytes([WHOLE; 8]) >> (64 - 8 * step);
            let whole = self.b.ins().iconst(ty, whole as i64);
            self.b.ins().store(MemFlagsData::trusted(), whole, first, from + done as i32);
            done += step;
        }
    }

    /// Marks unit number `unit` of 1 or 2 bytes, a part of its dword.
    fn mark_part(&mut self, marks: Ir, unit: Ir, bytes: u32) {
        let byte = self.b.ins().ishl_imm_u(unit, i64::from(bytes.ilog2()));
        let dword = self.b.ins().ushr_imm_u(byte, 2);
        let at = self.b.ins().iadd(marks, dword);
        let mask = self.c32((1 << bytes) - 1);
        let within = self.b.ins().band_imm_u(byte, 3);
        let bits = self.b.ins().ishl(mask, within);
        let old = self.b.ins().uload8(types::I32, MemFlagsData::trusted(), at, 0);
        let new = self.b.ins().bor(old, bits);
        self.b.ins().istore8(MemFlagsData::trusted(), new, at, 0);
    }

    /// Calls a helper for this access, and stops if it refuses.
    fn help(&mut self, helper: FuncRef, site: i32, access: &Access) {
        let (address, valid) = (self.int(access.address), self.int(access.valid));
        let narrow = self.plan.program.info(access.address).ty != Ty::B64;
        let address = if narrow { self.b.ins().uextend(types::I64, address) } else { address };
        let lane = self.lane_index();
        let lane = self.b.ins().ireduce(types::I32, lane);
        self.ask(helper, site, [address, valid, lane]);
    }

    /// Leaves an access to a helper: where it is, what of it exists, and which lane makes it. Stops if it is refused. The call
    /// keeps all registers, so that the ways that need no helper do not have to save any.
    pub(super) fn ask(&mut self, helper: FuncRef, site: i32, [address, valid, lane]: [Ir; 3]) {
        let site = self.b.ins().iconst(types::I32, i64::from(site));
        let helper = self.b.ins().func_addr(types::I64, helper);
        self.b.ins().call(self.helpers.gate, &[self.context, helper, site, address, valid, lane]);
        let refused = self.context_field(types::I32, offset_of!(Context, refused));
        self.stop_if(refused, status::FAULT);
    }
}
