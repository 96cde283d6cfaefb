//! What the form of an address lets expect of the lanes: how many bytes lie from one to the next. It is a guess, which the
//! access holds against the addresses; where it fails, the lanes go the way of lanes that lie anywhere.

use guestwave_translate::program::{BinOp, Builtin, Expr, Rate, Space, TriOp, UnOp, Value, Width};

use super::{Lowering, SiteInfo};

/// Bytes from lane to lane that are looked for.
const STEPS: std::ops::RangeInclusive<i64> = 4..=1 << 12;

/// Values that are looked at.
const LOOKS: u32 = 200;

impl Lowering<'_, '_> {
    /// Bytes from one lane of an access to the next, if lanes lie in a row.
    pub(super) fn lane_step(&self, info: &SiteInfo) -> u32 {
        match self.expected_step(info) {
            Some(n) if STEPS.contains(&n) && n % 4 == 0 => n as u32,
            _ => info.bytes(),
        }
    }

    /// Bytes from one lane of an access to the next, as far as the form of the address tells.
    pub(super) fn expected_step(&self, info: &SiteInfo) -> Option<i64> {
        let plain = info.access.space == Space::Global && info.access.width == Width::W32;
        plain.then(|| self.per_lane(info.access.address, &mut { LOOKS })).flatten()
    }

    /// By how much a value, taken as an integer, grows from lane to lane.
    fn per_lane(&self, value: Value, looks: &mut u32) -> Option<i64> {
        if self.plan.program.info(value).rate == Rate::Uniform {
            return Some(0);
        }
        *looks = looks.checked_sub(1)?;
        match self.definition(value)? {
            Expr::Builtin(Builtin::Lane) => Some(1),
            Expr::Un(UnOp::Extend | UnOp::ExtendS | UnOp::Low, a) | Expr::Bin(BinOp::Pack, a, _) => {
                self.per_lane(a, looks)
            }
            Expr::Bin(BinOp::Add, a, b) => self.per_lane(a, looks)?.checked_add(self.per_lane(b, looks)?),
            Expr::Bin(BinOp::Sub, a, b) => self.per_lane(a, looks)?.checked_sub(self.per_lane(b, looks)?),
            Expr::Bin(op @ (BinOp::Mul | BinOp::Shl), a, b) => {
                let (of, by) = self.constant(b).map(|by| (a, by)).or_else(|| Some((b, self.constant(a)?)))?;
                let by = if op == BinOp::Shl { 1 << (by & 31) } else { i64::try_from(by).ok()? };
                self.per_lane(of, looks)?.checked_mul(by)
            }
            // Lanes of a wave mostly have the upper bits in common, and the lower ones in order.
            Expr::Bin(BinOp::ShrU, a, b) => Some(self.per_lane(a, looks)? >> (self.constant(b)? & 31)),
            Expr::Bin(BinOp::And, a, b) => {
                let of = if self.constant(b).is_some() { a } else { b };
                self.per_lane(of, looks)
            }
            Expr::Bin(BinOp::MinU | BinOp::MaxU | BinOp::MinS | BinOp::MaxS, a, b) => {
                match (self.per_lane(a, looks)?, self.per_lane(b, looks)?) {
                    (n, 0) | (0, n) => Some(n),
                    _ => None,
                }
            }
            Expr::Tri(TriOp::Select, _, a, b) => {
                self.per_lane(a, looks).filter(|n| *n != 0).or_else(|| self.per_lane(b, looks))
            }
            _ => None,
        }
    }
}
