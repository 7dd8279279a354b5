//! Errors for people: what was asked, what is wrong, where, and what would work.

/// A plan is refused at some position of its text (the text itself is not at hand yet).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Byte position in the plan text.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// What would work, where that can be said.
    pub would_work: Option<String>,
}

impl Refusal {
    /// A refusal at a byte position.
    pub fn new(at: usize, message: impl Into<String>) -> Refusal {
        Refusal { at, message: message.into(), would_work: None }
    }

    /// Adds what would work.
    pub fn instead(mut self, would_work: impl Into<String>) -> Refusal {
        self.would_work = Some(would_work.into());
        self
    }

    /// Attaches the text that was refused.
    pub fn within(self, text: &str) -> PlanError {
        let at = self.at.min(text.len());
        let before = text.get(..at).unwrap_or("");
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let line_text = text.get(start..).unwrap_or("").lines().next().unwrap_or("");
        PlanError {
            at,
            line: before.matches('\n').count() + 1,
            col: before[start..].chars().count() + 1,
            message: self.message,
            would_work: self.would_work,
            excerpt: line_text.to_string(),
        }
    }
}

/// A plan text that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// Byte position in the text.
    pub at: usize,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub col: usize,
    /// What is wrong.
    pub message: String,
    /// What would work, where that can be said.
    pub would_work: Option<String>,
    /// The whole line of the text that `at` is on.
    pub excerpt: String,
}

impl std::error::Error for PlanError {}

impl std::fmt::Display for PlanError {
    /// `LINE:COL: message`, the line with a caret below, and what would work.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let caret = " ".repeat(self.col - 1);
        writeln!(f, "{}:{}: {}", self.line, self.col, self.message)?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", self.excerpt)?;
        write!(f, "{margin} | {caret}^")?;
        match &self.would_work {
            Some(hint) => write!(f, "\n{margin} = would work: {hint}"),
            None => Ok(()),
        }
    }
}
