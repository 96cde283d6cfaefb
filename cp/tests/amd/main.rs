//! The AMD command processor, from packets in memory to what an executor is asked and what memory holds.

#[cfg(test)]
mod assembly;
#[cfg(test)]
mod compute;
#[cfg(test)]
mod counters;
#[cfg(test)]
mod draw;
#[cfg(test)]
mod geometry;
#[cfg(test)]
mod geometry_programs;
#[cfg(test)]
mod geometry_streams;
#[cfg(test)]
mod indirect;
#[cfg(test)]
mod opengl;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod robustness;
#[cfg(test)]
mod streamout;
#[cfg(test)]
mod support;
#[cfg(test)]
mod sweep;
#[cfg(test)]
mod tessellation;
