//! Side conditions at their edges: what is just beyond is refused for that reason, what is just inside accepted.

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

fn accepted(bench: &Bench, text: &str) {
    bench.replay(&lines(text)).unwrap_or_else(|e| panic!("{e} in {text}"));
}

/// An input that is the output.
fn plain(x: (i64, i64, u8)) -> Bench {
    let mut b = Bench::new(&[x]).target(x.2, true, i64::MIN, i64::MAX);
    let x = b.input(0);
    b.outputs(&[x])
}

/// Of an atom that needs more than 64 bits no function is enumerated.
#[test]
fn functions_are_of_atoms_within_64_bits() {
    let text = |bits: u8, function: u8| {
        format!(
            "input 0 0
            low {bits} 0 1 0 1
            fun 16 lin 0 1
            function {function} 0
            node 0 0 is 16 0 1 2 1
            output 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0"
        )
    };
    let why = "atom 1 has no interval of 64 bits";
    refused(&plain((0, 7, 16)), &text(64, 1), 5, why);
    accepted(&plain((0, 7, 16)), &text(16, 1));
    accepted(&plain((0, 7, 16)), &text(64, 0));
}

/// A quotient is a number if it is one at both ends.
#[test]
fn quotients_of_one_value_are_that_number() {
    let of = |lo: i64, hi: i64, is: i64| {
        let mut b = Bench::new(&[(lo, hi, 16)]);
        let x = b.input(0);
        let y = b.node(16, Op::Ashr(7), &[x]);
        let text = format!(
            "input 0 0
            node 1 1 quotient -1 0 1 0 1 0 by 1 0 is 16 {is} 0
            output 0 0 is {is} 0 by 1 0"
        );
        (b.outputs(&[y]), text)
    };
    for (lo, hi, is) in [(0, 127, 0), (-128, -1, -1), (5, 5, 0), (384, 511, 3)] {
        let (b, text) = of(lo, hi, is);
        accepted(&b, &text);
        for (lo, hi) in [(lo, hi + 128), (lo - 128, hi)] {
            let (b, text) = of(lo, hi, is);
            refused(&b, &text, 2, "left of a difference");
        }
    }
}

/// 2^33·f + g is near 2^64, which words of 64 bits have for numbers below 0.
#[test]
fn sums_are_enumerated_together_below_2_to_the_62() {
    let b = plain((0, 7, 16));
    let text = |shift: u32, bound: &str| {
        format!(
            "input 0 0
            fun 32 lin 2147483640 1
            fun 32 lin 0 1
            function 0 0
            function 0 1
            name 0 2 1 {} 2 1
            bound 3 {bound} by 1 0
            output 0 0 is 0 1 0 1 by 1 0",
            1i64 << shift
        )
    };
    let wrapped = text(33, &format!("{} 0", -(1i64 << 36)));
    refused(&b, &wrapped, 7, "is claimed");
    let true_one = format!("{} {}", 2147483640i128 << 33, (2147483647i128 << 33) + 7);
    let e = b.replay(&lines(&text(33, &true_one)));
    assert!(e.is_err() || b.replay(&lines(&text(20, "0 2251799813685247"))).is_err());
}

/// A multiple of 2^4 that reaches 2^4, or -2^4, need not be 0.
#[test]
fn near_zero_is_strictly_between() {
    for (form, good) in [("0 1 0 16", (0, 0)), ("0 1 0 -16", (0, 0))] {
        for (range, ok) in [((0, 1), false), (good, true)] {
            let b = plain((range.0, range.1, 16));
            let text = format!(
                "input 0 0\nnear 4 {form} by 1 0\noutput 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0"
            );
            if ok {
                accepted(&b, &text);
            } else {
                refused(&b, &text, 2, "is not within [-15, 15]");
            }
        }
    }
}

/// Words and forms are in normal form: an atom once, coefficients centred, none zero, none too large.
#[test]
fn what_is_read_is_in_normal_form() {
    let b = plain(X);
    let word = "a word that is not in normal form";
    for is in [
        "16 0 2 0 2 0 -1",
        "16 0 1 0 65537",
        "16 65536 1 0 1",
        "16 0 1 0 0",
        "65 0 1 0 1",
        "16 0 1 0 32768",
    ] {
        refused(&b, &format!("input 0 0\nnode 0 0 is {is}"), 2, word);
        refused(&b, &format!("input 0 0\nlow {is}"), 2, word);
    }
    let form = "a form out of order, with a zero, or a number beyond 110 bits";
    let large = 1i128 << 110;
    for is in [
        format!("0 1 0 {large}"),
        format!("0 1 0 -{large}"),
        format!("-{large} 1 0 1"),
        "0 2 0 2 0 -1".into(),
    ] {
        refused(&b, &format!("input 0 0\nname {is}"), 2, form);
        refused(&b, &format!("input 0 0\nfloor 3 {is}"), 2, form);
        refused(&b, &format!("input 0 0\nnear 0 {is} by 1 0"), 2, form);
    }
    accepted(
        &b,
        &format!(
            "input 0 0\nname {} 1 0 {}\noutput 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0",
            large - 1,
            1 - large
        ),
    );
}

/// A node that no output depends on has no line.
#[test]
fn nodes_that_are_not_needed_are_not_visited() {
    let mut b = Bench::new(&[X]).target(16, true, -200, 200);
    let x = b.input(0);
    let unused = b.node(16, Op::Add, &[x, x]);
    let y = b.node(16, Op::Shl(1), &[x]);
    let b = b.outputs(&[y]);
    assert!(unused < y);
    refused(&b, &format!("input 0 0\nnode {unused} 0"), 2, "is visited already, or never");
}

/// A name counts as the atom that it is a name of, if it is that atom and nothing else.
#[test]
fn a_name_of_one_atom_is_that_atom_alone() {
    let known = case("digits");
    let with = |left: &str| {
        let text = format!(
            "name {left}
            name 1 2 4 1 7 5
            bound 10 -16 18 by 1 0
            modulo 10 5 1 1 2 1 0
            modulo 10 7 1 1 2 1 0
            chinese 2 5 7 1 9 1 1 1 10"
        );
        let mut all = known.lines[..28].to_vec();
        all.extend(lines(&text));
        all.extend(known.lines[28..].iter().cloned());
        known.bench.replay(&all)
    };
    assert!(with("0 1 0 1").is_ok());
    for left in ["5 1 0 1", "0 1 0 2", "0 1 0 -1"] {
        let e = with(left).err().unwrap_or_else(|| panic!("{left} is accepted"));
        assert_eq!((e.line, e.why.contains("value 0 is not known modulo 5")), (34, true), "{e}");
    }
    // A name is no integer in itself.
    let mut all = known.lines[..28].to_vec();
    all.extend(lines("name 0 1 8 1\nbound 9 -17 17 by 1 0\nchinese 2 5 7 1 9 1 1 1 9"));
    let e = known.bench.replay(&all).err().expect("a name in itself");
    assert_eq!((e.line, e.why.contains("a residue over later atoms")), (31, true), "{e}");
}

#[test]
fn both_factors_are_the_words() {
    let known = case("montgomery");
    for (text, line, why) in [
        ("node 4 1 product 32 0 1 0 2 32 0 1 1 1", 6, "left of a difference"),
        ("node 4 1 product 32 1 1 0 1 32 0 1 1 1", 6, "left of a difference"),
        // Of fewer bits of one factor, fewer of the product.
        ("node 4 1 product 16 0 1 0 1 32 0 1 1 1", 21, "0 bits are known"),
        ("node 4 1 product 32 0 1 0 1 16 0 1 1 1", 21, "0 bits are known"),
    ] {
        let mut all = known.lines.clone();
        all.splice(5..6, lines(text));
        let e = known.bench.replay(&all).err().unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(e.line == line && e.why.contains(why), "{text}: {e}");
    }
    // A factor of 17 terms times one of 16 is more than 256 products.
    let product = |m: usize, n: usize| {
        let mut b = Bench::new(&[X; 33]);
        let inputs: Vec<u32> = (0..33).map(|o| b.input(o)).collect();
        let sum = |b: &mut Bench, all: &[u32]| {
            all[1..].iter().fold(all[0], |s, &x| b.node(16, Op::Add, &[s, x]))
        };
        let (x, y) = (sum(&mut b, &inputs[..m]), sum(&mut b, &inputs[17..17 + n]));
        let p = b.node(16, Op::Mul, &[x, y]);
        let b = b.outputs(&[p]);
        let word = |from: usize, n: usize| {
            let t: String = (from..from + n).map(|a| format!(" {a} 1")).collect();
            format!("16 0 {n}{t}")
        };
        let inputs: String = (0..33).map(|o| format!("input {o} 0\n")).collect();
        let text = format!("{inputs}node {p} 1 product {} {}", word(0, m), word(17, n));
        b.replay(&lines(&text)).err().expect("nothing is said of the output")
    };
    let e = product(17, 16);
    assert_eq!((e.line, e.why.contains("too many terms")), (34, true), "{e}");
    let e = product(16, 16);
    assert_eq!((e.line, e.why.contains("nothing is said")), (35, true), "{e}");
}

/// A sign is the highest bit: neither two bits, nor what a shift leaves beside it.
#[test]
fn a_sign_is_one_bit() {
    let ashr = |k: u8| {
        let mut b = Bench::new(&[X]);
        let x = b.input(0);
        let s = b.node(16, Op::Ashr(k), &[x]);
        b.outputs(&[s])
    };
    let sext = |width: u8| {
        let mut b = Bench::new(&[X]);
        let x = b.input(0);
        let part = b.node(width, Op::Slice { lo: 16 - width }, &[x]);
        let s = b.node(16, Op::Sext, &[part]);
        b.outputs(&[s])
    };
    for (b, node, good) in
        [(ashr(15), 1, true), (ashr(14), 1, false), (sext(1), 2, true), (sext(2), 2, false)]
    {
        let text = format!("input 0 0\nnode {node} 1 negative 0 -1 0 1 0 1");
        let why = if good { "nothing is said of output 0" } else { "no sign of a word" };
        refused(&b, &text, if good { 3 } else { 2 }, why);
    }
}

/// As a function of its base a quotient is of what 64 signed bits hold: 3·y wraps in between.
#[test]
fn a_quotient_by_its_base_fits_64_bits() {
    let third = i64::MAX / 3;
    let bench = |lo: i64, hi: i64| {
        let mut b = Bench::new(&[(lo, hi, 64)]).target(64, true, -1, 0);
        let (y, three) = (b.input(0), b.constant(64, 3));
        let p = b.node(64, Op::Mul, &[y, three]);
        let bit = b.node(1, Op::Slice { lo: 15 }, &[p]);
        let s = b.node(64, Op::Sext, &[bit]);
        b.outputs(&[s])
    };
    let text = "input 0 0\nnode 4 1 negative 0 0 0 1 0 3";
    refused(&bench(third - 100, third + 100), text, 2, "is not within [-9223372036854775808, ");
    refused(&bench(-third - 100, 100 - third), text, 2, "is not within [-9223372036854775808, ");
    // Half a word is added for the sign.
    refused(&bench(third - 20000, third - 20000), text, 3, "nothing is said");
}

/// A shift as a part that is extended, a quotient of three times a quotient, and one by more than 2^64.
#[test]
fn quotients_of_quotients() {
    let known = case("logical shift");
    let mut all = known.lines.clone();
    all.splice(3..4, lines("node 1 2 quotient -1 0 1 0 1 0 by 1 0 extend 0 1 1 1 by 1 0"));
    known.bench.replay(&all).unwrap_or_else(|e| panic!("{e}"));
    let thrice = |times: i64| {
        let mut b = Bench::new(&[(-1000, 1000, 16)]);
        let (x, c) = (b.input(0), b.constant(16, times));
        let h = b.node(16, Op::Ashr(2), &[x]);
        let m = b.node(16, Op::Mul, &[h, c]);
        let z = b.node(16, Op::Ashr(3), &[m]);
        (b.outputs(&[z]), h, z)
    };
    for (times, joined) in [(1, true), (3, false), (-1, false)] {
        let (b, h, z) = thrice(times);
        let text = format!(
            "input 0 0
            floor 2 0 1 0 1
            floor 5 0 1 0 1
            node {h} 1 quotient -1 0 1 0 1 0 by 1 0
            node {z} 1 quotient -1 0 1 1 {times} 0 by 1 0 is 16 0 1 2 1
            output 0 1 extend 0 1 2 1 by 1 0 is 0 1 2 1 by 1 0"
        );
        if joined {
            let e = b.replay(&lines(&text)).err().expect("a quotient has no residue");
            assert!(e.line == 6 && e.why.contains("does not vanish"), "{e}");
        } else {
            refused(&b, &text, 5, "left of a difference");
        }
    }
    let mut b = Bench::new(&[(i64::MIN, i64::MAX, 64)]).target(64, true, -1, 0).modulo(256);
    let x = b.input(0);
    let s = b.node(64, Op::Ashr(62), &[x]);
    let t = b.node(64, Op::Ashr(3), &[s]);
    let b = b.outputs(&[t]);
    accepted(
        &b,
        "input 0 0
        floor 62 0 1 0 1
        floor 3 0 1 1 1
        node 1 1 quotient -1 0 1 0 1 0 by 1 0
        node 2 1 quotient -1 0 1 1 1 0 by 1 0
        output 0 0 is 0 1 2 1 by 1 0",
    );
}

/// Words joined by *or*: the constant counts, and the end of the interval.
#[test]
fn joined_words_end_where_the_others_begin() {
    let joined = |constant: i64, hi: i64| {
        let mut b = Bench::new(&[(-100, 100, 16), (0, hi, 16)]);
        let (x, y, c) = (b.input(0), b.input(1), b.constant(16, constant));
        let x = b.node(16, Op::Shl(8), &[x]);
        let x = b.node(16, Op::Add, &[x, c]);
        let z = b.node(16, Op::Or, &[x, y]);
        (b.outputs(&[z]), z)
    };
    for (constant, hi, line, why) in [
        (256, 255, 4, "nothing is said"),
        (256, 256, 3, "[0, 256] is not within [0, 255]"),
        (1, 0, 4, "nothing is said"),
        (1, 1, 3, "[0, 1] is not within [0, 0]"),
        (128, 128, 3, "[0, 128] is not within [0, 127]"),
    ] {
        let (b, z) = joined(constant, hi);
        refused(&b, &format!("input 0 0\ninput 1 0\nnode {z} 1 sign 1 0 1 1 1 by 1 0"), line, why);
    }
    // A factor of the other word that is no multiple.
    let mut b = Bench::new(&[(-100, 100, 16), (0, 100, 16)]);
    let (x, y) = (b.input(0), b.input(1));
    let z = b.node(16, Op::Or, &[x, y]);
    let b = b.outputs(&[z]);
    let text = format!("input 0 0\ninput 1 0\nnode {z} 1 sign 1 0 1 1 1 by 1 0");
    refused(&b, &text, 3, "[0, 100] is not within [0, 0]");
}

/// Operations by what is no constant, or by a constant of which the rule is another operation's.
#[test]
fn operations_without_a_rule_know_nothing() {
    let two = |op: Op, constant: Option<i64>| {
        let mut b = Bench::new(&[X, X]);
        let x = b.input(0);
        let y = match constant {
            None => b.input(1),
            Some(c) => b.constant(16, c),
        };
        let z = b.node(16, op, &[x, y]);
        b.outputs(&[z])
    };
    for (op, constant, is) in [
        (Op::Or, None, "0 1 0 1"),
        (Op::Xor, None, "0 1 0 1"),
        (Op::And, None, "0 0"),
        (Op::Or, Some(-32768), "-32768 1 0 1"),
        (Op::And, Some(5), "0 1 0 1"),
    ] {
        let b = two(op, constant);
        refused(
            &b,
            &format!("input 0 0\noutput 0 1 extend {is} by 1 0 is {is} by 1 0"),
            2,
            "bits are known",
        );
    }
    // A choice by the lowest bit of x.
    let mut b = Bench::new(&[X]);
    let (x, zero) = (b.input(0), b.constant(16, 0));
    let bit = b.node(1, Op::Slice { lo: 0 }, &[x]);
    let z = b.node(16, Op::Select, &[bit, x, zero]);
    let b = b.outputs(&[z]);
    refused(&b, "input 0 0\noutput 0 1 extend 0 0 by 1 0 is 0 0 by 1 0", 2, "bits are known");
}

/// What is saturated fits the result: signed or unsigned.
#[test]
fn saturations_that_change_nothing() {
    for (op, lo, hi, good) in [
        (Op::SatS, -32768, 32767, true),
        (Op::SatS, -32769, 0, false),
        (Op::SatS, 0, 32768, false),
        (Op::SatU, 0, 65535, true),
        (Op::SatU, -1, 0, false),
        (Op::SatU, 0, 65536, false),
    ] {
        let mut b = Bench::new(&[(lo, hi, 32)]);
        let x = b.input(0);
        let y = b.node(16, op, &[x]);
        let b = b.outputs(&[y]);
        let (line, why) = if good { (3, "nothing is said") } else { (2, "is not within") };
        refused(&b, "input 0 0\nnode 1 1 extend 0 1 0 1 by 1 0", line, why);
    }
}

/// Without a rule nothing is known of a saturation, not even the low bits: those of 70,000 are no bits of its end.
#[test]
fn saturations_without_a_rule_are_unknown() {
    for (op, constant) in [(Op::SatS, false), (Op::SatU, false), (Op::SatS, true), (Op::SatU, true)]
    {
        let mut b = Bench::new(&[(-70_000, 70_000, 32)]);
        let (x, c) = (b.input(0), b.constant(32, 70_000));
        let y = b.node(16, op, &[if constant { c } else { x }]);
        let b = b.outputs(&[y]);
        let low = if constant { "16 4464 0" } else { "16 0 1 0 1" };
        let text = format!("input 0 0\nnode {y} 0 is {low}");
        refused(&b, &text, 2, "0 bits are known of one word, 16 of the other");
    }
}

/// Parts of one word with another part between them are not that word.
#[test]
fn a_whole_has_nothing_in_between() {
    let mut b = Bench::new(&[X]);
    let (x, between) = (b.input(0), b.constant(4, 0));
    let low = b.node(8, Op::Slice { lo: 0 }, &[x]);
    let high = b.node(4, Op::Slice { lo: 8 }, &[x]);
    let y = b.node(16, Op::Concat, &[low, between, high]);
    let b = b.outputs(&[y]);
    refused(&b, &format!("input 0 0\nnode {y} 1 whole"), 2, "no parts of one word");
}

/// Of no bits there is no function, and an extension to its own width, which no graph has, stays what it is.
#[test]
fn functions_have_bits() {
    let known = case("conditional addition");
    let mut all = known.lines.clone();
    all.splice(12..13, lines("node 3 1 function 0 2 0 0 0 16 4591 0"));
    let e = known.bench.replay(&all).err().expect("no bits");
    assert!(e.line == 13 && e.why.contains("too few bits are known"), "{e}");
    let mut b = Bench::new(&[X]);
    let (x, zero) = (b.input(0), b.constant(16, 0));
    let y = b.node(16, Op::Zext, &[x]);
    let less = b.node(1, Op::Slt, &[y, zero]);
    let b = b.outputs(&[less]);
    let text = "
        input 0 0
        node 2 1 function 0 1 16 0 1 0 1 is 16 0 1 0 1
        node 3 1 function 0 2 16 0 1 0 1 16 0 0 is 1 0 0";
    refused(&b, text, 3, "left of a difference");
}

/// Rules that are left over, of an output and of a shift that is taken as a part and its extension.
#[test]
fn each_step_has_its_rule() {
    let b = plain(X);
    let output = |rules: &str| format!("input 0 0\noutput 0 {rules} is 0 1 0 1 by 1 0");
    accepted(&b, &output("1 extend 0 1 0 1 by 1 0"));
    refused(&b, &output("2 extend 0 1 0 1 by 1 0 whole"), 2, "no step is left for whole");
    let mut b = Bench::new(&[X]);
    let x = b.input(0);
    let y = b.node(16, Op::Ashr(2), &[x]);
    let b = b.outputs(&[y]);
    let text = |rules: &str| {
        format!(
            "input 0 0
            fun 16 lin 0 1
            fun 14 floor 2 0
            function 0 1
            node 1 {rules} is 16 0 1 1 1"
        )
    };
    let told = "nothing is said of output 0";
    refused(&b, &text("2 function 0 1 16 0 1 0 1 extend 0 1 1 1 by 1 0"), 6, told);
    refused(&b, &text("1 function 0 1 16 0 1 0 1"), 6, told);
    refused(
        &b,
        &text("2 function 0 1 16 0 1 0 1 extend 0 1 0 1 by 1 0"),
        5,
        "left of a difference",
    );
}
