//! Synchronization objects, binary and with a timeline.

use std::sync::{Arc, Mutex};

use super::lock;
use super::progress::Fence;

/// A synchronization object: what completes at each point of its timeline. A binary one has only point 0.
#[derive(Debug, Default)]
pub(super) struct Syncobj {
    points: Mutex<Vec<(u64, Arc<Fence>)>>,
}

/// The most points of an object that may not be done.
const MOST_POINTS: usize = 1 << 16;

/// Where a point stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing has been submitted for it.
    Missing,
    /// Something has been submitted that is not done.
    Pending,
    /// It is done.
    Done,
}

impl Syncobj {
    /// One that is signalled already, or one with nothing in it.
    pub(super) fn new(signalled: bool) -> Arc<Syncobj> {
        let object = Syncobj::default();
        if signalled {
            object.replace(Fence::completed());
        }
        Arc::new(object)
    }

    /// Puts a fence in place of all that is there.
    pub(super) fn replace(&self, fence: Arc<Fence>) {
        *lock(&self.points) = vec![(0, fence)];
    }

    /// Empties it.
    pub(super) fn reset(&self) {
        lock(&self.points).clear();
    }

    /// Puts a fence at a point, or in place of all that is there for point 0.
    pub(super) fn put(&self, point: u64, fence: Arc<Fence>) {
        if point == 0 {
            return self.replace(fence);
        }
        let mut points = lock(&self.points);
        let passed = points.iter().take_while(|(_, f)| f.is_done()).count();
        points.drain(..passed.saturating_sub(1));
        points.push((point, fence));
    }

    /// Whether it has as many points that are not done as it takes.
    pub(super) fn is_full(&self) -> bool {
        lock(&self.points).len() >= MOST_POINTS
    }

    /// What must complete for a point: everything up to it. `None` if nothing has been submitted for it.
    pub(super) fn fences(&self, point: u64) -> Option<Vec<Arc<Fence>>> {
        let points = lock(&self.points);
        let reached = match point {
            0 => points.len().checked_sub(1)?,
            _ => points.iter().position(|(p, _)| *p >= point)?,
        };
        Some(points[..=reached].iter().map(|(_, f)| Arc::clone(f)).collect())
    }

    /// Where a point stands.
    pub(super) fn standing(&self, point: u64) -> Standing {
        match self.fences(point) {
            None => Standing::Missing,
            Some(fences) if fences.iter().all(|f| f.is_done()) => Standing::Done,
            Some(_) => Standing::Pending,
        }
    }

    /// The last point that has been submitted, or that is done with all before it.
    pub(super) fn reached(&self, submitted: bool) -> u64 {
        let points = lock(&self.points);
        let counted = points.iter().take_while(|(_, f)| submitted || f.is_done());
        counted.map(|(point, _)| *point).max().unwrap_or(0)
    }

    /// Takes what stands at a point of another object over to a point of this one; whether anything stood there.
    pub(super) fn transfer(&self, point: u64, from: &Syncobj, from_point: u64) -> bool {
        let fence = from.fences(from_point).and_then(|mut fences| fences.pop());
        match fence {
            Some(fence) => {
                self.put(point, fence);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::progress::Progress;
    use super::*;

    #[test]
    fn a_binary_object_holds_its_last_fence() {
        let (object, progress) = (Syncobj::new(false), Progress::default());
        assert_eq!(object.standing(0), Standing::Missing);
        let fence = Fence::new();
        object.replace(Arc::clone(&fence));
        assert_eq!(object.standing(0), Standing::Pending);
        progress.complete(&fence);
        assert_eq!(object.standing(0), Standing::Done);
        object.reset();
        assert_eq!(object.standing(0), Standing::Missing);
        assert_eq!(Syncobj::new(true).standing(0), Standing::Done);
    }

    #[test]
    fn a_timeline_is_reached_in_order() {
        let (object, progress) = (Syncobj::new(false), Progress::default());
        let fences = [Fence::new(), Fence::new()];
        object.put(5, Arc::clone(&fences[0]));
        object.put(9, Arc::clone(&fences[1]));
        assert_eq!(
            [object.standing(5), object.standing(7), object.standing(10)],
            [Standing::Pending, Standing::Pending, Standing::Missing]
        );
        progress.complete(&fences[1]);
        assert_eq!(
            (object.standing(9), object.reached(false), object.reached(true)),
            (Standing::Pending, 0, 9)
        );
        progress.complete(&fences[0]);
        assert_eq!((object.standing(9), object.reached(false)), (Standing::Done, 9));
        object.put(12, Fence::new());
        assert_eq!((object.standing(6), object.standing(12)), (Standing::Done, Standing::Pending));
    }

    #[test]
    fn a_transfer_takes_a_fence_over() {
        let (from, to) = (Syncobj::new(false), Syncobj::new(false));
        assert!(!to.transfer(3, &from, 0));
        from.replace(Fence::completed());
        assert!(to.transfer(3, &from, 0));
        assert_eq!((to.standing(3), to.reached(false)), (Standing::Done, 3));
    }
}
