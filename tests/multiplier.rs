//! The whole slice: forge, prove, run. What the README promises is what is tested here.
//!
//! Objects are compiled from one package's sources by every compiler that is installed. Every day that is one level a
//! compiler and 2,000 products, and proofs for one target; left to `RINGFORGE_LONG=1`: the other levels with 6,000 products
//! of each object, and proofs for both targets, of portable C at half of the levels for each compiler.

mod common;

use common::{Sandbox, arm_compilers, compilers, long, share};

const STRICT: &[&str] = &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

/// A package without timing and proof.
fn package(dir: &Sandbox) {
    let plan = ["--plan", "sntrup761", "--no-bench", "--no-prove", "--pairs=0"];
    let run = dir.ringforge(&[&["--json", "forge", "sntrup761", "--out", "p"], &plan[..]].concat());
    assert_eq!(run.status, 1, "not proved, since nobody tried: {run:?}");
}

/// The same of a ring that takes no time.
fn small_package(dir: &Sandbox) {
    let plan = ["--name=small", "--out=p", "--no-bench", "--no-prove", "--pairs=0", "--try=1"];
    let run = dir.ringforge(&[&["--json", "forge", "Z97[x]/(x^16 - x - 1)"], &plan[..]].concat());
    assert_eq!(run.status, 1, "not proved, since nobody tried: {run:?}");
}

/// Compiles the source of a target with every compiler; returns the objects. If that is done daily, one level is the day's
/// share; if not, compilers take the levels in turn.
fn objects(dir: &Sandbox, target: &str, levels: &[&str], daily: bool) -> Vec<String> {
    let source = dir.read(&format!("p/sntrup761_{target}.c"));
    let mut objects = Vec::new();
    for (i, cc) in compilers().into_iter().enumerate() {
        let some = match daily {
            true => share(levels, &[levels.len() - 1 - i % levels.len()]),
            false => levels.iter().copied().skip(i % 2).step_by(2).collect(),
        };
        for level in some {
            let mut flags = vec![level];
            flags.extend(STRICT);
            let name = format!("{target}_{cc}{level}.o");
            objects.push(dir.compile_with(cc, &flags, &name, &source));
        }
    }
    objects
}

fn with<'a>(head: &[&'a str], objects: &'a [String]) -> Vec<&'a str> {
    head.iter().copied().chain(objects.iter().map(String::as_str)).collect()
}

#[test]
fn products_are_right_for_every_compiler_and_level() {
    let dir = Sandbox::new();
    package(&dir);
    for target in ["avx2", "c"] {
        let symbol = format!("sntrup761_mul_{target}");
        let objects = objects(&dir, target, &["-O1", "-O2", "-O3"], true);
        let pairs = if long() { 6_000 } else { 2_000 };
        let head = [
            "--json",
            "check",
            "--contract",
            "p/sntrup761.contract.toml",
            "--symbol",
            &symbol,
            &format!("--pairs={pairs}"),
        ];
        let done = dir.ringforge(&with(&head, &objects)).succeeds().json();
        let runs = done["objects"].as_array().expect("objects");
        assert_eq!(runs.len(), objects.len());
        for run in runs {
            let executed = &run["executed"];
            assert!(executed["products"].as_u64() > Some(pairs), "{run}");
            assert!(executed["worst_cases"].as_u64() >= Some(1_000), "{run}");
        }
    }
}

#[test]
fn objects_of_every_compiler_and_level_are_proved_and_equivalent() {
    let dir = Sandbox::new();
    package(&dir);
    let mut targets = vec![("avx2", &["-O1", "-O2", "-O3"][..], true)];
    if long() {
        targets.push(("c", &["-O1", "-O2", "-O3", "-Os"], false));
    }
    for (target, levels, daily) in targets {
        let symbol = format!("sntrup761_mul_{target}");
        let objects = objects(&dir, target, levels, daily);
        let head =
            ["--json", "prove", "--contract", "p/sntrup761.contract.toml", "--symbol", &symbol];
        let done = dir.ringforge(&with(&head, &objects)).succeeds().json();
        assert_eq!(done["verdict"], "proved");
        assert_eq!(done["equivalent"], objects.len() > 1);
        for proof in done["objects"].as_array().expect("objects") {
            assert!(proof["counts"]["equations"].as_u64() > Some(0), "nothing verified: {proof}");
            assert_eq!(proof["ranges"]["output"], serde_json::json!([-2295, 2295]));
        }
    }
}

#[test]
fn a_package_is_whole_proved_and_proves_again() {
    is_whole_proved_and_proves_again("sntrup761", "sntrup761", "Z4591[x]/(x^761 - x - 1)");
}

fn is_whole_proved_and_proves_again(name: &str, plan: &str, ring: &str) {
    let dir = Sandbox::new();
    // With its plan it is not searched for, which is what tests/choice.rs tests.
    let plan = format!("--plan={plan}");
    let run = dir.ringforge(&["forge", name, &plan, "--no-bench"]).succeeds();
    assert!(run.stdout.contains("proved"), "{run:?}");
    // Off a terminal there are no progress bars; on a slow machine there are lines such as `proving, 00:00:05`.
    for line in run.stderr.lines() {
        let (_, elapsed) = line.rsplit_once(", ").expect(line);
        let numbers: Vec<_> = elapsed.split(':').map(str::parse::<u32>).collect();
        let right = numbers.len() == 3 && numbers.iter().all(Result::is_ok);
        assert!(right && !line.contains(['\r', '\x1b']), "{line:?}");
    }
    let of = |end: &str| format!("{name}{end}");
    let out = format!("out/{name}");
    let mut names: Vec<String> = std::fs::read_dir(dir.path().join(&out))
        .expect("the package")
        .map(|e| e.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "proof.json".into(),
            "report.html".into(),
            of(".c"),
            of(".contract.toml"),
            of(".h"),
            of(".o"),
            of("_avx2.c"),
            of("_c.c"),
            of("_mul_avx2.certificate.gz"),
            of("_mul_c.certificate.gz"),
        ]
    );
    dir.holds_only(&["out"]);

    let proof: serde_json::Value =
        serde_json::from_str(&dir.read(&format!("{out}/proof.json"))).expect("JSON");
    assert_eq!(proof["verdict"], "proved");
    assert_eq!(proof["ring"], ring);
    assert_eq!(proof["targets"].as_array().map(Vec::len), Some(2));
    assert!(proof["equivalence"].as_str().is_some_and(|text| text.contains("equal outputs")));
    for target in proof["targets"].as_array().expect("targets") {
        assert_eq!(target["proof"]["object_sha256"], proof["object"]["sha256"]);
    }
    let report = dir.read(&format!("{out}/report.html"));
    assert!(report.contains("<svg") && report.contains("proved"));
    for outside in ["src=\"http", "href=\"http", "<script"] {
        assert!(!report.contains(outside), "the report refers to {outside}");
    }

    let (object, contract) = (of(".o"), of(".contract.toml"));
    let (object, contract) = (format!("{out}/{object}"), format!("{out}/{contract}"));
    let run = dir.ringforge(&["prove", &object, "--contract", &contract]).succeeds();
    assert!(run.stdout.contains(&of("_mul_avx2 is proved")), "{run:?}");

    replaced();
}

/// A second run replaces the package and leaves nothing else.
fn replaced() {
    let dir = Sandbox::new();
    let forge = ["--quiet", "forge", "Z97[x]/(x^16 - x - 1)", "--name=small", "--no-bench"];
    dir.ringforge(&forge).succeeds();
    assert!(dir.path().join("out/small/small_c.c").exists());
    dir.ringforge(&[&forge[..], &["--target=avx2"]].concat()).succeeds();
    assert!(dir.path().join("out/small/small_avx2.c").exists());
    assert!(!dir.path().join("out/small/small_c.c").exists());
    dir.holds_only(&["out"]);
}

#[test]
fn the_header_and_the_choice_at_run_time_work_from_c() {
    let dir = Sandbox::new();
    small_package(&dir);
    dir.file(
        "main.c",
        "#include \"p/small.h\"\n#include <stdio.h>\nint main(void) {\n\
         \x20   static int16_t a[16], b[16], c[16];\n    a[15] = 2; b[1] = 3;\n\
         \x20   small_mul(c, a, b);\n    printf(\"%d %d %d\\n\", c[0], c[1], c[2]);\n\
         \x20   small_mul(a, a, b);\n    printf(\"%d %d %d\\n\", a[0], a[1], a[2]);\n\
         \x20   return 0;\n}\n",
    );
    for cc in compilers() {
        let mut args: Vec<&str> = STRICT.to_vec();
        args.extend(["main.c", "p/small.o", "-o", "main"]);
        let built = std::process::Command::new(cc).args(&args).current_dir(dir.path()).output();
        let built = built.expect("a compiler");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let run = std::process::Command::new(dir.path().join("main")).output().expect("main");
        // 2·x^15 · 3·x = 6·x^16 = 6·x + 6
        assert_eq!(String::from_utf8_lossy(&run.stdout), "6 6 0\n6 6 0\n");
    }
}

#[test]
fn generated_files_say_what_made_them() {
    let dir = Sandbox::new();
    small_package(&dir);
    for file in ["small.h", "small.c", "small_avx2.c", "small_c.c"] {
        let text = dir.read(&format!("p/{file}"));
        for line in ["do not edit", "ringforge forge", "Z97[x]/(x^16 - x - 1)"] {
            assert!(text.contains(line), "{file} lacks {line:?}");
        }
    }
    let text = dir.read("p/small_avx2.c");
    for line in ["Plan:", "Schedule:", "Ranges by stage", "Operations on registers"] {
        assert!(text.contains(line), "no {line:?}");
    }
}

/// What is executed otherwise than a plan says is told by every command, as text and in JSON.
#[test]
fn what_is_not_as_planned_is_told() {
    let dir = Sandbox::new();
    let plan = "(plan s (ring \"Z4591[x]/(x^32 - x - 1)\") (schoolbook))";
    std::fs::write(dir.path().join("s.plan"), plan).expect("writable");
    let ring = "Z4591[x]/(x^32 - x - 1)";
    let note = "(schoolbook) is executed as (lift 63 (schoolbook)), the product by its definition";
    let cc = format!("--cc={}", ringforge_testing::cc());
    for (command, more, place) in [
        ("explain", &[][..], "/notes/0"),
        ("forge", &["--no-bench", "--no-prove", "--out=o"], "/plan/notes/0"),
        ("bench", &["--copies=1", "--samples=2", &cc], "/notes/0"),
    ] {
        let start = [command, ring, "--plan=s.plan", "--target=c"];
        let run = |json: &[&str]| dir.ringforge(&[json, &start[..], more].concat());
        let text = run(&[]).stdout;
        assert!(text.contains(note), "{command}: {text}");
        let json = run(&["--json"]);
        let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
        let found = json.pointer(place).and_then(|note| note.as_str());
        assert!(found.is_some_and(|found| found.contains(note)), "{command}: {found:?}");
    }
    let start = ["bench", ring, "--plans=s.plan", "--target=c", "--copies=1", "--samples=2"];
    let run = |json: &[&str]| dir.ringforge(&[json, &start[..]].concat());
    let text = run(&[]).stdout;
    assert!(text.contains(note), "bench --plans: {text}");
    let json: serde_json::Value = serde_json::from_str(&run(&["--json"]).stdout).expect("JSON");
    let found = json.pointer("/plans/0/notes/0").and_then(|note| note.as_str());
    assert!(found.is_some_and(|found| found.contains(note)), "bench --plans: {found:?}");

    // What has no program is refused, and nothing is executed in its place.
    let plan = format!("(plan t (ring \"{ring}\") (lift 63 (toeplitz-pair 32 (toeplitz))))");
    std::fs::write(dir.path().join("t.plan"), plan).expect("writable");
    let refused = dir.ringforge(&["forge", ring, "--plan=t.plan", "--target=c", "--out=t"]);
    let method = "no lowering for `(lift 63 (toeplitz-pair 32 (toeplitz)))` on c";
    refused.fails(2, &["plan `t` for target `c`", method, "2^16 is no multiple of 4591"]);

    // Small products are executed as the plan has them: no note.
    let chiu = ["--json", "explain", "sntrup761", "--plan=sntrup761-chiu", "--target=avx2"];
    let json = dir.ringforge(&chiu).succeeds().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json.pointer("/notes"), Some(&serde_json::json!([])));
}

#[test]
fn explain_shows_trees_ranges_counts_and_pictures() {
    let dir = Sandbox::new();
    let all = dir.ringforge(&["explain", "sntrup761"]).succeeds().stdout;
    for word in ["Good–Thomas 10 × 9", "[-2295, 2295]", "multiplies", "freezing", "total"] {
        assert!(all.contains(word), "no {word:?}");
    }
    for view in ["svg", "ranges-svg", "counts-svg", "ports-svg", "butterflies-svg"] {
        let picture = dir.ringforge(&["explain", "sntrup761", "--as", view]).succeeds().stdout;
        assert!(picture.starts_with("<svg") || picture.starts_with("<?xml"), "{view}");
        assert!(picture.trim_end().ends_with("</svg>"), "{view}");
    }
    for (what, view, why) in [
        (
            ["ntruhps2048677", "--plan", "ntruhps2048677-toom"],
            "butterflies-svg",
            "has no transform",
        ),
        (["sntrup761", "--target", "c"], "ports-svg", "no processor model simulates target c"),
    ] {
        let run = dir.ringforge(&[&["explain"], &what[..], &["--as", view]].concat());
        run.fails(2, &[why]);
    }
    let on = |processor: &str| {
        let how = ["--as", "counts", "--processor", processor];
        dir.ringforge(&[&["explain", "sntrup761"], &how[..]].concat())
    };
    for (processor, name) in [("zen-4", "Zen 4"), ("redwood-cove", "Redwood Cove")] {
        let said = on(processor).succeeds().stdout;
        assert!(said.contains(&format!("Simulated on {name}: ")), "{said}");
    }
    on("redwood").fails(2, &["no simulated avx2 processor", "zen-4, redwood-cove"]);
    let json =
        dir.ringforge(&["--json", "explain", "sntrup761", "--target", "c"]).succeeds().json();
    assert!(json["tree"]["children"].is_array() && json["counts"]["total"].is_object());
    // The cheapest plan by the model may have no program; names that `forge` prints are plans.
    let own = ["--json", "explain", "Z7681[x]/(x^384 - x^192 + 1)"];
    let taken = dir.ringforge(&own).succeeds().json()["plan"].to_string();
    assert!(taken.contains("z7681_n384-"), "{taken}");
    let named = dir.ringforge(&[&own[..], &["--plan", "z7681_n384-2"]].concat());
    assert!(named.succeeds().json()["plan"].to_string().contains("z7681_n384-2"));
    let none = dir.ringforge(&[&own[..], &["--plan", "z7681_n384-99"]].concat());
    none.fails(2, &["no plan `z7681_n384-99`"]);
    let chiu = dir.ringforge(&["explain", "sntrup761", "--plan", "sntrup761-chiu", "--as", "tree"]);
    assert!(chiu.succeeds().stdout.contains("Time shift"), "the paper's plan shifts time");
    dir.is_untouched();
}

#[test]
fn list_names_presets_targets_and_compilers() {
    let dir = Sandbox::new();
    let text = dir.ringforge(&["list"]).succeeds().stdout;
    for word in ["sntrup761", "sntrup761-chiu", "avx2", "C99", "Chiu25"] {
        assert!(text.contains(word), "no {word:?}");
    }
    let json = dir.ringforge(&["--json", "list"]).succeeds().json();
    let presets = json["presets"].as_array().expect("presets");
    for name in ["sntrup761", "mlkem", "mldsa"] {
        assert!(presets.iter().any(|preset| preset["name"] == name), "no {name}");
    }
    assert!(dir.ringforge(&["--quiet", "list"]).succeeds().stdout.is_empty());
    let completions = dir.ringforge(&["completions", "bash"]).succeeds().stdout;
    assert!(completions.contains("COMPLETE"), "{completions}");
}

/// A shell's completions know what a user would look up: presets, plans, targets, KEMs.
#[test]
fn shells_complete_names() {
    let dir = Sandbox::new();
    for (words, wanted) in [
        (&["forge", "sntrup7"][..], "sntrup761"),
        (&["explain", "sntrup761", "--plan", "sntrup761-ch"], "sntrup761-chiu"),
        (&["forge", "sntrup761", "--target", "av"], "avx2"),
        (&["package", "mlkem7"], "mlkem768"),
        (&["prove", "--all", "--sar"], "--sarif"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ringforge"));
        command.current_dir(dir.path()).env("COMPLETE", "bash").env("_CLAP_IFS", "\n");
        command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
        let said = common::run(command.args(["--", "ringforge"]).args(words));
        assert!(said.lines().any(|line| line == wanted), "{words:?}: {said}");
    }
    dir.is_untouched();
}

/// The whole slice for AArch64, on whatever machine this is: forged with the compiler and the emulator that are
/// found, and what every compiler makes of the source run and proved.
#[test]
fn neon_is_forged_run_and_proved() {
    let all = arm_compilers();
    if all.is_empty() {
        return;
    }
    let dir = Sandbox::new();
    let args = ["--json", "forge", "sntrup761", "--plan", "sntrup761", "--target", "neon"];
    let proof = dir.ringforge(&[&args[..], &["--out=p", "--pairs=200"]].concat()).succeeds().json();
    assert_eq!(proof["verdict"], "proved");
    let executed = &proof["targets"][0]["executed"];
    assert!(executed["worst_cases"].as_u64() >= Some(1_000), "{executed}");
    assert_eq!(executed["calls"].as_array().map(Vec::len), Some(3), "{executed}");
    let source = dir.read("p/sntrup761_neon.c");
    let contract =
        ["--contract", "p/sntrup761.contract.toml", "--symbol", "sntrup761_mul_neon", "--json"];
    let builds: Vec<_> =
        all.iter().flat_map(|cc| ["-O1", "-O2", "-O3"].map(|level| (cc, level))).collect();
    // Every day another compiler than the one that forged it.
    let one = builds.len() - 2;
    for ((cc, arch), level) in share(&builds, &[one]) {
        let flags = [&[level][..], arch, STRICT].concat();
        let object = dir.compile_with(cc, &flags, &format!("{cc}{level}.o"), &source);
        dir.ringforge(&[&["check", &object, "--pairs=50"], &contract[..]].concat()).succeeds();
        let done = dir.ringforge(&[&["prove", &object], &contract[..]].concat());
        assert_eq!(done.json()["verdict"], "proved", "{cc} {level}: {done:?}");
    }
}

ringforge_testing::rest!(
    products_are_right_for_every_compiler_and_level,
    objects_of_every_compiler_and_level_are_proved_and_equivalent,
    neon_is_forged_run_and_proved,
);
