//! Which scalar registers an instruction reads and writes.

use guestwave_isa::gfx10::{Encoding, Inst, Op, Operand, Special, WaveSize, sreg};

use super::{Class, class};

/// The number under which the sets count SCC.
pub(crate) const SCC: u8 = 128;

/// A set of scalar registers 0-127 and SCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegisterSet([u64; 3]);

impl RegisterSet {
    pub(crate) fn insert(&mut self, register: u8) {
        self.0[usize::from(register / 64)] |= 1 << (register % 64);
    }

    pub(crate) fn contains(&self, register: u8) -> bool {
        self.0[usize::from(register / 64)] >> (register % 64) & 1 != 0
    }

    pub(crate) fn union(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    pub(crate) fn minus(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    pub(crate) fn intersects(self, other: RegisterSet) -> bool {
        (0..3).any(|i| self.0[i] & other.0[i] != 0)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        (0..=SCC).filter(move |r| self.contains(*r))
    }

    fn insert_range(&mut self, first: u8, count: u8) {
        (first..first.saturating_add(count).min(SCC)).for_each(|r| self.insert(r));
    }
}

/// Scalar registers that an instruction reads and writes, EXEC among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    pub(crate) reads: RegisterSet,
    pub(crate) writes: RegisterSet,
}

/// Operations that read SCC.
const SCC_READERS: &[Op] = &[
    Op::S_CSELECT_B32,
    Op::S_CSELECT_B64,
    Op::S_CMOV_B32,
    Op::S_CMOV_B64,
    Op::S_CMOVK_I32,
    Op::S_ADDC_U32,
    Op::S_SUBB_U32,
];

/// Scalar arithmetic that leaves SCC as it is; all other SOP1, SOP2, SOPC and the comparing and adding SOPK write it.
const SCC_KEEPERS: &[Op] = &[
    Op::S_CSELECT_B32,
    Op::S_CSELECT_B64,
    Op::S_CMOV_B32,
    Op::S_CMOV_B64,
    Op::S_MUL_I32,
    Op::S_MUL_HI_U32,
    Op::S_MUL_HI_I32,
    Op::S_BFM_B32,
    Op::S_BFM_B64,
    Op::S_PACK_LL_B32_B16,
    Op::S_PACK_LH_B32_B16,
    Op::S_PACK_HH_B32_B16,
    Op::S_MOV_B32,
    Op::S_MOV_B64,
    Op::S_BREV_B32,
    Op::S_BREV_B64,
    Op::S_FF0_I32_B32,
    Op::S_FF0_I32_B64,
    Op::S_FF1_I32_B32,
    Op::S_FF1_I32_B64,
    Op::S_FLBIT_I32_B32,
    Op::S_FLBIT_I32_B64,
    Op::S_FLBIT_I32,
    Op::S_FLBIT_I32_I64,
    Op::S_SEXT_I32_I8,
    Op::S_SEXT_I32_I16,
    Op::S_BITSET0_B32,
    Op::S_BITSET0_B64,
    Op::S_BITSET1_B32,
    Op::S_BITSET1_B64,
    Op::S_BITREPLICATE_B64_B32,
    Op::S_GETPC_B64,
    Op::S_SETPC_B64,
    Op::S_SWAPPC_B64,
    Op::S_MOVRELS_B32,
    Op::S_MOVRELS_B64,
    Op::S_MOVRELD_B32,
    Op::S_MOVRELD_B64,
    Op::S_MOVRELSD_2_B32,
];

/// SOPK that writes SCC.
const SCC_SOPK: &[Op] = &[
    Op::S_ADDK_I32,
    Op::S_CMPK_EQ_I32,
    Op::S_CMPK_LG_I32,
    Op::S_CMPK_GT_I32,
    Op::S_CMPK_GE_I32,
    Op::S_CMPK_LT_I32,
    Op::S_CMPK_LE_I32,
    Op::S_CMPK_EQ_U32,
    Op::S_CMPK_LG_U32,
    Op::S_CMPK_GT_U32,
    Op::S_CMPK_GE_U32,
    Op::S_CMPK_LT_U32,
    Op::S_CMPK_LE_U32,
];

/// Operations that read their destination too.
const DESTINATION_READERS: &[Op] = &[
    Op::S_CMOV_B32,
    Op::S_CMOV_B64,
    Op::S_BITSET0_B32,
    Op::S_BITSET0_B64,
    Op::S_BITSET1_B32,
    Op::S_BITSET1_B64,
];

/// Whether the operation writes SCC.
pub(crate) fn writes_scc(inst: &Inst) -> bool {
    match inst.encoding {
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc => !SCC_KEEPERS.contains(&inst.op),
        Encoding::Sopk => SCC_SOPK.contains(&inst.op),
        _ => false,
    }
}

/// The scalar registers that `inst` reads and writes in a wave of this size.
pub(crate) fn effects(inst: &Inst, wave: WaveSize) -> Effects {
    let mut e = Effects::default();
    let row = inst.op.row(inst.encoding);
    for (place, operand) in inst.src.iter().enumerate() {
        let count = row.and_then(|r| r.src[place]).map_or(1, |s| s.dwords(wave));
        read(*operand, count.max(1), wave, &mut e.reads);
    }
    for (place, operand) in inst.dst.iter().enumerate() {
        let count = row.and_then(|r| r.dst[place]).map_or(1, |s| s.dwords(wave));
        if let Operand::Sgpr(r) = operand {
            e.writes.insert_range(*r, count.max(1));
        }
    }
    implicit(inst, wave, &mut e);
    e
}

fn read(operand: Operand, count: u8, wave: WaveSize, reads: &mut RegisterSet) {
    match operand {
        Operand::Sgpr(r) => reads.insert_range(r, count),
        Operand::Special(Special::VccZ) => reads.insert_range(sreg::VCC_LO, wave.mask_dwords()),
        Operand::Special(Special::ExecZ) => reads.insert_range(sreg::EXEC_LO, wave.mask_dwords()),
        Operand::Special(Special::Scc) => reads.insert(SCC),
        Operand::Special(Special::LdsDirect) => reads.insert(sreg::M0),
        _ => {}
    }
}

/// Operations that look at M0 though it is no operand.
const M0_READERS: &[Op] = &[
    Op::S_MOVRELS_B32,
    Op::S_MOVRELS_B64,
    Op::S_MOVRELD_B32,
    Op::S_MOVRELD_B64,
    Op::S_MOVRELSD_2_B32,
    Op::V_MOVRELS_B32,
    Op::V_MOVRELD_B32,
    Op::V_MOVRELSD_B32,
    Op::V_MOVRELSD_2_B32,
    Op::V_SWAPREL_B32,
    Op::S_SENDMSG,
    Op::S_SENDMSGHALT,
];

/// Operations that write a scalar register that M0 chooses, and those that read one.
const DESTINATION_MOVERS: &[Op] = &[Op::S_MOVRELD_B32, Op::S_MOVRELD_B64, Op::S_MOVRELSD_2_B32];
const SOURCE_MOVERS: &[Op] = &[Op::S_MOVRELS_B32, Op::S_MOVRELS_B64, Op::S_MOVRELSD_2_B32];

/// The end of the run of scalar registers that a tuple from `first` on may lie in.
pub(crate) fn file_end(first: u8) -> u8 {
    const ENDS: [u8; 5] = [106, 108, 124, 125, 128];
    ENDS.into_iter().find(|end| first < *end).unwrap_or(128)
}

/// The scalar registers that an operation with an indexed destination may write.
pub(crate) fn indexed_destination(inst: &Inst) -> Option<(u8, u8)> {
    match inst.dst[0] {
        Operand::Sgpr(first) if DESTINATION_MOVERS.contains(&inst.op) => {
            Some((first, file_end(first).saturating_sub(first)))
        }
        _ => None,
    }
}

/// Whether the operation combines a source with EXEC, in the width of this wave or in the other one.
pub(crate) fn combines_exec(op: Op) -> bool {
    [WaveSize::W32, WaveSize::W64]
        .iter()
        .any(|wave| matches!(class(op, *wave), Class::SaveExec { .. } | Class::WriteExec { .. }))
}

fn implicit(inst: &Inst, wave: WaveSize, e: &mut Effects) {
    let exec = |set: &mut RegisterSet| set.insert_range(sreg::EXEC_LO, wave.mask_dwords());
    let scalar = matches!(
        inst.encoding,
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopk | Encoding::Sopc | Encoding::Sopp | Encoding::Smem
    );
    if !scalar {
        exec(&mut e.reads);
    }
    if combines_exec(inst.op) {
        for set in [&mut e.reads, &mut e.writes] {
            set.insert_range(sreg::EXEC_LO, 2);
        }
    }
    if let Some((first, count)) = indexed_destination(inst) {
        e.writes.insert_range(first, count);
        e.reads.insert_range(first, count);
    }
    if let (true, Operand::Sgpr(first)) = (SOURCE_MOVERS.contains(&inst.op), inst.src[0]) {
        e.reads.insert_range(first, file_end(first).saturating_sub(first));
    }
    if SCC_READERS.contains(&inst.op) {
        e.reads.insert(SCC);
    }
    if writes_scc(inst) {
        e.writes.insert(SCC);
    }
    if DESTINATION_READERS.contains(&inst.op) {
        e.reads = e.reads.union(e.writes);
    }
    if M0_READERS.contains(&inst.op) || inst.encoding == Encoding::Ds {
        e.reads.insert(sreg::M0);
    }
}
