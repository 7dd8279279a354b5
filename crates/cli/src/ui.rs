//! What people see: progress on standard error, results on standard output, errors with the
//! place they are about.

mod lines;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// Why a part of the output did not arrive, the first time: full disks and closed pipes.
static LOST: OnceLock<io::ErrorKind> = OnceLock::new();

/// Remembers that something could not be written to standard output. The work continues, and what a
/// command leaves in files is whole; [`status`] reports the loss.
pub fn lost(error: &io::Error) {
    if LOST.set(error.kind()).is_ok() && error.kind() != io::ErrorKind::BrokenPipe {
        let _ = writeln!(anstream::stderr(), "error: cannot write to standard output: {error}");
    }
}

/// Writes to standard output as it is.
pub fn write(bytes: &[u8]) {
    let mut out = io::stdout();
    if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
        lost(&error);
    }
}

/// The exit status: `status`, or 1 if it would be 0 and output was lost. For a closed pipe
/// (`| head`) nothing else is said; whoever closed it knows.
pub fn status(status: u8) -> ExitCode {
    ExitCode::from(if LOST.get().is_some() { status.max(1) } else { status })
}

/// Names above which a message points at `ringforge list` instead of listing them.
const LISTED: usize = 24;

/// Says that there is no `what` called `word`: first the name that was meant, then all names.
pub fn unknown(what: &str, word: &str, names: &[&str]) -> String {
    let all = match names.len() {
        0 => "there is none".to_owned(),
        1..=LISTED => format!("there are {}", names.join(", ")),
        count => format!("`ringforge list` has all {count}"),
    };
    match meant(word, names.iter().copied()) {
        near if near.is_empty() => format!("no {what} `{word}`: {all}"),
        near => format!("no {what} `{word}`{near} ({all})"),
    }
}

/// The name that was meant, to follow a sentence: `; did you mean `sntrup761`?`, or nothing if none
/// is near.
pub fn meant<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = |name: &&str| {
        let distance = strsim::damerau_levenshtein(&word.to_lowercase(), &name.to_lowercase());
        // Half the word may be mistaken in a short one, a third in a long one.
        (distance <= 1.max(name.len() / 3)).then_some(distance)
    };
    let best = names.into_iter().filter_map(|name| Some((near(&name)?, name))).min();
    best.map_or_else(String::new, |(_, name)| format!("; did you mean `{name}`?"))
}

/// How to talk.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    /// One JSON object on standard output, nothing else.
    pub json: bool,
    /// Nothing but errors.
    pub quiet: bool,
}

impl Ui {
    /// Prints a line of a result; silent with `--quiet` and `--json`.
    pub fn say(&self, text: impl AsRef<str>) {
        if !self.quiet
            && !self.json
            && let Err(error) = writeln!(anstream::stdout(), "{}", text.as_ref().trim_end())
        {
            lost(&error);
        }
    }

    /// Warns of what went wrong but does not end the command, on standard error; silent with
    /// `--quiet`.
    pub fn warn(&self, text: impl AsRef<str>) {
        if !self.quiet {
            self.insist(text);
        }
    }

    /// Warns also with `--quiet`, of what makes the exit status nonzero.
    pub fn insist(&self, text: impl AsRef<str>) {
        let _ = writeln!(anstream::stderr(), "warning: {}", text.as_ref().trim_end());
    }

    /// Prints the result for machines, with `--json` only.
    pub fn json(&self, value: &impl Serialize) -> Result<(), Failure> {
        if self.json {
            let text = serde_json::to_string_pretty(value)
                .map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))?;
            write(format!("{text}\n").as_bytes());
        }
        Ok(())
    }

    /// A step without a known length. If standard error is not a terminal, a long one prints a line
    /// now and then.
    pub fn spinner(&self, what: &str) -> ProgressBar {
        self.start(ProgressBar::no_length(), "{spinner} {msg} {pos:.dim} ({elapsed_precise})", what)
    }

    /// A step of `length` parts.
    pub fn bar(&self, what: &str, length: u64) -> ProgressBar {
        self.start(
            ProgressBar::new(length),
            "{spinner} {msg} [{bar:30}] {pos}/{len} ({elapsed_precise})",
            what,
        )
    }

    fn start(&self, bar: ProgressBar, template: &str, what: &str) -> ProgressBar {
        if self.quiet || self.json {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            return bar;
        }
        let terminal = io::stderr().is_terminal();
        let template = match (terminal, bar.length()) {
            (true, _) => template,
            (false, Some(_)) => "{msg}, {pos} of {len}, {elapsed_precise}",
            (false, None) => "{msg}, {elapsed_precise}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸ "));
        }
        if !terminal {
            let target = ProgressDrawTarget::term_like_with_hz(Box::new(lines::Lines::new()), 1);
            bar.set_draw_target(target);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(if terminal { 120 } else { 1000 }));
        bar
    }

    /// Prints a failure: JSON on standard output with `--json`, text on standard error always.
    pub fn fail(&self, failure: &Failure) {
        if self.json {
            let value = serde_json::json!({
                "error": failure.message,
                "in": failure.excerpt.as_ref().map(|e| &e.name),
                "at": failure.excerpt.as_ref().map(|e| e.at),
                "there": failure.excerpt.as_ref().map(|e| &e.label),
                "help": failure.excerpt.as_ref().and_then(|e| e.help.clone()),
                "exit": failure.status,
            });
            write(format!("{value:#}\n").as_bytes());
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
