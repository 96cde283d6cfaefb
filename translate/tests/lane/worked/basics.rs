//! One program or two for each thing that the form has.

use super::*;

pub(super) fn lanes_store_their_numbers() -> Worked {
    let make = |b: &mut Builder| {
        let lane = b.builtin(Builtin::Lane);
        store_lanes(b, lane);
    };
    one_wave("lanes store their numbers", 64, make, 0..64)
}

pub(super) fn lanes_leave_a_loop_by_themselves() -> Worked {
    let make = |b: &mut Builder| {
        let (count, one) = (b.var("count", Type::B32, Rate::Varying), b.c32(1));
        let lane = b.builtin(Builtin::Lane);
        let body = block(b, |b| {
            let old = b.get(count);
            let done = b.bin(BinOp::Eq, old, lane);
            let then = block(b, |b| b.push(Stmt::Break));
            b.push(Stmt::If { cond: done, then, otherwise: vec![] });
            let next = b.bin(BinOp::Add, old, one);
            b.set(count, next);
        });
        b.push(Stmt::Loop { body });
        let total = b.get(count);
        store_lanes(b, total);
    };
    one_wave("lanes leave a loop by themselves", 32, make, 0..32)
}

/// The same with no more iterations than its lanes need one after the other, as some holdings count them.
pub(super) fn a_budget_that_is_enough() -> Worked {
    Worked { name: "a budget that is enough", budget: 32 * 33 / 2, ..lanes_leave_a_loop_by_themselves() }
}

/// The same with one iteration less.
pub(super) fn a_budget_that_is_not_enough() -> Worked {
    let fault = Fault { code: codes::BUDGET, pc: None, access: None };
    Worked {
        name: "a budget that is not enough",
        budget: 31,
        ends: Err(fault),
        ..lanes_leave_a_loop_by_themselves()
    }
}

pub(super) fn wave_operations_see_all_lanes() -> Worked {
    let make = |b: &mut Builder| {
        let (lane, five, zero, one) = (b.builtin(Builtin::Lane), b.c32(5), b.c32(0), b.c32(1));
        let twice = b.bin(BinOp::Add, lane, lane);
        let low = b.bin(BinOp::LtU, lane, five);
        let ballot = b.wave(WaveOp::Ballot(low));
        let bits = b.un(UnOp::Low, ballot);
        let half = b.bin(BinOp::ShrU, lane, one);
        // Lanes 0 to 4 send to half their number: 2k + 1 wins over 2k.
        let sent = b.wave(WaveOp::Send { value: lane, lane: half, active: low });
        let read = b.wave(WaveOp::ReadLane { value: twice, lane: five });
        let spread = b.wave(WaveOp::Shuffle { value: twice, lane: zero });
        let sum = [sent, read, spread].into_iter().fold(bits, |sum, v| b.bin(BinOp::Add, sum, v));
        store_lanes(b, sum);
    };
    one_wave("wave operations see all lanes", 32, make, [1, 3, 4, 0, 0].map(|sent| 0b11111 + sent + 10))
}

pub(super) fn units_beyond_valid_are_zero_and_not_stored() -> Worked {
    let mut b = Builder::new("valid", 32);
    let (base, five, eight) = (b.c64(BASE), b.c32(5), b.c32(8));
    let loaded = b.load(3, access(Space::Global, base, five));
    let away = b.c64(BASE + 64);
    let sum = b.bin(BinOp::Or, loaded[1], loaded[2]);
    b.store(vec![loaded[0], sum, loaded[0]], access(Space::Global, away, eight));
    let (zero, nowhere) = (b.c32(0), b.c64(1));
    b.store(vec![zero], access(Space::Global, nowhere, zero));
    let left = Left {
        stored: BASE + 64..BASE + 72,
        words: vec![(64, 0x0302_0100), (68, 0x0706_0504), (72, 0x4b4a_4948)],
    };
    Worked {
        name: "units beyond valid are zero and not stored",
        program: b.finish(),
        waves: [1, 1],
        budget: 1000,
        bytes: 128,
        ends: Ok(left),
    }
}

pub(super) fn a_fault_puts_back_what_was_stored() -> Worked {
    Worked {
        name: "a fault puts back what was stored",
        bytes: 66,
        ends: Err(Fault { code: codes::MEMORY, pc: Some(PC), access: Some(AccessKind::Write) }),
        ..one_wave(
            "fault",
            32,
            |b| {
                let lane = b.builtin(Builtin::Lane);
                store_lanes(b, lane)
            },
            [],
        )
    }
}

pub(super) fn waves_of_a_group_meet_at_barriers() -> Worked {
    let mut b = Builder::new("barrier", 32);
    b.program_mut().lds_bytes = 8;
    let (wave, four, one) = (b.builtin(Builtin::WaveInGroup), b.c32(4), b.c32(1));
    let (mine, other) = (b.bin(BinOp::Mul, wave, four), b.bin(BinOp::Sub, one, wave));
    let theirs = b.bin(BinOp::Mul, other, four);
    let hundred = b.c32(100);
    let value = b.bin(BinOp::Add, wave, hundred);
    b.store(vec![value], access(Space::Lds, mine, four));
    b.push(Stmt::Barrier { pc: 8 });
    let seen = b.load(1, access(Space::Lds, theirs, four))[0];
    let number = b.builtin(Builtin::Wave);
    let offset = b.bin(BinOp::Mul, number, four);
    let address = global(&mut b, offset);
    b.store(vec![seen], access(Space::Global, address, four));
    Worked {
        name: "waves of a group meet at barriers",
        program: b.finish(),
        waves: [4, 2],
        budget: 1000,
        bytes: 64,
        ends: Ok(Left { stored: stored(16), words: in_a_row([101, 100, 101, 100]) }),
    }
}

/// Each wave is a workgroup and finds its own LDS as it is at the start, whatever waves a host puts together.
pub(super) fn workgroups_of_one_wave_have_an_lds_each() -> Worked {
    let mut b = Builder::new("lds", 32);
    b.program_mut().lds_bytes = 128;
    let (lane, wave) = (b.builtin(Builtin::Lane), b.builtin(Builtin::Wave));
    let (four, seven, row) = (b.c32(4), b.c32(7), b.c32(128));
    let mine = b.bin(BinOp::Mul, lane, four);
    let found = b.load(1, access(Space::Lds, mine, four))[0];
    b.store(vec![seven], access(Space::Lds, mine, four));
    let start = b.bin(BinOp::Mul, wave, row);
    let offset = b.bin(BinOp::Add, start, mine);
    let address = global(&mut b, offset);
    b.store(vec![found], access(Space::Global, address, four));
    Worked {
        name: "workgroups of one wave have an LDS each",
        program: b.finish(),
        waves: [8, 1],
        budget: 1000,
        bytes: 1024,
        ends: Ok(Left { stored: stored(1024), words: in_a_row([0; 256]) }),
    }
}

pub(super) fn an_access_behind_a_barrier_needs_no_more_than_its_own_operands() -> Worked {
    let mut b = Builder::new("behind", 32);
    let (wave, four, none) = (b.builtin(Builtin::WaveInGroup), b.c32(4), b.c32(0));
    let first = b.bin(BinOp::Eq, wave, none);
    let valid = b.select(first, four, none);
    b.push(Stmt::Barrier { pc: 0 });
    let (address, seven) = (b.c64(BASE), b.c32(7));
    b.store(vec![seven], access(Space::Global, address, valid));
    Worked {
        name: "an access behind a barrier needs no more than its own operands",
        program: b.finish(),
        waves: [2, 2],
        budget: 1000,
        bytes: 8,
        ends: Ok(Left { stored: stored(4), words: in_a_row([7, 0x0706_0504]) }),
    }
}

/// What takes a few operations may be computed anew behind a meeting, and then what it is computed from is too.
pub(super) fn a_value_computed_anew_needs_what_it_is_computed_from() -> Worked {
    let make = |b: &mut Builder| {
        let (lane, three, nine) = (b.builtin(Builtin::Lane), b.c32(3), b.c32(9));
        let odd = b.bin(BinOp::Xor, lane, three);
        let sum = b.bin(BinOp::Add, odd, nine);
        let few = b.bin(BinOp::LtU, odd, nine);
        let ballot = b.wave(WaveOp::Ballot(few));
        let bits = b.un(UnOp::Low, ballot);
        let total = b.bin(BinOp::Add, sum, bits);
        store_lanes(b, total);
    };
    // Lanes 0 to 7 and 11 have an odd number below 9.
    let name = "a value computed anew needs what it is computed from";
    one_wave(name, 32, make, (0..32).map(|lane| (lane ^ 3) + 9 + 0x8ff))
}

pub(super) fn tables_bounds_of_lds_and_atomics() -> Worked {
    let make = |b: &mut Builder| {
        b.program_mut().lds_bytes = 8;
        let (lane, four, six) = (b.builtin(Builtin::Lane), b.c32(4), b.c32(6));
        let (one, sixty_four) = (b.c32(1), b.c32(64));
        let table = b.load(2, access(Space::Table, four, sixty_four));
        let old = b.atomic(AtomicOp::Add, one, None, access(Space::Lds, six, sixty_four));
        let varying = b.bin(BinOp::And, lane, four);
        let mine = b.atomic(AtomicOp::Add, one, None, access(Space::Lds, varying, four));
        let sum = [table[0], table[1], old].into_iter().fold(mine, |sum, v| b.bin(BinOp::Add, sum, v));
        store_lanes(b, sum);
    };
    // The second word of the table is 22 and there is no third. Lanes 0 to 3 count byte 0 from 0; lanes 4 to 7 count byte 4,
    // where the uniform atomic (at 6, so 4) has left 1.
    one_wave("tables, bounds of LDS and atomics", 32, make, [0, 1, 2, 3, 1, 2].map(|n| 22 + n))
}
