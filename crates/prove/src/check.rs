//! Certificates and their checker.
//!
//! A certificate lists what the proof took from enumeration, one function to a line:
//! `F : facts`, the facts separated by `;`:
//!
//! - `cone LO HI MIN MAX M C D`: for all integers x in \[LO, HI\] the value of F lies in \[MIN, MAX\]
//!   and is congruent to C·x + D modulo M (0: equal to it; 1: no claim);
//! - `linear LO HI BITS C D`: F is congruent to C·x + D modulo 2^BITS.
//!
//! A line `equal A B C D : P …` says that no two moduli P have a common divisor, and that an integer
//! in \[A, B\] and one in \[C, D\] that are congruent modulo all of them are equal.
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

/// The facts.
pub struct Facts {
    /// One fact to a line.
    pub cones: Vec<String>,
}

/// Writes down everything that was enumerated.
pub(crate) fn certificate(funs: &mut Funs, cones: &Cones) -> Facts {
    let mut facts: BTreeMap<FunId, Vec<String>> = BTreeMap::new();
    let mut summaries: Vec<_> = cones.proved().collect();
    summaries.sort_unstable_by_key(|c| (c.0, c.1, c.2));
    for (f, lo, hi, s) in summaries {
        let line = s.line.reduced();
        let fact = format!("cone {lo} {hi} {} {} {} {} {}", s.min, s.max, line.m, line.c, line.d);
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
    Facts { cones: lines }
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
        line_holds(line).map_err(|e| format!("{e} in `{line}`"))
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

/// A fact as it is written.
fn fact(words: &[&str]) -> Result<Fact, String> {
    let number = |i: usize| -> Result<i128, String> {
        let word = words.get(i).ok_or("too few numbers")?;
        word.parse().map_err(|_| format!("`{word}` is no number"))
    };
    let small = |i: usize| -> Result<i64, String> {
        number(i)?.try_into().map_err(|_| format!("`{}` is out of range", words[i]))
    };
    match words[0] {
        "cone" => {
            let m = u64::try_from(small(5)?).map_err(|_| "a negative modulus")?;
            if m >= 1 << 62 {
                return Err(format!("modulus {m}"));
            }
            Ok(Fact::Cone(small(3)?, small(4)?, m, number(6)?, number(7)?))
        }
        "linear" if (1..=64).contains(&small(3)?) => {
            Ok(Fact::Linear(small(3)? as u32, small(4)?, small(5)?))
        }
        "linear" => Err(format!("{} bits", words[3])),
        other => Err(format!("unknown fact {other}")),
    }
}

/// The operations of a function's text.
pub(crate) fn lines(text: &str) -> Result<Vec<(Code, Step)>, String> {
    Ok(parse(text)?.into_iter().map(|s| (code(&s.name), s)).collect())
}

/// Whether two integers of these intervals are equal if they are congruent modulo all of these.
fn equal_holds(ranges: &str, moduli: &str) -> Result<(), String> {
    let number = |w: &str| w.parse::<i128>().map_err(|_| format!("`{w}` is no number"));
    let ends = ranges.split_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
    let moduli = moduli.split_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
    let [a, b, c, d] = ends[..] else { return Err("four ends expected".into()) };
    if a > b || c > d {
        return Err("an empty interval".into());
    }
    for (i, &m) in moduli.iter().enumerate() {
        if !(2..1 << 32).contains(&m) {
            return Err(format!("modulus {m}"));
        }
        for &n in &moduli[..i] {
            let (mut x, mut y) = (m, n);
            while y != 0 {
                (x, y) = (y, x % y);
            }
            if x != 1 {
                return Err(format!("{m} and {n} have the divisor {x}"));
            }
        }
    }
    // The largest difference between the two, divided by one modulus after the other.
    let apart = (b.checked_sub(c)).zip(d.checked_sub(a)).map(|x| x.0.max(x.1));
    let apart = apart.ok_or("an interval beyond 128 bits")?;
    if apart >= 0 && moduli.iter().fold(apart, |left, m| left / m) != 0 {
        return Err(format!("values {apart} apart may be congruent"));
    }
    Ok(())
}

fn line_holds(line: &str) -> Result<(), String> {
    let (text, facts) = line.split_once(" : ").ok_or("` : ` expected")?;
    if let Some(ranges) = text.strip_prefix("equal ") {
        return equal_holds(ranges, facts);
    }
    let steps = lines(text)?;
    let mut scratch = Vec::with_capacity(steps.len());
    let mut parsed: Vec<(i64, i64, Fact)> = Vec::new();
    for words in facts.split(';') {
        let words: Vec<&str> = words.split_whitespace().collect();
        let end = |i: usize| -> Result<i64, String> {
            let word = words.get(i).ok_or("too few numbers")?;
            word.parse().map_err(|_| format!("`{word}` is no number"))
        };
        let (lo, hi) = (end(1)?, end(2)?);
        if lo > hi {
            return Err("an empty interval".into());
        }
        parsed.push((lo, hi, fact(&words)?));
    }
    // Widest first: what is congruent everywhere is so on every part.
    let size = |f: &(i64, i64, Fact)| i128::from(f.1) - i128::from(f.0);
    parsed.sort_by_key(|f| std::cmp::Reverse(size(f)));
    let mut left = Vec::with_capacity(parsed.len());
    for f in parsed {
        match (size(&f) >= WIDE).then(|| check_wide::holds(&steps, f.0, f.1, f.2)).flatten() {
            Some(result) => result?,
            None => left.push(f),
        }
    }
    let Some(least) = left.iter().map(|f| f.0).min() else { return Ok(()) };
    let greatest = left.iter().map(|f| f.1).max().unwrap_or(least);
    let keep = i128::from(greatest) - i128::from(least) < i128::from(KEPT);
    let table: Vec<i64> =
        if keep { check_table::table(&steps, least, greatest) } else { Vec::new() };
    let mut congruent: Vec<(i64, i64, u64, i128, i128)> = Vec::new();
    for (lo, hi, fact) in left {
        let mut value = |x: i64| {
            if keep { table[(x - least) as usize] } else { evaluate(&steps, x, &mut scratch) }
        };
        let Fact::Cone(min, max, m, c, d) = fact else {
            if let Some(x) = (lo..=hi).find(|&x| !fact.holds(x, value(x).into())) {
                return Err(format!("x = {x} gives {}", value(x)));
            }
            continue;
        };
        let within = if keep {
            let part = &table[(lo - least) as usize..=(hi - least) as usize];
            !part.iter().fold(false, |bad, v| bad | ((*v < min) | (*v > max)))
        } else {
            (lo..=hi).all(|x| (min..=max).contains(&value(x)))
        };
        if !within {
            return Err(format!("a value outside [{min}, {max}]"));
        }
        let known =
            congruent.iter().any(|&(l, h, n, e, f)| l <= lo && hi <= h && (n, e, f) == (m, c, d));
        if m == 1 || known {
            continue;
        }
        let wrong = if keep && m != 0 && min > -(1 << 61) && max < 1 << 61 {
            let part = &table[(lo - least) as usize..=(hi - least) as usize];
            let q = i128::from(m);
            let expected = (c * i128::from(lo) + d).rem_euclid(q) as i64;
            check_table::first_not_congruent(part, expected, c.rem_euclid(q) as i64, m as i64)
        } else {
            (lo..=hi).position(|x| !fact.holds(x, value(x).into()))
        };
        if let Some(i) = wrong {
            let x = lo + i as i64;
            return Err(format!("x = {x} gives {}, not congruent", value(x)));
        }
        congruent.push((lo, hi, m, c, d));
    }
    Ok(())
}
