//! What is known of a few bits says nothing of the others, and what is short or congruent must be so.

mod common;

use common::cases::case;
use common::{Bench, lines};
use ringforge_machine::graph::Op;

const X: (i64, i64, u8) = (-100, 100, 16);

/// Refused at this line, for this reason.
fn refused(bench: &Bench, text: &str, line: usize, why: &str) {
    let e = bench.replay(&lines(text)).err().unwrap_or_else(|| panic!("accepted: {text}"));
    assert!(e.line == line && e.why.contains(why), "refused at {}: {}", e.line, e.why);
}

/// Constants of which the low bits are told: no rule for constants may take them for all.
#[test]
fn low_bits_of_a_constant_are_no_constant() {
    for (op, constant, low, output) in [
        (Op::Xor, 0x00ff, "8 -1 0", "-1 1 0 -1"),
        (Op::Xor, 0x0080, "8 -128 0", "-32768 1 0 1"),
        (Op::Xor, 0x0100, "8 0 0", "0 1 0 1"),
        (Op::Or, 0x0100, "8 0 0", "0 1 0 1"),
        (Op::Mul, 0x0103, "8 3 0", "0 1 0 3"),
        (Op::And, 0x0100, "8 0 0", "0 0"),
        (Op::And, 0x00ff, "8 -1 0", "0 1 0 1"),
    ] {
        let mut b = Bench::new(&[X]);
        let (x, k) = (b.input(0), b.constant(16, constant));
        let y = b.node(16, op, &[x, k]);
        let b = b.outputs(&[y]);
        let text = format!(
            "input 0 0
            node 1 0 is {low}
            output 0 1 extend {output} by 1 0 is {output} by 1 0"
        );
        refused(&b, &text, 3, "bits are known");
    }
}

/// A choice by a bit of which nothing is told, of words that differ.
#[test]
fn a_choice_is_by_a_known_bit() {
    for (bit, output) in [(1, "0 1 0 1"), (0, "0 1 0 1"), (1, "0 0"), (0, "0 0")] {
        let mut b = Bench::new(&[X]);
        let (x, zero, c) = (b.input(0), b.constant(16, 0), b.constant(1, bit));
        let y = b.node(16, Op::Select, &[c, x, zero]);
        let b = b.outputs(&[y]);
        let text = format!(
            "input 0 0
            node 2 0 is 0 0 0
            output 0 1 extend {output} by 1 0 is {output} by 1 0"
        );
        refused(&b, &text, 3, "bits are known");
    }
}

/// An extension keeps its low bits, and is no integer for that.
#[test]
fn an_extension_without_a_rule_is_no_integer() {
    let mut b = Bench::new(&[X]).target(64, true, -100, 100);
    let x = b.input(0);
    let wide = b.node(32, Op::Zext, &[x]);
    let wider = b.node(64, Op::Sext, &[wide]);
    let b = b.outputs(&[wider]);
    let text = "
        input 0 0
        node 2 1 extend 0 1 0 1 by 1 0
        output 0 0 is 0 1 0 1 by 1 0";
    refused(&b, text, 2, "16 of 32 bits are known");
    let text = "
        input 0 0
        node 2 1 function 0 1 32 0 1 0 1
        output 0 0 is 0 1 0 1 by 1 0";
    refused(&b, text, 2, "bits are known");
}

/// A mask is 0 or -1 in all of its bits.
#[test]
fn a_mask_is_known_in_all_bits() {
    let mut b = Bench::new(&[(-1, 0, 8), X]);
    let (s, x) = (b.input(0), b.input(1));
    let wide = b.node(16, Op::Zext, &[s]);
    let y = b.node(16, Op::And, &[wide, x]);
    let b = b.outputs(&[y]);
    let text = "
        input 0 0
        node 3 1 sign 0 0 1 0 1 by 1 0";
    refused(&b, text, 2, "8 of 16 bits are known");
    for (range, sign) in [((-1, 1), "[-1, 1]"), ((-2, 0), "[-2, 0]")] {
        let mut b = Bench::new(&[(range.0, range.1, 16), X]);
        let (s, x) = (b.input(0), b.input(1));
        let y = b.node(16, Op::And, &[s, x]);
        let b = b.outputs(&[y]);
        refused(
            &b,
            "input 0 0\nnode 2 1 sign 0 0 1 0 1 by 1 0",
            2,
            &format!("{sign} is not within [0, 65535]"),
        );
    }
}

/// Words side by side by *or*: the lower one is short, whatever is known of it.
#[test]
fn joined_words_have_no_bit_in_common() {
    let bench = |extension: Op, shift: u8| {
        let mut b = Bench::new(&[(-100, 100, 8), (0, 100, 8)]);
        let (x, y) = (b.input(0), b.input(1));
        let x = b.node(16, Op::Sext, &[x]);
        let x = b.node(16, Op::Shl(shift), &[x]);
        let y = b.node(16, extension, &[y]);
        let z = b.node(16, Op::Or, &[x, y]);
        b.outputs(&[z])
    };
    let byte = |c: i64| format!("node 5 0 is 16 0 2 0 {c} 1 1");
    let form = "node 5 1 sign 1 0 1 1 1 by 1 0";
    let text = |rule: &str| format!("input 0 0\ninput 1 0\nnode 4 1 extend 0 1 1 1 by 1 0\n{rule}");
    refused(&bench(Op::Sext, 8), &text(&byte(256)), 4, "0 bits are known of one word");
    refused(&bench(Op::Zext, 7), &text(&byte(128)), 4, "0 bits are known of one word");
    refused(&bench(Op::Zext, 6), &text(form), 4, "[0, 100] is not within [0, 63]");
    // Nothing is said of the outputs, but the rule is taken.
    refused(&bench(Op::Zext, 7), &text(form), 5, "nothing is said of output 0");
    refused(&bench(Op::Zext, 8), &text(&byte(256)), 5, "nothing is said of output 0");
}

/// Parts of different words, parts that do not meet, and a third part.
#[test]
fn a_whole_is_of_adjacent_parts_of_one_word() {
    let bench = |parts: &[(u8, u8, u16)]| {
        let mut b = Bench::new(&[X, X]);
        let inputs = [b.input(0), b.input(1)];
        let mut slices = Vec::new();
        for &(lo, width, of) in parts {
            slices.push(b.node(width, Op::Slice { lo }, &[inputs[usize::from(of)]]));
        }
        let whole = parts.iter().map(|p| p.1).sum();
        let y = b.node(whole, Op::Concat, &slices);
        (b.outputs(&[y]), y)
    };
    for (parts, rules, why) in [
        (&[(0, 8, 1), (8, 8, 0)][..], "1 whole", "left of a difference"),
        (&[(0, 8, 0), (4, 8, 0)], "1 whole", "no parts of one word"),
        (&[(0, 4, 0), (4, 4, 0), (8, 8, 0)], "2 whole whole", "no parts of one word"),
    ] {
        let (b, y) = bench(parts);
        refused(&b, &format!("input 0 0\ninput 1 0\nnode {y} {rules}"), 3, why);
    }
}

/// A remainder is its word modulo 2^bits, and divisors of that, alone.
#[test]
fn a_remainder_is_congruent_as_far_as_it_goes() {
    let known = case("montgomery");
    for (at, text, line) in [(9, "low 15 0 1 2 1", 13), (9, "low 17 0 1 2 1", 16)] {
        let mut all = known.lines.clone();
        all.splice(at - 1..at, lines(text));
        let e = known.bench.replay(&all).err().unwrap_or_else(|| panic!("{text} is accepted"));
        assert_eq!(e.line, line, "{e}");
    }
    let walked = known.bench.replay(&known.lines).unwrap_or_else(|e| panic!("{e}"));
    for (m, known) in [(2, true), (1 << 16, true), (1 << 17, false), (6, false), (4591, false)] {
        assert_eq!(walked.facts.congruence(4, m).is_some(), known, "{m}");
    }
}

/// Intervals that follow from definitions, and those that are claimed, are kept together.
#[test]
fn intervals_of_definitions() {
    let mut b = Bench::new(&[(-3, 2, 16)]);
    let x = b.input(0);
    let b = b.outputs(&[x]);
    let text = "
        input 0 0
        product 0 0
        floor 1 -1 1 0 1
        low 5 0 1 0 1
        name 7 1 0 -2
        name 0 2 0 1 1 1
        bound 5 -3 11 by 1 0
        bound 5 -50 50 by 1 0
        output 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0";
    let walked = b.replay(&lines(text)).unwrap_or_else(|e| panic!("{e}"));
    let expected = [(-3, 2), (0, 9), (-2, 0), (0, 31), (3, 13), (-3, 11)];
    for (a, bounds) in (0..).zip(expected) {
        assert_eq!(walked.facts.bounds(a), Some(bounds), "atom {a}");
    }
}

/// An element of 64 bits without sign is no negative integer.
#[test]
fn an_unsigned_output_is_not_negative() {
    let mut b = Bench::new(&[(-1, 5, 64)]).target(64, false, -10, 10);
    let x = b.input(0);
    let b = b.outputs(&[x]);
    refused(&b, "input 0 0\noutput 0 0 is 0 1 0 1 by 1 0", 2, "is not within [0, ");
}

/// For x in [255, 256] the low eight bits read -1 and 0, and bits 4 to 7 of them 15 and 0. A function
/// of these bits is no part that goes beyond them, and no extension of the word.
#[test]
fn functions_of_low_bits_end_where_they_end() {
    const EDGE: (i64, i64, u8) = (255, 256, 16);
    let part = |lo: i64, hi: i64| {
        let mut b = Bench::new(&[EDGE]).target(16, true, lo, hi);
        let (x, mask) = (b.input(0), b.constant(16, -16));
        let y = b.node(16, Op::And, &[x, mask]);
        b.outputs(&[y])
    };
    let whole = |lo: i64, hi: i64| {
        let mut b = Bench::new(&[EDGE]).target(16, true, lo, hi);
        let x = b.input(0);
        b.outputs(&[x])
    };
    // Atom 1 has the values that the rule would take; the ranges are theirs, so that the lies would hold.
    let masked = |functions: &str, told: u8, bits: u8| {
        format!(
            "input 0 0
            {functions}
            node 0 0 is {told} 0 1 0 1
            node 2 1 function 0 1 {bits} 0 1 0 1
            output 0 1 extend 0 1 1 16 by 1 0 is 0 1 1 16 by 1 0"
        )
    };
    let extended = |told: u8, bits: u8| {
        format!(
            "input 0 0
            fun {bits} lin 0 1
            function 0 0
            node 0 0 is {told} 0 1 0 1
            output 0 1 function 0 1 {bits} 0 1 0 1 is 0 1 1 1 by 1 0"
        )
    };
    let all = "fun 16 lin 0 1\nfun 12 floor 4 0\nfunction 0 1";
    let low =
        "fun 8 lin 0 1\nfun 4 floor 4 0\nfun 1 floor 3 1\nfun 12 lin 0 0 1 1 2 -16\nfunction 0 3";
    for (good, text) in [(part(240, 256), masked(all, 16, 16)), (whole(255, 256), extended(16, 16))]
    {
        good.replay(&lines(&text)).unwrap_or_else(|e| panic!("{text}: {e}"));
    }
    for told in [16, 8] {
        refused(&part(0, 240), &masked(low, told, 8), 8, "too few bits are known");
        refused(&whole(-1, 0), &extended(told, 8), 5, "too few bits are known");
    }
}

/// A quotient is known for as many bits as its word has from there on: x + 256 has the low bits of x,
/// and another quotient by 16. For x in [0, 15] that is 16, where x has 0.
#[test]
fn a_quotient_of_low_bits_is_known_as_far_as_they_go() {
    let part = |value: i64| {
        let mut b = Bench::new(&[(0, 15, 16)]).target(8, true, value, value);
        let x = b.input(0);
        let y = b.node(8, Op::Slice { lo: 4 }, &[x]);
        b.outputs(&[y])
    };
    let text = |told: u8, k: i64| {
        format!(
            "input 0 0
            node 0 0 is {told} 0 1 0 1
            node 1 1 quotient -1 {k} 1 0 1 0 by 1 0
            output 0 0 is {} 0 by 1 0",
            k / 16
        )
    };
    part(0).replay(&lines(&text(16, 0))).unwrap_or_else(|e| panic!("{e}"));
    // Known of the quotient are 4, 1, none, and still none of its eight bits.
    for told in [8, 5, 4, 2] {
        refused(&part(16), &text(told, 256), 4, "bits are known");
    }
}
