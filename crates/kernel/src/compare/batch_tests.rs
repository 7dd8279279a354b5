//! Batches: each output depends on the elements at its own place in the batch, and on no others.

use super::tests::{Table, add, compared, contract, product_of};
use super::{Mismatch, Residue, Term};
use ringforge_contract::terms::{Terms, factors};
use ringforge_contract::{Computes, Contract};
use ringforge_ring::zq;

const N: usize = 4;
const LAYOUT: &str = "[transform]\ndegree = 2\nweights = [4, 13]\norder = [2, 0, 3, 1]";

/// A batch of two, and the same without `batch`.
fn contracts(kind: &str) -> [Contract; 2] {
    let layout = if kind == "product" { "" } else { LAYOUT };
    let batch = |layout: &str| format!("batch = 2\n{layout}");
    let ring = "Z17[x]/(x^4 + 1)";
    [contract(ring, 2 * N, kind, &batch(layout)), contract(ring, N, kind, layout)]
}

/// What a contract without a batch asks for, for elements from `first` on.
fn outputs(c: &Contract, table: &Table, first: usize) -> Vec<Residue> {
    let at = |(operand, index): (usize, usize)| table.at(operand as u32, (first + index) as u32);
    let polynomial = |k: usize| -> Vec<(Vec<(usize, usize)>, u64)> {
        match Terms::new(c, None) {
            Some(terms) => {
                terms.output(k).into_iter().map(|(m, c)| (factors(m), c.into())).collect()
            }
            // x^(i + j) modulo x^4 + 1.
            None => {
                let sign = |i| if i > k { zq::unsigned(-1, 17) } else { 1 };
                (0..N).map(|i| (vec![(0, i), (1, (k + N - i) % N)], sign(i))).collect()
            }
        }
    };
    let term = |of: &[(usize, usize)]| match *of {
        [x] => Term::Value(at(x)),
        [x, y] => product_of(at(x), at(y)),
        _ => unreachable!("one or two factors"),
    };
    let form = |k| {
        let terms: Vec<(Term, u64)> = polynomial(k).iter().map(|(of, c)| (term(of), *c)).collect();
        table.form(0, &terms)
    };
    (0..N).map(form).collect()
}

#[test]
fn elements_of_a_batch_depend_on_their_own_place_alone() {
    for kind in Computes::NAMES {
        let [two, one] = contracts(kind);
        let operands = two.inputs().len() as u16;
        let table = Table::new(17, 2 * N as u32, operands);
        let [first, second] = [0, N].map(|at| outputs(&one, &table, at));
        let right = [first.clone(), second.clone()].concat();
        compared(&two, &table, &right).unwrap();
        // Exchanged, one of them twice, one of them alone.
        for wrong in [[&second, &first], [&first, &first], [&second, &second]] {
            let wrong = wrong.map(Clone::clone).concat();
            let found = compared(&two, &table, &wrong);
            assert!(matches!(found, Err(Mismatch::Coefficient { .. })), "{kind}: {found:?}");
        }
        assert_eq!(compared(&two, &table, &first), Err(Mismatch::Outputs(N, 2 * N)));
        // Any element of the other place, alone and in a product with any element.
        let elements =
            (0..u32::from(operands)).flat_map(|o| (0..2 * N as u32).map(move |i| (o, i)));
        for (o, i) in elements {
            let places = (0..2 * N).filter(|k| k / N != i as usize / N);
            let alone = Term::Value(table.at(o, i));
            // The other factor, where this is one.
            let left = u32::from(operands == 3);
            let other = (operands > 1 && o >= left).then(|| 2 * left + 1 - o);
            let factors = other.into_iter().flat_map(|o| (0..2 * N as u32).map(move |j| (o, j)));
            let products = factors.map(|(p, j)| product_of(table.at(o, i), table.at(p, j)));
            let products: Vec<Term> = products.chain([alone]).collect();
            for (k, term) in places.flat_map(|k| products.iter().map(move |&term| (k, term))) {
                let mut wrong = right.clone();
                add(&mut wrong[k], Some(term), 3);
                match compared(&two, &table, &wrong) {
                    Err(Mismatch::Coefficient { k: found, .. }) => assert_eq!(found, k, "{kind}"),
                    other => panic!("{kind} {k} {term:?}: {other:?}"),
                }
            }
        }
    }
}
