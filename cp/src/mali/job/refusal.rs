//! What the walk of a job chain refuses.

use crate::refusal::{refusals, refuses_faults};
use crate::{DispatchError, MemoryFault};

refusals! {
    /// Why a job was not carried out.
    Refusal: CATALOGUE,
        /// The executor refused a dispatch, or the dispatch faulted.
        Dispatch(Box<DispatchError>);
    /// A descriptor that is not in memory.
    Memory { fault: MemoryFault } = "CP-MJOB-001",
        "{fault}; map it before the job, or mend the descriptor's address";
    /// A chain that does not end.
    ChainLength { limit: u32 } = "CP-MJOB-002", "the job chain has more than {limit} jobs";
    /// A type of job without a row.
    JobType { kind: u32 } = "CP-MJOB-003",
        "a job of type {kind} is not carried out: only null, cache flush, compute and malloc-vertex jobs are";
    /// A field of a job that changes results.
    Option { job: &'static str, option: &'static str } = "CP-MJOB-004",
        "the {job} asks for {option}, which is not carried out";
    /// A launch larger than any real one.
    Threads { threads: u64, limit: u64 } = "CP-MJOB-005",
        "the job has {threads} threads, more than the {limit} that are taken for real work";
    /// A descriptor that is no shader program.
    ShaderType { word: u32 } = "CP-MJOB-006",
        "the shader descriptor begins with {word:#010x}, which is not that of a shader program";
    /// A float mode that is not carried out.
    ShaderMode { word: u32 } = "CP-MJOB-007",
        "the shader descriptor asks for a float mode or a helper mode (word {word:#010x}) that is not carried out";
    /// A register that hardware preloads and the launch does not.
    Preload { register: u32 } = "CP-MJOB-008",
        "the program wants r{register} preloaded, which this kind of launch does not do";
    /// No memory for vertex packets.
    Packets { bytes: u64, room: u64 } = "CP-MJOB-009",
        "the draw's vertices take {bytes} bytes of packets, and the tiler heap has room for {room}";
}

refuses_faults!(Refusal);

#[cfg(test)]
mod tests {
    #[test]
    fn codes_are_sorted_and_unique() {
        assert!(super::CATALOGUE.windows(2).all(|pair| pair[0].code < pair[1].code));
    }
}
