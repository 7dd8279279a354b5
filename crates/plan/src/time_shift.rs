//! Time shifting: rotate the blocks so that zeros (or outputs nobody reads) lie where the inner
//! transform saves most, and twist on the other side [Chiu25 §3.3.1, §3.3.2].
//!
//! Forward: f rotated left by m transforms to ω^{−mj} F_j, so F_j = ω^{mj} · (transform of the
//! rotated f)_j. Inverse: twisting F_j by ω^{−mj} first rotates the outputs left by m.
//! The rotation is chosen for each pattern of zeros on its own, by recording the inner transform
//! for every rotation and counting. Equal counts are decided by the pattern, so that all columns
//! with as many cyclically consecutive zeros share one pattern, and with it one piece of code.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method};
use crate::network::Cost;
use crate::sexpr::Form;
use crate::transform::{Transform, TransformRef};
use ringforge_ring::zq;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Registry entry.
pub const METHOD: Method = Method {
    name: "time-shift",
    usage: "(time-shift TRANSFORM)",
    summary: "Rotates zero inputs (or unread outputs) to where the inner transform saves most, and \
              twists on the other side.",
    citation: "[Chiu25 §3.3.1]",
    build: Build::Transform(build),
};

/// A transform behind a rotation.
#[derive(Debug)]
pub struct TimeShift {
    /// The transform of the rotated blocks, with the same length and root.
    pub inner: TransformRef,
    inputs: Choices,
    outputs: Choices,
}

/// The rotation chosen for each pattern so far. To choose records the inner transform n times, and a shift inside it
/// chooses in each of these: without a memory the time is exponential in how many are nested.
type Choices = Mutex<HashMap<Vec<bool>, usize>>;

fn build(arguments: &mut Arguments, spec: &DftSpec) -> Result<TransformRef, Refusal> {
    spec.of_numbers(arguments)?;
    let inner = arguments.transform(spec)?;
    Ok(Arc::new(TimeShift { inner, inputs: Choices::default(), outputs: Choices::default() }))
}

fn rotated<T: Copy>(items: &[T], m: usize) -> Vec<T> {
    let mut items = items.to_vec();
    items.rotate_left(m);
    items
}

/// What a rotation is judged by: multiplications weigh as four additions (a modular product is
/// three instructions and a longer wait).
fn weight(cost: Cost) -> u64 {
    4 * cost.scales + cost.adds
}

impl TimeShift {
    /// The rotation m for these present inputs: the inner transform then reads block `i + m` as
    /// its block i. 0 where all or none are present.
    pub fn shift_for_inputs(&self, present: &[bool]) -> usize {
        self.choose(&self.inputs, present, |pattern| self.inner.forward_cost(pattern))
    }

    /// The rotation m for these wanted outputs of the inverse: the inner transform then gives
    /// block `i + m` as its block i. 0 where all or none are wanted.
    pub fn shift_for_outputs(&self, wanted: &[bool]) -> usize {
        self.choose(&self.outputs, wanted, |pattern| self.inner.inverse_cost(pattern))
    }

    /// The factors ω^{mj} for j = 0, 1, …: forward with the rotation m, backward with n − m.
    pub fn twists(&self, m: usize) -> Vec<u64> {
        let (n, q) = (self.inner.len(), self.inner.q());
        (0..n).map(|j| zq::pow(self.inner.root(), (m * j % n) as u64, q)).collect()
    }

    fn choose(&self, known: &Choices, pattern: &[bool], cost: impl Fn(&[bool]) -> Cost) -> usize {
        if pattern.iter().all(|&p| p == pattern[0]) {
            return 0;
        }
        // A thread that panicked left whole entries; the lock is not held while costs are counted.
        let entries = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&m) = entries().get(pattern) {
            return m;
        }
        let judge = |m: usize| {
            let pattern = rotated(pattern, m);
            (weight(cost(&pattern)), pattern.iter().map(|&p| !p).collect::<Vec<_>>())
        };
        let best = (0..pattern.len()).min_by_key(|&m| judge(m)).unwrap_or(0);
        entries().insert(pattern.to_vec(), best);
        best
    }

    fn twist(&self, arith: &mut dyn Arith, values: &[Val], m: usize) -> Vec<Val> {
        let factors = self.twists(m);
        let scaled = values.iter().zip(factors);
        scaled.map(|(&v, c)| if c == 1 { v } else { arith.scale(v, c) }).collect()
    }
}

impl Transform for TimeShift {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.inner.spec()
    }
    fn scale(&self) -> u64 {
        self.inner.scale()
    }

    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let present: Vec<bool> = f.iter().map(|&v| !arith.is_zero(v)).collect();
        let m = self.shift_for_inputs(&present);
        let output = self.inner.forward(arith, &rotated(f, m));
        self.twist(arith, &output, m)
    }

    fn inverse(&self, arith: &mut dyn Arith, input: &[Val]) -> Vec<Val> {
        self.inner.inverse(arith, input)
    }

    fn inverse_wanted(&self, arith: &mut dyn Arith, input: &[Val], wanted: &[bool]) -> Vec<Val> {
        let m = self.shift_for_outputs(wanted);
        let back = (self.len() - m) % self.len();
        let twisted = self.twist(arith, input, back);
        let output = self.inner.inverse_wanted(arith, &twisted, &rotated(wanted, m));
        rotated(&output, back)
    }

    fn children(&self) -> Vec<&dyn Transform> {
        vec![self.inner.as_ref()]
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [self.inner.to_form()])
    }
    fn title(&self) -> String {
        "Time shift".to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, transform};

    const TEN: &str = "(time-shift (good-thomas 5 2 (rader 5) (butterfly)))";

    #[test]
    fn agrees_with_the_definition() {
        check(4591, 10, TEN);
        check(4591, 9, "(time-shift (cooley-tukey 3 3 twisted (rader 3) (rader 3)))");
        check(4591, 5, "(time-shift (rader 5 unscaled))");
    }

    /// All columns with 4 (5) cyclically consecutive zeros get one pattern. No other place for the
    /// zeros is cheaper, including the places [3, 6] and [3, 7] of [Chiu25].
    #[test]
    fn zeros_land_where_they_save_most() {
        let t = transform(4591, 10, TEN);
        let shift = t.as_method::<TimeShift>().expect("time shift");
        for zeros in [4, 5] {
            let mut patterns = Vec::new();
            let mut costs = Vec::new();
            for start in 0..10 {
                let present: Vec<bool> = (0..10).map(|i| (i + 10 - start) % 10 >= zeros).collect();
                let m = shift.shift_for_inputs(&present);
                patterns.push(rotated(&present, m));
                costs.push(weight(shift.inner.forward_cost(&present)));
            }
            patterns.dedup();
            assert_eq!(patterns.len(), 1, "{zeros} zeros");
            let chosen = weight(shift.inner.forward_cost(&patterns[0]));
            assert_eq!(Some(&chosen), costs.iter().min());
            assert!(chosen < *costs.iter().max().expect("ten places"));
            assert_eq!(costs[3], chosen, "the seed's place for {zeros} zeros is as good");
        }
    }

    /// The inverse really drops at the rotated places: it costs as much as the inner one there,
    /// plus the twists. The low part in [Chiu25] reads blocks 0 to 5 of 10.
    #[test]
    fn unread_outputs_land_where_they_save_most() {
        let t = transform(4591, 10, TEN);
        let shift = t.as_method::<TimeShift>().expect("time shift");
        for read in [3, 6, 9] {
            let wanted: Vec<bool> = (0..10).map(|i| i < read).collect();
            let m = shift.shift_for_outputs(&wanted);
            let inner = shift.inner.inverse_cost(&rotated(&wanted, m));
            // A twist by −1 is absorbed by the butterfly that follows.
            let costly = |c: &&u64| **c != 1 && **c != 4590;
            let twists = shift.twists(m).iter().filter(costly).count() as u64;
            let twists = Cost { scales: twists, ..Cost::default() };
            assert_eq!(t.inverse_cost(&wanted), inner + twists, "{read} read");
            assert!((0..10).all(|other| {
                weight(inner) <= weight(shift.inner.inverse_cost(&rotated(&wanted, other)))
            }));
        }
    }

    /// Were each choice made anew, seven nested shifts would record the innermost transform 10^7 times a pattern.
    #[test]
    fn nested_shifts_choose_once_a_pattern() {
        check(4591, 10, &format!("{}{TEN}{}", "(time-shift ".repeat(6), ")".repeat(6)));
    }

    #[test]
    fn nothing_shifts_without_zeros() {
        let t = transform(4591, 10, TEN);
        let shift = t.as_method::<TimeShift>().expect("time shift");
        assert_eq!(shift.shift_for_inputs(&[true; 10]), 0);
        assert_eq!(shift.shift_for_outputs(&[true; 10]), 0);
        assert_eq!(t.forward_cost(&[true; 10]), shift.inner.forward_cost(&[true; 10]));
    }
}
