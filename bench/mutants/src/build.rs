//! A copy of the repository, what the compiler says of it, and its tests.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The copy.
pub struct Copy {
    /// Its directory.
    pub dir: PathBuf,
    /// Where cargo builds it.
    target: PathBuf,
    /// Where the programs of tests are kept.
    programs: PathBuf,
    package: String,
}

/// An error of the compiler: file, first byte, the one after the last.
pub type Fault = (String, usize, usize);

/// A program of tests.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name: `lib` has the unit tests.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    std::fs::create_dir_all(path.parent().context("a file has a directory")?)?;
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

impl Copy {
    /// Copies what git knows of.
    ///
    /// # Errors
    /// If git or the file system fails.
    pub fn new(root: &Path, scratch: &Path, package: &str) -> Result<Copy> {
        let dir = scratch.join("copy");
        let out = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output()?;
        ensure!(out.status.success(), "git ls-files fails in {}", root.display());
        for name in String::from_utf8(out.stdout)?.split_terminator('\0') {
            let from = root.join(name);
            if from.is_file() {
                write(&dir.join(name), &std::fs::read(from)?)?;
            }
        }
        let (target, programs) = (scratch.join("target"), scratch.join("programs"));
        Ok(Copy { dir, target, programs, package: package.to_string() })
    }

    /// Puts a text in the place of a file.
    ///
    /// # Errors
    /// If the file system fails.
    pub fn put(&self, file: &str, text: &str) -> Result<()> {
        write(&self.dir.join(file), text.as_bytes())
    }

    /// Runs cargo, for its messages.
    fn cargo<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<(bool, Vec<Value>)> {
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        let out = Command::new("nice")
            .args(["-n", "10", "cargo"])
            .args(args)
            .args(["-q", "--release", "--message-format=json", "-p", &self.package])
            .current_dir(&self.dir)
            .env("CARGO_TARGET_DIR", &self.target)
            // Mutants compare with what they are always below, and divide by zero.
            .env("RUSTFLAGS", format!("{flags} --cap-lints allow"))
            .stderr(Stdio::null())
            .output()?;
        let lines = out.stdout.split(|b| *b == b'\n').filter(|l| !l.is_empty());
        let messages = lines.map(serde_json::from_slice).collect::<Result<_, _>>()?;
        Ok((out.status.success(), messages))
    }

    /// What does not compile: the places of all errors. None if it does.
    ///
    /// # Errors
    /// An error that is at no place.
    pub fn faults(&self) -> Result<Vec<Fault>> {
        let (ok, messages) = self.cargo(&["check"])?;
        let mut faults = Vec::new();
        for m in messages.iter().filter(|m| m["message"]["level"] == "error") {
            let spans = m["message"]["spans"].as_array().map_or(&[][..], |s| &s[..]);
            for span in spans.iter().filter(|s| s["is_primary"] == true) {
                let at = |key: &str| span[key].as_u64().unwrap_or_default() as usize;
                let file = span["file_name"].as_str().unwrap_or_default().to_string();
                faults.push((file, at("byte_start"), at("byte_end")));
            }
        }
        if !ok && faults.is_empty() {
            bail!("the copy in {} does not build: run cargo check there", self.dir.display());
        }
        Ok(faults)
    }

    /// Builds the tests and keeps their programs under a name.
    ///
    /// # Errors
    /// If they do not compile.
    pub fn tests(&self, name: &str) -> Result<Vec<Program>> {
        let (ok, messages) = self.cargo(&["test", "--no-run"])?;
        ensure!(ok, "the tests of {name} do not build");
        let dir = self.programs.join(name);
        std::fs::create_dir_all(&dir)?;
        let mut all = Vec::new();
        for m in messages.iter().filter(|m| m["profile"]["test"] == true) {
            let Some(from) = m["executable"].as_str() else { continue };
            let unit = m["target"]["kind"].as_array().is_some_and(|k| k.contains(&"lib".into()));
            let target = m["target"]["name"].as_str().unwrap_or_default();
            let name = if unit { "lib" } else { target }.to_string();
            // Reads the record and its reasons, and the last run has written a record without them.
            if name == "told" {
                continue;
            }
            let path = dir.join(&name);
            std::fs::copy(from, &path)?;
            all.push(Program { name, path });
        }
        all.sort_by_key(|p| (p.name != "lib", p.name.clone()));
        ensure!(!all.is_empty(), "no tests");
        Ok(all)
    }

    /// The directory in which a package's tests run.
    pub fn package_dir(&self, file: &str) -> PathBuf {
        let (dir, _) = file.split_once("/src/").unwrap_or((".", ""));
        self.dir.join(dir)
    }
}
