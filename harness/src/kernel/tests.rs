//! Code objects and launches that do not fit, and hidden arguments of later code objects.

use proptest::prelude::*;

use super::kernarg::{Shape, segment};
use super::*;

const OBJECT: &[u8] = include_bytes!("../../kernels/kernels-1030.hsaco");

fn object() -> CodeObject {
    CodeObject::parse(OBJECT).unwrap()
}

fn buffer(bytes: u64) -> Value {
    Value::Buffer { contents: Vec::new(), bytes, writable: true }
}

fn request(values: Vec<Value>) -> Request {
    Request { groups: [1; 3], threads: None, values }
}

/// The code with which a launch of a kernel is refused.
fn refused(kernel: &str, request: &Request) -> &'static str {
    let object = object();
    object.prepare(object.kernel(Some(kernel)).unwrap(), request).unwrap_err().code()
}

#[test]
fn a_launch_that_does_not_fit_its_kernel_is_refused_by_name() {
    let float = Value::Bytes(vec![0; 4]);
    let good = vec![buffer(4), buffer(4), float.clone()];
    assert_eq!(refused("saxpy", &request(good[..2].to_vec())), "HN-KRN-008");
    assert_eq!(refused("saxpy", &request(vec![buffer(4), float.clone(), float.clone()])), "HN-KRN-009");
    assert_eq!(
        refused("saxpy", &request(vec![buffer(4), buffer(4), Value::Bytes(vec![0; 8])])),
        "HN-KRN-009"
    );
    assert_eq!(refused("saxpy", &request(vec![buffer(4), buffer(4), buffer(4)])), "HN-KRN-009");
    let other = Request { threads: Some([128, 1, 1]), ..request(good) };
    assert_eq!(refused("saxpy", &other), "HN-KRN-010");
    assert_eq!(refused("places", &request(vec![buffer(4)])), "HN-KRN-010");
    let large = Request { threads: Some([1024, 2, 1]), ..request(vec![buffer(4)]) };
    assert_eq!(refused("places", &large), "HN-KRN-010");
    assert_eq!(refused("reverse", &request(vec![buffer(4), Value::Shared(1 << 16)])), "HN-KRN-006");
    assert_eq!(refused("saxpy", &request(vec![buffer(4), buffer(1 << 60), float])), "HN-KRN-011");
}

#[test]
fn a_kernel_is_found_by_its_name_only() {
    let names: Vec<String> = object().kernels().iter().map(|k| k.name.clone()).collect();
    assert_eq!(names, ["saxpy", "matmul", "places", "reverse", "count", "lookup", "numbers"]);
    for name in [Some("saxp"), None] {
        assert_eq!(object().kernel(name).unwrap_err().code(), "HN-KRN-004");
    }
}

#[test]
fn what_is_no_code_object_is_refused_by_name() {
    let code = |bytes: &[u8]| CodeObject::parse(bytes).unwrap_err().code();
    assert_eq!(code(b""), "HN-KRN-001");
    assert_eq!(code(&OBJECT[..100]), "HN-KRN-001");
    let with = |at: usize, byte: u8| {
        let mut bytes = OBJECT.to_vec();
        bytes[at] = byte;
        bytes
    };
    const TYPE: usize = 16;
    const MACHINE: usize = 18;
    const FLAGS: usize = 48;
    assert_eq!(code(&with(TYPE, 1)), "HN-KRN-001", "not linked");
    assert_eq!(code(&with(MACHINE, 62)), "HN-KRN-001", "another machine");
    assert_eq!(code(&with(FLAGS, 0x3f)), "HN-KRN-002", "another processor");
}

/// Words of the descriptor of `saxpy`, with bits set in one of them.
fn with_descriptor_bits(word: usize, bits: u32) -> Result<Prepared, KernelError> {
    let (name, kernel) = ("saxpy", object().kernels()[0].clone());
    assert_eq!(kernel.name, name);
    let (descriptor, _) = object().descriptor(&kernel).unwrap();
    let words = descriptor.as_bytes();
    let at = OBJECT.windows(words.len()).position(|w| w == words).unwrap();
    let mut bytes = OBJECT.to_vec();
    for (i, byte) in bits.to_le_bytes().into_iter().enumerate() {
        bytes[at + 4 * word + i] |= byte;
    }
    let object = CodeObject::parse(&bytes).unwrap();
    object.prepare(&object.kernels()[0], &request(vec![buffer(4), buffer(4), Value::Bytes(vec![0; 4])]))
}

#[test]
fn what_a_descriptor_asks_for_and_is_not_there_is_refused_by_name() {
    let cases = [
        (11, 1, "HN-KRN-006", "shared VGPRs"),
        (12, 1 << 26, "HN-KRN-006", "FP16_OVFL"),
        (13, 1 << 6, "HN-KRN-006", "trap handler"),
        (13, 3 << 11, "HN-KRN-005", "fourth thread id"),
        (14, 1 << 2, "HN-KRN-006", "queue"),
        (14, 1 << 11, "HN-KRN-006", "dynamic stack"),
        (14, 0x7f & !(1 << 2), "HN-KRN-005", "user data"),
        (15, 0, "", ""),
        (4, 1, "HN-KRN-005", "misaligned"),
        (5, 1 << 20, "HN-KRN-005", "no code"),
    ];
    for (word, bits, code, part) in cases {
        match with_descriptor_bits(word, bits) {
            Err(error) => assert!(error.code() == code && error.to_string().contains(part), "{error}"),
            Ok(_) => assert_eq!(code, "", "{part}"),
        }
    }
}

#[test]
fn hidden_arguments_of_code_object_version_5_tell_the_launch() {
    let hidden = [
        ("hidden_block_count_x", 4, 7),
        ("hidden_block_count_y", 4, 5),
        ("hidden_block_count_z", 4, 1),
        ("hidden_group_size_x", 2, 32),
        ("hidden_group_size_y", 2, 4),
        ("hidden_group_size_z", 2, 1),
        ("hidden_remainder_x", 2, 0),
        ("hidden_grid_dims", 2, 2),
        ("hidden_global_offset_y", 8, 0),
        ("hidden_shared_base", 4, 0x2000_0000),
        ("hidden_private_base", 4, 0x1000_0000),
        ("hidden_dynamic_lds_size", 4, 48),
        ("hidden_multigrid_sync_arg", 8, 0),
    ];
    let shape = Shape {
        groups: [7, 5, 1],
        threads: [32, 4, 1],
        shared_base: 0x2000_0000,
        private_base: 0x1000_0000,
        dynamic_lds: 48,
    };
    for (kind, bytes, wanted) in hidden {
        let mut kernel = object().kernels()[0].clone();
        kernel.kernarg_bytes = 16;
        let argument = Argument {
            name: String::new(),
            type_name: String::new(),
            offset: 8,
            bytes,
            kind: kind.to_owned(),
        };
        kernel.arguments = vec![argument];
        let segment = segment(&kernel, &[], &shape, 0, |_, _| Ok(0)).unwrap();
        assert_eq!(u64::from_le_bytes(*segment[8..].first_chunk().unwrap()), wanted, "{kind}");
    }
}

#[test]
fn a_hidden_argument_that_nobody_stands_behind_is_refused_by_name() {
    let mut kernel = object().kernels()[0].clone();
    kernel.arguments.truncate(1);
    kernel.arguments[0].kind = "hidden_hostcall_buffer".to_owned();
    let shape = Shape { groups: [1; 3], threads: [1; 3], shared_base: 0, private_base: 0, dynamic_lds: 0 };
    let error = segment(&kernel, &[], &shape, 0, |_, _| Ok(0)).unwrap_err();
    assert_eq!(error.code(), "HN-KRN-006");
    assert!(error.to_string().contains("hidden_hostcall_buffer"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A damaged file is refused or prepared, whatever it says.
    #[test]
    fn damaged_files_do_no_harm(changes in prop::collection::vec((0..OBJECT.len(), any::<u8>()), 1..6), len in 0..2 * OBJECT.len()) {
        let mut bytes = OBJECT[..len.min(OBJECT.len())].to_vec();
        for (at, byte) in changes {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        if let Ok(object) = CodeObject::parse(&bytes) {
            for kernel in object.kernels() {
                let _ = object.prepare(kernel, &request(vec![buffer(4), buffer(4), Value::Bytes(vec![0; 4])]));
            }
        }
    }
}
