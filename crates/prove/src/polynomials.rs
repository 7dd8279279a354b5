//! Outputs as polynomials in the inputs, compared with what they should be: exact for every kind
//! whose outputs have few terms.

use crate::function::Mismatch;
use crate::values::{Atom, AtomId, ModForm, Source, VarId, World};
use ringforge_contract::terms::{Monomial, Polynomial, Terms, factors, linear, times};

/// Terms that are made at most, in all.
const TERMS: usize = 1 << 27;

struct Sums<'w> {
    world: &'w World,
    q: u64,
    /// Polynomials of the variables that are still needed.
    values: Vec<Polynomial>,
    uses: Vec<u32>,
    made: usize,
}

/// Compares all coefficients of all `outputs`.
///
/// # Errors
/// The first mismatch.
pub(crate) fn compare(
    world: &World,
    terms: &Terms,
    outputs: &[ModForm],
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Result<(), Mismatch> {
    let count = world.vars.len();
    let mut sums = Sums {
        world,
        q: world.q.into(),
        values: vec![Vec::new(); count],
        uses: vec![0; count],
        made: 0,
    };
    for o in outputs {
        sums.mark(o);
    }
    for v in (0..count).rev() {
        if sums.uses[v] > 0
            && let Some(form) = world.known(VarId(v as u32), world.q)
        {
            sums.mark(&form);
        }
    }
    for (v, var) in world.vars.iter().enumerate() {
        if v % 256 == 0 && !progress(v as f64 / count as f64) {
            return Err(Mismatch::Cancelled);
        }
        if sums.uses[v] == 0 {
            continue;
        }
        sums.values[v] = match var.source {
            Source::Input { operand, index } => {
                vec![(linear(operand.into(), index as usize), 1)]
            }
            Source::Cut { .. } => {
                let form = world.known(VarId(v as u32), world.q).ok_or(Mismatch::Unknown)?;
                sums.sum(&form)?
            }
        };
    }
    for (k, form) in outputs.iter().enumerate() {
        let found = sums.sum(form)?;
        let expected = terms.output(k);
        if found != expected {
            return Err(difference(k, &found, &expected));
        }
    }
    Ok(())
}

fn difference(k: usize, found: &Polynomial, expected: &Polynomial) -> Mismatch {
    let all = found.iter().chain(expected).map(|t| t.0);
    let in_ =
        |p: &Polynomial, m: Monomial| p.binary_search_by_key(&m, |t| t.0).map_or(0, |i| p[i].1);
    let wrong = all.filter(|&m| in_(found, m) != in_(expected, m)).min().unwrap_or(0);
    Mismatch::Coefficient {
        at: factors(wrong),
        k,
        found: in_(found, wrong),
        expected: in_(expected, wrong),
    }
}

impl Sums<'_> {
    fn mark(&mut self, form: &ModForm) {
        for &(a, _) in &form.t {
            match self.world.atoms[a as usize] {
                Atom::Var(v) => self.uses[v.0 as usize] += 1,
                Atom::Prod(x, y) => {
                    self.uses[x.0 as usize] += 1;
                    self.uses[y.0 as usize] += 1;
                }
                _ => {}
            }
        }
    }

    fn sum(&mut self, form: &ModForm) -> Result<Polynomial, Mismatch> {
        let q = self.q;
        let mut parts: Vec<Polynomial> = Vec::with_capacity(form.t.len() + 1);
        if form.k != 0 {
            parts.push(vec![(0, form.k)]);
        }
        for &(a, c) in &form.t {
            let c = u64::from(c);
            let scaled = |p: &Polynomial| -> Polynomial {
                p.iter().map(|&(m, x)| (m, (u64::from(x) * c % q) as u32)).collect()
            };
            let part = match self.world.atoms[a as usize] {
                Atom::Var(v) => scaled(&self.values[v.0 as usize]),
                Atom::Prod(x, y) => scaled(&self.product(a, x.0 as usize, y.0 as usize)?),
                _ => return Err(Mismatch::NotBilinear { product: a }),
            };
            self.made += part.len();
            parts.push(part);
            if self.made > TERMS {
                return Err(Mismatch::TooLarge);
            }
        }
        for &(a, _) in &form.t {
            match self.world.atoms[a as usize] {
                Atom::Var(v) => self.done(v.0 as usize),
                Atom::Prod(x, y) => {
                    self.done(x.0 as usize);
                    self.done(y.0 as usize);
                }
                _ => {}
            }
        }
        while parts.len() > 1 {
            let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
            let mut rest = parts.into_iter();
            while let Some(x) = rest.next() {
                pairs.push(match rest.next() {
                    Some(y) => merge(&x, &y, q),
                    None => x,
                });
            }
            parts = pairs;
        }
        Ok(parts.pop().unwrap_or_default())
    }

    /// Polynomials are dropped after their last use.
    fn done(&mut self, v: usize) {
        self.uses[v] -= 1;
        if self.uses[v] == 0 {
            self.values[v] = Vec::new();
        }
    }

    fn product(&mut self, atom: AtomId, x: usize, y: usize) -> Result<Polynomial, Mismatch> {
        let (x, y) = (&self.values[x], &self.values[y]);
        self.made += x.len().saturating_mul(y.len());
        if self.made > TERMS {
            return Err(Mismatch::TooLarge);
        }
        let mut all: Vec<(Monomial, u32)> = Vec::with_capacity(x.len() * y.len());
        for &(m, c) in x {
            for &(n, d) in y {
                let monomial = times(m, n).ok_or(Mismatch::NotBilinear { product: atom })?;
                all.push((monomial, (u64::from(c) * u64::from(d) % self.q) as u32));
            }
        }
        all.sort_unstable_by_key(|t| t.0);
        let mut out: Polynomial = Vec::with_capacity(all.len());
        for (m, c) in all {
            match out.last_mut() {
                Some(last) if last.0 == m => {
                    last.1 = ((u64::from(last.1) + u64::from(c)) % self.q) as u32;
                }
                _ => out.push((m, c)),
            }
        }
        out.retain(|t| t.1 != 0);
        Ok(out)
    }
}

fn merge(x: &Polynomial, y: &Polynomial, q: u64) -> Polynomial {
    let mut out = Vec::with_capacity(x.len() + y.len());
    let (mut i, mut j) = (0, 0);
    while i < x.len() && j < y.len() {
        let (a, b) = (x[i], y[j]);
        if a.0 == b.0 {
            let c = ((u64::from(a.1) + u64::from(b.1)) % q) as u32;
            if c != 0 {
                out.push((a.0, c));
            }
            i += 1;
            j += 1;
        } else if a.0 < b.0 {
            out.push(a);
            i += 1;
        } else {
            out.push(b);
            j += 1;
        }
    }
    out.extend_from_slice(&x[i..]);
    out.extend_from_slice(&y[j..]);
    out
}
