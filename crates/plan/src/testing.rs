//! What the tests of all transforms share: comparison with the schoolbook transform.

use crate::arith::{Arith, Exact, Val};
use crate::base::{BaseRef, BaseSpec, Shape, SmallModulus};
use crate::error::PlanError;
use crate::grid::Grid;
use crate::method::{DftSpec, Methods, PointsSpec};
use crate::network::Network;
use crate::registry::{METHODS, build_transform};
use crate::sexpr::Form;
use crate::steps::Step;
use crate::transform::{Transform, TransformRef};
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

/// The points that `text` describes: `n` of them, of t^n − `weight` if there is one.
pub fn try_points(
    q: u64,
    n: usize,
    weight: Option<u64>,
    text: &str,
) -> Result<TransformRef, PlanError> {
    let spec = PointsSpec { q, len: n, weight };
    Form::parse(text)
        .and_then(|form| Methods(METHODS).points(&form, &spec))
        .map(|points| points.unwrap_or_else(|| panic!("{text} is no method for points")))
        .map_err(|refusal| refusal.within(text))
}

/// The small product that `text` describes.
pub fn try_base(q: u64, size: usize, shape: Shape, text: &str) -> Result<BaseRef, PlanError> {
    let spec = BaseSpec { q, size, shape };
    Form::parse(text)
        .and_then(|form| Methods(METHODS).base(&form, &spec))
        .map_err(|refusal| refusal.within(text))
}

/// The schoolbook Σ_i t_j^i f_i.
pub fn definition(q: u64, points: &[u64], f: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let output = |&point: &u64| -> Vec<u64> {
        let mut sum = vec![0; f[0].len()];
        for (i, block) in f.iter().enumerate() {
            let w = zq::pow(point, i as u64, q);
            sum.iter_mut().zip(block).for_each(|(s, &x)| *s = zq::add(*s, zq::mul(w, x, q), q));
        }
        sum
    };
    points.iter().map(output).collect()
}

fn scaled(blocks: &[Vec<u64>], c: u64, q: u64) -> Vec<Vec<u64>> {
    blocks.iter().map(|b| b.iter().map(|&x| zq::mul(x, c, q)).collect()).collect()
}

/// Checks a transform against the schoolbook one, and that its text reads back. It checks forward
/// and inverse with the scales they state, with padding, with unread outputs, through the recorded
/// network and step by step.
pub fn check(q: u64, n: usize, text: &str) -> TransformRef {
    let t = transform(q, n, text);
    assert_eq!(t.len(), n);
    assert_eq!(zq::order(t.root(), q), Some(n as u64), "{text}: not a root of order {n}");
    let again = transform(q, n, &t.to_form().to_string());
    assert_eq!(again.to_form(), t.to_form(), "{text} does not read back");
    assert_eq!(t.inverse_scale(), zq::mul(n as u64, t.scale(), q));
    assert!(t.points().iter().enumerate().all(|(j, &p)| p == zq::pow(t.root(), j as u64, q)));
    check_values(text, t.as_ref());
    t
}

/// As [`check`], for values at other points.
pub fn check_points(q: u64, n: usize, weight: Option<u64>, text: &str) -> TransformRef {
    let t = try_points(q, n, weight, text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(t.len(), n);
    let again = try_points(q, n, weight, &t.to_form().to_string()).expect("own text");
    assert_eq!(again.to_form(), t.to_form(), "{text} does not read back");
    let mut points = t.points();
    if let Some(w) = weight {
        assert!(points.iter().all(|&p| zq::pow(p, n as u64, q) == w), "{text}: no roots");
    }
    points.sort_unstable();
    points.dedup();
    assert_eq!(points.len(), n, "{text}: points repeat");
    check_values(text, t.as_ref());
    t
}

fn check_values(text: &str, t: &dyn Transform) {
    let (q, n, points) = (t.q(), t.len(), t.points());
    let mut random = Random(n as u64 * 7919 + q);
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
        let expected = definition(q, &points, &f);
        let forward = t.forward_exact(&f);
        assert_eq!(forward, scaled(&expected, t.scale(), q), "{text}, forward");

        let mut net = Network::new(q);
        let input = net.inputs(&present);
        let output = t.forward(&mut net, &input);
        assert_eq!(replay(&net, &output, &f, q), forward, "{text}, padded network {present:?}");
        let cells = in_steps(&t.forward_steps(&present), &f, q);
        let stepwise: Vec<Vec<u64>> = t.cells().iter().map(|&cell| cells[cell].clone()).collect();
        assert_eq!(stepwise, forward, "{text}, padded steps {present:?}");

        // The same pattern as outputs that are read.
        let back = scaled(&f, t.inverse_scale(), q);
        assert_eq!(t.inverse_exact(&expected), back, "{text}, inverse");
        let mut net = Network::new(q);
        let input = net.inputs(&vec![true; n]);
        let output = t.inverse_wanted(&mut net, &input, &present);
        let read = |blocks: &[Vec<u64>]| -> Vec<Vec<u64>> {
            let kept = blocks.iter().zip(&present).filter(|&(_, &p)| p);
            kept.map(|(b, _)| b.clone()).collect()
        };
        let dropped = replay(&net, &output, &expected, q);
        assert_eq!(read(&dropped), read(&back), "{text}, dropping");
        let mut cells = vec![Vec::new(); n];
        t.cells().iter().zip(&expected).for_each(|(&cell, v)| cells[cell] = v.clone());
        let stepwise = in_steps(&t.inverse_steps(&present), &cells, q);
        assert_eq!(read(&stepwise), read(&back), "{text}, steps dropping");
        if let Some(grid) = t.grid() {
            assert_eq!(on_grid(&grid, &f, q), forward, "{text}, on a grid");
            let found = back_on_grid(&grid, &expected, &present, q);
            assert_eq!(read(&found), read(&back), "{text}, back on a grid");
        }
    }
}

/// The forward transform of blocks on its grid.
fn on_grid(grid: &Grid, f: &[Vec<u64>], q: u64) -> Vec<Vec<u64>> {
    let (p, columns) = (grid.rows(), grid.columns());
    let mut exact = Exact::new(q, 2);
    let mut rows = vec![Vec::new(); p];
    for i2 in 0..columns {
        let column: Vec<Val> = (0..p).map(|i1| exact.input(&f[columns * i1 + i2])).collect();
        for (j1, v) in grid.down(&mut exact, &column).into_iter().enumerate() {
            rows[j1].push(exact.scale(v, grid.factor(j1, i2).value()));
        }
    }
    let mut output = vec![Vec::new(); f.len()];
    for (j1, row) in rows.iter().enumerate() {
        for (j2, v) in grid.along(&mut exact, row).into_iter().enumerate() {
            output[grid.output(j1, j2)] = exact.get(v).to_vec();
        }
    }
    output
}

/// The inverse on the grid. Only the blocks marked in `wanted` are read.
fn back_on_grid(grid: &Grid, values: &[Vec<u64>], wanted: &[bool], q: u64) -> Vec<Vec<u64>> {
    let (p, columns) = (grid.rows(), grid.columns());
    let mut exact = Exact::new(q, 2);
    let mut all = vec![Vec::new(); columns];
    for j1 in 0..p {
        let row: Vec<Val> =
            (0..columns).map(|j2| exact.input(&values[grid.output(j1, j2)])).collect();
        for (i2, v) in grid.back(&mut exact, &row).into_iter().enumerate() {
            all[i2].push(exact.scale(v, grid.factor(j1, i2).inverse()));
        }
    }
    let mut output = vec![Vec::new(); values.len()];
    for (i2, column) in all.iter().enumerate() {
        let read: Vec<bool> = (0..p).map(|i1| wanted[columns * i1 + i2]).collect();
        for (i1, v) in grid.up(&mut exact, column, &read).into_iter().enumerate() {
            output[columns * i1 + i2] = exact.get(v).to_vec();
        }
    }
    output
}

/// What the steps leave of these blocks; groups of all steps but the first work in place.
pub fn in_steps(steps: &[Step], blocks: &[Vec<u64>], q: u64) -> Vec<Vec<u64>> {
    let mut cells = blocks.to_vec();
    for (number, step) in steps.iter().enumerate() {
        let mut after = cells.clone();
        for group in &step.groups {
            let inputs: Vec<Vec<u64>> = group.from.iter().map(|&i| cells[i].clone()).collect();
            let outputs = replay(&group.net, &group.outputs, &inputs, q);
            assert_eq!((group.to.len(), group.outputs.len()), (outputs.len(), outputs.len()));
            if number > 0 && number + 1 < steps.len() {
                let sorted = |places: &[usize]| {
                    let mut places = places.to_vec();
                    places.sort_unstable();
                    places
                };
                assert_eq!(sorted(&group.from), sorted(&group.to), "not in place: {}", step.title);
            }
            group.to.iter().zip(outputs).for_each(|(&i, v)| after[i] = v);
        }
        cells = after;
    }
    cells
}

fn replay(net: &Network, output: &[Val], blocks: &[Vec<u64>], q: u64) -> Vec<Vec<u64>> {
    let mut exact = Exact::new(q, blocks.iter().map(Vec::len).max().unwrap_or(0));
    let values: Vec<Val> = blocks.iter().map(|b| exact.input(b)).collect();
    let played = net.replay(&mut exact, &values, output);
    assert!(played.iter().all(|&v| exact.get(v).iter().all(|&x| x < exact.q())));
    played.iter().map(|&v| exact.get(v).to_vec()).collect()
}

/// Checks a small product against the schoolbook one for these weights, and for Toeplitz matrices
/// if it takes them.
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

/// Checks products mod x^size + a·x^(size/2) + b against schoolbook products.
pub fn check_trinomials(q: u64, size: usize, pairs: &[(u64, u64)], text: &str) -> BaseRef {
    let base =
        try_base(q, size, Shape::Trinomial(pairs.to_vec()), text).unwrap_or_else(|e| panic!("{e}"));
    let mut random = Random(size as u64 + 3 * q);
    for &(middle, low) in pairs {
        let (a, b) = (random.vector(size, q), random.vector(size, q));
        let product = base.multiply(SmallModulus::Trinomial(middle, low), &a, &b);
        // One power of x after another: x·c mod the trinomial.
        let mut expected = vec![0; size];
        let mut power = b.clone();
        for &x in &a {
            expected
                .iter_mut()
                .zip(&power)
                .for_each(|(s, &c)| *s = zq::add(*s, zq::mul(x, c, q), q));
            let top = power[size - 1];
            power.rotate_right(1);
            power[0] = zq::sub(0, zq::mul(low, top, q), q);
            power[size / 2] = zq::sub(power[size / 2], zq::mul(middle, top, q), q);
        }
        assert_eq!(product, expected, "{text} mod x^{size} + {middle}x^{} + {low}", size / 2);
    }
    base
}
