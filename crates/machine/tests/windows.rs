//! The convention of Windows for x86-64, and COFF objects whose bytes do not mean what they seem to:
//! each is refused by name.

mod common;
use common::coff::{Coff, assembled};
use common::{call, evaluate};
use ringforge_machine::graph::Graph;
use ringforge_machine::{ArgSpec, CallSpec, Object, lift};

/// The error of reading or executing `f(out, a, b)`.
fn refusal(object: &Coff) -> Option<String> {
    refusal_of(object, &call("f", 32))
}

fn refusal_of(object: &Coff, call: &CallSpec) -> Option<String> {
    match Object::parse(&object.0) {
        Err(e) => Some(e.to_string()),
        Ok(o) => lift(&o, call, &mut Graph::new(), &mut |_| true).err().map(|e| e.to_string()),
    }
}

/// Checks that a function is accepted, or refused with these words.
fn check(body: &str, behind: &str, words: &str) {
    let Some(object) = assembled(body, behind) else { return };
    said(body, refusal(&object), words);
}

fn said(what: &str, refusal: Option<String>, words: &str) {
    match refusal {
        None => assert!(words.is_empty(), "{what}: it is accepted"),
        Some(e) => assert!(!words.is_empty() && e.contains(words), "{what}: `{e}`, not `{words}`"),
    }
}

#[test]
fn arguments_lie_in_four_registers_and_above_the_home_space() {
    let body = "mov ax, [rdx]\n add ax, [r8]\n add ax, r9w\n add ax, [rsp+40]\n add ax, [rsp+48]\n mov [rcx], ax\n ret";
    let Some(object) = assembled(body, "") else { return };
    let mut call = call("f", 1);
    call.args.extend([100, 1000, 10000].map(ArgSpec::Constant));
    let mut graph = Graph::new();
    let lifted = common::lift(&object.0, &call, &mut graph).expect("it is lifted");
    assert_eq!(evaluate(&mut graph, &lifted, 1, &[7], &[20]), [11127]);
    call.args.truncate(5);
    said(body, refusal_of(&object, &call), "access to the caller's frame");
}

#[test]
fn the_home_space_is_the_functions_own() {
    let kept = "mov [rsp+8], rdx\n mov [rsp+32], rcx\n mov rax, [rsp+8]\n mov [rsp+24], rax\n ret";
    check(kept, "", "");
    check("mov [rsp+40], rdx\n ret", "", "access to the caller's frame");
    check("mov [rsp], rdx\n ret", "", "write over the return address");
    check("mov rax, [rsp+8]\n mov ax, [rdx+rax]\n ret", "", "undefined");
}

#[test]
fn registers_of_the_caller_are_restored() {
    for r in ["rbx", "rbp", "rsi", "rdi", "r12", "r13", "r14", "r15"] {
        check(&format!("mov {r}, rcx\n ret"), "", &format!("{r} is not restored"));
        check(&format!("push {r}\n mov {r}, rcx\n pop {r}\n ret"), "", "");
    }
    check("vzeroall\n ret", "", "xmm6 is not restored");
    for r in 6..16 {
        let lost = format!("xmm{r} is not restored");
        check(&format!("pxor xmm{r}, xmm{r}\n ret"), "", &lost);
        // One byte of it.
        check(&format!("pslldq xmm{r}, 1\n ret"), "", &lost);
        let saved = format!(
            "sub rsp, 24\n movaps [rsp], xmm{r}\n pxor xmm{r}, xmm{r}\n movaps xmm{r}, [rsp]\n add rsp, 24\n ret"
        );
        check(&saved, "", "");
        // Half of it.
        check(&saved.replacen("movaps [rsp]", "movlps qword ptr [rsp]", 1), "", &lost);
        // Upper halves belong to nobody.
        check(&format!("vmovaps xmm{r}, xmm{r}\n ret"), "", "");
    }
    check("movaps xmm0, xmm6\n movaps xmm6, xmm7\n movaps xmm7, xmm0\n ret", "", "xmm6 is not");
    check("pxor xmm0, xmm0\n pxor xmm5, xmm5\n vpxord xmm16, xmm16, xmm16\n ret", "", "");
    check("mov rax, rcx\n mov r10, rcx\n mov r11, rcx\n ret", "", "");
    check("std\n ret", "", "unsupported");
}

#[test]
fn nothing_lies_below_the_stack_pointer() {
    check("mov [rsp-8], rdx\n ret", "", "write below the stack pointer");
    check("push rdx\n pop rax\n mov rax, [rsp-8]\n ret", "", "read below the stack pointer");
    // The canary of Linux, and data of the thread.
    check("mov rax, fs:[0x28]\n ret", "", "thread-local");
    check("mov rax, gs:[0x30]\n ret", "", "thread-local");
}

/// Copies 16 bytes with so many bytes of stack.
fn copies(stack: u32, before: &str, after: &str) -> String {
    format!(
        "sub rsp, {stack}\n {before}\n mov r8d, 16\n call memcpy\n {after}\n add rsp, {stack}\n ret"
    )
}

#[test]
fn called_functions_have_a_home_space_too() {
    check(&copies(40, "", ""), "", "");
    check(&copies(24, "", ""), "", "may write over the return address");
    // What lies in it is lost.
    let keeps = |at: u32| {
        copies(56, &format!("mov [rsp+{at}], rdx"), &format!("mov rax, [rsp+{at}]\n mov ax, [rax]"))
    };
    check(&keeps(32), "", "");
    check(&keeps(24), "", "undefined");
    check("jmp memcpy", "", "not modelled");
    check("mov r8d, 16\n jmp memcpy", "", "");
    // Registers: xmm6 stays, its upper half does not.
    check(&copies(40, "mov rdi, rcx", ""), "", "rdi is not restored");
    check(&copies(40, "", "mov [rcx], rcx"), "", "undefined");
}

#[test]
fn large_frames_are_probed() {
    let frame = |before: &str, after: &str| {
        format!("{before}\n sub rsp, rax\n mov [rsp], cl\n {after}\n add rsp, rax\n ret")
    };
    check(&frame("mov eax, 8200\n call ___chkstk_ms", ""), "", "");
    check(&frame("mov eax, 8200\n call __chkstk", ""), "", "");
    check(&frame("mov eax, 8200", ""), "", "more than a page below");
    check(&frame("mov eax, 4096", ""), "", "");
    check(&frame("mov eax, 4097", ""), "", "more than a page below");
    // It is asked for less than is used.
    check(
        &frame("mov eax, 8\n call ___chkstk_ms\n mov eax, 8200", ""),
        "",
        "more than a page below",
    );
    check(
        &frame("mov eax, 0x1000000\n call ___chkstk_ms", ""),
        "",
        "a stack probe of 16777216 bytes",
    );
    check(&frame("movzx eax, word ptr [rdx]\n call ___chkstk_ms", ""), "", "not constant time");
    check(&frame("mov r10, rdx\n mov eax, 8200\n call __chkstk", "mov ax, [r10]"), "", "undefined");
    check("mov eax, 8\n jmp ___chkstk_ms", "", "is not known");
    check("mov eax, 8\n call ___chkstk", "", "is not known");
    check(
        "mov eax, 8\n call ___chkstk_ms\n setc al\n movzx eax, al\n mov [rcx+rax], al\n ret",
        "",
        "undefined",
    );
    // Objects for Linux have none.
    let linux = common::assemble("mov eax, 8\n call ___chkstk_ms\n ret");
    said("for Linux", refusal(&Coff(linux)), "is not known");
}

const TABLE: &str = ".section .rdata,\"dr\"\n .globl table\ntable: .short 1, 2, 3, 4, 5, 6, 7, 8";
const LOAD: &str = "movdqu xmm0, [rip+table]\n movdqu [rcx], xmm0\n mov rax, [rip+own]\n ret";

/// Loads a table and an address, by relocations of every kind that is on the list.
fn good() -> Option<Coff> {
    let object = assembled(LOAD, &format!("{TABLE}\nown: .quad f"))?;
    said("the good object", refusal(&object), "");
    Some(object)
}

#[test]
fn headers_are_what_assemblers_write() {
    let Some(good) = good() else { return };
    let text = good.section(".text");
    let rdata = good.section(".rdata");
    let big = good.with(0, &[0, 0, 0xff, 0xff, 2, 0]);
    for (object, words) in [
        (good.with(0, &0xaa64u16.to_le_bytes()), "another processor"),
        (good.with(0, &0x14cu16.to_le_bytes()), "another processor"),
        (big, "bigobj"),
        (good.with(2, &[0xff, 0xff]), "a section's name is no text"),
        (good.with(8, &[0xff; 4]), "symbol table is cut off"),
        (good.with(12, &[0xff; 4]), "symbol table is cut off"),
        (good.with(16, &[240]), "optional bytes"),
        (good.with(18, &0x2000u16.to_le_bytes()), "characteristics 0x2000"),
        (good.with(18, &4u16.to_le_bytes()), ""),
        (good.with(18, &5u16.to_le_bytes()), "denies the relocations"),
        (good.with(rdata, b".mine\0"), "in a way of their own"),
        (good.with(rdata, b".rdatax"), "in a way of their own"),
        (good.with(rdata, b".rdata$z"), ""),
        (good.with(rdata, b"/9999999"), "no text"),
        (good.with(text, b".text$x"), ""),
        (good.with(text, b".rdata\0"), "unlike other sections named .rdata"),
        (good.with(rdata + 8, &[8]), "before it is linked"),
        (good.with(rdata + 12, &[8]), "before it is linked"),
        (good.with(rdata + 34, &[1]), "before it is linked"),
        (good.with(rdata + 16, &[0xff; 4]), "outside the file"),
        (good.with(rdata + 20, &[0xff; 4]), "outside the file"),
        (good.with(rdata + 16, &[8, 0, 0, 0]), "past the section's end"),
        (good.with(rdata + 24, &[0xff; 4]), "outside the file"),
        (good.with(rdata + 32, &[0xff; 2]), "outside the file"),
    ] {
        said(words, refusal(&object), words);
    }
}

#[test]
fn sections_have_the_characteristics_of_their_names() {
    let Some(good) = good() else { return };
    for section in [".text", ".rdata"] {
        let at = good.section(section) + 36;
        // Code, data, no data, information, removed, no padding, relocations beyond 65,535, discardable, shared,
        // executable, readable, writable.
        for bit in [5, 6, 7, 9, 11, 3, 24, 25, 28, 29, 30, 31] {
            said(section, refusal(&good.flipped(at, 1 << bit)), "unlike other sections");
        }
        let comdat = refusal(&good.flipped(at, 0x1000));
        said(section, comdat, "another object's copy");
        said(section, refusal(&good.with(at + 2, &[0xf0])), "an alignment that is not on the list");
        said(section, refusal(&good.with(at + 2, &[0])), "");
    }
}

#[test]
fn alignment_is_what_the_section_has() {
    let aligned = format!("{TABLE}\n.p2align 4\n.quad 0");
    let Some(good) = assembled("movdqa xmm0, [rip+table]\n ret", &aligned) else { return };
    said("16 bytes", refusal(&good), "");
    let at = good.section(".rdata") + 38;
    said("8 bytes", refusal(&good.with(at, &[0x40])), "a multiple of 16");
    said("none", refusal(&good.with(at, &[0])), "a multiple of 16");
}

#[test]
fn relocations_are_on_the_list_or_refused() {
    let Some(good) = good() else { return };
    let (load, own) = (good.relocation(".text", 0), good.relocation(".rdata", 0));
    let kind = |at: usize, number: u16| good.with(at + 8, &number.to_le_bytes());
    let aux = ((good.symbol(".text") - good.word(8)) / 18 + 1) as u32;
    for (object, words) in [
        (kind(load, 0), "relocation type 0"),
        (kind(load, 1), "fills no field"),
        (kind(load, 2), "IMAGE_REL_AMD64_ADDR32 against `table`"),
        (kind(load, 3), "IMAGE_REL_AMD64_ADDR32NB against `table`"),
        // A byte earlier each.
        (kind(load, 5), ".rdata-1 "),
        (kind(load, 9), ".rdata-5 "),
        (kind(load, 10), "it fills no field"),
        (kind(load, 11), "IMAGE_REL_AMD64_SECREL"),
        (kind(load, 14), "relocation type 14"),
        (kind(own, 2), "ADDR32 against `f`"),
        (kind(own, 4), "REL32 against `f`"),
        (kind(own, 3), "ADDR32NB against `f`"),
        (good.with(load + 4, &[0xff; 4]), "which there is not"),
        (good.with(load + 4, &aux.to_le_bytes()), "an auxiliary record"),
        (good.with(load, &[0xff, 0xff]), "past the section's end"),
        (good.with(load, &[5]), "fills no field"),
        (good.with(good.relocation(".text", 1), &good.0[load..load + 4]), "overlaps"),
    ] {
        said(words, refusal(&object), words);
    }
    // The addend stands in the field.
    let field = good.content(".text") + good.word(load);
    said("beyond the table", refusal(&good.with(field, &[9])), "access outside its 24 bytes");
    said("into the table", refusal(&good.with(field, &[1])), "");
    // Bytes of code are no data.
    let code = assembled("mov eax, [rip+f]\n ret", "").expect("clang is here");
    said("code", refusal(&code), "bytes of code are read");
}

#[test]
fn symbols_are_on_the_list_or_refused() {
    let Some(good) = good() else { return };
    let at = good.symbol("table");
    for (object, words) in [
        (good.with(at + 16, &[6]), "its storage class is 6"),
        (good.with(at + 16, &[105]), "weak external"),
        (good.with(at + 16, &[103]), "a file's name"),
        (good.with(at + 12, &[0, 0]), "defined by another object"),
        (good.with(at + 12, &[0, 0]).with(at + 8, &[4]), "common block"),
        (good.with(at + 12, &[0xff, 0xff]), "a number, not a place"),
        (good.with(at + 12, &[99]), "not loaded"),
        (good.with(at + 8, &[0xff, 0xff]), "outside its section"),
        (good.with(at + 8, &[16]), "access outside its 24 bytes"),
        (good.with(at, b"f\0\0\0\0"), "two symbols are named `f`"),
        (good.with(at + 17, &[0xff]), "symbol table is cut off"),
        (good.with(at, &[0, 0, 0, 0, 0xff, 0xff, 0xff]), "a symbol's name is no text"),
    ] {
        said(words, refusal(&object), words);
    }
    let weak = ".weak g\n .section .text$x,\"xr\"\ng: ret";
    check("sub rsp, 40\n call g\n add rsp, 40\n ret", weak, "weak external");
    check(
        "call g+1\n ret",
        ".globl g\n .section .text$x,\"xr\"\ng: nop\n ret",
        "beside the start of a function",
    );
    let data = ".data\ntable: .quad 1, 2";
    check("mov rax, [rip+table]\n ret", data, "can be written");
    check("mov rax, [rip+table]\n ret", ".bss\ntable: .quad 0, 0", "can be written");
}

#[test]
fn linkers_take_copies_of_comdat_sections_that_may_differ() {
    let one = |section: &str, how: &str, name: &str, content: &str| {
        format!(".section {section},\"dr\",{how},{name}\n .globl {name}\n{name}: {content}")
    };
    let load = |name: &str| format!("mov rax, [rip+{name}]\n mov [rcx], al\n ret");
    let quads = ".quad 1, 2";
    let named = "__xmm@00000000000000020000000000000001";
    for (section, how, name, content, words) in [
        (".rdata", "discard", "table", quads, "another object's copy"),
        (".rdata", "largest", "table", quads, "another object's copy"),
        (".rdata", "same_contents", "table", quads, "another object's copy"),
        (".rdata", "same_size", "table", quads, "another object's copy"),
        (".rdata", "one_only", "table", quads, ""),
        (".rdata", "discard", named, quads, ""),
        (".rdata", "discard", named, ".quad 1, 3", "another object's copy"),
        (".rdata", "discard", named, ".quad 1, 2, 0", "another object's copy"),
    ] {
        check(&load(name), &one(section, how, name, content), words);
    }
    let short = one(".rdata$.refptr.x", "one_only", "table", ".long 1");
    check(&load("table"), &short, "access outside its 4 bytes");
    // A local function of its own section, and a name that is not the section's first.
    let local = ".section .text$g,\"xr\",one_only,g\ng: ret";
    check("sub rsp, 40\n call g\n add rsp, 40\n ret", local, "");
    check("call g\n ret", &local.replace("one_only", "discard"), "another object's copy");
    // An address under its own name: of data that the contract gives, here the input b.
    let pointer = |symbol: &str, content: &str| {
        let name = format!(".refptr.{symbol}");
        let behind = one(&format!(".rdata$.refptr.{symbol}"), "discard", &name, content);
        assembled(
            &format!("{}\n", load(&name).replace("mov [rcx], al", "mov al, [rax]\n mov [rcx], al")),
            &behind,
        )
    };
    // What fills it up is not read.
    let beyond = pointer("other", ".quad other, 0").map(|o| {
        let load = o.content(".text") + o.word(o.relocation(".text", 0));
        o.with(load, &[8])
    });
    let mut call = call("f", 32);
    call.data = vec![("other".into(), 2)];
    for (symbol, content, words) in [
        ("other", ".quad other", ""),
        ("other", ".quad other, 0", ""),
        ("other", ".quad other, 1", "another object's copy"),
        ("other", ".quad 0, other", "another object's copy"),
        ("other", ".quad other+8", "another object's copy"),
        ("other", ".quad f\n other = f", "another object's copy"),
        ("other", ".quad another", "another object's copy"),
        ("other", ".quad other, other", "another object's copy"),
        ("other", ".quad 0", "another object's copy"),
        ("another", ".quad another", "`another` is defined by another object"),
        ("other", ".long 0", "another object's copy"),
    ] {
        let Some(object) = pointer(symbol, content) else { return };
        said(content, refusal_of(&object, &call), words);
    }
    let Some(beyond) = beyond else { return };
    said("beyond", refusal_of(&beyond, &call), "access outside its 8 bytes");
}

#[test]
fn directives_to_the_linker_change_nothing_that_code_reads() {
    for (directive, words) in [
        (" -export:f", ""),
        (" /EXPORT:f,DATA /DEFAULTLIB:libcmt.lib", ""),
        // Names for others, and what linkers do not all read alike.
        (" -export:g,EXPORTAS,f", "the directive -export:g,EXPORTAS,f"),
        (" -export:\\\"f\\\"", "with '\"'"),
        (" -export:f\\013-merge:.rdata=.data", "with '\\u{b}'"),
        (" export:f", "the directive export:f"),
        (" /export:g=f", "the directive /export:g=f"),
        (" /merge:.rdata=.data", "the directive /merge:.rdata=.data"),
        (" -section:.rdata,RW", "the directive -section:.rdata,RW"),
        (" /alternatename:table=other", "the directive /alternatename"),
        (" -export:f -nothing", "the directive -nothing"),
        (" \\377", "no text"),
    ] {
        let behind =
            format!("{TABLE}\nown: .quad f\n.section .drectve,\"yn\"\n.ascii \"{directive}\"");
        check(LOAD, &behind, words);
    }
    check("ret", ".section .gnu.lto_f,\"dr\"\n .byte 0", "link-time optimisation");
    check("ret", ".section .debug_info,\"dr\"\n .byte 0", "");
    check("ret", ".section .idata$5,\"dw\"\n .quad 0", "in a way of their own");
}

/// Each was proved once, and ran otherwise when linked.
#[test]
fn what_linkers_make_of_it_is_what_is_read() {
    let Some(good) = good() else { return };
    let nowhere = good.with(good.section(".rdata") + 20, &[0; 4]);
    said("content", refusal(&nowhere), "nowhere in the file");
    let directives =
        format!("{TABLE}\nown: .quad f\n.section .drectve,\"yn\"\n.ascii \" -export:f\"");
    let Some(with) = assembled(LOAD, &directives) else { return };
    said("directives", refusal(&with), "");
    let unread = with.flipped(with.section(".drectve") + 36, 0x80);
    said("directives", refusal(&unread), "sections of directives do not have");
    // Two functions of one name, of which callers mean the one that is not read.
    let at = good.symbol("table");
    let two = good.with(at, b"f\0\0\0\0").with(at + 16, &[3]);
    said("two functions", refusal(&two), "`f` is local and external");
    let load = |name: &str| format!("mov rax, [rip+{name}]\n mov [rcx], al\n ret");
    let ends = ".section .rdata,\"dr\"\n .globl __data_end__\n__data_end__: .quad 1";
    for name in ["__data_end__", "__guard_fids_table", "end", "_etext"] {
        check(&load(name), &ends.replace("__data_end__", name), "addresses of their own");
    }
    // A call leaves its return address below what was touched.
    check(
        "sub rsp, 4104\n mov r8d, 16\n call memcpy\n add rsp, 4104\n ret",
        "",
        "more than a page",
    );
    check(
        "sub rsp, 4104\n mov eax, 8\n call ___chkstk_ms\n add rsp, 4104\n ret",
        "",
        "more than a page",
    );
    let Some(probed) = assembled("mov eax, 8200\n call ___chkstk_ms\n ret", "") else { return };
    let object = Object::parse(&probed.0).expect("it is read");
    let lifted = lift(&object, &call("f", 32), &mut Graph::new(), &mut |_| true);
    let lifted = lifted.expect("it is executed");
    assert!(lifted.stats.stack_bytes >= 8200, "{}", lifted.stats.stack_bytes);
    let as_linked = |a: &String| a.contains("/INCREMENTAL");
    assert!(lifted.stats.assumptions.iter().any(as_linked), "{:?}", lifted.stats.assumptions);
}

/// What linkers take copies of may be gone, and aligned otherwise.
#[test]
fn comdat_sections_are_known_by_their_leaders_alone() {
    let one = |how: &str, name: &str, content: &str| {
        format!(".section .rdata,\"dr\",{how},{name}\n .globl {name}\n{name}: {content}")
    };
    let load = |name: &str| format!("mov rax, [rip+{name}]\n mov [rcx], al\n ret");
    let Some(only) = assembled(&load("table"), &one("one_only", "table", ".quad 1, 2")) else {
        return;
    };
    said("one_only", refusal(&only), "");
    let own = only.symbol(".rdata");
    let vague = only.with(only.symbol("table"), b"??_ab");
    for object in [only.with(own + 8, &[1]), only.with(own + 14, &[1]), vague] {
        said("its symbols", refusal(&object), "another object's copy");
    }
    let named = "__xmm@00000000000000020000000000000001";
    let copies = one("discard", named, "\ninner: .quad 1, 2");
    check(&load(named), &copies, "");
    check(&load("inner"), &copies, "it may be gone");
    check(&load("inner"), &format!("{copies}\n .globl inner"), "it may be gone");
    // The copy that is taken has its size's alignment.
    let low = |mask: u32| format!("lea rax, [rip+{named}]\n and eax, {mask}\n mov [rcx], al\n ret");
    let aligned = copies.replace(&format!("\n{named}:"), &format!("\n .p2align 6\n{named}:"));
    for (mask, cases) in [(15, 1), (63, 4)] {
        let object = assembled(&low(mask), &aligned).expect("clang is here");
        let object = Object::parse(&object.0).expect("it is read");
        let lifted = lift(&object, &call("f", 32), &mut Graph::new(), &mut |_| true);
        assert_eq!(lifted.expect("it is executed").cases.len(), cases, "{mask}");
    }
}

#[test]
fn damaged_bytes_are_an_error_or_a_refusal() {
    let Some(good) = good() else { return };
    let mut call = call("f", 4);
    call.max_steps = 100;
    let read = |bytes: &[u8]| {
        let object = Object::parse(bytes).ok()?;
        lift(&object, &call, &mut Graph::new(), &mut |_| true).ok()
    };
    for n in 0..good.0.len() {
        let _ = read(&good.0[..n]);
    }
    for at in 0..good.0.len() {
        for flip in [1, 0x80, 0xff] {
            let _ = read(&good.with(at, &[good.0[at] ^ flip]).0);
        }
    }
}
