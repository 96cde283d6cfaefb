//! Intel Gen7 and later: stream output as the SOL stage does it.

pub mod so_decl;
