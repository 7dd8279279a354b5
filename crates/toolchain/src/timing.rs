//! Core cycles, calibrated.
//!
//! Every sample times a chain of dependent additions before and after the calls (one core
//! cycle each) and divides, because the time-stamp counter is no core clock. Candidates are
//! interleaved sample by sample, each in a process of its own (peers may define the same
//! symbols). A *copy* is one set of fresh programs, each with the function at another place;
//! a candidate whose samples spread too far in a copy loses that run. Report ratios: they
//! survive a change of load and of clock, cycles do not.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde::Serialize;

use crate::call::link;
use crate::driver::Signature;
use crate::runner::Placed;
use crate::{CompileError, Compiler, Scratch};

/// Something to be timed.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name in the table.
    pub name: String,
    /// Where its code comes from.
    pub code: Code,
}

/// Code of a candidate.
#[derive(Clone, Debug)]
pub enum Code {
    /// Objects that define the signature's function.
    Objects(Vec<PathBuf>, Signature),
    /// A program that speaks the protocol of `driver/timing.c`, and its arguments.
    Program(PathBuf, Vec<String>),
}

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Fresh copies of every program.
    pub copies: usize,
    /// Samples of each candidate in a copy.
    pub samples: usize,
    /// Largest spread of a run that counts: (third quartile - first quartile) / median.
    pub spread: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { copies: 5, samples: 200, spread: 0.03 }
    }
}

/// Result of one candidate.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// Its name.
    pub name: String,
    /// Least core cycles of one call in any sample of the runs that count.
    pub min: f64,
    /// Median over the runs of the run's median.
    pub median: f64,
    /// Median over the copies of this median divided by the first candidate's in the same
    /// copy; below 1 means faster than the first.
    pub ratio: f64,
    /// Runs that count.
    pub runs: usize,
    /// Runs dropped because they spread too far. If all did, the calmest one counts
    /// nevertheless, and `noisy` is set.
    pub dropped: usize,
    /// No run was calm enough.
    pub noisy: bool,
}

/// Why nothing could be timed.
#[derive(Debug, thiserror::Error)]
pub enum TimingError {
    /// A candidate does not link.
    #[error("`{name}` does not link with the timing driver: {error}")]
    Link {
        /// The candidate.
        name: String,
        /// The complaint.
        error: CompileError,
    },
    /// A program died or does not speak the protocol.
    #[error("`{name}` does not answer: {why}")]
    Silent {
        /// The candidate.
        name: String,
        /// What was seen instead.
        why: String,
    },
    /// Files or processes could not be made.
    #[error("cannot time: {0}")]
    Io(#[from] std::io::Error),
}

/// Times `candidates` side by side; the first is the one that ratios refer to. `progress` is
/// called with (steps done, all steps).
///
/// # Errors
/// A candidate does not link, start or answer.
pub fn measure(
    compiler: &Compiler,
    candidates: &[Candidate],
    settings: &Settings,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Timing>, TimingError> {
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); candidates.len()];
    // Slices of a copy, for the progress bar.
    let total = settings.copies * settings.samples;
    for copy in 0..settings.copies {
        let dir = Scratch::new()?;
        let mut servers = Vec::new();
        for (i, candidate) in candidates.iter().enumerate() {
            let program = dir.path().join(format!("candidate{i}"));
            prepare(compiler, candidate, copy, dir.path(), &program)?;
            let args = match &candidate.code {
                Code::Program(_, args) => args.as_slice(),
                Code::Objects(..) => &[],
            };
            let program = compiler.runner.place(&program)?;
            servers.push(Server::start(program, args, &candidate.name)?);
        }
        let mut samples: Vec<Vec<f64>> = vec![Vec::new(); candidates.len()];
        for sample in 0..settings.samples {
            for (server, samples) in servers.iter_mut().zip(&mut samples) {
                samples.extend(server.sample()?);
            }
            progress(copy * settings.samples + sample + 1, total);
        }
        for (runs, samples) in runs.iter_mut().zip(samples) {
            runs.push(Run::of(samples));
        }
    }
    Ok(candidates
        .iter()
        .zip(&runs)
        .map(|(c, own)| summary(&c.name, own, &runs[0], settings))
        .collect())
}

fn prepare(
    compiler: &Compiler,
    candidate: &Candidate,
    copy: usize,
    dir: &Path,
    program: &Path,
) -> Result<(), TimingError> {
    match &candidate.code {
        Code::Program(path, _) => {
            std::fs::copy(path, program).map(drop).map_err(|e| TimingError::Silent {
                name: candidate.name.clone(),
                why: format!("{}: {e}", path.display()),
            })
        }
        Code::Objects(objects, signature) => {
            let source = dir.join("driver.c");
            // An odd multiple of 16 bytes: compilers align functions to 16.
            std::fs::write(&source, signature.timing_driver(copy * 16 * 37))?;
            let objects: Vec<&Path> = objects.iter().map(PathBuf::as_path).collect();
            link(compiler, &source, &objects, program)
                .map_err(|error| TimingError::Link { name: candidate.name.clone(), error })
        }
    }
}

/// A running program that answers requests for samples.
struct Server {
    name: String,
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    chain: f64,
    batch: u32,
    _program: Placed,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already; either way nothing must stay behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(program: Placed, args: &[String], name: &str) -> Result<Server, TimingError> {
        let mut child =
            program.command().args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("the timing driver has no pipes").into());
        };
        let answers = BufReader::new(answers);
        let mut server = Server {
            name: name.into(),
            child,
            requests,
            answers,
            chain: 0.0,
            batch: 1,
            _program: program,
        };
        server.chain = server.ask(0, 0)?[0];
        // Some 20,000 cycles a sample: long against the counter's step, short against a
        // time slice.
        let first = (0..5).filter_map(|_| server.sample().transpose()).next();
        if let Some(cycles) = first.transpose()? {
            server.batch = (20_000.0 / cycles.max(1.0)).clamp(1.0, 10_000.0) as u32;
        }
        Ok(server)
    }

    fn ask(&mut self, batch: u32, warm: u32) -> Result<Vec<f64>, TimingError> {
        let silent = |why: String| TimingError::Silent { name: self.name.clone(), why };
        let sent = writeln!(self.requests, "{batch} {warm}").and_then(|()| self.requests.flush());
        sent.map_err(|e| silent(e.to_string()))?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|e| silent(e.to_string()))?;
        let numbers: Vec<f64> = line.split_whitespace().flat_map(str::parse).collect();
        if numbers.len() == if batch == 0 { 1 } else { 3 } {
            Ok(numbers)
        } else {
            let ended = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
            Err(silent(if line.is_empty() { ended } else { format!("it says {line:?}") }))
        }
    }

    /// Core cycles of one call, or nothing if the clock changed during the sample.
    fn sample(&mut self) -> Result<Option<f64>, TimingError> {
        let answer = self.ask(self.batch, 2)?;
        let (before, calls, after) = (answer[0], answer[1], answer[2]);
        let steady = before > 0.0 && (before - after).abs() <= 0.03 * before.min(after);
        Ok(steady.then(|| calls / f64::from(self.batch) * self.chain * 2.0 / (before + after)))
    }
}

#[derive(Clone, Debug)]
struct Run {
    min: f64,
    median: f64,
    spread: f64,
}

impl Run {
    fn of(mut samples: Vec<f64>) -> Run {
        samples.sort_by(f64::total_cmp);
        let at = |quarter: usize| samples.get(samples.len() * quarter / 4).copied();
        match (samples.first(), at(1), at(2), at(3)) {
            (Some(&min), Some(low), Some(median), Some(high)) => {
                Run { min, median, spread: (high - low) / median }
            }
            _ => Run { min: f64::NAN, median: f64::NAN, spread: f64::INFINITY },
        }
    }
}

fn summary(name: &str, own: &[Run], first: &[Run], settings: &Settings) -> Timing {
    let calm = |run: &Run| run.spread <= settings.spread;
    let mut kept: Vec<usize> = (0..own.len()).filter(|&i| calm(&own[i])).collect();
    let noisy = kept.is_empty();
    if noisy {
        kept = (0..own.len())
            .min_by(|&a, &b| own[a].spread.total_cmp(&own[b].spread))
            .into_iter()
            .collect();
    }
    let both: Vec<usize> = kept.iter().copied().filter(|&i| calm(&first[i])).collect();
    let both = if both.is_empty() { &kept } else { &both };
    Timing {
        name: name.into(),
        min: kept.iter().map(|&i| own[i].min).fold(f64::INFINITY, f64::min),
        median: median(kept.iter().map(|&i| own[i].median).collect()),
        ratio: median(both.iter().map(|&i| own[i].median / first[i].median).collect()),
        runs: kept.len(),
        dropped: own.len() - kept.len(),
        noisy,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Argument, Element, Role};

    // Whether figures are plausible is tested; how fast anything is, is not.
    #[test]
    fn runs_are_kept_dropped_and_compared() {
        let run = |median: f64, spread| Run { min: median - 1.0, median, spread };
        let settings = Settings::default();
        let first = [run(100.0, 0.01), run(110.0, 0.01), run(200.0, 0.5)];
        let own = [run(50.0, 0.01), run(55.0, 0.02), run(400.0, 0.01)];
        let timing = summary("x", &own, &first, &settings);
        assert_eq!((timing.runs, timing.dropped, timing.noisy), (3, 0, false));
        assert_eq!((timing.min, timing.median, timing.ratio), (49.0, 55.0, 0.5));
        let noisy = summary("y", &[run(7.0, 0.9), run(9.0, 0.4)], &first, &settings);
        assert_eq!((noisy.runs, noisy.dropped, noisy.noisy, noisy.median), (1, 1, true, 9.0));
        assert!(Run::of(vec![]).median.is_nan());
    }

    fn candidate(dir: &Path, cc: &Compiler, name: &str, body: &str) -> Candidate {
        let source = dir.join(format!("{name}.c"));
        std::fs::write(&source, format!("void f(short *c, const short *a) {{ {body} }}")).unwrap();
        let object = dir.join(format!("{name}.o"));
        cc.compile(&source, &["-O1".into()], &object).unwrap();
        let argument = |name: &str, role| Argument {
            name: name.into(),
            role,
            element: Element::I16,
            length: 3,
            align: 2,
            range: (-5, 5),
        };
        let arguments = vec![argument("c", Role::Output), argument("a", Role::Input)];
        let signature = Signature { symbol: "f".into(), arguments };
        Candidate { name: name.into(), code: Code::Objects(vec![object], signature) }
    }

    #[test]
    fn candidates_answer_and_dead_ones_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let cc = Compiler::any().unwrap();
        let good = candidate(dir.path(), &cc, "good", "for (int i = 0; i < 3; i++) c[i] = a[i];");
        let settings = Settings { copies: 2, samples: 20, ..Settings::default() };
        let mut last = (0, 0);
        let timings =
            measure(&cc, std::slice::from_ref(&good), &settings, &mut |a, b| last = (a, b))
                .unwrap();
        assert_eq!(last, (40, 40));
        assert!(timings[0].min > 0.0 && timings[0].ratio == 1.0, "{timings:?}");
        let bad = candidate(dir.path(), &cc, "bad", "__builtin_trap();");
        let error = measure(&cc, &[good, bad], &settings, &mut |_, _| ()).unwrap_err();
        assert!(error.to_string().contains("`bad` does not answer"), "{error}");
    }
}
