//! Formulas of one integer on intervals: `k + c·x` there, by halving.
//!
//! **Statement.** On an interval where term and formula are both affine, they agree if they have the same constant and
//! coefficient. If the contract asks for agreement modulo m, equality modulo m is enough. An affine term lies in a range
//! if its ends do.

use ringforge_contract::map::MapArgument;
use ringforge_contract::map::formula::{Binary, Expr, Unary};

/// Points that are looked at one by one rather than halved.
const FEW: i64 = 16;

/// Compares terms with a formula of element 0.
pub(super) struct Lines<'a> {
    formula: &'a Expr,
    argument: &'a MapArgument,
    /// Intervals looked at.
    pub seen: u64,
    most: u64,
}

impl<'a> Lines<'a> {
    pub fn new(formula: &'a Expr, argument: &'a MapArgument, most: usize) -> Lines<'a> {
        Lines { formula, argument, seen: 0, most: most as u64 }
    }

    fn fine(&self, x: i64, found: i128) -> bool {
        let value = self.formula.value(&|_| x.into());
        value.is_some_and(|value| self.argument.fulfilled(found, value))
    }

    /// The first x from `lo` on at which the values are wrong.
    pub fn at_points(&mut self, lo: i64, values: &[i64]) -> Result<Option<i64>, String> {
        self.seen += values.len() as u64;
        Ok((lo..).zip(values).find(|&(x, v)| !self.fine(x, (*v).into())).map(|w| w.0))
    }

    /// An x in `[lo, hi]` at which `k + c·x` is wrong.
    ///
    /// # Errors
    /// If there are too many intervals.
    pub fn agrees(&mut self, lo: i64, hi: i64, k: i128, c: i128) -> Result<Option<i64>, String> {
        let mut todo = vec![(lo, hi)];
        while let Some((lo, hi)) = todo.pop() {
            self.seen += 1;
            if self.seen > self.most {
                return Err("a formula of too many pieces".into());
            }
            let at = |x: i64| k + c * i128::from(x);
            // What is wrong shows at the ends first.
            if let Some(x) = [lo, hi].into_iter().find(|&x| !self.fine(x, at(x))) {
                return Ok(Some(x));
            }
            if hi - lo <= FEW {
                if let Some(x) = (lo..=hi).find(|&x| !self.fine(x, at(x))) {
                    return Ok(Some(x));
                }
            } else if !self.same(line(self.formula, lo, hi), k, c) {
                let middle = lo + (hi - lo) / 2;
                todo.push((middle + 1, hi));
                todo.push((lo, middle));
            }
        }
        Ok(None)
    }

    fn same(&self, line: Option<(i128, i128)>, k: i128, c: i128) -> bool {
        let same = |x: i128, y: i128| match self.argument.modulo {
            Some(m) => (x - y).rem_euclid(m.into()) == 0,
            None => x == y,
        };
        line.is_some_and(|l| same(l.0, k) && same(l.1, c))
    }
}

/// The formula as `(k, c)`: it is `k + c·x` for all x in `[lo, hi]`. [`None`] if that is not seen.
fn line(formula: &Expr, lo: i64, hi: i64) -> Option<(i128, i128)> {
    let at = |l: (i128, i128), x: i64| l.0.checked_add(l.1.checked_mul(x.into())?);
    let ends = |l: (i128, i128)| Some((at(l, lo)?, at(l, hi)?));
    let sum = |x: (i128, i128), y: (i128, i128), s: i128| -> Option<(i128, i128)> {
        let scaled = (y.0.checked_mul(s)?, y.1.checked_mul(s)?);
        Some((x.0.checked_add(scaled.0)?, x.1.checked_add(scaled.1)?))
    };
    let bit = |b: bool| Some((i128::from(b), 0));
    match formula {
        Expr::Const(k) => Some((*k, 0)),
        Expr::Element(_) => Some((0, 1)),
        Expr::Select(c, x, y) => match line(c, lo, hi)? {
            (0, 0) => line(y, lo, hi),
            (_, 0) => line(x, lo, hi),
            _ => None,
        },
        Expr::Unary(op, x, m) => {
            let l = line(x, lo, hi)?;
            let (first, last) = ends(l)?;
            let quotient = |x: i128| match op {
                Unary::Cmod => (x - op.of(x, *m)) / m,
                _ => x.div_euclid(*m),
            };
            // The quotient is monotone, so it is constant between equal ends.
            let q = quotient(first);
            match op {
                Unary::Floor if q == quotient(last) => Some((q, 0)),
                Unary::Floor if l.1 % m == 0 => Some((l.0.div_euclid(*m), l.1 / m)),
                Unary::Mod | Unary::Cmod if q == quotient(last) => sum(l, (q, 0), -m),
                Unary::Mod | Unary::Cmod if l.1 % m == 0 => Some((op.of(l.0, *m), 0)),
                _ => None,
            }
        }
        Expr::Binary(op, x, y) => {
            let (x, y) = (line(x, lo, hi)?, line(y, lo, hi)?);
            if let Binary::Add | Binary::Sub = op {
                return sum(x, y, if *op == Binary::Add { 1 } else { -1 });
            }
            if *op == Binary::Mul {
                let zero = (0, 0);
                return if x.1 == 0 {
                    sum(zero, y, x.0)
                } else if y.1 == 0 {
                    sum(zero, x, y.0)
                } else {
                    None
                };
            }
            let difference = ends(sum(x, y, -1)?)?;
            let (least, most) = (difference.0.min(difference.1), difference.0.max(difference.1));
            match op {
                Binary::Min if most <= 0 => Some(x),
                Binary::Min if least >= 0 => Some(y),
                Binary::Max if most <= 0 => Some(y),
                Binary::Max if least >= 0 => Some(x),
                Binary::Less if most < 0 || least >= 0 => bit(most < 0),
                Binary::AtMost if most <= 0 || least > 0 => bit(most <= 0),
                Binary::Equal if most < 0 || least > 0 => bit(false),
                Binary::Equal if (least, most) == (0, 0) => bit(true),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_contract::map::formula::Formula;

    /// Where a formula is a line on an interval, it is that line at each point; and where it is none, halves are.
    #[test]
    fn lines_are_the_formula() {
        for text in [
            "a mod 7",
            "a cmod 8",
            "a <= 6",
            "a == 5",
            "a cmod 7",
            "round(a * 5 / 7) mod 4",
            "floor((3 * a - 20) / 6) + floor(6 * a / 3)",
            "min(a, 4) + max(a, -3) * 2 - abs(a)",
            "a < 3 ? a - 3 : (a == 5) + 2 * (a <= 6)",
            "(a + 7) mod 14 - (14 * a + 3) mod 7",
        ] {
            let formula = Formula::parse(text, &["a"]).expect(text).root;
            let (mut found, mut none) = (0, 0);
            for lo in -20..=20 {
                for hi in lo..=20 {
                    let Some((k, c)) = line(&formula, lo, hi) else {
                        none += 1;
                        continue;
                    };
                    found += 1;
                    for x in lo..=hi {
                        let value = formula.value(&|_| x.into());
                        assert_eq!(
                            value,
                            Some(k + c * i128::from(x)),
                            "{text} at {x} of [{lo}, {hi}]"
                        );
                    }
                }
            }
            assert!(found > 45 && none > 80, "{text}: {found} {none}");
        }
    }
}
