//! A summary in GitHub's Markdown.

use std::fmt::Write as _;
use std::path::Path;

use ringforge_prove::Verdict;

use super::row::Row;

/// Reasons of a function that are listed.
const REASONS: usize = 3;

/// The results as text. `build` is the command that the project's file states.
pub fn text(rows: &[Row], build: Option<&str>, interrupted: bool) -> String {
    let proved = rows.iter().filter(|row| row.verdict == Verdict::Proved).count();
    let mut text = format!("### ringforge: {proved} of {} proved\n\n", rows.len());
    if interrupted {
        text += "The run was interrupted.\n\n";
    }
    text += "| | function | object | contract | seconds |\n|---|---|---|---|---:|\n";
    for row in rows {
        let mark = match row.verdict {
            Verdict::Proved => "✅ proved",
            Verdict::Refuted => "❌ refuted",
            Verdict::Unknown => "❔ unknown",
        };
        let contract = Path::new(&row.label.contract).file_name().unwrap_or_default();
        let cached = if row.cached { ", cached" } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {mark} | {} | {} | {} | {:.1}{cached} |",
            escaped(&row.label.function),
            escaped(&row.label.object),
            escaped(&contract.to_string_lossy()),
            row.seconds
        );
    }
    let failed = || rows.iter().filter(|row| row.verdict != Verdict::Proved);
    if failed().next().is_some() {
        text.push('\n');
    }
    for row in failed() {
        for reason in row.reasons.iter().take(REASONS) {
            let function = escaped(&row.label.function);
            let _ = writeln!(text, "- {function} is {}: {}", row.verdict, escaped(reason));
        }
    }
    if let Some(build) = build {
        let _ = writeln!(
            text,
            "\nThe project's file says that its objects are made by {}.",
            escaped(build)
        );
    }
    text
}

/// Text that is neither Markdown nor HTML, on one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            // Names of people and issues would become links.
            '@' => escaped += "&#64;",
            '#' => escaped += "&#35;",
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '$' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_in_a_name_is_markup() {
        assert_eq!(escaped("a|b\n_c_ <d> `e`"), "a\\|b \\_c\\_ &lt;d&gt; \\`e\\`");
        assert_eq!(escaped("@team #1 & [x](y)"), "&#64;team &#35;1 &amp; \\[x\\](y)");
    }
}
