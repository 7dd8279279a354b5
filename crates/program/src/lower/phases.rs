//! Transforms as phases: networks on blocks that run one after another. Two independent axes
//! (Good–Thomas) or two levels with twiddles between them (Cooley–Tukey) make two.

use super::network::{Group, Phase};
use crate::cut::scaled;
use ringforge_plan::{Arith, Axes, CooleyTukey, Network, Substitute, Transform, Val};

/// Records one transform as a network on the inputs that are present.
fn record(
    q: u64,
    present: &[bool],
    f: impl FnOnce(&mut dyn Arith, &[Val]) -> Vec<Val>,
) -> (Network, Vec<Val>) {
    let mut net = Network::new(q);
    let input = net.inputs(present);
    let output = f(&mut net, &input);
    (net, output)
}

/// For each cell (row-major) what `map` puts there.
fn by_cell(map: &[(usize, usize)], columns: usize) -> Vec<usize> {
    let mut cells = vec![0; map.len()];
    for (i, &(row, column)) in map.iter().enumerate() {
        cells[row * columns + column] = i;
    }
    cells
}

/// The cell of every output F_j, in the order of j.
pub(crate) fn cell_of_output(transform: &dyn Transform) -> Vec<usize> {
    match transform.axes() {
        Some(axes) => {
            axes.output.iter().map(|&(row, column)| row * axes.columns.len() + column).collect()
        }
        None => match twiddled(transform) {
            Some(both) => both.cell_of_output(),
            None => (0..transform.len()).collect(),
        },
    }
}

/// The transform as one with twiddles between two levels, where the levels are apart.
fn twiddled(transform: &dyn Transform) -> Option<&CooleyTukey> {
    transform.as_method::<CooleyTukey>().filter(|both| both.halving().is_none())
}

/// Two levels of transforms: which indices they run over.
trait Levels {
    fn cell_of_output(&self) -> Vec<usize>;
    /// The index of input (i1, i2) and the twiddle of (j1, i2).
    fn input(&self, i1: usize, i2: usize) -> usize;
    fn output(&self, j1: usize, j2: usize) -> usize;
    fn twiddle(&self, j1: usize, i2: usize) -> u64;
}

/// Number `k` of the representatives of the residues mod n, centred where twisted.
fn representative(twisted: bool, k: usize, n: usize) -> i64 {
    let shift = if twisted { (n - 1) / 2 } else { 0 };
    if k >= n - shift { k as i64 - n as i64 } else { k as i64 }
}

impl Levels for CooleyTukey {
    fn cell_of_output(&self) -> Vec<usize> {
        let (p, q) = (self.first.len(), self.second.len());
        let mut cells = vec![0; p * q];
        for (j1, j2) in (0..p).flat_map(|j1| (0..q).map(move |j2| (j1, j2))) {
            cells[self.output(j1, j2)] = j1 * q + j2;
        }
        cells
    }
    fn input(&self, i1: usize, i2: usize) -> usize {
        let (p, q) = (self.first.len(), self.second.len());
        let i2 = representative(self.twisted, i2, q);
        ((q * i1) as i64 + i2).rem_euclid((p * q) as i64) as usize
    }
    fn output(&self, j1: usize, j2: usize) -> usize {
        let (p, q) = (self.first.len(), self.second.len());
        let j1 = representative(self.twisted, j1, p);
        ((p * j2) as i64 + j1).rem_euclid((p * q) as i64) as usize
    }
    fn twiddle(&self, j1: usize, i2: usize) -> u64 {
        let (p, q) = (self.first.len(), self.second.len());
        let exponent = representative(self.twisted, j1, p) * representative(self.twisted, i2, q);
        self.spec.power(exponent.rem_euclid((p * q) as i64) as usize)
    }
}

/// A transform with twiddles between its levels, forward from inputs at `from[i]`, of which
/// `present` are not zero, to outputs at `to`; between them at cells.
fn two_levels(
    both: &CooleyTukey,
    from: &[usize],
    present: &[bool],
    cells: &[usize],
    (to, wanted): (&[usize], &[bool]),
) -> [Vec<Group>; 2] {
    let (p, q, modulus) = (both.first.len(), both.second.len(), both.spec.q);
    let first = (0..q).map(|i2| {
        let inputs: Vec<usize> = (0..p).map(|i1| both.input(i1, i2)).collect();
        let here: Vec<bool> = inputs.iter().map(|&i| present[i]).collect();
        let (net, outputs) = record(modulus, &here, |arith, f| {
            let level = both.first.forward(arith, f);
            let twiddles = (0..p).map(|j1| both.twiddle(j1, i2));
            let scale = |(v, c)| if c == 1 { v } else { arith.scale(v, c) };
            level.into_iter().zip(twiddles).map(scale).collect()
        });
        let from = inputs.iter().map(|&i| from[i]).collect();
        Group { net, outputs, from, to: (0..p).map(|j1| cells[j1 * q + i2]).collect() }
    });
    let second = (0..p).map(|j1| {
        let (net, outputs) =
            record(modulus, &vec![true; q], |arith, f| both.second.forward(arith, f));
        let all = (0..q).map(|j2| both.output(j1, j2));
        let kept = outputs.into_iter().zip(all).filter(|&(_, j)| wanted[j]);
        let (outputs, to) = kept.map(|(v, j)| (v, to[j])).unzip();
        Group { net, outputs, from: (0..q).map(|i2| cells[j1 * q + i2]).collect(), to }
    });
    [first.collect(), second.collect()]
}

/// The forward transform in phases: from blocks of the operand to cells.
pub(crate) fn forward_phases(tag: &str, part: &Substitute) -> Vec<Phase> {
    let (q, present) = (part.domain.q, part.present());
    let transform = part.transform.as_ref();
    if let Some(both) = twiddled(transform).filter(|_| transform.axes().is_none()) {
        let n = transform.len();
        let (all, cells) = ((0..n).collect::<Vec<usize>>(), both.cell_of_output());
        let to = (&cells[..], &vec![true; n][..]);
        let [first, second] = two_levels(both, &all, &present, &all, to);
        let (r, c) = (both.first.len(), both.second.len());
        return vec![
            Phase {
                title: format!(
                    "{tag} part: {c} of {r}-point transforms, zeros skipped, and twiddles"
                ),
                cite: "[Chiu25 §3.4.1]",
                stage: format!("{tag}.forward.columns"),
                groups: first,
            },
            Phase {
                title: format!("{tag} part: {r} of {c}-point transforms"),
                cite: "[Chiu25 §3.4.1]",
                stage: format!("{tag}.forward.rows"),
                groups: second,
            },
        ];
    }
    let Some(Axes { rows, columns, input, .. }) = transform.axes() else {
        let (net, outputs) = record(q, &present, |arith, f| transform.forward(arith, f));
        let all: Vec<usize> = (0..transform.len()).collect();
        let group = Group { net, outputs, from: all.clone(), to: all };
        return vec![Phase {
            title: format!("{tag} part: {}-point transform", transform.len()),
            cite: "[Chiu25 §3.2.2]",
            stage: format!("{tag}.forward"),
            groups: vec![group],
        }];
    };
    let (r, c) = (rows.len(), columns.len());
    let block_at = by_cell(&input, c);
    let first = (0..c).map(|column| {
        let from: Vec<usize> = (0..r).map(|row| block_at[row * c + column]).collect();
        let here: Vec<bool> = from.iter().map(|&i| present[i]).collect();
        let (net, outputs) = record(q, &here, |arith, f| rows.forward(arith, f));
        Group { net, outputs, from, to: (0..r).map(|row| row * c + column).collect() }
    });
    let second = (0..r).map(|row| {
        let (net, outputs) = record(q, &vec![true; c], |arith, f| columns.forward(arith, f));
        let line: Vec<usize> = (0..c).map(|column| row * c + column).collect();
        Group { net, outputs, from: line.clone(), to: line }
    });
    vec![
        Phase {
            title: format!("{tag} part: {c} columns of {r}-point transforms, zeros skipped"),
            cite: "[Chiu25 §3.3.1]",
            stage: format!("{tag}.forward.columns"),
            groups: first.collect(),
        },
        Phase {
            title: format!("{tag} part: {r} rows of {c}-point transforms"),
            cite: "[Chiu25 §3.2.1]",
            stage: format!("{tag}.forward.rows"),
            groups: second.collect(),
        },
    ]
}

/// The inverse in phases, times `factor`: from cells to blocks of the product (`to` of the last).
pub(crate) fn inverse_phases(tag: &str, part: &Substitute, factor: u64) -> Vec<Phase> {
    let (q, wanted) = (part.domain.q, part.wanted());
    let transform = part.transform.as_ref();
    let keep = |outputs: Vec<Val>, blocks: &[usize]| -> (Vec<Val>, Vec<usize>) {
        outputs.into_iter().zip(blocks.iter().copied()).filter(|&(_, i)| wanted[i]).unzip()
    };
    if let Some(both) = twiddled(transform).filter(|_| transform.axes().is_none()) {
        // By reflection [Chiu25 §2.4]: input i of a forward transform is F_(n-i).
        let n = transform.len();
        let cell = both.cell_of_output();
        let from: Vec<usize> = (0..n).map(|i| cell[(n - i) % n]).collect();
        // What a group of the first level reads, it leaves at the same cells.
        let (r, c) = (both.first.len(), both.second.len());
        let mut cells = vec![0; n];
        for (j1, i2) in (0..r).flat_map(|j1| (0..c).map(move |i2| (j1, i2))) {
            cells[j1 * c + i2] = from[both.input(j1, i2)];
        }
        let all: Vec<usize> = (0..n).collect();
        let [first, second] = two_levels(both, &from, &vec![true; n], &cells, (&all, &wanted));
        let first = first.into_iter().map(|group| {
            let (net, outputs) = scaled(&group.net, &group.outputs, factor);
            Group { net, outputs, ..group }
        });
        return vec![
            Phase {
                title: format!("{tag} part: {c} of inverse {r}-point transforms, and twiddles"),
                cite: "[Chiu25 §2.4]",
                stage: format!("{tag}.inverse.rows"),
                groups: first.collect(),
            },
            Phase {
                title: format!("{tag} part: {r} of inverse {c}-point transforms"),
                cite: "[Chiu25 §2.4]",
                stage: format!("{tag}.inverse.columns"),
                groups: second,
            },
        ];
    }
    let Some(Axes { rows, columns, input, .. }) = transform.axes() else {
        let n = transform.len();
        let all: Vec<usize> = (0..n).collect();
        let (net, outputs) =
            record(q, &vec![true; n], |arith, f| transform.inverse_wanted(arith, f, &wanted));
        let (outputs, to) = keep(outputs, &all);
        let (net, outputs) = scaled(&net, &outputs, factor);
        return vec![Phase {
            title: format!("{tag} part: inverse {n}-point transform, unread outputs dropped"),
            cite: "[Chiu25 §3.3.2]",
            stage: format!("{tag}.inverse"),
            groups: vec![Group { net, outputs, from: all, to }],
        }];
    };
    let (r, c) = (rows.len(), columns.len());
    let block_at = by_cell(&input, c);
    let first = (0..r).map(|row| {
        let (net, outputs) = record(q, &vec![true; c], |arith, f| columns.inverse(arith, f));
        let (net, outputs) = scaled(&net, &outputs, factor);
        let line: Vec<usize> = (0..c).map(|column| row * c + column).collect();
        Group { net, outputs, from: line.clone(), to: line }
    });
    let second = (0..c).map(|column| {
        let blocks: Vec<usize> = (0..r).map(|row| block_at[row * c + column]).collect();
        let here: Vec<bool> = blocks.iter().map(|&i| wanted[i]).collect();
        let (net, outputs) =
            record(q, &vec![true; r], |arith, f| rows.inverse_wanted(arith, f, &here));
        let (outputs, to) = keep(outputs, &blocks);
        Group { net, outputs, from: (0..r).map(|row| row * c + column).collect(), to }
    });
    vec![
        Phase {
            title: format!("{tag} part: {r} rows of inverse {c}-point transforms by reflection"),
            cite: "[Chiu25 §2.4]",
            stage: format!("{tag}.inverse.rows"),
            groups: first.collect(),
        },
        Phase {
            title: format!("{tag} part: {c} columns of inverse {r}-point transforms"),
            cite: "[Chiu25 §2.4]",
            stage: format!("{tag}.inverse.columns"),
            groups: second.collect(),
        },
    ]
}
