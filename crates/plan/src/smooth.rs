//! Finds transforms for arbitrary smooth lengths: which splits, and in which order.
//!
//! A length is split until primes are left. Coprime parts use Good–Thomas, which needs no twiddles;
//! other parts use Cooley–Tukey. The split with the fewest slots wins. The count skips zeros of the
//! padding and drops unread outputs [Chiu25 §3.3].

use crate::blocks::longest_phase;
use crate::method::DftSpec;
use crate::network::Cost;
use crate::registry::build_transform;
use crate::sexpr::Form;
use crate::transform::TransformRef;
use ringforge_ring::zq;
use std::collections::HashMap;

/// Slots of a multiplication by a constant, against one of an addition.
const SCALE_SLOTS: u64 = 4;
/// Primes beyond take too many multiplications to be of use.
const LARGEST_PRIME: u64 = 41;

/// Transforms modulo one q, by length; what was searched is kept.
#[derive(Debug)]
pub struct Smooth {
    q: u64,
    best: HashMap<usize, Option<Form>>,
}

/// The slots that operations on blocks take.
pub fn slots(cost: Cost) -> u64 {
    SCALE_SLOTS * cost.scales + cost.adds
}

impl Smooth {
    /// Nothing searched yet.
    pub fn new(q: u64) -> Smooth {
        Smooth { q, best: HashMap::new() }
    }

    /// Whether there is a transform of length n modulo q, made of small primes.
    pub fn has(&self, n: usize) -> bool {
        let small = zq::factor(n as u64).iter().all(|&(p, _)| p <= LARGEST_PRIME);
        small && zq::root_of_unity(n as u64, self.q).is_ok()
    }

    /// The transform of length n with the fewest slots for two forward transforms and an inverse.
    /// Only the first `present` input blocks can be nonzero, and only the first `wanted` outputs of
    /// the inverse are read. `None` if there is no such transform.
    pub fn transform(&mut self, n: usize, present: usize, wanted: usize) -> Option<TransformRef> {
        if !self.has(n) {
            return None;
        }
        let spec = DftSpec::new(self.q, n).ok()?;
        let marks = |count: usize| -> Vec<bool> { (0..n).map(|i| i < count).collect() };
        let (present, wanted) = (marks(present), marks(wanted));
        let texts = self.splits(n);
        let built = texts.iter().filter_map(|form| build_transform(form, &spec).ok());
        built.min_by_key(|t| {
            let work = 2 * slots(t.forward_cost(&present)) + slots(t.inverse_cost(&wanted));
            // What does not fit the registers is stored and loaded again between the levels, and
            // straight-line code grows with the longer phase.
            let longest = longest_phase(t.as_ref());
            let spilled = (longest as f64 / 12.0).log2().max(0.0) * 4.0 * n as f64;
            work + 3 * spilled as u64
        })
    }

    /// The forms of length n: all splits in two, or the transform of a prime.
    fn splits(&mut self, n: usize) -> Vec<Form> {
        let number = Form::word;
        if n <= 2 || zq::is_prime(n as u64) {
            return vec![match n {
                1 => Form::list("direct", []),
                2 => Form::list("butterfly", []),
                _ => Form::list("rader", [number(n), Form::word("unscaled")]),
            }];
        }
        let mut forms = Vec::new();
        for p in (2..n).filter(|&p| n.is_multiple_of(p)) {
            let (Some(first), Some(second)) = (self.form(p), self.form(n / p)) else { continue };
            let lengths = [number(p), number(n / p)];
            if zq::gcd(p as u64, (n / p) as u64) == 1 {
                let parts = lengths.into_iter().chain([first, second]);
                forms.push(Form::list("good-thomas", parts));
                continue; // twiddles would only add to it
            }
            for twisted in [None, Some(Form::word("twisted"))] {
                let parts = [first.clone(), second.clone()];
                let all = lengths.iter().cloned().chain(twisted).chain(parts);
                forms.push(Form::list("cooley-tukey", all));
            }
        }
        forms
    }

    /// The transform of length n, all blocks present, that takes the fewest slots.
    fn form(&mut self, n: usize) -> Option<Form> {
        if let Some(known) = self.best.get(&n) {
            return known.clone();
        }
        let spec = DftSpec::new(self.q, n).ok()?;
        let mut best: Option<(u64, Form)> = None;
        for form in self.splits(n) {
            let Ok(t) = build_transform(&form, &spec) else { continue };
            let all = vec![true; n];
            let work = 2 * slots(t.forward_cost(&all)) + slots(t.inverse_cost(&all));
            if best.as_ref().is_none_or(|(least, _)| work < *least) {
                best = Some((work, form));
            }
        }
        let best = best.map(|(_, form)| form);
        self.best.insert(n, best.clone());
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn finds_transforms_of_all_kinds_of_length() {
        for (q, n) in [
            (2017, 96),
            (4591, 90),
            (4591, 102),
            (1153, 64),
            (4621, 84),
            (7177, 156),
            (17, 1),
            (17, 16),
            (2251, 125),
        ] {
            let found =
                Smooth::new(q).transform(n, n / 2, n).unwrap_or_else(|| panic!("{n} mod {q}"));
            check(q, n, &found.to_form().to_string());
        }
        // Two even phases rather than one short and one long.
        let found = Smooth::new(2017).transform(96, 48, 96).expect("96");
        assert!(longest_phase(found.as_ref()) <= 16, "{}", found.to_form());
    }

    #[test]
    fn has_what_the_modulus_allows() {
        assert!(Smooth::new(4591).transform(64, 32, 64).is_none()); // no root of unity
        assert!(Smooth::new(12577).transform(131, 66, 131).is_none()); // 12576 = 2^5·3·131
        assert!(!Smooth::new(4591).has(96) && Smooth::new(4591).has(90));
    }
}
