//! Sums of products of sums, as narrow as they are after terms cancel between the products.
//!
//! Let h = a + b, h' = a - b, g = c + d and g' = c - d. Then h·g + h'·g' is 2·(a·c + b·d), which
//! the two products alone do not show. Karatsuba's (a + b)·c + b·(d - c) is a·c + b·d. One step, a
//! shear, leads to all of these. For any e
//!
//! ```text
//! x·y + σ·x'·y' = (x - e·x')·y + e·x'·(y + e·σ·y')
//! ```
//!
//! The search tries this if parts of x cancel parts of x', and parts of y cancel parts of y'. New
//! factors get names. That x - e·x' is a multiple of a name is an equation, and the kernel takes
//! equations times atoms.

use crate::cut::Cutter;
use crate::reading::{Reading, gcd};
use crate::record::plain;
use crate::values::{Atom, Form, Source, VarId};
use ringforge_kernel::claim::{Witness, Zero};
use ringforge_kernel::form::Form as Sum;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The most products of a sum that the search shears.
const PRODUCTS: usize = 64;

/// The most bits of a factor that gets a name.
const FACTOR: u32 = 32;

/// `x + e·y = m·r`. `spelled` says which of x and y must be unfolded to show this. `named` says
/// that r is a name made for what is left.
#[derive(Clone, Copy, Debug)]
struct Merged {
    of: [VarId; 2],
    e: i64,
    /// Nothing where x and -e·y are the same.
    is: Option<(i64, VarId)>,
    spelled: [bool; 2],
    named: bool,
}

/// An equation of factors, times a variable and a number.
#[derive(Clone, Copy, Debug)]
struct Step {
    equation: Merged,
    times: VarId,
    by: i64,
}

/// Products and their coefficients, the earlier factor first.
type Products = BTreeMap<(VarId, VarId), i64>;

/// How sums of products that have names are narrower than their terms.
#[derive(Default)]
pub(crate) struct Sheared {
    merged: FxHashMap<(VarId, VarId, i64), Option<Merged>>,
    steps: FxHashMap<VarId, Vec<Step>>,
}

impl Cutter {
    /// Writes a sum of products by a name that lies in this interval. The sum must be close to the
    /// limit of its word, just inside or just outside.
    pub(crate) fn sheared(&mut self, form: &Form, lo: i128, hi: i128) -> Option<Form> {
        let product = |a| matches!(self.world.atoms[a as usize], Atom::Prod(..));
        let count = form.t.iter().filter(|t| product(t.0)).count();
        if !(2..=PRODUCTS).contains(&count) {
            return None;
        }
        let r = self.read(form).ok()?;
        let room = hi - lo;
        // What is far from fitting is meant to wrap, and what is far from not fitting is narrow enough.
        if r.lo < lo - room || r.hi > hi + room || (r.hi - r.lo) * 4 < room {
            return None;
        }
        let (mut products, mut rest) = (Products::new(), Form::constant(form.k, 64));
        for &(a, c) in &form.t {
            match self.world.atoms[a as usize] {
                Atom::Prod(x, y) => {
                    products.insert((x, y), c);
                }
                _ => rest.t.push((a, c)),
            }
        }
        let steps = self.narrowest(&mut products);
        let Reading { lo: mut l, hi: mut h, .. } = self.read(&rest).ok()?;
        for (&(x, y), &c) in &products {
            let (least, most) = self.product_interval(x, y);
            crate::reading::widen(&mut l, &mut h, least, most, c.into());
        }
        if steps.is_empty() || l < lo || hi < h {
            return None;
        }
        let bare = Form { k: 0, t: form.t.clone() };
        let k = i128::from(form.k);
        let (v, sign) = self.variable(bare, Reading { lo: l - k, hi: h - k, ..r });
        let var = self.world.var(v);
        if i128::from(var.hi) - i128::from(var.lo) > h - l {
            // It had a name already.
            return None;
        }
        let atom = Form::atom(var.atom);
        let signed = |s: Step| Step { by: s.by * sign, ..s };
        self.sheared.steps.entry(v).or_insert_with(|| steps.into_iter().map(signed).collect());
        Some(atom.scaled(sign, 64).plus(form.k, 64))
    }

    /// Shears products as long as their sum gets narrower.
    fn narrowest(&mut self, products: &mut Products) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            let before = steps.len();
            let all: Vec<(VarId, VarId)> = products.keys().copied().collect();
            for (i, a) in all.iter().enumerate() {
                for b in &all[i + 1..] {
                    let (Some(&c), Some(&d)) = (products.get(a), products.get(b)) else { continue };
                    let pair = [(c, a.0, a.1), (d, b.0, b.1)];
                    let Some((found, by)) = self.pair(pair) else { continue };
                    products.remove(a);
                    products.remove(b);
                    for (c, x, y) in found {
                        let key = (x.min(y), x.max(y));
                        let sum = products.entry(key).or_default();
                        *sum += c;
                        if *sum == 0 {
                            products.remove(&key);
                        }
                    }
                    steps.extend(by);
                }
            }
            if steps.len() == before {
                return steps;
            }
        }
    }

    /// The narrowest result of one or two shears of two products, if it is narrower than the
    /// products.
    fn pair(&mut self, pair: [Product; 2]) -> Option<(Vec<Product>, Vec<Step>)> {
        let mut best = None;
        let mut least = self.wide(&pair);
        for (once, steps) in self.shears(pair) {
            let mut take = |this: &Cutter, found: &[Product], steps: &[Step]| {
                let wide = this.wide(found);
                if wide < least {
                    (least, best) = (wide, Some((found.to_vec(), steps.to_vec())));
                }
            };
            take(self, &once, &steps);
            if let &[a, b] = &once[..] {
                for (twice, more) in self.shears([a, b]) {
                    take(self, &twice, &[&steps[..], &more].concat());
                }
            }
        }
        best
    }

    fn wide(&self, products: &[Product]) -> i128 {
        let one = |&(c, x, y): &Product| {
            let (lo, hi) = self.product_interval(x, y);
            i128::from(c).abs() * (hi - lo)
        };
        products.iter().map(one).sum()
    }

    /// What shears make of two products with coefficients of one magnitude.
    fn shears(&mut self, [(c, x, y), (d, z, w)]: [Product; 2]) -> Vec<(Vec<Product>, Vec<Step>)> {
        let mut all = Vec::new();
        if c.abs() != d.abs() {
            return all;
        }
        let sign = c.signum() * d.signum();
        for (x, y) in [(x, y), (y, x)] {
            for (z, w) in [(z, w), (w, z)] {
                for e in [1, -1] {
                    let Some(first) = self.merged(x, z, -e) else { continue };
                    let Some(second) = self.merged(y, w, e * sign) else { continue };
                    let products = |a: (i64, Merged, VarId), b: (i64, Merged, VarId)| {
                        let one = |(c, m, other): (i64, Merged, VarId)| {
                            m.is.map(|(n, r)| (c * n, r, other))
                        };
                        [one(a), one(b)].into_iter().flatten().collect::<Vec<Product>>()
                    };
                    let step = |equation, times, by| Step { equation, times, by };
                    all.push((
                        products((c, first, y), (c * e, second, z)),
                        vec![step(first, y, -c), step(second, z, -c * e)],
                    ));
                    all.push((
                        products((c, second, x), (-c * e * sign, first, w)),
                        vec![step(second, x, -c), step(first, w, c * e * sign)],
                    ));
                }
            }
        }
        all
    }

    /// `x + e·y` as a multiple of a variable, where parts of x and y cancel.
    fn merged(&mut self, x: VarId, y: VarId, e: i64) -> Option<Merged> {
        if let Some(&known) = self.sheared.merged.get(&(x, y, e)) {
            return known;
        }
        let ways = [[true, true], [true, false], [false, true]];
        let found = ways.into_iter().find_map(|spelled| self.merge([x, y], e, spelled));
        self.sheared.merged.insert((x, y, e), found);
        found
    }

    fn merge(&mut self, of: [VarId; 2], e: i64, spelled: [bool; 2]) -> Option<Merged> {
        let mut parts = Vec::with_capacity(2);
        for (v, spelled) in of.into_iter().zip(spelled) {
            let atom = self.world.var(v).atom;
            let part = if spelled { self.definition(atom)?.clone() } else { Form::atom(atom) };
            parts.push(part);
        }
        let sum = Form::combine(&parts[0], 1, &parts[1], e, 64);
        if sum.k != 0 || sum.t.len() >= parts[0].t.len().max(parts[1].t.len()) {
            return None;
        }
        let merged = |is, named| Some(Merged { of, e, is, spelled, named });
        let content = sum.t.iter().fold(0, |g, t| gcd(g, t.1.unsigned_abs()));
        let content = i64::try_from(content).ok()?;
        if content == 0 {
            return merged(None, false);
        }
        let left = Form { k: 0, t: sum.t.iter().map(|&(a, c)| (a, c / content)).collect() };
        if let [(a, c @ (1 | -1))] = left.t[..]
            && let Atom::Var(v) = self.world.atoms[a as usize]
        {
            return merged(Some((c * content, v)), false);
        }
        let r = self.read(&left).ok()?;
        if r.hi - r.lo >= 1 << FACTOR {
            return None;
        }
        let (v, sign) = self.variable(left, r);
        merged(Some((sign * content, v)), true)
    }

    /// The witness for the bounds of a sum of products that is narrower than its terms.
    pub(crate) fn sheared_witness(&mut self, v: VarId) -> Option<Witness> {
        let steps = self.sheared.steps.get(&v)?.clone();
        let mut zeros = Vec::with_capacity(steps.len());
        for Step { equation, times, by } in steps {
            let Zero::Fact(i) = self.equation_of(&equation)? else { return None };
            let new = equation.is.map(|(_, r)| r);
            for factor in equation.of.into_iter().chain(new) {
                let product = self.world.product(factor, times);
                self.made(product)?;
            }
            let times = self.world.var(times).atom;
            zeros.push((Zero::FactTimes(i, self.made(times)?), by.into()));
        }
        Some(Witness { scale: 1, zeros })
    }

    /// The equation `x + e·y - m·r = 0`, with x, y and r unfolded as `merged` says.
    fn equation_of(&mut self, merged: &Merged) -> Option<Zero> {
        let [x, y] = merged.of;
        let mut terms = vec![(x, 1, merged.spelled[0]), (y, merged.e, merged.spelled[1])];
        terms.extend(merged.is.map(|(m, r)| (r, -m, merged.named)));
        let (mut form, mut by) = (Sum::default(), plain());
        for (v, c, spelled) in terms {
            debug_assert!(!spelled || matches!(self.world.var(v).source, Source::Cut { .. }));
            let atom = self.world.var(v).atom;
            let atom = self.made(atom)?;
            form = form.combine(1, &Sum::atom(atom), c.into())?;
            if spelled {
                by.zeros.push((Zero::Name(atom), -i128::from(c)));
            }
        }
        Some(self.record.near(form, 0, by))
    }
}

/// `c·x·y`.
type Product = (i64, VarId, VarId);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Audit;
    use crate::beside::Beside;
    use crate::walk::Walk;
    use crate::witness::Random;
    use ringforge_contract::InputRange;
    use ringforge_kernel::replay::{Case, Operand, Target, Walk as Kernel};
    use ringforge_machine::graph::{Graph, NodeId};

    /// Two products of sums of four words, how the sums are made, and whether they are subtracted.
    type Pair = fn(&mut Graph, [NodeId; 4]) -> ([NodeId; 4], bool);

    const PAIRS: [(&str, Pair); 6] = [
        ("a + b, a - b", |g, [a, b, c, d]| {
            ([g.add(a, b), g.add(c, d), g.sub(a, b), g.sub(c, d)], false)
        }),
        ("their difference", |g, [a, b, c, d]| {
            ([g.add(a, b), g.add(c, d), g.sub(a, b), g.sub(c, d)], true)
        }),
        ("factors exchanged", |g, [a, b, c, d]| {
            ([g.sub(d, c), g.sub(a, b), g.add(a, b), g.add(d, c)], false)
        }),
        ("Karatsuba", |g, [a, b, c, d]| ([g.add(a, b), c, b, g.sub(d, c)], false)),
        ("Karatsuba, subtracted", |g, [a, b, c, d]| ([g.add(a, b), c, a, g.sub(c, d)], true)),
        ("a step of each", |g, [a, b, c, d]| ([a, g.add(c, d), g.add(a, b), d], true)),
    ];

    /// The interval of the name that the extension of eight products of words up to `most` gets.
    /// The kernel accepts each of its lines.
    fn found(of: Pair, most: i64) -> Option<(i64, i64)> {
        let mut g = Graph::new();
        let mut sum = g.constant(32, 0);
        for i in 0..4 {
            let words = [(0, i), (0, i + 4), (1, i), (1, i + 4)].map(|(o, i)| g.input(16, o, i));
            let (factors, less) = of(&mut g, words);
            let [x, y, z, w] = factors.map(|f| g.sext(f, 32));
            let (first, second) = (g.mul(x, y), g.mul(z, w));
            sum = g.add(sum, first);
            sum = if less { g.sub(sum, second) } else { g.add(sum, second) };
        }
        let out = g.sext(sum, 64);
        let operands = vec![Operand { lo: -most, hi: most, bits: 16 }; 2];
        let target = Target { bits: 64, signed: true, lo: i64::MIN, hi: i64::MAX };
        let case = Case { graph: &g, operands, outputs: &[out], target, q: 4591 };
        let range = InputRange { lo: -most, hi: most, signed: true };
        let mut walk = Walk::new(&g, 4591, vec![range; 2]);
        walk.beside = Some(Beside::new(Kernel::new(case, 1 << 24).expect("a case")));
        walk.run(&[out], &mut |_, _| true).expect("it is not stopped");
        let form = walk.form(out).expect("an output").clone();
        let [(a, 1 | -1)] = form.t[..] else { return None };
        match walk.cut.world.atoms[a as usize] {
            Atom::Var(v) => Some((walk.cut.world.var(v).lo, walk.cut.world.var(v).hi)),
            _ => None,
        }
    }

    #[test]
    fn sums_are_as_narrow_as_they_are() {
        // Four times two products, twice where both are of sums.
        for (i, (name, of)) in PAIRS.into_iter().enumerate() {
            let (most, times) = [(11585, 16), (16383, 8)][usize::from(i > 2)];
            let value = times * most * most;
            assert_eq!(found(of, most), Some((-value, value)), "{name}");
        }
    }

    #[test]
    fn what_passes_the_word_is_not_said_to_fit() {
        for (name, of) in &PAIRS[..3] {
            // 16 times its square is 2^31 or more.
            assert_eq!(found(*of, 11586), None, "{name}");
        }
        // In which nothing cancels: as wide as it is.
        let apart: Pair = |g, [a, b, c, d]| ([g.add(a, b), g.add(c, d), g.add(a, c), d], false);
        assert_eq!(found(apart, 11585), None);
        let wrong: Pair = |g, [a, b, c, d]| ([g.add(a, b), c, b, g.sub(c, d)], false);
        assert_eq!(found(wrong, 13500), None);
    }

    /// Random sums of products of random sums: what has a name lies in its interval at random inputs.
    #[test]
    fn bounds_hold() {
        let mut random = Random(11);
        let (mut narrower, mut told) = (0, 0);
        for _ in 0..300 {
            let mut cut = Cutter::new(4591);
            let mut all: Vec<VarId> = (0..6).map(|i| cut.test_input(i, 3000)).collect();
            let mut draw = |n: u64| random.next() % n;
            for _ in 0..6 {
                let [x, y] = [0, 1].map(|_| all[draw(all.len() as u64) as usize]);
                let [x, y] = [x, y].map(|v| Form::atom(cut.world.var(v).atom));
                let sum = Form::combine(&x, 1, &y, if draw(2) == 0 { 1 } else { -1 }, 64);
                let Ok(r) = cut.read(&sum) else { continue };
                if sum.t.len() > 1 && r.hi < 1 << 15 {
                    all.push(cut.variable(sum, r).0);
                }
            }
            let mut sum = Form::default();
            for _ in 0..=draw(6) {
                let [x, y] = [0, 1].map(|_| all[draw(all.len() as u64) as usize]);
                let product = Form::atom(cut.world.product(x, y));
                sum = Form::combine(&sum, 1, &product, draw(3) as i64 - 1, 64);
            }
            let Ok(r) = cut.read(&sum) else { continue };
            let Some(name) = cut.sheared(&sum, r.lo, r.hi) else { continue };
            told += 1;
            let short = cut.read(&name).expect("an interval");
            narrower += usize::from(short.hi - short.lo < r.hi - r.lo);
            for _ in 0..30 {
                let values: Vec<i64> = (0..6)
                    .map(|_| [3000, -3000, draw(6001) as i64 - 3000][draw(3) as usize])
                    .collect();
                let value = |_: u16, i: u32| values[i as usize];
                let audit = Audit::new(&mut cut.world, &value).expect("values in their intervals");
                let [a, b] = [&sum, &name].map(|f| audit.form(&mut cut.world, f));
                assert_eq!(a, b);
                assert!(short.lo <= a && a <= short.hi);
            }
        }
        assert!(told > 20 && narrower == told, "{told} {narrower}");
    }
}
