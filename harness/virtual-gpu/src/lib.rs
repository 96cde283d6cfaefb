//! The preloaded half of the virtual GPU: it shows `/dev/dri/renderD128` and what sysfs says of it to a program that has no
//! GPU, and hands every ioctl on that node to the executor process.
//!
//! It is thin. It knows no GPU, keeps no buffer objects, no contexts and no fences: an ioctl's structure and what its pointers
//! lead to travel over a Unix socket ([`wire`]), the executor answers, and the answer is copied back. The memory of all buffer
//! objects is one file that both processes map.
//!
//! # How a file descriptor is known
//!
//! Opening the node gives a real descriptor: a socket that is connected to the executor and bound to a name that holds the file's
//! number ([`link`]). `dup`, `fork`, `exec` and descriptor passing keep that name, so there is no table of descriptors to keep
//! true, and the executor sees the end of the file when the last copy of the descriptor in any process is closed, however
//! that process ended.
//!
//! # Rules
//!
//! 1. The C library is called only where the real function is needed; everything else is a raw system call, so that a hook
//!    never meets itself. `std::fs` and `std::net` are not used.
//! 2. No hook holds a lock while it runs, so a fork at any moment leaves nothing locked in the child.
//! 3. What a program asks outside of the node and its sysfs entries goes to the real function untouched.
//! 4. A lost executor ends the process that opened the node; where it does not, ioctls answer `ENODEV`.
//!
//! It has no dependencies, so that the build of the command can compile it alone and carry it.

#![cfg(target_os = "linux")]

mod directory;
mod hooks;
mod link;
mod marshal;
mod sys;
mod tree;
mod wire;
