//! The library's machine code is constant time and stays in bounds: whole operations of its KEMs, its sorting and
//! its encoders, as gcc and clang make them, under the contracts of `lib/contracts`; and operations leave nothing secret
//! on the stack or in registers. Code that is not so, is refused.
//!
//! Every day by clang at one level, and what is refused by gcc; left to `RINGFORGE_LONG=1`: gcc at two levels, but keys of
//! sntrup761 and NTRU at one each; what takes longest by clang, and all KEMs by it at -O2. Tests `by_hand` have the rest: gcc
//! at -O1, and keys of sntrup857 and beyond and of ntruhps4096821 and beyond, which take twice as long as all else.

mod common;

use common::{in_parallel, long, share};
use ringforge_testing::{cc, needs, program};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

fn run(command: &mut Command) -> Output {
    let out = command.current_dir(library()).output();
    let out = out.unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success(), "{command:?}: {}\n{said}", out.status);
    out
}

fn compile(cc: &str, level: &str, source: &Path, object: &Path) {
    // The objects that are linked by default: they choose between portable C and AVX2 when they run.
    let kems = ["SNTRUP761", "NTRULPR761", "NTRUHPS2048677", "MLKEM512"]
        .map(|k| format!("-DRINGFORGE_ENABLE_{k}=1"));
    run(Command::new(cc)
        .args([
            "-std=c99",
            level,
            "-Iinclude",
            "-Isrc/common",
            "-Isrc/prime",
            "-DRINGFORGE_ENABLE_ALL=0",
        ])
        .arg("-DRINGFORGE_RANDOM=2")
        .args(kems)
        .args(["-c", "-o"])
        .args([object, source]));
}

/// The prover's answer in JSON on an object under a contract.
fn proved(object: &Path, contract: &Path) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringforge"));
    let out = command
        .args(["prove", "--json"])
        .arg(object)
        .arg("--contract")
        .arg(contract)
        .output()
        .unwrap();
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)))
}

fn contract(name: &str) -> PathBuf {
    library().join("contracts").join(name).with_extension("toml")
}

/// All that the KEMs of the contracts need, in one object for each level; multipliers at -O2 only.
fn linked(cc: &str, levels: &[&str], dir: &Path) -> Vec<PathBuf> {
    // Those of other KEMs are empty then.
    let mut sources: Vec<PathBuf> = Vec::new();
    for dir in ["common", "prime", "ntru", "mlkem"] {
        let files = std::fs::read_dir(library().join("src").join(dir)).unwrap();
        sources.extend(
            files.map(|f| f.unwrap().path()).filter(|f| f.extension().is_some_and(|e| e == "c")),
        );
    }
    assert!(sources.len() > 10, "{sources:?}");
    let generated = [
        "sntrup761_c",
        "sntrup761_avx2",
        "ntruhps2048677_c",
        "ntruhps2048677_avx2",
        "mlkem_c",
        "mlkem_avx2",
    ];
    let multipliers: Vec<PathBuf> =
        generated.iter().map(|g| dir.join(g).with_extension("o")).collect();
    for (name, object) in generated.iter().zip(&multipliers) {
        compile(cc, "-O2", Path::new(&format!("generated/{name}.c")), object);
    }
    let one = |level: &&str| {
        let mut objects = multipliers.clone();
        for source in &sources {
            let stem = source.file_stem().unwrap().to_str().unwrap();
            objects.push(dir.join(format!("{stem}{level}.o")));
            compile(cc, level, source, objects.last().unwrap());
        }
        let all = dir.join(format!("all{level}.o"));
        run(Command::new("ld").args(["-r", "-o"]).arg(&all).args(objects));
        all
    };
    levels.iter().map(one).collect()
}

/// What is wanted of the contracts, at these levels; what takes longest, keys of sntrup761 and of NTRU, at one of them each.
fn is_constant_time(cc: &str, levels: &[&str], keys_at: [&str; 2], wanted: fn(&str) -> bool) {
    let dir = tempfile::tempdir().unwrap();
    for (level, object) in levels.iter().zip(linked(cc, levels, dir.path())) {
        let mut contracts = vec![
            ("common", 7),
            ("sntrup761", 4),
            ("ntrulpr761", 4),
            ("ntrulpr761_keypair", 1),
            ("ntruhps2048677", 2),
            ("mlkem512", 7),
            ("mlkem512_keypair", 2),
        ];
        let keys = [("sntrup761_keypair", 1), ("ntruhps2048677_keypair", 1)];
        contracts
            .extend(keys.into_iter().zip(keys_at).filter(|(_, at)| at == level).map(|(k, _)| k));
        contracts.retain(|(name, _)| wanted(name));
        // The long ones first.
        contracts.reverse();
        in_parallel(contracts, |(name, functions)| {
            let report = proved(&object, &contract(name));
            assert_eq!(report["verdict"], "proved", "{cc} {level} {name}: {report:#}");
            let found = report["objects"][0]["functions"].as_array().unwrap();
            assert_eq!(found.len(), functions, "{name}");
            // Portable code and AVX2 are cases of one function, and hashing with AVX-512 as well.
            let cases = if name == "common" { 2 } else { 3 };
            for f in found {
                let long = f["instructions"].as_u64() >= Some(1_000);
                assert!(f["cases"].as_u64() >= Some(cases) && long, "{f:#}");
            }
        });
    }
}

#[test]
#[ignore = "in the long run"]
fn what_gcc_makes_is_constant_time() {
    needs!("gcc");
    // The library's own level.
    is_constant_time("gcc", &["-O3"], ["-O3"; 2], |_| true);
}

#[test]
#[ignore = "minutes"]
fn by_hand_what_gcc_makes_at_lower_levels() {
    is_constant_time("gcc", &["-O1", "-O2"], ["-O1", "-O2"], |_| true);
}

/// What clang makes at -O2 is there with all KEMs.
#[test]
fn what_clang_makes_is_constant_time() {
    let Some(clang) = program("clang") else { return };
    // One of the two that take longest is enough for a day.
    let wanted = |name: &str| (name == "ntruhps2048677_keypair") == long();
    is_constant_time(clang, &["-O3"], ["-O3"; 2], wanted);
}

/// All KEMs at all sizes, each operation: their multipliers at -O1, which takes a third of the time, and all else at -O2, of
/// which a key of sntrup takes half: loops of portable code are vectors there.
#[test]
#[ignore = "in the long run"]
fn every_kem_is_constant_time() {
    all_kems(|name| !GREATER.contains(&name), 21 * 3 + 7);
}

#[test]
#[ignore = "minutes"]
fn by_hand_keys_of_greater_sizes() {
    all_kems(|name| GREATER.contains(&name), GREATER.len() - 1);
}

/// Contracts of keys whose code is that of smaller ones but for numbers.
const GREATER: [&str; 7] = [
    "sntrup857_keypair",
    "sntrup953_keypair",
    "sntrup1013_keypair",
    "sntrup1277_keypair",
    "ntruhps4096821_keypair",
    "ntruhps40961229_keypair",
    "ntruhrss1373_keypair",
];

/// Proves the contracts of these names; they have more than so many functions.
fn all_kems(wanted: fn(&str) -> bool, more: usize) {
    let Some(clang) = program("clang") else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut sources: Vec<PathBuf> = Vec::new();
    for part in ["generated", "src/common", "src/prime", "src/ntru", "src/mlkem"] {
        let files = std::fs::read_dir(library().join(part)).unwrap().map(|f| f.unwrap().path());
        sources.extend(files.filter(|f| f.extension().is_some_and(|e| e == "c")));
    }
    let objects: Vec<PathBuf> = sources
        .iter()
        .map(|s| dir.path().join(s.file_stem().unwrap()).with_extension("o"))
        .collect();
    in_parallel(sources.iter().zip(&objects), |(source, object)| {
        let level = if source.parent().unwrap().ends_with("generated") { "-O1" } else { "-O2" };
        run(Command::new(clang)
            .args(["-std=c99", level, "-Iinclude", "-DRINGFORGE_RANDOM=2", "-c", "-o"])
            .args([object, source]));
    });
    let all = dir.path().join("all.o");
    run(Command::new("ld").args(["-r", "-o"]).arg(&all).args(&objects));
    let contracts = std::fs::read_dir(library().join("contracts")).unwrap();
    let contracts = contracts.map(|file| file.unwrap().path());
    // Those of other processors are in folders of their own.
    let mut contracts: Vec<PathBuf> = contracts.filter(|file| file.is_file()).collect();
    contracts.retain(|file| file.file_stem().is_some_and(|n| wanted(&n.to_string_lossy())));
    // The long ones first.
    contracts.sort_by_key(|file| !file.to_string_lossy().contains("_keypair"));
    let operations = AtomicUsize::new(0);
    in_parallel(contracts, |file| {
        let report = proved(&all, &file);
        assert_eq!(report["verdict"], "proved", "{}: {report:#}", file.display());
        let functions = report["objects"][0]["functions"].as_array().unwrap().len();
        operations.fetch_add(functions, Ordering::Relaxed);
    });
    // Of each KEM at least three, and those of common.toml.
    let operations = operations.into_inner();
    assert!(operations > more, "{operations}");
}

/// A source with one change, compiled alone with what it calls, is refuted for the reason given.
fn is_refuted(cc: &str, level: &str, file: &str, change: (&str, &str), kind: &str) {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(library().join(file)).unwrap();
    assert_eq!(text.matches(change.0).count(), 1, "{file} has changed: `{}`", change.0);
    let source = dir.path().join("changed.c");
    std::fs::write(&source, text.replace(change.0, change.1)).unwrap();
    let (changed, cpu) = (dir.path().join("changed.o"), dir.path().join("cpu.o"));
    compile(cc, level, &source, &changed);
    compile(cc, level, Path::new("src/common/cpu.c"), &cpu);
    let all = dir.path().join("all.o");
    run(Command::new("ld").args(["-r", "-o"]).args([&all, &changed, &cpu]));
    let report = proved(&all, &contract("common"));
    let context = format!("{cc} {level} {}: {report:#}", change.1);
    assert_eq!(report["verdict"], "refuted", "{context}");
    let functions = report["objects"][0]["functions"].as_array().unwrap();
    let mut reasons = functions.iter().flat_map(|f| f["reasons"].as_array().unwrap());
    assert!(reasons.any(|r| r["kind"] == kind && r["instruction"].is_string()), "{context}");
}

/// sntrup761 alone, with a change of `wipe.h`: what stays is found.
#[test]
fn what_is_not_wiped_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let names = [
        "common/cpu",
        "common/sort",
        "common/hash_builtin_sha2",
        "prime/prime761",
        "prime/hash",
        "prime/mixed",
    ];
    let mut objects = vec![dir.path().join("mul.o")];
    // The multipliers' code does not matter here.
    let mul = "#include <stdint.h>\nvoid ringforge_sntrup761_mul_c(int16_t *c, const int16_t *a, const int16_t *b)\n\
               {\nint i;\nfor (i = 0; i < 761; i++) c[i] = (int16_t)(a[i] ^ b[760 - i]);\n}\n\
               void ringforge_sntrup761_mul_avx2(int16_t *c, const int16_t *a, const int16_t *b)\n\
               { ringforge_sntrup761_mul_c(c, a, b); }\n";
    std::fs::write(dir.path().join("mul.c"), mul).unwrap();
    compile(cc(), "-O1", &dir.path().join("mul.c"), &objects[0]);
    for name in names {
        objects.push(dir.path().join(name.replace('/', "_")).with_extension("o"));
        let source = library().join("src").join(name).with_extension("c");
        compile(cc(), "-O1", &source, objects.last().unwrap());
    }
    let prime = objects[4].clone();
    let all = dir.path().join("all.o");
    let report = |changed: &[(&str, &str)]| {
        let mut text = std::fs::read_to_string(library().join("src/common/wipe.h")).unwrap();
        for (old, new) in changed {
            assert_eq!(text.matches(old).count(), 1, "wipe.h has changed: `{old}`");
            text = text.replace(old, new);
        }
        let text = text.replace("#include \"common.h\"", "");
        // Its guard keeps the library's own out.
        let own = library().join("src/prime/prime761.c").display().to_string();
        let common = library().join("src/common/common.h").display().to_string();
        let source = dir.path().join("changed.c");
        std::fs::write(&source, format!("#include \"{common}\"\n{text}\n#include \"{own}\"\n"))
            .unwrap();
        compile(cc(), "-O1", &source, &prime);
        run(Command::new("ld").args(["-r", "-o"]).arg(&all).args(&objects));
        proved(&all, &contract("sntrup761"))
    };
    assert_eq!(report(&[])["verdict"], "proved");
    let shorter = [("rf_zeroize(dead, sizeof dead)", "rf_zeroize(dead, sizeof dead - 16384)")];
    let not_registers = [("\"xor %%r10d, %%r10d\\n\\txor %%r11d, %%r11d\"", "\"\"")];
    let not_vectors = [("\"vzeroall\"", "\"\"")];
    for (change, place) in
        [(shorter, "the stack"), (not_registers, "registers"), (not_vectors, "registers")]
    {
        let report = report(&change);
        assert_ne!(report["verdict"], "proved", "{change:?}");
        let functions = report["objects"][0]["functions"].as_array().unwrap();
        let reasons: Vec<_> =
            functions.iter().flat_map(|f| f["reasons"].as_array().unwrap()).collect();
        assert!(!reasons.is_empty());
        for r in reasons {
            assert_eq!(r["kind"], "residue", "{r:#}");
            assert!(r["text"].as_str().unwrap().contains(place), "{change:?}: {r:#}");
        }
    }
}

#[test]
fn what_is_not_is_refuted() {
    let sort = "src/common/sort.c";
    let mixed = "src/prime/mixed.c";
    let builds = [("gcc", "-O1"), ("gcc", "-O3"), ("clang", "-O1")];
    for (cc, level) in share(&builds, &[1]) {
        let Some(cc) = program(cc) else { continue };
        // A branch on what is sorted.
        let branch = (
            "    *x = a ^ d;",
            "    if (less)\n        __asm__ volatile(\"nop\");\n    *x = a ^ d;",
        );
        is_refuted(cc, level, sort, branch, "constant-time");
        // One element too many.
        let longer = ("j < i + p && j + p < n; j++", "j < i + p && j + p <= n; j++");
        is_refuted(cc, level, sort, longer, "memory");
        let earlier = ("for (i = 0; i + p < n; i += 2 * p)", "for (i = -1; i + p < n; i += 2 * p)");
        is_refuted(cc, level, sort, earlier, "memory");
        // A table's entry that a residue chooses.
        let table = (
            "    x -= d * m;",
            "    static const uint8_t table[1 << 10] = {1, 2, 3};\n    x -= d * m + table[d & 1023];",
        );
        is_refuted(cc, level, mixed, table, "constant-time");
        // A division of a residue, as in KyberSlash.
        let division = (
            "    *r = x - (m & over);\n    return d - over;",
            "    (void)over;\n    *r = x % m;\n    return d + x / m;",
        );
        is_refuted(cc, level, mixed, division, "constant-time");
    }
}

ringforge_testing::rest!(what_clang_makes_is_constant_time, what_is_not_is_refuted,);
