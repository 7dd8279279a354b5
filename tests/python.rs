//! The Python package in `python/`: its own tests, against the command that was just built.

use ringforge_testing::{needs, program};
use std::path::Path;
use std::process::Command;

#[test]
fn the_packages_own_tests_pass() {
    needs!("python3");
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let out = Command::new(program("python3").expect("the test asks whether it is here"))
        .args(["-m", "unittest", "discover", "--verbose", "--start-directory"])
        .arg(package.join("tests"))
        .env("PYTHONPATH", package.join("src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("RINGFORGE", env!("CARGO_BIN_EXE_ringforge"))
        .output()
        .expect("python3");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    // Passed by name: a file that is no longer found fails here.
    let passed = said.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(passed >= 9, "{passed} passed: {said}");
}
