//! A ring that no code knows, from two texts: forged, proved and run for every target. The worked
//! example of docs/developers/add-a-ring.md and docs/developers/add-a-target.md.

mod common;

use common::{Sandbox, arm_compilers, m4_compilers, mentions};

const TARGETS: &[&str] = &["avx2", "sse41", "c"];
const STRICT: &[&str] = &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

fn toy(dir: &Sandbox) {
    let ring = include_str!("toy/toy.toml").replace("tests/toy/", "");
    dir.file("toy.toml", &ring);
    dir.file("toy.plan", include_str!("toy/toy.plan"));
}

#[test]
fn a_ring_from_two_texts_is_forged_and_proved_for_every_target() {
    let dir = Sandbox::new();
    toy(&dir);
    let targets = TARGETS.join(",");
    let args = ["--json", "forge", "toy.toml", "--target", &targets, "--no-bench", "--out", "p"];
    let proof = dir.ringforge(&args).succeeds().json();
    assert_eq!(proof["verdict"], "proved");
    let forged = proof["targets"].as_array().expect("targets");
    assert_eq!(forged.len(), TARGETS.len());
    for (one, target) in forged.iter().zip(TARGETS) {
        assert_eq!(one["target"], *target);
        assert_eq!(one["proof"]["verdict"], "proved", "{target}");
        assert!(one["proof"]["counts"]["equations"].as_u64().is_some_and(|n| n > 64), "{target}");
    }
    covered(&dir.read("p/report.html"), forged);
    // The choice at run time asks for each but the last.
    let choice = dir.read("p/toy.c");
    for test in ["__builtin_cpu_supports(\"avx2\")", "__builtin_cpu_supports(\"sse4.1\")"] {
        assert!(choice.contains(test), "no {test}");
    }
}

/// The report lists each target's code, with what proved each instruction and where its values lie.
fn covered(report: &str, forged: &[serde_json::Value]) {
    assert!(!report.contains("src=") && !report.contains("href="), "one file without others");
    let sections: Vec<&str> = report.split("<h3>Coverage of the proof</h3>").skip(1).collect();
    assert_eq!(sections.len(), forged.len());
    for (section, one) in sections.iter().zip(forged) {
        let section = section.split("<h3>").next().unwrap_or_default();
        let number = |text: &str| text.trim().parse::<usize>().expect("a number");
        // class, what is told of it, address, text
        let lines: Vec<(&str, &str, u64, &str)> = section
            .lines()
            .filter_map(|line| {
                let line = &line[line.find("<i class=")? + 9..];
                let (head, text) = line.strip_suffix("</i>")?.split_once('>')?;
                let (address, text) = text.trim_start().split_once(' ')?;
                let title = head.split('"').nth(1).unwrap_or("");
                Some((&head[..2], title, u64::from_str_radix(address, 16).ok()?, text))
            })
            .collect();
        let executed = one["proof"]["counts"]["code_bytes"].as_u64().expect("bytes");
        assert!(lines.len() as u64 * 8 > executed, "{} lines", lines.len());
        assert!(lines.iter().any(|l| l.3.starts_with("ret")), "the whole function");
        // The table has each instruction once.
        let rows = section.split("<tr><td><span").skip(1);
        let counts = rows.map(|row| number(row.split("</td><td>").nth(1).expect("a column")));
        assert_eq!(counts.sum::<usize>(), lines.len());
        // Products of both operands, and reductions, whose results lie somewhere.
        for class in ["r0", "r1", "rl"] {
            let known = |l: &&(&str, &str, u64, &str)| l.0 == class && l.1.contains("; [");
            assert!(lines.iter().any(|l| known(&l)), "{}: nothing is {class}", one["target"]);
        }
        // The widest value that the search found is handed on by some instruction; none hands on what no word holds.
        let ends = |title: &str| -> Option<[i64; 2]> {
            let (lo, hi) = title.split_once("; [")?.1.split_once(", ")?;
            Some([lo, hi.split(']').next()?].map(|end| end.parse().expect("an end")))
        };
        let widest = &one["proof"]["ranges"]["widest"][0];
        let [lo, hi] = [2, 3].map(|k| widest[k].as_i64().expect("an end"));
        let words = |l: &&(&str, &str, u64, &str)| {
            let name = l.3.split(' ').next().unwrap_or_default();
            name.ends_with("addw") || name.ends_with("subw")
        };
        let shown: Vec<[i64; 2]> = lines.iter().filter(words).filter_map(|l| ends(l.1)).collect();
        assert!(shown.iter().any(|s| s[0] <= lo && hi <= s[1]), "{}: {widest}", one["target"]);
        assert!(shown.iter().all(|s| -(1 << 15) <= s[0] && s[1] < 1 << 16), "{shown:?}");
    }
}

#[test]
fn every_target_compiles_without_warnings_and_multiplies_right() {
    let dir = Sandbox::new();
    toy(&dir);
    let targets = TARGETS.join(",");
    let args = [
        "--quiet",
        "forge",
        "toy.toml",
        "--target",
        &targets,
        "--no-bench",
        "--out=p",
        "--pairs=0",
    ];
    dir.ringforge(&args).succeeds();
    for target in TARGETS {
        let source = dir.read(&format!("p/toy_{target}.c"));
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let mut flags = vec![level];
            flags.extend(STRICT);
            let object = dir.compile_with(ringforge_testing::cc(), &flags, "toy.o", &source);
            let symbol = format!("toy_mul_{target}");
            let args = ["check", &object, "--contract", "p/toy.contract.toml", "--symbol", &symbol];
            let run = dir.ringforge(&[&args[..], &["--pairs", "500"]].concat()).succeeds();
            assert!(run.stdout.contains("agree with the oracle"), "{run:?}");
        }
    }
}

/// Neon: compiled, run and proved on whatever machine this is.
#[test]
fn a_ring_from_two_texts_is_forged_and_proved_for_neon() {
    let dir = Sandbox::new();
    toy(&dir);
    for (cc, arch) in arm_compilers() {
        let args = ["--json", "forge", "toy.toml", "--target", "neon", "--cc", cc, "--out", "p"];
        let proof = dir.ringforge(&[&args[..], &["--pairs=500"]].concat()).succeeds().json();
        assert_eq!(proof["verdict"], "proved");
        let one = &proof["targets"][0];
        assert_eq!((&one["target"], &one["proof"]["verdict"]), (&"neon".into(), &"proved".into()));
        assert!(one["executed"]["products"].as_u64() > Some(500), "{one}");
        assert!(dir.read("p/toy.contract.toml").contains("abi = \"aapcs64\""));
        if cfg!(target_arch = "x86_64") {
            assert!(one["timing"].is_null(), "an emulator's time is no processor's");
            let counts = &one["modelled"]["counts"];
            let [all, full] = ["executed", "full"].map(|key| counts[key].as_u64().unwrap_or(0));
            assert!(full > 0 && all > full, "{one}");
        }
        let source = dir.read("p/toy_neon.c");
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let flags = [&[level][..], arch, STRICT].concat();
            let object = dir.compile_with(cc, &flags, "toy.o", &source);
            let contract = ["--contract", "p/toy.contract.toml", "--symbol", "toy_mul_neon"];
            let args = [&["check", &object][..], &contract, &["--pairs", "100"]].concat();
            let run = dir.ringforge(&args).succeeds();
            assert!(run.stdout.contains("agree with the oracle"), "{run:?}");
        }
    }
}

/// Cortex-M4: the same under an emulator of its instructions, with both compilers.
#[test]
fn a_ring_from_two_texts_is_forged_and_proved_for_cortex_m4() {
    let dir = Sandbox::new();
    toy(&dir);
    for (cc, arch) in m4_compilers() {
        let args = ["--json", "forge", "toy.toml", "--target", "m4", "--cc", cc, "--out", "p"];
        let proof = dir.ringforge(&[&args[..], &["--pairs=500"]].concat()).succeeds().json();
        assert_eq!(proof["verdict"], "proved");
        let one = &proof["targets"][0];
        assert_eq!((&one["target"], &one["proof"]["verdict"]), (&"m4".into(), &"proved".into()));
        assert!(one["executed"]["products"].as_u64() > Some(500), "{one}");
        assert!(one["timing"].is_null(), "an emulator's time is no processor's");
        assert!(dir.read("p/toy.contract.toml").contains("abi = \"aapcs\""));
        let source = dir.read("p/toy_m4.c");
        for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
            let flags = [&[level][..], arch, STRICT].concat();
            let object = dir.compile_with(cc, &flags, "toy.o", &source);
            let contract = ["--contract", "p/toy.contract.toml", "--symbol", "toy_mul_m4"];
            let args = [&["check", &object][..], &contract, &["--pairs", "100"]].concat();
            let run = dir.ringforge(&args).succeeds();
            assert!(run.stdout.contains("agree with the oracle"), "{run:?}");
        }
    }
}

/// The fastest within a size, and what the smallest has where none is small enough.
#[test]
fn size_is_an_objective_beside_cycles() {
    let dir = Sandbox::new();
    toy(&dir);
    dir.ringforge(&["forge", "toy.toml", "--target", "avx2,c", "--size", "2K"])
        .fails(2, &["--size applies to one target"]);
    if m4_compilers().is_empty() {
        return;
    }
    let forge = |size: &str| {
        let args = ["forge", "toy.toml", "--target", "m4", "--size", size];
        dir.ringforge(&[&args[..], &["--no-prove", "--pairs", "1", "--out", "p"]].concat())
    };
    let refused = forge("1K");
    refused.fails(2, &["fits in 1K: the smallest has", "--size"]);
    let words: Vec<&str> = refused.stderr.split_whitespace().collect();
    let after = |word: &str| words[words.iter().position(|w| *w == word).unwrap() + 1];
    let least: u64 = after("has").parse().unwrap();
    let enough = after("--size").trim_end_matches(',');
    let package = |size: &str| {
        mentions(&forge(size), &["bytes of code and constants"]);
        let package: serde_json::Value = serde_json::from_str(&dir.read("p/proof.json")).unwrap();
        let modelled = &package["targets"][0]["modelled"];
        let cycles = modelled["model_cycles"].as_f64().unwrap_or_else(|| panic!("{package}"));
        (package["loaded_bytes"].as_u64().unwrap(), cycles)
    };
    let (small, fast) = (package(enough), package("64K"));
    assert!(
        least <= small.0 && small.0 <= 1024 * enough.trim_end_matches('K').parse::<u64>().unwrap()
    );
    assert!(fast.0 > small.0 && fast.1 < small.1, "{small:?}, {fast:?}");
}

#[test]
fn a_plan_for_another_ring_is_refused() {
    let dir = Sandbox::new();
    toy(&dir);
    let run = dir.ringforge(&["forge", "Z3329[x]/(x^64 + 1)", "--plan", "toy.plan"]);
    run.fails(2, &["x^64 - x - 1", "Z3329[x]/(x^64 + 1)"]);
    let run = dir.ringforge(&["forge", "toy.toml", "--target", "sse41,mmx"]);
    run.fails(2, &["mmx", "sse41"]);
    dir.holds_only(&["toy.plan", "toy.toml"]);
}
