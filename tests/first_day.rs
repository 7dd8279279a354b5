//! A new user's first day, away from the repository: the tool and the KEMs as packages, as a registry would hand them out;
//! a program that links a KEM, a ring of one's own, an object that somebody else wrote.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::run;

/// Everything together, on two cores.
const LIMIT: Duration = Duration::from_secs(15 * 60);

const CARGO: &str = env!("CARGO");

/// What a program of a user's does: both multiply, and both agree on the product of two polynomials.
const OWN: &str = r#"
#include <stdio.h>
#include "own.h"
int main(void) {
    int16_t a[48] = {0}, b[48] = {0}, c[48];
    a[47] = 3; b[1] = 5; /* 15 x^48 = 15 x + 15 */
    own_mul(c, a, b);
    printf("%d %d %d\n", c[0], c[1], c[2]);
    return 0;
}
"#;

/// Lines of a step, with its time.
fn step<T>(what: &str, from: Instant, done: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = done();
    let (took, all) = (start.elapsed().as_secs(), from.elapsed().as_secs());
    println!("{took:4} s, {all:4} s in all: {what}");
    result
}

/// The workspace's packages, unpacked, by their names.
fn packages(repository: &Path, place: &Path) -> Vec<(String, PathBuf)> {
    let target = place.join("target");
    let mut package = Command::new(CARGO);
    package.args(["package", "--quiet", "--workspace", "--no-verify", "--allow-dirty"]);
    run(package.arg("--target-dir").arg(&target).current_dir(repository));
    let archives = std::fs::read_dir(target.join("package")).expect("packages").flatten();
    let archives = archives.map(|entry| entry.path());
    let mut found = Vec::new();
    for archive in archives.filter(|path| path.extension().is_some_and(|e| e == "crate")) {
        run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(place));
        let name = archive.file_stem().expect("a name").to_string_lossy().into_owned();
        let stem = name.rsplit_once('-').expect("a version").0.to_owned();
        found.push((stem, place.join(&name)));
    }
    found.sort();
    found
}

#[test]
#[ignore = "by its own command: CONTRIBUTING.md"]
fn by_hand_from_packages_to_a_kem_a_ring_and_an_object() {
    let from = Instant::now();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = tempfile::tempdir().expect("a directory");
    let home = dir.path();
    let packages = step("the packages", from, || packages(&repository, home));
    let package = |name: &str| {
        let found = packages.iter().find(|(stem, _)| stem == name);
        &found.unwrap_or_else(|| panic!("no package {name} in {packages:?}")).1
    };

    step("cargo install ringforge", from, || {
        let mut install = Command::new(CARGO);
        install.args(["install", "--quiet", "--locked", "--root", "installed"]);
        install.arg("--path").arg(package("ringforge")).current_dir(home);
        install.arg("--target-dir").arg(home.join("target"));
        // As ringforge's README says; and the other packages come from here, where no registry has them yet.
        install.args(["--config", "profile.release.package.ringforge-kernel.overflow-checks=true"]);
        for (name, path) in packages.iter().filter(|(name, _)| name != "ringforge") {
            install.args(["--config", &format!("patch.crates-io.{name}.path={path:?}")]);
        }
        run(&mut install)
    });
    let ringforge = |arguments: &[&str]| {
        let mut command = Command::new(home.join("installed/bin/ringforge"));
        // What was remembered on this machine is not the new user's.
        command.current_dir(home).env("RINGFORGE_WISDOM", "").args(arguments);
        run(&mut command)
    };

    step("a KEM in Rust", from, || {
        let cargo = |arguments: &[&str], at: &Path| {
            run(Command::new(CARGO)
                .args(arguments)
                .current_dir(at)
                .env("CARGO_TARGET_DIR", home.join("target")))
        };
        cargo(&["new", "--quiet", "exchange"], home);
        let exchange = home.join("exchange");
        let kem = package("ringforge-kem").display().to_string();
        cargo(&["add", "--quiet", "--path", &kem], &exchange);
        let readme = std::fs::read_to_string(repository.join("README.md")).expect("README.md");
        let after = readme.split("```rust\n").nth(1).expect("Rust in README.md");
        let (uses, body): (Vec<&str>, Vec<&str>) =
            after.split("```").next().unwrap_or("").lines().partition(|l| l.starts_with("use "));
        let main = format!(
            "{}\nfn main() {{\n{}\nprintln!(\"one session key\");\n}}\n",
            uses.join("\n"),
            body.join("\n")
        );
        std::fs::write(exchange.join("src/main.rs"), main).expect("a program");
        assert_eq!(cargo(&["run", "--quiet"], &exchange), "one session key\n");
    });

    step("a KEM in C", from, || {
        ringforge(&["package", "sntrup761", "--out", "kem"]);
        run(Command::new("make").args(["-j2", "-C"]).arg(home.join("kem")).arg("check"))
    });

    step("a ring of one's own", from, || {
        let ring = "Z7681[x]/(x^48 - x - 1)";
        let said = ringforge(&["forge", ring, "--name", "own", "--out", "own"]);
        assert!(said.contains("proved"), "{said}");
        std::fs::write(home.join("own/main.c"), OWN).expect("a program");
        let sources = std::fs::read_dir(home.join("own")).expect("the package").flatten();
        let sources = sources.map(|entry| entry.path());
        let program = home.join("program");
        run(Command::new("gcc")
            .args(sources.filter(|path| path.extension().is_some_and(|e| e == "c")))
            .arg("-O2")
            .arg("-o")
            .arg(&program));
        assert_eq!(run(&mut Command::new(&program)), "15 15 0\n");
    });

    step("an object that somebody else wrote", from, || {
        for name in ["tiny.c", "tiny.toml"] {
            std::fs::copy(repository.join("docs/examples").join(name), home.join(name))
                .expect(name);
        }
        run(Command::new("gcc").args(["-O2", "-c", "tiny.c"]).current_dir(home));
        let said = ringforge(&["prove", "tiny.o", "--contract", "tiny.toml"]);
        assert!(said.contains("tiny_mul is proved"), "{said}");
    });
    assert!(from.elapsed() < LIMIT, "it takes {} s", from.elapsed().as_secs());
}
