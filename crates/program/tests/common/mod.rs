//! Operands on which wrong programs go wrong, and the check that a program is right on them.

use ringforge_interpret::range::ranges;
use ringforge_interpret::run::{run, run_in_place};
use ringforge_plan::Plan;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, Target};

/// A generator of numbers, the same whenever it starts from the same seed.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// A number in an interval.
    pub fn within(&mut self, (lo, hi): (i64, i64)) -> i64 {
        lo + self.next() as i64 % (hi - lo + 1)
    }
}

/// Random operands and the worst: everything at a bound, signs in all orders, single monomials.
pub fn operands(n: usize, [a, b]: [(i64, i64); 2]) -> Vec<[Vec<i64>; 2]> {
    let all = |f: &dyn Fn(usize) -> i64| (0..n).map(f).collect::<Vec<i64>>();
    let mut random = Random(88172645463325252);
    let mut random = |range: (i64, i64)| (0..n).map(|_| random.within(range)).collect::<Vec<_>>();
    let monomial = |at: usize, c: i64| all(&|i| if i == at { c } else { 0 });
    vec![
        [random(a), random(b)],
        [all(&|_| a.0), all(&|_| b.0)],
        [
            all(&|i| if i % 2 == 0 { a.0 } else { a.1 }),
            all(&|i| if i % 2 == 0 { b.1 } else { b.0 }),
        ],
        [monomial(n - 1, a.0), monomial(n - 1, b.0)],
        [all(&|_| a.1), all(&|_| b.0)],
        [all(&|_| a.1), all(&|_| b.1)],
        [all(&|i| if i % 2 == 0 { a.0 } else { a.1 }), all(&|_| b.0)],
        [
            all(&|i| if i % 2 == 0 { a.0 } else { a.1 }),
            all(&|i| if i % 3 == 0 { b.1 } else { b.0 }),
        ],
        [monomial(0, 1), random(b)],
        [random(a), monomial(n / 2, 1)],
    ]
}

/// Lowers a plan with a schedule and runs it on the first `cases` pairs of operands; the program's
/// ranges must hold as well.
pub fn check(plan: &Plan, schedule: &Schedule, cases: usize) -> Result<Vec<String>, String> {
    check_on(&AVX2, plan, schedule, cases)
}

/// The same for another target than AVX2.
pub fn check_on(
    target: &Target,
    plan: &Plan,
    schedule: &Schedule,
    cases: usize,
) -> Result<Vec<String>, String> {
    let (n, q) = (plan.ring.degree(), plan.ring.q());
    let context = |what: String| format!("{} by {}: {what}", plan.ring, plan.root.to_form());
    let lowered = lower(plan, schedule, target, "x").map_err(|e| context(e.to_string()))?;
    ranges(&lowered.program).map_err(|fault| context(fault.to_string()))?;
    let expanded = lowered.program.expand();
    let all = operands(n, plan.operands.map(|o| o.range(q)));
    for (case, [a, b]) in all.iter().enumerate().take(cases) {
        let want = plan.ring.mul(a, b);
        let found = run(&expanded, &[a, b]).map_err(|e| context(e.to_string()))?;
        if let Some(at) = found.iter().zip(&want).position(|(x, y)| x != y) {
            let (found, want) = (found[at], want[at]);
            return Err(context(format!("case {case}, c[{at}] = {found}, not {want}")));
        }
        if case == 0 {
            for alias in [0, 1] {
                let found = run_in_place(&expanded, &[a, b], alias);
                if found.map_err(|e| context(e.to_string()))? != want {
                    return Err(context(format!("in place of input {alias}")));
                }
            }
        }
    }
    Ok(lowered.notes)
}
