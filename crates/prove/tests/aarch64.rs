//! AArch64 from source to verdict: C by two compilers, a Neon product by hand, and mutants of it, in the
//! text and in the object, none of which may be proved unless it computes the same.

use ringforge_machine::eval::Tape;
use ringforge_machine::graph::Graph;
use ringforge_machine::{ArgSpec, CallSpec, Initial, Object, RegionSpec, lift};
use ringforge_prove::{Contract, Options, Quiet, Report, Verdict, constant_time, expected, prove};
use ringforge_testing::{cc, needs, program};
use std::process::Command;
use std::time::Duration;

const N: usize = 8;
const Q: i64 = 3329;

/// The product in Z_3329[x]/(x^8 + 1). Half of the sums are reduced by a floor and a rounding shift, half
/// by a rounded quotient.
const NEON: &str = include_str!("neon/product.s");

const C: &str = r#"
#include <stdint.h>
#define Q 3329
static inline int16_t reduce(int32_t a) {
    int16_t t = (int16_t)((uint32_t)a * 62209u);
    return (int16_t)((a - (int32_t)t * Q) >> 16);
}
void f(int16_t c[8], const int16_t a[8], const int16_t b[8]) {
    int16_t m[8];
    for (int i = 0; i < 8; i++) m[i] = reduce((int32_t)a[i] * 1353);
    for (int k = 0; k < 8; k++) {
        int32_t s = 0;
        for (int i = 0; i < 8; i++) s += (i <= k ? 1 : -1) * (int32_t)m[i] * b[(k - i) & 7];
        c[k] = reduce(s);
    }
}
"#;

fn contract(abi: &str) -> Contract {
    let argument = |name: &str, role: &str, most: i64| {
        format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = {N}\n\
             align = 2\nrange = [-{most}, {most}]\n"
        )
    };
    let text = format!(
        "contract = 1\nsymbol = \"f\"\nabi = \"{abi}\"\nring = \"Z{Q}[x]/(x^{N} + 1)\"\n\
         computes = \"product\"\nalias = []\n{}{}{}",
        argument("c", "output", 2200),
        argument("a", "input", 1664),
        argument("b", "input", 1664)
    );
    Contract::parse(&text).unwrap_or_else(|e| panic!("{e}"))
}

fn compile(compiler: &str, extension: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join(format!("x.{extension}")), dir.path().join("x.o"));
    std::fs::write(&from, source).unwrap();
    let done = Command::new(compiler).args(flags).arg("-c").arg(&from).arg("-o").arg(&to).output();
    let done = done.unwrap_or_else(|e| panic!("{compiler}: {e}"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(to).unwrap()
}

fn assembled(source: &str) -> Vec<u8> {
    let clang = program("clang").expect("the test asks whether it is here");
    compile(clang, "s", source, &["--target=aarch64-linux-gnu"])
}

fn run(object: &[u8]) -> Report {
    let options = Options { search: Duration::from_millis(200), ..Options::default() };
    prove(object, &contract("aapcs64"), &options, &mut Quiet)
}

fn told(r: &Report) -> String {
    format!("{}: {:?}", r.verdict, r.reasons.iter().map(|r| &r.text).collect::<Vec<_>>())
}

#[test]
fn compiled_products_are_proved() {
    let mut proved = 0;
    let gcc = "aarch64-linux-gnu-gcc";
    for (compiler, target) in [("clang", &["--target=aarch64-linux-gnu"][..]), (gcc, &[])] {
        let Some(compiler) = program(compiler) else { continue };
        for level in ["-O1", "-O2", "-O3", "-Os"] {
            let flags: Vec<&str> = target.iter().copied().chain([level]).collect();
            let object = compile(compiler, "c", C, &flags);
            let r = run(&object);
            assert_eq!(r.verdict, Verdict::Proved, "{compiler} {level}: {}", told(&r));
            assert!(r.certificate.replayed.lines > 0, "{compiler} {level}");
            proved += 1;
        }
    }
    println!("{proved} objects proved");
}

#[test]
fn neon_by_hand_is_proved() {
    needs!("clang");
    let r = run(&assembled(NEON));
    assert_eq!(r.verdict, Verdict::Proved, "{}", told(&r));
    assert!(r.certificate.replayed.lines > 0);
}

#[test]
fn another_instruction_set_is_no_object_of_the_contract() {
    needs!("clang");
    let options = Options::default();
    let object = assembled(NEON);
    let r = prove(&object, &contract("sysv-x86-64"), &options, &mut Quiet);
    assert_eq!(r.verdict, Verdict::Unknown);
    assert!(
        told(&r).contains("for this object it would be") && told(&r).contains("aapcs64"),
        "{}",
        told(&r)
    );
    let object = compile(cc(), "c", C, &["-O2"]);
    let r = run(&object);
    assert_eq!(r.verdict, Verdict::Unknown);
    assert!(told(&r).contains("sysv-x86-64"), "{}", told(&r));
}

/// A function that copies eight bytes and goes on with `body`, under a claim of what it leaves behind.
fn left_behind(claim: &str, body: &str) -> (Verdict, String) {
    let contract = format!(
        "contract = 1\nabi = \"aapcs64\"\nclaims = [\"constant-time\", \"{claim}\"]\n\
         [[function]]\nsymbol = \"f\"\nstack = 64\narguments = [\n\
         {{ name = \"out\", role = \"output\", element = \"u8\", length = 8 }},\n\
         {{ name = \"in\", role = \"input\", element = \"u8\", length = 8 }},\n]\n"
    );
    let contract =
        constant_time::SafetyContract::parse(&contract).unwrap_or_else(|e| panic!("{e}"));
    let text = format!(
        ".text\n.global f\n.type f, %function\nf: ldr x9, [x1]\n str x9, [x0]\n{body}\n ret\n.size f, . - f\n"
    );
    let report = constant_time::check(&assembled(&text), &contract, &Options::default(), &Quiet);
    let reasons = &report.functions[0].reasons;
    assert!(report.functions[0].assumptions[0].contains("aapcs64"));
    (report.verdict, reasons.iter().map(|r| format!("{:?}: {}\n", r.kind, r.text)).collect())
}

#[test]
fn what_is_left_behind_is_seen() {
    needs!("clang");
    let cleared: String = (1..=18)
        .map(|r| format!("mov x{r}, xzr\n"))
        .chain((0..8).chain(16..32).map(|r| format!("movi v{r}.2d, #0\n")))
        .chain((8..16).map(|r| format!("mov v{r}.d[1], xzr\n")))
        .collect();
    let none = (Verdict::Proved, String::new());
    assert_eq!(left_behind("clean-registers", &cleared), none);
    // What the caller had in a register is no content of memory.
    for kept in ["mov x17, xzr", "mov x18, xzr"] {
        assert_eq!(left_behind("clean-registers", &cleared.replace(kept, "nop")), none, "{kept}");
    }
    let push = "str x9, [sp, #-16]!\n add sp, sp, #16\n";
    assert_eq!(
        left_behind("clean-stack", &format!("{push} stp xzr, xzr, [sp, #-16]!\n add sp, sp, #16")),
        none
    );
    for (claim, body, verdict, wanted) in [
        (
            "clean-registers",
            cleared.replace("mov x7, xzr", "mov x7, x9"),
            Verdict::Refuted,
            "byte 0 of x7",
        ),
        (
            "clean-registers",
            format!(
                "fmov d0, x9\n{}\nmov v12.d[1], v0.d[0]\n movi v0.2d, #0",
                cleared.replace("movi v0.2d, #0\n", "")
            ),
            Verdict::Refuted,
            "the upper half of v12",
        ),
        ("clean-registers", cleared.replace("movi v31.2d, #0", "nop"), Verdict::Unknown, "of v31"),
        ("clean-stack", push.into(), Verdict::Refuted, "stack-16 to stack-9"),
        (
            "clean-stack",
            format!("{push} str wzr, [sp, #-16]!\n add sp, sp, #16"),
            Verdict::Refuted,
            "stack-12 to stack-9",
        ),
    ] {
        let (found, text) = left_behind(claim, &body);
        assert_eq!(found, verdict, "{body}: {text}");
        assert!(text.contains("Residue") && text.contains(wanted), "{body}: {text}");
    }
}

/// Mistakes that people make, by one change of the text each.
#[test]
fn mistakes_in_the_text_are_not_proved() {
    needs!("clang");
    let mistakes = [
        ("sqdmulh v5.4s", "sqrdmulh v5.4s", false), // within the range all the same
        ("sqrdmulh v6.4s", "sqdmulh v6.4s", true),
        ("srshr v5.4s, v5.4s, #11", "sshr v5.4s, v5.4s, #11", true),
        ("srshr v5.4s, v5.4s, #11", "srshr v5.4s, v5.4s, #10", true),
        // 2^21 more of the modulus is nothing in 16 bits.
        ("srshr v5.4s, v5.4s, #11", "urshr v5.4s, v5.4s, #11", false),
        ("smlal v16.4s, v3.4h, v1.h[3]", "smlal v16.4s, v3.4h, v1.h[4]", true),
        ("smlal2 v17.4s, v3.8h, v1.h[7]", "smlal2 v17.4s, v3.8h, v1.h[6]", true),
        ("smlal v16.4s, v3.4h, v1.h[5]", "smlsl v16.4s, v3.4h, v1.h[5]", true),
        ("smlal v16.4s, v3.4h, v1.h[5]", "umlal v16.4s, v3.4h, v1.h[5]", true),
        ("smlal2 v17.4s, v3.8h, v1.h[2]", "smlal v17.4s, v3.4h, v1.h[2]", true),
        ("smull v16.4s", "umull v16.4s", true),
        ("ext v3.16b, v2.16b, v0.16b, #6", "ext v3.16b, v2.16b, v0.16b, #8", true),
        ("ext v3.16b, v2.16b, v0.16b, #6", "ext v3.16b, v0.16b, v2.16b, #6", true),
        ("mul v2.8h, v0.8h, v8.8h", "mul v2.4h, v0.4h, v8.4h", true),
        ("mls v16.4s, v5.4s, v4.s[1]", "mla v16.4s, v5.4s, v4.s[1]", true),
        ("mls v17.4s, v6.4s, v4.s[1]", "mls v17.4s, v6.4s, v4.s[0]", true),
        ("mls v17.4s, v6.4s, v4.s[1]", "mls v17.2s, v6.2s, v4.s[1]", true),
        ("xtn2 v0.8h, v17.4s", "xtn2 v0.8h, v16.4s", true),
        ("xtn2 v0.8h, v17.4s", "xtn v0.4h, v17.4s", true),
        ("xtn v0.4h, v16.4s", "shrn v0.4h, v16.4s, #1", true),
        ("xtn v0.4h, v16.4s", "sqxtn v0.4h, v16.4s", false), // nothing saturates
        ("ldr q4, [x3, :lo12:constants]", "ldr q4, [x3, :lo12:constants + 4]", true),
        ("ldr q4, [x3, :lo12:constants]", "ldr q4, [x3]", true),
        ("adrp x3, constants", "adrp x3, constants + 4096", true),
        ("ldr d8, [sp], #16", "ldr s8, [sp], #16", true),
        ("ldr d8, [sp], #16", "add sp, sp, #16", true),
        ("ldr d8, [sp], #16", "ldr d8, [sp], #8", true),
        ("str d8, [sp, #-16]!", "str d8, [sp, #-16]", true),
        ("str q0, [x0]", "str q0, [x1]", true),
        ("str q0, [x0]", "str q0, [x0, #2]", true),
        ("str q0, [x0]", "str d0, [x0]", true),
        ("ldr q1, [x2]", "ldr q1, [x1]", true),
        ("ldr q1, [x2]", "ldr d1, [x2]", true),
        ("ret", "mov x20, x0\n    ret", true),
        (".section .rodata", ".data", true),
        ("3329, 645084, 0", "3329, 645084 * 2, 0", true),
    ];
    let mut other = Vec::new();
    for (right, wrong, matters) in mistakes {
        assert_eq!(NEON.matches(right).count(), 1, "{right}");
        let r = run(&assembled(&NEON.replace(right, wrong)));
        let proved = r.verdict == Verdict::Proved;
        if proved == matters {
            other.push(format!("`{wrong}` for `{right}`: {}", told(&r)));
        }
    }
    assert!(other.is_empty(), "{}", other.join("\n"));
    println!("{} mistakes", mistakes.iter().filter(|m| m.2).count());
}

/// Outputs for some inputs, or `None` where the code cannot be executed.
fn outputs(object: &[u8], inputs: &[Vec<i64>]) -> Option<Vec<i64>> {
    let region = |name: &str, write, initial| RegionSpec {
        name: name.into(),
        bytes: 2 * N as u64,
        align: 2,
        read: true,
        write,
        initial,
    };
    let array = |operand| Initial::Inputs { operand, element_bits: 16 };
    let call = CallSpec {
        symbol: "f".into(),
        regions: vec![
            region("c", true, Initial::Undefined),
            region("a", false, array(0)),
            region("b", false, array(1)),
        ],
        args: (0..3).map(|r| ArgSpec::Pointer(r, 0)).collect(),
        data: Vec::new(),
        ranges: Vec::new(),
        given_sections: Vec::new(),
        coincide: Vec::new(),
        functions: Vec::new(),
        released_branches: 0,
        passes_checks: false,
        max_steps: 10_000,
    };
    let mut graph = Graph::new();
    let lifted = lift(&Object::parse(object).ok()?, &call, &mut graph, &mut |_| true).ok()?;
    let c = &lifted.cases[0].regions[0];
    let roots: Vec<_> =
        (0..N).map(|i| c.element(&mut graph, i, 16)).collect::<Result<_, _>>().ok()?;
    let values = Tape::new(&graph, &roots)
        .ok()?
        .run(|operand, i| inputs[usize::from(operand)][i as usize] as u64);
    Some(values.into_iter().map(|v| i64::from(v as u16 as i16)).collect())
}

/// Where the code of the object stands in the file.
fn code(object: &[u8]) -> std::ops::Range<usize> {
    let first: Vec<u8> = 0xfc1f_0fe8u32.to_le_bytes().to_vec(); // str d8, [sp, #-16]!
    let last: Vec<u8> = 0xd65f_03c0u32.to_le_bytes().to_vec(); // ret
    let find = |word: &[u8]| object.windows(4).position(|w| w == word).expect("it is there");
    find(&first)..find(&last) + 4
}

/// One bit of one instruction flipped: what is still proved computes the product.
#[test]
fn damaged_instructions_are_not_proved() {
    needs!("clang");
    let object = assembled(NEON);
    let range = code(&object);
    let contract = contract("aapcs64");
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut coefficient = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 20) as i64 % 3329 - 1664
    };
    let mut samples: Vec<Vec<Vec<i64>>> = (0..20)
        .map(|_| (0..2).map(|_| (0..N).map(|_| coefficient()).collect()).collect())
        .collect();
    samples.push(vec![vec![1664; N], vec![1664; N]]);
    samples.push(vec![vec![-1664; N], vec![1664; N]]);
    let (mut mutants, mut proved) = (0, Vec::new());
    for at in range.clone().step_by(4) {
        for bit in 0..32 {
            // A third of all, each bit of each field somewhere.
            if (at / 4 + bit) % 3 != 0 {
                continue;
            }
            let mut mutant = object.clone();
            mutant[at + bit / 8] ^= 1 << (bit % 8);
            mutants += 1;
            if run(&mutant).verdict != Verdict::Proved {
                continue;
            }
            proved.push((at - range.start, bit));
            for inputs in &samples {
                let got = outputs(&mutant, inputs).expect("what is proved was executed");
                let want = expected(&contract, inputs);
                let right = got.iter().zip(&want).all(|(x, y)| (x - y) % Q == 0 && x.abs() <= 2200);
                assert!(right, "bit {bit} at {:#x} is proved and wrong", at - range.start);
            }
        }
    }
    println!("{mutants} mutants, {} compute the same and are proved: {proved:x?}", proved.len());
    assert!(mutants > 300 && proved.len() < mutants / 10);
}
