//! The machines that code is made for.

use ringforge_emit::Preamble;
use ringforge_program::ir::Program;
use ringforge_program::schedule::Schedule;
use ringforge_toolchain::Host;

use crate::ui::Failure;

/// One target.
#[derive(Debug)]
pub struct Target {
    /// Its name on the command line, in file names and symbols.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Its schedule where none is given.
    schedule: fn() -> Schedule,
    /// Optimisation levels that `bench` measures.
    pub levels: &'static [&'static str],
    /// Program to C.
    emit: fn(&Program, &Preamble) -> Result<String, String>,
    /// Features of the processor that it needs, under the kernel's names.
    pub features: &'static [&'static str],
}

/// All targets, the fastest first.
pub const TARGETS: &[Target] = &[
    Target {
        name: "avx2",
        what: "x86-64 with AVX2, C with intrinsics",
        schedule: Schedule::default,
        levels: &["-O3"],
        emit: |program, preamble| {
            ringforge_emit::avx2::avx2(program, preamble).map_err(|e| e.to_string())
        },
        features: &["avx2"],
    },
    Target {
        name: "c",
        what: "any machine, C99 without intrinsics",
        schedule: Schedule::portable,
        levels: &["-O2", "-O3"],
        emit: |program, preamble| {
            ringforge_emit::c::c(program, preamble).map_err(|e| e.to_string())
        },
        features: &[],
    },
];

impl Target {
    /// The schedule where none is given.
    pub fn schedule(&self) -> Schedule {
        (self.schedule)()
    }

    /// The C source of a program.
    ///
    /// # Errors
    /// The program wants registers that this target does not have.
    pub fn emit(&self, program: &Program, preamble: &Preamble) -> Result<String, Failure> {
        (self.emit)(program, preamble).map_err(Failure::input)
    }

    /// Whether `host` runs its code.
    pub fn runs_on(&self, host: &Host) -> bool {
        self.features.iter().all(|f| host.has(f))
    }
}

/// The target called `name`.
///
/// # Errors
/// There is none; the message lists those there are.
pub fn find(name: &str) -> Result<&'static Target, Failure> {
    TARGETS.iter().find(|t| t.name == name).ok_or_else(|| unknown(name))
}

/// The targets that `name` stands for: one, or every one for `all`.
///
/// # Errors
/// There is none of that name.
pub fn choose(name: &str) -> Result<Vec<&'static Target>, Failure> {
    if name == "all" { Ok(TARGETS.iter().collect()) } else { Ok(vec![find(name)?]) }
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
    Failure::input(format!("no target `{name}`; there are {} and `all`", names.join(", ")))
}
