//! Reads certificates: every line in bounded memory, and the first malformed line by its number.

use crate::HEAD;
use ringforge_kernel::atom::Atom;
use ringforge_kernel::certificate::{Line, Rule};
use ringforge_kernel::claim::{Witness, Zero};
use ringforge_kernel::form::{Form, Word};
use ringforge_kernel::fun::{Fun, FunId, FunOp};
use smallvec::SmallVec;
use std::io::{BufRead, Read};
use std::str::{FromStr, SplitAsciiWhitespace};

/// The calls of a text with their lines.
///
/// # Errors
/// The first line that cannot be read.
pub fn parse(text: &str) -> Result<Vec<(String, Vec<Line>)>, Malformed> {
    read_from(text.as_bytes(), usize::MAX)
}

/// Bytes of a line at most.
const LONGEST: u64 = 1 << 24;

/// The same, line by line, in `most` bytes of memory: what a file unpacks to does not decide how much is taken.
///
/// # Errors
/// The first line that cannot be read, or with which the certificate is too large.
pub fn read_from(
    mut input: impl BufRead,
    most: usize,
) -> Result<Vec<(String, Vec<Line>)>, Malformed> {
    let mut cases: Vec<(String, Vec<Line>)> = Vec::new();
    let (mut held, mut text) = (0, String::new());
    for number in 1.. {
        let at = |why: String| Malformed { line: number, why };
        text.clear();
        let read = input.by_ref().take(LONGEST).read_line(&mut text);
        let length = read.map_err(|e| at(e.to_string()))?;
        if length as u64 == LONGEST {
            return Err(at(format!("more than {LONGEST} bytes")));
        }
        if number == 1 {
            if text != HEAD {
                return Err(at(format!("`{}` expected", HEAD.trim_end())));
            }
            continue;
        }
        if length == 0 {
            break;
        }
        let line = text.strip_suffix('\n').unwrap_or(&text);
        // A term is two words of text and 32 bytes.
        held += size_of::<Line>() + 16 * line.split_ascii_whitespace().count();
        if held > most {
            return Err(at(format!(
                "more than {} MB in memory: a certificate that its file is too small for",
                most >> 20
            )));
        }
        if let Some(name) = line.strip_prefix("case ") {
            held += length;
            cases.push((name.to_string(), Vec::new()));
            continue;
        }
        let lines = &mut cases.last_mut().ok_or_else(|| at("`case NAME` expected".into()))?.1;
        if lines.len() == lines.capacity() {
            // Not twice as many, which would be most of the memory.
            lines.reserve_exact(lines.len() / 4 + 64);
        }
        lines.push(self::read(line).map_err(at)?);
    }
    Ok(cases)
}

/// The line of the file that holds a line of a call, both from 1; [`None`] if there is no such call.
pub fn line_of(certificate: &[(String, Vec<Line>)], call: &str, line: usize) -> Option<usize> {
    let at = certificate.iter().position(|c| c.0 == call)?;
    // The head, and one line for each call's name.
    let before: usize = certificate[..at].iter().map(|c| c.1.len() + 1).sum();
    Some(1 + before + 1 + line)
}

/// A line of a certificate that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("certificate, line {line}: {why}")]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// What was expected.
    pub why: String,
}

/// Reads a line.
///
/// # Errors
/// What was expected.
pub fn read(line: &str) -> Result<Line, String> {
    let mut r = Reader { words: line.split_ascii_whitespace() };
    let line = match r.next()? {
        "fun" => Line::Fun(r.fun()?),
        "input" => Line::Atom(Atom::Input { operand: r.number()?, index: r.number()? }),
        "name" => Line::Atom(Atom::Name(r.form()?.into())),
        "function" => Line::Atom(Atom::Function { of: r.number()?, fun: FunId(r.number()?) }),
        "product" => Line::Atom(Atom::Product(r.number()?, r.number()?)),
        "floor" => {
            let bits = r.number()?;
            Line::Atom(Atom::Floor { form: r.form()?.into(), bits })
        }
        "low" => Line::Atom(Atom::Low(r.word()?.into())),
        "value" => Line::Atom(Atom::Value { node: r.number()?, bits: r.number()? }),
        "bound" => {
            Line::Bound { atom: r.number()?, lo: r.number()?, hi: r.number()?, by: r.witness()? }
        }
        "residue" => Line::Residue { atom: r.number()?, m: r.number()?, by: r.witness()? },
        "modulo" => {
            let (atom, m) = (r.number()?, r.number()?);
            Line::Modulo { atom, m, form: r.form()?, zeros: r.zeros()? }
        }
        "chinese" => Line::Chinese {
            moduli: r.list(Reader::number)?,
            left: r.list(Reader::number)?,
            right: r.list(Reader::number)?,
            names: r.list(Reader::number)?,
        },
        "divide" => Line::Divide { floor: r.number()?, rest: r.form()? },
        "near" => {
            let bits = r.number()?;
            Line::Near { form: r.form()?, bits, by: r.witness()? }
        }
        "node" => {
            let (node, rules) = (r.number()?, r.rules()?);
            let claim = match r.words.next() {
                Some("is") => Some(r.word()?),
                Some(other) => return Err(format!("`is` expected, not `{other}`")),
                None => None,
            };
            Line::Node { node, rules, claim }
        }
        "output" => {
            let (index, rules) = (r.number()?, r.rules()?);
            r.expect("is")?;
            Line::Output { index, rules, form: r.form()?, by: r.witness()? }
        }
        other => return Err(format!("no line begins with `{other}`")),
    };
    match r.words.next() {
        None => Ok(line),
        Some(rest) => Err(format!("nothing expected, not `{rest}`")),
    }
}

/// Items of a list at most: a line is as long as it is, and no list is longer.
const ITEMS: usize = 1 << 24;

struct Reader<'a> {
    words: SplitAsciiWhitespace<'a>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<&'a str, String> {
        self.words.next().ok_or_else(|| "the line ends too early".to_string())
    }

    fn number<T: FromStr>(&mut self) -> Result<T, String> {
        let word = self.next()?;
        word.parse().map_err(|_| format!("a number expected, or one in range, not `{word}`"))
    }

    /// An atom, or -1 for none.
    fn base(&mut self) -> Result<Option<u32>, String> {
        let base: i64 = self.number()?;
        let base = (base >= 0).then(|| u32::try_from(base)).transpose();
        base.map_err(|_| "an atom beyond 32 bits".to_string())
    }

    fn expect(&mut self, what: &str) -> Result<(), String> {
        let word = self.next()?;
        if word == what { Ok(()) } else { Err(format!("`{what}` expected, not `{word}`")) }
    }

    fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let count: usize = self.number()?;
        if count > ITEMS {
            return Err(format!("a list of {count}"));
        }
        // A false count must not ask for memory.
        let mut all = Vec::with_capacity(count.min(64));
        for _ in 0..count {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn form(&mut self) -> Result<Form, String> {
        Ok(Form { k: self.number()?, t: self.list(|r| Ok((r.number()?, r.number()?)))? })
    }

    fn word(&mut self) -> Result<Word, String> {
        let (bits, k) = (self.number()?, self.number()?);
        Ok(Word { bits, k, t: self.list(|r| Ok((r.number()?, r.number()?)))? })
    }

    fn zeros(&mut self) -> Result<Vec<(Zero, i128)>, String> {
        self.list(|r| {
            let zero = match (r.next()?, r.number()?) {
                ("name", a) => Zero::Name(a),
                ("fact", i) => Zero::Fact(i),
                ("times", x) => match (r.next()?, r.number()?) {
                    ("name", a) => Zero::NameTimes(a, x),
                    ("fact", i) => Zero::FactTimes(i, x),
                    (other, _) => return Err(format!("`name` or `fact` expected, not `{other}`")),
                },
                (other, _) => {
                    return Err(format!("`name`, `fact` or `times` expected, not `{other}`"));
                }
            };
            Ok((zero, r.number()?))
        })
    }

    fn witness(&mut self) -> Result<Witness, String> {
        self.expect("by")?;
        Ok(Witness { scale: self.number()?, zeros: self.zeros()? })
    }

    fn fun(&mut self) -> Result<Fun, String> {
        let width = self.number()?;
        let op = match self.next()? {
            "lin" => FunOp::Lin { k: self.number()?, x: self.number()?, c: SmallVec::new() },
            "floor" => FunOp::Floor(self.number()?),
            "mul" => FunOp::Mul,
            "and" => FunOp::And,
            "less" => FunOp::Less,
            "select" => FunOp::Select,
            name => return Err(format!("no operation `{name}`")),
        };
        let mut f = Fun { width, op, args: SmallVec::new() };
        while let Some(word) = self.words.next() {
            f.args.push(FunId(word.parse().map_err(|_| format!("no function `{word}`"))?));
            if let FunOp::Lin { c, .. } = &mut f.op {
                c.push(self.number()?);
            }
        }
        Ok(f)
    }

    fn rules(&mut self) -> Result<Vec<Rule>, String> {
        self.list(|r| {
            Ok(match r.next()? {
                "function" => Rule::Function { base: r.number()?, args: r.list(|r| r.word())? },
                "product" => Rule::Product { a: r.word()?, b: r.word()? },
                "extend" => Rule::Extend { form: r.form()?, by: r.witness()? },
                "quotient" => {
                    let base = r.base()?;
                    let (form, zeros) = (r.form()?, r.zeros()?);
                    Rule::Quotient { form, base, zeros, by: r.witness()? }
                }
                "whole" => Rule::Whole,
                "negative" => {
                    let (upper, base) = (r.number()?, r.base()?);
                    Rule::Negative { form: r.form()?, base, upper }
                }
                "sign" => {
                    let of = r.number()?;
                    Rule::Sign { of, form: r.form()?, by: r.witness()? }
                }
                "value" => Rule::Value { atom: r.number()? },
                other => return Err(format!("no rule `{other}`")),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_malformed_is_told() {
        for (text, why) in [
            ("", "the line ends too early"),
            ("lemma 3", "no line begins with `lemma`"),
            ("input 1", "the line ends too early"),
            ("input 1 2 3", "nothing expected, not `3`"),
            ("input 70000 2", "not `70000`"),
            ("fun 16 frobnicate 1", "no operation `frobnicate`"),
            ("name 0 99999999999 1 1", "a list of 99999999999"),
            ("name 0 1000000 1 1", "the line ends too early"),
            ("bound 2 0 1 1 0", "`by` expected, not `1`"),
            ("node 7 1 hope", "no rule `hope`"),
            ("bound 2 0 1 by 1 1 hope 1 1", "`name`, `fact` or `times` expected, not `hope`"),
            ("bound 2 0 1 by 1 1 times 1 times 1 1", "`name` or `fact` expected, not `times`"),
            ("node 7 0 was 1", "`is` expected, not `was`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
