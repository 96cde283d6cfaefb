//! Packets that read and write memory and registers, one by one.

mod support;

use guestwave_cp::amd::{CommandProcessor, Config, Register, Ring, reg};
use guestwave_cp::{Isa, WaitPlace};
use support::*;

const CLEAR_STATE: u8 = 0x12;
const ATOMIC_MEM: u8 = 0x1e;
const SET_PREDICATION: u8 = 0x20;
const COND_EXEC: u8 = 0x22;
const WAIT_REG_MEM: u8 = 0x3c;
const COPY_DATA: u8 = 0x40;
const COND_WRITE: u8 = 0x45;
const EVENT_WRITE: u8 = 0x46;
const RELEASE_MEM: u8 = 0x49;
const DMA_DATA: u8 = 0x50;
const WAIT_REG_MEM64: u8 = 0x93;
/// A register to write to, and its absolute dword index.
const SCRATCH: Register = reg::GE_INDX_OFFSET;
const SCRATCH_INDEX: u32 = SCRATCH.0 >> 2;

fn register(guest: &Guest, register: Register) -> u32 {
    guest.cp.registers(Ring::Gfx).get(register)
}

/// Memory from [`DATA`] on, as dwords.
fn data(guest: &Guest, count: u64) -> Vec<u32> {
    (0..count).map(|i| guest.memory.get(DATA + 4 * i)).collect()
}

/// Runs one packet over memory that holds `before` at [`DATA`]; gives the codes and that memory.
fn run(before: &[u32], stream: &[u32]) -> (Vec<&'static str>, Vec<u32>) {
    let mut guest = Guest::default();
    guest.memory.put(DATA, before);
    let report = guest.run(stream);
    (codes(&report), data(&guest, before.len() as u64))
}

#[test]
fn write_data_writes_memory_and_registers() {
    let [lo, hi] = halves(DATA);
    for select in [1, 2, 5] {
        let write = packet(WRITE_DATA, &[select << 8, lo, hi, 7, 8]);
        assert_eq!(run(&[0; 3], &write), (vec![], vec![7, 8, 0]));
    }
    let fixed = packet(WRITE_DATA, &[5 << 8 | 1 << 16, lo, hi, 7, 8]);
    assert_eq!(run(&[0; 3], &fixed), (vec![], vec![8, 0, 0]));
    let mut guest = Guest::default();
    let writes = [
        packet(WRITE_DATA, &[0, reg::VGT_PRIMITIVE_TYPE.0 >> 2, 0, 4, 1]),
        packet(WRITE_DATA, &[1 << 16, SCRATCH_INDEX, 0, 4, 1]),
    ];
    assert_eq!(codes(&guest.run(&writes.concat())), [""; 0]);
    assert_eq!((register(&guest, reg::VGT_PRIMITIVE_TYPE), register(&guest, reg::VGT_INDEX_TYPE)), (4, 1));
    assert_eq!((register(&guest, SCRATCH), register(&guest, reg::GE_MULTI_PRIM_IB_RESET_EN)), (1, 0));
}

#[test]
fn write_data_is_all_or_nothing() {
    let end = BASE + SIZE as u64 - 4;
    let mut guest = Guest::default();
    assert_eq!(codes(&guest.run(&write_memory(end, &[1, 2]))), ["CP-MEM-001"]);
    assert_eq!(guest.memory.get(end), 0);
    let [lo, hi] = halves(DATA);
    for (control, address, code) in [(3 << 8, lo, "CP-MEM-002"), (5 << 8, lo + 2, "CP-MEM-003")] {
        assert_eq!(run(&[0; 2], &packet(WRITE_DATA, &[control, address, hi, 7])), (vec![code], vec![0, 0]));
    }
}

#[test]
fn copy_data_moves_between_every_kind_of_place() {
    let [lo, hi] = halves(DATA);
    let wide = 1 << 16;
    let to_memory = |source: u32, s: [u32; 2]| packet(COPY_DATA, &[source | 5 << 8, s[0], s[1], lo + 8, hi]);
    assert_eq!(run(&[1, 2, 0, 0], &to_memory(1, [lo, hi])).1, [1, 2, 1, 0]);
    assert_eq!(run(&[1, 2, 0, 0], &to_memory(2 | wide, [lo, hi])).1, [1, 2, 1, 2]);
    assert_eq!(run(&[1, 2, 0, 0], &to_memory(5 | wide, [8, 9])).1, [1, 2, 8, 9]);
    assert_eq!(
        run(&[1, 2, 0, 0], &to_memory(9 | wide, [0, 0])).1,
        [1, 2, 1, 0],
        "the default clock counts reads"
    );
    let registers = [packet(COPY_DATA, &[1, lo, hi, SCRATCH_INDEX, 0]), to_memory(0, [SCRATCH_INDEX, 0])];
    assert_eq!(run(&[5, 2, 0, 0], &registers.concat()).1, [5, 2, 5, 0]);
    for control in [3, 4, 6, 5 | 3 << 8, 5 | 4 << 8] {
        let (codes, _) = run(&[0], &packet(COPY_DATA, &[control, 0, 0, lo, hi]));
        assert_eq!(codes, ["CP-MEM-002"], "{control:#x}");
    }
    let (codes, after) = run(&[0; 4], &packet(COPY_DATA, &[5 | 5 << 8 | wide, 1, 2, lo + 4, hi]));
    assert_eq!((codes, after), (vec!["CP-MEM-003"], vec![0; 4]));
}

fn dma(control: u32, source: u64, destination: u64, command: u32) -> Vec<u32> {
    packet(DMA_DATA, &[&[control][..], &halves(source), &halves(destination), &[command]].concat())
}

/// Source and destination in L2, as drivers copy.
const L2: u32 = 3 << 29 | 3 << 20;

#[test]
fn dma_data_copies_fills_and_prefetches() {
    assert_eq!(run(&[1, 2, 3, 0, 0], &dma(L2, DATA, DATA + 12, 8)), (vec![], vec![1, 2, 3, 1, 2]));
    assert_eq!(run(&[1, 2], &dma(L2, DATA, DATA + 6, 1)).1, [1, 0x1_0002], "any byte");
    let fill = dma(2 << 29 | 3 << 20, 0x0403_0201, DATA + 1, 6);
    assert_eq!(run(&[0; 2], &fill).1, [0x0302_0100, 0x0002_0104], "the pattern starts at the destination");
    assert_eq!(run(&[1, 2], &dma(3 << 29 | 2 << 20, 0x40, DATA, 64)), (vec![], vec![1, 2]), "a prefetch");
    assert_eq!(run(&[1, 2], &dma(1 << 31, 0, 0, 0)), (vec![], vec![1, 2]), "a synchronization");
}

#[test]
fn overlapping_copies_read_everything_first() {
    assert_eq!(run(&[1, 2, 3, 4], &dma(L2, DATA, DATA + 4, 12)).1, [1, 1, 2, 3]);
    assert_eq!(run(&[1, 2, 3, 4], &dma(L2, DATA + 4, DATA, 12)).1, [2, 3, 4, 4]);
}

#[test]
fn dma_data_refuses_by_name_and_writes_nothing() {
    let end = BASE + SIZE as u64;
    for (stream, code) in [
        (dma(1 << 29 | 3 << 20, DATA, DATA, 8), "CP-MEM-002"),
        (dma(3 << 29 | 1 << 20, DATA, DATA, 8), "CP-MEM-002"),
        (dma(3 << 20, DATA, DATA, 8 | 1 << 26), "CP-PKT-006"),
        (dma(3 << 29, DATA, DATA, 8 | 1 << 27), "CP-PKT-006"),
        (dma(L2, DATA, DATA + 4, 8 | 1 << 28), "CP-PKT-006"),
        (dma(L2, DATA, DATA + 4, 8 | 1 << 29), "CP-PKT-006"),
        (dma(L2, DATA, end - 4, 8), "CP-MEM-001"),
        (dma(L2, end - 4, DATA, 8), "CP-MEM-001"),
    ] {
        assert_eq!(run(&[1, 2], &stream), (vec![code], vec![1, 2]), "{stream:x?}");
    }
}

fn release(select: u32, address: u64, value: u64) -> Vec<u32> {
    packet(RELEASE_MEM, &[&[0x528, select << 29][..], &halves(address), &halves(value), &[0]].concat())
}

#[test]
fn release_mem_writes_what_data_sel_says() {
    let value = 0x8_0000_0007;
    for (select, after) in [(0, [1, 1]), (1, [7, 1]), (2, [7, 8]), (3, [1, 0]), (4, [1, 0])] {
        assert_eq!(run(&[1, 1], &release(select, DATA, value)), (vec![], after.into()), "{select}");
    }
    assert_eq!(run(&[1, 1], &release(5, DATA, value)), (vec!["CP-MEM-002"], vec![1, 1]));
    assert_eq!(run(&[1, 1], &release(2, DATA + 4, value)).0, ["CP-MEM-003"]);
    let sample = packet(RELEASE_MEM, &[32, 1 << 29, DATA as u32, 0, 7, 0, 0]);
    assert_eq!(run(&[1, 1], &sample), (vec!["CP-EVT-002"], vec![1, 1]));
}

#[test]
fn the_clock_is_the_embedders() {
    let mut ticks = 0x1_0000_0000;
    let cp = CommandProcessor::new(Config::new(Isa::Gfx1010)).with_clock(move || {
        ticks += 5;
        ticks
    });
    let mut guest = Guest::with(cp);
    guest.run(&[release(3, DATA, 0), release(3, DATA + 8, 0)].concat());
    assert_eq!(data(&guest, 4), [5, 1, 10, 1]);
}

fn wait_memory(function: u32, reference: u32, mask: u32) -> Vec<u32> {
    let [lo, hi] = halves(DATA);
    packet(WAIT_REG_MEM, &[function | 1 << 4, lo, hi, reference, mask, 4])
}

/// Which functions hold for a value below, equal to and above the reference.
const HOLDS: [(u32, [bool; 3]); 7] = [
    (0, [true; 3]),
    (1, [true, false, false]),
    (2, [true, true, false]),
    (3, [false, true, false]),
    (4, [true, false, true]),
    (5, [false, true, true]),
    (6, [false, false, true]),
];

#[test]
fn waits_compare_by_every_function_in_memory_and_registers() {
    for (function, held) in HOLDS {
        for (value, held) in [0xff04u32, 0xff05, 0xff06].into_iter().zip(held) {
            let (codes, _) = run(&[value], &wait_memory(function, 5, 0xff));
            assert_eq!(codes.is_empty(), held, "{value:#x} {function}");
            let by_register = [
                packet(WRITE_DATA, &[0, SCRATCH_INDEX, 0, value]),
                packet(WAIT_REG_MEM, &[function, SCRATCH_INDEX, 0, 5, 0xff, 4]),
            ];
            let (codes, _) = run(&[], &by_register.concat());
            assert_eq!(codes.is_empty(), held, "{value:#x} {function}");
        }
    }
}

#[test]
fn a_wait_that_does_not_hold_is_refused_by_name() {
    let mut guest = Guest::default();
    let report = guest.run(&wait_memory(3, 5, 0xff));
    assert_eq!(codes(&report), ["CP-WAIT-002"]);
    assert!(report.refusals[0].to_string().ends_with("memory 0x180000 is 0x0, wanted (value & 0xff) == 0x5"));
    let (codes, _) = run(&[], &packet(WAIT_REG_MEM, &[3, SCRATCH_INDEX, 0, 5, 0xff, 4]));
    assert_eq!(codes, ["CP-WAIT-003"]);
    assert_eq!(run(&[0], &wait_memory(7, 5, 0xff)).0, ["CP-WAIT-006"]);
    let write_first = packet(WAIT_REG_MEM, &[3 | 1 << 6, SCRATCH_INDEX, 0, 0, 0, 0]);
    assert_eq!(run(&[], &write_first).0, ["CP-PKT-006"]);
}

#[test]
fn the_wait_hook_is_asked_until_it_gives_up() {
    let (tx, rx) = std::sync::mpsc::channel();
    let mut left = 3;
    let cp = CommandProcessor::new(Config::new(Isa::Gfx1010)).with_wait(move |event| {
        tx.send(event.place).unwrap();
        left -= 1;
        left > 0
    });
    let mut guest = Guest::with(cp);
    assert_eq!(codes(&guest.run(&wait_memory(3, 5, 0xff))), ["CP-WAIT-002"]);
    assert_eq!(rx.try_iter().collect::<Vec<_>>(), [WaitPlace::Memory(DATA); 3]);
}

#[test]
fn a_64_bit_wait_compares_both_halves() {
    let [lo, hi] = halves(DATA);
    let wait = |reference: [u32; 2]| {
        packet(WAIT_REG_MEM64, &[5 | 1 << 4, lo, hi, reference[0], reference[1], u32::MAX, u32::MAX, 4])
    };
    assert_eq!(run(&[9, 1], &wait([10, 0])).0, [""; 0]);
    assert_eq!(run(&[9, 1], &wait([10, 1])).0, ["CP-WAIT-002"]);
}

#[test]
fn cond_exec_passes_over_its_span_if_the_word_is_zero() {
    let [lo, hi] = halves(DATA);
    let span = [write_memory(DATA + 4, &[1]), write_memory(DATA + 8, &[1])].concat();
    let cond = |dwords: u32| packet(COND_EXEC, &[lo, hi, 0, dwords]);
    let stream = [cond(5), span.clone()].concat();
    assert_eq!(run(&[0, 0, 0], &stream), (vec![], vec![0, 0, 1]));
    assert_eq!(run(&[9, 0, 0], &stream), (vec![], vec![9, 1, 1]));
    let whole = [cond(10), span.clone()].concat();
    assert_eq!(run(&[0, 0, 0], &whole), (vec![], vec![0, 0, 0]));
    let past = [cond(11), span].concat();
    assert_eq!(run(&[1, 0, 0], &past), (vec!["CP-WAIT-001"], vec![1, 0, 0]));
}

#[test]
fn cond_write_writes_if_its_comparison_holds() {
    let ([lo, hi], [to, to_hi]) = (halves(DATA), halves(DATA + 4));
    let write =
        |function: u32| packet(COND_WRITE, &[function | 1 << 4 | 1 << 8, lo, hi, 5, 0xff, to, to_hi, 42]);
    assert_eq!(run(&[0x105, 0], &write(3)), (vec![], vec![0x105, 42]));
    assert_eq!(run(&[0x104, 0], &write(3)), (vec![], vec![0x104, 0]));
    let to_register = packet(COND_WRITE, &[1 << 4, lo, hi, 0, 0, SCRATCH_INDEX, 0, 42]);
    let mut guest = Guest::default();
    guest.run(&to_register);
    assert_eq!(register(&guest, SCRATCH), 42);
    let scratch = packet(COND_WRITE, &[1 << 4 | 2 << 8, lo, hi, 0, 0, 0, 0, 42]);
    assert_eq!(run(&[], &scratch).0, ["CP-MEM-002"]);
}

fn atomic(op: u32, source: u64, compare: u64) -> Vec<u32> {
    packet(ATOMIC_MEM, &[&[op][..], &halves(DATA), &halves(source), &halves(compare), &[0]].concat())
}

/// Operation, memory before, source, comparand, memory after.
type Atomic = (u32, [u32; 2], u64, u64, [u32; 2]);

const ATOMICS: &[Atomic] = &[
    (7, [1, 9], 5, 0, [5, 9]),
    (8, [1, 9], 5, 1, [5, 9]),
    (8, [1, 9], 5, 2, [1, 9]),
    (15, [u32::MAX, 9], 2, 0, [1, 9]),
    (16, [1, 9], 2, 0, [u32::MAX, 9]),
    (17, [1, 9], 0xffff_ffff, 0, [0xffff_ffff, 9]),
    (18, [1, 9], 0xffff_ffff, 0, [1, 9]),
    (19, [1, 9], 0xffff_ffff, 0, [1, 9]),
    (20, [1, 9], 0xffff_ffff, 0, [0xffff_ffff, 9]),
    (21, [6, 9], 3, 0, [2, 9]),
    (22, [6, 9], 3, 0, [7, 9]),
    (23, [6, 9], 3, 0, [5, 9]),
    (24, [6, 9], 6, 0, [0, 9]),
    (24, [5, 9], 6, 0, [6, 9]),
    (25, [0, 9], 6, 0, [6, 9]),
    (25, [7, 9], 6, 0, [6, 9]),
    (25, [6, 9], 6, 0, [5, 9]),
    (0x2f, [u32::MAX, 0], 2, 0, [1, 1]),
    (0x6f, [u32::MAX, 0], 2, 0, [1, 1]),
    (0x4f, [u32::MAX, 0], 2, 0, [1, 0]),
    (0x31, [0, 0], 1 << 63, 0, [0, 0x8000_0000]),
];

#[test]
fn atomics_do_what_their_numbers_say() {
    for (op, before, source, compare, after) in ATOMICS {
        let (codes, memory) = run(before, &atomic(*op, *source, *compare));
        assert_eq!((codes, &memory[..]), (vec![], &after[..]), "{op:#x} {before:x?} {source:#x}");
    }
    assert_eq!(run(&[1], &atomic(1, 0, 0)).0, ["CP-PKT-006"]);
    assert_eq!(run(&[1, 0], &atomic(8 | 1 << 8, 5, 2)), (vec!["CP-WAIT-007"], vec![1, 0]));
    assert_eq!(run(&[2, 0], &atomic(8 | 1 << 8, 5, 2)), (vec![], vec![5, 0]));
}

#[test]
fn registers_are_loaded_from_memory() {
    let [lo, hi] = halves(DATA);
    let mut guest = Guest::default();
    guest.memory.put(DATA, &[40, 41]);
    // The filled size of a draw-auto: VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE.
    assert_eq!(codes(&guest.run(&packet(0x9f, &[lo, hi, 0x2cb, 1]))), [""; 0]);
    assert_eq!(register(&guest, reg::VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE), 40);
    // An image of the SH space, two ranges.
    let base = DATA - 4 * 0x240;
    let [lo, hi] = halves(base);
    assert_eq!(codes(&guest.run(&packet(0x5f, &[lo, hi, 0x240, 1, 0x241, 1]))), [""; 0]);
    let user_data = [0, 1].map(|i| register(&guest, reg::COMPUTE_USER_DATA.at(i)));
    assert_eq!(user_data, [40, 41]);
}

#[test]
fn a_load_that_fails_in_its_second_range_changes_nothing() {
    let mut guest = Guest::default();
    let end = BASE + SIZE as u64;
    guest.memory.put(end - 4, &[77]);
    let [lo, hi] = halves(end - 4 - 4 * 0x240);
    let report = guest.run(&packet(0x5f, &[lo, hi, 0x240, 1, 0x241, 1]));
    assert_eq!((codes(&report), register(&guest, reg::COMPUTE_USER_DATA.at(0))), (vec!["CP-MEM-001"], 0));
    for (body, code) in [
        (vec![lo, hi, 0x240], "CP-PKT-006"),
        (vec![lo, hi, 0x3ff, 2], "CP-REG-002"),
        (vec![lo, hi, 0x400, 1], "CP-REG-001"),
    ] {
        assert_eq!(codes(&guest.run(&packet(0x5f, &body))), [code]);
    }
    assert_eq!(codes(&guest.run(&packet(0x9f, &[lo | 1, hi, 0, 1]))), ["CP-PKT-006"]);
    assert_eq!(codes(&guest.run(&packet(0x9f, &[lo, hi, 1 << 31, 1]))), ["CP-PKT-006"]);
}

#[test]
fn context_reg_rmw_changes_the_masked_bits() {
    let mut guest = Guest::default();
    let offset = (reg::VGT_GS_MODE.0 - 0x28000) / 4;
    guest.run(&[packet(SET_CONTEXT_REG, &[offset, 0xff]), packet(0x51, &[offset, 0xf0, 0xab])].concat());
    assert_eq!(register(&guest, reg::VGT_GS_MODE), 0xaf);
}

#[test]
fn clear_state_resets_the_context_space_only() {
    let mut guest = Guest::default();
    let clip = (reg::PA_CL_CLIP_CNTL.0 - 0x28000) / 4;
    let stream = [
        packet(SET_CONTEXT_REG, &[clip, 1]),
        set_sh(reg::COMPUTE_DIM_X.0, &[3]),
        packet(SET_UCONFIG_REG, &[(SCRATCH.0 - 0x30000) / 4, 4]),
        packet(CLEAR_STATE, &[0]),
    ];
    assert_eq!(codes(&guest.run(&stream.concat())), [""; 0]);
    let file = guest.cp.registers(Ring::Gfx);
    assert_eq!((file.get(reg::PA_CL_CLIP_CNTL), file.is_written(reg::PA_CL_CLIP_CNTL)), (0x9_0000, false));
    assert_eq!((file.get(reg::COMPUTE_DIM_X), file.get(SCRATCH)), (3, 4));
    assert!(file.is_written(SCRATCH));
}

#[test]
fn state_packets_set_their_registers() {
    let mut guest = Guest::default();
    let stream = [
        packet(0x28, &[1 << 31, 1 << 31]),
        packet(0x2f, &[6]),
        packet(0x2a, &[1]),
        packet(0x11, &[1, 0x1000, 0]),
        packet(0x26, &[0x2000, 0]),
        packet(0x13, &[12]),
    ];
    assert_eq!(codes(&guest.run(&stream.concat())), [""; 0]);
    assert_eq!((register(&guest, reg::VGT_NUM_INSTANCES), register(&guest, reg::VGT_INDEX_TYPE)), (6, 1));
    assert_eq!(codes(&guest.run(&packet(0x28, &[1 << 31 | 2, 1 << 31]))), ["CP-PKT-006"]);
    assert_eq!(codes(&guest.run(&packet(0x11, &[9, 0, 0]))), ["CP-PKT-006"]);
}

#[test]
fn the_streamout_flush_sets_the_bit_that_begins_wait_for() {
    let index = reg::CP_STRMOUT_CNTL.0 >> 2;
    assert_eq!(index, 0xc03f);
    let clear = packet(WRITE_DATA, &[0, index, 0, 0]);
    let wait = packet(WAIT_REG_MEM, &[3, index, 0, 1, 1, 4]);
    let flush = packet(EVENT_WRITE, &[31]);
    assert_eq!(run(&[], &[clear.clone(), flush, wait.clone()].concat()).0, [""; 0]);
    assert_eq!(run(&[], &[clear, wait].concat()).0, ["CP-WAIT-003"]);
}

#[test]
fn events_that_are_not_carried_out_say_so() {
    let [lo, hi] = halves(DATA);
    for (body, code) in [
        (vec![10], "CP-EVT-002"),
        (vec![32 | 3 << 8], "CP-EVT-003"),
        (vec![7 | 4 << 8, lo, hi], "CP-EVT-003"),
        (vec![32 | 3 << 8, lo + 4, hi], "CP-MEM-003"),
    ] {
        let mut guest = Guest::default();
        let report = guest.run(&packet(EVENT_WRITE, &body));
        assert_eq!(codes(&report), [code], "{body:x?}");
        assert!(report.stopped().is_some());
    }
}

#[test]
fn a_sample_count_is_reported_and_the_stream_goes_on() {
    let [lo, hi] = halves(DATA);
    let stream = [packet(EVENT_WRITE, &[21 | 1 << 8, lo, hi]), write_memory(DATA + 4, &[1])].concat();
    let mut guest = Guest::default();
    let report = guest.run(&stream);
    assert_eq!((codes(&report), report.stopped()), (vec!["CP-EVT-002"], None));
    assert_eq!(data(&guest, 2), [0, 1]);
    let strict = Config { strict: true, ..Config::new(Isa::Gfx1030) };
    let mut guest = Guest::with(CommandProcessor::new(strict));
    assert!(guest.run(&stream).stopped().is_some());
    assert_eq!(data(&guest, 2), [0, 0]);
}

/// A packet with its predicate bit set.
fn predicated(mut stream: Vec<u32>) -> Vec<u32> {
    stream[0] |= 1;
    stream
}

fn predicate(flags: u32, address: u64) -> Vec<u32> {
    packet(SET_PREDICATION, &[&[flags][..], &halves(address)].concat())
}

#[test]
fn predication_by_a_boolean() {
    let mark = predicated(write_memory(DATA + 8, &[7]));
    for (op, draw_if, word, runs) in [
        (4, 1, 0, false),
        (4, 1, 3, true),
        (4, 0, 0, true),
        (4, 0, 3, false),
        (3, 1, 0, true),
        (3, 0, 0, false),
    ] {
        let stream = [predicate(op << 16 | draw_if << 8, DATA), mark.clone()].concat();
        let (codes, memory) = run(&[word, 1, 0], &stream);
        assert_eq!((codes.len(), memory[2] == 7), (0, runs), "{op} {draw_if} {word}");
        let cleared = [predicate(op << 16 | draw_if << 8, DATA), predicate(0, 0), mark.clone()].concat();
        assert_eq!(run(&[word, 1, 0], &cleared).1[2], 7);
    }
    assert_eq!(run(&[0], &predicate(1 << 16, DATA)).0, ["CP-WAIT-005"]);
}

#[test]
fn predication_by_overflow_joins_blocks() {
    let mark = predicated(write_memory(DATA, &[7]));
    let fits = DATA + 32;
    let overflows = DATA + 64;
    for (blocks, draw_if, runs) in [
        (vec![fits], 1, true),
        (vec![fits], 0, false),
        (vec![overflows], 1, false),
        (vec![overflows], 0, true),
        (vec![overflows, fits], 0, true),
        (vec![fits, overflows], 1, false),
        (vec![fits, fits], 1, true),
    ] {
        let mut guest = Guest::default();
        let bit = 0x8000_0000;
        guest.memory.put(fits, &[2, bit, 1, bit, 5, bit, 4, bit]);
        guest.memory.put(overflows, &[2, bit, 1, bit, 5, bit, 3, bit]);
        let mut stream = Vec::new();
        for (i, block) in blocks.iter().enumerate() {
            let joined = if i > 0 { 1 << 31 } else { 0 };
            stream.extend(predicate(joined | 2 << 16 | draw_if << 8, *block));
        }
        stream.extend(mark.clone());
        assert_eq!(codes(&guest.run(&stream)), [""; 0]);
        assert_eq!(guest.memory.get(DATA) == 7, runs, "{blocks:x?} {draw_if}");
    }
}

#[test]
fn packets_that_only_synchronize_are_inert() {
    let stream = [
        packet(0x42, &[0]),
        packet(0x58, &[0, 0, 0, 0, 0, 0, 0]),
        packet(0x43, &[0, 0, 0, 0]),
        packet(0x5d, &[0, 0, 0, 1]),
        packet(0x59, &[1 << 31]),
    ];
    assert_eq!(run(&[1, 2], &stream.concat()), (vec![], vec![1, 2]));
    assert_eq!(run(&[], &packet(0x59, &[0])).0, ["CP-WAIT-004"]);
}
