//! What tests of programs share: guest memory, a launch, and parts of programs.

use std::ops::Range;
use std::sync::Mutex;

use guestwave_cp::{AccessKind, DispatchId, Generation, GuestMemory, MemoryFault};

use super::run;
use crate::backend::{Launch, LaunchDone, LaunchFault, ProgramId};
use crate::program::{Access, BinOp, Builder, Builtin, Program, Space, Stmt, UnOp, Value, Width, verify};

const BASE: u64 = 0x1000;

/// Guest memory from `BASE` on.
pub(crate) struct Flat(pub(crate) Mutex<Vec<u8>>);

impl Flat {
    pub(crate) fn new(bytes: usize) -> Self {
        Flat(Mutex::new((0..bytes).map(|i| i as u8).collect()))
    }

    fn place(&self, address: u64, len: usize, kind: AccessKind) -> Result<Range<usize>, MemoryFault> {
        let start = address.wrapping_sub(BASE) as usize;
        let inside = start.checked_add(len).is_some_and(|end| end <= self.0.lock().unwrap().len());
        if inside { Ok(start..start + len) } else { Err(MemoryFault { address, size: len as u64, kind }) }
    }
}

impl GuestMemory for Flat {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let place = self.place(address, into.len(), AccessKind::Read)?;
        into.copy_from_slice(&self.0.lock().unwrap()[place]);
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let place = self.place(address, bytes.len(), AccessKind::Write)?;
        self.0.lock().unwrap()[place].copy_from_slice(bytes);
        Ok(())
    }

    fn mapping(&self, address: u64) -> Option<Range<u64>> {
        let all = BASE..BASE + self.0.lock().unwrap().len() as u64;
        all.contains(&address).then_some(all)
    }

    fn generation(&self) -> Generation {
        Generation::default()
    }

    fn changed_since(&self, _: Generation, _: &mut dyn FnMut(Range<u64>)) -> Generation {
        Generation::default()
    }
}

/// One launch of `waves` waves in groups of `per_group`.
pub(crate) fn launch(waves: u32, per_group: u32) -> Launch {
    Launch {
        id: DispatchId(7),
        program: ProgramId(0),
        params: Vec::new(),
        tables: [11, 22].into(),
        waves,
        waves_per_group: per_group,
        group_waves: None,
        budget: 1000,
    }
}

pub(crate) fn run_on(program: &Program, launch: &Launch, memory: &Flat) -> Result<LaunchDone, LaunchFault> {
    verify(program).unwrap();
    run(program, launch, memory)
}

/// `BASE + offset` where the offset is a `B32`.
fn global(b: &mut Builder, offset: Value) -> Value {
    let (base, offset) = (b.c64(BASE), b.un(UnOp::Extend, offset));
    b.bin(BinOp::Add, base, offset)
}

fn access(space: Space, address: Value, valid: Value) -> Access {
    Access { space, address, valid, width: Width::W32, pc: 0x40, slot: None }
}

/// Stores a `B32` of each lane at word `lane`.
pub(crate) fn store_lanes(b: &mut Builder, value: Value) {
    let (lane, four) = (b.builtin(Builtin::Lane), b.c32(4));
    let offset = b.bin(BinOp::Mul, lane, four);
    let address = global(b, offset);
    b.store(vec![value], access(Space::Global, address, four));
}

/// A block built by `f`.
pub(crate) fn block(b: &mut Builder, f: impl FnOnce(&mut Builder)) -> Vec<Stmt> {
    b.open();
    f(b);
    b.close()
}
