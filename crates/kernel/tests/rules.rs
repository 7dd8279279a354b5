//! Each rule with its side conditions: a certificate that is accepted, and the same with one line
//! that lies, which is refused at that line for that reason.

mod common;

use common::cases::{all, case};
use common::lines;
use ringforge_kernel::certificate::Line;
use ringforge_kernel::replay::Walk;

/// A false certificate: the case, its line (from 1), what stands there instead (nothing: the line is
/// left out), and the line and the reason of the refusal.
type Lie<'a> = (&'static str, usize, &'a str, usize, &'static str);

fn refuses(lies: &[Lie<'_>]) {
    for &(name, at, text, line, why) in lies {
        let known = case(name);
        let mut all = known.lines.clone();
        let put = lines(text);
        assert!(put.len() != 1 || put[0] != all[at - 1], "{name}: `{text}` changes nothing");
        // How far the walk goes for a line.
        let node = |line: &Line| match line {
            Line::Node { node, .. } => *node,
            Line::Output { .. } => u32::MAX,
            _ => 0,
        };
        if let ([lie], true) = (&put[..], at == line)
            && node(lie) <= node(&all[at - 1])
        {
            // A line that is refused takes nothing away: the right one is accepted after it.
            let mut walk = Walk::new(known.bench.case(), 1 << 26).expect("a case");
            let mut take = |line| walk.line(line, &|_| true);
            all[..at - 1].iter().for_each(|line| take(line).expect("before the lie"));
            take(lie).expect_err("the lie");
            all[at - 1..].iter().for_each(|line| take(line).expect("after the lie"));
            walk.walked().unwrap_or_else(|why| panic!("{name}, `{text}`: {why}"));
        }
        all.splice(at - 1..at, put);
        match known.bench.replay(&all) {
            Ok(_) => panic!("{name}: `{text}` for line {at} is accepted"),
            Err(e) => {
                let right = e.line == line && e.why.contains(why);
                assert!(right, "{name}: `{text}` for line {at}: refused at {}: {}", e.line, e.why);
            }
        }
    }
}

#[test]
fn good_certificates_are_accepted() {
    for known in all() {
        let walked = known.bench.replay(&known.lines);
        let walked = walked.unwrap_or_else(|e| panic!("{}: {e}", known.name));
        assert_eq!(walked.replayed.lines, known.lines.len());
        assert_eq!(walked.outputs.len(), known.bench.outputs.len());
    }
}

#[test]
fn intervals() {
    refuses(&[
        ("conditional addition", 10, "bound 3 0 4589 by 1 0", 10, "[0, 4590] is found"),
        ("conditional addition", 10, "bound 3 1 4590 by 1 0", 10, "[0, 4590] is found"),
        ("conditional addition", 10, "bound 9 0 4590 by 1 0", 10, "no atom 9 yet"),
        ("conditional addition", 10, "bound 3 0 4590 by 0 0", 10, "a scale that is not positive"),
        ("conditional addition", 10, "bound 3 0 4590 by -1 0", 10, "a scale that is not positive"),
        ("barrett", 8, "bound 2 -2339 2340 by 1 0", 8, "[-2340, 2340] is found"),
        ("montgomery", 19, "bound 8 -2538 2539 by 65536 2 fact 0 1 fact 1 -1", 19, "is found"),
        ("montgomery", 19, "bound 8 -2539 2538 by 65536 2 fact 0 1 fact 1 -1", 19, "is found"),
        // Without the witness, or with a wrong one, the interval is wider.
        ("montgomery", 19, "bound 8 -2539 2539 by 1 0", 19, "is found"),
        ("montgomery", 19, "bound 8 -2539 2539 by 65536 2 fact 0 1 fact 1 1", 19, "is found"),
        ("montgomery", 19, "bound 8 -2539 2539 by 65536 1 fact 2 1", 19, "no such equation yet"),
        ("montgomery", 19, "bound 8 -2539 2539 by 65536 1 name 3 1", 19, "is no name"),
        ("no wrap", 8, "bound 3 -9999 10000 by 1 1 fact 0 1", 8, "is found"),
    ]);
}

/// An equation times an atom: which equation, which atom, and products that are defined before.
#[test]
fn multiplied_equations() {
    const PRODUCTS: [&str; 8] = [
        "times 5 name 4 -1",
        "times 0 name 5 -1",
        "times 1 name 5 -1",
        "name 5 -3",
        "times 7 name 6 -1",
        "times 0 name 7 -1",
        "times 1 fact 0 1",
        "fact 0 3",
    ];
    let with = |at: usize, other: &str| {
        let mut all = PRODUCTS;
        all[at] = other;
        let list: Vec<&str> = all.into_iter().filter(|z| !z.is_empty()).collect();
        format!("bound 18 -1600120000 1600120000 by 1 {} {}", list.len(), list.join(" "))
    };
    let exact = with(0, PRODUCTS[0]);
    assert_eq!(lines(&exact)[0], case("expanded").lines[20]);
    refuses(&[
        ("expanded", 21, &exact.replace("18 -1600120000", "18 -1600119999"), 21, "is found"),
        ("expanded", 21, &exact.replace(" 1600120000", " 1600119999"), 21, "is found"),
        ("expanded", 21, "bound 18 -1600120000 1600120000 by 1 0", 21, "no interval"),
        ("expanded", 21, &with(0, "times 5 name 0 -1"), 21, "atom 0 is no name"),
        ("expanded", 21, &with(0, "times 5 name 20 -1"), 21, "no atom 20 yet"),
        ("expanded", 21, &with(0, "times 20 name 4 -1"), 21, "no atom 20 yet"),
        ("expanded", 21, &with(6, "times 20 fact 0 1"), 21, "no atom 20 yet"),
        ("expanded", 21, &with(6, "times 1 fact 1 1"), 21, "no such equation yet"),
        // The equation of another name, of no name, of another atom, and of none.
        ("expanded", 21, &with(0, "times 2 name 4 -1"), 21, "is the product of atoms 2 and 4"),
        ("expanded", 21, &with(2, "times 0 name 5 -1"), 21, "no interval"),
        ("expanded", 21, &with(6, "times 0 fact 0 1"), 21, "no interval"),
        ("expanded", 21, &with(3, "times 0 name 5 -3"), 21, "no interval"),
        ("expanded", 21, &with(6, "fact 0 1"), 21, "no interval"),
        ("expanded", 21, &with(3, ""), 21, "no interval"),
    ]);
    // Without the products of a term of an equation there is nothing to add.
    for (line, factors) in [(10, "5 and 0"), (11, "5 and 1"), (13, "0 and 3"), (18, "7 and 1")] {
        let why: String = format!("no atom is the product of atoms {factors}");
        let known = case("expanded");
        let mut all = known.lines;
        all[line - 1] = lines("product 3 3")[0].clone();
        let e = known.bench.replay(&all).err().unwrap_or_else(|| panic!("line {line} is needed"));
        assert!(e.line == 21 && e.why == why, "refused at {}: {}", e.line, e.why);
    }
}

#[test]
fn residues() {
    refuses(&[
        ("conditional addition", 11, "residue 3 4590 by 1 0", 11, "are no line modulo 4590"),
        ("conditional addition", 11, "residue 3 1 by 1 0", 11, "a modulus of 1"),
        ("conditional addition", 11, "residue 3 0 by 1 0", 11, "a modulus of 0"),
        ("conditional addition", 11, "residue 1 4591 by 1 0", 11, "of what is no name"),
        ("barrett", 9, "residue 2 9182 by 1 0", 9, "are no line modulo"),
        // The factor of the scale must have an inverse.
        ("montgomery", 20, "residue 8 4592 by 65536 2 fact 0 1 fact 1 -1", 20, "common divisor"),
        ("montgomery", 20, "residue 8 4591 by 65536 1 fact 0 1", 20, "does not vanish"),
        ("montgomery", 20, "residue 8 4591 by 1 0", 20, "does not vanish"),
        // A function of a quotient that is itself that quotient.
        (
            "quotient as function",
            2,
            "floor 2 0 1 0 1
            fun 16 lin 0 1
            function 1 0
            name 0 1 2 1
            residue 3 4591 by 1 0",
            6,
            "is a quotient or a function",
        ),
        // A residue that is not over earlier atoms would never end.
        ("montgomery", 20, "residue 8 4591 by 1 1 name 8 1", 20, "over later atoms"),
    ]);
}

/// Of a part, the bits up to its own are enough, and no fewer.
#[test]
fn parts_of_words() {
    refuses(&[
        ("sign in a wider word", 13, "node 3 1 function 0 1 15 0 1 0 1", 13, "too few bits"),
        ("sign in a wider word", 13, "node 3 1 function 0 1 17 0 1 0 1", 13, "16 bits are known"),
        ("sign in a wider word", 13, "node 3 1 function 0 1 16 -32768 1 0 1", 13, "is left of"),
        ("part of a wider word", 2, "node 3 1 quotient -1 32768 1 0 16 0 by 1 0", 2, "is left of"),
        ("part of a wider word", 2, "node 3 1 quotient -1 65536 1 0 8 0 by 1 0", 2, "is left of"),
    ]);
}

/// What a word is spelled over must be functions of the base, quotients as well.
#[test]
fn quotients_as_functions() {
    let node = |floor: &str| format!("{floor}\nnode 2 1 function 0 1 16 0 1 4 1");
    refuses(&[
        (
            "quotient as function",
            14,
            "node 2 1 function 0 1 16 1 1 1 1",
            14,
            "left of a difference",
        ),
        (
            "quotient as function",
            14,
            "node 2 1 function 0 1 16 0 1 1 2",
            14,
            "left of a difference",
        ),
        // Of another quotient of the same sum.
        ("quotient as function", 14, &node("floor 3 0 1 0 1"), 15, "left of a difference"),
    ]);
}

#[test]
fn congruent_forms() {
    refuses(&[
        ("digits", 26, "modulo 8 5 0 1 2 2 0", 26, "left of a difference"),
        ("digits", 26, "modulo 8 5 1 1 2 1 0", 26, "4 is left of a difference modulo 5"),
        ("digits", 26, "modulo 8 11 0 1 2 1 0", 26, "left of a difference"),
        ("digits", 26, "modulo 8 1 0 1 2 1 0", 26, "a modulus of 1"),
        ("digits", 26, "modulo 8 0 0 1 2 1 0", 26, "a modulus of 0"),
        ("digits", 26, "modulo 9 5 0 1 2 1 0", 26, "no atom 9 yet"),
        ("digits", 26, "modulo 8 5 0 1 2 1 1 fact 0 1", 26, "no such equation yet"),
        ("digits", 26, "modulo 8 5 0 1 2 1 1 name 2 1", 26, "atom 2 is no name"),
        // What would replace itself for ever, and what has no residue.
        ("digits", 26, "modulo 8 5 0 1 8 1 0", 26, "over later atoms"),
        ("digits", 26, "modulo 4 5 0 1 8 1 0", 26, "over later atoms"),
        ("digits", 26, "modulo 4 5 0 2 2 1 3 1 0", 26, "functions of atom 2 are no line"),
    ]);
}

#[test]
fn integers_by_the_chinese_remainder_theorem() {
    refuses(&[
        ("digits", 28, "chinese 2 5 5 1 0 1 1 1 8", 28, "5 is no modulus beside the others"),
        ("digits", 28, "chinese 2 5 1 1 0 1 1 1 8", 28, "a modulus of 1"),
        ("digits", 28, "chinese 2 5 0 1 0 1 1 1 8", 28, "a modulus of 0"),
        ("digits", 28, "chinese 2 2147483648 2147483648 1 0 1 1 1 8", 28, "great moduli"),
        ("digits", 28, "chinese 3 5 7 11 1 0 1 1 1 8", 28, "value 7 is not known modulo 11"),
        // Fewer moduli leave room for a difference, and so do wider intervals: of 35, by one.
        ("digits", 28, "chinese 1 5 1 0 1 1 1 8", 28, "may differ from it by a multiple"),
        ("digits", 28, "chinese 1 7 1 0 1 1 1 8", 28, "may differ from it by a multiple"),
        ("digits", 28, "chinese 0 1 0 1 1 1 8", 28, "may differ from it by a multiple"),
        ("digits", 25, "bound 8 -26 17 by 1 0", 28, "may differ from it by a multiple"),
        ("digits", 25, "bound 8 -17 26 by 1 0", 28, "may differ from it by a multiple"),
        ("digits", 25, "", 27, "atom 8 has no interval"),
        // Polynomials in the atoms that are named, and no others.
        ("digits", 28, "chinese 2 5 7 1 0 0 1 8", 28, "value 1 is not known modulo 5"),
        ("digits", 28, "chinese 2 5 7 2 0 1 0 1 8", 28, "is no product of the two operands"),
        ("digits", 28, "name 0 1 0 1\nchinese 2 5 7 1 9 1 1 1 8", 29, "over later atoms"),
        ("digits", 28, "chinese 2 5 7 1 9 1 1 1 8", 28, "no atom 9 yet"),
    ]);
}

#[test]
fn enumerated_functions() {
    refuses(&[
        // The argument's spelling must be the argument.
        (
            "conditional addition",
            12,
            "node 2 1 function 0 1 16 1 1 0 1",
            12,
            "left of a difference",
        ),
        (
            "conditional addition",
            12,
            "node 2 1 function 0 1 16 0 1 0 3",
            12,
            "left of a difference",
        ),
        (
            "conditional addition",
            12,
            "node 2 1 function 0 1 15 0 1 0 1",
            12,
            "too few bits are known",
        ),
        ("conditional addition", 12, "node 2 1 function 0 1 17 0 1 0 1", 12, "bits are known"),
        ("conditional addition", 12, "node 2 1 function 5 1 16 0 1 0 1", 12, "no atom 5 yet"),
        (
            "conditional addition",
            13,
            "node 3 1 function 0 2 16 0 1 1 1 16 4590 0",
            13,
            "left of a difference",
        ),
        (
            "conditional addition",
            13,
            "node 3 1 function 1 2 16 0 1 1 1 16 4591 0",
            13,
            "is no function of atom 1",
        ),
        ("conditional addition", 13, "node 3 1 function 0 1 16 0 1 1 1", 13, "no step is left"),
        (
            "conditional addition",
            15,
            "node 5 1 function 0 1 16 0 1 3 1 is 16 1 0",
            15,
            "left of a difference",
        ),
        (
            "conditional addition",
            15,
            "node 5 1 function 0 1 16 0 1 3 1 is 17 0 0",
            15,
            "bits are known",
        ),
        // A name of several atoms is no function of one of them.
        (
            "no wrap",
            7,
            "node 2 1 function 0 2 16 0 1 0 1 16 0 1 1 1",
            7,
            "atom 1 is no function of atom 0",
        ),
        // A function that is another one.
        ("choice", 4, "fun 1 less 1 0", 11, "0 bits are known of one word"),
        ("choice", 5, "fun 1 lin 1 0 2 -1", 12, "0 of 16 bits are known"),
        (
            "choice",
            11,
            "node 5 1 function 0 3 1 -1 1 1 -1 16 4591 1 0 1 16 0 1 0 1",
            11,
            "left of a difference",
        ),
        (
            "choice",
            11,
            "node 5 1 function 0 3 1 0 1 1 -1 16 4591 1 0 1 15 0 1 0 1 is 16 0 1 2 1",
            11,
            "bits are known",
        ),
        ("glued", 10, "node 3 1 function 0 2 8 0 1 1 1 8 0 1 1 1", 10, "left of a difference"),
        ("glued", 9, "node 1 1 function 0 2 16 0 1 0 1 16 0 1 0 1", 9, "1 arguments are expected"),
        ("glued", 10, "node 3 1 function 0 2 7 0 1 0 1 8 0 1 1 1", 10, "too few bits are known"),
    ]);
}

#[test]
fn malformed_functions() {
    for text in [
        "fun 0 lin 0 1",
        "fun 65 lin 0 1",
        "fun 16 floor 64 0",
        "fun 16 floor 1",
        "fun 16 floor 1 0 0",
        "fun 16 mul 0",
        "fun 16 and 0",
        "fun 16 less 0",
        "fun 16 mul 0 0 0",
        "fun 16 select 0 0",
        "fun 16 select 0 0 0 0",
    ] {
        let known = case("conditional addition");
        let mut all = known.lines.clone();
        let put = lines(text);
        let at = 2 + put.len();
        all.splice(2..2, put);
        let e = known.bench.replay(&all).err().unwrap_or_else(|| panic!("{text} is accepted"));
        assert!(e.line == at && e.why.contains("malformed function"), "{text}: {e}");
    }
    refuses(&[("conditional addition", 3, "fun 1 floor 15 1", 3, "that are not there yet")]);
}

#[test]
fn extensions_that_do_not_wrap() {
    refuses(&[
        ("montgomery", 3, "node 2 1 extend 0 1 0 2 by 1 0", 3, "left of a difference"),
        ("montgomery", 3, "node 2 1 extend 65536 1 0 1 by 1 0", 3, "is not within [-32768, 32767]"),
        ("side by side", 3, "node 2 1 extend -256 1 1 1 by 1 0", 3, "is not within [0, 255]"),
        ("side by side", 3, "", 3, "bits are known"),
        (
            "conditional addition",
            16,
            "output 0 0 is 0 1 3 1 by 1 0",
            16,
            "16 bits are known of one word",
        ),
        ("saturation", 3, "node 4 1 extend 0 1 0 4 by 1 0", 3, "left of a difference"),
        (
            "saturation",
            3,
            "node 4 1 extend 4294967296 1 0 5 by 1 0",
            3,
            "is not within [-32768, 32767]",
        ),
        ("saturation", 3, "", 3, "bits are known"),
    ]);
    // A wider input does not fit.
    let mut known = case("saturation");
    known.bench.operands[0].hi = 6554;
    let e = known.bench.replay(&known.lines).err().expect("32770 does not fit 16 bits");
    assert_eq!((e.line, e.why.contains("is not within")), (3, true), "{e}");
}

#[test]
fn products() {
    refuses(&[
        ("montgomery", 6, "node 4 1 product 32 0 1 0 1 32 1 1 1 1", 6, "left of a difference"),
        ("montgomery", 6, "node 4 1 product 32 0 1 0 1 33 0 1 1 1", 6, "bits are known"),
        ("montgomery", 6, "node 4 1 product 32 0 1 0 1 32 0 1 0 1", 6, "left of a difference"),
        (
            "montgomery",
            6,
            "node 4 1 product 32 0 1 0 1 32 0 1 1 1 is 32 1 1 2 1",
            6,
            "left of a difference",
        ),
        ("montgomery", 6, "node 4 1 whole", 6, "no rule for a product"),
        ("montgomery", 5, "product 0 0", 13, "0 of 16 bits are known"),
    ]);
}

#[test]
fn quotients() {
    refuses(&[
        ("montgomery", 8, "node 5 1 quotient -1 1 1 2 1 0 by 1 0", 8, "left of a difference"),
        ("montgomery", 8, "node 5 1 quotient 0 0 1 2 1 0 by 1 0", 8, "is no function of atom 0"),
        ("montgomery", 8, "node 5 1 extend 0 1 2 1 by 1 0", 8, "is no rule for this step"),
        (
            "montgomery",
            8,
            "node 5 2 quotient -1 0 1 2 1 0 by 1 0 whole",
            8,
            "no step is left for whole",
        ),
        // The remainder must be below 2^bits, and congruent.
        ("montgomery", 16, "divide 3 0 1 6 1", 16, "is not within [0, 65535]"),
        ("montgomery", 16, "divide 3 1 1 4 1", 16, "[1, 65536] is not within [0, 65535]"),
        ("montgomery", 16, "divide 3 0 0", 16, "left of a difference"),
        ("montgomery", 16, "divide 2 0 1 4 1", 16, "is no quotient"),
        ("montgomery", 7, "floor 0 0 1 2 1", 7, "a quotient by 2^0"),
        ("montgomery", 7, "floor 65 0 1 2 1", 7, "a quotient by 2^65"),
        // A shift at once takes an integer that does not wrap: signed, or not negative.
        (
            "logical shift",
            4,
            "node 1 1 quotient -1 -65536 1 0 1 0 by 1 0",
            4,
            "is not within [0, 65535]",
        ),
        (
            "arithmetic shifts",
            5,
            "node 1 1 quotient -1 65536 1 0 1 0 by 1 0",
            5,
            "is not within [-32768, 32767]",
        ),
    ]);
    let mut known = case("logical shift");
    known.bench.operands[0].lo = -1;
    let e = known.bench.replay(&known.lines).err().expect("-1 is no unsigned word");
    assert_eq!((e.line, e.why.contains("is not within")), (4, true), "{e}");
}

#[test]
fn quotients_of_words_that_wrap() {
    refuses(&[
        // The word does wrap, the remainder is of another word or of fewer bits, the quotient of others.
        ("halved", 4, "node 3 1 quotient -1 0 1 0 3 0 by 1 0", 4, "is not within [0, 65535]"),
        ("halved", 2, "low 16 -1 1 0 -5", 4, "left of a difference"),
        ("halved", 2, "low 15 -1 1 0 -3", 4, "left of a difference"),
        ("halved", 3, "floor 2 1 1 1 -1", 5, "0 of 16 bits are known"),
        ("halved", 5, "output 0 0 is 32767 1 2 1 by 1 0", 5, "bits are known"),
        // Of low bits a quotient has fewer, and none of them beyond.
        ("low bits", 2, "node 2 0 is 9 0 1 0 3", 4, "7 bits are known of one word"),
        ("low bits", 2, "node 2 0 is 1 0 1 0 -1", 4, "0 bits are known of one word"),
        (
            "low bits",
            4,
            "node 3 1 quotient -1 0 1 0 3 0 by 1 0 is 11 0 2 0 1 1 1",
            4,
            "10 bits are known of one word, 11 of the other",
        ),
        ("low bits", 4, "node 3 1 quotient -1 0 1 0 5 0 by 1 0", 4, "left of a difference"),
    ]);
    // Modulo what is no power of two a quotient must vanish.
    let mut known = case("halved");
    for q in [3, 2046, 2047] {
        known.bench.q = q;
        let e = known.bench.replay(&known.lines).err().expect("no residue");
        assert!(e.line == 5 && e.why.contains("does not vanish modulo"), "{e}");
    }
}

#[test]
fn values_of_nodes() {
    refuses(&[
        // Of another node, of fewer bits, of what is no value; and not the last rule.
        ("value", 4, "value 2 16", 5, "atom 2 is not the node's value"),
        ("value", 4, "value 3 15", 5, "atom 2 is not the node's value"),
        ("value", 4, "value 3 0", 4, "a value of 0 bits"),
        ("value", 4, "value 3 65", 4, "a value of 65 bits"),
        ("value", 4, "low 16 0 1 1 1", 5, "atom 2 is not the node's value"),
        ("value", 5, "node 3 2 value 2 quotient -1 0 1 0 3 0 by 1 0", 5, "no rule for this step"),
        ("value", 5, "node 3 2 quotient -1 0 1 0 5 0 by 1 0 value 2", 5, "left of a difference"),
        // What is found must be over earlier atoms: expanding it ends.
        (
            "value",
            3,
            "value 3 16\nnode 3 2 quotient -1 0 1 0 3 0 by 1 0 value 1",
            4,
            "a value over later atoms",
        ),
        // Without it nothing is said of the upper bits, and with it no more than before of the lower.
        ("value", 5, "node 3 1 quotient -1 0 1 0 3 0 by 1 0", 6, "bits are known of one word"),
        ("value", 6, "node 4 0 is 16 0 2 0 2 1 2", 6, "left of a difference"),
        ("value", 6, "node 4 0 is 11 0 2 0 2 1 2", 7, "bits are known"),
    ]);
}

#[test]
fn forms_near_zero() {
    refuses(&[
        ("no wrap", 6, "near 17 0 3 0 1 1 1 3 -1 by 1 0", 6, "left of a difference"),
        ("no wrap", 6, "near 15 0 3 0 1 1 1 3 -1 by 1 0", 6, "is not within [-32767, 32767]"),
        ("no wrap", 6, "near 16 1 3 0 1 1 1 3 -1 by 1 0", 6, "left of a difference"),
        ("no wrap", 6, "near 0 0 3 0 1 1 1 3 -1 by 1 0", 6, "is not within [0, 0]"),
        ("no wrap", 6, "near 65 0 3 0 1 1 1 3 -1 by 1 0", 6, "a malformed equation"),
        ("no wrap", 6, "near 16 0 3 0 1 1 1 3 1 by 1 0", 6, "left of a difference"),
    ]);
    // Sums of more than 2^15 wrap.
    let mut known = case("no wrap");
    known.bench.operands[0].hi = 28000;
    let e = known.bench.replay(&known.lines).err().expect("33000 wraps");
    assert_eq!((e.line, e.why.contains("is not within [-65535, 65535]")), (6, true), "{e}");
}

#[test]
fn joined_bits() {
    refuses(&[
        ("whole", 2, "", 2, "bits are known"),
        ("side by side", 3, "node 2 1 whole", 3, "no parts of one word"),
        ("disjoint", 5, "node 6 0 is 16 0 2 0 255 1 1", 5, "left of a difference"),
        ("disjoint", 5, "node 6 1 sign 1 0 1 1 1 by 1 0", 5, "left of a difference"),
        ("disjoint", 5, "node 6 1 sign 0 65536 1 1 1 by 1 0", 5, "is not within [0, 255]"),
    ]);
    // 255 + 1 has a bit in common with 256·x.
    let mut known = case("disjoint");
    known.bench.operands[1].hi = 256;
    let e = known.bench.replay(&known.lines).err().expect("256 is no byte");
    assert_eq!(e.line, 3, "{e}");
}

#[test]
fn masks_of_signs() {
    refuses(&[
        ("sign", 4, "node 3 1 sign 0 1 1 1 1 by 1 0", 4, "left of a difference"),
        ("sign", 4, "node 3 1 sign 1 0 1 1 1 by 1 0", 4, "left of a difference"),
        ("sign", 2, "floor 14 0 1 0 1", 4, "0 of 16 bits are known"),
        ("sign", 4, "node 3 1 sign 0 65536 1 1 1 by 1 0", 4, "[65535, 65536] is not within [0, 0]"),
    ]);
}

#[test]
fn signs() {
    refuses(&[
        ("sign of a sum", 4, "node 3 1 negative 0 -1 1 2 0 1 1 1", 4, "left of a difference"),
        (
            "sign of a sum",
            4,
            "node 3 1 negative 0 0 0 2 0 1 1 1",
            4,
            "atom 1 is no function of atom 0",
        ),
        ("sign of a sum", 4, "node 3 1 negative 16 -1 0 2 0 1 1 1", 4, "bits from 16 on of 16"),
        ("sign of a sum", 4, "node 3 1 negative 3 -1 0 2 0 1 1 1", 4, "0 of 13 bits are known"),
        ("sign of a sum", 4, "node 5 1 negative 0 -1 0 2 0 1 1 1", 4, "no sign of a word"),
        (
            "sign of a sum",
            4,
            "node 3 1 negative 0 -1 0 2 0 1 1 1 is 16 0 0",
            4,
            "left of a difference",
        ),
    ]);
}

#[test]
fn outputs() {
    refuses(&[
        (
            "conditional addition",
            16,
            "output 0 1 extend 0 1 3 1 by 1 0 is 1 1 3 1 by 1 0",
            16,
            "left of a difference",
        ),
        (
            "conditional addition",
            16,
            "output 1 1 extend 0 1 3 1 by 1 0 is 0 1 3 1 by 1 0",
            16,
            "no such output",
        ),
        (
            "linear",
            2,
            "output 0 1 extend 1 1 0 12 by 1 0 is 1 1 0 12 by 1 0",
            2,
            "left of a difference",
        ),
    ]);
    for (name, lo, hi) in [("conditional addition", 0, 4589), ("montgomery", -2538, 2539)] {
        let mut known = case(name);
        (known.bench.target.lo, known.bench.target.hi) = (lo, hi);
        let e = known.bench.replay(&known.lines).err().expect("out of the promised range");
        assert_eq!((e.line, e.why.contains("which is promised")), (known.lines.len(), true), "{e}");
    }
    // Inputs and outputs have the widths of the contract.
    let mut known = case("unsigned");
    known.bench.operands[0].bits = 16;
    let e = known.bench.replay(&known.lines).err().expect("another width");
    assert!(e.why.contains("is an input of another width"), "{e}");
    let mut known = case("unsigned");
    known.bench.target.bits = 16;
    let e = known.bench.replay(&known.lines).err().expect("another width");
    assert!(e.why.contains("the output has 8 bits"), "{e}");
}

#[test]
fn order_and_numbers() {
    refuses(&[
        // Nodes are visited in order, once, and only those that an output needs.
        ("conditional addition", 14, "node 3 0 is 16 0 1 2 1", 14, "is visited already, or never"),
        ("conditional addition", 14, "node 99 0", 14, "is visited already, or never"),
        ("conditional addition", 9, "name 0 2 0 1 9 1", 9, "no atom 9 yet"),
        ("conditional addition", 9, "name 0 2 0 1 0 1", 9, "a form out of order"),
        ("conditional addition", 9, "name 0 2 0 1 2 0", 9, "a form out of order, with a zero"),
        (
            "conditional addition",
            9,
            "name 2596148429267413814265248164610048 0",
            9,
            "beyond 110 bits",
        ),
        ("conditional addition", 8, "function 0 9", 8, "no such function yet"),
        ("conditional addition", 8, "function 9 0", 8, "no atom 9 yet"),
        ("conditional addition", 8, "product 0 9", 8, "no atom 9 yet"),
        ("conditional addition", 8, "product 9 0", 8, "no atom 9 yet"),
        ("conditional addition", 1, "input 1 0", 1, "no such operand"),
        ("montgomery", 9, "low 16 65536 1 2 1", 9, "not in normal form"),
        ("montgomery", 9, "low 0 0 0", 9, "a remainder modulo 2^0"),
        ("montgomery", 9, "low 65 0 1 2 1", 9, "not in normal form"),
        ("montgomery", 11, "function 4 1", 11, "no such function yet"),
    ]);
}
