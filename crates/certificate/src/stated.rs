//! What a line's rules say, for readers that know no rule: names, and what each states about a node.

use ringforge_kernel::certificate::Rule;
use ringforge_kernel::claim::Witness;
use ringforge_kernel::form::{Form, Word};

/// The names of all rules, as `docs/kernel.md` has them. If several rules prove what an instruction
/// computes, readers show the first of them in this order.
pub const RULES: [&str; 8] = [
    "product",
    "enumerated function",
    "floor quotient",
    "sign",
    "mask",
    "value",
    "whole",
    "no wrap",
];

/// The place of a rule in [`RULES`].
#[must_use]
pub fn place(rule: &Rule) -> usize {
    match rule {
        Rule::Product { .. } => 0,
        Rule::Function { .. } => 1,
        Rule::Quotient { .. } => 2,
        Rule::Negative { .. } => 3,
        Rule::Sign { .. } => 4,
        Rule::Value { .. } => 5,
        Rule::Whole => 6,
        Rule::Extend { .. } => 7,
    }
}

/// What a statement is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// The node itself.
    Node,
    /// Its argument with this number.
    Argument(usize),
}

/// What is stated about a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stated<'a> {
    /// It is congruent to this word.
    Word(&'a Word),
    /// It is this integer, whose interval the witness gives.
    Integer(&'a Form, &'a Witness),
    /// It is 0 or -1.
    Mask,
}

/// What an accepted rule states about a node with one step, and about its arguments. `extends` says
/// whether the node is an extension or a saturation.
#[must_use]
pub fn stated(rule: &Rule, extends: bool) -> Vec<(About, Stated<'_>)> {
    use About::{Argument, Node};
    match rule {
        Rule::Function { args, .. } => {
            args.iter().enumerate().map(|(i, word)| (Argument(i), Stated::Word(word))).collect()
        }
        Rule::Product { a, b } => {
            vec![(Argument(0), Stated::Word(a)), (Argument(1), Stated::Word(b))]
        }
        Rule::Extend { form, by } if extends => {
            [Argument(0), Node].map(|about| (about, Stated::Integer(form, by))).into()
        }
        Rule::Negative { .. } => vec![(Node, Stated::Mask)],
        Rule::Sign { of, form, by } => {
            vec![(Argument(usize::from(*of)), Stated::Integer(form, by))]
        }
        Rule::Extend { .. } | Rule::Quotient { .. } | Rule::Whole | Rule::Value { .. } => {
            Vec::new()
        }
    }
}

/// Whether the rule only names what the rules before it found.
#[must_use]
pub fn only_names(rule: &Rule) -> bool {
    matches!(rule, Rule::Value { .. })
}
