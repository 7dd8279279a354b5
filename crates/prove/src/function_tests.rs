//! Products through synthetic transforms: the collapsed check and the one by columns agree, and
//! see every wrong coefficient.

use crate::columns::{Check, Entry};
use crate::function::{Mismatch, Split};
use crate::hankel;
use crate::values::{Atom, Form, ModForm, Source, Var, VarId, World};
use crate::witness::Random;
use crate::{Contract, polynomials};
use ringforge_contract::terms::{Terms, factors};
use ringforge_ring::{Ring, zq};
use std::sync::Arc;

struct Build {
    world: World,
    q: u64,
}

impl Build {
    fn new(q: u64) -> Build {
        Build { world: World::new(q as u32), q }
    }

    fn var(&mut self, source: Source, residue: ModForm) -> VarId {
        self.world.new_var(|_, atom| Var {
            lo: -1,
            hi: 1,
            source,
            residue,
            integer: None,
            parent: None,
            node: 0,
            atom,
        })
    }

    fn inputs(&mut self, operand: u16, n: usize) -> Vec<VarId> {
        let input = |index: usize| Source::Input { operand, index: index as u32 };
        (0..n).map(|i| self.var(input(i), ModForm::default())).collect()
    }

    /// Σ c·v.
    fn form(&self, terms: &[(VarId, u64)]) -> ModForm {
        let mut t: Vec<(u32, u32)> =
            terms.iter().map(|&(v, c)| (self.world.var(v).atom, (c % self.q) as u32)).collect();
        t.retain(|t| t.1 != 0);
        t.sort_unstable();
        ModForm { m: self.q as u32, k: 0, t }
    }

    fn cut(&mut self, residue: ModForm) -> VarId {
        self.var(Source::Cut { form: Arc::new(Form::default()), bits: 64 }, residue)
    }

    /// Butterflies down to x^d - w; the weights come out in the standard order.
    fn forward(&mut self, mut v: Vec<VarId>, d: usize, zeta: u64) -> Vec<VarId> {
        let (n, mut k) = (v.len(), 1);
        let bits = (n / d).ilog2();
        let mut len = n / 2;
        while len >= d {
            for start in (0..n).step_by(2 * len) {
                let z = zq::pow(zeta, reversed(k, bits), self.q);
                k += 1;
                for j in start..start + len {
                    let up = self.form(&[(v[j], 1), (v[j + len], z)]);
                    let down = self.form(&[(v[j], 1), (v[j + len], self.q - z)]);
                    (v[j], v[j + len]) = (self.cut(up), self.cut(down));
                }
            }
            len /= 2;
        }
        v
    }

    /// The butterflies backwards, which leaves a factor n/d.
    fn inverse(&mut self, mut v: Vec<VarId>, d: usize, zeta: u64) -> Vec<VarId> {
        let n = v.len();
        let (mut len, mut k) = (d, n / d);
        let bits = (n / d).ilog2();
        while len < n {
            k /= 2;
            for (at, start) in (0..n).step_by(2 * len).enumerate() {
                let z = zq::pow(zeta, reversed(k + at, bits), self.q);
                let z = zq::inv(z, self.q).unwrap();
                for j in start..start + len {
                    let sum = self.form(&[(v[j], 1), (v[j + len], 1)]);
                    let difference = self.form(&[(v[j], z), (v[j + len], self.q - z)]);
                    (v[j], v[j + len]) = (self.cut(sum), self.cut(difference));
                }
            }
            len *= 2;
        }
        v
    }

    /// The leaves' products, schoolbook.
    fn base(&mut self, a: &[VarId], b: &[VarId], d: usize, weights: &[u64]) -> Vec<VarId> {
        let mut out = Vec::new();
        for p in 0..a.len() {
            let (l, r) = (p / d, p % d);
            let mut t: Vec<(u32, u32)> = (0..d)
                .map(|i| {
                    let (j, c) = if i <= r { (r - i, 1) } else { (r + d - i, weights[l]) };
                    (self.world.product(a[l * d + i], b[l * d + j]), c as u32)
                })
                .collect();
            t.sort_unstable();
            out.push(self.cut(ModForm { m: self.q as u32, k: 0, t }));
        }
        out
    }
}

fn reversed(i: usize, bits: u32) -> u64 {
    (i.reverse_bits() >> (usize::BITS - bits)) as u64
}

impl Case {
    /// The outputs where all inputs are 0.
    fn at_zero(&self) -> Vec<u32> {
        let (world, q) = (&self.build.world, self.build.q);
        let mut values: Vec<u64> = Vec::new();
        let value = |form: &ModForm, values: &[u64]| {
            form.t.iter().fold(u64::from(form.k), |sum, &(a, c)| match world.atoms[a as usize] {
                Atom::Var(v) => (sum + u64::from(c) * values[v.0 as usize]) % q,
                Atom::Prod(x, y) => {
                    let product = values[x.0 as usize] * values[y.0 as usize] % q;
                    (sum + u64::from(c) * product) % q
                }
                _ => panic!("no such atom"),
            })
        };
        for var in &world.vars {
            values.push(value(&var.residue, &values));
        }
        self.outputs.iter().map(|o| value(o, &values) as u32).collect()
    }
}

struct Case {
    build: Build,
    ring: Ring,
    outputs: Vec<ModForm>,
}

fn root(q: u64, n: usize, d: usize) -> u64 {
    zq::root_of_unity((2 * n / d) as u64, q).unwrap()
}

fn weights(q: u64, n: usize, d: usize) -> Vec<u64> {
    let bits = (n / d).ilog2();
    (0..n / d).map(|i| zq::pow(root(q, n, d), 2 * reversed(i, bits) + 1, q)).collect()
}

fn case(q: u64, n: usize, d: usize) -> Case {
    let ring = Ring::parse(&format!("Z{q}[x]/(x^{n} + 1)")).unwrap();
    let (zeta, weights) = (root(q, n, d), weights(q, n, d));
    let mut build = Build::new(q);
    let (a, b) = (build.inputs(0, n), build.inputs(1, n));
    let (a, b) = (build.forward(a, d, zeta), build.forward(b, d, zeta));
    let products = build.base(&a, &b, d, &weights);
    let last = build.inverse(products, d, zeta);
    let m = zq::inv((n / d) as u64, q).unwrap();
    let outputs = last.iter().map(|&v| build.form(&[(v, m)])).collect();
    Case { build, ring, outputs }
}

impl Case {
    fn collapsed(&self) -> Option<Result<(), Mismatch>> {
        let split =
            Split::new(&self.build.world, self.build.world.q, self.ring.degree(), &self.outputs)
                .unwrap();
        hankel::product(&split, &self.ring, &self.outputs, &|_| true)
    }

    fn columns(&self) -> Result<(), Mismatch> {
        let split =
            Split::new(&self.build.world, self.build.world.q, self.ring.degree(), &self.outputs)
                .unwrap();
        let wide =
            Check::<i32>::new(&split, &self.outputs).and_then(|c| c.product(&self.ring, &|_| true));
        if self.build.q < 1 << 16 {
            let narrow = Check::<i16>::new(&split, &self.outputs)
                .and_then(|c| c.product(&self.ring, &|_| true));
            assert_eq!(narrow.is_ok(), wide.is_ok());
        }
        wide
    }
}

const CASES: [(u64, usize, usize); 7] = [
    (7681, 16, 1),
    (7681, 16, 2),
    (7681, 64, 8),
    (12289, 128, 1),
    (40961, 32, 2), // beyond 2^15
    (8380417, 32, 1),
    (2013265921, 32, 2), // just below 2^31
];

#[test]
fn transforms_are_right_either_way() {
    for (q, n, d) in CASES {
        let case = case(q, n, d);
        assert_eq!(case.collapsed(), Some(Ok(())), "{q} {n} {d}");
        assert_eq!(case.columns(), Ok(()), "{q} {n} {d}");
    }
}

#[test]
fn every_wrong_coefficient_is_seen_either_way() {
    let mut random = Random(3);
    for (q, n, d) in CASES {
        for round in 0..24 {
            let mut case = case(q, n, d);
            // One coefficient somewhere between the inputs and the outputs.
            let vars = case.build.world.vars.len() - 2 * n;
            let at = (random.next() % (vars + n) as u64) as usize;
            let form = if at < vars {
                &mut case.build.world.vars[2 * n + at].residue
            } else {
                &mut case.outputs[at - vars]
            };
            let t = (random.next() % form.t.len() as u64) as usize;
            let c = u64::from(form.t[t].1);
            let change = if round % 3 == 0 { 1 } else { 1 + random.next() % (q - 1) };
            form.t[t].1 = ((c + change) % q) as u32;
            let columns = case.columns();
            assert!(columns.is_err(), "{q} {n} {d}: {at}");
            // Rows of a broken transform may no longer be geometric.
            let Some(collapsed) = case.collapsed() else { continue };
            let (Err(Mismatch::Coefficient { at: x, k, found, expected }), q) = (collapsed, q)
            else {
                panic!("{q} {n} {d}: not seen")
            };
            // What it says is true.
            assert!(x.len() == 2 && x[0].0 == 0 && x[1].0 == 1 && found != expected);
            let mut basis = [vec![0; n], vec![0; n]];
            for (o, i) in x {
                basis[o][i] = 1;
            }
            let product = case.ring.mul(&basis[0], &basis[1]);
            assert_eq!(zq::unsigned(product[k], q), expected.into());
        }
    }
}

#[test]
fn constants_and_single_operands_go_by_columns() {
    let mut constant = case(7681, 16, 2);
    constant.outputs[3].k = 5;
    assert_eq!(constant.collapsed(), None);
    assert!(constant.columns().is_err());
    let mut single = case(7681, 16, 2);
    let atom = single.build.world.vars[0].atom;
    single.outputs[3].t.insert(0, (atom, 1));
    assert_eq!(single.collapsed(), None);
    assert!(single.columns().is_err());
    // A constant on the way that is taken off again is right.
    let mut shifted = case(7681, 16, 2);
    let v = shifted.build.world.vars.len() - 1;
    shifted.build.world.vars[v].residue.k = 9;
    let m = shifted.outputs[15].t[0].1;
    shifted.outputs[15].k = (9 * (7681 - m)) % 7681;
    assert_eq!((shifted.collapsed(), shifted.columns()), (Some(Ok(())), Ok(())));
    shifted.outputs[15].k += 1;
    assert_eq!(shifted.collapsed(), None);
    assert!(shifted.columns().is_err());
}

impl Case {
    /// All coefficients, by coordinates and by columns.
    fn coefficients(&self) -> [Option<Vec<Entry>>; 2] {
        let (world, n, forms) = (&self.build.world, self.ring.degree(), &self.outputs);
        let split = Split::new(world, world.q, n, forms).unwrap();
        let sorted = |all: Result<Vec<Entry>, Mismatch>| {
            let mut all = all.ok()?;
            all.sort_unstable();
            Some(all)
        };
        [
            hankel::coefficients(&split, forms, 1 << 20, &|_| true).and_then(sorted),
            sorted(Check::<i32>::new(&split, forms).unwrap().coefficients(1 << 20, &|_| true)),
        ]
    }
}

#[test]
fn coefficients_come_with_constants() {
    let q = 7681;
    let plain = case(q, 16, 2);
    let [collapsed, columns] = plain.coefficients();
    assert!(collapsed == columns && collapsed.is_some_and(|all| all.len() == 256));
    // A constant of an output, and one of a sum below several outputs.
    let mut shifted = case(q, 16, 2);
    let below = shifted.build.world.vars.len() - 40;
    shifted.outputs[3].k = 5;
    shifted.build.world.vars[below].residue.k = 9;
    let [collapsed, columns] = shifted.coefficients();
    assert!(collapsed.is_some() && collapsed == columns);
    let all = collapsed.unwrap();
    let constants: Vec<&Entry> = all.iter().filter(|e| e.i == 16 || e.j == 16).collect();
    assert!(constants.len() > 1 && all.len() == 256 + constants.len());
    let at_zero = shifted.at_zero();
    assert!(constants.iter().all(|e| e.i == 16 && e.j == 16 && e.c == at_zero[e.k as usize]));
    assert_eq!(constants.len(), at_zero.iter().filter(|c| **c != 0).count());
    // What depends on one operand alone is no coefficient and no constant, whatever else is added.
    for (input, k) in [(0, 0), (16, 0), (16, 7), (31, 7680)] {
        let mut single = case(q, 16, 2);
        let atom = single.build.world.vars[input].atom;
        single.outputs[3].t.insert(0, (atom, 7674));
        single.outputs[3].k = k;
        assert_eq!(single.coefficients(), [None, None], "{input} {k}");
    }
}

fn contract(q: u64, n: usize, d: usize, kind: &str, scale: u64) -> Contract {
    let mut text = format!(
        "contract = 1\nsymbol = \"f\"\nabi = \"sysv-x86-64\"\nring = \"Z{q}[x]/(x^{n} + 1)\"\ncomputes = \"{kind}\"\nscale = {scale}\ntransform = {{ degree = {d}, weights = {:?} }}\n",
        weights(q, n, d)
    );
    let mut argument = |name: &str, role: &str| {
        text += &format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i32\"\nlength = {n}\nrange = [-9, 9]\n"
        );
    };
    argument("c", "output");
    argument("a", "input");
    if kind == "base-product" {
        argument("b", "input");
    }
    Contract::parse(&text).unwrap()
}

fn polynomial(build: &Build, contract: &Contract, outputs: &[ModForm]) -> Result<(), Mismatch> {
    let terms = Terms::new(contract, None).unwrap();
    polynomials::compare(&build.world, &terms, outputs, &|_| true)
}

#[test]
fn transforms_and_leaves_are_compared_as_polynomials() {
    let mut random = Random(4);
    for (q, n, d) in CASES {
        let (zeta, weights) = (root(q, n, d), weights(q, n, d));
        for kind in ["forward", "inverse", "base-product"] {
            let mut build = Build::new(q);
            let (a, b) = (build.inputs(0, n), build.inputs(1, n));
            let (last, scale) = match kind {
                "forward" => (build.forward(a, d, zeta), 1),
                "inverse" => (build.inverse(a, d, zeta), (n / d) as u64),
                _ => (build.base(&a, &b, d, &weights), 1),
            };
            let outputs: Vec<ModForm> = last.iter().map(|&v| build.form(&[(v, 1)])).collect();
            let right = contract(q, n, d, kind, scale);
            assert_eq!(polynomial(&build, &right, &outputs), Ok(()), "{kind} {q} {n} {d}");
            let wrong = contract(q, n, d, kind, scale + 1);
            assert!(polynomial(&build, &wrong, &outputs).is_err());
            for _ in 0..24 {
                let vars = build.world.vars.len() - 2 * n;
                let v = 2 * n + (random.next() % vars as u64) as usize;
                let form = &mut build.world.vars[v].residue;
                let t = (random.next() % form.t.len() as u64) as usize;
                let old = form.t[t].1;
                form.t[t].1 = ((u64::from(old) + 1 + random.next() % (q - 1)) % q) as u32;
                let result = polynomial(&build, &right, &outputs);
                let Err(Mismatch::Coefficient { at, found, expected, .. }) = result else {
                    panic!("{kind} {q} {n} {d}: {result:?}")
                };
                assert!(
                    found != expected && at.len() == if kind == "base-product" { 2 } else { 1 }
                );
                build.world.vars[v].residue.t[t].1 = old;
            }
        }
    }
}

#[test]
fn cubes_have_no_polynomial() {
    let mut build = Build::new(17);
    let a = build.inputs(0, 1);
    let square = build.world.product(a[0], a[0]);
    let square = build.cut(ModForm { m: build.q as u32, k: 0, t: vec![(square, 1)] });
    let cube = build.world.product(a[0], square);
    let outputs = [ModForm { m: build.q as u32, k: 0, t: vec![(cube, 1)] }];
    let text = "contract = 1\nsymbol = \"f\"\nabi = \"sysv-x86-64\"\nring = \"Z17[x]/(x - 1)\"\ncomputes = \"forward\"\ntransform = { degree = 1, weights = [1] }\nargument = [{ name = \"c\", role = \"output\", element = \"i8\", length = 1, range = [-1, 1] }, { name = \"a\", role = \"input\", element = \"i8\", length = 1, range = [-1, 1] }]";
    let contract = Contract::parse(text).unwrap();
    let result = polynomial(&build, &contract, &outputs);
    assert_eq!(result, Err(Mismatch::NotBilinear { product: cube }));
    // A square has one, and it is not the right one.
    let atom = build.world.var(square).atom;
    let result =
        polynomial(&build, &contract, &[ModForm { m: build.q as u32, k: 0, t: vec![(atom, 1)] }]);
    let Err(Mismatch::Coefficient { at, .. }) = result else { panic!("{result:?}") };
    assert_eq!(at, [(0, 0)]);
    let m = ringforge_contract::terms::times(
        ringforge_contract::terms::linear(0, 0),
        ringforge_contract::terms::linear(0, 0),
    )
    .unwrap();
    assert_eq!(factors(m), [(0, 0), (0, 0)]);
}
