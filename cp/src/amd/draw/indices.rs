//! Indices from memory.

use super::request::Request;
use crate::amd::context::Context;
use crate::amd::packet::Packet;
use crate::amd::place::aligned;
use crate::amd::register_file::RegisterFile;
use crate::amd::registers::{field, reg};
use crate::primitives::Restart;
use crate::{AccessKind, Refusal};

/// Where a draw's indices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexRange {
    /// Guest address of index 0 of the buffer.
    pub(super) address: u64,
    /// The draw's first index.
    pub(super) first: u32,
    /// Indices of the buffer; those from here on read as 0 and not from memory.
    pub(super) limit: u32,
}

/// Bytes of an index by VGT_INDEX_TYPE.
const BYTES: [Option<u8>; 4] = [Some(2), Some(4), Some(1), None];

fn bytes(registers: &RegisterFile) -> Result<u8, Refusal> {
    let kind = registers.field(field::VGT_INDEX_TYPE::INDEX_TYPE);
    BYTES.get(kind as usize).copied().flatten().ok_or(Refusal::IndexType { value: kind })
}

/// The index that restarts primitives, if one does. It is compared in the bits that an index has, or, with
/// MATCH_ALL_BITS, in 32 bits with a short index extended by zeros.
///
/// # Errors
/// VGT_INDEX_TYPE names no type.
fn restart(registers: &RegisterFile) -> Result<Option<Restart>, Refusal> {
    use field::GE_MULTI_PRIM_IB_RESET_EN as RESET;
    if !registers.flag(RESET::RESET_EN) {
        return Ok(None);
    }
    let mask = match registers.flag(RESET::MATCH_ALL_BITS) {
        true => u32::MAX,
        false => u32::MAX >> (32 - 8 * u32::from(bytes(registers)?)),
    };
    Ok(Some(Restart::new(registers.get(reg::VGT_MULTI_PRIM_IB_RESET_INDX), mask)))
}

/// The indices of a draw, and what restarts primitives among them.
#[derive(Default)]
pub(super) struct Fetched {
    pub(super) indices: Vec<u32>,
    pub(super) restart: Option<Restart>,
}

/// The indices of one instance of a draw, from memory or counted up.
///
/// # Errors
/// As [`fetch`].
pub(super) fn drawn(
    cx: &mut Context<'_>,
    packet: &Packet<'_>,
    request: &Request,
) -> Result<Fetched, Refusal> {
    match request.indices {
        Some(range) => {
            let restart = restart(cx.registers())?;
            Ok(Fetched { indices: fetch(cx, packet, range, request.vertices)?, restart })
        }
        // Restart is a matter of indices.
        None => Ok(Fetched { indices: (0..request.vertices).collect(), restart: None }),
    }
}

/// Reads `count` indices, after what programs are to store there has been stored.
///
/// # Errors
/// VGT_INDEX_TYPE names no type, the address is not a multiple of an index, memory is not mapped, or the fault of an
/// earlier dispatch.
fn fetch(
    cx: &mut Context<'_>,
    packet: &Packet<'_>,
    range: IndexRange,
    count: u32,
) -> Result<Vec<u32>, Refusal> {
    let width = bytes(cx.registers())?;
    let readable = range.limit.saturating_sub(range.first).min(count) as usize;
    let address = range.address.wrapping_add(u64::from(range.first) * u64::from(width));
    aligned(packet, address, u64::from(width))?;
    let raw = bytes_at(cx, address, readable * usize::from(width))?;
    let mut indices = match width {
        1 => raw.into_iter().map(u32::from).collect(),
        2 => words(&raw, |word| u32::from(u16::from_le_bytes(word))),
        _ => words(&raw, u32::from_le_bytes),
    };
    indices.resize(count as usize, 0);
    Ok(indices)
}

/// Reads bytes, which are allocated only where they can be read.
fn bytes_at(cx: &mut Context<'_>, address: u64, size: usize) -> Result<Vec<u8>, Refusal> {
    if size == 0 {
        return Ok(Vec::new());
    }
    cx.memory.check(address, size as u64, AccessKind::Read)?;
    let mut raw = vec![0; size];
    cx.read(address, &mut raw)?;
    Ok(raw)
}

fn words<const N: usize>(raw: &[u8], index: fn([u8; N]) -> u32) -> Vec<u32> {
    raw.as_chunks().0.iter().map(|word| index(*word)).collect()
}
