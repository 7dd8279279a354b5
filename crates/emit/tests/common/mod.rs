//! Compiling and calling emitted functions.

#![allow(dead_code)] // Each test takes its share.

use ringforge_program::ir::*;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// gcc and clang, as far as they are here.
#[track_caller]
pub fn compilers() -> Vec<String> {
    ringforge_testing::compilers().into_iter().map(str::to_owned).collect()
}

/// Those for AArch64, each with its flags.
#[track_caller]
pub fn arm_compilers() -> Vec<String> {
    ringforge_testing::aarch64().into_iter().map(|(cc, flags)| line(cc, flags)).collect()
}

/// Those for Cortex-M4; clang's objects are linked by the other.
#[track_caller]
pub fn m4_compilers() -> Vec<String> {
    let include = |cc: &str| if cc.starts_with("clang") { " -I/usr/include/newlib" } else { "" };
    let all = ringforge_testing::cortex_m4().into_iter();
    all.map(|(cc, flags)| line(cc, flags) + include(cc)).collect()
}

fn line(cc: &str, flags: &[&str]) -> String {
    [&[cc], flags].concat().join(" ")
}

/// A directory that is removed when dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ringforge-emit-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A program with one block of its own making; all procedures get its words and modulus.
pub fn program(q: u64, word_bits: u8, lanes: usize, mut procedures: Vec<Procedure>) -> Program {
    for procedure in &mut procedures {
        (procedure.q, procedure.bits) = (q, word_bits);
        procedure.buffers.iter_mut().for_each(|b| b.bits = word_bits);
    }
    Program {
        name: "t".into(),
        ring: String::new(),
        q,
        word_bits,
        registers: ringforge_targets::Registers { bits: lanes * usize::from(word_bits), part: 128 },
        transform: None,
        plan: String::new(),
        schedule: String::new(),
        in_order: 0,
        loops: false,
        procedures,
    }
}

/// A buffer with neither range nor alignment.
pub fn buffer(name: &str, role: Role, words: usize) -> Buffer {
    Buffer { name: name.into(), role, words, bits: 16, align: 2, range: None }
}

/// An entry point.
pub fn entry(name: &str, buffers: Vec<Buffer>, body: Vec<Stmt>) -> Procedure {
    let (q, bits) = (4591, 16);
    Procedure {
        name: name.into(),
        exported: true,
        computes: None,
        copies: 1,
        q,
        bits,
        buffers,
        body,
    }
}

/// Words: corners in all pairs first, then random ones.
pub fn words(bits: u8, count: usize, q: u64, seed: u64) -> Vec<i64> {
    let (q, most) = (q as i64, (1i64 << (bits - 1)) - 1);
    let corners = [0, 1, -1, most, -most - 1, q, -q, q - 1, (q - 1) / 2, -(q - 1) / 2, 2 * q];
    let corners: Vec<i64> = corners.into_iter().map(|x| x << (64 - bits) >> (64 - bits)).collect();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|i| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let pick = (state >> 40) as usize;
            match i % 3 {
                0 => corners[pick % corners.len()],
                _ => (state >> 8) as i64 >> (64 - bits),
            }
        })
        .collect()
}

/// Compiles a source and calls one of its functions once for each case; the last exported
/// procedure's parameters say how. With `alias`, the output is the array of that input.
pub fn call(
    compiler: &str,
    flags: &[&str],
    source: &str,
    program: &Program,
    suffix: &str,
    cases: &[Vec<Vec<i64>>],
    alias: Option<usize>,
) -> Vec<Vec<i64>> {
    let procedure = program.procedures.last().unwrap();
    let parameters: Vec<&Buffer> =
        procedure.buffers.iter().filter(|b| b.role.is_parameter()).collect();
    let name = format!("{}_{}_{suffix}", program.name, procedure.name);
    let types = |b: &&Buffer| {
        format!("{}int{}_t *", if b.role == Role::Input { "const " } else { "" }, b.bits)
    };
    let prototype: Vec<String> = parameters.iter().map(types).collect();
    let system = match compiler.contains("cortex-m4") {
        true => include_str!("../../../toolchain/src/driver/bare.c"),
        false => "#include <stdio.h>\n",
    };
    let mut main = format!("#include <stdint.h>\n{system}void {name}(");
    main += &format!("{});\nint main(void)\n{{\n", prototype.join(", "));
    let (mut read, mut output, mut inputs) = (Vec::new(), "", Vec::new());
    for b in &parameters {
        main += &format!("    static int{}_t {}[{}];\n", b.bits, b.name, b.words);
        if b.role != Role::Output {
            read.push(format!("fread({0}, sizeof {0}, 1, stdin) == 1", b.name));
            inputs.push(b.name.as_str());
        }
        if matches!(b.role, Role::Output | Role::InOut) {
            output = &b.name;
        }
    }
    let place = alias.map_or(output, |i| inputs[i]);
    let arguments: Vec<&str> =
        parameters.iter().map(|b| if b.name == output { place } else { b.name.as_str() }).collect();
    main += &format!("    while ({}) {{\n", read.join(" && "));
    main += &format!("        {name}({});\n", arguments.join(", "));
    main += &format!(
        "        fwrite({place}, sizeof {place}, 1, stdout);\n    }}\n    return 0;\n}}\n"
    );
    let scratch = Scratch::new();
    std::fs::write(scratch.0.join("t.c"), source).unwrap();
    std::fs::write(scratch.0.join("main.c"), main).unwrap();
    let build = |compiler: &str, files: &[&str]| {
        let mut words = compiler.split(' ');
        let built = Command::new(words.next().unwrap())
            .args(words)
            .args(flags)
            .args(files)
            .current_dir(&scratch.0)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(
            built.status.success() && said.is_empty(),
            "{compiler} {flags:?}: {said}\n{source}"
        );
    };
    if compiler.contains("cortex-m4") {
        let bare = [
            "t.o",
            "main.c",
            "-nostartfiles",
            "-static",
            "-Wl,-Ttext=0x10000,--no-enum-size-warning,-z,noexecstack",
            "-orun",
        ];
        build(compiler, &["-c", "t.c", "-o", "t.o"]);
        build(&m4_compilers()[0], &bare);
    } else {
        build(compiler, &["t.c", "main.c", "-o", "run"]);
    }
    let mut bytes = Vec::new();
    for case in cases {
        let read = parameters.iter().filter(|b| b.role != Role::Output);
        for (words, b) in case.iter().zip(read) {
            let size = usize::from(b.bits / 8);
            words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()[..size]));
        }
    }
    let size = usize::from(parameters.iter().find(|b| b.name == output).unwrap().bits / 8);
    std::fs::write(scratch.0.join("in"), bytes).unwrap();
    let mut run = match compiler.contains("aarch64") {
        true => {
            let mut run = Command::new("qemu-aarch64");
            run.args(["-L", "/usr/aarch64-linux-gnu"]).arg(scratch.0.join("run"));
            run
        }
        false if compiler.contains("cortex-m4") => {
            let mut run = Command::new("qemu-arm");
            run.arg(scratch.0.join("run"));
            run
        }
        false => Command::new(scratch.0.join("run")),
    };
    let run = run.stdin(std::fs::File::open(scratch.0.join("in")).unwrap()).output().unwrap();
    assert!(run.status.success(), "{}", run.status);
    let word = |b: &[u8]| match size {
        2 => i64::from(i16::from_le_bytes([b[0], b[1]])),
        _ => i64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]])),
    };
    let all: Vec<i64> = run.stdout.chunks(size).map(word).collect();
    let length = parameters.iter().find(|b| b.name == output).unwrap().words;
    assert_eq!(all.len(), length * cases.len());
    all.chunks(length).map(<[i64]>::to_vec).collect()
}
