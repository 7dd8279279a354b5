//! Modulo powers of two: what is accepted with quotients and remainders, and that every side condition refuses
//! what it is for.

use super::tests::elements;
use super::*;

/// Values with integer coefficients; of two operands of n elements come first.
struct Table {
    n: u32,
    values: Vec<Value>,
}

enum Value {
    Leaf(u16, u32),
    Form(Form),
    Rounded(Form, Rounded),
}

/// A constant, and terms.
#[derive(Clone)]
struct Form(i64, Vec<(Term, i64)>);

impl Form {
    fn modulo(&self, m: u32) -> Residue {
        let low = |c: i64| c.rem_euclid(m.into()) as u32;
        let t = self.1.iter().map(|&(t, c)| (t, low(c))).filter(|t| t.1 != 0);
        let mut t: Vec<(Term, u32)> = t.collect();
        t.sort_unstable();
        Residue { m, k: low(self.0), t }
    }
}

impl Values for Table {
    fn leaf(&self, v: u32) -> Option<(u16, u32)> {
        match self.values[v as usize] {
            Value::Leaf(operand, index) => Some((operand, index)),
            _ => None,
        }
    }
    fn residue(&self, v: u32, m: u32) -> Option<Residue> {
        match &self.values[v as usize] {
            Value::Form(form) => Some(form.modulo(m)),
            Value::Rounded(form, Rounded::Low(bits)) if (1u64 << bits).is_multiple_of(m.into()) => {
                Some(form.modulo(m))
            }
            _ => None,
        }
    }
    fn rounded(&self, v: u32, need: u8) -> Option<(Rounded, Residue)> {
        match &self.values[v as usize] {
            Value::Rounded(form, how) => Some((*how, form.modulo(how.of(need)?))),
            _ => None,
        }
    }
    fn count(&self) -> usize {
        self.values.len()
    }
}

impl Table {
    fn new(n: u32) -> Table {
        let values = (0..2).flat_map(|o| (0..n).map(move |i| Value::Leaf(o, i))).collect();
        Table { n, values }
    }
    fn push(&mut self, value: Value) -> u32 {
        self.values.push(value);
        self.values.len() as u32 - 1
    }
    fn form(&mut self, k: i64, terms: &[(Term, i64)]) -> u32 {
        self.push(Value::Form(Form(k, terms.to_vec())))
    }
    fn floor(&mut self, k: i64, terms: &[(Term, i64)], bits: u8) -> u32 {
        self.push(Value::Rounded(Form(k, terms.to_vec()), Rounded::Floor(bits)))
    }
    fn low(&mut self, terms: &[(Term, i64)], bits: u8) -> u32 {
        self.push(Value::Rounded(Form(0, terms.to_vec()), Rounded::Low(bits)))
    }
    /// a_i·b_j.
    fn pair(&self, i: u32, j: u32) -> Term {
        Term::Product(i, self.n + j)
    }
    /// The coefficients of a form modulo 2^bits.
    fn found(&self, bits: u8, terms: &[(Term, i64)]) -> Result<Vec<Entry>, Mismatch> {
        let form = Form(0, terms.to_vec()).modulo(1 << bits);
        let n = self.n as usize;
        elements(n, coefficients(self, 1 << bits, n, &[form], 1 << 20, &|_| true))
    }
    /// The coefficients of one value.
    fn of(&self, bits: u8, v: u32) -> Result<Vec<Entry>, Mismatch> {
        self.found(bits, &[(Term::Value(v), 1)])
    }
}

use Term::Value as V;

fn entry(i: u32, j: u32, c: u32) -> Entry {
    Entry { k: 0, i, j, c }
}

#[test]
fn multiples_are_divided() {
    let mut t = Table::new(3);
    let (ab, cd) = (t.pair(0, 1), t.pair(2, 2));
    // 12·a0·b1 - 4·a2·b2 + 8·a1 + 20, a quarter.
    let x = t.floor(20, &[(ab, 12), (cd, -4), (V(1), 8)], 2);
    let all = [entry(0, 1, 3), entry(1, 3, 2), entry(2, 2, 65535), entry(3, 3, 5)];
    assert_eq!(t.of(16, x), Ok(all.to_vec()));
    // Of one operand alone, and of none.
    let a = t.floor(6, &[(V(0), 4), (V(1), -2)], 1);
    let b = t.floor(0, &[(V(4), 24)], 3);
    let k = t.floor(-12, &[], 2);
    let p = t.form(0, &[(Term::Product(a, b), 1), (V(k), 1)]);
    let all = [entry(0, 1, 6), entry(1, 1, 253), entry(3, 1, 9), entry(3, 3, 253)];
    assert_eq!(t.of(8, p), Ok(all.to_vec()));
    // A quotient of a quotient.
    let y = t.floor(0, &[(V(x), 4), (ab, 16)], 2);
    assert_eq!(t.of(16, y).map(|e| e[0]), Ok(entry(0, 1, 7)));
}

#[test]
fn more_bits_than_the_modulus_has_are_computed() {
    let mut t = Table::new(2);
    let ab = t.pair(0, 0);
    // The 17th bit of a product, of a value of one operand, and of a constant.
    let x = t.floor(1 << 16, &[(ab, 1 << 16), (V(0), 1 << 16)], 1);
    let half = 1 << 15;
    let all = [entry(0, 0, half), entry(0, 2, half), entry(2, 2, half)];
    assert_eq!(t.of(16, x), Ok(all.to_vec()));
    // Up to 31, and no more.
    let y = t.floor(0, &[(ab, 1 << 30)], 15);
    assert_eq!(t.of(16, y), Ok(vec![entry(0, 0, half)]));
    let z = t.floor(0, &[(ab, 1 << 31)], 16);
    assert_eq!(t.of(16, z), Err(Mismatch::Unknown(z, 1 << 16)));
    assert_eq!(t.of(15, z), Ok(vec![]));
}

#[test]
fn what_is_no_multiple_is_refused_wherever_it_is() {
    let n = 40;
    for bits in 1..5 {
        for at in [(0, 0), (3, 39), (39, 2), (17, 20), (39, 39)] {
            for bad in [1, -1, (1 << bits) - 1, 1 << (bits - 1)] {
                let mut t = Table::new(n);
                let (ab, half) = (t.pair(at.0, at.1), 1 << bits);
                let sums: [(i64, Vec<(Term, i64)>); 4] = [
                    (0, vec![(ab, bad), (t.pair(5, 5), half)]),
                    (0, vec![(ab, half), (V(at.0), bad)]),
                    (half, vec![(V(n + at.1), bad)]),
                    (bad, vec![(ab, half)]),
                ];
                for (k, terms) in sums {
                    let x = t.floor(k, &terms, bits);
                    let own = t.form(0, &[(V(x), 1)]);
                    assert_eq!(t.of(8, own), Err(Mismatch::NotMultiple { value: x, bits }));
                    // Of what does not matter nothing is asked.
                    assert_eq!(t.found(8, &[(V(x), 256), (ab, 1)]).map(|e| e.len()), Ok(1));
                }
            }
        }
    }
}

#[test]
fn remainders_are_known_as_far_as_they_go() {
    let mut t = Table::new(2);
    let ab = t.pair(0, 1);
    let x = t.low(&[(ab, 6), (V(0), 2)], 8);
    let bits = |known, wanted| Err(Mismatch::Bits { k: 0, known, wanted });
    assert_eq!(t.of(8, x), Ok(vec![entry(0, 1, 6), entry(0, 2, 2)]));
    assert_eq!(t.of(9, x), bits(8, 9));
    assert_eq!(t.found(10, &[(V(x), 4)]), Ok(vec![entry(0, 1, 24), entry(0, 2, 8)]));
    assert_eq!(t.found(11, &[(V(x), 12)]), bits(10, 11));
    // Half of it is known of a bit less.
    let y = t.floor(0, &[(V(x), 1)], 1);
    assert_eq!(t.of(7, y), Ok(vec![entry(0, 1, 3), entry(0, 2, 1)]));
    assert_eq!(t.of(8, y), bits(7, 8));
    // What is divided away must be known.
    let z = t.floor(0, &[(t.pair(0, 0), 1 << 10), (V(x), 64)], 10);
    assert_eq!(t.of(4, z), Err(Mismatch::NotMultiple { value: z, bits: 10 }));
    let w = t.low(&[(ab, 16)], 3);
    let z = t.floor(0, &[(V(w), 1)], 4);
    assert_eq!(t.of(1, z), Err(Mismatch::NotMultiple { value: z, bits: 4 }));
    // Of one operand alone, too.
    let w = t.low(&[(V(0), 16)], 3);
    let y = t.floor(0, &[(V(w), 1)], 4);
    assert_eq!(t.of(1, y), Err(Mismatch::NotMultiple { value: y, bits: 4 }));
    let z = t.floor(0, &[(V(w), 2)], 4);
    assert_eq!(t.of(1, z), bits(0, 1));
}

#[test]
fn products_are_known_as_far_as_both_factors() {
    let mut t = Table::new(2);
    let (a, b) = (t.low(&[(V(0), 3)], 6), t.low(&[(V(3), 5)], 9));
    let wanted = |known, wanted| Err(Mismatch::Bits { k: 0, known, wanted });
    for (x, y, known) in [(a, b, 6), (0, b, 9), (a, 2, 6)] {
        let term = Term::Product(x.min(y), x.max(y));
        assert_eq!(t.found(known, &[(term, 1)]).map(|e| e.len()), Ok(1));
        assert_eq!(t.found(known + 1, &[(term, 1)]), wanted(known, known + 1));
        assert_eq!(t.found(known + 1, &[(term, 2)]).map(|e| e.len()), Ok(1));
    }
    // The same product twice is one integer.
    let p = Term::Product(a, b);
    let (x, y) = (t.form(0, &[(p, 1)]), t.form(0, &[(p, 1)]));
    assert_eq!(t.found(16, &[(V(x), 1), (V(y), -1)]), Ok(vec![]));
    assert_eq!(t.found(7, &[(V(x), 1), (V(y), 1)]).map(|e| e.len()), Ok(1));
    assert_eq!(t.found(8, &[(V(x), 1), (V(y), 1)]), wanted(7, 8));
}

#[test]
fn errors_of_one_value_cancel_and_no_others() {
    let mut t = Table::new(2);
    let ab = t.pair(0, 0);
    let (x, y) = (t.low(&[(ab, 2)], 8), t.low(&[(ab, 2)], 8));
    let (p, q) = (t.form(5, &[(V(x), 3)]), t.form(0, &[(V(x), 2), (ab, 2)]));
    let wanted = |known, wanted| Err(Mismatch::Bits { k: 0, known, wanted });
    // 2·(3x + 5) - 3·(2x + 2ab), whatever x is.
    assert_eq!(t.found(16, &[(V(p), 2), (V(q), -3)]).map(|e| e.len()), Ok(2));
    assert_eq!(t.found(16, &[(V(p), 2), (V(q), -2)]), wanted(9, 16));
    assert_eq!(t.found(16, &[(V(x), 1), (V(y), -1)]), wanted(8, 16));
    // Halves of x + y and x - y.
    let (s, d) = (t.floor(0, &[(V(x), 1), (V(y), 1)], 1), t.floor(0, &[(V(x), 1), (V(y), -1)], 1));
    assert_eq!(t.found(8, &[(V(s), 1), (V(d), 1)]), Ok(vec![entry(0, 0, 2)]));
    assert_eq!(t.found(9, &[(V(s), 1), (V(d), 1)]), wanted(8, 9));
    assert_eq!(t.found(8, &[(V(s), 1), (V(d), 2)]), wanted(7, 8));
}

#[test]
fn many_errors_are_told_apart() {
    for bits in [[8; 17], std::array::from_fn(|i| 24 - i as u8)] {
        let mut t = Table::new(17);
        let lows: Vec<u32> = (0..17).map(|i| t.low(&[(V(i), 1)], bits[i as usize])).collect();
        let terms = |count: usize| lows[..count].iter().map(|&v| (V(v), 1)).collect::<Vec<_>>();
        for count in [16, 17] {
            let (x, y) = (t.form(0, &terms(count)), t.form(1, &terms(count)));
            let known = bits[count - 1];
            assert_eq!(t.of(known, x).map(|e| e.len()), Ok(count));
            assert_eq!(t.of(known + 1, x), Err(Mismatch::Bits { k: 0, known, wanted: known + 1 }));
            // With all of them, the least counts.
            assert_eq!(t.of(25, x), Err(Mismatch::Bits { k: 0, known, wanted: 25 }));
            // They cancel, and not where one stands for another.
            let difference = t.found(30, &[(V(x), 1), (V(y), -1)]);
            assert_eq!(difference.map(|e| e.len()), Ok(1));
            let moved: Vec<(Term, i64)> =
                terms(count).iter().map(|t| t.0).zip([2].into_iter().chain([1; 16])).collect();
            let z = t.form(0, &moved);
            assert!(t.found(30, &[(V(x), 1), (V(z), -1)]).is_err());
        }
    }
}

/// Of each operand so many errors are handled, and no more: each is compared with all of the other operand.
#[test]
fn errors_are_not_without_number() {
    for (more, refused) in [(0, false), (1, true)] {
        let mut t = Table::new(1);
        let lows: Vec<(Term, i64)> =
            (0..super::forms::ERRORS + more).map(|_| (V(t.low(&[(V(0), 1)], 8)), 1)).collect();
        let x = t.form(0, &lows);
        let found = t.of(9, x).map(|e| e.len());
        assert_eq!(found == Err(Mismatch::TooLarge), refused, "{more}: {found:?}");
    }
}

#[test]
fn quotients_are_affine_in_each_operand() {
    let mut t = Table::new(2);
    let square = Term::Product(0, 1);
    let x = t.floor(0, &[(square, 4)], 2);
    assert_eq!(t.of(8, x), Err(Mismatch::NotBilinear(square)));
    let y = t.form(0, &[(square, 16)]);
    assert_eq!(t.of(4, y), Ok(vec![]));
    assert_eq!(t.of(5, y), Err(Mismatch::NotBilinear(square)));
}

/// Rows that are geometric modulo 2^8 are not modulo 2^9: a half of the difference of two products, of which each
/// coefficient is another.
#[test]
fn halves_of_products_have_all_their_coefficients() {
    let n = 8;
    let mut t = Table::new(n);
    let power = |k: i64, i: u32| k * 3i64.pow(i) % 256;
    // 5·205 is 1 modulo 256.
    let factors = [1, 1, 5, 205];
    let rows = factors.map(|k| (0..n).map(|i| power(k, i)).collect::<Vec<i64>>());
    let mut values = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let first = if at % 2 == 0 { 0 } else { n };
        let terms: Vec<(Term, i64)> = (first..).map(V).zip(row.iter().copied()).collect();
        values.push(t.form(0, &terms));
    }
    let products = [(values[0], values[1], 1), (values[2], values[3], -1)];
    let terms = products.map(|(x, y, c)| (Term::Product(x, y), c));
    let half = t.floor(0, &terms, 1);
    let mut expected = Vec::new();
    for i in 0..n as usize {
        for j in 0..n as usize {
            let c = (rows[0][i] * rows[1][j] - rows[2][i] * rows[3][j]) / 2;
            let c = c.rem_euclid(256) as u32;
            expected.extend((c != 0).then(|| entry(i as u32, j as u32, c)));
        }
    }
    assert!(expected.len() > 10 && expected.len() < 54);
    assert_eq!(t.of(8, half), Ok(expected));
}

/// Modulo 2^4 sixteen times an input is nothing, and nothing times another input of its operand is affine.
#[test]
fn more_bits_than_are_needed_are_dropped() {
    let mut t = Table::new(2);
    let v = t.form(0, &[(V(0), 16)]);
    let square = Term::Product(1, v);
    assert_eq!(t.found(4, &[(square, 1)]), Ok(vec![]));
    assert_eq!(t.found(5, &[(square, 1)]), Err(Mismatch::NotBilinear(square)));
}

#[test]
fn modulo_other_numbers_nothing_is_rounded() {
    let mut t = Table::new(2);
    let x = t.floor(0, &[(V(0), 2)], 1);
    for m in [3, 6, 100] {
        let form = Form(0, vec![(V(x), 1)]).modulo(m);
        let found = coefficients(&t, m, 2, &[form], 9, &|_| true);
        assert_eq!(found, Err(Mismatch::Unknown(x, m)));
    }
}

/// One odd coefficient more, or less, in the same tile: an even number of them is no multiple either.
#[test]
fn odd_coefficients_do_not_cancel() {
    let mut t = Table::new(4);
    for pairs in [&[(0, 0), (1, 1)][..], &[(0, 0), (0, 1), (2, 3), (3, 3)], &[(3, 0), (3, 0)]] {
        for (c, bits) in [(1, 1), (3, 1), (1, 2), (2, 2), (6, 3)] {
            let terms: Vec<(Term, i64)> = pairs.iter().map(|&(i, j)| (t.pair(i, j), c)).collect();
            let odd = pairs.len() != 2 || pairs[0] != pairs[1];
            let x = t.floor(0, &if odd { terms } else { vec![terms[0]] }, bits);
            assert_eq!(t.of(4, x), Err(Mismatch::NotMultiple { value: x, bits }));
        }
    }
}

/// Rows of rows: coefficients of coefficients, of what is multiplied afterwards.
#[test]
fn coefficients_of_values_of_values_are_multiplied() {
    let mut t = Table::new(2);
    let x = t.form(3, &[(V(0), 5), (V(1), 7)]);
    let y = t.form(2, &[(V(x), 11), (V(0), 1)]);
    let z = t.form(0, &[(V(2), 3)]);
    let w = t.form(0, &[(V(z), 13)]);
    let p = Term::Product(y, w);
    let all = [entry(0, 0, 56 * 39), entry(1, 0, 77 * 39), entry(2, 0, 35 * 39)];
    assert_eq!(t.found(16, &[(p, 1)]), Ok(all.to_vec()));
    // The same modulo a prime.
    let forms = [Form(0, vec![(p, 1)]).modulo(97)];
    let found = elements(2, coefficients(&t, 97, 2, &forms, 9, &|_| true));
    let low = |e: Entry| Entry { c: e.c % 97, ..e };
    assert_eq!(found, Ok(all.map(low).to_vec()));
}

/// Twice 2^15 times an input is nothing modulo 2^16: nothing times a product is affine.
#[test]
fn what_cancels_in_the_bits_that_are_needed_is_nothing() {
    let mut t = Table::new(2);
    let half = t.form(0, &[(V(0), 1 << 15)]);
    let zero = t.form(0, &[(V(half), 1), (V(0), 1 << 15)]);
    let ab = t.pair(0, 0);
    let sum = t.form(0, &[(ab, 1), (V(1), 1)]);
    let p = Term::Product(zero, sum);
    assert_eq!(t.found(16, &[(p, 1)]), Ok(vec![]));
    assert_eq!(t.found(17, &[(p, 1)]), Err(Mismatch::NotBilinear(p)));
}

/// The error of a product is no remainder's own, of whichever value: they never cancel.
#[test]
fn errors_of_products_are_not_those_of_values() {
    for more in 0..6 {
        let mut t = Table::new(2);
        let x = t.low(&[(V(0), 1)], 6);
        let products: Vec<(Term, i64)> = (0..=more).map(|_| (Term::Product(x, 2), 1)).collect();
        let sums: Vec<u32> = products.iter().map(|p| t.form(0, &[*p])).collect();
        let own: Vec<u32> = (0..3).map(|_| t.low(&[(Term::Product(0, 2), 1)], 6)).collect();
        for (&s, &v) in sums.iter().flat_map(|s| own.iter().map(move |v| (s, v))) {
            for c in [1, -1] {
                let found = t.found(7, &[(V(s), 1), (V(v), c)]);
                assert_eq!(found, Err(Mismatch::Bits { k: 0, known: 6, wanted: 7 }));
            }
            // As parts of the form itself.
            let p = Term::Product(x, 2);
            for c in [1, -1] {
                let found = t.found(7, &[(p, 1), (V(v), c)]);
                assert_eq!(found, Err(Mismatch::Bits { k: 0, known: 6, wanted: 7 }));
            }
        }
    }
}

/// Elements whose numbers are equal modulo 48 are on one tile: all its pairs are computed, and two coefficients that are
/// no multiples do not cancel there.
#[test]
fn all_pairs_of_a_tile_are_looked_at() {
    let numbers = [0, 5, 48, 96, 149];
    let pairs = || numbers.iter().flat_map(|i| numbers.map(move |j| (*i, j)));
    for (p, q) in pairs().flat_map(|p| pairs().map(move |q| (p, q))).filter(|(p, q)| p < q) {
        let mut t = Table::new(150);
        let (one, other) = (t.pair(p.0, p.1), t.pair(q.0, q.1));
        let all = [(p, 3), (q, 5)].map(|((i, j), c)| entry(i, j, c)).to_vec();
        assert_eq!(t.found(8, &[(one, 3), (other, 5)]), Ok(all.clone()));
        let x = t.floor(0, &[(one, 12), (other, 20)], 2);
        assert_eq!(t.of(8, x), Ok(all));
        let x = t.floor(0, &[(one, 2), (other, 2)], 2);
        assert_eq!(t.of(8, x), Err(Mismatch::NotMultiple { value: x, bits: 2 }), "{p:?} {q:?}");
    }
}

/// Of more elements of a class than a tile has room for there are several tiles.
#[test]
fn tiles_have_room_for_their_pairs() {
    let t = Table::new(1000);
    let terms = [(t.pair(0, 0), 3), (t.pair(0, 960), 5), (t.pair(960, 0), 7)];
    let all = [entry(0, 0, 3), entry(0, 960, 5), entry(960, 0, 7)].to_vec();
    assert_eq!(t.found(8, &terms), Ok(all.clone()));
    let form = Form(0, terms.to_vec()).modulo(97);
    let found = elements(1000, coefficients(&t, 97, 1000, &[form], 3, &|_| true));
    assert_eq!(found, Ok(all));
}
