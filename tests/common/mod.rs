//! A directory of its own for each test, and the `ringforge` binary run in it.
#![allow(dead_code, unused_imports)] // each test binary uses its share

pub mod figures;
pub mod kems;
pub mod library;
pub mod neon;
pub mod simulated;

pub use ringforge_testing::{aarch64 as arm_compilers, compilers, cortex_m4 as m4_compilers};
pub use ringforge_testing::{in_parallel, long, share};

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// KEMs whose code is that of smaller ones but for numbers, and whose multipliers take the longest to compile.
pub const LARGEST: &[&str] = &["ntruhps40961229", "ntruhrss1373"];

/// A finished run.
#[derive(Debug)]
pub struct Run {
    /// Exit status.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    /// The run must have ended with `status` and said everything of `expected` on standard
    /// error, without a panic.
    pub fn fails(&self, status: i32, expected: &[&str]) {
        assert_eq!(self.status, status, "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        for word in expected {
            assert!(self.stderr.contains(word), "no {word:?} in {self:?}");
        }
    }

    /// The run must have ended with status 0.
    pub fn succeeds(self) -> Run {
        assert_eq!(self.status, 0, "{self:?}");
        self
    }

    /// Standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// Everything of `expected` must be said somewhere.
pub fn mentions(run: &Run, expected: &[&str]) {
    for word in expected {
        let said = run.stdout.contains(word) || run.stderr.contains(word);
        assert!(said, "no {word:?} in {run:?}");
    }
}

/// Runs a command, which must succeed; returns what it printed.
pub fn run(command: &mut Command) -> String {
    let out = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?}: {}\n{text}{error}", out.status);
    text
}

/// A directory that vanishes.
pub struct Sandbox(tempfile::TempDir);

impl Sandbox {
    /// An empty one.
    pub fn new() -> Sandbox {
        Sandbox(tempfile::tempdir().expect("a temporary directory"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and returns its name.
    pub fn file(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path().join(name), text).expect("sandbox");
        name.into()
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Compiles C to an object and returns its name.
    pub fn compile(&self, name: &str, text: &str) -> String {
        self.compile_with(ringforge_testing::cc(), &["-O1"], name, text)
    }

    /// Compiles C with a compiler and flags.
    pub fn compile_with(&self, cc: &str, flags: &[&str], name: &str, text: &str) -> String {
        let source = self.path().join("source-of-object.c");
        std::fs::write(&source, text).expect("sandbox");
        let status = Command::new(cc)
            .args(flags)
            .args(["-c", "-o", name])
            .arg(&source)
            .current_dir(self.path())
            .status()
            .expect("a C compiler");
        assert!(status.success());
        std::fs::remove_file(source).expect("sandbox");
        name.into()
    }

    /// Runs ringforge here; it remembers nothing.
    pub fn ringforge(&self, args: &[&str]) -> Run {
        self.ringforge_with("", args)
    }

    /// Runs ringforge here with a wisdom file.
    pub fn ringforge_with(&self, wisdom: &str, args: &[&str]) -> Run {
        self.run(
            Command::new(env!("CARGO_BIN_EXE_ringforge"))
                .args(args)
                .env("RINGFORGE_WISDOM", wisdom),
        )
    }

    /// Runs ringforge here on a machine that has no other programs than these.
    pub fn ringforge_among(&self, programs: &[&str], args: &[&str]) -> Run {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = std::env::var_os("PATH").unwrap_or_default();
        for program in programs {
            let found = std::env::split_paths(&path).map(|d| d.join(program)).find(|p| p.exists());
            let found = found.unwrap_or_else(|| panic!("{program} is needed"));
            std::os::unix::fs::symlink(found, dir.path().join(program)).expect("a link");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringforge"));
        self.run(command.args(args).env("RINGFORGE_WISDOM", "").env("PATH", dir.path()))
    }

    fn run(&self, command: &mut Command) -> Run {
        let output = command
            .current_dir(self.path())
            .env_remove("CC")
            .stdin(Stdio::null())
            .output()
            .expect("the ringforge binary");
        Run {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Names of everything here, hidden ones included.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.path())
            .expect("sandbox")
            .map(|entry| entry.expect("sandbox").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Nothing may have been left here.
    pub fn is_untouched(&self) {
        self.holds_only(&[]);
    }

    /// Only these may be here.
    pub fn holds_only(&self, names: &[&str]) {
        assert_eq!(self.names(), names);
    }
}
