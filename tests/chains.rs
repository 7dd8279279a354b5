//! `prove` with a chain: the verdict on the whole, and which file each function is taken from.

mod common;

use common::{Sandbox, run};
use std::process::Command;

const INPUTS: &str = "chain = 1\n[[input]]\nname = \"a\"\nelement = \"i16\"\nrange = [-1664, 1664]\n\
                      [[input]]\nname = \"b\"\nelement = \"i16\"\nrange = [-1664, 1664]\n";

/// Two products, one after the other: what is at the end.
fn chain(computes: &str) -> String {
    let step = |c: &str, a: &str, b: &str| {
        format!(
            "[[step]]\ncontract = \"tiny.toml\"\narguments = {{ c = \"{c}\", a = \"{a}\", b = \"{b}\" }}\n"
        )
    };
    let output =
        format!("[[output]]\nname = \"d\"\ncomputes = \"{computes}\"\nrange = [-1664, 1664]\n");
    format!("{INPUTS}{}{}{output}", step("c", "a", "b"), step("d", "c", "b"))
}

/// The example of the README, its contract and a chain of it.
fn sandbox() -> (Sandbox, String) {
    let dir = Sandbox::new();
    dir.file("tiny.toml", include_str!("../docs/examples/tiny.toml"));
    dir.file("chain.toml", &chain("a * b * b"));
    let object = dir.compile("tiny.o", include_str!("../docs/examples/tiny.c"));
    (dir, object)
}

#[test]
fn the_whole_is_proved_where_each_function_is() {
    let (dir, object) = sandbox();
    let prove = ["--json", "prove", &object, "--contract", "chain.toml"];
    let proved = dir.ringforge(&prove).succeeds().json();
    assert_eq!(proved["verdict"], "proved");
    assert_eq!(proved["functions"].as_array().map(Vec::len), Some(1), "one contract, proved once");
    let said = proved["claims"].to_string();
    assert!(said.contains("d at the end = a * b * b"), "{said}");

    let lazy = format!("#define LAZY 1\n{}", include_str!("../docs/examples/tiny.c"));
    let lazy = dir.compile("lazy.o", &lazy);
    let refuted = dir.ringforge(&["--json", "prove", &lazy, "--contract", "chain.toml"]);
    assert_eq!((refuted.status, &refuted.json()["verdict"]), (1, &"refuted".into()));

    dir.file("chain.toml", &chain("a * b"));
    dir.ringforge(&prove).fails(2, &["does not fit", "is a * b * b, not a * b"]);
}

#[test]
fn each_function_is_taken_from_the_one_file_that_defines_it() {
    let (dir, object) = sandbox();
    let other = dir.compile("other.o", "int other(void) { return 1; }");
    let prove = |files: &[&str]| {
        dir.ringforge(&[&["prove"], files, &["--contract", "chain.toml"]].concat())
    };
    prove(&[&other, &object]).succeeds();
    prove(&[&other]).fails(2, &["none of these objects defines `tiny_mul`"]);
    std::fs::copy(dir.path().join(&object), dir.path().join("again.o")).expect("a copy");
    prove(&[&object, "again.o"]).fails(2, &["is defined by `tiny.o` and by `again.o`"]);

    run(Command::new("ar").args(["rcs", "both.a", &object, &other]).current_dir(dir.path()));
    let taken = prove(&["both.a"]).succeeds();
    assert!(taken.stdout.contains("both.a(tiny.o): tiny_mul is proved"), "{taken:?}");
    prove(&["both.a", &other]).fails(2, &["`both.a` is an archive: give it alone"]);

    for option in [["--symbol", "tiny_mul"], ["--certificate", "x.gz"]] {
        let words = [&["prove", &object, "--contract", "chain.toml"][..], &option].concat();
        dir.ringforge(&words).fails(2, &[option[0], "a chain of several"]);
    }
}
