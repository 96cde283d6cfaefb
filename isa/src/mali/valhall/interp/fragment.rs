//! What ends a fragment program.

use super::StopKind;
use super::control::Next;
use super::launch_state::launch;
use super::thread::{Special, Thread};
use crate::mali::valhall::{Flow, Inst, Op, Source};

/// Bytes of the colour buffer that a thread has, and that a render target has of them.
const THREAD_BYTES: u64 = 128;
const TARGET_BYTES: u64 = 16;

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Special)] = &[(Op::Atest, alpha_test), (Op::Blend, blend)];

fn alpha_test(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let coverage = thread.word(inst, 0)?;
    thread.set_staged(inst, &[coverage]);
    Ok(Next::Follow)
}

/// Stores the staging registers as the render target's colour.
fn blend(thread: &mut Thread<'_>, inst: &Inst) -> Result<Next, StopKind> {
    let next = match inst.flow() {
        Flow::End => Next::End,
        // Without a blend program, the code that would call one is left out.
        Flow::Next => Next::Jump(inst.offset.wrapping_add(8 * (inst.immediate("target") + 1))),
    };
    let target = blend_target(inst)?;
    if thread.env.colours == 0 {
        return Ok(next);
    }
    let number = u64::from(thread.registers[launch::NUMBER]);
    let at = thread.env.colours.wrapping_add(number * THREAD_BYTES + target * TARGET_BYTES);
    let words: Vec<u8> =
        (0..inst.staging_count().min(4)).flat_map(|i| thread.staged(inst, i).to_le_bytes()).collect();
    thread.store_bytes(at, &words)?;
    Ok(next)
}

/// The render target whose blend descriptor the instruction names.
fn blend_target(inst: &Inst) -> Result<u64, StopKind> {
    let Source::Special(special, 0) = inst.source(0) else {
        return Err(StopKind::Form { name: inst.row.name, form: "a blend descriptor in registers" });
    };
    let number = special.strip_prefix("blend_descriptor_").and_then(|n| n.parse().ok());
    number.ok_or(StopKind::Special { name: inst.row.name, special })
}
