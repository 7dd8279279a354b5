//! Every kind of misconduct in a tiny function, refused with the right name; and next to each the
//! lawful twin, so that a lifter that refuses everything fails too.

mod common;
use common::{assemble, call, compile, lift, region};
use ringforge_machine::graph::Graph;
use ringforge_machine::{ArgSpec, CallSpec, Initial, LiftError, Timing, Violation};
use ringforge_testing::compilers;

fn run_with(body: &str, call: &CallSpec) -> Result<(), LiftError> {
    lift(&assemble(body), call, &mut Graph::new()).map(|_| ())
}

/// out (rdi, 64 bytes, aligned to 2), a (rsi), b (rdx).
fn run(body: &str) -> Result<(), LiftError> {
    run_with(body, &call("f", 32))
}

#[track_caller]
fn fine(body: &str) {
    run(body).unwrap_or_else(|e| panic!("{e}"));
}

#[track_caller]
fn refused(body: &str, wanted: impl Fn(&LiftError) -> bool, text: &str) {
    let e = run(body).expect_err("it must be refused");
    assert!(wanted(&e), "{e:?}");
    assert!(e.to_string().contains(text), "`{e}` does not say `{text}`");
}

fn timing(kind: Timing) -> impl Fn(&LiftError) -> bool {
    move |e| matches!(e, LiftError::Violation(Violation::ConstantTime { kind: k, .. }) if *k == kind)
}

fn memory(e: &LiftError) -> bool {
    matches!(e, LiftError::Violation(Violation::Memory { .. }))
}

fn undefined(e: &LiftError) -> bool {
    matches!(e, LiftError::Violation(Violation::Undefined { .. }))
}

fn unsupported(e: &LiftError) -> bool {
    matches!(e, LiftError::Unsupported { .. })
}

#[test]
fn jumps_into_other_code_segments() {
    // Their opcode is that of near ones, and so is their mnemonic.
    let slot = "lea rax, [rip + 1f]\n push rax\n mov rcx, rsp\n";
    for (near, far, pushed) in
        [("jmp [rcx]", ".byte 0xff, 0x29", 8), ("call [rcx]", ".byte 0xff, 0x19", 16)]
    {
        let body = |way: &str| format!("{slot} {way}\n1: add rsp, {pushed}\n ret");
        fine(&body(near));
        refused(&body(far), unsupported, "another code segment");
    }
}

fn saved(e: &LiftError) -> bool {
    matches!(e, LiftError::Violation(Violation::CalleeSaved { .. }))
}

#[test]
fn branches_on_inputs() {
    refused(
        "mov ax, [rsi]\n test ax, ax\n je 1f\n nop\n1: ret",
        timing(Timing::Branch),
        "the branch",
    );
    refused(
        "movdqu xmm0, [rsi]\n ptest xmm0, xmm0\n je 1f\n nop\n1: ret",
        timing(Timing::Branch),
        "je",
    );
    refused(
        "movdqu xmm0, [rsi]\n pmovmskb eax, xmm0\n test eax, eax\n jne 1f\n nop\n1: ret",
        timing(Timing::Branch),
        "jne",
    );
    refused("movzx ecx, word ptr [rsi]\n jrcxz 1f\n nop\n1: ret", timing(Timing::Branch), "rcxz");
    fine("mov ax, [rsi]\n test ax, ax\n sete al\n mov [rdi], al\n ret");
    // A branch on a value that an input does not change is none on an input.
    fine("mov ax, [rsi]\n xor eax, eax\n test ax, ax\n je 1f\n ud2\n1: ret");
    fine("movzx eax, word ptr [rsi]\n and eax, 0\n jne 1f\n ret\n1: ud2");
}

#[test]
fn addresses_from_inputs() {
    refused(
        "movzx eax, word ptr [rsi]\n mov ax, [rdx+rax]\n ret",
        timing(Timing::Address),
        "the memory address",
    );
    refused(
        "movzx eax, word ptr [rsi]\n and eax, 6\n mov [rdi+rax], ax\n ret",
        timing(Timing::Address),
        "mov",
    );
    refused(
        "movzx ecx, word ptr [rsi]\n xor eax, eax\n rep stosb\n ret",
        timing(Timing::Address),
        "stosb",
    );
    fine("movzx eax, word ptr [rsi]\n sub eax, eax\n mov ax, [rdx+rax]\n ret");
}

#[test]
fn divisions_of_inputs() {
    for text in ["div ecx", "idiv ecx", "idiv rcx"] {
        refused(
            &format!("movzx eax, word ptr [rsi]\n xor edx, edx\n mov ecx, 7\n {text}\n ret"),
            timing(Timing::VariableTime),
            "variable-time",
        );
        fine(&format!("mov eax, 100\n xor edx, edx\n mov ecx, 7\n {text}\n mov [rdi], ax\n ret"));
    }
}

#[test]
fn accesses_outside() {
    refused("mov ax, [rsi+63]\n ret", memory, "outside its 64 bytes");
    refused("mov ax, [rsi-1]\n ret", memory, "a-1");
    refused("movdqu xmm0, [rsi+50]\n ret", memory, "16 bytes at a+50");
    refused("mov [rdi+64], al\n ret", memory, "out+64");
    refused("mov [rsi], al\n ret", memory, "not an output");
    refused("mov eax, [0x1000]\n ret", memory, "no pointer");
    refused("mov [rsp], rax\n ret", memory, "return address");
    refused("mov rax, [rsp+8]\n ret", memory, "the caller's frame");
    refused("mov [rsp+8], rax\n ret", memory, "the caller's frame");
    refused("lea rax, [rip+f]\n mov byte ptr [rax], 1\n ret", memory, "the object's own section");
    refused("mov rax, [rbx]\n ret", memory, "not a pointer to use");
    refused("vmovdqu ymm0, [rsi+40]\n ret", memory, "32 bytes at a+40");
    fine("mov ax, [rsi+62]\n movdqu xmm0, [rsi+48]\n vmovdqu [rdi+32], ymm0\n ret");
    // A pointer may leave its region and come back.
    fine("lea rax, [rsi+1000]\n mov cx, [rax-1000]\n ret");
}

#[test]
fn misaligned_operands() {
    refused("movdqa xmm0, [rsi]\n ret", memory, "multiple of 16");
    refused("paddw xmm0, [rsi]\n ret", memory, "multiple of 16");
    refused("movaps [rsp-24], xmm0\n movaps [rsp-16], xmm0\n ret", memory, "multiple of 16");
    refused("vmovdqa ymm0, [rsi]\n ret", memory, "multiple of 32");
    refused("vmovntdq [rdi], ymm0\n ret", memory, "multiple of 32");
    fine("movdqu xmm0, [rsi]\n vpaddw xmm0, xmm0, [rdx]\n movaps [rsp-24], xmm0\n ret");
    let mut aligned = call("f", 32);
    aligned.regions[1].align = 16;
    run_with("movdqa xmm0, [rsi+16]\n paddw xmm0, [rsi]\n ret", &aligned).expect("aligned");
    assert!(memory(&run_with("movdqa xmm0, [rsi+8]\n ret", &aligned).expect_err("offset 8")));
    assert!(memory(&run_with("vmovdqa ymm0, [rsi]\n ret", &aligned).expect_err("16 is not 32")));
}

#[test]
fn the_stack() {
    refused("mov rax, [rsp-136]\n ret", memory, "below the stack pointer");
    refused("mov [rsp-136], rax\n ret", memory, "below the stack pointer");
    fine("mov qword ptr [rsp-128], 1\n mov rax, [rsp-128]\n mov [rdi], rax\n ret");
    // What lay below the red zone is gone, a signal may have come.
    refused(
        "sub rsp, 256\n mov qword ptr [rsp], 1\n add rsp, 256\n sub rsp, 256\n mov rax, [rsp]\n add rsp, 256\n mov rax, [rsi+rax]\n ret",
        undefined,
        "address",
    );
    fine(
        "sub rsp, 256\n mov qword ptr [rsp], 1\n mov rax, [rsp]\n add rsp, 256\n mov al, [rsi+rax]\n ret",
    );
    refused("push rax\n ret", |e| unsupported(e) || undefined(e), "");
    fine("sub rsp, 8\n add rsp, 16\n jmp [rsp-8]");
    refused("xor esp, esp\n ret", unsupported, "stack pointer");
    refused("1: push rax\n jmp 1b", memory, "of stack");
}

#[test]
fn undefined_values() {
    refused("mov rax, [rsp-8]\n mov al, [rsi+rax]\n ret", undefined, "a memory address");
    refused("mov eax, [rdi]\n test eax, eax\n je 1f\n nop\n1: ret", undefined, "a flag");
    refused("test rbx, rbx\n je 1f\n nop\n1: ret", undefined, "rbx at entry");
    refused("je 1f\n nop\n1: ret", undefined, "a flag");
    // shl by more than one leaves OF undefined; andn PF; bt everything but CF and ZF.
    refused("mov eax, 3\n shl eax, 4\n jo 1f\n nop\n1: ret", undefined, "jo");
    refused("mov eax, 3\n bt eax, 1\n js 1f\n nop\n1: ret", undefined, "js");
    refused("mov eax, 3\n imul eax, eax\n je 1f\n nop\n1: ret", undefined, "je");
    // Copies and masks of undefined bytes are harmless.
    fine("mov eax, [rdi]\n mov [rdi+8], eax\n xor ecx, ecx\n and eax, ecx\n je 1f\n ud2\n1: ret");
    fine("pxor xmm7, xmm7\n movq rax, xmm7\n mov al, [rsi+rax]\n ret");
    fine(
        "vpcmpeqd ymm1, ymm1, ymm1\n vpsrld ymm1, ymm1, 31\n vmovd eax, xmm1\n mov al, [rsi+rax]\n ret",
    );
    fine("clc\n sbb eax, eax\n mov al, [rsi+rax]\n ret");
    // The low half of a word is defined, and a shift may move all else out of it.
    let half = |shift: &str| {
        format!("mov dword ptr [rsp-8], 1\n mov rax, [rsp-8]\n {shift}\n mov al, [rsi+rax]\n ret")
    };
    fine(&half("shl rax, 32\n shr rax, 31"));
    refused(&half("shl rax, 24\n shr rax, 23"), undefined, "a memory address");
    refused(&half("shl rax, 31\n shr rax, 30"), undefined, "a memory address");
}

#[test]
fn undefined_outputs_are_told() {
    let object =
        assemble("mov ax, [rsi]\n mov [rdi], ax\n mov [rdi+4], ax\n mov [rdi+6], rbx\n ret");
    let mut graph = Graph::new();
    let lifted = lift(&object, &call("f", 32), &mut graph).expect("nothing wrong yet");
    let out = &lifted.cases[0].regions[0];
    assert!(out.element(&mut graph, 0, 16).is_ok());
    assert!(out.element(&mut graph, 1, 16).is_err_and(|e| e.to_string().contains("undefined")));
    assert!(out.element(&mut graph, 2, 16).is_ok());
    assert!(out.element(&mut graph, 3, 16).is_err_and(|e| e.to_string().contains("address")));
    assert!(out.element(&mut graph, 32, 16).is_err());
}

#[test]
fn the_calling_convention() {
    for r in ["rbx", "rbp", "r12", "r13", "r14", "r15"] {
        refused(&format!("mov {r}, 1\n ret"), saved, r);
        refused(&format!("add {r}, 1\n ret"), saved, r);
        fine(&format!("push {r}\n mov {r}, 1\n pop {r}\n ret"));
        fine(&format!("mov rax, {r}\n movq xmm5, {r}\n mov {r}, 1\n movq {r}, xmm5\n ret"));
    }
    refused("push rbx\n push rbp\n pop rbx\n pop rbp\n ret", saved, "rb");
    refused("push r12\n mov r12d, r12d\n add rsp, 8\n ret", saved, "r12");
    refused("pop rax\n sub rsp, 16\n mov [rsp], rax\n ret", saved, "rsp");
    fine("pop rax\n jmp rax");
    refused("std\n ret", unsupported, "std");
    refused("fninit\n ret", unsupported, "fninit");
    refused("ldmxcsr [rsp-4]\n ret", unsupported, "ldmxcsr");
}

#[test]
fn the_canary() {
    let guarded = |body: &str| {
        format!(
            "sub rsp, 24\n mov rax, fs:[0x28]\n mov [rsp+8], rax\n {body}\n mov rax, [rsp+8]\n \
             sub rax, fs:[0x28]\n jne 1f\n add rsp, 24\n ret\n1: call __stack_chk_fail"
        )
    };
    fine(&guarded("mov ax, [rsi]\n mov [rdi], ax"));
    // Overwritten, or used as a number.
    refused(
        &guarded("mov ax, [rsi]\n mov [rsp+9], ax"),
        |e| undefined(e) || timing(Timing::Branch)(e),
        "",
    );
    let guard = "mov rcx, __stack_chk_guard@GOTPCREL[rip]\n mov rcx, [rcx]\n";
    fine(&format!("{guard} mov rdx, rcx\n {guard} cmp rdx, rcx\n jne 1f\n ret\n1: ud2"));
    refused(
        &format!("mov rax, fs:[0x28]\n {guard} cmp rax, rcx\n jne 1f\n nop\n1: ret"),
        undefined,
        "canary",
    );
    refused("mov rax, fs:[0x28]\n test al, 1\n je 1f\n nop\n1: ret", undefined, "canary");
    refused("mov rax, fs:[0x28]\n mov al, [rsi+rax]\n ret", undefined, "canary");
}

/// Lanes that a constant mask leaves out are not accessed; which ones any other mask leaves out depends on data.
#[test]
fn memory_under_masks() {
    let under = |mask: u32, what: &str| format!("mov eax, {mask}\n kmovd k1, eax\n {what}\n ret");
    // Of 64 bytes the first and the last four.
    fine(&under(0xf, "vmovdqu16 zmm0{k1}{z}, [rsi+56]\n vmovdqu16 [rdi+56]{k1}, zmm0"));
    fine(&under(0xf << 28, "vmovdqu16 zmm0{k1}{z}, [rsi-56]\n vmovdqu16 [rdi-56]{k1}, zmm0"));
    fine(&under(0, "vmovdqu16 zmm0{k1}{z}, [rsi+640]"));
    refused(&under(0x1f, "vmovdqu16 zmm0{k1}{z}, [rsi+56]"), memory, "2 bytes at a+64");
    refused(&under(0x1f, "vmovdqu16 [rdi+56]{k1}, zmm0"), memory, "out+64");
    refused(&under(0xf, "vmovdqu16 [rsi]{k1}, zmm0"), memory, "not an output");
    refused(&under(0xf, "vmovdqa32 zmm0{k1}{z}, [rsi+60]"), memory, "multiple of 64");
    // What computes reads the operand whole, and what is left out of the result of a load is the old content.
    refused(&under(0xf, "vpaddw zmm0{k1}{z}, zmm0, [rsi+56]"), memory, "64 bytes at a+56");
    let old = "vmovdqu16 zmm0{k1}, [rsi]\n vmovq rax, xmm0\n shr rax, 48\n mov al, [rsi+rax]";
    refused(&under(7, old), undefined, "address");
    let secret = |what: &str| format!("vmovdqu ymm1, [rsi]\n vpmovw2m k1, ymm1\n {what}\n ret");
    for what in [
        "vmovdqu16 zmm0{k1}{z}, [rsi]",
        "vmovdqu16 [rdi]{k1}, zmm0",
        "vpaddw ymm0{k1}, ymm0, [rsi]",
        "vpmovdb [rdi]{k1}, zmm0",
    ] {
        refused(&secret(what), timing(Timing::Address), "");
    }
    let unknown = "vmovdqu16 [rdi]{k1}, zmm0\n ret";
    refused(unknown, undefined, "mask");
    // A mask is a value like any other: no branch, no address.
    refused(&secret("kortestw k1, k1\n je 1f\n nop\n1:"), timing(Timing::Branch), "");
    refused(&secret("kmovd eax, k1\n mov al, [rsi+rax]"), timing(Timing::Address), "");
}

#[test]
fn outside_the_whitelist() {
    refused("cvtsi2sd xmm0, eax\n ret", unsupported, "cvtsi2sd");
    refused("addps xmm0, xmm1\n ret", unsupported, "bytes 0f 58 c1");
    refused("paddw mm0, mm1\n ret", unsupported, "paddw");
    fine("vpaddw zmm0, zmm1, zmm2\n vprolvq ymm16{k1}{z}, ymm1, ymm2\n ret");
    for what in [
        "vpcompressd zmm0{k1}, zmm1",
        "vpexpandw zmm0{k1}{z}, zmm1",
        "vpgatherdd zmm0{k1}, [rsi+zmm1*4]",
        "vpscatterdd [rdi+zmm1*4]{k1}, zmm0",
        "vaddps zmm0, zmm1, zmm2, {rn-sae}",
        "vaddpd zmm0, zmm1, zmm2",
        "vp2intersectd k2, zmm0, zmm1",
        "vmovss xmm0{k1}, xmm1, xmm2",
    ] {
        refused(&format!("{what}\n ret"), unsupported, "EVEX");
    }
    refused("vmovdqu64 ymm16, [rsi+4096]\n ret", memory, "");
    refused("vmovdqa64 ymm16, [rsi]\n ret", memory, "multiple of 32");
    refused("vmovdqa64 zmm16, [rsi]\n ret", memory, "multiple of 64");
    refused("lock add [rdi], eax\n ret", unsupported, "atomic");
    refused("xchg [rdi], eax\n ret", unsupported, "exchange");
    refused("mov rax, fs:[0x30]\n ret", unsupported, "thread-local");
    refused("mov eax, fs:[0x28]\n ret", unsupported, "thread-local");
    refused("mov fs:[0x28], rax\n ret", unsupported, "thread-local");
    refused("mov rax, gs:[0x28]\n ret", unsupported, "thread-local");
    refused("mov rax, fs:[rdi+0x28]\n ret", unsupported, "thread-local");
    refused("cpuid\n ret", unsupported, "cpuid");
    refused("rdtsc\n ret", unsupported, "rdtsc");
    refused("syscall\n ret", unsupported, "syscall");
    refused("ud2", unsupported, "ud2");
    refused("movdqu xmm0, [rsi]\n pshufb xmm1, xmm0\n ret", unsupported, "control");
    refused("vpgatherdd ymm0, [rsi+ymm1*4], ymm2\n ret", unsupported, "vpgatherdd");
    refused("call puts\n ret", unsupported, "puts");
    refused("call __stack_chk_fail\n ret", unsupported, "`__stack_chk_fail` is reached");
    refused("1: jmp 1b", |e| matches!(e, LiftError::StepLimit { .. }), "stopped after");
    refused(".byte 0x06\n ret", unsupported, "no instruction");
    refused("mov eax, [esi]\n ret", unsupported, "32-bit addressing");
    refused("jmp rax", undefined, "");
    refused("jmp rsi", unsupported, "no code");
}

#[test]
fn static_memory() {
    let body = |section: &str, use_: &str| {
        format!("{use_}\n ret\n {section}\n.balign 32\ntable: .short 1,2,3,4,5,6,7,8\n.text")
    };
    fine(&body(".section .rodata", "movdqa xmm0, [rip+table]\n mov rax, [rip+table+8]"));
    fine(&body(
        ".section .rodata",
        "lea rcx, [rip+table]\n movdqa xmm0, [rcx]\n mov eax, 4\n mov ax, table[rax]",
    ));
    refused(&body(".data", "movdqu xmm0, [rip+table]"), unsupported, "can be written");
    // Names promise nothing: this one can be written all the same.
    let named = body(".section .data.rel.ro,\"aw\"", "movdqu xmm0, [rip+table]");
    refused(&named, unsupported, "whatever its name");
    refused(&body(".data", "movdqu [rip+table], xmm0"), memory, "own section");
    refused(&body(".section .rodata", "mov rax, [rip+table+12]"), memory, "outside its 16 bytes");
    refused("mov rax, [rip+elsewhere]\n ret", unsupported, "elsewhere");
    // Entries that the linker may merge are neighbours in this object only.
    let merged = |use_: &str| {
        format!(
            "{use_}\n ret\n .section .rodata.cst16,\"aM\",@progbits,16\n.balign 16\n\
             .LC0: .quad 1,2\n.LC1: .quad 3,4\n.text"
        )
    };
    fine(&merged("movdqa xmm0, [rip+.LC0]\n vmovdqa xmm1, [rip+.LC1]\n mov rax, [rip+.LC1+8]"));
    fine(&merged("lea rax, [rip+.LC1]\n movdqa xmm0, [rax]\n movq rcx, xmm0\n mov al, [rsi+rcx]"));
    refused(&merged("vmovdqu ymm0, [rip+.LC0]"), memory, "outside its 16 bytes");
    refused(&merged("mov rax, [rip+.LC0+16]"), memory, "outside its 16 bytes");
    refused(&merged("lea rax, [rip+.LC0]\n mov rax, [rax+16]"), memory, "outside its 16 bytes");
    refused(&merged("vmovdqa ymm0, [rip+.LC1]"), memory, "multiple of 32");
    // Relocations of other kinds.
    let wide = "mov rax, [rip+table]\n ret\n.section .rodata\n.balign 8\ntable: .long f-table, 7";
    refused(wide, unsupported, "-fno-jump-tables");
    refused("lea rax, [rip+g@TLSGD]\n ret", unsupported, "relocation");
}

/// A region ends before addresses do, so that what checks for it needs no case: of 64 bytes, the pointer to the first
/// is at most 2^64 - 65.
#[test]
fn pointers_do_not_wrap_around() {
    let one_way = |body: &str| {
        let object = assemble(body);
        lift(&object, &call("f", 32), &mut Graph::new()).map(|l| l.cases.len())
    };
    for (jump, least) in [("jae", -64i64), ("ja", -65)] {
        fine(&format!("cmp rdi, {least}\n {jump} 1f\n ret\n1: ud2"));
        fine(&format!("add rdi, 60\n cmp rdi, {}\n {jump} 1f\n ret\n1: ud2", least + 60));
        fine(&format!("cmp rdi, -1\n {jump} 1f\n ret\n1: ud2"));
        let sides = format!("cmp rdi, {}\n {jump} 1f\n ret\n1: ud2", least - 1);
        assert!(run(&sides).is_err(), "{sides}");
        assert_eq!(one_way(&sides.replace("ud2", "ret")), Ok(2), "{sides}");
    }
    // Beyond the end nothing is known.
    assert!(run("add rdi, 65\n cmp rdi, -1\n jae 1f\n ret\n1: ud2").is_err());
    // As many bytes lie before it: a sum with what leads there has no carry.
    fine("mov eax, 60\n add rax, rdi\n jc 1f\n ret\n1: ud2");
    fine("add rdi, 64\n cmp rdi, 64\n jb 1f\n ret\n1: ud2");
    assert!(run("add rdi, 64\n cmp rdi, 65\n jb 1f\n ret\n1: ud2").is_err());
    fine("add rdi, 64\n mov eax, 63\n cmp rax, rdi\n jae 1f\n ret\n1: ud2");
    assert!(run("add rdi, 64\n mov eax, 64\n cmp rax, rdi\n jae 1f\n ret\n1: ud2").is_err());
    assert!(run("mov eax, 65\n add rax, rdi\n jc 1f\n ret\n1: ud2").is_err());
    // The other operand.
    fine("mov rax, -65\n cmp rax, rdi\n jb 1f\n ret\n1: ud2");
    assert!(run("mov rax, -66\n cmp rax, rdi\n jb 1f\n ret\n1: ud2").is_err());
    // Of the stack what is used is there, and what lies below it may not be.
    fine("sub rsp, 64\n cmp rsp, -64\n jae 1f\n add rsp, 64\n ret\n1: ud2");
    assert!(run("lea rax, [rsp-256]\n cmp rax, -8\n jae 1f\n ret\n1: ud2").is_err());
}

#[test]
fn pointers_of_different_regions() {
    let compared = |e: &LiftError| matches!(e, LiftError::PointerComparison { .. });
    // Either way is executed: both may be lawful, and what only one does is no refutation.
    let ways = |body: &str| {
        let lifted = lift(&assemble(body), &call("f", 32), &mut Graph::new());
        lifted.unwrap_or_else(|e| panic!("{e}")).cases.len()
    };
    assert_eq!(ways("cmp rdi, rsi\n jb 1f\n nop\n1: ret"), 2);
    assert_eq!(ways("cmp rdi, rsi\n jb 1f\n nop\n1: cmp rdi, rsi\n jae 2f\n nop\n2: ret"), 2);
    let stored = "cmp rdi, rsi\n seta al\n movzx eax, al\n cmp eax, 1\n je 1f\n nop\n1: ret";
    assert_eq!(ways(stored), 2);
    // Overlap checks of vectorised loops: regions of 64 bytes are never less than 64 apart, so
    // the scalar way is not taken (here it would be unlawful).
    let gcc = |n: u32| {
        format!(
            "lea rax, [rsi+2]\n mov rcx, rdi\n sub rcx, rax\n cmp rcx, {n}\n ja 1f\n mov [rsi], al\n1: ret"
        )
    };
    assert_eq!(ways(&gcc(28)), 1);
    assert_eq!(ways(&gcc(61)), 1);
    let clang = "lea rax, [rsi+64]\n cmp rdi, rax\n jae 1f\n lea rax, [rdi+64]\n cmp rsi, rax\n jae 1f\n mov [rsi], al\n1: ret";
    assert_eq!(ways(clang), 2);
    // At the next number they may be that close.
    refused(&gcc(62), compared, "");
    assert_eq!(ways("lea rax, [rsi+64]\n cmp rdi, rax\n je 1f\n nop\n1: ret"), 3);
    refused("cmp rdi, rsi\n jb 1f\n ret\n1: mov [rsi], al\n ret", compared, "different regions");
    refused("cmp rdi, rsi\n jb 1f\n ret\n1: ud2", unsupported, "ud2");
    refused(
        "lea rax, [rdi+16]\n cmp rax, rsi\n je 1f\n mov [rdi+64], al\n1: ret",
        memory,
        "out+64",
    );
    refused(
        "cmp rdi, rsi\n jb 1f\n ret\n1: mov ax, [rsi]\n test ax, ax\n je 2f\n2: ret",
        compared,
        "",
    );
    // A loop that ends when two regions meet never does so.
    refused("1: add rsi, 2\n cmp rsi, rdi\n jne 1b\n ret", compared, "");
    // One region: a loop's end pointer, a length.
    fine("lea rax, [rsi+64]\n1: add rsi, 2\n cmp rsi, rax\n jne 1b\n ret");
    fine(
        "lea rax, [rsi+64]\n1: add rsi, 2\n cmp rsi, rax\n jb 1b\n sub rax, rsi\n jne 2f\n ret\n2: ud2",
    );
    fine("test rsi, rsi\n je 1f\n ret\n1: ud2");
    // A step by the distance of two arrays comes back to the first.
    fine(
        "sub rdi, rsi\n mov eax, [rsi]\n mov [rsi+rdi], eax\n add rsi, 4\n mov [rsi+rdi], eax\n ret",
    );
}

#[test]
fn alignment_tests() {
    fine("test dil, 1\n jne 1f\n ret\n1: ud2");
    fine("mov rax, rdi\n and eax, 1\n jne 1f\n ret\n1: ud2");
    fine("mov rax, rsp\n and eax, 15\n cmp eax, 8\n jne 1f\n ret\n1: ud2");
    let cases = |body: &str| lift(&assemble(body), &call("f", 32), &mut Graph::new());
    let split = cases("test dil, 31\n jne 1f\n nop\n1: ret").expect("either way is lawful");
    assert_eq!(split.cases.len(), 16);
    assert_eq!(split.cases[3].condition, "out starts at 6 modulo 32");
    // Rounded up, the address stays inside; rounded down, it does not for most.
    fine("add rdi, 15\n and rdi, -16\n movaps [rdi], xmm0\n ret");
    refused("and rdi, -16\n mov [rdi], al\n ret", memory, "out-2");
    refused("test edi, 4095\n jne 1f\n nop\n1: ret", unsupported, "alignment of out to 4096 bytes");
}

#[test]
fn a_frame_with_its_own_alignment_is_split_into_cases() {
    let object = assemble(
        "push rbp\n mov rbp, rsp\n and rsp, -32\n sub rsp, 64\n vmovdqu ymm0, [rsi]\n \
         vmovdqa [rsp], ymm0\n vmovdqa ymm1, [rsp]\n vmovdqu [rdi], ymm1\n leave\n vzeroupper\n ret",
    );
    let lifted = lift(&object, &call("f", 16), &mut Graph::new()).expect("lawful");
    assert_eq!(lifted.cases.len(), 2);
    assert_eq!(lifted.cases[1].condition, "stack starts at 24 modulo 32");
    assert!(lifted.cases_agree());
    assert!(lifted.stats.stack_bytes >= 72 + 8);
    // Wrong in one residue only: [rsp-40] is a multiple of 32 for half of them.
    let body = "and rsp, -32\n ret";
    assert!(run(body).is_err());
    let e =
        run("mov rax, rsp\n and rax, -32\n vmovdqa ymm0, [rsp-40]\n ret").expect_err("half fail");
    assert!(memory(&e), "{e}");
    // What depends on the residue differs between the cases, and is not hidden.
    let object = assemble("mov rax, rsp\n and eax, 63\n mov [rdi], ax\n ret");
    let lifted = lift(&object, &call("f", 16), &mut Graph::new()).expect("lawful");
    assert_eq!(lifted.cases.len(), 4);
    assert!(!lifted.cases_agree());
}

#[test]
fn library_calls() {
    fine("push rbx\n mov rbx, rdi\n mov edx, 64\n call memcpy\n mov [rbx], ax\n pop rbx\n ret");
    fine("mov edx, 64\n jmp memmove");
    fine(
        "push rbx\n mov rbx, rdi\n mov edx, 64\n xor esi, esi\n call memset@PLT\n mov eax, [rbx]\n cmp eax, 0\n jne 1f\n pop rbx\n ret\n1: ud2",
    );
    let registers = "push rdi\n mov edx, 64\n call memcpy\n pop rdi\n";
    refused(&format!("{registers} mov al, [rsi]\n ret"), undefined, "address");
    refused("push rdi\n mov edx, 65\n call memcpy\n pop rdi\n ret", memory, "outside");
    refused(
        "push rdi\n movzx edx, word ptr [rsi]\n call memcpy\n pop rdi\n ret",
        timing(Timing::Address),
        "",
    );
    refused("mov edx, 64\n call memcpy\n ret", unsupported, "misaligned");
    refused(
        "push rdi\n lea rsi, [rdi+8]\n mov edx, 16\n call memcpy\n pop rdi\n ret",
        memory,
        "overlapping",
    );
    // The callee owns the red zone.
    refused(
        "mov qword ptr [rsp-16], 1\n push rdi\n mov edx, 64\n call memcpy\n mov rax, [rsp-8]\n pop rdi\n mov al, [rdi+rax]\n ret",
        undefined,
        "address",
    );
    let object = assemble("mov edx, 64\n jmp memcpy");
    let lifted = lift(&object, &call("f", 32), &mut Graph::new()).expect("lawful");
    assert!(lifted.stats.assumptions[0].contains("memcpy"), "{:?}", lifted.stats);
}

/// What `_FORTIFY_SOURCE` makes of copies: one argument more, which the length may not exceed.
#[test]
fn checked_library_calls() {
    let checked = |size: &str, name: &str| {
        format!("push rdi\n mov edx, 64\n {size}\n call {name}\n pop rdi\n mov al, [rdi]\n ret")
    };
    for name in ["__memcpy_chk", "__memmove_chk", "__memset_chk"] {
        for size in ["mov ecx, 64", "mov rcx, -1", "mov ecx, 65"] {
            fine(&checked(size, name));
        }
        refused(&checked("mov ecx, 63", name), unsupported, "stops the program: 64 bytes");
        refused(&checked("xor ecx, ecx", name), unsupported, "an object of 0");
        // Sizes have no sign, and are words of 64 bits.
        refused(&checked("mov rcx, 1 << 63\n rol rcx", name), unsupported, "an object of 1");
        refused(&checked("", name), undefined, "the size of a copy's target");
        refused(&checked("mov rcx, [rsi]", name), timing(Timing::Branch), "");
        refused(&checked("mov rcx, rdi", name), |_| true, "pointers");
    }
    // The checks beside it are those of the function itself.
    refused("push rdi\n mov edx, 65\n mov ecx, 65\n call __memcpy_chk", memory, "outside");
    let over = "push rdi\n lea rsi, [rdi+8]\n mov edx, 16\n mov ecx, 64\n";
    refused(&format!("{over} call __memcpy_chk"), memory, "overlapping");
    refused(&checked("mov ecx, 64", "__memcpy_chk2"), unsupported, "`__memcpy_chk2`");
    refused(&checked("mov ecx, 64", "__strcpy_chk"), unsupported, "`__strcpy_chk`");
    // The low byte of the second argument fills; what is returned is the target.
    fine(
        "push rbx\n mov esi, 0x107\n mov edx, 64\n mov ecx, 64\n call __memset_chk\n cmp dword ptr [rax+60], 0x7070707\n \
         jne 1f\n pop rbx\n ret\n1: ud2",
    );
    let object = assemble("mov edx, 64\n mov ecx, 64\n jmp __memcpy_chk");
    let lifted = lift(&object, &call("f", 32), &mut Graph::new()).expect("lawful");
    assert!(lifted.stats.assumptions[0].contains("`__memcpy_chk`"), "{:?}", lifted.stats);
}

#[test]
fn in_place_and_malformed_calls() {
    let mut alias = call("f", 32);
    alias.regions.remove(1);
    alias.regions[0].initial = Initial::Inputs { operand: 0, element_bits: 16 };
    alias.args = vec![ArgSpec::Pointer(0, 0), ArgSpec::Pointer(0, 0), ArgSpec::Pointer(1, 0)];
    run_with("mov ax, [rsi]\n mov [rdi], ax\n cmp rdi, rsi\n jne 1f\n ret\n1: ud2", &alias)
        .expect("in place");
    let bad = |e: Result<(), LiftError>| matches!(e, Err(LiftError::BadCall(_)));
    let mut c = call("f", 32);
    c.args[0] = ArgSpec::Pointer(7, 0);
    assert!(bad(run_with("ret", &c)));
    let mut c = call("f", 32);
    c.regions[0].align = 3;
    assert!(bad(run_with("ret", &c)));
    let mut c = call("f", 32);
    c.regions.push(region("x", 3, 1, false, Initial::Bytes(vec![1, 2])));
    assert!(bad(run_with("ret", &c)));
    let e = run_with("ret", &call("g", 32)).expect_err("no such function");
    assert!(e.to_string().contains("it defines: f"), "{e}");
}

#[test]
fn calls_and_tables_inside_the_object() {
    let source = r"
        #include <stdint.h>
        static const int16_t table[4] = { 3, 5, 7, 4591 };
        const int16_t *const which[2] = { table, table + 2 };
        __attribute__((noinline)) static int16_t inner(int16_t x, int k) {
            return (int16_t)(x * which[k & 1][k >> 1]);
        }
        void f(int16_t *out, const int16_t *a, const int16_t *b) {
            for (int i = 0; i < 4; i++) out[i] = (int16_t)(inner(a[i], i) + b[i]);
        }";
    for compiler in compilers() {
        for flags in
            [&["-O0"][..], &["-O2", "-fno-pic", "-fno-pie"], &["-O2", "-fPIC"], &["-O1", "-fPIE"]]
        {
            let mut all = flags.to_vec();
            all.push("-fno-stack-protector");
            let object = compile(compiler, "c", source, &all);
            let mut graph = Graph::new();
            // Tables of addresses stand in sections that can be written, if addresses are not fixed.
            let fixed = flags.contains(&"-fno-pie");
            let lifted = match lift(&object, &call("f", 4), &mut graph) {
                // Four outputs of 2 bytes, each read and written in turn: a restrict-free loop.
                Err(LiftError::PointerComparison { .. }) => continue,
                Err(e) if !fixed => {
                    assert!(
                        e.to_string().contains("whatever its name"),
                        "{compiler} {flags:?}: {e}"
                    );
                    continue;
                }
                other => other.unwrap_or_else(|e| panic!("{compiler} {flags:?}: {e}")),
            };
            let got = common::evaluate(&mut graph, &lifted, 4, &[2, 2, 2, -2], &[1, 1, 1, 1]);
            assert_eq!(got, [7, 15, 11, -9181], "{compiler} {flags:?}");
        }
    }
}

#[test]
fn inputs_that_are_one_array() {
    let mut equal = call("f", 32);
    equal.coincide = vec![(1, 2)];
    let cases = |body: &str, call: &CallSpec| -> Vec<String> {
        let lifted = lift(&assemble(body), call, &mut Graph::new());
        let cases = lifted.unwrap_or_else(|e| panic!("{body}: {e}")).cases;
        cases.into_iter().map(|c| c.condition).collect()
    };
    let compared = "cmp rsi, rdx\n jne 1f\n mov word ptr [rdi], 7\n1: ret";
    assert_eq!(cases(compared, &call("f", 32)), [""], "arrays that do not overlap differ");
    for body in [
        compared,
        "mov rax, rsi\n sub rax, rdx\n jne 1f\n nop\n1: ret",
        "mov rax, rsi\n sub rax, rdx\n cmp rax, 1\n jb 1f\n nop\n1: ret",
        "cmp rsi, rdx\n jae 1f\n nop\n1: ret",
    ] {
        let found = cases(body, &equal);
        assert_eq!(found.iter().filter(|c| *c == "a and b are one array").count(), 1, "{body}");
        assert!(found.len() <= 3, "{found:?}");
    }
    // Where nothing asks, one execution is that of all.
    assert_eq!(cases("mov ax, [rsi]\n add ax, [rdx]\n mov [rdi], ax\n ret", &equal), [""]);
    // The end of one and the start of the other; the stack.
    let ends = "lea rax, [rsi+64]\n cmp rax, rdx\n jbe 1f\n nop\n1: ret";
    assert_eq!(cases(ends, &equal).len(), 3);
    let one = |c: CallSpec| run_with("ret", &c);
    equal.coincide = vec![(0, 1)];
    assert!(matches!(one(equal.clone()), Err(LiftError::BadCall(_))), "an output");
    equal.coincide = vec![(1, 7)];
    assert!(matches!(one(equal), Err(LiftError::BadCall(_))), "no region");
}

#[test]
fn work_is_counted_in_bytes_and_can_be_stopped() {
    let mut small = call("f", 32);
    small.max_steps = 40;
    let limit = |e: &LiftError| matches!(e, LiftError::StepLimit { .. });
    let stos = "mov ecx, 64\n xor eax, eax\n rep stosb\n ret";
    assert!(run_with(stos, &small).is_err_and(|e| limit(&e)));
    assert!(run_with("mov edx, 64\n jmp memcpy", &small).is_err_and(|e| limit(&e)));
    small.max_steps = 80;
    run_with(stos, &small).expect("64 bytes and four instructions");
    let object = ringforge_machine::Object::parse(&assemble("1: jmp 1b")).expect("an object");
    let mut told = 0;
    let e = ringforge_machine::lift(&object, &call("f", 32), &mut Graph::new(), &mut |_| {
        told += 1;
        told < 3
    });
    assert!(matches!(e, Err(LiftError::Stopped { .. })) && told == 3, "{e:?}");
}

#[test]
fn large_sections_cost_nothing() {
    let text = "mov eax, [rip+small]\n mov [rdi], eax\n lea rax, [rip+large]\n ret\n .bss\n\
                large: .skip 1 << 30\n .section .rodata\n small: .long 7\n .text";
    let started = std::time::Instant::now();
    fine(text);
    refused(&text.replace("[rip+small]", "[rip+large]"), unsupported, "can be written");
    assert!(resident() < 1 << 29, "{} bytes", resident());
    assert!(started.elapsed().as_secs() < 60);
}

/// Most bytes that this process ever held.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") << 10
}
