//! Which vertices transform feedback captures, after the OpenGL specification (4.6, compatibility profile): its section
//! on primitive types for the vertices of each primitive in winding order, its table of provoking vertices for where
//! they begin. Vertices are counted from 1, as there. Nothing here is taken from what is tested. The specification
//! leaves one thing open, which half of a quadrilateral comes first; it is said where it is decided.

/// A value of VGT_PRIMITIVE_TYPE and the mode it stands for.
pub(crate) const MODES: [(u32, Mode); 14] = [
    (0x01, Mode::Points),
    (0x02, Mode::Lines),
    (0x03, Mode::LineStrip),
    (0x12, Mode::LineLoop),
    (0x04, Mode::Triangles),
    (0x06, Mode::TriangleStrip),
    (0x05, Mode::TriangleFan),
    (0x13, Mode::Quads),
    (0x14, Mode::QuadStrip),
    (0x15, Mode::Polygon),
    (0x0a, Mode::LinesAdjacency),
    (0x0b, Mode::LineStripAdjacency),
    (0x0c, Mode::TrianglesAdjacency),
    (0x0d, Mode::TriangleStripAdjacency),
];

/// The mode of a draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    Points,
    Lines,
    LineStrip,
    LineLoop,
    Triangles,
    TriangleStrip,
    TriangleFan,
    Quads,
    QuadStrip,
    Polygon,
    LinesAdjacency,
    LineStripAdjacency,
    TrianglesAdjacency,
    TriangleStripAdjacency,
}

/// A primitive of the specification: its vertices in order around it, and the provoking ones of both conventions.
struct Primitive {
    around: Vec<usize>,
    first: usize,
    last: usize,
}

fn primitive(around: &[usize], first: usize, last: usize) -> Primitive {
    Primitive { around: around.to_vec(), first, last }
}

/// Primitive `i`, from 1, of a draw of `n` vertices, if it is complete.
fn nth(mode: Mode, i: usize, n: usize) -> Option<Primitive> {
    let needs = |last: usize, p: Primitive| (last <= n).then_some(p);
    match mode {
        Mode::Points => needs(i, primitive(&[i], i, i)),
        Mode::Lines => needs(2 * i, primitive(&[2 * i - 1, 2 * i], 2 * i - 1, 2 * i)),
        Mode::LineStrip => needs(i + 1, primitive(&[i, i + 1], i, i + 1)),
        Mode::LineLoop if n < 2 || i > n => None,
        Mode::LineLoop if i == n => Some(primitive(&[n, 1], n, 1)),
        Mode::LineLoop => Some(primitive(&[i, i + 1], i, i + 1)),
        Mode::Triangles => needs(3 * i, primitive(&[3 * i - 2, 3 * i - 1, 3 * i], 3 * i - 2, 3 * i)),
        // The first two vertices of every second triangle change places.
        Mode::TriangleStrip if i % 2 == 1 => needs(i + 2, primitive(&[i, i + 1, i + 2], i, i + 2)),
        Mode::TriangleStrip => needs(i + 2, primitive(&[i + 1, i, i + 2], i, i + 2)),
        Mode::TriangleFan => needs(i + 2, primitive(&[1, i + 1, i + 2], i + 1, i + 2)),
        // Where quads follow the convention, as the driver says they do.
        Mode::Quads => {
            let around = [4 * i - 3, 4 * i - 2, 4 * i - 1, 4 * i];
            needs(4 * i, primitive(&around, 4 * i - 3, 4 * i))
        }
        Mode::QuadStrip => {
            let around = [2 * i - 1, 2 * i, 2 * i + 2, 2 * i + 1];
            needs(2 * i + 2, primitive(&around, 2 * i - 1, 2 * i + 2))
        }
        Mode::Polygon => needs(i + 2, primitive(&[1, i + 1, i + 2], 1, 1)),
        Mode::LinesAdjacency => needs(4 * i, primitive(&[4 * i - 2, 4 * i - 1], 4 * i - 2, 4 * i - 1)),
        Mode::LineStripAdjacency => needs(i + 3, primitive(&[i + 1, i + 2], i + 1, i + 2)),
        Mode::TrianglesAdjacency => {
            needs(6 * i, primitive(&[6 * i - 5, 6 * i - 3, 6 * i - 1], 6 * i - 5, 6 * i - 1))
        }
        // Table 10.1. The last triangle needs its own neighbour.
        Mode::TriangleStripAdjacency => {
            let (a, b, c) = (2 * i - 1, 2 * i + 1, 2 * i + 3);
            let around = if i % 2 == 1 { [a, b, c] } else { [b, a, c] };
            needs(2 * i + 4, primitive(&around, a, c))
        }
    }
}

/// The captured primitives of one run of `n` vertices.
pub(crate) fn captured(mode: Mode, n: usize, provoking_last: bool) -> Vec<Vec<usize>> {
    (1..).map_while(|i| nth(mode, i, n)).flat_map(|p| turned(mode, p, provoking_last)).collect()
}

/// Points and lines as they are; triangles turned so that the provoking vertex stands where the convention says; quads
/// as two triangles that both have it.
fn turned(mode: Mode, p: Primitive, provoking_last: bool) -> Vec<Vec<usize>> {
    if p.around.len() < 3 {
        return vec![p.around];
    }
    let provoking = if provoking_last { p.last } else { p.first };
    let at = p.around.iter().position(|v| *v == provoking).unwrap();
    let around: Vec<_> = p.around.iter().cycle().skip(at).take(p.around.len()).copied().collect();
    let mut triangles: Vec<_> = around[1..].windows(2).map(|ab| [around[0], ab[0], ab[1]]).collect();
    // The specification does not say which half of a quadrilateral comes first. On implementations it is the one next
    // in order around it from the provoking vertex, but for a strip by the first vertex.
    if mode == Mode::QuadStrip && !provoking_last {
        triangles.reverse();
    }
    if provoking_last {
        triangles.iter_mut().for_each(|triangle| triangle.rotate_left(1));
    }
    triangles.into_iter().map(Vec::from).collect()
}
