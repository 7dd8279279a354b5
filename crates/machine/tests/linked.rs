//! What linkers make of an object as a whole: sections merged by name, code where the linker puts it, code
//! rewritten for an erratum, a definition replaced by another. Each object is linked and run, to see that the
//! refusal, or the assumption, is needed.

mod common;
use common::{assembled, assembled_with, build_objects, call, compile};
use ringforge_machine::graph::Graph;
use ringforge_machine::{Lifted, Object, lift};
use ringforge_testing::{cc, needs};
use std::process::Command;

/// Why an object is refused, or what is assumed of it.
fn read(object: &[u8], symbol: &str) -> Result<Lifted, String> {
    let object = Object::parse(object).map_err(|e| e.to_string())?;
    lift(&object, &call(symbol, 32), &mut Graph::new(), &mut |_| true).map_err(|e| e.to_string())
}

fn refusal(object: &[u8]) -> String {
    read(object, "f").err().unwrap_or_default()
}

fn assumed(object: &[u8]) -> Vec<String> {
    read(object, "f").unwrap_or_else(|e| panic!("{e}")).stats.assumptions
}

/// A program that says whether `f` wrote 7 and nothing else, in buffers of the program's `.bss` that fill pages.
const MAIN: &str = r#"
#include <stdint.h>
#include <stdio.h>
void f(int16_t *, const int16_t *, const int16_t *);
enum { N = 1 << 14 };
static int16_t out[N], a[N], b[N];
int main(void) {
    for (int i = 0; i < N; i++) out[i] = (int16_t)i;
    f(out, a, b);
    for (int i = 0; i < N; i++) if (out[i] != (i ? i : 7)) return 1;
    puts("right");
    return 0;
}
"#;

/// Whether the object, linked behind others, does what it should; [`None`] if it does not link.
fn runs(
    compiler: &str,
    emulator: &[&str],
    objects: &[(&str, Vec<u8>)],
    flags: &[&str],
) -> Option<bool> {
    let mut files = vec![("main.c", MAIN.as_bytes().to_vec())];
    files.extend(objects.iter().cloned());
    let program = build_objects(compiler, &files, flags)?;
    let words: Vec<&str> =
        emulator.iter().copied().chain([program.to_str().expect("text")]).collect();
    let done = Command::new(words[0]).args(&words[1..]).output();
    let _ = std::fs::remove_dir_all(program.parent().expect("in its own directory"));
    Some(done.is_ok_and(|d| d.status.success() && d.stdout == b"right\n"))
}

/// Writes 7, and whatever else the object holds.
fn x86_64(more: &str) -> Vec<u8> {
    let text = format!(
        ".intel_syntax noprefix\n.text\n.globl f\n.type f,@function\nf: mov word ptr [rdi], 7\n ret\n{more}\n\
         .section .note.GNU-stack,\"\",@progbits\n"
    );
    assembled(&text)
}

/// An object with a section of that name, of the flags that belong to the name but for `change`.
fn with_section(name: &str, kind: &str, change: u64) -> Vec<u8> {
    let usual = match name.split('.').nth(1).unwrap_or_default() {
        "text" => "ax",
        "rodata" | "interp" | "" => "a",
        "tbss" => "awT",
        _ => "aw",
    };
    // Assemblers give known names what belongs to them: these get it under another one.
    let own = ".rodata_".to_owned() + &"x".repeat(name.len());
    let mut object = x86_64(&format!(".section {own},\"{usual}\",@{kind}\n.zero 8"));
    let renamed = object.windows(own.len()).position(|w| w == own.as_bytes()).expect("its name");
    object[renamed..][..own.len()].fill(0);
    object[renamed..][..name.len()].copy_from_slice(name.as_bytes());
    let header = common::elf::headers(&object).into_iter().find(|&at| {
        let offset = u32::from_le_bytes(object[at..at + 4].try_into().expect("four bytes"));
        let names = common::elf::content(&object, ".shstrtab");
        names[offset as usize..].starts_with(&[name.as_bytes(), &[0]].concat())
    });
    let flags = &mut object[header.expect("its header") + 8..][..8];
    let changed = u64::from_le_bytes((&*flags).try_into().expect("eight bytes")) ^ change;
    flags.copy_from_slice(&changed.to_le_bytes());
    object
}

/// Sections that no instruction uses change what the sections of a whole program become.
#[test]
fn sections_that_are_merged_by_name_have_the_flags_of_their_name() {
    let thread_local = x86_64(".section .bss.own,\"awT\",@nobits\n.zero 8\n");
    assert!(refusal(&thread_local).contains("has the flag TLS"), "{}", refusal(&thread_local));
    if cfg!(target_arch = "x86_64") {
        let run = |object| runs(cc(), &[], &[("f.o", object)], &["-O1"]);
        assert_eq!(run(x86_64("")), Some(true));
        assert_ne!(run(thread_local), Some(true), "the refusal is not needed");
    }
    let (w, x, tls, exclude) = (1, 4, 0x400, 0x8000_0000);
    for (name, kind, change, why) in [
        (".bss.x", "nobits", tls, "has the flag TLS"),
        (".bss.x", "nobits", w, "lacks the flag WRITE"),
        (".rodata.x", "progbits", w, "has the flag WRITE"),
        (".rodata.x", "progbits", x, "has the flag EXECINSTR"),
        (".rodata.x", "progbits", exclude, "flag EXCLUDE"),
        (".text.x", "progbits", w, "has the flag WRITE"),
        (".text.x", "progbits", x, "lacks the flag EXECINSTR"),
        (".data.x", "progbits", x, "has the flag EXECINSTR"),
        (".tbss.x", "nobits", tls, "lacks the flag TLS"),
        (".tbss.x", "progbits", 0, "type 0x1, unlike other sections named .tbss"),
        (".rodata.x", "note", 0, "type 0x7, unlike other sections named .rodata"),
        (".interp", "progbits", 0, "treat in a way of their own"),
        (".dynamic", "progbits", w, "treat in a way of their own"),
        (".gnu.linkonce.b.x", "nobits", w, "treat in a way of their own"),
        ("mine", "progbits", tls, "TLS outside .tdata and .tbss"),
        ("mine", "progbits", 0x800, "flag COMPRESSED"),
    ] {
        let object = with_section(name, kind, change);
        assert!(refusal(&object).contains(why), "{name} {kind} {change:#x}: {}", refusal(&object));
    }
    let twice = x86_64(
        ".section mine,\"a\",@progbits\n.long 1\n.section mine,\"aw\",@progbits,unique,1\n.long 1",
    );
    assert!(refusal(&twice).contains("another section of this name"), "{}", refusal(&twice));
    // Their lawful twins: what compilers write.
    for section in [
        ".bss.x,\"aw\",@nobits\n.zero 8",
        ".data.rel.ro.local.x,\"aw\",@progbits\n.quad 0",
        ".tbss.x,\"awT\",@nobits\n.zero 8",
        ".tdata,\"awT\",@progbits\n.quad 1",
        ".rodata.cst16,\"aM\",@progbits,16\n.quad 0, 1",
        ".rodata.str1.1,\"aMS\",@progbits,1\n.asciz \"x\"",
        ".text.unlikely,\"ax\",@progbits\n nop",
        ".init_array,\"aw\",@init_array\n.quad f",
        ".ctors.65535,\"aw\",@progbits\n.quad f",
        ".gcc_except_table,\"a\",@progbits\n.long 0",
        ".note.stapsdt,\"\",@note\n.long 0, 0, 0",
        "__patchable_function_entries,\"awo\",@progbits,.text\n.quad f",
        "mine,\"aw\",@progbits\n.long 1",
    ] {
        let object = x86_64(&format!(".section {section}"));
        assert_eq!(refusal(&object), "", "{section}");
    }
}

/// A table of strings keeps the section's alignment at its start, and what divides its place behind it.
#[test]
fn strings_that_are_merged_keep_their_alignment() {
    let table = |at: &str| {
        format!(
            ".intel_syntax noprefix\n.text\n.globl f\n.type f,@function\nf: movdqa xmm0, [rip+table]\n \
             movdqu [rdi], xmm0\n ret\n.section .rodata.str4.16,\"aMS\",@progbits,4\n.balign 16\n{at}\
             table: .long 1, 2, 3, 4, 5, 0\n.section .note.GNU-stack,\"\",@progbits\n"
        )
    };
    let object = |at| assembled(&table(at));
    assert_eq!(refusal(&object("")), "");
    assert_eq!(refusal(&object(".long 9, 8, 7, 0\n")), "", "16 bytes behind an aligned start");
    let said = refusal(&object(".long 9, 0\n"));
    assert!(said.contains("multiple of 16"), "{said}");
}

/// Another object's definition counts where this one is weak: the report says what it rests on.
#[test]
fn a_weak_entry_is_an_assumption() {
    let replaced = "`f` is not replaced by another definition when linking";
    let weak = x86_64(".weak f");
    assert_eq!(assumed(&weak), [replaced]);
    assert!(assumed(&x86_64("")).is_empty());
    if cfg!(target_arch = "x86_64") {
        let strong = ".globl f\n.type f,@function\nf: movw $3, (%rdi)\n ret\n.section .note.GNU-stack,\"\",@progbits\n";
        let strong = assembled(strong);
        let objects = [("weak.o", weak), ("strong.o", strong)];
        assert_eq!(runs(cc(), &[], &objects[..1], &[]), Some(true));
        assert_eq!(runs(cc(), &[], &objects, &[]), Some(false));
    }
}

/// A thread may have 128 KiB of stack, a process 8 MiB: what more than half the first needs is said.
#[test]
fn deep_frames_are_an_assumption() {
    let frame = |bytes: u32| {
        let text = format!(
            ".intel_syntax noprefix\n.text\n.globl f\n.type f,@function\nf: sub rsp, {bytes}\n \
             mov qword ptr [rsp], 0\n mov word ptr [rdi], 7\n add rsp, {bytes}\n ret\n\
             .section .note.GNU-stack,\"\",@progbits\n"
        );
        assembled(&text)
    };
    assert!(assumed(&frame(65536)).is_empty());
    assert_eq!(assumed(&frame(65544)), ["the caller's stack has room for 65544 bytes more"]);
    let said = refusal(&frame((8 << 20) + 8));
    assert!(said.contains("more than 8 MiB of stack"), "{said}");
}

/// An object for AArch64 by GNU's assembler.
fn aarch64(text: &str) -> Vec<u8> {
    compile("aarch64-linux-gnu-gcc", "s", text, &[])
}

fn emulated(object: Vec<u8>, flags: &[&str]) -> Option<bool> {
    let flags = [flags, &["-O1", "-static"]].concat();
    runs("aarch64-linux-gnu-gcc", &["qemu-aarch64"], &[("f.o", object)], &flags)
}

/// Instructions lie at multiples of four, so the section must keep them there.
#[test]
fn code_is_aligned() {
    needs!("qemu-aarch64", "aarch64-linux-gnu-gcc");
    let object = |align: &str| {
        aarch64(&format!(
            ".section .text.a,\"ax\",%progbits\n.byte 0\n.section .text.f,\"ax\",%progbits\n{align}\n.globl f\n\
             .type f,%function\nf: .4byte 0x528000e3, 0x79000003, 0xd65f03c0\n.size f,.-f\n"
        ))
    };
    let odd = object("");
    assert!(refusal(&odd).contains("aligned to 1 bytes"), "{}", refusal(&odd));
    assert_ne!(emulated(odd, &[]), Some(true), "the refusal is not needed");
    // The words are data to the assembler, which marks them so.
    let even = object(".p2align 2\n.inst 0xd503201f");
    assert_eq!(refusal(&even), "");
    assert_eq!(emulated(even, &[]), Some(true));
}

/// Linkers rewrite pairs of ADRP and LDR that meet erratum 843419 of Cortex-A53, and whatever looks like them
/// and is not marked as data.
#[test]
fn code_is_no_table() {
    needs!("qemu-aarch64", "aarch64-linux-gnu-gcc");
    // The table's words look like the sequence: its ADRP becomes ADR, or its second LDR a branch.
    let object = |mark: &str| {
        aarch64(&format!(
            ".section .text.f,\"ax\",%progbits\n.p2align 12\n.globl f\n.type f,%function\nf: adr x5, table\n \
             ldr w6, [x5, #8]\n mov w7, #0x21\n movk w7, #0xf940, lsl #16\n sub w6, w6, w7\n ldr w8, [x5]\n \
             mov w7, #1\n movk w7, #0x9000, lsl #16\n sub w8, w8, w7\n add w6, w6, w8\n add w6, w6, #7\n \
             strh w6, [x0]\n ret\n.size f,.-f\n.org 0xff8\ntable: {mark} 0x90000001\n {mark} 0xf9400042\n \
             {mark} 0xf9400021\n ret\n"
        ))
    };
    let unmarked = object(".inst");
    assert!(refusal(&unmarked).contains("no `$d` marks them as data"), "{}", refusal(&unmarked));
    let (cure, without) = (["-mfix-cortex-a53-843419"], ["-mno-fix-cortex-a53-843419"]);
    assert_eq!(emulated(unmarked.clone(), &without), Some(true));
    assert_ne!(emulated(unmarked, &cure), Some(true), "the refusal is not needed");
    let marked = object(".word");
    assert_eq!(refusal(&marked), "");
    assert_eq!(emulated(marked, &cure), Some(true));
}

/// What is said of accesses that bare metal may forbid.
#[test]
fn accesses_that_are_not_aligned_are_an_assumption() {
    needs!("qemu-aarch64", "aarch64-linux-gnu-gcc");
    let object = |load: &str| {
        aarch64(&format!(
            ".text\n.globl f\n.type f,%function\nf: {load}\n mov w3, #7\n strh w3, [x0]\n ret\n"
        ))
    };
    for load in ["ldr w4, [x1]", "ldr q0, [x1]", "ldp x4, x5, [x1]", "ld1 {v0.4s}, [x1]"] {
        let said = assumed(&object(load));
        assert!(said.len() == 1 && said[0].contains("SCTLR_ELx.A is clear"), "{load}: {said:?}");
    }
    for load in [
        "ldrh w4, [x1]",
        "ldrb w4, [x1, #1]",
        "ld1 {v0.8h}, [x1]",
        "str q0, [sp, #-16]!\n ldr q0, [sp], #16",
    ] {
        assert!(assumed(&object(load)).is_empty(), "{load}: {:?}", assumed(&object(load)));
    }
}

/// A property note that promises these features.
fn property(kind: u32, features: u32) -> String {
    format!(
        ".section .note.gnu.property,\"a\"\n.balign 8\n.long 4, 16, 5\n.asciz \"GNU\"\n.long {kind:#x}, 4, {features}, 0\n"
    )
}

/// A program without a C library that calls `f` through a pointer and ends with 0 where it wrote 7.
const ALONE: &str = r#"
typedef short i16;
void f(i16 *, const i16 *, const i16 *);
static i16 out[32], a[32], b[32];
static void (*volatile called)(i16 *, const i16 *, const i16 *) = f;
void start(void) {
    called(out, a, b);
    register long number __asm__("x8") = 93, status __asm__("x0") = out[0] != 7;
    __asm__ volatile("svc 0" : : "r"(number), "r"(status));
    for (;;) {}
}
__asm__(".globl _start\n.type _start,%function\n_start: bti c\n bl start\n");
"#;

/// Where a program checks that indirect jumps and calls land on what is meant for them, an object that promises
/// that they do must keep it.
#[test]
fn promises_of_landings_are_kept() {
    needs!("qemu-aarch64", "aarch64-linux-gnu-gcc");
    let object = |entry: &str, jump: &str, target: &str, promised: bool| {
        let note = if promised { property(0xc000_0000, 1) } else { String::new() };
        aarch64(&format!(
            ".arch armv8.5-a\n.text\n.globl f\n.type f,%function\nf: {entry}\n adr x5, 1f\n mov x16, x5\n {jump}\n\
             1: {target}\n mov w3, #7\n strh w3, [x0]\n ret\n.size f,.-f\n{note}"
        ))
    };
    let stopped = "lands on an instruction for it";
    for (entry, jump, target, kept) in [
        ("bti c", "br x5", "bti j", true),
        ("bti jc", "br x5", "bti jc", true),
        ("bti c", "br x16", "bti c", true),
        ("bti c", "b 1f", "nop", true),
        ("bti c", "br x5", "nop", false),
        ("bti c", "br x5", "bti c", false),
        ("bti c", "br x16", "nop", false),
        ("bti j", "b 1f", "nop", false),
        ("nop", "b 1f", "nop", false),
    ] {
        let said = refusal(&object(entry, jump, target, true));
        assert_eq!(said.contains(stopped), !kept, "{entry}, {jump}, {target}: {said}");
        assert_eq!(said.is_empty(), kept, "{entry}, {jump}, {target}: {said}");
        // Without the promise nothing is checked.
        assert_eq!(refusal(&object(entry, jump, target, false)), "");
    }
    // The C library's start may be built without BTI, which would turn the check off: this program has none.
    let run = |object: Vec<u8>| {
        let flags = ["-O1", "-static", "-nostdlib", "-ffreestanding", "-mbranch-protection=bti"];
        let files = [("main.c", ALONE.as_bytes().to_vec()), ("f.o", object)];
        let program = build_objects("aarch64-linux-gnu-gcc", &files, &flags).expect("it links");
        let done = Command::new("qemu-aarch64").args(["-cpu", "max"]).arg(&program).status();
        let _ = std::fs::remove_dir_all(program.parent().expect("in its own directory"));
        done.is_ok_and(|status| status.success())
    };
    assert!(run(object("bti c", "br x5", "bti j", true)));
    assert!(!run(object("bti c", "br x5", "nop", true)), "the refusal is not needed");
    assert!(!run(object("nop", "b 1f", "nop", true)), "the refusal is not needed");
    assert!(run(object("nop", "b 1f", "nop", false)));
    let damaged =
        aarch64(".text\n.globl f\nf: ret\n.section .note.gnu.property,\"a\"\n.long 4, 16, 5\n");
    assert!(refusal(&damaged).contains("property note that is damaged"), "{}", refusal(&damaged));
}

/// The same on x86-64, and returns.
#[test]
fn promises_of_landings_and_returns_are_kept_on_x86_64() {
    let object = |body: &str, features: u32| {
        let note = property(0xc000_0002, features);
        assembled_with(
            &format!(
                ".intel_syntax noprefix\n.text\n.globl f\n.type f,@function\nf: {body}\n{note}\
                 .section .note.GNU-stack,\"\",@progbits\n"
            ),
            &["-mx86-used-note=no"],
        )
    };
    let (ibt, shstk) = (1, 2);
    let write = "mov word ptr [rdi], 7\n ret";
    for (body, features, why) in [
        (format!("endbr64\n {write}"), ibt | shstk, ""),
        (write.into(), shstk, ""),
        (write.into(), ibt, "lands on an instruction for it"),
        (
            format!("endbr64\n lea rax, [rip+1f]\n jmp rax\n1: {write}"),
            ibt,
            "lands on an instruction for it",
        ),
        (format!("endbr64\n lea rax, [rip+1f]\n jmp rax\n1: endbr64\n {write}"), ibt, ""),
        (format!("endbr64\n lea rax, [rip+1f]\n notrack jmp rax\n1: {write}"), ibt, ""),
        (format!("endbr64\n call 1f\n {write}\n1: ret"), ibt | shstk, ""),
        (format!("lea rax, [rip+1f]\n push rax\n ret\n1: {write}"), shstk, "where calls were made"),
        (format!("call 1f\n1: pop rax\n {write}"), shstk, "where calls were made"),
        (format!("lea rax, [rip+1f]\n push rax\n ret\n1: {write}"), 0, ""),
    ] {
        let said = refusal(&object(&body, features));
        match why {
            "" => assert_eq!(said, "", "{body}"),
            why => assert!(said.contains(why), "{body}: {said}"),
        }
    }
}

/// The C library stops a program whose checked copy is longer than its target, and not one whose copy is as long.
#[test]
fn checked_copies_are_checked() {
    for name in ["__memcpy_chk", "__memmove_chk"] {
        for (size, lawful) in [(2, true), (-1, true), (1, false), (0, false)] {
            let object = assembled(&format!(
                ".intel_syntax noprefix\n.text\n.globl f\n.type f,@function\nf: lea rsi, seven[rip]\n mov edx, 2\n \
                 mov rcx, {size}\n jmp {name}@PLT\n.section .rodata\nseven: .short 7\n\
                 .section .note.GNU-stack,\"\",@progbits\n"
            ));
            assert_eq!(refusal(&object).is_empty(), lawful, "{name} {size}: {}", refusal(&object));
            if cfg!(target_arch = "x86_64") {
                let run = runs(cc(), &[], &[("f.o", object)], &["-O1"]);
                assert_eq!(run, Some(lawful), "{name} {size}");
            }
        }
    }
}

/// Fields that count in words, or in the size of an access, name what is a multiple of it.
#[test]
fn places_that_fields_count_to_are_multiples() {
    needs!("qemu-aarch64", "aarch64-linux-gnu-gcc");
    let object = |code: &str, align: u32| {
        aarch64(&format!(
            ".text\n.globl f\n.type f,%function\nf: {code}\n mov w3, #7\n strh w3, [x0]\n ret\n.size f,.-f\n\
             .section .rodata.t,\"a\"\n.balign {align}\ntable: .word 1, 2, 3, 4\n"
        ))
    };
    let offset = |load: &str| format!("adrp x5, table\n {load}, [x5, :lo12:table]");
    for (code, unit) in [
        (offset("ldrb w6"), 1),
        (offset("ldrh w6"), 2),
        (offset("ldr w6"), 4),
        (offset("ldr x6"), 8),
        (offset("ldr q6"), 16),
    ] {
        assert_eq!(refusal(&object(&code, unit)), "", "{code}");
        if unit > 1 {
            let said = refusal(&object(&code, unit / 2));
            assert!(said.contains(&format!("in units of {unit} bytes")), "{code}: {said}");
        }
    }
    let literal = |align: &str| {
        aarch64(&format!(
            ".text\n.globl f\n.type f,%function\nf: ldr w6, table\n mov w3, #7\n strh w3, [x0]\n ret\n.size f,.-f\n\
             .section .rodata.t,\"a\"\n{align}\ntable: .word 1\n"
        ))
    };
    assert_eq!(refusal(&literal(".balign 4")), "");
    let said = refusal(&literal(".balign 2"));
    assert!(said.contains("in units of 4 bytes"), "{said}");
}
