//! Kernels in workgroups of many shapes, with code for each shape and for any.

#[cfg(test)]
mod support;

use std::sync::Arc;

use guestwave_backend_soft::{SoftBackend, SoftOptions};
use guestwave_translate::backend::{Backend, Batch, Holding, Launch};
use guestwave_translate::program::eval;
use support::lane::kernel::{BASE, COUNTER, LANES, SHAPES, kernel, params};
use support::{Arena, ONE_THREAD, agree, launch};

fn memory(dwords: u32) -> Arena {
    let words: Vec<u8> = (0..dwords).flat_map(|i| (i * 7).to_le_bytes()).collect();
    Arena::new().with(COUNTER, &[0; 64]).with(BASE, &words)
}

fn a_launch(groups: u32, threads: u32, last: u32) -> Launch {
    let each = threads.div_ceil(LANES);
    Launch { params: params(groups, threads, last), ..launch(groups * each, each) }
}

#[test]
fn kernels_do_the_same_in_workgroups_of_every_shape() {
    for (ahead, slot) in [(0, true), (4, true), (20, false)] {
        for (groups, threads, last) in SHAPES {
            agree(&kernel(ahead, slot), &a_launch(groups, threads, last), &memory(1024)).0.unwrap();
        }
    }
}

/// More shapes than code is made for, each before and after its code is made, and again when code for others is there.
#[test]
fn one_program_runs_in_many_shapes() {
    let program = Arc::new(kernel(0, true));
    let many = SHAPES.into_iter().chain([(7, 33, 1), (1, 64, 2)]);
    for (better_lanes, long_values) in [(0, usize::MAX), (700, usize::MAX), (700, 0), (u64::MAX, 0)] {
        let options = SoftOptions { better_lanes, long_values, ..ONE_THREAD };
        let mut backend = SoftBackend::new(options).unwrap();
        let id = backend.compile(&program, Holding::Wave).unwrap();
        let (native, plain) = (memory(1024), memory(1024));
        for (groups, threads, last) in many.clone().chain(many.clone()) {
            let launch = Launch { program: id, ..a_launch(groups, threads, last) };
            let wanted = eval::run(&program, &launch, &plain).unwrap();
            let ticket = backend.submit(Batch { launches: vec![launch] }, &native).unwrap();
            let completion = backend.poll(ticket, &native).unwrap().unwrap();
            assert_eq!(completion.done[0].stored, wanted.stored);
            assert_eq!(native.first_difference(&plain), None, "{groups} {threads} {last}");
        }
    }
}

/// What is missing is missing alike: the last threads have no memory.
#[test]
fn a_kernel_that_faults_faults_in_every_shape() {
    for (groups, threads, last) in SHAPES {
        let dwords = (groups - 1) * threads + last - 1;
        assert!(agree(&kernel(0, true), &a_launch(groups, threads, last), &memory(dwords)).0.is_err());
    }
}
