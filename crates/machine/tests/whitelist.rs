//! Objects whose bytes do not mean what they seem to: each is refused by name, and where the machine
//! at hand can show it, linked and run to see that the refusal is needed: what runs is not what a
//! reader who overlooks the point would conclude.

mod common;
use common::{assembled, build_objects, call, compile};
use ringforge_machine::graph::Graph;
use ringforge_machine::{Object, lift};
use ringforge_testing::{cc, program};
use std::process::Command;

/// What the first eight outputs are.
type Outputs = [i16; 8];

/// Eight values that no accident gives.
const TABLE: &str = ".short 101, 102, 103, 104, 105, 106, 107, 108";
const SEEN: Outputs = [101, 102, 103, 104, 105, 106, 107, 108];
/// Loads the table into the outputs and returns.
const LOAD: &str = "movdqu xmm0, [rip+table]\n movdqu [rdi], xmm0\n ret\n";

const MAIN: &str = r#"
#include <stdio.h>
#include <stdint.h>
void f(int16_t *, const int16_t *, const int16_t *);
int main(void) {
    static int16_t out[32], a[32], b[32];
    for (int i = 0; i < 32; i++) { out[i] = -1; a[i] = (int16_t)(i + 1); b[i] = (int16_t)(3 * i - 7); }
    f(out, a, b);
    for (int i = 0; i < 8; i++) printf("%d\n", out[i]);
    return 0;
}
"#;

/// An object in assembler text, and one that is linked before it.
struct Hostile {
    what: &'static str,
    text: String,
    other: &'static str,
    /// What a careless reader concludes; [`None`] if this machine cannot show that it is wrong.
    careless: Option<Outputs>,
    flags: &'static [&'static str],
    /// Words of the refusal.
    refusal: &'static str,
}

fn text(body: &str) -> String {
    format!(
        ".intel_syntax noprefix\n.text\n.globl f\n.type f,@function\nf:\n{body}\n\
         .section .note.GNU-stack,\"\",@progbits\n"
    )
}

/// What a linked program prints, or [`None`] if it does not link or does not end well.
fn run(object: &[u8], other: &str, flags: &[&str]) -> Option<Outputs> {
    let others = [("other.s", text_of_other(other).into_bytes()), ("main.c", MAIN.into())];
    let mut files: Vec<(&str, Vec<u8>)> = others.to_vec();
    files.push(("object.o", object.to_vec()));
    let program = build_objects(cc(), &files, flags)?;
    let done = Command::new(&program).output().ok();
    let _ = std::fs::remove_dir_all(program.parent().expect("in its own directory"));
    let done = done.filter(|d| d.status.success())?;
    let text = String::from_utf8(done.stdout).ok()?;
    let values: Vec<i16> = text.lines().filter_map(|l| l.parse().ok()).collect();
    values.try_into().ok()
}

fn text_of_other(body: &str) -> String {
    format!(".intel_syntax noprefix\n.text\n{body}\n.section .note.GNU-stack,\"\",@progbits\n")
}

/// The error of reading or executing.
fn refusal(object: &[u8]) -> Option<String> {
    match Object::parse(object) {
        Err(e) => Some(e.to_string()),
        Ok(o) => {
            lift(&o, &call("f", 32), &mut Graph::new(), &mut |_| true).err().map(|e| e.to_string())
        }
    }
}

fn refused(h: &Hostile) {
    let object = assembled(&h.text);
    let e = refusal(&object).unwrap_or_else(|| panic!("{}: it is accepted", h.what));
    assert!(e.contains(h.refusal), "{}: `{e}` does not say `{}`", h.what, h.refusal);
    if let Some(careless) = h.careless {
        let found = run(&object, h.other, h.flags);
        assert_ne!(found, Some(careless), "{}: the refusal is not needed", h.what);
    }
}

/// `memset` of the outputs to zero by a call with these bytes and relocation.
fn memset(call: &str) -> String {
    text(&format!("push rdi\n mov edx, 16\n xor esi, esi\n {call}\n pop rdi\n ret"))
}

/// Another object's `memset`, which does otherwise when it is entered eight bytes late.
const LATE: &str = ".globl memset\nmemset: mov al, 0\n jmp 1f\n .balign 8\n mov al, 7\n\
                    1: mov ecx, edx\n mov r8, rdi\n rep stosb\n mov rax, r8\n ret";
const ZERO: Option<Outputs> = Some([0; 8]);

#[test]
fn library_functions_are_called_at_their_start_and_are_not_our_own() {
    let own = "mov r8, rdi\n mov ecx, edx\n mov al, 7\n rep stosb\n mov rax, r8\n ret\n";
    for h in [
        Hostile {
            what: "a call with an addend",
            text: memset("call memset+8"),
            other: LATE,
            careless: ZERO,
            flags: &["-no-pie"],
            refusal: "R_X86_64_PC32 against `memset`+4 at .text+0x9",
        },
        Hostile {
            what: "a call through a slot with an addend",
            text: memset(".byte 0xff, 0x15\n .reloc ., R_X86_64_GOTPCRELX, memset+4\n .long 0"),
            other: LATE,
            careless: ZERO,
            flags: &["-no-pie"],
            refusal: "beside the slot",
        },
        Hostile {
            what: "a call through a slot with a base register",
            text: memset(
                "xor eax, eax\n .byte 0xff, 0x90\n .reloc ., R_X86_64_GOTPCREL, memset-4\n .long 0",
            ),
            other: LATE,
            careless: ZERO,
            flags: &["-no-pie"],
            refusal: "R_X86_64_GOTPCREL against `memset`-4",
        },
        Hostile {
            what: "an indirect function of that name",
            text: memset("call memset")
                + &format!(
                    ".text\n.globl memset\n.type memset,@gnu_indirect_function\nmemset: \
                     lea rax, [rip+own]\n ret\n.type own,@function\nown: {own}"
                ),
            other: "",
            careless: ZERO,
            flags: &["-no-pie"],
            refusal: "IFUNC",
        },
        Hostile {
            what: "a common block of that name",
            text: memset("call memset") + ".comm memset,64,8\n",
            other: "",
            careless: ZERO,
            flags: &["-no-pie"],
            refusal: "common block",
        },
        Hostile {
            what: "a function of that name in a section that is not loaded",
            text: memset("call memset")
                + &format!(".section apart,\"\",@progbits\n.globl memset\nmemset: {own}"),
            other: "",
            careless: ZERO,
            flags: &["-no-pie"],
            refusal: "its section is not loaded",
        },
        Hostile {
            what: "a weak reference to it",
            text: memset(".weak memset\n call memset"),
            other: "",
            careless: None,
            flags: &[],
            refusal: "may be null",
        },
        Hostile {
            what: "an entry that is an indirect function",
            text: text("lea rax, [rip+1f]\n ret\n1: mov word ptr [rdi], 3\n ret")
                .replace("@function", "@gnu_indirect_function"),
            other: "",
            careless: Some([-1; 8]),
            flags: &["-no-pie"],
            refusal: "`f` cannot be called: it is an indirect function",
        },
    ] {
        refused(&h);
    }
    // The lawful twins.
    for lawful in
        [memset("call memset"), memset("call memset@PLT"), memset("call [rip+memset@GOTPCREL]")]
    {
        let object = assembled(&lawful);
        assert_eq!(refusal(&object), None, "{lawful}");
        assert_eq!(run(&object, LATE, &["-no-pie"]), ZERO);
    }
    let own = memset("call memset") + &format!(".text\n.globl memset\nmemset: {own}");
    let object = assembled(&own);
    assert!(refusal(&object).is_none_or(|e| !e.contains("relocation")), "our own one is executed");
}

#[test]
fn relocations_fill_one_field_each_in_full() {
    let tables = format!(".section .rodata\n.balign 16\nwrong: .quad 1, 2\ntable: {TABLE}\n");
    let lea = |relocations: &str| {
        let load = format!(
            ".byte 0x48, 0x8d, 0x05\n {relocations}\n .long 0\n movdqu xmm0, [rax]\n \
             movdqu [rdi], xmm0\n ret\n"
        );
        text(&load) + &tables
    };
    let fill = |code: &str| text(&format!("{code}\n movdqu [rdi], xmm0\n ret")) + &tables;
    let hostile = |what, text, refusal| Hostile {
        what,
        text,
        other: "",
        careless: Some(SEEN),
        flags: &["-no-pie"],
        refusal,
    };
    for h in [
        // In this order the linker at hand takes the one that a reader takes.
        Hostile {
            careless: None,
            ..hostile(
                "two relocations of one field",
                lea(".reloc ., R_X86_64_PC32, wrong-4\n .reloc ., R_X86_64_PC32, table-4"),
                "overlaps",
            )
        },
        hostile(
            "two relocations of one field, the other way round",
            lea(".reloc ., R_X86_64_PC32, table-4\n .reloc ., R_X86_64_PC32, wrong-4"),
            "overlaps",
        ),
        hostile(
            "fields that overlap",
            lea(".reloc ., R_X86_64_PC32, table-4\n .reloc .+2, R_X86_64_16, 7"),
            "R_X86_64_16",
        ),
        hostile("eight bytes", lea(".reloc ., R_X86_64_PC64, table-4"), "R_X86_64_PC64"),
        // Right by chance, while the distance is below 2^15.
        Hostile {
            careless: None,
            ..hostile("two bytes", lea(".reloc ., R_X86_64_PC16, table-4"), "R_X86_64_PC16")
        },
        hostile(
            "an address, where a distance belongs",
            lea(".reloc ., R_X86_64_32S, table"),
            "32S",
        ),
        hostile(
            "a distance in an immediate",
            fill(".byte 0xb8\n .reloc ., R_X86_64_PC32, table\n .long 0\n movdqu xmm0, [rax]"),
            "a distance in a field that is no branch's",
        ),
        hostile(
            "a distance beside a base register",
            fill(
                "xor eax, eax\n .byte 0xf3, 0x0f, 0x6f, 0x80\n .reloc ., R_X86_64_PC32, table\n .long 0",
            ),
            "a distance in an operand",
        ),
        hostile(
            "an address in the immediate of a sum",
            fill(
                "xor eax, eax\n .byte 0x35\n .reloc ., R_X86_64_32, table+1\n .long 0\n movdqu xmm0, [rax]",
            ),
            "an address in the immediate of this instruction",
        ),
        hostile(
            "a type for instructions without the prefix that this one has",
            fill(
                "xor r8d, r8d\n .byte 0x4c, 0x8b, 0x05\n .reloc ., R_X86_64_GOTPCRELX, table-4\n \
                 .long 0\n movdqu xmm0, [r8]",
            ),
            "R_X86_64_GOTPCRELX against `table`",
        ),
        Hostile {
            careless: None,
            ..hostile("a thread-local one nearby", text("lea rax, [rip+x@TLSGD]\n ret"), "TLSGD")
        },
    ] {
        refused(&h);
    }
    let object = assembled(&lea(".reloc ., R_X86_64_PC32, table-4"));
    assert_eq!(refusal(&object), None);
    assert_eq!(run(&object, "", &["-no-pie"]), Some(SEEN));
    assert_eq!(run(&object, "", &["-pie"]), Some(SEEN));
    for (kind, number) in [("COPY", 5u32), ("GLOB_DAT", 6), ("RELATIVE", 8), ("IRELATIVE", 37)] {
        let mut bad = object.clone();
        common::elf::patch_relocation(&mut bad, ".text", 0, |r| {
            r[8..12].copy_from_slice(&number.to_le_bytes());
        });
        let e = refusal(&bad).unwrap_or_else(|| panic!("{kind} is accepted"));
        assert!(e.contains(&format!("relocation type {number}")), "{e}");
    }
}

#[test]
fn prefixes_that_processors_read_differently() {
    let table = format!(".section .rodata\n.balign 16\ntable: {TABLE}\n");
    refused(&Hostile {
        what: "an address relative to eip",
        text: text(
            ".byte 0x67, 0xf3, 0x0f, 0x6f, 0x05\n .reloc ., R_X86_64_PC32, table-4\n .long 0\n \
             movdqu [rdi], xmm0\n ret",
        ) + &table,
        other: "",
        careless: Some(SEEN),
        flags: &["-pie"],
        refusal: "32-bit addressing",
    });
    for (what, body) in [
        ("a return with 66", ".byte 0x66\n ret"),
        ("a jump with 66", ".byte 0x66, 0xe9\n .long 0\n ret"),
        ("a call with 66", ".byte 0x66, 0xe8\n .long 0\n ret"),
        ("a return with bnd", ".byte 0xf2\n ret"),
        ("a prefix twice", ".byte 0x66, 0x66, 0x89, 0xc8\n ret"),
        ("a segment that is ignored", ".byte 0x26\n mov eax, [rsi]\n ret"),
        ("an ignored REX", ".byte 0x48, 0x66, 0x89, 0xc8\n ret"),
    ] {
        let h = Hostile {
            what,
            text: text(body),
            other: "",
            careless: None,
            flags: &[],
            refusal: if what.contains("REX") { "REX" } else { "prefix" },
        };
        refused(&h);
    }
}

#[test]
fn sections_are_what_their_flags_say() {
    let section =
        |flags: &str| text(LOAD) + &format!(".section {flags}\n.balign 2\ntable: {TABLE}\n");
    // A constructor of the other object... of this one writes the table before main.
    let constructor = ".text\nwrite: mov word ptr [rip+table], 7\n ret\n\
                       .section .init_array,\"aw\"\n.balign 8\n.quad write\n";
    for h in [
        Hostile {
            what: "a name that promises more than the flags",
            text: section(".data.rel.rox,\"aw\",@progbits") + constructor,
            other: "",
            careless: Some(SEEN),
            flags: &["-no-pie"],
            refusal: "can be written",
        },
        Hostile {
            what: "a group of which another object's copy is taken",
            text: section(".rodata.table,\"aG\",@progbits,table,comdat") + ".globl table\n",
            other: ".section .rodata.table,\"aG\",@progbits,table,comdat\n.globl table\n\
                    table: .quad 0, 0\n",
            careless: Some(SEEN),
            flags: &["-no-pie"],
            refusal: "section group",
        },
        Hostile {
            what: "a name of which linkers keep the first",
            text: section(".gnu.linkonce.r.table,\"a\",@progbits") + ".globl table\n",
            other: ".section .gnu.linkonce.r.table,\"a\",@progbits\n.globl table\ntable: .quad 0, 0\n",
            careless: Some(SEEN),
            flags: &["-no-pie"],
            refusal: "a way of their own",
        },
        Hostile {
            what: "a section that is left out",
            text: section("apart,\"ae\",@progbits"),
            other: "",
            careless: Some(SEEN),
            flags: &["-no-pie"],
            refusal: "EXCLUDE",
        },
        Hostile {
            what: "a section that is not loaded",
            text: section("apart,\"\",@progbits"),
            other: "",
            careless: Some(SEEN),
            flags: &["-no-pie"],
            refusal: "not loaded",
        },
        Hostile {
            what: "a note",
            text: section(".note.table,\"a\",@note"),
            other: "",
            careless: None,
            flags: &[],
            refusal: "not PROGBITS",
        },
        Hostile {
            what: "no content",
            text: text(LOAD) + ".section .rodata.zero,\"a\",@nobits\ntable: .skip 16\n",
            other: "",
            careless: None,
            flags: &[],
            refusal: "without content",
        },
        Hostile {
            what: "thread-local data",
            text: section(".tdata,\"awT\",@progbits"),
            other: "",
            careless: None,
            flags: &[],
            refusal: "table",
        },
        Hostile {
            what: "a number for a place",
            text: text(LOAD) + ".globl table\ntable = 4096\n",
            other: "",
            careless: None,
            flags: &[],
            refusal: "SHN_ABS",
        },
    ] {
        refused(&h);
    }
    for lawful in ["mine,\"a\",@progbits", ".rodata.t.x,\"a\",@progbits", ".text,\"ax\",@progbits"]
    {
        let object = assembled(&section(lawful));
        assert_eq!(refusal(&object), None, "{lawful}");
        assert_eq!(run(&object, "", &["-pie"]), Some(SEEN), "{lawful}");
    }
}

#[test]
fn entries_that_linkers_merge_have_no_neighbours() {
    // The other object has one of the two entries, in front.
    let strings = ".section .rodata.str1.2,\"aMS\",@progbits,2\n.balign 2\n";
    let table = ".short 101, 102, 103, 0\n.short 105, 106, 107, 0\n";
    let other = ".section .rodata.str1.2,\"aMS\",@progbits,2\n.balign 2\n\
                 .short 9, 0\n.short 105, 106, 107, 0\n";
    let careless = Some([101, 102, 103, 0, 105, 106, 107, 0]);
    refused(&Hostile {
        what: "two strings at once",
        text: text(LOAD) + strings + "table: " + table,
        other,
        careless,
        flags: &["-no-pie", "-Wl,-O2"],
        refusal: "outside its 8 bytes",
    });
    let constants = ".section .rodata.cst8,\"aM\",@progbits,8\n.balign 8\n";
    refused(&Hostile {
        what: "two constants at once",
        text: text(LOAD) + constants + "table: " + table,
        other: ".section .rodata.cst8,\"aM\",@progbits,8\n.balign 8\n.quad 5\n.short 105, 106, 107, 0\n",
        careless,
        flags: &["-no-pie"],
        refusal: "outside its 8 bytes",
    });
    let one = "mov rax, [rip+table]\n mov [rdi], rax\n ret\n";
    for section in [strings, constants] {
        let object = assembled(&(text(one) + section + "table: " + table));
        assert_eq!(refusal(&object), None, "{section}");
        assert_eq!(run(&object, other, &["-no-pie"]), Some([101, 102, 103, 0, -1, -1, -1, -1]));
    }
    // Which entry is meant is said by a symbol; a distance from the section's start says another.
    let by_section = "mov rax, [rip+table]\n mov [rdi], rax\n ret\n";
    // Assemblers leave out section symbols that nothing names.
    let named = ".section apart,\"\",@progbits\n.quad .rodata.cst8\n";
    let all = text(by_section) + constants + "table: " + table + named;
    let mut object = assembled(&all);
    common::elf::name_by_section(&mut object, ".text", 0, ".rodata.cst8");
    assert!(refusal(&object).is_some_and(|e| e.contains("which entry is meant")));
    let open = text(LOAD) + strings + "table: .short 1, 2, 3, 4, 5, 6, 7, 8\n";
    let e = refusal(&assembled(&open)).expect("a string without an end");
    assert!(e.contains("does not end"), "{e}");
}

#[test]
fn two_symbols_of_one_name() {
    // The strong one wins, whichever the relocation names.
    let both = text(LOAD)
        + &format!(
            ".section .rodata\n.balign 16\n.weak table\ntable: {TABLE}\n.globl strong\n\
             strong: .short 1, 2, 3, 4, 5, 6, 7, 8\n"
        );
    let mut object = assembled(&both);
    assert_eq!(refusal(&object), None);
    common::elf::rename_symbol(&mut object, "strong", "table");
    let e = refusal(&object).expect("two of one name");
    assert!(e.contains("two symbols are named `table`"), "{e}");
    assert_ne!(run(&object, "", &["-no-pie"]), Some(SEEN), "the refusal is not needed");
}

#[test]
fn linked_files_and_what_linkers_compile_anew() {
    let source = "void f(short *out, const short *a, const short *b) { out[0] = a[0] + b[0]; }";
    for flags in [
        &["-O2", "-shared", "-fPIC", "-nostdlib"][..],
        &["-O2", "-static", "-no-pie", "-fno-pie", "-nostdlib", "-Wl,-e,f"],
        &["-O2", "-static-pie", "-fPIE", "-nostdlib", "-Wl,-e,f"],
    ] {
        assert_eq!(refusal(&common::link(cc(), source, flags)), None, "{flags:?}");
    }
    for (compiler, flags) in [
        ("gcc", &["-O2", "-flto"][..]),
        ("gcc", &["-O2", "-flto", "-ffat-lto-objects"]),
        ("clang", &["-O2", "-flto"]),
    ] {
        let Some(compiler) = program(compiler) else { continue };
        let e = refusal(&compile(compiler, "c", source, flags)).expect("no machine code");
        assert!(e.contains("without -flto"), "{compiler} {flags:?}: {e}");
        if compiler == "gcc" {
            // What the message says gives an object.
            let flags = [flags, &["-r", "-flinker-output=nolto-rel", "-nostdlib"]].concat();
            assert_eq!(refusal(&common::link(compiler, source, &flags)), None, "{flags:?}");
        }
    }
    for (bytes, hint) in [
        (&b"!<arch>\nx.o/   0"[..], "ar x"),
        (b"\xcf\xfa\xed\xfe....", "Mach-O"),
        (b"MZ......", "Windows"),
        (b"int main(void);", "magic number"),
        (b"\x7fELF\x02\x01\x01", "cut off"),
    ] {
        let e = refusal(bytes).expect("no object");
        assert!(e.contains(hint), "{e}");
    }
    for (machine, name) in [(3, "i386"), (40, "Arm"), (243, "RISC-V"), (9999, "unknown")] {
        let other = common::elf::object_for(machine, &[0; 4]);
        assert!(refusal(&other).is_some_and(|e| e.contains(name)), "{name}");
    }
}
