//! Dispatches that run late: what a fault takes back, and when the executor is flushed.

mod support;

use guestwave_cp::amd::{Ring, Submission, reg};
use guestwave_cp::{
    Completed, DispatchError, DispatchId, ExactDispatch, Executor, GuestMemory, NoObserver, Origin,
};
use support::*;

const GOOD: u64 = 0x4_0000;
const BAD: u64 = 0x8_0000;

/// Sets a context register that nothing in a dispatch reads.
fn set_scratch(value: u32) -> Vec<u32> {
    packet(SET_CONTEXT_REG, &[(reg::VGT_GS_MODE.0 - 0x28000) / 4, value])
}

fn scratch(guest: &Guest) -> u32 {
    guest.cp.registers(Ring::Gfx).get(reg::VGT_GS_MODE)
}

fn faulting() -> Guest {
    let mut guest = Guest::default();
    guest.executor.faults = Some(BAD);
    guest
}

#[test]
fn a_fault_takes_back_what_came_after_its_launch() {
    let mut guest = faulting();
    let stream = [
        set_scratch(1),
        dispatch(GOOD),
        set_scratch(2),
        dispatch(BAD),
        set_scratch(3),
        dispatch(GOOD),
        set_scratch(4),
        packet(0x2f, &[9]),
        write_memory(DATA, &[1]),
    ];
    let bad_at = 4 * (stream[..3].concat().len() + dispatch(BAD).len() - 5) as u32;
    let report = guest.run(&stream.concat());
    assert_eq!(codes(&report), ["TEST-001"]);
    assert_eq!(
        report.refusals[0].at.packet_offset, bad_at,
        "the dispatch's packet, not the one that flushed"
    );
    assert!(report.refusals[0].stopped);
    assert_eq!((report.work.dispatches, report.work.launches), (1, 1));
    assert_eq!((report.ran.waves, report.ran.instructions), (1, 10));
    assert_eq!(scratch(&guest), 2);
    let file = guest.cp.registers(Ring::Gfx);
    assert!(!file.is_written(reg::VGT_NUM_INSTANCES) && file.get(reg::VGT_NUM_INSTANCES) == 0);
    assert_eq!(guest.memory.get(DATA), 0);
}

#[test]
fn a_fault_at_the_end_of_a_submission_is_in_its_report() {
    let mut guest = faulting();
    let report = guest.run(&[set_scratch(1), dispatch(BAD), set_scratch(2)].concat());
    assert_eq!((codes(&report), scratch(&guest)), (vec!["TEST-001"], 1));
    let report = guest.run(&write_memory(DATA, &[1]));
    assert_eq!((codes(&report), guest.memory.get(DATA)), (vec![], 1));
}

#[test]
fn a_dispatch_refused_at_once_lets_those_before_it_run() {
    let mut guest = Guest::default();
    guest.executor.refuses = Some(BAD);
    let report = guest.run(&[dispatch(GOOD), set_scratch(1), dispatch(BAD), dispatch(GOOD)].concat());
    assert_eq!((codes(&report), report.ran.waves, scratch(&guest)), (vec!["TEST-001"], 1, 1));
    assert_eq!(guest.executor.ran.len(), 1);
}

#[test]
fn a_second_fault_behind_the_first_is_found_too() {
    // Refused at its submission while an earlier one, still held back, is going to fault.
    let mut guest = faulting();
    guest.executor.refuses = Some(GOOD);
    let report = guest.run(&[set_scratch(1), dispatch(BAD), set_scratch(2), dispatch(GOOD)].concat());
    assert_eq!((codes(&report), scratch(&guest)), (vec!["TEST-001"], 1));
    assert_eq!(report.refusals[0].at.packet_offset, 4 * (3 + dispatch(BAD).len() as u32 - 5));
}

#[test]
fn dispatches_are_held_until_memory_is_needed() {
    let mut guest = Guest::default();
    guest.run(&[dispatch(GOOD), set_scratch(1), dispatch(GOOD), packet(NOP, &[0])].concat());
    assert_eq!(guest.executor.flushes, 1, "once, at the end");
    for stream in [
        write_memory(DATA, &[1]),
        packet(0x3c, &[&[0x10][..], &halves(DATA), &[0, 0, 0]].concat()),
        packet(0x40, &[&[1][..], &halves(DATA), &[0xc24a, 0]].concat()),
        packet(0x12, &[0]),
    ] {
        let mut guest = Guest::default();
        guest.run(&[dispatch(GOOD), stream.clone(), dispatch(GOOD)].concat());
        assert_eq!(guest.executor.flushes, 2, "{stream:x?}");
    }
}

#[test]
fn a_dispatch_is_current_before_a_packet_reads_what_it_stored() {
    let mut guest = Guest::default();
    guest.executor.store_at = Some(DATA);
    let copy = packet(0x40, &[&[1 | 5 << 8][..], &halves(DATA), &halves(DATA + 4)].concat());
    let report = guest.run(&[dispatch(GOOD), copy].concat());
    assert_eq!(guest.memory.get(DATA + 4), GOOD as u32);
    assert_eq!((report.ran.bytes_stored, report.work.bytes_written), (4, 4));
}

#[test]
fn origins_say_where_a_dispatch_came_from() {
    let mut guest = Guest::default();
    guest.run(&packet(NOP, &[0]));
    let called = guest.load(BASE + 0x1000, &dispatch(GOOD));
    guest.run(&[packet(NOP, &[0]), call(called, false)].concat());
    let origin = guest.executor.ran[0].origin;
    let offset = 4 * (dispatch(GOOD).len() as u32 - 5);
    assert_eq!((origin.submission, origin.packet_offset), (1, offset));
    assert_eq!(origin.packet_address, BASE + 0x1000 + u64::from(offset));
}

/// Says of every flush that a dispatch failed which nobody launched.
struct Stubborn;

impl Executor for Stubborn {
    fn submit(&mut self, _: DispatchId, _: ExactDispatch, _: &dyn GuestMemory) -> Result<(), DispatchError> {
        Ok(())
    }

    fn flush(&mut self, _: &dyn GuestMemory, _: &mut Vec<Completed>) -> Result<(), DispatchError> {
        let (id, origin) = (DispatchId(u64::MAX), Origin::default());
        Err(DispatchError { id, origin, code: "TEST-002", text: "no".into(), pc: None, fault: None })
    }
}

#[test]
fn an_executor_that_fails_for_ever_does_not_hold_the_processor() {
    let mut guest = Guest::default();
    let ib = guest.load(BASE, &[dispatch(GOOD), write_memory(DATA, &[1])].concat());
    let submission = Submission { ring: Ring::Gfx, ibs: &[ib] };
    let report = guest.cp.submit(&submission, &guest.memory, &mut Stubborn, &mut NoObserver);
    assert_eq!((codes(&report), guest.memory.get(DATA)), (vec!["TEST-002"], 0));
}
