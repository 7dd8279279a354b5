//! The certificate's facts over intervals too wide to evaluate point by point.
//!
//! A function of a 32-bit word that corrects it conditionally is a line between its breakpoints.
//! Here each step is `k + c·x` over exact integers, *unsigned* and inside its word at both ends of
//! an interval; where a step is not, the interval is halved, down to short ones that are evaluated.
//! Nothing is shared with the code that made the facts.

use crate::check::{Code, Step, evaluate};

/// Width of an interval that is evaluated point by point.
const SHORT: i64 = 128;
/// Intervals looked at before a fact is left to plain evaluation.
const MOST: usize = 1 << 16;

/// A fact about a function for all x of an interval.
#[derive(Clone, Copy)]
pub(crate) enum Fact {
    /// Values between the first two, and congruent to c·x + d modulo m, the last three being m (0
    /// for equality), c, d.
    Cone(i64, i64, u64, i128, i128),
    /// Congruent to c·x + d modulo 2^bits.
    Linear(u32, i64, i64),
}

impl Fact {
    /// Whether it holds for `value` at x.
    pub(crate) fn holds(&self, x: i64, value: i128) -> bool {
        match *self {
            Fact::Cone(min, max, m, c, d) => {
                let line = c.checked_mul(x.into()).and_then(|v| v.checked_add(d));
                let error = line.and_then(|v| value.checked_sub(v));
                let on_line = match (m, error) {
                    (1, _) => true,
                    (0, Some(e)) => e == 0,
                    (m, Some(e)) => e % i128::from(m) == 0,
                    (_, None) => false,
                };
                i128::from(min) <= value && value <= i128::from(max) && on_line
            }
            Fact::Linear(bits, c, d) => {
                let error = value - (i128::from(c) * i128::from(x) + i128::from(d));
                error & ((1i128 << bits) - 1) == 0
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Line(i128, i128);

impl Line {
    fn at(self, x: i64) -> i128 {
        self.0 + self.1 * i128::from(x)
    }
    fn both(self, ends: (i64, i64), test: impl Fn(i128) -> bool) -> bool {
        test(self.at(ends.0)) && test(self.at(ends.1))
    }
    /// Modulo 2^w as an unsigned word.
    fn word(self, w: u32, ends: (i64, i64)) -> Option<Line> {
        let turns = self.at(ends.0).div_euclid(1 << w);
        let line = Line(self.0 - (turns << w), self.1);
        line.both(ends, |v| 0 <= v && v < 1 << w).then_some(line)
    }
    /// The signed reading of an unsigned word.
    fn number(self, w: u32, ends: (i64, i64)) -> Option<Line> {
        if self.both(ends, |v| v < 1 << (w - 1)) {
            Some(self)
        } else if self.both(ends, |v| v >= 1 << (w - 1)) {
            Some(Line(self.0 - (1 << w), self.1))
        } else {
            None
        }
    }
    fn constant(self) -> Option<i128> {
        (self.1 == 0).then_some(self.0)
    }
}

/// Whether the fact holds for all x in `[lo, hi]`; [`None`] if the function has too many pieces.
///
/// # Errors
/// A point where it does not hold.
pub(crate) fn holds(
    steps: &[(Code, Step)],
    lo: i64,
    hi: i64,
    fact: Fact,
) -> Option<Result<(), String>> {
    if lo < -(1 << 48) || hi > 1 << 48 {
        return None;
    }
    let last = steps.last()?.1.width;
    let mut scratch = Vec::with_capacity(steps.len());
    let mut open = vec![(lo, hi)];
    for _ in 0..MOST {
        let Some((lo, hi)) = open.pop() else { return Some(Ok(())) };
        let line = if lo < hi { line(steps, (lo, hi)) } else { None };
        let checked: Vec<i64> = match line.and_then(|l| l.number(last, (lo, hi))) {
            Some(l) => {
                // A line: its ends for the bounds, and neighbours for the congruences.
                for x in [lo, lo + 1, hi] {
                    if !fact.holds(x, l.at(x)) {
                        return Some(Err(format!("x = {x} gives {}", l.at(x))));
                    }
                }
                // The line itself is tested where it was found.
                vec![lo, lo + (hi - lo) / 2, hi]
            }
            None if hi - lo < SHORT => (lo..=hi).collect(),
            None => {
                let middle = lo + (hi - lo) / 2;
                open.extend([(lo, middle), (middle + 1, hi)]);
                continue;
            }
        };
        for x in checked {
            let v = evaluate(steps, x, &mut scratch);
            if !fact.holds(x, v.into()) {
                return Some(Err(format!("x = {x} gives {v}")));
            }
        }
    }
    open.is_empty().then_some(Ok(()))
}

fn line(steps: &[(Code, Step)], ends: (i64, i64)) -> Option<Line> {
    let mut words: Vec<Line> = Vec::with_capacity(steps.len());
    for (code, s) in steps {
        let width = |i: usize| steps[s.args[i].0].1.width;
        let word = |i: usize| words[s.args[i].0];
        let number = |i: usize| word(i).number(width(i), ends);
        let truth = |yes: bool, no: bool| {
            if yes {
                Some(Line(1, 0))
            } else if no {
                Some(Line(0, 0))
            } else {
                None
            }
        };
        let less = |a: Line, b: Line| {
            let d = Line(a.0 - b.0, a.1 - b.1);
            truth(d.both(ends, |v| v < 0), d.both(ends, |v| v >= 0))
        };
        let value = match code {
            Code::Lin => {
                let mut sum = Line(s.numbers[0].into(), s.numbers[1].into());
                for (j, &(_, c)) in s.args.iter().enumerate() {
                    let a = number(j)?;
                    sum.0 = sum.0.checked_add(a.0.checked_mul(c.into())?)?;
                    sum.1 = sum.1.checked_add(a.1.checked_mul(c.into())?)?;
                }
                sum
            }
            Code::Const => Line(s.numbers[0].into(), 0),
            Code::Slice => {
                let by = s.numbers[0] as u32;
                let a = word(0);
                let low = a.at(ends.0) >> by;
                if a.at(ends.1) >> by == low {
                    Line(low, 0)
                } else if by == 0 {
                    a
                } else {
                    return None;
                }
            }
            Code::Concat => {
                let (mut sum, mut at) = (Line(0, 0), 0);
                for i in 0..s.args.len() {
                    sum = Line(sum.0 + (word(i).0 << at), sum.1 + (word(i).1 << at));
                    at += width(i);
                }
                sum
            }
            Code::Sext => number(0)?,
            Code::Zext => word(0),
            Code::Mul => {
                let (a, b) = (word(0), word(1));
                match (a.constant(), b.constant()) {
                    (Some(m), _) => Line(b.0.checked_mul(m)?, b.1.checked_mul(m)?),
                    (_, Some(m)) => Line(a.0.checked_mul(m)?, a.1.checked_mul(m)?),
                    _ => return None,
                }
            }
            Code::And | Code::Or | Code::Xor => {
                let ones = (1i128 << s.width) - 1;
                let (a, b) = (word(0), word(1));
                match (a.constant(), b.constant(), code) {
                    (Some(x), Some(y), Code::And) => Line(x & y, 0),
                    (Some(x), Some(y), Code::Or) => Line(x | y, 0),
                    (Some(x), Some(y), _) => Line(x ^ y, 0),
                    (Some(m), _, _) if m == 0 || m == ones => masked(b, m == 0, *code, ones),
                    (_, Some(m), _) if m == 0 || m == ones => masked(a, m == 0, *code, ones),
                    _ => return None,
                }
            }
            Code::Eq => {
                let d = Line(word(0).0 - word(1).0, word(0).1 - word(1).1);
                let apart = d.both(ends, |v| v < 0) || d.both(ends, |v| v > 0);
                truth(d.both(ends, |v| v == 0), apart)?
            }
            Code::Ult => less(word(0), word(1))?,
            Code::Slt => less(number(0)?, number(1)?)?,
            Code::Select => word(if word(0).constant()? == 1 { 1 } else { 2 }),
            Code::SatS | Code::SatU => {
                let a = number(0)?;
                let (bottom, top) = match code {
                    Code::SatS => (-(1i128 << (s.width - 1)), (1i128 << (s.width - 1)) - 1),
                    _ => (0, (1i128 << s.width) - 1),
                };
                if a.both(ends, |v| v <= bottom) {
                    Line(bottom, 0)
                } else if a.both(ends, |v| v >= top) {
                    Line(top, 0)
                } else if a.both(ends, |v| bottom <= v && v <= top) {
                    a
                } else {
                    return None;
                }
            }
        };
        // Sizes stay far below 128 bits: |k|, |c·x| of a word's line are below 2^114.
        if value.0.unsigned_abs() >> 118 != 0 || value.1.unsigned_abs() >> 70 != 0 {
            return None;
        }
        words.push(value.word(s.width, ends)?);
    }
    words.pop()
}

/// A word and, or, exclusive or a word of zeros (`zero`) or of ones.
fn masked(a: Line, zero: bool, code: Code, ones: i128) -> Line {
    match (code, zero) {
        (Code::And, true) => Line(0, 0),
        (Code::And, false) | (Code::Or | Code::Xor, true) => a,
        (Code::Or, false) => Line(ones, 0),
        _ => Line(ones - a.0, -a.1),
    }
}

#[cfg(test)]
mod tests {
    use crate::check::{Facts, verify};

    fn holds(line: &str) -> bool {
        let facts = Facts { cones: vec![line.to_string()] };
        verify(&facts, &|_| true).is_ok()
    }

    /// x + ((x >> 31) & q), the value of a 32-bit word.
    const CADDQ: &str = "(lin 32 0 1)(slice 1 31 #0)(sext 32 #1)(const 32 8380417)\
                         (and 32 #2 #3)(lin 32 0 1 #4*1)";

    #[test]
    fn a_conditional_addition_over_its_whole_interval() {
        let fact = |lo: i64, hi: i64, min: i64, max: i64, c: i64, d: i64| {
            holds(&format!("{CADDQ} : cone {lo} {hi} {min} {max} 8380417 {c} {d}"))
        };
        assert!(fact(-8380417, 8380416, 0, 8380416, 1, 0));
        assert!(!fact(-8380418, 8380416, 0, 8380416, 1, 0), "one below");
        assert!(!fact(-8380417, 8380417, 0, 8380416, 1, 0), "one above");
        assert!(!fact(-8380417, 8380416, 0, 8380416, 2, 0), "another slope");
        assert!(!fact(-8380417, 8380416, 0, 8380416, 1, 1), "another constant");
        // All 32-bit words, and as a claim modulo a power of two.
        assert!(fact(-2147483648, 2147483647, -2139103231, 2147483647, 1, 0));
        assert!(!fact(-2147483648, 2147483648, -2139103231, 2147483647, 1, 0), "a word that wraps");
        assert!(!holds(&format!("{CADDQ} : linear -8380417 8380416 32 1 0")));
        assert!(holds(&format!("{CADDQ} : linear 0 2147483647 32 1 0")));
        assert!(!holds(&format!("{CADDQ} : linear -1 2147483647 32 1 0")), "one point is off");
    }

    #[test]
    fn single_points_are_found_anywhere() {
        // Equal to a constant at one point of 2^32 only.
        for at in [-2147483648i64, -1, 0, 77_777_777, 2147483646] {
            let text = format!("(lin 32 0 1)(const 32 {at})(eq 1 #0 #1)(sext 32 #2)");
            assert!(!holds(&format!("{text} : cone -2147483648 2147483647 0 0 1 0 0")));
            assert!(holds(&format!("{text} : cone -2147483648 2147483647 -1 0 1 0 0")));
        }
    }
}
