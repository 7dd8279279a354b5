//! A transform as a butterfly diagram: sums, differences and multiplications by constants, from
//! the inputs at the left to the outputs at the right.

use super::{Anchor, Sheet, typeset};
use ringforge_plan::{Arith, NetOp, Network, Val};
use std::collections::HashMap;

const COLUMN: f64 = 92.0;
const ROW: f64 = 30.0;
const TOP: f64 = 84.0;
const SIDE: f64 = 62.0;

/// The network of `outputs`; `caption` is the sentence above it.
pub fn network(net: &Network, outputs: &[Val], caption: &str) -> String {
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
    let inside = ROW * tallest as f64;
    let place = |count: usize, i: usize| TOP + (i as f64 + 0.5) * inside / count as f64;

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
            let gap = (inside / wanted.len().max(1) as f64).min(ROW);
            let mut spots: Vec<f64> = wanted.iter().map(|w| w.0).collect();
            for i in 1..spots.len() {
                spots[i] = spots[i].max(spots[i - 1] + gap);
            }
            let over =
                spots.last().map_or(0.0, |last| (last - (TOP + inside - gap / 2.0)).max(0.0));
            spots.iter_mut().for_each(|y| *y -= over);
            for i in (0..spots.len().saturating_sub(1)).rev() {
                spots[i] = spots[i].min(spots[i + 1] - gap);
            }
            for ((_, v), y) in wanted.iter().zip(spots) {
                height.insert(*v, y);
            }
            columns[l] = wanted.into_iter().map(|(_, v)| v).collect();
        }
    }

    let mut sheet = Sheet::new();
    let x = |l: usize| SIDE + COLUMN * l as f64;
    let right = x(levels - 1) + COLUMN * 0.8;
    let (full, bottom) = (right + 60.0, TOP + inside);
    sheet.text(20.0, 30.0, "title", Anchor::Start, &typeset(caption));
    let cost = net.cost(outputs);
    let said = format!(
        "{} inputs, {} outputs; {} sums and differences, {} multiplications by constants",
        columns[0].len(),
        outputs.len(),
        cost.adds,
        cost.scales
    );
    sheet.text(20.0, 50.0, "small note", Anchor::Start, &said);
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
                sheet.circle(x, y, 4.0, "c3", label);
                let c = ringforge_ring::zq::centered(c, net.q());
                sheet.text(x, y - 8.0, "number note", Anchor::Middle, &super::signed(c));
            }
        }
    }
    let mut at = 20.0;
    for (class, what) in [
        ("c0", "sum"),
        ("c2", "difference (what is taken away in this colour)"),
        ("c3", "times a constant"),
    ] {
        sheet.circle(at + 4.0, bottom + 22.0, 4.0, class, "");
        sheet.text(at + 14.0, bottom + 26.0, "small note", Anchor::Start, what);
        at += super::width(what, 11.0) + 36.0;
    }
    sheet.finish(full.max(at).max(super::width(caption, 17.0) + 40.0), bottom + 44.0, caption)
}
