//! Wave operations in a loop of four lanes a step.

use cranelift_codegen::ir::{InstBuilder, types};
use guestwave_translate::program::{Type, Value, WaveOp};

use super::super::Lowering;
use super::Quad;
use crate::plan::Home;

impl Lowering<'_, '_> {
    /// These lanes' part of an operation that gathers. All lanes are here: wave operations stand in uniform control flow.
    pub(super) fn gather_quad(&mut self, value: Value, op: WaveOp) {
        match op {
            WaveOp::Ballot(v) => {
                let v = self.quad(v);
                let mask = self.four(v);
                let bits = self.b.ins().vhigh_bits(types::I32, mask);
                let (bits, index) = (self.b.ins().uextend(types::I64, bits), self.lane_index());
                let bits = self.b.ins().ishl(bits, index);
                self.add_up(value, bits);
            }
            WaveOp::Any(v) => {
                let v = self.quad(v);
                let mask = self.four(v);
                let any = self.b.ins().vany_true(mask);
                self.add_up(value, any);
            }
            WaveOp::Send { value: sent, lane, active } => {
                let [sent, lane, active] = [sent, lane, active].map(|v| self.quad(v));
                for i in 0..4 {
                    let parts = [
                        self.lane_of(sent, Type::B32, i),
                        self.lane_of(lane, Type::B32, i),
                        self.lane_of(active, Type::Bool, i),
                    ];
                    self.send(value, parts);
                }
            }
            WaveOp::ReadLane { .. } | WaveOp::Shuffle { .. } => {}
        }
    }

    pub(super) fn shuffle_quad(&mut self, value: Value, lane: Value) -> Quad {
        match (self.plan.homes[value.0 as usize], self.quad(lane)) {
            (Home::Lane, lane) => {
                let lanes = [0, 1, 2, 3].map(|i| {
                    let from = self.lane_of(lane, Type::B32, i);
                    self.of_lane(value, from)
                });
                self.of_lanes(Type::B32, lanes)
            }
            (Home::Index, lane) => {
                let (from, last) = (self.four(lane), u32::from(self.plan.program.wave_lanes) - 1);
                let last = self.splat32(last);
                Quad::Four(self.b.ins().band(from, last))
            }
            (Home::Wave | Home::Constant, _) => Quad::One(self.cell(value)),
        }
    }
}
