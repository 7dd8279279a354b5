//! `prove --contracts`: every contract of a directory against one object, and the library's targets `prove`, which
//! prove what the user's compiler and flags made.

mod common;

use common::Sandbox;
use ringforge_testing::{long, needs, program, share};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HALVE: &str = "#include <stdint.h>\n\
    void halve(uint8_t *r, const uint8_t *a) { for (int i = 0; i < 4; i++) r[i] = a[i] >> 1; }\n\
    int first(const uint8_t *a) { return a[0] ? 1 : a[1] / 3 + a[a[2] & 3]; }\n";

fn contract(abi: &str, symbol: &str, arguments: &str) -> String {
    format!(
        "contract = 1\nabi = \"{abi}\"\nclaims = \"constant-time\"\n\n[[function]]\nsymbol = \"{symbol}\"\nstack = 64\n\
         arguments = [{arguments}]\n"
    )
}

const TWO: &str = r#"{ name = "r", role = "output", element = "u8", length = 4 }, { name = "a", role = "input", element = "u8", length = 4 }"#;
const ONE: &str = r#"{ name = "a", role = "input", element = "u8", length = 4 }"#;

#[test]
fn a_directory_of_contracts_is_one_table() {
    let dir = Sandbox::new();
    let object = dir.compile("halve.o", HALVE);
    for folder in ["good", "bad", "empty", "elsewhere"] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
    }
    dir.file("good/halve.toml", &contract("sysv-x86-64", "halve", TWO));
    dir.file("good/none.toml", &contract("sysv-x86-64", "third", ONE));
    dir.file("good/arm.toml", &contract("aapcs64", "halve", TWO));
    dir.file("good/README", "not a contract");
    dir.file("bad/first.toml", &contract("sysv-x86-64", "first", ONE));
    dir.file("elsewhere/none.toml", &contract("sysv-x86-64", "third", ONE));

    let said = dir.ringforge(&["prove", &object, "--contracts", "good"]).succeeds().stdout;
    assert!(said.contains("halve.o: 1 of 1 proved"), "{said}");
    assert!(said.contains("not in the object: third"), "{said}");
    assert!(said.contains("1 contract is for another processor"), "{said}");
    let both = ["--json", "prove", &object, "--contracts", "good", "--contracts", "bad"];
    let run = dir.ringforge(&both);
    assert_eq!(run.status, 1, "{run:?}");
    let found = run.json();
    assert_eq!(found["verdict"], "refuted");
    let verdicts: Vec<&str> = found["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["proved", "refuted"]);
    assert!(!found["functions"][1]["reasons"].as_array().unwrap().is_empty(), "{found:#}");
    assert_eq!(found["left_out"]["not_defined"][0], "third");

    dir.ringforge(&["prove", &object, "--contracts", "empty"])
        .fails(2, &["no contract in `empty`"]);
    dir.ringforge(&["prove", &object, "--contracts", "elsewhere"])
        .fails(2, &["defines no function that a contract"]);
    let archive =
        Command::new("ar").args(["rcs", "all.a", &object]).current_dir(dir.path()).status();
    assert!(archive.unwrap().success());
    // Of an archive, the member that defines a function.
    let said = dir.ringforge(&["prove", "all.a", "--contracts", "good"]).succeeds().stdout;
    assert!(said.contains("all.a: 1 of 1 proved"), "{said}");
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

/// What Debian compiles its packages with.
const DEBIAN: &str = "CFLAGS=-g -O2 -fstack-protector-strong -Wformat -Werror=format-security";
const DEBIAN_CPP: &str = "CPPFLAGS=-Wdate-time -D_FORTIFY_SOURCE=2";

fn make(target: &str, build: &Path, cc: &str, more: &[&str]) -> Output {
    let mut command = Command::new("make");
    command.arg("-C").arg(library()).args(["-j2", target, DEBIAN, DEBIAN_CPP]);
    command.arg(format!("BUILD={}", build.display())).arg(format!("CC={cc}"));
    command.arg(format!("RINGFORGE={}", env!("CARGO_BIN_EXE_ringforge")));
    command.args(more).output().unwrap()
}

/// Everything of one KEM, as gcc and as clang make it with Debian's flags; another prefix and compiler compile it again.
#[test]
fn make_proves_the_library_as_it_is_built() {
    needs!("make");
    let dir = tempfile::tempdir().unwrap();
    for (cc, prefix) in share(&[("gcc", "ringforge_"), ("clang", "my_")], &[0]) {
        let Some(cc) = program(cc) else { continue };
        let prefixed = format!("SYMBOLS={prefix}");
        let out = make("prove", dir.path(), cc, &["KEMS=mlkem512", &prefixed]);
        let said = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
        for function in
            ["crypto_kem_mlkem512_dec", "crypto_kem_mlkem512_keypair_derand", "mlkem_mul_c"]
        {
            let row = said.lines().find(|l| l.contains(&format!("{prefix}{function} ")));
            assert!(row.is_some_and(|row| row.contains(" proved ")), "{function}: {said}");
        }
        assert!(said.contains("_avx2 ") && said.contains(" proved\n"), "{said}");
    }
    if !long() {
        return;
    }
    // Whoever brings hash functions has nothing proved of whole operations.
    let out = make("prove", dir.path(), ringforge_testing::cc(), &["KEMS=ntrulpr653", "HASH=2"]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("is defined by another object"), "{said}");
}

/// The shared library, with all that calls go through.
#[test]
#[ignore = "in the long run"]
fn make_proves_the_shared_library() {
    needs!("make");
    let dir = tempfile::tempdir().unwrap();
    let out = make("prove-shared", dir.path(), ringforge_testing::cc(), &["KEMS=mlkem512"]);
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
    for function in ["crypto_kem_mlkem512_dec", "mlkem_mul_c"] {
        let row = said.lines().find(|l| l.contains(&format!("ringforge_{function} ")));
        assert!(row.is_some_and(|row| row.contains(" proved ")), "{function}: {said}");
    }
    assert!(said.contains("libringforge.so: ") && said.contains(" proved\n"), "{said}");
}

/// The same by CMake, in a build for debugging.
#[test]
#[ignore = "in the long run"]
fn cmake_proves_the_library_as_it_is_built() {
    needs!("cmake");
    let dir = tempfile::tempdir().unwrap();
    let run = |command: &mut Command| common::run(command);
    run(Command::new("cmake")
        .arg("-S")
        .arg(library())
        .arg("-B")
        .arg(dir.path())
        .args(["-DRINGFORGE_KEMS=mlkem512", "-DCMAKE_BUILD_TYPE=Debug", "-DRINGFORGE_PREFIX=my_"])
        .arg(format!("-DRINGFORGE_PROGRAM={}", env!("CARGO_BIN_EXE_ringforge"))));
    let said =
        run(Command::new("cmake").arg("--build").arg(dir.path()).args(["--target", "prove"]));
    assert!(
        said.contains("my_crypto_kem_mlkem512_dec") && said.contains("31 of 31 proved"),
        "{said}"
    );
}

ringforge_testing::rest!(make_proves_the_library_as_it_is_built);
