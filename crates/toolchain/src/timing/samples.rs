//! From samples to figures: which of them count, what they say, and when two candidates are alike.
//!
//! Other load on the same core does not slow a chain of additions, but it slows code that needs all ports. So each
//! sample is judged by a loop next to it that fills the core. In every quiet sample, the ratio of its time to the chain's
//! is the same, whatever the clock. The ratio that most samples of a quiet measurement have counts as quiet.

use super::{Settings, Timing};

/// How much longer than in quiet samples the loop may take, or the chain.
const BUSY: f64 = 1.06;
/// The share of all samples that are as quiet as it gets.
const QUIET: f64 = 0.1;
/// A run with fewer samples than this share counts as noisy.
const ENOUGH: f64 = 0.2;
/// Differences below the first share are a tie, however calm the runs, and above the second none is, however
/// noisy they are. The noise that is seen differs from run to run by more than the plans do.
const TIE: (f64, f64) = (0.02, 0.04);
/// A difference of up to this many times the noise is nearly a tie. The factor exceeds the ratio of the shares above. If
/// one run calls a difference of up to 4 % a tie, another run calls one of up to 5 % at least nearly a tie.
const NEAR: f64 = 2.5;

/// What one request was answered, in ticks of the counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The chain before and after.
    pub chain: [f64; 2],
    /// The loop that fills the core, before and after the calls.
    pub fill: [f64; 2],
    /// The calls.
    pub calls: f64,
}

impl Sample {
    /// Whether the clock was the same before and after, within 3 %.
    pub fn is_steady(&self) -> bool {
        let [before, after] = self.chain;
        before > 0.0 && (before - after).abs() <= 0.03 * before.min(after)
    }

    /// Core cycles of one of `batch` calls, where the chain takes `chain`.
    pub fn cycles(&self, batch: u32, chain: f64) -> f64 {
        self.calls / f64::from(batch) * chain * 2.0 / (self.chain[0] + self.chain[1])
    }

    /// The slower of the two loops, in chains.
    fn load(&self) -> f64 {
        self.fill[0].max(self.fill[1]) * 2.0 / (self.chain[0] + self.chain[1])
    }
}

/// The samples of one copy of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Calls in a sample.
    pub batch: u32,
    /// Cycles of the chain.
    pub chain: f64,
    /// In the order in which they were taken.
    pub samples: Vec<Sample>,
}

/// The figures of candidates, from what each copy of each answered; ratios refer to the first.
pub fn summaries(names: &[&str], recorded: &[Vec<Recorded>], settings: &Settings) -> Vec<Timing> {
    let quiet = quiet(recorded.iter().flatten());
    let run = |copy: &Recorded| Run::of(copy, quiet);
    let runs: Vec<Vec<Run>> = recorded.iter().map(|own| own.iter().map(run).collect()).collect();
    names.iter().zip(&runs).map(|(name, own)| summary(name, own, &runs[0], settings)).collect()
}

/// What the loop takes where nobody is busy.
fn quiet<'a>(all: impl Iterator<Item = &'a Recorded>) -> f64 {
    let all = all.flat_map(|copy| &copy.samples);
    let mut loads: Vec<f64> = all.filter(|s| s.is_steady()).map(Sample::load).collect();
    loads.sort_by(f64::total_cmp);
    loads.get((loads.len() as f64 * QUIET) as usize).copied().unwrap_or(0.0)
}

#[derive(Clone, Copy, Debug)]
struct Run {
    min: f64,
    median: f64,
    spread: f64,
    samples: usize,
    busy: usize,
}

impl Run {
    /// The samples that are steady and quiet; where too few are, all that are steady, and the run is
    /// noisy.
    fn of(copy: &Recorded, quiet: f64) -> Run {
        let steady: Vec<&Sample> = copy.samples.iter().filter(|s| s.is_steady()).collect();
        // Where the loop seems fast the chain was slow, and what is told in chains is too little.
        let calm = |s: &&&Sample| (quiet / BUSY..=quiet * BUSY).contains(&s.load());
        let cycles = |s: &&Sample| s.cycles(copy.batch, copy.chain);
        let mut kept: Vec<f64> = steady.iter().filter(calm).map(cycles).collect();
        let (samples, busy) = (copy.samples.len(), copy.samples.len() - kept.len());
        let enough = kept.len() as f64 >= ENOUGH * samples as f64;
        if !enough {
            kept = steady.iter().map(cycles).collect();
        }
        kept.sort_by(f64::total_cmp);
        let at = |quarter: usize| kept.get(kept.len() * quarter / 4).copied();
        match (kept.first(), at(1), at(2), at(3)) {
            (Some(&min), Some(low), Some(median), Some(high)) => {
                let spread = if enough { (high - low) / median } else { f64::INFINITY };
                Run { min, median, spread, samples, busy }
            }
            _ => {
                let (min, median, spread) = (f64::NAN, f64::NAN, f64::INFINITY);
                Run { min, median, spread, samples, busy }
            }
        }
    }
}

/// The numbers of the runs that count, and how many are calm. The calm runs count, or all with a figure if fewer than
/// half are calm. One calm run of seven may come from a rare state of the core, and the six others say more.
fn counted(runs: &[Run], settings: &Settings) -> (Vec<usize>, usize) {
    let of =
        |wanted: &dyn Fn(&Run) -> bool| (0..runs.len()).filter(|&i| wanted(&runs[i])).collect();
    let calm: Vec<usize> = of(&|run| run.spread <= settings.spread);
    let number = calm.len();
    if number > 0 && 2 * number >= runs.len() {
        return (calm, number);
    }
    (of(&|run| run.median.is_finite()), number)
}

fn summary(name: &str, own: &[Run], first: &[Run], settings: &Settings) -> Timing {
    let (kept, calm) = counted(own, settings);
    let (firsts, _) = counted(first, settings);
    let both: Vec<usize> = kept.iter().copied().filter(|i| firsts.contains(i)).collect();
    let both = if both.is_empty() { &kept } else { &both };
    let medians = || kept.iter().map(|&i| own[i].median);
    let (low, high) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    let middle = median(medians().collect());
    let (least, doubt) = least(kept.iter().map(|&i| &own[i]));
    let spreads = kept.iter().map(|&i| own[i].spread).filter(|spread| spread.is_finite());
    Timing {
        name: name.into(),
        min: kept.iter().map(|&i| own[i].min).fold(f64::INFINITY, f64::min),
        median: middle,
        ratio: median(both.iter().map(|&i| own[i].median / first[i].median).collect()),
        runs: calm,
        dropped: own.len() - calm,
        noisy: calm == 0 || 2 * calm < own.len(),
        busy: own.iter().map(|run| run.busy).sum(),
        samples: own.iter().map(|run| run.samples).sum(),
        noise: spreads.fold((high - low) / middle, f64::max),
        least,
        doubt,
    }
}

/// The least median of some runs, and what it may be wrong by, as a share: nobody knows where there is only one.
fn least<'a>(runs: impl Iterator<Item = &'a Run>) -> (f64, f64) {
    let mut runs: Vec<&Run> = runs.collect();
    runs.sort_by(|a, b| a.median.total_cmp(&b.median));
    match runs[..] {
        [first, second, ..] => (first.median, first.spread.max(second.median / first.median - 1.0)),
        [only] => (only.median, f64::INFINITY),
        [] => (f64::NAN, f64::INFINITY),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
    }
}

/// What a choice between candidates is made by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Core cycles of one call, [`Timing::least`].
    pub cycles: f64,
    /// The share of them that a difference has to exceed.
    pub noise: f64,
    /// Bytes of its object.
    pub bytes: u64,
}

impl Timing {
    /// This as what a choice is made by; `bytes` are the object's.
    pub fn measured(&self, bytes: u64) -> Measured {
        Measured { cycles: self.least, noise: self.doubt, bytes }
    }
}

/// How a candidate stands beside the one that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// They differ by no more than the noise.
    Tie,
    /// They differ by more than the noise and no more than two and a half times of it: another run may say `Tie`.
    NearTie,
    /// They differ.
    Apart,
}

impl Measured {
    /// Whether another one is slower by more than the noise of both: else they tie.
    pub fn beats(&self, slow: &Measured) -> bool {
        self.beats_by(1.0, slow)
    }

    fn beats_by(&self, times: f64, slow: &Measured) -> bool {
        let noise = self.noise.max(slow.noise).clamp(TIE.0, TIE.1);
        slow.cycles > self.cycles * (1.0 + times * noise)
    }

    /// How it stands beside the one that was taken. Where two runs take different ones, each says of the other that
    /// it is a tie or nearly one.
    pub fn beside(&self, taken: &Measured) -> Standing {
        let apart = |times| self.beats_by(times, taken) || taken.beats_by(times, self);
        match (apart(1.0), apart(NEAR)) {
            (false, _) => Standing::Tie,
            (true, false) => Standing::NearTie,
            (true, true) => Standing::Apart,
        }
    }
}

/// The numbers of candidates, the best first: of those that tie with the fastest the smallest, and so on.
///
/// ```
/// use ringforge_toolchain::timing::{Measured, order};
/// let of = |cycles, bytes| Measured { cycles, noise: 0.02, bytes };
/// assert_eq!(order(&[of(103.0, 10), of(100.0, 90), of(101.0, 20)]), [2, 1, 0]);
/// ```
pub fn order(all: &[Measured]) -> Vec<usize> {
    let mut left: Vec<usize> = (0..all.len()).collect();
    let mut out = Vec::new();
    left.sort_by(|&a, &b| all[a].cycles.total_cmp(&all[b].cycles));
    while let Some(&first) = left.first() {
        let tied = left.iter().copied().filter(|&i| !all[first].beats(&all[i]));
        let Some(best) = tied.min_by_key(|&i| (all[i].bytes, i)) else { break };
        left.retain(|&i| i != best);
        out.push(best);
    }
    out
}

#[cfg(test)]
#[path = "samples_tests.rs"]
mod tests;
