//! Intel's stream-output stage as generated programs.
//!
//! What the stage copies has fixed offsets once the declarations are known, so each [`SolShape`] becomes a [`Program`]
//! whose lanes are the stored vertices: a lane works out which vertex is stored at its place, reads the declared slots
//! from the launch's tables, and stores their components. A hole is no statement, so its bytes are not touched. What
//! varies from draw to draw (addresses, counts, where the vertices are) comes with the parameter block.
//!
//! [`ProgramStreamOut`] keeps the programs of one [`Backend`](crate::backend::Backend) and is what an embedder gives to
//! Intel's command processor; [`VertexFormats`] reads vertex elements for it.
//!
//! [`SolShape`]: guestwave_cp::intel::sol::SolShape
//! [`Program`]: crate::program::Program

mod formats;
mod params;
mod program;
mod stage;

pub use formats::VertexFormats;
pub use program::program;
pub use stage::ProgramStreamOut;

#[cfg(test)]
mod tests;
