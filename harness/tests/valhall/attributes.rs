//! `LEA_ATTR`, `ST_CVT` and `LD_ATTR`: elements that one program stores and loads through descriptors, against the codec.

use guestwave_cp::mali::job::environment::Environment;
use guestwave_cp::{ExactDispatch, GuestMemory, LaneRule, ScalarRule};
use guestwave_harness::mali::map_zeros;
use guestwave_harness::memory::CaptureMemory;
use guestwave_isa::format::{ELEMENT_BYTES, Register, mali};

use super::support::{OUTPUT, Rng, THREADS, dispatch, memory, plain, reference, run, soft};

/// Resource table, attribute descriptor, buffer descriptor, and the elements.
const TABLES: u64 = 0x40_0000;
const ATTRIBUTE: u64 = TABLES + 0x100;
const BUFFER: u64 = TABLES + 0x200;
const ELEMENTS: u64 = 0x41_0000;

/// Bytes from element to element, and of the buffer: the last element lies outside of it.
const STRIDE: u32 = 20;
const SIZE: u32 = STRIDE * (THREADS - 1);

/// Format numbers and the register formats (by code) that they go with.
const FORMATS: &[(u32, &[(u64, Register)])] = &[
    (163, FLOATS),
    (171, FLOATS),
    (179, FLOATS),
    (187, FLOATS),
    (188, FLOATS),
    (99, FLOATS),
    (123, FLOATS),
    (124, FLOATS),
    (199, FLOATS),
    (215, FLOATS),
    (223, FLOATS),
    (167, FLOATS),
    (183, FLOATS),
    (191, FLOATS),
    (64, FLOATS),
    (67, FLOATS),
    (131, INTEGERS),
    (140, INTEGERS),
    (155, INTEGERS),
    (157, INTEGERS),
    (195, INTEGERS),
    (212, INTEGERS),
    (219, INTEGERS),
    (221, INTEGERS),
];
const FLOATS: &[(u64, Register)] = &[(2, Register::F32), (3, Register::F16)];
const INTEGERS: &[(u64, Register)] =
    &[(4, Register::S32), (5, Register::S16), (6, Register::U32), (7, Register::U16)];

/// Takes the address of this thread's element, stores r0 to r3 to it, loads it to r8, and stores that to the output.
fn code(register: u64) -> Vec<u64> {
    let place = 0x0001_1312;
    let count = if matches!(register, 3 | 5 | 7) { 2u64 } else { 4 };
    vec![
        0x0067_8406_0000_0000 | place,
        0x0071_4000_3006_0004 | count << 33 | register << 24,
        0x0066_8800_3000_0000 | count << 33 | register << 24 | place,
        0x7861_4808_3800_0010,
    ]
}

fn guest(code: &[u64], format: u32) -> CaptureMemory {
    let memory = memory(code, [0; 4]);
    for (at, bytes) in [(TABLES, 4096), (ELEMENTS, 4096)] {
        map_zeros(&memory, at, bytes).unwrap();
    }
    let put = |at: u64, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        memory.write(at, &bytes).unwrap();
    };
    put(TABLES + 16, &[ATTRIBUTE as u32, 0x0100_0000, 32, 0]);
    put(TABLES + 32, &[BUFFER as u32, 0x0100_0000, 32, 0]);
    put(ATTRIBUTE, &[0x115 | format << 10, 2, 0, 0, STRIDE, 0]);
    put(BUFFER, &[0x19, SIZE, ELEMENTS as u32, 0]);
    memory
}

fn launch(registers: &[Vec<u32>]) -> ExactDispatch {
    let mut dispatch = dispatch(registers);
    let env = Environment { resources: TABLES, tables: 3, ..Environment::default() };
    dispatch.sgprs = env.words().into_iter().map(ScalarRule::Word).collect();
    dispatch.vgprs[18] = LaneRule::Item { base: 0 };
    dispatch
}

/// The components that a thread's staging registers hold.
fn held(registers: &[Vec<u32>], thread: usize, register: Register) -> [u64; 4] {
    std::array::from_fn(|i| match register.bits() {
        16 => u64::from(registers[i / 2][thread] >> (16 * (i % 2)) & 0xffff),
        _ => registers[i][thread].into(),
    })
}

fn packed(values: [u64; 4], register: Register) -> Vec<u32> {
    let words = values.map(|v| v as u32);
    match register.bits() {
        16 => vec![words[0] | words[1] << 16, words[2] | words[3] << 16],
        _ => words.to_vec(),
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

fn assert_format(rng: &mut Rng, number: u32, code: u64, register: Register) {
    let (word, format) = (number << 12, mali(9, number << 12).unwrap().format);
    let registers: Vec<Vec<u32>> = (0..4)
        .map(|_| {
            let near_one = |rng: &mut Rng| rng.next() as u32 & 0xbfff_ffff;
            (0..THREADS).map(|t| if t % 2 == 0 { near_one(rng) } else { rng.next() as u32 }).collect()
        })
        .collect();
    let dispatch = launch(&registers);
    let mut first: Option<(Vec<u8>, Vec<u8>)> = None;
    for executor in [reference as fn() -> _, plain, soft] {
        let memory = guest(&self::code(code), word);
        let (output, done) = run(executor(), &memory, &dispatch).unwrap();
        let mut elements = vec![0; 4096];
        memory.read(ELEMENTS, &mut elements).unwrap();
        let stored: u64 = done.stored.iter().filter(|r| r.start < OUTPUT).map(|r| r.end - r.start).sum();
        assert_eq!(stored, format.bytes() as u64 * u64::from(THREADS));
        for t in 0..THREADS as usize {
            let element = format.write(held(&registers, t, register), register);
            let at = STRIDE as usize * t;
            assert_eq!(elements[at..at + format.bytes()], element[..format.bytes()], "{number} {register:?}");
            let mut whole = [0; ELEMENT_BYTES];
            whole[..format.bytes()].copy_from_slice(&element[..format.bytes()]);
            let inside = at + format.bytes() <= SIZE as usize;
            let values = if inside { format.read(&whole, register) } else { [0; 4] };
            let expected = packed(values, register);
            assert_eq!(
                words(&output[48 * t..48 * t + 4 * expected.len()]),
                expected,
                "{number} {register:?}"
            );
        }
        let both = (output, elements);
        assert!(first.as_ref().is_none_or(|f| *f == both));
        first = Some(both);
    }
}

#[test]
fn elements_are_stored_and_loaded_as_the_codec_has_it() {
    let mut rng = Rng(0x7a7b_7c7d_0102_0304);
    for (number, registers) in FORMATS {
        for (code, register) in *registers {
            assert_format(&mut rng, *number, *code, *register);
        }
    }
}

#[test]
fn floats_in_integer_registers_are_refused() {
    for executor in [reference as fn() -> _, plain] {
        let refused = run(executor(), &guest(&code(4), 191 << 12), &launch(&[])).unwrap_err();
        assert!(["ISA-VAL-109", "TR-VAL-005"].contains(&refused.code), "{refused}");
    }
}

#[test]
fn what_is_no_descriptor_is_refused() {
    // Only the load and the store to the output.
    let load = &code(2)[2..];
    for executor in [reference as fn() -> _, plain] {
        let broken = |at: u64, byte: u8| {
            let memory = guest(load, 191 << 12);
            memory.write(at, &[byte]).unwrap();
            run(executor(), &memory, &launch(&[])).unwrap_err().code
        };
        assert!(["ISA-VAL-108", "TR-VAL-007"].contains(&broken(ATTRIBUTE, 0x16)));
        assert!(["ISA-VAL-108", "TR-VAL-007"].contains(&broken(ATTRIBUTE, 0x45)));
        assert!(["ISA-VAL-108", "TR-VAL-007"].contains(&broken(BUFFER, 0x29)));
        assert!(["ISA-VAL-107", "TR-VAL-006"].contains(&broken(TABLES + 24, 31)));
        assert!(["ISA-VAL-107", "TR-VAL-006"].contains(&broken(TABLES + 40, 31)));
    }
}

#[test]
fn a_descriptor_that_changes_is_read_anew() {
    // One executor, two launches of the same code: the second finds another format.
    let mut executor = plain();
    let registers = vec![vec![0x3f80_0000]; 4];
    for (number, bytes) in [(187u32, [255u8; 4]), (223, [0, 0x3c, 0, 0x3c])] {
        let memory = guest(&code(2), number << 12);
        let mut done = Vec::new();
        executor.submit(guestwave_cp::DispatchId(0), launch(&registers), &memory).unwrap();
        executor.flush(&memory, &mut done).unwrap();
        let mut element = [0; 4];
        memory.read(ELEMENTS, &mut element).unwrap();
        assert_eq!(element, bytes);
    }
}
