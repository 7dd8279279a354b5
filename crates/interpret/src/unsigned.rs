//! The meanings of the unsigned scheme's programs [TokudaKameyama23 §3.1, §4, §5].
//!
//! [`execute`] runs loops and arrays once and for all over a [`execute::Domain`] (words,
//! intervals, counts, forms mod q); [`text`] prints the same programs as C and OCaml.

pub mod execute;
pub mod text;

use crate::formula::{Forms, Recorder};
use execute::{Count, Domain, Execute, Interval, Intervals, Refused, Words};
use ringforge_program::unsigned::{Array, Scheme};

/// The three programs that a scheme has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The forward transform of `a`, in place.
    Forward,
    /// The inverse transform of `c`, in place.
    Inverse,
    /// `c = a·b`.
    Product,
}

fn program<D: Domain>(
    scheme: &Scheme,
    part: Part,
    machine: &mut Execute<'_, D>,
) -> Result<(), Refused> {
    match part {
        Part::Forward => scheme.forward(machine, Array::Data(1)),
        Part::Inverse => scheme.inverse(machine, Array::Data(0)),
        Part::Product => scheme.product_program(machine),
    }
}

/// The array of the results of a part.
fn result(part: Part) -> usize {
    if part == Part::Forward { 1 } else { 0 }
}

fn arrays<V: Clone>(part: Part, a: &[V], b: &[V]) -> [Vec<Option<V>>; 3] {
    let some = |words: &[V]| words.iter().cloned().map(Some).collect();
    match part {
        Part::Forward => [vec![], some(a), vec![]],
        Part::Inverse => [some(a), vec![], vec![]],
        Part::Product => [vec![None; a.len()], some(a), some(b)],
    }
}

/// What a part leaves for the inputs `a` (and `b`, which only products read), each of n words in
/// `[0, 65535]`.
pub fn run(scheme: &Scheme, part: Part, a: &[u16], b: &[u16]) -> Result<Vec<u16>, Refused> {
    let mut machine = Execute::new(scheme, Words::new(scheme), arrays(part, a, b));
    program(scheme, part, &mut machine)?;
    machine.take(result(part))
}

/// The interval of every coefficient that a part leaves, where every input lies in `input`; the
/// first sum, difference or product that may not fit is the error.
pub fn ranges(scheme: &Scheme, part: Part, input: Interval) -> Result<Vec<Interval>, Refused> {
    let all = vec![input; scheme.n];
    let mut machine = Execute::new(scheme, Intervals::new(scheme), arrays(part, &all, &all));
    program(scheme, part, &mut machine)?;
    machine.take(result(part))
}

/// How often a part does what, in single words.
pub fn count(scheme: &Scheme, part: Part) -> Result<Count, Refused> {
    let all = vec![(); scheme.n];
    let mut machine = Execute::new(scheme, Count::default(), arrays(part, &all, &all));
    program(scheme, part, &mut machine)?;
    Ok(machine.domain)
}

/// The forms mod q of what a part leaves, as [`crate::formula::forms`] makes them of programs of
/// the embedded language.
pub fn forms(scheme: &Scheme, part: Part) -> Result<Forms, Refused> {
    let q = u64::from(scheme.constants.q);
    let mut recorder = Recorder::new(q);
    let mut inputs =
        |operand| -> Vec<_> { (0..scheme.n).map(|i| recorder.input(operand, i as u32)).collect() };
    let a = inputs(0);
    let b = if part == Part::Product { inputs(1) } else { a.clone() };
    let domain = execute::Residues::new(recorder)?;
    let mut machine = Execute::new(scheme, domain, arrays(part, &a, &b));
    program(scheme, part, &mut machine)?;
    let outputs = machine.take(result(part))?;
    let lengths = vec![scheme.n; if part == Part::Product { 2 } else { 1 }];
    Ok(machine.domain.recorder.finish(outputs, lengths))
}
