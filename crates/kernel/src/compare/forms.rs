//! Values as rows over one operand, or as sums of products of a left and a right row.
//!
//! Rule *rounded polynomials*: modulo a power of two, values may be floor quotients by 2^b and remainders
//! modulo 2^b.
//!
//! **Statement.** For each value v that an output depends on, by a number n of low bits that are needed of it,
//!
//! ```text
//! v ≡ P   (mod 2^n)
//! ```
//!
//! with a polynomial P in the inputs and in *errors*, which are unknown integers. P has integer coefficients and is
//! affine in each operand. Each error belongs to one of them.
//!
//! - An input is itself. A sum has the sum of the polynomials of its terms, a product of two values their product; of
//!   c·v, n - v₂(c) bits of v are needed.
//! - A value that is congruent to F modulo 2^b has F's polynomial, n bits of F being needed, and where n > b an error of
//!   its own times 2^b.
//! - `floor(F / 2^b)`: n + b bits of F are needed. If 2^b divides all coefficients of F's polynomial modulo
//!   2^(n + b), then all are divided by 2^b.
//!
//! An output that is needed modulo 2^k is what is asked for if its coefficients are, modulo 2^k, and those of errors zero.
//!
//! *Proof.* For the quotient: `F = P + 2^(n+b)·j` for an integer j; coefficients of P may be changed by multiples of
//! 2^(n+b), so that 2^b divides them as integers. Then 2^b divides F, and `floor(F / 2^b) = F / 2^b = P / 2^b + 2^n·j`.
//! All else is linear. ∎
//!
//! Coefficients are found tile by tile as all others are, errors being elements after those of the operands, and
//! quotients are divided there (`tiles.rs`).

use super::{Layout, Mismatch, Residue, Rounded, Side, Values};
use rustc_hash::FxHashSet;

/// A value of one operand: elements and coefficients in `[1, m)`, by element; 0 is the constant 1.
pub(super) type Row = Vec<(u32, u32)>;

/// Bits of a value that may be needed.
pub(super) const MOST: u8 = 31;

/// Errors of each side at most: time and memory grow with their square.
pub(super) const ERRORS: usize = 1 << 14;

/// A summand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// An earlier sum.
    Sum(u32),
    /// Left row times right row; row 0 of both sides is the constant 1.
    Product(u32, u32),
}

/// A part with its coefficient, in `[0, m)`.
type Multiple = (Part, u32);

/// The constant 1.
const ONE: Part = Part::Product(0, 0);

/// Sums `Σ c·part / 2^bits`, each over earlier ones; those of forms come last.
#[derive(Default)]
pub(super) struct Sums {
    parts: Vec<Multiple>,
    /// Where the parts of each end, the bits, and the number of the value.
    all: Vec<(usize, u8, u32)>,
    /// How many are forms.
    pub forms: usize,
}

impl Sums {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Parts with coefficients in `[1, m)`, bits and the value's number, of every sum. All coefficients of the sum must be
    /// multiples of 2^bits, which are 0 unless m is a power of two.
    pub fn iter(&self) -> impl Iterator<Item = (&[Multiple], u8, u32)> {
        let mut from = 0;
        self.all.iter().map(move |&(end, bits, value)| {
            (&self.parts[std::mem::replace(&mut from, end)..end], bits, value)
        })
    }

    fn push(&mut self, parts: impl Iterator<Item = Multiple>, bits: u8, value: u32) {
        self.parts.extend(parts);
        self.all.push((self.parts.len(), bits, value));
    }

    /// Those that are not zero where only such products of rows are `live`, renumbered, and the forms.
    pub fn live(&self, live: impl Fn(u32, u32) -> bool) -> Sums {
        const NONE: u32 = u32::MAX;
        let mut number = vec![NONE; self.len()];
        let mut this = Sums { forms: self.forms, ..Sums::default() };
        for (s, (parts, bits, value)) in self.iter().enumerate() {
            let start = this.parts.len();
            this.parts.extend(parts.iter().filter_map(|&(part, c)| match part {
                Part::Sum(x) => {
                    let x = number[x as usize];
                    (x != NONE).then_some((Part::Sum(x), c))
                }
                Part::Product(x, y) => live(x, y).then_some((part, c)),
            }));
            if this.parts.len() > start || s >= self.len() - self.forms {
                number[s] = this.len() as u32;
                this.push(std::iter::empty(), bits, value);
            }
        }
        this
    }
}

/// What a value is made of.
enum Made {
    /// Operand and element: it is an input.
    Input(u16, u32),
    /// A form, and how.
    Of(Rounded, Residue),
}

/// Forms, and all that they depend on, modulo m.
pub(super) struct Forms {
    pub m: u32,
    /// What coefficients are computed modulo: m, or 2^32 where that is a power of two.
    pub modulus: u64,
    pub rows: [Vec<Row>; 2],
    pub sums: Sums,
    /// Left and right row of all products.
    pub products: FxHashSet<(u32, u32)>,
    /// Terms of all values and forms.
    pub terms: usize,
    /// The bits of m, if it is a power of two.
    twos: Option<u8>,
    /// By value, what it is.
    is: Vec<Multiple>,
    /// Elements of each side: those of the layout, then the errors, unknown integers.
    pub len: [usize; 2],
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
        if !(2..=1 << MOST).contains(&m) {
            return Err(Mismatch::Modulus(m));
        }
        let count = values.count();
        let twos = m.is_power_of_two().then(|| m.trailing_zeros() as u8);
        let mut this = Forms {
            m,
            modulus: if twos.is_some() { 1 << 32 } else { m.into() },
            rows: [vec![vec![(0, 1)]], vec![vec![(0, 1)]]],
            sums: Sums { forms: outputs.len(), ..Sums::default() },
            products: FxHashSet::default(),
            terms: 0,
            twos,
            is: vec![(ONE, 0); count],
            len: layout.len,
        };
        // Of each value the low bits that are needed; all, modulo other numbers.
        let all = twos.unwrap_or(1);
        let mut needed = vec![0u8; count];
        for form in outputs {
            this.mark(form, all, &mut needed)?;
        }
        let mut list: Vec<(u32, u8, Made)> = Vec::new();
        for v in (0..count as u32).rev() {
            let need = std::mem::take(&mut needed[v as usize]);
            if need == 0 {
                continue;
            }
            let made = this.made(values, v, need).ok_or(Mismatch::Unknown(v, m))?;
            if let Made::Of(how, form) = &made {
                this.mark(form, need + how.lost(), &mut needed[..v as usize])?;
            }
            list.push((v, need, made));
        }
        for (v, need, made) in list.into_iter().rev() {
            this.is[v as usize] = this.defined(layout, v, need, &made)?;
        }
        for form in outputs {
            let parts = this.parts(form, all)?;
            this.sums.push(parts.into_iter(), 0, 0);
        }
        let parts = this.sums.parts.iter();
        this.products = parts
            .filter_map(|p| if let Part::Product(x, y) = p.0 { Some((x, y)) } else { None })
            .collect();
        Ok(this)
    }

    /// The modulus of forms where `need` low bits are asked for; m, modulo other numbers.
    fn modulus(&self, need: u8) -> u32 {
        self.twos.map_or(self.m, |_| 1 << need)
    }

    /// What is known of the `need` low bits of a value.
    fn made(&self, values: &dyn Values, v: u32, need: u8) -> Option<Made> {
        if let Some((operand, index)) = values.leaf(v) {
            return Some(Made::Input(operand, index));
        }
        if let Some(form) = values.residue(v, self.modulus(need)) {
            return Some(Made::Of(Rounded::Floor(0), form));
        }
        self.twos?;
        values.rounded(v, need).map(|(how, form)| Made::Of(how, form))
    }

    /// Low bits that are needed of a term where `need` are of c times it; all, modulo other numbers.
    fn demand(&self, c: u32, need: u8) -> u8 {
        match self.twos {
            Some(_) => need.saturating_sub(c.trailing_zeros() as u8),
            None => need,
        }
    }

    /// Marks what `need` bits of a form depend on, which must be among `needed`.
    fn mark(&mut self, form: &Residue, need: u8, needed: &mut [u8]) -> Result<(), Mismatch> {
        if form.m != self.modulus(need) {
            return Err(Mismatch::Modulus(form.m));
        }
        self.terms += form.t.len();
        for &(term, c) in &form.t {
            let need = self.demand(c, need);
            for v in term.factors() {
                let slot = needed.get_mut(v as usize).ok_or(Mismatch::Unknown(v, self.m))?;
                *slot = need.max(*slot);
            }
        }
        Ok(())
    }

    /// What a value is, if `need` of its low bits are needed: a row if all is of one side, else a sum.
    fn defined(
        &mut self,
        layout: &Layout,
        v: u32,
        need: u8,
        made: &Made,
    ) -> Result<Multiple, Mismatch> {
        let (how, form) = match *made {
            Made::Of(how, ref form) => (how, form),
            Made::Input(operand, index) => {
                let element = layout.element(operand.into(), index as usize);
                let (side, x) = element.ok_or(Mismatch::Unknown(v, self.m))?;
                return Ok(self.push_row(side, vec![(x as u32, 1)]));
            }
        };
        let lost = how.lost();
        let mut parts = self.parts(form, need + lost)?;
        if let Rounded::Low(own) = how
            && own < need
        {
            // 2^own times an integer of which nothing is known, an element beside what the value is of.
            let right = parts.iter().all(|p| matches!(p.0, Part::Product(0, _)));
            let side = if right { Side::Right } else { Side::Left };
            let (error, _) = self.push_row(side, vec![(self.len[side as usize] as u32, 1)]);
            self.len[side as usize] += 1;
            if self.len[side as usize] > layout.len[side as usize] + ERRORS {
                return Err(Mismatch::TooLarge);
            }
            parts.push((error, 1 << own));
        }
        let all = |is: fn(&Part) -> bool| parts.iter().all(|p| is(&p.0));
        let side = match () {
            () if all(|p| matches!(p, Part::Product(_, 0))) => Side::Left,
            () if all(|p| matches!(p, Part::Product(0, _))) => Side::Right,
            () => {
                self.sums.push(parts.into_iter(), lost, v);
                return Ok((Part::Sum(self.sums.len() as u32 - 1), 1));
            }
        };
        let mut sum = vec![0u32; self.len[side as usize]];
        for &(part, c) in &parts {
            // The other row is the constant 1.
            let Part::Product(x, y) = part else { continue };
            for &(i, value) in &self.rows[side as usize][x.max(y) as usize] {
                let slot = &mut sum[i as usize];
                *slot = self.reduced(u64::from(*slot) + u64::from(c) * u64::from(value));
            }
        }
        if self.twos.is_some() {
            // More bits than these are not known.
            sum.iter_mut().for_each(|c| *c &= u32::MAX >> (32 - need - lost));
            if sum.iter().any(|c| (c.trailing_zeros() as u8) < lost) {
                return Err(Mismatch::NotMultiple { value: v, bits: lost });
            }
            sum.iter_mut().for_each(|c| *c >>= lost);
        }
        let all = sum.iter().enumerate().filter(|x| *x.1 != 0);
        let row: Row = all.map(|(x, c)| (x as u32, *c)).collect();
        Ok(match row[..] {
            [] => (ONE, 0),
            [(0, k)] => (ONE, k),
            _ => self.push_row(side, row),
        })
    }

    fn push_row(&mut self, side: Side, row: Row) -> Multiple {
        let rows = &mut self.rows[side as usize];
        rows.push(row);
        let x = rows.len() as u32 - 1;
        (if side == Side::Left { Part::Product(x, 0) } else { Part::Product(0, x) }, 1)
    }

    /// A residue modulo m; modulo powers of two as it is modulo 2^32.
    fn reduced(&self, x: u64) -> u32 {
        (x % self.modulus) as u32
    }

    /// `need` bits of a form as a sum of parts.
    fn parts(&self, form: &Residue, need: u8) -> Result<Vec<Multiple>, Mismatch> {
        let mut parts = vec![(ONE, self.reduced(form.k.into()))];
        for &(term, c) in &form.t {
            if self.demand(c, need) == 0 {
                continue;
            }
            let (mut part, mut c) = (ONE, self.reduced(c.into()));
            for v in term.factors() {
                let (of, k) = self.is[v as usize];
                c = self.reduced(u64::from(c) * u64::from(k));
                part = match (part, of) {
                    (ONE, x) | (x, ONE) => x,
                    (Part::Product(x, 0), Part::Product(0, y))
                    | (Part::Product(0, y), Part::Product(x, 0)) => Part::Product(x, y),
                    _ => return Err(Mismatch::NotBilinear(term)),
                };
            }
            parts.push((part, c));
        }
        parts.retain(|p| p.1 != 0);
        Ok(parts)
    }
}
