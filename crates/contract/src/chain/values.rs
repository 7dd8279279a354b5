//! What the arrays of a chain hold: exact integers by coefficient, or residues modulo q.
//!
//! A *polynomial* here is named by its place: an input's, a definition's, or one that no text names. Sums and products in
//! a ring are [`Formula`]s in them. Functions of single coefficients are [`Each`]: of the inputs' coefficients, and of
//! residues that a ring's formula gives.

use super::formula::{Formula, Place, name};
use crate::map::formula::{Binary, Expr, PARTS, Unary};
use ringforge_ring::Ring;
use std::collections::BTreeMap;

/// Functions are compared at all points if these are no more, else by their text.
const POINTS: u64 = 1 << 22;
/// Formulas with more parts, or characters in the names of what they are made of, are not spelled.
const SPELLED: usize = 1 << 9;

/// An element of a ring, or its transform: each coefficient is known modulo q.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Residue {
    /// Which of the chain's rings.
    pub ring: usize,
    pub formula: Formula,
    /// Which of the chain's transforms the words are of.
    pub transform: Option<usize>,
}

/// What a function of coefficients takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Leaf {
    /// The coefficient of an input.
    Input(Place),
    /// The one in `[0, q)` that is congruent.
    Least(Residue),
    /// Any that is congruent.
    Any(Residue),
}

/// Integers by coefficient; `Expr::Element(i)` is leaf i.
#[derive(Clone, Debug)]
pub(super) struct Each {
    expr: Expr,
    leaves: Vec<Leaf>,
}

/// What one element of the ring in an array is.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Each(Each),
    Residue(Residue),
}

/// An operand of a function of coefficients, and the range of its words if that is known.
pub(super) type Operand<'a> = (&'a Value, Option<(i64, i64)>);

/// The polynomials that have a name.
pub(super) struct Values<'a> {
    pub rings: &'a [Ring],
    /// Ranges of the inputs' coefficients.
    ranges: BTreeMap<Place, (i64, i64)>,
    /// The functions of coefficients that formulas have met.
    known: Vec<(Place, Each)>,
}

impl Value {
    /// An input's integers.
    pub fn input(place: Place) -> Value {
        Value::Each(Each { expr: Expr::Element(0), leaves: vec![Leaf::Input(place)] })
    }
}

impl Each {
    /// A number for each coefficient.
    pub fn constant(value: i64) -> Each {
        Each { expr: Expr::Const(value.into()), leaves: Vec::new() }
    }

    /// Whether it has more parts than are followed.
    pub fn is_long(&self) -> bool {
        self.expr.parts() > PARTS
    }

    /// Whether some leaf is known modulo q alone.
    fn is_loose(&self) -> bool {
        let any = |&i: &usize| matches!(self.leaves[i], Leaf::Any(_));
        self.expr.arguments().iter().any(any)
    }

    /// The leaves that count, in order.
    fn normal(&self) -> Each {
        let mut used = self.expr.arguments();
        used.sort_by_key(|&i| &self.leaves[i]);
        let place = |i: usize| used.iter().position(|&u| u == i).unwrap_or(i);
        let expr = self.expr.renamed(&|i| Expr::Element(place(i)));
        Each { expr, leaves: used.iter().map(|&i| self.leaves[i].clone()).collect() }
    }
}

/// The place of a leaf among others, which it joins.
fn leaf(leaves: &mut Vec<Leaf>, leaf: Leaf) -> Expr {
    Expr::Element(leaves.iter().position(|l| *l == leaf).unwrap_or_else(|| {
        leaves.push(leaf);
        leaves.len() - 1
    }))
}

/// `lo` to `hi` of the residues of x modulo q: the only ones of that range.
fn within(x: Expr, (lo, hi): (i64, i64), q: u64) -> Expr {
    let modulo = |op, x| Expr::Unary(op, Box::new(x), q.into());
    let (half, lowest) = ((q / 2) as i64, -((q - 1) as i64 / 2));
    if lo >= 0 && hi < q as i64 {
        return modulo(Unary::Mod, x);
    }
    if lo >= lowest && hi <= half {
        return modulo(Unary::Cmod, x);
    }
    let moved = |op, x, c: i64| Expr::Binary(op, Box::new(x), Box::new(Expr::Const(c.into())));
    moved(Binary::Add, modulo(Unary::Mod, moved(Binary::Sub, x, lo)), lo)
}

impl<'a> Values<'a> {
    pub fn new(rings: &'a [Ring]) -> Values<'a> {
        Values { rings, ranges: BTreeMap::new(), known: Vec::new() }
    }

    /// An input, and the range of its coefficients.
    pub fn input(&mut self, place: Place, range: (i64, i64)) {
        self.ranges.insert(place, range);
    }

    /// `expr` of these operands. A residue whose words lie in less than q integers is exact, and so is the remainder by q of
    /// what is a sum of residues modulo q.
    pub fn of(&mut self, expr: &Expr, operands: &[Operand]) -> Each {
        let mut leaves: Vec<Leaf> = Vec::new();
        let expr = self.put(expr, operands, &mut leaves);
        Each { expr, leaves }
    }

    fn put(&mut self, expr: &Expr, operands: &[Operand], leaves: &mut Vec<Leaf>) -> Expr {
        match expr {
            Expr::Unary(op, x, m) => {
                let x = self.put(x, operands, leaves);
                let remainder = matches!(op, Unary::Mod | Unary::Cmod);
                let known = if remainder { self.remainder(&x, *m, leaves) } else { None };
                Expr::Unary(*op, Box::new(known.unwrap_or(x)), *m)
            }
            Expr::Binary(op, x, y) => {
                let [x, y] = [x, y].map(|e| Box::new(self.put(e, operands, leaves)));
                Expr::Binary(*op, x, y)
            }
            Expr::Select(c, x, y) => {
                let [c, x, y] = [c, x, y].map(|e| Box::new(self.put(e, operands, leaves)));
                Expr::Select(c, x, y)
            }
            Expr::Const(_) => expr.clone(),
            Expr::Element(a) => match operands[*a] {
                (Value::Each(each), _) => {
                    let places: Vec<Expr> =
                        each.leaves.iter().map(|l| leaf(leaves, l.clone())).collect();
                    each.expr.renamed(&|i| places[i].clone())
                }
                (Value::Residue(r), range) => {
                    let q = self.rings[r.ring].q();
                    match range.filter(|(lo, hi)| hi.abs_diff(*lo) < q) {
                        Some(range) => within(leaf(leaves, Leaf::Least(r.clone())), range, q),
                        None => leaf(leaves, Leaf::Any(r.clone())),
                    }
                }
            },
        }
    }

    /// What x is modulo m, if m is a ring's q and x is made of residues of it.
    fn remainder(&mut self, x: &Expr, m: i128, leaves: &mut Vec<Leaf>) -> Option<Expr> {
        let ring = x.arguments().into_iter().find_map(|i| match &leaves[i] {
            Leaf::Least(r) | Leaf::Any(r) if m == self.rings[r.ring].q().into() => Some(r.ring),
            _ => None,
        })?;
        let (formula, transform) = self.congruent(x, leaves, ring)?;
        Some(leaf(leaves, Leaf::Least(Residue { ring, formula, transform })))
    }

    /// The value as exact integers.
    pub fn exact(&mut self, operand: Operand) -> Option<Each> {
        let each = self.of(&Expr::Element(0), &[operand]);
        (!each.is_loose()).then_some(each)
    }

    /// What is known of the integers: if they are not exact, their residues in the first ring that has any.
    pub fn value(&mut self, each: Each, modulo: Option<i64>) -> Option<Value> {
        if modulo.is_none() && !each.is_loose() {
            return Some(Value::Each(each));
        }
        let divides = |m: i64, q: u64| (m as u64).is_multiple_of(q);
        (0..self.rings.len())
            .filter(|&ring| modulo.is_none_or(|m| divides(m, self.rings[ring].q())))
            .find_map(|ring| self.residue(&each, ring))
            .map(Value::Residue)
    }

    /// The element of a ring that the value is.
    pub fn element(&mut self, value: &Value, ring: usize) -> Option<Residue> {
        match value {
            Value::Residue(r) => (r.ring == ring).then(|| r.clone()),
            Value::Each(each) => self.residue(each, ring),
        }
    }

    /// The element of a ring whose coefficients the integers are congruent to.
    fn residue(&mut self, each: &Each, ring: usize) -> Option<Residue> {
        let (formula, transform) = self.congruent(&each.expr, &each.leaves, ring)?;
        Some(Residue { ring, formula, transform })
    }

    /// Sums and multiples are those of the ring, remainders by multiples of q change nothing, and all else is a polynomial
    /// with a name. [`None`] where a coefficient is not known exactly, but must be, or a sum has two transforms.
    fn congruent(
        &mut self,
        expr: &Expr,
        leaves: &[Leaf],
        ring: usize,
    ) -> Option<(Formula, Option<usize>)> {
        let q = self.rings[ring].q();
        let residue = |c: i128| c.rem_euclid(q.into()) as u64;
        match expr {
            Expr::Unary(Unary::Mod | Unary::Cmod, x, m) if m % i128::from(q) == 0 => {
                return self.congruent(x, leaves, ring);
            }
            Expr::Binary(op @ (Binary::Add | Binary::Sub), x, y) => {
                let (x, t) = self.congruent(x, leaves, ring)?;
                let (y, u) = self.congruent(y, leaves, ring)?;
                let transform = match (x.terms(), y.terms()) {
                    (_, 0) => t,
                    (0, _) => u,
                    _ if t == u => t,
                    _ => return None,
                };
                let sign = if *op == Binary::Add { 1 % q } else { q - 1 };
                return Some((x.plus(&y.times(sign)), transform));
            }
            Expr::Binary(Binary::Mul, x, y) => {
                let (factor, other) = (x.value_alone().or(y.value_alone()), x.value_alone());
                if let Some(c) = factor {
                    let other = if other.is_some() { y } else { x };
                    let (of, transform) = self.congruent(other, leaves, ring)?;
                    return Some((of.times(residue(c)), transform));
                }
            }
            Expr::Const(c) if residue(*c) == 0 => return Some((Formula::zero(q), None)),
            Expr::Element(i) => match &leaves[*i] {
                Leaf::Input(place) if self.ranges.get(place) == Some(&(0, 0)) => {
                    return Some((Formula::zero(q), None));
                }
                Leaf::Input(place) => return Some((Formula::input(place.clone(), q), None)),
                Leaf::Least(r) | Leaf::Any(r) if r.ring == ring => {
                    return Some((r.formula.clone(), r.transform));
                }
                _ => {}
            },
            _ => {}
        }
        let each = Each { expr: expr.clone(), leaves: leaves.to_vec() };
        if each.is_loose() {
            return None;
        }
        Some((Formula::input(self.named(&each, None), q), None))
    }

    /// The name of a polynomial: `wanted`, if it has none.
    pub fn named(&mut self, each: &Each, wanted: Option<Place>) -> Place {
        let each = each.normal();
        if let (Expr::Element(0), [Leaf::Input(place)]) = (&each.expr, each.leaves.as_slice()) {
            return place.clone();
        }
        if let Some((place, _)) = self.known.iter().find(|(_, e)| self.differ(e, &each).is_ok()) {
            return place.clone();
        }
        // Two functions may be spelled alike: products of two rings, or of each coefficient and in a ring.
        let place = wanted.unwrap_or_else(|| {
            let text = format!("({})", self.spelled(&each));
            let alike = self.known.iter().filter(|((name, _), _)| *name == text).count();
            (text, alike)
        });
        self.known.push((place.clone(), each));
        place
    }

    /// That two functions of coefficients are one.
    ///
    /// # Errors
    /// Where they differ, or that this is not seen.
    pub fn differ(&self, found: &Each, claimed: &Each) -> Result<(), String> {
        let (found, claimed) = (found.normal(), claimed.normal());
        if found.is_loose() || claimed.is_loose() {
            return Err("a coefficient is known modulo q alone".into());
        }
        if found.leaves != claimed.leaves {
            let [found, claimed] = [&found, &claimed].map(|each| self.spelled(each));
            return Err(format!("it is {found}, not {claimed}"));
        }
        if found.expr == claimed.expr {
            return Ok(());
        }
        let ranges: Vec<(i128, i128)> = found.leaves.iter().map(|l| self.range(l)).collect();
        let points = ranges.iter().try_fold(1u64, |n, (lo, hi)| {
            n.checked_mul(u64::try_from(hi - lo + 1).ok()?).filter(|n| *n <= POINTS)
        });
        if points.is_none() {
            return Err(
                "the two formulas have too many points to compare, and are written otherwise"
                    .into(),
            );
        }
        let mut at: Vec<i128> = ranges.iter().map(|r| r.0).collect();
        loop {
            let [x, y] = [&found, &claimed].map(|e| e.expr.value(&|i| at[i]));
            if x.is_none() || x != y {
                let said = |v: Option<i128>| v.map_or("beyond 128 bits".into(), |v| v.to_string());
                let places: Vec<String> = (found.leaves.iter().zip(&at))
                    .map(|(leaf, value)| format!("{} = {value}", self.text(leaf)))
                    .collect();
                return Err(format!(
                    "for {} it is {}, not {}",
                    places.join(" and "),
                    said(x),
                    said(y)
                ));
            }
            let Some(i) = (0..at.len()).find(|&i| at[i] < ranges[i].1) else { return Ok(()) };
            at[i] += 1;
            at[..i].iter_mut().zip(&ranges).for_each(|(a, r)| *a = r.0);
        }
    }

    /// All values of a leaf that is exact.
    fn range(&self, leaf: &Leaf) -> (i128, i128) {
        match leaf {
            Leaf::Input(place) => {
                let (lo, hi) = self.ranges.get(place).copied().unwrap_or((i64::MIN, i64::MAX));
                (lo.into(), hi.into())
            }
            Leaf::Least(r) | Leaf::Any(r) => (0, i128::from(self.rings[r.ring].q()) - 1),
        }
    }

    /// The function as a formula, if that is not too long to be read.
    fn spelled(&self, each: &Each) -> String {
        let terms = |leaf: &Leaf| match leaf {
            Leaf::Input(_) => 1,
            Leaf::Least(r) | Leaf::Any(r) => r.formula.size(),
        };
        let parts = each.expr.parts();
        if parts > SPELLED || each.leaves.iter().map(terms).sum::<usize>() > SPELLED {
            return format!("a formula of {parts} parts");
        }
        each.expr.spelled(&|i| self.text(&each.leaves[i]))
    }

    fn text(&self, leaf: &Leaf) -> String {
        match leaf {
            Leaf::Input(place) => name(place),
            Leaf::Least(r) | Leaf::Any(r) => {
                let of = if r.transform.is_some() { "T" } else { "" };
                format!("({of}({}) mod {})", r.formula, self.rings[r.ring].q())
            }
        }
    }
}
