//! Programs that do not behave, for the tests of the virtual GPU. The argument says which.
#![expect(unsafe_code, reason = "processes are ended and forked here, which is done through C functions")]

mod support;

use std::ffi::c_int;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};

use support::{Gl, POINTS, Result};

unsafe extern "C" {
    fn fork() -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

const SHADER: &str = "#version 330
out int number;
void main() {
    number = 3 * gl_VertexID;
    gl_Position = vec4(0.0);
}";

const VERTICES: i32 = 100;

/// One behaviour.
type Behave = fn() -> Result<()>;

const BEHAVIOURS: [(&str, Behave); 10] = [
    ("right", right),
    ("killed", killed),
    ("never-waits", never_waits),
    ("never-ends", never_ends),
    ("fork", forks),
    ("pressure", pressure),
    ("reopen", reopens),
    ("flood", flood),
    ("draws", draws),
    ("submissions", submissions),
];

fn main() -> Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let behaviour = BEHAVIOURS.iter().find(|(n, _)| *n == name).ok_or("no such behaviour")?;
    (behaviour.1)()
}

/// Captures numbers and checks them.
fn check(gl: &Gl, program: u32) -> Result<()> {
    let buffer = gl.buffer(4 * VERTICES as usize);
    gl.capture(program, buffer, POINTS, VERTICES);
    let words = gl.words(buffer, VERTICES as usize);
    gl.functions.delete_buffers(1, &raw const buffer);
    gl.check()?;
    match words.iter().zip(0..).all(|(word, i)| *word == 3 * i) {
        true => Ok(()),
        false => Err(format!("wrong numbers: {words:?}").into()),
    }
}

fn right() -> Result<()> {
    let gl = Gl::new()?;
    let program = gl.program(SHADER, &[c"number"])?;
    (0..20).try_for_each(|_| check(&gl, program))?;
    println!("right");
    Ok(())
}

/// Submits work and is killed while it runs.
fn killed() -> Result<()> {
    let gl = Gl::new()?;
    let program = gl.program(SHADER, &[c"number"])?;
    let buffer = gl.buffer(4 * VERTICES as usize);
    for _ in 0..50 {
        gl.capture(program, buffer, POINTS, VERTICES);
        gl.functions.flush();
    }
    // SAFETY: a plain call; this process ends.
    unsafe { kill(std::process::id() as c_int, 9) };
    Ok(())
}

/// Submits work, waits for none of it, and ends without cleaning up.
fn never_waits() -> Result<()> {
    let gl = Gl::new()?;
    let program = gl.program(SHADER, &[c"number"])?;
    let buffer = gl.buffer(4 * VERTICES as usize);
    for _ in 0..300 {
        gl.capture(program, buffer, POINTS, VERTICES);
        gl.functions.flush();
    }
    println!("left");
    // SAFETY: a plain call; nothing is cleaned up, which is the point.
    unsafe { _exit(0) }
}

/// Works, says which process it is, and stays.
fn never_ends() -> Result<()> {
    let gl = Gl::new()?;
    let program = gl.program(SHADER, &[c"number"])?;
    check(&gl, program)?;
    println!("process {}", std::process::id());
    loop {
        std::thread::park();
    }
}

/// Forks with a context: the child has a context of its own, and the parent's goes on.
fn forks() -> Result<()> {
    let gl = Gl::new()?;
    let program = gl.program(SHADER, &[c"number"])?;
    check(&gl, program)?;
    for uses_gpu in [false, true] {
        // SAFETY: the child runs code that does not touch the parent's context.
        let child = unsafe { fork() };
        if child == 0 {
            let done = if uses_gpu { another_program() } else { Ok(()) };
            // SAFETY: a plain call.
            unsafe { _exit(c_int::from(done.is_err())) };
        }
        check(&gl, program)?;
        let mut status = 1;
        // SAFETY: the status is written to.
        unsafe { waitpid(child, &raw mut status, 0) };
        if status != 0 {
            return Err(format!("the child ended with {status:#x}").into());
        }
        check(&gl, program)?;
    }
    println!("both right");
    Ok(())
}

/// What a child can do after a fork without the parent's threads: start afresh.
fn another_program() -> Result<()> {
    let this = std::env::current_exe()?;
    let status = std::process::Command::new(this).arg("right").status()?;
    status.success().then_some(()).ok_or_else(|| "the child is not right".into())
}

/// Takes all memory there is, gives it back, and works.
fn pressure() -> Result<()> {
    const BYTES: usize = 256 << 20;
    const OUT_OF_MEMORY: u32 = 0x505;
    let gl = Gl::new()?;
    let mut taken = Vec::new();
    let error = loop {
        taken.push(gl.reserve(BYTES));
        match gl.functions.get_error() {
            0 if taken.len() < 256 => (),
            error => break error,
        }
    };
    if error != OUT_OF_MEMORY {
        return Err(format!("{} buffers, then error {error:#x}", taken.len()).into());
    }
    gl.functions.delete_buffers(taken.len() as i32, taken.as_ptr());
    gl.functions.finish();
    let program = gl.program(SHADER, &[c"number"])?;
    check(&gl, program)?;
    println!("memory ended, and came back");
    Ok(())
}

/// Opens and closes the device again and again.
fn reopens() -> Result<()> {
    for _ in 0..10 {
        let gl = Gl::new()?;
        let program = gl.program(SHADER, &[c"number"])?;
        check(&gl, program)?;
    }
    println!("ten times right");
    Ok(())
}

/// Takes more connections to the executor than it serves, without saying anything on them, gives them back, and works.
fn flood() -> Result<()> {
    const CONNECTIONS: usize = 700;
    let gl = Gl::new()?;
    let program = gl.program(SHADER, &[c"number"])?;
    let all = std::env::var("GUESTWAVE_VIRTUAL_GPU")?;
    let address = SocketAddr::from_abstract_name(all.split(',').next().unwrap_or_default())?;
    let taken =
        (0..CONNECTIONS).map(|_| UnixStream::connect_addr(&address)).collect::<std::io::Result<Vec<_>>>()?;
    check(&gl, program)?;
    drop(taken);
    check(&gl, program)?;
    while let Err(error) = Gl::new() {
        // The executor may not have seen yet that they are closed.
        println!("not yet: {error}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    println!("flooded, and right");
    Ok(())
}

/// Many tiny draws, each captured by itself, and how long one takes.
fn draws() -> Result<()> {
    tiny(|_| ())
}

/// The same, each in a submission of its own.
fn submissions() -> Result<()> {
    tiny(|gl| gl.functions.flush())
}

fn tiny(after_each: impl Fn(&Gl)) -> Result<()> {
    const DRAWS: u32 = 2000;
    let gl = Gl::new()?;
    let program = gl.program(SHADER, &[c"number"])?;
    let buffer = gl.buffer(4 * VERTICES as usize);
    for _ in 0..10 {
        gl.capture(program, buffer, POINTS, 1);
    }
    gl.functions.finish();
    let start = std::time::Instant::now();
    for _ in 0..DRAWS {
        gl.capture(program, buffer, POINTS, 1);
        after_each(&gl);
    }
    gl.functions.finish();
    println!("{:.1} microseconds a draw", start.elapsed().as_secs_f64() * 1e6 / f64::from(DRAWS));
    gl.check()
}
