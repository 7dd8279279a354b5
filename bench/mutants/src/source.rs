//! A source with the places at which mutants change it.

use crate::list::{Genre, Mutant, Place};
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// How the program chooses between the original and the mutants of a place.
#[derive(Clone, Debug)]
pub enum Kind {
    /// An operator between two expressions.
    Binary { left: Range<usize>, right: Range<usize>, op: String },
    /// `left op= right`.
    Assign { left: Range<usize>, right: Range<usize>, op: String },
    /// An operator before an expression.
    Unary { of: Range<usize> },
    /// The beginning of a function's body.
    Body,
    /// After the pattern of an arm: its condition, if it has one.
    Arm { guard: Option<Range<usize>>, deleted: Option<usize>, guards: Vec<usize> },
    /// The condition of a refusal, and whether it has a `let`.
    Refusal { chained: bool },
    /// A struct with its fields.
    Fields(Vec<(usize, Range<usize>)>),
    /// What is left out of every program: the `const` of a function.
    Nothing,
}

/// A place: bytes of the source, and the mutants that change something there.
#[derive(Clone, Debug)]
pub struct Site {
    /// What is written anew.
    pub range: Range<usize>,
    /// How.
    pub kind: Kind,
    /// Numbers of mutants, with what stands there instead.
    pub mutants: Vec<(usize, String)>,
}

/// A source.
pub struct Source {
    /// From the workspace's directory.
    pub file: String,
    /// As it is.
    pub text: String,
    /// Sorted: an outer one before those in it.
    pub sites: Vec<Site>,
}

/// Byte offsets of lines.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Lines<'a> {
        let after = text.match_indices('\n').map(|x| x.0 + 1);
        Lines { text, starts: std::iter::once(0).chain(after).collect() }
    }

    /// Lines and columns from 1.
    fn at(&self, place: Place) -> usize {
        let start = self.starts[place.line - 1];
        let rest = self.text[start..].char_indices().map(|x| x.0);
        start + rest.chain([self.text.len() - start]).nth(place.column - 1).unwrap_or(0)
    }

    fn span(&self, span: proc_macro2::Span) -> Range<usize> {
        let at = |p: proc_macro2::LineColumn| self.at(Place { line: p.line, column: p.column + 1 });
        at(span.start())..at(span.end())
    }
}

/// The bytes of a source that a mutant's span names.
pub fn bytes(text: &str, mutant: &Mutant) -> Range<usize> {
    let lines = Lines::new(text);
    lines.at(mutant.span.start)..lines.at(mutant.span.end)
}

impl Source {
    /// Finds the places of mutants, given by number.
    ///
    /// # Errors
    /// A source that is no Rust.
    pub fn new(file: &str, text: String, mutants: &[(usize, &Mutant)]) -> Result<Source> {
        let parsed = syn::parse_file(&text).with_context(|| file.to_string())?;
        let lines = Lines::new(&text);
        let mut at: HashMap<usize, Vec<(usize, &Mutant)>> = HashMap::new();
        for &(n, m) in mutants {
            at.entry(lines.at(m.span.start)).or_default().push((n, m));
        }
        let mut finder = Finder { lines: &lines, at: &at, sites: Vec::new(), constant: 0 };
        finder.visit_file(&parsed);
        let mut sites = finder.sites;
        for (&start, here) in &at {
            // A function of type `impl …` has one type, which a value is not of.
            let one = |m: &Mutant| {
                let of = m.function.as_ref().map_or("", |f| &f.return_type);
                m.genre == Genre::FnValue && !of.starts_with("-> impl")
            };
            let own = here.iter().filter(|m| one(m.1));
            let own: Vec<_> = own.map(|(n, m)| (*n, m.replacement.clone())).collect();
            if !own.is_empty() {
                sites.push(Site { range: start..start, kind: Kind::Body, mutants: own });
            }
        }
        let rank = |s: &Site| match s.kind {
            Kind::Body => 0,
            Kind::Arm { .. } | Kind::Refusal { .. } => 1,
            _ => 2,
        };
        sites
            .sort_by_key(|s| (s.range.start, rank(s) > 0, std::cmp::Reverse(s.range.end), rank(s)));
        Ok(Source { file: file.to_string(), text, sites })
    }
}

struct Finder<'a> {
    lines: &'a Lines<'a>,
    at: &'a HashMap<usize, Vec<(usize, &'a Mutant)>>,
    sites: Vec<Site>,
    /// How many constants this is in: what is there cannot choose.
    constant: usize,
}

impl Finder<'_> {
    fn mutants(&self, start: usize, genre: Genre) -> Vec<(usize, String)> {
        let here = self.at.get(&start).into_iter().flatten().filter(|m| m.1.genre == genre);
        here.map(|(n, m)| (*n, m.replacement.clone())).collect()
    }

    fn push(&mut self, range: Range<usize>, kind: Kind, mutants: Vec<(usize, String)>) {
        if self.constant == 0 && !mutants.is_empty() {
            self.sites.push(Site { range, kind, mutants });
        }
    }

    fn drop_const(&mut self, token: &Option<syn::Token![const]>) {
        if let Some(token) = token {
            let range = self.lines.span(token.span());
            self.sites.push(Site { range, kind: Kind::Nothing, mutants: Vec::new() });
        }
    }
}

/// Whether an expression has a `let`, beside which there can be no `||`.
fn chained(e: &syn::Expr) -> bool {
    match e {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(b) => chained(&b.left) || chained(&b.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant += 1;
        syn::visit::visit_item_const(self, item);
        self.constant -= 1;
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constant += 1;
        syn::visit::visit_impl_item_const(self, item);
        self.constant -= 1;
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constant += 1;
        syn::visit::visit_item_static(self, item);
        self.constant -= 1;
    }

    fn visit_expr_repeat(&mut self, e: &'ast syn::ExprRepeat) {
        self.visit_expr(&e.expr);
    }

    fn visit_type_array(&mut self, _: &'ast syn::TypeArray) {}

    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_signature(&mut self, s: &'ast syn::Signature) {
        self.drop_const(&s.constness);
        syn::visit::visit_signature(self, s);
    }

    fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
        let op = self.lines.span(e.op.span());
        let mutants = self.mutants(op.start, Genre::BinaryOperator);
        if !chained(&e.left) && !chained(&e.right) {
            let (left, right) = (self.lines.span(e.left.span()), self.lines.span(e.right.span()));
            let range = left.start..right.end;
            let op = self.lines.text[op].to_string();
            let assign = op.ends_with('=') && !["==", "!=", "<=", ">="].contains(&op.as_str());
            let kind = match assign {
                true => Kind::Assign { left, right, op },
                false => Kind::Binary { left, right, op },
            };
            self.push(range, kind, mutants);
        }
        syn::visit::visit_expr_binary(self, e);
    }

    fn visit_expr_unary(&mut self, e: &'ast syn::ExprUnary) {
        let range = self.lines.span(e.span());
        let mutants = self.mutants(range.start, Genre::UnaryOperator);
        let of = self.lines.span(e.expr.span());
        self.push(range, Kind::Unary { of }, mutants);
        syn::visit::visit_expr_unary(self, e);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let pattern = self.lines.span(arm.pat.span());
        let start = self.lines.span(arm.span()).start;
        let mut mutants = self.mutants(start, Genre::MatchArm);
        let deleted = mutants.first().map(|m| m.0);
        let guard = arm.guard.as_ref().map(|g| self.lines.span(g.1.span()));
        let own = guard.as_ref().map(|g| self.mutants(g.start, Genre::MatchArmGuard));
        let own = own.unwrap_or_default();
        let guards = own.iter().map(|m| m.0).collect();
        mutants.extend(own);
        let range = guard.clone().unwrap_or(pattern.end..pattern.end);
        self.push(range, Kind::Arm { guard, deleted, guards }, mutants);
        syn::visit::visit_arm(self, arm);
    }

    fn visit_expr_if(&mut self, e: &'ast syn::ExprIf) {
        let range = self.lines.span(e.cond.span());
        let mutants = self.mutants(range.start, Genre::Refusal);
        self.push(range, Kind::Refusal { chained: chained(&e.cond) }, mutants);
        syn::visit::visit_expr_if(self, e);
    }

    fn visit_expr_struct(&mut self, e: &'ast syn::ExprStruct) {
        let (mut fields, mut all) = (Vec::new(), Vec::new());
        for pair in e.fields.pairs() {
            let range = self.lines.span(pair.span());
            let own = self.mutants(range.start, Genre::StructField);
            fields.extend(own.iter().map(|m| (m.0, range.clone())));
            all.extend(own);
        }
        self.push(self.lines.span(e.span()), Kind::Fields(fields), all);
        syn::visit::visit_expr_struct(self, e);
    }
}
