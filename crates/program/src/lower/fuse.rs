//! Steps of a transform that run as one where what lies between them fits registers: every block is loaded and stored
//! once less.

use ringforge_plan::{Arith, Group, Network, Step, Val};
use std::collections::{BTreeMap, BTreeSet};

/// Joins neighbours, the first ones first, where `join` makes one of two. The flag that `join` gets
/// says whether the first of the two begins with the very first.
pub(super) fn each_joined<T>(all: Vec<T>, join: impl Fn(&T, &T, bool) -> Option<T>) -> Vec<T> {
    let mut made: Vec<T> = Vec::new();
    for next in all {
        let first = made.len() == 1;
        match made.last().and_then(|before| join(before, &next, first)) {
            Some(one) => {
                made.pop();
                made.push(one);
            }
            None => made.push(next),
        }
    }
    made
}

/// The title of two steps of one part.
pub(super) fn titles(before: &Step, next: &Step) -> String {
    let title = next.title.split_once(": ").map_or(&*next.title, |(_, title)| title);
    format!("{}; {title}", before.title)
}

/// Steps with neighbours joined where a group of both has at most `most` blocks. The first one reads other memory than
/// it writes if `apart`.
pub(super) fn fused(steps: Vec<Step>, most: usize, apart: bool) -> Vec<Step> {
    each_joined(steps, |before, next, first| {
        let groups = joined(&before.groups, &next.groups, most, apart && first)?;
        let end = next.name.rsplit('.').next().unwrap_or("");
        let name = format!("{}+{end}", before.name);
        Some(Step { title: titles(before, next), cite: before.cite, name, groups })
    })
}

/// Which group of the first of two steps writes each cell; nothing where the second step does not read all of them, or
/// reads others.
pub(super) fn writers(first: &[Group], second: &[Group]) -> Option<BTreeMap<usize, usize>> {
    let mut writer = BTreeMap::new();
    for (i, group) in first.iter().enumerate() {
        writer.extend(group.to.iter().map(|&cell| (cell, i)));
    }
    let read: BTreeSet<usize> = second.iter().flat_map(|g| g.from.iter().copied()).collect();
    writer.keys().eq(read.iter()).then_some(writer)
}

/// Joins the groups of two consecutive steps to groups of at most `most` blocks each. Returns
/// nothing if a group would be larger, or if the second step does not read all that the first one
/// writes. It also returns nothing if a group of the first step writes over what another one reads,
/// which can happen unless the arrays are `apart`.
pub(super) fn joined(
    first: &[Group],
    second: &[Group],
    most: usize,
    apart: bool,
) -> Option<Vec<Group>> {
    let set = |places: &[usize]| places.iter().copied().collect::<BTreeSet<usize>>();
    if !apart && first.iter().any(|g| set(&g.from) != set(&g.to)) {
        return None;
    }
    let writer = writers(first, second)?;
    // The number of the joined one that each group is in.
    let mut number: Vec<usize> = (0..first.len()).collect();
    for group in second {
        let all: BTreeSet<usize> = group.from.iter().map(|cell| number[writer[cell]]).collect();
        let least = *all.first()?;
        number.iter_mut().filter(|n| all.contains(n)).for_each(|n| *n = least);
    }
    let numbers: BTreeSet<usize> = number.iter().copied().collect();
    numbers
        .into_iter()
        .map(|n| {
            let mine = |i: &usize| number[*i] == n;
            let starts: Vec<&Group> = (0..first.len()).filter(mine).map(|i| &first[i]).collect();
            let ends = second.iter().filter(|g| g.from.first().is_some_and(|c| mine(&writer[c])));
            whole(&starts, &ends.collect::<Vec<_>>(), most)
        })
        .collect()
}

/// One group of some of both steps, which have nothing to do with others.
fn whole(first: &[&Group], second: &[&Group], most: usize) -> Option<Group> {
    let mut net = Network::new(first.first()?.net.q());
    let mut from: Vec<usize> = Vec::new();
    let mut cells: BTreeMap<usize, Val> = BTreeMap::new();
    for group in first {
        let inputs: Vec<Val> = (group.from.iter())
            .map(|place| {
                let known = from.iter().position(|p| p == place);
                let index = known.unwrap_or_else(|| {
                    from.push(*place);
                    from.len() - 1
                });
                net.input(index)
            })
            .collect();
        let values = group.net.replay(&mut net, &inputs, &group.outputs);
        cells.extend(group.to.iter().copied().zip(values));
    }
    let (mut outputs, mut to) = (Vec::new(), Vec::new());
    for group in second {
        let inputs: Option<Vec<Val>> = group.from.iter().map(|c| cells.get(c).copied()).collect();
        outputs.extend(group.net.replay(&mut net, &inputs?, &group.outputs));
        to.extend(&group.to);
    }
    let fits = from.len().max(cells.len()).max(to.len()) <= most;
    fits.then_some(Group { net, outputs, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A butterfly of blocks at two places.
    fn pair(a: usize, b: usize) -> Group {
        Group::record(17, vec![a, b], &[true; 2], vec![a, b], |arith, f| {
            vec![arith.add(f[0], f[1]), arith.sub(f[0], f[1])]
        })
    }

    /// Values of one word each after a step in place.
    fn run(groups: &[Group], words: &[i64]) -> Vec<i64> {
        let mut all = words.to_vec();
        for group in groups {
            let mut made: Vec<i64> = Vec::new();
            for op in group.net.ops() {
                let of = |v: &Val| made[v.0 as usize];
                let value = match op {
                    ringforge_plan::NetOp::Input(i) => words[group.from[*i]],
                    ringforge_plan::NetOp::Add(a, b) => of(a) + of(b),
                    ringforge_plan::NetOp::Sub(a, b) => of(a) - of(b),
                    ringforge_plan::NetOp::Scale(a, c) => of(a) * *c as i64,
                    _ => 0,
                };
                made.push(value);
            }
            for (v, &place) in group.outputs.iter().zip(&group.to) {
                all[place] = made[v.0 as usize];
            }
        }
        all.iter().map(|word| word.rem_euclid(17)).collect()
    }

    #[test]
    fn two_steps_do_as_one_what_they_do_one_after_the_other() {
        let first = [pair(0, 1), pair(2, 3), pair(4, 5), pair(6, 7)];
        let second = [pair(0, 2), pair(1, 3), pair(4, 6), pair(5, 7)];
        let one = joined(&first, &second, 4, false).expect("four blocks each");
        assert_eq!(one.len(), 2);
        let words = [3, 1, 4, 1, 5, 9, 2, 6];
        assert_eq!(run(&one, &words), run(&second, &run(&first, &words)));
        assert!(joined(&first, &second, 3, false).is_none(), "no room");
    }

    #[test]
    fn steps_that_depend_on_more_are_left_alone() {
        let first = [pair(0, 1), pair(2, 3)];
        // A cell that the second step leaves as it is; one that the first one does not write.
        assert!(joined(&first, &[pair(0, 2)], 4, false).is_none());
        assert!(joined(&first, &[pair(0, 2), pair(1, 3), pair(4, 5)], 8, false).is_none());
        // Groups that write where others read.
        let mut moved = first.clone();
        moved[0].from = vec![2, 3];
        moved[1].from = vec![0, 1];
        let second = [pair(0, 1), pair(2, 3)];
        assert!(joined(&moved, &second, 4, false).is_none());
        assert!(joined(&moved, &second, 4, true).is_some());
    }
}
