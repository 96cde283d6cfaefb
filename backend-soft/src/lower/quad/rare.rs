//! Rare arms of selects in four lanes.

use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Ir};
use guestwave_translate::program::{Type, Value};

use super::super::Lowering;
use super::Quad;

impl Lowering<'_, '_> {
    /// Whether a float, f32 or f64 by its type, is a NaN.
    pub(super) fn quad_is_nan(&mut self, x: Value) -> Quad {
        let quad = self.quad(x);
        match (quad, self.ty(x)) {
            (Quad::One(v), _) => {
                let v = self.as_float(v);
                Quad::One(self.unordered(v))
            }
            (quad, Type::B64) => {
                let masks = self.wide_floats(quad).map(|v| self.unordered(v));
                Quad::Four(self.dwords_of(masks, false))
            }
            (quad, _) => {
                let v = self.four_floats(quad);
                Quad::Four(self.unordered(v))
            }
        }
    }

    /// `cond ? arm : other` where the arm is cold: computed if any lane wants it.
    pub(super) fn rare_quad_select(&mut self, cond: Value, arm: Value, other: Value) -> Quad {
        let ty = self.ty(other);
        let (cond, other) = (self.quad(cond), self.quad(other));
        let (mask, parts) = (self.four(cond), self.parts(ty, other));
        let [rare, join] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(rare);
        let results: Vec<Ir> = parts
            .iter()
            .map(|v| {
                let ty = self.b.func.dfg.value_type(*v);
                self.b.append_block_param(join, ty)
            })
            .collect();
        let any = self.b.ins().vany_true(mask);
        let unchanged: Vec<BlockArg> = parts.iter().map(|v| BlockArg::Value(*v)).collect();
        self.b.ins().brif(any, rare, &[], join, &unchanged);
        self.to(rare);
        let needs = self.cold_needs(arm);
        for (value, expr) in &needs {
            let quad = self.quad_expr(*value, expr);
            self.quads[value.0 as usize] = Some(quad);
            if let Quad::One(v) = quad {
                self.cells[value.0 as usize] = Some(v);
            }
        }
        let arm = self.quad(arm);
        let merged = self.merged(mask, arm, other, ty);
        let merged: Vec<BlockArg> = self.parts(ty, merged).into_iter().map(BlockArg::Value).collect();
        self.b.ins().jump(join, &merged);
        for (value, _) in &needs {
            self.quads[value.0 as usize] = None;
            self.cells[value.0 as usize] = None;
        }
        self.to(join);
        match results[..] {
            [low, high] => Quad::Wide([low, high]),
            _ => Quad::Four(results[0]),
        }
    }

    /// The vectors of a value, as integers.
    fn parts(&mut self, ty: Type, quad: Quad) -> Vec<Ir> {
        match ty {
            Type::B64 => self.wide(quad).into(),
            _ => vec![self.four(quad)],
        }
    }
}
