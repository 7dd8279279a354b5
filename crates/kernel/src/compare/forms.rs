//! Values as rows over one operand, or as sums of products of a left and a right row.

use super::{Layout, Mismatch, Residue, Side, Values};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A value of one operand: elements and coefficients in `[1, m)`, by element; 0 is the constant 1.
pub(super) type Row = Vec<(u32, u32)>;

/// A summand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// An earlier sum.
    Sum(u32),
    /// Left row times right row; row 0 of both sides is the constant 1.
    Product(u32, u32),
}

/// What a value is.
#[derive(Clone, Copy)]
enum Kind {
    /// A number.
    Constant(u32),
    /// The number of a row.
    Row(Side, u32),
    /// The number of a sum.
    Sum(u32),
}

/// Forms, and all that they depend on, modulo m.
pub(super) struct Forms {
    pub m: u32,
    pub rows: [Vec<Row>; 2],
    /// Sums with their coefficients in `[1, m)`, each over earlier ones; the forms come last.
    pub sums: Vec<Vec<(Part, u32)>>,
    /// The number of the first form among the sums.
    pub first: usize,
    /// Left and right row of all products.
    pub products: FxHashSet<(u32, u32)>,
    /// Terms of all values and forms.
    pub terms: usize,
    kinds: Vec<Kind>,
}

impl Forms {
    /// Expands what `outputs` depend on.
    ///
    /// # Errors
    /// The side condition that fails.
    pub fn new(
        values: &dyn Values,
        layout: &Layout,
        m: u32,
        outputs: &[Residue],
    ) -> Result<Forms, Mismatch> {
        if !(2..=1 << 31).contains(&m) {
            return Err(Mismatch::Modulus(m));
        }
        let mut this = Forms {
            m,
            rows: [vec![vec![(0, 1)]], vec![vec![(0, 1)]]],
            sums: Vec::new(),
            first: 0,
            products: FxHashSet::default(),
            terms: 0,
            kinds: vec![Kind::Constant(0); values.count()],
        };
        let mut needed = vec![false; values.count()];
        for form in outputs {
            this.mark(form, &mut needed)?;
        }
        let mut list: Vec<(usize, Option<Cow<Residue>>)> = Vec::new();
        for v in (0..values.count()).rev() {
            if std::mem::take(&mut needed[v]) {
                let form = match values.leaf(v as u32) {
                    Some(_) => None,
                    None => {
                        Some(values.residue(v as u32, m).ok_or(Mismatch::Unknown(v as u32, m))?)
                    }
                };
                if let Some(form) = &form {
                    this.mark(form, &mut needed[..v])?;
                }
                list.push((v, form));
            }
        }
        for (v, form) in list.into_iter().rev() {
            this.kinds[v] = match form {
                Some(form) => this.value(&form, layout)?,
                None => {
                    let leaf = values.leaf(v as u32);
                    let element = leaf.and_then(|(o, i)| layout.element(o.into(), i as usize));
                    let (side, x) = element.ok_or(Mismatch::Unknown(v as u32, m))?;
                    this.push_row(side, vec![(x as u32, 1)])
                }
            };
        }
        this.first = this.sums.len();
        for form in outputs {
            let parts = this.parts(form)?;
            this.sums.push(parts);
        }
        let parts = this.sums.iter().flatten();
        this.products = parts
            .filter_map(|p| if let Part::Product(x, y) = p.0 { Some((x, y)) } else { None })
            .collect();
        Ok(this)
    }

    /// The rows of a side that are multiplied.
    pub fn used(&self, side: Side) -> BTreeSet<u32> {
        let pick = |&(x, y): &(u32, u32)| if side == Side::Left { x } else { y };
        self.products.iter().map(pick).collect()
    }

    /// Marks what a form depends on, which must be among `needed`.
    fn mark(&mut self, form: &Residue, needed: &mut [bool]) -> Result<(), Mismatch> {
        if form.m != self.m {
            return Err(Mismatch::Modulus(form.m));
        }
        self.terms += form.t.len();
        for v in form.t.iter().flat_map(|t| t.0.factors()) {
            *needed.get_mut(v as usize).ok_or(Mismatch::Unknown(v, self.m))? = true;
        }
        Ok(())
    }

    fn push_row(&mut self, side: Side, row: Row) -> Kind {
        let rows = &mut self.rows[side as usize];
        rows.push(row);
        Kind::Row(side, rows.len() as u32 - 1)
    }

    /// A form as a sum of parts.
    fn parts(&self, form: &Residue) -> Result<Vec<(Part, u32)>, Mismatch> {
        let m = u64::from(self.m);
        let mut parts = vec![(Part::Product(0, 0), form.k % self.m)];
        for &(term, c) in &form.t {
            let (mut part, mut c) = (Part::Product(0, 0), u64::from(c) % m);
            for v in term.factors() {
                part = match (part, self.kinds[v as usize]) {
                    (part, Kind::Constant(k)) => {
                        c = c * u64::from(k) % m;
                        part
                    }
                    (Part::Product(0, y), Kind::Row(Side::Left, x)) => Part::Product(x, y),
                    (Part::Product(x, 0), Kind::Row(Side::Right, y)) => Part::Product(x, y),
                    (Part::Product(0, 0), Kind::Sum(x)) => Part::Sum(x),
                    _ => return Err(Mismatch::NotBilinear(term)),
                };
            }
            parts.push((part, c as u32));
        }
        parts.retain(|p| p.1 != 0);
        Ok(parts)
    }

    /// What a value with this form is.
    fn value(&mut self, form: &Residue, layout: &Layout) -> Result<Kind, Mismatch> {
        let parts = self.parts(form)?;
        let all = |is: fn(&Part) -> bool| parts.iter().all(|p| is(&p.0));
        let side = match () {
            () if all(|p| matches!(p, Part::Product(_, 0))) => Side::Left,
            () if all(|p| matches!(p, Part::Product(0, _))) => Side::Right,
            () => {
                self.sums.push(parts);
                return Ok(Kind::Sum(self.sums.len() as u32 - 1));
            }
        };
        let mut sum = vec![0u64; layout.len[side as usize]];
        for &(part, c) in &parts {
            // The other row is the constant 1.
            let Part::Product(x, y) = part else { continue };
            for &(i, value) in &self.rows[side as usize][x.max(y) as usize] {
                let slot = &mut sum[i as usize];
                *slot = (*slot + u64::from(c) * u64::from(value)) % u64::from(self.m);
            }
        }
        let all = sum.iter().enumerate().filter(|x| *x.1 != 0);
        let row: Row = all.map(|(x, c)| (x as u32, *c as u32)).collect();
        Ok(match row[..] {
            [] => Kind::Constant(0),
            [(0, k)] => Kind::Constant(k),
            _ => self.push_row(side, row),
        })
    }
}
