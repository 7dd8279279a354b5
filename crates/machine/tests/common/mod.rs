//! Helpers of the tests: compilers, calls.
#![allow(dead_code)]

pub mod coff;
pub mod damage;
pub mod elf;
pub mod emulated;
pub mod harness;
pub mod native;
pub mod words;

use ringforge_machine::graph::Graph;
use ringforge_machine::{
    ArgSpec, CallSpec, Initial, LiftError, Lifted, Object, RegionSpec, eval::Tape,
};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Compiles a source text (`.c` or `.s` by `extension`) and returns the object's bytes.
pub fn compile(compiler: &str, extension: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    let mut all = flags.to_vec();
    all.push("-c");
    build(compiler, extension, source, &all)
}

/// Assembles a whole source text by binutils, which come with either compiler.
pub fn assembled(source: &str) -> Vec<u8> {
    assembled_with(source, &[])
}

/// The same with flags.
pub fn assembled_with(source: &str, flags: &[&str]) -> Vec<u8> {
    build("as", "s", source, flags)
}

/// The same, linked (C only).
pub fn link(compiler: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    build(compiler, "c", source, flags)
}

fn build(compiler: &str, extension: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let stem = format!("ringforge-machine-{}-{n}", std::process::id());
    let path = |e: &str| -> PathBuf { std::env::temp_dir().join(format!("{stem}.{e}")) };
    std::fs::write(path(extension), source).expect("the temporary directory is writable");
    let done = Command::new(compiler)
        .args(flags)
        .arg(path(extension))
        .arg("-o")
        .arg(path("o"))
        .output()
        .unwrap_or_else(|e| panic!("{compiler}: {e}"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let bytes = std::fs::read(path("o")).expect("the compiler wrote its output");
    let _ = std::fs::remove_file(path(extension));
    let _ = std::fs::remove_file(path("o"));
    bytes
}

/// Assembles the body of a function `f` (Intel syntax).
pub fn assemble(body: &str) -> Vec<u8> {
    let text = format!(
        ".intel_syntax noprefix\n.text\n.globl f\n.type f,@function\nf:\n{body}\n.section .note.GNU-stack,\"\",@progbits\n"
    );
    assembled(&text)
}

pub fn region(name: &str, bytes: u64, align: u64, write: bool, initial: Initial) -> RegionSpec {
    RegionSpec { name: name.into(), bytes, align, read: true, write, initial }
}

/// `f(out, a, b)`: `n` elements of 16 bits each, disjoint.
pub fn call(symbol: &str, n: u64) -> CallSpec {
    let input = |operand| Initial::Inputs { operand, element_bits: 16 };
    CallSpec {
        symbol: symbol.into(),
        regions: vec![
            region("out", 2 * n, 2, true, Initial::Undefined),
            region("a", 2 * n, 2, false, input(0)),
            region("b", 2 * n, 2, false, input(1)),
        ],
        args: (0..3).map(|r| ArgSpec::Pointer(r, 0)).collect(),
        data: Vec::new(),
        ranges: Vec::new(),
        given_sections: Vec::new(),
        coincide: Vec::new(),
        functions: Vec::new(),
        released_branches: 0,
        passes_checks: false,
        max_steps: 10_000_000,
    }
}

pub fn lift(object: &[u8], call: &CallSpec, graph: &mut Graph) -> Result<Lifted, LiftError> {
    let object = Object::parse(object).expect("an ELF object");
    ringforge_machine::lift(&object, call, graph, &mut |_| true)
}

/// The `n` 16-bit elements of region 0 for inputs `a` and `b`.
pub fn evaluate(graph: &mut Graph, lifted: &Lifted, n: usize, a: &[i16], b: &[i16]) -> Vec<i16> {
    let out = &lifted.cases[0].regions[0];
    let roots: Vec<_> =
        (0..n).map(|i| out.element(graph, i, 16).expect("a defined element")).collect();
    let tape = Tape::new(graph, &roots).expect("no addresses");
    let values = tape.run(|operand, i| {
        let array = if operand == 0 { a } else { b };
        array[i as usize] as u16 as u64
    });
    values.into_iter().map(|v| v as u16 as i16).collect()
}

/// Compiles and links files (by their extensions) into a program in a directory of its own, which the
/// caller removes; [`None`] if the linker refuses.
pub fn build_objects(compiler: &str, files: &[(&str, Vec<u8>)], flags: &[&str]) -> Option<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("ringforge-machine-run-{}-{n}", std::process::id());
    let dir = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&dir).expect("the temporary directory is writable");
    for (name, content) in files {
        std::fs::write(dir.join(name), content).expect("the temporary directory is writable");
    }
    let done = Command::new(compiler)
        .current_dir(&dir)
        .args(flags)
        .args(files.iter().map(|f| f.0))
        .args(["-o", "program"])
        .output()
        .unwrap_or_else(|e| panic!("{compiler}: {e}"));
    if !done.status.success() {
        let _ = std::fs::remove_dir_all(&dir);
        return None;
    }
    Some(dir.join("program"))
}
