//! Functions for Armv7E-M from C and from assembly: control flow, IT blocks, addresses, the calling
//! convention, and what must be refused. Nothing is run.

mod common;
use common::{call, evaluate};
use ringforge_machine::graph::Graph;
use ringforge_machine::{Extent, ExternalFunction, LiftError, Lifted, Object, Violation};
use ringforge_testing::{needs, program};

const TARGET: [&str; 3] = ["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4", "-mthumb"];
const GCC: &str = "arm-none-eabi-gcc";

/// Lifts the function `f(out, a, b)` of eight elements of 16 bits; their arrays are aligned to 4.
fn lifted(object: &[u8], graph: &mut Graph) -> Result<Lifted, LiftError> {
    let mut call = call("f", 8);
    call.regions.iter_mut().for_each(|r| r.align = 4);
    common::lift(object, &call, graph)
}

fn clang() -> &'static str {
    program("clang").expect("the test asks whether it is here")
}

/// The body of `f`, assembled.
fn assembled(body: &str) -> Vec<u8> {
    let text = format!(
        ".syntax unified\n.fpu fpv4-sp-d16\n.text\n.balign 4\n.globl f\n.type f,%function\n.thumb_func\nf:\n{body}\n"
    );
    common::compile(clang(), "s", &text, &TARGET)
}

/// Why the body of `f` is refused.
fn refused(body: &str) -> LiftError {
    let mut graph = Graph::new();
    match lifted(&assembled(body), &mut graph) {
        Err(e) => e,
        Ok(_) => panic!("it must be refused:\n{body}"),
    }
}

/// What the body of `f` computes.
fn computed(body: &str, a: &[i16], b: &[i16]) -> Vec<i16> {
    let mut graph = Graph::new();
    let lifted = lifted(&assembled(body), &mut graph).unwrap_or_else(|e| panic!("{e}\n{body}"));
    evaluate(&mut graph, &lifted, 8, a, b)
}

const A: [i16; 8] = [1, -2, 300, -400, 32767, -32768, 7, 0];
const B: [i16; 8] = [5, 6, -7, 8, 1, -32768, 10, 11];
/// Copies the array `a` to the output.
const COPY: &str = "ldm r1, {r1, r2, r3, r12}\nstm r0, {r1, r2, r3, r12}\n";

const C: &str = r#"
typedef short i16;
static const i16 weights[24] = {3, -5, 7, 11, -13, 17, 19, 23, 1, 2, 3, 4, 5, 6, 7, 8, 9};
__attribute__((noinline)) static int mixed(int x, int y, int i) {
    switch (i) {
    case 0: return x + y;
    case 1: return x - y;
    case 2: return x * 3 + y;
    case 3: return (x ^ y) + 1;
    case 4: return (x & (x - y) >> 31) | (2 * y & ~((x - y) >> 31));
    case 5: return (x + y) >> 3;
    case 6: return (int)(((long long)x * 123456789 + ((long long)y << 20)) >> 13);
    default: return weights[i + 5] - x;
    }
}
void f(i16 *out, const i16 *a, const i16 *b) {
    i16 sums[8];
    for (int i = 0; i < 8; i++) sums[i] = (i16)mixed(a[i], b[7 - i], i);
    for (int i = 0; i < 8; i++) out[i] = (i16)(sums[i] * weights[i] + (sums[7 - i] >> 2));
    if (a == b) out[0] = 0;
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
                4 if x < y => x,
                4 => 2 * y,
                5 => (x + y) >> 3,
                6 => i64::from(((x * 123_456_789 + (y << 20)) >> 13) as i32),
                _ => weights[i + 5] - x,
            };
            i64::from(r as i16)
        })
        .collect();
    (0..8).map(|i| (sums[i] * weights[i] + (sums[7 - i] >> 2)) as i16).collect()
}

#[test]
fn compiled_code_computes_what_the_source_says() {
    let flags = ["-mcpu=cortex-m4", "-mthumb", "-fno-jump-tables", "-fno-tree-switch-conversion"];
    let compilers = [("clang", &[TARGET[0], TARGET[1], "-fno-jump-tables"][..]), (GCC, &flags)];
    for (compiler, flags) in compilers {
        let Some(compiler) = program(compiler) else { continue };
        for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
            let flags: Vec<&str> = flags.iter().copied().chain([level]).collect();
            let object = common::compile(compiler, "c", C, &flags);
            let mut graph = Graph::new();
            let lifted =
                lifted(&object, &mut graph).unwrap_or_else(|e| panic!("{compiler} {level}: {e}"));
            let got = evaluate(&mut graph, &lifted, 8, &A, &B);
            assert_eq!(got, expected(), "{compiler} {level}");
        }
    }
}

#[test]
fn frames_and_calls_are_followed() {
    needs!("clang");
    let body = "
        push {r4, r5, r6, lr}
        sub sp, #8
        strd r0, r1, [sp]
        mov r4, r2
        movs r5, #7
        bl g
        ldr r0, [sp]
        add r6, sp, #0
        ldr r3, [r6, #4]
        stm r0!, {r1, r2}
        ldr r1, [r3, #8]
        ldr r2, [r3, #12]
        stm r0, {r1, r2}
        add sp, #8
        pop {r4, r5, r6, pc}
        .globl g
        .type g,%function
        .thumb_func
    g:  str lr, [sp, #-4]!
        push.w {r4, r8}
        ldrd r1, r2, [r1]
        pop.w {r4, r8}
        ldr pc, [sp], #4";
    assert_eq!(computed(body, &A, &B), A);
}

#[test]
fn blocks_select() {
    needs!("clang");
    // out = max(a, b), of four pairs, and under else the rest.
    let one = |c: &str, other: &str, at: u32| {
        format!(
            "ldrsh r3, [r1, #{at}]\nldrsh r12, [r2, #{at}]\ncmp r3, r12\nite {c}\nadd{c} r3, r12, #1\n\
             sub{other} r3, r3, r12\nstrh r3, [r0, #{at}]\n"
        )
    };
    let conditions = [
        ("lt", "ge"),
        ("gt", "le"),
        ("eq", "ne"),
        ("hi", "ls"),
        ("cs", "cc"),
        ("mi", "pl"),
        ("vs", "vc"),
    ];
    for (c, other) in conditions {
        let body: String = (0..8).map(|i| one(c, other, 2 * i)).collect();
        let want: Vec<i16> = (0..8)
            .map(|i| {
                let (x, y) = (i32::from(A[i]), i32::from(B[i]));
                let holds = match c {
                    "lt" => x < y,
                    "gt" => x > y,
                    "eq" => x == y,
                    "hi" => x as u32 > y as u32,
                    "cs" => x as u32 >= y as u32,
                    "mi" => x - y < 0,
                    _ => false,
                };
                if holds { (y + 1) as i16 } else { (x - y) as i16 }
            })
            .collect();
        assert_eq!(computed(&format!("{body}bx lr"), &A, &B), want, "{c}");
    }
    // Flags under a condition are selected too; a comparison in a block counts for what follows.
    let body = "ldrsh r3, [r1, #8]\nldrsh r12, [r2, #8]\ncmp r3, #5\nitt gt\ncmpgt r12, #0\nmovgt r3, #9\n\
                strh r3, [r0]\nldrsh r3, [r1]\ncmp r3, #5\nitt gt\ncmpgt r12, #0\nmovgt r3, #9\n\
                strh r3, [r0, #2]\nldr r3, [r1]\nstr r3, [r0, #4]\nstr r3, [r0, #8]\nstr r3, [r0, #12]\nbx lr";
    assert_eq!(computed(body, &A, &B)[..2], [9, 1]);
    // Where the condition is known, anything may stand in a block.
    let body = "cmp r0, #0\nittt ne\nldmne r1!, {r2, r3}\nstmne r0!, {r2, r3}\nldmne r1, {r2, r3}\n\
                stm r0, {r2, r3}\nmovs r2, #0\nit eq\nbxeq lr\nudf #0";
    assert_eq!(computed(body, &A, &B), A);
}

#[test]
fn accesses_under_a_secret_condition_are_refused() {
    needs!("clang");
    let start = "ldrsh r3, [r1]\ncmp r3, #5\nit gt\n";
    for (under, what) in [
        ("ldrgt r3, [r2]", "depends on an input"),
        ("strgt r3, [r0]", "depends on an input"),
        ("mulgt r3, r3, r3", "depends on an input"),
        ("smullgt r3, r2, r3, r3", "depends on an input"),
        ("udivgt r3, r3, r3", "depends on an input"),
        ("pushgt {r3}", "depends on an input"),
        ("addgt sp, #8", "depends on an input"),
    ] {
        let text = refused(&format!("{start}{under}\nbx lr")).to_string();
        assert!(text.contains(what), "{text}\n{under}");
    }
    for under in ["bgt.n 1f\n1:", "bxgt lr", "popgt {r4, pc}"] {
        let e = refused(&format!("push {{r4, lr}}\n{start}{under}\npop {{r4, pc}}"));
        let leaks = matches!(e, LiftError::Violation(Violation::ConstantTime { .. }))
            || e.to_string().contains("depends on an input");
        assert!(leaks, "{e}\n{under}");
    }
}

#[test]
fn addresses_of_constants_are_halves_and_literals() {
    needs!("clang");
    let table = "
        .section .rodata
        .balign 4
    t:  .short 1, 2, 3, 4, 5, 6, 7, 8
    u:  .short 10, 20, 30, 40, 50, 60, 70, 80";
    let store = "ldm r3, {r1, r2, r3, r12}\nstm r0, {r1, r2, r3, r12}\nbx lr\n";
    let read = |load: &str| computed(&format!("{load}\n{store}\n{table}"), &A, &B);
    let (t, u): (Vec<i16>, Vec<i16>) = ((1..9).collect(), (1..9).map(|k| 10 * k).collect());
    assert_eq!(read("movw r3, :lower16:t\nmovt r3, :upper16:t"), t);
    assert_eq!(read("movw r3, :lower16:u\nmovt r3, :upper16:u"), u);
    assert_eq!(read("movw r3, :lower16:(t+16)\nmovt r3, :upper16:(t+16)"), u);
    assert_eq!(read("ldr r3, =u"), u);
    assert_eq!(read("ldr r3, =t+16"), u);
    assert_eq!(read("adr r3, k\nb.n 1f\n.balign 4\nk: .short 1,2,3,4,5,6,7,8\n1:"), t);
    assert_eq!(read("b.n 1f\n.balign 4\nk: .short 10,20,30,40,50,60,70,80\n1: adr.w r3, k"), u);
    // The halves of two addresses are none, nor is one half.
    for load in [
        "movw r3, :lower16:t\nmovt r3, :upper16:u",
        "movw r3, :lower16:t",
        "movw r3, :lower16:t\nmovt r3, #0x2000",
        "movs r3, #0\nmovt r3, :upper16:t",
    ] {
        refused(&format!("{load}\n{store}\n{table}"));
    }
}

#[test]
fn the_calling_convention_is_kept() {
    needs!("clang");
    let saved = |body: &str| match refused(body) {
        LiftError::Violation(Violation::CalleeSaved { register, .. }) => register,
        other => panic!("{other}\n{body}"),
    };
    for r in 4..=11 {
        assert_eq!(saved(&format!("mov.w r{r}, #0\nbx lr")), format!("r{r}"));
        let kept = format!("push {{r{r}, lr}}\nmov.w r{r}, #0\n{COPY}pop {{r{r}, pc}}");
        if r < 8 {
            assert_eq!(computed(&kept, &A, &B), A);
        }
    }
    assert_eq!(saved("sub sp, #8\nbx lr"), "sp");
    for (body, what) in [
        ("mov r4, lr\nbl other\nbx r4", "`other`"),
        ("movs r3, #0\nbx r3", "no code address"),
        ("k: adr r3, k\nbx r3", "Arm state"),
    ] {
        let text = refused(body).to_string();
        assert!(text.contains(what), "{text}\n{body}");
    }
    // r9 is saved and named in the report.
    let mut graph = Graph::new();
    let body = format!("push.w {{r9, lr}}\nmov.w r9, #0\n{COPY}pop.w {{r9, pc}}");
    let done = lifted(&assembled(&body), &mut graph).expect("it is kept");
    assert!(
        done.stats.assumptions.iter().any(|a| a.contains("r9")),
        "{:?}",
        done.stats.assumptions
    );
}

#[test]
fn the_stack_is_aligned_and_has_no_red_zone() {
    needs!("clang");
    let memory = |body: &str| match refused(body) {
        LiftError::Violation(Violation::Memory { why, .. }) => why,
        other => panic!("{other}\n{body}"),
    };
    assert!(memory("str r0, [sp, #-4]\nbx lr").contains("below the stack pointer"));
    assert!(memory("str r0, [sp]\nbx lr").contains("caller's frame"));
    assert!(memory("push {r0}\nadd sp, #4\nldr r0, [sp, #-4]\nbx lr").contains("below"));
    let text = refused("sub.w sp, sp, #6\nadd.w sp, sp, #6\nbx lr").to_string();
    assert!(text.contains("multiple of 4"), "{text}");
    let call = |frame: &str| {
        refused(&format!("push {{{frame}}}\nmovs r2, #0\nbl memcpy\npop {{{frame}}}\nbx lr"))
    };
    let text = call("r3, r4, lr").to_string();
    assert!(text.contains("misaligned stack pointer"), "{text}");
}

#[test]
fn unaligned_pairs_and_lists_are_violations() {
    needs!("clang");
    for access in
        ["ldrd r2, r3, [r1, #-2]!", "ldm r1, {r2, r3}", "stm r1!, {r2, r3}", "strd r2, r3, [r1]"]
    {
        let body = format!("adds r1, #2\n{access}\nbx lr");
        let why = match refused(&body.replace("[r1, #-2]!", "[r1]")) {
            LiftError::Violation(Violation::Memory { why, .. }) => why,
            other => panic!("{other}\n{body}"),
        };
        assert!(why.contains("multiple of 4"), "{why}");
    }
    // Single words may lie anywhere, if the system allows it: that is said.
    let mut graph = Graph::new();
    let body = format!("ldr.w r3, [r1, #2]\n{COPY}bx lr");
    let done = lifted(&assembled(&body), &mut graph).expect("an assumption");
    let said = |text: &str| done.stats.assumptions.iter().any(|a| a.contains(text));
    assert!(said("UNALIGN_TRP"), "{:?}", done.stats.assumptions);
}

#[test]
fn library_functions_have_their_own_order_of_arguments() {
    needs!("clang");
    let with = |call: &str| {
        computed(
            &format!(
                "push {{r4, lr}}\nmov r4, r0\n{call}\nmovs r3, #1\nstrb r3, [r4]\nmovs r3, #0\nstrb r3, [r4, #1]\n\
                 pop {{r4, pc}}"
            ),
            &A,
            &B,
        )
    };
    let copied = [1, -2, 300, -400, 32767, -32768, 7, 0];
    assert_eq!(with("movs r2, #16\nbl memcpy"), copied);
    assert_eq!(with("movs r2, #16\nbl __aeabi_memcpy"), copied);
    assert_eq!(with("movs r2, #16\nbl __aeabi_memcpy4"), copied);
    let filled = [1, 0x303, 0x303, 0x303, 0x303, 0x303, 0x303, 0x303];
    assert_eq!(with("movs r2, #16\nmovs r1, #3\nbl memset"), filled);
    assert_eq!(with("movs r1, #16\nmovs r2, #3\nbl __aeabi_memset"), filled);
    assert_eq!(with("movs r1, #16\nbl __aeabi_memclr4"), [1, 0, 0, 0, 0, 0, 0, 0]);
    for (call, what) in [
        ("movs r2, #16\nbl __aeabi_memcpy8", "guarantees 4"),
        ("bl __aeabi_uidiv", "`__aeabi_uidiv`"),
        ("bl __aeabi_lmul", "`__aeabi_lmul`"),
        ("movs r2, #16\nbl __aeabi_memcmp", "`__aeabi_memcmp`"),
        ("movs r1, #16\nmovs r2, #3\nbl memset\nldr r3, [r0]\nbl __aeabi_memclr", "undefined"),
    ] {
        let text = refused(&format!("push {{r4, lr}}\n{call}\npop {{r4, pc}}")).to_string();
        assert!(text.contains(what), "{text}\n{call}");
    }
}

/// What a declared function reads is behind one of the four arguments in registers, or is not known.
#[test]
fn arguments_of_declared_functions_are_in_registers() {
    needs!("clang");
    let object = assembled("push {r4, lr}\nmov r4, r0\nbl g\nmov r0, r4\npop {r4, pc}");
    for (at, what) in [(3, "a memory address"), (4, "lies on the stack"), (5, "lies on the stack")]
    {
        let mut call = call("f", 8);
        call.functions.push(ExternalFunction {
            symbol: "g".into(),
            reads: vec![(at, Extent::Bytes(4))],
            writes: Vec::new(),
            returns: None,
            known: Vec::new(),
            stands_in: false,
            stack: 0,
        });
        let text =
            common::lift(&object, &call, &mut Graph::new()).expect_err("refused").to_string();
        assert!(text.contains(what), "{text}");
    }
}

#[test]
fn secrets_decide_nothing() {
    needs!("clang");
    for body in [
        "ldrh r3, [r1]\ncbz r3, 1f\nnop\n1: bx lr",
        "ldrh r3, [r1]\ncmp r3, #5\nbhi 1f\nnop\n1: bx lr",
        "ldrh r3, [r1]\nldrb r3, [r2, r3]\nbx lr",
        "ldrh r3, [r1]\nudiv r3, r3, r3\nbx lr",
        "ldrh r3, [r1]\nmovs r2, #7\nsdiv r3, r2, r3\nbx lr",
        "ldrh r3, [r1]\ncmp r3, #5\nit hi\nbhi.n 1f\nnop\n1: bx lr",
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
        ("mrs r0, apsr\nbx lr", "whitelist"),
        ("sel r0, r0, r1\nbx lr", "whitelist"),
        ("svc #0\nbx lr", "whitelist"),
        ("udf #0\nbx lr", "whitelist"),
        ("ldrex r0, [r1]\nbx lr", "whitelist"),
        ("dmb\nbx lr", "whitelist"),
        ("tbb [pc, r3]\nbx lr", "whitelist"),
        // and r0, sp, r1; ldrd r2, r2, [r1]; ldm r1!, {r1, r2}; it eq in it eq
        (".inst.w 0xea0d0001\nbx lr", "left open"),
        (".inst.w 0xe9d12200\nbx lr", "left open"),
        (".inst.w 0xe8b10006\nbx lr", "left open"),
        ("cmp r0, r0\n.inst.n 0xbf08\n.inst.n 0xbf08\nbx lr", "left open"),
        ("cmp r0, r0\n.inst.n 0xbf04\n.inst.n 0xe7ff\nnop\nbx lr", "left open"),
        ("cmp r0, r0\n.inst.n 0xbf08\n.inst.n 0x0008\nbx lr", "left open"),
        ("bl elsewhere\nbx lr", "`elsewhere`"),
        (
            "movw r3, :lower16:elsewhere\nmovt r3, :upper16:elsewhere\nldr r3, [r3]\nbx lr",
            "`elsewhere`",
        ),
        ("b.n 1f\n1: .short 0x4770", "$t"),
        ("movs r3, #0\nudiv r3, r3, r3\nbx lr", "by zero"),
        ("b.w g\n.section .text.g,\"ax\",%progbits\n.globl g\ng: bx lr", "function in Thumb state"),
    ] {
        let text = refused(body).to_string();
        assert!(text.contains(what), "{text}\n{body}");
    }
}

/// Floating-point registers keep words; the upper sixteen are the caller's.
#[test]
fn floating_point_registers_keep_words() {
    needs!("clang");
    for body in [
        "vldm r1, {s0-s3}\nvstm r0, {s0-s3}\nbx lr",
        "vldmia r1!, {d7}\nvldmia r1!, {d0}\nvstmia r0!, {d7}\nvstmia r0!, {d0}\nbx lr",
        "vpush {s16-s31}\nvldm r1, {s28-s31}\nvstm r0, {s28-s31}\nvpop {s16-s31}\nbx lr",
        "vpush {d8-d15}\nvldr d9, [r1]\nvldr s30, [r1, #8]\nvldr s31, [r1, #12]\nvstr d15, [r0, #8]\n\
         vmov r2, r3, d9\nstrd r2, r3, [r0]\nvpop {d8-d15}\nbx lr",
        "push {r4, lr}\nvpush {d8, d9}\nadds r1, #16\nvldmdb r1!, {s17-s19}\nvldr s16, [r1, #-4]\nbl g\n\
         vpop {d8, d9}\npop {r4, pc}\n.globl g\n.type g,%function\n.thumb_func\ng: adds r0, #16\n\
         vstmdb r0!, {s16-s19}\nbx lr",
        "ldrd r2, r3, [r1]\nvmov s3, s4, r2, r3\nvmov.f32 s9, s4\nvmov r2, s3\nvmov r3, s9\nstrd r2, r3, [r0]\n\
         vldr d1, [r1, #8]\nvmov r3, r2, s2, s3\nvmov d5, r3, r2\nvstr d5, [r0, #8]\nbx lr",
        // They outlive calls of other functions.
        "push {r4, lr}\nvpush {d8, d9}\nvldm r1, {d8, d9}\nmov r4, r0\nmovs r2, #0\nbl memcpy\n\
         vstm r4, {d8, d9}\nvpop {d8, d9}\npop {r4, pc}",
    ] {
        assert_eq!(computed(body, &A, &B), A, "{body}");
    }
    assert_eq!(
        computed(
            "vldr d0, k\nvldr d1, k+8\nvstm r0, {d0, d1}\nbx lr\n.balign 4\nk: .short 1,2,3,4,5,6,7,8",
            &A,
            &B
        ),
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
    for r in 16..=31 {
        match refused(&format!("vmov s{r}, r0\nbx lr")) {
            LiftError::Violation(Violation::CalleeSaved { register, .. }) => {
                assert_eq!(register, format!("s{r}"));
            }
            other => panic!("{other}"),
        }
    }
    for (body, what) in [
        // Restored to the wrong places, or one too few.
        ("vpush {s16, s17}\nvpop {s17, s18}\nbx lr", "is not restored"),
        (
            "vpush {s16-s18}\nvmov s18, r0\nvpop {s16, s17}\nadd sp, #4\nbx lr",
            "s18 is not restored",
        ),
        ("vpush {s16}\nbx lr", "sp is not restored"),
        // What a call may change is lost.
        (
            "push {r4, lr}\nvldr s15, [r1]\nmovs r2, #0\nmov r4, r0\nbl memcpy\nvmov r3, s15\nldrb r3, [r4, r3]\npop {r4, pc}",
            "undefined",
        ),
        ("vldm r1, {s0-s3}\nvmov r3, s4\nldrb r3, [r1, r3]\nbx lr", "undefined"),
        ("vldm r1, {s0-s3}\nvmov r3, s3\nldrb r3, [r1, r3]\nbx lr", "the memory address depends"),
        // Lists fault where single words of general registers do not, and end where the buffer does.
        ("adds r1, #2\nvldm r1, {s0-s2}\nbx lr", "multiple of 4"),
        ("adds r1, #2\nvldr s0, [r1]\nbx lr", "multiple of 4"),
        ("adds r0, #2\nvstr d0, [r0]\nbx lr", "multiple of 4"),
        ("vldm r1, {s0-s4}\nbx lr", "access outside"),
        ("vldr d0, [r1, #12]\nbx lr", "access outside"),
        ("vldm r1, {s0-s3}\nvstmdb r0!, {s0-s3}\nbx lr", "access outside"),
        ("vstm r1, {s0}\nbx lr", "not an output"),
        ("vstr s0, [sp, #-4]\nbx lr", "below the stack pointer"),
        // Nothing is computed with them.
        ("vadd.f32 s0, s0, s1\nbx lr", "whitelist"),
        ("vcvt.f32.s32 s0, s0\nbx lr", "whitelist"),
        ("vmrs r0, fpscr\nbx lr", "whitelist"),
        ("vcmp.f32 s0, s1\nbx lr", "whitelist"),
        ("vmov.f32 s0, #1.0\nbx lr", "whitelist"),
        // vldmia r1, {s31, s32}; vldmia r1, {}; fldmiax r1, {d0}; vmov r2, r2, s0, s1; vmov s31, s32, r2, r3
        (".inst.w 0xecd1fa02\nbx lr", "left open"),
        (".inst.w 0xec910a00\nbx lr", "left open"),
        (".inst.w 0xec910b03\nbx lr", "left open"),
        (".inst.w 0xec522a10\nbx lr", "left open"),
        (".inst.w 0xec432a3f\nbx lr", "left open"),
        // vldmia r1, {d16}, of which this processor has none
        (".inst.w 0xecd10b02\nbx lr", "whitelist"),
        // Under a condition that depends on an input.
        ("ldrsh r3, [r1]\ncmp r3, #5\nit gt\nvldrgt s0, [r1]\nbx lr", "depends on an input"),
        ("ldrsh r3, [r1]\ncmp r3, #5\nit gt\nvmovgt s0, r3\nbx lr", "depends on an input"),
    ] {
        let text = refused(body).to_string();
        assert!(text.contains(what), "{text}\n{body}");
    }
    // The residue lists the registers that belong to nobody.
    let mut graph = Graph::new();
    let body = format!("vldr s5, [r1]\nvldm r1, {{d4}}\n{COPY}bx lr");
    let done = lifted(&assembled(&body), &mut graph).expect("lawful");
    let registers = done.cases[0].residue.registers.clone().expect("they are known");
    for name in ["s5", "s8", "s9"] {
        assert!(registers.iter().any(|l| l.place == format!("byte 0 of {name}")), "{registers:?}");
    }
    assert!(done.stats.assumptions.iter().any(|a| a.contains("floating-point registers")));
}

/// Objects of the hard-float convention, whose functions take integers and pointers where the others do.
#[test]
fn the_hard_float_convention_is_the_same_for_integers() {
    let flags = ["-mcpu=cortex-m4", "-mthumb", "-fno-jump-tables", "-fno-tree-switch-conversion"];
    let hard = ["-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"];
    let clang = ["--target=thumbv7em-none-eabihf", "-mcpu=cortex-m4", "-fno-jump-tables"];
    for (compiler, flags) in [("clang", &clang[..]), (GCC, &flags)] {
        let Some(compiler) = program(compiler) else { continue };
        for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
            let flags: Vec<&str> = flags.iter().copied().chain(hard).chain([level]).collect();
            let object = common::compile(compiler, "c", C, &flags);
            let mut graph = Graph::new();
            let lifted =
                lifted(&object, &mut graph).unwrap_or_else(|e| panic!("{compiler} {level}: {e}"));
            let got = evaluate(&mut graph, &lifted, 8, &A, &B);
            assert_eq!(got, expected(), "{compiler} {level}");
        }
    }
}

/// A linker may reach the target of a relocated branch through code of its own, which uses r12 and flags.
#[test]
fn relocated_branches_change_a_register_and_the_flags() {
    needs!("clang");
    let with = |r: &str, after: &str| {
        format!(
            "push {{r4, lr}}\nmov {r}, r1\ncmp r0, r0\nbl h\n{after}mov r1, {r}\n{COPY}pop {{r4, pc}}
             .section .text.h,\"ax\",%progbits\n.p2align 1\n.globl h\n.type h,%function\n.thumb_func\nh: bx lr"
        )
    };
    assert_eq!(computed(&with("r3", ""), &A, &B), A);
    for body in [with("r12", ""), with("r3", "it eq\nmoveq r2, r2\n")] {
        let e = refused(&body);
        assert!(matches!(e, LiftError::Violation(Violation::Undefined { .. })), "{e}");
    }
}

/// Objects for other processors of the family, and objects that pass arguments otherwise.
#[test]
fn other_profiles_are_refused() {
    needs!("clang");
    let why = |target: &[&str], source: &str| {
        let object = common::compile(clang(), "s", source, target);
        match Object::parse(&object) {
            Err(e) => e.to_string(),
            Ok(_) => panic!("{target:?} must be refused"),
        }
    };
    let text =
        ".syntax unified\n.text\n.thumb\n.globl f\n.type f,%function\n.thumb_func\nf: bx lr\n";
    let with = |attributes: &str| format!("{attributes}\n{text}");
    for (cpu, what) in [
        ("-mcpu=cortex-m3", "profile M); compile with -mcpu=cortex-m4"),
        ("-mcpu=cortex-m0", "Armv6-M"),
        ("-mcpu=cortex-m33", "Armv8-M"),
        ("-mcpu=cortex-a9", "profile A"),
        ("-mcpu=cortex-r5", "profile R"),
    ] {
        let found = why(&["--target=arm-none-eabi", "-mthumb", cpu], text);
        assert!(found.contains(what), "{cpu}: {found}");
    }
    let m4 = ["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4"];
    for (attribute, what) in [
        (".cpu cortex-m4\n.eabi_attribute 28, 2", "in a way of its toolchain"),
        (".cpu cortex-m4\n.eabi_attribute 14, 1", "static base"),
        (".cpu cortex-m4\n.eabi_attribute 8, 1", "Arm state"),
        (".cpu cortex-m4\n.eabi_attribute 7, 65", "profile A"),
    ] {
        let found = why(&m4, &with(attribute));
        assert!(found.contains(what), "{attribute}: {found}");
    }
    for attribute in ["", "\n.eabi_attribute 28, 1", "\n.eabi_attribute 28, 3"] {
        let good = with(&format!(".cpu cortex-m4{attribute}"));
        let mut good = common::compile(clang(), "s", &good, &m4);
        Object::parse(&good).expect("an object for Cortex-M4");
        // Linkers say in the header too how floating-point numbers are passed. No other bit may be set there.
        for bit in 0..32 {
            let flags: u32 = 0x0500_0000 ^ 1 << bit;
            good[36..40].copy_from_slice(&flags.to_le_bytes());
            assert_eq!(Object::parse(&good).is_ok(), [9, 10].contains(&bit), "e_flags {flags:#x}");
        }
    }
}
