//! Executing unsigned programs: the language abstraction over a domain of words.

use ringforge_program::unsigned::primitive::{self, Machine, Word32};
use ringforge_program::unsigned::{Array, Body, Constants, Kind, Language, Scheme};
use ringforge_ring::zq;
use std::collections::HashMap;

use crate::formula::{Id, Recorder};

/// The interval `[lo, hi]`.
pub type Interval = (i64, i64);

/// A program has no meaning in a domain: in which stage, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{stage}, counters {counters:?}: {reason}")]
pub struct Refused {
    /// The stage's title.
    pub stage: String,
    /// The loop counters around it, outermost first.
    pub counters: Vec<usize>,
    /// Why, a sentence for people.
    pub reason: String,
}

/// The domain abstraction: what a word is [TokudaKameyama23 §2.3].
pub trait Domain {
    /// A 16-bit word.
    type Value: Clone;
    /// A constant.
    fn constant(&mut self, word: u16) -> Self::Value;
    /// `a + b`.
    fn add(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, String>;
    /// `a + offset − b`.
    fn sub(
        &mut self,
        a: &Self::Value,
        offset: &Self::Value,
        b: &Self::Value,
    ) -> Result<Self::Value, String>;
    /// `montgomery_reduce(a·b)`.
    fn mul(&mut self, a: &Self::Value, b: &Self::Value) -> Result<Self::Value, String>;
    /// A reduction.
    fn reduce(&mut self, a: &Self::Value, kind: Kind) -> Result<Self::Value, String>;
}

/// Loops, arrays and indices, executed.
pub struct Execute<'s, D: Domain> {
    scheme: &'s Scheme,
    /// The domain.
    pub domain: D,
    data: [Vec<Option<D::Value>>; 3],
    stage: String,
    counters: Vec<usize>,
}

impl<'s, D: Domain> Execute<'s, D> {
    /// A machine whose arrays c, a, b hold these words, `None` being undefined.
    pub fn new(scheme: &'s Scheme, domain: D, data: [Vec<Option<D::Value>>; 3]) -> Self {
        Execute { scheme, domain, data, stage: String::new(), counters: Vec::new() }
    }

    /// The words of array `array`, which has to be defined.
    pub fn take(&mut self, array: usize) -> Result<Vec<D::Value>, Refused> {
        let all = std::mem::take(&mut self.data[array]);
        let all: Option<Vec<D::Value>> = all.into_iter().collect();
        all.ok_or_else(|| self.refuse("a word of the result is never written".into()))
    }

    fn refuse(&self, reason: String) -> Refused {
        Refused { stage: self.stage.clone(), counters: self.counters.clone(), reason }
    }
}

impl<D: Domain> Language for Execute<'_, D> {
    type Index = usize;
    type Value = D::Value;
    type Error = Refused;

    fn number(&mut self, i: usize) -> usize {
        i
    }
    fn plus(&mut self, a: &usize, b: &usize) -> usize {
        a + b
    }
    fn times(&mut self, a: &usize, k: usize) -> usize {
        a * k
    }
    fn for_(&mut self, count: usize, body: &mut Body<'_, Self>) -> Result<(), Refused> {
        for i in 0..count {
            self.counters.push(i);
            body(self, &i)?;
            self.counters.pop();
        }
        Ok(())
    }
    fn stage(&mut self, title: &str) {
        self.stage = title.into();
    }
    fn get(&mut self, array: Array, at: &usize) -> Result<D::Value, Refused> {
        let found = match array {
            Array::Data(i) => self.data[usize::from(i)].get(*at).cloned().flatten(),
            Array::Table(i) => {
                let words = self.scheme.tables.get(usize::from(i)).map(|t| &t.words);
                let word = words.and_then(|words| words.get(*at)).copied();
                word.map(|word| self.domain.constant(word))
            }
        };
        found.ok_or_else(|| self.refuse(format!("{array:?}[{at}] is not there")))
    }
    fn set(&mut self, array: Array, at: &usize, v: &D::Value) -> Result<(), Refused> {
        let cell = match array {
            Array::Data(i) => self.data[usize::from(i)].get_mut(*at),
            Array::Table(_) => None,
        };
        match cell {
            Some(cell) => {
                *cell = Some(v.clone());
                Ok(())
            }
            None => Err(self.refuse(format!("{array:?}[{at}] cannot be written"))),
        }
    }
    fn add(&mut self, a: &D::Value, b: &D::Value) -> Result<D::Value, Refused> {
        self.domain.add(a, b).map_err(|r| self.refuse(r))
    }
    fn sub(&mut self, a: &D::Value, offset: &D::Value, b: &D::Value) -> Result<D::Value, Refused> {
        self.domain.sub(a, offset, b).map_err(|r| self.refuse(r))
    }
    fn multiple(&mut self, k: u8) -> Result<D::Value, Refused> {
        let word = u32::from(k) * self.scheme.constants.q;
        let word = u16::try_from(word).map_err(|_| self.refuse(format!("{k}·q is no word")))?;
        Ok(self.domain.constant(word))
    }
    fn constant(&mut self, word: u16) -> Result<D::Value, Refused> {
        Ok(self.domain.constant(word))
    }
    fn mul(&mut self, a: &D::Value, b: &D::Value) -> Result<D::Value, Refused> {
        self.domain.mul(a, b).map_err(|r| self.refuse(r))
    }
    fn reduce(&mut self, a: &D::Value, kind: Kind) -> Result<D::Value, Refused> {
        self.domain.reduce(a, kind).map_err(|r| self.refuse(r))
    }
}

/// Machine words: sums wrap at 2^16, products at 2^32.
pub struct Words {
    constants: Constants,
}

impl Words {
    /// For a scheme's modulus.
    pub fn new(scheme: &Scheme) -> Words {
        Words { constants: scheme.constants }
    }
}

impl Domain for Words {
    type Value = u16;
    fn constant(&mut self, word: u16) -> u16 {
        word
    }
    fn add(&mut self, a: &u16, b: &u16) -> Result<u16, String> {
        Ok(a.wrapping_add(*b))
    }
    fn sub(&mut self, a: &u16, offset: &u16, b: &u16) -> Result<u16, String> {
        Ok(a.wrapping_add(*offset).wrapping_sub(*b))
    }
    fn mul(&mut self, a: &u16, b: &u16) -> Result<u16, String> {
        let x = Machine.mul(&u32::from(*a), &u32::from(*b));
        Ok(primitive::montgomery_reduce(&mut Machine, &self.constants, &x) as u16)
    }
    fn reduce(&mut self, a: &u16, kind: Kind) -> Result<u16, String> {
        Ok(primitive::reduce(&mut Machine, &self.constants, &u32::from(*a), kind) as u16)
    }
}

/// Intervals: exact for functions of one word, by enumeration.
pub struct Intervals {
    constants: Constants,
    known: HashMap<(Interval, Option<Kind>, i64), Interval>,
    /// Words enumerated so far.
    pub enumerated: u64,
}

const WORD: Interval = (0, 65535);

impl Intervals {
    /// For a scheme's modulus.
    pub fn new(scheme: &Scheme) -> Intervals {
        Intervals::of(scheme.constants)
    }

    /// For a modulus.
    pub fn of(constants: Constants) -> Intervals {
        Intervals { constants, known: HashMap::new(), enumerated: 0 }
    }

    fn image(
        &mut self,
        a: Interval,
        kind: Option<Kind>,
        w: i64,
        f: impl Fn(&Constants, u32) -> u32,
    ) -> Interval {
        if let Some(&known) = self.known.get(&(a, kind, w)) {
            return known;
        }
        let k = self.constants;
        let all = (a.0..=a.1).map(|x| i64::from(f(&k, x as u32)));
        let image = all.fold((i64::MAX, i64::MIN), |r, y| (r.0.min(y), r.1.max(y)));
        self.enumerated += (a.1 - a.0 + 1) as u64;
        self.known.insert((a, kind, w), image);
        image
    }
}

fn within(what: &str, a: Interval) -> Result<Interval, String> {
    if a.0 >= WORD.0 && a.1 <= WORD.1 {
        return Ok(a);
    }
    Err(format!("{what} can be any of [{}, {}], which is not within [0, 65535]", a.0, a.1))
}

impl Domain for Intervals {
    type Value = Interval;
    fn constant(&mut self, word: u16) -> Interval {
        (i64::from(word), i64::from(word))
    }
    fn add(&mut self, a: &Interval, b: &Interval) -> Result<Interval, String> {
        within("the sum", (a.0 + b.0, a.1 + b.1))
    }
    fn sub(&mut self, a: &Interval, o: &Interval, b: &Interval) -> Result<Interval, String> {
        within("the difference", (a.0 + o.0 - b.1, a.1 + o.1 - b.0))?;
        within("the sum with the multiple of q", (a.0 + o.0, a.1 + o.1))?;
        Ok((a.0 + o.0 - b.1, a.1 + o.1 - b.0))
    }
    fn mul(&mut self, a: &Interval, b: &Interval) -> Result<Interval, String> {
        let (largest, q) = (self.constants.largest_product() as i64, i64::from(self.constants.q));
        if a.1 * b.1 > largest {
            return Err(format!(
                "the product of [{}, {}] and [{}, {}] may exceed {largest}",
                a.0, a.1, b.0, b.1
            ));
        }
        if b.0 == b.1 {
            let w = b.0;
            return Ok(self.image(*a, None, w, |k, x| {
                primitive::montgomery_reduce(&mut Machine, k, &(x * w as u32))
            }));
        }
        let m = (1 << primitive::MONTGOMERY_BITS) - 1;
        Ok((0, (a.1 * b.1 + m * q) >> primitive::MONTGOMERY_BITS))
    }
    fn reduce(&mut self, a: &Interval, kind: Kind) -> Result<Interval, String> {
        Ok(self.image(*a, Some(kind), 0, |k, x| primitive::reduce(&mut Machine, k, &x, kind)))
    }
}

/// Operations on single words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    /// Additions.
    pub additions: u64,
    /// Subtractions, each with the addition of a multiple of q.
    pub subtractions: u64,
    /// Products with their Montgomery reduction.
    pub products: u64,
    /// Barrett reductions.
    pub barretts: u64,
    /// Conditional subtractions.
    pub csubs: u64,
}

impl Domain for Count {
    type Value = ();
    fn constant(&mut self, _: u16) {}
    fn add(&mut self, _: &(), _: &()) -> Result<(), String> {
        self.additions += 1;
        Ok(())
    }
    fn sub(&mut self, _: &(), _: &(), _: &()) -> Result<(), String> {
        self.subtractions += 1;
        Ok(())
    }
    fn mul(&mut self, _: &(), _: &()) -> Result<(), String> {
        self.products += 1;
        Ok(())
    }
    fn reduce(&mut self, _: &(), kind: Kind) -> Result<(), String> {
        match kind {
            Kind::Csub => self.csubs += 1,
            Kind::Barrett => self.barretts += 1,
        }
        Ok(())
    }
}

/// Forms mod q. Reductions keep residues; a product divides by 2^18.
pub struct Residues {
    /// The graph of forms.
    pub recorder: Recorder,
    inverse_of_r: u64,
}

impl Residues {
    /// Over a recorder.
    ///
    /// # Errors
    /// The modulus is even, so that no product can be divided by 2^18.
    pub fn new(recorder: Recorder) -> Result<Residues, Refused> {
        let q = recorder.modulus();
        let r = zq::pow(2, u64::from(primitive::MONTGOMERY_BITS), q);
        let inverse_of_r = zq::inv(r, q).ok_or_else(|| Refused {
            stage: "Montgomery's products".into(),
            counters: Vec::new(),
            reason: format!("2^{} has no inverse mod {q}", primitive::MONTGOMERY_BITS),
        })?;
        Ok(Residues { inverse_of_r, recorder })
    }
}

impl Domain for Residues {
    type Value = Id;
    fn constant(&mut self, word: u16) -> Id {
        self.recorder.number(i64::from(word))
    }
    fn add(&mut self, a: &Id, b: &Id) -> Result<Id, String> {
        self.recorder.sum(*a, *b, false)
    }
    fn sub(&mut self, a: &Id, offset: &Id, b: &Id) -> Result<Id, String> {
        let a = self.recorder.sum(*a, *offset, false)?;
        self.recorder.sum(a, *b, true)
    }
    fn mul(&mut self, a: &Id, b: &Id) -> Result<Id, String> {
        let p = self.recorder.product(*a, *b)?;
        Ok(self.recorder.scale(p, self.inverse_of_r))
    }
    fn reduce(&mut self, a: &Id, _: Kind) -> Result<Id, String> {
        Ok(*a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_modulus_is_refused() {
        assert!(Residues::new(Recorder::new(12289)).is_ok());
        let refused = Residues::new(Recorder::new(12288)).err().expect("refused");
        assert_eq!(refused.reason, "2^18 has no inverse mod 12288");
    }
}
