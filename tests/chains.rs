//! `prove` with a chain: the verdict on the whole, and which file each function is taken from.

mod common;

use common::{Sandbox, arm_compilers, compilers, in_parallel, m4_compilers, run, share};
use std::path::{Path, PathBuf};
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

/// Chains of the KEMs of the C library, and where their contracts are.
const CHAINS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/chains");
const LIBRARY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lib");

/// What the chains of NTRU Prime call is static in the library.
const PRIME: &str = "#include <stdint.h>
#define EXPORT(name, to, from)                                                                     \\
    static void rf_prime761_##name(to *c, from *a);                                                \\
    void sntrup761_##name(to *c, from *a) { rf_prime761_##name(c, a); }
EXPORT(times3_mod3, int16_t, const int16_t)
EXPORT(rounded_residues, uint16_t, const int16_t)
EXPORT(rounded_words, int16_t, const uint16_t)
static void rf_prime761_mul3(int16_t *c, const int16_t *a, const int16_t *b);
void sntrup761_mul3(int16_t *c, const int16_t *a, const int16_t *b) { rf_prime761_mul3(c, a, b); }
#include \"src/prime/prime761.c\"
";

/// A copy of the chains and of what they name, for one of the library's machines.
fn chains_for(machine: &str, abi: &str) -> Sandbox {
    let dir = Sandbox::new();
    let generated = format!("{LIBRARY}/generated/contracts");
    for (from, to) in [(CHAINS, "contracts/chains"), (&*generated, "lib/generated/contracts")] {
        std::fs::create_dir_all(dir.path().join(to)).expect("a directory");
        for file in std::fs::read_dir(from).expect("contracts").map(|f| f.expect("a file").path()) {
            let text = std::fs::read_to_string(&file).expect("a contract");
            let mut text = text.replace("sysv-x86-64", abi);
            if from == CHAINS {
                text = text.replace("_c.toml", &format!("_{machine}.toml"));
            }
            let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
            dir.file(&format!("{to}/{name}"), &text);
        }
    }
    dir.file("prime.c", PRIME);
    dir
}

/// Compiles files of the library, or of the directory, into objects of it.
fn objects(dir: &Sandbox, cc: &str, flags: &[&str], sources: &[PathBuf]) -> Vec<String> {
    let object = |(i, source): (usize, &PathBuf)| {
        let name = format!("{i}.o");
        run(Command::new(cc)
            .args(["-O2", "-c", "-DRINGFORGE_ENABLE_SNTRUP761=1"])
            .args(["-Iinclude", "-I."])
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(dir.path().join(&name))
            .current_dir(LIBRARY));
        name
    };
    sources.iter().enumerate().map(object).collect()
}

/// One way of building the library: its machine, convention, compiler and flags.
type Way = (&'static str, &'static str, &'static str, Vec<&'static str>);

fn ways() -> Vec<Way> {
    let mut ways: Vec<Way> = Vec::new();
    for cc in compilers() {
        ways.push(("c", "sysv-x86-64", cc, vec!["-DRINGFORGE_TARGET=1"]));
        ways.push(("avx2", "sysv-x86-64", cc, vec!["-DRINGFORGE_TARGET=2", "-mavx2"]));
    }
    for (cc, flags) in arm_compilers() {
        ways.push(("neon", "aapcs64", cc, flags.to_vec()));
    }
    for (cc, flags) in m4_compilers() {
        ways.push(("c", "aapcs", cc, flags.to_vec()));
    }
    ways
}

/// FIPS 203's equations of K-PKE, and decryption of Streamlined NTRU Prime, hold of the library's objects.
#[test]
fn the_chains_of_kems_are_proved() {
    in_parallel(share(&ways(), &[0]), |(machine, abi, cc, flags)| {
        let dir = chains_for(machine, abi);
        let source = |name: String| Path::new(name.as_str()).to_path_buf();
        let mlkem = ["src/mlkem/poly.c".into(), format!("generated/mlkem_{machine}.c")].map(source);
        let mlkem = objects(&dir, cc, &flags, &mlkem);
        for chain in ["mlkem768-encrypt", "mlkem768-decrypt"] {
            let chain = format!("contracts/chains/{chain}.toml");
            let files: Vec<&str> = mlkem.iter().map(String::as_str).collect();
            let words = [&["prove"], files.as_slice(), &["--contract", chain.as_str()]].concat();
            let said = dir.ringforge(&words).succeeds().stdout;
            assert!(said.contains("the chain is proved"), "{machine}, {cc}: {said}");
        }
    });
}

/// Encryption with its rounding, and decryption with its product modulo 3.
#[test]
fn the_core_of_ntru_prime_is_proved() {
    let dir = chains_for("avx2", "sysv-x86-64");
    let sources = [dir.path().join("prime.c"), PathBuf::from("generated/sntrup761_avx2.c")];
    let files = objects(&dir, compilers()[0], &["-DRINGFORGE_TARGET=2", "-mavx2"], &sources);
    let whole = dir.path().join("whole.o");
    run(Command::new("ld").args(["-r", "-o"]).arg(&whole).args(&files).current_dir(dir.path()));
    for (chain, claim) in [
        ("encrypt", "c at the end = round((w cmod 4591) / 3) + 765, by coefficient"),
        ("decrypt", "x at the end = e * v in Z3[x]/(x^761 - x - 1)"),
    ] {
        let chain = format!("contracts/chains/sntrup761-{chain}.toml");
        let said = dir.ringforge(&["prove", "whole.o", "--contract", &chain]).succeeds().stdout;
        assert!(said.contains(claim), "{said}");
    }
}

/// Each mistake in the calls or in the claim is named where it is.
#[test]
fn chains_of_kems_with_a_mistake_do_not_fit() {
    let dir = chains_for("c", "sysv-x86-64");
    let name = "contracts/chains/mlkem768-decrypt.toml";
    let right = dir.read(name);
    let step = |contract: &str, index: usize| {
        let marks = format!("contract = \"{contract}\"");
        let found = right.match_indices(&marks).nth(index).expect("a step").0;
        let from = right[..found].rfind("[[step]]").expect("its head");
        let to = right[found..].find("\n[[").map_or(right.len(), |end| found + end + 1);
        right[from..to].to_string()
    };
    let without = |contract: &str| right.replacen(&step(contract, 0), "", 1);
    let from_standard = "../../lib/generated/contracts/mlkem_from_standard_c.toml";
    for (text, said) in [
        (
            without("mlkem_center.toml"),
            "lies in [0, 3328]; `ringforge_mlkem_forward_c` (step 2) takes `a`",
        ),
        (without(from_standard), "in another order"),
        (without("../../lib/generated/contracts/mlkem_inverse_c.toml"), "is not known well enough"),
        (right.replacen("in = \"s[1]\"", "in = \"s[0]\"", 1), "it is "),
        (right.replacen("in = \"s[1]\"", "in = \"s[3]\"", 1), "`s` has 3 elements"),
        (right.replacen("mlkem_compress1.toml", "mlkem_compress4.toml", 1), "it is 1, not 0"),
        (
            right.replacen("mlkem_decompress4.toml", "mlkem_decompress10.toml", 1),
            "packed fields of 10 bits",
        ),
        (
            right.replacen("(w mod 3329) * 2 / 3329) mod 2", "(w mod 3329) * 2 / 3329)", 1),
            "it is 0, not 2",
        ),
        (right.replacen("(w mod 3329)", "w", 1), "take its remainder"),
        (right.replacen("(w mod 3329)", "(w cmod 3329 + 1)", 1), "for "),
        (right.replacen("(w mod 3329)", "(w mod 3331)", 1), "take its remainder"),
        (right.replacen("\"v - s", "\"v + s", 1), "it is "),
        (right.replacen("round(c1 * 3329 / 2^10)", "floor(c1 * 3329 / 2^10)", 1), "it is "),
        (right.replacen("range = [0, 1]", "range = [0, 0]", 1), "lies in [0, 1]"),
    ] {
        assert_ne!(text, right, "{said}");
        dir.file(name, &text);
        dir.ringforge(&["prove", "none.o", "--contract", name]).fails(2, &["does not fit", said]);
    }
}

ringforge_testing::rest!(the_chains_of_kems_are_proved,);
