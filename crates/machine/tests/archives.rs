//! Which member of an archive is taken: the one that the linker takes, or none.

mod common;
use common::{assembled, build_objects};
use ringforge_machine::Object;
use ringforge_machine::object::archive::{Member, defining, is_archive};
use ringforge_testing::cc;
use std::process::Command;

/// An object whose function `symbol` returns a number, with more text.
fn object(symbol: &str, number: u32, more: &str) -> Vec<u8> {
    assembled(&format!(
        ".intel_syntax noprefix\n.text\n.globl {symbol}\n.type {symbol},@function\n{symbol}: mov eax, {number}\n ret\n{more}\n\
         .section .note.GNU-stack,\"\",@progbits\n"
    ))
}

/// An archive of files, by `ar` with that operation.
fn archive(how: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let dir = tempfile();
    for (name, bytes) in files {
        std::fs::write(dir.join(name), bytes).expect("the directory is writable");
    }
    let done = Command::new("ar")
        .current_dir(&dir)
        .args([how, "x.a"])
        .args(files.iter().map(|f| f.0))
        .output()
        .expect("ar comes with the compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let bytes = std::fs::read(dir.join("x.a")).expect("it was written");
    let _ = std::fs::remove_dir_all(dir);
    bytes
}

fn tempfile() -> std::path::PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("ringforge-archive-{}-{n}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("the temporary directory is writable");
    dir
}

fn found<'a>(bytes: &'a [u8], symbol: &str) -> Member<'a> {
    defining(bytes, symbol).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn refused(bytes: &[u8], symbol: &str, what: &str) {
    let e = defining(bytes, symbol).expect_err("it must be refused").to_string();
    assert!(e.contains(what), "{e}");
}

const LONG: &str = "a_name_that_is_longer_than_sixteen_bytes.o";

#[test]
fn the_member_that_defines_the_symbol() {
    let (f, g) = (object("f", 7, ""), object("g", 8, "call f\n"));
    // `f` is a local name of the third.
    let local = object("h", 9, "f: ret\n");
    let files: [(&str, &[u8]); 3] = [(LONG, &g), ("f.o", &f), ("local.o", &local)];
    for how in ["rcs", "rcS", "rcsD", "rcsU"] {
        let all = archive(how, &files);
        assert!(is_archive(&all) && !is_archive(&f));
        for (symbol, name, bytes) in [("f", "f.o", &f), ("g", LONG, &g), ("h", "local.o", &local)] {
            let member = found(&all, symbol);
            assert_eq!((member.name.as_str(), member.bytes), (name, &bytes[..]), "{how}");
            Object::parse(member.bytes).expect("an object");
        }
        refused(&all, "k", "no member defines `k`");
        refused(&all, "", "no member defines");
    }
}

#[test]
fn two_definitions_are_refused_by_name() {
    let f = object("f", 7, "");
    for other in [
        object("f", 8, ""),
        object("g", 8, ".globl f\n.weak f\nf: ret\n"),
        object("g", 8, ".comm f,4,4\n"),
        object("g", 8, ".globl f\n.set f, 5\n"),
    ] {
        let all = archive("rcs", &[("one.o", &f), ("other.o", &other)]);
        refused(&all, "f", "is defined by one.o, other.o");
    }
    // Members of one name.
    let twice = archive("rcs", &[("f.o", &f)]);
    let twice = [&twice[..], &archive("rcS", &[("f.o", &f)])[8..]].concat();
    refused(&twice, "f", "is defined by f.o, f.o");
}

#[test]
fn a_member_that_cannot_be_read_may_define_the_symbol() {
    let f = object("f", 7, "");
    for (other, what) in [
        (&b"BC\xc0\xde...."[..], "bitcode"),
        (b"a text\n", "ELF magic"),
        (&f[..100], "cut off"),
        (b"", "ELF magic"),
    ] {
        let all = archive("rcS", &[("f.o", &f), ("other.o", other)]);
        refused(&all, "f", "member other.o");
        refused(&all, "f", what);
    }
}

/// The index and the members must say the same: linkers look in one of them.
#[test]
fn the_index_says_the_same() {
    let (f, g) = (object("f", 7, ""), object("g", 8, ""));
    let all = archive("rcs", &[("f.o", &f), ("g.o", &g)]);
    let names = all.windows(4).position(|w| w == b"f\0g\0").expect("the index's names");
    let mut other = all.clone();
    other[names..names + 4].copy_from_slice(b"g\0f\0");
    refused(&other, "f", "the index says otherwise");
    other[names..names + 4].copy_from_slice(b"f\0f\0");
    refused(&other, "f", "the index says otherwise");
    other[names..names + 4].copy_from_slice(b"k\0g\0");
    refused(&other, "f", "the index says otherwise");
    other[names..names + 4].copy_from_slice(b"ffff");
    assert!(defining(&other, "f").is_err());
    // A member put into it without a new index.
    let more = archive("rcS", &[("k.o", &object("k", 1, ""))]);
    refused(&[&all[..], &more[8..]].concat(), "k", "the index says otherwise");
}

#[test]
fn damaged_archives() {
    let f = object("f", 7, "");
    refused(&archive("rcsT", &[("f.o", &f)]), "f", "it is thin");
    let all = archive("rcs", &[(LONG, &f)]);
    for end in [9, 40, 67, 70, 150, all.len() - 2] {
        assert!(defining(&all[..end], "f").is_err(), "{end}");
    }
    refused(b"!<arch>\n", "f", "no member");
    let header = all.windows(2).rposition(|w| w == b"`\n").expect("the member's header") - 58;
    for (at, bytes, what) in [
        (58, &b"x\n"[..], "header is damaged"),
        (48, b"-1        ", "size is no number"),
        (48, b"99999999999999999999"[..10].as_ref(), "cut off"),
        (48, b"          ", "size is no number"),
        (0, b"/9999           ", "name is not of the form"),
        (0, b"#1/20           ", "name is not of the form"),
        (0, b"__.SYMDEF       ", "name is not of the form"),
        (0, b"/               ", "name is not of the form"),
    ] {
        let mut other = all.clone();
        other[header + at..][..bytes.len()].copy_from_slice(bytes);
        refused(&other, "f", what);
    }
    // Each byte before the object itself, changed: the same member or none.
    for at in 0..header + 60 {
        for bit in [1, 0x20, 0x80] {
            let mut other = all.clone();
            other[at] ^= bit;
            if let Ok(member) = defining(&other, "f") {
                assert_eq!(member.bytes, f, "{at}");
            }
        }
    }
}

/// The linker takes the member that is found here.
#[test]
fn the_linker_takes_the_same() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let (f, g) = (object("f", 7, ""), object("g", 8, ".type f,@function\nf: mov eax, 9\n ret\n"));
    let all = archive("rcs", &[("g.o", &g), (LONG, &f)]);
    let main = "int f(void), g(void);\nint main(void) { return !(f() == 7 && g() == 8); }\n";
    let files = [("main.c", main.as_bytes().to_vec()), ("lib.a", all.clone())];
    let program = build_objects(cc(), &files, &[]).expect("it links");
    let done = Command::new(&program).status().expect("it runs");
    let _ = std::fs::remove_dir_all(program.parent().expect("in its own directory"));
    assert!(done.success());
    assert_eq!((found(&all, "f").bytes, found(&all, "g").bytes), (&f[..], &g[..]));
}
