//! Decides conditional compilation in advance. What cannot be compiled with known macros is left
//! out of a C source, and decided conditions are removed.

use std::collections::HashMap;

/// Macros that are known: the text of the definition, or that there is none.
pub type Known = HashMap<String, Option<String>>;

/// A condition as far as it is decided. What is open is a text and how tightly it binds (2 and, 1
/// or).
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Known(i64),
    Open(String, u8),
}

use Value::{Known as Is, Open};

struct Parser<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    known: &'a Known,
    depth: u8,
    /// Something was read that it does not understand.
    lost: bool,
}

fn tokens(text: &str) -> Vec<&str> {
    let text = text.split("/*").next().unwrap_or(text);
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if ["&&", "||", "==", "!=", "<=", ">="].iter().any(|op| rest.starts_with(op)) {
            2
        } else {
            first.len_utf8()
        };
        all.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    all
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a str {
        self.tokens.get(self.at).copied().unwrap_or("")
    }

    fn take(&mut self) -> &'a str {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn or(&mut self) -> Value {
        let mut left = self.and();
        while self.peek() == "||" {
            self.at += 1;
            left = match (left, self.and()) {
                (Is(0), right) => truth(right),
                (Is(_), _) | (_, Is(1..)) => Is(1),
                (left, Is(_)) => left,
                (Open(a, _), Open(b, _)) => Open(format!("{a} || {b}"), 1),
            };
        }
        left
    }

    fn and(&mut self) -> Value {
        let mut left = self.comparison();
        while self.peek() == "&&" {
            self.at += 1;
            let wrapped =
                |(text, binds): (String, u8)| if binds < 2 { format!("({text})") } else { text };
            left = match (left, self.comparison()) {
                (Is(0), _) | (_, Is(0)) => Is(0),
                (Is(_), right) => truth(right),
                (left, Is(_)) => left,
                (Open(a, i), Open(b, j)) => {
                    Open(format!("{} && {}", wrapped((a, i)), wrapped((b, j))), 2)
                }
            };
        }
        left
    }

    fn comparison(&mut self) -> Value {
        let left = self.unary();
        let op = self.peek();
        if !["==", "!=", "<", ">", "<=", ">="].contains(&op) {
            return left;
        }
        self.at += 1;
        match (left, self.unary()) {
            (Is(a), Is(b)) => Is(i64::from(match op {
                "==" => a == b,
                "!=" => a != b,
                "<" => a < b,
                ">" => a > b,
                "<=" => a <= b,
                _ => a >= b,
            })),
            (a, b) => Open(format!("{} {op} {}", text(a), text(b)), 3),
        }
    }

    fn unary(&mut self) -> Value {
        match self.take() {
            "!" => match self.unary() {
                Is(value) => Is(i64::from(value == 0)),
                Open(text, binds) if binds < 3 => Open(format!("!({text})"), 3),
                Open(text, _) => Open(format!("!{text}"), 3),
            },
            "(" => {
                let inner = self.or();
                self.lost |= self.take() != ")";
                inner
            }
            "defined" => {
                let bracket = self.peek() == "(";
                self.at += usize::from(bracket);
                let name = self.take();
                self.at += usize::from(bracket);
                match self.known.get(name) {
                    Some(None) => Is(0),
                    _ => Open(format!("defined({name})"), 3),
                }
            }
            word => match word.parse() {
                Ok(number) => Is(number),
                Err(_) => match self.known.get(word).filter(|_| self.depth < 8) {
                    Some(None) => Is(0),
                    Some(Some(text)) => evaluate(text, self.known, self.depth + 1)
                        .unwrap_or_else(|| Open(word.to_owned(), 3)),
                    None => Open(word.to_owned(), 3),
                },
            },
        }
    }
}

/// Known values are 0 or 1 where a condition ends.
fn truth(value: Value) -> Value {
    match value {
        Is(number) => Is(i64::from(number != 0)),
        open => open,
    }
}

fn text(value: Value) -> String {
    match value {
        Is(number) => number.to_string(),
        Open(text, _) => text,
    }
}

/// The value of a macro's text, any number; nothing if it is more than comparisons and logic.
fn evaluate(text: &str, known: &Known, depth: u8) -> Option<Value> {
    let mut parser = Parser { tokens: tokens(text), at: 0, known, depth, lost: false };
    let value = parser.or();
    (!parser.lost && parser.at == parser.tokens.len()).then_some(value)
}

/// The value of a condition, 0 or 1, if it is known. A condition that is not understood stays as it
/// is written.
fn condition(text: &str, known: &Known) -> Value {
    let written = || Open(text.split("/*").next().unwrap_or(text).trim().to_owned(), 0);
    evaluate(text, known, 0).map_or_else(written, truth)
}

/// An `#if` that is being read.
struct Level {
    /// A condition of it was written, so its end must be.
    written: bool,
    /// A branch is certain: those behind are dead.
    taken: bool,
    /// Lines count.
    live: bool,
    /// How much was written before it.
    start: usize,
}

/// A source without what the known macros exclude.
pub fn decide(source: &str, known: &Known) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let mut whole = line.to_owned();
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let Some(directive) = directive else {
            if levels.iter().all(|level| level.live) {
                out.push(whole);
            }
            continue;
        };
        while whole.ends_with('\\') {
            let Some(next) = lines.next() else { break };
            whole = format!("{whole}\n{next}");
        }
        let word = directive.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
        let rest = || whole.split_once(word).map_or("", |(_, c)| c).replace("\\\n", " ");
        let outside = levels.iter().rev().skip(1).all(|level| level.live);
        match (word, levels.last_mut()) {
            ("if" | "ifdef" | "ifndef", _) => {
                let value = match word {
                    "if" => condition(&rest(), known),
                    _ if known.get(rest().trim()) == Some(&None) => Is(i64::from(word == "ifndef")),
                    _ => Open(String::new(), 3),
                };
                let live = levels.iter().all(|level| level.live);
                let written = live && matches!(value, Open(..));
                let start = out.len();
                if written {
                    out.push(if word == "if" {
                        format!("#if {}", text(value.clone()))
                    } else {
                        whole
                    });
                }
                let taken = matches!(value, Is(1..));
                levels.push(Level { written, taken, live: value != Is(0), start });
            }
            ("elif", Some(level)) => {
                let value = if level.taken { Is(0) } else { condition(&rest(), known) };
                level.live = value != Is(0);
                level.taken |= matches!(value, Is(1..));
                if outside && level.live {
                    match value {
                        Open(open, _) if level.written => out.push(format!("#elif {open}")),
                        Open(open, _) => {
                            out.push(format!("#if {open}"));
                            level.written = true;
                        }
                        Is(_) if level.written => out.push("#else".into()),
                        Is(_) => {}
                    }
                }
            }
            ("else", Some(level)) => {
                level.live = !level.taken;
                level.taken = true;
                if outside && level.live && level.written {
                    out.push("#else".into());
                }
            }
            ("endif", Some(level)) => {
                if outside && level.written {
                    out.push("#endif".into());
                } else if outside && out.len() == level.start {
                    // Nothing is left: nor is a line that says what it was.
                    if out.last().is_some_and(|l| l.starts_with("/*") && l.ends_with("*/")) {
                        out.pop();
                    }
                }
                levels.pop();
            }
            _ => {
                if levels.iter().all(|level| level.live) {
                    out.push(whole);
                }
            }
        }
    }
    out.dedup_by(|next, line| next.is_empty() && line.is_empty());
    out.join("\n") + "\n"
}

/// The text without the definitions of macros whose names start with `start`, and without the
/// comments right above them.
pub fn without_macros(source: &str, start: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut lines = source.lines();
    let mut dropped = false;
    while let Some(line) = lines.next() {
        if !line.strip_prefix("#define ").is_some_and(|rest| rest.starts_with(start)) {
            out.push(line);
            dropped = false;
            continue;
        }
        let mut last = line;
        while last.ends_with('\\') {
            last = lines.next().unwrap_or("");
        }
        let above = out.iter().rposition(|l| l.starts_with("/*"));
        if let Some(above) =
            above.filter(|_| !dropped && out.last().is_some_and(|l| l.ends_with("*/")))
        {
            out.truncate(above);
        }
        dropped = true;
    }
    out.dedup_by(|next, line| next.is_empty() && line.is_empty());
    out.join("\n") + "\n"
}

/// The `#define NAME text` lines of a source whose names start with `start`.
pub fn definitions(source: &str, start: &str) -> Known {
    let joined = source.replace("\\\n", " ");
    let all = joined.lines().filter_map(|line| line.strip_prefix("#define "));
    let named = all.filter(|rest| rest.starts_with(start));
    let split = named.filter_map(|rest| rest.split_once(' '));
    split.map(|(name, text)| (name.into(), Some(text.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(pairs: &[(&str, &str)]) -> Known {
        pairs.iter().map(|(n, d)| (n.to_string(), Some(d.to_string()))).collect()
    }

    #[test]
    fn what_is_decided_is_gone_and_the_rest_stays() {
        let mut macros =
            known(&[("A", "1"), ("B", "0"), ("C", "A || B"), ("T", "2"), ("SHIFTED", "1 << 3")]);
        macros.insert("NONE".into(), None);
        for (source, left) in [
            ("#if A\nx\n#endif", "x"),
            ("#if B\nx\n#else\ny\n#endif", "y"),
            ("#if C && OPEN\nx\n#endif", "#if OPEN\nx\n#endif"),
            ("#if B || (OPEN || P) && !A\nx\n#endif\ny", "y"),
            ("#if A && (OPEN || P) && Q\nx\n#endif", "#if (OPEN || P) && Q\nx\n#endif"),
            ("#if T == 1\nx\n#elif T == 2\ny\n#else\nz\n#endif", "y"),
            (
                "#if OPEN\nx\n#elif B\ny\n#elif A\nz\n#else\nw\n#endif",
                "#if OPEN\nx\n#else\nz\n#endif",
            ),
            (
                "#if B\nx\n#elif defined(P)\ny\n#else\nz\n#endif",
                "#if defined(P)\ny\n#else\nz\n#endif",
            ),
            ("#ifdef A\n#if B\nx\n#endif\n#endif", "#ifdef A\n#endif"),
            ("#ifdef NONE\nx\n#else\ny\n#endif", "y"),
            ("#ifndef NONE\nx\n#endif", "x"),
            ("#if defined(NONE) || OPEN\nx\n#endif", "#if OPEN\nx\n#endif"),
            ("#if NONE\nx\n#elif defined(OPEN)\ny\n#endif", "#if defined(OPEN)\ny\n#endif"),
            ("#if B\n#if OPEN\nx\n#else\ny\n#endif\n#endif\nz", "z"),
            ("/* What x is. */\n#if B\nx\n#endif\nz", "z"),
            ("#if !B /* never */\nx\n#endif", "x"),
            // Arithmetic is left to the compiler, whole.
            (
                "#if ((N - 1) * A) % 8 != 0 /* bits */\nx\n#endif",
                "#if ((N - 1) * A) % 8 != 0\nx\n#endif",
            ),
            ("#if SHIFTED && A\nx\n#endif", "#if SHIFTED\nx\n#endif"),
            ("#define M(a) \\\n#if B\nx", "#define M(a) \\\n#if B\nx"),
        ] {
            assert_eq!(decide(source, &macros).trim_end(), left, "{source}");
        }
    }

    #[test]
    fn macros_are_dropped_with_their_comment() {
        let source =
            "a\n/* What\n * they are. */\n#define N_X 1\n#define N_Y \\\n    2\n\nb\n#define O 1";
        assert_eq!(without_macros(source, "N_"), "a\n\nb\n#define O 1\n");
        assert_eq!(definitions(source, "N_"), known(&[("N_X", "1"), ("N_Y", "     2")]));
    }
}
