//! Coefficients that are found tile by tile are those of the polynomials, multiplied out.

use super::tests::{Table, compared, contract, product_of};
use super::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ringforge_contract::expected;
use ringforge_ring::zq;
use std::collections::BTreeMap;

type Found = Vec<(usize, usize, usize, u32, u32)>;

/// All differences, in order.
fn listed(table: &Table, layout: &Layout, outputs: &[Residue], asked: &Asked) -> Found {
    let forms = Forms::new(table, layout, outputs[0].m, outputs).unwrap();
    let found = differences(&forms, layout, asked, Some(usize::MAX), &|_| true);
    let tuple = |d: &Entry| {
        let (k, i, j) = (d.k as usize, d.i as usize, d.j as usize);
        let wanted = asked.at(i, j).iter().find(|wanted| wanted.0 == d.k);
        (k, i, j, d.c, wanted.map_or(0, |wanted| wanted.1))
    };
    let mut found: Found = found.expect("coefficients").iter().map(tuple).collect();
    found.sort_unstable();
    found
}

/// The same, of all values multiplied out one after another.
fn multiplied_out(table: &Table, layout: &Layout, outputs: &[Residue], asked: &Asked) -> Found {
    type Polynomial = BTreeMap<(usize, usize), u64>;
    let m = u64::from(outputs[0].m);
    let mut all: Vec<Polynomial> = Vec::new();
    let of = |all: &[Polynomial], form: &Residue| {
        let mut sum = Polynomial::from([((0, 0), form.k.into())]);
        let mut add = |p, c| *sum.entry(p).or_default() = (sum.get(&p).unwrap_or(&0) + c) % m;
        for &(term, c) in &form.t {
            let c = u64::from(c);
            match term {
                Term::Value(v) => all[v as usize].iter().for_each(|(p, d)| add(*p, c * d % m)),
                Term::Product(x, y) => {
                    for (p, c) in all[x as usize].iter().map(|(p, d)| (p, c * d % m)) {
                        for (q, d) in &all[y as usize] {
                            // One factor has no left element, one no right one.
                            assert!(p.0.min(q.0) == 0 && p.1.min(q.1) == 0);
                            add((p.0 + q.0, p.1 + q.1), c * d % m);
                        }
                    }
                }
            }
        }
        sum
    };
    for v in 0..table.count() as u32 {
        let own = match (table.leaf(v), table.residue(v, outputs[0].m)) {
            (Some((operand, index)), _) => {
                let (side, x) = layout.element(operand.into(), index as usize).expect("an input");
                let at = if side == Side::Left { (x, 0) } else { (0, x) };
                Polynomial::from([(at, 1)])
            }
            (None, form) => of(&all, &form.expect("a form")),
        };
        all.push(own);
    }
    let mut found = Found::new();
    for (k, form) in outputs.iter().enumerate() {
        let is = of(&all, form);
        for (i, j) in (0..layout.len[0]).flat_map(|i| (0..layout.len[1]).map(move |j| (i, j))) {
            let c = *is.get(&(i, j)).unwrap_or(&0) as u32;
            let want = asked.at(i, j).iter().find(|a| a.0 as usize == k).map_or(0, |a| a.1);
            found.extend((c != want).then_some((k, i, j, c, want)));
        }
    }
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
fn coefficients_are_those_of_the_polynomials_multiplied_out() {
    let mut random = StdRng::seed_from_u64(14);
    for m in [2, 3, 16, 4591, 65536, 2147483629] {
        for n in [3, 5, 70] {
            let ring = format!("Z{m}[x]/(x^{n} - x - 1)");
            let c = contract(&ring, n as usize, "product", "");
            let (table, outputs) = layers(&mut random, m, n);
            let layout = Layout::new(n as usize, &[(Side::Left, 0), (Side::Right, 0)]).unwrap();
            for asked in [Asked::nothing(), Asked::new(&c, None, &layout).unwrap()] {
                let found = listed(&table, &layout, &outputs, &asked);
                let want = multiplied_out(&table, &layout, &outputs, &asked);
                assert!(!found.is_empty() && found == want, "{m} {n}");
            }
        }
    }
}

/// Rows of a transform are zero at most classes of elements, and sums of them are left out there; nothing is lost by that. Some rows are of one element more than others of their class.
#[test]
fn what_is_zero_on_a_tile_is_left_out() {
    let mut random = StdRng::seed_from_u64(16);
    let n = 200u32;
    for m in [17, 4591, 64] {
        let mut table = Table::new(m, n, 2);
        let mut rows: [Vec<u32>; 2] = Default::default();
        for (side, class, more) in (0..2).flat_map(|s| (0..8).map(move |c| (s, c % 4, c / 4))) {
            let elements = (0..n).filter(|i| i % 4 == class || more == 1 && *i == class + 41);
            let term = |i: u32| (table.at(side, i), 1 + u64::from(i % (m - 1)));
            let terms: Vec<(u32, u64)> = elements.map(term).collect();
            rows[side as usize].push(table.linear(&terms));
        }
        let mut sums: Vec<u32> = Vec::new();
        for _ in 0..12 {
            let mut form = table.form(0, &[]);
            for _ in 0..3 {
                let [x, y] = [0, 1].map(|side: usize| rows[side][random.random_range(0..8)]);
                tests::add(&mut form, Some(product_of(x, y)), random.random_range(1..m));
            }
            if !sums.is_empty() {
                let sum = Term::Value(sums[random.random_range(0..sums.len())]);
                tests::add(&mut form, Some(sum), random.random_range(1..m));
            }
            sums.push(table.value(form));
        }
        let last = sums.split_off(6);
        let outputs: Vec<Residue> =
            last.iter().map(|&s| table.form(0, &[(Term::Value(s), 1)])).collect();
        let layout = Layout::new(n as usize, &[(Side::Left, 0), (Side::Right, 0)]).unwrap();
        let nothing = Asked::nothing();
        let found = listed(&table, &layout, &outputs, &nothing);
        let want = multiplied_out(&table, &layout, &outputs, &nothing);
        assert!(found.len() > 10_000 && found == want, "{m}: {} and {}", found.len(), want.len());
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
fn remainders_by_f_of_many_coefficients_are_compared() {
    let n = 96;
    let f: String = (1..n).map(|i| format!(" + {}x^{i}", i % 4 + 1)).collect();
    for q in [5, 8, 4591] {
        let c = contract(&format!("Z{q}[x]/(x^{n}{f} + 1)"), n as usize, "product", "");
        let (table, outputs) = reduced(&c, n);
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
        let found = listed(&table, &layout, &wrong, &asked);
        let places: Vec<(usize, usize, usize)> = found.iter().map(|d| (d.0, d.1, d.2)).collect();
        assert_eq!(places, changed);
    }
}

/// The outputs that a contract asks for, each a sum of products of elements.
fn wanted(table: &Table, asked: &Asked, layout: &Layout) -> Vec<Residue> {
    let mut outputs = vec![table.form(0, &[]); layout.n];
    let elements = || 1..layout.n as u32 + 1;
    for (i, j) in elements().flat_map(|i| elements().map(move |j| (i, j))) {
        for &(k, c) in asked.at(i as usize, j as usize) {
            let pair = product_of(table.at(0, i - 1), table.at(1, j - 1));
            tests::add(&mut outputs[k as usize], Some(pair), c);
        }
    }
    outputs
}

/// Products of residues are asked for by element: that a pair is right says nothing of another with the same sum of
/// indices, though both stand in the same sums.
#[test]
fn pairs_of_base_products_are_compared_one_by_one() {
    let blocks = "[transform]\ndegree = 2\nweights = [4, 13]\n";
    let c = contract("Z17[x]/(x^4 + 1)", 4, "base-product", blocks);
    let table = Table::new(17, 4, 2);
    let layout = Layout::new(4, &[(Side::Left, 0), (Side::Right, 0)]).unwrap();
    let asked = Asked::new(&c, None, &layout).unwrap();
    let outputs = wanted(&table, &asked, &layout);
    assert!(listed(&table, &layout, &outputs, &asked).is_empty());
    let mut tried = 0;
    for (i, j, other) in
        (1..5).flat_map(|i| (1..5).flat_map(move |j| (1..5).map(move |o| (i, j, o))))
    {
        // Another pair of the same sum as this one stands where this one does.
        let (own, Some(j2 @ 1..5)) = (asked.at(i, j), (i + j).checked_sub(other)) else { continue };
        if own == asked.at(other, j2) {
            continue;
        }
        let pair = product_of(table.at(0, other as u32 - 1), table.at(1, j2 as u32 - 1));
        let mut wrong = outputs.clone();
        for &(k, c) in asked.at(other, j2) {
            tests::add(&mut wrong[k as usize], Some(pair), 17 - c);
        }
        for &(k, c) in own {
            tests::add(&mut wrong[k as usize], Some(pair), c);
        }
        let found = listed(&table, &layout, &wrong, &asked);
        assert!(!found.is_empty() && found.iter().all(|d| (d.1, d.2) == (other, j2)));
        tried += 1;
    }
    assert_eq!(tried, 8);
}
