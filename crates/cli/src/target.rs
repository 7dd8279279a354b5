//! The machines that code is made for.

use ringforge_toolchain::Host;

use crate::ui::Failure;

/// One target.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name on the command line, in file names and symbols.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Compiler flags that allow its instructions.
    pub flags: &'static [&'static str],
    /// Features of the processor that it needs, under the kernel's names.
    pub features: &'static [&'static str],
}

/// All targets, the fastest first.
pub const TARGETS: &[Target] = &[
    Target {
        name: "avx2",
        what: "x86-64 with AVX2, C with intrinsics",
        flags: &["-mavx2"],
        features: &["avx2"],
    },
    Target { name: "c", what: "any machine, C99 without intrinsics", flags: &[], features: &[] },
];

impl Target {
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
