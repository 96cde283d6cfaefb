//! Kernels: workgroups of many shapes, launches after many others, memory that stays on the device.

use guestwave_cp::GuestMemory;
use guestwave_translate::backend::{Holding, Launch, ProgramId};
use guestwave_translate::program::{BinOp, Builder, Builtin, Program, Workgroups, eval, specialize};

use crate::support::lane::kernel::{BASE, COUNTER, LANES, SHAPES, dword, kernel, params};
use crate::support::lane::memory::Memory;
use crate::support::{HOLDINGS, compile, launch, open, run};

fn memory(dwords: u32) -> Memory {
    let words = (0..dwords).flat_map(|i| (i * 7).to_le_bytes()).collect();
    Memory::default().map(COUNTER, vec![0; 64]).map(BASE, words)
}

fn a_launch(id: ProgramId, groups: u32, threads: u32, last: u32) -> Launch {
    let each = threads.div_ceil(LANES);
    Launch { params: params(groups, threads, last), ..launch(id, groups * each, each) }
}

#[test]
fn kernels_do_the_same_in_workgroups_of_every_shape() {
    let mut backend = open();
    for (ahead, slot) in [(0, true), (4, true), (20, false)] {
        let program = kernel(ahead, slot);
        for (groups, threads, last) in SHAPES {
            for holding in HOLDINGS {
                let (expected, found) = (memory(1024), memory(1024));
                let id = compile(&mut backend, program.clone(), holding);
                let launch = a_launch(id, groups, threads, last);
                let wanted = eval::run(&program, &launch, &expected).unwrap();
                let shape = format!("{ahead} {slot} {groups} x {threads}, {last}, {holding:?}");
                let done = run(&mut backend, vec![launch], &found).done.remove(0);
                assert_eq!(done.stored, wanted.stored, "{shape}");
                assert_eq!(found.all(), expected.all(), "{shape}");
            }
        }
    }
}

fn of_kind(program: &Program, op: BinOp) -> usize {
    format!("{program}").lines().filter(|l| l.contains(&format!("= {op:?} "))).count()
}

#[test]
fn whole_workgroups_of_a_known_shape_have_nothing_to_ask() {
    let program = kernel(0, true);
    let params = params(5, 128, 128);
    let shape = Workgroups::of(&program, &params, 10, 2).unwrap();
    let small = specialize(&program, &shape);
    guestwave_translate::program::verify(&small).unwrap();
    for op in [BinOp::RemU, BinOp::LtU] {
        assert!(of_kind(&program, op) > 0 && of_kind(&small, op) == 0, "{op:?}\n{small}");
    }
    // The last workgroup is smaller: who is there must be asked.
    let ragged = Workgroups { last: [100, 1, 1], ..shape };
    assert!(of_kind(&specialize(&program, &ragged), BinOp::LtU) > 0);
}

/// A program that has run often says less of what goes wrong, and is asked again.
#[test]
fn a_launch_that_faults_after_many_that_did_not_is_told_of_alike() {
    let mut backend = open();
    let program = kernel(0, true);
    let id = compile(&mut backend, program, Holding::Lane);
    let (groups, threads) = (1 << 11, 128);
    let many = memory(groups * threads);
    for _ in 0..3 {
        let done = run(&mut backend, vec![a_launch(id, groups, threads, threads)], &many);
        assert_eq!((done.done.len(), done.fault), (1, None));
    }
    let few = memory(groups * threads - 1);
    let before = few.all();
    let completion = run(&mut backend, vec![a_launch(id, groups, threads, threads)], &few);
    let fault = completion.fault.unwrap();
    assert_eq!((fault.code, fault.pc), ("RUN-MEM-001", Some(4)));
    assert_eq!(fault.fault.unwrap().address, BASE + u64::from(groups * threads - 1) * 4);
    assert_eq!(few.all(), before);
    let done = run(&mut backend, vec![a_launch(id, groups, threads, threads)], &many);
    assert_eq!((done.done.len(), done.fault), (1, None));
    assert_eq!(many.word(COUNTER), 4 * groups * threads);
}

/// What a launch stored is on the device and in memory, so that the next one needs no page anew; what others write
/// is brought in.
#[test]
fn what_was_written_back_stays_on_the_device() {
    let mut backend = open();
    let id = compile(&mut backend, stores_to_itself(), Holding::Lane);
    let dwords = 1 << 16;
    let memory = Memory::default().map(BASE, vec![0; dwords * 4]);
    let go = |backend: &mut _| run(backend, vec![launch(id, dwords as u32 / LANES, 1)], &memory);
    go(&mut backend);
    let reads = memory.bytes_read();
    go(&mut backend);
    assert_eq!(memory.bytes_read(), reads, "pages were read again");
    memory.write(BASE + 8, &40u32.to_le_bytes()).unwrap();
    go(&mut backend);
    assert_eq!((memory.word(BASE + 4), memory.word(BASE + 8)), (3, 41));
}

/// As above, with a write from elsewhere that comes while the first launch runs.
#[test]
fn what_others_write_while_a_launch_runs_is_seen_by_the_next() {
    use guestwave_translate::backend::{Backend, Batch};
    let mut backend = open();
    let id = compile(&mut backend, stores_to_itself(), Holding::Lane);
    let memory = Memory::default().map(BASE, vec![0; 4096]);
    let first = Batch { launches: vec![launch(id, 2, 1)] };
    let ticket = backend.submit(first, &memory).unwrap();
    let beyond = BASE + u64::from(2 * LANES) * 4;
    memory.write(beyond, &40u32.to_le_bytes()).unwrap();
    backend.wait(ticket, &memory, std::time::Duration::from_secs(600)).unwrap().unwrap();
    run(&mut backend, vec![launch(id, 3, 1)], &memory);
    assert_eq!((memory.word(BASE), memory.word(beyond), memory.word(beyond + 4)), (2, 41, 1));
}

/// Each lane of the dispatch adds 1 to its dword.
fn stores_to_itself() -> Program {
    let mut b = Builder::new("increments", LANES as u8);
    let (wave, lane) = (b.builtin(Builtin::Wave), b.builtin(Builtin::Lane));
    let first = b.with_constant(BinOp::Mul, wave, u64::from(LANES));
    let item = b.bin(BinOp::Add, first, lane);
    let offset = b.shift(BinOp::Shl, item, 2);
    let always = b.cbool(true);
    let access = dword(&mut b, BASE, offset, always, true);
    let old = b.load(1, access)[0];
    let new = b.with_constant(BinOp::Add, old, 1);
    b.store(vec![new], access);
    b.finish()
}
