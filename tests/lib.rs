//! The C library: it compiles without a warning by gcc and clang, gives the known answers on portable code and on
//! AVX2, does what its header says on good and on bad input, keeps to its prefix, and is constant time.
//!
//! Every day gcc compiles three KEMs, small and, under another prefix, for valgrind; left to `RINGFORGE_LONG=1`: all
//! KEMs by gcc and clang, compared with the models, under valgrind at three levels. The largest sets of NTRU have one build
//! there, and all of this in tests `by_hand`.

mod common;

use common::{LARGEST, in_parallel, long};
use ringforge_testing::{cc, has, needs, program as tool};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const STRICT: &[&str] =
    &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-Iinclude"];

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

fn run(command: &mut Command) -> Output {
    let out = command.current_dir(library()).output();
    let out = out.unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        out.status.success(),
        "{command:?}: {}\n{}{}",
        out.status,
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    out
}

/// All sources of the library.
fn sources() -> Vec<PathBuf> {
    let mut dirs = vec![library().join("generated")];
    dirs.extend(std::fs::read_dir(library().join("src")).unwrap().map(|d| d.unwrap().path()));
    let mut all: Vec<PathBuf> = dirs
        .iter()
        .flat_map(|dir| std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()))
        .filter(|f| f.extension() == Some(OsStr::new("c")))
        .collect();
    assert!(all.len() > 20, "only {} sources in {dirs:?}", all.len());
    // the long ones first
    all.sort_by_key(|f| std::cmp::Reverse(std::fs::metadata(f).unwrap().len()));
    all
}

/// How many others there are.
const OTHERS: usize = 19;

/// Those that these KEMs are made of: all where none is named, else without the multipliers of other rings.
fn sources_of(kems: &[&str]) -> Vec<PathBuf> {
    let rings: Vec<String> = kems
        .iter()
        .map(|kem| match kem.strip_prefix("ntrulpr") {
            Some(p) => format!("sntrup{p}_"),
            None if kem.starts_with("mlkem") => "mlkem_".into(),
            None => format!("{kem}_"),
        })
        .collect();
    let name = |f: &Path| f.file_name().unwrap().to_str().unwrap().to_owned();
    let mut all = sources();
    if !kems.is_empty() {
        all.retain(|f| {
            !f.parent().unwrap().ends_with("generated")
                || rings.iter().any(|ring| name(f).starts_with(ring))
        });
    }
    all
}

/// Options for a test with these KEMs alone, with all but the largest where none is named: of those the sources are empty.
fn enabling(kems: &[&str]) -> Vec<String> {
    let alone = (!kems.is_empty()).then_some("-DRINGFORGE_ENABLE_ALL=0");
    let (named, value) = if kems.is_empty() { (LARGEST, 0) } else { (kems, 1) };
    ["-DRINGFORGE_TESTING", "-DRINGFORGE_RANDOM=2"]
        .into_iter()
        .chain(alone)
        .map(str::to_owned)
        .chain(named.iter().map(|k| format!("-DRINGFORGE_ENABLE_{}={value}", k.to_uppercase())))
        .collect()
}

/// Compiles sources in `dir`, on all processors; returns their objects.
fn compile(cc: &str, options: &[&str], sources: &[PathBuf], dir: &Path) -> Vec<PathBuf> {
    std::fs::create_dir_all(dir).unwrap();
    let object = |source: &PathBuf| dir.join(source.file_stem().unwrap()).with_extension("o");
    in_parallel(sources, |source| {
        let mut command = Command::new(cc);
        command.args(STRICT).args(options);
        run(command.arg("-c").arg(source).arg("-o").arg(object(source)));
    });
    sources.iter().map(object).collect()
}

/// Links a test of `lib/tests`.
fn program(cc: &str, options: &[&str], name: &str, objects: &[PathBuf], dir: &Path) -> PathBuf {
    let file = dir.join(name);
    let main = format!("tests/{name}.c");
    run(Command::new(cc)
        .args(STRICT)
        .args(options)
        .arg(&main)
        .args(["tests/kems.c", "tests/random.c", "tests/nist_rng.c", "tests/sha256.c"])
        .args(objects)
        .arg("-o")
        .arg(&file));
    file
}

/// Every symbol that others can see starts with the prefix.
fn keeps_to_prefix(objects: &[PathBuf], prefix: &str) {
    let out = run(Command::new("nm").args(["--defined-only", "--extern-only", "-P"]).args(objects));
    let text = String::from_utf8(out.stdout).unwrap();
    let names: Vec<&str> = text
        .lines()
        .filter(|line| !line.ends_with(':') && !line.is_empty())
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert!(names.len() > 40, "only {} symbols", names.len());
    for name in names {
        assert!(name.starts_with(prefix), "{name} has no prefix {prefix}");
    }
}

/// What `lib/tests/test.h` calls the kinds of code: the best that runs here, without registers of 512 bits, without AVX-512,
/// and portable.
const TARGETS: [&str; 4] = ["all", "avx512vl", "avx2", "portable"];

/// The known answers of `lib/tests/kats.txt` of these KEMs (of all but the largest where none is named), on every kind of code.
fn gives_known_answers(kat: &Path, kems: &[&str]) {
    let text = std::fs::read_to_string(library().join("tests/kats.txt")).unwrap();
    let mut seen = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [name, count, hash] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("kats.txt: `{line}` is not a KEM, a number of cases and a hash")
        };
        let wanted = if kems.is_empty() { !LARGEST.contains(&name) } else { kems.contains(&name) };
        if !wanted {
            continue;
        }
        for target in TARGETS {
            let out = run(Command::new(kat).args([name, count, target]));
            assert_eq!(
                String::from_utf8(out.stdout).unwrap().trim(),
                hash,
                "{name}, {count} cases, {target}"
            );
        }
        seen += 1;
    }
    assert!(seen >= if kems.is_empty() { 13 } else { kems.len() }, "only {seen} known answers");
}

/// Keys, ciphertexts and session keys of so many KEMs, forged ones as well, are those of slow models in Python, on both kinds
/// of code.
fn agrees_with_models(cc: &str, options: &[&str], objects: &[PathBuf], dir: &Path, count: usize) {
    let shared = dir.join("models.so");
    run(Command::new(cc)
        .args(STRICT)
        .args(options)
        .args(["-shared", "tests/random.c", "tests/nist_rng.c"])
        .args(objects)
        .arg("-o")
        .arg(&shared));
    let out = run(Command::new("python3").args(["-B", "tests/model/compare.py"]).arg(&shared));
    let said = String::from_utf8(out.stdout).unwrap();
    for target in ["portable", "AVX2"] {
        assert!(
            said.contains(&format!("{target}: {count} exchanges agree with the models")),
            "{said}"
        );
    }
}

/// A name that the linker's `--wrap` knows: the test's own functions stand before the library's.
fn wrapped(prefix: &str) -> Vec<String> {
    ["sha512", "sha3_256", "sha3_512", "shake128", "shake256"]
        .map(|name| format!("-Wl,--wrap={prefix}library_{name}"))
        .to_vec()
}

/// Links `tests/ct.c` with objects; runs it under valgrind. Returns what valgrind says, if anything.
fn under_valgrind(
    cc: &str,
    options: &[&str],
    objects: &[PathBuf],
    kems: &[&str],
    dir: &Path,
) -> Option<String> {
    let file = dir.join("ct");
    run(Command::new(cc)
        .args(STRICT)
        .args(options)
        .args(["tests/ct.c", "tests/kems.c", "tests/nist_rng.c"])
        .args(objects)
        .arg("-o")
        .arg(&file));
    let mut command = Command::new("valgrind");
    command.args(["-q", "--error-exitcode=9", "--error-limit=no"]).arg(&file).args(kems);
    let out =
        command.output().unwrap_or_else(|e| panic!("{command:?}: {e}; is valgrind installed?"));
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    match out.status.code() {
        Some(0) => {
            let done =
                String::from_utf8_lossy(&out.stdout).lines().filter(|l| l.ends_with(" ok")).count();
            let wanted = if kems.is_empty() { OTHERS } else { kems.len() };
            assert!(
                done == 2 * wanted,
                "{command:?} tried {done} KEMs and targets, not {wanted} on both"
            );
            None
        }
        Some(9) => Some(said),
        _ => panic!("{command:?}: {}\n{said}", out.status),
    }
}

/// Every operation of the KEMs, on portable code and AVX2, at one level of each compiler, and every day at another of gcc's: nothing
/// that is secret reaches a branch or an address. The multipliers are those of `generated`, compiled at -O2; of `ALSO` at
/// each level. (Of every multiplier's machine code the prover says the same, see SOUNDNESS.md.)
fn is_constant_time(cc: &str, options: &[&str], kems: &[&str], generated: &[PathBuf], dir: &Path) {
    const ALSO: &[&str] =
        &["sntrup761_c", "sntrup761_avx2", "mlkem_c", "mlkem_avx2", "ntruhps2048677_avx2"];
    let is_generated = |f: &PathBuf| f.parent().unwrap().ends_with("generated");
    let (multipliers, others): (Vec<PathBuf>, Vec<PathBuf>) =
        sources_of(kems).into_iter().partition(is_generated);
    let name = |f: &Path| f.file_stem().unwrap().to_str().unwrap().to_owned();
    // Each level once: the prover says the same of both compilers' code at more of them, see tests/constant_time.rs.
    let level = match cc {
        "gcc" if long() => "-O3",
        "gcc" => "-O2",
        _ => "-O1",
    };
    let dir = dir.join(level);
    let mut all = options.to_vec();
    // valgrind reads no later format of what gcc and clang say about sources
    all.extend([level, "-DRINGFORGE_CT_TEST", "-gdwarf-4"]);
    let mut own = others.clone();
    own.extend(
        multipliers.iter().filter(|f| level != "-O2" && ALSO.contains(&name(f).as_str())).cloned(),
    );
    let mut objects = compile(cc, &all, &own, &dir);
    let have: Vec<String> = objects.iter().map(|f| name(f)).collect();
    objects.extend(generated.iter().filter(|f| !have.contains(&name(f))).cloned());
    // In the long run gcc's code of all; of clang's a KEM of each family and the largest.
    let tried: &[&str] = match (cc, kems) {
        ("gcc", _) | (_, [_, ..]) => kems,
        _ => &["sntrup761", "sntrup1277", "ntrulpr761", "mlkem512", "mlkem1024", "ntruhps2048677"],
    };
    if let Some(said) = under_valgrind(cc, &all, &objects, tried, &dir) {
        panic!("{cc} {level}: a secret reaches a branch or an address:\n{said}");
    }
    // What one key leaves on the stack is what any other leaves; valgrind's marks do nothing here.
    run(&mut Command::new(program(cc, &all, "dead_stack", &objects, &dir)));
    // And it would be found: the same with a sorter that looks its masks up in a table.
    let text = std::fs::read_to_string(library().join("src/common/sort.c")).unwrap();
    let (mask, table) = ("(uint32_t)(((uint64_t)b - a) >> 32)", "masks[b < a]");
    let leaky = text
        .replace(
            "static inline void rf_sort_two",
            "static volatile uint32_t masks[2] = {0, 0xffffffffu};\nstatic inline void rf_sort_two",
        )
        .replace(mask, table)
        .replace("#include \"", &format!("#include \"{}/src/common/", library().display()));
    assert!(text.contains(mask) && leaky.contains(table));
    let source = dir.join("leaky.c");
    std::fs::write(&source, leaky).unwrap();
    objects.retain(|f| name(f) != "sort");
    objects.extend(compile(cc, &all, &[source], &dir));
    let sorting = kems.first().unwrap_or(&"ntrulpr761");
    let said = under_valgrind(cc, &all, &objects, &[sorting], &dir);
    assert!(said.is_some_and(|s| s.contains("sort")), "{cc} {level}: a leak is not seen");
}

/// What is compiled and run: all KEMs but the largest where none is named.
struct Scope {
    prefix: Option<&'static str>,
    level: &'static str,
    kems: &'static [&'static str],
    models: bool,
    valgrind: bool,
}

fn checks(cc: &str, scope: &Scope) {
    let Scope { prefix, kems, .. } = *scope;
    let dir = tempfile::tempdir().unwrap();
    let enable = enabling(kems);
    let mut common: Vec<&str> = enable.iter().map(String::as_str).collect();
    let define = prefix.map(|p| format!("-DRINGFORGE_PREFIX={p}"));
    common.extend(define.as_deref());
    let prefix = prefix.unwrap_or("ringforge_");
    let options = [&common[..], &[scope.level, "-fPIC"]].concat();
    let objects = compile(cc, &options, &sources_of(kems), dir.path());
    keeps_to_prefix(&objects, prefix);
    let names: Vec<String> = std::fs::read_dir(library().join("generated"))
        .unwrap()
        .map(|f| f.unwrap().path())
        .map(|f| f.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let is_generated =
        |o: &&PathBuf| names.contains(&o.file_stem().unwrap().to_str().unwrap().to_owned());
    let generated: Vec<PathBuf> = objects.iter().filter(is_generated).cloned().collect();
    // Most of both is one program that runs on one processor.
    std::thread::scope(|scoped| {
        scoped.spawn(|| answers(cc, &options, scope, (&objects, prefix), dir.path()));
        if scope.valgrind && has(&["valgrind"]) {
            is_constant_time(cc, &common, kems, &generated, &dir.path().join("ct"));
        }
    });
}

/// Known answers, vectors and models, and what is said of bad input.
fn answers(
    cc: &str,
    options: &[&str],
    scope: &Scope,
    (objects, prefix): (&[PathBuf], &str),
    dir: &Path,
) {
    let kems = scope.kems;
    let kat = program(cc, options, "kat", objects, dir);
    gives_known_answers(&kat, kems);
    if kems.is_empty() {
        let vectors = program(cc, options, "mlkem_vectors", objects, dir);
        for target in TARGETS {
            let out = run(Command::new(&vectors).args(["tests/mlkem_vectors.txt", target]));
            assert_eq!(String::from_utf8_lossy(&out.stdout).matches(": 100 vectors").count(), 3);
        }
        run(&mut Command::new(program(cc, options, "mlkem_poly", objects, dir)));
    }
    if scope.models && has(&["python3"]) {
        let count = if kems.is_empty() { OTHERS } else { kems.len() };
        agrees_with_models(cc, options, objects, dir, count);
    }
    let wrapped = wrapped(prefix);
    let mut failing = [options, &["-DTEST_FAILING_HASH"]].concat();
    failing.extend(wrapped.iter().map(String::as_str));
    let test = program(cc, &failing, "kem_test", objects, dir);
    run(&mut Command::new(&test));
    // Where a hash function fails, what it would have written is not looked at.
    let few: &[&str] = match kems {
        [] => &["mlkem512", "sntrup653", "ntrulpr653", "ntruhps2048509"],
        _ => kems,
    };
    if has(&["valgrind"]) {
        run(Command::new("valgrind").args(["-q", "--error-exitcode=9"]).arg(&test).args(few));
    }
}

/// A KEM of each family under clang's sanitizer of memory: nothing uninitialised is branched on or compared, also where a
/// hash function fails. (It does not see into the vectors of inline assembly; valgrind does, above.)
#[test]
#[ignore = "in the long run"]
fn nothing_uninitialised_is_looked_at() {
    needs!("clang", "sanitizers of clang");
    let clang = tool("clang").expect("it is here");
    let dir = tempfile::tempdir().unwrap();
    let kems = ["mlkem512", "sntrup761", "ntrulpr761", "ntruhps2048509"];
    let enable = enabling(&kems);
    let mut options: Vec<&str> = enable.iter().map(String::as_str).collect();
    options.extend(["-O1", "-g", "-fsanitize=memory", "-fno-sanitize-recover=all"]);
    let objects = compile(clang, &options, &sources_of(&kems), dir.path());
    let wrapped = wrapped("ringforge_");
    options.push("-DTEST_FAILING_HASH");
    options.extend(wrapped.iter().map(String::as_str));
    run(&mut Command::new(program(clang, &options, "kem_test", &objects, dir.path())));
    // The sanitizer is there: it ends a program that looks at what it never wrote.
    let (source, file) = (dir.path().join("wrong.c"), dir.path().join("wrong"));
    let text =
        "#include <stdlib.h>\nint main(void) { char *p = malloc(1); return p[0] ? 3 : 4; }\n";
    std::fs::write(&source, text).unwrap();
    run(Command::new(clang).args(["-fsanitize=memory", "-o"]).args([&file, &source]));
    let ended = Command::new(&file).output().unwrap();
    assert!(String::from_utf8_lossy(&ended.stderr).contains("use-of-uninitialized-value"));
}

/// A program that defines a function by the name of a hook replaces nothing, unless the library was compiled for that.
#[test]
fn hooks_are_replaced_at_build_time_alone() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
        #include <string.h>
        #include "ringforge_kem.h"
        int ringforge_randombytes(uint8_t *out, size_t len);
        int ringforge_sha3_256(uint8_t out[32], const uint8_t *in, size_t len);
        static int calls;
        int ringforge_randombytes(uint8_t *out, size_t len)
        {
            calls++;
            memset(out, 7, len);
            return 0;
        }
        int ringforge_sha3_256(uint8_t out[32], const uint8_t *in, size_t len)
        {
            (void)in, (void)len;
            calls++;
            memset(out, 7, 32);
            return 0;
        }
        int main(void)
        {
            static uint8_t pk[2][RINGFORGE_MLKEM512_PUBLICKEYBYTES], sk[RINGFORGE_MLKEM512_SECRETKEYBYTES];
            if (ringforge_crypto_kem_mlkem512_keypair(pk[0], sk) != 0 ||
                ringforge_crypto_kem_mlkem512_keypair(pk[1], sk) != 0)
                return 2;
            return calls > 0 && memcmp(pk[0], pk[1], sizeof pk[0]) == 0 ? 10 : calls > 0 ? 3 : 0;
        }
"#;
    std::fs::write(dir.path().join("own.c"), text).unwrap();
    let wanted = ["common", "mlkem"].map(|d| library().join("src").join(d));
    let needed: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|s| {
            wanted.contains(&s.parent().unwrap().into()) || s.to_str().unwrap().contains("/mlkem_")
        })
        .collect();
    for (hooks, code) in [("0", 0), ("2", 10)] {
        let random = format!("-DRINGFORGE_RANDOM={hooks}");
        let options = ["-DRINGFORGE_ENABLE_ALL=0", "-DRINGFORGE_ENABLE_MLKEM512=1", "-O1", &random];
        let at = dir.path().join(hooks);
        let objects = compile(cc(), &options, &needed, &at);
        let (archive, own) = (at.join("library.a"), at.join("own"));
        run(Command::new("ar").arg("rcs").arg(&archive).args(objects));
        run(Command::new(cc())
            .args(STRICT)
            .args(options)
            .arg(dir.path().join("own.c"))
            .arg(&archive)
            .arg("-o")
            .arg(&own));
        let status = Command::new(&own).status().unwrap();
        assert_eq!(status.code(), Some(code), "RINGFORGE_RANDOM={hooks}");
    }
}

/// One KEM of each family every day, all in the long run.
fn some_kems() -> &'static [&'static str] {
    if long() { &[] } else { &["sntrup761", "mlkem768", "ntruhps2048677"] }
}

/// A result that nobody looks at is a warning: after a failed call a session key is zeros.
#[test]
fn results_must_be_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let call = "ringforge_crypto_kem_mlkem768_dec(ss, ct, sk)";
    for cc in common::compilers() {
        for (name, body, warns) in
            [("ignored", format!("{call};"), true), ("looked_at", format!("return {call};"), false)]
        {
            let source = dir.path().join(name).with_extension("c");
            let text = format!(
                "#include \"ringforge_kem.h\"\nint f(uint8_t *ss, uint8_t *ct, uint8_t *sk);\n\
                 int f(uint8_t *ss, uint8_t *ct, uint8_t *sk)\n{{\n    {body}\n    return 0;\n}}\n"
            );
            std::fs::write(&source, text).unwrap();
            let mut command = Command::new(cc);
            command.current_dir(library()).args(STRICT).arg("-c").arg(&source);
            command.arg("-o").arg(source.with_extension("o"));
            let out = command.output().unwrap();
            let said = String::from_utf8_lossy(&out.stderr);
            assert_eq!(said.contains("unused-result"), warns, "{command:?}: {said}");
            assert_eq!(out.status.success(), !warns, "{command:?}: {said}");
        }
    }
}

/// Nor does the code for this very processor warn, with all that compilers know of its lengths.
#[test]
fn code_for_this_processor_compiles_without_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let mut own = sources();
    own.retain(|f| long() || f.parent().unwrap().ends_with("src/mlkem"));
    // clang 19 warns of its own name for some processors with AVX10, whatever it compiles.
    let flags =
        ["-O3", "-march=native", "-Wno-unknown-warning-option", "-Wno-invalid-feature-combination"];
    let compilers = common::compilers();
    for (i, cc) in compilers.iter().enumerate() {
        // Every compiler takes all that people wrote, and multipliers in turn.
        let mut turn = i;
        let own: Vec<PathBuf> = own
            .iter()
            .filter(|f| {
                let generated = f.parent().unwrap().ends_with("generated");
                turn += usize::from(generated);
                !generated || turn.is_multiple_of(compilers.len())
            })
            .cloned()
            .collect();
        compile(cc, &flags, &own, &dir.path().join(cc));
    }
}

/// Without a C library, as on wasm32-unknown-unknown, everything compiles but the system's random bytes.
#[test]
fn no_c_library_is_needed() {
    let Some(clang) = tool("clang") else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut own = sources();
    own.retain(|f| !f.parent().unwrap().ends_with("generated"));
    for form in ["-DRINGFORGE_SMALL=0", "-DRINGFORGE_SMALL=1"] {
        let options = ["--target=wasm32-unknown-unknown", "-O1", "-DRINGFORGE_RANDOM=2", form];
        compile(clang, &options, &own, dir.path());
    }
}

/// With `RINGFORGE_CHECK_PAIRS` a pair of keys that a fault has spoiled is an error.
#[test]
fn new_pairs_are_tried() {
    let dir = tempfile::tempdir().unwrap();
    let kems = ["sntrup761", "mlkem768"];
    let enable = enabling(&kems);
    let wrapped = wrapped("ringforge_");
    let mut options: Vec<&str> = enable.iter().map(String::as_str).collect();
    options.extend(["-O1", "-DRINGFORGE_CHECK_PAIRS=1"]);
    let objects = compile("gcc", &options, &sources_of(&kems), dir.path());
    gives_known_answers(&program("gcc", &options, "kat", &objects, dir.path()), &kems);
    options.push("-DTEST_FAILING_HASH");
    options.extend(wrapped.iter().map(String::as_str));
    run(&mut Command::new(program("gcc", &options, "kem_test", &objects, dir.path())));
}

/// Code that is not optimised leaves secrets on the stack, and so is refused with a sentence, unless that is accepted.
#[test]
fn unoptimised_code_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for cc in common::compilers() {
        for (options, says) in [
            (&["-O0"][..], true),
            (&["-g"], true),
            (&["-O0", "-DRINGFORGE_UNOPTIMIZED"], false),
            (&["-O1"], false),
            (&["-Os"], false),
            (&["-Og"], false),
        ] {
            let mut command = Command::new(cc);
            command.current_dir(library()).args(STRICT).args(options);
            command.args(["-c", "src/common/cpu.c", "-o"]).arg(dir.path().join("cpu.o"));
            let out = command.output().unwrap();
            let said = String::from_utf8_lossy(&out.stderr);
            assert_eq!(said.contains("compile with -O1 or more"), says, "{command:?}: {said}");
            assert_eq!(out.status.success(), !says, "{command:?}: {said}");
        }
    }
}

/// One level, since most of the time goes into compiling multipliers; with valgrind, both compilers have another.
const SOME_LEVELS: [(&str, &str); 1] = [("clang", "-Os")];
/// The others that are not refused.
const OTHER_LEVELS: [(&str, &str); 7] = [
    ("gcc", "-O3"),
    ("gcc", "-O1"),
    ("gcc", "-Os"),
    ("gcc", "-O2"),
    ("clang", "-O1"),
    ("clang", "-O2"),
    ("clang", "-O3"),
];

/// Of no operation of any KEM anything stays on the stack, in either form, as each compiler makes them.
#[test]
#[ignore = "in the long run"]
fn nothing_of_a_key_stays() {
    nothing_stays(&SOME_LEVELS, &[]);
}

#[test]
#[ignore = "minutes"]
fn by_hand_nothing_of_a_key_stays_at_the_other_levels() {
    nothing_stays(&OTHER_LEVELS, &[]);
}

#[test]
#[ignore = "minutes"]
fn by_hand_nothing_of_the_largest_keys_stays() {
    nothing_stays(&SOME_LEVELS, LARGEST);
    nothing_stays(&OTHER_LEVELS, LARGEST);
}

fn nothing_stays(builds: &[(&str, &str)], kems: &[&str]) {
    let enable = enabling(kems);
    let options: Vec<&str> = enable.iter().map(String::as_str).collect();
    // Most of what there is to compile: the same in either form, but that the small one calls no vector code.
    let (multipliers, schemes): (Vec<PathBuf>, Vec<PathBuf>) =
        sources_of(kems).into_iter().partition(|f| f.parent().unwrap().ends_with("generated"));
    let same = |f: &PathBuf| !fs::read_to_string(f).unwrap().contains("_SMALL");
    assert!(multipliers.iter().all(same));
    let (portable, vectors): (Vec<PathBuf>, Vec<PathBuf>) =
        multipliers.into_iter().partition(|f| f.to_str().unwrap().ends_with("_c.c"));
    for &(cc, level) in builds {
        let Some(cc) = tool(cc) else { continue };
        let dir = tempfile::tempdir().unwrap();
        let common = [&options[..], &[level]].concat();
        let mut shared = compile(cc, &common, &vectors, &dir.path().join("vectors"));
        // Where all else has -O3, the Makefile compiles these with -O2.
        let slow = [&options[..], &[if level == "-O3" { "-O2" } else { level }]].concat();
        shared.extend(compile(cc, &slow, &portable, &dir.path().join("portable")));
        for form in ["-DRINGFORGE_SMALL=0", "-DRINGFORGE_SMALL=1"] {
            let own = [&common[..], &[form]].concat();
            let mut objects = compile(cc, &own, &schemes, &dir.path().join(form));
            objects.extend(shared.iter().cloned());
            run(&mut Command::new(program(cc, &own, "dead_stack", &objects, dir.path())));
        }
    }
}

/// The form for firmware on this machine: known answers, and nothing of a key is left behind.
#[test]
fn the_small_form_gives_the_same_answers() {
    // The two whose `check_sk` takes more stack than any other operation of theirs did.
    let kems: &[&str] = match some_kems() {
        [] => &[],
        _ => &["sntrup761", "ntrulpr761", "mlkem768", "ntruhps2048677"],
    };
    let dir = tempfile::tempdir().unwrap();
    let enable = enabling(kems);
    let mut options: Vec<&str> = enable.iter().map(String::as_str).collect();
    options.extend(["-DRINGFORGE_SMALL=1", "-Os"]);
    // It calls no vector code.
    let mut own = sources_of(kems);
    own.retain(|f| {
        !f.parent().unwrap().ends_with("generated") || f.to_str().unwrap().ends_with("_c.c")
    });
    let objects = compile(cc(), &options, &own, dir.path());
    gives_known_answers(&program(cc(), &options, "kat", &objects, dir.path()), kems);
    run(&mut Command::new(program(cc(), &options, "dead_stack", &objects, dir.path())));
}

#[test]
fn the_library_with_gcc() {
    needs!("gcc");
    let kems = some_kems();
    let prefix = Some("other_"); // which the models do not know
    checks("gcc", &Scope { prefix, level: "-O2", kems, models: false, valgrind: true });
}

#[test]
#[ignore = "in the long run"]
fn the_library_with_clang() {
    let Some(clang) = tool("clang") else { return };
    let scope = Scope { prefix: None, level: "-O2", kems: &[], models: true, valgrind: true };
    checks(clang, &scope);
}

#[test]
#[ignore = "in the long run"]
fn the_largest_sets_of_ntru() {
    let Some(clang) = tool("clang") else { return };
    let scope = Scope { prefix: None, level: "-O2", kems: LARGEST, models: false, valgrind: false };
    checks(clang, &scope);
}

#[test]
#[ignore = "minutes"]
fn by_hand_the_largest_sets_of_ntru_by_both_compilers() {
    for cc in ["gcc", "clang"].into_iter().filter_map(tool) {
        let scope =
            Scope { prefix: None, level: "-O2", kems: LARGEST, models: true, valgrind: true };
        checks(cc, &scope);
    }
}

ringforge_testing::rest!(the_small_form_gives_the_same_answers, the_library_with_gcc,);
