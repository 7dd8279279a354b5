//! Armv7E-M from source to verdict: C by two compilers, a product with DSP instructions by hand, and mutants
//! of it, in the text and in the object, none of which may be proved unless it computes the same.

use ringforge_machine::eval::Tape;
use ringforge_machine::graph::Graph;
use ringforge_machine::{ArgSpec, CallSpec, Initial, Object, RegionSpec, lift};
use ringforge_prove::{Contract, Options, Quiet, Report, Verdict, expected, prove};
use ringforge_testing::{cc, needs, program};
use std::process::Command;
use std::time::Duration;

const TARGET: [&str; 2] = ["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4"];
const N: usize = 8;
const Q: i64 = 3329;

/// The product in Z_3329[x]/(x^8 + 1), two coefficients in a register.
const DSP: &str = include_str!("thumb/product.s");
/// Three layers of a transform modulo x^8 + 1, merged, of words of 32 bits, an address in a floating-point register.
const LAYERS: &str = include_str!("thumb/layers.s");
/// What its outputs are at most.
const MOST: i64 = 1664;

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

fn contract(abi: &str, most: i64) -> Contract {
    let argument = |name: &str, role: &str, most: i64| {
        format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = {N}\n\
             align = 4\nrange = [-{most}, {most}]\n"
        )
    };
    let text = format!(
        "contract = 1\nsymbol = \"f\"\nabi = \"{abi}\"\nring = \"Z{Q}[x]/(x^{N} + 1)\"\n\
         computes = \"product\"\nalias = []\n{}{}{}",
        argument("c", "output", most),
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
    compile(clang, "s", source, &TARGET)
}

fn run(object: &[u8], most: i64) -> Report {
    let options = Options { search: Duration::from_millis(200), ..Options::default() };
    prove(object, &contract("aapcs", most), &options, &mut Quiet)
}

fn told(r: &Report) -> String {
    format!("{}: {:?}", r.verdict, r.reasons.iter().map(|r| &r.text).collect::<Vec<_>>())
}

#[test]
fn compiled_products_are_proved() {
    let mut proved = 0;
    let gcc = "arm-none-eabi-gcc";
    let for_gcc = ["-mcpu=cortex-m4", "-mthumb"];
    for (compiler, target) in [("clang", &TARGET), (gcc, &for_gcc)] {
        let Some(compiler) = program(compiler) else { continue };
        for level in ["-O1", "-O2", "-O3", "-Os"] {
            let flags: Vec<&str> = target.iter().copied().chain([level]).collect();
            let object = compile(compiler, "c", C, &flags);
            let r = run(&object, 2200);
            assert_eq!(r.verdict, Verdict::Proved, "{compiler} {level}: {}", told(&r));
            assert!(r.certificate.replayed.lines > 0, "{compiler} {level}");
            assert!(r.assumptions.iter().any(|a| a.contains("multiplications take fixed time")));
            proved += 1;
        }
    }
    println!("{proved} objects proved");
}

#[test]
fn dsp_by_hand_is_proved() {
    needs!("clang");
    let r = run(&assembled(DSP), MOST);
    assert_eq!(r.verdict, Verdict::Proved, "{}", told(&r));
    assert!(r.certificate.replayed.lines > 0);
}

#[test]
fn another_instruction_set_is_no_object_of_the_contract() {
    needs!("clang");
    let options = Options::default();
    let object = assembled(DSP);
    for abi in ["sysv-x86-64", "aapcs64"] {
        let r = prove(&object, &contract(abi, MOST), &options, &mut Quiet);
        assert_eq!(r.verdict, Verdict::Unknown);
        assert!(told(&r).contains("Armv7E-M") && told(&r).contains("aapcs"), "{}", told(&r));
    }
    let r = run(&compile(cc(), "c", C, &["-O2"]), MOST);
    assert_eq!(r.verdict, Verdict::Unknown);
    assert!(told(&r).contains("sysv-x86-64"), "{}", told(&r));
    // The caller guarantees less than `ldrd` needs.
    let text = DSP.replace("ldrd r6, r7, [r2]", "adds r2, #2\n    ldrd r6, r7, [r2]");
    let r = run(&assembled(&text), MOST);
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
    assert!(told(&r).contains("multiple of 4"), "{}", told(&r));
}

/// Mistakes that people make, by one change of the text each: of the first place where the text stands.
#[test]
fn mistakes_in_the_text_are_not_proved() {
    needs!("clang");
    let mistakes = [
        ("smladx r4, r3, r6, r4", "smlad r4, r3, r6, r4", true),
        ("smladx r4, r3, r6, r4", "smlsdx r4, r3, r6, r4", true),
        ("smladx r4, r3, r6, r4", "smuadx r4, r3, r6", false), // the first product of its sum
        ("smladx r5, r3, r8, r5", "smladx r4, r3, r8, r4", true),
        ("smladx r5, r3, r8, r5", "smuadx r5, r3, r8", true),
        ("smlabb r4, r3, r6, r4", "smlabt r4, r3, r6, r4", true),
        ("smlabb r4, r3, r6, r4", "smlatb r4, r3, r6, r4", true),
        ("smlatt r5, r3, r11, r5", "smlatb r5, r3, r11, r5", true),
        ("smlatt r5, r3, r11, r5", "smlatt r4, r3, r11, r4", true),
        ("smulbb r4, r3, r10", "smulbt r4, r3, r10", true),
        ("smulbb r4, r3, r10", "smulwb r4, r3, r10", true),
        ("smultb r5, r3, r10", "smulbb r5, r3, r10", true),
        ("smulbt r12, r4, r9", "smulbb r12, r4, r9", true),
        ("smulbt r12, r4, r9", "smultt r12, r4, r9", true),
        ("smulbb r12, r12, r9", "smultb r12, r12, r9", true),
        ("sub r4, r4, r12", "add r4, r4, r12", true),
        ("sub r4, r4, r12", "usub16 r4, r4, r12", false), // the low halves are equal
        ("sub r4, r4, r12", "usub8 r4, r4, r12", true),
        ("sub r4, r4, r12", "uhsub16 r4, r4, r12", true),
        ("pkhtb r4, r5, r4, asr #16", "pkhtb r4, r5, r4, asr #15", true),
        ("pkhtb r4, r5, r4, asr #16", "pkhtb r4, r4, r5, asr #16", true),
        ("pkhtb r4, r5, r4, asr #16", "pkhbt r4, r5, r4", true),
        ("pkhbt r12, r12, r7, lsl #16", "pkhbt r12, r12, r7", true),
        ("pkhbt r12, r12, r7, lsl #16", "pkhbt r12, r12, r6, lsl #16", true),
        ("lsr r12, r7, #16", "lsr r12, r7, #15", true),
        ("lsr r12, r7, #16", "asr r12, r7, #16", false), // the upper half is not used
        ("subs r4, r4, r5", "adds r4, r4, r5", true),
        ("asrs r4, r4, #16", "lsrs r4, r4, #16", true),
        ("it gt\n    subwgt r4", "it lt\n    subwlt r4", true),
        ("it gt\n    subwgt r4", "it hi\n    subwhi r4", true),
        ("it gt\n    subwgt r4", "it ge\n    subwge r4", false), // the second one repairs it
        ("it lt\n    addwlt r4", "it mi\n    addwmi r4", false), // nothing overflows
        ("it lt\n    addwlt r4", "it le\n    addwle r4", true),
        ("it lt\n    addwlt r4", "it lo\n    addwlo r4", true),
        ("cmp r4, #1664", "cmp r4, #1648", false), // likewise
        ("cmp r4, #1664", "cmp r4, #1680", true),
        ("cmn r4, #1664", "cmp r4, #1664", true),
        ("subwgt r4, r4, #3329", "subwgt r4, r4, #3328", true),
        ("movw r9, #3329", "movw r9, #3330", true),
        ("movt r9, #62209", "movt r9, #62208", true),
        ("movt r9, #62209", "movt r9, #3327", true),
        (".word 1353", ".word 1354", true),
        (".word 1353", ".short 1353, 1", false), // the upper half is not used
        ("ldr r10, scale", "ldr r10, scale - 4", true),
        ("ldr r3, [r1, #4]", "ldr r3, [r1, #8]", true),
        ("ldr r3, [r1, #4]", "ldrh r3, [r1, #4]", true),
        ("str r4, [sp, #4]", "strh r4, [sp, #4]", true),
        ("str r4, [sp, #4]", "str r4, [sp, #8]", true),
        ("ldrd r6, r7, [r2]", "ldrd r7, r6, [r2]", true),
        ("ldr r8, [r2, #8]", "ldr r8, [r1, #8]", true),
        ("strh r4, [r0, #2]", "strb r4, [r0, #2]", true),
        ("strh r4, [r0, #2]", "strh r4, [r1, #2]", true),
        ("strh r4, [r0, #14]", "str r4, [r0, #14]", true),
        ("push {r4-r11, lr}", "push {r4-r10, lr}", true),
        ("pop {r4-r11, pc}", "pop {r4-r10, pc}", true),
        ("add sp, #20", "add sp, #16", true),
        ("    add sp, #20\n", "", true),
    ];
    let mut other = Vec::new();
    for (right, wrong, matters) in mistakes {
        assert!(DSP.contains(right), "{right}");
        let r = run(&assembled(&DSP.replacen(right, wrong, 1)), MOST);
        let proved = r.verdict == Verdict::Proved;
        if proved == matters {
            other.push(format!("`{wrong}` for `{right}`: {}", told(&r)));
        }
    }
    assert!(other.is_empty(), "{}", other.join("\n"));
    println!("{} mistakes", mistakes.iter().filter(|m| m.2).count());
}

/// Whether the layers, or a mutant of them, are proved to be the transform.
fn layers(text: &str) -> Report {
    let contract = "contract = 1\nsymbol = \"f\"\nabi = \"aapcs\"\nring = \"Z8380417[x]/(x^8 + 1)\"\n\
         computes = \"forward\"\n[transform]\ndegree = 1\n\
         weights = [5178923, 3201494, 5496691, 2883726, 5234739, 3145678, 5178987, 3201430]\n\
         [[argument]]\nname = \"r\"\nrole = \"inout\"\nelement = \"i32\"\nlength = 8\nalign = 4\n\
         range = [-4190208, 4190208]\nexit = [-17000000, 17000000]\n";
    let contract = Contract::parse(contract).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { search: Duration::from_millis(200), ..Options::default() };
    prove(&assembled(text), &contract, &options, &mut Quiet)
}

#[test]
fn merged_layers_by_hand_are_proved() {
    needs!("clang");
    let r = layers(LAYERS);
    assert_eq!(r.verdict, Verdict::Proved, "{}", told(&r));
    assert!(r.certificate.replayed.lines > 0);
    assert!(r.assumptions.iter().any(|a| a.contains("floating-point registers")));
    let mistakes = [
        ("smlal r12, lr, r0, r1", "umlal r12, lr, r0, r1"),
        ("smlal r12, lr, r0, r1", "smlal r12, lr, r12, r1"),
        ("smlal r12, lr, r0, r1", "smull r12, lr, r0, r1"),
        ("smull r12, lr, r8, r3", "umull r12, lr, r8, r3"),
        ("smull r12, lr, r8, r3", "smull r12, lr, r9, r3"),
        ("mul r0, r12, r2", "mul r0, lr, r2"),
        ("mul r0, r12, r2", "mul r0, r12, r1"),
        ("sub r8, r4, lr\n    add r4, r4, lr", "add r4, r4, lr\n    sub r8, r4, lr"),
        ("sub r8, r4, lr", "sub r8, r4, r12"),
        ("ldr r3, root2", "ldr r3, root1"),
        ("movt r2, #64639", "movt r2, #64638"),
        ("ldm r0, {r4-r11}", "ldm r0!, {r4-r11}"),
        ("vmov s0, r0", "vmov s0, r1"),
        ("vmov r0, s0", "vmov r0, s1"),
        ("vmov s0, r0", "vmov s16, r0"),
        ("vmov r0, s0", "vmov r0, s0\n    vmov s0, r4\n    vmov r0, s0"),
    ];
    for (right, wrong) in mistakes {
        assert!(LAYERS.contains(right), "{right}");
        let r = layers(&LAYERS.replacen(right, wrong, 1));
        assert_ne!(r.verdict, Verdict::Proved, "`{wrong}` for `{right}`");
    }
}

/// Outputs for some inputs, or `None` where the code cannot be executed.
fn outputs(object: &[u8], inputs: &[Vec<i64>]) -> Option<Vec<i64>> {
    let region = |name: &str, write, initial| RegionSpec {
        name: name.into(),
        bytes: 2 * N as u64,
        align: 4,
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
    let first = [0x2d, 0xe9, 0xf0, 0x4f]; // push.w {r4-r11, lr}
    let last = [0xbd, 0xe8, 0xf0, 0x8f]; // pop.w {r4-r11, pc}
    let find = |word: [u8; 4]| object.windows(4).position(|w| w == word).expect("it is there");
    find(first)..find(last) + 4
}

/// One bit of the code flipped: what is still proved computes the product. Every fifth bit in the long run, a
/// hundred every day.
#[test]
fn damaged_instructions_are_not_proved() {
    needs!("clang");
    let (share, least) = if ringforge_testing::long() { (5, 1200) } else { (67, 90) };
    let object = assembled(DSP);
    let range = code(&object);
    let contract = contract("aapcs", MOST);
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
    for bit in (0..8 * range.len()).step_by(share) {
        let at = range.start + bit / 8;
        let mut mutant = object.clone();
        mutant[at] ^= 1 << (bit % 8);
        mutants += 1;
        if run(&mutant, MOST).verdict != Verdict::Proved {
            continue;
        }
        proved.push((at - range.start, bit % 8));
        for inputs in &samples {
            let got = outputs(&mutant, inputs).expect("what is proved was executed");
            let want = expected(&contract, inputs);
            let right = got.iter().zip(&want).all(|(x, y)| (x - y) % Q == 0 && x.abs() <= MOST);
            assert!(right, "bit {} at {:#x} is proved and wrong", bit % 8, at - range.start);
        }
    }
    println!("{mutants} mutants, {} compute the same and are proved: {proved:x?}", proved.len());
    assert!(mutants > least && proved.len() < mutants / 10);
}

ringforge_testing::rest!(damaged_instructions_are_not_proved,);
