//! Runs a mutant against the tests: those of its own file, the quick ones, the long ones.

use crate::build::Program;
use anyhow::{Result, bail, ensure};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A test that takes longer is run last.
const LONG: f64 = 1.0;
/// Memory of a test, in bytes.
const MEMORY: u64 = 6_000_000_000;

/// What the tests made of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A test fails.
    Caught,
    /// A test does not end in time.
    OutOfTime,
    /// No test fails.
    Missed,
    /// No quick test fails, and long ones were not run.
    MissedQuick,
    /// The compiler refuses it.
    Uncompiled,
}

/// Which tests a mutant is run against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of its own file, then what is quick.
    Quick,
    /// What is long.
    Long,
}

/// Some tests of a program that are run at once.
#[derive(Clone, Debug)]
struct Batch {
    program: Program,
    /// With seconds that they take without a mutant.
    tests: Vec<(String, f64)>,
}

impl Batch {
    fn seconds(&self) -> f64 {
        self.tests.iter().map(|t| t.1).sum()
    }

    /// Those of a module, none if there are none.
    fn of(&self, module: &str) -> Option<Batch> {
        let own = self.tests.iter().filter(|t| t.0.starts_with(&format!("{module}::")));
        let tests: Vec<_> = own.cloned().collect();
        let some = self.program.name == "lib" && !tests.is_empty();
        some.then(|| Batch { program: self.program.clone(), tests })
    }
}

/// All tests of a program, with how long they take.
pub struct Suite {
    dir: PathBuf,
    quick: Vec<Batch>,
    long: Vec<Batch>,
}

impl Suite {
    /// Runs each test alone, without a mutant.
    ///
    /// # Errors
    /// A test that fails.
    pub fn new(programs: &[Program], dir: &Path) -> Result<Suite> {
        let mut this = Suite { dir: dir.to_path_buf(), quick: Vec::new(), long: Vec::new() };
        for program in programs {
            let out = Command::new(&program.path).arg("--list").current_dir(dir).output()?;
            let list = String::from_utf8(out.stdout)?;
            let mut quick = Batch { program: program.clone(), tests: Vec::new() };
            for name in list.lines().filter_map(|l| l.strip_suffix(": test")) {
                let mut one = Batch { tests: vec![(name.to_string(), 600.0)], ..quick.clone() };
                let started = Instant::now();
                let (alone, _) = this.run(&one, None)?;
                ensure!(alone == Outcome::Missed, "{name} fails without a mutant");
                let seconds = started.elapsed().as_secs_f64();
                one.tests[0].1 = seconds;
                match seconds > LONG {
                    true => this.long.push(one),
                    false => quick.tests.append(&mut one.tests),
                }
            }
            println!("  {}: {} tests, {:.1} s", program.name, quick.tests.len(), quick.seconds());
            this.quick.push(quick);
        }
        this.quick.retain(|b| !b.tests.is_empty());
        this.quick.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        this.long.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        for one in &this.long {
            println!("  {} {}: {:.1} s, run last", one.program.name, one.tests[0].0, one.seconds());
        }
        Ok(this)
    }

    /// The same tests of programs that are one mutant each.
    pub fn of(&self, programs: &[Program]) -> Suite {
        let one = |batch: &Batch| {
            let program = programs.iter().find(|p| p.name == batch.program.name)?;
            Some(Batch { program: program.clone(), ..batch.clone() })
        };
        let all = |batches: &[Batch]| batches.iter().filter_map(one).collect();
        Suite { dir: self.dir.clone(), quick: all(&self.quick), long: all(&self.long) }
    }

    /// Runs a mutant; `file` is the file that it is in, `number` what the program is told. With the test that notices it.
    ///
    /// # Errors
    /// If a program cannot be started.
    pub fn outcome(&self, file: &str, number: Option<usize>, part: Part) -> Result<Told> {
        let (_, path) = file.split_once("/src/").unwrap_or(("", file));
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
        let own = self.quick.iter().chain(&self.long).filter_map(|b| b.of(&module));
        let all: Vec<Batch> = match part {
            Part::Quick => own.chain(self.quick.iter().cloned()).collect(),
            Part::Long => self.long.clone(),
        };
        for batch in &all {
            let told = self.run(batch, number)?;
            if told.0 != Outcome::Missed {
                return Ok(told);
            }
        }
        let last = part == Part::Long || self.long.is_empty();
        Ok((if last { Outcome::Missed } else { Outcome::MissedQuick }, String::new()))
    }

    fn run(&self, batch: &Batch, number: Option<usize>) -> Result<Told> {
        // Four times as long as without a mutant, in time of the processor.
        let seconds = 6 + (batch.seconds() * 4.0) as u64;
        let mut command = Command::new("prlimit");
        command.arg(format!("--cpu={seconds}")).arg(format!("--as={MEMORY}"));
        command.args(["timeout", "-s", "KILL", &(seconds * 20).to_string(), "nice", "-n", "5"]);
        command.arg(&batch.program.path).args(["--exact", "--test-threads=1"]);
        // Known to nightly alone, which the library for tests is told to be.
        command.args(["-Zunstable-options", "--fail-fast"]).env("RUSTC_BOOTSTRAP", "1");
        command.args(batch.tests.iter().map(|t| &t.0)).current_dir(&self.dir);
        command.env("RAYON_NUM_THREADS", "1");
        command.env("MUTANT", number.map_or(String::new(), |n| n.to_string()));
        let out = command.stdin(Stdio::null()).stderr(Stdio::null()).output()?;
        let text = String::from_utf8_lossy(&out.stdout);
        let test = last_test(&text)
            .map_or(String::new(), |test| format!("{}: {test}", batch.program.name));
        // `timeout` tells of a signal by 128 and its number; 101 is a test that fails, 124 no time left.
        match (out.status.code(), out.status.signal()) {
            (Some(0), _) => Ok((Outcome::Missed, String::new())),
            // What asks for more memory than there is, is ended by itself: 6.
            (Some(101 | 134 | 139), _) | (_, Some(6 | 11)) => Ok((Outcome::Caught, test)),
            (Some(124 | 137 | 152), _) | (_, Some(9 | 24)) => Ok((Outcome::OutOfTime, test)),
            _ => bail!("{} ends with {}, which no test does", batch.program.name, out.status),
        }
    }
}

/// An outcome, and the test (`program: name`) that notices, or that does not end.
pub type Told = (Outcome, String);

/// The last test that was begun and is not told to have passed.
fn last_test(out: &str) -> Option<&str> {
    let begun = out.lines().filter_map(|l| l.strip_prefix("test ")?.split_once(" ... "));
    begun
        .filter(|(_, end)| *end != "ok" && !end.starts_with("ignored"))
        .map(|(name, _)| name)
        .next_back()
}
