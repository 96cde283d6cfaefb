//! Guest programs compiled to native code with Cranelift and run on the guest's memory in place: the embedded default,
//! which needs no driver.

mod backend;

pub use backend::SoftBackend;
