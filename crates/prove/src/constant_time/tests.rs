//! Contracts of constant time: what their text must say, and verdicts on small functions.

use super::{Parameter, SafetyContract, check};
use crate::{Options, Quiet, ReasonKind, Verdict};

const HEAD: &str = "contract = 1\nabi = \"sysv-x86-64\"\nclaims = \"constant-time\"\n";

fn contract(arguments: &str) -> String {
    format!("{HEAD}[[function]]\nsymbol = \"f\"\nstack = 64\narguments = [{arguments}]\n")
}

const ARRAYS: &str = "{ name = \"out\", role = \"output\", element = \"u16\", length = 4 }, \
                      { name = \"in\", role = \"input\", element = \"u16\", length = 4 }, \
                      { name = \"n\", values = [4, 3, 4] }";

fn object(body: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let (source, target) = (dir.path().join("f.s"), dir.path().join("f.o"));
    let text = format!(
        ".intel_syntax noprefix\n.text\n.globl f\n.type f,@function\nf:\n{body}\n.section .note.GNU-stack,\"\",@progbits\n"
    );
    std::fs::write(&source, text).unwrap();
    // Binutils come with either compiler.
    let status = std::process::Command::new("as").arg(&source).arg("-o").arg(&target).status();
    assert!(status.unwrap().success());
    std::fs::read(target).unwrap()
}

fn verdict(body: &str, arguments: &str) -> (Verdict, Vec<ReasonKind>, usize) {
    let contract = SafetyContract::parse(&contract(arguments)).unwrap();
    let report = check(&object(body), &contract, &Options::default(), &Quiet);
    assert_eq!(report.functions.len(), 1);
    let f = &report.functions[0];
    assert_eq!(report.verdict, f.verdict);
    (f.verdict, f.reasons.iter().map(|r| r.kind).collect(), f.cases)
}

#[test]
fn a_text_says_what_it_must() {
    let parsed = SafetyContract::parse(&contract(ARRAYS)).unwrap();
    assert_eq!(parsed.functions[0].parameters[2], Parameter::Public(vec![4, 3, 4]));
    for (text, wanted) in [
        (contract("{ name = \"x\" }"), "is an array"),
        (contract("{ name = \"x\", value = 1, secret = true }"), "is an array"),
        (contract("{ name = \"x\", value = 1, values = [2] }"), "is an array"),
        (contract("{ name = \"x\", secret = true, align = 2 }"), "is no array"),
        (contract("{ name = \"x\", values = [] }"), "nothing would be checked"),
        (contract("{ name = \"x\", same = \"y\" }"), "no array before"),
        (contract("{ name = \"x\", value = 1 }, { name = \"x\", value = 1 }"), "two arguments"),
        (contract("{ name = \"x\", role = \"input\", length = 1 }"), "needs"),
        (
            contract("{ name = \"x\", role = \"input\", element = \"u8\", length = 1, align = 3 }"),
            "power of two",
        ),
        (
            contract(
                "{ name = \"x\", role = \"input\", element = \"u8\", length = 1, known = [{ at = 1, hex = \"00\" }] }",
            ),
            "bytes that it has",
        ),
        (
            contract(
                "{ name = \"x\", role = \"input\", element = \"u8\", length = 1, known = [{ at = 0, hex = \"0\" }] }",
            ),
            "hexadecimal",
        ),
        (
            format!(
                "{HEAD}[[data]]\nsymbol = \"d\"\nwords = [[1], [1, 2]]\n{}",
                &contract("")[HEAD.len()..]
            ),
            "one length",
        ),
        (
            format!(
                "{HEAD}[[external]]\nsymbol = \"e\"\nreads = [{{ argument = 0 }}]\n{}",
                &contract("")[HEAD.len()..]
            ),
            "bytes_of",
        ),
        (
            format!("{}[[external]]\nsymbol = \"e\"\nstands_in = true\n", contract("")),
            "how many bytes of stack",
        ),
        (
            format!(
                "{}[[external]]\nsymbol = \"e\"\nreads = [{{ argument = 0, bytes = 2, known = [{{ at = 0, hex = \"00\" }}] }}]\n",
                contract("")
            ),
            "of what it writes",
        ),
        (
            format!(
                "{}[[external]]\nsymbol = \"e\"\nwrites = [{{ argument = 0, bytes = 2, known = [{{ at = 0, hex = \"0\" }}] }}]\n",
                contract("")
            ),
            "hexadecimal",
        ),
        (contract("").replace("constant-time", "speed"), "known is"),
        (contract("").replace("\"constant-time\"", "[\"constant-time\", \"clean\"]"), "known is"),
        (contract("").replace("constant-time", "clean-stack"), "is expected, once"),
        (contract("").replace("\"constant-time\"", "[]"), "is expected, once"),
        (contract("").replace("\"constant-time\"", "3"), "list of strings"),
        (contract("").replace("contract = 1", "contract = 2"), "contract = 1"),
    ] {
        let error = SafetyContract::parse(&text).expect_err(&text);
        assert!(error.message.contains(wanted), "{error} does not say `{wanted}`");
    }
}

#[test]
fn each_claim_is_checked() {
    let copy = "mov ecx, edx\n1: movzx eax, word ptr [rsi+2*rcx-2]\n mov [rdi+2*rcx-2], ax\n dec ecx\n jne 1b\n";
    let four = &ARRAYS.replace("values = [4, 3, 4]", "value = 4");
    assert_eq!(verdict(&format!("{copy} ret"), four), (Verdict::Proved, vec![], 1));
    // Three of four words are written in the second case.
    let (v, kinds, _) = verdict(&format!("{copy} ret"), ARRAYS);
    assert_eq!((v, kinds), (Verdict::Refuted, vec![ReasonKind::Undefined]));
    for (body, kind) in [
        ("inc edx\n", ReasonKind::Memory),
        ("mov [rsi], al\n", ReasonKind::Memory),
        ("mov [rsp+8], rax\n", ReasonKind::Memory),
        ("sub rsp, 72\n add rsp, 72\n", ReasonKind::Memory),
        ("cmp byte ptr [rsi], 0\n je 9f\n nop\n9:\n", ReasonKind::ConstantTime),
        ("movzx eax, byte ptr [rsi]\n and eax, 1\n mov al, [rsi+rax]\n", ReasonKind::ConstantTime),
        (
            "mov r8, rdx\n xor edx, edx\n movzx eax, byte ptr [rsi]\n div r8d\n mov rdx, r8\n",
            ReasonKind::ConstantTime,
        ),
        ("mov ebx, 1\n", ReasonKind::Abi),
        ("test r8d, r8d\n je 9f\n nop\n9:\n", ReasonKind::Undefined),
    ] {
        let (v, kinds, _) = verdict(&format!("{body}{copy} ret"), four);
        assert_eq!((v, kinds), (Verdict::Refuted, vec![kind]), "{body}");
    }
    let unknown = verdict(&format!("rdtsc\n{copy} ret"), four);
    assert_eq!((unknown.0, unknown.1), (Verdict::Unknown, vec![ReasonKind::Unmodelled]));
    // A constant that only terms show to be one: not proved, and not refuted.
    let zero = "movzx eax, byte ptr [rsi]\n mov ecx, eax\n xor eax, ecx\n je 9f\n nop\n9:\n";
    let (v, kinds, _) = verdict(&format!("{zero}{copy} ret"), four);
    assert_eq!((v, kinds), (Verdict::Unknown, vec![ReasonKind::ConstantTime]));
    // A check for overflow may be a branch that is never taken.
    let checked = "movzx eax, word ptr [rsi]\n add eax, eax\n jo 9f\n nop\n9:\n";
    let (v, kinds, _) = verdict(&format!("{checked}{copy} ret"), four);
    assert_eq!((v, kinds), (Verdict::Unknown, vec![ReasonKind::Unmodelled]));
    // A symbol that is not there.
    let other = SafetyContract::parse(&contract(four).replace("\"f\"", "\"g\"")).unwrap();
    assert_eq!(
        check(&object("ret"), &other, &Options::default(), &Quiet).verdict,
        Verdict::Unknown
    );
}

#[test]
fn bytes_that_are_never_read_are_named() {
    let remarks = |body: &str, arguments: &str| {
        let contract = SafetyContract::parse(&contract(arguments)).unwrap();
        let report =
            check(&object(&format!("{body}\nret")), &contract, &Options::default(), &Quiet);
        assert_eq!(report.verdict, Verdict::Proved, "{:?}", report.functions[0].reasons);
        report.functions[0].remarks.clone()
    };
    let arrays = "{ name = \"out\", role = \"output\", element = \"u8\", length = 1 }, \
                  { name = \"a\", role = \"input\", element = \"u8\", length = 16 }, \
                  { name = \"b\", role = \"inout\", element = \"u8\", length = 8 }";
    let first = "mov al, [rsi]\n xor al, [rdx]\n mov [rdi], al";
    assert_eq!(
        remarks(first, arrays),
        ["bytes 1 to 15 of a are never read", "bytes 1 to 7 of b are never read"]
    );
    // What is written is not read; a gap of one byte; an output is nobody's loss.
    let gap = "mov rax, [rsi]\n xor eax, [rsi+9]\n xor ax, [rsi+13]\n xor al, [rsi+15]\n mov [rdi], al\n mov [rdx], rax";
    assert_eq!(remarks(gap, arrays), ["byte 8 of a is never read", "b is never read"]);
    let all = "movdqu xmm0, [rsi]\n movq rax, xmm0\n xor rax, [rdx]\n mov [rdi], al";
    assert!(remarks(all, arrays).is_empty());
    // One of several cases is enough.
    let cases = format!("{}, {{ name = \"n\", values = [0, 8] }}", arrays);
    let either = "mov rax, [rsi+rcx]\n xor rax, [rdx]\n mov [rdi], al";
    assert!(remarks(either, &cases).is_empty());
}

/// The verdict on a function of ARRAYS (four words) that also claims `claim`, and the reason's text.
fn clean(claim: &str, body: &str) -> (Verdict, String) {
    let four = &ARRAYS.replace("values = [4, 3, 4]", "value = 4");
    let claims = format!("[\"constant-time\", \"{claim}\"]");
    let contract = contract(four).replace("\"constant-time\"", &claims);
    let contract = SafetyContract::parse(&contract).unwrap();
    let report = check(&object(body), &contract, &Options::default(), &Quiet);
    let reasons = &report.functions[0].reasons;
    assert!(reasons.iter().all(|r| r.kind == ReasonKind::Residue), "{reasons:?}");
    let claimed = report.claims.iter().filter(|c| c.starts_with(&claim.replace('-', " "))).count();
    assert_eq!(claimed, 1, "{:?}", report.claims);
    (report.verdict, reasons.first().map_or_else(String::new, |r| r.text.clone()))
}

#[test]
fn what_is_left_on_the_stack_is_seen() {
    let copy = "mov rax, [rsi]\n mov [rdi], rax\n";
    let proved = [
        // Nothing; a constant; an address; the caller's own registers, before anything is read.
        "ret",
        "mov qword ptr [rsp-8], 7\n mov [rsp-16], rsi\n ret",
        // A word that is overwritten, by parts or by another.
        "push rax\n mov dword ptr [rsp], 0\n mov dword ptr [rsp+4], 0\n pop rcx\n ret",
        // A register that passes nothing, as compilers push one to align the stack.
        "push r8\n pop r8\n ret",
        // A function's frame that another function's covers.
        "call 2f\n call 3f\n ret\n2: mov [rsp-40], rax\n ret\n3: mov qword ptr [rsp-40], 0\n ret",
    ];
    for body in proved {
        assert_eq!(
            clean("clean-stack", &format!("{copy}{body}")),
            (Verdict::Proved, String::new()),
            "{body}"
        );
    }
    // What the caller had in its registers is the caller's.
    let early = format!("push rax\n vmovdqu [rsp-48], ymm3\n {copy} pop rcx\n ret");
    assert_eq!(clean("clean-stack", &early).0, Verdict::Proved);
    let refuted = [
        ("push rax\n pop rcx\n ret", "stack-8 to stack-1; stack-8 depends on byte 0 of in"),
        // Seven of eight bytes are overwritten.
        ("push rax\n mov dword ptr [rsp], 0\n mov dword ptr [rsp+3], 0\n pop rcx\n ret", "1 bytes"),
        (
            "call 2f\n call 3f\n ret\n2: mov [rsp-40], rax\n ret\n3: mov qword ptr [rsp-41], 0\n ret",
            "stack-41 to stack-41",
        ),
        ("movzx ecx, al\n and ecx, 1\n neg ecx\n mov [rsp-4], ecx\n ret", "stack-4 to stack-1"),
        ("vmovd xmm1, eax\n vmovdqu [rsp-64], ymm1\n ret", "4 bytes"),
    ];
    for (body, wanted) in refuted {
        let (verdict, text) = clean("clean-stack", &format!("{copy}{body}"));
        assert_eq!(verdict, Verdict::Refuted, "{body}: {text}");
        assert!(text.contains(wanted), "{body}: {text}");
    }
    // Undefined, after something was read, may be anything that was read; a constant that only terms show to be one.
    for body in
        ["vmovdqu [rsp-48], ymm3\n ret", "mov ecx, eax\n xor eax, ecx\n mov [rsp-4], eax\n ret"]
    {
        assert_eq!(clean("clean-stack", &format!("{copy}{body}")).0, Verdict::Unknown, "{body}");
    }
}

#[test]
fn what_is_left_in_registers_is_seen() {
    let copy = "mov rax, [rsi]\n mov [rdi], rax\n";
    let general = "xor ecx, ecx\n xor edx, edx\n xor r8d, r8d\n xor r9d, r9d\n xor r10d, r10d\n xor r11d, r11d\n";
    // The result may be anything.
    assert_eq!(
        clean("clean-registers", &format!("{copy}{general} vzeroall\n ret")),
        (Verdict::Proved, String::new())
    );
    // Without vector instructions of AVX upper halves are the caller's.
    let legacy: String = (0..16).map(|i| format!("pxor xmm{i}, xmm{i}\n")).collect();
    assert_eq!(
        clean("clean-registers", &format!("{copy}{general}{legacy} ret")).0,
        Verdict::Proved
    );
    for (body, wanted, verdict) in [
        (format!("{general} vzeroall\n mov r11, rax"), "byte 0 of r11", Verdict::Refuted),
        (format!("{general} vzeroall\n movq xmm9, rax"), "byte 0 of ymm9", Verdict::Refuted),
        (format!("{general} vmovq xmm1, rax\n {legacy}"), "byte 16 of ymm0", Verdict::Unknown),
        (general.to_string(), "byte 0 of ymm0", Verdict::Unknown),
    ] {
        let body = format!("{copy}{body}\n ret");
        let (found, text) = clean("clean-registers", &body);
        assert_eq!(found, verdict, "{body}: {text}");
        assert!(text.contains(wanted), "{body}: {text}");
    }
}

/// The same of Cortex-M4, where r0 holds the result and r9 is a register like others.
#[test]
fn what_is_left_on_cortex_m4_is_seen() {
    let Some(clang) = ringforge_testing::program("clang") else { return };
    let four = &ARRAYS.replace("values = [4, 3, 4]", "value = 4");
    let claims = "[\"constant-time\", \"clean-stack\", \"clean-registers\"]";
    let text = contract(four).replace("\"constant-time\"", claims).replace("sysv-x86-64", "aapcs");
    let contract = SafetyContract::parse(&text).unwrap();
    let run = |body: &str| {
        let dir = tempfile::tempdir().unwrap();
        let (source, target) = (dir.path().join("f.s"), dir.path().join("f.o"));
        let text = format!(
            ".syntax unified\n.fpu fpv4-sp-d16\n.thumb\n.text\n.globl f\n.type f,%function\n.thumb_func\nf:\n{body}\n"
        );
        std::fs::write(&source, text).unwrap();
        let status = std::process::Command::new(clang)
            .args(["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4", "-c", "-o"])
            .args([&target, &source])
            .status();
        assert!(status.unwrap().success());
        let report = check(&std::fs::read(target).unwrap(), &contract, &Options::default(), &Quiet);
        let reasons = &report.functions[0].reasons;
        let text = reasons.first().map_or_else(String::new, |r| r.text.clone());
        assert!(reasons.iter().all(|r| r.kind == ReasonKind::Residue), "{reasons:?}");
        (report.verdict, text)
    };
    let copy = "push {r4, lr}\n ldrh r3, [r1]\n strh r3, [r0]\n ldrh r2, [r1, #2]\n strh r2, [r0, #2]\n\
                ldr r12, [r1, #4]\n str r12, [r0, #4]\n ldrh r4, [r1]\n mov lr, r4\n";
    let clean = "movs r1, #0\n movs r2, #0\n movs r3, #0\n mov r12, r1\n mov lr, r1\n";
    let good = format!("{copy}{clean} mov r0, r4\n pop {{r4, pc}}");
    assert_eq!(run(&good), (Verdict::Proved, String::new()));
    // One register less each time.
    for (line, name) in [
        ("movs r2, #0", "byte 0 of r2"),
        ("movs r3, #0", "byte 0 of r3"),
        ("mov r12, r1", "byte 0 of r12"),
        ("mov lr, r1", "byte 0 of lr"),
    ] {
        let (verdict, text) = run(&good.replace(line, "nop"));
        assert_eq!(verdict, Verdict::Refuted, "{line}: {text}");
        assert!(text.contains(name), "{line}: {text}");
    }
    // A floating-point register that the code writes is like them, and others are the caller's.
    let (verdict, text) = run(&good.replace(" mov r0, r4", " vmov s3, r4\n mov r0, r4"));
    assert!(verdict == Verdict::Refuted && text.contains("byte 0 of s3"), "{text}");
    let kept = format!("vmov s3, r4\n vmov r0, s3\n {clean} vmov s3, r1\n");
    assert_eq!(run(&good.replace(clean, &kept)), (Verdict::Proved, String::new()));
    // r1 is an address at entry, and may stay one; not what it points to.
    let (verdict, text) = run(&good.replace("movs r1, #0", "ldr r1, [r1]"));
    assert!(verdict == Verdict::Refuted && text.contains("of r1"), "{text}");
    let (verdict, text) = run(&good.replace("mov r0, r4", "push {r4}\n pop {r0}"));
    assert!(verdict == Verdict::Refuted && text.contains("left in the stack"), "{text}");
}

/// Overflow may depend on secrets: checks that stop the program then are assumed to pass, and the report says so.
#[test]
fn checks_that_stop_the_program_are_assumed_to_pass() {
    let run = |body: &str| {
        let contract = SafetyContract::parse(&contract(ARRAYS)).unwrap();
        let report = check(&object(body), &contract, &Options::default(), &Quiet);
        let f = report.functions[0].clone();
        (f.verdict, f.assumptions.join("; "))
    };
    // out[i] = in[i] + in[i + 2], in four bytes at a time; 9 is where a check leads.
    let body = |branch: &str, trap: &str| {
        format!(
            "mov eax, [rsi]\n add eax, [rsi+4]\n {branch}\n mov [rdi], eax\n mov [rdi+4], eax\n ret\n9: {trap}"
        )
    };
    let says = "no overflow check or sanitizer trap fails";
    // What only sanitizers write is a check behind any condition, others behind the overflow flag.
    let sanitizer = ".byte 0x67\n ud1 eax, [rax+8]";
    let proved = [
        ("jo 9f", "ud2"),
        ("jo 9f", "ud1 eax, [rax+8]"),
        ("jo 9f", sanitizer),
        ("js 9f", sanitizer),
        ("jno 8f\n ud2\n8:", "ret"),
        ("jo 9f\n add eax, 5\n jo 9f", "ud2"),
    ];
    for (branch, trap) in proved {
        let (verdict, assumed) = run(&body(branch, trap));
        assert!(verdict == Verdict::Proved && assumed.contains(says), "{branch} {trap}: {assumed}");
        let count = format!("there are {},", branch.matches("jo").count().max(1));
        assert!(branch.contains("jno") || assumed.contains(&count), "{assumed}");
    }
    // A trap of the program's own, a way that does something first, instructions that do not stop, one that a linker
    // changes, one that lies in data, or both ways.
    for (branch, trap) in [
        ("js 9f", "ud2"),
        ("jo 9f", "nop\n ud2"),
        ("jo 9f", "ret"),
        ("jo 9f", "int 3"),
        ("jo 9f", "ud2\n .ascii \"xen\"\n cpuid"),
        ("jo 9f", ".reloc 9b, R_X86_64_32, f\n ud2\n nop\n nop"),
        ("jo k", "ret\n .data\nk: ud2"),
        ("jo 9f\n ud2", "ud2"),
        ("jc 8f\n8:", "ud2"),
    ] {
        let (verdict, assumed) = run(&body(branch, trap));
        assert!(verdict != Verdict::Proved && !assumed.contains(says), "{branch} {trap}");
    }
    // A number that is known decides as ever.
    assert_ne!(run(&body("xor eax, eax\n jno 9f", "ud2")).0, Verdict::Proved);
    assert!(!run(&body("xor edx, edx\n jo 9f", "ud2")).1.contains(says));
    // The way behind a check may be impossible, and then refutes nothing: this one always fails.
    let fails = "or eax, 0x40000000\n and eax, 0x7fffffff\n add eax, 0x40000000\n jo 9f";
    for behind in ["mov eax, [rsi+1000]", "mov ebx, 1", "ret", "jz 8f\n nop\n8:"] {
        let (verdict, _) = run(&body(&format!("{fails}\n {behind}"), "ud2"));
        assert_eq!(verdict, Verdict::Unknown, "{behind}");
    }
    // A flag that tells no overflow, and `ud1` of other registers.
    for (branch, trap) in [("shl eax, 1\n jo 9f", "ud2"), ("js 9f", ".byte 0x67\n ud1 edi, [rdx]")]
    {
        assert_ne!(run(&body(branch, trap)).0, Verdict::Proved, "{branch}");
    }
    // What a check leaves unknown may be a constant: the later branch compares x with itself.
    let later = "mov rax, rsp\n add rax, [rsi]\n jo 9f\n mov eax, [rsi]\n xor eax, [rsi]\n jnz 8f\n nop\n8:";
    assert_eq!(run(&body(later, "ud2")).0, Verdict::Unknown);

    // What gcc calls for it.
    let call = |function: &str, low: &str| {
        format!(
            "push rbx\n push rsi\n push rdi\n mov edi, [rsi]\n mov esi, [rsi+4]\n call {function}\n pop rdi\n pop rsi\n \
             pop rbx\n mov [rdi], {low}\n mov [rdi+4], {low}\n ret"
        )
    };
    for name in ["__addvsi3", "__subvsi3", "__mulvsi3", "__negvsi2"] {
        let (verdict, assumed) = run(&call(name, "eax"));
        assert!(verdict == Verdict::Proved && assumed.contains(&format!("the linked `{name}`")));
    }
    let long = call("__addvdi3", "eax").replace("edi, [rsi]", "rdi, [rsi]");
    assert_eq!(run(&long.replace("esi, [rsi+4]", "rsi, [rsi]")).0, Verdict::Proved);
    // The upper half of what one returns, and an argument, that may be anything.
    let upper = call("__addvsi3", "rax").replace("[rdi+4], rax", "[rdi], rax");
    for body in [upper, long.replace("esi, [rsi+4]", "rsi, r11")] {
        assert_ne!(run(&body).0, Verdict::Proved, "{body}");
    }
    for name in ["__addvti3", "__addvsi2", "__absvsi2", "__addv", "addvsi3", "\"__abévsi3\""] {
        assert_eq!(run(&call(name, "eax")).0, Verdict::Unknown, "{name}");
    }
    // A sum of numbers that overflows stops the program for sure; one that just fits does not.
    for (number, verdict) in [("0x7fffffff", Verdict::Unknown), ("0x7ffffffe", Verdict::Proved)] {
        let sum = call("__addvsi3", "eax").replace("edi, [rsi]", &format!("edi, {number}"));
        let sum = sum.replace("mov esi, [rsi+4]", "mov esi, 1");
        assert_eq!(run(&sum).0, verdict, "{number}");
    }
}

#[test]
fn a_declaration_stands_in_for_a_function_of_the_object() {
    // g copies eight bytes; f branches on the first, and may take what lies above g's return address.
    let body = |rest: &str| {
        format!(
            "sub rsp, 24\n mov [rsp+8], rdi\n call g\n mov rdi, [rsp+8]\n cmp byte ptr [rdi], 5\n {rest}\n add rsp, 24\n ret\n\
             .globl g\n.type g,@function\ng: mov rax, [rsi]\n mov [rsp-16], rax\n mov [rdi], rax\n xor eax, eax\n ret"
        )
    };
    let run = |claims: &str, body: &str, known: &str, symbol: &str| {
        let four = ARRAYS.replace("values = [4, 3, 4]", "value = 4");
        let text = contract(&four).replace("\"constant-time\"", claims).replace("\"f\"", symbol);
        let text = format!(
            "{text}[[external]]\nsymbol = \"g\"\nstands_in = true\nstack = 16\nreturns = 0\n\
             reads = [{{ argument = 1, bytes = 8 }}]\nwrites = [{{ argument = 0, bytes = 8{known} }}]\n"
        );
        let contract = SafetyContract::parse(&text).unwrap();
        let report = check(&object(body), &contract, &Options::default(), &Quiet);
        let f = report.functions[0].clone();
        (f.verdict, f.reasons.iter().map(|r| r.kind).collect::<Vec<_>>(), f.stack_bytes)
    };
    let first = ", known = [{ at = 0, hex = \"05\" }]";
    let jump = body("jne 9f\n nop\n9:");
    let plain = "\"constant-time\"";
    // 24 bytes of its own, 8 of the call, 16 of g.
    assert_eq!(run(plain, &jump, first, "\"f\""), (Verdict::Proved, vec![], 48));
    assert_eq!(run(plain, &jump, "", "\"f\"").0, Verdict::Refuted);
    let other = ", known = [{ at = 1, hex = \"05\" }]";
    assert_eq!(run(plain, &jump, other, "\"f\"").0, Verdict::Refuted);
    let past = ", known = [{ at = 7, hex = \"0505\" }]";
    assert_eq!(run(plain, &jump, past, "\"f\"").1, vec![ReasonKind::Unmodelled]);
    // A leak before any call: g's code may be inlined there, so that it refutes nothing. After a call it does.
    let early = body("nop").replace("call g", "cmp byte ptr [rsi], 5\n jne 9f\n call g\n9:");
    assert_eq!(run(plain, &early, first, "\"f\"").0, Verdict::Unknown);
    assert_eq!(run(plain, &early, "", "\"f\"").0, Verdict::Refuted);
    // The function in whose place a declaration stands is no such function itself.
    let own =
        body("nop").replace("g: mov rax, [rsi]", "g: mov rax, [rsi]\n cmp al, 5\n jne 9f\n9:");
    assert_eq!(run(plain, &own, first, "\"g\"").0, Verdict::Refuted);
    let late = body("mov rsi, [rdi]\n cmp byte ptr [rdi+1], 5\n jne 9f\n nop\n9:");
    assert_eq!(run(plain, &late, first, "\"f\"").0, Verdict::Refuted);
    // The function itself is executed under its own name, and used more stack than it may have.
    assert_eq!(run(plain, &jump, first, "\"g\""), (Verdict::Proved, vec![], 16));
    // What it uses may hold secrets, until it is overwritten.
    let clean = "[\"constant-time\", \"clean-stack\"]";
    assert_eq!(run(clean, &jump, first, "\"f\"").1, vec![ReasonKind::Residue]);
    let wiped = body("mov qword ptr [rsp-16], 0\n mov qword ptr [rsp-24], 0\n jne 9f\n nop\n9:");
    assert_eq!(run(clean, &wiped, first, "\"f\"").0, Verdict::Proved);
    let partly = body("mov qword ptr [rsp-16], 0\n mov dword ptr [rsp-20], 0\n jne 9f\n nop\n9:");
    assert_eq!(run(clean, &partly, first, "\"f\"").1, vec![ReasonKind::Residue]);
    // Nothing stands in for what is not there.
    let missing =
        [("call g", "call h"), (".globl g", ".globl h"), ("type g", "type h"), ("\ng:", "\nh:")]
            .iter()
            .fold(jump.clone(), |text, (old, new)| text.replace(old, new));
    assert_eq!(run(plain, &missing, first, "\"f\"").1, vec![ReasonKind::Unmodelled]);
}

/// What may be inlined excuses a leak only in a function that calls it, or if nothing calls it.
#[test]
fn a_stand_in_hides_no_leak_of_a_function_without_it() {
    let text = |callers: &[&str]| {
        let function = |symbol: &&str| {
            let arguments = ARRAYS.replace("values = [4, 3, 4]", "value = 4");
            contract(&arguments)[HEAD.len()..].replace("\"f\"", &format!("\"{symbol}\""))
        };
        let functions: String = callers.iter().map(function).collect();
        format!(
            "{HEAD}{functions}[[external]]\nsymbol = \"g\"\nstands_in = true\nstack = 16\nreturns = 0\n\
             reads = [{{ argument = 1, bytes = 8 }}]\n\
             writes = [{{ argument = 0, bytes = 8, known = [{{ at = 0, hex = \"05\" }}] }}]\n"
        )
    };
    let calls = "sub rsp, 8\n call g\n add rsp, 8\n ret";
    // In k a branch, in t an address; n looks at what the declaration of g says, and calls it where the byte is not 5.
    let leak = "cmp byte ptr [rsi+1], 5\n jne 9f\n nop\n9:";
    let copy = "mov rax, [rsi]\n mov [rdi], rax\n ret";
    let table = "movzx eax, byte ptr [rsi+2]\n and eax, 7\n movzx eax, byte ptr [rsi+rax]";
    let later = "cmp byte ptr [rsi+1], 5\n je 9f\n nop\n9:";
    let body = format!(
        "{calls}\n.globl k, t, n, g\n.type k,@function\n.type t,@function\n.type n,@function\n.type g,@function\n\
         k: {leak}\n {copy}\nt: {table}\n {copy}\nn: {later}\n {calls}\ng: {copy}"
    );
    let object = object(&body);
    let run = |symbols: &[&str]| {
        let contract = SafetyContract::parse(&text(symbols)).unwrap();
        let report = check(&object, &contract, &Options::default(), &Quiet);
        let told = |f: &super::FunctionReport| {
            let reasons: Vec<String> = f.reasons.iter().map(|r| r.text.clone()).collect();
            (f.verdict, reasons.join("; "))
        };
        report.functions.iter().map(told).collect::<Vec<_>>()
    };
    let found = run(&["f", "k", "t", "n"]);
    let verdicts: Vec<Verdict> = found.iter().map(|f| f.0).collect();
    let (proved, refuted, unknown) = (Verdict::Proved, Verdict::Refuted, Verdict::Unknown);
    assert_eq!(verdicts, [proved, refuted, refuted, unknown], "{found:#?}");
    for (f, byte) in [(&found[1], "byte 1 of in"), (&found[2], "byte 2 of in")] {
        assert!(f.1.contains(byte) && f.1.contains("neither run calls `g`"), "{}", f.1);
    }
    assert!(found[3].1.contains("`g` has not been called"), "{}", found[3].1);
    // Where nothing calls g, it was perhaps inlined.
    for symbols in [&["k"][..], &["k", "t"], &["n", "k"]] {
        assert!(run(symbols).iter().all(|f| f.0 == unknown), "{symbols:?}");
    }
}

/// A term of secrets that is one number for all contents is no leak.
#[test]
fn only_two_contents_that_differ_refute() {
    let arrays = "{ name = \"a\", role = \"input\", element = \"u8\", length = 8 }, \
                  { name = \"b\", role = \"input\", element = \"u8\", length = 2 }";
    let index = |code: &str| {
        let body = format!(
            "movzx eax, byte ptr [rdi]\nmovzx ecx, byte ptr [rdi+1]\n{code}\nmovzx eax, byte ptr [rsi+rax]\nret"
        );
        verdict(&body, arrays).0
    };
    for constant in [
        "add eax, eax\nand eax, 1",
        "lea ecx, [rax+1]\nimul eax, ecx\nand eax, 1",
        "mov ecx, eax\nxor ecx, 255\nand eax, ecx",
        "mov edx, eax\nxor edx, ecx\nmov r8d, eax\nand r8d, ecx\nlea edx, [rdx+2*r8]\nadd eax, ecx\nsub eax, edx",
    ] {
        assert_eq!(index(constant), Verdict::Unknown, "{constant}");
    }
    for leak in ["and eax, 1", "xor eax, ecx\nand eax, 1", "imul eax, ecx\nshr eax, 15"] {
        assert_eq!(index(leak), Verdict::Refuted, "{leak}");
    }
    // One word in 2^32 leaks too, and so does one in 2^64.
    for (load, leaks) in [
        ("mov eax, [rdi]\ncmp eax, 0x12345678", true),
        ("mov rax, [rdi]\nmovabs rcx, 0x123456789abcdef\ncmp rax, rcx", true),
        ("movzx eax, byte ptr [rdi]\nimul rax, rax\ncmp rax, -1", false),
    ] {
        let (verdict, reasons, _) = verdict(&format!("{load}\njne 1f\nnop\n1: ret"), arrays);
        let wanted = if leaks { Verdict::Refuted } else { Verdict::Unknown };
        assert_eq!((verdict, reasons), (wanted, vec![ReasonKind::ConstantTime]), "{load}");
    }
}
