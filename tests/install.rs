//! The C library as its users take it: `make check`, `make install` with pkg-config, CMake with `find_package`,
//! hash functions and random bytes of their own. One KEM and little optimisation keep it short.
//!
//! Left to the long run: CMake, libcrypto's hash functions, and hybrids with vectors in them.

mod common;

use common::run;
use ringforge_testing::{cc, needs, program};
use std::path::{Path, PathBuf};
use std::process::Command;

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lib")
}

fn make(dir: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("make");
    command.arg("-C").arg(library()).args(["-j2", "KEMS=sntrup761", "CFLAGS=-O1 -Werror"]);
    run(command.arg(format!("BUILD={}", dir.display())).args(arguments))
}

#[test]
fn make_checks_and_installs_for_pkg_config() {
    needs!("make", "pkg-config");
    let dir = tempfile::tempdir().unwrap();
    let (build, stage, prefix) =
        (dir.path().join("build"), dir.path().join("stage"), dir.path().join("usr"));
    let checked = make(&build, &["check"]);
    assert!(checked.contains("sntrup761 ok"), "{checked}");
    assert!(checked.contains("sntrup761: 100 known answers"), "{checked}");

    // DESTDIR is where it is put together, PREFIX where it will be.
    make(
        &build,
        &[
            "install",
            &format!("PREFIX={}", prefix.display()),
            &format!("DESTDIR={}", stage.display()),
        ],
    );
    assert!(!prefix.exists());
    let staged = stage.join(prefix.strip_prefix("/").unwrap());
    std::fs::rename(staged, &prefix).unwrap();

    let pkg_config = |arguments: &[&str]| -> Vec<String> {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).args(arguments);
        run(command.arg("ringforge")).split_whitespace().map(str::to_owned).collect()
    };
    let program = dir.path().join("exchange");
    let example = library().join("examples/exchange.c");
    let mut compile = Command::new(cc());
    compile.arg(&example).args(pkg_config(&["--cflags", "--libs"])).arg("-o").arg(&program);
    run(&mut compile);
    let said = run(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")));
    assert_eq!(said, "one session key\n");
    let mut compile = Command::new(cc());
    compile.arg("-static").arg(&example).args(pkg_config(&["--static", "--cflags", "--libs"]));
    run(compile.arg("-o").arg(&program));
    assert_eq!(run(&mut Command::new(&program)), "one session key\n");

    // CMake finds the same, and the version that it is.
    let consumer = dir.path().join("consumer");
    let found = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
    let configure = |build: &Path, source: &Path| {
        let mut cmake = Command::new("cmake");
        cmake.arg(&found).arg("-B").arg(build).arg("-S").arg(source).output().unwrap()
    };
    let said = configure(&consumer, &library().join("examples"));
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    run(Command::new("cmake").arg("--build").arg(&consumer));
    both_libraries_are_linked(&consumer);
    for (version, fits) in [("0.1.0", true), ("0.1.1", false), ("0.2", false), ("1", false)] {
        let source = dir.path().join(format!("wants-{version}"));
        std::fs::create_dir(&source).unwrap();
        let text = format!(
            "cmake_minimum_required(VERSION 3.16)\nproject(wants LANGUAGES C)\n\
             find_package(ringforge {version} REQUIRED)\n\
             if(NOT TARGET ringforge::kem_static)\nmessage(FATAL_ERROR none)\nendif()\n"
        );
        std::fs::write(source.join("CMakeLists.txt"), text).unwrap();
        assert_eq!(configure(&source.join("build"), &source).status.success(), fits, "{version}");
    }
    for license in ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-ISC", "LICENSE-CC0", "LICENSE.md"] {
        assert!(prefix.join("share/doc/ringforge").join(license).is_file(), "no {license}");
    }

    // What a shared library shows is what its header declares: nothing of the multipliers.
    let shown = run(Command::new("nm")
        .args(["-D", "--defined-only", "-P"])
        .arg(prefix.join("lib/libringforge.so")));
    let names: Vec<&str> = shown.lines().filter_map(|l| l.split(' ').next()).collect();
    assert!(names.contains(&"ringforge_crypto_kem_sntrup761_keypair"), "{shown}");
    assert!(names.iter().all(|n| n.starts_with("ringforge_") && !n.contains("mul")), "{shown}");
}

#[test]
#[ignore = "in the long run"]
fn libcrypto_hashes_as_well() {
    needs!("make", "libssl");
    let dir = tempfile::tempdir().unwrap();
    let checked = make(dir.path(), &["HASH=1", "RANDOM=1", "check"]);
    assert!(checked.contains("sntrup761: 100 known answers"), "{checked}");
}

/// Hybrids on libcrypto's curves pass known-answer tests and refuse wrong points. The daily run tests the small form.
#[test]
fn hybrids_agree_on_libcrypto_s_curves() {
    needs!("libssl");
    let dir = tempfile::tempdir().unwrap();
    let hybrid = dir.path().join("hybrid");
    let mut compile = Command::new(cc());
    compile.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-O1"]);
    compile.args([
        "-DRINGFORGE_SMALL=1",
        "-DRINGFORGE_ECDH=1",
        "-DRINGFORGE_RANDOM=2",
        "-Iinclude",
    ]);
    compile.args(["-DRINGFORGE_ENABLE_ALL=0", "-DRINGFORGE_ENABLE_SNTRUP761=1"]);
    compile.args(["-DRINGFORGE_ENABLE_MLKEM768=1", "-DRINGFORGE_ENABLE_MLKEM1024=1"]);
    compile.args(["tests/hybrid.c", "tests/nist_rng.c"]);
    for name in ["common", "hybrid", "mlkem", "prime"] {
        let files = std::fs::read_dir(library().join("src").join(name)).unwrap();
        let files = files.map(|file| file.unwrap().path());
        compile.args(files.filter(|path| path.extension().is_some_and(|e| e == "c")));
    }
    run(compile.args(["-lcrypto", "-o"]).arg(&hybrid).current_dir(library()));
    let said = run(&mut Command::new(&hybrid));
    let names: Vec<&str> = said.lines().collect();
    let curves = ["mlkem768nistp256", "secp256r1mlkem768", "secp384r1mlkem1024"];
    assert_eq!(names, [&["sntrup761x25519", "x25519mlkem768"][..], &curves].concat());
}

#[test]
#[ignore = "in the long run"]
fn make_checks_hybrids() {
    needs!("make", "libssl");
    let dir = tempfile::tempdir().unwrap();
    let checked = make(dir.path(), &["ECDH=1", "KEMS=sntrup761 mlkem768 mlkem1024", "check"]);
    assert!(checked.contains("secp384r1mlkem1024\n"), "{checked}");
}

#[test]
#[ignore = "in the long run"]
fn cmake_installs_for_find_package() {
    needs!("make", "cmake");
    cmake_installs(&[]);
}

#[test]
#[ignore = "in the long run"]
fn cmake_finds_libcrypto_for_who_links_the_library() {
    needs!("make", "cmake", "libssl");
    cmake_installs(&["-DRINGFORGE_HASH=1", "-DRINGFORGE_RANDOM=1"]);
}

/// Configured with these choices, installed, and linked by the examples.
fn cmake_installs(choices: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let (build, usr) = (dir.path().join("build"), dir.path().join("usr"));
    let cmake = |arguments: &[&str], paths: &[&Path]| {
        run(Command::new("cmake").args(arguments).args(paths))
    };
    let prefix = format!("-DCMAKE_INSTALL_PREFIX={}", usr.display());
    let source = library();
    let configure = ["-DRINGFORGE_KEMS=sntrup761", "-DCMAKE_BUILD_TYPE=Debug", &prefix];
    cmake(&[&configure, choices, &["-B"]].concat(), &[&build, Path::new("-S"), &source]);
    cmake(&["--build"], &[&build, Path::new("-j2")]);
    cmake(&["--install"], &[&build]);

    let consumer = dir.path().join("consumer");
    let found = format!("-DCMAKE_PREFIX_PATH={}", usr.display());
    cmake(&[&found, "-B"], &[&consumer, Path::new("-S"), &source.join("examples")]);
    cmake(&["--build"], &[&consumer]);
    both_libraries_are_linked(&consumer);
}

/// The examples run; one is linked with the shared library and the other with the static one.
fn both_libraries_are_linked(examples: &Path) {
    for (name, shared) in [("exchange", true), ("exchange_static", false)] {
        let program = examples.join(name);
        assert_eq!(run(&mut Command::new(&program)), "one session key\n");
        let needed = run(Command::new("readelf").arg("-d").arg(&program));
        assert_eq!(needed.contains("libringforge.so.0"), shared, "{name}: {needed}");
    }
}

/// What make would run with these arguments, or its errors.
fn plan(arguments: &[&str]) -> (bool, String) {
    let mut make = Command::new("make");
    let out = make.arg("-C").arg(library()).arg("-n").args(arguments).output().unwrap();
    let [said, errors] = [out.stdout, out.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    (out.status.success(), said + &errors)
}

/// A KEM or a value that does not exist is refused by make, by CMake and by the sources.
#[test]
fn wrong_choices_are_refused() {
    needs!("make", "cmake");
    let dir = tempfile::tempdir().unwrap();
    let build = format!("BUILD={}", dir.path().display());
    for (name, value, said) in [
        ("KEMS", "sntrup760", "no KEM sntrup760"),
        ("KEMS", " ", "names no KEM"),
        ("HASH", "5", "HASH=5: choose from 0 1 2"),
        ("TARGET", "9", "TARGET=9: choose from 0 1 2"),
        ("SMALL", "2", "SMALL=2: choose from 0 1"),
    ] {
        let (succeeds, text) = plan(&[&build, &format!("{name}={value}")]);
        assert!(!succeeds && text.contains(said), "{text}");
        let mut cmake = Command::new("cmake");
        cmake.arg(format!("-DRINGFORGE_{name}={value}"));
        cmake.arg("-B").arg(dir.path().join(format!("cmake{name}{value}"))); // none remembers another
        let out = cmake.arg("-S").arg(library()).output().unwrap();
        let text = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && text.contains(said), "{text}");
    }
    for kems in ["sntrup761 mlkem768", "sntrup761;mlkem768", "sntrup761,mlkem768"] {
        let (succeeds, text) = plan(&[&build, &format!("KEMS={kems}")]);
        assert!(succeeds && text.contains("_SNTRUP761=1 -DRINGFORGE_ENABLE_MLKEM768=1"), "{text}");
    }
    for (choices, said) in [
        (&["-DRINGFORGE_HASH=5"][..], Some("RINGFORGE_HASH must be 0, 1 or 2")),
        (&["-DRINGFORGE_TARGET=9"], Some("RINGFORGE_TARGET must be 0, 1 or 2")),
        (
            &["-DRINGFORGE_ENABLE_ALL=0", "-DRINGFORGE_ENABLE_SNTRUP760=1"],
            Some("no KEM is compiled"),
        ),
        (&["-DRINGFORGE_ENABLE_ALL=0", "-DRINGFORGE_ENABLE_SNTRUP761=1"], None),
    ] {
        let mut compile = Command::new(cc());
        compile.current_dir(library()).args(["-O1", "-fsyntax-only", "src/common/table.c"]);
        let out = compile.args(choices).output().unwrap();
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.success(), said.is_none(), "{choices:?}: {text}");
        assert!(text.contains(said.unwrap_or_default()), "{choices:?}: {text}");
    }
}

/// Code for bare metal is not position-independent, with make and with CMake; all other code is. With link-time
/// optimisation, gcc under any name makes one object of machine code for the prover.
#[test]
fn code_is_compiled_for_its_place() {
    needs!("make", "cmake", "gcc", "arm-none-eabi-gcc");
    let dir = tempfile::tempdir().unwrap();
    let build = format!("BUILD={}", dir.path().display());
    for (cc, pic) in [("arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb", false), (cc(), true)] {
        let (succeeds, text) = plan(&[&build, "prove", &format!("CC={cc}")]);
        assert!(succeeds && text.contains(" -O3 "), "{text}");
        assert_eq!(text.contains("-fPIC"), pic, "{text}");
        let compiler = cc.split(' ').next().unwrap();
        let at = dir.path().join(compiler);
        let mut cmake = Command::new("cmake");
        cmake.args([
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
            "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
        ]);
        cmake.arg(format!("-DCMAKE_C_COMPILER={compiler}")).arg("-B").arg(&at);
        cmake.args((!pic).then_some("-DCMAKE_SYSTEM_NAME=Generic"));
        run(cmake.arg("-S").arg(library()));
        let commands = std::fs::read_to_string(at.join("compile_commands.json")).unwrap();
        assert!(commands.contains("sntrup761_c.c"), "{commands}");
        assert_eq!(commands.contains("-fPIC"), pic, "{commands}");
    }
    std::os::unix::fs::symlink("/usr/bin/gcc", dir.path().join("cc")).unwrap();
    let alias = format!("CC={}", dir.path().join("cc").display());
    let (_, text) = plan(&[&build, "prove", &alias, "CFLAGS=-O2 -flto"]);
    assert!(text.contains("-flinker-output=nolto-rel"), "{text}");
}

#[test]
fn hash_functions_and_random_bytes_of_ones_own() {
    needs!("make", "libssl");
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &["HASH=2", "RANDOM=2", &format!("{}/libringforge.a", dir.path().display())]);
    let program = dir.path().join("own_hash");
    run(Command::new(cc())
        .args(["-DRINGFORGE_HASH=2", "-DRINGFORGE_RANDOM=2", "-I"])
        .arg(library().join("include"))
        .arg(library().join("examples/own_hash.c"))
        .arg(dir.path().join("libringforge.a"))
        .args(["-lcrypto", "-o"])
        .arg(&program));
    let said = run(&mut Command::new(&program));
    assert!(said.ends_with("random bytes of our own, one session key\n"), "{said}");
    // As many on every kind of code.
    assert!(said.starts_with("9 hashes "), "{said}");
}

/// A DLL shows the functions that the header declares. What it needs of the system stays open here.
#[test]
fn a_dll_exports_what_the_header_declares() {
    let tools = ["clang", "lld-link", "llvm-readobj"].map(program);
    let [Some(clang), Some(lld), Some(readobj)] = tools else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut link = Command::new(lld);
    link.args(["/dll", "/noentry", "/nodefaultlib", "/force:unresolved", "/out:kem.dll"]);
    for source in ["mlkem/mlkem768", "mlkem/poly", "common/table", "common/hash_builtin_sha3"] {
        let object = dir.path().join(source.replace('/', "_")).with_extension("obj");
        let mut compile = Command::new(clang);
        compile.args(["--target=x86_64-pc-windows-msvc", "-ffreestanding", "-std=c99", "-O1"]);
        compile.args(["-DRINGFORGE_DLL=1", "-DRINGFORGE_TARGET=1", "-DRINGFORGE_RANDOM=2"]);
        compile.args(["-DRINGFORGE_ENABLE_ALL=0", "-DRINGFORGE_ENABLE_MLKEM768=1", "-I"]);
        compile.arg(library().join("include")).arg("-c");
        compile.arg(library().join("src").join(source).with_extension("c")).arg("-o").arg(&object);
        run(&mut compile);
        link.arg(object);
    }
    run(link.current_dir(dir.path()));
    let shown = run(Command::new(readobj).arg("--coff-exports").arg(dir.path().join("kem.dll")));
    let names: Vec<&str> =
        shown.lines().filter_map(|line| line.trim().strip_prefix("Name: ")).collect();
    for name in ["crypto_kem_mlkem768_keypair", "crypto_kem_mlkem768_dec_seed", "kem_at", "version"]
    {
        assert!(names.iter().any(|n| n.strip_prefix("ringforge_") == Some(name)), "{shown}");
    }
    // And nothing of its inside.
    assert!(names.len() > 15 && !names.iter().any(|n| n.contains("mlkem_")), "{shown}");
}
