//! Loops and subgroups.

use guestwave_translate::backend::{BackendError, Holding};
use guestwave_translate::naga::LoopLimit;
use guestwave_translate::program::{
    Access, BinOp, Builder, Builtin, Program, Rate, Slot, Space, Stmt, Trace, Type, UnOp, Value, WaveOp,
    Width,
};

use super::{BASE, launch, limit};
use crate::backend::WgpuBackend;

/// Iterations that the probe makes.
pub(super) const LOOP: u32 = 200_000;

/// `BASE + 4 * index`, as an access of one word.
pub(super) fn word(b: &mut Builder, index: Value) -> Access {
    let size = Some(Trace::Const(1 << 24));
    let slot = b.slot(Slot { base: Trace::Const(BASE), size, written: true });
    let (base, wide, two) = (b.c64(BASE), b.un(UnOp::Extend, index), b.c32(2));
    let offset = b.bin(BinOp::Shl, wide, two);
    let (address, valid) = (b.bin(BinOp::Add, base, offset), b.c32(4));
    Access { space: Space::Global, address, valid, width: Width::W32, pc: 0, slot: Some(slot) }
}

/// After how many iterations loops end by themselves.
pub(super) fn loop_limit(
    backend: &mut WgpuBackend,
    subgroup: Option<u32>,
) -> Result<Option<LoopLimit>, BackendError> {
    let (words, _) = launch(backend, counting(), Holding::Lane, 1, vec![0; 32])?;
    let least = words.into_iter().min().unwrap_or(0);
    Ok((least < LOOP).then(|| limit(least, subgroup.unwrap_or(32))))
}

/// Stores how often a loop of [`LOOP`] iterations went round.
fn counting() -> Program {
    let mut b = Builder::new("probe-loop", 32);
    let count = b.var("count", Type::B32, Rate::Varying);
    let lane = b.builtin(Builtin::Lane);
    let end = b.c32(LOOP);
    b.open();
    let now = b.get(count);
    // A condition that varies, since the lanes' counts are variables of theirs.
    let done = b.bin(BinOp::LeU, end, now);
    b.open();
    b.push(Stmt::Break);
    let then = b.close();
    b.push(Stmt::If { cond: done, then, otherwise: Vec::new() });
    let one = b.c32(1);
    let next = b.bin(BinOp::Add, now, one);
    b.set(count, next);
    let body = b.close();
    b.push(Stmt::Loop { body });
    let total = b.get(count);
    let access = word(&mut b, lane);
    b.store(vec![total], access);
    b.finish()
}

/// Whether ballots by subgroups of `size` lanes give the lanes' votes in order, in every shape of workgroup.
pub(super) fn in_order(backend: &mut WgpuBackend, size: u32) -> Result<bool, BackendError> {
    let usual = backend.host_mut().subgroup.replace(size);
    let shapes = [(32, Holding::Lane), (64, Holding::Lane), (64, Holding::Pair)];
    let mut good = true;
    for (lanes, holding) in shapes {
        let waves = 8;
        let votes: Vec<u32> = (0..waves * lanes).map(|i: u32| i.wrapping_mul(0x9e37_79b9) >> 31).collect();
        let mut words = votes.clone();
        words.resize((waves * lanes * 3) as usize, 0);
        let (words, completion) = launch(backend, voting(lanes as u8), holding, waves, words)?;
        good &= completion.fault.is_none();
        for i in 0..waves * lanes {
            let wave = &votes[(i / lanes * lanes) as usize..][..lanes as usize];
            let bits = wave.iter().rev().fold(0u64, |bits, v| bits << 1 | u64::from(*v));
            let at = (waves * lanes + i * 2) as usize;
            good &= words[at] == bits as u32 && words[at + 1] == (bits >> 32) as u32;
        }
    }
    backend.host_mut().subgroup = usual;
    Ok(good)
}

/// Each lane votes with its word and stores the ballot behind all votes.
fn voting(lanes: u8) -> Program {
    let mut b = Builder::new("probe-vote", lanes);
    let (lane, wave, lanes) = (b.builtin(Builtin::Lane), b.builtin(Builtin::Wave), b.c32(u32::from(lanes)));
    let first = b.bin(BinOp::Mul, wave, lanes);
    let item = b.bin(BinOp::Add, first, lane);
    let access = word(&mut b, item);
    let vote = b.load(1, access)[0];
    let zero = b.c32(0);
    let vote = b.bin(BinOp::Ne, vote, zero);
    let ballot = b.wave(WaveOp::Ballot(vote));
    let halves = [b.un(UnOp::Low, ballot), b.un(UnOp::High, ballot)];
    let (eight, one) = (b.c32(8), b.c32(1));
    let (all, twice) = (b.bin(BinOp::Mul, lanes, eight), b.bin(BinOp::Shl, item, one));
    let place = b.bin(BinOp::Add, all, twice);
    for (i, half) in halves.into_iter().enumerate() {
        let i = b.c32(i as u32);
        let at = b.bin(BinOp::Add, place, i);
        let access = word(&mut b, at);
        b.store(vec![half], access);
    }
    b.finish()
}
