//! Colours; the output streams strip them where stdout or stderr is not a terminal.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

/// A text in a style.
fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A heading.
pub(super) fn heading(text: impl Display) -> String {
    styled(Style::new().bold(), text)
}

/// Something that went well.
pub(super) fn good(text: impl Display) -> String {
    styled(AnsiColor::Green.on_default().bold(), text)
}

/// Something that did not.
pub(super) fn bad(text: impl Display) -> String {
    styled(AnsiColor::Red.on_default().bold(), text)
}

/// Something to know.
pub(super) fn note(text: impl Display) -> String {
    styled(AnsiColor::Yellow.on_default(), text)
}

/// Something in the background.
pub(super) fn dim(text: impl Display) -> String {
    styled(Style::new().dimmed(), text)
}

/// A name: a register, a packet.
pub(super) fn name(text: impl Display) -> String {
    styled(AnsiColor::Cyan.on_default(), text)
}
