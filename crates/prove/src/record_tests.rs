//! The kernel accepts what is written of a variable, and nothing better.

use crate::cut::Cutter;
use crate::funs::Op;
use crate::values::{Atom, AtomId, Base, Form, VarId};
use crate::walk::{Output, Walk};
use ringforge_contract::InputRange;
use ringforge_kernel::certificate::Line;
use ringforge_kernel::claim::{Witness, Zero};
use ringforge_kernel::replay::{Case, Operand, Target, walk as kernel};
use ringforge_machine::graph::{Graph, NodeId};

const Q: u32 = 8_380_417;

/// Tables for wide words with two inputs of at most `most` either way.
fn tables(most: i64) -> (Cutter, [(VarId, AtomId); 2]) {
    let mut cut = Cutter::new(Q);
    cut.world.wide = true;
    let inputs = [0, 1].map(|i| {
        let v = cut.test_input(i, most);
        (v, cut.world.var(v).atom)
    });
    (cut, inputs)
}

fn sum(terms: &[(AtomId, i64)]) -> Form {
    terms.iter().fold(Form::default(), |sum, &(a, c)| Form::combine(&sum, 1, &Form::atom(a), c, 64))
}

/// The lines that say what a form is, as a variable.
fn recorded(cut: &mut Cutter, form: Form) -> Vec<Line> {
    let reading = cut.read(&form).expect("an interval");
    let (v, _) = cut.variable(form, reading);
    let atom = cut.world.var(v).atom;
    cut.made(atom).expect("understood");
    cut.record.finished()
}

/// Why the kernel refuses lines about inputs of at most `most` either way.
fn refused(lines: &[Line], most: i64) -> Option<String> {
    let graph = Graph::new();
    let case = Case {
        graph: &graph,
        operands: vec![Operand { lo: -most, hi: most, bits: 32 }],
        outputs: &[],
        target: Target { bits: 32, signed: true, lo: 0, hi: 0 },
        q: Q,
    };
    kernel(&case, lines, 1 << 30, &|_| true).err().map(|e| e.to_string())
}

/// The narrowest of the bounds that are claimed of what has the last one.
fn narrowest(lines: &mut [Line]) -> (&mut i128, &mut i128) {
    let of = |line: &Line| match line {
        Line::Bound { atom, .. } => Some(*atom),
        _ => None,
    };
    let last = lines.iter().rev().find_map(of);
    let bound = |line| match line {
        &mut Line::Bound { atom, ref mut lo, ref mut hi, .. } if Some(atom) == last => {
            Some((lo, hi))
        }
        _ => None,
    };
    lines.iter_mut().filter_map(bound).min_by_key(|b| *b.1 - *b.0).expect("a bound")
}

/// That neither end of the narrowest bound may be any nearer.
fn is_tight(lines: &[Line], most: i64) {
    for (low, high) in [(1, 0), (0, 1)] {
        let mut nearer = lines.to_vec();
        let (lo, hi) = narrowest(&mut nearer);
        (*lo, *hi) = (*lo + low, *hi - high);
        assert!(refused(&nearer, most).is_some_and(|e| e.contains("is claimed")));
    }
}

/// `y` and the upper word of a product by c of x without sign, corrected, less the same as a quotient.
fn corrected(c: i64, most: i64, sign: i64) -> Vec<Line> {
    let (mut cut, [(v, x), (_, y)]) = tables(most);
    let word = cut.world.funs.lin(32, 0, 1, &[]);
    let plain = cut.op(64, Op::Zext, &[word]);
    let product = cut.world.funs.lin(64, 0, 0, &[(plain, c)]);
    let upper = cut.op(32, Op::Slice { lo: 32 }, &[product]);
    let negative = cut.op(1, Op::Slice { lo: 31 }, &[word]);
    let [upper, negative] = [upper, negative].map(|f| cut.world.atom(Atom::Fun(Base::Var(v), f)));
    let quotient = cut.floor(&sum(&[(x, c)]), 32, 64);
    assert!(cut.world.has_floor(&quotient));
    let functions = sum(&[(upper, sign), (negative, sign * c), (y, 1)]);
    let form = Form::combine(&functions, 1, &quotient, -sign, 64);
    recorded(&mut cut, form)
}

#[test]
fn quotients_beside_functions_are_equal_to_functions() {
    let most = 20_000;
    for (c, sign) in [(3_572_223, 1), (3_572_223, -1), (8_380_415, 1)] {
        let mut lines = corrected(c, most, sign);
        assert_eq!(refused(&lines, most), None, "{c} {sign}");
        // Nothing is left but y.
        let (&mut lo, &mut hi) = narrowest(&mut lines);
        assert_eq!((lo, hi), (i128::from(-most), i128::from(most)));
        is_tight(&lines, most);
        let residues = lines.iter().filter(|l| matches!(l, Line::Residue { .. })).count();
        assert!(residues > 0, "what it is modulo something is told");
        // Without the equation, and with another, the kernel finds no such thing.
        for (plus, times) in [(0, 0), (1, 1), (0, 2)] {
            let mut wrong = lines.clone();
            for line in &mut wrong {
                match line {
                    Line::Near { form, .. } => form.k += plus,
                    Line::Bound { by, .. } | Line::Residue { by, .. } => {
                        by.zeros.iter_mut().for_each(|z| z.1 *= times);
                    }
                    _ => {}
                }
            }
            assert!(refused(&wrong, most).is_some(), "{c} {sign} {plus} {times}");
        }
    }
}

/// `sign·(a·(x - f(x)) + p·floor((y + 3·x + 5·f(x)) / 2^31))`, where f takes away the lowest four bits, in a word
/// of `width` bits.
fn rounded(a: i64, width: u8, most: i64, sign: i64) -> Vec<Line> {
    let (mut cut, [(v, x), (_, y)]) = tables(most);
    let word = cut.world.funs.lin(width, 0, 1, &[]);
    let mask = cut.world.funs.constant(width, -16);
    let down = cut.op(width, Op::And, &[word, mask]);
    let f = cut.world.atom(Atom::Fun(Base::Var(v), down));
    let quotient = cut.floor(&sum(&[(y, 40_001), (x, 3), (f, 5)]), 31, 64);
    assert!(cut.world.has_floor(&quotient));
    let form =
        Form::combine(&sum(&[(x, sign * a), (f, -sign * a)]), 1, &quotient, sign * 12_902_401, 64);
    recorded(&mut cut, form)
}

#[test]
fn what_is_too_large_at_a_scale_is_named_at_its_own() {
    let most = 30_000;
    // Functions of 32 bits, 2^31 times, are more than the search enumerates together; of 16 bits they are not.
    // (The kernel looks at the values that are taken, and would take these apart from their name too.)
    for (width, named) in [(32, true), (16, false)] {
        for (a, sign) in [(3, 1), (3, -1), (77, 1)] {
            let lines = rounded(a, width, most, sign);
            assert_eq!(refused(&lines, most), None, "{width} {a} {sign}");
            let scaled = |by: &Witness| {
                by.scale > 1 && by.zeros.iter().any(|z| matches!(z.0, Zero::Name(_)))
            };
            let found = lines.iter().any(|l| matches!(l, Line::Bound { by, .. } if scaled(by)));
            assert_eq!(found, named, "{width} {a} {sign}");
        }
    }
}

/// What is proved of a word of 32 bits of words of 16 within q/2 either way, and why the kernel refuses what is written.
fn proved(g: &Graph, out: NodeId, q: i64) -> (Option<Output>, Option<String>) {
    let most = q / 2;
    let range = InputRange { lo: -most, hi: most, signed: true };
    let mut walk = Walk::new(g, q as u32, vec![range; 2]);
    walk.run(&[out], &mut |_, _| true);
    let found = walk.output(out, 32, true).ok();
    let lines = walk.cut.record.finished();
    let case = Case {
        graph: g,
        operands: vec![Operand { lo: -most, hi: most, bits: 16 }; 2],
        outputs: &[out],
        target: Target { bits: 32, signed: true, lo: -q, hi: q },
        q: q as u32,
    };
    let why = kernel(&case, &lines, 1 << 30, &|_| true).err().map(|e| e.to_string());
    (found, why)
}

/// That the first of some words is proved to be a residue of fewer than `values` values, and no other.
fn first_alone(make: &dyn Fn(&mut Graph, usize) -> NodeId, q: i64, values: i64) {
    for change in 0..4 {
        let mut g = Graph::new();
        let out = make(&mut g, change);
        let (found, why) = proved(&g, out, q);
        let right = |o: &Output| o.hi - o.lo < values && o.residue.m == q as u32;
        let right = why.is_none() && found.as_ref().is_some_and(right);
        assert_eq!(right, change == 0, "{change}: {found:?}, {why:?}");
    }
}

/// An element of an operand, in words of `bits` bits.
fn element(g: &mut Graph, operand: u16, index: u32, bits: u8) -> NodeId {
    let x = g.input(16, operand, index);
    g.sext(x, bits)
}

/// `pmuludq` of the lower words by a constant.
fn unsigned(g: &mut Graph, x: NodeId, c: i64) -> NodeId {
    let low = g.slice(x, 0, 32);
    let (wide, c) = (g.zext(low, 64), g.constant(64, c as u64));
    g.mul(wide, c)
}

#[test]
fn quotients_read_without_sign_are_quotients_still() {
    // x·y - q·round(x·y / q), quotients being multiplied as words without sign.
    let make = |g: &mut Graph, change: usize| {
        let (x, y) = (element(g, 0, 0, 32), element(g, 1, 0, 32));
        let p = g.mul(x, y);
        let coarse = g.ashr(p, 14);
        let scaled = unsigned(g, coarse, if change == 1 { 10_699 } else { 10_599 });
        let (scaled, half) = (g.slice(scaled, 0, 32), g.constant(32, 16_384));
        let rounded = g.add(scaled, half);
        let quotient = if change == 2 { g.lshr(rounded, 15) } else { g.ashr(rounded, 15) };
        let multiple = unsigned(g, quotient, if change == 3 { 50_655 } else { 50_653 });
        let multiple = g.slice(multiple, 0, 32);
        g.sub(p, multiple)
    };
    first_alone(&make, 50_653, 80_000);
}

#[test]
fn words_of_64_bits_are_reduced_by_halves() {
    // Sums that fit 32 bits, and that do not.
    for terms in [1, 2, 4] {
        let make = |g: &mut Graph, change: usize| {
            let mut sum = g.constant(64, 0);
            for i in 0..terms {
                let (x, y) = (element(g, 0, i, 64), element(g, 1, i, 64));
                let p = g.mul(x, y);
                sum = g.add(sum, p);
            }
            let c = 10_599;
            let low = unsigned(g, sum, c);
            let upper = g.lshr(sum, 32);
            let upper = unsigned(g, upper, if change == 1 { c + 100 } else { c });
            let upper = g.shl(upper, 32);
            let half = g.constant(64, 1 << 28);
            let low = g.add(low, half);
            let rounded = g.add(low, upper);
            let quotient = g.lshr(rounded, if change == 2 { 28 } else { 29 });
            let multiple = unsigned(g, quotient, if change == 3 { 50_655 } else { 50_653 });
            let out = g.sub(sum, multiple);
            g.slice(out, 0, 32)
        };
        first_alone(&make, 50_653, 80_000);
    }
}

#[test]
fn a_name_with_a_quotient_is_unfolded_beside_its_terms() {
    // Multiples of 2^11 go through the first shift, and what is left of the second is named.
    let make = |g: &mut Graph, change: usize| {
        let (x, y) = (element(g, 0, 0, 32), element(g, 1, 0, 32));
        let mut sum = g.mul(x, y);
        for (i, c) in [6289, -6169, -2042, 749, 7678].into_iter().enumerate() {
            let (x, c) = (element(g, 0, i as u32 + 1, 32), g.constant(32, c as u64));
            let p = g.mul(x, c);
            sum = g.add(sum, p);
        }
        let coarse = g.ashr(sum, if change == 1 { 12 } else { 11 });
        let v = g.constant(32, 4295);
        let scaled = g.mul(coarse, v);
        let half = g.constant(32, 16_384);
        let rounded = g.add(scaled, half);
        let quotient = g.ashr(rounded, if change == 2 { 14 } else { 15 });
        let q = g.constant(32, if change == 3 { 15_627 } else { 15_625 });
        let multiple = g.mul(quotient, q);
        g.sub(sum, multiple)
    };
    first_alone(&make, 15_625, 32_000);
}

/// Of so many elements of an operand the sum of their multiples, with coefficients within `most`, in words of 32 bits.
fn multiples(g: &mut Graph, count: i64, most: i64) -> NodeId {
    let mut sum = g.constant(32, 0);
    for i in 0..count {
        let c = (i * i * 797 + i * 31 + 645).rem_euclid(2 * most + 1) - most;
        let (x, c) = (element(g, 0, i as u32, 32), g.constant(32, c as u64));
        let p = g.mul(x, c);
        sum = g.add(sum, p);
    }
    sum
}

#[test]
fn a_quotient_of_low_parts_that_is_a_function_meets_them_in_the_sum() {
    // Of coefficients 32·h + l the sum with the l takes few values, and its quotient is a function of it.
    let make = |g: &mut Graph, change: usize| {
        let sum = multiples(g, 20, 1000);
        let coarse = g.ashr(sum, if change == 1 { 6 } else { 5 });
        let v = g.constant(32, 2093);
        let scaled = g.mul(coarse, v);
        let half = g.constant(32, 1 << 16);
        let rounded = g.add(scaled, half);
        let quotient = g.ashr(rounded, if change == 2 { 16 } else { 17 });
        let q = g.constant(32, if change == 3 { 2006 } else { 2004 });
        let multiple = g.mul(quotient, q);
        g.sub(sum, multiple)
    };
    first_alone(&make, 2004, 4000);
}

#[test]
fn a_rounded_quotient_by_a_half_word_is_none_of_montgomerys() {
    let make = |g: &mut Graph, change: usize| {
        let sum = multiples(g, 100, 249);
        let coarse = g.ashr(sum, 7);
        let v = g.constant(32, if change == 1 { 16_911 } else { 16_811 });
        let scaled = g.mul(coarse, v);
        let half = g.constant(32, 1 << 15);
        let rounded = g.add(scaled, half);
        let quotient = g.slice(rounded, if change == 2 { 15 } else { 16 }, 16);
        let quotient = g.sext(quotient, 32);
        let q = g.constant(32, if change == 3 { 501 } else { 499 });
        let multiple = g.mul(quotient, q);
        g.sub(sum, multiple)
    };
    first_alone(&make, 499, 1300);
}
