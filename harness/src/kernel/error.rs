//! Why a kernel does not run.

use crate::codes::coded_errors;
use crate::memory::MemoryError;

coded_errors! {
    /// A code object that cannot be read, or a launch that does not fit its kernel.
    KernelError: KERNEL_ERRORS;
    /// The file is no code object.
    File { what: String } = "HN-KRN-001", "the file is no code object for amdgcn-amd-amdhsa: {what}";
    /// A processor that is not emulated.
    Processor { mach: u32 } = "HN-KRN-002",
        "the code is for processor number {mach:#x}; compile it with -mcpu=gfx1010, gfx1013 or gfx1030 to gfx1036";
    /// The metadata cannot be read.
    Metadata { what: String } = "HN-KRN-003", "the code object's metadata note cannot be read: {what}";
    /// No such kernel.
    Name { name: String, there: String } = "HN-KRN-004", "the code object has no kernel {name:?}; it has {there}";
    /// A descriptor that contradicts itself.
    Descriptor { kernel: String, what: &'static str } = "HN-KRN-005", "the descriptor of kernel {kernel} {what}";
    /// Something that is not carried out.
    Unsupported { kernel: String, what: String } = "HN-KRN-006",
        "kernel {kernel} asks for {what}, which is not carried out";
    /// A relocation of an unknown kind.
    Relocation { kind: u32, address: u64 } = "HN-KRN-007",
        "the relocation of kind {kind} at {address:#x} is not carried out";
    /// Too many or too few arguments.
    Count { kernel: String, given: usize, wanted: String } = "HN-KRN-008",
        "kernel {kernel} is given {given} arguments; it takes {wanted}";
    /// An argument of the wrong kind or size.
    Argument { index: usize, name: String, what: String } = "HN-KRN-009", "argument {index} ({name}) {what}";
    /// No work-group size, or one that the kernel does not allow.
    GroupSize { kernel: String, what: String } = "HN-KRN-010", "the work-group size of kernel {kernel} {what}";
    /// Guest memory that cannot be had.
    Memory { error: MemoryError } = "HN-KRN-011", "the kernel's memory cannot be set up: {error}";
}

impl From<MemoryError> for KernelError {
    fn from(error: MemoryError) -> Self {
        KernelError::Memory { error }
    }
}

impl KernelError {
    /// Whether the file or the launch is at fault, not something that is missing here.
    pub fn is_usage(&self) -> bool {
        !matches!(
            self,
            KernelError::Processor { .. } | KernelError::Unsupported { .. } | KernelError::Relocation { .. }
        )
    }
}
