//! Kernels of clang's code objects on every executor, each against what its source says.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "what cannot be read or set up has to stop the test"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use guestwave_backend_soft::{SoftBackend, SoftOptions};
use guestwave_cp::{DispatchId, Executor, GuestMemory};
use guestwave_harness::executor::ReferenceExecutor;
use guestwave_harness::kernel::{CodeObject, Prepared, Request, Value};
use guestwave_translate::executor::{Options, TranslatingExecutor};
use guestwave_translate::plain::PlainBackend;

/// The objects in the repository: GFX10.3 and GFX10.1 with waves of 32 lanes, GFX10.3 with waves of 64.
const OBJECTS: [&str; 3] = ["kernels-1030", "kernels-1010", "kernels-1030w64"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

fn executors() -> [(&'static str, Box<dyn Executor>); 4] {
    let shaped = SoftOptions { better_lanes: 0, ..SoftOptions::default() };
    let soft = |options| Box::new(SoftBackend::new(options).unwrap());
    let on = |backend| Box::new(TranslatingExecutor::new(backend, Options::default()));
    [
        ("reference", Box::new(ReferenceExecutor::default())),
        ("plain", on(Box::new(PlainBackend::new()))),
        ("soft", on(soft(SoftOptions::default()))),
        ("soft, made for the workgroups", on(soft(shaped))),
    ]
}

/// A kernel, a launch of it, and what each buffer holds in the end.
struct Case {
    kernel: &'static str,
    request: Request,
    /// By argument.
    wanted: Vec<(usize, Vec<u32>)>,
}

fn words(words: &[u32]) -> Value {
    let contents: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    Value::Buffer { bytes: contents.len() as u64, contents, writable: true }
}

fn zeros(words: u64) -> Value {
    Value::Buffer { contents: Vec::new(), bytes: 4 * words, writable: true }
}

fn launch(groups: [u32; 3], values: Vec<Value>) -> Request {
    Request { groups, threads: None, values }
}

/// Numbers without an order.
fn scattered(n: u32) -> Vec<u32> {
    (0..n).map(|i| i.wrapping_mul(0x9e37_79b9) >> 7).collect()
}

fn floats(n: u32) -> Vec<f32> {
    (0..n).map(|i| (i % 100) as f32 * 0.37 - 11.0).collect()
}

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|f| f.to_bits()).collect()
}

fn saxpy() -> Case {
    let (x, y, a) = (floats(512), floats(512).into_iter().rev().collect::<Vec<_>>(), 1.7f32);
    let wanted: Vec<f32> = x.iter().zip(&y).map(|(x, y)| a.mul_add(*x, *y)).collect();
    let values = vec![words(&bits(&x)), words(&bits(&y)), Value::Bytes(a.to_le_bytes().to_vec())];
    Case { kernel: "saxpy", request: launch([2, 1, 1], values), wanted: vec![(1, bits(&wanted))] }
}

/// The first two rows of a product.
fn matmul() -> Case {
    let (a, b) = (floats(512), floats(65536));
    let sum =
        |i: usize| (0..256).fold(0.0f32, |s, k| a[(i >> 8) * 256 + k].mul_add(b[k * 256 + (i & 255)], s));
    let wanted: Vec<f32> = (0..512).map(sum).collect();
    let values = vec![words(&bits(&a)), words(&bits(&b)), zeros(512)];
    Case { kernel: "matmul", request: launch([2, 1, 1], values), wanted: vec![(2, bits(&wanted))] }
}

fn places() -> Case {
    let (groups, threads) = ([3u32, 2, 2], [5u32, 3, 2]);
    let at = |n: u32| {
        let [w, h] = [0, 1].map(|axis| groups[axis] * threads[axis]);
        let place = [n % w, n / w % h, n / w / h];
        let [gx, gy, gz] = [0, 1, 2].map(|axis| place[axis] / threads[axis]);
        let [tx, ty, tz] = [0, 1, 2].map(|axis| place[axis] % threads[axis]);
        gx | gy << 4 | gz << 8 | tx << 12 | ty << 20 | tz << 28
    };
    let all: u32 = (0..3).map(|axis| groups[axis] * threads[axis]).product();
    let request = Request { threads: Some(threads), ..launch(groups, vec![zeros(all.into())]) };
    Case { kernel: "places", request, wanted: vec![(0, (0..all).map(at).collect())] }
}

fn reverse() -> Case {
    let numbers = scattered(192);
    let wanted = numbers.chunks(64).flat_map(|c| c.iter().rev().copied()).collect();
    let request = launch([3, 1, 1], vec![words(&numbers), Value::Shared(256)]);
    Case { kernel: "reverse", request, wanted: vec![(0, wanted)] }
}

fn count() -> Case {
    let numbers = scattered(640);
    let bins = (0..16).map(|bin| numbers.iter().filter(|n| *n & 15 == bin).count() as u32).collect();
    let request = launch([5, 1, 1], vec![words(&numbers), zeros(16)]);
    Case { kernel: "count", request, wanted: vec![(1, bins)] }
}

fn lookup() -> Case {
    let (numbers, order) = (scattered(128 * 24), scattered(100));
    let of = |lane: usize| {
        let mine = &numbers[lane * 24..lane * 24 + 24];
        let pick = |k: usize| mine[order[lane % 64 + k] as usize % 24];
        (0..24).fold(0u32, |sum, k| sum.wrapping_mul(31).wrapping_add(pick(k)))
    };
    let request = launch([2, 1, 1], vec![words(&numbers), words(&order), zeros(128)]);
    Case { kernel: "lookup", request, wanted: vec![(2, (0..128).map(of).collect())] }
}

fn numbers() -> Case {
    let parts: [&[u8]; 5] = [
        &[200],
        &(-300i16).to_le_bytes(),
        &4_000_000_000u32.to_le_bytes(),
        &1e6f32.to_le_bytes(),
        &(1u64 << 40).to_le_bytes(),
    ];
    let sum = 4_000_000_000u64 + 1_000_000 + (1 << 40) + 200 - 300;
    let mut values: Vec<Value> = parts.into_iter().map(|b| Value::Bytes(b.to_vec())).collect();
    values.push(zeros(2));
    let wanted = vec![(5, vec![sum as u32, (sum >> 32) as u32])];
    Case { kernel: "numbers", request: launch([1, 1, 1], values), wanted }
}

fn cases() -> [Case; 7] {
    [saxpy(), matmul(), places(), reverse(), count(), lookup(), numbers()]
}

fn contents(prepared: &Prepared, argument: usize) -> Vec<u32> {
    let placed = prepared.buffers.iter().find(|b| b.argument == argument).unwrap();
    let mut bytes = vec![0; placed.bytes as usize];
    prepared.memory.read(placed.address, &mut bytes).unwrap();
    bytes.as_chunks().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
}

/// Runs every kernel of an object on every executor.
fn check(title: &str, object: &CodeObject) {
    for case in cases() {
        for (name, mut executor) in executors() {
            let what = format!("{title}, {}, {name}", case.kernel);
            let prepared = object.prepare(object.kernel(Some(case.kernel)).unwrap(), &case.request).unwrap();
            let mut done = Vec::new();
            let ran = executor.submit(DispatchId(0), prepared.dispatch.clone(), &prepared.memory);
            let ran = ran.and_then(|()| executor.flush(&prepared.memory, &mut done));
            assert_eq!(ran, Ok(()), "{what}");
            assert_eq!(done.len(), 1, "{what}");
            for (argument, wanted) in &case.wanted {
                assert_eq!(&contents(&prepared, *argument), wanted, "{what}, argument {argument}");
            }
        }
    }
}

#[test]
fn kernels_do_what_their_source_says_on_every_executor() {
    for name in OBJECTS {
        let bytes = std::fs::read(folder().join(format!("{name}.hsaco"))).unwrap();
        check(name, &CodeObject::parse(&bytes).unwrap());
    }
}

/// Clang and lld of one version.
fn tools() -> (String, String) {
    let works = |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success());
    let version = |n: u32| (format!("clang-{n}"), format!("ld.lld-{n}"));
    let found = (14..=22).rev().map(version).find(|(clang, lld)| works(clang) && works(lld));
    found.expect(
        "this test compiles kernels: install clang and lld 14 or later (Debian: apt-get install clang lld)",
    )
}

/// What the compiler at hand makes of the same source works as well.
#[test]
fn kernels_of_the_compiler_at_hand_work_too() {
    let (clang, lld) = tools();
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    std::fs::create_dir_all(&out).unwrap();
    let (object, linked) = (out.join("kernels.o"), out.join("kernels.hsaco"));
    let run = |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
    let flags = "--target=amdgcn-amd-amdhsa -mcpu=gfx1030 -x cl -cl-std=CL2.0 -nogpulib -O2 -c";
    run(Command::new(&clang).args(flags.split(' ')).arg(folder().join("kernels.cl")).arg("-o").arg(&object));
    run(Command::new(&lld).arg("-shared").arg(&object).arg("-o").arg(&linked));
    check(&clang, &CodeObject::parse(&std::fs::read(&linked).unwrap()).unwrap());
}

/// A store of any width past the end of a buffer of any size, and a load as well, is a fault and changes nothing.
#[test]
fn buffers_end_with_their_last_byte_on_every_executor() {
    let bytes = std::fs::read(folder().join("kernels-1030.hsaco")).unwrap();
    let object = CodeObject::parse(&bytes).unwrap();
    let kernel = object.kernel(Some("saxpy")).unwrap();
    for (x, y, ok) in [(1024, 1024, true), (1024, 1023, false), (1024, 100, false), (1020, 1024, false)] {
        let buffer = |bytes| Value::Buffer { contents: Vec::new(), bytes, writable: true };
        let values = vec![buffer(x), buffer(y), Value::Bytes(vec![0, 0, 0x80, 0x3f])];
        for (name, mut executor) in executors() {
            let prepared = object.prepare(kernel, &launch([1, 1, 1], values.clone())).unwrap();
            let ran = executor.submit(DispatchId(0), prepared.dispatch.clone(), &prepared.memory);
            let ran = ran.and_then(|()| executor.flush(&prepared.memory, &mut Vec::new()));
            let end = if x < 1024 { (0, x) } else { (1, y) };
            let buffer = prepared.buffers.iter().find(|b| b.argument == end.0).unwrap();
            let fault = ran.err().map(|e| e.fault.unwrap().address);
            let past = |at: u64| (buffer.address + end.1..buffer.address + 1024).contains(&at);
            assert_eq!(fault.is_none(), ok, "{name}, {x} and {y} bytes");
            assert!(fault.is_none_or(past), "{name}, {x} and {y} bytes: {fault:x?}");
        }
    }
}

fn guestwave(args: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_guestwave")).args(args).current_dir(folder()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_runs_a_kernel_and_writes_its_outputs() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reverse.bin");
    let numbers: Vec<u8> = (0..64u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&out, &numbers).unwrap();
    let buffer = format!("inout:{}", out.display());
    let base = ["kernel", "kernels-1030.hsaco", "--kernel", "reverse", "--groups", "1", "--arg", &buffer];
    let (status, json, _) = guestwave(&[&base[..], &["--arg", "lds:256", "--json"]].concat());
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((status, &report["ok"], &report["stats"]["bytes_stored"]), (0, &true.into(), &256.into()));
    let reversed: Vec<u8> = (0..64u32).rev().flat_map(u32::to_le_bytes).collect();
    assert_eq!(std::fs::read(&out).unwrap(), reversed);
}

#[test]
fn the_command_shows_outputs_and_tells_faults_and_misuse_apart() {
    let saxpy = |groups: &str, bytes: &str, more: &[&str]| {
        let base = ["kernel", "kernels-1010.hsaco", "--kernel", "saxpy", "--groups", groups];
        let arguments = ["--arg", bytes, "--arg", bytes, "--arg", "f32:2"];
        guestwave(&[&base[..], &arguments, more].concat())
    };
    let (status, text, _) = saxpy("1", "out:1024", &["--executor", "reference"]);
    assert_eq!(status, 0);
    assert!(
        text.contains("saxpy") && text.contains("gfx1010, wave32") && text.contains("00000000 0.0"),
        "{text}"
    );
    let (status, text, error) = saxpy("100", "out:1024", &[]);
    assert_eq!((status, text.as_str()), (2, ""));
    assert!(error.contains("mapped"), "{error}");
    let (status, text, error) = saxpy("1", "out:100", &[]);
    assert_eq!((status, text.as_str()), (2, ""));
    assert!(error.contains("byte 100 of argument") && error.contains("which has 100 bytes"), "{error}");
    let input = folder().join("kernels.cl");
    let input = format!("in:{}", input.display());
    let base = ["kernel", "kernels-1030.hsaco", "--kernel", "saxpy", "--groups", "1"];
    let (status, _, error) =
        guestwave(&[&base[..], &["--arg", "out:1024", "--arg", &input, "--arg", "f32:2"]].concat());
    assert!(status == 2 && error.contains("argument 1, which is given as in:"), "{error}");
    assert_eq!(saxpy("1", "u32:1024", &[]).0, 3);
    assert_eq!(saxpy("1", "out:many", &[]).0, 3);
    assert_eq!(guestwave(&["kernel", "kernels.cl", "--groups", "1"]).0, 3);
}
