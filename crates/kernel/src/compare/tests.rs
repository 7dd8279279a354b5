//! What is accepted, and that every side condition refuses what it is for.

use super::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ringforge_contract::{Computes, expected};
use ringforge_ring::{Ring, zq};

/// Values as they are written.
#[derive(Clone)]
enum Value {
    Leaf(u16, u32),
    Known(Residue),
    Unknown,
}

/// Values of two or more operands of n elements, whose elements come first.
#[derive(Clone)]
pub(super) struct Table {
    m: u32,
    n: u32,
    values: Vec<Value>,
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
            Value::Known(residue) if m == self.m => Some(residue.clone()),
            Value::Known(residue) if self.m.is_multiple_of(m) => Some(residue.modulo(m)),
            _ => None,
        }
    }
    fn rounded(&self, _: u32, _: u8) -> Option<(Rounded, Residue)> {
        None
    }
    fn count(&self) -> usize {
        self.values.len()
    }
}

impl Table {
    pub fn new(m: u32, n: u32, operands: u16) -> Table {
        let values = (0..operands).flat_map(|o| (0..n).map(move |i| Value::Leaf(o, i))).collect();
        Table { m, n, values }
    }
    /// Element `index` of an operand.
    pub fn at(&self, operand: u32, index: u32) -> u32 {
        operand * self.n + index
    }
    pub fn form(&self, k: u32, terms: &[(Term, u64)]) -> Residue {
        let mut t: Vec<(Term, u32)> =
            terms.iter().map(|t| (t.0, (t.1 % u64::from(self.m)) as u32)).collect();
        t.retain(|t| t.1 != 0);
        t.sort_unstable();
        Residue { m: self.m, k, t }
    }
    pub fn value(&mut self, residue: Residue) -> u32 {
        self.values.push(Value::Known(residue));
        self.values.len() as u32 - 1
    }
    pub fn linear(&mut self, terms: &[(u32, u64)]) -> u32 {
        let terms: Vec<(Term, u64)> = terms.iter().map(|t| (Term::Value(t.0), t.1)).collect();
        self.value(self.form(0, &terms))
    }
}

/// Coefficients by elements from 0 to n - 1, with n for the constant, in order.
pub(super) fn elements(
    n: usize,
    found: Result<Vec<Entry>, Mismatch>,
) -> Result<Vec<Entry>, Mismatch> {
    let element = |x: u32| x.checked_sub(1).unwrap_or(n as u32);
    let mut found = found?;
    found.iter_mut().for_each(|e| (e.i, e.j) = (element(e.i), element(e.j)));
    found.sort_unstable();
    Ok(found)
}

pub(super) fn product_of(x: u32, y: u32) -> Term {
    Term::Product(x.min(y), x.max(y))
}

pub(super) fn contract(ring: &str, n: usize, kind: &str, layout: &str) -> Contract {
    // A scale's operands are elements in the standard order.
    let layout = if kind == "scale" { layout.split("[transform]").next().unwrap() } else { layout };
    let mut text = format!(
        "contract = 1\nsymbol = \"f\"\nabi = \"sysv-x86-64\"\nring = \"{ring}\"\ncomputes = \"{kind}\"\n{layout}\n"
    );
    let two = matches!(kind, "product" | "base-product" | "accumulate");
    let output = if kind == "accumulate" { "inout" } else { "output" };
    for (name, role) in
        [("c", output), ("a", "input"), ("b", "input")].iter().take(2 + usize::from(two))
    {
        text += &format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i32\"\nlength = {n}\nrange = [-1, 1]\n"
        );
    }
    Contract::parse(&text).unwrap()
}

pub(super) fn compared(
    c: &Contract,
    table: &Table,
    outputs: &[Residue],
) -> Result<Stats, Mismatch> {
    compare(c, None, table, outputs, &|_| true)
}

/// The product's outputs, each a sum of products of elements.
fn schoolbook(ring: &Ring, table: &Table) -> Vec<Residue> {
    let n = ring.degree();
    let basis = |i: usize| (0..n).map(|x| i64::from(x == i)).collect::<Vec<i64>>();
    let mut terms = vec![Vec::new(); n];
    for i in 0..n {
        for j in 0..n {
            for (k, c) in ring.mul(&basis(i), &basis(j)).into_iter().enumerate() {
                let product = Term::Product(table.at(0, i as u32), table.at(1, j as u32));
                terms[k].push((product, zq::unsigned(c, ring.q())));
            }
        }
    }
    terms.iter().map(|t| table.form(0, t)).collect()
}

/// Adds c times a term to a form.
pub(super) fn add(form: &mut Residue, term: Option<Term>, c: u32) {
    let Some(term) = term else {
        form.k = (form.k + c) % form.m;
        return;
    };
    match form.t.iter_mut().find(|t| t.0 == term) {
        Some(t) => t.1 = ((u64::from(t.1) + u64::from(c)) % u64::from(form.m)) as u32,
        None => form.t.push((term, c)),
    }
    form.t.retain(|t| t.1 != 0);
    form.t.sort_unstable();
}

const RINGS: [(&str, usize); 8] = [
    ("Z17[x]/(x^5 - x - 1)", 5),
    ("Z2[x]/(x^7 + x^3 + 1)", 7),
    ("Z15[x]/(x^6 + 4*x^2 - 7)", 6),
    ("Z8192[x]/(x^8 + 1)", 8),
    ("Z65536[x]/(x^5 - 3*x^4 + 9)", 5),
    ("Z2147483629[x]/(x^20 - 1073741814*x^3 - 1073741813)", 20),
    ("Z4591[x]/(x^37 - x - 1)", 37),
    ("Z3[x]/(x - 1)", 1),
];

/// A term that occurs several times has the sum of its coefficients.
#[test]
fn sums_have_each_term_once() {
    let (x, y, xy) = (Term::Value(1), Term::Value(2), Term::Product(1, 2));
    let sum = Residue::sum(7, 3, vec![(y, 5), (xy, 3), (x, 4), (xy, 6), (y, 1), (x, 3), (xy, 2)]);
    assert_eq!(sum, Residue { m: 7, k: 3, t: vec![(xy, 4), (y, 6)] });
}

#[test]
fn products_are_accepted() {
    let mut random = StdRng::seed_from_u64(1);
    for (text, n) in RINGS {
        let c = contract(text, n, "product", "");
        let m = c.ring.q() as u32;
        let mut table = Table::new(m, n as u32, 2);
        let direct = schoolbook(&c.ring, &table);
        let stats = compared(&c, &table, &direct).unwrap();
        assert_eq!(stats.equations, ((n + 1) * (n + 1) * n) as u64);
        assert_eq!(stats.terms, direct.iter().map(|f| f.t.len()).sum::<usize>());
        // Outputs as sums of multiples of many values with great coefficients.
        let mut spread = Vec::new();
        for form in &direct {
            let mut left = form.clone();
            let mut terms = Vec::new();
            for _ in 0..9 {
                let term = form.t[random.random_range(0..form.t.len())].0;
                let (c, d) = (m - 1 - random.random_range(0..m.min(3)) % m, m - 1);
                let part = table.value(table.form(c, &[(term, d.into())]));
                terms.push((Term::Value(part), u64::from(d)));
                // c·d and d·d are taken away again.
                let less = |x: u32| {
                    ((u64::from(m) - u64::from(x) * u64::from(d) % u64::from(m)) % u64::from(m))
                        as u32
                };
                add(&mut left, None, less(c));
                add(&mut left, Some(term), less(d));
            }
            let rest = table.value(left);
            terms.push((Term::Value(rest), 1));
            spread.push(table.form(0, &terms));
        }
        compared(&c, &table, &spread).unwrap();
    }
}

#[test]
fn a_wrong_coefficient_is_found_wherever_it_is() {
    for (text, n) in RINGS {
        let c = contract(text, n, "product", "");
        let table = Table::new(c.ring.q() as u32, n as u32, 2);
        let direct = schoolbook(&c.ring, &table);
        let corners = [Some(0), Some(n / 2), Some(n - 1), None];
        for (i, j, k) in corners
            .iter()
            .flat_map(|&i| corners.map(|j| (i, j)))
            .flat_map(|(i, j)| [0, n / 3, n - 1].map(|k| (i, j, k)))
        {
            let mut outputs = direct.clone();
            let (a, b) = (i.map(|i| table.at(0, i as u32)), j.map(|j| table.at(1, j as u32)));
            let term = match (a, b) {
                (Some(a), Some(b)) => Some(Term::Product(a, b)),
                (a, b) => a.or(b).map(Term::Value),
            };
            let before = outputs[k].t.iter().find(|t| Some(t.0) == term).map_or(0, |t| t.1);
            add(&mut outputs[k], term, 1);
            let at = i.map(|i| (0, i)).into_iter().chain(j.map(|j| (1, j))).collect();
            let found = (before + 1) % table.m;
            let wrong = Mismatch::Coefficient { at, k, found, expected: before };
            assert_eq!(compared(&c, &table, &outputs), Err(wrong), "{text} {term:?}");
        }
        // A term that is missing, from each output.
        for k in 0..n {
            let mut outputs = direct.clone();
            let (term, c_was) = outputs[k].t.pop().unwrap();
            let error = compared(&c, &table, &outputs);
            let Err(Mismatch::Coefficient { at, k: at_k, found: 0, expected }) = error else {
                panic!("{term:?}")
            };
            assert_eq!((at.len(), at_k, expected), (2, k, c_was));
        }
    }
}

/// The product in Z97[x]/(x^8 + 1) by values at the odd powers of a 16th root, with the inverse's
/// coefficients.
fn by_values(table: &mut Table) -> Vec<Residue> {
    let (q, n) = (97, 8u64);
    let root = zq::root_of_unity(16, q).unwrap();
    let products: Vec<u32> = (0..n)
        .map(|p| {
            let row = |table: &mut Table, operand: u32| {
                let w = zq::pow(root, 2 * p + 1, q);
                let terms = (0..8).map(|i| (table.at(operand, i), zq::pow(w, i.into(), q)));
                table.linear(&terms.collect::<Vec<_>>())
            };
            let (a, b) = (row(table, 0), row(table, 1));
            table.value(table.form(0, &[(product_of(a, b), 1)]))
        })
        .collect();
    let scale = zq::inv(n, q).unwrap();
    (0..n)
        .map(|k| {
            let inverse = |p: u64| zq::inv(zq::pow(root, (2 * p + 1) * k, q), q).unwrap() * scale;
            let terms = products.iter().zip(0..).map(|(&v, p)| (Term::Value(v), inverse(p)));
            table.form(0, &terms.collect::<Vec<_>>())
        })
        .collect()
}

#[test]
fn products_of_transforms_are_compared_coefficient_by_coefficient() {
    let c = contract("Z97[x]/(x^8 + 1)", 8, "product", "");
    let mut table = Table::new(97, 8, 2);
    let outputs = by_values(&mut table);
    compared(&c, &table, &outputs).unwrap();
    // Any single wrong coefficient.
    for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
        let mut wrong = outputs.clone();
        let k = (i + 3 * j) % 8;
        add(&mut wrong[k as usize], Some(Term::Product(table.at(0, i), table.at(1, j))), 5);
        let at = vec![(0, i as usize), (1, j as usize)];
        match compared(&c, &table, &wrong) {
            Err(Mismatch::Coefficient { at: found, k: here, .. }) => {
                assert_eq!((found, here), (at, k as usize))
            }
            other => panic!("{i} {j}: {other:?}"),
        }
    }
    // A wrong coefficient of the inverse, a wrong entry of a row, rows of different ratios multiplied.
    let mut wrong = outputs.clone();
    wrong[3].t[2].1 ^= 1;
    assert!(compared(&c, &table, &wrong).is_err());
    for v in 16..table.values.len() as u32 {
        let mut other = table.clone();
        let Value::Known(residue) = &mut other.values[v as usize] else { continue };
        match residue.t[..] {
            // Of the first row: in the first product nothing would change.
            [(Term::Product(..), _)] if v == 18 => continue,
            [(Term::Product(..), _)] => residue.t[0].0 = Term::Product(16, v - 1),
            _ => residue.t[5].1 = (residue.t[5].1 + 1) % 97,
        }
        assert!(compared(&c, &other, &outputs).is_err(), "{v}");
    }
}

#[test]
fn what_is_not_bi_affine_or_not_known_is_refused() {
    let c = contract("Z17[x]/(x^2 + 3)", 2, "product", "");
    let table = Table::new(17, 2, 2);
    let good = schoolbook(&c.ring, &table);
    let (a0, a1, b0, b1) = (0, 1, 2, 3);
    // (what is added to output 0, as a term of a new value; what is said of it)
    let with = |change: &dyn Fn(&mut Table) -> Term| {
        let (mut table, mut outputs) = (table.clone(), good.clone());
        let term = change(&mut table);
        add(&mut outputs[0], Some(term), 1);
        // Were it zero, all would be right.
        add(&mut outputs[0], Some(term), 16);
        outputs[0].t.push((term, 1));
        outputs[1].t.push((term, 16));
        compared(&c, &table, &outputs)
    };
    for (x, y) in [(a0, a1), (a0, a0), (b0, b1), (b1, b1)] {
        assert_eq!(with(&|_| Term::Product(x, y)), Err(Mismatch::NotBilinear(Term::Product(x, y))));
    }
    let mixed = with(&|t| {
        let sum = t.linear(&[(a0, 1), (b0, 1)]);
        Term::Product(a1, sum)
    });
    assert_eq!(mixed, Err(Mismatch::NotBilinear(Term::Product(a1, 4))));
    let triple = with(&|t| {
        let product = t.value(t.form(0, &[(Term::Product(a0, b0), 1)]));
        Term::Product(b1, product)
    });
    assert_eq!(triple, Err(Mismatch::NotBilinear(Term::Product(b1, 4))));
    // A number times anything is a multiple of that.
    let multiple = with(&|t| {
        let two = t.value(t.form(2, &[]));
        let product = t.value(t.form(0, &[(Term::Product(a0, b0), 1)]));
        Term::Product(two, product)
    });
    assert!(matches!(multiple, Err(Mismatch::Coefficient { .. })), "{multiple:?}");
    let other = |value: Value| {
        with(&|t| {
            t.values.push(value.clone());
            Term::Value(4)
        })
    };
    assert_eq!(other(Value::Unknown), Err(Mismatch::Unknown(4, 17)));
    assert_eq!(other(Value::Leaf(2, 0)), Err(Mismatch::Unknown(4, 17)));
    assert_eq!(other(Value::Leaf(0, 2)), Err(Mismatch::Unknown(4, 17)));
    let form = |m: u32, v: u32| Value::Known(Residue { m, k: 0, t: vec![(Term::Value(v), 1)] });
    assert_eq!(other(form(19, a0)), Err(Mismatch::Modulus(19)));
    // Of itself, and of what there is not.
    assert_eq!(other(form(17, 4)), Err(Mismatch::Unknown(4, 17)));
    assert_eq!(with(&|_| Term::Value(9)), Err(Mismatch::Unknown(9, 17)));
    assert_eq!(with(&|_| Term::Product(a0, 9)), Err(Mismatch::Unknown(9, 17)));
    // What is unknown and not used does no harm.
    let mut unused = table.clone();
    unused.values.push(Value::Unknown);
    compared(&c, &unused, &good).unwrap();
    assert_eq!(compared(&c, &table, &good[..1]), Err(Mismatch::Outputs(1, 2)));
    let more = [&good[..], &good[..1]].concat();
    assert_eq!(compared(&c, &table, &more), Err(Mismatch::Outputs(3, 2)));
    let mut outputs = good.clone();
    outputs[1].m = 34;
    assert_eq!(compared(&c, &table, &outputs), Err(Mismatch::Modulus(34)));
    assert_eq!(compare(&c, None, &table, &good, &|_| false), Err(Mismatch::Cancelled));
    for m in [0, 1, (1 << 31) + 1] {
        let none = coefficients(&Table::new(m, 2, 2), m, 2, &[], 9, &|_| true);
        assert_eq!(none, Err(Mismatch::Modulus(m)));
    }
    let long = coefficients(&table, 17, 1 << 15, &[], 9, &|_| true);
    assert_eq!(long, Err(Mismatch::TooLarge));
}

#[test]
fn coefficients_are_those_of_the_polynomials() {
    let mut random = StdRng::seed_from_u64(3);
    for m in [2, 6, 97, 1 << 16, 1 << 31, 2147483629] {
        let n = 9;
        let mut table = Table::new(m, n, 2);
        // Random values, and dense polynomials for them: element n is the constant.
        let size = n as usize + 1;
        let side = |v: u32| (v / n, (v % n) as usize);
        let mut known: Vec<Vec<u64>> = (0..2 * n)
            .map(|v| {
                let mut p = vec![0; size * size];
                let (o, i) = side(v);
                p[if o == 0 { i * size + n as usize } else { n as usize * size + i }] = 1;
                p
            })
            .collect();
        let modulus = u64::from(m);
        for round in 0..30 {
            let k = random.random_range(0..m);
            let mut sum = vec![0; size * size];
            sum[size * size - 1] = u64::from(k);
            let mut terms: Vec<(Term, u64)> = Vec::new();
            for _ in 0..12 {
                let c = random.random_range(0..modulus);
                let (a, b) = (random.random_range(0..n), random.random_range(n..2 * n));
                let v = random.random_range(0..known.len() as u32);
                let (term, poly) = if round % 2 == 0 {
                    let mut p = vec![0; size * size];
                    p[a as usize * size + (b - n) as usize] = 1;
                    (Term::Product(a, b), p)
                } else {
                    (Term::Value(v), known[v as usize].clone())
                };
                if terms.iter().all(|t| t.0 != term) {
                    terms.push((term, c));
                    sum.iter_mut().zip(poly).for_each(|(s, p)| *s = (*s + c * p) % modulus);
                }
            }
            table.value(table.form(k, &terms));
            known.push(sum);
        }
        let last: Vec<u32> = (known.len() as u32 - 7..known.len() as u32).collect();
        let forms: Vec<Residue> =
            last.iter().map(|&v| table.form(0, &[(Term::Value(v), 1)])).collect();
        let mut want = Vec::new();
        for (k, &v) in last.iter().enumerate() {
            for (at, &c) in known[v as usize].iter().enumerate().filter(|c| *c.1 != 0) {
                want.push(Entry {
                    k: k as u32,
                    i: (at / size) as u32,
                    j: (at % size) as u32,
                    c: c as u32,
                });
            }
        }
        let n = n as usize;
        let all = |most| elements(n, coefficients(&table, m, n, &forms, most, &|_| true));
        assert_eq!(all(want.len()), Ok(want.clone()));
        assert_eq!(all(want.len() - 1), Err(Mismatch::TooLarge));
    }
    // Those of products of values.
    let mut table = Table::new(97, 8, 2);
    let outputs = by_values(&mut table);
    let found = elements(8, coefficients(&table, 97, 8, &outputs, 64, &|_| true)).unwrap();
    let want = |k: u32, i: u32, j: u32| match (i + j == k, i + j == k + 8) {
        (true, _) => Some(1),
        (_, true) => Some(96),
        _ => None,
    };
    let all = (0..8).flat_map(|k| (0..8).flat_map(move |i| (0..8).map(move |j| (k, i, j))));
    let entry = |(k, i, j)| Some(Entry { k, i, j, c: want(k, i, j)? });
    assert_eq!(found, all.filter_map(entry).collect::<Vec<Entry>>());
}

/// Of many wrong coefficients the one that is told is the least output's, and of that the least elements', however
/// they are grouped and whatever is found first; and progress is told as a fraction.
#[test]
fn the_first_wrong_coefficient_is_told() {
    let n = 100;
    let c = contract("Z4591[x]/(x^100 - x - 1)", n, "product", "");
    let table = Table::new(4591, n as u32, 2);
    let good = schoolbook(&c.ring, &table);
    let told = std::sync::Mutex::new(0.0f64);
    let tick = |f: f64| {
        assert!((0.0..1.0).contains(&f), "{f}");
        let mut most = told.lock().unwrap();
        *most = most.max(f);
        true
    };
    compare(&c, None, &table, &good, &tick).unwrap();
    assert!(*told.lock().unwrap() > 0.5);
    let wrong: [&[(usize, usize, usize)]; 6] = [
        &[(1, 0, 0), (0, 0, 99)],
        &[(0, 0, 0), (1, 0, 1), (0, 1, 1)],
        &[(5, 99, 99), (5, 99, 0), (5, 0, 99), (4, 99, 99)],
        &[(7, 3, 50), (7, 3, 49), (7, 4, 0)],
        &[(2, 1, 98), (2, 1, 97), (2, 1, 99), (3, 0, 0)],
        &[(9, 60, 1), (9, 60, 0), (9, 61, 0), (99, 0, 0)],
    ];
    for places in wrong {
        let mut outputs = good.clone();
        for &(k, i, j) in places {
            let term = Term::Product(table.at(0, i as u32), table.at(1, j as u32));
            add(&mut outputs[k], Some(term), 1);
        }
        let &(k, i, j) = places.iter().min().unwrap();
        match compared(&c, &table, &outputs) {
            Err(Mismatch::Coefficient { at, k: here, .. }) => {
                assert_eq!((here, at), (k, vec![(0, i), (1, j)]))
            }
            other => panic!("{places:?}: {other:?}"),
        }
    }
}

/// What is counted: products of a value of each operand, and neither terms of one operand nor constants.
#[test]
fn products_of_two_values_are_counted() {
    let (layout, n) = ("degree = 2\nweights = [4, 13]\norder = [0, 2, 1, 3]", 4u32);
    let c = contract("Z17[x]/(x^4 + 1)", 4, "accumulate", &format!("[transform]\n{layout}"));
    let table = Table::new(17, n, 3);
    // The old value, and four products of two elements each: of one weight's two elements with each other.
    let outputs: Vec<Residue> = (0..n)
        .map(|k| {
            let mut values = vec![vec![0i64; 4]; 3];
            let mut form = table.form(0, &[(Term::Value(table.at(0, k)), 1)]);
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                (values[1][i as usize], values[2][j as usize]) = (1, 1);
                let c = zq::unsigned(expected(&c, &values)[k as usize], 17) as u32;
                add(&mut form, Some(Term::Product(table.at(1, i), table.at(2, j))), c);
                (values[1][i as usize], values[2][j as usize]) = (0, 0);
            }
            form
        })
        .collect();
    let pairs: std::collections::BTreeSet<Term> = outputs
        .iter()
        .flat_map(|o| o.t.iter().map(|t| t.0))
        .filter(|t| matches!(t, Term::Product(..)))
        .collect();
    assert_eq!(pairs.len(), 8);
    assert_eq!(compared(&c, &table, &outputs).unwrap().products, 8);
    // An element of b by itself, which is taken away again.
    let (mut table, mut outputs) = (table, outputs);
    let alone = Term::Value(table.at(2, 0));
    let product = outputs[0].t.pop().expect("a product");
    let sum = table.value(table.form(0, &[(product.0, product.1.into()), (alone, 1)]));
    add(&mut outputs[0], Some(Term::Value(sum)), 1);
    add(&mut outputs[0], Some(alone), 16);
    assert_eq!(compared(&c, &table, &outputs).unwrap().products, 8);
}

/// A sum of k products: each operand has k times as many elements.
#[test]
fn several_pairs_are_summed() {
    let head = "contract = 1\nsymbol = \"f\"\nabi = \"sysv-x86-64\"\nring = \"Z17[x]/(x^4 + 1)\"\ncomputes = \"base-product\"\npairs = 2\n[transform]\ndegree = 2\nweights = [4, 13]\n";
    let argument = |name: &str, role: &str, n: usize| {
        format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i32\"\nlength = {n}\nrange = [-1, 1]\n"
        )
    };
    let arguments =
        [argument("c", "output", 4), argument("a", "input", 8), argument("b", "input", 8)];
    let c = Contract::parse(&(head.to_string() + &arguments.concat())).unwrap();
    let table = Table::new(17, 8, 2);
    let mut outputs = vec![table.form(0, &[]); 4];
    for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
        let basis = |x: usize| (0..8).map(|y| i64::from(x == y)).collect::<Vec<i64>>();
        for (k, x) in expected(&c, &[basis(i), basis(j)]).into_iter().enumerate() {
            let term = Term::Product(table.at(0, i as u32), table.at(1, j as u32));
            add(&mut outputs[k], Some(term), zq::unsigned(x, 17) as u32);
        }
    }
    let stats = compared(&c, &table, &outputs).unwrap();
    assert_eq!((stats.equations, stats.products), (9 * 9 * 4, 16));
    for k in 0..4 {
        for at in 0..outputs[k].t.len() {
            let mut wrong = outputs.clone();
            wrong[k].t.remove(at);
            assert!(matches!(compared(&c, &table, &wrong), Err(Mismatch::Coefficient { .. })));
        }
    }
}

const LAYOUTS: [(&str, &str, usize); 4] = [
    ("Z17[x]/(x^4 + 1)", "degree = 1\nweights = [2, 15, 8, 9]\norder = [2, 0, 3, 1]", 4),
    ("Z17[x]/(x^4 + 1)", "degree = 2\nweights = [4, 13]\norder = [0, 2, 1, 3]", 4),
    ("Z8380417[x]/(x^4 + 1)", "degree = 2\nweights = [4808194, 3572223]", 4),
    ("Z17[x]/(x^6 - x^2)", "degree = 2\nweights = [1, 0, 16]\norder = [5, 1, 2, 4, 0, 3]", 6),
];

#[test]
fn all_kinds_are_what_the_oracle_says() {
    for ((ring, layout, n), kind) in
        LAYOUTS.iter().flat_map(|l| Computes::NAMES[1..].iter().map(move |k| (l, k)))
    {
        let scale = if kind.ends_with("standard") { "" } else { "scale = 5" };
        let c = contract(ring, *n, kind, &format!("{scale}\n[transform]\n{layout}"));
        let q = c.ring.q();
        let inputs = c.inputs().len();
        // c may share memory with a or with b.
        for tie in
            [None, Some(1), Some(2)].into_iter().take(if *kind == "accumulate" { 3 } else { 1 })
        {
            let table = Table::new(q as u32, *n as u32, inputs as u16);
            let at = |elements: &[(usize, usize)]| -> Vec<u64> {
                let mut values = vec![vec![0; *n]; inputs];
                elements.iter().for_each(|&(o, i)| values[o][i] = 1);
                if let Some(tie) = tie {
                    values[0] = values[tie].clone();
                }
                expected(&c, &values).into_iter().map(|x| zq::unsigned(x, q)).collect()
            };
            let mut outputs = vec![table.form(0, &[]); *n];
            let free = |o: usize| tie.is_none() || o > 0;
            for (o, i) in
                (0..inputs).filter(|&o| free(o)).flat_map(|o| (0..*n).map(move |i| (o, i)))
            {
                let alone = at(&[(o, i)]);
                for k in 0..*n {
                    add(
                        &mut outputs[k],
                        Some(Term::Value(table.at(o as u32, i as u32))),
                        alone[k] as u32,
                    );
                }
                if o + 1 == inputs && inputs > 1 {
                    for j in 0..*n {
                        let (both, other) = (at(&[(o - 1, j), (o, i)]), at(&[(o - 1, j)]));
                        for k in 0..*n {
                            let c = (both[k] + 2 * q - alone[k] - other[k]) % q;
                            let (a, b) =
                                (table.at(o as u32 - 1, j as u32), table.at(o as u32, i as u32));
                            add(&mut outputs[k], Some(Term::Product(a, b)), c as u32);
                        }
                    }
                }
            }
            let compared = |outputs: &[Residue]| compare(&c, tie, &table, outputs, &|_| true);
            compared(&outputs).unwrap();
            for (k, form) in outputs.iter().enumerate() {
                for at in 0..form.t.len() {
                    let mut wrong = outputs.clone();
                    wrong[k].t[at].1 = wrong[k].t[at].1 % (q as u32 - 1) + 1;
                    let error = compared(&wrong);
                    assert!(
                        matches!(error, Err(Mismatch::Coefficient { k: here, .. }) if here == k),
                        "{kind} {error:?}"
                    );
                    wrong[k].t.remove(at);
                    assert!(compared(&wrong).is_err());
                }
                let mut wrong = outputs.clone();
                wrong[k].k = 1;
                let constant = Mismatch::Coefficient { at: vec![], k, found: 1, expected: 0 };
                assert_eq!(compared(&wrong), Err(constant));
            }
            if inputs == 3 && tie.is_none() {
                // What is in c is not what is in a.
                let mut wrong = outputs.clone();
                for (form, i) in wrong.iter_mut().zip(0..) {
                    let own = form.t.iter_mut().find(|t| t.0 == Term::Value(table.at(0, i)));
                    own.expect("the old value").0 = Term::Value(table.at(1, i));
                }
                let error = compared(&wrong);
                assert!(matches!(error, Err(Mismatch::Coefficient { k: 0, .. })), "{error:?}");
            }
            if inputs == 3 {
                // c belongs to the side of a.
                let mut wrong = outputs.clone();
                add(&mut wrong[0], Some(Term::Product(0, *n as u32)), 1);
                let product = Term::Product(0, *n as u32);
                assert_eq!(compared(&wrong), Err(Mismatch::NotBilinear(product)));
            }
        }
    }
}

/// Rows of rows modulo great primes: what is added up there is reduced before it is cut to 32 bits. And of one tile as
/// many coefficients are listed as are allowed for.
#[test]
fn rows_are_reduced_modulo_great_primes() {
    for m in [8380417, 2147483629] {
        let mut t = Table::new(m, 2, 2);
        let minus = |c: u64| u64::from(m) - c;
        let x = t.linear(&[(0, minus(1)), (1, minus(2))]);
        // 3·(a0 + 2·a1) - 4·a0 + 5·a1 = -a0 + 11·a1.
        let y = t.linear(&[(x, minus(3)), (0, minus(4)), (1, 5)]);
        let form = t.form(0, &[(product_of(y, 2), minus(6))]);
        let entry = |i, c| Entry { k: 0, i, j: 0, c };
        let found = elements(2, coefficients(&t, m, 2, &[form], 2, &|_| true));
        assert_eq!(found, Ok(vec![entry(0, 6), entry(1, m - 66)]));
        // 11·a1 - 11·a1 is nothing, and may be multiplied by whatever there is.
        let none = t.linear(&[(y, 1), (0, 1), (1, minus(11))]);
        let form = t.form(0, &[(product_of(none, 1), 1), (product_of(0, 2), 1)]);
        for (most, is) in [(1, Ok(vec![entry(0, 1)])), (0, Err(Mismatch::TooLarge))] {
            let forms = std::slice::from_ref(&form);
            assert_eq!(elements(2, coefficients(&t, m, 2, forms, most, &|_| true)), is);
        }
    }
}
