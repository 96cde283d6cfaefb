//! The program that runs on the virtual GPU, as a process: it is told what this process is told, and does not outlive it.
//!
//! # Safety invariants
//!
//! 1. Sets of signals are filled by the C library before they are read.
//! 2. Between fork and exec nothing but system calls is made: the child has one thread of a process that may have had many, so
//!    whatever takes a lock could wait for ever.
#![expect(unsafe_code, reason = "signal masks and the steps between fork and exec are C interfaces")]

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use libc::{c_int, sigset_t};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process, waitid};

use super::lock;

/// Signals that ask a program to end.
const PASSED_ON: [c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// The process, while there is one.
#[derive(Debug, Default)]
pub struct Running(Mutex<Option<Pid>>);

impl Running {
    /// Sends the program a signal, unless it has ended.
    pub fn tell(&self, signal: Signal) {
        if let Some(process) = *lock(&self.0) {
            // It may be ending by itself.
            let _ = kill_process(process, signal);
        }
    }
}

/// The signals that ask to end, held back from this process.
#[derive(Clone, Copy)]
pub struct Signals {
    own: sigset_t,
    before: sigset_t,
}

impl Signals {
    /// Holds them back. To be called before other threads are made: they inherit it.
    ///
    /// # Errors
    /// The host does not let them be held back.
    pub fn hold() -> io::Result<Signals> {
        let (mut own, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the first call fills `own`, and the last one `before` if it succeeds.
        unsafe {
            libc::sigemptyset(own.as_mut_ptr());
            for signal in PASSED_ON {
                libc::sigaddset(own.as_mut_ptr(), signal);
            }
            match libc::pthread_sigmask(libc::SIG_BLOCK, own.as_ptr(), before.as_mut_ptr()) {
                0 => Ok(Signals { own: own.assume_init(), before: before.assume_init() }),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }
    }

    /// Waits for one: its number, and whether a process sent it. What a terminal sends, it sends to the program as well.
    fn next(&self) -> Option<(c_int, bool)> {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: both are valid for the call.
        let number = unsafe { libc::sigwaitinfo(&raw const self.own, info.as_mut_ptr()) };
        // SAFETY: zeros are a valid value, and the call writes nothing else.
        let code = unsafe { info.assume_init() }.si_code;
        (number > 0).then_some((number, code <= 0))
    }

    /// Has a command begin with the signals as they were, and end when this process ends.
    fn prepare(&self, command: &mut Command) {
        let (before, parent) = (self.before, getpid());
        let steps = move || {
            // SAFETY: the set is one that the C library filled.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have ended before.
            (getppid() == Some(parent)).then_some(()).ok_or_else(|| io::ErrorKind::NotFound.into())
        };
        // SAFETY: invariant 2.
        unsafe { command.pre_exec(steps) };
    }
}

/// A program that has been started.
#[derive(Debug)]
pub struct Program {
    child: Child,
    running: Arc<Running>,
    interrupted: Arc<AtomicBool>,
}

impl Program {
    /// Starts it. It is told of every signal that this process gets from now on and that asks it to end.
    ///
    /// # Errors
    /// It cannot be started, or no thread.
    pub fn start(command: &mut Command, signals: Signals, running: &Arc<Running>) -> io::Result<Program> {
        signals.prepare(command);
        let child = command.spawn()?;
        *lock(&running.0) = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let program = Program { child, running: Arc::clone(running), interrupted: Arc::default() };
        let (running, interrupted) = (Arc::clone(running), Arc::clone(&program.interrupted));
        let pass_on = move || pass_on(&signals, &running, &interrupted);
        std::thread::Builder::new().name("guestwave-signals".to_owned()).spawn(pass_on)?;
        Ok(program)
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// The host does not tell.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        let process = *lock(&self.running.0);
        if let Some(process) = process {
            // As long as its status has not been taken, nobody else gets its number.
            let _ = waitid(WaitId::Pid(process), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            *lock(&self.running.0) = None;
        }
        self.child.wait()
    }

    /// Whether this process was asked to end.
    pub fn interrupted(&self) -> &AtomicBool {
        &self.interrupted
    }
}

fn pass_on(signals: &Signals, running: &Running, interrupted: &AtomicBool) {
    loop {
        let Some((number, sent)) = signals.next() else { continue };
        interrupted.store(true, Ordering::Release);
        if let Some(signal) = Signal::from_named_raw(number).filter(|_| sent) {
            running.tell(signal);
        }
    }
}
