//! Rule *Chinese remainder theorem*: a name that is known modulo several numbers is an integer form if
//! the intervals exclude every other one.

use crate::atom::{Atom, Facts, before};
use crate::check::Expanded;
use crate::claim::Why;
use crate::compare::{Entry, Mismatch, Residue, coefficients};
use crate::form::{AtomId, Form};
use rustc_hash::FxHashMap;

/// Coefficients of integers that are found at most.
const MOST: usize = 1 << 25;
/// Products of moduli lie below this.
const LARGEST: i128 = 1 << 62;

/// Moduli without a common divisor.
struct Basis {
    product: i128,
    /// By modulus: what is 1 modulo it, and 0 modulo the others.
    units: Vec<i128>,
}

impl Basis {
    fn new(moduli: &[u32]) -> Result<Basis, Why> {
        let mut product = 1i128;
        for &p in moduli {
            if p < 2 {
                return Err(format!("a modulus of {p}"));
            }
            product =
                product.checked_mul(p.into()).filter(|x| *x < LARGEST).ok_or("great moduli")?;
        }
        let unit = |&p: &u32| {
            let others = product / i128::from(p);
            let rest = others.rem_euclid(p.into()) as u64;
            let inverse = ringforge_ring::zq::inv(rest, p.into());
            let inverse = inverse.ok_or_else(|| format!("{p} is no modulus beside the others"))?;
            Ok(others * i128::from(inverse))
        };
        Ok(Basis { product, units: moduli.iter().map(unit).collect::<Result<_, Why>>()? })
    }

    /// The integer of least magnitude with these residues.
    fn least(&self, residues: &[u32]) -> i128 {
        let sum: i128 = self.units.iter().zip(residues).map(|(u, &r)| u * i128::from(r)).sum();
        let x = sum.rem_euclid(self.product);
        if 2 * x > self.product { x - self.product } else { x }
    }
}

impl Facts {
    /// Finds the forms with integer coefficients that names are, affine in the atoms of either side, and records what
    /// they are modulo q. They are known modulo each of the moduli.
    ///
    /// # Errors
    /// The condition that fails.
    pub(crate) fn chinese(
        &mut self,
        moduli: &[u32],
        sides: [&[AtomId]; 2],
        names: &[AtomId],
        q: u32,
        tick: &(dyn Fn(f64) -> bool + Sync),
    ) -> Result<(), Why> {
        let basis = Basis::new(moduli)?;
        let n = sides[0].len().max(sides[1].len());
        let mut leaves = FxHashMap::default();
        for (side, atoms) in (0..).zip(sides) {
            for (i, &a) in atoms.iter().enumerate() {
                leaves.insert(a, (side, i as u32));
                // A name of one atom is the same integer.
                if let Atom::Name(form) = self.get(a)?
                    && let (0, &[(same, 1)]) = (form.k, &form.t[..])
                {
                    leaves.insert(same, (side, i as u32));
                }
            }
        }
        let over = Expanded { facts: self, leaves: Some(leaves) };
        let mut found: Vec<(Entry, u32)> = Vec::new();
        for (&p, number) in moduli.iter().zip(0..) {
            let form = |&a: &AtomId| {
                self.get(a)?;
                let known = self.congruence(a, p);
                known.ok_or_else(|| format!("atom {a} is not known modulo {p}"))
            };
            let forms = names.iter().map(form).collect::<Result<Vec<Residue>, Why>>()?;
            let all = coefficients(&over, p, n, &forms, MOST, tick).map_err(|e| match e {
                Mismatch::Cancelled => "stopped".into(),
                e => format!("modulo {p}: {e}"),
            })?;
            found.extend(all.into_iter().map(|entry| (entry, number)));
        }
        found.sort_unstable();
        let mut integers = Vec::with_capacity(names.len());
        for (&name, k) in names.iter().zip(0..) {
            let place = |k: u32| found.partition_point(|e| e.0.k < k);
            let own = &found[place(k)..place(k + 1)];
            integers.push((name, self.integer(name, own, &basis, sides, q)?));
            // Products that no line defines.
            self.forget();
        }
        self.wholes.extend(integers);
        Ok(())
    }

    /// What a name is modulo q, with these coefficients modulo each of the moduli.
    fn integer(
        &mut self,
        name: AtomId,
        found: &[(Entry, u32)],
        basis: &Basis,
        sides: [&[AtomId]; 2],
        q: u32,
    ) -> Result<Residue, Why> {
        let mut form = Form::default();
        for same in found.chunk_by(|x, y| (x.0.i, x.0.j) == (y.0.i, y.0.j)) {
            let (i, j) = (same[0].0.i, same[0].0.j);
            let mut residues = vec![0; basis.units.len()];
            same.iter().for_each(|&(entry, number)| residues[number as usize] = entry.c);
            let c = basis.least(&residues);
            let atom = |of: &[AtomId], x: u32| of.get((x as usize).checked_sub(1)?).copied();
            match (atom(sides[0], i), atom(sides[1], j)) {
                (Some(x), Some(y)) => {
                    form.t.push((self.atom(Atom::Product(x.min(y), x.max(y)))?, c));
                }
                (Some(x), None) | (None, Some(x)) => form.t.push((x, c)),
                (None, None) => form.k = c,
            }
        }
        let (lo, hi) = self.interval(&form)?;
        let (l, h) = self.bounds(name).ok_or_else(|| format!("atom {name} has no interval"))?;
        if [l, h, lo, hi].iter().any(|x| x.unsigned_abs() >= 1 << 120) {
            return Err("numbers beyond 120 bits".into());
        }
        // Of the constants that are congruent, the one that brings the intervals' middles together.
        let beside = l + h - (lo + hi);
        let more = basis.product * (beside + basis.product).div_euclid(2 * basis.product);
        let (lo, hi) = (lo + more, hi + more);
        if hi - l >= basis.product || h - lo >= basis.product {
            return Err(format!(
                "atom {name} lies in [{l}, {h}]; what it is congruent to lies in [{lo}, {hi}], and may differ from it by a multiple of the moduli's product {}",
                basis.product
            ));
        }
        form.k += more;
        let is = self.linear(&form, q)?;
        before(name, &is)?;
        Ok(is)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Term;

    #[test]
    fn integers_are_the_least_with_their_residues() {
        for moduli in [&[5u32, 7][..], &[2, 3, 5], &[9, 8], &[11]] {
            let basis = Basis::new(moduli).unwrap_or_else(|e| panic!("{e}"));
            let product: i128 = moduli.iter().map(|&p| i128::from(p)).product();
            assert_eq!(basis.product, product);
            for x in -(product - 1) / 2..=product / 2 {
                let low = |&p: &u32| x.rem_euclid(p.into()) as u32;
                let residues: Vec<u32> = moduli.iter().map(low).collect();
                assert_eq!(basis.least(&residues), x, "{moduli:?}");
            }
        }
    }

    /// Z = x - 12 and x + 12 with x in [0, 10], modulo 35. Whatever the interval of Y, it is Z exactly if some
    /// multiple of 35 brings both so near that no other is possible.
    #[test]
    fn intervals_leave_no_room_at_either_end() {
        let basis = Basis::new(&[5, 7]).expect("moduli");
        let (mut facts, q) = (Facts::new(vec![(0, 10), (0, 10)], 1 << 10), 97);
        let input = |facts: &mut Facts, operand| {
            facts.atom(Atom::Input { operand, index: 0 }).expect("an input")
        };
        let (x, y) = (input(&mut facts, 0), input(&mut facts, 1));
        let (mut accepted, mut refused) = (0, 0);
        for constant in [-12i128, 12] {
            let entry = |(i, c): (u32, i128), (p, number): (i128, u32)| {
                (Entry { k: 0, i, j: 0, c: c.rem_euclid(p) as u32 }, number)
            };
            let all = [(1, 1), (0, constant)];
            let found = all.map(|c| [(5, 0), (7, 1)].map(|p| entry(c, p))).concat();
            for (l, h) in (-80..80).flat_map(|l| (l..80).map(move |h| (l, h))) {
                let number = facts.atoms.len() as i128;
                let form = Form { k: number, t: vec![(x, 1), (y, 1)] };
                let name = facts.atom(Atom::Name(form.into())).expect("a name");
                facts.narrow(name, l, h);
                let all = (-9..=9).map(|t| constant + 35 * t);
                let near: Vec<u32> = all
                    .filter(|k| 10 + k - l < 35 && h - k < 35)
                    .map(|k| k.rem_euclid(q.into()) as u32)
                    .collect();
                match facts.integer(name, &found, &basis, [&[x], &[]], q) {
                    Ok(is) => {
                        accepted += 1;
                        assert_eq!(is.t, [(Term::Value(x), 1)]);
                        assert!(near.contains(&is.k), "{constant}, [{l}, {h}]: {}", is.k);
                    }
                    Err(why) => {
                        refused += 1;
                        assert!(near.is_empty(), "{constant}, [{l}, {h}]: {why}");
                    }
                }
            }
        }
        assert!(accepted > 1000 && refused > 1000, "{accepted} {refused}");
    }
}
