//! A transform as steps that run one after another, each of networks on blocks that are independent
//! of each other: what lowering makes straight-line code or loops of.
//!
//! Between the steps blocks lie in numbered cells. A group that works in place reads and writes the
//! same cells, so that groups of one step may run in any order.

use crate::arith::{Arith, Val};
use crate::network::Network;
use crate::transform::{Axes, Transform};

/// Networks on blocks, independent of each other.
#[derive(Clone, Debug)]
pub struct Step {
    /// For people, such as `9 columns of 10-point transforms, zeros skipped`.
    pub title: String,
    /// Where it is from.
    pub cite: &'static str,
    /// Tells it from other steps of its transform, such as `columns`; empty where there is one.
    pub name: String,
    /// The networks.
    pub groups: Vec<Group>,
}

/// One network: where its inputs come from and its outputs go, as numbers of blocks (inputs of the
/// first step, outputs of an inverse's last) or of cells.
#[derive(Clone, Debug)]
pub struct Group {
    /// The operations; input i is at `from[i]`.
    pub net: Network,
    /// The values that are stored, `outputs[i]` at `to[i]`.
    pub outputs: Vec<Val>,
    /// For each input its place.
    pub from: Vec<usize>,
    /// For each output its place.
    pub to: Vec<usize>,
}

impl Group {
    /// Records `f` on the inputs that are present.
    pub fn record(
        q: u64,
        from: Vec<usize>,
        present: &[bool],
        to: Vec<usize>,
        f: impl FnOnce(&mut dyn Arith, &[Val]) -> Vec<Val>,
    ) -> Group {
        let mut net = Network::new(q);
        let input = net.inputs(present);
        let outputs = f(&mut net, &input);
        Group { net, outputs, from, to }
    }

    /// This group without the outputs whose place `kept` refuses.
    pub fn keep(mut self, kept: impl Fn(usize) -> bool) -> Group {
        let pairs = self.outputs.into_iter().zip(self.to).filter(|&(_, to)| kept(to));
        (self.outputs, self.to) = pairs.unzip();
        self
    }
}

/// For each cell (row-major) what `map` puts there.
fn by_cell(map: &[(usize, usize)], columns: usize) -> Vec<usize> {
    let mut cells = vec![0; map.len()];
    for (i, &(row, column)) in map.iter().enumerate() {
        cells[row * columns + column] = i;
    }
    cells
}

/// The cell of every output of two independent axes.
pub fn cells_of_axes(axes: &Axes) -> Vec<usize> {
    let c = axes.columns.len();
    let within = match axes.columns.stepwise() {
        true => axes.columns.cells(),
        false => (0..c).collect(),
    };
    axes.output.iter().map(|&(row, column)| row * c + within[column]).collect()
}

/// The steps of a transform, for each of `rows` rows of its length.
fn along_rows(steps: Vec<Step>, rows: usize, length: usize) -> Vec<Step> {
    let in_row = |places: &[usize], row: usize| places.iter().map(|p| row * length + p).collect();
    let all = |step: Step| {
        let groups = (0..rows).flat_map(|row| {
            let shifted = |g: &Group| Group {
                from: in_row(&g.from, row),
                to: in_row(&g.to, row),
                ..g.clone()
            };
            step.groups.iter().map(shifted).collect::<Vec<_>>()
        });
        Step { groups: groups.collect(), title: format!("{rows} rows: {}", step.title), ..step }
    };
    steps.into_iter().map(all).collect()
}

/// Columns, then rows.
pub fn forward_axes(q: u64, axes: &Axes, present: &[bool]) -> Vec<Step> {
    let (r, c) = (axes.rows.len(), axes.columns.len());
    let block_at = by_cell(&axes.input, c);
    let first = (0..c).map(|column| {
        let from: Vec<usize> = (0..r).map(|row| block_at[row * c + column]).collect();
        let here: Vec<bool> = from.iter().map(|&i| present[i]).collect();
        let to = (0..r).map(|row| row * c + column).collect();
        Group::record(q, from, &here, to, |arith, f| axes.rows.forward(arith, f))
    });
    let columns = Step {
        title: format!("{c} columns of {r}-point transforms, zeros skipped"),
        cite: "[Chiu25 §3.3.1]",
        name: "columns".into(),
        groups: first.collect(),
    };
    if axes.columns.stepwise() {
        let rows = along_rows(axes.columns.forward_steps(&vec![true; c]), r, c);
        return [columns].into_iter().chain(rows).collect();
    }
    let second = (0..r).map(|row| {
        let line: Vec<usize> = (0..c).map(|column| row * c + column).collect();
        let all = vec![true; c];
        Group::record(q, line.clone(), &all, line, |arith, f| axes.columns.forward(arith, f))
    });
    vec![
        columns,
        Step {
            title: format!("{r} rows of {c}-point transforms"),
            cite: "[Chiu25 §3.2.1]",
            name: "rows".into(),
            groups: second.collect(),
        },
    ]
}

/// Rows, then columns.
pub fn inverse_axes(q: u64, axes: &Axes, wanted: &[bool]) -> Vec<Step> {
    let (r, c) = (axes.rows.len(), axes.columns.len());
    let block_at = by_cell(&axes.input, c);
    let all = vec![true; c];
    // Where the rows' inverse leaves each of its blocks: in place, if it has steps.
    let mut place: Vec<usize> = (0..c).collect();
    let mut rows = Vec::new();
    if axes.columns.stepwise() {
        let mut steps = axes.columns.inverse_steps(&all);
        for group in steps.iter_mut().rev().take(1).flat_map(|step| &mut step.groups) {
            group.to.iter().zip(&group.from).for_each(|(&block, &cell)| place[block] = cell);
            group.to = group.from.clone();
        }
        rows = along_rows(steps, r, c);
    }
    let first = (0..r).map(|row| {
        let line: Vec<usize> = (0..c).map(|column| row * c + column).collect();
        Group::record(q, line.clone(), &all, line, |arith, f| axes.columns.inverse(arith, f))
    });
    let second = (0..c).map(|column| {
        let blocks: Vec<usize> = (0..r).map(|row| block_at[row * c + column]).collect();
        let here: Vec<bool> = blocks.iter().map(|&i| wanted[i]).collect();
        let from = (0..r).map(|row| row * c + place[column]).collect();
        let inverse = |arith: &mut dyn Arith, f: &[Val]| axes.rows.inverse_wanted(arith, f, &here);
        Group::record(q, from, &vec![true; r], blocks, inverse).keep(|i| wanted[i])
    });
    let columns = Step {
        title: format!("{c} columns of inverse {r}-point transforms"),
        cite: "[Chiu25 §2.4]",
        name: "columns".into(),
        groups: second.collect(),
    };
    if rows.is_empty() {
        rows.push(Step {
            title: format!("{r} rows of inverse {c}-point transforms by reflection"),
            cite: "[Chiu25 §2.4]",
            name: "rows".into(),
            groups: first.collect(),
        });
    }
    rows.push(columns);
    rows
}

/// One network for the whole transform.
pub fn forward_whole<T: Transform + ?Sized>(transform: &T, present: &[bool]) -> Vec<Step> {
    let n = transform.len();
    let (all, cells) = ((0..n).collect(), transform.cells());
    let forward = |arith: &mut dyn Arith, f: &[Val]| transform.forward(arith, f);
    vec![Step {
        title: format!("{n}-point transform"),
        cite: "[Chiu25 §3.2.2]",
        name: "".into(),
        groups: vec![Group::record(transform.q(), all, present, cells, forward)],
    }]
}

/// One network for the whole inverse.
pub fn inverse_whole<T: Transform + ?Sized>(transform: &T, wanted: &[bool]) -> Vec<Step> {
    let n = transform.len();
    let (all, cells) = ((0..n).collect(), transform.cells());
    let inverse = |arith: &mut dyn Arith, f: &[Val]| transform.inverse_wanted(arith, f, wanted);
    let group = Group::record(transform.q(), cells, &vec![true; n], all, inverse);
    vec![Step {
        title: format!("inverse {n}-point transform, unread outputs dropped"),
        cite: "[Chiu25 §3.3.2]",
        name: "".into(),
        groups: vec![group.keep(|i| wanted[i])],
    }]
}
