//! Small programs on guest memory. Their words are what llvm-mc gives for the text beside them (gfx1030).

use std::sync::Arc;

use guestwave_cp::{
    AccessKind, Completed, DispatchError, DispatchId, ExactDispatch, Executor, Grid, GuestMemory, Isa,
    LaneRule, Origin, Outputs, ProgramRef, Stage,
};

use crate::capture::{BufferObject, VaKind, VaOp};
use crate::executor::ReferenceExecutor;
use crate::memory::CaptureMemory;

const CODE: u64 = 0x1000;
const DATA: u64 = 0x1_0000;
const DATA_BYTES: u64 = 0x2000;

const GLOBAL_STORE_DWORD: [u32; 2] = [0xdc70_8000, 0x007d_0200]; // global_store_dword v[0:1], v2, off
const GLOBAL_STORE_BYTE: [u32; 2] = [0xdc60_8000, 0x007d_0200]; // global_store_byte v[0:1], v2, off
const BRANCH_TO_ITSELF: [u32; 1] = [0xbf82_ffff]; // s_branch 65535
const EXPORT_POSITION: [u32; 2] = [0xf800_08c7, 0x0002_0100]; // exp pos0 v0, v1, v2, off done
const GS_DONE: [u32; 1] = [0xbf90_0003]; // s_sendmsg sendmsg(MSG_GS_DONE, GS_OP_NOP)
const GET_MODE: [u32; 2] = [0xb904_f801, 0x7e04_0204]; // s_getreg_b32 s4, hwreg(HW_REG_MODE); v_mov_b32 v2, s4
const RECIPROCAL: [u32; 1] = [0x7e04_5502]; // v_rcp_f32 v2, v2
const END: u32 = 0xbf81_0000; // s_endpgm

/// Memory with a program at CODE and zeros at DATA.
fn memory(parts: &[&[u32]]) -> CaptureMemory {
    let memory = CaptureMemory::new();
    for (bo, va, size) in [(1, CODE, 0x1000), (2, DATA, DATA_BYTES)] {
        memory.create(&BufferObject { bo, handle: bo, size, domains: 2, flags: 0, userptr: 0 }).unwrap();
        memory.va(&VaOp { bo, kind: VaKind::Map, flags: 14, va, offset: 0, size }).unwrap();
    }
    load(&memory, parts);
    memory
}

fn load(memory: &CaptureMemory, parts: &[&[u32]]) {
    let words = parts.concat().into_iter().chain([END]);
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    memory.write(CODE, &bytes).unwrap();
}

/// One lane an address, in waves of 32; v[0:1] is the address, v2 the item's number.
fn dispatch(addresses: &[u64]) -> ExactDispatch {
    let program = ProgramRef {
        isa: Isa::Gfx1030,
        address: CODE,
        wave_lanes: 32,
        float_mode: 0xc0,
        dx10_clamp: true,
        ieee: false,
    };
    let low: Arc<[u32]> = addresses.iter().map(|a| *a as u32).collect();
    let high: Arc<[u32]> = addresses.iter().map(|a| (a >> 32) as u32).collect();
    ExactDispatch {
        stage: Stage::Compute,
        program,
        grid: Grid::Linear { items: addresses.len() as u32, per_wave: 32 },
        sgprs: Vec::new(),
        vgprs: vec![LaneRule::PerItem(low), LaneRule::PerItem(high), LaneRule::Item { base: 0 }],
        lds_bytes: 0,
        scratch: None,
        outputs: Outputs::Dropped,
        origin: Origin::default(),
    }
}

fn run_on(
    executor: &mut ReferenceExecutor,
    memory: &CaptureMemory,
    dispatch: ExactDispatch,
) -> Result<Completed, DispatchError> {
    let mut done = Vec::new();
    executor.submit(DispatchId(9), dispatch, memory)?;
    executor.flush(memory, &mut done)?;
    Ok(done.remove(0))
}

fn run(memory: &CaptureMemory, dispatch: ExactDispatch) -> Result<Completed, DispatchError> {
    run_on(&mut ReferenceExecutor::with_steps(1000), memory, dispatch)
}

fn data(memory: &CaptureMemory) -> Vec<u8> {
    let mut bytes = vec![0; DATA_BYTES as usize];
    memory.read(DATA, &mut bytes).unwrap();
    bytes
}

#[test]
fn exactly_the_stored_bytes_are_told_and_equal_values_count() {
    let memory = memory(&[&GLOBAL_STORE_BYTE]);
    let addresses: Vec<_> = (0..40).map(|i| DATA + 0xffe + 2 * (i / 3)).collect();
    let completed = run(&memory, dispatch(&addresses)).unwrap();
    assert_eq!((completed.id, completed.waves, completed.instructions), (DispatchId(9), 2, 4));
    let stored: Vec<_> = (0..14).map(|i| DATA + 0xffe + 2 * i..DATA + 0xfff + 2 * i).collect();
    assert_eq!(completed.stored, stored);
    assert_eq!(data(&memory)[0xffe..0x1003], [2, 0, 5, 0, 8]);
    let again = run(&memory, dispatch(&addresses)).unwrap();
    assert_eq!(again.stored, stored);
}

#[test]
fn a_fault_in_a_late_wave_takes_back_what_early_waves_stored() {
    let memory = memory(&[&GLOBAL_STORE_DWORD]);
    let mut addresses: Vec<_> = (0..64).map(|i| DATA + 4 * i).collect();
    addresses[63] = DATA + DATA_BYTES;
    let error = run(&memory, dispatch(&addresses)).unwrap_err();
    let fault = error.fault.unwrap();
    assert_eq!((error.code, error.pc, error.id), ("ISA-RUN-006", Some(0), DispatchId(9)));
    assert_eq!((fault.address, fault.size, fault.kind), (DATA + DATA_BYTES, 4, AccessKind::Write));
    assert_eq!(data(&memory), vec![0; DATA_BYTES as usize]);
    addresses.truncate(63);
    assert_eq!(run(&memory, dispatch(&addresses)).unwrap().stored.len(), 1);
}

#[test]
fn a_program_without_end_uses_up_its_budget() {
    let memory = memory(&[&GLOBAL_STORE_DWORD, &BRANCH_TO_ITSELF]);
    let error = run(&memory, dispatch(&[DATA])).unwrap_err();
    assert_eq!((error.code, error.pc), ("ISA-RUN-008", Some(8)));
    assert_eq!(data(&memory)[..4], [0; 4]);
}

#[test]
fn the_budget_is_for_the_whole_dispatch() {
    let memory = memory(&[&GLOBAL_STORE_DWORD]);
    let addresses = vec![DATA; 32 * 10];
    let mut executor = ReferenceExecutor::with_steps(19);
    assert_eq!(run_on(&mut executor, &memory, dispatch(&addresses)).unwrap_err().code, "ISA-RUN-008");
    let mut executor = ReferenceExecutor::with_steps(20);
    assert_eq!(run_on(&mut executor, &memory, dispatch(&addresses)).unwrap().instructions, 20);
}

#[test]
fn code_that_changed_between_dispatches_is_decoded_again() {
    let memory = memory(&[&GLOBAL_STORE_DWORD]);
    let mut executor = ReferenceExecutor::default();
    let two = [DATA, DATA + 0x100];
    run_on(&mut executor, &memory, dispatch(&two)).unwrap();
    memory.write(DATA, &[0xff; 0x200]).unwrap();
    load(&memory, &[&GLOBAL_STORE_BYTE]);
    run_on(&mut executor, &memory, dispatch(&two)).unwrap();
    assert_eq!(data(&memory)[0x100..0x104], [1, 0xff, 0xff, 0xff]);
}

#[test]
fn the_mode_register_starts_with_the_launch_s_modes() {
    let memory = memory(&[&GET_MODE, &GLOBAL_STORE_DWORD]);
    run(&memory, dispatch(&[DATA])).unwrap();
    let mode = guestwave_cp::read_u32(&memory, DATA).unwrap();
    assert_eq!(mode & 0x3ff, 0x1c0);
}

#[test]
fn exports_and_messages_are_recorded_on_request_and_inexact_instructions_told() {
    let memory = memory(&[&RECIPROCAL, &EXPORT_POSITION, &GS_DONE]);
    let dropped = run(&memory, dispatch(&[DATA; 33])).unwrap();
    assert_eq!((dropped.records.len(), dropped.inexact.as_slice()), (0, ["v_rcp_f32"].as_slice()));
    let recorded = ExactDispatch { outputs: Outputs::Recorded, ..dispatch(&[DATA; 33]) };
    let records = run(&memory, recorded).unwrap().records;
    assert_eq!(records.len(), 2);
    let (export, message) = (&records[1].exports[0], records[1].messages[0]);
    assert_eq!((export.target, export.en, export.done, export.exec), (12, 7, true, 1));
    assert_eq!(export.values[0][0], DATA as u32);
    assert_eq!((message.simm16, message.exec), (3, 1));
}

#[test]
fn a_dispatch_that_the_hardware_could_not_start_is_refused() {
    let memory = memory(&[]);
    let refused = |change: &dyn Fn(&mut ExactDispatch)| {
        let mut d = dispatch(&[DATA]);
        change(&mut d);
        run(&memory, d).unwrap_err().code
    };
    assert_eq!(refused(&|d| d.program.wave_lanes = 16), "HN-EXE-001");
    assert_eq!(refused(&|d| d.lds_bytes = 1 << 20), "HN-EXE-004");
    assert_eq!(refused(&|d| d.vgprs = vec![LaneRule::Word(0); 257]), "HN-EXE-004");
    assert_eq!(refused(&|d| d.program.address = 0xdead_0000), "ISA-RUN-001");
}
