//! Programs compiled for hosts that are not at hand: everything that lowering makes of them must exist there. With
//! `--features other-hosts`.

#[cfg(test)]
mod support;

use guestwave_backend_soft::compile_for;
use proptest::prelude::*;
use support::lane::random::{Menu, program};

const HOST: &str = "aarch64-unknown-linux-gnu";

#[test]
fn a_host_without_a_code_generator_is_refused() {
    let program = program(&[], Menu { hostile: false, odd: true, lds: true, groups: false, in_common: true });
    assert_eq!(compile_for("wasm32-unknown-unknown", &program).unwrap_err().code(), "SOFT-HOST-001");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs(choices in prop::collection::vec(any::<u32>(), 0..400), groups in any::<bool>()) {
        compile_for(HOST, &program(&choices, Menu { hostile: true, odd: true, lds: true, groups, in_common: true })).unwrap();
    }
}
