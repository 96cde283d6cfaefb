//! A small OpenGL program with transform feedback. It knows nothing of the virtual GPU: on a machine with a GPU it runs on that.
//!
//!     cargo run --release -- run -- cargo run -q --release --example xfb

mod support;

use support::{Gl, POINTS, Result};

const VERTEX_SHADER: &str = "#version 330
out vec4 place;
out int square;
void main() {
    float i = float(gl_VertexID);
    place = vec4(i, 0.5 * i, -i, 1.0);
    square = gl_VertexID * gl_VertexID;
    gl_Position = place;
}";

const VERTICES: usize = 4;

fn main() -> Result<()> {
    let gl = Gl::new()?;
    println!("{}", gl.renderer());
    let program = gl.program(VERTEX_SHADER, &[c"place", c"square"])?;
    let buffer = gl.buffer(VERTICES * 20);
    gl.capture(program, buffer, POINTS, VERTICES as i32);
    let words = gl.words(buffer, VERTICES * 5);
    gl.check()?;
    for (i, vertex) in words.chunks(5).enumerate() {
        let [x, y, z, w] = [0, 1, 2, 3].map(|c| f32::from_bits(vertex[c]));
        println!("vertex {i}: place ({x}, {y}, {z}, {w}) square {}", vertex[4]);
    }
    Ok(())
}
