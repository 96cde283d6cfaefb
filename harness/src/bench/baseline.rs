//! The baseline programs and the lines that they print.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A figure in what a baseline prints.
pub(super) struct Line {
    /// The program.
    pub(super) program: &'static str,
    /// Its arguments.
    pub(super) args: &'static [&'static str],
    /// What the line has before the figure.
    pub(super) before: &'static str,
    /// What follows the figure.
    pub(super) after: &'static str,
    /// What the figure counts, in items of the benchmark's unit.
    pub(super) scale: f64,
}

/// What benchmarks are measured against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Baselines {
    /// Nothing.
    #[default]
    None,
    /// The programs `xfb` and `compute` in a folder.
    Folder(PathBuf),
    /// The same work in WGSL, on the device that the guest's programs run on.
    Wgsl,
}

impl From<Option<PathBuf>> for Baselines {
    fn from(named: Option<PathBuf>) -> Self {
        match named {
            None => Baselines::None,
            Some(path) if path.as_os_str() == "wgsl" => Baselines::Wgsl,
            Some(path) => Baselines::Folder(path),
        }
    }
}

impl Baselines {
    /// Starts a baseline program on Mesa's software driver; gives its figure, or nothing if no folder is named.
    pub(super) fn measure(&self, line: &Line) -> Result<Option<f64>> {
        let Baselines::Folder(folder) = self else { return Ok(None) };
        let program = folder.join(line.program);
        let mut command = Command::new(&program);
        command.args(line.args).env("GALLIUM_DRIVER", "llvmpipe").env("LIBGL_ALWAYS_SOFTWARE", "1");
        let output = command.output().with_context(|| format!("cannot start {}", program.display()))?;
        if !output.status.success() {
            bail!("{} ended with {}", program.display(), output.status);
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let figure = line.figure(&text);
        let figure =
            figure.with_context(|| format!("{} did not print {:?}", program.display(), line.after))?;
        Ok(Some(figure * line.scale))
    }
}

impl Line {
    /// The number that stands right before `after` in the line that has `before`.
    fn figure(&self, text: &str) -> Option<f64> {
        let rest = text.lines().find_map(|l| l.split_once(self.before))?.1;
        let number = rest.split_once(self.after)?.0;
        number.rsplit([' ', '=']).next()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_is_a_folder_or_the_word_for_none() {
        let named = |name: &str| Baselines::from(Some(PathBuf::from(name)));
        assert_eq!(named("wgsl"), Baselines::Wgsl);
        assert_eq!(named("./wgsl"), Baselines::Folder("./wgsl".into()));
        assert_eq!(Baselines::from(None), Baselines::None);
    }

    #[test]
    fn figures_are_found_where_the_programs_print_them() {
        let text = "llvmpipe\nrep 0 wall 0.05 cpu 0.03 prims 9\nN 9 best wall 0.04 s = 28.44 Mvert/s; best cpu 0.02 s = 46.22 Mvert/cpu-s; err 0\nsmall: 10 draws wall 0.013 cpu 0.005 = 754.9 kdraw/s (cpu 2039.1)\n";
        let line = |before, after| Line { program: "", args: &[], before, after, scale: 1.0 };
        assert_eq!(line("best cpu", " Mvert/cpu-s").figure(text), Some(46.22));
        assert_eq!(line("small:", " kdraw/s").figure(text), Some(754.9));
        assert_eq!(line("large:", " kdraw/s").figure(text), None);
        assert_eq!(line("small:", " Mvert/s").figure(text), None);
    }
}
