//! Forms of instructions that public documents do not give a meaning to, refused alike by whatever runs them.

use super::{Field, Inst, Op, field};

/// One form: an operation, a modifier, the codes of it without a meaning, and what they are.
type Form = (Op, Field, fn(&Inst, u32) -> bool, &'static str);

const ROUNDED: &str = "a rounding mode other than to nearest";
const RESULT: &str = "a result of this type";

fn not_zero(_: &Inst, code: u32) -> bool {
    code != 0
}

/// Conversions of integers to floats; those of floats round in every mode.
fn of_integers(inst: &Inst, code: u32) -> bool {
    code != 0 && !inst.row.from.float()
}

/// `u1` is a step of a 64-bit comparison; bytes have no float 1.
fn truth(inst: &Inst, code: u32) -> bool {
    code == 3 || code == 1 && inst.row.ty.bits() == 8
}

const FORMS: &[Form] = &[
    (Op::Fadd, field::ROUND, not_zero, ROUNDED),
    (Op::Convert, field::ROUND, of_integers, ROUNDED),
    (Op::IcmpOr, field::RESULT, truth, RESULT),
    (Op::IcmpAnd, field::RESULT, truth, RESULT),
    (Op::FcmpOr, field::RESULT, truth, RESULT),
    (Op::FcmpAnd, field::RESULT, truth, RESULT),
    (Op::LoadVarSpecial, field::UPDATE, |_, code| code == 1, "a retrieved interpolation position"),
];

impl Inst {
    /// What of this instruction has no public meaning although the instruction has one; `None` if all has.
    pub fn unknown_form(&self) -> Option<&'static str> {
        let met = |form: &&Form| form.0 == self.row.op && form.2(self, self.code(&form.1));
        FORMS.iter().find(met).map(|form| form.3)
    }
}
