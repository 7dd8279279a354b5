//! Certificates made to deceive or to exhaust: each was accepted, or did not end, by an earlier kernel.

mod common;

use common::cases::case;
use common::objects::compiled;
use common::{Bench, Q, lines};
use ringforge_kernel::check;
use ringforge_kernel::compare::Mismatch;
use ringforge_kernel::replay::{self, Case, Walk};
use ringforge_machine::graph::Op;

/// The line and the reason of a refusal.
fn refused(bench: &Bench, text: &str) -> (usize, String) {
    match bench.replay(&lines(text)) {
        Ok(_) => panic!("accepted: {text}"),
        Err(e) => (e.line, e.why),
    }
}

/// `x < 0` is claimed to be false for all x: of a function of 32 bits that is the unsigned reading of x, 16 bits are
/// read as signed again.
#[test]
fn an_unsigned_reading_is_signed_in_its_own_width() {
    let mut b = Bench::new(&[(-4000, 4000, 16)]);
    let (x, zero) = (b.input(0), b.constant(16, 0));
    let less = b.node(1, Op::Slt, &[x, zero]);
    let (q, same) = (b.constant(16, Q.into()), b.constant(16, 0));
    let add = b.node(16, Op::Select, &[less, q, same]);
    let b = b.outputs(&[add]);
    let text = "
        input 0 0
        fun 16 lin 0 1
        fun 1 floor 15 0
        fun 32 lin 0 0 0 1 1 -65536
        function 0 2
        node 2 1 function 0 2 16 0 1 1 1 16 0 0 is 1 0 0
        output 0 0 is 0 0 by 1 0";
    let (line, why) = refused(&b, text);
    assert_eq!(line, 6, "{why}");
    assert!(why.contains("left of a difference"), "{why}");
}

/// A logical shift by nothing is what it shifts, read as signed where its width is.
#[test]
fn a_shift_by_nothing_keeps_the_sign() {
    let mut b = Bench::new(&[(-4000, 4000, 16)]);
    let (x, zero) = (b.input(0), b.constant(16, 0));
    let y = b.node(16, Op::Lshr(0), &[x]);
    let less = b.node(1, Op::Slt, &[y, zero]);
    let q = b.constant(16, Q.into());
    let add = b.node(16, Op::Select, &[less, q, zero]);
    let b = b.outputs(&[add]);
    // Function 1, the shifted word, is made by the rule; if it is function 0, this is no new one.
    for made in ["", "fun 1 floor 15 0\nfun 32 lin 0 0 0 1 1 -65536"] {
        let of = made.lines().count();
        let text = format!(
            "input 0 0
            fun 16 lin 0 1
            {made}
            function 0 {of}
            node 2 1 function 0 1 16 0 1 0 1 is 16 0 1 1 1
            node 3 1 function 0 2 16 0 1 1 1 16 0 0 is 1 0 0
            output 0 0 is 0 0 by 1 0"
        );
        refused(&b, &text);
    }
}

/// Three functions that are x, with coefficients whose sum is 2^64: no sum modulo 2^64 is an integer.
#[test]
fn sums_that_are_enumerated_do_not_wrap() {
    let b = Bench::new(&[(0, 9, 16)]);
    let text = "
        input 0 0
        fun 64 lin 0 1
        fun 64 lin -1 0
        fun 64 and 0 1
        fun 64 select 1 0 0
        fun 64 lin 1 0
        fun 64 mul 0 4
        function 0 2
        function 0 3
        function 0 5
        near 0 0 3 1 9223372036854775807 2 9223372036854775807 3 2 by 1 0";
    // Their true sum is 2^64·x.
    let (line, why) = refused(&b, text);
    assert_eq!(line, 11, "{why}");
}

/// A form in [-2^109, 0], looked at 2^18 times as large, begins at the least integer of 128 bits.
#[test]
fn the_least_integer_has_no_negative() {
    let b = Bench::new(&[(0, 1, 16)]);
    let low = -(1i128 << 109);
    for claim in ["0 0", "5 7"] {
        let text = format!(
            "input 0 0
            name 0 1 0 {low}
            bound 1 {claim} by {} 0",
            1 << 18
        );
        let (line, why) = refused(&b, &text);
        assert_eq!((line, why.contains("claimed")), (3, true), "{why}");
    }
}

/// A function on an interval that ends with 64 bits.
#[test]
fn enumeration_ends_at_the_last_integer() {
    let mut b = Bench::new(&[(-10, 0, 16)]);
    let x = b.input(0);
    let b = b.outputs(&[x]);
    for (k, bound) in [
        (i64::MAX, format!("{} {}", i64::MAX - 10, i64::MAX)),
        (i64::MIN + 10, format!("{} {}", i64::MIN, i64::MIN + 10)),
    ] {
        let text = format!(
            "input 0 0
            name {k} 1 0 1
            bound 1 {bound} by 1 0
            fun 64 lin 0 1
            fun 32 floor 8 0
            function 1 1
            output 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0"
        );
        assert!(b.replay(&lines(&text)).is_ok());
    }
    // Of all integers of 64 bits.
    let text = format!(
        "input 0 0
        name 0 1 0 1
        fun 64 lin 0 1
        low 64 0 1 0 1
        function 2 0
        name 0 1 3 1
        bound 4 {} {} by 1 0
        fun 8 floor 3 0
        function 4 1
        residue 4 3 by 1 0
        ",
        i64::MIN,
        i64::MAX
    );
    let _ = b.replay(&lines(&text));
}

/// Chains of functions, each of the one before, and of names: they are refused or cheap.
#[test]
fn chains_are_short_or_refused() {
    let b = Bench::new(&[(-5, 5, 16)]);
    // Sums of sums: a function's bits were found by recursion.
    let mut text = String::from("input 0 0\nfun 16 lin 0 1\n");
    for i in 0..200_000 {
        text += &format!("fun 16 lin 1 0 {i} 1\n");
    }
    text += "function 0 200000\nname 0 1 1 3\nbound 2 -15 15 by 1 0\n";
    assert_eq!(refused(&b, &text).0, 200_005);
    // Names of functions of names: a word over the first is a function of many operations.
    let mut text = String::from("input 0 0\nfun 64 lin 1 1\nfun 64 lin 0 1\nfun 64 and 0 1\n");
    for i in 0..2_500 {
        text += &format!("function {} 2\nname 0 1 {} 1\n", 2 * i, 2 * i + 1);
    }
    text += "near 16 0 1 5000 1 by 1 0\n";
    let _ = refused(&b, &text);
}

/// What is promised cannot be had by saying nothing, by saying it twice, or of what is not there.
#[test]
fn outputs_are_all_told_of() {
    let known = case("disjoint");
    let b = &known.bench;
    let without = &known.lines[..6];
    let e = b.replay(without).err().expect("an output is missing");
    assert_eq!((e.line, e.why.as_str()), (7, "nothing is said of output 1"));
    let mut twice = known.lines.clone();
    twice[6] = twice[5].clone();
    let e = b.replay(&twice).err().expect("an output is missing");
    assert_eq!((e.line, e.why.as_str()), (8, "nothing is said of output 1"));
    let e = b.replay(&[]).err().expect("all outputs are missing");
    assert_eq!(e.line, 1);
    let mut beyond = known.lines.clone();
    beyond.extend(lines("output 2 0 is 0 0 by 1 0"));
    let e = b.replay(&beyond).err().expect("there is no output 2");
    assert_eq!((e.line, e.why.as_str()), (8, "no such output"));
}

/// Work beyond the budget is refused, not done.
#[test]
fn the_budget_ends_enumeration() {
    let known = case("conditional addition");
    assert!(known.bench.replay_for(&known.lines, 1 << 26).is_ok());
    for budget in [0, 1000, 8000] {
        assert!(known.bench.replay_for(&known.lines, budget).is_err(), "{budget}");
    }
    // Functions in many affine pieces, again and again: at some time the budget is spent.
    let b = Bench::new(&[(0, 1 << 22, 64)]);
    let mut text = String::from(
        "input 0 0\nfun 64 lin 0 1\nfun 20 lin 0 0 0 1\nfun 10 floor 10 1\nfun 20 lin 0 0 2 1\nfun 20 and 1 3\n",
    );
    for i in 0..20 {
        text += &format!("fun 20 lin {i} 1 4 1\nfunction 0 {}\n", i + 5);
    }
    text += "bound 20 -524288 524287 by 1 0";
    let (line, why) = {
        let e = b.replay_for(&lines(&text), 1 << 18).err().expect("more than the budget");
        (e.line, e.why)
    };
    assert_eq!((line, why.as_str()), (47, "atom 20 has no interval"));
    // Two functions that cost 3 and 5 at 1,001 points, and their sum; and the terms of the form.
    let b = Bench::new(&[(0, 1000, 64)]);
    let text = "input 0 0\nfun 64 lin 0 1\nfun 64 mul 0 0\nfun 64 mul 1 0\nfunction 0 1\nfunction 0 2\n\
        name 0 2 1 1 2 1\nbound 3 0 1001000000 by 1 0";
    let why = |budget| b.replay_for(&lines(text), budget).err().map(|e| (e.line, e.why));
    let cost = 1001 * (3 + 5 + 7) + 2;
    assert_eq!(why(cost - 1), Some((8, "a function of too many values".into())));
    assert_eq!(why(cost), None);
}

/// The sign of a word of 64 bits, as a function: there is no bit 64 that could be taken.
#[test]
fn a_sign_of_64_bits_is_right_or_refused() {
    let mut b = Bench::new(&[(-10, -1, 64)]).target(64, true, i64::MIN, i64::MAX);
    let x = b.input(0);
    let s = b.node(64, Op::Ashr(63), &[x]);
    let b = b.outputs(&[s]);
    let text = "
        input 0 0
        node 1 1 negative 0 0 0 1 0 1 is 64 -9223372036854775808 0
        output 0 0 is -9223372036854775808 0 by 1 0";
    let (line, why) = refused(&b, text);
    assert_eq!(line, 2, "{why}");
    assert!(why.contains("bits beyond the 64 of a function"), "{why}");
}

/// Intervals that begin or end with the integers of 128 bits: differences of their ends are none of these. What
/// is 100 less than the case's integer is congruent to x·y + 5 modulo 35, and was taken for x·y + k with another k.
#[test]
fn intervals_that_are_far_too_wide_leave_room() {
    let (least, greatest) = (i128::MIN, i128::MAX);
    let large = 1i128 << 120;
    let known = case("digits");
    let with = |bound: &str| {
        let text = format!(
            "name -100 2 4 1 7 5
            bound 9 {bound} by 1 0
            modulo 9 5 0 1 2 1 0
            modulo 9 7 5 1 2 1 0
            chinese 2 5 7 1 0 1 1 1 9
            bound 9 -117 -83 by 1 0
            node 22 0 is 16 100 1 9 1
            output 0 1 extend 100 1 9 1 by 1 0 is 100 1 9 1 by 1 0"
        );
        let mut all = known.lines[..27].to_vec();
        all.extend(lines(&text));
        known.bench.replay(&all)
    };
    let walked = with("-117 -83").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(walked.facts.wholes[&9].k, Q - 100);
    for bound in [
        format!("{least} -83"),
        format!("-117 {greatest}"),
        format!("{least} {greatest}"),
        format!("{} -83", -large),
        format!("-117 {large}"),
    ] {
        let e = with(&bound).err().unwrap_or_else(|| panic!("[{bound}] is accepted"));
        assert_eq!((e.line, e.why.as_str()), (32, "numbers beyond 120 bits"), "{bound}");
    }
}

/// An atom that no line defines lasts until its line ends. Its number is then another atom's.
#[test]
fn atoms_of_a_line_end_with_it() {
    let mut b = Bench::new(&[(0, 100, 16)]).modulo(2048);
    let x = b.input(0);
    let halves = [b.node(16, Op::Ashr(2), &[x]), b.node(16, Op::Lshr(2), &[x])];
    let b = b.outputs(&halves);
    let rule = "1 quotient -1 0 1 0 1 0 by 1 0";
    let outputs: String =
        (0..2).map(|k| format!("output {k} 1 extend 0 1 1 1 by 1 0 is 0 1 1 1 by 1 0\n")).collect();
    let text = |atom: &str, claim: &str| {
        format!("input 0 0\nnode 1 {rule}\n{atom}\nnode 2 {rule}{claim}\n{outputs}")
    };
    // The quotient of the first node would be five times x in the second one, or in the output.
    for (claim, line, why) in
        [(" is 16 0 1 1 1", 4, "left of a difference"), ("", 5, "0 of 16 bits are known")]
    {
        let (at, is) = refused(&b, &text("name 0 1 0 5", claim));
        assert!(at == line && is.contains(why), "{at}: {is}");
    }
    let good = format!("input 0 0\nfloor 2 0 1 0 1\nnode 1 {rule}\nnode 2 {rule}\n{outputs}");
    b.replay(&lines(&good)).unwrap_or_else(|e| panic!("{e}"));
}

/// Two lines may define one product. In a difference both are counted, so twice xy is not xy.
#[test]
fn one_product_of_two_lines_is_counted_twice() {
    let mut b = Bench::new(&[(-9, 9, 16), (-9, 9, 16)]);
    let (x, y) = (b.input(0), b.input(1));
    let product = b.node(16, Op::Mul, &[x, y]);
    let b = b.outputs(&[product]);
    let text = |form: &str| {
        format!(
            "input 0 0\ninput 1 0\nproduct 0 1\nproduct 0 1\nname 0 1 2 1\nmodulo 4 {Q} {form} 0\n\
             node 2 1 product 16 0 1 0 1 16 0 1 1 1 is 16 0 1 4 1\n\
             output 0 1 extend 0 1 4 1 by 1 0 is 0 1 4 1 by 1 0"
        )
    };
    let (line, why) = refused(&b, &text("0 2 2 1 3 1"));
    assert!(line == 6 && why.contains("left of a difference"), "{line}: {why}");
    b.replay(&lines(&text("0 1 3 1"))).unwrap_or_else(|e| panic!("{e}"));
}

/// A function of more operations than are evaluated, asked for again and again: each time it costs little.
#[test]
fn long_functions_are_refused_at_once() {
    let b = Bench::new(&[(-5, 5, 16)]);
    let long = |operations: usize| {
        let mut text = String::from("input 0 0\nfun 64 lin 1 1\n");
        for i in 0..operations {
            // No two are the same one.
            text += &format!("fun 64 mul {i} {}\n", i / 2);
        }
        text + &format!("function 0 {operations}\nname 0 1 1 1\n")
    };
    for (operations, evaluated) in [(4095, true), (4096, false)] {
        let walked = b.replay(&lines(&long(operations))).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(walked.facts.bounds(1).is_some(), evaluated);
    }
    let mut text = long(200_000);
    for _ in 0..5_000 {
        text += "function 0 200000\n";
    }
    text += "bound 1 0 0 by 1 0\n";
    let (line, why) = refused(&b, &text);
    assert_eq!((line, why.contains("has no interval")), (205_005, true), "{line}: {why}");
}

/// An operation of many arguments costs as much as many operations: functions that share them are no way around.
#[test]
fn every_argument_counts() {
    let b = Bench::new(&[(-5, 5, 16)]);
    for (sums, evaluated) in [(30, true), (60, false)] {
        let mut text = String::from("input 0 0\nfun 64 lin 1 1\n");
        for i in 0..200 {
            text += &format!("fun 64 mul {i} 0\n");
        }
        let shared: String = (1..=200).map(|i| format!(" {i} 1")).collect();
        for k in 0..sums {
            text += &format!("fun 64 lin {k} 0{shared}\n");
        }
        let all: String = (0..sums).map(|k| format!(" {} 1", 201 + k)).collect();
        text += &format!("fun 64 lin 0 0{all}\nfunction 0 {}\nname 0 1 1 1\n", 201 + sums);
        let walked = b.replay(&lines(&text)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(walked.facts.bounds(1).is_some(), evaluated, "{sums} sums");
    }
}

/// Unfolding is paid for: a name of a name, 3,000 times, each with an input of its own beside it, leaves ever longer
/// words.
#[test]
fn the_budget_ends_unfolding() {
    let mut b = Bench::new(&[(-5, 5, 16)]);
    let x = b.input(0);
    let b = b.outputs(&[x]);
    let mut text: String = (0..=3_000).map(|i| format!("input 0 {i}\n")).collect();
    for i in 0..3_000 {
        let two = if i == 0 { "0 1 1 1".into() } else { format!("{} 1 {} 1", i + 1, 3_000 + i) };
        text += &format!("name 0 2 {two}\n");
    }
    text += "node 0 0 is 16 0 1 6000 1\n";
    for (budget, why) in [(1 << 20, "the budget is spent"), (1 << 26, "is left of a difference")] {
        let e = b.replay_for(&lines(&text), budget).err().expect("x is no sum of others");
        assert_eq!((e.line, e.why.contains(why)), (6002, true), "{e}");
    }
    // Of a witness with many equations each costs what there is by then.
    let mut text = String::from("input 0 0\nname 0 1 0 1\n");
    for i in 0..1_500 {
        text += &format!("input 0 {}\nname 0 1 {} 1\n", i + 1, 2 * i + 2);
    }
    let zeros: String = (0..1_500).map(|i| format!(" name {} 1", 2 * i + 3)).collect();
    text += &format!("bound 1 -5 5 by 1 1500{zeros}\n");
    for (budget, why) in [(1 << 20, "the budget is spent"), (1 << 26, "is found")] {
        let e = b.replay_for(&lines(&text), budget).err().expect("a wide interval");
        assert_eq!((e.line, e.why.contains(why)), (3003, true), "{e}");
    }
    // So does an equation of which nothing is left: its factor is 0.
    let mut text: String = (0..2_000).map(|i| format!("input 0 {i}\n")).collect();
    let terms: String = (0..2_000).map(|i| format!(" {i} 1")).collect();
    let zeros = " name 2000 0".repeat(1_000);
    text += &format!("name 0 2000{terms}\nbound 0 -5 5 by 1 1000{zeros}\n");
    for (budget, line, why) in [(1 << 20, 2002, "the budget is spent"), (1 << 26, 2003, "output 0")]
    {
        let e = b.replay_for(&lines(&text), budget).err().expect("nothing is said of the output");
        assert_eq!((e.line, e.why.contains(why)), (line, true), "{e}");
    }
}

/// A number that does not fit its type ends the replay as a refusal, in release builds too: a slice from bit 255 on
/// would else be one from bit 15 on.
#[test]
fn numbers_that_do_not_fit_are_refused() {
    let mut b = Bench::new(&[(0, 9, 32)]);
    let x = b.input(0);
    let y = b.node(16, Op::Slice { lo: 255 }, &[x]);
    let b = b.outputs(&[y]);
    let (line, why) = refused(&b, &format!("input 0 0\nnode {y} 1 quotient -1 0 1 0 1 0 by 1 0"));
    assert_eq!(line, 2, "{why}");
    assert!(why.contains("the kernel cannot go on: attempt to add with overflow"), "{why}");
}

/// So does any other panic.
#[test]
fn panics_are_refusals() {
    let object = compiled().swap_remove(0);
    let bench = &object.bench;
    let case = Case {
        graph: &bench.graph,
        operands: bench.operands.clone(),
        outputs: &bench.outputs,
        target: bench.target,
        q: bench.q,
    };
    let walked = replay::walk(&case, &object.lines, 1 << 30, &|_| panic!("while walking"));
    let e = walked.err().expect("a panic");
    assert_eq!((e.line, e.why.as_str()), (1, "the kernel cannot go on: while walking"));
    let walked = bench.replay_for(&object.lines, 1 << 30).unwrap_or_else(|e| panic!("{e}"));
    let compared =
        check::compared(&object.contract, &object.call, &walked, &|_| panic!("while comparing"));
    let told = "the kernel cannot go on: while comparing".to_string();
    assert_eq!(compared, Err(Mismatch::Panicked(told)));
    // Outputs that the graph does not have.
    let outputs = [ringforge_machine::graph::NodeId(1 << 20)];
    let case = Case { outputs: &outputs, ..case };
    let e = replay::walk(&case, &[], 1 << 30, &|_| true).err().expect("no such node");
    assert!(e.line == 1 && e.why.contains("out of bounds"), "{e}");
}

/// After a panic no line is taken, and nothing is known of the outputs, even if it was before.
#[test]
fn nothing_is_taken_after_a_panic() {
    let mut b = Bench::new(&[(0, 9, 16)]);
    let x = b.input(0);
    let b = b.outputs(&[x]);
    let all = lines(
        "input 0 0
        name 0 1 0 1
        output 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0
        chinese 2 5 7 1 0 0 1 1",
    );
    let told = "the kernel cannot go on: while walking".to_string();
    for good in 2..=3 {
        let mut walk = Walk::new(b.case(), 1 << 20).expect("a case");
        for line in &all[..good] {
            assert_eq!(walk.line(line, &|_| true), Ok(()));
        }
        // One that is refused is no panic.
        assert!(walk.line(&lines("bound 7 0 0 by 1 0")[0], &|_| true).is_err());
        let panics = walk.line(&all[3], &|_| panic!("while walking"));
        assert_eq!(panics, Err(told.clone()));
        assert_eq!(walk.line(&all[2], &|_| true), Err(told.clone()));
        assert_eq!(walk.walked().err(), Some(told.clone()));
    }
}
