//! What people see: progress on standard error, results on standard output, errors with the
//! place they are about.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// How to talk.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    /// One JSON object on standard output, nothing else.
    pub json: bool,
    /// Nothing but errors.
    pub quiet: bool,
}

impl Ui {
    /// Prints a line of a result; silent with `--quiet` and `--json`. A closed pipe is no error.
    pub fn say(&self, text: impl AsRef<str>) {
        if !self.quiet && !self.json {
            let _ = writeln!(anstream::stdout(), "{}", text.as_ref().trim_end());
        }
    }

    /// Says what went wrong and is no reason to end, on standard error; silent with `--quiet`.
    pub fn warn(&self, text: impl AsRef<str>) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "warning: {}", text.as_ref().trim_end());
        }
    }

    /// Prints the result for machines, with `--json` only.
    pub fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        if self.json {
            let text = serde_json::to_string_pretty(value)
                .map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))?;
            let _ = writeln!(std::io::stdout(), "{text}");
        }
        Ok(())
    }

    fn shows_progress(&self) -> bool {
        !self.quiet && !self.json && std::io::stderr().is_terminal()
    }

    /// A step without a known length; the returned bar is invisible when not on a terminal.
    pub fn spinner(&self, what: &str) -> ProgressBar {
        self.start(ProgressBar::no_length(), "{spinner} {msg} {pos:.dim} ({elapsed})", what)
    }

    /// A step of `length` parts.
    pub fn bar(&self, what: &str, length: u64) -> ProgressBar {
        self.start(
            ProgressBar::new(length),
            "{spinner} {msg} [{bar:30}] {pos}/{len} ({elapsed})",
            what,
        )
    }

    fn start(&self, bar: ProgressBar, template: &str, what: &str) -> ProgressBar {
        if !self.shows_progress() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            return bar;
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸ "));
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        bar
    }

    /// Prints a failure: JSON on standard output with `--json`, text on standard error always.
    pub fn fail(&self, failure: &Failure) {
        if self.json {
            let value = serde_json::json!({
                "error": failure.message,
                "at": failure.excerpt.as_ref().map(|e| e.at),
                "help": failure.excerpt.as_ref().and_then(|e| e.help.clone()),
                "exit": failure.status,
            });
            let _ = writeln!(std::io::stdout(), "{value:#}");
        }
        let text = failure.render(std::io::stderr().is_terminal());
        let _ = write!(anstream::stderr(), "{text}");
    }
}

/// The end of a command without a result.
#[derive(Debug)]
pub struct Failure {
    /// Exit status: 1 failed, 2 bad usage or input.
    pub status: u8,
    /// What is wrong, for people.
    pub message: String,
    /// The text that it is wrong in.
    pub excerpt: Option<Box<Excerpt>>,
}

/// A place in a text of the user's.
#[derive(Debug)]
pub struct Excerpt {
    /// Name of the text: a file, or what it is.
    pub name: String,
    /// The text.
    pub text: String,
    /// Byte position.
    pub at: usize,
    /// What was expected there.
    pub label: String,
    /// What would work.
    pub help: Option<String>,
}

impl Failure {
    /// Something went wrong that the input is not to blame for.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure { status: 1, message: message.into(), excerpt: None }
    }

    /// Bad usage or input.
    pub fn input(message: impl Into<String>) -> Failure {
        Failure { status: 2, message: message.into(), excerpt: None }
    }

    /// Bad input with its place.
    pub fn at(message: impl Into<String>, excerpt: Excerpt) -> Failure {
        Failure { status: 2, message: message.into(), excerpt: Some(Box::new(excerpt)) }
    }

    fn render(&self, color: bool) -> String {
        use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
        let plain = || format!("error: {}\n", self.message.trim_end());
        let Some(excerpt) = &self.excerpt else { return plain() };
        let name = excerpt.name.as_str();
        // A span at the end of the text must still cover something.
        let start = excerpt.at.min(excerpt.text.len());
        let width =
            excerpt.text.get(start..).and_then(|t| t.chars().next()).map_or(0, char::len_utf8);
        let mut report = Report::build(ReportKind::Error, (name, start..start + width))
            .with_config(Config::default().with_color(color).with_index_type(IndexType::Byte))
            .with_message(&self.message)
            .with_label(Label::new((name, start..start + width)).with_message(&excerpt.label));
        if let Some(help) = &excerpt.help {
            report = report.with_help(help);
        }
        let mut bytes = Vec::new();
        let written = report.finish().write((name, Source::from(&excerpt.text)), &mut bytes);
        match (written, String::from_utf8(bytes)) {
            // ariadne writes "Error: "; every other message of ours is in lower case.
            (Ok(()), Ok(text)) => text.replacen("Error", "error", 1),
            _ => plain(),
        }
    }
}
