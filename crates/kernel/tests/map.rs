//! Functions of each element: what is right is accepted, and what is wrong at one point, in one field or in one bit is not.

mod common;

use common::maps::Map;
use ringforge_contract::map::MapCase;
use ringforge_kernel::check::Limits;
use ringforge_kernel::map::{Flaw, check};
use ringforge_machine::graph::{NodeId, Op};

/// An array.
fn array(name: &str, role: &str, element: &str, range: (i64, i64), more: &str) -> String {
    let (lo, hi) = range;
    format!(
        "{name}: role = \"{role}\"; element = \"{element}\"; length = 4; range = [{lo}, {hi}]{more}"
    )
}

fn input(name: &str, element: &str, range: (i64, i64)) -> String {
    array(name, "input", element, range, "")
}

/// `c` of words of this kind, and its formula; operands are the others in their order.
fn map(element: &str, exit: (i64, i64), formula: &str, inputs: &[String]) -> Map {
    let output = array("c", "output", element, exit, &format!("; formula = \"{formula}\""));
    let all: Vec<&str> = std::iter::once(&output).chain(inputs).map(String::as_str).collect();
    Map::new(&all)
}

const I16: (i64, i64) = (-32768, 32767);
const I32: (i64, i64) = (-(1 << 31), (1 << 31) - 1);
const U32: (i64, i64) = (0, (1 << 32) - 1);

/// Of two inputs each pair counts: the corners, and one inside.
#[test]
fn all_points_of_small_ranges_are_looked_at() {
    let inputs = [input("a", "i16", (-20, 22)), input("b", "i16", (-3, 30))];
    let product = |at: Option<(i64, i64)>| {
        map("i16", I16, "a * b", &inputs).each(|m, i| {
            let (x, y) = (m.input(0, i), m.input(1, i));
            let product = m.two(Op::Mul, x, y);
            let Some((a, b)) = at else { return product };
            let (x, y) = (m.by(Op::Eq, x, a), m.by(Op::Eq, y, b));
            let both = m.two(Op::And, x, y);
            let more = m.by(Op::Add, product, 1);
            m.select(both, more, product)
        })
    };
    let done = product(None).proved();
    assert_eq!((done.fields, done.terms, done.points), (4, 1, 43 * 34));
    for (a, b) in [(-20, -3), (22, -3), (-20, 30), (22, 30), (7, 11)] {
        assert_eq!(product(Some((a, b))).wrong(), [(1, 0, a), (2, 0, b)]);
    }
    // What lies beyond a range does not matter.
    for (a, b) in [(-21, -3), (23, -3), (-20, -4), (22, 31)] {
        product(Some((a, b))).proved();
    }
}

/// One input is looked at along its range, sums of two along theirs: each value counts.
#[test]
fn all_sums_are_looked_at() {
    let one = |at: i64, less: i64| {
        map(
            "i16",
            (0, 3328),
            "(a - LESS) mod 3329".replace("LESS", &less.to_string()).as_str(),
            &[input("a", "i16", (0, 6657))],
        )
        .each(|m, i| {
            let x = m.input(0, i);
            let below = m.by(Op::Sub, x, 3329);
            let sign = m.node(16, Op::Ashr(15), &[below]);
            let q = m.by(Op::And, sign, 3329);
            let y = m.two(Op::Add, below, q);
            m.but(y, x, at)
        })
    };
    assert_eq!(one(-1, 0).proved().points, 6658);
    for at in [0, 1, 3329, 6657] {
        assert_eq!(one(at, 0).wrong(), [(1, 0, at)]);
    }
    one(-1, 1).wrong();
    // Of two inputs with more pairs than are looked at one by one.
    let inputs = [input("a", "i16", (-400, 400)), input("b", "i16", (-400, 500))];
    let two = |at: i64, formula: &str| {
        map("i16", (-3000, 3000), formula, &inputs).each(|m, i| {
            let (x, y) = (m.input(0, i), m.input(1, i));
            let y = m.by(Op::Mul, y, 3);
            let sum = m.two(Op::Sub, x, y);
            m.but(sum, sum, at)
        })
    };
    assert_eq!(two(-1901, "a - 3 * b").proved().points, 801 + 3 * 900);
    for (at, a, b) in [(-1900, -400, 500), (1600, 400, -400)] {
        assert_eq!(two(at, "a - 3 * b").wrong(), [(2, 0, b), (1, 0, a)]);
    }
    two(7, "a - 3 * b").wrong();
    for formula in ["a - b", "a + 3 * b", "3 * b - a", "a - 3 * b + 1", "2 * (a - 3 * b)", "a"] {
        two(-1901, formula).wrong();
    }
    // Formulas of the sum in several places, and of other sums beside it.
    two(-1901, "max(a - 3 * b, -floor((9 * b - 3 * a) / 3))").proved();
    two(-1901, "max(a - 3 * b, a - 3 * b - 1 + (a < 400))").proved();
    two(-1901, "max(a - 3 * b, a - 3 * b + (a == 400))").wrong();
}

/// A term that is no function of the formula's sum is looked at at all points, or not decided.
#[test]
fn terms_of_more_than_the_sum_are_not_taken_for_functions_of_it() {
    let of = |hi: i64, last: i64| {
        let inputs = [input("a", "i32", (0, hi)), input("b", "i32", (0, 1023))];
        map("i32", I32, "a + b", &inputs).each(move |m, i| {
            let (x, y) = (m.input(0, i), m.input(1, i));
            let sum = m.two(Op::Add, x, y);
            m.but(sum, x, last)
        })
    };
    of(1023, 1024).proved();
    of(1023, 1023).wrong();
    of(1 << 20, 1 << 21).open("no function of one sum");
    of(1 << 20, 1 << 20).open("no function of one sum");
    // The formula has no input, or another one than the term.
    let other = |formula: &str| {
        let inputs = [input("a", "i32", I32), input("b", "i32", (0, 1000))];
        map("i32", I32, formula, &inputs).each(|m, i| {
            let x = m.input(1, i);
            let bits = m.by(Op::And, x, 1);
            let zero = m.by(Op::Sub, bits, 1);
            m.two(Op::And, zero, bits)
        })
    };
    other("0").proved();
    assert_eq!(other("1").wrong().len(), 1);
    other("a").open("no function of one sum");
}

/// A word that is extended must hold the sum, signed or not.
#[test]
fn sums_that_are_extended_fit_their_word() {
    let of = |op: Op, (lo, hi): (i64, i64)| {
        let inputs = [input("a", "i16", (lo, hi)), input("b", "i16", (lo, hi))];
        map("i32", (-70000, 70000), "a - b", &inputs).each(move |m, i| {
            let (x, y) = (m.input(0, i), m.input(1, i));
            let sum = m.two(Op::Sub, x, y);
            m.node(32, op.clone(), &[sum])
        })
    };
    of(Op::Sext, (-16384, 16383)).proved();
    // One difference, 2^15, is too large.
    of(Op::Sext, (-16384, 16384)).wrong();
    of(Op::Zext, (-300, 300)).wrong();
    let below = |least: i64| {
        let inputs = [input("a", "i16", (least, 0)), input("b", "i16", (0, 16384))];
        map("i32", (-70000, 70000), "a - b", &inputs).each(|m, i| {
            let (x, y) = (m.input(0, i), m.input(1, i));
            let sum = m.two(Op::Sub, x, y);
            m.node(32, Op::Sext, &[sum])
        })
    };
    below(-16384).proved();
    below(-16385).wrong();
    let plus = |op: Op, (lo, hi): (i64, i64)| {
        let inputs = [input("a", "u16", (lo, hi)), input("b", "u16", (lo, hi))];
        map("i32", (0, 1 << 20), "a + b", &inputs).each(move |m, i| {
            let (x, y) = (m.input(0, i), m.input(1, i));
            let sum = m.two(Op::Add, x, y);
            m.node(32, op.clone(), &[sum])
        })
    };
    plus(Op::Zext, (0, 32767)).proved();
    assert!(plus(Op::Zext, (0, 32768)).check().is_err());
    plus(Op::Sext, (0, 16383)).proved();
    assert!(plus(Op::Sext, (0, 16384)).check().is_err());
    // Of words of 64 bits that hold products and shifts of them.
    let scaled = |c: i64, formula: &str| {
        let inputs = [input("a", "i32", I32), input("b", "i32", I32)];
        map("i32", I32, formula, &inputs).each(move |m, i| {
            let all = [m.input(0, i), m.input(1, i)];
            let [x, y] = all.map(|x| m.node(64, Op::Sext, &[x]));
            let y = m.by(Op::Mul, y, 9);
            let sum = m.two(Op::Add, x, y);
            let sum = m.by(Op::Mul, sum, c);
            let high = m.node(64, Op::Ashr(36), &[sum]);
            m.node(32, Op::Slice { lo: 0 }, &[high])
        })
    };
    scaled(5, "floor((5 * a + 45 * b) / 2^36)").proved();
    scaled(5, "floor((5 * a + 45 * b + 1) / 2^36)").wrong();
    assert!(scaled(1 << 29, "floor((a + 9 * b) / 128)").check().is_err());
}

/// Coefficients of one input are added up, and a product of two sums is none.
#[test]
fn sums_are_those_of_their_terms() {
    let inputs = [input("a", "i32", (-1000, 1000)), input("b", "i32", (-1000, 1000))];
    let of = |op: Op, formula: &str| {
        map("i32", I32, formula, &inputs).each(move |m, i| {
            let (x, y) = (m.input(0, i), m.input(1, i));
            let (x7, y3) = (m.by(Op::Mul, x, 7), m.by(Op::Mul, y, 3));
            let x5 = m.by(Op::Mul, x, 5);
            let (first, second) = (m.two(Op::Add, x7, y), m.two(Op::Add, x5, y3));
            m.two(op.clone(), first, second)
        })
    };
    let points = |map: Map| map.proved().points;
    assert_eq!(points(of(Op::Add, "12 * a + 4 * b")), 8001);
    assert_eq!(points(of(Op::Sub, "2 * a - 2 * b")), 4001);
    for formula in ["2 * a - b", "2 * a + 2 * b", "12 * a - 2 * b", "35 * a - 2 * b"] {
        of(Op::Sub, formula).wrong();
    }
    of(Op::Add, "12 * a + 3 * b").wrong();
    let square = |formula: &str| {
        map("i32", I32, formula, &inputs[..1]).each(|m, i| {
            let x = m.input(0, i);
            let x = m.by(Op::Add, x, 3);
            m.two(Op::Mul, x, x)
        })
    };
    square("(a + 3) * (a + 3)").proved();
    for formula in ["3 * a + 9", "3 * a", "9", "0"] {
        square(formula).wrong();
    }
}

/// Not every sum is one of inputs.
#[test]
fn a_sum_that_no_inputs_have_is_not_shown() {
    let inputs = [input("a", "i32", (0, 2000)), input("b", "i32", (0, 2000))];
    let of = |at: i64| {
        map("i32", I32, "3 * a + 5 * b", &inputs).each(move |m, i| {
            let (x, y) = (m.input(0, i), m.input(1, i));
            let (x, y) = (m.by(Op::Mul, x, 3), m.by(Op::Mul, y, 5));
            let sum = m.two(Op::Add, x, y);
            m.but(sum, sum, at)
        })
    };
    for at in [1, 7, 15993, 15999] {
        of(at).open(&format!("at a sum of {at}, which no inputs may have"));
    }
    for at in [0, 3, 8, 9, 15992, 15995, 16000] {
        of(at).wrong();
    }
}

/// Ranges of 32 bits are cut into pieces, and formulas on them.
#[test]
fn wide_ranges_have_all_their_points() {
    let q = 8380417;
    let range = (-2143289344, 2143289343);
    let of = |more: &str, formula: &str, exit: (i64, i64), at: i64| {
        let output = array("c", "output", "i32", exit, &format!("; formula = \"{formula}\"{more}"));
        Map::new(&[&output, &input("a", "i32", range)]).each(move |m, i| {
            let x = m.input(0, i);
            let t = m.by(Op::Add, x, 1 << 22);
            let t = m.node(32, Op::Ashr(23), &[t]);
            let t = m.by(Op::Mul, t, q);
            let y = m.two(Op::Sub, x, t);
            m.but(y, x, at)
        })
    };
    let none = i64::from(i32::MAX);
    let all = (-6283009, 6283008);
    of("; modulo = 8380417", "a", all, none).proved();
    for at in [range.0, range.0 + 1, -12345, 0, 1 << 30, range.1 - 1, range.1] {
        assert_eq!(of("; modulo = 8380417", "a", all, at).wrong(), [(1, 0, at)]);
    }
    of("; modulo = 8380417", "a + 1", all, none).wrong();
    of("; modulo = 8380417", "2 * a", all, none).wrong();
    of("; modulo = 8380416", "a", all, none).wrong();
    of("", "a", all, none).wrong();
    of("; modulo = 8380417", "a", (all.0 + 1, all.1), none).wrong();
    of("; modulo = 8380417", "a", (all.0, all.1 - 1), none).wrong();
    // Congruent at the ends, with another coefficient.
    let output = array("c", "output", "i32", (0, 3 << 27), "; formula = \"a\"; modulo = 65536");
    let triple = Map::new(&[&output, &input("a", "i32", (0, 1 << 27))]).each(|m, i| {
        let x = m.input(0, i);
        m.by(Op::Mul, x, 3)
    });
    triple.wrong();
    // The same, exactly; and with a formula that is wrong in a few places.
    let exact = "a - 8380417 * floor((a + 2^22) / 2^23)";
    of("", exact, all, none).proved();
    of("", &format!("{exact} + (a == 12345)"), all, none).wrong();
    of("", &format!("{exact} + (a == 12345)"), all, 12345).proved();
    of("", &format!("{exact} - (a < -2143289343)"), all, none).wrong();
    of("", "a cmod 8380417", all, none).wrong();
}

/// A word is read as the contract says, in each of the ways that decide it.
#[test]
fn words_are_read_as_the_contract_says() {
    for second in [false, true] {
        let of = |element: &str, from: &str, range, exit| {
            let inputs = [input("a", from, range), input("b", "i16", (0, 3))];
            let inputs = &inputs[..1 + usize::from(second)];
            let formula = if second { "a + 0 * b" } else { "a" };
            map(element, exit, formula, inputs).each(move |m, i| {
                let x = m.input(0, i);
                if !second {
                    return x;
                }
                let y = m.input(1, i);
                let zero = m.by(Op::Sub, y, 4);
                let zero = m.node(16, Op::Lshr(15), &[zero]);
                let zero = m.by(Op::Sub, zero, 1);
                m.two(Op::Add, x, zero)
            })
        };
        of("i16", "i16", (-9, 9), (-9, 9)).proved();
        of("u16", "u16", (0, 65535), (0, 65535)).proved();
        of("u16", "i16", (0, 9), (0, 9)).proved();
        of("u16", "i16", (-1, 9), (0, 65535)).wrong();
        of("i16", "u16", (32767, 32768), (-32768, 32767)).wrong();
        for exit in [(-8, 9), (-9, 8)] {
            of("i16", "i16", (-9, 9), exit).wrong();
        }
    }
}

/// A congruence is no equality, and asks for the range too.
#[test]
fn congruent_values_lie_in_the_range() {
    for second in [false, true] {
        let of = |exit, more: &str, formula: &str| {
            let output = array(
                "c",
                "output",
                "i16",
                exit,
                &format!("; formula = \"{formula}{}\"{more}", if second { " + 7 * b" } else { "" }),
            );
            let all = [output, input("a", "i16", (0, 13)), input("b", "i16", (0, 3))];
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            Map::new(&all).each(move |m, i| {
                let (x, y) = (m.input(0, i), m.input(1, i));
                let below = m.by(Op::Sub, x, 7);
                let negative = m.by(Op::Slt, below, 0);
                let reduced = m.select(negative, x, below);
                if !second {
                    return reduced;
                }
                let same = m.two(Op::Eq, y, y);
                m.select(same, reduced, x)
            })
        };
        of((0, 6), "; modulo = 7", "a").proved();
        of((0, 6), "", "a").wrong();
        of((0, 5), "; modulo = 7", "a").wrong();
        of((1, 6), "; modulo = 7", "a").wrong();
        of((0, 6), "; modulo = 7", "a + 1").wrong();
        of((0, 6), "; modulo = 6", "a").wrong();
    }
}

/// Elements beside a field's own may enter, if they do not matter at any of their values.
#[test]
fn other_elements_do_not_matter_at_any_value() {
    let of = |hi: i64, at: i64, far: u32| {
        map("i16", I16, "a", &[input("a", "i16", (0, hi))]).each(move |m, i| {
            let (x, y) = (m.input(0, i), m.input(0, i ^ far));
            m.but(x, y, at)
        })
    };
    for far in [1, 2, 3] {
        of(9, 10, far).proved();
        for at in [0, 4, 9] {
            let shown = of(9, at, far).wrong();
            assert!(shown.contains(&(1, far as usize, at)), "{shown:?}");
        }
    }
    of(4000, 4001, 1).proved();
    of(4000, 4000, 1).open("another element of a");
    // Each field by itself: the term of the last one is another one.
    let last = map("i16", I16, "a", &[input("a", "i16", (0, 9))])
        .each(|m, i| if i == 3 { m.input(0, 2) } else { m.input(0, i) });
    let shown = last.wrong();
    assert!(shown.contains(&(1, 2, 9)) || shown.contains(&(1, 3, 1)), "{shown:?}");
}

/// What depends on one other element alone is a number if it is one at all points.
#[test]
fn parts_of_other_elements_have_one_value() {
    let of = |least: i64, at: i64| {
        let range = (least, least + 300_000);
        map("i32", I32, "a", &[input("a", "i32", range)]).each(move |m, i| {
            let (x, y) = (m.input(0, i), m.input(0, i ^ 1));
            let bit = m.by(Op::Eq, y, at);
            let more = m.node(32, Op::Zext, &[bit]);
            m.two(Op::Add, x, more)
        })
    };
    for least in [-7, 0] {
        of(least, least - 1).proved();
        of(least, least + 300_001).proved();
        for at in [0, 1, 255, 256, 100_000, 299_999, 300_000] {
            of(least, least + at).open("another element of a");
        }
    }
    // More values than are looked at.
    map("i32", I32, "a", &[input("a", "i32", I32)])
        .each(|m, i| {
            let (x, y) = (m.input(0, i), m.input(0, i ^ 1));
            let next = m.by(Op::Add, y, 1);
            let even = m.two(Op::Mul, y, next);
            let zero = m.by(Op::And, even, 1);
            m.two(Op::Add, x, zero)
        })
        .open("another element of a");
}

const BIT: &str = "bit: role = \"number\"; range = ";

/// `choice` of r and a by a number in a range, and the term's mask.
fn choose(range: &str, formula: &str, mask: fn(&mut Map, NodeId) -> NodeId) -> Map {
    let inputs = [input("r", "u32", U32), input("a", "u32", U32), format!("{BIT}{range}")];
    map("u32", U32, formula, &inputs).each(|m, i| {
        let (r, a) = (m.input(0, i), m.input(1, i));
        let bit = m.node(32, Op::Input { operand: 2, index: 0 }, &[]);
        let mask = mask(m, bit);
        let both = m.two(Op::Xor, r, a);
        let both = m.two(Op::And, both, mask);
        m.two(Op::Xor, r, both)
    })
}

/// Each value of a number with few of them is looked at by itself.
#[test]
fn all_values_of_a_number_count() {
    let negated: fn(&mut Map, NodeId) -> NodeId = |m, bit| {
        let zero = m.constant(32, 0);
        m.two(Op::Sub, zero, bit)
    };
    choose("[0, 1]", "bit ? a : r", negated).proved();
    for formula in ["bit ? r : a", "a", "r", "bit ? a : a", "bit ? r : r"] {
        choose("[0, 1]", formula, negated).open("");
    }
    choose("[1, 1]", "a", negated).proved();
    // Masks that are zero for all values but one, the last of sixteen or of seventeen.
    let last: fn(&mut Map, NodeId) -> NodeId = |m, bit| {
        let is = m.by(Op::Eq, bit, 15);
        m.node(32, Op::Sext, &[is])
    };
    choose("[0, 15]", "bit == 15 ? a : r", last).proved();
    choose("[0, 15]", "r", last).open("");
    choose("[0, 14]", "r", last).proved();
    choose("[0, 16]", "bit == 15 ? a : r", last).open("no function of one sum");
    // What is wrong at one of the values is shown with it.
    let of = |at: i64| {
        let inputs = [input("a", "i32", I32), format!("{BIT}[0, 5]")];
        map("i32", I32, "bit == 3 ? -a - 1 : a", &inputs).each(move |m, i| {
            let (x, bit) = (m.input(0, i), m.input(1, 0));
            let is = m.by(Op::Eq, bit, at);
            let mask = m.node(32, Op::Sext, &[is]);
            m.two(Op::Xor, x, mask)
        })
    };
    of(3).proved();
    let shown = of(5).wrong();
    assert!(shown.iter().any(|x| x.0 == 2 && x.2 == 3), "{shown:?}");
    // A number that is given is that number.
    let given = |n: i64| {
        let inputs = [input("a", "i16", (0, 9)), "n: role = \"number\"; value = 5".to_string()];
        map("i16", I16, "a + n", &inputs).each(move |m, i| {
            let x = m.input(0, i);
            m.by(Op::Add, x, n)
        })
    };
    given(5).proved();
    given(6).wrong();
}

/// Choices between bits of two inputs of many values.
#[test]
fn choices_of_bits_are_what_they_choose() {
    type Change = fn(&mut Map, NodeId) -> NodeId;
    let of = |elements: [&str; 2], exit, change: Change| {
        let range = if elements[1] == "u32" { U32 } else { I32 };
        let inputs = [input("r", "i32", I32), input("a", elements[1], range)];
        map(elements[0], exit, "a", &inputs).each(|m, i| {
            let (r, a) = (m.input(0, i), m.input(1, i));
            let a = change(m, a);
            let not = m.by(Op::Xor, r, -1);
            let both = [r, not].map(|r| m.two(Op::And, r, a));
            m.two(Op::Or, both[0], both[1])
        })
    };
    let (unsigned, signed) = (["u32", "u32"], ["i32", "i32"]);
    of(unsigned, U32, |_, x| x).proved();
    of(signed, I32, |_, x| x).proved();
    // One bit is forgotten, set or turned; or what is right of words that are all zeros or ones.
    let broken: [Change; 4] = [
        |m, x| m.by(Op::And, x, 0xffff_fffe),
        |m, x| m.by(Op::Xor, x, 1 << 16),
        |m, x| m.by(Op::Or, x, 1),
        |m, x| {
            let sign = m.node(1, Op::Slice { lo: 31 }, &[x]);
            m.node(32, Op::Sext, &[sign])
        },
    ];
    for broken in broken {
        assert!(of(unsigned, U32, broken).check().is_err());
    }
    // An integer that is negative is no word without sign, and what is promised is no less than what is given.
    of(["u32", "i32"], U32, |_, x| x).wrong();
    of(["i32", "u32"], I32, |_, x| x).wrong();
    for exit in [(0, U32.1 - 1), (1, U32.1)] {
        of(unsigned, exit, |_, x| x).wrong();
    }
    // What is always zero is no other input.
    let inputs = [input("r", "u32", U32), input("b", "u32", U32), input("a", "u32", U32)];
    map("u32", U32, "a", &inputs)
        .each(|m, i| {
            let (r, b) = (m.input(0, i), m.input(1, i));
            let both = m.two(Op::And, r, b);
            let one = m.two(Op::Xor, r, b);
            m.two(Op::And, both, one)
        })
        .open("no function of one sum");
}

/// Fields side by side in bytes.
#[test]
fn each_packed_field_is_compared() {
    let of = |range: (i64, i64), swapped: Option<usize>, unpacks: bool| {
        let packed = |name: &str, role: &str, more: &str| {
            let role =
                format!("{name}: role = \"{role}\"; element = \"u8\"; bits = 12; length = 4");
            format!("{role}; range = [{}, {}]{more}", range.0.max(0), range.1.min(4095))
        };
        let formula = "; formula = \"a\"";
        let plain = |name: &str, role: &str, more: &str| array(name, role, "i16", range, more);
        let all = match unpacks {
            true => [plain("c", "output", formula), packed("a", "input", "")],
            false => [packed("c", "output", formula), plain("a", "input", "")],
        };
        let word = move |m: &mut Map, i: u32| {
            let i = if swapped == Some(i as usize) { i ^ 1 } else { i };
            let x = m.input(0, i);
            m.node(12, Op::Slice { lo: 0 }, &[x])
        };
        Map::new(&[&all[0], &all[1]]).each(move |m, i| {
            if unpacks {
                let first = 3 * i / 2;
                let all = [m.input(0, first), m.input(0, first + 1)];
                let both = m.node(16, Op::Concat, &all);
                let lo = if swapped == Some(i as usize) { 3 } else { 4 * (i as u8 % 2) };
                let field = m.node(12, Op::Slice { lo }, &[both]);
                return m.node(16, Op::Zext, &[field]);
            }
            let (field, lo) = (2 * (i / 3), 8 * (i as u8 % 3));
            let both = [word(m, field), word(m, field + 1)];
            let both = m.node(24, Op::Concat, &both);
            m.node(8, Op::Slice { lo }, &[both])
        })
    };
    for unpacks in [false, true] {
        of((0, 4095), None, unpacks).proved();
        for field in 0..4 {
            of((0, 511), None, unpacks).proved();
            of((0, 511), Some(field), unpacks).wrong();
        }
    }
    // What is larger than a field is cut off.
    of((0, 4096), None, false).wrong();
    of((-1, 4095), None, false).wrong();
}

/// What was read, and what was not.
#[test]
fn what_no_output_depends_on_is_told() {
    let inputs = [input("a", "i16", (0, 9)), input("b", "i16", (0, 9))];
    let done = map("i16", I16, "0", &inputs)
        .each(|m, i| {
            let x = m.input(0, i / 2);
            let wide = m.by(Op::And, x, 16);
            let low = m.input(0, 3);
            let zero = m.by(Op::Sub, low, 10);
            let zero = m.node(16, Op::Lshr(15), &[zero]);
            let zero = m.by(Op::Sub, zero, 1);
            m.two(Op::Add, wide, zero)
        })
        .proved();
    let all = (0..3).map(|i| (1, i)).chain((0..4).map(|i| (2, i)));
    assert_eq!(done.unread, all.collect::<Vec<_>>());
}

/// Every output is compared, with its own formula, and a call is one of the contract's.
#[test]
fn all_outputs_are_compared() {
    let two = |second: &str| {
        let output = |name: &str, formula: &str| {
            array(name, "output", "i16", I16, &format!("; formula = \"{formula}\""))
        };
        Map::new(&[&output("c", "a"), &output("d", second), &input("a", "i16", (0, 9))])
            .each(|m, i| m.input(0, i))
    };
    two("a").each(|m, i| m.input(0, i)).proved();
    two("a + 1").each(|m, i| m.input(0, i)).wrong();
    two("a + 1").each(|m, i| m.input(0, i ^ 1)).wrong();
    two("a").open("other outputs");
    two("a").each(|m, i| m.input(0, i)).gives(|m| m.input(0, 0)).open("other outputs");
    let mut short = two("a").each(|m, i| m.input(0, i));
    short.outputs[1].pop();
    short.open("the kernel cannot go on");
    let mut none = two("a");
    none.outputs.clear();
    none.contract.arguments.drain(..2);
    none.open("nothing is compared");
    // An address, and an operand that is none.
    two("a").each(|m, _| m.node(16, Op::Address { region: 0, offset: 0 }, &[])).open("an address");
    two("a").each(|m, _| m.node(16, Op::Input { operand: 7, index: 0 }, &[])).open("unknown");
}

/// What is long ends.
#[test]
fn work_and_depth_end() {
    let deep = |levels: u32| {
        map(
            "i16",
            I16,
            "a + LEVELS".replace("LEVELS", &levels.to_string()).as_str(),
            &[input("a", "i16", (0, 9))],
        )
        .each(move |m, i| {
            let mut x = m.input(0, i);
            for _ in 0..levels {
                x = m.by(Op::Add, x, 1);
            }
            x
        })
    };
    deep(2000).proved();
    deep(3000).open("a term of more than 2500 terms");
    let small = |second: bool| {
        let inputs = [input("a", "i16", (0, 999)), input("b", "i16", (0, 9))];
        map("i16", I16, "a", &inputs[..1 + usize::from(second)]).each(move |m, i| {
            let x = m.input(0, i);
            let y = m.input(u16::from(second), i);
            let y = m.by(Op::Sub, y, 1000);
            let y = m.node(16, Op::Lshr(15), &[y]);
            let y = m.by(Op::Sub, y, 1);
            m.two(Op::Add, x, y)
        })
    };
    for (second, work) in [(false, 1000), (true, 10000)] {
        small(second).proved();
        let refused = small(second).check_for(work);
        assert!(
            matches!(&refused, Err(Flaw::Open { why, .. }) if why.contains("more work")),
            "{refused:?}"
        );
    }
    let map = small(false);
    let (outputs, name) = (map.outputs.clone(), String::new());
    let case = MapCase { name, outputs, result: None, certain: true };
    let stopped = check(&map.contract, &map.graph, &case, Limits::default(), &|_| false);
    assert_eq!(stopped, Err(Flaw::Stopped("stopped".into())));
}
