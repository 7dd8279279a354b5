//! Mutants of emitted C: leaks, accesses outside, undefined values, registers of the caller.
//! They are written in front of or behind the body of the exported function, whatever it does.

use crate::mutant::{Change, Class, Mutant, Mutants};
use crate::object::Isa;

/// Mutants of a C source that defines `symbol` with parameters `c`, `a`, `b` of `n` words, of
/// whatever size, for this machine.
pub fn source_mutants(source: &str, symbol: &str, n: usize, isa: Isa) -> Mutants {
    let mut all = Mutants::default();
    let Some(body) = body_of(source, symbol) else {
        return all;
    };
    let end = n - 1;
    let middle = n / 2;
    let mut add = |class, what: &str, file: &str, before: &str, after: &str| {
        let text = [
            &source[..body.head],
            file,
            "\n",
            &source[body.head..body.start],
            before,
            &source[body.start..body.end],
            after,
            &source[body.end..],
        ]
        .concat();
        all.made.push(Mutant { class, what: what.into(), change: Change::Source(text) });
    };
    // What the compiler must not optimise away goes through an asm barrier.
    let hide = "__asm__ volatile(\"\" : \"+r\"(t_));";
    for i in [0, middle, end] {
        add(
            Class::BranchOnCoefficient,
            &format!("a branch on a[{i}] around an empty statement"),
            "",
            &format!("\n    if (a[{i}] > 7) __asm__ volatile(\"nop\");\n"),
            "",
        );
        add(
            Class::BranchOnCoefficient,
            &format!("a branch on the result c[{i}]"),
            "",
            "",
            &format!("    if (c[{i}] < 0) __asm__ volatile(\"nop\");\n"),
        );
        add(
            Class::LookupOnCoefficient,
            &format!("four bits of c[{i}] looked up in a table that holds each at its own place"),
            &format!(
                "static const signed char identity_[16] = {{{}}};",
                (0..16).map(|v| format!("{v},")).collect::<String>()
            ),
            "",
            &format!("    c[{i}] = (c[{i}] & ~15) | identity_[c[{i}] & 15];\n"),
        );
        add(
            Class::VariableTime,
            &format!("c[{i}] divided by one that the compiler does not see"),
            "",
            "",
            &format!("    {{ int t_ = 1; {hide} c[{i}] = c[{i}] / t_; }}\n"),
        );
        add(
            Class::InputWritten,
            &format!("a[{i}] written and restored to zero"),
            "",
            "",
            &format!("    ((int16_t *)(size_t)a)[{i}] = 0;\n"),
        );
    }
    for (what, text) in [
        (
            format!("a[{n}] read and ignored"),
            format!("(void)*(const volatile int16_t *)(a + {n});"),
        ),
        ("a[-1] read and ignored".into(), "(void)*(const volatile int16_t *)(a - 1);".into()),
        (
            format!("b[{n}] added and subtracted"),
            format!("{{ int t_ = b[{n}]; {hide} (void)t_; }}"),
        ),
    ] {
        add(Class::ReadPastEnd, &what, "", &format!("\n    {text}\n"), "");
    }
    for at in [n as i64, -1] {
        add(
            Class::WriteOutside,
            &format!("c[{at}] set to zero"),
            "",
            "",
            &format!("    *(volatile int16_t *)(c + ({at})) = 0;\n"),
        );
    }
    add(
        Class::Uninitialised,
        "c[0] xored with a word of the stack that nobody wrote",
        "",
        "",
        "    { short u_[64]; __asm__ volatile(\"\" : \"+m\"(u_)); c[0] = c[0] ^ u_[5]; }\n",
    );
    add(
        Class::Uninitialised,
        "the last output read before it is written",
        "",
        &format!("\n    int old_ = *(volatile int16_t *)(c + {end});\n"),
        &format!("    c[{end}] = c[{end}] + (old_ & 1);\n"),
    );
    for &(class, what, assembly) in machine_mutants(isa) {
        add(
            class,
            what,
            "",
            "",
            &format!("    __asm__ volatile(\"{assembly}\" ::: \"memory\");\n"),
        );
    }
    add(
        Class::WritableState,
        "a static variable, zero at first, added to the result",
        "static int16_t state_;\nvoid set_state_(int16_t x);\nvoid set_state_(int16_t x) { state_ = x; }",
        "",
        "    c[0] = (int16_t)(c[0] + state_);\n",
    );
    add(
        Class::WritableState,
        "a constant of the result kept in a writable variable",
        "int16_t one_ = 1;",
        "",
        "    c[0] = (int16_t)(c[0] * one_);\n",
    );
    all
}

/// What only assembly can say: class, sentence, instruction.
fn machine_mutants(isa: Isa) -> &'static [(Class, &'static str, &'static str)] {
    match isa {
        Isa::X86_64 => &[
            (
                Class::WriteOutside,
                "the word above the return address set to zero",
                "movw $0, 8(%%rsp)",
            ),
            (Class::CalleeSaved, "rbx overwritten", "mov $1, %%rbx"),
            (Class::CalleeSaved, "r12 overwritten", "mov $1, %%r12"),
            (Class::CalleeSaved, "r15 overwritten", "mov $1, %%r15"),
            (Class::CalleeSaved, "the direction flag set at return", "std"),
        ],
        Isa::Aarch64 => &[
            (Class::CalleeSaved, "x19 overwritten", "mov x19, #1"),
            (Class::CalleeSaved, "x28 overwritten", "mov x28, #1"),
            (Class::CalleeSaved, "x24 overwritten", "mov x24, #1"),
            (Class::CalleeSaved, "d8 overwritten", "movi v8.2d, #0"),
            (Class::CalleeSaved, "d15 overwritten", "fmov d15, xzr"),
        ],
        Isa::Thumb => &[
            (Class::CalleeSaved, "r4 overwritten", "mov r4, #1"),
            (Class::CalleeSaved, "r8 overwritten", "mov r8, #1"),
            (Class::CalleeSaved, "r11 overwritten", "mov r11, #1"),
        ],
    }
}

/// Byte positions: the definition's first line, behind its `{`, at its closing `}`.
struct Body {
    head: usize,
    start: usize,
    end: usize,
}

fn body_of(source: &str, symbol: &str) -> Option<Body> {
    let mut from = 0;
    loop {
        let name = from + source[from..].find(&format!("{symbol}("))?;
        let open = name + source[name..].find('{')?;
        // A prototype ends before the next brace.
        if source[name..open].contains(';') {
            from = name + symbol.len();
            continue;
        }
        let mut depth = 0usize;
        for (i, c) in source[open..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 1 => {
                    // The definition may start lines above, with attributes: take its paragraph.
                    let head = source[..name].rfind("\n\n").map_or(0, |i| i + 1);
                    return Some(Body { head, start: open + 1, end: open + i });
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        return None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_toolchain::Compiler;

    const SOURCE: &str = "#include <stdint.h>\n#include <stddef.h>\n\
        void f(int16_t c[4], const int16_t a[4], const int16_t b[4]);\n\n\
        void f(int16_t c[4], const int16_t a[4], const int16_t b[4]) {\n\
        for (int i = 0; i < 4; i++) { c[i] = (int16_t)(a[i] & b[i]); }\n}\n";

    #[test]
    fn all_compile() {
        let all = source_mutants(SOURCE, "f", 4, Isa::X86_64);
        assert!(all.made.len() > 25, "{}", all.made.len());
        let cc = Compiler::find(ringforge_testing::cc()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("f.c"), dir.path().join("f.o"));
        for mutant in &all.made {
            let Change::Source(text) = &mutant.change else { panic!("{}", mutant.what) };
            std::fs::write(&from, text).unwrap();
            cc.compile(&from, &["-O2".into(), "-w".into()], &to)
                .unwrap_or_else(|e| panic!("{}: {e}\n{text}", mutant.what));
        }
    }

    #[test]
    fn the_body_is_found_behind_the_prototype() {
        let body = body_of(SOURCE, "f").unwrap();
        assert!(SOURCE[body.head..].trim_start().starts_with("void f"), "{}", body.head);
        assert!(SOURCE[body.start..].starts_with("\nfor"));
        assert_eq!(&SOURCE[body.end..], "}\n");
        assert!(body_of(SOURCE, "g").is_none());
    }
}
