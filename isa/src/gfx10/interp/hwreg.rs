//! Hardware registers: MODE, FLAT_SCRATCH, apertures and clocks.

use super::StopKind;
use super::machine::{Flow, Machine};
use super::meaning::Meaning;
use super::slot::Slot;
use crate::gfx10::{Op, Operand};

pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::S_GETREG_B32, Meaning::Special(getreg)),
    (Op::S_SETREG_B32, Meaning::Special(setreg)),
    (Op::S_SETREG_IMM32_B32, Meaning::Special(setreg)),
    (Op::S_ROUND_MODE, Meaning::Special(|m, slot| mode_field(m, slot, 0))),
    (Op::S_DENORM_MODE, Meaning::Special(|m, slot| mode_field(m, slot, 4))),
];

/// Bits of MODE that exist on GFX10: rounding, denormals, DX10_CLAMP, IEEE, LOD_CLAMPED, DEBUG_EN, exception enables,
/// FP16_OVFL, DISABLE_PERF.
const MODE_BITS: u32 = 0x089f_ffff;

/// A hardware register that programs may reach here.
#[derive(Clone, Copy)]
struct HardwareRegister {
    id: u16,
    read: fn(&mut Machine<'_>) -> u32,
    /// `None` where writes are refused.
    write: Option<fn(&mut Machine<'_>, u32)>,
}

/// All other registers (STATUS, TRAPSTS, HW_ID, ...) tell of things that do not exist here and are refused.
const REGISTERS: [HardwareRegister; 5] = [
    HardwareRegister {
        id: 1,
        read: |m| m.wave.mode,
        write: Some(|m, value| m.wave.mode = value & MODE_BITS),
    },
    // SH_MEM_BASES: the high 16 bits of the private and of the shared aperture.
    HardwareRegister {
        id: 15,
        read: |m| (m.info.apertures.private >> 48 | m.info.apertures.shared >> 48 << 16) as u32,
        write: None,
    },
    HardwareRegister {
        id: 20,
        read: |m| m.wave.flat_scratch[0],
        write: Some(|m, value| m.wave.flat_scratch[0] = value),
    },
    HardwareRegister {
        id: 21,
        read: |m| m.wave.flat_scratch[1],
        write: Some(|m, value| m.wave.flat_scratch[1] = value),
    },
    // SHADER_CYCLES: the low 20 bits of the clock.
    HardwareRegister { id: 29, read: |m| m.bus.clock(m.executed) as u32 & 0xf_ffff, write: None },
];

/// The register and the bits of it that SIMM16 names.
struct Field {
    register: HardwareRegister,
    offset: u32,
    mask: u32,
}

fn field(slot: &Slot) -> Result<Field, StopKind> {
    let simm = slot.simm();
    let (id, offset, size) = (simm & 0x3f, u32::from(simm >> 6 & 31), u32::from(simm >> 11) + 1);
    let register = REGISTERS.iter().find(|r| r.id == id).ok_or_else(|| slot.form(register_name(id)))?;
    // A field that runs past bit 31 has the bits that exist.
    let mask = (((1u64 << size) - 1) << offset) as u32;
    Ok(Field { register: *register, offset, mask })
}

/// Names of registers that are refused.
fn register_name(id: u16) -> &'static str {
    const NAMES: [(u16, &str); 12] = [
        (2, "HW_REG_STATUS"),
        (3, "HW_REG_TRAPSTS"),
        (4, "HW_REG_HW_ID"),
        (5, "HW_REG_GPR_ALLOC"),
        (6, "HW_REG_LDS_ALLOC"),
        (7, "HW_REG_IB_STS"),
        (16, "HW_REG_TBA_LO"),
        (18, "HW_REG_TMA_LO"),
        (22, "HW_REG_XNACK_MASK"),
        (23, "HW_REG_HW_ID1"),
        (24, "HW_REG_HW_ID2"),
        (25, "HW_REG_POPS_PACKER"),
    ];
    NAMES.iter().find(|(n, _)| *n == id).map_or("a hardware register without a name", |(_, name)| name)
}

fn getreg(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let field = field(slot)?;
    let value = ((field.register.read)(m) & field.mask) >> field.offset;
    m.write_first(slot, value.into())
}

fn setreg(m: &mut Machine<'_>, slot: &Slot) -> Result<Flow, StopKind> {
    let field = field(slot)?;
    let Some(write) = field.register.write else {
        return Err(slot.form("a hardware register that is read only"));
    };
    let value = setreg_value(m, slot)?;
    let old = (field.register.read)(m);
    write(m, old & !field.mask | value << field.offset & field.mask);
    Ok(Flow::Next)
}

/// The literal of the immediate form, else the register, which SOPK keeps in its SDST field.
fn setreg_value(m: &Machine<'_>, slot: &Slot) -> Result<u32, StopKind> {
    let source = slot.inst.src.iter().position(|operand| *operand != Operand::None);
    match (source, slot.scalar_destination(0)) {
        (Some(place), _) => Ok(m.scalar_source(slot, place)? as u32),
        (None, Some(number)) => Ok(m.wave.sgpr(number)),
        (None, None) => Err(slot.form("no source")),
    }
}

/// Sets four bits of MODE from SIMM16.
fn mode_field(m: &mut Machine<'_>, slot: &Slot, shift: u32) -> Result<Flow, StopKind> {
    let value = u32::from(slot.simm() & 0xf) << shift;
    m.wave.mode = m.wave.mode & !(0xf << shift) | value;
    Ok(Flow::Next)
}
