//! What is measured: the time that passes, or the time that this process computes.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// The time that passes.
    Wall,
    /// The time that all threads of this process have run together.
    Cpu,
}

impl Clock {
    /// The time since some moment before.
    pub(super) fn now(self) -> Duration {
        match self {
            Clock::Wall => wall(),
            Clock::Cpu => cpu(),
        }
    }
}

fn wall() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

#[cfg(unix)]
fn cpu() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Where the host does not tell, the time that passes.
#[cfg(not(unix))]
fn cpu() -> Duration {
    wall()
}
