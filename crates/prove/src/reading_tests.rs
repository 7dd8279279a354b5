//! Quotients beside functions of the same variable.

use crate::cut::Cutter;
use crate::funs::Op;
use crate::uses::Use;
use crate::values::{Atom, Base, Form};

/// The upper word of a product by a constant from one without sign, less the same as a quotient.
fn difference(cut: &mut Cutter, most: i64, c: i64, other: i64) -> Form {
    let v = cut.test_input(0, most);
    let word = cut.world.funs.lin(32, 0, 1, &[]);
    let plain = cut.op(64, Op::Zext, &[word]);
    let product = cut.world.funs.lin(64, 0, 0, &[(plain, c)]);
    let upper = cut.op(32, Op::Slice { lo: 32 }, &[product]);
    let sign = cut.op(1, Op::Slice { lo: 31 }, &[word]);
    let [upper, sign] = [upper, sign].map(|f| cut.world.atom(Atom::Fun(Base::Var(v), f)));
    let signed = Form::combine(&Form::atom(upper), 1, &Form::atom(sign), c, 64);
    let whole = Form::atom(cut.world.var(v).atom).scaled(other, 64);
    let quotient = cut.floor(&whole, 32, 64);
    assert!(cut.world.has_floor(&quotient));
    Form::combine(&signed, 1, &quotient, -1, 64)
}

#[test]
fn corrected_products_without_sign_are_those_with_sign() {
    let read = |most, c, other| {
        let mut cut = Cutter::new(8380417);
        let form = difference(&mut cut, most, c, other);
        cut.read(&form).unwrap()
    };
    for c in [3_572_223, 8_380_415] {
        let r = read(20_000, c, c);
        assert!(r.residue.is_some() && (r.lo, r.hi) == (0, 0), "{c}: [{}, {}]", r.lo, r.hi);
        // By another constant, and of more values than are enumerated.
        let r = read(20_000, c, c + 1_000_000);
        assert!(r.residue.is_none() && r.lo < 0 && r.hi > 0, "{c}: [{}, {}]", r.lo, r.hi);
        assert!(read(40_000, c, c).residue.is_none(), "{c}");
    }
}

/// Products by hundreds of constants of a word that is a function of a wide variable are looked at once, and each is what
/// the function is, times the constant.
#[test]
fn multiples_of_a_function_are_one_function() {
    let (q, most) = (32041i64, 1i64 << 22);
    let mut cut = Cutter::new(q as u32);
    let v = cut.test_input(0, most);
    // v - q·round(v / q).
    let wide = cut.world.funs.lin(64, 1 << 39, (1 << 40) / q, &[]);
    let part = cut.op(24, Op::Slice { lo: 40 }, &[wide]);
    let quotient = cut.extend(part, 32, true);
    let reduced = cut.world.funs.lin(32, 0, 1, &[(quotient, -q)]);
    let atom = cut.world.atom(Atom::Fun(Base::Var(v), reduced));
    let before = cut.enumeration.budget;
    let one = cut.read(&Form::atom(atom)).unwrap();
    let once = before - cut.enumeration.budget;
    let line = one.residue.expect("a residue");
    assert!(one.hi - one.lo < q.into() && line.m == q as u32 && once > 0);
    for i in 1..400i64 {
        let c = if i % 2 == 0 { 79 * i } else { -79 * i };
        let r = cut.read(&Form::atom(atom).scaled(c, 64).plus(i, 64)).unwrap();
        let ends = [one.lo, one.hi].map(|x| x * i128::from(c) + i128::from(i));
        assert_eq!((r.lo, r.hi), (ends[0].min(ends[1]), ends[0].max(ends[1])), "{c}");
        let residue = r.residue.expect("a residue");
        let times = c.rem_euclid(q) as u32;
        assert_eq!((residue.m, residue.k, residue.t.len()), (q as u32, i as u32, 1));
        assert_eq!(residue.t[0].1, times, "{c}");
    }
    let spent = before - cut.enumeration.budget;
    assert!(spent <= 3 * once, "{spent} for all, {once} for one");
}

/// A canonical residue that is centred by a constant, as it is stored, is one variable around zero; one that a constant
/// moves elsewhere keeps its own.
#[test]
fn a_centred_residue_is_one_variable() {
    let q = 32041i64;
    for (k, around) in [(-16020, true), (-16021, false), (-16000, false), (5, false)] {
        let mut cut = Cutter::new(q as u32);
        let base = cut.test_input(0, 100_000);
        // The remainder of a sum in [0, q).
        let word = cut.world.funs.lin(32, 3 * q + 16020, 1, &[]);
        let scaled = cut.world.funs.lin(64, 0, 0, &[(word, (1 << 32) / q + 1)]);
        let part = cut.op(32, Op::Slice { lo: 32 }, &[scaled]);
        let rest = cut.world.funs.lin(32, 3 * q + 16020, 1, &[(part, -q)]);
        let atom = cut.world.atom(Atom::Fun(Base::Var(base), rest));
        let of = Form::atom(atom).plus(k, 16);
        let Use::One(Base::Var(v), f) = cut.use_form(&of, 16) else { panic!("{k}: no variable") };
        let (lo, hi) = cut.world.domain(Base::Var(v));
        let ends = if around { (k, k + q - 1) } else { (0, q - 1) };
        assert_eq!((lo, hi), ends, "{k}");
        // Either way the word is what it is.
        for x in [lo, 0, 17, hi] {
            let at = if around { x } else { x + k };
            assert_eq!(cut.world.funs.at(f, x), at, "{k} at {x}");
        }
        // And the same variable wherever it is used.
        let Use::One(again, _) = cut.use_form(&of, 16) else { panic!("{k}: no variable") };
        assert_eq!(again, Base::Var(v));
    }
}
