//! The thread that owns the device.

use std::cell::Cell;
use std::ops::Range;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use crate::gpu::{Code, Gpu, Job, Lost, Outcome};

enum Order {
    Compile { label: String, code: Code, reply: Sender<Result<usize, String>> },
    Run { job: Box<Job>, reply: Sender<Result<Outcome, Lost>> },
    Fetch { ranges: Vec<Range<u64>>, into: Vec<u8>, reply: Sender<Result<Vec<u8>, Lost>> },
}

/// The worker, as others see it. Orders are carried out one after another.
pub(crate) struct Worker {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
    /// Room for what is fetched, to be used again.
    room: Cell<Vec<u8>>,
}

/// What will come of an order.
pub(crate) type Reply<T> = Receiver<Result<T, Lost>>;

impl Worker {
    pub(crate) fn new(gpu: Gpu) -> std::io::Result<Self> {
        let (orders, inbox) = unbounded();
        let thread =
            std::thread::Builder::new().name("guestwave-wgpu".into()).spawn(move || work(gpu, &inbox))?;
        Ok(Worker { orders: Some(orders), thread: Some(thread), room: Cell::default() })
    }

    fn send(&self, order: Order) {
        // If the worker is gone the reply's channel is closed, which its reader sees.
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }

    /// Makes a pipeline; gives its number.
    pub(crate) fn compile(&self, label: &str, code: Code) -> Result<usize, String> {
        let (reply, answer) = bounded(1);
        self.send(Order::Compile { label: label.into(), code, reply });
        answer.recv().unwrap_or_else(|_| Err("the device's thread is gone".into()))
    }

    pub(crate) fn run(&self, job: Job) -> Reply<Outcome> {
        let (reply, answer) = bounded(1);
        self.send(Order::Run { job: Box::new(job), reply });
        answer
    }

    pub(crate) fn fetch(&self, ranges: Vec<Range<u64>>) -> Reply<Vec<u8>> {
        let (reply, answer) = bounded(1);
        self.send(Order::Fetch { ranges, into: self.room.take(), reply });
        answer
    }

    /// Takes back what was fetched, so that its room need not be had anew.
    pub(crate) fn recycle(&self, fetched: Vec<u8>) {
        self.room.set(fetched);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Carries orders out until nobody can give any; a reader who has gone does not matter.
fn work(mut gpu: Gpu, inbox: &Receiver<Order>) {
    let mut compiled = false;
    for order in inbox {
        match order {
            Order::Compile { label, code, reply } => {
                compiled = true;
                let _ = reply.send(gpu.compile(&label, code));
            }
            Order::Run { job, reply } => {
                let _ = reply.send(gpu.run(&job));
            }
            Order::Fetch { ranges, into, reply } => {
                let _ = reply.send(gpu.fetch(&ranges, into));
            }
        }
    }
    if compiled {
        gpu.save_cache();
    }
}
