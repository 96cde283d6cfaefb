//! hasvk's copy: vertex fetch into stream output with every program off.

use std::ops::Range;

use guestwave_cp::intel::Observer;
use guestwave_cp::intel::sol::Policies;
use guestwave_cp::{GuestMemory, Origin};
use guestwave_harness::intel::{IntelCapture, IntelMachine, KernelStage};

use crate::support::{Shared, capture, evaluated, native, plainly};

/// What happened, in order.
#[derive(Debug, PartialEq)]
enum Event {
    Register(u32, u32),
    Stored(Range<u64>),
}

#[derive(Default)]
struct Events(Vec<Event>);

impl Observer for Events {
    fn register_write(&mut self, _: Origin, register: u32, value: u32) {
        self.0.push(Event::Register(register, value));
    }

    fn stored(&mut self, _: Origin, range: Range<u64>) {
        self.0.push(Event::Stored(range));
    }
}

/// Bytes that are copied.
const BYTES: u64 = 64;
/// Each capture, and the register through which the driver moves a dword from memory behind the copy, with its value.
const CAPTURES: [(&str, u32, u32); 2] =
    [("ivb-vk_so_memcpy-001", 0x2440, 0), ("hsw-vk_so_memcpy-001", 0x2600, 0x0977_0000)];

fn source(capture: &IntelCapture) -> u64 {
    // 3DSTATE_VERTEX_BUFFERS of buffer 32 with a pitch of 16.
    let at = capture.words.iter().position(|word| *word == 0x8001_4010).unwrap();
    u64::from(capture.words[at + 1])
}

fn bytes(machine: &IntelMachine, address: u64, len: u64) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    machine.memory.read(address, &mut bytes).unwrap();
    bytes
}

fn copies(stream_out: &Shared, (name, register, value): (&str, u32, u32)) {
    let capture = capture(name);
    let vertices = Box::new(KernelStage::default());
    let mut machine =
        IntelMachine::with_capture(&capture, Policies::default(), vertices, stream_out.boxed()).unwrap();
    let pattern: Vec<u8> = (0..BYTES as u8).map(|n| n.wrapping_mul(37) ^ 0xa5).collect();
    machine.fill(source(&capture), &pattern).unwrap();
    let before: Vec<_> = capture.buffers.iter().map(|b| bytes(&machine, b.address, b.size)).collect();
    let mut events = Events::default();
    let report = machine.run(&capture, &mut events);
    assert!(report.stopped().is_none(), "{name}: {:?}", report.refusals);
    assert_eq!(report.bytes_streamed, BYTES, "{name}");

    let destination = machine.state().sol.buffers[0].base;
    let found = bytes(&machine, destination, BYTES);
    assert_eq!(found[..60], pattern[..60], "{name}");
    assert_eq!(found[60..], value.to_le_bytes(), "{name}: the last dword is stored from a register");

    let at = |event: &Event| events.0.iter().position(|e| e == event).unwrap();
    let reset = at(&Event::Register(0x5280, 0));
    let copied = at(&Event::Stored(destination..destination + BYTES));
    let loaded = at(&Event::Register(register, value));
    let stored = at(&Event::Stored(destination + 60..destination + 64));
    assert!(reset < copied && copied < loaded && loaded < stored, "{name}: {:?}", events.0);
    assert_eq!(machine.state().register(0x5280), Some(BYTES as u32), "{name}");
    only_stored_bytes_changed(name, &capture, &machine, &before, &events);
}

/// Every byte that no event names is as it was.
fn only_stored_bytes_changed(
    name: &str,
    capture: &IntelCapture,
    machine: &IntelMachine,
    before: &[Vec<u8>],
    events: &Events,
) {
    for (buffer, before) in capture.buffers.iter().zip(before) {
        let after = bytes(machine, buffer.address, buffer.size);
        for (offset, _) in before.iter().zip(&after).enumerate().filter(|(_, (a, b))| a != b) {
            let address = buffer.address + offset as u64;
            let told = |e: &Event| matches!(e, Event::Stored(range) if range.contains(&address));
            assert!(events.0.iter().any(told), "{name}: byte {address:#x} changed");
        }
    }
}

#[test]
fn a_copy_moves_its_bytes_and_its_register_writes_land_in_order() {
    for stream_out in [plainly(), evaluated(), native()] {
        CAPTURES.into_iter().for_each(|capture| copies(&stream_out, capture));
    }
}
