//! Polynomials in the inputs of a chain: sums of residues times products of elements of the ring.

use std::collections::BTreeMap;
use std::fmt;

/// An element of an array or of a definition: its name, and its place among the elements of the ring there.
pub(super) type Place = (String, usize);

/// Terms beyond these are not followed.
const TERMS: usize = 1 << 14;
/// Nor are terms of more factors.
const FACTORS: usize = 64;

/// Σ c·∏ x in the ring: from the factors in order to c in `[1, q)`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Formula {
    terms: BTreeMap<Vec<Place>, u64>,
    q: u64,
}

impl Formula {
    /// 0.
    pub(super) fn zero(q: u64) -> Formula {
        Formula { terms: BTreeMap::new(), q }
    }

    /// One input.
    pub(super) fn input(place: Place, q: u64) -> Formula {
        Formula { terms: BTreeMap::from([(vec![place], 1 % q)]), q }
    }

    /// How many terms it has.
    pub(super) fn terms(&self) -> usize {
        self.terms.len()
    }

    /// Characters of all names in it.
    pub(super) fn size(&self) -> usize {
        self.terms.keys().flatten().map(|(array, _)| array.len()).sum()
    }

    fn add_term(&mut self, factors: Vec<Place>, c: u64) {
        let sum = (self.terms.get(&factors).copied().unwrap_or(0) + c) % self.q;
        if sum == 0 {
            self.terms.remove(&factors);
        } else {
            self.terms.insert(factors, sum);
        }
    }

    /// The sum; both are modulo one q.
    pub(super) fn plus(mut self, other: &Formula) -> Formula {
        for (factors, &c) in &other.terms {
            self.add_term(factors.clone(), c);
        }
        self
    }

    /// How it names one of its inputs: `a[0]` where there is an `a[1]` as well.
    fn name(&self, place: &Place) -> String {
        let several = |(array, element): &Place| *array == place.0 && *element > 0;
        match self.terms.keys().flatten().any(several) {
            true => format!("{}[{}]", place.0, place.1),
            false => name(place),
        }
    }

    /// c times it, c below q.
    pub(super) fn times(&self, c: u64) -> Formula {
        let mut result = Formula::zero(self.q);
        for (factors, &d) in &self.terms {
            result.add_term(factors.clone(), c * d % self.q);
        }
        result
    }

    /// The product in the ring.
    ///
    /// # Errors
    /// It has too many terms, or factors in one.
    pub(super) fn product(&self, other: &Formula) -> Result<Formula, String> {
        if self.terms().saturating_mul(other.terms()) > TERMS {
            return Err(format!("a product of more than {TERMS} terms is not followed"));
        }
        let mut result = Formula::zero(self.q);
        for (left, &c) in &self.terms {
            for (right, &d) in &other.terms {
                let mut factors = [left.as_slice(), right].concat();
                if factors.len() > FACTORS {
                    return Err(format!(
                        "a product of more than {FACTORS} factors is not followed"
                    ));
                }
                factors.sort_unstable();
                result.add_term(factors, c * d % self.q);
            }
        }
        Ok(result)
    }

    /// Reads a sum such as `169 * a * b[1] - c` in places: `known` says what each holds. It gets no element where
    /// the text has no index.
    ///
    /// # Errors
    /// A byte position in the text, and what is expected there.
    pub(super) fn parse(
        text: &str,
        q: u64,
        mut known: impl FnMut(&str, Option<usize>) -> Result<Formula, String>,
    ) -> Result<Formula, (usize, String)> {
        let mut reader = Reader { text, at: 0 };
        let mut sum = Formula::zero(q);
        let mut negative = reader.takes('-');
        loop {
            let mut product: Option<Formula> = None;
            let mut c = if negative { q - 1 } else { 1 % q };
            loop {
                match reader.factor()? {
                    (_, Factor::Number(n)) => c = c * (n % q) % q,
                    (at, Factor::Input(array, element)) => {
                        let factor = known(array, element).map_err(|message| (at, message))?;
                        let times = |of: Formula| of.product(&factor);
                        let new = product.map_or(Ok(factor.clone()), times);
                        product = Some(new.map_err(|message| (at, message))?);
                    }
                }
                if !reader.takes('*') {
                    break;
                }
            }
            match product {
                Some(product) => sum = sum.plus(&product.times(c)),
                None if c == 0 => {}
                None => {
                    let message = "a term is a product with an input, such as `3 * a`";
                    return Err((reader.at, message.into()));
                }
            }
            negative = match () {
                () if reader.takes('+') => false,
                () if reader.takes('-') => true,
                () if reader.rest().is_empty() => return Ok(sum),
                () => return Err((reader.at, "expected `*`, `+`, `-` or the end".into())),
            };
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        for (i, (factors, &c)) in self.terms.iter().enumerate() {
            let names: Vec<String> = factors.iter().map(|place| self.name(place)).collect();
            let negative = c > self.q / 2;
            let size = if negative { self.q - c } else { c };
            match (i, negative) {
                (0, false) => {}
                (0, true) => f.write_str("-")?,
                (_, false) => f.write_str(" + ")?,
                (_, true) => f.write_str(" - ")?,
            }
            if size != 1 {
                write!(f, "{size} * ")?;
            }
            f.write_str(&names.join(" * "))?;
        }
        Ok(())
    }
}

/// How a text names the place.
pub(super) fn name((array, element): &Place) -> String {
    if *element == 0 { array.clone() } else { format!("{array}[{element}]") }
}

/// Reads `a` or `a[2]`.
///
/// # Errors
/// What is expected.
pub(super) fn place(text: &str) -> Result<Place, String> {
    let mut reader = Reader { text, at: 0 };
    match reader.factor() {
        Ok((_, Factor::Input(array, element))) if reader.rest().is_empty() => {
            Ok((array.to_string(), element.unwrap_or(0)))
        }
        _ => Err(format!(
            "`{text}`: expected an array, such as `a`, or an element of one, such as `a[2]`"
        )),
    }
}

enum Factor<'a> {
    Number(u64),
    Input(&'a str, Option<usize>),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// What is left, without the space before it.
    fn rest(&mut self) -> &'a str {
        let text: &'a str = self.text;
        let rest = text[self.at..].trim_start();
        self.at = text.len() - rest.len();
        rest
    }

    fn takes(&mut self, c: char) -> bool {
        let there = self.rest().starts_with(c);
        if there {
            self.at += c.len_utf8();
        }
        there
    }

    /// A word of letters, digits and `_`, perhaps empty.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn number(&mut self, word: &str) -> Result<u64, (usize, String)> {
        let small = |n: &u64| *n < 1 << 31;
        let message = || format!("`{word}`: expected a number below 2^31");
        word.parse().ok().filter(small).ok_or_else(|| (self.at - word.len(), message()))
    }

    fn factor(&mut self) -> Result<(usize, Factor<'a>), (usize, String)> {
        let word = self.word();
        let at = self.at - word.len();
        if word.is_empty() {
            return Err((at, "expected an input, such as `a` or `a[2]`, or a number".into()));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok((at, Factor::Number(self.number(word)?)));
        }
        let mut element = None;
        if self.takes('[') {
            let index = self.word();
            element = Some(self.number(index)? as usize);
            if !self.takes(']') {
                return Err((self.at, "expected `]`".into()));
            }
        }
        Ok((at, Factor::Input(word, element)))
    }
}
