//! SPIR-V from a module, with what keeps drivers from changing floats added to its words.

use std::collections::{HashMap, HashSet};

use naga::back::spv;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use super::{ENTRY, FloatModes, Lowered, Unsupported, codes, layout};
use crate::backend::Fidelity;

/// Opcodes whose results NoContraction keeps as they are written.
const ARITHMETIC: [u32; 8] = [127, 129, 131, 133, 136, 140, 141, 148];
const OP_EXTENSION: u32 = 10;
const OP_EXT_INST: u32 = 12;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;
const OP_DECORATE: u32 = 71;
const OP_VARIABLE: u32 = 59;
const OP_ENTRY_POINT: u32 = 15;
/// First opcodes of the section after annotations: types, constants, variables.
const FIRST_TYPE: std::ops::RangeInclusive<u32> = 19..=59;
const EXT_FMA: u32 = 50;
const DECORATION_NO_CONTRACTION: u32 = 42;
const DECORATION_ALIASED: u32 = 20;
const DECORATION_NON_WRITABLE: u32 = 24;
const DECORATION_BINDING: u32 = 33;

/// Execution modes of float controls and the capabilities they need: mode, capability.
const DENORM_PRESERVE: (u32, u32) = (4459, 4464);
const ZERO_INF_NAN_PRESERVE: (u32, u32) = (4461, 4466);
const ROUND_TO_EVEN: (u32, u32) = (4462, 4467);

/// Validates a module.
///
/// # Errors
/// What naga objects to, which is a fault of the lowering.
pub fn validate(lowered: &Lowered) -> Result<ModuleInfo, Unsupported> {
    let capabilities = Capabilities::FLOAT64
        | Capabilities::SHADER_INT64
        | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS
        | Capabilities::SUBGROUP
        | Capabilities::SUBGROUP_BARRIER;
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    validator.validate(&lowered.module).map_err(|error| {
        let mut reason = error.to_string();
        let mut source = std::error::Error::source(error.as_inner());
        while let Some(inner) = source {
            reason = format!("{reason}: {inner}");
            source = inner.source();
        }
        Unsupported { code: codes::INTERNAL, reason }
    })
}

/// Validates a module and writes it as SPIR-V; for [`Fidelity::Exact`] with NoContraction and the device's float-control modes.
///
/// # Errors
/// What naga objects to, which is a fault of the lowering.
pub fn spirv(lowered: &Lowered, modes: &FloatModes, fidelity: Fidelity) -> Result<Vec<u32>, Unsupported> {
    let info = validate(lowered)?;
    let zero = if lowered.facts.zeroed {
        spv::ZeroInitializeWorkgroupMemoryMode::Native
    } else {
        spv::ZeroInitializeWorkgroupMemoryMode::None
    };
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        fake_missing_bindings: false,
        binding_map: bindings(),
        bounds_check_policies: naga::proc::BoundsCheckPolicies {
            index: naga::proc::BoundsCheckPolicy::Unchecked,
            buffer: naga::proc::BoundsCheckPolicy::Unchecked,
            image_load: naga::proc::BoundsCheckPolicy::Unchecked,
            binding_array: naga::proc::BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: zero,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    };
    let entry = spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: ENTRY.into() };
    let words = spv::write_vec(&lowered.module, &info, &options, Some(&entry))
        .map_err(|e| Unsupported { code: codes::INTERNAL, reason: e.to_string() })?;
    Ok(if fidelity == Fidelity::Exact {
        harden(&words, modes)
    } else {
        harden(&words, &FloatModes::default())
    })
}

/// Every binding as it is.
fn bindings() -> spv::BindingMap {
    let each = |binding| {
        let info = spv::BindingInfo { descriptor_set: 0, binding, binding_array_size: None };
        (naga::ResourceBinding { group: 0, binding }, info)
    };
    (0..layout::binding::COUNT).map(each).collect()
}

/// Instructions of a SPIR-V module, with their places in its words.
fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = words.get(5..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = (*rest.first()? >> 16).max(1) as usize;
        let (now, then) = rest.split_at_checked(length)?;
        rest = then;
        Some(now)
    })
}

fn opcode(instruction: &[u32]) -> u32 {
    instruction[0] & 0xffff
}

/// Adds NoContraction, Aliased and float-control modes to a SPIR-V module.
pub(super) fn harden(words: &[u32], modes: &FloatModes) -> Vec<u32> {
    let decorations = decorations(words);
    let wanted = wanted_modes(modes);
    let mut out: Vec<u32> = words.iter().take(5).copied().collect();
    let (mut capabilities, mut moded, mut decorated) = (false, false, false);
    for instruction in instructions(words) {
        let op = opcode(instruction);
        if !capabilities && op != OP_CAPABILITY {
            capabilities = true;
            add_capabilities(&mut out, &wanted);
        }
        if !moded && moded_from(op) {
            moded = true;
            add_modes(&mut out, words, &wanted);
        }
        if !decorated && FIRST_TYPE.contains(&op) {
            decorated = true;
            out.extend(&decorations);
        }
        out.extend(instruction);
    }
    out
}

/// Whether an opcode stands behind all entry points.
fn moded_from(op: u32) -> bool {
    !matches!(op, OP_CAPABILITY | OP_EXTENSION | 11 | 14 | OP_ENTRY_POINT)
}

/// The modes to add: mode, capability, bits.
fn wanted_modes(modes: &FloatModes) -> Vec<(u32, u32, u32)> {
    let kinds = [
        (DENORM_PRESERVE, modes.denorm_preserve),
        (ZERO_INF_NAN_PRESERVE, modes.zero_inf_nan_preserve),
        (ROUND_TO_EVEN, modes.round_to_even),
    ];
    let widths = |((mode, capability), has): ((u32, u32), [bool; 2])| {
        [(has[0], 32), (has[1], 64)].into_iter().filter(|(h, _)| *h).map(move |(_, w)| (mode, capability, w))
    };
    kinds.into_iter().flat_map(widths).collect()
}

fn add_capabilities(out: &mut Vec<u32>, wanted: &[(u32, u32, u32)]) {
    let mut known = Vec::new();
    for (_, capability, _) in wanted {
        if !known.contains(capability) {
            known.push(*capability);
            out.extend([2 << 16 | OP_CAPABILITY, *capability]);
        }
    }
    if !wanted.is_empty() {
        let name = text("SPV_KHR_float_controls");
        out.push((name.len() as u32 + 1) << 16 | OP_EXTENSION);
        out.extend(name);
    }
}

/// A string as SPIR-V has it.
fn text(s: &str) -> Vec<u32> {
    let mut bytes = s.as_bytes().to_vec();
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn add_modes(out: &mut Vec<u32>, words: &[u32], wanted: &[(u32, u32, u32)]) {
    for entry in instructions(words).filter(|i| opcode(i) == OP_ENTRY_POINT) {
        for (mode, _, bits) in wanted {
            out.extend([4 << 16 | OP_EXECUTION_MODE, entry[2], *mode, *bits]);
        }
    }
}

fn decorations(words: &[u32]) -> Vec<u32> {
    let mut out = Vec::new();
    let mut decorate = |id: u32, what: u32| out.extend([3 << 16 | OP_DECORATE, id, what]);
    let mut bound = HashMap::new();
    let mut only_read = HashSet::new();
    for i in instructions(words) {
        match opcode(i) {
            op if ARITHMETIC.contains(&op) => decorate(i[2], DECORATION_NO_CONTRACTION),
            OP_EXT_INST if i[4] == EXT_FMA => decorate(i[2], DECORATION_NO_CONTRACTION),
            OP_DECORATE if i[2] == DECORATION_BINDING => {
                bound.insert(i[1], i[3]);
            }
            OP_DECORATE if i[2] == DECORATION_NON_WRITABLE => {
                only_read.insert(i[1]);
            }
            // The arena is bound more than once.
            OP_VARIABLE if bound.get(&i[2]).is_some_and(|b| is_arena(*b)) && !only_read.contains(&i[2]) => {
                decorate(i[2], DECORATION_ALIASED)
            }
            _ => {}
        }
    }
    out
}

fn is_arena(binding: u32) -> bool {
    use layout::binding::{ARENA, ARENA64, FOURS, READS};
    [ARENA, READS, ARENA64, FOURS].contains(&binding)
}
