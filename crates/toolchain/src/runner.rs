//! How a built program is started: directly, behind an emulator, or on another machine.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use ringforge_targets::Architecture;

use crate::compiler::locate;

/// A command that stands in front of every program that is run, as Cargo's runners do: empty for the own
/// machine, `qemu-aarch64 -L /usr/aarch64-linux-gnu` for a foreign one. Behind `ssh HOST` a program is copied
/// there first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runner {
    prefix: Vec<String>,
}

/// Programs cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// Nothing here runs programs of that machine.
    #[error(
        "nothing here runs programs for {machine}; on Debian `apt-get install {package}` brings an emulator, \
         `--runner 'ssh HOST'` takes such a machine"
    )]
    NoEmulator {
        /// The machine.
        machine: &'static str,
        /// The Debian package of an emulator.
        package: &'static str,
    },
    /// The command is not here.
    #[error("no program `{0}` here, which --runner asks for")]
    NotFound(String),
}

impl Runner {
    /// Runs programs directly.
    pub fn native() -> Runner {
        Runner::default()
    }

    /// Splits `text` at spaces into the command and its first arguments.
    pub fn parse(text: &str) -> Runner {
        Runner { prefix: text.split_whitespace().map(str::to_owned).collect() }
    }

    /// The command that is asked for, or what runs programs of an architecture here: nothing in front for the
    /// host's own, else its emulator.
    ///
    /// # Errors
    /// The command or the emulator is not installed.
    pub fn of(
        asked: Option<&str>,
        architecture: Option<&Architecture>,
    ) -> Result<Runner, RunnerError> {
        if let Some(text) = asked {
            let runner = Runner::parse(text);
            return match runner.prefix.first().filter(|name| locate(name).is_none()) {
                Some(name) => Err(RunnerError::NotFound(name.clone())),
                None => Ok(runner),
            };
        }
        let Some(foreign) = architecture.filter(|a| !a.is_host()) else {
            return Ok(Runner::native());
        };
        match locate(foreign.emulator) {
            Some(_) => Ok(Runner::parse(&format!("{} -L {}", foreign.emulator, foreign.root))),
            None => Err(RunnerError::NoEmulator {
                machine: foreign.name,
                package: foreign.emulator_package,
            }),
        }
    }

    /// Whether programs run directly on this machine.
    pub fn is_native(&self) -> bool {
        self.prefix.is_empty()
    }

    /// The command's name without its directory.
    fn name(&self) -> Option<&OsStr> {
        self.prefix.first().and_then(|first| Path::new(first).file_name())
    }

    /// Whether programs run in an emulator, whose time says nothing of a processor's.
    pub fn is_emulator(&self) -> bool {
        self.name().is_some_and(|name| name.to_string_lossy().starts_with("qemu"))
    }

    /// Makes `program` ready to be started any number of times.
    ///
    /// # Errors
    /// It cannot be copied to the other machine.
    pub fn place(&self, program: &Path) -> std::io::Result<Placed> {
        let place = program.to_string_lossy().into_owned();
        if self.name() != Some(OsStr::new("ssh")) {
            return Ok(Placed { prefix: self.prefix.clone(), program: place, copied: false });
        }
        // One directory for each program; its name comes back.
        let script =
            "d=$(mktemp -d) && cat > \"$d/program\" && chmod 700 \"$d/program\" && echo \"$d\"";
        let answer = Command::new(&self.prefix[0])
            .args(&self.prefix[1..])
            .arg(script)
            .stdin(std::fs::File::open(program)?)
            .stderr(Stdio::inherit())
            .output()?;
        let dir = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        if !answer.status.success() || !dir.starts_with('/') {
            let to = self.prefix.join(" ");
            return Err(std::io::Error::other(format!(
                "`{to}` takes no program: {}",
                answer.status
            )));
        }
        Ok(Placed { prefix: self.prefix.clone(), program: format!("{dir}/program"), copied: true })
    }
}

/// A program where it can be started. A copy on another machine vanishes with it.
#[derive(Debug)]
pub struct Placed {
    prefix: Vec<String>,
    program: String,
    copied: bool,
}

impl Placed {
    /// The command that starts it.
    pub fn command(&self) -> Command {
        match self.prefix.split_first() {
            None => Command::new(&self.program),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(&self.program);
                command
            }
        }
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        if let (true, Some((first, rest)), Some(dir)) =
            (self.copied, self.prefix.split_first(), Path::new(&self.program).parent())
        {
            // The other machine may be gone; nobody can do anything about it here.
            let remove = format!("rm -rf '{}'", dir.display());
            let _ = Command::new(first).args(rest).arg(remove).stdin(Stdio::null()).status();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_targets::{AARCH64, ARCHITECTURES};

    #[test]
    fn prefix_precedes_the_program() {
        let runner = Runner::parse("qemu-aarch64 -L /sys-root");
        let placed = runner.place(Path::new("/t/prog")).unwrap();
        let command = placed.command();
        assert_eq!(command.get_program(), "qemu-aarch64");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["-L", "/sys-root", "/t/prog"]);
        assert!(runner.is_emulator() && !runner.is_native());
        let native = Runner::native().place(Path::new("/t/prog")).unwrap();
        assert_eq!(native.command().get_program(), "/t/prog");
        assert!(Runner::parse("  ").is_native());
    }

    #[test]
    fn the_host_needs_nothing_in_front() {
        for architecture in ARCHITECTURES.into_iter().filter(|a| a.is_host()) {
            assert!(Runner::of(None, Some(architecture)).unwrap().is_native());
        }
        assert!(Runner::of(None, None).unwrap().is_native());
        let error = Runner::of(Some("/no/such -x"), Some(&AARCH64)).unwrap_err().to_string();
        assert!(error.contains("/no/such"), "{error}");
    }

    /// A program of that name which runs commands on this machine.
    #[test]
    fn ssh_gets_a_copy_that_vanishes() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
            path
        };
        let ssh =
            script("ssh", "#!/bin/sh\n[ \"$1\" = there ] || exit 9\nshift\nexec sh -c \"$*\"\n");
        let program = script("hello", "#!/bin/sh\ncat; echo $1\n");
        let runner = Runner::parse(&format!("{} there", ssh.display()));
        let placed = runner.place(&program).unwrap();
        std::fs::remove_file(&program).unwrap();
        assert!(!runner.is_emulator());
        for word in ["one", "two"] {
            let out = placed.command().arg(word).stdin(Stdio::null()).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), word);
        }
        let copy = std::path::PathBuf::from(&placed.program);
        assert!(copy.exists());
        drop(placed);
        assert!(!copy.exists() && !copy.parent().unwrap().exists());
        let program = script("hello", "");
        assert!(Runner::parse(&format!("{} elsewhere", ssh.display())).place(&program).is_err());
    }
}
