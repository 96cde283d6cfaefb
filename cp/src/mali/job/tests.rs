//! Chains of every shape.

use std::ops::Range;
use std::sync::Mutex;

use super::*;
use crate::{AccessKind, Generation, MemoryFault};

/// Memory of one segment at 0x1000.
struct Memory(Mutex<Vec<u8>>);

const BASE: u64 = 0x1000;

impl Memory {
    fn new(words: &[(u64, u32)]) -> Memory {
        let mut bytes = vec![0; 0x1000];
        for (at, word) in words {
            bytes[*at as usize..*at as usize + 4].copy_from_slice(&word.to_le_bytes());
        }
        Memory(Mutex::new(bytes))
    }
}

impl GuestMemory for Memory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let bytes = self.0.lock().unwrap();
        let fault = MemoryFault { address, size: into.len() as u64, kind: AccessKind::Read };
        let from = address.checked_sub(BASE).ok_or(fault)? as usize;
        into.copy_from_slice(bytes.get(from..from + into.len()).ok_or(fault)?);
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        Err(MemoryFault { address, size: bytes.len() as u64, kind: AccessKind::Write })
    }

    fn mapping(&self, _: u64) -> Option<Range<u64>> {
        Some(BASE..BASE + 0x1000)
    }

    fn generation(&self) -> Generation {
        Generation::default()
    }

    fn changed_since(&self, since: Generation, _: &mut dyn FnMut(Range<u64>)) -> Generation {
        since
    }
}

/// A compute job at byte 0, its shader at 0x200.
fn compute_job() -> Vec<(u64, u32)> {
    vec![
        (16, 4 << 1),
        (40, 6),
        (44, 4),
        (48, 1),
        (68, 3),
        (96, 0x4c5),
        (104, 0x1200),
        (120, 0x1300),
        (0x200, 0x8000_0138),
        (0x204, 0x3000),
        (0x208, 0x1400),
    ]
}

fn first(words: &[(u64, u32)]) -> Result<Option<Planned>, Refusal> {
    JobChain::new(BASE).next(&Memory::new(words))
}

#[test]
fn a_compute_job_is_one_launch() {
    let job = first(&compute_job()).unwrap().unwrap();
    let [launch] = job.launches.as_slice() else { panic!("{job:?}") };
    let d = &launch.dispatch;
    assert_eq!((launch.role, d.program.address, d.items()), (Role::Compute, 0x1400, 24));
    let expected =
        Environment { fau: 0x1300, fau_words: 6, resources: 0x4c0, tables: 5, ..Environment::default() };
    let words: Vec<ScalarRule> = expected.words().into_iter().map(ScalarRule::Word).collect();
    assert_eq!(d.sgprs, words);
    assert_eq!(d.vgprs[60], LaneRule::Cycle { base: 0, items: 6 });
    assert_eq!(d.vgprs[61], LaneRule::Primitive { base: 0, items: 6 });
}

#[test]
fn chains_end() {
    // A job that follows itself.
    let memory = Memory::new(&[(16, 1 << 1), (24, 0x1000)]);
    let mut chain = JobChain::new(BASE);
    let end = loop {
        if let Err(end) = chain.next(&memory) {
            break end;
        }
    };
    assert_eq!(end, Refusal::ChainLength { limit: MAX_JOBS });
    assert_eq!(JobChain::new(0).next(&memory), Ok(None));
}

#[test]
fn what_is_not_carried_out_is_refused_by_name() {
    let with = |word: (u64, u32)| {
        let mut words = compute_job();
        words.retain(|w| w.0 != word.0);
        words.push(word);
        first(&words).map(|_| ()).map_err(|r| r.code())
    };
    assert_eq!(with((16, 7 << 1)), Err("CP-MJOB-003"));
    assert_eq!(with((48, 2)), Err("CP-MJOB-004"));
    assert_eq!(with((40, 1 << 25)), Err("CP-MJOB-005"));
    assert_eq!(with((0x200, 0x37)), Err("CP-MJOB-006"));
    assert_eq!(with((0x200, 0x8000_0338)), Err("CP-MJOB-007"));
    assert_eq!(with((0x204, 0x3080)), Err("CP-MJOB-008"));
    assert_eq!(with((104, 0x9000)), Err("CP-MJOB-001"));
}

/// A draw at byte 0 whose programs' shader is at 0x200, its tiler at 0x240, its heap at 0x280.
fn draw_job() -> Vec<(u64, u32)> {
    vec![
        (16, 11 << 1),
        (32, 0x0007_1001),
        (44, 6),
        (48, 2),
        (52, 0x0030_0040),
        (56, 0x1240),
        (0x128, 0x1200),
        (0x168, 0x1200),
        (0x200, 0x8000_0138),
        (0x204, 0x3800),
        (0x208, 0x1400),
        (0x258, 0x1280),
        (0x288, 0x8000),
        (0x298, 0x9000),
    ]
}

#[test]
fn a_draw_is_a_position_and_a_varying_launch() {
    let job = first(&draw_job()).unwrap().unwrap();
    let packets = job.packets.unwrap();
    // 12 vertices in groups of four: 24 entries of 16 bytes, then 48 bytes of varyings each.
    let expected =
        Packets { positions: 0x8000, grouped: true, varyings: 0x8180, varying_stride: 48, vertices: 12 };
    assert_eq!(packets, expected);
    assert_eq!([packets.position(5), packets.varying(1)], [0x8090, 0x81b0]);
    assert_eq!(packets.point_size(5), Some(0x80d0));
    let roles: Vec<Role> = job.launches.iter().map(|l| l.role).collect();
    assert_eq!(roles, [Role::Position, Role::Varying]);
    let linear = |l: &Launch| l.dispatch.vgprs[register::LINEAR].clone();
    let entries = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19];
    assert_eq!(linear(&job.launches[0]), LaneRule::PerItem(entries.into()));
    assert_eq!(linear(&job.launches[1]), LaneRule::Item { base: 0 });
}

#[test]
fn draws_that_are_not_carried_out_are_refused_by_name() {
    let with = |word: (u64, u32)| {
        let mut words = draw_job();
        words.retain(|w| w.0 != word.0);
        words.push(word);
        first(&words).map(|_| ()).map_err(|r| r.to_string())
    };
    assert!(with((32, 0x0007_1301)).unwrap_err().contains("indexed vertices"));
    assert!(with((32, 0x0047_1001)).unwrap_err().contains("layers"));
    assert!(with((36, 1)).unwrap_err().contains("offset"));
    assert!(with((0x298, 0x8100)).unwrap_err().contains("960 bytes of packets"));
    assert!(with((48, 1 << 24)).unwrap_err().contains("threads"));
    // Neither restart nor scissors.
    assert!(with((32, 0x0007_0008)).is_ok());
}
