//! The whole product: what forward transforms leave is what products of values take, and what
//! those leave is what the inverse transform takes.

use crate::arith::{Arithmetic, Interval, Ranges};
use crate::{Algorithm, Part, Problem, Progress, transform};
use ringforge_program::method::ProductMethod;
use ringforge_program::unsigned::primitive::MONTGOMERY_BITS;
use ringforge_ring::zq;

/// Limits of the forward transforms' outputs that are tried for signed words, as shares of a word.
const STEPS: i64 = 16;

pub(crate) fn search(
    problem: &Problem,
    ranges: &mut Ranges,
    inverse: Algorithm,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Vec<Part>, String> {
    let word = ranges.word();
    let limits: Vec<Interval> = match problem.arithmetic {
        Arithmetic::Unsigned { .. } => vec![word],
        Arithmetic::Signed { .. } => {
            (1..=STEPS).map(|i| (-(word.1 * i / STEPS), word.1 * i / STEPS)).collect()
        }
    };
    let of = 2 * limits.len();
    let (mut best, mut states, mut reason): (Option<Vec<Part>>, u64, String) =
        (None, 0, String::new());
    for (i, &limit) in limits.iter().enumerate() {
        let mut settle = |part: &Result<Part, String>, done: usize| {
            states += part.as_ref().map_or(0, |p| p.certificate.states);
            progress(Progress { done, of, states })
        };
        let output = Some(problem.output.map_or(limit, |o| (o.0.max(limit.0), o.1.min(limit.1))));
        let forward = transform(&Problem { output, ..*problem }, ranges, Algorithm::Forward);
        let on = settle(&forward, 2 * i + 1);
        let parts = forward.and_then(|forward| {
            let input = values(problem, ranges, forward.output)?;
            let whole = Problem { input: Some(input), output: None, ..*problem };
            let back = transform(&whole, ranges, inverse)?;
            Ok(vec![forward, back])
        });
        let on = on && {
            let back = parts.as_ref().map(|p| p[1].clone()).map_err(String::clone);
            settle(&back, 2 * i + 2)
        };
        match parts {
            Ok(parts) => {
                let cost = |p: &[Part]| 2 * p[0].certificate.found + p[1].certificate.found;
                if best.as_ref().is_none_or(|b| cost(&parts) < cost(b)) {
                    best = Some(parts);
                }
            }
            Err(why) => reason = why,
        }
        if !on {
            break;
        }
    }
    best.ok_or(reason)
}

/// The range of products of values (of small polynomials, where the transform is incomplete).
fn values(problem: &Problem, ranges: &mut Ranges, x: Interval) -> Result<Interval, String> {
    let degree = (problem.n >> problem.layers) as i64;
    let wrong = || format!("products of values in [{}, {}] may not fit a word", x.0, x.1);
    let one = match problem.arithmetic {
        // b goes through a product by 2^36 first, so that both factors fit, as NewHope does.
        Arithmetic::Unsigned { csub_products } => {
            let r = zq::pow(2, u64::from(MONTGOMERY_BITS), problem.q);
            let b = ranges.product(r, x).ok_or_else(wrong)?;
            let q = problem.q as i64;
            let top = (x.1 * b.1 + ((1 << MONTGOMERY_BITS) - 1) * q) >> MONTGOMERY_BITS;
            if csub_products { (0, (q - 1).max(top - q)) } else { (0, top) }
        }
        Arithmetic::Signed { .. } => {
            ProductMethod::Montgomery.range(x, x, problem.q).ok_or_else(wrong)?
        }
    };
    let sum = (one.0 * degree, one.1 * degree);
    let word = ranges.word();
    if sum.0 < word.0 || sum.1 > word.1 { Err(wrong()) } else { Ok(sum) }
}
