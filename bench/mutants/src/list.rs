//! The mutants that `cargo mutants --list --json` names.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// A place in a file: line and column from 1, columns in characters.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

/// From a place up to another one.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Span {
    /// The first character.
    pub start: Place,
    /// The one after the last.
    pub end: Place,
}

/// The kinds that cargo-mutants 27.1 has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum Genre {
    /// A function's body is a value.
    FnValue,
    /// An operator of two arguments is another one.
    BinaryOperator,
    /// An operator of one argument is left out.
    UnaryOperator,
    /// An arm of a match is left out.
    MatchArm,
    /// The condition of an arm is true, or false.
    MatchArmGuard,
    /// A field of a struct is left to what follows `..`.
    StructField,
    /// Not of cargo-mutants: a refusal is never taken ([`crate::refusals`]).
    Refusal,
}

/// The function that a mutant is in.
#[derive(Clone, Debug, Deserialize)]
pub struct Function {
    /// With its type.
    pub function_name: String,
    /// `-> T`, or nothing.
    pub return_type: String,
}

/// One change.
#[derive(Clone, Debug, Deserialize)]
pub struct Mutant {
    /// The file, from the workspace's directory.
    pub file: String,
    /// None of a constant.
    pub function: Option<Function>,
    /// What kind of change.
    pub genre: Genre,
    /// What stands there instead.
    pub replacement: String,
    /// What is replaced.
    pub span: Span,
}

/// The mutants of a package.
///
/// # Errors
/// If cargo-mutants is not there, or another version.
pub fn mutants(root: &Path, package: &str) -> Result<Vec<Mutant>> {
    let cargo = |args: &[&str]| -> Result<Vec<u8>> {
        let out = Command::new("cargo").arg("mutants").args(args).current_dir(root).output()?;
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        ensure!(
            out.status.success(),
            "cargo mutants: {told}(cargo install cargo-mutants --locked --version 27.1.0)"
        );
        Ok(out.stdout)
    };
    let version = String::from_utf8(cargo(&["--version"])?)?;
    ensure!(
        version.starts_with("cargo-mutants 27.1."),
        "cargo-mutants 27.1 is wanted, not {version}"
    );
    let list = cargo(&["--list", "--json", "-p", package])?;
    serde_json::from_slice(&list).context("the list of cargo-mutants")
}
