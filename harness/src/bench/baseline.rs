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

/// Where the baseline programs are, if they are at hand.
#[derive(Clone, Debug, Default)]
pub struct Baselines {
    /// The folder with `xfb` and `compute`.
    pub folder: Option<PathBuf>,
}

impl Baselines {
    /// Starts a baseline program on Mesa's software driver; gives its figure, or nothing if no folder was named.
    pub(super) fn measure(&self, line: &Line) -> Result<Option<f64>> {
        let Some(folder) = &self.folder else { return Ok(None) };
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
    fn figures_are_found_where_the_programs_print_them() {
        let text = "llvmpipe\nrep 0 wall 0.05 cpu 0.03 prims 9\nN 9 best wall 0.04 s = 28.44 Mvert/s; best cpu 0.02 s = 46.22 Mvert/cpu-s; err 0\nsmall: 10 draws wall 0.013 cpu 0.005 = 754.9 kdraw/s (cpu 2039.1)\n";
        let line = |before, after| Line { program: "", args: &[], before, after, scale: 1.0 };
        assert_eq!(line("best cpu", " Mvert/cpu-s").figure(text), Some(46.22));
        assert_eq!(line("small:", " kdraw/s").figure(text), Some(754.9));
        assert_eq!(line("large:", " kdraw/s").figure(text), None);
        assert_eq!(line("small:", " Mvert/s").figure(text), None);
    }
}
