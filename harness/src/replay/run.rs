//! The replay itself.

use std::sync::Arc;
use std::time::Instant;

use guestwave_cp::Executor;
use guestwave_cp::amd::SubmitReport;

use super::expect::{Expectation, ExpectationRefusal, parse_expectation};
use super::golden::Golden;
use super::queries::QueryCheck;
use super::report::{Checked, ExpectationReport, NOT_REACHED, RefusalReport, Report};
use super::{Machine, Trace, isa_of, texels, tracked};
use crate::capture::{Capture, Record, Submit};
use crate::memory::Buffer;

/// What a replay is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Compare with recorded pages.
    pub golden: bool,
    /// Keep buffer objects that the capture frees, for a dump.
    pub keep_freed: bool,
    /// Vertices kept of each streamout buffer of each draw.
    pub rows: usize,
}

/// What a replay leaves.
#[derive(Debug)]
pub struct Outcome {
    /// The result.
    pub report: Report,
    /// Launches and samples.
    pub trace: Trace,
    /// Buffer objects at their ends: all live ones, and freed ones if they were kept.
    pub buffers: Vec<Arc<Buffer>>,
}

/// Replays a capture on `executor`.
pub fn replay(capture: &Capture, executor: Box<dyn Executor>, options: ReplayOptions) -> Outcome {
    replay_watched(capture, executor, options, &|| ())
}

/// As [`replay`], and tells each time that a submission is behind it.
pub fn replay_watched(
    capture: &Capture,
    executor: Box<dyn Executor>,
    options: ReplayOptions,
    submitted: &dyn Fn(),
) -> Outcome {
    let start = Instant::now();
    let isa = match isa_of(&capture.gpu) {
        Ok(isa) => isa,
        Err(error) => return refused_whole(capture, &error),
    };
    let mut run = Run::new(Machine::new(isa, executor), options);
    run.report.gpu.clone_from(&capture.gpu);
    run.expect(capture);
    run.ended = capture.records.iter().any(|record| {
        let ended = run.step(record).is_err();
        if matches!(record, Record::Submit(_)) {
            submitted();
        }
        ended
    });
    run.finish(start)
}

fn refused_whole(capture: &Capture, error: &super::ReplayError) -> Outcome {
    let refusal = RefusalReport::whole(error.code(), error, 0);
    let report = Report { gpu: capture.gpu.clone(), refusals: vec![refusal], ..Report::default() };
    Outcome { report, trace: Trace::default(), buffers: Vec::new() }
}

/// The replay ends here; the reason is in the report.
struct Ended;

struct Run {
    machine: Machine,
    options: ReplayOptions,
    report: Report,
    trace: Trace,
    golden: Golden,
    /// Expectations with what became of them so far.
    expectations: Vec<(String, Expectation, Option<Checked>)>,
    freed: Vec<Arc<Buffer>>,
    /// Whether the replay stopped before the capture did.
    ended: bool,
}

impl Run {
    fn new(machine: Machine, options: ReplayOptions) -> Self {
        Run {
            machine,
            options,
            report: Report::default(),
            trace: Trace::default(),
            golden: Golden::default(),
            expectations: Vec::new(),
            freed: Vec::new(),
            ended: false,
        }
    }

    fn expect(&mut self, capture: &Capture) {
        for record in &capture.records {
            let Record::Expect(text) = record else { continue };
            match parse_expectation(text) {
                Expectation::Remark => (),
                expectation => self.expectations.push((text.clone(), expectation, None)),
            }
        }
    }

    fn step(&mut self, record: &Record) -> Result<(), Ended> {
        match record {
            Record::Free { bo } => self.check_buffers_in(*bo),
            Record::Expect(text) => self.check_texels(text),
            _ => (),
        }
        if self.options.golden
            && let Some(page) = self.golden.follow(record)
        {
            self.report.golden.pages += 1;
            let differ = self.golden.compare(&self.machine.memory, self.trace.submission, page);
            self.report.golden.differ.extend(differ);
        }
        if let Record::Submit(submit) = record {
            return self.submit(submit);
        }
        match self.machine.apply(record) {
            Ok(freed) => {
                self.freed.extend(freed.filter(|_| self.options.keep_freed));
                Ok(())
            }
            Err(error) => self.refuse(error.code(), &error),
        }
    }

    fn refuse(&mut self, code: &'static str, error: &dyn std::error::Error) -> Result<(), Ended> {
        self.report.refusals.push(RefusalReport::whole(code, error, self.trace.submission));
        Err(Ended)
    }

    fn submit(&mut self, submit: &Submit) -> Result<(), Ended> {
        self.trace.begin(submit.index);
        self.report.submissions += 1;
        let done = match self.machine.submit(submit, &mut self.trace) {
            Ok(done) => done,
            Err(error) => return self.refuse(error.code(), &error),
        };
        self.trace.read_rows(&self.machine.memory, self.options.rows);
        self.account(&done, submit.index)
    }

    fn account(&mut self, done: &SubmitReport, submission: u32) -> Result<(), Ended> {
        self.report.stats.add(done);
        self.report.inexact.extend(done.inexact.iter().map(|m| (*m).to_owned()));
        for refused in &done.refusals {
            let report = RefusalReport::new(refused, submission);
            match refused.stopped {
                true => self.report.refusals.push(report),
                false => self.report.not_drawn.push(report),
            }
        }
        match done.stopped() {
            Some(_) => Err(Ended),
            None => Ok(()),
        }
    }

    /// Checks the expectations whose buffer lies in `bo`, which is about to be freed.
    fn check_buffers_in(&mut self, bo: u32) {
        let buffers = self.machine.memory.buffers();
        for (_, expectation, checked) in self.expectations.iter_mut().filter(|e| e.2.is_none()) {
            let Expectation::Buffer { tag, size, .. } = expectation else { continue };
            let found = tracked::find(&buffers, *tag, *size).filter(|t| t.buffer.bo == bo);
            *checked = found.map(|t| check_words(&t, expectation));
        }
    }

    /// Checks the image that a text states, if it does.
    fn check_texels(&mut self, text: &str) {
        let open = self.expectations.iter_mut().find(|(t, _, checked)| t == text && checked.is_none());
        if let Some((_, Expectation::Texels(image), checked)) = open {
            *checked = Some(texels::check(image, self.trace.launches_now(), &self.machine.memory));
        }
    }

    fn finish(mut self, start: Instant) -> Outcome {
        let mut buffers = self.machine.memory.buffers();
        let mut queries = QueryCheck::default();
        for (text, expectation, checked) in std::mem::take(&mut self.expectations) {
            let checked = checked.unwrap_or_else(|| self.check(&expectation, &buffers, &mut queries));
            self.record(text, checked);
        }
        self.report.inexact.sort_unstable();
        self.report.inexact.dedup();
        self.report.ok = self.report.exit_status() == 0;
        self.report.stats.wall_seconds = start.elapsed().as_secs_f64();
        buffers.append(&mut self.freed);
        Outcome { report: self.report, trace: self.trace, buffers }
    }

    fn check(&self, expectation: &Expectation, buffers: &[Arc<Buffer>], queries: &mut QueryCheck) -> Checked {
        match expectation {
            _ if self.ended => Checked::Fails(format!("{NOT_REACHED}: the replay ended before")),
            Expectation::Buffer { tag, size, .. } => match tracked::find(buffers, *tag, *size) {
                Some(tracked) => check_words(&tracked, expectation),
                None => Checked::Fails("no buffer carries this trailer".to_owned()),
            },
            Expectation::Query { kind, value } => match queries.check(&self.trace.samples, *kind, *value) {
                Ok(()) => Checked::Holds,
                Err(counted) => Checked::Fails(counted),
            },
            Expectation::Texels(_) => Checked::Fails("the statement was not reached".to_owned()),
            Expectation::Uncheckable(reason) => Checked::Refused(reason),
            Expectation::Remark => Checked::Holds,
            Expectation::Unknown => Checked::Refused("the text is not in the language of expectations"),
        }
    }

    fn record(&mut self, text: String, checked: Checked) {
        let (ok, detail) = match checked {
            Checked::Holds => (true, String::new()),
            Checked::Fails(how) => (false, how),
            Checked::Refused(why) => {
                let refusal = ExpectationRefusal::Uncheckable { text: text.clone(), reason: why };
                let report = RefusalReport::whole(refusal.code(), &refusal, self.trace.submission);
                self.report.refusals.push(report);
                (false, format!("not checked: {why}"))
            }
        };
        self.report.expectations.push(ExpectationReport { text, ok, detail });
    }
}

/// The first words of a tracked buffer that are not what is expected.
fn check_words(tracked: &tracked::Tracked, expectation: &Expectation) -> Checked {
    let Expectation::Buffer { offset, words, .. } = expectation else { return Checked::Holds };
    let Some(found) = tracked.words(u64::from(*offset), words.len()) else {
        return Checked::Fails(format!("{} words at byte {offset} are not all in the buffer", words.len()));
    };
    let wrong: Vec<_> = (0..words.len()).filter(|i| found[*i] != words[*i]).collect();
    match wrong.first() {
        None => Checked::Holds,
        Some(i) => Checked::Fails(format!(
            "{} of {} words differ, first at byte {}: {:08x}, expected {:08x} (buffer object {} + {:#x})",
            wrong.len(),
            words.len(),
            offset + 4 * *i as u32,
            found[*i],
            words[*i],
            tracked.buffer.bo,
            tracked.offset,
        )),
    }
}
