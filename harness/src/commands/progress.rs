//! How far a replay is, on a terminal.

use std::io::IsTerminal;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

use crate::capture::{Capture, Record};

/// A bar on stderr: over the files, or over the submissions of the only one. Where nobody looks it counts and shows nothing.
pub(super) struct Progress {
    bar: ProgressBar,
    files: usize,
}

impl Progress {
    pub(super) fn new(files: usize) -> Self {
        let bar = match std::io::stderr().is_terminal() {
            true => ProgressBar::no_length(),
            false => ProgressBar::hidden(),
        };
        if files > 1 {
            bar.set_length(files as u64);
        }
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}");
        Progress { bar: style.map_or(bar.clone(), |style| bar.with_style(style)), files }
    }

    /// A file is about to be read.
    pub(super) fn opens(&self, file: &Path) {
        self.bar.set_message(file.display().to_string());
    }

    /// It is read, and is about to be replayed.
    pub(super) fn begins(&self, capture: &Capture) {
        if self.files == 1 {
            let submissions = capture.records.iter().filter(|r| matches!(r, Record::Submit(_))).count();
            self.bar.set_length(submissions as u64);
        }
    }

    /// A submission has been carried out.
    pub(super) fn submitted(&self) {
        if self.files == 1 {
            self.bar.inc(1);
        }
    }

    /// A file is done: prints what is to be said of it without the bar in between.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        let printed = self.bar.suspend(print);
        if self.files > 1 {
            self.bar.inc(1);
        }
        printed
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{Fence, Submit};

    #[test]
    fn one_file_counts_by_submissions_and_several_by_files() {
        let submit = Record::Submit(Submit {
            index: 0,
            context: 1,
            ip_type: 0,
            ring: 0,
            sequence: 1,
            flags: 0,
            ibs: Vec::new(),
            bos: Vec::new(),
            fence: Fence { used: false, bo: 0, offset: 0 },
        });
        let capture = Capture { gpu: "navi21".to_owned(), records: vec![submit.clone(), submit] };
        let after = |files: usize| {
            let progress = Progress::new(files);
            for _ in 0..files {
                progress.begins(&capture);
                progress.submitted();
                progress.aside(|| ());
            }
            (progress.bar.position(), progress.bar.length())
        };
        assert_eq!(after(1), (1, Some(2)));
        assert_eq!(after(3), (3, Some(3)));
    }
}
