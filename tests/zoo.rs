//! Functions that others wrote: `docs/results/zoo.md`, `contracts/zoo/` and `bench/zoo` agree, and what the
//! page calls proved is proved.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The page's rows: contract and verdict.
fn rows(page: &str) -> Vec<(String, String)> {
    let row = |line: &str| {
        let (name, rest) = line.strip_prefix("| [")?.split_once(']')?;
        let verdict = rest.trim_end_matches(" |").rsplit("| ").next()?;
        Some((name.to_string(), verdict.to_string()))
    };
    page.lines().filter_map(row).collect()
}

#[test]
fn the_page_the_contracts_and_the_list_of_objects_agree() {
    let list: toml::Value = toml::from_str(&read("contracts/zoo/objects.toml")).unwrap();
    let functions = list["function"].as_array().unwrap();
    let names: BTreeSet<String> =
        functions.iter().map(|f| f["name"].as_str().unwrap().to_string()).collect();
    assert_eq!(names.len(), functions.len(), "a name stands there twice");
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("contracts/zoo")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        files.extend(name.strip_suffix(".toml").map(str::to_string));
    }
    files.remove("objects");
    assert_eq!(names, files);
    let page = rows(&read("docs/results/zoo.md"));
    assert_eq!(page.iter().map(|r| r.0.clone()).collect::<BTreeSet<_>>(), names);
    let proved = page.iter().filter(|r| r.1 == "proved").count();
    assert!(names.len() >= 110 && proved >= 100, "{proved} of {} proved", names.len());
    let sections = read("docs/results/zoo.md");
    let libraries = list["library"].as_array().unwrap();
    for library in libraries {
        let name = library["name"].as_str().unwrap();
        assert!(sections.contains(&format!("\n## {name}\n")), "no section {name}");
    }
    assert_eq!(sections.matches("\n**Missing**: ").count(), libraries.len());
    let twins = list["twin"].as_array().unwrap();
    assert!(twins.len() >= 10 && sections.contains(&format!(" {} contracts were", twins.len())));
    for twin in twins {
        let (of, from) = (twin["of"].as_str().unwrap(), twin["from"].as_str().unwrap());
        let contract = read(&format!("contracts/zoo/{of}.toml"));
        assert!(names.contains(of) && contract.contains(from), "{of}: {from}");
    }
    for f in functions {
        if let Some(shim) = f.get("shim") {
            read(&format!("bench/zoo/shims/{}", shim.as_str().unwrap()));
        }
    }
}

/// Run by hand when the prover or the page changes:
/// `cargo test --release --package ringforge --test zoo -- --ignored`. No run of `RINGFORGE_LONG=1` has it,
/// since it compiles other people's crates, which it takes from the network, and its proofs alone want more
/// than five minutes (three of saber's).
#[test]
#[ignore = "by hand: cargo test --release --package ringforge --test zoo -- --ignored"]
fn by_hand_what_the_page_calls_proved_is_proved() {
    let scratch = common::Sandbox::new();
    let (page, objects) = (root().join("docs/results/zoo.md"), scratch.path().join("objects"));
    let mut zoo = Command::new(env!("CARGO"));
    zoo.args(["run", "--quiet", "--release", "--package", "zoo", "--manifest-path"]);
    zoo.arg(root().join("bench/Cargo.toml")).arg("--");
    zoo.args(["--ringforge", env!("CARGO_BIN_EXE_ringforge")]);
    zoo.arg("--objects").arg(&objects).arg("--expect").arg(&page);
    // Flags and coverage of this workspace are not the crates' own.
    zoo.env_remove("RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
    let output = zoo.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("proved"), "{said}");
}
