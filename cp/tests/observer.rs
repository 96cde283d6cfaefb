//! What an observer is told, and in which order.

mod support;

use std::ops::Range;

use guestwave_cp::amd::{Register, Ring, reg};
use guestwave_cp::{Completed, Interest, LaunchEvent, Observer, Origin, PacketEvent, Refused, WaitEvent};
use support::*;

#[derive(Default)]
struct Log {
    lines: Vec<String>,
    interest: Interest,
}

impl Observer for Log {
    fn interest(&self) -> Interest {
        self.interest
    }

    fn packet(&mut self, event: &PacketEvent<'_>) {
        let (opcode, dwords) = (event.header.opcode(), event.body.len());
        self.lines.push(format!(
            "packet {opcode:#x} of {dwords} at {:#x} depth {}",
            event.at.packet_offset, event.depth
        ));
    }

    fn register_write(&mut self, _: Origin, register: Register, value: u32) {
        self.lines.push(format!("{register} = {value:#x}"));
    }

    fn launched(&mut self, event: &LaunchEvent<'_>) {
        let x = event.registers.get(reg::COMPUTE_NUM_THREAD_X);
        self.lines
            .push(format!("launch {} of {:#x}, {x} threads", event.id.0, event.dispatch.program.address));
    }

    fn completed(&mut self, completed: &Completed) {
        self.lines.push(format!("completed {}", completed.id.0));
    }

    fn stored(&mut self, _: Origin, range: Range<u64>) {
        self.lines.push(format!("stored {range:x?}"));
    }

    fn waited(&mut self, event: &WaitEvent) {
        self.lines.push(format!("waited for {:?}: {}", event.place, event.held));
    }

    fn interrupt(&mut self, _: Origin, context_id: u32) {
        self.lines.push(format!("interrupt {context_id}"));
    }

    fn refused(&mut self, refused: &Refused) {
        self.lines.push(format!("refused {}", refused.refusal.code()));
    }
}

fn observe(interest: Interest, words: &[u32]) -> Vec<String> {
    let mut guest = Guest::default();
    let mut log = Log { interest, ..Log::default() };
    let ib = guest.load(BASE, words);
    guest.submit_to(Ring::Gfx, &[ib], &mut log);
    log.lines
}

fn stream() -> Vec<u32> {
    [
        dispatch(0xab00),
        packet(0x3c, &[&[0x13][..], &halves(DATA), &[0, 1, 4]].concat()),
        packet(0x49, &[&[0x528, 2 << 24 | 1 << 29][..], &halves(DATA), &[7, 0, 99]].concat()),
        vec![0x4000_0000],
    ]
    .concat()
}

#[test]
fn work_is_told_in_order() {
    let work = Interest { work: true, ..Interest::default() };
    assert_eq!(
        observe(work, &stream()),
        [
            "launch 0 of 0xab00, 1 threads",
            "completed 0",
            "waited for Memory(1572864): true",
            "stored 180000..180004",
            "interrupt 99",
            "refused CP-PKT-001"
        ]
    );
}

#[test]
fn packets_and_registers_are_told_where_wanted() {
    let registers = Interest { registers: true, ..Interest::default() };
    assert_eq!(
        observe(registers, &set_sh(reg::COMPUTE_DIM_Y.0, &[2, 3])),
        ["COMPUTE_DIM_Y = 0x2", "COMPUTE_DIM_Z = 0x3"]
    );
    let packets = Interest { packets: true, ..Interest::default() };
    assert_eq!(
        observe(packets, &[packet(NOP, &[1, 2]), packet(0x42, &[0])].concat()),
        ["packet 0x10 of 2 at 0x0 depth 0", "packet 0x42 of 1 at 0xc depth 0"]
    );
    assert_eq!(observe(Interest::default(), &stream()), [""; 0]);
}
