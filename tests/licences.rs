//! Publishing: every source says its licence, every crate that is published says who made it and where it is explained,
//! and Debian's packages are built from a plain checkout.

mod common;

use common::run;
use ringforge_testing::needs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of the repository below a folder; links and what is built are left out.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_symlink()
            || ["target", ".git", "build", "out", "__pycache__"].contains(&name.as_str())
        {
            continue;
        }
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// A source in C, assembly, Python, JavaScript or a shell's language.
fn is_source(path: &Path, text: &str) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let known = ["c", "h", "inc", "S", "s", "sh", "py", "mjs"];
    text.starts_with("#!/") || known.contains(&extension.as_str())
}

#[test]
fn every_source_says_its_licence() {
    let mut all = Vec::new();
    files(&root(), &mut all);
    let mut sources = 0;
    for path in all {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if !is_source(&path, &text) {
            continue;
        }
        sources += 1;
        let said = text.lines().find_map(|l| Some(l.split_once("SPDX-License-Identifier: ")?.1));
        let said = said.map(|l| l.trim_end_matches(" */"));
        // What is generated, and what users build or link, can be had under more licences.
        let theirs = ["lib", "crates/cli/src/library/places"];
        let wanted = match theirs.iter().any(|folder| path.starts_with(root().join(folder))) {
            true => "Apache-2.0 OR MIT OR ISC OR CC0-1.0",
            false => "Apache-2.0 OR MIT",
        };
        assert_eq!(said, Some(wanted), "{}: its licence", path.display());
    }
    assert!(sources > 300, "{sources}");
}

/// `cargo package` warns of a crate without a page; registries show who made it and under which words it is found.
#[test]
fn published_crates_say_who_made_them() {
    let out = run(Command::new("cargo").current_dir(root()).args([
        "metadata",
        "--format-version=1",
        "--no-deps",
        "--offline",
    ]));
    let metadata: serde_json::Value = serde_json::from_str(&out).unwrap();
    let mut published = 0;
    for package in metadata["packages"].as_array().unwrap() {
        if package["publish"].as_array().is_some_and(Vec::is_empty) {
            continue;
        }
        published += 1;
        let name = package["name"].as_str().unwrap();
        assert_eq!(package["license"], "Apache-2.0 OR MIT", "{name}");
        assert_eq!(package["documentation"], format!("https://docs.rs/{name}"), "{name}");
        assert!(!package["description"].as_str().unwrap().is_empty(), "{name}");
        for key in ["authors", "keywords", "categories"] {
            assert!(!package[key].as_array().unwrap().is_empty(), "{name} has no {key}");
        }
    }
    assert!(published > 10, "{published}");
}

#[test]
#[ignore = "in the long run"]
fn debian_packages_are_built() {
    needs!("make", "dpkg-buildpackage", "dh");
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("ringforge");
    let mut all = Vec::new();
    files(&root(), &mut all);
    for path in all {
        let to = source.join(path.strip_prefix(root()).unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(&path, to).unwrap();
    }
    run(Command::new("dpkg-buildpackage")
        .current_dir(&source)
        .args(["-us", "-uc"])
        .env("DEB_BUILD_OPTIONS", "nocheck parallel=2")
        .env("DEB_CFLAGS_APPEND", "-O1"));
    let clean = dir.path().join("root");
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "deb") {
            run(Command::new("dpkg-deb").arg("-x").args([&path, &clean]));
        }
    }
    // A program that is compiled with what the packages hold, and nothing else of ours.
    let mut installed = Vec::new();
    files(&clean, &mut installed);
    let at = |name: &str| {
        installed.iter().find(|p| p.ends_with(name)).unwrap_or_else(|| panic!("no {name}"))
    };
    at("libringforge0/copyright");
    at("ringforge-config.cmake");
    at("ringforge.pc");
    let (headers, archive) = (at("ringforge_kem.h").parent().unwrap(), at("libringforge.a"));
    let program = dir.path().join("exchange");
    run(Command::new(ringforge_testing::cc())
        .arg("-I")
        .arg(headers)
        .arg(root().join("lib/examples/exchange.c"))
        .arg(archive)
        .arg("-o")
        .arg(&program));
    assert_eq!(run(&mut Command::new(&program)), "one session key\n");
}
