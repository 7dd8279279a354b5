//! Finding C compilers by name and running them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use ringforge_targets::Architecture;
use serde::Serialize;

use crate::Runner;

/// Names tried when nobody names a compiler and listed when the named one is missing.
const KNOWN: &[&str] = &[
    "gcc", "clang", "cc", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16",
    "clang-15", "clang-14", "gcc-15", "gcc-14", "gcc-13", "gcc-12", "gcc-11",
];

/// Whose compiler it is. Flags that differ are chosen by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// GNU.
    Gcc,
    /// LLVM.
    Clang,
    /// Anything else that understands `-c -o`.
    Other,
}

/// A C compiler that answered `--version`.
#[derive(Clone, Debug, Serialize)]
pub struct Compiler {
    /// The name by which it was asked for.
    pub name: String,
    /// The executable.
    pub path: PathBuf,
    /// Whose it is.
    pub family: Family,
    /// First line of its `--version`.
    pub version: String,
    /// What it is always called with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// What it compiles for.
    #[serde(skip)]
    pub architecture: Option<&'static Architecture>,
    /// How programs that it links are run.
    #[serde(skip)]
    pub runner: Runner,
}

/// No such compiler, or one that does not work.
#[derive(Debug, thiserror::Error)]
pub enum CompilerError {
    /// Neither a program on the `PATH` nor a file.
    #[error(
        "no C compiler `{asked}` here; {}; on Debian `apt-get install {package}` brings it",
        found_text(found)
    )]
    NotFound {
        /// What was asked for.
        asked: String,
        /// Names of compilers that are here.
        found: Vec<String>,
        /// The Debian package that has it.
        package: String,
    },
    /// Nothing here compiles and links for another machine.
    #[error(
        "no C compiler for {machine} here, and its libraries; on Debian `apt-get install {packages}` brings both"
    )]
    NoCross {
        /// The machine.
        machine: &'static str,
        /// The Debian packages.
        packages: &'static str,
    },
    /// The words behind its name are no words of a shell.
    #[error("`{0}` is no command: a quotation mark is not closed")]
    Words(String),
    /// It compiles for another machine.
    #[error(
        "`{name}` compiles for {found}, and this target is for {wanted}; would work: {instead}"
    )]
    OtherMachine {
        /// What was asked for.
        name: String,
        /// What it compiles for.
        found: String,
        /// What is wanted.
        wanted: &'static str,
        /// What would work.
        instead: String,
    },
    /// It is there and does not answer.
    #[error("`{path}` does not work: {why}")]
    Broken {
        /// The executable.
        path: String,
        /// How it fails.
        why: String,
    },
}

fn found_text(found: &[String]) -> String {
    if found.is_empty() { "none was found".into() } else { format!("found: {}", found.join(", ")) }
}

/// A compiler that ran and failed.
#[derive(Debug, thiserror::Error)]
#[error("the compiler fails ({status})\n  command: {command}\n{}", errors.iter().map(|e| format!("  {e}\n")).collect::<String>())]
pub struct CompileError {
    /// The command line, quoted so that it can be pasted.
    pub command: String,
    /// Exit status as text.
    pub status: String,
    /// The first lines that say `error`, or the first lines at all.
    pub errors: Vec<String>,
}

/// What a compilation leaves beside its object.
#[derive(Clone, Debug, Serialize)]
pub struct Compilation {
    /// The command line, quoted so that it can be pasted.
    pub command: String,
    /// Everything the compiler said: empty for warning-free code.
    pub messages: String,
}

impl Compiler {
    /// Finds a compiler by name on the `PATH` (`gcc`, `clang-19`) or by path. Words behind the name are what it is
    /// always called with (`gcc -march=native`), quoted as a shell has them.
    ///
    /// # Errors
    /// [`CompilerError::NotFound`] lists what is here and the package that would help.
    pub fn find(name: &str) -> Result<Compiler, CompilerError> {
        let (program, arguments) = match locate(name) {
            Some(_) => (name.to_owned(), Vec::new()),
            None => {
                let words = shlex::split(name).ok_or_else(|| CompilerError::Words(name.into()))?;
                let mut words = words.into_iter();
                (words.next().unwrap_or_default(), words.collect())
            }
        };
        let path = locate(&program).ok_or_else(|| CompilerError::NotFound {
            asked: program.clone(),
            found: KNOWN.iter().filter(|n| locate(n).is_some()).map(|n| n.to_string()).collect(),
            package: package(&program),
        })?;
        let broken = |why: String| CompilerError::Broken { path: path.display().to_string(), why };
        let answer =
            Command::new(&path).arg("--version").output().map_err(|e| broken(e.to_string()))?;
        let text = String::from_utf8_lossy(&answer.stdout);
        let version = text.lines().next().unwrap_or("").trim().to_owned();
        if !answer.status.success() || version.is_empty() {
            return Err(broken(format!("`--version` fails: {}", answer.status)));
        }
        let family = if text.contains("clang") {
            Family::Clang
        } else if text.contains("Free Software Foundation") {
            Family::Gcc
        } else {
            Family::Other
        };
        Ok(Compiler {
            name: name.to_owned(),
            path,
            family,
            version,
            arguments,
            architecture: Architecture::host(),
            runner: Runner::native(),
        })
    }

    /// The compiler called `name`, or one that is found, for an architecture: the host's own as ever, where
    /// none is named or it is the host's.
    ///
    /// # Errors
    /// There is none of that name or for that machine, it compiles for another, or the libraries of that machine's
    /// programs are missing.
    pub fn of(
        name: Option<&str>,
        architecture: Option<&'static Architecture>,
    ) -> Result<Compiler, CompilerError> {
        let Some(wanted) = architecture.filter(|a| !a.is_host()) else {
            let found = name.map_or_else(Compiler::any, Compiler::find)?;
            return match Architecture::host() {
                Some(host) => found.compiling_for(host),
                None => Ok(found),
            };
        };
        let packages = wanted.packages;
        let none = CompilerError::NoCross { machine: wanted.name, packages };
        let known = || KNOWN.iter().copied().filter(|name| name.starts_with("clang"));
        let name = match name {
            Some(name) => name,
            None if locate(wanted.compiler).is_some() => wanted.compiler,
            None => known().find(|name| locate(name).is_some()).ok_or(none)?,
        };
        let mut found = Compiler::find(name).map_err(|e| match e {
            CompilerError::NotFound { asked, found, .. }
                if asked.contains(wanted.triple) || asked.contains(wanted.compiler) =>
            {
                CompilerError::NotFound { asked, found, package: packages.into() }
            }
            other => other,
        })?;
        if found.family == Family::Clang {
            // A program without a system is linked by the other compiler.
            if !Path::new(wanted.root).is_dir() || wanted.bare && locate(wanted.compiler).is_none()
            {
                return Err(CompilerError::NoCross { machine: wanted.name, packages });
            }
            if !found.arguments.iter().any(|word| word.contains("-target")) {
                found.arguments.insert(0, format!("--target={}", wanted.triple));
            }
        }
        // Words that the user has come later, and win.
        found.arguments.splice(0..0, wanted.arguments.iter().map(|word| (*word).to_owned()));
        found.architecture = Some(wanted);
        found.compiling_for(wanted)
    }

    /// Itself, if its objects are for `wanted`: asked by the macros that it defines, since words such as `-m32` change
    /// what it makes and not what it says of itself.
    fn compiling_for(self, wanted: &'static Architecture) -> Result<Compiler, CompilerError> {
        if self.family == Family::Other {
            return Ok(self); // it may know no such question; the prover reads the object's header
        }
        let asked = |arguments: &[String]| {
            let question = ["-dM", "-E", "-x", "c", "/dev/null"];
            Command::new(&self.path).args(arguments).args(question).output()
        };
        let broken =
            |why: String| CompilerError::Broken { path: self.path.display().to_string(), why };
        let mut answer = asked(&self.arguments).map_err(|e| broken(e.to_string()))?;
        if !answer.status.success() {
            let complaint = first_errors(&String::from_utf8_lossy(&answer.stderr)).join("; ");
            // Words for another machine may be all that it does not know.
            let rest: Vec<String> =
                self.arguments[wanted.arguments.len().min(self.arguments.len())..].to_vec();
            answer = asked(&rest).map_err(|e| broken(e.to_string()))?;
            let other = machine(&String::from_utf8_lossy(&answer.stdout)) != wanted.name;
            if wanted.arguments.is_empty() || !answer.status.success() || !other {
                return Err(broken(format!("with {}: {complaint}", self.arguments.join(" "))));
            }
        }
        let macros = String::from_utf8_lossy(&answer.stdout);
        let found = machine(&macros);
        if found == wanted.name {
            return Ok(self);
        }
        let (name, wanted_name) = (self.name, wanted.name);
        let instead = match wanted.is_host() {
            true => "`--cc gcc`, or `--cc clang`, without such words".to_owned(),
            false => format!("`--cc {}`, or any clang", wanted.compiler),
        };
        Err(CompilerError::OtherMachine { name, found, wanted: wanted_name, instead })
    }

    /// Runs the programs that it links behind `runner` from now on.
    pub fn with_runner(mut self, runner: Runner) -> Compiler {
        self.runner = runner;
        self
    }

    /// The machine's compiler: `$CC` where set, else the first of gcc, clang, cc and their
    /// versioned names.
    ///
    /// # Errors
    /// None is installed, or `$CC` names one that is missing.
    pub fn any() -> Result<Compiler, CompilerError> {
        if let Ok(name) = std::env::var("CC")
            && !name.trim().is_empty()
        {
            return Compiler::find(name.trim());
        }
        match KNOWN.iter().find(|name| locate(name).is_some()) {
            Some(name) => Compiler::find(name),
            None => Compiler::find("gcc"),
        }
    }

    /// Compiles `source` to the object `object`.
    ///
    /// # Errors
    /// The compiler cannot be started or fails; the error carries its first complaints.
    pub fn compile(
        &self,
        source: &Path,
        flags: &[String],
        object: &Path,
    ) -> Result<Compilation, CompileError> {
        let mut args: Vec<OsString> = flags.iter().map(OsString::from).collect();
        args.extend(["-c".into(), source.into(), "-o".into(), object.into()]);
        self.run(&args)
    }

    /// Links with `args` as they are: by itself, or where an architecture has no system by that one's own compiler,
    /// which alone has a linker and a library for it.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn link(&self, args: &[OsString]) -> Result<Compilation, CompileError> {
        let bare = self.architecture.filter(|a| a.bare && self.family != Family::Gcc);
        let Some(bare) = bare else { return self.run(args) };
        let own = Compiler::of(Some(bare.compiler), Some(bare)).map_err(|e| CompileError {
            command: bare.compiler.into(),
            status: e.to_string(),
            errors: vec![],
        })?;
        own.run(args)
    }

    /// Runs the compiler with `args` as they are.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub fn run(&self, args: &[OsString]) -> Result<Compilation, CompileError> {
        let own = self.arguments.iter().map(OsString::from);
        let args: Vec<OsString> = own.chain(args.iter().cloned()).collect();
        let command = std::iter::once(self.path.as_os_str())
            .chain(args.iter().map(|a| a.as_os_str()))
            .map(|word| quote(&word.to_string_lossy()))
            .collect::<Vec<_>>()
            .join(" ");
        let mut compiler = Command::new(&self.path);
        // Messages in one language, so that `error:` can be found.
        compiler.args(&args).env("LC_ALL", "C");
        // What an interrupted compiler leaves behind goes with the directory of its output.
        let to =
            args.iter().position(|a| a == "-o").and_then(|i| Path::new(args.get(i + 1)?).parent());
        if let Some(dir) = to.filter(|dir| dir.is_dir()) {
            compiler.env("TMPDIR", dir);
        }
        let output = compiler.output();
        let output = output.map_err(|e| CompileError {
            command: command.clone(),
            status: e.to_string(),
            errors: vec![],
        })?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return Ok(Compilation { command, messages });
        }
        Err(CompileError {
            command,
            status: output.status.to_string(),
            errors: first_errors(&messages),
        })
    }
}

/// At most five lines, those with `error` before others.
fn first_errors(messages: &str) -> Vec<String> {
    let lines = || messages.lines().map(str::trim_end).filter(|l| !l.is_empty());
    let named: Vec<String> =
        lines().filter(|l| l.contains("error")).take(5).map(Into::into).collect();
    if named.is_empty() { lines().take(5).map(Into::into).collect() } else { named }
}

/// The machine for which a compiler defines `macros`, under its architecture's name where it is one of them.
fn machine(macros: &str) -> String {
    let value = |name: &str| {
        let mut words = macros.lines().map(|line| line.split(' ').skip(1));
        words.find_map(|mut line| (line.next() == Some(name)).then(|| line.next().unwrap_or("")))
    };
    let is = |name: &str| value(name).is_some();
    if is("__arm__") {
        let profile = value("__ARM_ARCH_PROFILE").unwrap_or("?").trim_matches('\'');
        // Clang says the letter's number.
        let profile = match profile {
            "77" => "M",
            "65" => "A",
            "82" => "R",
            other => other,
        };
        let level = value("__ARM_ARCH").unwrap_or("?");
        let dsp = profile == "M" && is("__ARM_FEATURE_DSP");
        return match (level, profile, dsp) {
            _ if !is("__thumb__") => format!("Armv{level}-{profile} in Arm state"),
            _ if is("__ARM_PCS_VFP") => {
                format!("Armv{level}-{profile} with arguments in floating-point registers")
            }
            ("7", "M", true) => "armv7e-m".into(),
            _ => format!("Armv{level}-{profile}"),
        };
    }
    let name = match (is("__x86_64__"), is("__aarch64__")) {
        (true, _) => "x86_64",
        (_, true) => "aarch64",
        _ if is("__i386__") => "i386",
        _ => "another machine",
    };
    if is("__LP64__") { name.into() } else { format!("{name} with pointers of 32 bits") }
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn package(name: &str) -> String {
    let base = Path::new(name).file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
    let versioned = |stem: &str| {
        base.strip_prefix(stem).is_some_and(|v| {
            v.strip_prefix('-')
                .is_some_and(|v| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    if versioned("clang") || versioned("gcc") || base == "clang" || base == "tcc" {
        base
    } else if base.starts_with("clang") {
        "clang".into()
    } else {
        "gcc".into()
    }
}

pub(crate) fn locate(name: &str) -> Option<PathBuf> {
    let runnable = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if name.is_empty() {
        return None;
    }
    if name.contains('/') {
        let path = PathBuf::from(name);
        return runnable(&path).then_some(path);
    }
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(name))
        .find(|path| runnable(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_names_found_ones_and_a_package() {
        let error = Compiler::find("clang-99").unwrap_err().to_string();
        assert!(
            error.contains("`clang-99`") && error.contains("apt-get install clang-99"),
            "{error}"
        );
        assert!(error.contains("found: "), "{error}");
        assert!(Compiler::find("/no/such/cc").unwrap_err().to_string().contains("install gcc"));
        assert!(matches!(Compiler::find("/bin/false"), Err(CompilerError::Broken { .. })));
    }

    #[test]
    fn compiles_and_shows_the_first_errors() {
        let cc = Compiler::any().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("a b.c");
        std::fs::write(&source, "int f(void) { return 1; }\n").unwrap();
        let object = dir.path().join("f.o");
        let done = cc.compile(&source, &["-O1".into()], &object).unwrap();
        assert_eq!(done.messages, "");
        assert!(done.command.contains("a b.c'"), "quoted: {}", done.command);
        assert!(std::fs::read(&object).unwrap().starts_with(b"\x7fELF"));

        std::fs::write(&source, "int f(void) { return nothing; }\n").unwrap();
        let error = cc.compile(&source, &[], &object).unwrap_err();
        assert!(error.errors[0].contains("nothing"), "{error}");
        assert!(error.to_string().contains("command: "));
    }

    #[test]
    fn a_path_works_as_a_name() {
        let by_name = Compiler::any().unwrap();
        let by_path = Compiler::find(by_name.path.to_str().unwrap()).unwrap();
        assert_eq!(by_name.version, by_path.version);
        assert_ne!(by_path.family, Family::Other);
    }
}
