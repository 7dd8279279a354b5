//! Branches that depend on inputs: the prover follows those that go one way for all inputs in range, and refutes with two
//! inputs that go different ways.

mod common;

use common::each::{both, contract, proved, run};
use common::told;
use ringforge_prove::map::MapContract;
use ringforge_prove::{ReasonKind, Report, Verdict};

/// Elements up to `most`, tripled.
fn triple(most: u32) -> MapContract {
    let of = |name: &str, role: &str, most: u32, formula: &str| {
        format!(
            "{name}: role = \"{role}\"; element = \"u16\"; length = 16; range = [0, {most}]{formula}"
        )
    };
    let r = of("r", "output", 3 * most, "; formula = \"a * 3\"");
    contract("f", &[&r, &of("a", "input", most, "")])
}

fn code(check: &str) -> String {
    format!(
        "void f(uint16_t *r, const uint16_t *a) {{
            for (int i = 0; i < 16; i++) {{ {check} r[i] = a[i] * 3; }}
        }}"
    )
}

#[track_caller]
fn leaks(r: &Report) {
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(r));
    let reason = &r.reasons[0];
    assert_eq!(reason.kind, ReasonKind::ConstantTime, "{}", told(r));
    assert!(reason.text.contains("is not the same for a[0] = "), "{}", told(r));
}

#[test]
fn a_branch_that_inputs_in_range_never_take_is_not_taken() {
    for check in ["if (a[i] > 5000) __builtin_trap();", "if (a[i] > 5000) return;"] {
        proved(&code(check), &triple(1023));
        // 5001 alone takes it.
        proved(&code(check), &triple(5000));
        both(&code(check), &triple(5001), &leaks);
        both(&code(check), &triple(20000), &leaks);
    }
    both(&code("if (a[i] == 777) return;"), &triple(1023), &leaks);
    both(&code("if (a[i] == 0) return;"), &triple(1023), &leaks);
}

#[test]
fn what_is_not_decided_is_neither_proved_nor_refuted() {
    // Of three elements there are too many to look at all, and no inputs in range take the branch.
    let check = "if (i == 0 && (uint32_t)a[0] + a[1] + a[2] > 5000) return;";
    let r = run(&code(check), &["-O1"], &triple(1023));
    assert_eq!(r.verdict, Verdict::Unknown, "{}", told(&r));
    assert!(r.reasons[0].text.contains("found no two inputs in range"), "{}", told(&r));
    let check = check.replace("5000", "3000");
    let r = run(&code(&check), &["-O1"], &triple(1023));
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
}

/// A term that differs only where an address is what it cannot be: the alignment was asked for, or the convention gives it.
#[test]
fn places_that_cannot_be_refute_nothing() {
    let code = |body: &str| {
        format!(
            "__asm__(\".globl f\\n.type f,@function\\nf: {body} jne 2f\\n1: movl $0,(%rdi)\\nret\\n\"
                     \"2: movl $7,(%rdi)\\nret\\n.size f,.-f\");"
        )
    };
    let array = |name: &str, role: &str, rest: &str| {
        format!("{name}: role = \"{role}\"; element = \"u32\"; length = 1; range = [0, {rest}")
    };
    let contract = contract(
        "f",
        &[&array("c", "output", "9]; formula = \"0\""), &array("a", "input", "255]")],
    );
    let stack = |place: &str, bit: u32| {
        format!("mov (%rsi),%edx\\n{place}\\nand %r8,%rdx\\ntest ${bit},%dl\\n")
    };
    for body in [
        "mov %esi,%ecx\\nand $7,%ecx\\ncmp $4,%ecx\\njne 1f\\nmov (%rsi),%edx\\nlea 4(%rsi),%r8\\n\
         and %r8,%rdx\\ntest $4,%dl\\n",
        &stack("lea 8(%rsp),%r8", 8),
        &stack("lea (%rsp),%r8\\nnot %r8", 8),
    ] {
        let r = run(&code(body), &["-O1"], &contract);
        assert_eq!(r.verdict, Verdict::Unknown, "{body}: {}", told(&r));
    }
    // The same bit of the element is looked at wherever the stack is.
    let r = run(&code(&stack("mov $8,%r8d", 8)), &["-O1"], &contract);
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
    // An address that an element is added to differs anywhere.
    let index =
        "void f(uint32_t *c, const uint32_t *a) { static const uint32_t t[256]; c[0] = t[a[0]]; }";
    let r = run(index, &["-O0"], &contract);
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
}
