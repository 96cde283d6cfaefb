//! Fences, and waiting for whatever may change.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::lock;

/// Completes once.
#[derive(Debug, Default)]
pub(super) struct Fence {
    done: AtomicBool,
}

impl Fence {
    /// One that has not completed.
    pub(super) fn new() -> Arc<Fence> {
        Arc::default()
    }

    /// One that has completed.
    pub(super) fn completed() -> Arc<Fence> {
        Arc::new(Fence { done: AtomicBool::new(true) })
    }

    /// Whether it has completed; what its work stored can be seen then.
    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }
}

/// Where threads wait for something to change.
#[derive(Debug, Default)]
pub(super) struct Progress {
    changes: Mutex<u64>,
    changed: Condvar,
}

impl Progress {
    /// Completes a fence and wakes whoever waits.
    pub(super) fn complete(&self, fence: &Fence) {
        fence.done.store(true, Ordering::Release);
        self.changed();
    }

    /// Something that a wait may look at has changed.
    pub(super) fn changed(&self) {
        *lock(&self.changes) += 1;
        self.changed.notify_all();
    }

    /// Waits until `ready` gives something or the deadline has passed.
    pub(super) fn wait<T>(&self, deadline: Deadline, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            let seen = *lock(&self.changes);
            if let Some(value) = ready() {
                return Some(value);
            }
            let left = deadline.left()?;
            let changes = lock(&self.changes);
            if *changes == seen {
                drop(self.changed.wait_timeout(changes, left).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

/// When a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deadline {
    /// At a moment.
    At(Instant),
    /// When what is waited for comes.
    Never,
}

/// How long a wait without a deadline sleeps at most before it looks again.
const NAP: Duration = Duration::from_secs(3600);

impl Deadline {
    /// From nanoseconds of the monotonic clock, as the kernel interface has them; what is negative as a signed number never comes.
    pub(super) fn monotonic(nanoseconds: u64) -> Deadline {
        let Ok(wanted) = i64::try_from(nanoseconds) else { return Deadline::Never };
        let now = clock_gettime(ClockId::Monotonic);
        let now = now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec);
        let left = u64::try_from(wanted.saturating_sub(now)).unwrap_or(0);
        Instant::now().checked_add(Duration::from_nanos(left)).map_or(Deadline::Never, Deadline::At)
    }

    /// From now on.
    pub(super) fn after(time: Duration) -> Deadline {
        Instant::now().checked_add(time).map_or(Deadline::Never, Deadline::At)
    }

    /// Time left, `None` if there is none.
    fn left(self) -> Option<Duration> {
        match self {
            Deadline::Never => Some(NAP),
            Deadline::At(end) => {
                Some(end.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_by_completion_or_by_its_deadline() {
        let (progress, fence) = (Progress::default(), Fence::new());
        let done = || fence.is_done().then_some(());
        assert_eq!(progress.wait(Deadline::monotonic(0), done), None);
        assert_eq!(progress.wait(Deadline::after(Duration::from_millis(5)), done), None);
        std::thread::scope(|scope| {
            scope.spawn(|| progress.complete(&fence));
            assert_eq!(progress.wait(Deadline::monotonic(u64::MAX), done), Some(()));
        });
        assert_eq!(progress.wait(Deadline::monotonic(0), done), Some(()));
    }
}
