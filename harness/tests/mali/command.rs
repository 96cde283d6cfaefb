//! `guestwave varyings link` and `decode`: what they print, what they refuse, and that the book shows what they print.

use std::process::{Command, Output};

const DRAW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mali/draw.txt");

fn guestwave(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_guestwave")).arg("varyings").args(args).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_books_layouts_are_what_the_linker_prints() {
    let page = include_str!("../../../docs/mali.md");
    let section = page.split("## A worked layout").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut printed = include_str!("../data/mali/draw.txt").to_owned();
    for gpu in ["t860", "g52", "g57"] {
        printed += &text(&guestwave(&["link", "--gpu", gpu, "--explain", DRAW]));
    }
    printed += &text(&guestwave(&["link", "--gpu", "g57", "--separate", "--explain", DRAW]));
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed: Vec<_> = printed.lines().map(squeezed).collect();
    let shown = section.lines().filter_map(|line| line.strip_prefix("    ")).map(squeezed);
    let mut count = 0;
    for line in shown.filter(|line| !line.starts_with('$') && line != "...") {
        assert!(printed.contains(&line), "the linker does not print: {line}");
        count += 1;
    }
    assert!(count > 50, "the book shows layouts");
}

#[test]
fn descriptors_are_decoded_with_their_formats() {
    let shown = guestwave(&["decode", "--gpu", "g52", "2ec00202", "10"]);
    assert_eq!(shown.status.code(), Some(0));
    for line in ["attribute", "buffer_index: 2", "offset: 16", "format: RGBA8_UNORM (4 bytes)"] {
        assert!(text(&shown).contains(line), "{line} in {}", text(&shown));
    }
    let named =
        guestwave(&["decode", "--gpu", "v7", "--record", "continuation_npot", "20", "638e38e3", "0", "3"]);
    assert!(text(&named).contains("numerator: 0x638e38e3"));
}

#[test]
fn what_is_wrong_has_a_code_and_a_status() {
    let reserved = guestwave(&["decode", "--gpu", "g52", "f7ff7001", "21000000", "18", "90"]);
    assert_eq!((reserved.status.code(), text(&reserved).contains("CP-MALI-004")), (Some(2), true));
    let unknown = guestwave(&["decode", "--gpu", "g99", "1"]);
    assert_eq!(unknown.status.code(), Some(3));
    assert_eq!(guestwave(&["decode", "--gpu", "g52", "xyz"]).status.code(), Some(3));
    assert_eq!(guestwave(&["link", "--gpu", "g52", "no such file"]).status.code(), Some(3));
    let bad = std::env::temp_dir().join(format!("guestwave-varyings-{}.txt", std::process::id()));
    std::fs::write(&bad, "vs a var0 vec9\n").unwrap();
    let refused = guestwave(&["link", "--gpu", "g52", bad.to_str().unwrap()]);
    std::fs::remove_file(&bad).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("CP-MALI-013"));
}
