//! Objects built with the hardening flags of distributions, Android and OpenSSH: what they mean is what the source
//! means, and misuse of what the flags add is refused.

mod common;
use common::{call, evaluate};
use ringforge_machine::graph::Graph;
use ringforge_machine::{LiftError, Lifted};
use ringforge_testing::{needs, program};

/// Local arrays, a call, copies of a length that the compiler does not know.
const SOURCE: &str = r#"
#include <stddef.h>
typedef short i16;
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
static const i16 weights[8] = {3, -5, 7, 11, -13, 17, 19, 23};
__attribute__((noinline)) static void fill(i16 *to, const i16 *from, int n) {
    memset(to, 0, 2 * (size_t)n);
    for (int i = 0; i < n; i++) to[i] = (i16)(from[n - 1 - i] * weights[i]);
}
__attribute__((noinline)) static void copy(i16 *to, const i16 *from, size_t n) {
    char bytes[16];
    memcpy(bytes, from, n);
    memcpy(to, bytes, n);
}
void f(i16 *out, const i16 *a, const i16 *b) {
    i16 x[8], y[8];
    fill(x, a, 8);
    copy(y, b, 16);
    for (int i = 0; i < 8; i++) out[i] = (i16)(x[i] + 3 * y[i]);
}
"#;

const A: [i16; 8] = [1, -2, 300, -400, 32767, -32768, 7, 0];
const B: [i16; 8] = [5, 6, -7, 8, 1, -32768, 10, 11];

fn expected() -> Vec<i16> {
    let weights = [3i16, -5, 7, 11, -13, 17, 19, 23];
    (0..8).map(|i| A[7 - i].wrapping_mul(weights[i]).wrapping_add(B[i].wrapping_mul(3))).collect()
}

fn lifted(object: &[u8], graph: &mut Graph) -> Result<Lifted, LiftError> {
    let mut call = call("f", 8);
    call.regions.iter_mut().for_each(|r| r.align = 4);
    common::lift(object, &call, graph)
}

/// What all architectures have.
const ALL: &[&[&str]] = &[
    &["-fstack-protector-strong"],
    &["-fstack-protector-all"],
    &["-fstack-protector-all", "-fPIC"],
    &["-ftrivial-auto-var-init=zero"],
    &["-ftrivial-auto-var-init=pattern"],
    &["-fzero-call-used-regs=used"],
    &["-D_FORTIFY_SOURCE=2", "-fstack-protector-strong"],
];

/// Compiles for a target by each compiler that is here, at each level, with each set of flags that the compiler
/// knows; returns what every object assumes.
fn every_set(compilers: &[(&str, &[&str])], sets: &[&[&str]]) -> Vec<String> {
    let mut assumptions: Vec<String> = Vec::new();
    for (compiler, target) in compilers {
        let Some(path) = program(compiler) else { continue };
        for level in ["-O0", "-O2", "-Os"] {
            for set in sets {
                // clang has this for none but x86-64 and AArch64, and no global offset table is read on Armv7E-M.
                let thumb = target.iter().any(|t| t.contains("thumb"));
                let zeroes = set[0].starts_with("-fzero") && *compiler == "clang";
                if thumb && (zeroes || set.contains(&"-fPIC")) {
                    continue;
                }
                let flags: Vec<&str> = [*target, &[level, "-fno-jump-tables"], set].concat();
                let object = common::compile(path, "c", SOURCE, &flags);
                let mut graph = Graph::new();
                let lifted = lifted(&object, &mut graph)
                    .unwrap_or_else(|e| panic!("{compiler} {flags:?}: {e}"));
                let got = evaluate(&mut graph, &lifted, 8, &A, &B);
                assert_eq!(got, expected(), "{compiler} {flags:?}");
                assumptions.extend(lifted.stats.assumptions);
            }
        }
    }
    assumptions
}

#[test]
fn x86_64() {
    let sets = [
        ALL,
        &[
            &["-fcf-protection=full"],
            &["-mharden-sls=all"],
            &["-fstack-clash-protection", "-fstack-protector-strong"],
            &["-fcf-protection=full", "-mharden-sls=all", "-fstack-protector-all"],
        ],
    ];
    let here: &[&str] = &["-march=x86-64-v2"];
    every_set(&[("gcc", here), ("clang", &["--target=x86_64-linux-gnu"])], &sets.concat());
}

#[test]
fn aarch64() {
    let sets = [
        ALL,
        &[
            &["-mbranch-protection=standard"],
            &["-mbranch-protection=standard", "-fstack-protector-strong", "-fPIC"],
            &["-mbranch-protection=pac-ret+leaf"],
            &["-mbranch-protection=pac-ret+leaf+b-key"],
            &["-mbranch-protection=standard", "-march=armv8.3-a"],
            &["-mharden-sls=all"],
            &["-fstack-clash-protection", "-fstack-protector-strong"],
        ],
    ];
    let clang: &[&str] = &["--target=aarch64-linux-gnu"];
    let said = every_set(&[("aarch64-linux-gnu-gcc", &[]), ("clang", clang)], &sets.concat());
    if program("clang").is_some() {
        let android: &[&str] = &["--target=aarch64-linux-android33", "-ffixed-x18"];
        let said = every_set(&[("clang", android)], &[&["-fstack-protector-strong", "-fPIC"]]);
        assert!(said.iter().any(|s| s.contains("TPIDR_EL0")), "{said:?}");
        assert!(!said.iter().any(|s| s.contains("x18")), "{said:?}");
    }
    for what in ["`__stack_chk_guard`", "pointer authentication"] {
        assert!(said.is_empty() || said.iter().any(|s| s.contains(what)), "{what}: {said:?}");
    }
}

#[test]
fn armv7em() {
    let gcc: &[&str] = &["-mcpu=cortex-m4", "-mthumb"];
    let clang: &[&str] = &["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4"];
    let said = every_set(&[("arm-none-eabi-gcc", gcc), ("clang", clang)], ALL);
    assert!(said.is_empty() || said.iter().any(|s| s.contains("`__stack_chk_guard`")), "{said:?}");
}

/// Checks that the compiler cannot leave out are decided by what is known: counters, bounds, pointers that do not wrap.
/// Those of signed overflow are not here, for which more must be known of words, nor clang's of alignment and of wrapping
/// around, which look at two pointers at once and at a pointer's complement.
#[test]
fn checks_of_undefined_behaviour() {
    let all = "-fsanitize=bounds,null,object-size,shift";
    let gcc: &[&str] =
        &[all, "-fsanitize=pointer-overflow,alignment", "-fsanitize-undefined-trap-on-error"];
    let clang: &[&str] = &[all, "-fsanitize-trap=all"];
    for (compiler, set) in [("gcc", gcc), ("clang", clang)] {
        let Some(path) = program(compiler) else { continue };
        for level in ["-O1", "-O2", "-Os"] {
            let object = common::compile(path, "c", SOURCE, &[set, &[level]].concat());
            let mut graph = Graph::new();
            let lifted =
                lifted(&object, &mut graph).unwrap_or_else(|e| panic!("{compiler} {level}: {e}"));
            assert_eq!(evaluate(&mut graph, &lifted, 8, &A, &B), expected(), "{compiler} {level}");
        }
    }
}

/// The body of `f` for AArch64.
fn aarch64_body(body: &str) -> Result<Vec<i16>, String> {
    let text = format!(".arch armv8.3-a\n.text\n.globl f\n.type f,%function\nf:\n{body}\n");
    let clang = program("clang").expect("the test asks whether it is here");
    let object = common::compile(clang, "s", &text, &["--target=aarch64-linux-gnu"]);
    let mut graph = Graph::new();
    let lifted = lifted(&object, &mut graph).map_err(|e| e.to_string())?;
    for i in 0..8 {
        let element = lifted.cases[0].regions[0].element(&mut graph, i, 16);
        element.map_err(|e| format!("element {i} has no value: {e}"))?;
    }
    Ok(evaluate(&mut graph, &lifted, 8, &A, &B))
}

#[track_caller]
fn refused(body: &str, what: &str) {
    let e = aarch64_body(body).expect_err("it must be refused");
    assert!(e.contains(what), "{e}\n{body}");
}

/// Copies the array `a`.
const COPY: &str = "ldr q0, [x1]\n str q0, [x0]";

#[test]
fn signed_addresses_are_turned_back_by_their_partner_alone() {
    needs!("clang");
    for body in [
        format!("paciasp\n {COPY}\n autiasp\n ret"),
        format!("pacibsp\n {COPY}\n autibsp\n ret"),
        format!("paciasp\n {COPY}\n retaa"),
        format!("pacibsp\n {COPY}\n retab"),
        // Through memory, another register, and a call that signs as well.
        format!(
            "paciasp\n stp x29, x30, [sp, #-16]!\n bl g\n ldp x29, x30, [sp], #16\n autiasp\n ret\n\
             g: paciasp\n mov x9, x30\n {COPY}\n mov x30, x9\n retaa"
        ),
        // Authenticated once for a tail call, then signed again.
        format!("paciasp\n autiasp\n b g\n g: paciasp\n {COPY}\n autiasp\n ret"),
    ] {
        assert_eq!(aarch64_body(&body).unwrap_or_else(|e| panic!("{e}\n{body}")), A);
    }
    let spoilt = "would be spoilt";
    refused("paciasp\n autibsp\n ret", spoilt);
    refused("pacibsp\n retaa", spoilt);
    refused("autiasp\n ret", spoilt);
    refused("retaa", spoilt);
    refused("paciasp\n autiasp\n autiasp\n ret", spoilt);
    refused("paciasp\n sub sp, sp, #16\n autiasp\n add sp, sp, #16\n ret", spoilt);
    refused("paciasp\n stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp]\n retaa", spoilt);
    // The return address of a call, signed at another stack pointer.
    refused("bl g\n ret\n g: paciasp\n str x30, [sp, #-16]!\n autiasp\n ret", spoilt);
    // What is signed once is no return address.
    refused("paciasp\n paciasp\n autiasp\n autiasp\n ret", "no return address");
    refused("mov x30, x0\n paciasp\n autiasp\n ret", "no return address");
    refused("mov x30, #8\n paciasp\n autiasp\n ret", "no return address");
    refused("mov x30, x9\n paciasp\n autiasp\n ret", "no return address");
    // Used as what it is not.
    refused("paciasp\n ret", "no code");
    refused("paciasp\n br x30", "no code");
    refused("paciasp\n ldr x3, [x30]\n autiasp\n ret", "a signed return address");
    refused("paciasp\n str w30, [x30]\n autiasp\n ret", "a signed return address");
    refused("paciasp\n tbz x30, #55, 1f\n nop\n1: autiasp\n ret", "a signed return address");
    refused(
        "mov x9, x30\n paciasp\n cmp x9, x30\n b.eq 1f\n nop\n1: autiasp\n ret",
        "return address",
    );
    refused("paciasp\n eor x30, x30, #1\n autiasp\n ret", spoilt);
    refused("paciasp\n add x30, x30, #4\n autiasp\n ret", spoilt);
    refused("paciasp\n ror x30, x30, #8\n autiasp\n ret", spoilt);
    // Half of it is another's.
    refused(
        "paciasp\n str x30, [sp, #-16]!\n str w0, [sp]\n ldr x30, [sp], #16\n autiasp\n ret",
        spoilt,
    );
    // Other instructions of the extension.
    for (word, name) in [
        ("paciaz", "whitelist"),
        ("autiaz", "whitelist"),
        ("pacia1716", "whitelist"),
        ("xpaclri", "whitelist"),
        ("pacia x30, sp", "no instruction"),
        ("autia x30, sp", "no instruction"),
        ("braa x30, sp", "no instruction"),
        ("blraaz x3", "no instruction"),
        ("eretaa", "no instruction"),
        // paciasp with another op1, retaa with another operand
        (".inst 0xd502233f", "whitelist"),
        (".inst 0xd65f0be0", "no instruction"),
    ] {
        refused(&format!("{word}\n {COPY}\n ret"), name);
    }
}

#[test]
fn the_canary_is_compared_and_nothing_else() {
    needs!("clang");
    let (load, thread) = (
        "adrp x9, __stack_chk_guard\n ldr x10, [x9, :lo12:__stack_chk_guard]",
        "mrs x9, tpidr_el0\n ldr x10, [x9, #40]",
    );
    let slot = "adrp x9, :got:__stack_chk_guard\n ldr x9, [x9, :got_lo12:__stack_chk_guard]\n ldr x10, [x9]";
    for read in [load, thread, slot] {
        let guarded = |between: &str| {
            format!(
                "sub sp, sp, #32\n str x30, [sp]\n {read}\n str x10, [sp, #24]\n {COPY}\n {between}\n {read}\n \
                 ldr x11, [sp, #24]\n cmp x10, x11\n b.ne 1f\n add sp, sp, #32\n ret\n1: bl __stack_chk_fail"
            )
        };
        assert_eq!(aarch64_body(&guarded("")).unwrap_or_else(|e| panic!("{e}")), A);
        for between in ["str xzr, [sp, #24]", "strb wzr, [sp, #31]", "str x0, [sp, #24]"] {
            refused(&guarded(between), "canary");
        }
        refused(&guarded("ldr x12, [x1]\n str x12, [sp, #24]"), "");
        if read != load {
            refused(&guarded("str xzr, [x9, #40]"), "");
            refused(&guarded("ldr x12, [x9, #48]"), "access outside");
            refused(&guarded("ldr x12, [x9, #36]"), "");
        }
        refused(&format!("{read}\n tbz x10, #0, 1f\n nop\n1: ret"), "canary");
        refused(&format!("{read}\n ldr x10, [x10]\n ret"), "canary");
        refused(&format!("{read}\n ldrb w10, [x1, x10]\n ret"), "canary");
        // An output that holds it has no value.
        refused(&format!("{COPY}\n {read}\n str x10, [x0]\n ret"), "no value");
    }
    // The canaries of two places need not be one.
    for (one, other) in [(load, thread), (thread, slot)] {
        refused(
            &format!("{one}\n mov x11, x10\n {other}\n cmp x10, x11\n b.ne 1f\n nop\n1: ret"),
            "canary",
        );
    }
    refused(&format!("{slot}\n str xzr, [x9]\n ret"), "write to memory that is not an output");
    refused(
        &format!("{thread}\n str xzr, [x9, #40]\n ret"),
        "write to memory that is not an output",
    );
    refused("bl __stack_chk_fail", "`__stack_chk_fail` is reached");
    refused("mrs x9, tpidr_el0\n ldr x10, [x9]\n ret", "the thread's own memory");
    refused("mrs x9, tpidrro_el0\n ret", "system register");
    refused("mrs x9, fpcr\n ret", "system register");
    refused("msr tpidr_el0, x0\n ret", "whitelist");
    refused(
        "adrp x9, __stack_chk_guard2\n ldr x9, [x9, :lo12:__stack_chk_guard2]\n ret",
        "another object",
    );
    refused("b __stack_chk_guard", "`__stack_chk_guard`");
}
