//! Captured Valhall programs on the reference interpreter, thread by thread, against what OpenGL demands.

#[path = "mali/memory.rs"]
mod memory;

use guestwave_isa::mali::valhall::interp::{CodeCache, Environment, REGISTERS, run_thread};
use memory::Captured;

/// Where the captured transform feedback buffer begins.
const FEEDBACK: u64 = 0xf7fe_8000;

/// The vertex `i` of the captured program: position, colour bytes, and its number.
fn vertex(i: u32) -> ([f32; 4], [u8; 4], i16) {
    let position = [(i % 3) as f32 * 0.5 - 0.5, (i / 3) as f32 * 0.5, 0.0, 1.0];
    (position, [(i * 40) as u8, (255 - i * 40) as u8, 7, 255], i as i16 - 3)
}

#[test]
fn the_transform_feedback_program_stores_every_vertex() {
    let mut memory = Captured::read(include_str!("data/mali/g57-xfb.hex"));
    memory.map(FEEDBACK, 4096);
    let env = Environment {
        fau: 0xf7fe_9540,
        fau_words: 4,
        resources: 0xf7fe_9580,
        tables: 12,
        ..Environment::default()
    };
    let mut code = CodeCache::new(0xf7ff_c000);
    for i in 0..6 {
        let mut registers = [0; REGISTERS];
        registers[60] = i;
        let mut budget = 16;
        let end = run_thread(&mut code, &env, registers, &mut memory, &mut budget).unwrap();
        assert_eq!((end.instructions, budget), (16, 0));
        assert!(end.inexact.is_empty());
    }
    for i in 0..6 {
        let (_, colour, number) = vertex(i);
        let words = memory.words(FEEDBACK + 20 * u64::from(i), 5);
        let colour = colour.map(|c| (f32::from(c) / 255.0).to_bits());
        assert_eq!(words, [i32::from(number) as u32, colour[0], colour[1], colour[2], colour[3]]);
    }
    assert_eq!(memory.words(FEEDBACK + 120, 1), [0]);
}
