//! Results that say whether two arrays are equal: each bit counts, at its place, and every value of the word that says so.

mod common;

use common::maps::Map;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{NodeId, Op};

const ANY: &str = "element = \"u32\", equal = 0";
const TWO: &str = "element = \"u32\", equal = 0, different = 1";

/// Two arrays of `length` elements.
fn arrays(returns: &str, element: &str, length: u32) -> Map {
    let hi = if element == "u8" { 255 } else { 65535 };
    let array = |name: &str| {
        format!(
            "{name}: role = \"input\"; element = \"{element}\"; length = {length}; range = [0, {hi}]"
        )
    };
    Map::of(
        &format!("computes = \"equal\"\nreturns = {{ {returns} }}"),
        &[&array("a"), &array("b")],
    )
}

/// The exclusive or of two elements.
fn xor(m: &mut Map, i: u32, j: u32) -> NodeId {
    let (x, y) = (m.input(0, i), m.input(1, j));
    m.two(Op::Xor, x, y)
}

fn or(m: &mut Map, all: &[NodeId]) -> NodeId {
    let (&first, rest) = all.split_first().expect("some");
    rest.iter().fold(first, |x, &y| m.two(Op::Or, x, y))
}

/// All elements, or'ed together.
fn all(m: &mut Map, length: u32) -> NodeId {
    let all: Vec<NodeId> = (0..length).map(|i| xor(m, i, i)).collect();
    or(m, &all)
}

fn zext(m: &mut Map, x: NodeId) -> NodeId {
    m.node(32, Op::Zext, &[x])
}

/// The sign of -x: 1 for all but zero.
fn sign(m: &mut Map, x: NodeId) -> NodeId {
    let zero = m.constant(32, 0);
    let negative = m.two(Op::Sub, zero, x);
    m.node(32, Op::Lshr(31), &[negative])
}

#[test]
fn each_element_is_compared_with_its_own() {
    let of = |pairs: &[(u32, u32)]| {
        arrays(ANY, "u8", 4).gives(|m| {
            let all: Vec<NodeId> = pairs.iter().map(|&(i, j)| xor(m, i, j)).collect();
            let all = or(m, &all);
            zext(m, all)
        })
    };
    let done = of(&[(0, 0), (1, 1), (2, 2), (3, 3)]).proved();
    assert!((done.fields, done.terms) == (1, 1) && done.points > 0);
    of(&[(3, 3), (0, 0), (2, 2), (1, 1), (0, 0)]).proved();
    for missing in 0..4 {
        let some: Vec<(u32, u32)> = (0..4).filter(|i| *i != missing).map(|i| (i, i)).collect();
        of(&some).open("if and only if the arrays are equal");
    }
    of(&[(0, 0), (1, 1), (2, 3), (3, 2)]).open("if and only if the arrays are equal");
    // An array with itself, and elements that the arrays do not have.
    let own = arrays(ANY, "u8", 1).gives(|m| {
        let (x, y) = (m.input(0, 0), m.input(0, 1));
        let x = m.two(Op::Xor, x, y);
        zext(m, x)
    });
    own.open("if and only if the arrays are equal");
    // Operands beyond the two arrays.
    let other = arrays(ANY, "u8", 1).gives(|m| {
        let (x, y) = (m.input(0, 0), m.node(8, Op::Input { operand: 2, index: 0 }, &[]));
        let x = m.two(Op::Xor, x, y);
        zext(m, x)
    });
    other.open("");
}

/// Operations in which differences may cancel, or be lost.
#[test]
fn no_difference_is_lost() {
    let of = |join: fn(&mut Map, NodeId, NodeId) -> NodeId| {
        arrays(ANY, "u8", 2).gives(|m| {
            let (x, y) = (xor(m, 0, 0), xor(m, 1, 1));
            let both = join(m, x, y);
            if m.width(both) == 32 { both } else { zext(m, both) }
        })
    };
    of(|m, x, y| m.two(Op::Or, x, y)).proved();
    of(|m, x, y| m.node(16, Op::Concat, &[x, y])).proved();
    let both: [fn(&mut Map, NodeId, NodeId) -> NodeId; 7] = [
        |m, x, y| m.two(Op::Xor, x, y),
        |m, x, y| m.two(Op::And, x, y),
        |m, x, y| m.two(Op::Add, x, y),
        |m, x, y| m.two(Op::Mul, x, y),
        |m, x, y| m.two(Op::Sub, x, y),
        |_, x, _| x,
        |_, _, y| y,
    ];
    for both in both {
        of(both).open("");
    }
    // Of one element: what keeps all its bits, and what does not.
    let one = |change: fn(&mut Map, NodeId) -> NodeId| {
        arrays(ANY, "u8", 1).gives(|m| {
            let x = xor(m, 0, 0);
            let y = change(m, x);
            if m.width(y) == 32 { y } else { zext(m, y) }
        })
    };
    let fine: [fn(&mut Map, NodeId) -> NodeId; 9] = [
        |_, x| x,
        |m, x| m.by(Op::And, x, 255),
        |m, x| {
            let wide = zext(m, x);
            m.by(Op::And, wide, 255)
        },
        |m, x| m.node(32, Op::Sext, &[x]),
        |m, x| {
            let wide = zext(m, x);
            m.node(32, Op::Shl(24), &[wide])
        },
        |m, x| {
            let wide = zext(m, x);
            let high = m.node(32, Op::Shl(7), &[wide]);
            m.node(32, Op::Lshr(7), &[high])
        },
        |m, x| {
            let wide = m.node(16, Op::Sext, &[x]);
            m.node(16, Op::Ashr(0), &[wide])
        },
        |m, x| {
            let zero = m.constant(8, 0);
            m.two(Op::Xor, zero, x)
        },
        |m, x| {
            let zero = m.constant(8, 0);
            m.two(Op::Xor, x, zero)
        },
    ];
    for change in fine {
        one(change).proved();
    }
    let broken: [fn(&mut Map, NodeId) -> NodeId; 12] = [
        |m, x| m.by(Op::And, x, 127),
        |m, x| m.by(Op::And, x, 254),
        |m, x| m.by(Op::Or, x, 1),
        |m, x| m.by(Op::Xor, x, 1),
        |m, x| m.node(8, Op::Shl(1), &[x]),
        |m, x| m.node(8, Op::Lshr(1), &[x]),
        |m, x| m.node(8, Op::Ashr(1), &[x]),
        |m, x| m.node(7, Op::Slice { lo: 0 }, &[x]),
        |m, x| m.node(7, Op::Slice { lo: 1 }, &[x]),
        |m, x| {
            let wide = zext(m, x);
            m.node(32, Op::Shl(25), &[wide])
        },
        |m, x| {
            let wide = m.node(16, Op::Sext, &[x]);
            m.node(16, Op::Lshr(8), &[wide])
        },
        |m, x| m.by(Op::Sub, x, 0x80),
    ];
    for change in broken {
        one(change).open("");
    }
}

fn slice(m: &mut Map, x: NodeId, lo: u8, width: u8) -> NodeId {
    m.node(width, Op::Slice { lo }, &[x])
}

/// What is not zero for equal arrays is in no word that says so, in upper bits either.
#[test]
fn what_is_no_difference_is_in_no_word() {
    let of = |beside: fn(&mut Map, NodeId) -> NodeId| {
        arrays(ANY, "u16", 1).gives(|m| {
            let (all, a) = (xor(m, 0, 0), m.input(0, 0));
            let beside = beside(m, a);
            let word = m.node(16 + m.width(beside), Op::Concat, &[all, beside]);
            zext(m, word)
        })
    };
    let beside: [fn(&mut Map, NodeId) -> NodeId; 9] = [
        |m, a| slice(m, a, 8, 8),
        |m, a| {
            let twice = m.node(32, Op::Concat, &[a, a]);
            slice(m, twice, 16, 8)
        },
        |m, a| {
            let all = xor(m, 0, 0);
            let both = m.two(Op::Xor, a, all);
            slice(m, both, 8, 8)
        },
        |m, a| {
            let all = xor(m, 0, 0);
            let both = m.two(Op::Xor, all, a);
            slice(m, both, 8, 8)
        },
        |m, a| {
            let same = m.by(Op::Xor, a, 0);
            slice(m, same, 8, 8)
        },
        |m, a| {
            let low = slice(m, a, 0, 8);
            let wide = m.node(16, Op::Sext, &[low]);
            slice(m, wide, 8, 8)
        },
        |m, a| {
            let high = m.node(16, Op::Ashr(8), &[a]);
            slice(m, high, 8, 8)
        },
        |m, a| {
            let high = m.node(16, Op::Shl(5), &[a]);
            slice(m, high, 4, 4)
        },
        |m, a| {
            let high = m.node(16, Op::Lshr(5), &[a]);
            slice(m, high, 4, 8)
        },
    ];
    for beside in beside {
        of(beside).open("the result depends on more than one word");
    }
    of(|m, _| xor(m, 0, 0)).proved();
}

/// Each region has its own place, however it was moved.
#[test]
fn regions_are_those_that_were_moved() {
    // The upper half of the second element is no half of the first one.
    let of = |lo: u8| {
        arrays(ANY, "u16", 2).gives(|m| {
            let (first, second) = (xor(m, 0, 0), xor(m, 1, 1));
            let parts = [slice(m, first, 0, 8), slice(m, first, lo, 8), slice(m, second, 8, 8)];
            let all = m.node(24, Op::Concat, &parts);
            let (all, second) = (zext(m, all), zext(m, second));
            m.two(Op::Or, all, second)
        })
    };
    of(8).proved();
    of(0).open("if and only if the arrays are equal");
    // Bits 4 to 12 are not looked at, or are.
    let of = |op: Op, lo: u8| {
        arrays(ANY, "u16", 1).gives(move |m| {
            let all = xor(m, 0, 0);
            let moved = m.node(16, op.clone(), &[all]);
            let parts = [slice(m, all, 0, 4), slice(m, all, 12, 4), slice(m, moved, lo, 8)];
            let all = m.node(16, Op::Concat, &parts);
            zext(m, all)
        })
    };
    for op in [Op::Ashr(4), Op::Lshr(4)] {
        of(op.clone(), 0).proved();
        of(op, 8).open("");
    }
}

/// A difference is zero for equal words, as far as its low bits.
#[test]
fn differences_are_of_whole_words() {
    let of = |slice: Option<(u8, u8)>, wide: bool| {
        arrays(ANY, "u8", 2).gives(|m| {
            let word = |m: &mut Map, operand| {
                let all = [m.input(operand, 0), m.input(operand, 1)];
                let word = m.node(16, Op::Concat, &all);
                if wide { m.node(32, Op::Zext, &[word]) } else { word }
            };
            let (x, y) = (word(m, 0), word(m, 1));
            let d = m.two(Op::Sub, x, y);
            let d = slice.map_or(d, |(lo, w)| m.node(w, Op::Slice { lo }, &[d]));
            if m.width(d) == 32 { d } else { zext(m, d) }
        })
    };
    of(None, false).proved();
    of(None, true).proved();
    of(Some((0, 16)), true).proved();
    of(Some((0, 17)), true).proved();
    for (slice, wide) in [((0, 15), false), ((1, 15), false), ((8, 16), true), ((1, 16), true)] {
        of(Some(slice), wide).open("");
    }
    // Of words that are extended with their sign, bits above are none of their own.
    let signed = arrays(ANY, "u8", 1).gives(|m| {
        let (x, y) = (m.input(0, 0), m.input(1, 0));
        let (x, y) = (m.node(32, Op::Sext, &[x]), m.node(32, Op::Sext, &[y]));
        let both = m.two(Op::Xor, x, y);
        let high = m.node(9, Op::Slice { lo: 7 }, &[both]);
        zext(m, high)
    });
    signed.open("");
    let shifted = |op: Op| {
        arrays(ANY, "u8", 1).gives(move |m| {
            let (x, y) = (m.input(0, 0), m.input(1, 0));
            let (x, y) = (m.node(8, op.clone(), &[x]), m.node(8, op.clone(), &[y]));
            let both = m.two(Op::Xor, x, y);
            zext(m, both)
        })
    };
    for op in [Op::Ashr(1), Op::Lshr(1), Op::Shl(1), Op::Ashr(7)] {
        shifted(op).open("");
    }
    // One of both with its sign, and the other one without.
    for ops in [[Op::Sext, Op::Zext], [Op::Zext, Op::Sext]] {
        let mixed = arrays(ANY, "u8", 1).gives(|m| {
            let (x, y) = (m.input(0, 0), m.input(1, 0));
            let (x, y) = (m.node(32, ops[0].clone(), &[x]), m.node(32, ops[1].clone(), &[y]));
            m.two(Op::Xor, x, y)
        });
        mixed.open("if and only if the arrays are equal");
    }
    // The same places of both, moved alike, and not.
    let moved = |by: [u8; 2]| {
        arrays(ANY, "u8", 1).gives(move |m| {
            let (x, y) = (m.input(0, 0), m.input(1, 0));
            let (x, y) = (zext(m, x), zext(m, y));
            let (x, y) = (m.node(32, Op::Shl(by[0]), &[x]), m.node(32, Op::Shl(by[1]), &[y]));
            m.two(Op::Xor, x, y)
        })
    };
    moved([5, 5]).proved();
    moved([5, 4]).open("");
    moved([25, 25]).open("");
}

/// The result is what the contract says at zero, and at every other value of one word.
#[test]
fn the_result_is_right_at_every_value() {
    let of = |returns: &str, result: fn(&mut Map, NodeId) -> NodeId| {
        arrays(returns, "u16", 2).gives(|m| {
            let y = all(m, 2);
            let y = zext(m, y);
            result(m, y)
        })
    };
    of(TWO, sign).proved();
    of("element = \"i32\", equal = 0, different = 1", sign).proved();
    of(ANY, sign).proved();
    of("element = \"u32\", equal = 1, different = 0", |m, x| {
        let s = sign(m, x);
        m.by(Op::Xor, s, 1)
    })
    .proved();
    of("element = \"i32\", equal = -1, different = 0", |m, x| {
        let s = sign(m, x);
        m.by(Op::Sub, s, 1)
    })
    .proved();
    of("element = \"u32\", equal = 4294967295, different = 0", |m, x| {
        let s = sign(m, x);
        m.by(Op::Sub, s, 1)
    })
    .proved();
    of("element = \"u32\", equal = 5", |m, x| m.by(Op::Add, x, 5)).proved();
    of("element = \"i32\", equal = -5", |m, x| m.by(Op::Sub, x, 5)).proved();
    let wrong = "the result is not what it should be";
    of(TWO, |_, x| x).open(wrong);
    of("element = \"u32\", equal = 0, different = 2", sign).open(wrong);
    of("element = \"u32\", equal = 1", sign).open(wrong);
    of("element = \"u32\", equal = 1, different = 0", sign).open(wrong);
    of("element = \"u32\", equal = 4294967295, different = 1", sign).open(wrong);
    of("element = \"u32\", equal = 2, different = 0", |m, x| {
        let s = sign(m, x);
        m.by(Op::Xor, s, 1)
    })
    .open(wrong);
    // Wrong at one value, or at the largest.
    let but: [fn(&mut Map, NodeId) -> NodeId; 4] = [
        |m, x| {
            let (s, zero) = (sign(m, x), m.constant(32, 0));
            let odd = m.node(32, Op::Shl(31), &[x]);
            let odd = m.by(Op::Add, odd, 5);
            let bit = m.by(Op::Eq, odd, (1 << 31) + 5);
            m.select(bit, zero, s)
        },
        |m, x| {
            let (s, zero) = (sign(m, x), m.constant(32, 0));
            let bit = m.by(Op::Eq, x, 65535);
            m.select(bit, zero, s)
        },
        |m, x| {
            let (s, zero) = (sign(m, x), m.constant(32, 0));
            let bit = m.by(Op::Eq, x, 1);
            m.select(bit, zero, s)
        },
        |m, x| {
            let (s, one) = (sign(m, x), m.constant(32, 1));
            let bit = m.by(Op::Eq, x, 0);
            m.select(bit, one, s)
        },
    ];
    for but in but {
        of(TWO, but).open("the result");
        of(ANY, but).open("the result");
    }
    // One that the word never has does not matter.
    of(TWO, |m, x| {
        let (s, zero) = (sign(m, x), m.constant(32, 0));
        let bit = m.by(Op::Eq, x, 65536);
        m.select(bit, zero, s)
    })
    .proved();
}

/// The result depends on nothing but that word, however long it is.
#[test]
fn the_result_is_a_function_of_one_word() {
    let more = arrays(TWO, "u8", 2).gives(|m| {
        let y = all(m, 2);
        let y = zext(m, y);
        let (s, x) = (sign(m, y), m.input(0, 1));
        let bit = m.by(Op::Eq, x, 7);
        let one = m.constant(32, 1);
        let both = m.two(Op::Xor, s, one);
        m.select(bit, both, s)
    });
    more.open("depends on more than one word");
    let address = arrays(TWO, "u8", 2).gives(|m| {
        let y = all(m, 2);
        let y = zext(m, y);
        let s = sign(m, y);
        let base = m.node(64, Op::Address { region: 0, offset: 0 }, &[]);
        let low = m.node(32, Op::Slice { lo: 0 }, &[base]);
        m.two(Op::Xor, s, low)
    });
    address.open("an address");
    let wide = |length: u32| {
        arrays("element = \"i32\", equal = 0", "u8", length).gives(|m| {
            let all: Vec<NodeId> = (0..length).map(|i| xor(m, i, i)).collect();
            let mut word = m.node(8 * length as u8, Op::Concat, &all);
            if length < 8 {
                word = m.node(64, Op::Zext, &[word]);
            }
            let zero = m.constant(64, 0);
            let negative = m.two(Op::Sub, zero, word);
            let high = m.node(64, Op::Lshr(63), &[negative]);
            m.node(32, Op::Slice { lo: 0 }, &[high])
        })
    };
    wide(6).proved();
    wide(7).proved();
    // The sign of -x says nothing of x below 0.
    wide(8).open("the result");
    // Regions in each other, to some depth.
    let deep = |levels: u32| {
        arrays(ANY, "u16", 2).gives(|m| {
            let mut x = xor(m, 0, 0);
            for _ in 0..levels {
                let other = m.by(Op::And, x, -1);
                x = m.two(Op::Or, x, other);
            }
            let halves = [0, 8].map(|lo| m.node(8, Op::Slice { lo }, &[x]));
            let both = m.node(16, Op::Concat, &halves);
            let other = xor(m, 1, 1);
            let all = m.two(Op::Or, both, other);
            zext(m, all)
        })
    };
    deep(1000).proved();
    deep(2600).open("if and only if the arrays are equal");
    let none = arrays(TWO, "u8", 2).gives(|m| m.constant(32, 1));
    none.open("if and only if the arrays are equal");
}

/// Whatever is accepted says the truth: for equal arrays, for one bit that differs, and for many.
#[test]
fn what_is_accepted_is_true() {
    let mut rng = StdRng::seed_from_u64(5);
    let mut accepted = 0;
    for round in 0..250 {
        let map = arrays(ANY, "u8", 2).gives(|m| {
            let mut words: Vec<NodeId> = (0..2).map(|i| xor(m, i, i)).collect();
            words.extend((0..4).map(|i| m.input(i / 2, (i % 2).into())));
            let both = m.two(Op::Or, words[0], words[1]);
            words.extend([both; 4]);
            for _ in 0..rng.random_range(1..7) {
                let x = words[rng.random_range(0..words.len())];
                let w = m.width(x);
                let same: Vec<NodeId> =
                    words.iter().copied().filter(|y| m.width(*y) == w).collect();
                let y = same[rng.random_range(0..same.len())];
                let c = rng.random_range(0..w);
                let made = match rng.random_range(0..13) {
                    0..4 => m.two(Op::Or, x, y),
                    4 => m.two(Op::Xor, x, y),
                    5 if w <= 16 => m.node(2 * w, Op::Concat, &[x, y]),
                    6 if w <= 16 => m.node(2 * w, Op::Zext, &[x]),
                    7 if w <= 16 => m.node(2 * w, Op::Sext, &[x]),
                    8 => m.node(w, Op::Shl(c), &[x]),
                    9 => m.node(w, [Op::Lshr(c), Op::Ashr(c)][usize::from(c % 2)].clone(), &[x]),
                    10 if w > 8 => m.node(8, Op::Slice { lo: c.min(w - 8) }, &[x]),
                    11 => m.two(Op::Sub, x, y),
                    _ => m.by(Op::And, x, [255, -1, 127][usize::from(c % 3)]),
                };
                words.push(made);
            }
            let last = *words.last().expect("some");
            if m.width(last) == 32 { last } else { zext(m, last) }
        });
        if map.check().is_err() {
            continue;
        }
        accepted += 1;
        let tape = Tape::new(&map.graph, &[map.result.expect("one")]).expect("no address");
        for _ in 0..20 {
            let a: u16 = rng.random();
            let others = (0..16).map(|bit| a ^ 1 << bit).chain([a, rng.random()]);
            for b in others {
                let of = |operand: u16| if operand == 0 { a } else { b };
                let found = tape.run(|operand, i| u64::from(of(operand) >> (8 * i) & 255))[0];
                assert_eq!(found == 0, a == b, "{round}: {a:x} {b:x}, {:?}", map.result);
            }
        }
    }
    assert!(accepted > 40, "{accepted}");
}
