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
    /// Features of the processor that it needs, under the compilers' names.
    pub features: &'static [&'static str],
    /// Whether `all` means it too; others are forged where they are named.
    pub usual: bool,
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
        usual: true,
    },
    Target {
        name: "sse41",
        what: "x86-64 with SSE4.1, C with intrinsics",
        schedule: Schedule::default,
        levels: &["-O3"],
        emit: |program, preamble| {
            ringforge_emit::sse41::sse41(program, preamble).map_err(|e| e.to_string())
        },
        features: &["sse4.1"],
        usual: false,
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
        usual: true,
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
        // The kernel says `sse4_1` where compilers say `sse4.1`.
        self.features.iter().all(|f| host.has(&f.replace('.', "_")))
    }
}

/// The target called `name`.
///
/// # Errors
/// There is none; the message lists those there are.
pub fn find(name: &str) -> Result<&'static Target, Failure> {
    TARGETS.iter().find(|t| t.name == name).ok_or_else(|| unknown(name))
}

/// The targets that `names` stands for: the usual ones for `all`, or those of a comma-separated
/// list, the fastest first.
///
/// # Errors
/// There is none of that name.
pub fn choose(names: &str) -> Result<Vec<&'static Target>, Failure> {
    if names == "all" {
        return Ok(TARGETS.iter().filter(|t| t.usual).collect());
    }
    let named = names.split(',').map(find).collect::<Result<Vec<_>, _>>()?;
    Ok(TARGETS.iter().filter(|t| named.iter().any(|n| n.name == t.name)).collect())
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
    Failure::input(format!("no target `{name}`; there are {} and `all`", names.join(", ")))
}
