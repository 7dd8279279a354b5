//! Transforms as butterfly diagrams: sums, differences and multiplications by constants, from
//! the inputs at the left to the outputs at the right.

use super::{Anchor, Sheet, typeset};
use ringforge_plan::{Arith, Levels, NetOp, Network, Plan, ProductRef, Stages, Transform, Val};
use std::collections::{HashMap, HashSet};

const COLUMN: f64 = 92.0;
const ROW: f64 = 30.0;
/// Rows from which on they stand closer.
const MANY: usize = 48;
const CLOSE: f64 = 15.0;
const TOP: f64 = 58.0;
const SIDE: f64 = 62.0;
/// Nodes of a diagram that can still be read.
const MOST: usize = 420;
/// The same where every level looks like the one before.
const MOST_LEVELS: usize = 1500;

/// A transform to be drawn.
struct Diagram {
    title: String,
    net: Network,
    outputs: Vec<Val>,
}

/// The forward transforms of a plan, one below the other. A transform that is too large to read is shown as the
/// transforms it consists of. [`None`] if the plan has none that is small enough.
pub fn butterflies(plan: &Plan, caption: &str) -> Option<String> {
    let mut found = Vec::new();
    collect(&plan.root, &mut HashSet::new(), &mut found);
    if found.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new();
    sheet.title(caption);
    let (mut full, mut top) = (super::width(&typeset(caption), 17.0) + 40.0, 44.0);
    for diagram in &found {
        let (width, bottom) = draw(&mut sheet, diagram, top);
        full = full.max(width);
        top = bottom + 10.0;
    }
    let mut at = 20.0;
    for (class, what) in [
        ("c0", "sum"),
        ("c2", "difference (what is taken away in this colour)"),
        ("c3", "times a constant"),
    ] {
        sheet.circle(at + 4.0, top + 8.0, 4.0, class, "");
        sheet.text(at + 14.0, top + 12.0, "small note", Anchor::Start, what);
        at += super::width(what, 11.0) + 36.0;
    }
    Some(sheet.finish(full.max(at), top + 30.0, caption))
}

/// The transforms of a product and of those that it is made of.
fn collect(product: &ProductRef, seen: &mut HashSet<String>, found: &mut Vec<Diagram>) {
    let mut levels = |levels: &dyn Levels| {
        let (net, outputs) = levels.network();
        let title = format!("{}, blocks of {}", product.tree().title, levels.degree());
        if net.live(&outputs).len() <= MOST_LEVELS && seen.insert(title.clone()) {
            found.push(Diagram { title, net, outputs });
        }
    };
    match product.stages() {
        Stages::Levels(all) => levels(all),
        Stages::Blocks(part) => {
            whole_or_parts(part.transform.as_ref(), Some(part.present()), seen, found);
        }
        Stages::Overlapping(part) => {
            whole_or_parts(part.transform.as_ref(), None, seen, found);
        }
        _ => product.made_of().into_iter().for_each(|inner| collect(inner, seen, found)),
    }
}

/// A transform whose inputs marked in `present` can be nonzero, or the transforms it consists of.
fn whole_or_parts(
    transform: &dyn Transform,
    present: Option<Vec<bool>>,
    seen: &mut HashSet<String>,
    found: &mut Vec<Diagram>,
) {
    let n = transform.len();
    let present = present.unwrap_or_else(|| vec![true; n]);
    let zeros = present.iter().filter(|p| !**p).count();
    let mut net = Network::new(transform.q());
    let inputs = net.inputs(&present);
    let outputs = transform.forward(&mut net, &inputs);
    if net.live(&outputs).len() > MOST {
        for part in transform.children() {
            whole_or_parts(part, None, seen, found);
        }
        return;
    }
    let zeros = if zeros == 0 { String::new() } else { format!(", {zeros} inputs zero") };
    let title = format!("{}{zeros}", transform.title());
    if seen.insert(title.clone()) {
        found.push(Diagram { title, net, outputs });
    }
}

/// Draws one, from `above` on; returns how far it reaches to the right and down.
fn draw(sheet: &mut Sheet, diagram: &Diagram, above: f64) -> (f64, f64) {
    let Diagram { title, net, outputs } = diagram;
    let start = above + TOP;
    let live = net.live(outputs);
    let mut level: HashMap<Val, usize> = HashMap::new();
    for &v in &live {
        let of = |v: Val| level[&v] + 1;
        level.insert(v, net.op(v).operands().map(of).max().unwrap_or(0));
    }
    let levels = level.values().copied().max().unwrap_or(0) + 1;
    let mut columns: Vec<Vec<Val>> = vec![Vec::new(); levels];
    live.iter().filter(|&&v| net.op(v) != NetOp::Zero).for_each(|v| columns[level[v]].push(*v));
    let tallest = columns.iter().map(Vec::len).chain([outputs.len()]).max().unwrap_or(1);
    let row = if tallest > MANY { CLOSE } else { ROW };
    let inside = row * tallest as f64;
    let place = |count: usize, i: usize| start + (i as f64 + 0.5) * inside / count as f64;

    // Outputs spread over the height; other columns take the mean height of their neighbours,
    // pushed apart. A few sweeps there and back settle the order.
    let mut height: HashMap<Val, f64> = HashMap::new();
    for column in &columns {
        for (i, &v) in column.iter().enumerate() {
            height.insert(v, place(column.len(), i));
        }
    }
    let mut users: HashMap<Val, Vec<Val>> = HashMap::new();
    for &v in &live {
        net.op(v).operands().for_each(|a| users.entry(a).or_default().push(v));
    }
    let ends: HashMap<Val, f64> =
        outputs.iter().enumerate().map(|(i, &v)| (v, place(outputs.len(), i))).collect();
    for sweep in 0..12 {
        let forward = sweep % 2 == 0;
        let order: Vec<usize> =
            if forward { (1..levels).collect() } else { (0..levels).rev().collect() };
        for l in order {
            let mean = |v: &Val| -> f64 {
                let near: Vec<f64> = match forward {
                    true => net.op(*v).operands().map(|a| height[&a]).collect(),
                    false => {
                        let used = users.get(v).into_iter().flatten().map(|u| height[u]);
                        used.chain(ends.get(v).copied()).collect()
                    }
                };
                if near.is_empty() {
                    height[v]
                } else {
                    near.iter().sum::<f64>() / near.len() as f64
                }
            };
            let mut wanted: Vec<(f64, Val)> = columns[l].iter().map(|v| (mean(v), *v)).collect();
            wanted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let gap = (inside / wanted.len().max(1) as f64).min(row);
            // All have room between the ends, since gap · count is no more than the height.
            let (low, high) = (start + gap / 2.0, start + inside - gap / 2.0);
            let mut spots: Vec<f64> = wanted.iter().map(|w| w.0).collect();
            let mut least = low;
            for spot in &mut spots {
                *spot = spot.max(least);
                least = *spot + gap;
            }
            let mut most = high;
            for spot in spots.iter_mut().rev() {
                *spot = spot.min(most);
                most = *spot - gap;
            }
            for ((_, v), y) in wanted.iter().zip(spots) {
                height.insert(*v, y);
            }
            columns[l] = wanted.into_iter().map(|(_, v)| v).collect();
        }
    }

    let x = |l: usize| SIDE + COLUMN * l as f64;
    let right = x(levels - 1) + COLUMN * 0.8;
    sheet.text(20.0, above + 20.0, "head", Anchor::Start, &typeset(title));
    let cost = net.cost(outputs);
    let said = format!(
        "{} inputs, {} outputs; {} sums and differences, {} multiplications by constants",
        columns[0].len(),
        outputs.len(),
        cost.adds,
        cost.scales
    );
    sheet.text(20.0, above + 38.0, "small note", Anchor::Start, &said);
    let curve = |from: (f64, f64), to: (f64, f64)| {
        let bend = (to.0 - from.0) * 0.5;
        format!(
            "M{:.1} {:.1} C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            from.0,
            from.1,
            from.0 + bend,
            from.1,
            to.0 - bend,
            to.1,
            to.0,
            to.1
        )
    };
    for &v in &live {
        let here = (x(level[&v]), height.get(&v).copied().unwrap_or(0.0));
        for (k, a) in net.op(v).operands().enumerate() {
            let minus = k == 1 && matches!(net.op(v), NetOp::Sub(..));
            let class = if minus { "line s2" } else { "line" };
            sheet.path(&curve((x(level[&a]), height[&a]), here), class);
        }
    }
    for (i, v) in outputs.iter().enumerate() {
        if net.op(*v) != NetOp::Zero {
            sheet.path(&curve((x(level[v]), height[v]), (right, ends[v])), "faint");
        }
        sheet.text(
            right + 8.0,
            place(outputs.len(), i) + 4.0,
            "small",
            Anchor::Start,
            &format!("F{i}"),
        );
    }
    for &v in &live {
        let (x, y) = (x(level[&v]), height.get(&v).copied().unwrap_or(0.0));
        let label = net.label_of(v).unwrap_or("");
        match net.op(v) {
            NetOp::Zero => {}
            NetOp::Input(i) => {
                sheet.circle(x, y, 3.0, "c4", label);
                sheet.text(x - 10.0, y + 4.0, "small", Anchor::End, &format!("f{i}"));
            }
            NetOp::Add(..) => sheet.circle(x, y, 4.0, "c0", label),
            NetOp::Sub(..) => sheet.circle(x, y, 4.0, "c2", label),
            NetOp::Rotate(_, k) => {
                let label = &format!("x^{k}·");
                sheet.circle(x, y, 4.0, "c0", label);
            }
            NetOp::Scale(_, c) => {
                let c = super::signed(ringforge_ring::zq::centered(c, net.q()));
                sheet.circle(x, y, 4.0, "c3", &format!("times {c} {label}"));
                if row > CLOSE {
                    sheet.text(x, y - 8.0, "number note", Anchor::Middle, &c);
                }
            }
        }
    }
    (super::width(&said, 11.0).max(right) + 60.0, start + inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(plan: &str, class: &str) -> usize {
        let plan = Plan::find(plan).expect("a plan of the catalogue");
        let svg = butterflies(&plan, "c").expect("transforms");
        svg.matches(&format!("class=\"{class}\"><title>")).count()
            + svg.matches(&format!("class=\"{class}\"></circle>")).count()
    }

    /// sntrup761: Good–Thomas 10 × 9 is too large, so that its two axes stand for it.
    #[test]
    fn every_operation_is_drawn() {
        let plan = Plan::find("sntrup761").expect("a plan");
        let svg = butterflies(&plan, "c").expect("transforms");
        for axis in ["Good–Thomas 2 × 5", "Cooley–Tukey 3 × 3 twisted"] {
            assert!(svg.contains(axis), "{axis} is not drawn");
        }
        // 10 scalings and 44 sums, 10 and 42, as the plan's tree has them; and the key.
        assert_eq!(circles("sntrup761", "c3"), 20 + 1);
        assert_eq!(circles("sntrup761", "c0") + circles("sntrup761", "c2"), 86 + 2);
        // Kyber's first ring: 128 blocks through seven levels, of which each has 64 butterflies.
        assert_eq!(circles("kyber1", "c3"), 7 * 64 + 1);
        assert_eq!(circles("kyber1", "c0") + circles("kyber1", "c2"), 7 * 128 + 2);
    }

    /// Nothing lies above the first row, where the words are, or below the last one.
    #[test]
    fn operations_stay_within_their_diagram() {
        let plan = Plan::find("sntrup761").expect("a plan");
        let svg = butterflies(&plan, "c").expect("transforms");
        let first = svg.find("Cooley–Tukey 3 × 3").expect("the second diagram");
        let heights = svg[..first].split("cy=\"").skip(1).filter_map(|t| t.split('"').next());
        let heights: Vec<f64> = heights.filter_map(|y| y.parse().ok()).collect();
        assert!(heights.len() > 60);
        assert!(heights.iter().all(|y| (44.0 + TOP..44.0 + TOP + 10.0 * ROW).contains(y)));
    }

    #[test]
    fn plans_without_transforms_have_no_picture() {
        let plan = Plan::find("ntruhps2048677-toom").expect("a plan");
        assert!(butterflies(&plan, "c").is_none());
    }
}
