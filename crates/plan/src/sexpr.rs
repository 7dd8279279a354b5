//! The text of a plan: S-expressions with `;` comments, every form with its position.

use crate::error::Refusal;

/// One form of a plan text. Positions take no part in comparisons.
#[derive(Clone, Debug)]
pub struct Form {
    /// Byte position of the first character; 0 in a form that was built, not read.
    pub at: usize,
    /// What stands there.
    pub kind: FormKind,
}

/// The three kinds of form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormKind {
    /// `good-thomas`, `10`.
    Word(String),
    /// `"…"`; no escapes, no line breaks.
    Text(String),
    /// `( … )`.
    List(Vec<Form>),
}

impl PartialEq for Form {
    fn eq(&self, other: &Form) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Form {}

impl Form {
    /// A word or a number.
    pub fn word(word: impl ToString) -> Form {
        Form { at: 0, kind: FormKind::Word(word.to_string()) }
    }

    /// A quoted text.
    pub fn text(text: impl ToString) -> Form {
        Form { at: 0, kind: FormKind::Text(text.to_string()) }
    }

    /// A list that starts with the word `head`.
    pub fn list(head: &str, rest: impl IntoIterator<Item = Form>) -> Form {
        let items = std::iter::once(Form::word(head)).chain(rest).collect();
        Form { at: 0, kind: FormKind::List(items) }
    }

    /// Reads the single form that `text` holds.
    pub fn parse(text: &str) -> Result<Form, Refusal> {
        let mut reader = Reader { text, at: 0 };
        let form = reader.form()?;
        match reader.peek() {
            None => Ok(form),
            Some(_) => Err(Refusal::new(reader.at, "there is more text after the end of the form")
                .instead("one form, `( … )`, per text")),
        }
    }

    /// What the form is, for messages: `` `good-thomas` ``, `a list`.
    pub fn describe(&self) -> String {
        match &self.kind {
            FormKind::Word(word) => format!("`{word}`"),
            FormKind::Text(text) => format!("the text \"{text}\""),
            FormKind::List(items) => match items.first() {
                Some(Form { kind: FormKind::Word(head), .. }) => format!("`({head} …)`"),
                _ => "a list".to_string(),
            },
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | ';' | '"')
}

impl Reader<'_> {
    /// The next character that is neither space nor comment.
    fn peek(&mut self) -> Option<char> {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.len() - rest.trim_start().len();
            let next = self.text[self.at..].chars().next()?;
            if next != ';' {
                return Some(next);
            }
            self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
        }
    }

    /// Reads one form; lists by an explicit stack, so that deep nesting cannot exhaust ours.
    fn form(&mut self) -> Result<Form, Refusal> {
        let mut open: Vec<(usize, Vec<Form>)> = Vec::new();
        loop {
            let next = self.peek();
            let at = self.at;
            let done = match next {
                None => {
                    return Err(match open.last() {
                        Some(&(start, _)) => Refusal::new(start, "this `(` is never closed")
                            .instead("a `)` for every `(`"),
                        None => Refusal::new(at, "the text ends where a form should start")
                            .instead("a list such as `(plan NAME …)`"),
                    });
                }
                Some('(') => {
                    self.at += 1;
                    open.push((at, Vec::new()));
                    if open.len() > 100 {
                        return Err(Refusal::new(at, "lists are nested more than 100 deep"));
                    }
                    continue;
                }
                Some(')') => match open.pop() {
                    Some((start, items)) => {
                        self.at += 1;
                        Form { at: start, kind: FormKind::List(items) }
                    }
                    None => {
                        return Err(Refusal::new(at, "this `)` closes nothing")
                            .instead("a `(` for every `)`"));
                    }
                },
                Some('"') => {
                    let rest = &self.text[at + 1..];
                    match rest.find(['"', '\n']) {
                        Some(end) if rest[end..].starts_with('"') => {
                            self.at += end + 2;
                            Form { at, kind: FormKind::Text(rest[..end].to_string()) }
                        }
                        _ => {
                            return Err(Refusal::new(at, "this text has no closing `\"`")
                                .instead("a closing `\"` on the same line"));
                        }
                    }
                }
                Some(_) => {
                    let rest = &self.text[at..];
                    let end = rest.find(ends_word).unwrap_or(rest.len());
                    self.at += end;
                    Form { at, kind: FormKind::Word(rest[..end].to_string()) }
                }
            };
            match open.last_mut() {
                Some((_, items)) => items.push(done),
                None => return Ok(done),
            }
        }
    }
}

const LINE: usize = 90;

impl Form {
    fn flat(&self) -> String {
        match &self.kind {
            FormKind::Word(word) => word.clone(),
            FormKind::Text(text) => format!("\"{text}\""),
            FormKind::List(items) => {
                format!("({})", items.iter().map(Form::flat).collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn print(&self, indent: usize, out: &mut String) {
        let flat = self.flat();
        let items = match &self.kind {
            FormKind::List(items) if indent + flat.len() > LINE => items,
            _ => return out.push_str(&flat),
        };
        // Leading words stay on the first line, lists get a line each.
        out.push('(');
        let mut leading = true;
        for (i, item) in items.iter().enumerate() {
            leading &= !matches!(item.kind, FormKind::List(_));
            if leading {
                out.push_str(if i == 0 { "" } else { " " });
            } else if i > 0 {
                out.push('\n');
                out.push_str(&" ".repeat(indent + 2));
            }
            item.print(indent + 2, out);
        }
        out.push(')');
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        self.print(0, &mut text);
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn forms() -> impl Strategy<Value = Form> {
        let leaf = prop_oneof![
            "[a-z0-9-]{1,12}".prop_map(Form::word),
            "[a-zA-Z0-9 ;()^/-]{0,30}".prop_map(Form::text),
        ];
        leaf.prop_recursive(6, 60, 6, |inner| {
            prop::collection::vec(inner, 0..6)
                .prop_map(|items| Form { at: 0, kind: FormKind::List(items) })
        })
    }

    proptest! {
        #[test]
        fn printed_forms_read_back(form in forms()) {
            prop_assert_eq!(Form::parse(&form.to_string()).expect("own text"), form);
        }

        #[test]
        fn any_text_is_read_or_refused_inside(text in "[()\"; a\n]{0,20}|\\PC{0,20}") {
            match Form::parse(&text) {
                Ok(form) => prop_assert_eq!(Form::parse(&form.to_string()).expect("own text"), form),
                Err(refusal) => {
                    prop_assert!(refusal.at <= text.len());
                    refusal.within(&text).to_string();
                }
            }
        }
    }

    #[test]
    fn long_forms_break_where_lists_start() {
        let long = "a-word-that-is-rather-long".repeat(2);
        let text = format!("(head 1 2 ({long}) ({long}))");
        let printed = Form::parse(&text).expect("text").to_string();
        assert_eq!(printed, format!("(head 1 2\n  ({long})\n  ({long}))"));
    }
}
