//! Captures that a real driver made survive reading and writing byte for byte.

mod common;

use guestwave_harness::capture::Capture;

#[test]
fn captures_are_written_back_byte_for_byte() {
    let captures = common::all_captures();
    assert!(captures.len() >= 12, "the repository's captures are gone");
    for path in captures {
        let packed = std::fs::read(&path).unwrap();
        let bytes = zstd::decode_all(packed.as_slice()).unwrap();
        let capture = Capture::parse(&bytes).unwrap_or_else(|e| panic!("{}: {e}", common::name_of(&path)));
        assert!(capture.to_bytes().unwrap() == bytes, "{} changed", common::name_of(&path));
    }
}
