//! Certificates as text: one line each, numbers and names separated by spaces.
//!
//! Nothing here has to be right for a verdict: whatever lines are read, the kernel accepts only what is
//! true. `docs/kernel.md` has the grammar.

use crate::atom::Atom;
use crate::certificate::{Line, Rule};
use crate::claim::{Witness, Zero};
use crate::form::{Form, Word};
use crate::fun::{Fun, FunId, FunOp};
use smallvec::SmallVec;
use std::fmt::Write;
use std::str::{FromStr, SplitAsciiWhitespace};

/// The certificate of a function: the lines of each call that differs from those before it.
#[derive(Clone, Debug, Default)]
pub struct Certificate {
    text: String,
}

/// What a certificate begins with.
const HEAD: &str = "ringforge certificate 1\n";

impl Certificate {
    /// Adds the lines of a call.
    pub fn case(&mut self, name: &str, lines: &[Line]) {
        if self.text.is_empty() {
            self.text.push_str(HEAD);
        }
        let _ = writeln!(self.text, "case {name}");
        for line in lines {
            write(line, &mut self.text);
            self.text.push('\n');
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The calls of a text with their lines.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn parse(text: &str) -> Result<Vec<(String, Vec<Line>)>, Malformed> {
        let mut cases: Vec<(String, Vec<Line>)> = Vec::new();
        let body = text
            .strip_prefix(HEAD)
            .ok_or_else(|| Malformed { line: 1, why: format!("`{}` expected", HEAD.trim_end()) })?;
        for (number, line) in (2..).zip(body.lines()) {
            let at = |why: String| Malformed { line: number, why };
            if let Some(name) = line.strip_prefix("case ") {
                cases.push((name.to_string(), Vec::new()));
                continue;
            }
            let case = cases.last_mut().ok_or_else(|| at("`case NAME` expected".into()))?;
            case.1.push(read(line).map_err(at)?);
        }
        Ok(cases)
    }
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

/// Writes a line, without its end.
pub fn write(line: &Line, out: &mut String) {
    match line {
        Line::Fun(f) => fun(f, out),
        Line::Atom(a) => atom(a, out),
        Line::Bound { atom, lo, hi, by } => {
            let _ = write!(out, "bound {atom} {lo} {hi}");
            witness(by, out);
        }
        Line::Residue { atom, m, by } => {
            let _ = write!(out, "residue {atom} {m}");
            witness(by, out);
        }
        Line::Modulo { atom, m, form: f, zeros: all } => {
            let _ = write!(out, "modulo {atom} {m}");
            form(f, out);
            zeros(all, out);
        }
        Line::Chinese { moduli, left, right, names } => {
            out.push_str("chinese");
            [moduli, left, right, names].into_iter().for_each(|all| numbers(all, out));
        }
        Line::Divide { floor, rest } => {
            let _ = write!(out, "divide {floor}");
            form(rest, out);
        }
        Line::Near { form: f, bits, by } => {
            let _ = write!(out, "near {bits}");
            form(f, out);
            witness(by, out);
        }
        Line::Node { node, rules: all, claim } => {
            let _ = write!(out, "node {node}");
            rules(all, out);
            if let Some(claim) = claim {
                out.push_str(" is");
                word(claim, out);
            }
        }
        Line::Output { index, rules: all, form: f, by } => {
            let _ = write!(out, "output {index}");
            rules(all, out);
            out.push_str(" is");
            form(f, out);
            witness(by, out);
        }
    }
}

fn fun(f: &Fun, out: &mut String) {
    let _ = write!(out, "fun {}", f.width);
    let name = match &f.op {
        FunOp::Lin { k, x, .. } => {
            let _ = write!(out, " lin {k} {x}");
            ""
        }
        FunOp::Const(c) => {
            let _ = write!(out, " const {c}");
            ""
        }
        FunOp::Slice(lo) => {
            let _ = write!(out, " slice {lo}");
            ""
        }
        op => NAMES.iter().find(|n| n.1 == *op).map_or("", |n| n.0),
    };
    if !name.is_empty() {
        let _ = write!(out, " {name}");
    }
    for (i, a) in f.args.iter().enumerate() {
        let _ = write!(out, " {}", a.0);
        if let FunOp::Lin { c, .. } = &f.op {
            let _ = write!(out, " {}", c[i]);
        }
    }
}

/// Operations without numbers.
const NAMES: [(&str, FunOp); 13] = [
    ("concat", FunOp::Concat),
    ("sext", FunOp::Sext),
    ("zext", FunOp::Zext),
    ("mul", FunOp::Mul),
    ("and", FunOp::And),
    ("or", FunOp::Or),
    ("xor", FunOp::Xor),
    ("eq", FunOp::Eq),
    ("ult", FunOp::Ult),
    ("slt", FunOp::Slt),
    ("select", FunOp::Select),
    ("sats", FunOp::SatS),
    ("satu", FunOp::SatU),
];

fn atom(a: &Atom, out: &mut String) {
    match a {
        Atom::Input { operand, index } => {
            let _ = write!(out, "input {operand} {index}");
        }
        Atom::Name(f) => {
            out.push_str("name");
            form(f, out);
        }
        Atom::Function { of, fun } => {
            let _ = write!(out, "function {of} {}", fun.0);
        }
        Atom::Product(x, y) => {
            let _ = write!(out, "product {x} {y}");
        }
        Atom::Floor { form: f, bits } => {
            let _ = write!(out, "floor {bits}");
            form(f, out);
        }
        Atom::Value { node, bits } => {
            let _ = write!(out, "value {node} {bits}");
        }
        Atom::Low(w) => {
            out.push_str("low");
            word(w, out);
        }
    }
}

fn numbers(all: &[u32], out: &mut String) {
    let _ = write!(out, " {}", all.len());
    all.iter().for_each(|x| {
        let _ = write!(out, " {x}");
    });
}

fn form(f: &Form, out: &mut String) {
    let _ = write!(out, " {} {}", f.k, f.t.len());
    for (a, c) in &f.t {
        let _ = write!(out, " {a} {c}");
    }
}

fn word(w: &Word, out: &mut String) {
    let _ = write!(out, " {} {} {}", w.bits, w.k, w.t.len());
    for (a, c) in &w.t {
        let _ = write!(out, " {a} {c}");
    }
}

fn zeros(all: &[(Zero, i128)], out: &mut String) {
    let _ = write!(out, " {}", all.len());
    for (zero, factor) in all {
        let _ = match zero {
            Zero::Name(a) => write!(out, " name {a} {factor}"),
            Zero::Fact(i) => write!(out, " fact {i} {factor}"),
        };
    }
}

fn witness(by: &Witness, out: &mut String) {
    let _ = write!(out, " by {}", by.scale);
    zeros(&by.zeros, out);
}

fn rules(all: &[Rule], out: &mut String) {
    let _ = write!(out, " {}", all.len());
    for rule in all {
        match rule {
            Rule::Function { base, args } => {
                let _ = write!(out, " function {base} {}", args.len());
                args.iter().for_each(|a| word(a, out));
            }
            Rule::Product { a, b } => {
                out.push_str(" product");
                word(a, out);
                word(b, out);
            }
            Rule::Extend { form: f, by } => {
                out.push_str(" extend");
                form(f, out);
                witness(by, out);
            }
            Rule::Quotient { form: f, base, zeros: all, by } => {
                let base = base.map_or(-1, i64::from);
                let _ = write!(out, " quotient {base}");
                form(f, out);
                zeros(all, out);
                witness(by, out);
            }
            Rule::Whole => out.push_str(" whole"),
            Rule::Disjoint { zeros, form: f } => {
                let _ = write!(out, " disjoint {zeros} {}", u8::from(f.is_some()));
                if let Some(f) = f {
                    form(f, out);
                }
            }
            Rule::Negative { form: f, base, upper } => {
                let base = base.map_or(-1, i64::from);
                let _ = write!(out, " negative {upper} {base}");
                form(f, out);
            }
            Rule::Sign { of, form: f, by } => {
                let _ = write!(out, " sign {of}");
                form(f, out);
                witness(by, out);
            }
            Rule::Value { atom } => {
                let _ = write!(out, " value {atom}");
            }
            Rule::Average { a, b } => {
                out.push_str(" average");
                form(a, out);
                form(b, out);
            }
        }
    }
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
            let zero = match r.next()? {
                "name" => Zero::Name(r.number()?),
                "fact" => Zero::Fact(r.number()?),
                other => return Err(format!("`name` or `fact` expected, not `{other}`")),
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
            "const" => FunOp::Const(self.number()?),
            "slice" => FunOp::Slice(self.number()?),
            name => {
                let known = NAMES.iter().find(|n| n.0 == name);
                known.map(|n| n.1.clone()).ok_or_else(|| format!("no operation `{name}`"))?
            }
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
                "disjoint" => {
                    let (zeros, given): (u8, u8) = (r.number()?, r.number()?);
                    let form = (given == 1).then(|| r.form()).transpose()?;
                    Rule::Disjoint { zeros, form }
                }
                "negative" => {
                    let (upper, base) = (r.number()?, r.base()?);
                    Rule::Negative { form: r.form()?, base, upper }
                }
                "sign" => {
                    let of = r.number()?;
                    Rule::Sign { of, form: r.form()?, by: r.witness()? }
                }
                "value" => Rule::Value { atom: r.number()? },
                "average" => Rule::Average { a: r.form()?, b: r.form()? },
                other => return Err(format!("no rule `{other}`")),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line of each kind, in the grammar's spelling.
    const LINES: [&str; 18] = [
        "fun 16 lin 5 -3 0 7 1 -9",
        "fun 8 const -1",
        "fun 16 slice 16 0",
        "fun 32 sext 3",
        "fun 16 select 1 2 3",
        "input 1 760",
        "name 0 2 0 1 1 -1",
        "function 2 3",
        "product 0 1",
        "floor 16 -5 1 4 3",
        "low 16 0 1 4 3",
        "bound 2 -9000 9000 by 65536 2 name 2 -1 fact 0 17",
        "residue 2 4591 by 1 0",
        "modulo 3 193 7 2 0 1 1 -192 1 fact 0 5",
        "chinese 2 191 193 2 0 1 0 1 7",
        "divide 4 0 1 5 1",
        "near 16 0 1 5 65536 by 1 0",
        "output 3 1 function 2 1 16 0 1 2 1 is 0 1 7 1 by 1 0",
    ];

    #[test]
    fn lines_are_read_as_they_are_written() {
        let nodes = [
            "node 7 0 is 16 0 1 2 1",
            "node 7 1 whole",
            "node 7 1 product 16 0 1 0 1 16 2 0 is 16 0 1 0 2",
            "node 7 2 quotient -1 0 1 0 1 1 fact 0 1 by 1 0 extend 0 1 0 1 by 1 0",
            "node 7 1 quotient 3 0 1 0 1 0 by 1 0",
            "node 7 1 disjoint 0 0 is 8 1 0",
            "node 7 1 disjoint 1 1 5 0",
            "node 7 1 negative 0 -1 0 1 0 1 is 32 0 1 3 1",
            "node 7 1 sign 1 0 1 0 -1 by 1 0",
        ];
        for text in LINES.into_iter().chain(nodes) {
            let line = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            let mut again = String::new();
            write(&line, &mut again);
            assert_eq!(again, text);
        }
    }

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
            ("node 7 0 was 1", "`is` expected, not `was`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
