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
const MEMORY: u64 = 6 << 30;

/// What the tests made of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A test fails.
    Caught,
    /// A test does not end in time.
    OutOfTime,
    /// No test fails.
    Missed,
    /// The compiler refuses it.
    Uncompiled,
}

/// Some tests of a program that are run at once.
#[derive(Clone, Debug)]
struct Batch {
    program: Program,
    tests: Vec<String>,
    /// Seconds without a mutant.
    seconds: f64,
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
            let mut quick = Batch { program: program.clone(), tests: Vec::new(), seconds: 0.0 };
            for name in list.lines().filter_map(|l| l.strip_suffix(": test")) {
                let mut one = Batch { tests: vec![name.to_string()], ..quick.clone() };
                let started = Instant::now();
                let alone = this.run(&one, None, 600)?;
                ensure!(alone == Outcome::Missed, "{name} fails without a mutant");
                one.seconds = started.elapsed().as_secs_f64();
                if one.seconds > LONG {
                    println!("  {} {name}: {:.1} s, run last", program.name, one.seconds);
                    this.long.push(one);
                } else {
                    quick.tests.push(name.to_string());
                    quick.seconds += one.seconds;
                }
            }
            println!("  {}: {} tests, {:.1} s", program.name, quick.tests.len(), quick.seconds);
            this.quick.push(quick);
        }
        this.quick.retain(|b| !b.tests.is_empty());
        this.quick.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        this.long.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
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

    /// Runs a mutant; `file` is the file that it is in, `number` what the program is told; `long`: by long tests too.
    ///
    /// # Errors
    /// If a program cannot be started.
    pub fn outcome(&self, file: &str, number: Option<usize>, long: bool) -> Result<Outcome> {
        let (_, path) = file.split_once("/src/").unwrap_or(("", file));
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
        let mut own = self.quick.iter().find(|b| b.program.name == "lib").cloned();
        own.iter_mut().for_each(|b| b.tests.retain(|t| t.starts_with(&format!("{module}::"))));
        let own = own.filter(|b| !b.tests.is_empty());
        for batch in own.iter().chain(&self.quick).chain(if long { &self.long[..] } else { &[] }) {
            // Eight times as long as without a mutant, in time of the processor.
            let is = self.run(batch, number, 10 + (batch.seconds * 8.0) as u64)?;
            if is != Outcome::Missed {
                return Ok(is);
            }
        }
        Ok(Outcome::Missed)
    }

    fn run(&self, batch: &Batch, number: Option<usize>, seconds: u64) -> Result<Outcome> {
        let mut command = Command::new("prlimit");
        command.arg(format!("--cpu={seconds}")).arg(format!("--as={MEMORY}"));
        command.args(["timeout", "-s", "KILL", &(seconds * 20).to_string(), "nice", "-n", "5"]);
        command.arg(&batch.program.path).args(["--exact", "--test-threads=1"]);
        // Known to nightly alone, which the library for tests is told to be.
        command.args(["-Zunstable-options", "--fail-fast"]).env("RUSTC_BOOTSTRAP", "1");
        command.args(&batch.tests).current_dir(&self.dir).env("RAYON_NUM_THREADS", "1");
        command.env("MUTANT", number.map_or(String::new(), |n| n.to_string()));
        let status =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        // `timeout` tells of a signal by 128 and its number; 101 is a test that fails, 124 no time left.
        match (status.code(), status.signal()) {
            (Some(0), _) => Ok(Outcome::Missed),
            (Some(101 | 134 | 139), _) => Ok(Outcome::Caught),
            (Some(124 | 137 | 152), _) | (_, Some(9 | 24)) => Ok(Outcome::OutOfTime),
            _ => bail!("{} ends with {status}, which no test does", batch.program.name),
        }
    }
}
