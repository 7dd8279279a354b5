//! What is made of all elements together: sums, and digits that are encoded. Each element, each value and each byte counts.

mod common;

use common::maps::Map;
use ringforge_contract::map::encoding::encoded;
use ringforge_contract::map::formula::{Binary, Expr};
use ringforge_kernel::map::Flaw;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{NodeId, Op};

/// `c` by a formula of `a`, of 19 elements each.
fn map(formula: &str, range: &str) -> Map {
    Map::new(&[
        &format!(
            "c: role = \"output\"; element = \"i16\"; length = 19; range = [-999, 999]; formula = \"{formula}\""
        ),
        &format!("a: role = \"input\"; element = \"i16\"; length = 19; range = {range}"),
    ])
}

/// A sum of a word of each element, in words of `width` bits that start as `first`.
fn summed(
    m: &mut Map,
    (length, width, first): (u32, u8, i64),
    each: fn(&mut Map, u32) -> NodeId,
) -> NodeId {
    let mut sum = m.constant(width, first);
    for i in 0..length {
        let one = each(m, i);
        let one = match m.width(one) {
            w if w < width => m.node(width, Op::Zext, &[one]),
            w if w > width => m.node(width, Op::Slice { lo: 0 }, &[one]),
            _ => one,
        };
        sum = m.two(Op::Add, sum, one);
    }
    sum
}

fn odd(m: &mut Map, i: u32) -> NodeId {
    let x = m.input(0, i);
    m.by(Op::And, x, 1)
}

/// `a` where a word is zero, else all ones.
fn where_zero(m: &mut Map, word: NodeId, i: u32) -> NodeId {
    let (x, other) = (m.input(0, i), m.constant(16, -1));
    let zero = m.by(Op::Eq, word, 0);
    m.select(zero, x, other)
}

/// `a` if so many elements are odd.
fn weighed(all: (u32, u8, i64), each: fn(&mut Map, u32) -> NodeId) -> Map {
    map("sum(a mod 2) == 4 ? a : -1", "[-1, 1]").each(move |m, i| {
        let sum = summed(m, all, each);
        where_zero(m, sum, i)
    })
}

/// Wrong, and the elements show it: these.
#[track_caller]
fn wrong(m: &Map) -> Vec<i64> {
    let at = match m.check() {
        Err(Flaw::Wrong { at, .. }) => at,
        other => panic!("{other:?}"),
    };
    let mut elements = vec![0; 19];
    at.iter().for_each(|x| elements[x.1] = x.2);
    let tape = Tape::new(&m.graph, &m.outputs[0]).expect("no address");
    let found = tape.run(|_, i| elements[i as usize] as u64);
    let found = found.iter().map(|v| i64::from(*v as i16)).collect();
    let inputs = [elements.clone()];
    assert!(m.contract.wrong(&inputs, &[found]).is_some(), "{elements:?} is right");
    elements
}

/// Each element is summed up, once, by the formula's function at all its values.
#[test]
fn each_element_is_summed_up() {
    let done = weighed((19, 32, -4), odd).proved();
    assert!(done.unread.is_empty() && done.fields == 19, "{done:?}");
    weighed((19, 32, -4), |m, i| odd(m, 18 - i)).proved();
    weighed((18, 32, -4), odd).open("another element");
    weighed((19, 32, -4), |m, i| odd(m, i.min(17))).open("another element");
    weighed((19, 32, -4), |m, i| {
        let x = odd(m, i);
        let y = m.input(0, i);
        // Right but for one value of the last.
        if i < 18 { x } else { m.but(x, y, -1) }
    })
    .open("another element");
    for (first, weight) in [(-3, 3), (-5, 5)] {
        let elements = wrong(&weighed((19, 32, first), odd));
        let found = elements.iter().filter(|x| *x % 2 != 0).count();
        assert!(found == 4 || found == weight, "{elements:?}");
    }
}

/// A word of the sum is the sum modulo 2^width: what wraps or has a sign is no sum.
#[test]
fn sums_are_those_that_words_hold() {
    let of = |op: Op, width: u8| {
        map("sum(a mod 2)", "[-1, 1]").each(move |m, _| {
            let sum = summed(m, (19, width, 0), odd);
            m.node(16, op.clone(), &[sum])
        })
    };
    of(Op::Zext, 5).proved();
    of(Op::Sext, 6).proved();
    of(Op::Zext, 8).proved();
    for (op, width, least) in [(Op::Zext, 4, 16), (Op::Sext, 5, 16), (Op::Sext, 3, 4)] {
        let elements = wrong(&of(op, width));
        assert!(elements.iter().filter(|x| **x != 0).count() >= least, "{elements:?}");
    }
}

/// Multiples of the sum, constants, and the element's number are what they are.
#[test]
fn multiples_of_sums_are_followed() {
    let of = |c: i64, d: i64, formula: &str| {
        map(formula, "[-1, 2]").each(move |m, i| {
            let mut sum = m.constant(16, d);
            for i in 0..19 {
                let x = m.input(0, i);
                let square = m.two(Op::Mul, x, x);
                let part = m.by(Op::Mul, square, c);
                sum = m.two(Op::Add, sum, part);
            }
            let x = m.input(0, i);
            m.two(Op::Add, sum, x)
        })
    };
    of(1, 0, "sum(a * a) + a").proved();
    of(2, -3, "2 * sum(a * a) + a - 3").proved();
    of(-1, 36, "36 + a - sum(a * a)").proved();
    // The code is 3 S - 2, and the formula's sum is 2 S.
    of(3, -2, "floor(3 * sum(2 * a * a) / 2) + a - 2").open("another element");
    wrong(&of(1, 0, "sum(a * a) + a + (index == 18) * (sum(a * a) == 9)"));
    // A sum and an element that are not what the code has together, though no elements are so.
    of(1, 0, "sum(a * a) + a + (sum(a * a) < a)").open("which no inputs may have");
}

/// Sums of other elements than the contract's are refused.
#[test]
fn sums_are_over_all_of_the_contracts_elements() {
    let mut m = weighed((19, 32, -4), odd);
    m.contract.sums[0].elements.0 = (-1, 0);
    assert!(matches!(m.check(), Err(Flaw::Stopped(why)) if why.contains("other elements")));
    let mut m = weighed((19, 32, -4), odd);
    m.contract.sums[0].elements.1 = 18;
    assert!(matches!(m.check(), Err(Flaw::Stopped(why)) if why.contains("other elements")));
    // Work is paid for.
    assert!(weighed((19, 32, -4), odd).check_for(10).is_err());
}

/// Digits of radix 1000, 300, 300, ... of 5 elements as bytes. `change` says what is wrong with a word.
fn encodes(change: fn(&mut Map, &str, NodeId) -> NodeId) -> Map {
    let radices = [1000u32, 300, 300, 7, 300];
    let mut m = Map::new(&[
        "c: role = \"output\"; element = \"u8\"; radix = [1000, 300, 300, 7, 300]; formula = \"min(a + 3, 6)\"",
        "a: role = \"input\"; element = \"i16\"; length = 5; range = [-3, 296]",
    ]);
    let digits: Vec<NodeId> = (0..5)
        .map(|i| {
            let x = m.input(0, i);
            let x = m.by(Op::Add, x, 3);
            let less = m.by(Op::Slt, x, 6);
            let six = m.constant(16, 6);
            let x = m.select(less, x, six);
            let x = m.node(32, Op::Zext, &[x]);
            change(&mut m, &format!("digit {i}"), x)
        })
        .collect();
    let m = std::cell::RefCell::new(m);
    let (mut pair, mut byte) = (0, 0);
    let bytes = encoded(
        digits,
        &radices,
        &mut |a, radix, b| {
            let mut m = m.borrow_mut();
            let (a, b) = (
                change(&mut m, &format!("low {pair}"), *a),
                change(&mut m, &format!("high {pair}"), *b),
            );
            pair += 1;
            let high = m.by(Op::Mul, b, radix.into());
            let sum = m.two(Op::Add, a, high);
            change(&mut m, &format!("pair {pair}"), sum)
        },
        &mut |x| {
            let mut m = m.borrow_mut();
            let low = m.node(8, Op::Slice { lo: 0 }, &[*x]);
            byte += 1;
            let rest = m.node(32, Op::Lshr(8), &[*x]);
            (
                change(&mut m, &format!("byte {byte}"), low),
                change(&mut m, &format!("rest {byte}"), rest),
            )
        },
    );
    let mut m = m.into_inner();
    m.outputs.push(bytes);
    m
}

/// Every byte is that of the encoding, of all digits in their places.
#[test]
fn each_byte_is_the_encodings() {
    let done = encodes(|_, _, x| x).proved();
    assert!(done.unread.is_empty() && done.fields == 5, "{done:?}");
    encodes(|m, at, x| if at == "digit 4" { m.by(Op::Add, x, 1) } else { x })
        .open("another function");
    encodes(|m, at, x| if at == "digit 2" { m.but(x, x, 5) } else { x }).open("another function");
    encodes(|m, at, x| if at == "byte 3" { m.constant(8, 0) } else { x }).open("another function");
    encodes(|m, at, x| if at == "byte 5" { m.by(Op::Xor, x, 1) } else { x }).open("not followed");
    encodes(|m, at, x| if at == "rest 1" { m.by(Op::Add, x, 1) } else { x })
        .open("another function");
    encodes(|m, at, x| if at == "pair 1" { m.by(Op::Sub, x, 300) } else { x })
        .open("another function");
    // The higher digit with its neighbour's radix, and digits in other order.
    encodes(|m, at, x| if at == "high 0" { m.by(Op::Mul, x, 3) } else { x })
        .open("another function");
    encodes(|m, at, x| if at == "low 1" { m.by(Op::And, x, 1) } else { x })
        .open("another function");
    // A word that the number does not fit.
    let cut = |m: &mut Map, at: &str, x: NodeId| {
        if at != "pair 1" {
            return x;
        }
        let low = m.node(12, Op::Slice { lo: 0 }, &[x]);
        m.node(32, Op::Zext, &[low])
    };
    encodes(cut).open("another function");
    let mut m = encodes(|_, _, x| x);
    m.outputs[0].swap(0, 1);
    m.open("another function");
    m.outputs[0].swap(0, 1);
    m.outputs[0].pop();
    m.open("more or fewer bytes");
    let mut m = encodes(|_, _, x| x);
    m.contract.arguments[0].radices[4] = 301;
    m.proved();
    m.contract.arguments[0].radices[0] = 999;
    m.open("another function");
    assert!(encodes(|_, _, x| x).check_for(100).is_err());
    // Digits that depend on their number too, which no contract's text can say.
    let mut m = encodes(|_, _, x| x);
    let index = Box::new(Expr::Element(m.contract.arguments.len()));
    let formula = m.contract.arguments[0].formula.as_mut().unwrap();
    formula.root = Expr::Binary(Binary::Add, Box::new(formula.root.clone()), index);
    m.open("beyond what is followed");
}
