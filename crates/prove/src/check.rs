//! Certificates and their checker.
//!
//! A certificate lists what the proof took from enumeration, one function to a line:
//! `F : facts`, the facts separated by `;`:
//!
//! - `cone LO HI MIN MAX C D`: for all integers x in \[LO, HI\] the value of F lies in \[MIN, MAX\]
//!   and is congruent to C·x + D modulo q (`- -`: no such claim);
//! - `linear LO HI BITS C D`: F is congruent to C·x + D modulo 2^BITS.
//!
//! F is a list of operations `(name width … #i …)`, each naming earlier ones by number; the last is
//! the value. [`verify`] parses the text again and evaluates it point by point with an evaluator
//! that shares no code with the one that made it.

use crate::check_table;
use crate::check_wide::{self, Fact};
use crate::cones::Cones;
use crate::funs::{FunId, Funs};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The facts, for modulus `q`.
pub struct Facts {
    /// Modulus.
    pub q: u32,
    /// One fact to a line.
    pub cones: Vec<String>,
}

/// Writes down everything that was enumerated.
pub(crate) fn certificate(funs: &mut Funs, cones: &Cones, q: u32) -> Facts {
    let mut facts: BTreeMap<FunId, Vec<String>> = BTreeMap::new();
    let mut summaries: Vec<_> = cones.proved().collect();
    summaries.sort_unstable_by_key(|c| (c.0, c.1, c.2));
    for (f, lo, hi, s) in summaries {
        let (c, d) = match s.affine {
            Some((c, d)) => (c.to_string(), d.to_string()),
            None => ("-".into(), "-".into()),
        };
        let fact = format!("cone {lo} {hi} {} {} {c} {d}", s.min, s.max);
        facts.entry(f).or_default().push(fact);
    }
    let mut linear: Vec<_> = cones.linear_facts().collect();
    linear.sort_unstable_by_key(|c| (c.0, c.1, c.2, c.3));
    for (f, lo, hi, bits, c, d) in linear {
        facts.entry(f).or_default().push(format!("linear {lo} {hi} {bits} {c} {d}"));
    }
    let lines = facts
        .into_iter()
        .map(|(f, facts)| format!("{} : {}", funs.text(f), facts.join("; ")))
        .collect();
    Facts { q, cones: lines }
}

/// Checks every fact by enumeration, in parallel.
///
/// # Errors
/// The first line that is malformed or false.
pub fn verify(facts: &Facts, progress: &(dyn Fn(f64) -> bool + Sync)) -> Result<(), String> {
    let done = AtomicUsize::new(0);
    let total = facts.cones.len().max(1);
    facts.cones.par_iter().try_for_each(|line| {
        let d = done.fetch_add(1, Ordering::Relaxed);
        if d.is_multiple_of(16) {
            progress(d as f64 / total as f64);
        }
        line_holds(line, facts.q.into()).map_err(|e| format!("{e} in `{line}`"))
    })
}

pub(crate) struct Step {
    name: String,
    /// Bits of the result.
    pub(crate) width: u32,
    /// Literal numbers, by operation.
    pub(crate) numbers: Vec<i64>,
    /// Earlier steps with their coefficients.
    pub(crate) args: Vec<(usize, i64)>,
}

fn parse(text: &str) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for part in text.split(')').filter(|p| !p.trim().is_empty()) {
        let part = part.trim().strip_prefix('(').ok_or("`(` expected")?;
        let mut words = part.split_whitespace();
        let name = words.next().ok_or("a name expected")?.to_string();
        let width = words.next().and_then(|w| w.parse().ok()).ok_or("a width expected")?;
        if !(1..=64).contains(&width) {
            return Err(format!("width {width}"));
        }
        let (mut numbers, mut args) = (Vec::new(), Vec::new());
        for w in words {
            if let Some(a) = w.strip_prefix('#') {
                let (i, c) = a.split_once('*').unwrap_or((a, "1"));
                let i: usize = i.parse().map_err(|_| "a number expected after `#`")?;
                if i >= steps.len() {
                    return Err(format!("#{i} is not known yet"));
                }
                args.push((i, c.parse().map_err(|_| "a coefficient expected")?));
            } else {
                numbers.push(w.parse().map_err(|_| format!("`{w}` is no number"))?);
            }
        }
        let (n, a) = match name.as_str() {
            "lin" => (2, args.len()),
            "const" => (1, 0),
            "slice" => (1, 1),
            "concat" => (0, args.len().max(1)),
            "sext" | "zext" | "sats" | "satu" => (0, 1),
            "mul" | "and" | "or" | "xor" | "eq" | "ult" | "slt" => (0, 2),
            "select" => (0, 3),
            other => return Err(format!("unknown operation {other}")),
        };
        if numbers.len() != n || args.len() != a {
            return Err(format!("{name} has the wrong number of operands"));
        }
        steps.push(Step { name, width, numbers, args });
    }
    if steps.is_empty() { Err("no operation".into()) } else { Ok(steps) }
}

/// Operations by number, so that a point costs no string comparison.
#[derive(Clone, Copy)]
pub(crate) enum Code {
    Lin,
    Const,
    Slice,
    Concat,
    Sext,
    Zext,
    Mul,
    And,
    Or,
    Xor,
    Eq,
    Ult,
    Slt,
    Select,
    SatS,
    SatU,
}

fn code(name: &str) -> Code {
    match name {
        "lin" => Code::Lin,
        "const" => Code::Const,
        "slice" => Code::Slice,
        "concat" => Code::Concat,
        "sext" => Code::Sext,
        "zext" => Code::Zext,
        "mul" => Code::Mul,
        "and" => Code::And,
        "or" => Code::Or,
        "xor" => Code::Xor,
        "eq" => Code::Eq,
        "ult" => Code::Ult,
        "slt" => Code::Slt,
        "select" => Code::Select,
        "sats" => Code::SatS,
        _ => Code::SatU,
    }
}

/// The value of every step at x as bits; the last is the result.
pub(crate) fn evaluate(steps: &[(Code, Step)], x: i64, values: &mut Vec<u64>) -> i64 {
    values.clear();
    let low = |w: u32| if w == 64 { u64::MAX } else { (1u64 << w) - 1 };
    for (code, s) in steps {
        let bits = |i: usize| values[s.args[i].0];
        let width = |i: usize| steps[s.args[i].0].1.width;
        let number = |i: usize| as_signed(bits(i), width(i));
        let v: u64 = match code {
            Code::Lin => {
                let mut sum = (s.numbers[0] as u64)
                    .wrapping_add((s.numbers[1] as u64).wrapping_mul(x as u64));
                for &(i, c) in &s.args {
                    let a = as_signed(values[i], steps[i].1.width) as u64;
                    sum = sum.wrapping_add((c as u64).wrapping_mul(a));
                }
                sum
            }
            Code::Const => s.numbers[0] as u64,
            Code::Slice => bits(0) >> s.numbers[0],
            Code::Concat => {
                let (mut v, mut at) = (0, 0);
                for i in 0..s.args.len() {
                    v |= bits(i) << at;
                    at += width(i);
                }
                v
            }
            Code::Sext => number(0) as u64,
            Code::Zext => bits(0),
            Code::Mul => bits(0).wrapping_mul(bits(1)),
            Code::And => bits(0) & bits(1),
            Code::Or => bits(0) | bits(1),
            Code::Xor => bits(0) ^ bits(1),
            Code::Eq => u64::from(bits(0) == bits(1)),
            Code::Ult => u64::from(bits(0) < bits(1)),
            Code::Slt => u64::from(number(0) < number(1)),
            Code::Select => bits(if bits(0) == 1 { 1 } else { 2 }),
            Code::SatS => {
                let half = low(s.width) >> 1;
                let n = number(0);
                if n > half as i64 {
                    half
                } else if n < -(half as i64) - 1 {
                    half + 1
                } else {
                    n as u64
                }
            }
            Code::SatU => {
                let n = number(0);
                if n < 0 { 0 } else { (n as u64).min(low(s.width)) }
            }
        };
        values.push(v & low(s.width));
    }
    let last = values.len() - 1;
    as_signed(values[last], steps[last].1.width)
}

fn as_signed(bits: u64, width: u32) -> i64 {
    if width == 64 || bits >> (width - 1) == 0 {
        bits as i64
    } else {
        bits as i64 - (1i64 << width)
    }
}

/// Values that are kept of one function; wider facts are evaluated by themselves.
const KEPT: i64 = 1 << 24;

/// Width of an interval over which a function is first taken apart into lines.
const WIDE: i128 = 1 << 18;

/// Whether a fact over a wide interval could be checked by pieces.
fn wide_fact_holds(steps: &[(Code, Step)], words: &[&str], q: i64) -> Result<bool, String> {
    let number = |i: usize| words.get(i).and_then(|w| w.parse::<i64>().ok());
    let (Some(lo), Some(hi), Some(third), Some(fourth)) =
        (number(1), number(2), number(3), number(4))
    else {
        return Ok(false);
    };
    let fact = match (words[0], number(5), number(6)) {
        ("cone", Some(c), Some(d)) => Fact::Cone(third, fourth, Some((c, d)), q),
        ("cone", None, None) if words.len() == 7 && words[5..] == ["-", "-"] => {
            Fact::Cone(third, fourth, None, q)
        }
        ("linear", Some(d), None) if (1..=64).contains(&third) => {
            Fact::Linear(third as u32, fourth, d)
        }
        _ => return Ok(false),
    };
    match check_wide::holds(steps, lo, hi, fact) {
        Some(result) => result.map(|()| true),
        None => Ok(false),
    }
}

/// The operations of a function's text.
pub(crate) fn lines(text: &str) -> Result<Vec<(Code, Step)>, String> {
    Ok(parse(text)?.into_iter().map(|s| (code(&s.name), s)).collect())
}

fn line_holds(line: &str, q: i128) -> Result<(), String> {
    let (text, facts) = line.split_once(" : ").ok_or("` : ` expected")?;
    let steps = lines(text)?;
    let mut scratch = Vec::with_capacity(steps.len());
    let mut parsed: Vec<Vec<&str>> = Vec::new();
    for fact in facts.split(';') {
        parsed.push(fact.split_whitespace().collect());
    }
    let number = |words: &[&str], i: usize| -> Result<i64, String> {
        let word = words.get(i).ok_or("too few numbers")?;
        word.parse().map_err(|_| format!("`{word}` is no number"))
    };
    // Widest first: what is congruent everywhere is so on every part.
    let mut sized = Vec::with_capacity(parsed.len());
    for words in parsed {
        let size = i128::from(number(&words, 2)?) - i128::from(number(&words, 1)?);
        sized.push((std::cmp::Reverse(size), words));
    }
    sized.sort_by_key(|s| s.0);
    let mut parsed: Vec<Vec<&str>> = Vec::new();
    for (size, words) in sized {
        if size.0 >= WIDE && wide_fact_holds(&steps, &words, q as i64)? {
            continue;
        }
        parsed.push(words);
    }
    if parsed.is_empty() {
        return Ok(());
    }
    let mut congruent: Vec<(i64, i64, i64, i64)> = Vec::new();
    let (mut least, mut greatest) = (i64::MAX, i64::MIN);
    for words in &parsed {
        least = least.min(number(words, 1)?);
        greatest = greatest.max(number(words, 2)?);
    }
    let keep = i128::from(greatest) - i128::from(least) < i128::from(KEPT);
    let table: Vec<i64> =
        if keep { check_table::table(&steps, least, greatest) } else { Vec::new() };
    for words in &parsed {
        let (lo, hi) = (number(words, 1)?, number(words, 2)?);
        if lo > hi {
            return Err("an empty interval".into());
        }
        let mut value = |x: i64| {
            if keep { table[(x - least) as usize] } else { evaluate(&steps, x, &mut scratch) }
        };
        match words[0] {
            "cone" => {
                let (min, max) = (number(words, 3)?, number(words, 4)?);
                let affine = match (words.get(5), words.get(6)) {
                    (Some(&"-"), Some(&"-")) => None,
                    _ => Some((number(words, 5)?, number(words, 6)?)),
                };
                let small = q as i64;
                let within = if keep {
                    let part = &table[(lo - least) as usize..=(hi - least) as usize];
                    let outside = |v: &i64| (*v < min) | (*v > max);
                    !part.iter().fold(false, |bad, v| bad | outside(v))
                } else {
                    (lo..=hi).all(|x| (min..=max).contains(&value(x)))
                };
                if !within {
                    return Err(format!("a value outside [{min}, {max}]"));
                }
                let known =
                    |c, d| congruent.iter().any(|k| k.0 <= lo && hi <= k.1 && (k.2, k.3) == (c, d));
                if let Some((c, d)) = affine
                    && !known(c, d)
                {
                    let start = i128::from(c) * i128::from(lo) + i128::from(d);
                    let (expected, step) = (start.rem_euclid(q) as i64, c.rem_euclid(small));
                    let wrong = if keep {
                        let part = &table[(lo - least) as usize..=(hi - least) as usize];
                        check_table::first_not_congruent(part, expected, step, small)
                    } else {
                        let mut expected = expected;
                        (lo..=hi).position(|x| {
                            let wrong = (value(x) - expected) % small != 0;
                            expected = (expected + step) % small;
                            wrong
                        })
                    };
                    if let Some(i) = wrong {
                        let x = lo + i as i64;
                        return Err(format!("x = {x} gives {}, not congruent", value(x)));
                    }
                    congruent.push((lo, hi, c, d));
                }
            }
            "linear" => {
                let (bits, c, d) = (number(words, 3)?, number(words, 4)?, number(words, 5)?);
                if !(1..=64).contains(&bits) {
                    return Err(format!("{bits} bits"));
                }
                for x in lo..=hi {
                    let v = value(x);
                    let error = v.wrapping_sub(c.wrapping_mul(x).wrapping_add(d)) as u64;
                    if error << (64 - bits) != 0 {
                        return Err(format!("x = {x} gives {v}"));
                    }
                }
            }
            other => return Err(format!("unknown fact {other}")),
        }
    }
    Ok(())
}
