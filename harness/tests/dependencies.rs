//! The crates at the bottom cannot come to depend on a GPU API.
#![expect(clippy::unwrap_used, reason = "what cannot be read has to stop the test")]

use std::process::Command;

/// What a package depends on, itself included, by name.
fn tree(package: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "-p",
            package,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|l| l.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn isa_and_cp_see_no_gpu_api_and_not_each_other() {
    for (package, other) in [("guestwave-isa", "guestwave-cp"), ("guestwave-cp", "guestwave-isa")] {
        let tree = tree(package);
        assert!(tree.iter().any(|p| p == package), "{tree:?}");
        for forbidden in ["naga", "wgpu", "wgpu-core", "wgpu-hal", "ash", "guestwave-translate", other] {
            assert!(!tree.iter().any(|p| p == forbidden), "{package} depends on {forbidden}");
        }
    }
}
