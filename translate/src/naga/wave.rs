//! Operations over the lanes of a wave, in the lane-wise holdings: through workgroup memory, and through subgroups where the
//! host's are known to lie as wanted.
//!
//! Two arrays take turns, so that an operation has one meeting: whoever writes an array has met the others since they read it.

use naga::{AtomicFunction as A, Barrier, Block, GlobalVariable, Handle};

use super::func::Ex;
use super::int;
use super::lower::Lower;
use super::parts;
use crate::program::{Rate, Type, Value, WaveOp};

/// Arrays of a word a lane.
#[derive(Default)]
pub(super) struct Exchange {
    arrays: [Option<Handle<GlobalVariable>>; 2],
    winners: Option<Handle<GlobalVariable>>,
    /// Arrays that lanes may be reading still.
    pub(super) busy: Busy,
}

/// Which arrays lanes may be reading still.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Busy {
    arrays: [bool; 2],
    winners: bool,
}

impl Busy {
    /// Nothing is known.
    pub(super) const ALL: Busy = Busy { arrays: [true; 2], winners: true };

    /// What may be read after either of two ways.
    pub(super) fn or(self, other: Busy) -> Busy {
        let arrays = [0, 1].map(|i| self.arrays[i] || other.arrays[i]);
        Busy { arrays, winners: self.winners || other.winners }
    }
}

impl Lower<'_> {
    /// The lanes of a wave meet; `storage`: what they stored in buffers is seen.
    pub(super) fn meet(&mut self, storage: bool) {
        if self.shape.whole {
            return;
        }
        self.exchange.busy = Busy::default();
        let subgroup = self.shape.waves > 1 && self.caps.subgroup == Some(self.shape.invocations);
        let mut flags = Barrier::WORK_GROUP;
        flags.set(Barrier::STORAGE, storage);
        flags.set(Barrier::SUB_GROUP, subgroup);
        self.f.barrier(flags);
    }

    /// An array that nobody reads.
    fn free_array(&mut self) -> (usize, Handle<GlobalVariable>) {
        if self.exchange.busy.arrays == [true; 2] {
            self.meet(false);
        }
        let free = usize::from(self.exchange.busy.arrays[0]);
        let count = self.shape.lanes * self.shape.waves;
        let (module, u32) = (&mut self.module, self.types.u32);
        let made =
            self.exchange.arrays[free].get_or_insert_with(|| parts::shared(module, "lanes", u32, count));
        (free, *made)
    }

    fn winners(&mut self) -> Handle<GlobalVariable> {
        if self.exchange.busy.winners {
            self.meet(false);
        }
        let count = self.shape.lanes * self.shape.waves;
        let (module, atomic) = (&mut self.module, self.types.atomic);
        *self.exchange.winners.get_or_insert_with(|| parts::shared(module, "winners", atomic, count))
    }

    /// Element of the wave's part of an array for lane `lane`.
    fn lane_place(&mut self, lane: Ex) -> Ex {
        if self.shape.waves == 1 {
            return lane;
        }
        let lanes = self.f.u32(self.shape.lanes);
        let start = self.f.mul(self.at.local_wave, lanes);
        self.f.add(start, lane)
    }

    /// Puts a word of each lane where all can read it; the caller says when they are done by `busy`.
    pub(super) fn publish(&mut self, words: &[Ex]) -> Handle<GlobalVariable> {
        let (index, array) = self.free_array();
        for (k, word) in words.iter().enumerate() {
            let place = self.lane_place(self.at.lane[k]);
            self.f.set_element(array, place, *word);
        }
        self.meet(false);
        self.exchange.busy.arrays[index] = true;
        array
    }

    pub(super) fn read_lane(&mut self, array: Handle<GlobalVariable>, lane: Ex) -> Ex {
        let lane = self.f.and_u32(lane, self.shape.lanes - 1);
        let place = self.lane_place(lane);
        self.f.element(array, place)
    }

    /// `value` in each lane held.
    fn each(&mut self, value: Value) -> Vec<Ex> {
        (0..self.shape.components)
            .map(|k| {
                self.k = k;
                let what = self.get(value);
                self.k = 0;
                what
            })
            .collect()
    }

    fn set_each(&mut self, value: Value, what: &[Ex]) {
        self.inside = true;
        for (k, what) in what.iter().enumerate() {
            self.k = k;
            self.set(value, *what);
        }
        self.k = 0;
        self.inside = false;
    }

    fn varies(&self, value: Value) -> bool {
        self.program.info(value).rate == Rate::Varying
    }

    /// A wave operation in the lane-wise holdings.
    pub(super) fn wave_op(&mut self, result: Value, op: WaveOp) {
        match op {
            WaveOp::Ballot(v) => {
                let bits = self.ballot(v);
                self.set(result, bits);
            }
            WaveOp::Any(v) => {
                let any = self.any(v);
                self.set(result, any);
            }
            WaveOp::ReadLane { value, .. } | WaveOp::Shuffle { value, .. } if !self.varies(value) => {
                let same = self.get(value);
                let all = [same; 2];
                if matches!(op, WaveOp::ReadLane { .. }) {
                    self.set(result, same);
                } else {
                    self.set_each(result, &all[..self.shape.components]);
                }
            }
            WaveOp::ReadLane { value, lane } => {
                let words = self.each(value);
                let lane = self.get(lane);
                let array = self.publish(&words);
                let read = self.read_lane(array, lane);
                self.set(result, read);
            }
            WaveOp::Shuffle { value, lane } => {
                let (words, lanes) = (self.each(value), self.each(lane));
                let array = self.publish(&words);
                let read: Vec<Ex> = lanes.into_iter().map(|lane| self.read_lane(array, lane)).collect();
                self.set_each(result, &read);
            }
            WaveOp::Send { value, lane, active } => self.send(result, [value, lane, active]),
        }
    }

    /// The lanes' `Bool`s as bits.
    fn ballot(&mut self, vote: Value) -> Ex {
        let votes = self.each(vote);
        if !self.varies(vote) {
            let (all, none) = (self.f.u64(u64::MAX >> (64 - self.shape.lanes)), self.f.u64(0));
            return self.f.select(votes[0], all, none);
        }
        let words = match self.caps.subgroup {
            Some(size) if self.shape.invocations.is_multiple_of(size) => self.subgroup_ballot(&votes, size),
            _ => self.plain_ballot(&votes),
        };
        let zero = self.f.u32(0);
        let word = |i: usize| words.get(i).copied().unwrap_or(zero);
        let (low, high) = (word(0), word(1));
        self.f.pack(low, high)
    }

    fn any(&mut self, vote: Value) -> Ex {
        if !self.varies(vote) {
            return self.get(vote);
        }
        let bits = self.ballot(vote);
        let zero = self.f.u64(0);
        self.f.ne(bits, zero)
    }

    /// 32 lanes' votes a word, by subgroups of `size` invocations.
    fn subgroup_ballot(&mut self, votes: &[Ex], size: u32) -> Vec<Ex> {
        let stride = self.shape.stride();
        let mut words: Vec<Option<Ex>> = vec![None; (self.shape.lanes / 32) as usize];
        let ballots: Vec<Ex> = votes
            .iter()
            .map(|vote| {
                let vote = self.as_number(*vote);
                let ballot = self.f.ballot(vote);
                self.f.field(ballot, 0)
            })
            .collect();
        let parts = if size == self.shape.invocations && size <= 32 {
            ballots.iter().map(|ballot| vec![*ballot]).collect()
        } else {
            self.gather_ballots(&ballots, size)
        };
        for (k, parts) in parts.into_iter().enumerate() {
            for (i, part) in (0..).zip(parts) {
                let first = k as u32 * stride + i * size;
                self.place_votes(&mut words, part, first);
            }
        }
        words.into_iter().flatten().collect()
    }

    /// A vote that is a number before it is one again: with NVIDIA's compiler some ballots of what differs from a bit of a number
    /// (`mask != (number >> lane & 1)`) had all lanes' bits.
    fn as_number(&mut self, vote: Ex) -> Ex {
        let bit = int::from_bool(&mut self.f, vote);
        let hidden = self.hide(bit, Type::B32);
        self.f.isnt_u32(hidden, 0)
    }

    /// Puts votes of lanes from `first` on into the words.
    fn place_votes(&mut self, words: &mut [Option<Ex>], part: Ex, first: u32) {
        let shifted = self.f.shl_u32(part, first % 32);
        if let Some(word) = words.get_mut((first / 32) as usize) {
            *word = Some(match *word {
                Some(others) => self.f.or(others, shifted),
                None => shifted,
            });
        }
    }

    /// Every subgroup's ballots, for each lane held.
    fn gather_ballots(&mut self, ballots: &[Ex], size: u32) -> Vec<Vec<Ex>> {
        let (index, array) = self.free_array();
        let count = self.shape.invocations / size;
        let each = self.f.u32(size);
        let subgroup = self.f.div(self.at.invocation, each);
        let rank = self.f.rem(self.at.invocation, each);
        let first = self.f.is_u32(rank, 0);
        self.f.open();
        for (k, ballot) in (0..).zip(ballots) {
            let place = self.f.add_u32(subgroup, k * count);
            let place = self.lane_place(place);
            self.f.set_element(array, place, *ballot);
        }
        let accept = self.f.close();
        self.f.if_else(first, accept, Block::new());
        self.meet(false);
        self.exchange.busy.arrays[index] = true;
        (0..ballots.len() as u32)
            .map(|k| {
                (0..count)
                    .map(|i| {
                        let place = self.f.u32(k * count + i);
                        let place = self.lane_place(place);
                        self.f.element(array, place)
                    })
                    .collect()
            })
            .collect()
    }

    /// 32 lanes' votes a word, by reading every lane's.
    fn plain_ballot(&mut self, votes: &[Ex]) -> Vec<Ex> {
        let bits: Vec<Ex> = votes.iter().map(|v| int::from_bool(&mut self.f, *v)).collect();
        let array = self.publish(&bits);
        let mut words = vec![None; (self.shape.lanes / 32) as usize];
        for lane in 0..self.shape.lanes {
            let at = self.f.u32(lane);
            let place = self.lane_place(at);
            let bit = self.f.element(array, place);
            self.place_votes(&mut words, bit, lane);
        }
        words.into_iter().flatten().collect()
    }

    /// Each lane gets what the highest lane that sends to it sends.
    fn send(&mut self, result: Value, [value, lane, active]: [Value; 3]) {
        let (words, lanes, actives) = (self.each(value), self.each(lane), self.each(active));
        let winners = self.winners();
        let zero = self.f.u32(0);
        for k in 0..self.shape.components {
            let place = self.lane_place(self.at.lane[k]);
            self.f.set_element(winners, place, zero);
        }
        let array = self.publish(&words);
        for k in 0..self.shape.components {
            self.f.open();
            let to = self.f.and_u32(lanes[k], self.shape.lanes - 1);
            let place = self.lane_place(to);
            let mine = self.f.add_u32(self.at.lane[k], 1);
            self.f.atomic_only(winners, place, A::Max, mine);
            let accept = self.f.close();
            self.f.if_else(actives[k], accept, Block::new());
        }
        self.meet(false);
        // That meeting was before the words are read.
        let read: Vec<Ex> = (0..self.shape.components)
            .map(|k| {
                let place = self.lane_place(self.at.lane[k]);
                let winner = self.f.element(winners, place);
                let one = self.f.u32(1);
                let from = self.f.sub(winner, one);
                let word = self.read_lane(array, from);
                let none = self.f.is_u32(winner, 0);
                self.f.select(none, zero, word)
            })
            .collect();
        self.exchange.busy = Busy::ALL;
        self.set_each(result, &read);
    }
}
