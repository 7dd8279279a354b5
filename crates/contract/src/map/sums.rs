//! Sums over the elements of an array, in formulas.

use super::formula::Expr;
use std::collections::BTreeMap;

/// Values of an element that is summed up, or that is a digit.
pub(super) const VALUES: i64 = 1 << 16;
/// Elements that are summed up.
pub(super) const ELEMENTS: usize = 1 << 12;
/// Sums lie below this.
const LARGE: i128 = 1 << 48;

/// The sum of a function of each element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The array.
    pub array: usize,
    /// The function, of that array's element alone.
    pub of: Expr,
    /// The elements' range, and how many there are.
    pub elements: ((i64, i64), usize),
    /// The least and the greatest sum.
    pub range: (i64, i64),
}

impl Sum {
    /// Of elements that have few values.
    pub(super) fn new(array: usize, of: Expr, elements: ((i64, i64), usize)) -> Option<Sum> {
        let values = values(&of, elements.0)?;
        let n = elements.1 as i128;
        let ends = [values.iter().min()?, values.iter().max()?].map(|v| v.checked_mul(n));
        let [Some(lo), Some(hi)] = ends else { return None };
        let range = (-LARGE < lo && hi < LARGE).then_some((lo as i64, hi as i64))?;
        Some(Sum { array, of, elements, range })
    }

    /// The sum of these elements.
    pub fn total(&self, elements: &[i64]) -> Option<i128> {
        let mut values = elements.iter().map(|&x| self.of.value(&|_| x.into()));
        values.try_fold(0i128, |total, value| total.checked_add(value?))
    }

    /// Elements of that sum, if some are found: those at `fixed` places are given. `pick(n)` is a number below n.
    pub fn reached(
        &self,
        total: i64,
        fixed: &[(usize, i64)],
        pick: &mut dyn FnMut(u64) -> u64,
    ) -> Option<Vec<i64>> {
        let (range, n) = self.elements;
        let mut by_value: BTreeMap<i128, Vec<i64>> = BTreeMap::new();
        for (x, value) in (range.0..).zip(values(&self.of, range)?) {
            by_value.entry(value).or_default().push(x);
        }
        let (least, most) = (*by_value.keys().next()?, *by_value.keys().next_back()?);
        let mut free: Vec<usize> = (0..n).filter(|k| fixed.iter().all(|f| f.0 != *k)).collect();
        for k in (1..free.len()).rev() {
            free.swap(k, pick(k as u64 + 1) as usize);
        }
        let mut elements = vec![0; n];
        let mut rest = i128::from(total);
        for &(k, x) in fixed {
            elements[k] = x;
            rest -= self.of.value(&|_| x.into())?;
        }
        for (place, &k) in free.iter().enumerate() {
            // What the others can still make up for.
            let others = (free.len() - place - 1) as i128;
            let fits = by_value.range(rest - others * most..=rest - others * least);
            let fits: Vec<_> = fits.collect();
            let (value, of) = fits.get(pick((fits.len() as u64).max(1)) as usize)?;
            elements[k] = of[pick(of.len() as u64) as usize];
            rest -= **value;
        }
        (rest == 0).then_some(elements)
    }
}

/// A formula of one element at each value of a range.
pub(super) fn values(of: &Expr, (lo, hi): (i64, i64)) -> Option<Vec<i128>> {
    (lo..=hi).map(|x| of.value(&|_| x.into())).collect()
}
