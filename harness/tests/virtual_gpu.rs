//! Unmodified programs on the virtual GPU: what they see, how they may misbehave, and that a recording replays to the same bytes.
//!
//! These tests need Mesa's radeonsi (Debian: libgl1-mesa-dri, libegl1).
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "what cannot be read or started has to stop the test")]

mod common;

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use common::guest::{Ended, Started, example, run, scratch, start};
use guestwave_harness::capture::load;
use guestwave_harness::engine::EngineArgs;
use guestwave_harness::replay::{ReplayOptions, replay};
use rustix::process::{Pid, Signal, kill_process};

const NONE: [&str; 0] = [];

/// The executors, as options.
const EXECUTORS: [&[&str]; 2] = [&["--executor", "reference"], &["--executor", "translate"]];

#[test]
fn a_program_sees_each_gpu_and_captures_its_vertices() {
    for (gpu, name) in
        [("navi21", "AMD Radeon RX 6800 XT (navi21"), ("navi10", "AMD Radeon RX 5700 XT (navi10")]
    {
        for executor in EXECUTORS {
            let options = [&["--gpu", gpu], executor].concat();
            let Ended { status, out, summary } = run(&options, &example("xfb"), &NONE);
            assert!(out.starts_with(name), "{out}");
            assert!(out.contains("vertex 3: place (3, 1.5, -3, 1) square 9"), "{out}");
            assert_eq!((status, summary.count("draws")), (Some(0), 1), "{out}");
        }
    }
}

#[test]
fn clip_distances_of_every_count_are_captured_in_both_provoking_modes() {
    for executor in EXECUTORS {
        let Ended { status, out, summary } = run(executor, &example("clip_distance"), &NONE);
        assert!(out.contains("every count from 1 to 8, both provoking modes: right"), "{out}");
        assert_eq!((status, summary.count("draws")), (Some(0), 32), "{out}");
    }
}

fn behaves(behaviour: &str, says: &str) -> Ended {
    let ended = run(&["--executor", "translate"], &example("guest"), &[behaviour]);
    assert!(ended.out.contains(says), "{}", ended.out);
    ended
}

#[test]
fn a_killed_program_costs_only_itself() {
    let ended = behaves("killed", "the program was ended by signal 9");
    assert_eq!(ended.status, Some(1));
    assert!(ended.summary.count("draws") <= 50);
}

#[test]
fn what_a_program_submitted_runs_though_it_never_waits() {
    let ended = behaves("never-waits", "left");
    assert_eq!(ended.status, Some(0));
    // The driver's own thread may not have submitted the last ones when the program ended.
    assert!(ended.summary.count("draws") > 100, "{}", ended.out);
}

#[test]
fn a_fork_leaves_the_parents_context_whole() {
    assert_eq!(behaves("fork", "both right").status, Some(0));
}

#[test]
fn the_device_is_opened_again_and_again() {
    assert_eq!(behaves("reopen", "ten times right").status, Some(0));
}

#[test]
fn connections_end_with_an_error_and_come_back() {
    assert_eq!(behaves("flood", "flooded, and right").status, Some(0));
}

#[test]
fn memory_ends_with_an_error_of_opengl_and_comes_back() {
    assert_eq!(behaves("pressure", "memory ended, and came back").status, Some(0));
}

#[test]
fn two_programs_run_at_once() {
    let guest = example("guest");
    let both = format!("{guest} right & {guest} right && wait");
    let Ended { status, out, summary } = run(&["--executor", "translate"], "sh", &["-c", &both]);
    assert_eq!((status, out.matches("right\n").count()), (Some(0), 2), "{out}");
    assert_eq!(summary.count("draws"), 40);
}

#[test]
fn two_virtual_gpus_run_at_once() {
    let runs = [(); 2].map(|()| std::thread::spawn(|| behaves("right", "right")));
    let draws = runs.map(|run| run.join().unwrap().summary.count("draws"));
    assert_eq!(draws, [20, 20]);
}

/// The limit of whatever must end at once.
const SOON: Duration = Duration::from_secs(20);

fn is_there(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

/// A run of a program that prints the number of its process and stays, and that number.
fn staying(program: &str, arguments: &[&str]) -> (Started, u32) {
    let (tell, told) = channel();
    let said = move |line: &str| {
        if let Some(number) = line.strip_prefix("process ") {
            tell.send(number.parse().unwrap()).unwrap();
        }
    };
    let started = start(&["--executor", "translate"], program, arguments, said);
    (started, told.recv_timeout(Duration::from_secs(120)).unwrap())
}

fn tell(run: &Started, signal: Signal) {
    kill_process(Pid::from_child(&run.child), signal).unwrap();
}

#[test]
fn a_signal_ends_the_program_and_the_run() {
    for (signal, number) in [(Signal::TERM, 15), (Signal::INT, 2), (Signal::HUP, 1)] {
        let (run, process) = staying(&example("guest"), &["never-ends"]);
        tell(&run, signal);
        let ended = run.end(SOON).unwrap();
        assert_eq!(ended.status, Some(1));
        assert!(ended.out.contains(&format!("the program was ended by signal {number}")), "{}", ended.out);
        assert_eq!((ended.summary.0["program"]["signal"].as_u64(), is_there(process)), (Some(number), false));
    }
}

/// A program may do as it likes about a signal.
#[test]
fn a_program_that_handles_a_signal_ends_as_it_says() {
    let shell = "trap 'exit 7' TERM; echo process $$; while :; do sleep 0.05; done";
    let (run, _) = staying("sh", &["-c", shell]);
    tell(&run, Signal::TERM);
    let ended = run.end(SOON).unwrap();
    assert_eq!((ended.status, ended.summary.0["program"]["status"].as_u64()), (Some(1), Some(7)));
}

/// What the program has started is not its child here, and has the GPU open.
#[test]
fn a_run_that_ends_takes_along_what_the_program_started() {
    let command = format!("{} never-ends & wait", example("guest"));
    for signal in [Signal::TERM, Signal::KILL] {
        let (run, process) = staying("sh", &["-c", &command]);
        tell(&run, signal);
        assert_eq!(run.end(SOON).unwrap().status, (signal == Signal::TERM).then_some(1));
        assert!(gone(process), "{signal:?}");
    }
}

/// Whether a process ends soon.
fn gone(process: u32) -> bool {
    let end = Instant::now() + SOON;
    while is_there(process) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    !is_there(process)
}

#[test]
fn a_killed_run_leaves_nothing_behind() {
    let (run, process) = staying(&example("guest"), &["never-ends"]);
    let name = format!("@guestwave-{}-", run.child.id());
    let sockets = || std::fs::read_to_string("/proc/net/unix").unwrap();
    assert!(sockets().contains(&name) && is_there(process));
    tell(&run, Signal::KILL);
    assert!(gone(process), "the program runs on");
    assert_eq!(run.end(SOON).unwrap().status, None);
    assert!(!sockets().contains(&name), "the device is still there");
}

#[test]
fn files_that_cannot_be_written_are_told_before_the_program_starts() {
    for option in ["--record", "--summary"] {
        let command = ["run", option, "/no/such/folder/file", "--", "echo", "started"];
        let done =
            std::process::Command::new(env!("CARGO_BIN_EXE_guestwave")).args(command).output().unwrap();
        let told = String::from_utf8_lossy(&done.stderr);
        assert_eq!((done.status.code(), done.stdout.len()), (Some(3), 0), "{option}: {told}");
        assert!(told.contains("cannot write /no/such/folder/file"), "{told}");
    }
}

#[test]
fn a_capture_that_is_not_written_does_not_hide_how_the_program_ended() {
    let file = scratch(".cap");
    let options = ["--record", file.to_str().unwrap()];
    for (says, status) in [("0", 3), ("5", 1)] {
        let ended = run(&options, "sh", &["-c", &format!("exit {says}")]);
        assert_eq!(ended.status, Some(status), "{}", ended.out);
        assert!(ended.out.contains("so there is no capture to write") && !file.exists(), "{}", ended.out);
        assert_eq!(ended.summary.0["program"]["status"].as_u64(), says.parse().ok());
    }
}

/// What a hostile program can take of the executor, without its buffer objects.
const MOST_MEBIBYTES: u64 = 2048;

/// Random calls, command buffers and messages. `GUESTWAVE_HOSTILE_SECONDS` makes each run longer.
#[test]
fn a_hostile_program_costs_only_itself() {
    let seconds = std::env::var("GUESTWAVE_HOSTILE_SECONDS").unwrap_or_else(|_| "3".to_owned());
    for executor in EXECUTORS {
        // Programs that do not end are refused sooner.
        let options = [executor, &["--steps", "1000000"]].concat();
        for seed in ["1", "2"] {
            let arguments = [seed, &seconds];
            let limit = Duration::from_secs(90 + seconds.parse::<u64>().unwrap());
            let ended = start(&options, &example("hostile"), &arguments, |_| ()).end(limit);
            let Ended { status, out, .. } =
                ended.unwrap_or_else(|| panic!("seed {seed} hangs on {executor:?}"));
            let figure = out.lines().find_map(|l| l.split_once("has taken ")?.1.strip_suffix(" MiB"));
            let taken = figure.map(|n| n.parse::<u64>().unwrap());
            assert!(taken.is_some_and(|mebibytes| mebibytes < MOST_MEBIBYTES), "seed {seed}: {out}");
            assert!(
                status.is_some() && !out.contains("panicked") && !out.contains("HN-GPU-"),
                "seed {seed}: {out}"
            );
        }
    }
}

#[test]
fn no_other_gpu_is_seen() {
    let Ended { status, out, .. } =
        run(&["--quiet"], "sh", &["-c", "ls /dev/dri; test ! -e /dev/dri/card0; exit 3"]);
    assert_eq!((status, out.trim()), (Some(1), "renderD128"));
}

/// Runs a Vulkan program with radv and no other driver.
fn on_radv(options: &[&str], program: &str) -> Ended {
    let drivers = std::fs::read_dir("/usr/share/vulkan/icd.d").unwrap().map(|e| e.unwrap().path());
    let radv = drivers.into_iter().find(|p| p.to_string_lossy().contains("radeon_icd"));
    let drivers = format!("VK_DRIVER_FILES={0} VK_ICD_FILENAMES={0}", radv.unwrap().display());
    run(options, "sh", &["-c", &format!("{drivers} exec {program}")])
}

/// The probe of the wgpu backend is a Vulkan program: it copies buffers and dispatches through radv.
#[test]
fn a_vulkan_program_copies_and_computes_through_radv() {
    let probe = format!("{} probe", env!("CARGO_BIN_EXE_guestwave"));
    let Ended { out, summary, .. } = on_radv(&["--executor", "translate"], &probe);
    assert!(out.starts_with("AMD Radeon RX 6800 XT (RADV NAVI21)"), "{out}");
    assert!(out.contains("yes  f32 fused multiply-add (2048 of 2048)"), "{out}");
    assert!(summary.count("dispatches") > 5 && summary.code().is_none(), "{summary:?}");
}

#[test]
fn a_vulkan_program_captures_its_vertices_through_radv() {
    for (gpu, name) in [("navi21", "RADV NAVI21"), ("navi10", "RADV NAVI10")] {
        for executor in EXECUTORS {
            let options = [&["--gpu", gpu], executor].concat();
            let Ended { status, out, summary } = on_radv(&options, &example("vulkan_xfb"));
            assert!(out.contains(name) && out.contains("all 100 right"), "{out}");
            assert_eq!((status, summary.count("draws"), summary.code()), (Some(0), 1, None), "{out}");
        }
    }
}

/// With one step a dispatch nothing runs to its end.
#[test]
fn a_refusal_is_told_and_may_end_the_program() {
    let options = ["--executor", "reference", "--steps", "1"];
    let Ended { status, out, summary } = run(&options, &example("xfb"), &NONE);
    assert_eq!((status, out.matches("guestwave: refused ISA-RUN-").count()), (Some(2), 1), "{out}");
    assert!(summary.code().is_some_and(|code| code.starts_with("ISA-RUN-")), "{summary:?}");
    assert!(out.contains("vertex 3"), "the program went on: {out}");
    let stopped = run(&[&options[..], &["--stop-on-refusal"]].concat(), &example("xfb"), &NONE);
    assert_eq!(stopped.status, Some(2));
    assert!(
        stopped.out.contains("ended by signal 15") && !stopped.out.contains("vertex 3"),
        "{}",
        stopped.out
    );
}

/// Programs whose recordings are replayed: those of this package, and piglit's.
const RECORDED: [(&str, &[&str]); 10] = [
    ("xfb", &[]),
    ("clip_distance", &[]),
    ("guest", &["right"]),
    ("ext_transform_feedback-interleaved", &["-auto", "-fbo"]),
    ("ext_transform_feedback-separate", &["-auto", "-fbo"]),
    ("ext_transform_feedback-output-type", &["mat4x3", "-auto", "-fbo"]),
    ("ext_transform_feedback-alignment", &["12", "-auto", "-fbo"]),
    ("arb_transform_feedback2-change-objects-while-paused", &["-auto", "-fbo"]),
    ("arb_transform_feedback3-ext_interleaved_two_bufs", &["vs", "-auto", "-fbo"]),
    ("ext_transform_feedback-tessellation", &["triangle_fan", "flat_first", "-auto", "-fbo"]),
];

fn program(name: &str) -> String {
    match name.contains("transform_feedback") {
        true => format!("/usr/lib/x86_64-linux-gnu/piglit/bin/{name}"),
        false => example(name),
    }
}

fn engine(options: &[&str]) -> EngineArgs {
    #[derive(clap::Parser)]
    struct Options {
        #[command(flatten)]
        engine: EngineArgs,
    }
    let words = std::iter::once("test").chain(options.iter().copied());
    <Options as clap::Parser>::parse_from(words).engine
}

/// Recorded on each executor, and replayed on each.
#[test]
fn a_recording_replays_to_the_same_bytes() {
    for ((name, arguments), on) in RECORDED.iter().flat_map(|program| EXECUTORS.map(|on| (program, on))) {
        let file = scratch(".cap");
        let options = [on, &["--record", file.to_str().unwrap()]].concat();
        let Ended { status, out, .. } = run(&options, &program(name), arguments);
        assert_eq!(status, Some(0), "{name} on {on:?}: {out}");
        let capture = load(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        for executor in EXECUTORS {
            let options = ReplayOptions { golden: true, ..ReplayOptions::default() };
            let report = replay(&capture, engine(executor).engine().unwrap().executor, options).report;
            assert!(report.ok, "{name}, recorded on {on:?}, on {executor:?}: {:?}", report.refusals);
            assert!(
                report.golden.pages > 0 && report.golden.differ.is_empty(),
                "{name}: {:?}",
                report.golden
            );
        }
    }
}
