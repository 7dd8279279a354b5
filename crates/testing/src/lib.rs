//! The optional tools of the tests. Each test asks here for the tools it uses. If a tool is
//! missing, the test, or the part that needs the tool, is skipped. The skip is recorded with the
//! test's name and the Debian package to install.
//!
//! This crate also decides which share of its work a test does every day.
//!
//! * `RINGFORGE_SKIPPED=FILE`: records go to this file, one a line, as `./test` reads them;
//!   otherwise to standard error.
//! * `RINGFORGE_CI`: every test must be whole, so a missing tool is a failure.

mod long;
mod parallel;

pub use long::{long, share};
pub use parallel::in_parallel;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

/// One line of tools.txt.
struct Tool {
    name: &'static str,
    /// One of them is enough.
    places: Vec<&'static str>,
    packages: &'static str,
}

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let lines = include_str!("../tools.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| match line.split('|').map(str::trim).collect::<Vec<_>>()[..] {
            [name, places, packages] => {
                Tool { name, places: places.split(' ').collect(), packages }
            }
            _ => panic!("tools.txt: `{line}` is not a name, places and packages"),
        })
        .collect()
});

fn tool(name: &str) -> &'static Tool {
    let known = || TOOLS.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
    TOOLS
        .iter()
        .find(|t| t.name == name)
        .unwrap_or_else(|| panic!("tools.txt does not have `{name}`; it has {}", known()))
}

/// The first place of a tool where something is, and what is there: a program of the `PATH`, or of the `sbin` beside one
/// of its directories, or a file.
fn found(tool: &Tool) -> Option<(&'static str, PathBuf)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> =
        std::env::split_paths(&path).flat_map(|d| [d.clone(), d.with_file_name("sbin")]).collect();
    tool.places.iter().find_map(|&place| match place.starts_with('/') {
        true => Path::new(place).exists().then(|| (place, place.into())),
        false => {
            let file = directories.iter().map(|d| d.join(place)).find(|file| file.is_file())?;
            Some((place, file))
        }
    })
}

/// Whether all these tools are here. A missing one is recorded as skipped in the running test.
///
/// # Panics
/// Where `RINGFORGE_CI` is set, and where tools.txt does not have the tool.
#[track_caller]
pub fn has(names: &[&str]) -> bool {
    let missing: Vec<&Tool> =
        names.iter().map(|n| tool(n)).filter(|t| found(t).is_none()).collect();
    missing.iter().for_each(|tool| skip(tool));
    missing.is_empty()
}

/// Ends the test where a tool is missing, as [`has`] records.
#[macro_export]
macro_rules! needs {
    ($($name:expr),+) => {
        if !$crate::has(&[$($name),+]) {
            return;
        }
    };
}

/// The name under which a tool is called, or its file with its whole path where it is not on the `PATH`. A missing one is
/// recorded as by [`has`].
///
/// # Panics
/// As [`has`].
#[track_caller]
pub fn program(name: &str) -> Option<&'static str> {
    let (place, file) = found(tool(name)).or_else(|| {
        skip(tool(name));
        None
    })?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let plain = std::env::split_paths(&path).any(|d| file.parent() == Some(&*d));
    Some(if plain { place } else { file.into_os_string().into_string().ok()?.leak() })
}

/// The whole path of a tool's file, for programs that start themselves again. A missing one is recorded as by [`has`].
///
/// # Panics
/// As [`has`].
#[track_caller]
pub fn path(name: &str) -> Option<PathBuf> {
    let found = found(tool(name));
    if found.is_none() {
        skip(tool(name));
    }
    Some(found?.1)
}

/// gcc, or where it is not here clang: for tests that any C compiler serves.
///
/// # Panics
/// Where neither is here.
pub fn cc() -> &'static str {
    let names = ["gcc", "clang"].map(|name| found(tool(name)).map(|(place, _)| place));
    names.into_iter().flatten().next().expect("no C compiler; on Debian: apt-get install gcc")
}

/// gcc and clang. One of them may be missing, which is recorded as by [`has`].
///
/// # Panics
/// As [`has`], and where neither is here.
#[track_caller]
pub fn compilers() -> Vec<&'static str> {
    cc();
    [program("gcc"), program("clang")].into_iter().flatten().collect()
}

/// The compilers whose programs for AArch64 run here, each with its flags; clang's are linked by gcc's tools. What is
/// missing is recorded as by [`has`].
///
/// # Panics
/// As [`has`].
#[track_caller]
pub fn aarch64() -> Vec<(&'static str, &'static [&'static str])> {
    let gcc = ("aarch64-linux-gnu-gcc", &[][..]);
    cross([gcc.0, "qemu-aarch64"], gcc, &["--target=aarch64-linux-gnu"])
}

/// The same for Cortex-M4.
///
/// # Panics
/// As [`has`].
#[track_caller]
pub fn cortex_m4() -> Vec<(&'static str, &'static [&'static str])> {
    let gcc = ("arm-none-eabi-gcc", &["-mcpu=cortex-m4", "-mthumb"][..]);
    let flags = &["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4", "-ffreestanding"];
    cross([gcc.0, "qemu-arm"], gcc, flags)
}

#[track_caller]
fn cross(
    needs: [&str; 2],
    gcc: (&'static str, &'static [&'static str]),
    flags: &'static [&'static str],
) -> Vec<(&'static str, &'static [&'static str])> {
    if !has(&needs) {
        return Vec::new();
    }
    [Some(gcc), program("clang").map(|clang| (clang, flags))].into_iter().flatten().collect()
}

/// The running test, as cargo selects it: package, test binary, function.
#[track_caller]
fn test() -> String {
    let binary = std::env::current_exe().ok();
    let binary = binary.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let binary = binary.rsplit_once('-').map_or(&*binary, |(name, _)| name);
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let thread = std::thread::current();
    // A thread of the test's own, or the only one, does not have the test's name.
    let test = match thread.name() {
        Some(name) if name != "main" => name.to_owned(),
        _ => std::panic::Location::caller().to_string(),
    };
    format!("{package} {binary} {test}").trim_start().to_owned()
}

#[track_caller]
fn skip(tool: &Tool) {
    static SAID: Mutex<BTreeSet<(String, &str)>> = Mutex::new(BTreeSet::new());
    let test = test();
    let Tool { name, packages, .. } = tool;
    let ci = std::env::var_os("RINGFORGE_CI").is_some();
    assert!(!ci, "{test} needs {name}; on Debian: apt-get install {packages}");
    let first = SAID.lock().expect("nobody panics with it").insert((test.clone(), name));
    if !first {
        return;
    }
    match std::env::var_os("RINGFORGE_SKIPPED") {
        Some(file) => {
            // One write, so that lines of several processes do not mix.
            let line = format!("{test}\t{name}\t{packages}\n");
            let open = std::fs::OpenOptions::new().create(true).append(true).open(&file);
            let done = open.and_then(|mut file| file.write_all(line.as_bytes()));
            done.unwrap_or_else(|e| panic!("RINGFORGE_SKIPPED={}: {e}", file.display()));
        }
        // Not by a macro, which the test's harness would swallow.
        None => {
            let line = format!("skipped in {test}: no {name} (Debian: {packages})\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }
}
