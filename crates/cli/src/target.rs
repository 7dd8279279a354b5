//! The machines that code is made for.

use std::ops::Deref;

use ringforge_emit::Preamble;
use ringforge_program::ir::Program;
use ringforge_program::schedule::Schedule;
use ringforge_target::Target as Machine;
use ringforge_toolchain::Host;

use crate::ui::Failure;

/// One target: its description, and what writes code for it.
#[derive(Debug)]
pub struct Target {
    /// The description.
    pub machine: &'static Machine,
    /// Program to C.
    emit: fn(&Program, &Preamble) -> Result<String, String>,
}

impl Deref for Target {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        self.machine
    }
}

/// All targets, the fastest first.
pub const TARGETS: &[Target] = &[
    Target {
        machine: &ringforge_target::AVX2,
        emit: |program, preamble| {
            ringforge_emit::avx2::avx2(program, preamble).map_err(|e| e.to_string())
        },
    },
    Target {
        machine: &ringforge_target::SSE41,
        emit: |program, preamble| {
            ringforge_emit::sse41::sse41(program, preamble).map_err(|e| e.to_string())
        },
    },
    Target {
        machine: &ringforge_target::C,
        emit: |program, preamble| {
            ringforge_emit::c::c(program, preamble).map_err(|e| e.to_string())
        },
    },
];

impl Target {
    /// The schedule where none is given.
    pub fn schedule(&self) -> Schedule {
        Schedule::of(self.machine)
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

/// The fastest of the targets that `names` stands for: plans of several are ordered by its model.
///
/// # Errors
/// As [`choose`].
pub fn fastest(names: &str) -> Result<&'static Target, Failure> {
    choose(names)?.first().copied().ok_or_else(|| unknown(names))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
    Failure::input(format!("no target `{name}`; there are {} and `all`", names.join(", ")))
}
