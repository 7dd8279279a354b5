//! The text of formulas.

use super::{Binary, Expr, Unary};

/// Constants, and powers, lie below this.
const LARGE: i128 = 1 << 64;
/// Parts in parts.
const DEPTH: usize = 64;
/// Parts of a formula.
pub(crate) const PARTS: usize = 1 << 10;

/// Reads a formula from left to right.
pub(super) struct Parser<'t> {
    text: &'t str,
    at: usize,
    names: &'t [&'t str],
    depth: usize,
    parts: usize,
    /// Whether sums and the element's number are known here.
    arrays: bool,
    sums: Vec<Expr>,
}

type Parsed = Result<Expr, (usize, String)>;

fn binary(op: Binary, x: Expr, y: Expr) -> Expr {
    Expr::Binary(op, x.into(), y.into())
}

impl<'t> Parser<'t> {
    pub fn new(text: &'t str, names: &'t [&'t str], arrays: bool) -> Parser<'t> {
        Parser { text, at: 0, names, depth: 0, parts: 0, arrays, sums: Vec::new() }
    }

    /// The whole text, and what it sums up.
    pub fn formula(mut self) -> Result<(Expr, Vec<Expr>), (usize, String)> {
        let root = self.choice()?;
        self.blanks();
        if self.at < self.text.len() {
            return Err(self.expected("an operator, or the formula's end"));
        }
        Ok((root, self.sums))
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn expected(&self, what: &str) -> (usize, String) {
        (self.at, format!("the formula: expected {what}"))
    }

    /// Takes a sign, if it is next.
    fn sign(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = self.text[self.at..].starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// The word that is next, which is not taken.
    fn word(&mut self) -> String {
        self.blanks();
        let letter = |c: &char| c.is_alphanumeric() || *c == '_';
        self.text[self.at..].chars().take_while(letter).collect()
    }

    fn close(&mut self, sign: &str) -> Result<(), (usize, String)> {
        if self.sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Counts parts.
    fn more(&mut self, parts: usize) -> Result<(), (usize, String)> {
        self.parts += parts;
        match self.parts > PARTS {
            true => Err((self.at, format!("the formula: more than {PARTS} parts"))),
            false => Ok(()),
        }
    }

    fn choice(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err((self.at, format!("the formula: more than {DEPTH} parts in parts")));
        }
        let condition = self.comparison()?;
        let chosen = if self.sign("?") {
            let yes = self.choice()?;
            self.close(":")?;
            Expr::Select(condition.into(), yes.into(), self.choice()?.into())
        } else {
            condition
        };
        self.depth -= 1;
        Ok(chosen)
    }

    fn comparison(&mut self) -> Parsed {
        let left = self.sum()?;
        // The longer ones first.
        for sign in ["<=", ">=", "==", "!=", "<", ">"] {
            if self.sign(sign) {
                let right = self.sum()?;
                return Ok(match sign {
                    "<=" => binary(Binary::AtMost, left, right),
                    ">=" => binary(Binary::AtMost, right, left),
                    "<" => binary(Binary::Less, left, right),
                    ">" => binary(Binary::Less, right, left),
                    "==" => binary(Binary::Equal, left, right),
                    _ => binary(Binary::Sub, Expr::Const(1), binary(Binary::Equal, left, right)),
                });
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Parsed {
        let mut sum = self.term()?;
        loop {
            if self.sign("+") {
                sum = binary(Binary::Add, sum, self.term()?);
            } else if self.sign("-") {
                sum = binary(Binary::Sub, sum, self.term()?);
            } else {
                return Ok(sum);
            }
        }
    }

    fn term(&mut self) -> Parsed {
        let mut term = self.factor()?;
        loop {
            let op = match self.word().as_str() {
                "mod" => Unary::Mod,
                "cmod" => Unary::Cmod,
                _ if self.sign("*") => {
                    term = binary(Binary::Mul, term, self.factor()?);
                    continue;
                }
                _ => return Ok(term),
            };
            self.at += self.word().len();
            term = Expr::Unary(op, term.into(), self.constant()?);
        }
    }

    /// A positive factor without names.
    fn constant(&mut self) -> Result<i128, (usize, String)> {
        self.blanks();
        let at = self.at;
        match self.factor()?.value_alone() {
            Some(c) if (1..=LARGE).contains(&c) => Ok(c),
            _ => Err((at, "the formula: expected a constant from 1 to 2^64".into())),
        }
    }

    fn factor(&mut self) -> Parsed {
        self.more(1)?;
        if self.sign("-") {
            self.depth += 1;
            if self.depth > DEPTH {
                return Err((self.at, format!("the formula: more than {DEPTH} parts in parts")));
            }
            let factor = self.factor()?;
            self.depth -= 1;
            return Ok(match factor {
                Expr::Const(c) => Expr::Const(-c),
                other => binary(Binary::Sub, Expr::Const(0), other),
            });
        }
        if self.sign("(") {
            let inner = self.choice()?;
            self.close(")")?;
            return Ok(inner);
        }
        let (word, at) = (self.word(), self.at);
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.integer(&word);
        }
        self.at += word.len();
        match word.as_str() {
            "floor" | "round" | "ceil" => {
                self.close("(")?;
                let (above, slash) = (self.sum()?, "/");
                self.close(slash)?;
                let d = self.constant()?;
                self.close(")")?;
                let above = match word.as_str() {
                    "floor" => above,
                    "ceil" => binary(Binary::Add, above, Expr::Const(d - 1)),
                    _ => {
                        let twice = binary(Binary::Mul, Expr::Const(2), above);
                        let above = binary(Binary::Add, twice, Expr::Const(d));
                        return Ok(Expr::Unary(Unary::Floor, above.into(), 2 * d));
                    }
                };
                Ok(Expr::Unary(Unary::Floor, above.into(), d))
            }
            "min" | "max" => {
                self.close("(")?;
                let first = self.choice()?;
                self.close(",")?;
                let second = self.choice()?;
                self.close(")")?;
                let op = if word == "min" { Binary::Min } else { Binary::Max };
                Ok(binary(op, first, second))
            }
            "abs" => {
                self.close("(")?;
                let inner = self.choice()?;
                self.close(")")?;
                self.more(inner.parts())?;
                let negated = binary(Binary::Sub, Expr::Const(0), inner.clone());
                Ok(binary(Binary::Max, inner, negated))
            }
            name => match (self.position(name), name) {
                (Some(argument), _) => Ok(Expr::Element(argument)),
                (None, "index") if self.arrays => Ok(Expr::Element(self.names.len())),
                (None, "sum") if self.arrays => {
                    self.close("(")?;
                    // None in another.
                    self.arrays = false;
                    let summed = self.choice()?;
                    self.arrays = true;
                    self.close(")")?;
                    self.sums.push(summed);
                    Ok(Expr::Element(self.names.len() + self.sums.len()))
                }
                _ => {
                    self.at = at;
                    let (names, more) = (self.names.join("`, `"), ["", "`sum`, `index`, "]);
                    let more = more[usize::from(self.arrays)];
                    Err(self.expected(&format!(
                        "a number, `(`, `floor`, `round`, `ceil`, `min`, `max`, `abs`, {more}or one of `{names}`"
                    )))
                }
            },
        }
    }

    /// Which of the names it is, with the index behind it: those of chains have one.
    fn position(&mut self, name: &str) -> Option<usize> {
        let rest = &self.text[self.at..];
        let index = rest.find(']').filter(|_| rest.starts_with('[')).map_or(0, |end| end + 1);
        let name = format!("{name}{}", &rest[..index]);
        let found = self.names.iter().position(|n| *n == name)?;
        self.at += index;
        Some(found)
    }

    fn integer(&mut self, word: &str) -> Parsed {
        let read = |word: &str| match word.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16).ok(),
            None => word.parse::<i128>().ok(),
        };
        let number = read(word).filter(|c| *c <= LARGE);
        let Some(mut number) = number else {
            return Err(self.expected("an integer up to 2^64"));
        };
        self.at += word.len();
        if self.sign("^") {
            let power = self.word();
            let value = power.parse::<u32>().ok().and_then(|p| number.checked_pow(p));
            let Some(value) = value.filter(|c| *c <= LARGE) else {
                return Err(self.expected("a power up to 2^64"));
            };
            self.at += power.len();
            number = value;
        }
        Ok(Expr::Const(number))
    }
}
