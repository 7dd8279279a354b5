//! The library's small form (`RINGFORGE_SMALL`) for Cortex-M4: known answers in qemu-arm, flash and stack within limits (and
//! the usual form's known answers); the template of its products proved at a small size, there and on this machine; and under the contracts of
//! `lib/contracts/cortex_m4` whole operations constant time with a clean stack, products and transforms proved.
//!
//! Every day sntrup761 by gcc and clang and ML-KEM-512 by gcc at -Os, and the encapsulation and decapsulation of the latter
//! proved; left to the long command: all five KEMs by both, and everything proved, by gcc.

mod common;

use common::{Sandbox, long, m4_compilers, run, share};
use std::path::{Path, PathBuf};
use std::process::Command;

const KEMS: &[&str] = &["sntrup761", "mlkem512", "ntrulpr761", "mlkem768", "ntruhps2048677"];

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

/// What lib/tests/cortex_m4.sh finds: bytes of flash, and of stack of keypair, enc and dec.
fn measured(dir: &Path, how: &str, kem: &str) -> (usize, Vec<usize>) {
    let script = library().join("tests/cortex_m4.sh");
    let line = run(Command::new(script).arg(dir).arg(how).arg(kem));
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!((words.len(), words.first()), (5, Some(&kem)), "{line}");
    let mut numbers =
        words[1..].iter().map(|w| w.parse().unwrap_or_else(|e| panic!("{line}: {e}")));
    (numbers.next().unwrap(), numbers.collect())
}

/// The prover's answer in JSON.
fn proved(object: &Path, contract: &Path) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ringforge"));
    let command =
        command.args(["prove", "--json"]).arg(object).arg("--contract").arg(contract).output();
    let out = command.unwrap();
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)))
}

/// Bytes that a KEM may take: those of sntrup761 are a promise; of the others a little more than they take today.
fn limits(kem: &str) -> (usize, usize) {
    match kem {
        "sntrup761" => (24 << 10, 16 << 10),
        "ntrulpr761" => (10 << 10, 10 << 10),
        "ntruhps2048677" => (9 << 10, 9 << 10),
        "mlkem768" => (7 << 10, 6 << 10),
        _ => (7 << 10, 5 << 10),
    }
}

/// The KEM as a compiler makes it in `dir`, at -Os.
fn keeps_its_promises(cc: &str, kem: &str, dir: &Path) {
    let (flash, stack) = measured(dir, &format!("{cc} -Os -DRINGFORGE_SMALL=1"), kem);
    let (most_flash, most_stack) = limits(kem);
    assert!((1000..=most_flash).contains(&flash), "{kem} by {cc}: {flash} bytes of flash");
    for bytes in &stack {
        assert!((1000..=most_stack).contains(bytes), "{kem} by {cc}: {stack:?} bytes of stack");
    }
}

#[test]
fn small_kems_give_known_answers_and_fit() {
    let compilers = m4_compilers();
    std::thread::scope(|scope| {
        // In the long run gcc's are looked at where they are proved.
        for (i, (cc, _)) in compilers.iter().enumerate().skip(usize::from(long())) {
            scope.spawn(move || {
                for kem in share(KEMS, if i == 0 { &[0, 1] } else { &[0] }) {
                    let dir = tempfile::tempdir().unwrap();
                    keeps_its_promises(cc, kem, dir.path());
                }
            });
        }
    });
}

/// The usual form, where there are no vectors.
#[test]
fn the_usual_form_gives_known_answers() {
    let Some((cc, _)) = m4_compilers().into_iter().next() else { return };
    for kem in share(KEMS, &[0]) {
        let dir = tempfile::tempdir().unwrap();
        let (flash, _) = measured(dir.path(), &format!("{cc} -O2"), kem);
        assert!(flash > limits(kem).0, "{kem}: {flash} bytes of flash");
    }
}

/// All objects of a KEM that the script made, in one; what else they call is the compiler's library.
fn linked(dir: &Path, kem: &str) -> PathBuf {
    let files = std::fs::read_dir(dir.join(kem)).unwrap().map(|f| f.unwrap().path());
    let objects: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == "o")).collect();
    assert!(objects.len() > 5, "{objects:?}");
    let all = dir.join(kem).join("all.x");
    run(Command::new("arm-none-eabi-ld").args(["-r", "-o"]).arg(&all).args(objects));
    all
}

/// Proves a KEM of gcc's under contracts of `lib/contracts/cortex_m4`, each with its number of functions.
fn is_proved(kem: &str, contracts: &[(&str, usize)]) {
    let Some((cc, _)) = m4_compilers().into_iter().next() else { return };
    let dir = tempfile::tempdir().unwrap();
    keeps_its_promises(cc, kem, dir.path());
    let all = linked(dir.path(), kem);
    for (name, functions) in contracts {
        let contract = library().join("contracts/cortex_m4").join(name).with_extension("toml");
        let started = std::time::Instant::now();
        let report = proved(&all, &contract);
        assert_eq!(report["verdict"], "proved", "{name}: {report:#}");
        let object = &report["objects"][0];
        println!("{name}: {:.1} s", started.elapsed().as_secs_f64());
        // A product's report is of one function.
        let Some(found) = object["functions"].as_array() else {
            assert_eq!(*functions, 1, "{name}: {report:#}");
            continue;
        };
        assert_eq!(found.len(), *functions, "{name}: {report:#}");
        for f in found {
            assert!(f["instructions"].as_u64() >= Some(1000), "{f:#}");
            assert!(f["stack_bytes"].as_u64() <= Some(limits(kem).1 as u64), "{f:#}");
        }
    }
}

/// The library's own recipe proves what it compiles for this processor.
#[test]
#[ignore = "in the long run"]
fn make_proves_the_small_form() {
    let Some((cc, _)) = m4_compilers().into_iter().find(|(cc, _)| cc.ends_with("gcc")) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut make = Command::new("make");
    make.arg("-C").arg(library()).args([
        "prove",
        "SMALL=1",
        "RANDOM=2",
        "KEMS=sntrup761",
        "CFLAGS=-Os",
    ]);
    make.arg(format!("CC={cc} -mcpu=cortex-m4 -mthumb"));
    make.arg(format!("BUILD={}", dir.path().display()));
    make.arg(concat!("RINGFORGE=", env!("CARGO_BIN_EXE_ringforge")));
    let said = run(&mut make);
    assert!(said.contains("all.o: 6 of 6 proved"), "{said}");
}

#[test]
fn ml_kem_is_constant_time() {
    is_proved("mlkem512", &[("mlkem512", 7)]);
}

#[test]
#[ignore = "in the long run"]
fn ml_kem_is_proved() {
    let transforms = [("mlkem_forward", 1), ("mlkem_inverse", 1), ("mlkem_accumulate", 1)];
    let operations = [("mlkem512", 7), ("mlkem512_keypair", 2)];
    is_proved("mlkem512", &[&operations[..], &transforms].concat());
    is_proved("mlkem768", &[("mlkem768", 7), ("mlkem768_keypair", 2)]);
}

#[test]
#[ignore = "in the long run"]
fn ntru_prime_is_proved() {
    is_proved("sntrup761", &[("sntrup761", 4), ("sntrup761_keypair", 1), ("sntrup761_product", 1)]);
    is_proved("ntrulpr761", &[("ntrulpr761", 4), ("ntrulpr761_keypair", 1)]);
}

#[test]
#[ignore = "in the long run"]
fn ntru_is_proved() {
    let operations = [("ntruhps2048677", 2), ("ntruhps2048677_keypair", 1)];
    is_proved("ntruhps2048677", &[&operations[..], &[("ntruhps2048677_product", 1)]].concat());
}

/// The template of the small product, in a small ring.
const SMALL: &str = "
#include \"common.h\"
#define RF_S(name) rf_small_##name
#define RF_MUL small_mul
#define RF_MUL_DEGREE 17
#define RF_MUL_TRINOMIAL 1
#define RF_MUL_SUM int32_t
#define RF_MUL_REDUCED centred
void RF_MUL(int16_t c[17], const int16_t a[17], const int16_t b[17]);
static int16_t centred(int32_t x)
{
    int32_t t = x + 2295 - 4591 * (int32_t)(((int64_t)x * 935518) >> 32);
    t -= 4591 & ~((t - 4591) >> 31);
    return (int16_t)(t - 2295);
}
";

#[test]
fn the_small_product_is_proved_and_mistakes_in_it_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let template = std::fs::read_to_string(library().join("src/common/mul_small.inc")).unwrap();
    let contract = |abi: &str| {
        let argument = |name: &str, role: &str, most: i32| {
            format!(
                "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = 17\n\
                 align = 2\nrange = [-{most}, {most}]\n"
            )
        };
        format!(
            "contract = 1\nsymbol = \"small_mul\"\nabi = \"{abi}\"\nring = \"Z4591[x]/(x^17 - x - 1)\"\n\
             computes = \"product\"\nalias = [[\"c\", \"a\"], [\"c\", \"b\"]]\n{}{}{}",
            argument("c", "output", 2295),
            argument("a", "input", 2295),
            argument("b", "input", 1)
        )
    };
    let verdict = |cc: &str, target: &[&str], abi: &str, text: &str| {
        let file = |name: &str| dir.path().join(name);
        std::fs::write(file("small.c"), format!("{SMALL}{text}")).unwrap();
        std::fs::write(file("small.toml"), contract(abi)).unwrap();
        run(Command::new(cc)
            .args(target)
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-Os", "-DRINGFORGE_SMALL=1"])
            .args(["-Iinclude", "-Isrc/common", "-c", "-o"])
            .args([file("small.o"), file("small.c")])
            .current_dir(library()));
        proved(&file("small.o"), &file("small.toml"))
    };
    let newlib = ["-isystem", "/usr/include/newlib"];
    let mut found = 0;
    for (cc, target) in m4_compilers() {
        let target = [target, if cc.starts_with("clang") { &newlib } else { &[] }].concat();
        let report = verdict(cc, &target, "aapcs", &template);
        assert_eq!(report["verdict"], "proved", "{cc}: {report:#}");
        found += 1;
    }
    // Without pairs, on this machine.
    let report = verdict(ringforge_testing::cc(), &[], "sysv-x86-64", &template);
    assert_eq!(report["verdict"], "proved", "{report:#}");
    for (right, wrong) in [
        ("{0, -1, 1}", "{0, 1, 1}"),
        ("to > RF_MUL_DEGREE", "to > RF_MUL_DEGREE + 4"),
        ("sum + to + 1, s", "sum + to + 2, s"),
        ("before_o = e[RF_ROW / 2 - 2]", "before_o = e[RF_ROW / 2 - 1]"),
        ("4 * t + 4 < RF_QUARTER ? 4 * t + 4", "4 * t + 4 < RF_QUARTER ? 4 * t"),
        ("RF_QUARTER + 3 - i", "RF_QUARTER + 2 - i"),
        ("for (i = 1; i < 4; i++)", "for (i = 1; i < 2; i++)"),
    ] {
        assert_eq!(template.matches(right).count(), 1, "{right}");
        let text = template.replace(right, wrong);
        for (cc, target) in m4_compilers().into_iter().take(1) {
            let report = verdict(cc, target, "aapcs", &text);
            assert_eq!(report["verdict"], "refuted", "{wrong} by {cc}: {report:#}");
        }
        let report = verdict(ringforge_testing::cc(), &[], "sysv-x86-64", &text);
        assert_eq!(report["verdict"], "refuted", "{wrong}: {report:#}");
    }
    println!("{found} compilers for Cortex-M4");
}

/// By its own schedule: transforms, base products and their sums are whole loops of assembly.
#[test]
fn ml_kem_is_forged_with_its_sums_of_products() {
    if !ringforge_testing::has(&["arm-none-eabi-gcc", "qemu-arm"]) {
        return;
    }
    let dir = Sandbox::new();
    dir.ringforge(&[
        "forge",
        "mlkem",
        "--target",
        "m4",
        "--no-bench",
        "--pairs",
        "20",
        "--out",
        "p",
    ])
    .succeeds();
    let proof: serde_json::Value = serde_json::from_str(&dir.read("p/proof.json")).unwrap();
    for name in ["mul", "forward", "inverse", "base", "inner2", "inner3", "inner4"] {
        let symbol = format!("mlkem_{name}_m4");
        assert!(proof.to_string().contains(&symbol), "{symbol}: {proof:#}");
    }
    assert_eq!(proof["verdict"], "proved");
}

ringforge_testing::rest!(small_kems_give_known_answers_and_fit, the_usual_form_gives_known_answers,);
