//! Damaged certificates: whatever is accepted is true by evaluation.

mod common;

use common::cases::{Known, all};
use common::truth::{Random, check, samples};
use ringforge_kernel::certificate::Line;
use ringforge_kernel::text;

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

/// A line with one of its words changed; a number by little, a name into another.
fn changed(line: &Line, random: &mut Random) -> Option<Line> {
    const RULES: [&str; 10] = [
        "function", "product", "extend", "quotient", "whole", "disjoint", "negative", "sign",
        "average", "value",
    ];
    const OPERATIONS: [&str; 13] = [
        "concat", "sext", "zext", "mul", "and", "or", "xor", "eq", "ult", "slt", "select", "sats",
        "satu",
    ];
    let mut out = String::new();
    text::write(line, &mut out);
    let mut words: Vec<String> = out.split(' ').map(str::to_string).collect();
    let at = random.below(words.len() as u64) as usize;
    let one_of = |all: &[&str], random: &mut Random| {
        all[random.below(all.len() as u64) as usize].to_string()
    };
    words[at] = match words[at].parse::<i128>() {
        Ok(n) => other(n, random).to_string(),
        Err(_) if OPERATIONS.contains(&words[at].as_str()) && words[0] == "fun" => {
            one_of(&OPERATIONS, random)
        }
        Err(_) if at > 0 && RULES.contains(&words[at].as_str()) => one_of(&RULES, random),
        Err(_) if words[at] == "name" || words[at] == "fact" => one_of(&["name", "fact"], random),
        Err(_) => return None,
    };
    text::read(&words.join(" ")).ok().filter(|l| l != line)
}

/// A certificate that differs from the good one in one or two places.
fn damaged(good: &[Line], random: &mut Random) -> Vec<Line> {
    let mut lines = good.to_vec();
    for _ in 0..=random.below(2) {
        let at = random.below(lines.len() as u64) as usize;
        let to = random.below(lines.len() as u64) as usize;
        match random.below(10) {
            0 => {
                lines.remove(at);
            }
            1 => {
                let line = lines.remove(at);
                lines.insert(to.min(lines.len()), line);
            }
            2 => lines.swap(at, to),
            3 => lines.insert(to, lines[at].clone()),
            _ => {
                for _ in 0..20 {
                    if let Some(line) = changed(&lines[at], random) {
                        lines[at] = line;
                        break;
                    }
                }
            }
        }
    }
    lines
}

#[test]
fn no_damaged_certificate_is_accepted_unless_it_is_true() {
    let mut random = Random(2);
    let (mut refused, mut accepted) = (0, 0);
    for Known { name, bench, lines: good } in all() {
        for _ in 0..300 {
            let lines = damaged(&good, &mut random);
            if lines == good {
                continue;
            }
            let Ok(walked) = bench.replay_for(&lines, 1 << 22) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            for inputs in samples(&bench, 40, &mut random) {
                check(&bench, &lines, &walked, &inputs)
                    .unwrap_or_else(|e| panic!("{name} at {inputs:?}: {e} in {lines:#?}"));
            }
        }
    }
    println!("{refused} refused, {accepted} accepted and true");
    assert!(refused >= 2000, "{refused} refused, {accepted} accepted");
    // Many changes are harmless: a line that says less, another order, a wider bound.
    assert!(accepted >= 100, "{refused} refused, {accepted} accepted");
}
