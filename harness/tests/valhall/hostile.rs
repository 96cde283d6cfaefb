//! Code that is not meant well: nothing panics, nothing runs for ever, and a refused launch stores nothing.

use guestwave_isa::mali::valhall::{DecodeErrorKind, Inst, rows};

use super::support::{OUTPUT, Rng, dispatch, epilogue, memory, plain, reference, run};
use guestwave_cp::GuestMemory;

/// Random words, or random words with a row's opcode, with stores behind them.
fn code(rng: &mut Rng) -> Vec<u64> {
    let all: Vec<_> = rows().collect();
    let shaped = |rng: &mut Rng| {
        let row = rng.pick(&all);
        let word = rng.next() & rng.next() & !(0x1ff << 48) & !(1 << 63) & !row.second.0;
        let word = word | u64::from(row.opcode) << 48 | row.second.1 | 0xc0 << 40;
        match Inst::decode(word, 0).map_err(|e| e.kind) {
            Err(DecodeErrorKind::ReservedBits { bits, .. }) if rng.below(16) != 0 => word & !bits,
            _ => word,
        }
    };
    let count = 1 + rng.below(3);
    let mut code: Vec<u64> =
        (0..count).map(|_| if rng.below(8) == 0 { rng.next() } else { shaped(rng) }).collect();
    code.extend(epilogue());
    code
}

#[test]
fn random_code_is_run_alike_or_refused_without_effect() {
    let mut rng = Rng(0xdead_beef_0bad_cafe);
    let mut ran = 0;
    for _ in 0..4000 {
        let code = code(&mut rng);
        let registers: Vec<Vec<u32>> = (0..12).map(|_| vec![rng.next() as u32; 3]).collect();
        let dispatch = dispatch(&registers);
        let (first, second) = (memory(&code, [1, 2, 3, 4]), memory(&code, [1, 2, 3, 4]));
        let expected = run(reference(), &first, &dispatch);
        let got = run(plain(), &second, &dispatch);
        for (memory, result) in [(&first, &expected), (&second, &got)] {
            if result.is_err() {
                let mut bytes = [1; 4096];
                memory.read(OUTPUT, &mut bytes).unwrap();
                assert_eq!(bytes, [0; 4096], "{result:?}");
            }
        }
        if let (Ok(expected), Ok(got)) = (&expected, &got) {
            assert_eq!(expected.0, got.0);
            ran += 1;
        }
        // What the translator takes, the reference takes too.
        assert!(got.is_err() || expected.is_ok(), "{expected:?}");
    }
    assert!(ran > 200, "only {ran} programs ran");
}

#[test]
fn a_program_that_does_not_end_is_stopped() {
    // BRANCHZ on r0, to itself while r0 is 0.
    let code = [0x001f_c017_ffff_ff00, 0x7800_c000_0000_0000];
    let registers = vec![vec![0]; 12];
    for executor in [reference as fn() -> _, plain] {
        let stopped = run(executor(), &memory(&code, [0; 4]), &dispatch(&registers)).unwrap_err();
        assert!(["ISA-VAL-105", "RUN-BUDGET-001"].contains(&stopped.code), "{stopped}");
    }
}

#[test]
fn code_that_runs_off_its_memory_is_refused() {
    // 512 NOPs fill the page, and nothing is mapped behind it.
    let code = vec![0x0000_c000_0000_0000; 512];
    for executor in [reference as fn() -> _, plain] {
        let refused = run(executor(), &memory(&code, [0; 4]), &dispatch(&[])).unwrap_err();
        assert!(["ISA-VAL-101", "TR-VAL-002"].contains(&refused.code), "{refused}");
    }
}
