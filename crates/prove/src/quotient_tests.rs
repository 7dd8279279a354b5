//! Quotients of one sum, spelled out and by its name.

use crate::cut::Cutter;
use crate::values::{Atom, AtomId, Base, Form, Source, VarId};

/// A prime that the contract, modulo 2048, does not name.
const P: i64 = 12902401;

/// Tables for wide words with three inputs of at most `most` either way.
fn tables(most: i64) -> (Cutter, [AtomId; 3]) {
    let mut cut = Cutter::new(2048);
    cut.world.wide = true;
    let inputs = [0, 1, 2].map(|i| {
        let v = cut.test_input(i, most);
        cut.world.var(v).atom
    });
    (cut, inputs)
}

fn sum(terms: &[(AtomId, i64)]) -> Form {
    terms.iter().fold(Form::default(), |sum, &(a, c)| Form::combine(&sum, 1, &Form::atom(a), c, 64))
}

/// The integer that a variable is.
fn variable(cut: &mut Cutter, v: VarId, at: &[i64]) -> i64 {
    match cut.world.var(v).source.clone() {
        Source::Input { index, .. } => at[index as usize],
        Source::Cut { form, .. } => value(cut, &form, at),
    }
}

/// The integer that a form is, its coefficients as they stand.
fn value(cut: &mut Cutter, form: &Form, at: &[i64]) -> i64 {
    let mut all = form.k;
    for &(a, c) in &form.t {
        all += c * match cut.world.atoms[a as usize] {
            Atom::Var(v) => variable(cut, v, at),
            Atom::Fun(Base::Var(v), f) => {
                let x = variable(cut, v, at);
                cut.world.funs.at(f, x)
            }
            Atom::Floor(f) => {
                let floor = cut.world.floors[f as usize].clone();
                value(cut, &floor.form, at) >> floor.bits
            }
            _ => panic!("no such part"),
        };
    }
    all
}

/// Checks `floor(form / 2^bits)` in a word of 64 bits, and what it is said to be taken of, on all corners and a
/// few points inside.
fn exact(cut: &mut Cutter, form: &Form, bits: u8, most: i64) -> Form {
    let floor = cut.floor(form, bits, 64);
    let (taken, base) = cut.taken.clone();
    // What is left of multiples of 2^bits is of the base.
    let left = |t: &&(AtomId, i64)| t.1 & ((1 << bits) - 1) != 0;
    assert!(base.is_none() || taken.t.iter().filter(left).all(|t| cut.base(t.0) == base));
    let all = [-most, -1, 0, most / 3, most];
    for x in all {
        for y in all {
            for z in all {
                let at = [x, y, z];
                assert_eq!(value(cut, &floor, &at), value(cut, form, &at) >> bits, "{at:?}");
                assert_eq!(value(cut, &taken, &at), value(cut, form, &at), "{at:?}");
            }
        }
    }
    floor
}

#[test]
fn quotients_of_a_sum_and_of_its_name_are_one() {
    const MOST: i64 = 400_000;
    for c in [2_858_685, -2_858_685, 9_584_317] {
        let (mut cut, [x, y, z]) = tables(MOST);
        let (v, m, k) = cut.as_variable(&sum(&[(x, 1), (y, -1)]), 32).unwrap();
        let name = cut.world.var(v).atom;
        assert!(k == 0 && m.abs() == 1);
        let named = exact(&mut cut, &sum(&[(name, m * c)]).plus(1 << 30, 64), 31, MOST);
        let mut same = |terms: &[(AtomId, i64)], plus: i64| {
            exact(&mut cut, &sum(terms).plus(plus, 64), 31, MOST) == named
        };
        assert!(same(&[(x, c), (y, -c)], 1 << 30), "{c}");
        // Another sum, another multiple, another constant, something beside it.
        assert!(!same(&[(x, c), (y, c)], 1 << 30));
        assert!(!same(&[(x, c), (y, -c - 2)], 1 << 30));
        assert!(!same(&[(x, c + 2), (y, -c - 2)], 1 << 30));
        assert!(!same(&[(x, c), (y, -c)], 0));
        assert!(!same(&[(x, c), (y, -c), (z, 1)], 1 << 30));
    }
}

#[test]
fn quotients_of_a_product_and_of_what_it_is_modulo_the_word_cancel() {
    // c/P modulo 2^32, for three small c.
    let inverse = crate::values::inverse(P);
    let low = |c: i64| crate::funs::centre(c.wrapping_mul(inverse), 32);
    let upper = [77, 1267, -1098];
    for (p, change, right) in
        [(P, 0, true), (P + 2, 0, false), (1 - P, 0, false), (P, 2, false), (P, 1 << 12, false)]
    {
        let (mut cut, inputs) = tables(1);
        let terms = |c: [i64; 3]| sum(&inputs.into_iter().zip(c).collect::<Vec<_>>());
        let word = terms(upper.map(low));
        let r = cut.read(&word).unwrap();
        assert!(r.hi - r.lo >= 1 << 32, "the sum is to wrap: {r:?}");
        let (v, sign) = cut.variable(word, r);
        let name = sum(&[(cut.world.var(v).atom, sign)]);
        let product = exact(&mut cut, &name.scaled(p, 64), 32, 1);
        let [x, y, z] = upper;
        let high = exact(&mut cut, &terms([x + change, y, z]), 32, 1);
        let left = Form::combine(&product, 1, &high, -1, 64);
        // Montgomery's difference, an integer form: nothing of a quotient is left.
        let cancel = left.t.iter().all(|t| matches!(cut.world.atoms[t.0 as usize], Atom::Var(_)));
        assert_eq!(cancel, right, "{p} {change}: {left:?}");
        // Of 2^j times the product, by as much more.
        for j in 1..4 {
            assert_eq!(exact(&mut cut, &name.scaled(p << j, 64), 32 + j as u8, 1), product);
        }
    }
}
