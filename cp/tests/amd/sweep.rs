//! Every topology, both provoking vertices, 0 to 17 vertices, restarts, instances and room from nothing to enough, held
//! against an enumeration after the OpenGL specification: what is stored, in which order, where the buffer stands, and
//! what was counted.

use guestwave_cp::amd::reg;

use crate::assembly::{U16, draw_indexed, indices};
use crate::draw::{POINTS, draw, streaming};
use crate::opengl::{MODES, Mode, captured};
use crate::support::{DATA, Machine};

const RESTART: u32 = 0xffff;
const UNSET: u32 = 0xeeee_eeee;
/// Dwords of a vertex: its id and its instance.
const VERTEX: u32 = 2;
/// Dwords before the first vertex.
const START: u32 = 3;
const SAMPLES: u64 = DATA + 0x9000;
const POSITION: u64 = SAMPLES + 0x40;

/// Which entries of an index buffer are restarts; `None` draws without indices.
type Restarts = Option<fn(usize) -> bool>;

const RESTARTS: [Restarts; 6] = [
    None,
    Some(|_| false),
    Some(|i| i == 0 || i == 7),
    Some(|i| i == 4 || i == 5),
    Some(|i| i % 6 == 5),
    Some(|i| i == 3 || i == 16),
];

/// One draw.
#[derive(Clone, Copy, Debug)]
struct Case {
    mode: Mode,
    code: u32,
    last: bool,
    entries: usize,
    restarts: usize,
    instances: u32,
}

impl Case {
    /// The index buffer: 100, 101, ... and restarts; or 0, 1, ... where there is none.
    fn entries(self) -> Vec<u32> {
        let entry = |i: usize| match RESTARTS[self.restarts] {
            None => i as u32,
            Some(restarts) if restarts(i) => RESTART,
            Some(_) => 100 + i as u32,
        };
        (0..self.entries).map(entry).collect()
    }

    /// The primitives of all instances, each as the dwords that are stored for it.
    fn expected(self) -> Vec<Vec<u32>> {
        let entries = self.entries();
        let runs: Vec<_> = match RESTARTS[self.restarts] {
            None => vec![&entries[..]],
            Some(_) => entries.split(|entry| *entry == RESTART).collect(),
        };
        let of_run = |run: &[u32], instance: u32| -> Vec<Vec<u32>> {
            let primitives = captured(self.mode, run.len(), self.last);
            let dwords = |p: Vec<usize>| p.into_iter().flat_map(|v| [run[v - 1], instance]).collect();
            primitives.into_iter().map(dwords).collect()
        };
        (0..self.instances).flat_map(|n| runs.iter().flat_map(move |run| of_run(run, n))).collect()
    }

    /// Sets the draw's state; the index buffer stays for every room.
    fn set_up(self, m: &mut Machine) {
        m.set(reg::VGT_PRIMITIVE_TYPE, self.code)
            .set(reg::PA_SU_SC_MODE_CNTL, u32::from(self.last) << 19)
            .packet(0x2f, &[self.instances]);
        indices(m, U16, &self.entries());
    }

    /// Draws into a buffer of `room` dwords after its start.
    fn run(self, m: &mut Machine, room: u32) {
        m.memory.put(DATA, &[UNSET; 512]);
        m.set(reg::VGT_STRMOUT_BUFFER_SIZE.at(0), START + room).packet(0x34, &[0, 0, 0, START, 0]);
        m.event(32, 3, Some(SAMPLES));
        match RESTARTS[self.restarts] {
            None => draw(m, self.entries as u32),
            Some(_) => draw_indexed(m, self.entries as u32, self.entries as u32),
        };
        m.event(32, 3, Some(SAMPLES + 16)).packet(0x34, &[7, POSITION as u32, 0, 0, 0]).run();
        m.executor.ran.clear();
    }
}

/// Primitives needed and written between the two samples.
fn counted(m: &Machine) -> [u32; 2] {
    let words = m.memory.words(SAMPLES, 8);
    [words[4] - words[0], words[6] - words[2]]
}

/// Holds one draw against its expectation for every room; gives the number of rooms.
fn check(m: &mut Machine, case: Case) -> u32 {
    let primitives = case.expected();
    let each = primitives.first().map_or(1, Vec::len) as u32;
    let all = primitives.len() as u32 * each;
    case.set_up(m);
    let step = if case.instances == 1 { VERTEX } else { each + 1 };
    let rooms = (0..all).step_by(step as usize).chain([all.saturating_sub(1), all]);
    let mut count = 0;
    for room in rooms {
        case.run(m, room);
        let fit = room / each;
        let mut memory = vec![UNSET; START as usize];
        memory.extend(primitives.iter().take(fit as usize).flatten());
        memory.resize(512, UNSET);
        assert!(m.memory.words(DATA, 512) == memory, "{case:?} in {room} dwords");
        assert_eq!(m.memory.words(POSITION, 1), [START + fit * each], "{case:?} in {room} dwords");
        assert_eq!(counted(m), [primitives.len() as u32, fit], "{case:?} in {room} dwords");
        count += 1;
    }
    count
}

/// A machine whose program stores ids and instances, with its counters running.
fn machine() -> Machine {
    let mut m = streaming(POINTS, 0);
    m.set(reg::SPI_SHADER_USER_DATA_VS.at(2), VERTEX * 4)
        .set(reg::VGT_STRMOUT_VTX_STRIDE.at(0), VERTEX)
        .set(reg::GE_MULTI_PRIM_IB_RESET_EN, 1)
        .set(reg::VGT_MULTI_PRIM_IB_RESET_INDX, RESTART)
        .event(25, 0, None);
    m
}

#[test]
fn draws_agree_with_the_specifications_tables() {
    let mut m = machine();
    let mut cases = 0;
    for (code, mode) in MODES {
        for (last, entries, restarts, instances) in shapes() {
            cases += check(&mut m, Case { mode, code, last, entries, restarts, instances });
        }
    }
    assert!(cases >= 50_000, "{cases} cases");
}

fn shapes() -> impl Iterator<Item = (bool, usize, usize, u32)> {
    (0..2 * 18 * RESTARTS.len() * 3).map(|n| {
        let (last, n) = (n % 2 == 1, n / 2);
        let (entries, n) = (n % 18, n / 18);
        (last, entries, n % RESTARTS.len(), (n / RESTARTS.len()) as u32 + 1)
    })
}
