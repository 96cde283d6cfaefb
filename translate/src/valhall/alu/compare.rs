//! Comparisons and selections by them.

use guestwave_isa::mali::valhall::{Op, field};

use super::Lane;
use super::Meaning::{self, Each};
use crate::program::{BinOp, UnOp, Value};

/// By condition code: whether less, equal and greater fulfil it, and whether the answer is turned (so that unordered
/// numbers fulfil it).
const CONDITIONS: [([bool; 3], bool); 8] = [
    ([false, true, false], false),
    ([false, false, true], false),
    ([false, true, true], false),
    ([false, true, false], true),
    ([true, false, false], false),
    ([true, true, false], false),
    ([true, false, true], false),
    ([true, true, true], false),
];

impl Lane<'_> {
    fn holds(&mut self) -> Value {
        let (accepted, turned) = CONDITIONS[(field::CONDITION.of(self.inst.word) & 7) as usize];
        let from = self.inst.row.from;
        let [a, b] = [0, 1].map(|i: usize| if from.float() { self.single(i) } else { self.s[i] });
        let (less, equal) = match (from.float(), from.signed()) {
            (true, _) => (BinOp::LtF32, BinOp::EqF32),
            (_, true) => (BinOp::LtS, BinOp::Eq),
            _ => (BinOp::LtU, BinOp::Eq),
        };
        let outcomes = [(less, a, b), (equal, a, b), (less, b, a)];
        let mut truth = self.b.cbool(false);
        for ((op, x, y), _) in outcomes.into_iter().zip(accepted).filter(|row| row.1) {
            let met = self.bin(op, x, y);
            truth = self.bin(BinOp::Or, truth, met);
        }
        if turned { self.un(UnOp::Not, truth) } else { truth }
    }

    /// A truth as the instruction writes it.
    fn truth(&mut self, holds: Value) -> Value {
        let yes = match (field::RESULT.of(self.inst.word), self.bits()) {
            (0, _) => 1,
            (1, 32) => 0x3f80_0000,
            (1, _) => 0x3c00,
            _ => u32::MAX,
        };
        let (yes, no) = (self.b.c32(yes), self.b.c32(0));
        self.select(holds, yes, no)
    }

    /// The condition and the third source's truth together.
    fn joined(&mut self, op: BinOp) -> Value {
        let holds = self.holds();
        let third = self.with(BinOp::Ne, self.s[2], 0);
        let both = self.bin(op, holds, third);
        self.truth(both)
    }

    fn selected(&mut self) -> Value {
        let holds = self.holds();
        self.select(holds, self.s[2], self.s[3])
    }
}

/// Rows of this subject.
pub(super) const ROWS: &[(Op, Meaning)] = &[
    (Op::Csel, Each(|l| l.selected())),
    (Op::IcmpOr, Each(|l| l.joined(BinOp::Or))),
    (Op::IcmpAnd, Each(|l| l.joined(BinOp::And))),
    (Op::FcmpOr, Each(|l| l.joined(BinOp::Or))),
    (Op::FcmpAnd, Each(|l| l.joined(BinOp::And))),
];
