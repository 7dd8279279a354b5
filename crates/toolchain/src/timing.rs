//! Core cycles, calibrated.
//!
//! Every sample times a chain of dependent additions before and after the calls (one core
//! cycle each) and divides, because the time-stamp counter is no core clock. Candidates are
//! interleaved sample by sample, each in a process of its own (peers may define the same
//! symbols). A *copy* is one set of fresh programs, each with the function at another place;
//! a candidate whose samples spread too far in a copy loses that run. Beside every sample runs a
//! loop that fills the core: where a neighbour takes its share of that the sample is dropped, and
//! counted. Report ratios: they survive a change of load and of clock, cycles do not.

mod samples;

pub use samples::{Measured, Recorded, Sample, Standing, order, summaries};

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
    /// Calm runs: those that count, where they are at least half of all.
    pub runs: usize,
    /// Runs that spread too far; they count only where `noisy` is set.
    pub dropped: usize,
    /// Fewer than half of the runs were calm: all of them count.
    pub noisy: bool,
    /// Samples disturbed by other load or by a clock change, which are discarded.
    pub busy: usize,
    /// Samples of all copies.
    pub samples: usize,
    /// How far the medians of the runs that count are apart, or their samples where that is more; as a
    /// share of the median.
    pub noise: f64,
    /// The least median of a run that counts: what it takes where its copy lies well. Copies of the same code were seen
    /// 43 % apart, so that a median over two of them where the third is dropped says nothing of the code.
    #[serde(skip)]
    pub least: f64,
    /// How far the samples of that run are apart, or the next run's median is from it where that is more; as a share.
    #[serde(skip)]
    pub doubt: f64,
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
    let recorded = record(compiler, candidates, settings, progress)?;
    let names: Vec<&str> = candidates.iter().map(|c| c.name.as_str()).collect();
    Ok(summaries(&names, &recorded, settings))
}

/// Every sample of `candidates`: for each of them, what each copy answered.
///
/// # Errors
/// As [`measure`].
pub fn record(
    compiler: &Compiler,
    candidates: &[Candidate],
    settings: &Settings,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Vec<Recorded>>, TimingError> {
    let mut recorded: Vec<Vec<Recorded>> = vec![Vec::new(); candidates.len()];
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
        for (server, recorded) in servers.iter().zip(&mut recorded) {
            let Server { batch, chain, .. } = *server;
            recorded.push(Recorded { batch, chain, samples: Vec::new() });
        }
        for sample in 0..settings.samples {
            for (server, recorded) in servers.iter_mut().zip(&mut recorded) {
                recorded[copy].samples.push(server.sample()?);
            }
            progress(copy * settings.samples + sample + 1, total);
        }
    }
    Ok(recorded)
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
    warm: u32,
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
            warm: 2,
            _program: program,
        };
        server.chain = server.ask(0, 0)?[0];
        // Some 20,000 cycles a sample: long against the counter's step, short against a
        // time slice.
        for _ in 0..5 {
            let sample = server.sample()?;
            if sample.is_steady() {
                let cycles = sample.cycles(server.batch, server.chain);
                server.batch = (20_000.0 / cycles.max(1.0)).clamp(1.0, 10_000.0) as u32;
                // Between samples the process sleeps, and who runs meanwhile, or the system, takes the branch predictor
                // away. Two calls bring the caches back, but not the ends of loops: a product of many loops took a
                // quarter longer until it had been called some 50 times (Intel, family 6 model 167).
                server.warm = (250_000.0 / cycles.max(1.0)).clamp(2.0, 100_000.0) as u32;
                break;
            }
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
        if numbers.len() == if batch == 0 { 1 } else { 5 } {
            Ok(numbers)
        } else {
            let ended = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
            Err(silent(if line.is_empty() { ended } else { format!("it says {line:?}") }))
        }
    }

    fn sample(&mut self) -> Result<Sample, TimingError> {
        let answer = self.ask(self.batch, self.warm)?;
        match answer[..] {
            [before, first, calls, second, after] => {
                Ok(Sample { chain: [before, after], fill: [first, second], calls })
            }
            _ => Err(std::io::Error::other("the timing driver says too little").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Argument, Element, Role};

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
        // Whether figures are plausible is tested; how fast anything is, is not.
        assert!(timings[0].min > 0.0 && timings[0].ratio == 1.0, "{timings:?}");
        assert!(timings[0].samples == 40 && timings[0].busy <= 40, "{timings:?}");
        let bad = candidate(dir.path(), &cc, "bad", "__builtin_trap();");
        let error = measure(&cc, &[good, bad], &settings, &mut |_, _| ()).unwrap_err();
        assert!(error.to_string().contains("`bad` does not answer"), "{error}");
    }
}
