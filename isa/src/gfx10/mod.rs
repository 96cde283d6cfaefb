//! AMD GFX10: GFX10.1 (gfx1010, gfx1013) and GFX10.3 (gfx1030).

mod decode;
mod disasm;
mod inst;
pub mod interp;
mod names;
mod op;
pub mod surface;
mod table;

pub use decode::*;
pub use disasm::*;
pub use inst::*;
pub use op::*;
pub use table::*;
