//! Arm Mali: how a driver's descriptors say where per-vertex data lies, and how a driver lays it out.
//!
//! Three generations move attributes (per vertex) and varyings (per fragment) through memory that descriptors describe:
//!
//! | versions | generation | where a format and an offset stand | where a base and a stride stand |
//! |---|---|---|---|
//! | v4, v5 | Midgard | 8-byte attribute descriptor | 16-byte buffer record, or a special input without memory |
//! | v6, v7 | Bifrost | the same; the address and the conversion reach the program | 16-byte buffer record |
//! | v9 to v14 | Valhall | 32-byte attribute descriptor, or the instruction itself | 32-byte buffer descriptor behind a resource table |
//!
//! [`record`] decodes and encodes descriptors by table. [`Divisor`] is the arithmetic from an invocation to an element,
//! [`AttributeSet`] and [`ResourceTables`] walk a driver's tables in guest memory to an element's address, [`linker`] chooses
//! a layout. The crate sees no instruction set: what a format word means is `guestwave-isa`'s.
//!
//! # Policies
//!
//! Public facts leave a few things open; each has a name here.
//!
//! - *Out of range*: an element that does not lie wholly within its buffer's size reads as zeros and stores nothing, and is
//!   flagged ([`Place::inside`]).
//! - *Offset enable*: adds the draw's offset start to the element index, on v4 to v7 for attributes and on v9 and later.
//! - *Packets*: a vertex packet holds 64 vertices, their positions first (16 bytes each, so that varyings begin at byte
//!   1024), then one attribute stride a vertex.

mod arch;
mod attribute;
mod codes;
mod divide;
pub mod job;
pub mod linker;
pub mod record;
mod tables;

pub use arch::{Generation, Version};
pub use attribute::{Attribute, AttributeBuffer, Element, Frequency, Grid, Place, Special, Stride};
pub use divide::{Divisor, linear_id, magic, padded_count};
pub use tables::{AttributeSet, Draw, Invocation, Located, ResourceTables, Source};
