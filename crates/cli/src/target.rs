//! The machines that code is made for.

use std::ops::Deref;

use ringforge_emit::Preamble;
use ringforge_program::ir::Program;
use ringforge_program::schedule::Schedule;
use ringforge_targets::{Architecture, Target as Machine};
use ringforge_toolchain::{Compiler, Host, Runner};

use crate::ui::{self, Failure};

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
        machine: &ringforge_targets::AVX512,
        emit: |program, preamble| {
            ringforge_emit::avx512::avx512(program, preamble).map_err(|e| e.to_string())
        },
    },
    Target {
        machine: &ringforge_targets::AVX2,
        emit: |program, preamble| {
            ringforge_emit::avx2::avx2(program, preamble).map_err(|e| e.to_string())
        },
    },
    Target {
        machine: &ringforge_targets::SSE41,
        emit: |program, preamble| {
            ringforge_emit::sse41::sse41(program, preamble).map_err(|e| e.to_string())
        },
    },
    Target {
        machine: &ringforge_targets::NEON,
        emit: |program, preamble| {
            ringforge_emit::neon::neon(program, preamble).map_err(|e| e.to_string())
        },
    },
    Target {
        machine: &ringforge_targets::M4,
        emit: |program, preamble| {
            ringforge_emit::m4::m4(program, preamble).map_err(|e| e.to_string())
        },
    },
    Target {
        machine: &ringforge_targets::C,
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
        let text = match program.loops {
            true => {
                ringforge_emit::c::loops(program, preamble, self.name).map_err(|e| e.to_string())
            }
            false => (self.emit)(program, preamble),
        };
        text.map_err(Failure::input)
    }

    /// Whether `host` runs its code.
    pub fn runs_on(&self, host: &Host) -> bool {
        // The kernel says `sse4_1` and `avx512_vnni` where compilers say `sse4.1` and `avx512vnni`.
        let plain = |name: &str| name.replace(['.', '_'], "");
        let has = |feature: &&str| host.features.iter().any(|f| plain(f) == plain(feature));
        self.architecture.is_none_or(Architecture::is_host) && self.features.iter().all(has)
    }
}

/// The target called `name`.
///
/// # Errors
/// There is none; the message lists those there are.
pub fn find(name: &str) -> Result<&'static Target, Failure> {
    TARGETS.iter().find(|t| t.name == name).ok_or_else(|| unknown(name))
}

/// The targets that `names` lists, the fastest first: the host's usual ones for `all`, or those of
/// a comma-separated list.
///
/// # Errors
/// There is none of that name.
pub fn choose(names: &str) -> Result<Vec<&'static Target>, Failure> {
    if names == "all" {
        let here = |t: &&Target| t.architecture.is_none_or(Architecture::is_host);
        return Ok(TARGETS.iter().filter(|t| t.usual).filter(here).collect());
    }
    let named = names.split(',').map(find).collect::<Result<Vec<_>, _>>()?;
    Ok(TARGETS.iter().filter(|t| named.iter().any(|n| n.name == t.name)).collect())
}

/// The fastest of the targets that `names` lists. Plans for several are ordered by its model.
///
/// # Errors
/// As [`choose`].
pub fn fastest(names: &str) -> Result<&'static Target, Failure> {
    choose(names)?.first().copied().ok_or_else(|| unknown(names))
}

/// The compiler for some targets, with a runner for what it compiles. The compiler is the one asked
/// for, or one that is found. The runner is the one asked for, or what the architecture needs here.
///
/// # Errors
/// The targets are for several architectures, or something is not installed: the message says what would
/// bring it.
pub fn compiler(
    targets: &[&Target],
    name: Option<&str>,
    runner: Option<&str>,
) -> Result<Compiler, Failure> {
    let mut wanted: Option<(&Target, &'static Architecture)> = None;
    for target in targets {
        match (wanted, target.architecture) {
            (Some((other, known)), Some(own)) if known.name != own.name => {
                return Err(Failure::input(format!(
                    "one object cannot hold `{other}` for {} and `{target}` for {}: forge them apart",
                    known.name,
                    own.name,
                    other = other.name,
                    target = target.name,
                )));
            }
            (None, Some(own)) => wanted = Some((target, own)),
            _ => {}
        }
    }
    compiler_for(wanted.map(|(_, a)| a), name, runner)
}

/// The same for an architecture; none is the host's.
///
/// # Errors
/// Something is not installed.
pub fn compiler_for(
    architecture: Option<&'static Architecture>,
    name: Option<&str>,
    runner: Option<&str>,
) -> Result<Compiler, Failure> {
    let found = Compiler::of(name, architecture).map_err(|e| Failure::input(e.to_string()))?;
    let runner = Runner::of(runner, architecture).map_err(|e| Failure::input(e.to_string()))?;
    Ok(found.with_runner(runner))
}

/// Whether programs for `target` run on this machine, in words.
pub fn here(target: &Target, host: &Host) -> &'static str {
    let other = target.architecture.filter(|a| !a.is_host());
    match other.map(|_| compiler(&[target], None, None)) {
        None if target.runs_on(host) => "yes",
        None => "no",
        Some(Ok(_)) => "emulated",
        Some(Err(_)) => "no, for want of tools",
    }
}

/// Whether what `compiler` makes for `target` can be timed: an emulator's time says nothing.
pub fn is_timed(target: &Target, compiler: &Compiler, host: &Host) -> bool {
    match compiler.runner.is_native() {
        true => target.runs_on(host),
        false => !compiler.runner.is_emulator(),
    }
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = TARGETS.iter().map(|t| t.name).chain(["all"]).collect();
    Failure::input(ui::unknown("target", name, &names))
}
