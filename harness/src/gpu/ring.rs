//! The rings: a thread each, which runs submissions one after another.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use guestwave_cp::amd::CommandProcessor;

use super::file::Device;
use super::lock;
use super::progress::{Deadline, Fence};
use super::record::Stored;
use super::report::Source;
use super::space::Space;
use super::store::Bo;
use super::syncobj::{Standing, Syncobj};
use crate::capture::Submit;
use crate::codes::coded_errors;
use crate::memory::map::AddressMap;
use crate::replay::{Prepare, Processors};

coded_errors! {
    /// What is refused because of this process and not because of the program.
    GpuError: GPU_ERRORS;
    /// The executor or the command processor broke off.
    Fault {} = "HN-GPU-001", "the submission was broken off by a fault of Guestwave itself; what it had not stored by then is missing";
}

/// Submissions that a ring takes before a program has to wait, as many as the kernel's.
const QUEUED: usize = 32;

/// How long a wait packet waits for memory that somebody else is to write.
const PATIENCE: Duration = Duration::from_secs(10);

/// A submission on its way.
pub(super) struct Job {
    /// The open file.
    pub(super) file: u64,
    /// What was submitted.
    pub(super) submit: Submit,
    /// The address space as it was then.
    pub(super) map: Arc<AddressMap<Bo>>,
    /// What must complete before.
    pub(super) waits: Vec<Wait>,
    /// Completes when the work is done.
    pub(super) fence: Arc<Fence>,
    /// Where the sequence number is written then: a place in the memory file.
    pub(super) user_fence: Option<u64>,
}

/// Something that a job waits for.
pub(super) enum Wait {
    /// Another submission.
    Fence(Arc<Fence>),
    /// A point of a synchronization object, for which something need not have been submitted yet.
    Point(Arc<Syncobj>, u64),
}

impl Wait {
    fn is_over(&self) -> bool {
        match self {
            Wait::Fence(fence) => fence.is_done(),
            Wait::Point(object, point) => object.standing(*point) == Standing::Done,
        }
    }
}

/// A ring.
pub(super) struct Ring {
    jobs: Mutex<Option<Sender<Job>>>,
    order: Mutex<()>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Ring {
    /// A ring with its thread.
    ///
    /// # Errors
    /// There is no such executor here, or no thread.
    pub(super) fn start(device: &Arc<Device>, closed: Arc<AtomicBool>) -> anyhow::Result<Ring> {
        let (jobs, queue) = bounded(QUEUED);
        let engine = device.engine.engine()?;
        let live = device.recorder.is_none();
        let processors = Processors::new(device.model.isa(), engine.executor, prepare(live, &closed));
        let space = Space::new(Arc::clone(device.store.memory()));
        let worker = Worker { device: Arc::clone(device), processors, modules: engine.stats, space, closed };
        let name = "guestwave-ring".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(move || worker.run(&queue))?;
        Ok(Ring { jobs: Mutex::new(Some(jobs)), order: Mutex::default(), thread: Mutex::new(Some(thread)) })
    }

    /// Held from giving a job its number to queueing it, so that jobs are queued in the order of their numbers.
    pub(super) fn order(&self) -> MutexGuard<'_, ()> {
        lock(&self.order)
    }

    /// Queues a job; waits while the ring is full. The job is dropped if the ring has ended.
    pub(super) fn submit(&self, job: Job) {
        let jobs = lock(&self.jobs).clone();
        if let Some(jobs) = jobs {
            let _ = jobs.send(job);
        }
    }

    /// Runs what is queued and ends the thread.
    pub(super) fn end(&self) {
        drop(lock(&self.jobs).take());
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// How command processors are set up: with the host's clock and patience where a program runs, with a clock that counts where
/// a replay is to give the same.
fn prepare(live: bool, closed: &Arc<AtomicBool>) -> Prepare {
    let closed = Arc::clone(closed);
    match live {
        false => Box::new(|processor: CommandProcessor| processor),
        true => Box::new(move |processor: CommandProcessor| {
            let (start, mut since, closed) = (Instant::now(), None, Arc::clone(&closed));
            let ticks = move || (start.elapsed().as_nanos() / 10) as u64;
            let futile = move || closed.load(Ordering::Acquire);
            processor.with_clock(ticks).with_wait(move |wait| wait_again(&mut since, wait.held || futile()))
        }),
    }
}

/// Judges a wait again every now and then until patience ends, or until nobody is there any more who could end it.
fn wait_again(since: &mut Option<Instant>, over: bool) -> bool {
    let began = *since.get_or_insert_with(Instant::now);
    let again = !over && began.elapsed() < PATIENCE;
    match again {
        true => std::thread::sleep(Duration::from_micros(50)),
        false => *since = None,
    }
    again
}

struct Worker {
    device: Arc<Device>,
    processors: Processors,
    /// What a translating executor counts.
    modules: Option<Arc<Mutex<guestwave_translate::executor::Stats>>>,
    space: Space,
    closed: Arc<AtomicBool>,
}

impl Worker {
    fn run(mut self, queue: &Receiver<Job>) {
        for job in queue {
            if self.waited_for(&job) {
                self.carry_out_guarded(&job);
            }
            if let Some(place) = job.user_fence {
                self.device.store.memory().publish(place, job.submit.sequence);
            }
            self.device.progress.complete(&job.fence);
        }
        if let Some(stats) = &self.modules {
            self.device.report.modules(&lock(stats));
        }
    }

    /// Waits for what the job depends on; whether it came. Once the program is gone, nobody else will make it come.
    fn waited_for(&self, job: &Job) -> bool {
        let over = || match job.waits.iter().all(Wait::is_over) {
            true => Some(true),
            false => self.closed.load(Ordering::Acquire).then_some(false),
        };
        self.device.progress.wait(Deadline::Never, over).unwrap_or(false)
    }

    /// A program must not wait for ever because something here is wrong.
    fn carry_out_guarded(&mut self, job: &Job) {
        let caught = std::panic::catch_unwind(AssertUnwindSafe(|| self.carry_out(job)));
        if caught.is_err() {
            let error = GpuError::Fault {};
            self.device.report.refused_whole(Source { submission: job.submit.index }, error.code(), &error);
        }
    }

    fn carry_out(&mut self, job: &Job) {
        let start = Instant::now();
        self.space.enter(&job.map);
        let mut stored = Stored::wanted(self.device.recorder.is_some());
        let done = self.processors.submit(&job.submit, &self.space, &mut stored);
        let source = Source { submission: job.submit.index };
        match done {
            Ok(done) => self.device.report.submission(source, &done, start.elapsed()),
            Err(error) => self.device.report.refused_whole(source, error.code(), &error),
        }
        if let Some(recorder) = &self.device.recorder {
            recorder.carried_out(job.file, &job.map, stored);
        }
    }
}
