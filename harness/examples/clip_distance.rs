//! `gl_ClipDistance` read back through transform feedback: every count from 1 to 8, points and a triangle strip, both provoking
//! modes. The idea is that of the clip_distance cases of OpenGL's conformance suite; what must come out follows from the
//! specification alone.

mod support;

use support::{Gl, POINTS, Result, TRIANGLE_STRIP};

/// Provoking vertex first and last.
const PROVOKING: [u32; 2] = [0x8e4d, 0x8e4e];

const VERTICES: usize = 5;

fn shader(count: usize) -> String {
    format!(
        "#version 330
out float gl_ClipDistance[{count}];
out float number;
void main() {{
    float i = float(gl_VertexID);
    for (int k = 0; k < {count}; k++)
        gl_ClipDistance[k] = 100.0 * i + float(k) + 0.25;
    number = -i;
    gl_Position = vec4(i, 0.0, 0.0, 1.0);
}}"
    )
}

/// The vertices of a strip's triangles, in the order in which they are captured: a triangle with an odd number has two of its
/// vertices exchanged, so that it faces as the others do, and the provoking one stays where it is.
fn strip(first_provokes: bool) -> Vec<usize> {
    let triangle = |i: usize| match (i % 2, first_provokes) {
        (0, _) => [i, i + 1, i + 2],
        (_, true) => [i, i + 2, i + 1],
        (_, false) => [i + 1, i, i + 2],
    };
    (0..VERTICES - 2).flat_map(triangle).collect()
}

fn expected(count: usize, vertices: &[usize]) -> Vec<f32> {
    let vertex = |i: &usize| {
        let i = *i as f32;
        let distances = (0..count).map(move |k| 100.0 * i + k as f32 + 0.25);
        distances.chain([-i]).collect::<Vec<_>>()
    };
    vertices.iter().flat_map(vertex).collect()
}

fn captured(gl: &Gl, program: u32, primitives: u32, floats: usize) -> Vec<f32> {
    let buffer = gl.buffer(4 * floats);
    gl.capture(program, buffer, primitives, VERTICES as i32);
    let words = gl.words(buffer, floats);
    gl.functions.delete_buffers(1, &raw const buffer);
    words.into_iter().map(f32::from_bits).collect()
}

fn main() -> Result<()> {
    let gl = Gl::new()?;
    println!("{}", gl.renderer());
    let mut wrong = 0;
    for count in 1..=8 {
        let program = gl.program(&shader(count), &[c"gl_ClipDistance", c"number"])?;
        for provoking in PROVOKING {
            gl.functions.provoking_vertex(provoking);
            let orders =
                [(POINTS, (0..VERTICES).collect()), (TRIANGLE_STRIP, strip(provoking == PROVOKING[0]))];
            for (primitives, order) in orders {
                let expected = expected(count, &order);
                let found = captured(&gl, program, primitives, expected.len());
                if found != expected {
                    println!(
                        "{count} distances, provoking {provoking:#x}, primitives {primitives}: {found:?}, expected {expected:?}"
                    );
                    wrong += 1;
                }
            }
        }
        gl.functions.delete_program(program);
    }
    gl.check()?;
    if wrong > 0 {
        return Err(format!("{wrong} cases are wrong").into());
    }
    println!("every count from 1 to 8, both provoking modes: right");
    Ok(())
}
