//! Writes certificates: the lines of each call.

use crate::HEAD;
use ringforge_kernel::atom::Atom;
use ringforge_kernel::certificate::{Line, Rule};
use ringforge_kernel::claim::{Witness, Zero};
use ringforge_kernel::form::{Form, Word};
use ringforge_kernel::fun::{Fun, FunOp};
use std::fmt::Write;

/// The certificate of a function: the lines of each call that differs from those before it.
#[derive(Clone, Debug, Default)]
pub struct Certificate {
    text: String,
}

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
    let _ = match &f.op {
        FunOp::Lin { k, x, .. } => write!(out, " lin {k} {x}"),
        FunOp::Floor(lo) => write!(out, " floor {lo}"),
        FunOp::Mul => write!(out, " mul"),
        FunOp::And => write!(out, " and"),
        FunOp::Less => write!(out, " less"),
        FunOp::Select => write!(out, " select"),
    };
    for (i, a) in f.args.iter().enumerate() {
        let _ = write!(out, " {}", a.0);
        if let FunOp::Lin { c, .. } = &f.op {
            let _ = write!(out, " {}", c[i]);
        }
    }
}

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
            Zero::NameTimes(a, x) => write!(out, " times {x} name {a} {factor}"),
            Zero::FactTimes(i, x) => write!(out, " times {x} fact {i} {factor}"),
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
        }
    }
}
