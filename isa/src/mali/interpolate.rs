//! Smooth varyings: how the values of three vertices become that of a fragment.
//!
//! # Policy *exact barycentrics*
//!
//! The precision of the hardware's interpolator is not public. What is: each vertex's value is converted to the register's
//! format before it is interpolated, vertices hold 1/w, and the value is perspective-correct at the chosen position. Under
//! this policy the weights and the sums are computed without rounding error that could be seen (in f64), and the result is
//! rounded once. Hardware may differ from it by [`TOLERANCE_F32`] or [`TOLERANCE_F16`] of the largest vertex value; at a
//! vertex, and where the three values are equal, the result is the vertex's value bit for bit.

use crate::format::{round_f16, single_of_half};

/// How far an f32 result may lie from this policy's, as a part of the largest magnitude among the vertices.
pub const TOLERANCE_F32: f64 = 1.0 / (1 << 20) as f64;
/// How far an f16 result may lie from this policy's, likewise.
pub const TOLERANCE_F16: f64 = 1.0 / (1 << 9) as f64;

/// Where in a pixel a varying is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// The center.
    Center,
    /// The first covered sample, or the center if all are covered.
    Centroid,
    /// The sample of this number.
    Sample(u8),
    /// Signed 8.8 fixed point from the pixel's top left: 128, 128 is the center.
    Explicit(i16, i16),
}

/// Positions of the samples of a pixel in 8.8 fixed point, as the standard pattern of four has them.
const SAMPLES: [(i16, i16); 4] = [(96, 32), (224, 96), (32, 160), (160, 224)];

impl Position {
    /// The place from the pixel's top left in 8.8 fixed point; `coverage` has a bit for each of four samples.
    pub fn offset(self, coverage: u8) -> (i16, i16) {
        const CENTER: (i16, i16) = (128, 128);
        match self {
            Position::Center => CENTER,
            Position::Centroid if coverage & 15 == 15 || coverage & 15 == 0 => CENTER,
            Position::Centroid => SAMPLES[coverage.trailing_zeros() as usize & 3],
            Position::Sample(number) => SAMPLES[usize::from(number & 3)],
            Position::Explicit(x, y) => (x, y),
        }
    }
}

/// A triangle in window coordinates, with 1/w at each vertex as position stores hold it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// x and y of each vertex, in pixels.
    pub vertices: [(f32, f32); 3],
    /// 1/w of each vertex.
    pub inverse_w: [f32; 3],
}

impl Triangle {
    /// The weights of the vertices at a point of the window (linear in the window); `None` if the triangle has no area.
    pub fn weights(&self, x: f64, y: f64) -> Option<[f64; 3]> {
        let at = |i: usize| (f64::from(self.vertices[i].0), f64::from(self.vertices[i].1));
        let ((ax, ay), (bx, by), (cx, cy)) = (at(0), at(1), at(2));
        let area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
        if area == 0.0 || !area.is_finite() {
            return None;
        }
        let b = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area;
        let c = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area;
        Some([1.0 - b - c, b, c])
    }

    /// The weights at a position of a pixel.
    pub fn weights_in_pixel(&self, pixel: (u32, u32), position: Position, coverage: u8) -> Option<[f64; 3]> {
        let (x, y) = position.offset(coverage);
        let at = |pixel: u32, offset: i16| f64::from(pixel) + f64::from(offset) / 256.0;
        self.weights(at(pixel.0, x), at(pixel.1, y))
    }

    /// 1/w of a fragment: what FRAG_W reads.
    pub fn fragment_inverse_w(&self, weights: [f64; 3]) -> f64 {
        weights.iter().zip(self.inverse_w).map(|(w, iw)| w * f64::from(iw)).sum()
    }

    /// An f32 varying at these weights.
    pub fn smooth_f32(&self, weights: [f64; 3], values: [u32; 3]) -> u32 {
        if values[0] == values[1] && values[1] == values[2] {
            return values[0];
        }
        if let Some(vertex) = weights.iter().position(|w| *w == 1.0) {
            return values[vertex];
        }
        (self.smooth(weights, values.map(|v| f64::from(f32::from_bits(v)))) as f32).to_bits()
    }

    /// An f16 varying at these weights; the low half of each value counts.
    pub fn smooth_f16(&self, weights: [f64; 3], values: [u16; 3]) -> u16 {
        if values[0] == values[1] && values[1] == values[2] {
            return values[0];
        }
        if let Some(vertex) = weights.iter().position(|w| *w == 1.0) {
            return values[vertex];
        }
        round_f16(self.smooth(weights, values.map(|h| f64::from(f32::from_bits(single_of_half(h))))))
    }

    fn smooth(&self, weights: [f64; 3], values: [f64; 3]) -> f64 {
        let inverse_w = self.inverse_w.map(f64::from);
        let sum: f64 = (0..3).map(|i| weights[i] * inverse_w[i] * values[i]).sum();
        sum / self.fragment_inverse_w(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: Triangle =
        Triangle { vertices: [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)], inverse_w: [1.0, 0.5, 0.25] };

    #[test]
    fn vertices_and_equal_values_are_exact() {
        let nan = 0x7fa1_2345;
        let weights = RIGHT.weights(16.0, 0.0).unwrap();
        assert_eq!(RIGHT.smooth_f32(weights, [1, nan, 3]), nan);
        assert_eq!(RIGHT.smooth_f32([0.2, 0.3, 0.5], [nan; 3]), nan);
        assert_eq!(RIGHT.smooth_f16([0.0, 0.0, 1.0], [1, 2, 0x7e01]), 0x7e01);
    }

    #[test]
    fn perspective_bends_towards_the_near_vertex() {
        // Halfway in the window between 1/w = 1 and 1/w = 0.5: a third of the way in space.
        let weights = RIGHT.weights(8.0, 0.0).unwrap();
        let value = f32::from_bits(RIGHT.smooth_f32(weights, [0.0f32, 3.0, 0.0].map(f32::to_bits)));
        assert!((value - 1.0).abs() < 1e-6, "{value}");
        assert!((RIGHT.fragment_inverse_w(weights) - 0.75).abs() < 1e-12);
    }

    #[test]
    fn positions_lie_in_the_pixel() {
        assert_eq!(Position::Center.offset(15), (128, 128));
        assert_eq!(Position::Centroid.offset(15), (128, 128));
        assert_eq!(Position::Centroid.offset(0b0100), SAMPLES[2]);
        assert_eq!(Position::Sample(1).offset(15), SAMPLES[1]);
        let weights = RIGHT.weights_in_pixel((3, 4), Position::Explicit(128, 128), 15).unwrap();
        assert_eq!(Some(weights), RIGHT.weights(3.5, 4.5));
        let flat = Triangle { vertices: [(1.0, 1.0); 3], ..RIGHT };
        assert_eq!(flat.weights(0.0, 0.0), None);
    }
}
