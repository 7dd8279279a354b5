//! Damaged certificates: whatever is accepted is true by evaluation, and of a false claim none is accepted.
//!
//! How is it known that what is accepted is true? The graph and all definitions are evaluated, in exact integers and
//! without the kernel's rules, for inputs at the corners and at random: every bound, equation, word, congruence and
//! output must hold (`common/truth.rs`). And the same damage is done where the claim itself is false: a range that
//! the outputs are seen to leave, or another ring than the object's. There every one must be refused.

mod common;

use common::Bench;
use common::cases::{Known, all};
use common::objects::{Compiled, compiled};
use common::truth::{Random, check, outputs, samples};
use ringforge_kernel::certificate::Line;

#[test]
fn what_is_accepted_is_true() {
    let mut random = Random(1);
    for Known { name, bench, lines } in all() {
        let walked = bench.replay(&lines).unwrap_or_else(|e| panic!("{name}: {e}"));
        for inputs in samples(&bench, 2000, &mut random) {
            check(&bench, &lines, &walked, &inputs)
                .unwrap_or_else(|e| panic!("{name} at {inputs:?}: {e}"));
        }
    }
    for object in compiled() {
        let Compiled { name, bench, lines, .. } = &object;
        let walked = bench.replay(lines).unwrap_or_else(|e| panic!("{name}: {e}"));
        for inputs in samples(bench, 100, &mut random) {
            check(bench, lines, &walked, &inputs).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let stats = object.compared(&object.contract, &walked);
        assert!(stats.is_ok_and(|s| s.equations > 0), "{name}");
        assert!(object.compared(&object.other, &walked).is_err(), "{name}: of another ring");
    }
}

/// Another number in the place of one.
fn other(n: i128, random: &mut Random) -> i128 {
    match random.below(8) {
        0..3 => n + 1,
        3..6 => n - 1,
        6 => -n,
        _ => [0, 1, 2 * n, n / 2, n << 16, i128::from(random.below(70))][random.below(6) as usize],
    }
}

/// What is done to a certificate.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Damage {
    /// An end of an interval is another one.
    Bound,
    /// Some number is another one: a coefficient, a constant, an atom, a modulus, a width, a count.
    Number,
    /// A rule, an operation or an equation has another name.
    Name,
    /// A line is left out.
    Lost,
    /// A line stands elsewhere.
    Moved,
    /// A line is told twice.
    Twice,
}

const KINDS: [Damage; 6] =
    [Damage::Bound, Damage::Number, Damage::Name, Damage::Lost, Damage::Moved, Damage::Twice];

/// A line with one of its words changed, a number by little; [`None`] if it has no such word.
fn changed(line: &Line, kind: Damage, random: &mut Random) -> Option<Line> {
    const RULES: [&str; 8] =
        ["function", "product", "extend", "quotient", "whole", "negative", "sign", "value"];
    const OPERATIONS: [&str; 4] = ["mul", "and", "less", "select"];
    let mut out = String::new();
    ringforge_certificate::write(line, &mut out);
    let mut words: Vec<String> = out.split(' ').map(str::to_string).collect();
    let bound = words[0] == "bound";
    let at = match kind {
        Damage::Bound if bound => 2 + random.below(2) as usize,
        Damage::Bound => return None,
        _ => random.below(words.len() as u64) as usize,
    };
    let one_of = |all: &[&str], random: &mut Random| {
        all[random.below(all.len() as u64) as usize].to_string()
    };
    let number = words[at].parse::<i128>();
    words[at] = match (number, kind) {
        (Ok(n), Damage::Bound | Damage::Number) => other(n, random).to_string(),
        (Ok(_), _) | (Err(_), Damage::Number) => return None,
        (Err(_), _) if OPERATIONS.contains(&words[at].as_str()) && words[0] == "fun" => {
            one_of(&OPERATIONS, random)
        }
        (Err(_), _) if at > 0 && RULES.contains(&words[at].as_str()) => one_of(&RULES, random),
        (Err(_), _) if at > 0 && ["name", "fact"].contains(&words[at].as_str()) => {
            one_of(&["name", "fact"], random)
        }
        (Err(_), _) => return None,
    };
    ringforge_certificate::read(&words.join(" ")).ok().filter(|l| l != line)
}

/// A certificate that differs from the good one by one damage of this kind, and perhaps by another one.
fn damaged(good: &[Line], kind: Damage, random: &mut Random) -> Option<Vec<Line>> {
    let mut lines = good.to_vec();
    let also = (random.below(4) == 0).then(|| KINDS[random.below(6) as usize]);
    for kind in std::iter::once(kind).chain(also) {
        let at = random.below(lines.len() as u64) as usize;
        let to = random.below(lines.len() as u64) as usize;
        match kind {
            Damage::Lost => drop(lines.remove(at)),
            Damage::Moved => {
                let line = lines.remove(at);
                lines.insert(to.min(lines.len()), line);
            }
            Damage::Twice => lines.insert(to, lines[at].clone()),
            _ => {
                // Some line that has such a word, if one is found soon.
                let found = (0..200).find_map(|_| {
                    let at = random.below(lines.len() as u64) as usize;
                    Some((at, changed(&lines[at], kind, random)?))
                });
                let (at, line) = found?;
                lines[at] = line;
            }
        }
    }
    (lines != good).then_some(lines)
}

/// How many of each kind were refused and accepted, of true claims and of false ones.
#[derive(Default)]
struct Count {
    refused: [usize; 6],
    accepted: [usize; 6],
    lies: [usize; 6],
}

/// The same with a range that an output leaves for one of the inputs.
fn lie(bench: &mut Bench, random: &mut Random) {
    let seen = samples(bench, 500, random).into_iter().flat_map(|inputs| outputs(bench, &inputs));
    let (lo, hi) = seen.fold((i64::MAX, i64::MIN), |(l, h), x| (l.min(x), h.max(x)));
    match random.below(2) {
        0 => bench.target.hi = hi - 1,
        _ => bench.target.lo = lo + 1,
    }
}

#[test]
fn no_damaged_certificate_is_accepted_unless_it_is_true() {
    let mut random = Random(2);
    let mut count = Count::default();
    for Known { name, mut bench, lines: good } in all() {
        let target = bench.target;
        for (at, kind) in KINDS.into_iter().enumerate() {
            for _ in 0..60 {
                let Some(lines) = damaged(&good, kind, &mut random) else { continue };
                bench.target = target;
                match bench.replay_for(&lines, 1 << 22) {
                    Err(_) => count.refused[at] += 1,
                    Ok(walked) => {
                        count.accepted[at] += 1;
                        for inputs in samples(&bench, 40, &mut random) {
                            check(&bench, &lines, &walked, &inputs).unwrap_or_else(|e| {
                                panic!("{name} at {inputs:?}: {e} in {lines:#?}")
                            });
                        }
                    }
                }
            }
            bench.target = target;
            lie(&mut bench, &mut random);
            for _ in 0..25 {
                let Some(lines) = damaged(&good, kind, &mut random) else { continue };
                let walked = bench.replay_for(&lines, 1 << 22);
                assert!(walked.is_err(), "{name}: {:?} is promised, in {lines:#?}", bench.target);
                count.lies[at] += 1;
            }
        }
    }
    told("by hand", &count);
    assert!(count.refused.iter().sum::<usize>() >= 2000);
    assert!(count.lies.iter().sum::<usize>() >= 2000);
    // Many changes are harmless: a line that says less, another order, a wider bound.
    assert!(count.accepted.iter().sum::<usize>() >= 100);
    for ((kind, refused), lies) in KINDS.iter().zip(count.refused).zip(count.lies) {
        assert!(refused >= 100 && lies >= 100, "{kind:?}: {refused}, {lies}");
    }
}

#[test]
fn no_damaged_certificate_of_an_object_is_accepted_unless_it_is_true() {
    let mut random = Random(3);
    for mut object in compiled() {
        let (name, good, target) = (object.name, object.lines.clone(), object.bench.target);
        let mut count = Count::default();
        for (at, kind) in KINDS.into_iter().enumerate() {
            for _ in 0..80 {
                let Some(lines) = damaged(&good, kind, &mut random) else { continue };
                object.bench.target = target;
                let Ok(walked) = object.bench.replay_for(&lines, 1 << 26) else {
                    count.refused[at] += 1;
                    continue;
                };
                // Whatever was walked over, it is no product in another ring.
                assert!(object.compared(&object.other, &walked).is_err(), "{name}: {lines:#?}");
                if object.compared(&object.contract, &walked).is_err() {
                    count.refused[at] += 1;
                    continue;
                }
                count.accepted[at] += 1;
                for inputs in samples(&object.bench, 4, &mut random) {
                    check(&object.bench, &lines, &walked, &inputs)
                        .unwrap_or_else(|e| panic!("{name} at {inputs:?}: {e} in {lines:#?}"));
                }
            }
            lie(&mut object.bench, &mut random);
            for _ in 0..25 {
                let Some(lines) = damaged(&good, kind, &mut random) else { continue };
                let walked = object.bench.replay_for(&lines, 1 << 26);
                assert!(walked.is_err(), "{name}: {:?} is promised", object.bench.target);
                count.lies[at] += 1;
            }
        }
        told(name, &count);
        assert!(count.refused.iter().sum::<usize>() >= 200, "{name}");
        assert!(count.accepted.iter().sum::<usize>() >= 10, "{name}");
        assert!(count.lies.iter().sum::<usize>() >= 60, "{name}");
    }
}

fn told(name: &str, count: &Count) {
    println!("{name}: {KINDS:?}");
    println!("  refused {:?}, accepted and true {:?}", count.refused, count.accepted);
    println!("  of false claims refused {:?}", count.lies);
}
