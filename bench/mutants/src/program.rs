//! The one program: every place chooses between what it was and its mutants.

use crate::source::{Kind, Site, Source};
use std::collections::HashMap;
use std::ops::Range;

/// How far a place has come: spellings that did not compile are not tried again.
#[derive(Clone, Debug, Default)]
pub struct Spelled {
    /// By first mutant of a place: the spelling.
    pub site: HashMap<usize, usize>,
    /// Mutants that are not in the program.
    pub gone: std::collections::BTreeSet<usize>,
    /// Of these, bodies that are values of another type than the function's: no program has them.
    pub never: std::collections::BTreeSet<usize>,
}

/// A source of the program, with what its bytes belong to.
#[derive(Default)]
pub struct Text {
    /// The source.
    pub text: String,
    /// Bytes that are one mutant's alone.
    pub mutants: Vec<(Range<usize>, usize)>,
    /// Bytes of a place, by its first mutant.
    pub sites: Vec<(Range<usize>, usize)>,
}

/// The source with all mutants.
pub fn written(source: &Source, spelled: &Spelled) -> Text {
    let mut writer = Writer { source, spelled, out: Text::default() };
    writer.range(0..source.text.len(), None);
    writer.out
}

struct Writer<'a> {
    source: &'a Source,
    spelled: &'a Spelled,
    out: Text,
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.out.text.push_str(text);
    }

    /// The bytes of a range, with the places in it; `of` is the place that they are a part of.
    fn range(&mut self, range: Range<usize>, of: Option<usize>) {
        let (source, mut at) = (self.source, range.start);
        let first = source.sites.partition_point(|s| s.range.start < range.start);
        for (number, site) in source.sites.iter().enumerate().skip(first) {
            if site.range.start >= range.end {
                break;
            }
            let outer = of.is_some_and(|o| number <= o);
            if outer || site.range.start < at || site.range.end > range.end {
                continue;
            }
            self.put(&source.text[at..site.range.start]);
            at = site.range.end;
            self.site(number, site);
        }
        self.put(&source.text[at..range.end]);
    }

    fn site(&mut self, number: usize, site: &Site) {
        if matches!(site.kind, Kind::Nothing) {
            return;
        }
        let key = site.mutants[0].0;
        let start = self.out.text.len();
        let mutants: Vec<&(usize, String)> =
            site.mutants.iter().filter(|m| !self.spelled.gone.contains(&m.0)).collect();
        let spelling = self.spelled.site.get(&key).copied().unwrap_or(0);
        if mutants.is_empty() {
            return self.plain(number, site);
        }
        match &site.kind {
            Kind::Binary { left, right, op } => {
                self.binary(number, left, right, op, &mutants, spelling);
            }
            Kind::Assign { left, right, op } => {
                self.put("{ ");
                let same = spelling > 0;
                if !same {
                    self.put("let r__ = ");
                    self.range(right.clone(), Some(number));
                    self.put("; ");
                }
                let one = |this: &mut Self, op: &str| {
                    this.range(left.clone(), Some(number));
                    this.put(&format!(" {op} "));
                    match same {
                        true => this.range(right.clone(), Some(number)),
                        false => this.put("r__"),
                    }
                };
                self.choice(&mutants, &one, &|this| one(this, op));
                self.put(" }");
            }
            Kind::Unary { of } => {
                self.put("(");
                let bare = |this: &mut Self, _: &str| this.range(of.clone(), Some(number));
                self.choice(&mutants, &bare, &|this| this.plain(number, site));
                self.put(")");
            }
            Kind::Body => {
                for (n, value) in mutants {
                    self.put(&format!("if crate::m__({n}) {{ return "));
                    self.own(*n, |this| this.put(value));
                    self.put("; } ");
                }
            }
            Kind::Arm { guard, deleted, guards } => {
                let deleted = deleted.filter(|d| !self.spelled.gone.contains(d));
                if guard.is_none() {
                    self.put(" if ");
                }
                if let Some(n) = deleted {
                    self.own(n, |this| this.put(&format!("!crate::m__({n})")));
                }
                if guard.is_some() {
                    self.put(if deleted.is_some() { " && (" } else { "(" });
                    let mutants: Vec<_> =
                        mutants.into_iter().filter(|m| guards.contains(&m.0)).collect();
                    let value = |this: &mut Self, value: &str| this.put(value);
                    self.choice(&mutants, &value, &|this| this.plain(number, site));
                    self.put(")");
                } else {
                    self.put(" ");
                }
            }
            Kind::Refusal { chained } => {
                let n = mutants[0].0;
                self.own(n, |this| this.put(&format!("!crate::m__({n})")));
                self.put(if *chained { " && " } else { " && (" });
                self.plain(number, site);
                self.put(if *chained { "" } else { ")" });
            }
            Kind::Fields(fields) => {
                self.put("(");
                for (n, _) in &mutants {
                    let field = fields.iter().find(|f| f.0 == *n).map(|f| f.1.clone());
                    let field = field.unwrap_or(0..0);
                    self.put(&format!("if crate::m__({n}) {{ "));
                    self.own(*n, |this| {
                        this.range(site.range.start..field.start, Some(number));
                        this.range(field.end..site.range.end, Some(number));
                    });
                    self.put(" } else ");
                }
                self.put("{ ");
                self.plain(number, site);
                self.put(" })");
            }
            Kind::Nothing => {}
        }
        let end = self.out.text.len();
        self.out.sites.push((start..end, key));
    }

    /// The place as it was, with the places in it.
    fn plain(&mut self, number: usize, site: &Site) {
        self.range(site.range.clone(), Some(number));
    }

    fn own(&mut self, n: usize, write: impl FnOnce(&mut Self)) {
        let start = self.out.text.len();
        write(self);
        let end = self.out.text.len();
        self.out.mutants.push((start..end, n));
    }

    /// `if m(1) { … } else if m(2) { … } else { … }`.
    fn choice(
        &mut self,
        mutants: &[&(usize, String)],
        one: &dyn Fn(&mut Self, &str),
        original: &dyn Fn(&mut Self),
    ) {
        for (n, instead) in mutants {
            self.put(&format!("if crate::m__({n}) {{ "));
            self.own(*n, |this| one(this, instead));
            self.put(" } else ");
        }
        self.put("{ ");
        original(self);
        self.put(" }");
    }

    fn binary(
        &mut self,
        number: usize,
        left: &Range<usize>,
        right: &Range<usize>,
        op: &str,
        mutants: &[&(usize, String)],
        spelling: usize,
    ) {
        let lazy = ["&&", "||"].contains(&op);
        self.put("(");
        if spelling > 0 || lazy && mutants.len() > 1 {
            // Both sides once more for each: the last resort.
            let one = |this: &mut Self, op: &str| {
                this.put("(");
                this.range(left.clone(), Some(number));
                this.put(&format!(") {op} ("));
                this.range(right.clone(), Some(number));
                this.put(")");
            };
            self.choice(mutants, &one, &|this| one(this, op));
        } else if lazy {
            // What decides without the right side is false for `&&`, true for `||`; the mutant turns it around.
            self.put("match ");
            self.range(left.clone(), Some(number));
            let (n, sign) = (mutants[0].0, if op == "&&" { "!=" } else { "==" });
            self.put(&format!(" {{ l__ => if l__ {sign} "));
            self.own(n, |this| this.put(&format!("crate::m__({n})")));
            self.put(" { ");
            self.range(right.clone(), Some(number));
            self.put(" } else { l__ } }");
        } else {
            let compares = ["==", "!=", "<", "<=", ">", ">="].contains(&op);
            let (by, of) = if compares { ("&", "*") } else { ("", "") };
            self.put(&format!("match ({by}("));
            self.range(left.clone(), Some(number));
            self.put(&format!("), {by}("));
            self.range(right.clone(), Some(number));
            self.put(")) { (l__, r__) => ");
            let one = |this: &mut Self, op: &str| this.put(&format!("{of}l__ {op} {of}r__"));
            self.choice(mutants, &one, &|this| one(this, op));
            self.put(" }");
        }
        self.put(")");
    }
}
