//! Waves that part at barriers: what each holding leaves is what the evaluator leaves.

#[path = "../../../translate/src/naga/phases/programs.rs"]
mod programs;

use std::sync::Arc;

use guestwave_translate::backend::Launch;
use guestwave_translate::program as form;
use guestwave_translate::program::eval;

use crate::support::lane::memory::Memory;
use crate::support::{HOLDINGS, compile, launch, open, run};
use programs::{BASE, BYTES, GROUP, WAVES};

#[test]
#[ignore = "minutes on a software device"]
fn waves_part_and_meet_as_on_the_evaluator() {
    let mut backend = open();
    let bytes = || Memory::default().map(BASE, vec![0x5a; BYTES]);
    for (i, parted) in programs::all().into_iter().enumerate() {
        println!("program {i}, back: {}", parted.goes_back);
        let program = Arc::new(parted.program);
        let wanted = bytes();
        for holding in HOLDINGS {
            let id = compile(&mut backend, (*program).clone(), holding);
            let (job, found) = (launch(id, WAVES, GROUP), bytes());
            eval::run(&program, &job, &wanted).unwrap();
            let completion = run(&mut backend, vec![job], &found);
            assert_eq!(completion.fault, None, "program {i}, {holding:?}");
            assert_eq!(found.all(), wanted.all(), "program {i}, {holding:?}");
        }
    }
}

#[test]
fn a_wave_that_never_ends_uses_up_its_budget() {
    let mut backend = open();
    for holding in HOLDINGS {
        let id = compile(&mut backend, programs::endless(), holding);
        let memory = Memory::default().map(BASE, vec![0x5a; BYTES]);
        let job = Launch { budget: 100, ..launch(id, WAVES, GROUP) };
        let fault = run(&mut backend, vec![job], &memory).fault.unwrap();
        assert_eq!(fault.code, "RUN-BUDGET-001", "{holding:?}");
        assert_eq!(memory.all()[&BASE], vec![0x5a; BYTES], "{holding:?}");
    }
}
