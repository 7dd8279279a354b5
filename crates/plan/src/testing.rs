//! What the tests of all transforms share: comparison with the definition.

use crate::arith::{Arith, Exact, Val};
use crate::base::{BaseRef, BaseSpec, Shape};
use crate::error::PlanError;
use crate::network::Network;
use crate::registry::{DftSpec, build_base, build_transform};
use crate::sexpr::Form;
use crate::transform::TransformRef;
use ringforge_ring::zq;

/// A small deterministic generator.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    pub fn vector(&mut self, len: usize, q: u64) -> Vec<u64> {
        (0..len).map(|_| self.below(q)).collect()
    }
}

/// The transform that `text` describes, of length `n` over Z_q; its refusal, if it is refused.
pub fn try_transform(q: u64, n: usize, text: &str) -> Result<TransformRef, PlanError> {
    let spec = DftSpec::new(q, n).unwrap_or_else(|e| panic!("{e}"));
    Form::parse(text)
        .and_then(|form| build_transform(&form, &spec))
        .map_err(|refusal| refusal.within(text))
}

/// [`try_transform`] of a text that is right.
pub fn transform(q: u64, n: usize, text: &str) -> TransformRef {
    try_transform(q, n, text).unwrap_or_else(|e| panic!("{e}"))
}

/// The small product that `text` describes.
pub fn try_base(q: u64, size: usize, shape: Shape, text: &str) -> Result<BaseRef, PlanError> {
    let spec = BaseSpec { q, size, shape };
    Form::parse(text)
        .and_then(|form| build_base(&form, &spec))
        .map_err(|refusal| refusal.within(text))
}

/// Σ_i ω^{ij} f_i, by its definition.
pub fn definition(q: u64, root: u64, f: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let output = |j: usize| -> Vec<u64> {
        let mut sum = vec![0; f[0].len()];
        for (i, block) in f.iter().enumerate() {
            let w = zq::pow(root, (i * j) as u64, q);
            sum.iter_mut().zip(block).for_each(|(s, &x)| *s = zq::add(*s, zq::mul(w, x, q), q));
        }
        sum
    };
    (0..f.len()).map(output).collect()
}

fn scaled(blocks: &[Vec<u64>], c: u64, q: u64) -> Vec<Vec<u64>> {
    blocks.iter().map(|b| b.iter().map(|&x| zq::mul(x, c, q)).collect()).collect()
}

/// Checks a transform against the definition: forward and inverse with the scales they state, with
/// padding, with unread outputs, and through the recorded network; and that its text reads back.
pub fn check(q: u64, n: usize, text: &str) -> TransformRef {
    let t = transform(q, n, text);
    let mut random = Random(n as u64 * 7919 + q);
    assert_eq!(t.len(), n);
    assert_eq!(zq::order(t.root(), q), Some(n as u64), "{text}: not a root of order {n}");
    let again = transform(q, n, &t.to_form().to_string());
    assert_eq!(again.to_form(), t.to_form(), "{text} does not read back");

    for round in 0..6 {
        // Padding: none, one block only, a random pattern, a tail.
        let present: Vec<bool> = match round {
            0 => vec![true; n],
            1 => (0..n).map(|i| i == n / 2).collect(),
            5 => (0..n).map(|i| 2 * i < n).collect(),
            _ => (0..n).map(|_| random.below(2) == 0).collect(),
        };
        let f: Vec<Vec<u64>> =
            (present.iter()).map(|&p| if p { random.vector(2, q) } else { vec![0, 0] }).collect();
        let expected = definition(q, t.root(), &f);
        let forward = t.forward_exact(&f);
        assert_eq!(forward, scaled(&expected, t.scale(), q), "{text}, forward");

        let mut net = Network::new(q);
        let input = net.inputs(&present);
        let output = t.forward(&mut net, &input);
        assert_eq!(replay(&net, &output, &f, q), forward, "{text}, padded network {present:?}");

        // The same pattern as outputs that are read.
        let inverse_scale = zq::mul(n as u64, t.scale(), q);
        assert_eq!(t.inverse_scale(), inverse_scale);
        assert_eq!(t.inverse_exact(&expected), scaled(&f, inverse_scale, q), "{text}, inverse");
        let mut net = Network::new(q);
        let input = net.inputs(&vec![true; n]);
        let output = t.inverse_wanted(&mut net, &input, &present);
        let read = |blocks: &[Vec<u64>]| -> Vec<Vec<u64>> {
            let kept = blocks.iter().zip(&present).filter(|&(_, &p)| p);
            kept.map(|(b, _)| b.clone()).collect()
        };
        let dropped = replay(&net, &output, &expected, q);
        assert_eq!(read(&dropped), read(&scaled(&f, inverse_scale, q)), "{text}, dropping");
    }
    t
}

fn replay(net: &Network, output: &[Val], blocks: &[Vec<u64>], q: u64) -> Vec<Vec<u64>> {
    let mut exact = Exact::new(q, 2);
    let values: Vec<Val> = blocks.iter().map(|b| exact.input(b)).collect();
    let played = net.replay(&mut exact, &values, output);
    assert!(played.iter().all(|&v| exact.get(v).iter().all(|&x| x < exact.q())));
    played.iter().map(|&v| exact.get(v).to_vec()).collect()
}

/// Checks a small product against its definition for these weights, and for Toeplitz matrices if
/// it takes them.
pub fn check_base(q: u64, size: usize, weights: &[u64], text: &str) -> BaseRef {
    let base = try_base(q, size, Shape::Weighted(weights.to_vec()), text)
        .unwrap_or_else(|e| panic!("{e}"));
    let mut random = Random(size as u64 + q);
    for &w in weights {
        let (a, b) = (random.vector(size, q), random.vector(size, q));
        let mut expected = vec![0; size];
        for i in 0..size {
            for j in 0..size {
                let wrap = if i + j < size { 1 } else { w };
                let term = zq::mul(wrap, zq::mul(a[i], b[j], q), q);
                expected[(i + j) % size] = zq::add(expected[(i + j) % size], term, q);
            }
        }
        assert_eq!(base.convolve(w, &a, &b), expected, "{text} mod x^{size} - {w}");
    }
    if let Ok(base) = try_base(q, size, Shape::Toeplitz, text) {
        let (t, v) = (random.vector(2 * size - 1, q), random.vector(size, q));
        let row = |i: usize| {
            (0..size).fold(0, |s, j| zq::add(s, zq::mul(t[size - 1 + i - j], v[j], q), q))
        };
        assert_eq!(base.toeplitz(&t, &v), (0..size).map(row).collect::<Vec<_>>(), "{text}");
    }
    base
}
