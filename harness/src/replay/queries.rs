//! Queries, from the samples of the streamout counters that a program had written to memory.
//!
//! A query is one or more blocks of 32 bytes: the sample at its begin at byte 0 and the one at its end at byte 16,
//! each the primitives needed and the primitives written with bit 63 set. Drivers suspend a query at the end of a
//! command buffer and resume it in the next block, so neighbouring blocks that follow each other in time are one
//! OpenGL query. In Vulkan each block of a pool is a query of its own.

use super::expect::{QueryKind, Which};
use super::trace::Sample;

/// Bit 63 says that a counter was written.
const COUNTER: u64 = u64::MAX >> 1;

/// What one block counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    stream: u8,
    address: u64,
    needed: u64,
    written: u64,
    /// Place of its two samples among all.
    begin: usize,
    end: usize,
}

/// What a query counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Query {
    stream: u8,
    /// Address of the first block.
    address: u64,
    needed: u64,
    written: u64,
}

impl Query {
    pub(super) fn count(&self, written: bool) -> u64 {
        if written { self.written } else { self.needed }
    }
}

/// Pairs samples into blocks, in the order of their ends. A begin that is written again starts over.
fn blocks(samples: &[Sample]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (end, last) in samples.iter().enumerate() {
        let is_begin =
            |s: &Sample| s.address.checked_add(16) == Some(last.address) && s.stream == last.stream;
        let begin = samples[..end].iter().rposition(is_begin);
        let Some((begin, first)) = begin.and_then(|b| Some((b, samples.get(b)?))) else { continue };
        if first.address % 32 != 0 {
            continue;
        }
        blocks.push(Block {
            stream: last.stream,
            address: first.address,
            needed: (last.needed & COUNTER).wrapping_sub(first.needed & COUNTER),
            written: (last.written & COUNTER).wrapping_sub(first.written & COUNTER),
            begin,
            end,
        });
    }
    blocks
}

/// The queries that `which` may mean: all of a stream, or the one in a slot of the pool.
pub(super) fn queries(samples: &[Sample], which: Which) -> Vec<Query> {
    let blocks = blocks(samples);
    match which {
        Which::Stream(stream) => joined(blocks.iter().filter(|b| b.stream == stream)),
        Which::Slot(slot) => slot_of(blocks, slot).into_iter().collect(),
    }
}

/// Blocks joined where one follows the other in memory and in time.
fn joined<'a>(blocks: impl Iterator<Item = &'a Block>) -> Vec<Query> {
    let mut open: Vec<(Query, Block)> = Vec::new();
    for block in blocks {
        let before = |(_, b): &&mut (Query, Block)| b.address + 32 == block.address && b.end < block.begin;
        match open.iter_mut().find(before) {
            Some((query, last)) => {
                query.needed = query.needed.wrapping_add(block.needed);
                query.written = query.written.wrapping_add(block.written);
                *last = *block;
            }
            None => open.push((single(block), *block)),
        }
    }
    open.into_iter().map(|(query, _)| query).collect()
}

fn single(block: &Block) -> Query {
    let Block { stream, address, needed, written, .. } = *block;
    Query { stream, address, needed, written }
}

/// The block in a slot of the pool that begins at the lowest address.
fn slot_of(blocks: Vec<Block>, slot: u32) -> Option<Query> {
    let base = blocks.iter().map(|b| b.address).min()?;
    let at = base + 32 * u64::from(slot);
    blocks.iter().rev().find(|b| b.address == at).map(single)
}

/// Checks query expectations: each must be met by a query of its own.
#[derive(Debug, Default)]
pub(super) struct QueryCheck {
    taken: Vec<(QueryKind, u64)>,
}

impl QueryCheck {
    /// `Ok` if a query that no equal expectation took counted `value`; otherwise what the queries counted.
    pub(super) fn check(&mut self, samples: &[Sample], kind: QueryKind, value: u64) -> Result<(), String> {
        let all = queries(samples, kind.which);
        let free = |q: &&Query| !self.taken.contains(&(kind, q.address));
        match all.iter().filter(free).find(|q| q.count(kind.written) == value) {
            Some(query) => {
                self.taken.push((kind, query.address));
                Ok(())
            }
            None => Err(counts(&all, kind)),
        }
    }
}

fn counts(queries: &[Query], kind: QueryKind) -> String {
    if queries.is_empty() {
        return "no query was begun and ended".to_owned();
    }
    let count = |q: &Query| format!("{} at {:#x}", q.count(kind.written), q.address);
    format!("counted {}", queries.iter().map(count).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(address: u64, needed: u64, written: u64) -> Sample {
        Sample { stream: 0, address, needed: needed | 1 << 63, written: written | 1 << 63 }
    }

    fn kind(written: bool, which: Which) -> QueryKind {
        QueryKind { written, which }
    }

    #[test]
    fn suspended_queries_are_summed_and_others_kept_apart() {
        let samples = [
            sample(0x1000, 0, 0),
            sample(0x1100, 0, 0),
            sample(0x1010, 4, 3),
            sample(0x1110, 4, 3),
            sample(0x1020, 5, 3),
            sample(0x1030, 9, 7),
        ];
        let counts = |w| queries(&samples, Which::Stream(0)).iter().map(|q| q.count(w)).collect::<Vec<_>>();
        assert_eq!(counts(true), [3 + 4, 3]);
        assert_eq!(counts(false), [4 + 4, 4]);
        assert!(queries(&samples, Which::Stream(1)).is_empty());
    }

    #[test]
    fn slots_of_a_pool_are_not_joined() {
        let samples =
            [sample(0x1000, 0, 0), sample(0x1010, 4, 2), sample(0x1020, 4, 2), sample(0x1030, 5, 3)];
        let mut check = QueryCheck::default();
        assert_eq!(check.check(&samples, kind(true, Which::Slot(1)), 1), Ok(()));
        assert_eq!(check.check(&samples, kind(false, Which::Slot(0)), 4), Ok(()));
        assert!(check.check(&samples, kind(false, Which::Slot(2)), 0).is_err());
    }

    #[test]
    fn two_equal_expectations_need_two_queries() {
        let samples = [sample(0x1000, 0, 0), sample(0x1010, 1, 1)];
        let mut check = QueryCheck::default();
        let written = kind(true, Which::Stream(0));
        assert_eq!(check.check(&samples, written, 1), Ok(()));
        assert_eq!(check.check(&samples, written, 1), Err("counted 1 at 0x1000".to_owned()));
        assert_eq!(check.check(&samples, kind(false, Which::Stream(0)), 1), Ok(()));
    }
}
