//! Functions for AArch64 from C and from assembly: control flow, addresses, the calling convention, and
//! what must be refused. Nothing is run.

mod common;
use common::{call, evaluate};
use ringforge_machine::graph::Graph;
use ringforge_machine::{LiftError, Lifted, Violation};
use ringforge_testing::{has, needs, program};

const TARGET: &str = "--target=aarch64-linux-gnu";

/// Lifts the function `f(out, a, b)` of eight elements of 16 bits.
fn lifted(object: &[u8], graph: &mut Graph) -> Result<Lifted, LiftError> {
    common::lift(object, &call("f", 8), graph)
}

fn clang() -> &'static str {
    program("clang").expect("the test asks whether it is here")
}

/// The body of `f`, assembled.
fn assembled(body: &str) -> Vec<u8> {
    let text = format!(".text\n.globl f\n.type f,@function\nf:\n{body}\n");
    common::compile(clang(), "s", &text, &[TARGET])
}

/// Why the body of `f` is refused.
fn refused(body: &str) -> LiftError {
    let mut graph = Graph::new();
    lifted(&assembled(body), &mut graph).expect_err("it must be refused")
}

/// What the body of `f` computes.
fn computed(body: &str, a: &[i16], b: &[i16]) -> Vec<i16> {
    let mut graph = Graph::new();
    let lifted = lifted(&assembled(body), &mut graph).unwrap_or_else(|e| panic!("{e}\n{body}"));
    evaluate(&mut graph, &lifted, 8, a, b)
}

const A: [i16; 8] = [1, -2, 300, -400, 32767, -32768, 7, 0];
const B: [i16; 8] = [5, 6, -7, 8, 1, -32768, 10, 11];

const C: &str = r#"
typedef short i16;
static const i16 weights[24] = {3, -5, 7, 11, -13, 17, 19, 23, 1, 2, 3, 4, 5, 6, 7, 8, 9};
__attribute__((noinline)) static int mixed(int x, int y, int i) {
    switch (i) {
    case 0: return x + y;
    case 1: return x - y;
    case 2: return x * 3 + y;
    case 3: return (x ^ y) + 1;
    case 4: return x & y;
    case 5: return (x + y) >> 3;
    case 6: return (x * 5 >> 2) - y;
    default: return weights[i + 5] - x;
    }
}
void f(i16 *out, const i16 *a, const i16 *b) {
    i16 sums[8];
    for (int i = 0; i < 8; i++) sums[i] = (i16)mixed(a[i], b[7 - i], i);
    for (int i = 0; i < 8; i++) out[i] = (i16)(sums[i] * weights[i] + (sums[7 - i] >> 2));
}
"#;

fn expected() -> Vec<i16> {
    let weights = [3i64, -5, 7, 11, -13, 17, 19, 23, 1, 2, 3, 4, 5];
    let sums: Vec<i64> = (0..8)
        .map(|i| {
            let (x, y) = (i64::from(A[i]), i64::from(B[7 - i]));
            let r = match i {
                0 => x + y,
                1 => x - y,
                2 => x * 3 + y,
                3 => (x ^ y) + 1,
                4 => x & y,
                5 => (x + y) >> 3,
                6 => ((x * 5) >> 2) - y,
                _ => weights[i + 5] - x,
            };
            i64::from(r as i16)
        })
        .collect();
    (0..8).map(|i| (sums[i] * weights[i] + (sums[7 - i] >> 2)) as i16).collect()
}

#[test]
fn compiled_code_computes_what_the_source_says() {
    needs!("clang");
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        let object = common::compile(clang(), "c", C, &[TARGET, level]);
        let mut graph = Graph::new();
        let lifted = lifted(&object, &mut graph).unwrap_or_else(|e| panic!("{level}: {e}"));
        assert_eq!(evaluate(&mut graph, &lifted, 8, &A, &B), expected(), "{level}");
    }
}

#[test]
fn frames_and_calls_are_followed() {
    needs!("clang");
    let body = "
        stp x29, x30, [sp, #-48]!
        str x19, [sp, #16]
        stp d8, d9, [sp, #32]
        mov x19, x0
        movi v8.8h, #7
        bl g
        ldr q1, [x2]
        add v0.8h, v0.8h, v1.8h
        str q0, [x19]
        ldr x19, [sp, #16]
        ldp d8, d9, [sp, #32]
        ldp x29, x30, [sp], #48
        ret
    g:  ldr q0, [x1]
        add v0.8h, v0.8h, v8.8h
        ret";
    let want: Vec<i16> = (0..8).map(|i| A[i].wrapping_add(B[i]).wrapping_add(7)).collect();
    assert_eq!(computed(body, &A, &B), want);
}

#[test]
fn addresses_of_constants_are_page_and_low_bits() {
    needs!("clang");
    let table = "
        .section .rodata
        .p2align 4
    t:  .short 1, 2, 3, 4, 5, 6, 7, 8
    u:  .short 10, 20, 30, 40, 50, 60, 70, 80";
    let store = "ldr q1, [x1]\nadd v0.8h, v0.8h, v1.8h\nstr q0, [x0]\nret";
    let plus =
        |k: i16| -> Vec<i16> { (0..8).map(|i| A[i].wrapping_add(k * (i as i16 + 1))).collect() };
    let sum = |load: &str| computed(&format!("{load}\n{store}\n{table}"), &A, &B);
    assert_eq!(sum("adrp x3, t\nldr q0, [x3, :lo12:t]"), plus(1));
    assert_eq!(sum("adrp x3, t\nadd x3, x3, :lo12:t\nldr q0, [x3, #16]"), plus(10));
    assert_eq!(sum("adr x3, u\nldr q0, [x3]"), plus(10));
    assert_eq!(sum("ldr q0, k\nb after\n.p2align 4\nk: .short 1,2,3,4,5,6,7,8\nafter:"), plus(1));
}

#[test]
fn a_page_serves_other_places_only_where_they_surely_share_it() {
    needs!("clang");
    let body = |align: u32, first: &str, second: &str| {
        format!(
            "adrp x3, {first}\nldr q0, [x3, :lo12:{second}]\nstr q0, [x0]\nret
             .section .rodata\n.p2align {align}
             t: .short 1, 2, 3, 4, 5, 6, 7, 8\nu: .short 1, 2, 3, 4, 5, 6, 7, 8"
        )
    };
    for (align, first, second) in [(5, "t", "u"), (12, "u", "t"), (4, "u", "u")] {
        assert_eq!(computed(&body(align, first, second), &A, &B), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
    for (align, first, second) in [(4, "t", "u"), (4, "u", "t"), (0, "t", "u")] {
        let text = refused(&body(align, first, second)).to_string();
        assert!(text.contains("another page"), "{text}");
    }
    // The bare page is no address, and its bits tell nothing.
    for body in [
        "adrp x3, t\nldr q0, [x3]\nstr q0, [x0]\nret",
        "adrp x3, t\nadd x3, x3, #16\nldr q0, [x3, :lo12:t]\nstr q0, [x0]\nret",
        "adrp x3, t\ncbz x3, 1f\n1: ret",
        "adrp x3, #4096\nret",
        "adrp x3, t\nldr d0, [x3, :lo12:t]\nldr q1, [x3, :lo12:t]\nldr x4, [x2, :lo12:t]\nret",
    ] {
        refused(&format!("{body}\n.section .rodata\n.p2align 4\nt: .short 1, 2, 3, 4, 5, 6, 7, 8"));
    }
}

/// Loads of addresses from slots: the second half of the table is read where the flag stands.
const SLOTS: [(&str, bool); 6] = [
    ("adrp x3, :got:t\nldr x3, [x3, :got_lo12:t]", false),
    ("adrp x3, :got:t\nldr x3, [x3, :got_lo12:t]\nadd x3, x3, #16", true),
    ("adrp x3, :got:u\nldr x3, [x3, :got_lo12:u]", true),
    // Not side by side, through another register, one page for two loads.
    ("adrp x4, :got:u\nadrp x3, :got:t\nnop\nldr x3, [x4, :got_lo12:u]", true),
    ("adrp x4, :got:u\nnop\nldr x3, [x4, :got_lo12:u]\nldr x3, [x4, :got_lo12:u]", true),
    ("adrp x4, :got:t\nldr x3, [x4, :got_lo12:t]", false),
];
const SLOTS_STORE: &str = "ldr q0, [x3]\nstr q0, [x0]\nret\n";
const SLOTS_TABLE: &str = ".section .rodata\n.p2align 4\n.globl t\n.globl u
    t: .short 1, 2, 3, 4, 5, 6, 7, 8\nu: .short 11, 12, 13, 14, 15, 16, 17, 18\n";

/// What the loads give once a linker made the table, and rewrote those of them that it may.
#[test]
fn linked_slots_hold_the_addresses_that_were_found() {
    needs!("qemu-aarch64", "aarch64-linux-gnu-gcc");
    let function = |(i, (body, _)): (usize, &(&str, bool))| {
        format!(".globl f{i}\n.type f{i},@function\nf{i}:\n{body}\n{SLOTS_STORE}")
    };
    let text: String = SLOTS.iter().enumerate().map(function).collect();
    let calls: String = (0..SLOTS.len())
        .map(|i| format!("void f{i}(short *); f{i}(c); putchar(c[0]); putchar(c[7]);"))
        .collect();
    let main = format!("#include <stdio.h>\nint main(void) {{ short c[8]; {calls} return 0; }}");
    let files = [
        ("slots.s", format!(".text\n{text}{SLOTS_TABLE}").into_bytes()),
        ("main.c", main.into_bytes()),
    ];
    let want: Vec<u8> =
        SLOTS.iter().flat_map(|&(_, high)| if high { [11, 18] } else { [1, 8] }).collect();
    let mut linkers = vec![("aarch64-linux-gnu-gcc", vec!["-O1", "-static"])];
    if has(&["ld.lld", "clang"]) {
        linkers.push((clang(), vec!["-O1", "-static", TARGET, "-fuse-ld=lld-19"]));
    }
    for (compiler, flags) in linkers {
        let program = common::build_objects(compiler, &files, &flags).expect("it links");
        let run =
            std::process::Command::new("qemu-aarch64").arg(&program).output().expect("it runs");
        assert_eq!(run.stdout, want, "{compiler}");
        let _ = std::fs::remove_dir_all(program.parent().expect("in a directory"));
    }
}

/// A slot of the global offset table: its page and its low bits serve each other alone.
#[test]
fn addresses_come_from_slots() {
    needs!("clang");
    let with = |body: &str| format!("{body}\n{SLOTS_STORE}{SLOTS_TABLE}");
    for (body, high) in SLOTS {
        let want: Vec<i16> = if high { (11..19).collect() } else { (1..9).collect() };
        assert_eq!(computed(&with(body), &A, &B), want, "{body}");
    }
    for (body, why) in [
        ("adrp x3, :got:t\nldr x3, [x3, :got_lo12:u]", "not the page of that slot"),
        ("adrp x3, :got:t\nadd x3, x3, #8\nldr x3, [x3, :got_lo12:t]", "not the page of that slot"),
        ("adrp x3, t\nldr x3, [x3, :got_lo12:t]", "not the page of that slot"),
        ("adrp x3, :got:t\nldr x3, [x3]", "page of the slot of t"),
        ("adrp x3, :got:t\nadd x3, x3, :lo12:t", "not the page of a place"),
        ("adrp x3, :got:t\nldr x3, [x3, :lo12:t]", "not the page of a place"),
        ("adrp x3, :got:t\nldr x3, [x3, :got_lo12:t]\nsub x3, x3, #16", "outside"),
        ("adrp x3, :got:t+16\nldr x3, [x3, :got_lo12:t+16]", "beside the slot"),
        ("adrp x3, :got:elsewhere\nldr x3, [x3, :got_lo12:elsewhere]", "`elsewhere`"),
        (
            "adrp x3, :got:t\n.reloc ., R_AARCH64_LD64_GOT_LO12_NC, t\nldr w3, [x3]",
            "not for the field of this instruction",
        ),
        (
            "adrp x3, :got:t\n.reloc ., R_AARCH64_LD64_GOT_LO12_NC, t\nldr d3, [x3]",
            "not for the field of this instruction",
        ),
        (
            "adrp x3, :got:t\n.reloc ., R_AARCH64_LD64_GOT_LO12_NC, t\nstr x3, [x3]",
            "not for the field of this instruction",
        ),
        (
            "adrp x3, :got:t\n.reloc ., R_AARCH64_LD64_GOT_LO12_NC, t\nldr x3, [x3, #8]",
            "not zero in the file",
        ),
        // Where the linker rewrites the pair, the load has become an addition.
        (
            "adrp x3, :got:t\nb 1f\nadrp x3, :got:t\n1: ldr x3, [x3, :got_lo12:t]",
            "beside the ADRP before it",
        ),
    ] {
        let text = refused(&with(body)).to_string();
        assert!(text.contains(why), "{text}\n{body}");
    }
}

#[test]
fn the_calling_convention_is_kept() {
    needs!("clang");
    let saved = |body: &str| match refused(body) {
        LiftError::Violation(Violation::CalleeSaved { register, .. }) => register,
        other => panic!("{other}\n{body}"),
    };
    for r in 19..=29 {
        assert_eq!(saved(&format!("mov x{r}, #0\nret")), format!("x{r}"));
    }
    for r in 8..=15 {
        assert_eq!(saved(&format!("movi v{r}.16b, #0\nret")), format!("d{r}"));
        // The low half is what counts: restored by D, not by S.
        let restored = |w: char| {
            format!(
                "sub sp, sp, #16\nstr {w}{r}, [sp]\nmovi v{r}.16b, #1\nldr {w}{r}, [sp]\nadd sp, sp, #16\n\
                 ldr q0, [x1]\nstr q0, [x0]\nret"
            )
        };
        assert_eq!(computed(&restored('d'), &A, &B), A);
        assert_eq!(saved(&restored('s')), format!("d{r}"));
    }
    assert_eq!(saved("sub sp, sp, #16\nret"), "sp");
    // The upper half of d8 does not survive a call of another object's function.
    let text = refused("mov x19, x30\nbl other\nret").to_string();
    assert!(text.contains("`other`"), "{text}");
}

#[test]
fn the_stack_has_no_red_zone_and_is_aligned() {
    needs!("clang");
    let memory = |body: &str| match refused(body) {
        LiftError::Violation(Violation::Memory { why, .. }) => why,
        other => panic!("{other}\n{body}"),
    };
    assert!(memory("str x0, [sp, #-16]\nret").contains("below the stack pointer"));
    assert!(memory("sub sp, sp, #16\nadd sp, sp, #16\nldr x0, [sp, #-8]\nret").contains("below"));
    assert!(memory("sub sp, sp, #8\nstr x0, [sp]\nadd sp, sp, #8\nret").contains("multiple of 16"));
    assert!(memory("str x0, [sp, #8]\nret").contains("caller's frame"));
    // What lay below the stack pointer is lost.
    let body = "ldr q0, [x1]\nstr q0, [sp, #-16]!\nadd sp, sp, #16\nsub sp, sp, #16\nldr q0, [sp], #16\n\
                str q0, [x0]\nret";
    let mut graph = Graph::new();
    let done = lifted(&assembled(body), &mut graph).expect("it is undefined, not wrong");
    assert!(done.cases[0].regions[0].element(&mut graph, 0, 16).is_err());
}

#[test]
fn secrets_decide_nothing() {
    needs!("clang");
    for body in [
        "ldrh w3, [x1]\ncbz w3, 1f\nnop\n1: ret",
        "ldrh w3, [x1]\ntbz w3, #3, 1f\nnop\n1: ret",
        "ldrh w3, [x1]\ncmp w3, #5\nb.hi 1f\nnop\n1: ret",
        "ldrh w3, [x1]\nldrb w4, [x2, x3]\nret",
        "ldrh w3, [x1]\nudiv w4, w3, w3\nret",
        "ldrh w3, [x1]\nand x3, x3, #7\nprfm pldl1keep, [x2, x3]\nret",
    ] {
        let e = refused(body);
        let leaks = matches!(e, LiftError::Violation(Violation::ConstantTime { .. }));
        assert!(leaks, "{e}\n{body}");
    }
}

#[test]
fn what_is_not_modelled_is_named() {
    needs!("clang");
    for (body, what) in [
        ("fadd v0.4s, v0.4s, v1.4s\nret", "whitelist"),
        ("mrs x0, cntvct_el0\nret", "whitelist"),
        ("ldxr x3, [x1]\nret", "whitelist"),
        ("svc #0\nret", "whitelist"),
        (".inst 0x00000000\nret", "whitelist"),
        // smulh x10, x12, x13 with bits that should be ones
        (".inst 0x9b4d198a\nret", "should be ones"),
        (".inst 0xffffffff\nret", "no instruction"),
        // nop, csdb and bti c with another op1, which the decoder does not look at
        (".inst 0xd500201f\nret", "no instruction"),
        (".inst 0xd502229f\nret", "no instruction"),
        (".inst 0xd507245f\nret", "no instruction"),
        // ldr x1, [x1], #8; ldp x3, x3, [x1]; ldp q3, q3, [x1]; str x1, [x1, #8]!
        (".inst 0xf8408421\nret", "left open"),
        (".inst 0xa9400c23\nret", "left open"),
        (".inst 0xad400c23\nret", "left open"),
        (".inst 0xf8008c21\nret", "left open"),
        ("bl elsewhere\nret", "`elsewhere`"),
        ("adrp x3, elsewhere\nadd x3, x3, :lo12:elsewhere\nldr x3, [x3]\nret", "`elsewhere`"),
        ("ldr q0, [x1]\ntbl v0.16b, {v0.16b}, v0.16b\nret", "no constant"),
        ("mov x3, x30\nadd x3, x3, #4\nbr x3", "no code"),
    ] {
        let text = refused(body).to_string();
        assert!(text.contains(what), "{text}\n{body}");
    }
}

/// A linker may reach the target of a relocated branch through code of its own, which uses x16 and x17.
#[test]
fn relocated_branches_change_two_registers() {
    needs!("clang");
    let with = |r: u32| {
        format!(
            "mov x29, x29\nmov x{r}, x30\nldr q0, [x1]\nstr q0, [x0]\nbl h\nbr x{r}
             .section .text.h,\"ax\",@progbits\n.p2align 2\n.globl h\n.type h,@function\nh: ret"
        )
    };
    assert_eq!(computed(&with(15), &A, &B), A);
    for r in [16, 17] {
        let e = refused(&with(r));
        assert!(matches!(e, LiftError::Violation(Violation::Undefined { .. })), "{e}");
    }
}
