//! The two ways to find coefficients find the same, and the one from the forms down is taken where it is the faster.

use super::tests::{Table, compared, contract, product_of};
use super::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ringforge_contract::expected;
use ringforge_ring::zq;

type Found = Vec<(usize, usize, usize, u32, u32)>;

/// All differences, in order.
fn listed(forms: &Forms, layout: &Layout, asked: &Asked, backward: bool) -> Found {
    let all = |d: Difference, out: &mut Found| {
        out.push((d.k, d.i, d.j, d.found, d.expected));
        Ok(())
    };
    let found = match backward {
        true => {
            let backward = Backward::listed(forms, layout).expect("no sum is divided");
            backward.differences(asked, &|_| true, &all)
        }
        false => tiles::differences(forms, layout, asked, &|_| true, &all),
    };
    let mut found = found.expect("coefficients");
    found.sort_unstable();
    found
}

/// Values in layers over each other: rows of both operands, products, sums of all of these, with constants.
fn layers(random: &mut StdRng, m: u32, n: u32) -> (Table, Vec<Residue>) {
    let mut table = Table::new(m, n, 2);
    let some = |random: &mut StdRng| u64::from(random.random_range(0..m));
    let mut rows: [Vec<u32>; 2] = [(0..n).collect(), (n..2 * n).collect()];
    for side in [0, 1] {
        for _ in 0..3 {
            let pick = |random: &mut StdRng| rows[side][random.random_range(0..rows[side].len())];
            let terms: Vec<(u32, u64)> = (0..3).map(|_| (pick(random), some(random))).collect();
            let mut row = table.form(some(random) as u32, &[]);
            terms.iter().for_each(|&(v, c)| tests::add(&mut row, Some(Term::Value(v)), c as u32));
            rows[side].push(table.value(row));
        }
    }
    let mut sums: Vec<u32> = Vec::new();
    let form = |random: &mut StdRng, table: &Table, sums: &[u32]| {
        let mut form = table.form(random.random_range(0..m), &[]);
        for _ in 0..random.random_range(1..9) {
            let one =
                |random: &mut StdRng, s: usize| rows[s][random.random_range(0..rows[s].len())];
            let term = match random.random_range(0..6) {
                0 => Term::Value(one(random, 0)),
                1 => Term::Value(one(random, 1)),
                2 | 3 => product_of(one(random, 0), one(random, 1)),
                _ if sums.is_empty() => continue,
                _ => Term::Value(sums[random.random_range(0..sums.len())]),
            };
            tests::add(&mut form, Some(term), random.random_range(0..m));
        }
        form
    };
    for _ in 0..20 {
        let value = form(random, &table, &sums);
        sums.push(table.value(value));
    }
    let outputs = (0..n).map(|_| form(random, &table, &sums)).collect();
    (table, outputs)
}

#[test]
fn both_ways_find_the_same_coefficients() {
    let mut random = StdRng::seed_from_u64(14);
    for m in [2, 3, 16, 4591, 65536, 2147483629] {
        // More forms than one block has.
        for n in [3, 5, 70] {
            let ring = format!("Z{m}[x]/(x^{n} - x - 1)");
            let asks = (m < 1 << 31).then(|| contract(&ring, n as usize, "product", ""));
            let (table, outputs) = layers(&mut random, m, n);
            let layout = Layout::new(n as usize, &[(Side::Left, 0), (Side::Right, 0)]).unwrap();
            let forms = Forms::new(&table, &layout, m, &outputs).unwrap();
            let asked = asks.map(|c| Asked::new(&c, None, &layout).unwrap());
            for asked in [Some(Asked::nothing()), asked].into_iter().flatten() {
                let [down, up] = [true, false].map(|way| listed(&forms, &layout, &asked, way));
                assert!(!down.is_empty() && down == up, "{m} {n}");
            }
        }
    }
}

/// A product in a ring with an f of many coefficients, as sums of the unreduced product's: one coefficient of x^(n + k)
/// mod f for each of its upper ones, in two steps.
fn reduced(c: &Contract, n: u32) -> (Table, Vec<Residue>) {
    let mut table = Table::new(c.ring.q() as u32, n, 2);
    let whole: Vec<u32> = (0..2 * n - 1)
        .map(|k| {
            let pairs = (0..n).filter(|i| (*i..*i + n).contains(&k));
            let terms = pairs.map(|i| (product_of(table.at(0, i), table.at(1, k - i)), 1));
            let form = table.form(0, &terms.collect::<Vec<_>>());
            table.value(form)
        })
        .collect();
    let power = |e: u32| {
        let [mut a, mut b] = [vec![0i64; n as usize], vec![0; n as usize]];
        (a[e.min(n - 1) as usize], b[e.saturating_sub(n - 1) as usize]) = (1, 1);
        expected(c, &[a, b])
    };
    let powers: Vec<Vec<i64>> = (0..2 * n - 1).map(power).collect();
    let outputs = (0..n)
        .map(|k| {
            let term = |e: u32| {
                let c = zq::unsigned(powers[e as usize][k as usize], c.ring.q());
                (Term::Value(whole[e as usize]), c)
            };
            let upper: Vec<(Term, u64)> = (n..2 * n - 1).map(term).collect();
            let upper = table.form(0, &upper);
            let upper = table.value(upper);
            let lower = (Term::Value(whole[k as usize]), 1);
            table.form(0, &[lower, (Term::Value(upper), 1)])
        })
        .collect();
    (table, outputs)
}

#[test]
fn remainders_by_f_of_many_coefficients_are_compared_from_the_forms_down() {
    let n = 96;
    let f: String = (1..n).map(|i| format!(" + {}x^{i}", i % 4 + 1)).collect();
    for q in [5, 8, 4591] {
        let c = contract(&format!("Z{q}[x]/(x^{n}{f} + 1)"), n as usize, "product", "");
        let (table, outputs) = reduced(&c, n);
        let layout = Layout::new(n as usize, &[(Side::Left, 0), (Side::Right, 0)]).unwrap();
        let forms = Forms::new(&table, &layout, q, &outputs).unwrap();
        assert!(Backward::new(&forms, &layout).is_some());
        let stats = compared(&c, &table, &outputs).unwrap();
        assert_eq!(stats.products as u32, n * n);
        // Wherever a coefficient is another one, it is seen, and which.
        for k in [0, n - 1] {
            let mut wrong = outputs.clone();
            let pair = Term::Product(table.at(0, n - 1), table.at(1, n - 1 - k));
            tests::add(&mut wrong[k as usize], Some(pair), 1);
            let at = vec![(0, n as usize - 1), (1, (n - 1 - k) as usize)];
            match compared(&c, &table, &wrong) {
                Err(Mismatch::Coefficient { at: found, k: output, .. }) => {
                    assert_eq!((found, output), (at, k as usize));
                }
                other => panic!("{other:?}"),
            }
        }
        let mut wrong = outputs.clone();
        wrong[5].t[0].1 = wrong[5].t[0].1 % (q - 1) + 1;
        wrong[5].k = 1;
        let constant = Mismatch::Coefficient { at: vec![], k: 5, found: 1, expected: 0 };
        assert!(compared(&c, &table, &wrong).is_err());
        wrong = outputs.clone();
        wrong[5].k = 1;
        assert_eq!(compared(&c, &table, &wrong), Err(constant));
    }
    // Of an f of few there is nothing to gain.
    let c = contract(&format!("Z4591[x]/(x^{n} - x - 1)"), n as usize, "product", "");
    let (table, outputs) = reduced(&c, n);
    let layout = Layout::new(n as usize, &[(Side::Left, 0), (Side::Right, 0)]).unwrap();
    let forms = Forms::new(&table, &layout, 4591, &outputs).unwrap();
    assert!(Backward::new(&forms, &layout).is_none());
    compared(&c, &table, &outputs).unwrap();
}

/// Of pairs with one sum of indices, one after another is changed, in an output alone or in the sum of all of them.
#[test]
fn every_pair_of_a_product_is_compared() {
    let mut random = StdRng::seed_from_u64(15);
    let n = 70;
    let f: String = (1..n).map(|i| format!(" + {}x^{i}", i % 4 + 1)).collect();
    let c = contract(&format!("Z4591[x]/(x^{n}{f} + 1)"), n as usize, "product", "");
    let (table, outputs) = reduced(&c, n);
    let layout = Layout::new(n as usize, &[(Side::Left, 0), (Side::Right, 0)]).unwrap();
    let asked = Asked::new(&c, None, &layout).unwrap();
    for _ in 0..40 {
        let mut wrong = outputs.clone();
        let mut changed: Vec<(usize, usize, usize)> = Vec::new();
        for _ in 0..random.random_range(0..4) {
            let [i, j, k] = [0; 3].map(|_| random.random_range(0..n));
            let pair = product_of(table.at(0, i), table.at(1, j));
            tests::add(&mut wrong[k as usize], Some(pair), random.random_range(1..4591));
            changed.push((k as usize, 1 + i as usize, 1 + j as usize));
        }
        changed.sort_unstable();
        changed.dedup();
        let forms = Forms::new(&table, &layout, 4591, &wrong).unwrap();
        let found = listed(&forms, &layout, &asked, true);
        let places: Vec<(usize, usize, usize)> = found.iter().map(|d| (d.0, d.1, d.2)).collect();
        assert_eq!(places, changed);
    }
}

/// floor(F / 2) is no sum of parts.
#[test]
fn what_is_divided_is_not_looked_at_from_the_forms_down() {
    let table = Table::new(8, 2, 2);
    let layout = Layout::new(2, &[(Side::Left, 0), (Side::Right, 0)]).unwrap();
    let outputs = vec![table.form(0, &[(Term::Product(0, 2), 2)]); 2];
    let mut forms = Forms::new(&table, &layout, 8, &outputs).unwrap();
    assert!(Backward::listed(&forms, &layout).is_some());
    forms.sums[0].bits = 1;
    assert!(Backward::listed(&forms, &layout).is_none());
}
