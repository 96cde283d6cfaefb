//! What the backend promises about guest memory: stored means stored, and all of a launch or nothing.

use guestwave_backend_wgpu::Options;
use guestwave_cp::{AccessKind, GuestMemory, MemoryFault};
use guestwave_translate::backend::{Backend, Batch, Holding};
use guestwave_translate::program::eval;
use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, Program, Slot, Space, Trace, UnOp, Value, Width,
};

use crate::support::lane::memory::Memory;
use crate::support::{HOLDINGS, compile, launch, open, open_with, run};

const BASE: u64 = 0x12_3450_0000;
const WAVES: u32 = 8;
const LANES: u32 = 64;

/// The number of the lane in the dispatch.
fn item(b: &mut Builder) -> Value {
    let (wave, lane, lanes) = (b.builtin(Builtin::Wave), b.builtin(Builtin::Lane), b.c32(LANES));
    let first = b.bin(BinOp::Mul, wave, lanes);
    b.bin(BinOp::Add, first, lane)
}

/// A unit at `BASE + offset`.
fn access(b: &mut Builder, offset: Value, width: Width) -> Access {
    let slot = b.slot(Slot { base: Trace::Const(BASE), size: Some(Trace::Const(1 << 20)), written: true });
    let (base, offset, valid) = (b.c64(BASE), b.un(UnOp::Extend, offset), b.c32(width.bytes()));
    let address = b.bin(BinOp::Add, base, offset);
    Access { space: Space::Global, address, valid, width, pc: 4, slot: Some(slot) }
}

/// Each lane stores `value` in a unit of its own, `stride` bytes after the last lane's.
fn stores(stride: u32, width: Width, value: u32) -> Program {
    let mut b = Builder::new("stores", LANES as u8);
    let (item, stride, value) = (item(&mut b), b.c32(stride), b.c32(value));
    let offset = b.bin(BinOp::Mul, item, stride);
    let access = access(&mut b, offset, width);
    b.store(vec![value], access);
    b.finish()
}

fn memory(bytes: usize, filled_with: u8) -> Memory {
    Memory::default().map(BASE, vec![filled_with; bytes])
}

/// What stands in a folder's only file.
fn only_file(folder: &std::path::Path) -> (std::path::PathBuf, Vec<u8>) {
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    (files[0].clone(), std::fs::read(&files[0]).unwrap())
}

#[test]
fn pipelines_are_kept_for_the_next_start_and_a_damaged_file_does_no_harm() {
    let folder = std::env::temp_dir().join(format!("guestwave-pipelines-{}", std::process::id()));
    _ = std::fs::remove_dir_all(&folder);
    let options = Options { cache: Some(folder.clone()), ..Options::default() };
    let stores_well = || {
        let mut backend = open_with(&options);
        let id = compile(&mut backend, stores(4, Width::W32, 7), Holding::Lane);
        let memory = memory((WAVES * LANES * 4) as usize, 5);
        assert_eq!(run(&mut backend, vec![launch(id, WAVES, 1)], &memory).fault, None);
    };
    stores_well();
    let (path, kept) = only_file(&folder);
    stores_well();
    let mut damaged = kept.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    stores_well();
    let (_, anew) = only_file(&folder);
    assert_ne!(anew, damaged);
    assert_eq!(anew[..8], kept[..8]);
}

#[test]
fn a_store_of_an_equal_value_is_written_back() {
    let mut backend = open();
    let program = |width, value| stores(8, width, value);
    for (width, value) in [(Width::W32, 0x0505_0505), (Width::W16, 0x0505), (Width::W8, 0x05)] {
        for holding in HOLDINGS {
            let memory = memory((WAVES * LANES * 8) as usize, 5);
            let id = compile(&mut backend, program(width, value), holding);
            let completion = run(&mut backend, vec![launch(id, WAVES, 1)], &memory);
            let unit = |i: u64| BASE + i * 8..BASE + i * 8 + u64::from(width.bytes());
            let wanted: Vec<_> = (0..u64::from(WAVES * LANES)).map(unit).collect();
            assert_eq!(completion.done[0].stored, wanted, "{holding:?} {width:?}");
            assert_eq!(memory.written(), wanted, "{holding:?} {width:?}");
        }
    }
}

#[test]
fn what_the_host_writes_beside_a_stored_byte_meanwhile_survives() {
    let mut backend = open();
    for holding in HOLDINGS {
        let memory = memory((WAVES * LANES * 4) as usize, 0);
        let id = compile(&mut backend, stores(4, Width::W8, 0xaa), holding);
        let ticket = backend.submit(Batch { launches: vec![launch(id, WAVES, 1)] }, &memory).unwrap();
        // The device has its copy of the pages by now, and runs.
        let neighbours: Vec<u64> = (0..u64::from(WAVES * LANES)).map(|i| BASE + i * 4 + 1).collect();
        neighbours.iter().for_each(|at| memory.write(*at, &[0x55]).unwrap());
        backend.wait(ticket, &memory, std::time::Duration::from_secs(600)).unwrap().unwrap();
        for at in neighbours {
            assert_eq!(memory.bytes(at - 1, 4), [0xaa, 0x55, 0, 0], "{holding:?} {at:#x}");
        }
    }
}

/// Every lane stores; the last wave's units lie behind the mapping.
#[test]
fn a_fault_in_the_last_wave_leaves_every_byte() {
    let mut backend = open();
    for holding in HOLDINGS {
        let memory = memory(((WAVES - 1) * LANES * 4) as usize, 7);
        let before = memory.all();
        let id = compile(&mut backend, stores(4, Width::W32, 0), holding);
        let completion = run(&mut backend, vec![launch(id, WAVES, 1), launch(id, 1, 1)], &memory);
        let fault = completion.fault.unwrap();
        assert_eq!((fault.code, fault.pc), ("RUN-MEM-001", Some(4)), "{holding:?}");
        let first = MemoryFault {
            address: BASE + u64::from((WAVES - 1) * LANES * 4),
            size: 4,
            kind: AccessKind::Write,
        };
        assert_eq!(fault.fault, Some(first), "{holding:?}");
        assert!(completion.done.is_empty(), "what comes after the fault has no effect either");
        assert_eq!(memory.all(), before, "{holding:?}");
        assert!(memory.written().is_empty());
    }
}

/// Lanes load two words each, in no order; some lie behind the mapping with one word or both.
#[test]
fn the_fault_that_is_named_is_the_first_in_the_guests_order() {
    let mut b = Builder::new("scattered", LANES as u8);
    let (item, factor, mask) = (item(&mut b), b.c32(148), b.c32(0x7fc));
    let place = b.bin(BinOp::Mul, item, factor);
    let place = b.bin(BinOp::And, place, mask);
    let access = Access { valid: b.c32(8), ..access(&mut b, place, Width::W32) };
    let loaded = b.load(2, access);
    b.store(vec![loaded[1]], access);
    let program = std::sync::Arc::new(b.finish());
    let memory = || memory(0x700, 7);
    let mut backend = open();
    for holding in HOLDINGS {
        let id = compile(&mut backend, (*program).clone(), holding);
        let job = launch(id, WAVES, 1);
        let wanted = eval::run(&program, &job, &memory()).unwrap_err();
        let fault = run(&mut backend, vec![job], &memory()).fault.unwrap();
        assert_eq!((fault.fault, fault.pc), (wanted.fault, wanted.pc), "{holding:?}");
    }
}

/// What is launched before the launch that faults has its effect.
#[test]
fn launches_before_a_fault_keep_their_effect() {
    let mut backend = open();
    let memory = memory((LANES * 4) as usize, 7);
    let id = compile(&mut backend, stores(4, Width::W32, 0), Holding::Lane);
    let completion = run(&mut backend, vec![launch(id, 1, 1), launch(id, WAVES, 1)], &memory);
    assert_eq!((completion.done.len(), completion.fault.is_some()), (1, true));
    assert_eq!(memory.bytes(BASE, (LANES * 4) as usize), vec![0; (LANES * 4) as usize]);
}

/// Another memory at the same address, after the first one is gone.
#[test]
fn pages_of_a_memory_that_is_gone_are_not_taken_for_anothers() {
    let mut backend = open();
    let mut b = Builder::new("copies", LANES as u8);
    let item = item(&mut b);
    let two = b.c32(2);
    let from = b.bin(BinOp::Shl, item, two);
    let source = access(&mut b, from, Width::W32);
    let value = b.load(1, source)[0];
    let half = b.c32(LANES * 4);
    let to = b.bin(BinOp::Add, from, half);
    let target = access(&mut b, to, Width::W32);
    b.store(vec![value], target);
    let id = compile(&mut backend, b.finish(), Holding::Lane);
    let mut place = Box::new(memory((LANES * 8) as usize, 0));
    for filled_with in 1..4 {
        *place = memory((LANES * 8) as usize, filled_with);
        run(&mut backend, vec![launch(id, 1, 1)], &*place);
        assert_eq!(place.bytes(BASE, (LANES * 8) as usize), vec![filled_with; (LANES * 8) as usize]);
        let zeros = vec![0; (LANES * 4) as usize];
        place.write(BASE, &zeros).unwrap();
    }
}
