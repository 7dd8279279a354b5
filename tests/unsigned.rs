//! Words without sign, from `search` to a proved package: what `forge --schedule` takes, what it refuses, and that
//! a reduction less is neither accepted nor proved [TokudaKameyama23]. Left to
//! `RINGFORGE_LONG=1`: n = 1024, the other inverse, portable C and the second compiler.

mod common;

use common::{Sandbox, arm_compilers, compilers, share};
use ringforge_emit::{Preamble, avx2};
use ringforge_interpret::range::ranges;
use ringforge_plan::Plan;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::AVX2;
use std::path::Path;

const RING: &str = "Z12289[x]/(x^128 + 1)";

/// A placement that `search` saved, by its inverse.
fn searched(dir: &Sandbox, ring: &str, inverse: &str) -> String {
    let file = format!("{inverse}.json");
    let head = ["search", ring, "--arithmetic", "unsigned", "--out", &file, "--inverse", inverse];
    dir.ringforge(&head).succeeds();
    file
}

/// Forges without timing; what `--json` says.
fn forged(dir: &Sandbox, ring: &str, schedule: &str, target: &str, cc: &str) -> serde_json::Value {
    let what = ["--json", "forge", ring, "--schedule", schedule, "--out", "p", "--name", "u"];
    let how = ["--target", target, "--cc", cc, "--no-bench", "--pairs=200"];
    dir.ringforge(&[&what[..], &how[..]].concat()).succeeds().json()
}

/// The optimum for n = 512. As clang makes it, n = 128 for AVX2 is not proved: its straight-line code is read otherwise.
#[test]
fn what_search_saves_is_forged_and_proved() {
    let dir = Sandbox::new();
    let compilers = compilers();
    let cases = [
        ("gentleman-sande", "avx2", 0),
        ("cooley-tukey", "avx2", 1),
        ("gentleman-sande", "c", 1),
        ("cooley-tukey", "c", 0),
    ];
    for (inverse, target, compiler) in share(&cases, &[0]) {
        let file = searched(&dir, "newhope512", inverse);
        let cc = compilers[compiler % compilers.len()];
        let package = forged(&dir, "newhope512", &file, target, cc);
        assert_eq!(package["verdict"], "proved", "{inverse}, {target}, {cc}");
        let contract = dir.read("p/u.contract.toml");
        assert_eq!(contract.matches("range = [0, 12288]").count(), 3, "{contract}");
    }
}

/// The schedule that a package tells makes the same code, as TOML.
#[test]
fn the_schedule_told_makes_the_same_code() {
    ringforge_testing::needs!("gcc"); // as clang makes it, it is not proved
    let dir = Sandbox::new();
    let file = searched(&dir, RING, "gentleman-sande");
    let cc = compilers()[0];
    let package = forged(&dir, RING, &file, "avx2", cc);
    let told = package["targets"][0]["schedule"].as_str().expect("a schedule").to_owned();
    assert!(told.contains("[unsigned.forward]"), "{told}");
    let code = |text: String| text.split_once(" */\n").map(|(_, code)| code.to_owned());
    let first = code(dir.read("p/u_avx2.c"));
    dir.file("told.toml", &told);
    forged(&dir, RING, "told.toml", "avx2", cc);
    assert_eq!(code(dir.read("p/u_avx2.c")), first);
}

/// One reduction less: ranges refuse it, `forge` does, and its object is not proved.
#[test]
fn a_reduction_left_out_is_refused_and_not_proved() {
    ringforge_testing::needs!("gcc"); // as clang makes it, it is not proved
    let dir = Sandbox::new();
    let file = searched(&dir, RING, "cooley-tukey");
    let cc = compilers()[0];
    let package = forged(&dir, RING, &file, "avx2", cc);
    let told = package["targets"][0]["schedule"].as_str().expect("a schedule");
    let plan = Plan::parse(package["plan"]["text"].as_str().expect("a plan")).expect("a plan");
    let mut schedule = Schedule::parse_for(told, &AVX2).expect("a schedule");
    let right = lower(&plan, &schedule, &AVX2, "u").expect("a program").program;
    ranges(&right).expect("words that fit");

    let placed = schedule.unsigned.as_mut().expect("a placement");
    let middle = placed.forward.sites.len() / 2;
    let gone = placed.forward.sites.remove(middle);
    let wrong = lower(&plan, &schedule, &AVX2, "u").expect("a program").program;
    let fault = ranges(&wrong).expect_err("a word that overflows").to_string();
    assert!(fault.contains("not within [0, 65535]"), "{gone:?}: {fault}");

    dir.file("less.toml", &schedule.to_string());
    let run = dir.ringforge(&["forge", RING, "--schedule", "less.toml", "--target", "avx2"]);
    run.fails(2, &["not within [0, 65535]", "ringforge search"]);

    let source = avx2::avx2(&wrong, &Preamble::default()).expect("a source");
    let object = dir.compile_with(cc, &["-O3"], "less.o", &source);
    let claim = ["prove", &object, "--contract", "p/u.contract.toml", "--symbol", "u_mul_avx2"];
    let run = dir.ringforge(&claim);
    assert_eq!(run.status, 1, "{run:?}");
    let source = avx2::avx2(&right, &Preamble::default()).expect("a source");
    let object = dir.compile_with(cc, &["-O3"], "right.o", &source);
    let claim = ["prove", &object, "--contract", "p/u.contract.toml", "--symbol", "u_mul_avx2"];
    dir.ringforge(&claim).succeeds();
}

#[test]
fn what_does_not_fit_is_refused_with_what_would_work() {
    let dir = Sandbox::new();
    let file = searched(&dir, RING, "gentleman-sande");
    let forge = |ring: &str, more: &[&str]| {
        dir.ringforge(&[&["forge", ring, "--no-bench", "--no-prove"], more].concat())
    };
    let with = ["--schedule", &file];
    let of = |target| [with[0], with[1], "--target", target];
    forge("Z12289[x]/(x^256 + 1)", &of("avx2")).fails(2, &["7 layers", "has 8", "search"]);
    forge("Z12289[x]/(x^761 - x - 1)", &of("avx2")).fails(2, &["x^n + 1"]);
    if !arm_compilers().is_empty() {
        forge(RING, &of("neon")).fails(2, &["MulHiU", "without `unsigned`"]);
    }
    forge(RING, &with).fails(2, &["--target"]);
    let plan = [&of("avx2")[..], &["--plan", "newhope512"]].concat();
    forge("newhope512", &plan).fails(2, &["layers"]);
    for (arithmetic, why) in
        [("montgomery", "no product in unsigned arithmetic"), ("unsigned-lazy", "2^18")]
    {
        let other = ["search", RING, "--arithmetic", arithmetic, "--out", "other.json"];
        dir.ringforge(&other).succeeds();
        let schedule = ["--schedule", "other.json", "--target", "avx2"];
        forge(RING, &schedule).fails(2, &[why, "--arithmetic unsigned"]);
    }
    dir.file("half.json", "{\"problem\": 1}");
    forge(RING, &["--schedule", "half.json", "--target", "c"])
        .fails(2, &["was not written by `ringforge search`"]);
    for (text, why) in [
        ("4 floor 0..8", "names no reduction"),
        ("9 csub 0..8", "number of layers up to 7"),
        ("4 csub 0..x", "`x` is no position"),
        ("4 csub 500", "coefficient 500"),
    ] {
        let multiples = "multiples = [\"1\", \"1\", \"1\", \"1\", \"1\", \"1\", \"1\"]";
        let toml = format!(
            "[unsigned]\ninverse-by = \"inverse-cooley-tukey\"\n[unsigned.forward]\nreductions = [\"{text}\"]\n\
             {multiples}\n[unsigned.inverse]\n{multiples}\n"
        );
        dir.file("own.toml", &toml);
        forge(RING, &["--schedule", "own.toml", "--target", "c"]).fails(2, &[why]);
    }
}

/// The paper's placement for n = 512, by each compiler.
#[test]
#[ignore = "in the long run"]
fn the_seed_s_placement_is_proved() {
    let dir = Sandbox::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("docs/examples/newhope512-paper.toml").display().to_string();
    for cc in compilers() {
        let package = forged(&dir, "newhope512", &file, "avx2", cc);
        assert_eq!(package["verdict"], "proved", "{cc}");
        // Barrett reductions of the whole product in words, as the seed counts them.
        let reductions = package["targets"][0]["counts"]["total"]["reductions"].as_u64();
        assert_eq!(reductions.map(|r| r * 16), Some(13 * 512 / 2));
    }
}

/// The optimum for n = 1024.
#[test]
#[ignore = "a minute"]
fn by_hand_the_optimum_of_the_longer_ring_is_proved() {
    let dir = Sandbox::new();
    let file = searched(&dir, "newhope1024", "gentleman-sande");
    let package = forged(&dir, "newhope1024", &file, "avx2", compilers()[0]);
    assert_eq!(package["verdict"], "proved");
}

ringforge_testing::rest!(what_search_saves_is_forged_and_proved,);
