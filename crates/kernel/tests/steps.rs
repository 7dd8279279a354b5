//! Steps of the walk whose numbers no other test looks at: each claim that is true is accepted, and one beside it is
//! not.

mod common;

use common::{Bench, lines};
use ringforge_machine::graph::Op;

/// A bench whose output is the last node that `make` returns, of 16-bit inputs with these ranges.
fn bench(inputs: &[(i64, i64, u8)], make: impl Fn(&mut Bench, &[u32]) -> u32) -> (Bench, u32) {
    let mut b = Bench::new(inputs);
    let all: Vec<u32> = (0..inputs.len()).map(|o| b.input(o as u16)).collect();
    let node = make(&mut b, &all);
    (b.outputs(&[node]), node)
}

/// The lines are right up to the end: only the output is missing.
fn right(b: &Bench, text: &str) {
    let e = b.replay(&lines(text)).err().expect("nothing is said of the output");
    assert!(e.why.contains("nothing is said of output 0"), "{text}: {e}");
}

/// The last line is refused.
fn wrong(b: &Bench, text: &str, why: &str) {
    let all = lines(text);
    let e = b.replay(&all).err().unwrap_or_else(|| panic!("accepted: {text}"));
    assert!(e.line == all.len() && e.why.contains(why), "{text}: {e}");
}

const X: (i64, i64, u8) = (-100, 100, 16);
const LEFT: &str = "left of a difference";

#[test]
fn parts_and_extensions_of_constants() {
    type Make = fn(&mut Bench, u32) -> u32;
    let cases: [(i64, Make, &str, &str); 5] = [
        (-5, |b, c| b.node(8, Op::Slice { lo: 4 }, &[c]), "8 -1 0", "8 1 0"),
        (0x1234, |b, c| b.node(8, Op::Slice { lo: 4 }, &[c]), "8 35 0", "8 52 0"),
        (-5, |b, c| b.node(32, Op::Zext, &[c]), "32 65531 0", "32 -5 0"),
        (-5, |b, c| b.node(32, Op::Sext, &[c]), "32 -5 0", "32 65531 0"),
        (-5, |b, c| b.node(4, Op::Slice { lo: 12 }, &[c]), "4 -1 0", "4 7 0"),
    ];
    for (constant, make, is, other) in cases {
        let (b, node) = bench(&[X], |b, _| {
            let c = b.constant(16, constant);
            make(b, c)
        });
        right(&b, &format!("node {node} 0 is {is}"));
        wrong(&b, &format!("node {node} 0 is {other}"), LEFT);
    }
}

/// Of quotients of quotients both powers count, and a constant in between.
#[test]
fn quotients_of_quotients_with_constants() {
    let input = (-(1i64 << 30), 1 << 30, 32);
    let (b, node) = bench(&[input], |b, x| {
        let h = b.node(32, Op::Ashr(10), &[x[0]]);
        b.node(32, Op::Ashr(12), &[h])
    });
    let text = |floor: &str| {
        format!(
            "input 0 0
            floor 10 0 1 0 1
            floor {floor}
            node {} 1 quotient -1 0 1 0 1 0 by 1 0
            node {node} 1 quotient -1 0 1 1 1 0 by 1 0 is 32 0 1 2 1",
            node - 1
        )
    };
    right(&b, &text("22 0 1 0 1"));
    wrong(&b, &text("21 0 1 0 1"), LEFT);
    let (b, node) = bench(&[X], |b, x| {
        let (h, three) = (b.node(16, Op::Ashr(2), &[x[0]]), b.constant(16, 3));
        let sum = b.node(16, Op::Add, &[h, three]);
        b.node(16, Op::Ashr(3), &[sum])
    });
    let text = |floor: &str| {
        format!(
            "input 0 0
            floor 2 0 1 0 1
            floor {floor}
            node 1 1 quotient -1 0 1 0 1 0 by 1 0
            node {node} 1 quotient -1 3 1 1 1 0 by 1 0 is 16 0 1 2 1"
        )
    };
    right(&b, &text("5 12 1 0 1"));
    wrong(&b, &text("5 11 1 0 1"), LEFT);
    wrong(&b, &text("5 3 1 0 1"), LEFT);
}

/// (x + 3)·(y + 5), each with its constant.
#[test]
fn products_of_sums_with_constants() {
    let (b, node) = bench(&[X, X], |b, x| {
        let (three, five) = (b.constant(16, 3), b.constant(16, 5));
        let (s, t) = (b.node(16, Op::Add, &[x[0], three]), b.node(16, Op::Add, &[x[1], five]));
        b.node(16, Op::Mul, &[s, t])
    });
    let text = |k: u32, x: u32, y: u32| {
        format!(
            "input 0 0
            input 1 0
            product 0 1
            node {node} 1 product 16 3 1 0 1 16 5 1 1 1 is 16 {k} 3 0 {x} 1 {y} 2 1"
        )
    };
    right(&b, &text(15, 5, 3));
    for (k, x, y) in [(14, 5, 3), (30, 5, 3), (15, 3, 5), (15, 6, 3), (15, 5, 4)] {
        wrong(&b, &text(k, x, y), LEFT);
    }
}

/// The sign of a word that is told as an integer without sign: less the second quotient, of which the first is zero.
#[test]
fn signs_of_words_without_sign() {
    type Make = fn(&mut Bench, u32) -> u32;
    let shapes: [Make; 2] = [
        |b, x| b.node(16, Op::Ashr(15), &[x]),
        |b, x| {
            let bit = b.node(1, Op::Slice { lo: 15 }, &[x]);
            b.node(16, Op::Sext, &[bit])
        },
    ];
    for make in shapes {
        let (b, node) = bench(&[(0, 60_000, 16)], |b, x| make(b, x[0]));
        let text = |c: i64| {
            format!(
                "input 0 0
                floor 16 32768 1 0 1
                node {node} 1 negative 0 -1 0 1 0 1 is 16 0 1 1 {c}"
            )
        };
        right(&b, &text(-1));
        wrong(&b, &text(1), LEFT);
    }
}

/// The sign of a word is that of its upper half, by a rule of its own.
#[test]
fn signs_of_upper_halves() {
    let (b, node) = bench(&[X], |b, x| b.node(16, Op::Ashr(15), &[x[0]]));
    let quotient = |floor: &str| {
        format!(
            "input 0 0
            floor 8 0 1 0 1
            floor {floor}
            node {node} 2 negative 8 -1 0 1 1 1 quotient -1 0 1 0 1 0 by 1 0 is 16 0 1 2 1"
        )
    };
    right(&b, &quotient("16 0 1 0 1"));
    wrong(&b, &quotient("15 0 1 0 1"), LEFT);
    let function = |bits: u8| {
        format!(
            "input 0 0
            fun 16 lin 0 1
            fun 8 floor 8 0
            function 0 1
            floor 8 0 1 1 1
            node {node} 2 negative 8 -1 0 1 1 1 function 0 1 {bits} 0 1 0 1 is 16 0 1 2 1"
        )
    };
    right(&b, &function(16));
    wrong(&b, &function(15), "too few bits are known");
    for (upper, why) in [(16, "bits from 16 on of 16"), (17, "bits from 17 on of 16")] {
        let text = format!(
            "input 0 0
            node {node} 2 negative {upper} -1 0 1 0 1 quotient -1 0 1 0 1 0 by 1 0"
        );
        wrong(&b, &text, why);
    }
}

/// Bits in the middle of a word: a part, extended, in its place; of the highest bits nothing is extended.
#[test]
fn runs_of_ones_as_masks() {
    for (w, mask, from, ones) in
        [(16u8, 0x0ff0i64, 4u8, 8u8), (64, 0x0f00, 8, 4), (16, 0xff00, 8, 8)]
    {
        let input = (0, 30_000, w);
        let (b, node) = bench(&[input], |b, x| {
            let mask = b.constant(w, mask);
            b.node(w, Op::And, &[x[0], mask])
        });
        let low =
            |bits: u8| format!("floor {from} 0 1 0 1\nlow {ones} 0 1 1 1\nlow {bits} 0 1 1 1\n");
        let start = format!("input 0 0\n{}", low(ones));
        let times = 1i64 << from;
        if from + ones < w {
            let rules = "2 quotient -1 0 1 0 1 0 by 1 0 extend 0 1 2 1 by 1 0";
            right(&b, &format!("{start}node {node} {rules} is {w} 0 1 2 {times}"));
            wrong(&b, &format!("{start}node {node} {rules} is {w} 0 1 2 {}", 2 * times), LEFT);
        } else {
            let rule = "quotient -1 0 1 0 1 0 by 1 0";
            right(&b, &format!("{start}node {node} 1 {rule} is {w} 0 1 1 {times}"));
            let both = format!("{start}node {node} 2 {rule} extend 0 1 2 1 by 1 0");
            wrong(&b, &both, "no step is left for extend");
        }
    }
}

/// Bits that both words have count once in *or*, twice in *exclusive or*, by the rules for them.
#[test]
fn bits_that_both_have() {
    for (op, k, c) in [(Op::And, 0, -4591), (Op::Or, 4591, 4592), (Op::Xor, 4591, 9183)] {
        let (b, node) = bench(&[X], |b, x| {
            let (s, q) = (b.node(16, Op::Ashr(15), &[x[0]]), b.constant(16, 4591));
            b.node(16, op.clone(), &[s, q])
        });
        let text = |k: i64, c: i64| {
            format!(
                "input 0 0
                floor 15 0 1 0 1
                node 1 1 quotient -1 0 1 0 1 0 by 1 0
                node {node} 1 sign 0 0 1 1 1 by 1 0 is 16 {k} 1 1 {c}"
            )
        };
        right(&b, &text(k, c));
        wrong(&b, &text(k + 1, c), LEFT);
        wrong(&b, &text(k, c - 1), LEFT);
    }
    for (op, is, other, few) in
        [(Op::And, "0 0", "0 1 0 256", "0 0"), (Op::Or, "0 2 0 256 1 1", "0 0", "0 1 1 1")]
    {
        let (b, node) = bench(&[(-9, 9, 16), (0, 200, 8)], |b, x| {
            let (high, low) = (b.node(16, Op::Shl(8), &[x[0]]), b.node(16, Op::Zext, &[x[1]]));
            b.node(16, op.clone(), &[high, low])
        });
        // The low word is a short extension, or an integer by a rule.
        for rule in ["0", "1 sign 1 0 1 1 1 by 1 0"] {
            let text = |first: &str, is: &str| {
                let (high, low) = (node - 2, node - 1);
                format!(
                    "input 0 0
                    input 1 0
                    node {high} 0 is {first}
                    node {low} 1 extend 0 1 1 1 by 1 0
                    node {node} {rule} is {is}"
                )
            };
            let all = "16 0 1 0 256";
            right(&b, &text(all, &format!("16 {is}")));
            wrong(&b, &text(all, &format!("16 {other}")), LEFT);
            // If few bits are known of one word, no more are known of what both have.
            right(&b, &text("8 0 0", &format!("8 {few}")));
            wrong(&b, &text("8 0 0", &format!("16 {is}")), "8 bits are known of one word");
        }
    }
    let (b, node) = bench(&[X], |b, x| {
        let ones = b.constant(16, -1);
        b.node(16, Op::Or, &[x[0], ones])
    });
    right(&b, &format!("input 0 0\nnode {node} 0 is 16 -1 0"));
}

/// Parts side by side as a function: of both parts, and not of one and whatever function was told first.
#[test]
fn side_by_side_as_a_function_needs_both() {
    let (b, node) = bench(&[(0, 100, 8)], |b, x| {
        let five = b.constant(8, 5);
        b.node(16, Op::Concat, &[x[0], five])
    });
    let text = |second: &str, words: &str| {
        format!(
            "input 0 0
            fun 8 lin 0 1
            {second}
            fun 1 floor 7 0
            fun 16 lin 0 0 0 1 2 -256 1 256
            function 0 3
            node {node} 1 function 0 {words} is 16 0 1 1 1"
        )
    };
    right(&b, &text("fun 8 lin 5 0", "2 8 0 1 0 1 8 5 0"));
    wrong(&b, &text("fun 8 lin 6 0", "2 8 0 1 0 1 8 5 0"), LEFT);
    let twice = text("fun 8 lin 1 1", "1 8 0 1 0 1").replace("0 1 2 -256 1 256", "0 257 2 -256");
    wrong(&b, &twice, LEFT);
}

/// Sums, differences and shifts as functions of one input.
#[test]
fn operations_as_functions() {
    let cases: [(Op, &str, &str); 5] = [
        (Op::Add, "fun 16 and 0 1\nfun 16 lin 0 1 2 1", "2 16 0 1 0 1 16 0 1 1 1"),
        (Op::Sub, "fun 16 and 0 1\nfun 16 lin 0 1 2 -1", "2 16 0 1 0 1 16 0 1 1 1"),
        (Op::Ashr(3), "fun 13 floor 3 0\nfun 16 lin 0 0 2 1", "1 16 0 1 0 1"),
        (
            Op::Lshr(3),
            "fun 13 floor 3 0\nfun 1 floor 12 2\nfun 16 lin 0 0 2 1 3 -8192",
            "1 16 0 1 0 1",
        ),
        (Op::Shl(3), "fun 16 and 0 1\nfun 16 lin 0 8", "1 16 0 1 0 1"),
    ];
    for (at, (op, function, words)) in cases.iter().enumerate() {
        let (b, node) = bench(&[X], |b, x| {
            let seven = b.constant(16, 7);
            let low = b.node(16, Op::And, &[x[0], seven]);
            let args = if at < 2 { vec![x[0], low] } else { vec![x[0]] };
            b.node(16, op.clone(), &args)
        });
        // Functions 0 and 1 are x and 7, those from 2 on the case's; x & 7 is atom 1.
        let text = |function: &str| {
            let last = 1 + function.lines().count();
            let low = if at < 2 { "node 2 1 function 0 2 16 0 1 0 1 16 7 0" } else { "" };
            format!(
                "input 0 0
                fun 16 lin 0 1
                fun 16 lin 7 0
                {function}
                function 0 2
                function 0 {last}
                {low}
                node {node} 1 function 0 {words} is 16 0 1 2 1"
            )
        };
        right(&b, &text(function));
        let other = cases[[1, 0, 3, 2, 2][at]].1;
        wrong(&b, &text(other), LEFT);
    }
}

/// A saturation as a function, and constants of functions that are read in their own width.
#[test]
fn functions_are_of_their_width() {
    let (b, node) = bench(&[(-500, 500, 16)], |b, x| b.node(8, Op::SatS, &[x[0]]));
    let text = |function: &str| {
        format!(
            "input 0 0
            fun 16 lin 0 1
            {function}
            function 0 {}
            node {node} 1 function 0 1 16 0 1 0 1 is 8 0 1 1 1",
            function.lines().count()
        )
    };
    let between = |least: i64, most: i64| {
        format!(
            "fun 64 lin {least} 0
            fun 64 lin {most} 0
            fun 1 less 0 1
            fun 1 less 2 0
            fun 64 select 3 1 0
            fun 64 select 4 2 5
            fun 8 lin 0 0 6 1"
        )
    };
    right(&b, &text(&between(-128, 127)));
    for (least, most) in [(0, 255), (-127, 127), (-128, 126)] {
        wrong(&b, &text(&between(least, most)), LEFT);
    }
    wrong(&b, &text("fun 8 lin 0 0 0 1"), LEFT);
    for (fun, lo, hi) in [("lin 300 0", 44, 44), ("lin 300 256", 44, 44)] {
        let b = bench(&[X], |_, x| x[0]).0;
        let text = |lo: i32, hi: i32| {
            format!(
                "input 0 0\nfun 8 {fun}\nfunction 0 0\nname 0 2 0 1 1 1\nbound 2 {lo} {hi} by 1 0"
            )
        };
        right(&b, &text(lo - 100, hi + 100));
        wrong(&b, &text(lo - 99, hi + 100), "is found");
        wrong(&b, &text(lo - 100, hi + 99), "is found");
    }
}

/// The least modulus, and the most bits.
#[test]
fn numbers_at_the_ends_of_what_is_allowed() {
    let (b, _) = bench(&[X], |_, x| x[0]);
    right(&b, "input 0 0\nname 3 1 0 2\nmodulo 1 2 1 0 0");
    wrong(&b, "input 0 0\nname 3 1 0 2\nmodulo 1 2 0 0 0", "is left of a difference");
    right(&b, "input 0 0\nname 3 1 0 2\nresidue 1 2 by 1 0");
    right(&b, "input 0 0\nnear 64 0 0 by 1 0");
    right(&b, "input 0 0\nname 0 1 0 1\nnear 0 0 0 by 1 0");
    wrong(&b, "input 0 0\nnear 65 0 0 by 1 0", "a malformed equation");
    let (b, node) = bench(&[(-100, 100, 64)], |_, x| x[0]);
    right(&b, &format!("input 0 0\nname 0 1 0 1\nnode {node} 0 is 64 0 1 1 1"));
}

/// What is counted, and what the caller is told: nodes that an output depends on, names, facts, and the fraction done.
#[test]
fn counts_and_progress() {
    let (mut b, node) = bench(&[X], |b, x| {
        let unused = b.node(16, Op::Add, &[x[0], x[0]]);
        let _ = b.node(16, Op::Add, &[unused, x[0]]);
        b.node(16, Op::Shl(1), &[x[0]])
    });
    b.target.lo = -200;
    let output = format!("node {node} 0\noutput 0 1 extend 0 1 0 2 by 1 0 is 0 1 0 2 by 1 0");
    let walked = b.replay(&lines(&format!("input 0 0\nname 0 1 0 1\n{output}")));
    let done = walked.unwrap_or_else(|e| panic!("{e}")).replayed;
    assert_eq!((done.lines, done.nodes, done.names, done.enumerated), (4, 2, 1, 0));
    let walked = b.replay(&lines(&format!(
        "input 0 0\nfun 16 lin 1 1\nfun 15 floor 1 0\nfunction 0 0\nfunction 0 1\n{output}"
    )));
    let done = walked.unwrap_or_else(|e| panic!("{e}")).replayed;
    assert_eq!((done.lines, done.nodes, done.names, done.enumerated), (7, 2, 0, 2));
    // Every 4,096 lines.
    let mut text = "input 0 0\n".repeat(10_000);
    text += &output;
    let told = std::sync::Mutex::new(Vec::new());
    let case = ringforge_kernel::replay::Case {
        graph: &b.graph,
        operands: b.operands.clone(),
        outputs: &b.outputs,
        target: b.target,
        q: b.q,
    };
    let walked = ringforge_kernel::replay::walk(&case, &lines(&text), 1 << 20, &|f| {
        told.lock().expect("one thread").push((f * 10_002.0).round());
        true
    });
    assert!(walked.is_ok());
    assert_eq!(told.into_inner().expect("one thread"), [0.0, 4096.0, 8192.0]);
    let stopped = ringforge_kernel::replay::walk(&case, &lines(&text), 1 << 20, &|f| f < 0.4);
    let e = stopped.err().expect("stopped");
    assert_eq!((e.line, e.why.as_str()), (4097, "stopped"));
}

/// A sum of many terms is changed where it stands when it is read for the last time, and only then: as the first and as the
/// second argument, and never as what is subtracted.
#[test]
fn sums_of_many_terms_are_the_sums() {
    let ranges = [X; 20];
    let sums: String = (0..20).map(|o| format!("input {o} 0\n")).collect();
    // s is x0 + … + x15, all else of s and the others.
    type Make = fn(&mut Bench, u32, &[u32]) -> Vec<u32>;
    let add = |b: &mut Bench, x: u32, y: u32| b.node(16, Op::Add, &[x, y]);
    let cases: [(Make, i64, [i64; 4]); 6] = [
        (|b, s, x| vec![b.node(16, Op::Add, &[s, x[16]])], 1, [1, 0, 0, 0]),
        (|b, s, x| vec![b.node(16, Op::Add, &[x[16], s])], 1, [1, 0, 0, 0]),
        (|b, s, x| vec![b.node(16, Op::Sub, &[s, x[16]])], 1, [-1, 0, 0, 0]),
        (|b, s, x| vec![b.node(16, Op::Sub, &[x[16], s])], -1, [1, 0, 0, 0]),
        (|b, s, _| vec![b.node(16, Op::Add, &[s, s])], 2, [0; 4]),
        // Read again after it was added to: (s + x16) - (s - x17) + (x18 + s).
        (
            |b, s, x| {
                let p = b.node(16, Op::Add, &[s, x[16]]);
                let m = b.node(16, Op::Sub, &[s, x[17]]);
                let r = b.node(16, Op::Add, &[x[18], s]);
                let d = b.node(16, Op::Sub, &[p, m]);
                vec![b.node(16, Op::Add, &[d, r])]
            },
            1,
            [1, 1, 1, 0],
        ),
    ];
    for (make, all, beside) in cases {
        let (b, node) = bench(&ranges, |b, x| {
            let s = x[1..16].iter().fold(x[0], |s, &y| add(b, s, y));
            make(b, s, x)[0]
        });
        let text = |all: i64, beside: [i64; 4]| {
            let terms: Vec<(usize, i64)> = (0..16)
                .map(|a| (a, all))
                .chain((16..20).zip(beside))
                .filter(|t| t.1 != 0)
                .collect();
            let told: String = terms.iter().map(|(a, c)| format!(" {a} {c}")).collect();
            format!("{sums}node {node} 0 is 16 0 {}{told}", terms.len())
        };
        right(&b, &text(all, beside));
        for wrong_one in 0..4 {
            let mut other = beside;
            other[wrong_one] += 1;
            wrong(&b, &text(all, other), LEFT);
        }
        wrong(&b, &text(all + 1, beside), LEFT);
    }
}
