//! Compute kernels as clang and lld make them for `amdgcn-amd-amdhsa`: the way to get a program in without a driver.
//!
//! A [`CodeObject`] is the ELF file: its segments, the 64-byte descriptor of each kernel, and the metadata note that tells the
//! kernel's arguments. [`CodeObject::prepare`] puts the segments, the kernel's arguments and its buffers into guest memory and
//! writes the registers' rules into an [`ExactDispatch`](guestwave_cp::ExactDispatch), as a command processor would from an AQL
//! packet. What a kernel asks for and is not carried out is refused by name.
//!
//! The layouts are those of LLVM's "User Guide for AMDGPU Backend" (code object versions 3 to 5).

mod descriptor;
mod elf;
mod error;
mod kernarg;
mod launch;
mod metadata;

pub use elf::CodeObject;
pub use error::{KERNEL_ERRORS, KernelError};
pub use launch::{GAP, Placed, Prepared, Request};
pub use metadata::{Argument, Kernel};

/// What a kernel's argument is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A buffer of its own, which begins with `contents` and is zero from there on.
    Buffer {
        /// First bytes.
        contents: Vec<u8>,
        /// Bytes in all.
        bytes: u64,
        /// Whether the kernel may store.
        writable: bool,
    },
    /// The argument's own bytes.
    Bytes(Vec<u8>),
    /// So many bytes of LDS behind the kernel's own.
    Shared(u32),
}

#[cfg(test)]
mod tests;
