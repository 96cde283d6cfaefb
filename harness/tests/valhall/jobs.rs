//! The captured jobs of a Mali-G57, from their descriptors to the bytes that OpenGL demands.

use guestwave_cp::mali::job::{Packets, Ran, Role, corners, run_chain, run_launch};
use guestwave_cp::{Executor, GuestMemory, Origin, read_u32};
use guestwave_harness::mali::{map_zeros, read_dump};
use guestwave_harness::memory::CaptureMemory;
use guestwave_translate::backend::Holding;

use super::support::{device, plain, reference, soft};

/// Guest addresses of the captures: the feedback buffer, the tiler heap; and where colours go here.
const FEEDBACK: u64 = 0xf7fe_8000;
const HEAP: u64 = 0xf800_0000;
const COLOURS: u64 = 0xf900_0000;

/// Name, dump and first job of each capture.
const CAPTURES: [(&str, &str, u64); 6] = [
    ("xfb", include_str!("../../../isa/tests/data/mali/g57-xfb.hex"), 0xf7fe_9480),
    ("draw", include_str!("../../../isa/tests/data/mali/g57-draw.hex"), 0xf7fe_9180),
    ("inst", include_str!("../../../isa/tests/data/mali/g57-inst.hex"), 0xf7fe_9180),
    ("flat", include_str!("../../../isa/tests/data/mali/g57-flat.hex"), 0xf7fe_9180),
    ("interp", include_str!("../../../isa/tests/data/mali/g57-interp.hex"), 0xf7fe_9180),
    ("many", include_str!("../../../isa/tests/data/mali/g57-many.hex"), 0xf7fe_9180),
];

const EXECUTORS: [fn() -> Box<dyn Executor>; 3] = [reference, plain, soft];

/// A capture after its jobs and its fragment programs at the vertices.
struct Outcome {
    memory: CaptureMemory,
    ran: Vec<Ran>,
}

fn run(name: &str, executor: fn() -> Box<dyn Executor>) -> Outcome {
    let (_, dump, job) = CAPTURES.into_iter().find(|c| c.0 == name).unwrap();
    let memory = read_dump(dump).unwrap();
    for (at, bytes) in [(FEEDBACK, 4096), (HEAP, 0x10000), (COLOURS, 0x2000)] {
        map_zeros(&memory, at, bytes).unwrap();
    }
    let mut executor = executor();
    let mut ran = Vec::new();
    run_chain(&memory, &mut *executor, job, &mut ran).unwrap();
    let draw = ran.iter_mut().find(|r| r.job.packets.is_some()).unwrap();
    let packets = draw.job.packets.unwrap();
    let launch = corners(&memory, draw.job.address, &packets, COLOURS, Origin::default()).unwrap();
    run_launch(&memory, &mut *executor, &launch, 99, &mut draw.completed).unwrap();
    Outcome { memory, ran }
}

impl Outcome {
    fn floats<const N: usize>(&self, at: u64) -> [f32; N] {
        std::array::from_fn(|i| f32::from_bits(self.word(at + 4 * i as u64)))
    }

    fn word(&self, at: u64) -> u32 {
        read_u32(&self.memory, at).unwrap()
    }

    fn packets(&self) -> Packets {
        self.ran.iter().find_map(|r| r.job.packets).unwrap()
    }

    fn colour(&self, vertex: u32) -> [f32; 4] {
        self.floats(COLOURS + 128 * u64::from(vertex))
    }

    /// Everything that programs can have stored.
    fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for (at, bytes) in [(FEEDBACK, 4096), (HEAP, 0x10000), (COLOURS, 0x2000)] {
            let mut part = vec![0; bytes];
            self.memory.read(at, &mut part).unwrap();
            all.extend(part);
        }
        all
    }
}

/// The first vertex buffer: position, colour and number of vertex `i`.
fn vertex(i: u32) -> ([f32; 4], [f32; 4], i32) {
    let position = [(i % 3) as f32 * 0.5 - 0.5, (i / 3) as f32 * 0.5, 0.0, 1.0];
    let colour = [i * 40, 255 - i * 40, 7, 255].map(|c| c as f32 / 255.0);
    (position, colour, i as i32 - 3)
}

/// `gl_Position` in the 32 by 32 viewport, as vertex programs store it: window coordinates and 1/w.
fn window([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    let r = 1.0 / w;
    [(x * r).mul_add(16.0, 16.0), (y * r).mul_add(16.0, 16.0), (z * r).mul_add(0.5, 0.5), r]
}

#[test]
fn transform_feedback_gives_the_words_that_opengl_demands() {
    for executor in EXECUTORS {
        let outcome = run("xfb", executor);
        for i in 0..6 {
            let (_, colour, number) = vertex(i);
            let at = FEEDBACK + 20 * u64::from(i);
            assert_eq!(outcome.word(at) as i32, number);
            assert_eq!(outcome.floats::<4>(at + 4), colour);
        }
        let stored = &outcome.ran[0].completed[0].stored;
        assert_eq!(stored.len(), 1, "the words of six vertices lie together");
        assert_eq!(stored[0], FEEDBACK..FEEDBACK + 120);
    }
}

/// Draws of the first program store its outputs and read them back. `element` gives the vertex-buffer rows of a vertex's colour and
/// number, `places` the bytes of a packet at which smooth, medium and flat varyings lie.
fn assert_draw(name: &str, vertices: u32, places: [u64; 3], element: fn(u32) -> (u32, u32)) {
    for executor in EXECUTORS {
        let outcome = run(name, executor);
        let packets = outcome.packets();
        assert_eq!(packets.vertices, vertices);
        for v in 0..vertices {
            let (colour_row, number_row) = element(v);
            let (position, colour, number) = (vertex(v % 6).0, vertex(colour_row).1, vertex(number_row).2);
            assert_eq!(outcome.floats::<4>(packets.position(v)), window(position));
            // gl_PointSize is 4 as f16.
            let size = packets.point_size(v).map(|at| outcome.word(at) & 0xffff);
            assert_eq!(size, Some(0x4400));
            let [smooth, medium, flat] = places.map(|p| packets.varying(v) + p);
            assert_eq!(outcome.floats::<4>(smooth), colour);
            assert_eq!(outcome.floats::<2>(medium), [colour[0], colour[1]]);
            assert_eq!(outcome.word(flat) as i32, number);
            let id = number as f32;
            // The medium varying passes through f16 registers.
            let half = |x: f32| half_rounded(x);
            let rest = [half(colour[0]), half(colour[1]), 0.0, window(position)[2]];
            let expected: [f32; 4] = std::array::from_fn(|i| colour[i].mul_add(id, rest[i]));
            assert_eq!(outcome.colour(v), expected, "{name}: vertex {v}");
        }
    }
}

/// A number in 0 to 1 rounded to 11 significant bits, ties to even.
fn half_rounded(x: f32) -> f32 {
    let bits = x.to_bits();
    let down = bits & !0x1fff;
    let (rest, odd) = (bits & 0x1fff, bits >> 13 & 1);
    f32::from_bits(if rest > 0x1000 || rest == 0x1000 && odd == 1 { down + 0x2000 } else { down })
}

#[test]
fn a_draw_stores_its_varyings_and_its_fragments_read_them() {
    assert_draw("xfb", 6, [16, 32, 0], |v| (v, v));
    assert_draw("draw", 6, [0, 16, 32], |v| (v, v));
}

#[test]
fn instances_take_attributes_by_their_divisors() {
    // Four instances of six vertices; numbers advance every instance, colours every third.
    assert_draw("inst", 24, [0, 16, 32], |v| (v / 6 / 3, v / 6));
}

/// Row `i` of the second vertex buffer: twelve floats of which the last four are taken as integers.
fn row(i: u32) -> [f32; 12] {
    std::array::from_fn(|k| (12 * i as usize + k) as f32 * 0.25)
}

#[test]
fn many_varyings_go_from_vertex_to_fragment() {
    for executor in EXECUTORS {
        let outcome = run("many", executor);
        let packets = outcome.packets();
        for v in 0..6 {
            let row = row(v);
            let varying = |n: usize| -> [f32; 4] {
                std::array::from_fn(|k| row[4 + k].mul_add((n + 1) as f32, row[k]))
            };
            let mut product = [1f32; 4];
            for n in 0..15 {
                let stored = outcome.floats::<4>(packets.varying(v) + 16 * n as u64);
                assert_eq!(stored, varying(n), "vertex {v}, varying {n}");
                product = std::array::from_fn(|k| product[k] * stored[k]);
            }
            // The compiler multiplies in another order.
            for (got, want) in outcome.colour(v).into_iter().zip(product) {
                assert!((got - want).abs() <= want.abs() * 1e-5, "{got} {want}");
            }
        }
    }
}

#[test]
fn flat_integers_come_through_bit_for_bit() {
    for executor in EXECUTORS {
        let outcome = run("flat", executor);
        let packets = outcome.packets();
        for v in 0..6 {
            let row = row(v);
            let integers: [u32; 4] = std::array::from_fn(|k| row[8 + k].to_bits());
            let stored: [u32; 4] =
                std::array::from_fn(|k| outcome.word(packets.varying(v) + 32 + 4 * k as u64));
            assert_eq!(stored, integers, "vertex {v}");
            // The fragment: vec4(fi) + vec4(vec2(fu), ff.xy) * ff.z + float(mi) * mf.xyxy + vec4(s3, s1) + m4.
            let c: [f64; 4] = std::array::from_fn(|k| row[4 + k].into());
            let int = |k: usize| f64::from(integers[k] as i32);
            let second = [f64::from(integers[0]), f64::from(integers[1]), c[0], c[1]];
            let s = [c[2], c[1], c[0], c[3]];
            for (k, got) in outcome.colour(v).into_iter().enumerate() {
                let want = int(k) + second[k] * c[2] + int(2) * c[k % 2] + s[k] + c[k];
                assert!((f64::from(got) - want).abs() <= want.abs() * 1e-6, "vertex {v}: {got} {want}");
            }
        }
    }
}

/// The device's three holdings.
const DEVICE: [fn() -> Box<dyn Executor>; 3] =
    [|| device(Holding::Lane), || device(Holding::Pair), || device(Holding::Wave)];

#[test]
fn every_executor_leaves_the_same_bytes_and_tells_the_same_ranges() {
    for (name, ..) in CAPTURES {
        let expected = run(name, reference);
        let plain: fn() -> _ = plain;
        // Large programs take a software device minutes to compile in the other holdings.
        let holdings = if name == "xfb" { DEVICE.len() } else { 1 };
        for executor in [plain, soft].into_iter().chain(DEVICE.into_iter().take(holdings)) {
            let outcome = run(name, executor);
            assert!(outcome.bytes() == expected.bytes(), "{name}");
            let ranges = |o: &Outcome| -> Vec<_> {
                o.ran.iter().flat_map(|r| r.completed.iter().map(|c| c.stored.clone())).collect()
            };
            assert_eq!(ranges(&outcome), ranges(&expected), "{name}");
            let roles: Vec<Role> = outcome.ran.iter().flat_map(|r| &r.job.launches).map(|l| l.role).collect();
            assert!(roles.ends_with(&[Role::Position, Role::Varying]), "{name}");
        }
    }
}

#[test]
fn a_draw_without_its_heap_is_refused_and_stores_nothing() {
    let (_, dump, job) = CAPTURES[1];
    for executor in EXECUTORS {
        let memory = read_dump(dump).unwrap();
        let mut ran = Vec::new();
        let refused = run_chain(&memory, &mut *executor(), job, &mut ran).unwrap_err();
        assert!(["ISA-VAL-104", "RUN-MEM-001"].contains(&refused.code()), "{refused}");
        assert!(ran.is_empty());
    }
}
