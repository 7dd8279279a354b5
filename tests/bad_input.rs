//! Every bad input gets a clear message, the right exit status, and leaves nothing behind.

mod common;

use common::{Sandbox, arm_compilers, m4_compilers, mentions};
use ringforge_testing::has;

const RING: &str = "Z4591[x]/(x^761 - x - 1)";

#[test]
fn a_malformed_ring_is_shown_with_the_place() {
    let dir = Sandbox::new();
    let run = dir.ringforge(&["forge", "Z4591[x/(x^761 - x - 1)"]);
    run.fails(2, &["this is not a ring", "ring:1:8", "expected `]` after the variable"]);
    let run = dir.ringforge(&["forge", "Z4591[x]/(x^761 - x - "]);
    run.fails(2, &["this is not a ring", "expected a term"]);
    let run = dir.ringforge(&["explain", "sntrup762"]);
    run.fails(2, &["no preset `sntrup762`; did you mean `sntrup761`?", "sntrup761"]);
    dir.is_untouched();
}

#[test]
fn a_ring_beyond_all_plans_says_which_there_are() {
    let dir = Sandbox::new();
    let would_work = ["q up to 65536 and degrees from 16 to 2048", "--plan FILE"];
    for (ring, why) in [
        ("Z4591[x]/(x^8 - x - 1)", "its degree 8 is not in 16 to 2048"),
        ("Z4591[x]/(x^2049 - x - 1)", "its degree 2049 is not in 16 to 2048"),
    ] {
        for command in ["forge", "explain"] {
            let run = dir.ringforge(&[command, ring]);
            run.fails(2, &["no plan is known for", ring, why, would_work[0], would_work[1]]);
        }
    }
    dir.is_untouched();
}

#[test]
fn f_must_be_monic_and_q_a_modulus() {
    let dir = Sandbox::new();
    let run = dir.ringforge(&["forge", "Z4591[x]/(2x^761 - x - 1)"]);
    run.fails(2, &["this is not a ring", "ring:1:11", "leading coefficient 1"]);
    let run = dir.ringforge(&["forge", "Z1[x]/(x^40 - x - 1)"]);
    run.fails(2, &["this is not a ring", "a modulus q of at least 2"]);
    dir.is_untouched();
}

#[test]
fn operands_that_are_none_or_wider_than_q_are_refused() {
    let dir = Sandbox::new();
    for option in ["--lhs", "--rhs"] {
        for command in ["forge", "explain", "bench", "mutate"] {
            let run = dir.ringforge(&[command, "sntrup761", option, "within 2296"]);
            let why = "coefficients in [-2296, 2296] are wider than [-2295, 2295]";
            run.fails(2, &[option, why, "would work: big"]);
        }
        for operand in ["tiny", "", "within", "within 0", "within -3", "within x", "Big"] {
            let run = dir.ringforge(&["forge", "sntrup761", &format!("{option}={operand}")]);
            run.fails(2, &[option, "invalid operand", "expected `big`, `small` or `within 5`"]);
        }
    }
    dir.is_untouched();
}

/// Plans that compute over the integers modulo other primes are right for what they were made for, and
/// for nothing wider: the message has the coefficient that can be too large, how large, and the bound.
#[test]
fn a_change_of_modulus_that_does_not_cover_the_product_is_refused() {
    let dir = Sandbox::new();
    for (ring, plan, worst, bound, would_work) in [
        (
            "ntruhps2048677",
            "ntruhps2048677-two-prime",
            "its coefficient 676 is a sum of 677 products of up to 1024·1024 and can be ±709885952",
            "covers only ±758",
            "(operands big small)",
        ),
        (
            "ntruhps2048677",
            "ntruhps2048677-1440",
            "its coefficient 676 is a sum of 677 products of up to 1024·1024 and can be ±709885952",
            "12902401 covers only ±6451200",
            "(operands big (within 9))",
        ),
        (
            "sntrup761",
            "sntrup761-two-prime",
            "its coefficient 760 is a sum of 761 products of up to 2295·2295 and can be ±4008206025",
            "covers only ±2",
            "(operands big small)",
        ),
        (
            "saber",
            "saber-two-prime",
            "its coefficient 0 is a sum of 256 products of up to 4096·4096 and can be ±4294967296",
            "covers only ±5",
            "(operands big (within 5))",
        ),
    ] {
        for command in ["forge", "explain", "mutate"] {
            let args = [command, ring, "--plan", plan, "--lhs=big", "--rhs=big"];
            dir.ringforge(&args).fails(2, &[worst, bound, "would work: primes", would_work]);
        }
    }
    dir.is_untouched();
}

/// Runs `explain` and `forge` on a plan text; both must refuse it alike.
fn refuse_plan(text: &str, expected: &[&str]) {
    let dir = Sandbox::new();
    let plan = dir.file("p.plan", text);
    for command in ["explain", "forge"] {
        let ring = text.split('"').nth(1).unwrap_or(RING);
        dir.ringforge(&[command, ring, "--plan", &plan]).fails(2, expected);
    }
    dir.holds_only(&["p.plan"]);
}

#[test]
fn a_malformed_plan_is_shown_with_the_place() {
    refuse_plan(
        "(plan p\n  (ring \"Z4591[x]/(x^761 - x - 1)\")\n  (lift 1521 (schoolbook)",
        &["p.plan:"],
    );
    refuse_plan(
        "(plan p\n  (ring \"Z4591[x]/(x^761 - x - 1)\")\n  (lift 1521 (scoolbook)))",
        &["p.plan:3:", "scoolbook"],
    );
    refuse_plan("", &["this plan is refused"]);
}

#[test]
fn an_even_modulus_is_refused_where_halves_are_needed() {
    refuse_plan(
        "(plan p (ring \"Z4096[x]/(x^7 - x - 1)\")\n (lift 16 (substitute 2 (butterfly) (weighted-convolution (toeplitz)))))",
        &["p.plan:2:"],
    );
}

#[test]
fn a_modulus_that_is_not_prime_or_lacks_a_root_is_refused() {
    // 4591 - 1 = 2·3³·5·17 has no factor 7, and 4589 = 13·353 is no prime.
    for q in [4591, 4589] {
        refuse_plan(
            &format!(
                "(plan p (ring \"Z{q}[x]/(x^7 - x - 1)\")\n (lift 14 (substitute 2 (rader 7) (weighted-convolution (toeplitz)))))"
            ),
            &["p.plan:2:", "7"],
        );
    }
}

#[test]
fn a_composite_modulus_without_the_roots_names_the_factor_in_the_way() {
    refuse_plan(
        "(plan c (ring \"Z3600[x]/(x^40 - x - 1)\")\n (lift 96 (substitute 16 (good-thomas 3 2 (rader 3) (butterfly))\n (weighted-convolution (toeplitz)))))",
        &["p.plan:2:", "modulo 3600", "its factor 2 stands in the way", "would work"],
    );
    // A root, but sums are divided by what is no unit.
    refuse_plan(
        "(plan c (ring \"Z4096[x]/(x^40 - 1)\")\n (toeplitz-matrix 64 (toom-cook 4 (toom-cook 4 (toeplitz)))))",
        &["p.plan:2:", "would work"],
    );
}

#[test]
fn a_lift_that_is_too_short_is_refused() {
    refuse_plan(
        "(plan p (ring \"Z4591[x]/(x^761 - x - 1)\")\n (lift 1520 (schoolbook)))",
        &["p.plan:2:", "a lift to 1520 is too short", "(lift 1521"],
    );
}

#[test]
fn a_plan_for_another_ring_or_without_a_file_is_refused() {
    let dir = Sandbox::new();
    let run = dir.ringforge(&["forge", "Z4591[x]/(x^761 + 1)", "--plan", "sntrup761"]);
    run.fails(2, &["the plan `sntrup761` multiplies in Z4591[x]/(x^761 - x - 1)"]);
    let run = dir.ringforge(&["forge", "sntrup761", "--plan", "nothing.plan"]);
    run.fails(2, &["nothing.plan", "nor can it be read as a file"]);
    dir.is_untouched();
}

#[test]
fn lists_of_plans_are_checked_before_anything_is_measured() {
    let dir = Sandbox::new();
    let bench = |more: &[&str]| dir.ringforge(&[&["bench", "sntrup761", "--out=t"], more].concat());
    let run = bench(&["--plans=sntrup761,nothing"]);
    run.fails(2, &["no plan `nothing`: there are", "sntrup761-chiu"]);
    let run = bench(&["--plans=sntrup761,mlkem"]);
    run.fails(2, &["the plan `mlkem` multiplies in Z3329", "for that there are", "sntrup761-chiu"]);
    let run = bench(&["--plans=sntrup761-two-prime"]);
    run.fails(2, &["can be ±4008206025", "would work: primes"]);
    let run = bench(&["--plans=all", "--saved=none.json"]);
    run.fails(2, &["cannot read `none.json`"]);
    let file = dir.file("other.json", "[]");
    let run = bench(&["--plans=all", "--saved", &file]);
    run.fails(2, &["other.json: no results for Z4591[x]/(x^761 - x - 1), big × big"]);
    let file = dir.file("other.json", "{\"ring\": 1}");
    bench(&["--plans=all", "--saved", &file]).fails(2, &["`bench --plans` did not write this"]);
    dir.ringforge(&["bench", "sntrup761", "--out=t"]).fails(2, &["--plans"]);
    dir.holds_only(&["other.json"]);
}

#[test]
fn a_malformed_schedule_is_shown_with_the_place() {
    let dir = Sandbox::new();
    let schedule = dir.file("s.toml", "unroll = 1\nmultiply = \"magic\"\n");
    let run = dir.ringforge(&["forge", "sntrup761", "--target", "avx2", "--schedule", &schedule]);
    run.fails(2, &["s.toml:2:", "magic"]);
    dir.holds_only(&["s.toml"]);
    let schedule = dir.file("s.toml", "unroll = 1\n[limits]\nfull = 0\n");
    let run = dir.ringforge(&["forge", "sntrup761", "--target", "avx2", "--schedule", &schedule]);
    run.fails(2, &["s.toml:3:1", "`limits.full` is 0; it lies in [1, 2147483647]"]);
}

#[test]
fn an_unknown_target_lists_those_there_are() {
    let dir = Sandbox::new();
    let run = dir.ringforge(&["forge", "sntrup761", "--target", "z80"]);
    run.fails(2, &["no target `z80`", "avx2", "c"]);
    dir.is_untouched();
}

#[test]
fn an_unknown_compiler_lists_those_there_are_and_the_package() {
    let dir = Sandbox::new();
    let run = dir.ringforge(&["forge", "sntrup761", "--cc", "clang-99"]);
    run.fails(2, &["no C compiler `clang-99`", "found: ", "apt-get install clang-99"]);
    dir.is_untouched();
}

/// Words behind a compiler's name belong to it, and may change the machine that it compiles for.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_compiler_is_asked_with_its_words() {
    let dir = Sandbox::new();
    let forge = |cc: &str| {
        dir.ringforge(&["forge", "Z257[x]/(x^32 + 1)", "--target", "c", "--no-bench", "--cc", cc])
    };
    let cc = ringforge_testing::cc();
    let i386 = format!("`{cc} -m32` compiles for i386");
    forge(&format!("{cc} -m32")).fails(2, &[&i386, "32 bits", "`--cc gcc`"]);
    forge(&format!("{cc} -mx32")).fails(2, &["compiles for x86_64 with pointers of 32 bits"]);
    let broken = format!("{cc}` does not work: with -nosuch");
    forge(&format!("{cc} -nosuch")).fails(2, &[&broken, "-nosuch"]);
    forge(&format!("{cc} 'x")).fails(2, &["quotation mark"]);
    dir.is_untouched();
    let words = format!("{cc} -march=x86-64-v2");
    let run = forge(&words).succeeds();
    assert!(run.stdout.contains("proved"), "{run:?}");
    let report = dir.read("out/z257_n32/report.html");
    assert!(report.contains(&words), "the command that was run");
}

#[test]
fn a_name_that_is_nearly_right_is_suggested() {
    let dir = Sandbox::new();
    for (args, meant) in [
        (&["forge", "kyberl"][..], "did you mean `kyber1`?"),
        (&["explain", "sntrup716"], "did you mean `sntrup761`?"),
        (&["forge", "sntrup761", "--target", "avx-2"], "did you mean `avx2`?"),
        (&["forge", "sntrup761", "--plan", "sntrup761-chui"], "did you mean `sntrup761-chiu`?"),
        (&["package", "mlkem786", "-o", "x"], "did you mean `mlkem768`?"),
    ] {
        dir.ringforge(args).fails(2, &[meant]);
    }
    let far = dir.ringforge(&["forge", "somethingelse"]);
    assert!(far.status == 2 && !far.stderr.contains("did you mean"), "{far:?}");
    // What was meant comes before the list of all there is.
    let near = dir.ringforge(&["forge", "kyberl"]).stderr;
    let places = ["did you mean", "ntruhrss701"].map(|word| near.find(word));
    assert!(places[0].is_some() && places[0] < places[1], "{near}");
    dir.is_untouched();
}

/// gcc takes `-O9` for `-O3` without a word.
#[test]
fn an_optimisation_level_that_no_compiler_has_is_refused() {
    let dir = Sandbox::new();
    for (opt, said) in [
        ("-O9", "`-O9` is not an optimisation level"),
        ("O2", "`O2` is not a flag; did you mean `-O2`?"),
        ("-O2 -O33", "`-O33` is not an optimisation level; did you mean `-O3`?"),
    ] {
        let opt = format!("--opt={opt}");
        let levels = "-O0, -O1, -O2, -O3, -Os";
        dir.ringforge(&["forge", "mlkem", &opt]).fails(2, &[said, levels]);
        dir.ringforge(&["package", "mlkem768", "-o", "x", &opt]).fails(2, &[said]);
        dir.ringforge(&["mutate", "mlkem", &opt]).fails(2, &[said]);
    }
    dir.is_untouched();
}

/// Rings as papers print them are understood; a field that is no ring of integers modulo q is refused with what is.
#[test]
fn rings_are_read_as_papers_print_them() {
    let dir = Sandbox::new();
    for ring in ["Z_{257}[X]/(X^{32} + 1)", "GF(257)[x]/(x^32 + 1)", "(Z/257Z)[x]/<x^32 + 1>"] {
        let run = dir.ringforge(&["explain", ring, "--target", "c", "--as", "tree"]).succeeds();
        assert!(run.stdout.contains("Z257[x]/(x^32 + 1)"), "{run:?}");
    }
    let run = dir.ringforge(&["explain", "GF(2^16)[x]/(x^32 + 1)"]);
    run.fails(2, &["65536 = 2^16", "or `Z65536` for integers modulo 65536"]);
    dir.is_untouched();
}

#[test]
fn a_compiler_that_fails_is_shown_with_its_command_and_first_errors() {
    let dir = Sandbox::new();
    let run = dir.ringforge(&["forge", "sntrup761", "--opt=-fno-such-option"]);
    run.fails(1, &["the compiler fails", "command: ", "-fno-such-option", "error:"]);
    dir.is_untouched();
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let dir = Sandbox::new();
    // Not even the superuser makes directories in /proc.
    let run = dir.ringforge(&["forge", "sntrup761", "--out", "/proc/ringforge"]);
    run.fails(2, &["/proc"]);
    let file = dir.file("file", "");
    let run = dir.ringforge(&["forge", "sntrup761", "--out", &file]);
    run.fails(2, &["file", "not a directory"]);
    dir.holds_only(&["file"]);
}

#[test]
fn foreign_files_are_never_replaced() {
    let dir = Sandbox::new();
    std::fs::create_dir(dir.path().join("docs")).expect("sandbox");
    dir.file("docs/thesis.tex", "years of work");
    let run = dir.ringforge(&["forge", "sntrup761", "--out", "docs"]);
    run.fails(2, &["docs", "`thesis.tex`", "--out"]);
    assert_eq!(dir.read("docs/thesis.tex"), "years of work");
    dir.holds_only(&["docs"]);
}

#[test]
fn bad_names_are_refused() {
    let dir = Sandbox::new();
    for name in ["", "../x", "1st", "a b", "int"] {
        let run = dir.ringforge(&["forge", "sntrup761", "--name", name]);
        run.fails(2, &["--name"]);
    }
    dir.is_untouched();
}

const CONTRACT: &str = r#"contract = 1
symbol = "mul"
abi = "sysv-x86-64"
ring = "Z17[x]/(x^4 - x - 1)"
computes = "product"
[[argument]]
name = "c"
role = "output"
element = "i16"
length = 4
align = 2
range = [-8, 8]
[[argument]]
name = "a"
role = "input"
element = "i16"
length = 4
align = 2
range = [-8, 8]
[[argument]]
name = "b"
role = "input"
element = "i16"
length = 4
align = 2
range = [-8, 8]
"#;

const MUL: &str = "void mul(short *c, const short *a, const short *b)";

#[test]
fn an_object_that_is_none_or_lacks_the_symbol_is_refused() {
    let dir = Sandbox::new();
    let contract = dir.file("mul.contract.toml", CONTRACT);
    let text = dir.file("mul.o", "This is no object.");
    dir.ringforge(&["prove", &text, "--contract", &contract]).fails(2, &["mul.o", "ELF"]);
    let other = dir.compile("other.o", "void other(void) { }");
    let run = dir.ringforge(&["prove", &other, "--contract", &contract]);
    run.fails(2, &["other.o", "`mul`", "other"]);
    let run = dir.ringforge(&["prove", "none.o", "--contract", &contract]);
    run.fails(2, &["none.o", "No such file"]);
    dir.holds_only(&["mul.contract.toml", "mul.o", "other.o"]);
}

/// Of an archive the member that defines the symbol is taken, where it is one.
#[test]
fn archives_have_one_member_with_the_symbol() {
    let dir = Sandbox::new();
    let contract = dir.file("mul.contract.toml", CONTRACT);
    let wrong = dir.compile(
        "wrong.o",
        &format!("{MUL} {{ for (int i = 0; i < 4; i++) c[i] = a[i] & b[i]; }}"),
    );
    let copy = "void copy(short *c, const short *a) { for (int i = 0; i < 4; i++) c[i] = a[i]; }";
    let copy = dir.compile("copy.o", copy);
    let archive = |name: &str, members: &[&String]| {
        let mut ar = std::process::Command::new("ar");
        common::run(ar.current_dir(dir.path()).args(["rcs", name]).args(members));
        name.to_string()
    };
    let both = archive("both.a", &[&copy, &wrong]);
    let run = dir.ringforge(&["prove", &both, "--contract", &contract]);
    assert_eq!(run.status, 1, "{run:?}");
    mentions(&run, &["both.a(wrong.o): mul is refuted"]);
    let none = archive("none.a", &[&copy]);
    let run = dir.ringforge(&["prove", &none, "--contract", &contract]);
    run.fails(2, &["none.a", "no member defines `mul` for other objects"]);
    let again = dir.compile("again.o", &format!("{MUL} {{ c[0] = 0; }}"));
    let twice = archive("twice.a", &[&wrong, &copy, &again]);
    let certificate = dir.file("none.cert", "");
    for command in [
        &["prove", &twice, "--contract", &contract][..],
        &["recheck", &twice, "--contract", &contract, "--certificate", &certificate],
    ] {
        let run = dir.ringforge(command);
        run.fails(2, &["twice.a", "`mul` is defined by wrong.o, again.o", "ar x"]);
    }
    // Functions of a contract of constant time, each in its own member.
    let function = |symbol: &str, inputs: &[&str]| {
        let inputs = inputs.iter().map(|name| {
            format!("{{ name = \"{name}\", role = \"input\", element = \"i16\", length = 4 }}")
        });
        format!(
            "[[function]]\nsymbol = \"{symbol}\"\nstack = 64\narguments = [\
             {{ name = \"c\", role = \"output\", element = \"i16\", length = 4 }}, {}]\n",
            inputs.collect::<Vec<_>>().join(", ")
        )
    };
    let safety = format!(
        "contract = 1\nclaims = \"constant-time\"\nabi = \"sysv-x86-64\"\n{}{}",
        function("mul", &["a", "b"]),
        function("copy", &["a"])
    );
    let safety = dir.file("safety.toml", &safety);
    let run = dir.ringforge(&["prove", &both, "--contract", &safety]).succeeds();
    mentions(
        &run,
        &["both.a(wrong.o): proved: constant time", "both.a(copy.o): proved: constant time"],
    );
    let run = dir.ringforge(&["prove", &twice, "--contract", &safety]);
    run.fails(2, &["`mul` is defined by wrong.o, again.o"]);
    dir.ringforge(&["prove", &none, "--contract", &safety]).fails(2, &["defines `mul`"]);
}

#[test]
fn an_instruction_that_is_not_modelled_is_unknown_with_mnemonic_and_address() {
    let dir = Sandbox::new();
    let contract = dir.file("mul.contract.toml", CONTRACT);
    let body = format!(
        "{MUL} {{ __asm__ volatile(\"cpuid\" : : : \"rax\", \"rbx\", \"rcx\", \"rdx\"); c[0] = a[0]; c[1] = b[0]; }}"
    );
    let object = dir.compile("mul.o", &body);
    let run = dir.ringforge(&["prove", &object, "--contract", &contract]);
    assert_eq!(run.status, 1, "{run:?}");
    mentions(&run, &["unknown", "cpuid", "0x"]);
}

/// A verdict that says which limit it was, and when a flag is needed.
#[test]
fn limits_end_in_unknown() {
    let dir = Sandbox::new();
    let contract = dir.file("mul.contract.toml", CONTRACT);
    let endless = format!("{MUL} {{ for (volatile unsigned i = 0;; i++) c[0] = a[0]; }}");
    let object = dir.compile("mul.o", &endless);
    let safety = format!(
        "contract = 1\nclaims = \"constant-time\"\nabi = \"sysv-x86-64\"\n[[function]]\n\
         symbol = \"mul\"\nstack = 64\narguments = [{}, {}, {}]\n",
        "{ name = \"c\", role = \"output\", element = \"i16\", length = 4 }",
        "{ name = \"a\", role = \"input\", element = \"i16\", length = 4 }",
        "{ name = \"b\", role = \"input\", element = \"i16\", length = 4 }",
    );
    let safety = dir.file("safety.toml", &safety);
    for contract in [&contract, &safety] {
        for (flag, said) in [
            ("--time-limit=1", "the time limit of 1 s was reached"),
            ("--memory-limit=1", "the memory limit of 1 MB was reached"),
        ] {
            let run = dir.ringforge(&["prove", &object, "--contract", contract, flag]);
            assert_eq!(run.status, 1, "{run:?}");
            mentions(&run, &["unknown", said]);
        }
    }
    let none = ["prove", &object, "--contract", &contract, "--time-limit=0"];
    dir.ringforge(&none).fails(2, &["--time-limit", "1.."]);
}

#[test]
fn contracts_that_make_no_sense_are_shown_with_the_place() {
    let dir = Sandbox::new();
    let object = dir.compile("mul.o", &format!("{MUL} {{ c[0] = a[0]; c[1] = b[0]; }}"));
    let lengths = CONTRACT.replacen("length = 4", "length = 5", 1);
    let contract = dir.file("lengths.toml", &lengths);
    dir.ringforge(&["prove", &object, "--contract", &contract])
        .fails(2, &["lengths.toml:", "length"]);
    let contract = dir.file("ring.toml", &CONTRACT.replace("Z17[x]", "Z17[x"));
    dir.ringforge(&["prove", &object, "--contract", &contract]).fails(2, &["ring.toml:"]);
    let contract = dir.file("toml.toml", "contract = = 1");
    dir.ringforge(&["prove", &object, "--contract", &contract]).fails(2, &["toml.toml:1:"]);
    let run = dir.ringforge(&["prove", &object, "--contract", "none.toml"]);
    run.fails(2, &["none.toml", "No such file"]);
}

#[test]
fn bad_usage_is_status_two() {
    let dir = Sandbox::new();
    dir.ringforge(&[]).fails(2, &["Usage"]);
    dir.ringforge(&["forge"]).fails(2, &["RING|PRESET"]);
    dir.ringforge(&["prove", "x.o"]).fails(2, &["--contract"]);
    dir.ringforge(&["frge", "sntrup761"]).fails(2, &["frge"]);
    dir.is_untouched();
}

#[test]
fn errors_are_json_when_asked_for() {
    let dir = Sandbox::new();
    let run = dir.ringforge(&["--json", "forge", "Z4591[x/(x^761 - x - 1)"]);
    assert_eq!(run.status, 2);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((value["exit"].as_u64(), value["at"].as_u64()), (Some(2), Some(7)), "{value}");
    assert_eq!(
        (value["in"].as_str(), value["there"].as_str()),
        (Some("ring"), Some("expected `]` after the variable"))
    );
    assert_eq!(value["help"], "a ring looks like `Z4591[x]/(x^761 - x - 1)`");
}

/// On x86-64, where code for AArch64 wants a compiler and an emulator.
#[cfg(target_arch = "x86_64")]
#[test]
fn tools_for_another_architecture_that_are_missing_are_named_with_their_packages() {
    let dir = Sandbox::new();
    let m4 = ["forge", "sntrup761", "--plan", "sntrup761", "--target", "m4"];
    let packages = "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi";
    let gcc = has(&["gcc"]);
    if gcc {
        dir.ringforge_among(&["gcc"], &m4).fails(2, &["no C compiler for armv7e-m", packages]);
        let wrong = [&m4[..], &["--cc", "gcc"]].concat();
        dir.ringforge_among(&["gcc"], &wrong)
            .fails(2, &["`gcc` compiles for x86_64", "armv7e-m", "--cc arm-none-eabi-gcc"]);
    }
    if !m4_compilers().is_empty() {
        let said = ["nothing here runs programs for armv7e-m", "apt-get install qemu-user"];
        dir.ringforge_among(&["arm-none-eabi-gcc"], &m4).fails(2, &said);
        for (words, found) in [
            ("-marm -mcpu=cortex-a9", "Armv7-A in Arm state"),
            ("-mcpu=cortex-r5", "Armv7-R"),
            ("-mcpu=cortex-m3", "Armv7-M"),
            ("-mfloat-abi=hard -mfpu=fpv4-sp-d16", "arguments in floating-point registers"),
        ] {
            let cc = format!("arm-none-eabi-gcc {words}");
            dir.ringforge(&[&m4[..], &["--cc", &cc]].concat()).fails(2, &["compiles for", found]);
        }
    }
    let neon = ["forge", "sntrup761", "--plan", "sntrup761", "--target", "neon"];
    let packages = "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross";
    if gcc {
        dir.ringforge_among(&["gcc"], &neon).fails(2, &["no C compiler for aarch64", packages]);
        let named = [&neon[..], &["--cc", "aarch64-linux-gnu-gcc"]].concat();
        dir.ringforge_among(&["gcc"], &named).fails(2, &["aarch64-linux-gnu-gcc", packages]);
        let wrong = [&neon[..], &["--cc", "gcc"]].concat();
        dir.ringforge_among(&["gcc"], &wrong)
            .fails(2, &["`gcc` compiles for x86_64", "aarch64", "--cc aarch64-linux-gnu-gcc"]);
    }
    let both = ["forge", "sntrup761", "--target", "avx2,neon"];
    dir.ringforge(&both).fails(2, &["`avx2` for x86_64", "`neon` for aarch64", "apart"]);
    if !arm_compilers().is_empty() {
        let cross = ["aarch64-linux-gnu-gcc"];
        let said =
            ["nothing here runs programs for aarch64", "apt-get install qemu-user", "ssh HOST"];
        dir.ringforge_among(&cross, &neon).fails(2, &said);
        let runner = [&neon[..], &["--runner", "no-such-emulator -x"]].concat();
        dir.ringforge(&runner).fails(2, &["no program `no-such-emulator`"]);
    }
    dir.is_untouched();
}
