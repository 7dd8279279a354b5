//! `docs/kernel.md` names every line, rule, atom and operation of certificates, and nothing else.

mod common;

use common::{Bench, Q};
use ringforge_kernel::atom::Atom;
use ringforge_kernel::certificate::{Line, Rule};
use ringforge_kernel::claim::Witness;
use ringforge_kernel::compare::Term;
use ringforge_kernel::form::{Form, Word};
use ringforge_kernel::fun::{Fun, FunId, FunOp};
use ringforge_machine::graph::Op;
use std::collections::BTreeSet;

const DOCUMENT: &str = include_str!("../../../docs/kernel.md");

/// The first words of `code` in headings of the third level, and in the first cells of tables under a
/// heading.
fn headings() -> BTreeSet<&'static str> {
    let lines = DOCUMENT.lines().filter(|l| l.starts_with("### "));
    lines.filter_map(|l| l.split('`').nth(1)?.split(' ').next()).collect()
}

fn table(heading: &str) -> BTreeSet<&'static str> {
    let (_, after) = DOCUMENT.split_once(&format!("\n### {heading}\n")).expect(heading);
    let section = after.split("\n#").next().expect("a part before the next heading");
    let cells =
        section.lines().filter(|l| l.starts_with("| `")).filter_map(|l| l.split('|').nth(1));
    cells
        .flat_map(|c| c.split('`').skip(1).step_by(2))
        .filter_map(|c| c.split(' ').next())
        .collect()
}

/// The word that a line begins with.
fn first(line: &Line) -> String {
    let mut out = String::new();
    ringforge_certificate::write(line, &mut out);
    out.split(' ').next().unwrap_or_default().to_string()
}

fn plain() -> Witness {
    Witness::PLAIN
}

/// One of each rule. A rule that is not here does not compile below.
fn rules() -> Vec<Rule> {
    let (form, word) = (Form::constant(0), Word::constant(0, 8));
    vec![
        Rule::Function { base: 0, args: Vec::new() },
        Rule::Product { a: word.clone(), b: word },
        Rule::Extend { form: form.clone(), by: plain() },
        Rule::Quotient { form: form.clone(), base: None, zeros: Vec::new(), by: plain() },
        Rule::Whole,
        Rule::Negative { form: form.clone(), base: None, upper: 0 },
        Rule::Sign { of: 0, form, by: plain() },
        Rule::Value { atom: 0 },
    ]
}

/// The title of a rule's heading.
fn title(rule: &Rule) -> &'static str {
    match rule {
        Rule::Function { .. } => "Enumerated function",
        Rule::Product { .. } => "Product",
        Rule::Extend { .. } => "No wrap",
        Rule::Quotient { .. } => "Floor quotient",
        Rule::Whole => "Whole",
        Rule::Negative { .. } => "Sign",
        Rule::Sign { .. } => "Mask",
        Rule::Value { .. } => "Value",
    }
}

/// One of each line but atoms. A line that is not here does not compile below.
fn claims() -> Vec<Line> {
    let (form, by) = (Form::constant(0), plain());
    let all = vec![
        Line::Bound { atom: 0, lo: 0, hi: 0, by: by.clone() },
        Line::Residue { atom: 0, m: 2, by: by.clone() },
        Line::Modulo { atom: 0, m: 2, form: form.clone(), zeros: vec![] },
        Line::Chinese { moduli: vec![], left: vec![], right: vec![], names: vec![] },
        Line::Divide { floor: 0, rest: form.clone() },
        Line::Near { form, bits: 0, by },
    ];
    for line in &all {
        match line {
            Line::Bound { .. } | Line::Residue { .. } | Line::Modulo { .. } => {}
            Line::Chinese { .. } | Line::Divide { .. } | Line::Near { .. } => {}
            // Told of in the text: definitions, and what the walk is about.
            Line::Fun(_) | Line::Atom(_) | Line::Node { .. } | Line::Output { .. } => {}
        }
    }
    all
}

#[test]
fn every_rule_has_its_heading() {
    let mut known: BTreeSet<String> = claims().iter().map(first).collect();
    for rule in rules() {
        let mut line = String::new();
        ringforge_certificate::write(
            &Line::Node { node: 7, rules: vec![rule.clone()], claim: None },
            &mut line,
        );
        let word = line.split(' ').nth(3).unwrap_or_default();
        let heading = format!("\n### {}: `{word}", title(&rule));
        assert!(DOCUMENT.contains(&heading), "no heading `{}`", heading.trim());
        // Refusals call the rule so.
        let name = format!("{rule:?}").to_lowercase();
        assert_eq!(name.split(' ').next(), Some(word));
        known.insert(word.to_string());
    }
    let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
    assert_eq!(headings(), known);
    let titles = include_str!("document.rs").split("fn title(").nth(1).expect("the titles");
    let titles = titles.split("\n}\n").next().map(|t| t.matches("=> \"").count());
    assert_eq!(titles, Some(rules().len()), "a rule that is not in the document");
    for word in ["`node N", "`output K", "`fact`", "`case NAME`"] {
        assert!(DOCUMENT.contains(word), "nothing of {word}");
    }
}

#[test]
fn every_atom_is_in_the_table() {
    let all = [
        Atom::Input { operand: 0, index: 0 },
        Atom::Name(Form::constant(0).into()),
        Atom::Function { of: 0, fun: FunId(0) },
        Atom::Product(0, 0),
        Atom::Floor { form: Form::constant(0).into(), bits: 1 },
        Atom::Low(Word::constant(0, 8).into()),
        Atom::Value { node: 0, bits: 1 },
    ];
    let mut known = BTreeSet::new();
    for atom in all {
        match atom {
            Atom::Input { .. } | Atom::Name(_) | Atom::Function { .. } => {}
            Atom::Product(..) | Atom::Floor { .. } | Atom::Low(_) => {}
            Atom::Value { .. } => {}
        }
        known.insert(first(&Line::Atom(atom)));
    }
    let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
    assert_eq!(table("Atoms"), known);
}

#[test]
fn every_operation_is_in_the_table() {
    let all = [
        FunOp::Lin { k: 0, x: 1, c: Default::default() },
        FunOp::Floor(0),
        FunOp::Mul,
        FunOp::And,
        FunOp::Less,
        FunOp::Select,
    ];
    let mut known = BTreeSet::new();
    for op in all {
        match op {
            FunOp::Lin { .. } | FunOp::Floor(_) | FunOp::Mul => {}
            FunOp::And | FunOp::Less | FunOp::Select => {}
        }
        let mut out = String::new();
        ringforge_certificate::write(
            &Line::Fun(Fun { width: 8, op, args: Default::default() }),
            &mut out,
        );
        known.insert(out.split(' ').nth(2).unwrap_or_default().to_string());
    }
    let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
    assert_eq!(table("Functions"), known);
}

#[test]
fn the_example_is_accepted() {
    let (_, after) = DOCUMENT.split_once("```certificate\n").expect("an example");
    let text = after.split("```").next().expect("its end");
    let mut b = Bench::new(&[(-4000, 4000, 16)]).target(16, true, 0, 4590);
    let (x, q) = (b.input(0), b.constant(16, Q.into()));
    let s = b.node(16, Op::Ashr(15), &[x]);
    let m = b.node(16, Op::And, &[s, q]);
    let y = b.node(16, Op::Add, &[x, m]);
    let b = b.outputs(&[y]);
    let walked = b.replay(&common::lines(text)).unwrap_or_else(|e| panic!("{e}"));
    // It is x modulo q.
    assert_eq!((walked.outputs[0].k, &walked.outputs[0].t[..]), (0, &[(Term::Value(0), 1)][..]));
    let head = "ringforge certificate 2";
    assert!(DOCUMENT.contains(head));
    let whole = format!("{head}\ncase c\n{text}");
    assert!(ringforge_certificate::parse(&whole).is_ok());
}

/// One line of each kind, in the grammar's spelling.
const LINES: [&str; 20] = [
    "fun 16 lin 5 -3 0 7 1 -9",
    "fun 8 lin -1 0",
    "fun 16 floor 16 0",
    "fun 32 mul 3 3",
    "fun 32 and 3 4",
    "fun 1 less 3 4",
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
        "node 7 1 negative 0 -1 0 1 0 1 is 32 0 1 3 1",
        "node 7 1 sign 1 0 1 0 -1 by 1 0",
    ];
    for spelled in LINES.into_iter().chain(nodes) {
        let line =
            ringforge_certificate::read(spelled).unwrap_or_else(|e| panic!("{spelled}: {e}"));
        let mut again = String::new();
        ringforge_certificate::write(&line, &mut again);
        assert_eq!(again, spelled);
    }
}
