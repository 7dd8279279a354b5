//! `ringforge package`: the sources stand alone, compile without a warning, keep to their prefix, pass their tests,
//! and their multipliers are proved; bad input leaves nothing behind.
//!
//! Left to the long run: a package of sntrup761 with its proofs, many KEMs in one source, OpenSSH's file with proofs,
//! sanitizers and OpenSSH's own options, and other projects' files but for their small forms.

mod common;

use common::{Run, Sandbox, long, run, share};
use std::path::Path;
use std::process::Command;

const STRICT: &[&str] =
    &["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-O1"];

/// Compiles sources strictly; every symbol that others see has the prefix.
fn compiles_and_keeps_to_its_prefix(cc: &str, dir: &Path, sources: &[String], prefix: &str) {
    let mut defined = 0;
    for source in sources {
        let object = dir.join(source).with_extension(format!("{cc}.o"));
        run(Command::new(cc).args(STRICT).arg("-c").arg(dir.join(source)).arg("-o").arg(&object));
        let text = run(Command::new("nm").args(["--extern-only", "-P"]).arg(&object));
        for line in text.lines() {
            let [name, kind] = line.split(' ').take(2).collect::<Vec<_>>()[..] else { continue };
            defined += usize::from(kind != "U");
            // What is called from outside is the system's or C's own.
            let system = [
                "memcpy",
                "memset",
                "memcmp",
                "memmove",
                "bcmp",
                "strcmp",
                "getrandom",
                "__errno_location",
                "__cpu_model",
                "__cpu_features2",
            ];
            let own = kind == "U" && (system.contains(&name) || name.starts_with("__stack_chk"));
            let table = name == "_GLOBAL_OFFSET_TABLE_" || name == "__cpu_indicator_init";
            assert!(name.starts_with(prefix) || own || table, "{source} by {cc}: {line}");
        }
    }
    assert!(defined > 10, "only {defined} symbols in {sources:?}");
}

fn listing(dir: &Path, extension: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(extension))
        .collect();
    names.sort();
    names
}

#[test]
#[ignore = "in the long run"]
fn a_package_of_sntrup761_stands_alone() {
    let dir = Sandbox::new();
    let made = dir
        .ringforge(&["package", "sntrup761", "--target", "c,avx2", "--prefix", "my_", "-o", "out"])
        .succeeds();
    for said in [
        "my_sntrup761_mul_avx2 is proved",
        "my_sntrup761_mul_c is proved",
        "sntrup761: 100 known-answer tests passed",
        "sntrup761: bytes of stack: keypair ",
        "bytes of code by ",
    ] {
        assert!(made.stdout.contains(said), "no {said:?} in {made:?}");
    }
    let out = dir.path().join("out");
    let sources: Vec<String> =
        listing(&out.join("src"), ".c").iter().map(|name| format!("src/{name}")).collect();
    let has = |name: &str| sources.iter().any(|s| s == &format!("src/{name}.c"));
    assert!(has("prime761") && has("sntrup761_avx2") && has("sntrup761_c"), "{sources:?}");
    // What other KEMs need stays away.
    assert!(!has("aes") && !has("poly") && !has("hash_builtin_sha3"), "{sources:?}");
    let header = dir.read("out/my_kem.h");
    assert!(
        header.contains("sntrup761")
            && !header.contains("ntrulpr")
            && !header.contains("DECLARE_MLKEM")
    );
    for (name, text) in
        listing(&out.join("src"), "").iter().map(|n| (n, dir.read(&format!("out/src/{n}"))))
    {
        assert!(!text.contains("ringforge_") && !text.contains("RINGFORGE_"), "{name}");
        assert!(!text.contains("ENABLE_") && !text.contains("RF_NEED"), "{name}");
    }

    for cc in common::compilers() {
        compiles_and_keeps_to_its_prefix(cc, &out, &sources, "my_");
        compiles_and_keeps_to_its_prefix(cc, &out, &["my_kem.c".into()], "my_");
    }
    ringforge_testing::needs!("make");
    let checked = run(Command::new("make")
        .args(["-j2", "check", "size", "CFLAGS=-O1 -Werror"])
        .current_dir(&out));
    assert!(checked.contains("sntrup761 ok"), "{checked}");
    assert_eq!(checked.matches("sntrup761: 100 known answers").count(), 2, "{checked}");
    let stack = |operation: &str| -> u64 {
        let line = checked.lines().find_map(|l| l.strip_prefix(&format!("sntrup761 {operation} ")));
        line.and_then(|bytes| bytes.parse().ok())
            .unwrap_or_else(|| panic!("{operation}: {checked}"))
    };
    assert!((2_000..100_000).contains(&stack("enc")), "{checked}");
    assert!((2_000..200_000).contains(&stack("keypair")), "{checked}");

    // Contracts are for the objects of the package's own Makefile, too.
    let contract = "contracts/my_sntrup761_mul_c.toml";
    assert!(
        dir.read(&format!("out/{contract}"))
            .contains(&format!("build/src/sntrup761_c.o --contract {contract}"))
    );
    let proofs: serde_json::Value =
        serde_json::from_str(&dir.read("out/proofs.json")).expect("JSON");
    assert_eq!(proofs["verdict"], "proved");
    assert_eq!(proofs["multipliers"].as_array().map(Vec::len), Some(2));
    assert!(dir.read("out/README.md").contains("| `my_sntrup761_mul_avx2` | proved |"));
}

#[test]
fn one_source_is_included_by_a_program() {
    let dir = Sandbox::new();
    let words = [
        "package",
        "mlkem512",
        "--prefix=app_",
        "--amalgamated",
        "--no-prove",
        "--opt=-O1",
        "-o",
        "kem",
    ];
    let made = dir.ringforge(&words);
    // Nobody tried a proof, so it is not known.
    assert_eq!(made.status, 1, "{made:?}");
    assert!(made.stdout.contains("not tried (--no-prove)"), "{made:?}");
    // The page shows the stack that it takes, but for a frame of another compiler or target.
    let [page, said] = [library_page(), made.stdout.clone()].map(|text| {
        let line = text.lines().find(|l| l.starts_with("mlkem512: bytes of stack: "));
        let line = line.expect("a line of stack").replace(',', "");
        let words = line.split(' ').filter_map(|word| word.parse::<i64>().ok());
        words.collect::<Vec<_>>()
    });
    assert!(said.len() == 3 && page.len() == 3, "{page:?} {said:?}");
    assert!(page.iter().zip(&said).all(|(a, b)| (a - b).abs() <= 256), "{page:?} {said:?}");
    let all = ["app_config.h", "app_kem.c", "app_kem.h", "files.sha256"];
    assert_eq!(listing(&dir.path().join("kem"), ""), all);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib/examples/amalgamated.c");
    for cc in common::compilers() {
        let program = dir.path().join(cc);
        let mut command = Command::new(cc);
        command.args(STRICT).arg("-Ikem").arg(&example).arg("-o").arg(&program);
        run(command.current_dir(dir.path()));
        assert_eq!(run(&mut Command::new(program)), "three session keys\n");
    }

    // Made again, it replaces what it wrote, keeps what somebody changed or added, and names what it did not replace.
    let written = dir.read("kem/app_kem.c");
    let older = written.replace("Made by", "Made before by");
    let list = dir.read("kem/files.sha256");
    run(Command::new("sha256sum")
        .args(["--check", "files.sha256"])
        .current_dir(dir.path().join("kem")));
    dir.file("kem/app_kem.c", &older);
    let digest = run(Command::new("sha256sum").arg("kem/app_kem.c").current_dir(dir.path()));
    let digest = digest.split(' ').next().unwrap();
    let of = |line: &str| match line.ends_with("  app_kem.c") {
        true => format!("{digest}  app_kem.c\n"),
        false => format!("{line}\n"),
    };
    dir.file("kem/files.sha256", &list.lines().map(of).collect::<String>());
    let changed = dir.read("kem/app_config.h") + "/* mine */\n";
    dir.file("kem/app_config.h", &changed);
    std::fs::create_dir(dir.path().join("kem/notes")).unwrap();
    dir.file("kem/notes/mine.txt", "mine\n");
    // A file that this package no longer has, changed.
    std::fs::create_dir(dir.path().join("kem/src")).unwrap();
    dir.file("kem/src/gone.c", "int mine;\n");
    let listed = dir.read("kem/files.sha256") + &format!("{digest}  src/gone.c\n");
    dir.file("kem/files.sha256", &listed);
    let again = dir.ringforge(&[&["--quiet"], &words[..]].concat());
    assert_eq!(again.status, 1, "{again:?}");
    let covers = "the proofs do not cover it. Delete it and rerun to update";
    let said = format!(
        "warning: kept your modified app_config.h; {covers}\n\
         warning: kept your modified src/gone.c; this package no longer has it. Delete it unless you need it\n"
    );
    assert_eq!(again.stderr, said);
    assert_eq!(dir.read("kem/app_kem.c"), written);
    assert_eq!(dir.read("kem/app_config.h"), changed);
    assert_eq!(dir.read("kem/notes/mine.txt"), "mine\n");
    assert_eq!(dir.read("kem/files.sha256"), list + &format!("{digest}  src/gone.c\n"));
    // Nor is it forgotten.
    let third = dir.ringforge(&[&["--quiet"], &words[..]].concat());
    assert_eq!((third.status, third.stderr), (1, said));
    // Without the list, nobody knows whose the files are.
    std::fs::remove_file(dir.path().join("kem/files.sha256")).unwrap();
    dir.ringforge(&words).fails(2, &["kem is in the way", "which ringforge did not write"]);
}

fn library_page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kem-library.md");
    std::fs::read_to_string(page).expect("the page")
}

/// The page's table of stack has every KEM, with what the contracts of its operations allow on both machines.
#[test]
fn the_page_states_the_stack_of_the_contracts() {
    let page = library_page();
    let table = page.split("\n## Stack\n").nth(1).and_then(|t| t.split("\n## ").next());
    let rows = table.expect("the section").lines().filter(|line| line.starts_with("| `"));
    let cells: Vec<&str> = rows.flat_map(|r| r.split('|').map(str::trim)).collect();
    let cells: Vec<&str> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
    let contracts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib/contracts");
    let mut kems = Vec::new();
    for pair in cells.chunks(2) {
        let (kem, bytes) = (pair[0].trim_matches('`'), pair[1].replace(',', ""));
        for file in ["", "_keypair"] {
            for folder in ["", "aarch64"] {
                let file = contracts.join(folder).join(format!("{kem}{file}.toml"));
                let text = std::fs::read_to_string(&file).expect("a contract");
                let functions = text.split("[[function]]").skip(1);
                let operations = functions.filter(|f| f.contains("_crypto_kem_"));
                let stacks: Vec<&str> = operations
                    .filter_map(|f| f.lines().find_map(|line| line.strip_prefix("stack = ")))
                    .collect();
                assert!(
                    !stacks.is_empty() && stacks.iter().all(|s| *s == bytes),
                    "{file:?}: {bytes}"
                );
            }
        }
        kems.push(format!("{kem}_keypair.toml"));
    }
    kems.sort();
    let mut all = listing(&contracts, "_keypair.toml");
    all.sort();
    assert_eq!(kems, all);
}

/// All KEMs at once fit into one source, for portable C alone.
#[test]
#[ignore = "in the long run"]
fn all_kems_are_one_source() {
    let dir = Sandbox::new();
    let kems =
        "sntrup653,ntrulpr653,sntrup761,ntrulpr761,mlkem512,mlkem768,ntruhps2048509,ntruhrss701";
    let made = dir.ringforge(&[
        "--quiet",
        "package",
        kems,
        "--target=c",
        "--amalgamated",
        "--no-prove",
        "--opt=-O1",
        "-o",
        "all",
    ]);
    assert_eq!((made.status, made.stderr.as_str()), (1, ""), "{made:?}");
    let out = dir.path().join("all");
    for cc in common::compilers() {
        compiles_and_keeps_to_its_prefix(cc, &out, &["ringforge_kem.c".into()], "ringforge_");
    }
    assert!(!dir.read("all/ringforge_kem.c").contains("immintrin"));
}

/// `--as openssh`: OpenSSH's part is played by lib/tests/openssh.
#[test]
fn a_source_takes_the_place_of_openssh_s() {
    let dir = Sandbox::new();
    let mut words = vec!["package", "sntrup761", "--as", "openssh", "-o", "out"];
    if !long() {
        words.extend(["--no-prove", "--opt=-O1"]);
    }
    let made = dir.ringforge(&words);
    assert_eq!(made.status, i32::from(!long()), "{made:?}");
    assert!(made.stdout.contains("sntrup761: 100 known-answer tests passed"), "{made:?}");
    if long() {
        for machine in ["c", "avx2"] {
            let said = format!("ringforge_sntrup761_mul_{machine} is proved");
            assert!(made.stdout.contains(&said), "{made:?}");
        }
    }
    let out = dir.path().join("out");
    assert_eq!(listing(&out, ""), ["contracts", "files.sha256", "sntrup761.c"]);
    assert_eq!(
        listing(&out.join("contracts"), ""),
        ["ringforge_sntrup761_mul_avx2.toml", "ringforge_sntrup761_mul_c.toml", "sntrup761.toml"]
    );
    let source = out.join("sntrup761.c");
    let text = dir.read("out/sntrup761.c");
    assert!(!text.contains("ringforge_kem.h") && !text.contains("RINGFORGE_TESTING"));
    assert!(!text.contains("check_sk") && !text.contains("batch"));

    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib");
    let stand_in = lib.join("tests/openssh");
    let answers = std::fs::read_to_string(lib.join("tests/kats.txt")).expect("kats.txt");
    let answer = answers.lines().find_map(|line| line.strip_prefix("sntrup761 100 "));
    let strict = [STRICT, &["-Wmissing-prototypes", "-Wpointer-arith", "-Wsign-compare"]].concat();
    // The last is what OpenSSH's configure adds.
    let ways: [&[&str]; 3] = [
        &["-O1"],
        &["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        &["-ftrapv", "-fstack-protector-strong", "-fPIE", "-D_FORTIFY_SOURCE=2", "-O2"],
    ];
    let some = if long() { usize::MAX } else { 1 };
    for (i, cc) in common::compilers().into_iter().take(some).enumerate() {
        // In the long run the sanitizers' and OpenSSH's own flags, by the compilers in turn.
        for way in ways.into_iter().skip(if long() { 1 + i % 2 } else { 0 }).take(1) {
            let object = dir.path().join("sntrup761.o");
            let mut compile = Command::new(cc);
            compile.args(&strict).args(way).arg("-I").arg(&stand_in).arg("-c").arg(&source);
            run(compile.arg("-o").arg(&object));
            let list = run(Command::new("nm").args(["-g", "--defined-only", "-P"]).arg(&object));
            let mut names: Vec<&str> =
                list.lines().filter_map(|line| line.split(' ').next()).collect();
            names.retain(|name| !name.starts_with("___asan_")); // clang's sanitizer's own
            assert_eq!(
                names,
                ["dec", "enc", "keypair"].map(|what| format!("crypto_kem_sntrup761_{what}")),
                "{cc} {way:?}"
            );
            let kat = dir.path().join("kat");
            let mut link = Command::new(cc);
            link.args(STRICT).args(way).args(["-DRINGFORGE_ENABLE_ALL=0", "-Iinclude", "-Itests"]);
            link.args(["-DRINGFORGE_ENABLE_SNTRUP761=1", "-Itests/openssh", "tests/kat.c"]);
            link.args(["tests/openssh/openssh.c", "tests/nist_rng.c", "tests/sha256.c"]);
            link.args(["src/common/hash_builtin_sha2.c", "src/common/cpu.c"]).arg(&object);
            run(link.arg("-o").arg(&kat).current_dir(&lib));
            let found = run(Command::new(&kat).args(["sntrup761", "100"]));
            assert_eq!(Some(found.trim()), answer, "{cc} {way:?}");
        }
        openssh_s_choices(cc, &dir, &source, &stand_in);
        openssh_s_secrets(cc, &dir, &source, &stand_in);
    }
}

/// Every file that takes another project's place has that project's functions and nothing else outside, and compiles
/// strictly. The command runs known answers through it, also where the project includes it. The contract that comes with it
/// says constant time and wiping of encapsulation and decapsulation, and is proved. Every day the small form, which is
/// portable C without multipliers; in the long run the usual form, by the compilers in turn.
#[test]
fn sources_take_the_places_of_other_projects() {
    let dir = Sandbox::new();
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib");
    let three: &[&str] = &["dec", "enc", "keypair"];
    let five: &[&str] = &["dec", "enc", "enc_seeded", "keypair", "keypair_seeded"];
    let header: &[&str] = &["libcrux_mlkem768_sha3.h"];
    for (i, (project, kem, headers, functions)) in [
        ("openssh", "sntrup761", &[][..], three),
        ("openssh", "mlkem768", header, five),
        ("dropbear", "sntrup761", &[], three),
        ("dropbear", "mlkem768", &[], three),
    ]
    .into_iter()
    .enumerate()
    {
        for form in share(&[Some("--small"), None], &[0]) {
            let out = format!("{project}{kem}{}", form.unwrap_or_default());
            let mut words = vec!["package", kem, "--as", project, "-o", &out, "--opt=-O2"];
            words.extend(form);
            let made = dir.ringforge(&words).succeeds();
            let passed = format!("{kem}: 100 known-answer tests passed");
            assert!(made.stdout.contains(&passed), "{made:?}");
            let source = format!("{kem}.c");
            if form.is_some() {
                // The command in the file makes it again.
                let again =
                    format!(" *   ringforge package {kem} --as={project} --small --opt='-O2'\n");
                let text = dir.read(&format!("{out}/{source}"));
                assert!(text.contains(&again), "{}", &text[..400]);
                if i == 0 {
                    a_changed_file_fails_unless_it_is_accepted(&dir, &words, &out);
                }
            }
            let mut files = [&["contracts", "files.sha256", source.as_str()][..], headers].concat();
            files.sort_unstable();
            let path = dir.path().join(&out);
            assert_eq!(listing(&path, ""), files);
            let contracts = listing(&path.join("contracts"), "");
            assert_eq!(contracts.len() == 1, form.is_some(), "{contracts:?}");
            if form.is_none() {
                // What ML-KEM-768 does not call is left out, and the rest is proved.
                assert_eq!(
                    contracts.len(),
                    if kem == "mlkem768" { 11 } else { 3 },
                    "{contracts:?}"
                );
                assert!(made.stdout.contains("_avx2 is proved"), "{made:?}");
            }
            let compilers = common::compilers();
            let turn = if long() { (i + i / 2) % compilers.len() } else { 0 };
            for cc in compilers.into_iter().skip(turn).take(1) {
                let options = ["-O2", "-fstack-protector-strong", "-fPIE", "-D_FORTIFY_SOURCE=2"];
                let trapping =
                    if project == "openssh" { "-ftrapv" } else { "-fno-strict-aliasing" };
                let object = dir.path().join(format!("{out}.{cc}.o"));
                let mut compile = Command::new(cc);
                compile.args(STRICT).args(options).arg(trapping).arg("-Wmissing-prototypes");
                compile.arg("-I").arg(lib.join("tests").join(project)).arg("-c");
                run(compile.arg(path.join(&source)).arg("-o").arg(&object));
                let list =
                    Command::new("nm").args(["-g", "--defined-only", "-P"]).arg(&object).output();
                let list = String::from_utf8(list.expect("nm").stdout).expect("names");
                let names: Vec<&str> = list.lines().filter_map(|l| l.split(' ').next()).collect();
                let own: Vec<String> =
                    functions.iter().map(|what| format!("crypto_kem_{kem}_{what}")).collect();
                assert_eq!(names, own, "{project} {kem} by {cc}");
                let object = object.display().to_string();
                let contract = format!("{out}/contracts/{kem}.toml");
                let proof = dir.ringforge(&["--json", "prove", &object, "--contract", &contract]);
                let proof = proof.json();
                assert_eq!(proof["verdict"], "proved", "{project} {kem} by {cc}: {proof:#}");
            }
        }
    }
}

/// A package made again over a changed file says so, and fails without `--keep`.
fn a_changed_file_fails_unless_it_is_accepted(dir: &Sandbox, words: &[&str], out: &str) {
    let contract = format!("{out}/contracts/sntrup761.toml");
    let original = dir.read(&contract);
    dir.file(&contract, &format!("{original}# mine\n"));
    for (keep, status) in [(&[][..], 1), (&["--keep"], 0)] {
        let again = dir.ringforge(&[&["--json", "--quiet"], words, keep].concat());
        assert_eq!(again.status, status, "{again:?}");
        assert_eq!(again.json()["kept"], serde_json::json!(["contracts/sntrup761.toml"]));
        assert_eq!(again.stderr.contains("warning: kept your modified"), keep.is_empty());
    }
    std::fs::remove_file(dir.path().join(&contract)).expect("the contract");
    let again = dir.ringforge(&[&["--json"], words].concat()).succeeds();
    assert_eq!(again.json()["kept"], serde_json::json!([]));
    assert_eq!(dir.read(&contract), original);
}

/// What a compiler makes of the source is constant time and wipes, by the contract that comes with it; where decapsulation
/// stops comparing at the first difference, it is refuted. Every day what gcc makes of the source.
fn openssh_s_secrets(cc: &str, dir: &Sandbox, source: &Path, stand_in: &Path) {
    let text = std::fs::read_to_string(source).expect("the source");
    let all = "        sum |= (uint32_t)(a[i] ^ b[i]);";
    assert_eq!(text.matches(all).count(), 1, "the source has changed");
    let first = text.replace(all, "        if (a[i] != b[i])\n            return 0xffffffff;");
    let cases = [(&text, "proved"), (&first, "refuted")];
    let some = if long() { 2 } else { usize::from(cc == ringforge_testing::cc()) };
    for (text, verdict) in cases.into_iter().take(some) {
        dir.file("secrets.c", text);
        let mut compile = Command::new(cc);
        // As OpenSSH's configure has it.
        let level = if long() { "-O2" } else { "-O1" };
        compile.args(["-g", "-D_FORTIFY_SOURCE=2", "-fzero-call-used-regs=used", "-ftrapv"]);
        compile.args(["-fno-builtin-memset", "-fstack-protector-strong", "-fPIE", level]);
        compile.args(["-c", "-o", "secrets.o", "secrets.c", "-I"]).arg(stand_in);
        run(compile.current_dir(dir.path()));
        let words = ["--json", "prove", "secrets.o", "--contract", "out/contracts/sntrup761.toml"];
        let proof = dir.ringforge(&words).json();
        // clang's checks stay, and nothing behind a check is refuted.
        let checks = verdict == "refuted" && cc.contains("clang");
        let wanted = if checks { "unknown" } else { verdict };
        assert_eq!(proof["verdict"], wanted, "{cc}: {proof:#}");
        let functions = proof["objects"][0]["functions"].as_array().expect("functions");
        assert_eq!(functions.len(), 2);
        if verdict == "refuted" {
            let reason = functions[1]["reasons"][0]["text"].as_str().expect("a reason");
            assert!(reason.contains("not constant time: the branch depends on"), "{proof:#}");
        }
    }
}

/// Without OpenSSH's switch the source is empty; where its hash fails, results say so and outputs are zero.
fn openssh_s_choices(cc: &str, dir: &Sandbox, source: &Path, stand_in: &Path) {
    std::fs::create_dir_all(dir.path().join("off")).expect("a directory");
    dir.file("off/includes.h", "#include <stddef.h>\n");
    let object = dir.path().join("off.o");
    let mut compile = Command::new(cc);
    compile.args(["-Ioff", "-c"]).arg(source).arg("-o").arg(&object).current_dir(dir.path());
    run(&mut compile);
    assert_eq!(run(Command::new("nm").arg(&object)), "");

    let program = r#"
        #include <string.h>
        #include "crypto_api.h"
        static unsigned char pk[1158], sk[1763], c[1039], k[32], zeros[1763];
        void arc4random_buf(void *out, size_t len) { memset(out, 7, len); }
        int crypto_hash_sha512(unsigned char *out, const unsigned char *in, unsigned long long len)
        {
            (void)out, (void)in, (void)len;
            return -1;
        }
        int main(void)
        {
            memset(c, 1, sizeof c), memset(k, 1, sizeof k);
            if (crypto_kem_sntrup761_enc(c, k, pk) >= 0)
                return 1;
            if (memcmp(c, zeros, sizeof c) != 0 || memcmp(k, zeros, sizeof k) != 0)
                return 2;
            memset(k, 1, sizeof k);
            if (crypto_kem_sntrup761_dec(k, c, sk) >= 0 || memcmp(k, zeros, sizeof k) != 0)
                return 3;
            memset(pk, 1, sizeof pk), memset(sk, 1, sizeof sk);
            if (crypto_kem_sntrup761_keypair(pk, sk) >= 0)
                return 4;
            return memcmp(pk, zeros, sizeof pk) != 0 || memcmp(sk, zeros, sizeof sk) != 0 ? 5 : 0;
        }"#;
    dir.file("failing.c", program);
    let mut compile = Command::new(cc);
    compile.arg("-I").arg(stand_in).arg("failing.c").arg(source).args(["-O1", "-o", "failing"]);
    run(compile.current_dir(dir.path()));
    run(&mut Command::new(dir.path().join("failing")));
}

#[test]
fn bad_input_is_named_and_leaves_nothing() {
    let dir = Sandbox::new();
    let package = |words: &[&str]| -> Run { dir.ringforge(&[&["package"], words].concat()) };
    package(&["sntrup762", "-o", "x"]).fails(2, &["no KEM `sntrup762`", "sntrup761", "mlkem768"]);
    package(&["-o", "x"]).fails(2, &["missing KEM", "ntruhrss701"]);
    package(&["sntrup761"]).fails(2, &["--out DIR"]);
    package(&["sntrup761", "--target", "sse41", "-o", "x"]).fails(2, &["avx2 and c"]);
    package(&["sntrup761", "--target", "m55", "-o", "x"]).fails(2, &["no target `m55`"]);
    let neon = ["sntrup761", "--target", "neon", "-o", "x"];
    package(&neon).fails(2, &["the KEMs have the targets avx2 and c"]);
    package(&["sntrup761", "--cc", "clang-99", "-o", "x"]).fails(2, &["clang-99"]);
    for (prefix, why) in [
        ("1a", "start with a letter"),
        ("", "start with a letter"),
        ("_x", "start with a letter"),
        ("a-b", "letters, digits and `_`"),
        ("rf_", "rf_"),
    ] {
        let prefix = format!("--prefix={prefix}");
        package(&["sntrup761", &prefix, "-o", "x"]).fails(2, &["--prefix", why]);
    }
    package(&["sntrup761", "--as", "opensh", "-o", "x"]).fails(2, &["opensh", "mean `openssh`"]);
    for kems in [&["mlkem512"][..], &["all"], &["sntrup761", "mlkem768"]] {
        let last = kems.last().unwrap().trim_start_matches("all");
        package(&[kems, &["--as", "openssh", "-o", "x"]].concat())
            .fails(2, &["one KEM, sntrup761 or mlkem768, not for", last]);
    }
    package(&["sntrup761", "--small", "-o", "x"]).fails(2, &["--as"]);
    let both = ["sntrup761", "--as", "dropbear", "--small", "--target", "avx2", "-o", "x"];
    package(&both).fails(2, &["--small", "--target"]);
    let prefixed = ["sntrup761", "--as", "openssh", "--prefix", "my_", "-o", "x"];
    package(&prefixed).fails(2, &["--as", "--prefix"]);
    package(&["sntrup761", "--as", "openssh"]).fails(2, &["--out DIR"]);
    package(&["sntrup761", "-o", "/proc/ringforge/x"]).fails(2, &["cannot", "/proc"]);
    dir.is_untouched();

    dir.file("mine", "");
    package(&["sntrup761", "-o", "."]).fails(2, &["is in the way", "`mine`"]);
    package(&["sntrup761", "-o", "mine"]).fails(2, &["mine is not a directory"]);
    // A file that cannot grow is what a full disk looks like.
    let line = format!(
        "trap '' XFSZ; ulimit -f 20; exec '{}' package mlkem512 --target c -o full",
        env!("CARGO_BIN_EXE_ringforge")
    );
    let output =
        Command::new("bash").args(["-c", &line]).current_dir(dir.path()).output().expect("bash");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("cannot write") && error.contains("full"), "{error}");
    let left = listing(dir.path(), "");
    assert_eq!(left, ["mine"]);
}

ringforge_testing::rest!(
    a_source_takes_the_place_of_openssh_s,
    sources_take_the_places_of_other_projects,
);
