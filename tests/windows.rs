//! Objects for Windows, from C to verdict: every kind of contract, by each compiler that is here.

mod common;

use common::{Sandbox, mentions};
use ringforge_testing::{needs, program};
use std::process::Command;

/// Compilers with their flags.
fn compilers() -> Vec<(&'static str, Vec<&'static str>)> {
    let clang = program("clang").into_iter().flat_map(|clang| {
        ["--target=x86_64-pc-windows-gnu", "--target=x86_64-pc-windows-msvc"]
            .map(|target| (clang, vec![target, "-ffreestanding"]))
    });
    let gcc = program("mingw gcc").map(|gcc| (gcc, vec![]));
    clang.chain(gcc).collect()
}

/// A contract for Windows of one for Linux.
fn for_windows(text: &str) -> String {
    assert!(text.contains("\"sysv-x86-64\""));
    text.replace("\"sysv-x86-64\"", "\"win64\"")
}

const TINY: &str = include_str!("../docs/examples/tiny.c");
const PRODUCT: &str = include_str!("../docs/examples/tiny.toml");

#[test]
fn a_product_is_proved_and_a_wrong_one_refuted() {
    let dir = Sandbox::new();
    dir.file("win.toml", &for_windows(PRODUCT));
    dir.file("linux.toml", PRODUCT);
    for (cc, flags) in compilers() {
        let protected = "-O2 -fstack-protector-all -ffunction-sections -fdata-sections";
        for level in ["-O1", "-O3", "-O3 -mavx2", protected] {
            // Microsoft's canary is another.
            if level == protected && flags.iter().any(|f| f.ends_with("-msvc")) {
                continue;
            }
            let levels = level.split(' ');
            let flags: Vec<&str> = flags.iter().copied().chain(levels).collect();
            let object = dir.compile_with(cc, &flags, "tiny.obj", TINY);
            let run = dir.ringforge(&["prove", &object, "--contract", "win.toml"]).succeeds();
            mentions(&run, &["tiny_mul is proved"]);
        }
        let lazy = [&flags[..], &["-O2", "-DLAZY"]].concat();
        let object = dir.compile_with(cc, &lazy, "lazy.obj", TINY);
        let run = dir.ringforge(&["prove", &object, "--contract", "win.toml"]);
        assert_eq!(run.status, 1, "{run:?}");
        mentions(
            &run,
            &["is refuted", "unconfirmed: nothing on this machine runs code for \"win64\""],
        );
        // Each object has its own convention, and the error names it.
        let other = dir.ringforge(&["prove", &object, "--contract", "linux.toml"]);
        other.fails(2, &["for x86-64 and Windows", "for this object it would be \"win64\""]);
    }
    let here = dir.compile("tiny.o", TINY);
    let other = dir.ringforge(&["prove", &here, "--contract", "win.toml"]);
    other.fails(2, &["for this object it would be \"sysv-x86-64\""]);
}

#[test]
fn certificates_and_archives_are_read_as_for_linux() {
    needs!("mingw gcc");
    let gcc = program("mingw gcc").expect("it is there");
    let dir = Sandbox::new();
    dir.file("win.toml", &for_windows(PRODUCT));
    let object = dir.compile_with(gcc, &["-O2"], "tiny.obj", TINY);
    let other = dir.compile_with(gcc, &["-O2"], "other.obj", "int other;");
    let archive = ["rcs", "tiny.a", &other, &object];
    let done = Command::new("x86_64-w64-mingw32-ar").args(archive).current_dir(dir.path()).status();
    assert!(done.expect("it comes with gcc").success());
    let prove = ["prove", "tiny.a", "--contract", "win.toml", "--certificate", "tiny.cert"];
    mentions(&dir.ringforge(&prove).succeeds(), &["tiny_mul is proved"]);
    let again = ["recheck", "tiny.a", "--contract", "win.toml", "--certificate", "tiny.cert"];
    dir.ringforge(&again).succeeds();
    // Linked together they are one object.
    let link = ["-r", "-o", "both.obj", &object, &other];
    let done = Command::new("x86_64-w64-mingw32-ld").args(link).current_dir(dir.path()).status();
    assert!(done.expect("it comes with gcc").success());
    dir.ringforge(&["prove", "both.obj", "--contract", "win.toml"]).succeeds();
}

#[test]
fn a_transform_is_proved() {
    let source = include_str!("../docs/examples/mlkem-ntt.c");
    let weight = |i: u32| {
        let exponent = 2 * (i.reverse_bits() >> 25) + 1;
        (0..exponent).fold(1u32, |w, _| w * 17 % 3329).to_string()
    };
    let weights = (0..128).map(weight).collect::<Vec<_>>().join(", ");
    let contract = format!(
        "contract = 1\nsymbol = \"ntt\"\nabi = \"win64\"\nring = \"Z3329[x]/(x^256 + 1)\"\ncomputes = \"forward\"\n\
         transform = {{ degree = 2, weights = [{weights}] }}\nargument = [{{ name = \"r\", role = \"inout\", element = \
         \"i16\", length = 256, range = [-1664, 1664], exit = [-14206, 14206] }}]\n"
    );
    let dir = Sandbox::new();
    dir.file("ntt.toml", &contract);
    for (cc, flags) in compilers() {
        let flags = [&flags[..], &["-O3", "-mavx2"]].concat();
        let object = dir.compile_with(cc, &flags, "ntt.obj", source);
        dir.ringforge(&["prove", &object, "--contract", "ntt.toml"]).succeeds();
    }
}

#[test]
fn functions_of_each_element_are_proved() {
    // The fifth and sixth arguments lie on the stack.
    let source = "void pick(unsigned char *r, const unsigned char *a, const unsigned char *b, int bit, unsigned mask, int n) {\n\
                  for (int i = 0; i < n; i++) r[i] = (unsigned char)(a[i] ^ (-bit & mask & (a[i] ^ b[i]))); }\n\
                  int verify(const unsigned char *a, const unsigned char *b) { unsigned char d = 0;\n\
                  for (int i = 0; i < 64; i++) d |= a[i] ^ b[i]; return d != 0; }\n";
    let array = |name: &str, role: &str| {
        format!(
            "{{ name = \"{name}\", role = \"{role}\", element = \"u8\", length = 64, range = [0, 255]"
        )
    };
    let pick = format!(
        "contract = 1\nsymbol = \"pick\"\nabi = \"win64\"\ncomputes = \"map\"\nargument = [{}, formula = \"bit ? b : a\" }}, \
         {} }}, {} }}, {{ name = \"bit\", role = \"number\", range = [0, 1] }}, {{ name = \"mask\", role = \"number\", \
         value = 255 }}, {{ name = \"n\", role = \"number\", value = 64 }}]\n",
        array("r", "output"),
        array("a", "input"),
        array("b", "input")
    );
    let verify = format!(
        "contract = 1\nsymbol = \"verify\"\nabi = \"win64\"\ncomputes = \"equal\"\nreturns = {{ element = \"i32\", equal = 0, \
         different = 1 }}\nargument = [{} }}, {} }}]\n",
        array("a", "input"),
        array("b", "input")
    );
    let dir = Sandbox::new();
    dir.file("pick.toml", &pick);
    dir.file("wrong.toml", &pick.replace("bit ? b : a", "bit ? a : b"));
    dir.file("verify.toml", &verify);
    for (cc, flags) in compilers() {
        let flags = [&flags[..], &["-O1"]].concat();
        let object = dir.compile_with(cc, &flags, "map.obj", source);
        dir.ringforge(&["prove", &object, "--contract", "pick.toml"]).succeeds();
        dir.ringforge(&["prove", &object, "--contract", "verify.toml"]).succeeds();
        assert_eq!(dir.ringforge(&["prove", &object, "--contract", "wrong.toml"]).status, 1);
    }
}

#[test]
fn constant_time_and_clean_stacks_are_proved() {
    needs!("clang");
    let clang = program("clang").expect("it is here");
    let dir = Sandbox::new();
    let contract = |symbol: &str| {
        format!(
            "contract = 1\nabi = \"win64\"\nclaims = [\"constant-time\", \"clean-stack\"]\n[[function]]\n\
             symbol = \"{symbol}\"\nstack = 64\narguments = [{{ name = \"a\", role = \"input\", element = \"u8\", length = 32 }}]\n"
        )
    };
    // What is left in the home space is left.
    let source = "__asm__(\".intel_syntax noprefix\\n.globl clean, home, wiped, branch, xmm\\n\"\n\
        \"clean: movzx eax, byte ptr [rcx]\\n mov [rsp+8], rcx\\n ret\\n\"\n\
        \"home: movzx eax, byte ptr [rcx]\\n mov [rsp+8], rax\\n ret\\n\"\n\
        \"wiped: movzx eax, byte ptr [rcx]\\n mov [rsp+32], rax\\n mov qword ptr [rsp+32], 0\\n ret\\n\"\n\
        \"xmm: sub rsp, 24\\n movaps [rsp], xmm6\\n movd xmm6, dword ptr [rcx]\\n movaps xmm6, [rsp]\\n add rsp, 24\\n ret\\n\"\n\
        \"branch: cmp byte ptr [rcx], 0\\n je 1f\\n nop\\n 1: ret\\n\"\n\
        \".att_syntax\\n\");\n";
    let object = dir.compile_with(clang, &["--target=x86_64-pc-windows-gnu"], "ct.obj", source);
    for (symbol, words) in [
        ("clean", "proved"),
        ("home", "stack+8 depends on byte 0 of a"),
        ("wiped", "proved"),
        ("xmm", "proved"),
        ("branch", "not constant time"),
    ] {
        dir.file("ct.toml", &contract(symbol));
        let run = dir.ringforge(&["prove", &object, "--contract", "ct.toml"]);
        assert_eq!(run.status, i32::from(words != "proved"), "{symbol}: {run:?}");
        mentions(&run, &[words]);
    }
}

#[test]
fn forged_code_is_proved_for_windows() {
    needs!("clang");
    let dir = Sandbox::new();
    dir.file("toy.toml", &include_str!("toy/toy.toml").replace("tests/toy/", ""));
    dir.file("toy.plan", include_str!("toy/toy.plan"));
    let forge =
        ["forge", "toy.toml", "--target", "c,avx2", "--no-bench", "--no-prove", "--out", "p"];
    let _ = dir.ringforge(&forge);
    for (cc, flags) in compilers() {
        for (target, more) in [("c", "-O3"), ("avx2", "-mavx2")] {
            let flags = [&flags[..], &["-O3", more, "-Ip"]].concat();
            let source = dir.read(&format!("p/toy_{target}.c"));
            let object = dir.compile_with(cc, &flags, "toy.obj", &source);
            dir.file("toy_win.toml", &for_windows(&dir.read("p/toy.contract.toml")));
            let symbol = format!("toy_mul_{target}");
            let prove = ["prove", &object, "--contract", "toy_win.toml", "--symbol", &symbol];
            mentions(&dir.ringforge(&prove).succeeds(), &["is proved"]);
        }
    }
}
