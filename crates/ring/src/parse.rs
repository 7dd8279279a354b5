//! The text form of a ring: `Z4591[x]/(x^761 - x - 1)`.

use crate::ring::{MAX_DEGREE, MAX_Q, Ring};
use crate::zq;

/// A text that is no ring: where it stops making sense, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The text as given.
    pub text: String,
    /// Byte position in `text` of the first thing that does not fit (its length, at the end).
    pub at: usize,
    /// What was expected at `at`.
    pub expected: String,
}

impl std::error::Error for ParseError {}

impl std::fmt::Display for ParseError {
    /// Two lines of context with a caret, then what was expected.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let before = self.text.get(..self.at).unwrap_or(&self.text);
        let caret = " ".repeat(before.chars().count());
        writeln!(f, "this is not a ring: at byte {}, expected {}", self.at, self.expected)?;
        write!(f, "  {}\n  {caret}^", self.text)
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl Cursor<'_> {
    fn error<T>(&self, at: usize, expected: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { text: self.text.to_string(), at, expected: expected.into() })
    }

    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn accept(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Accepts a word, whose letters stand together.
    fn accept_word(&mut self, wanted: &str) -> bool {
        self.peek();
        let found = self.text[self.at..].starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    fn expect(&mut self, wanted: char, why: &str) -> Result<(), ParseError> {
        if self.accept(wanted) { Ok(()) } else { self.error(self.at, format!("`{wanted}`{why}")) }
    }

    /// An unsigned decimal number of at most `max`, if one starts here.
    fn number(&mut self, max: u64, what: &str) -> Result<Option<u64>, ParseError> {
        if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Ok(None);
        }
        let start = self.at;
        let digits: &str = {
            let rest = &self.text[start..];
            &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())]
        };
        self.at += digits.len();
        match digits.parse() {
            Ok(value) if value <= max => Ok(Some(value)),
            _ => self.error(start, format!("{what} of at most {max}")),
        }
    }
}

/// One term `3x^5` of a polynomial in `variable` as (coefficient mod q, exponent).
fn term(cursor: &mut Cursor, q: u64, variable: char) -> Result<(u64, usize), ParseError> {
    let coefficient = cursor.number(u64::MAX, "a coefficient")?;
    if coefficient.is_some() {
        cursor.accept('*');
    }
    if !cursor.accept(variable) {
        return match coefficient {
            Some(c) => Ok((c % q, 0)),
            None => {
                let v = variable;
                cursor.error(cursor.at, format!("a term such as `{v}^761`, `3{v}` or `1`"))
            }
        };
    }
    let exponent = if cursor.accept('^') {
        // As LaTeX has it: `x^{761}`.
        let braced = cursor.accept('{');
        match cursor.number(MAX_DEGREE as u64, "an exponent")? {
            Some(e) => {
                if braced {
                    cursor.expect('}', " after the exponent")?;
                }
                e as usize
            }
            None => return cursor.error(cursor.at, "an exponent"),
        }
    } else {
        1
    };
    Ok((coefficient.unwrap_or(1) % q, exponent))
}

/// What a ring looks like, for messages.
const EXAMPLE: &str = "a ring looks like `Z4591[x]/(x^761 - x - 1)`";

/// The coefficients: `Z4591`, `Z_4591`, `Z_{4591}`, `Z/4591`, `Z/4591Z`, `(Z/4591Z)`, or for a prime `F_4591` or `GF(4591)`.
fn coefficients(cursor: &mut Cursor) -> Result<u64, ParseError> {
    let quotient = cursor.accept('(');
    let field = cursor.accept_word("GF") || cursor.accept('F') || cursor.accept('𝔽');
    if !field && !cursor.accept('ℤ') {
        cursor.expect('Z', &format!(": {EXAMPLE}"))?;
    }
    let divided = !field && cursor.accept('/');
    cursor.accept('_');
    let close = [('(', ')'), ('{', '}')].into_iter().find(|c| cursor.accept(c.0)).map(|c| c.1);
    let q_at = cursor.at;
    let q = modulus(cursor)?;
    if let Some(close) = close {
        cursor.expect(close, " after the modulus q")?;
    }
    if divided && !cursor.accept('Z') {
        cursor.accept('ℤ');
    }
    if quotient {
        cursor.expect(')', " after the modulus q")?;
    }
    if field && !zq::is_prime(q) {
        let factors = zq::factored(q);
        let why = match zq::factor(q)[..] {
            [_] => "that field does not multiply as integers modulo q do",
            _ => "there is no field of that size",
        };
        let message =
            format!("a prime q ({q} = {factors}, and {why}), or `Z{q}` for integers modulo {q}");
        return cursor.error(q_at, message);
    }
    Ok(q)
}

/// The modulus q, as a number or as a power such as `2^16`.
fn modulus(cursor: &mut Cursor) -> Result<u64, ParseError> {
    cursor.peek();
    let at = cursor.at;
    let base = cursor.number(MAX_Q, "a modulus q")?;
    let q = match base {
        Some(base) if cursor.accept('^') => {
            let exponent = cursor.number(64, "an exponent of the modulus")?;
            let Some(exponent) = exponent else {
                return cursor.error(cursor.at, "an exponent of the modulus, as in `Z2^16`");
            };
            let power = base.checked_pow(exponent as u32).filter(|q| *q <= MAX_Q);
            let Some(power) = power else {
                return cursor.error(at, format!("a modulus q of at most {MAX_Q}"));
            };
            Some(power)
        }
        other => other,
    };
    match q {
        Some(q) if q >= 2 => Ok(q),
        _ => cursor.error(at, "a modulus q of at least 2, as in `Z4591`"),
    }
}

/// The sign as keyboards and as papers have it.
fn minus(cursor: &mut Cursor) -> bool {
    cursor.accept('-') || cursor.accept('−')
}

/// Parses a whole ring; see [`Ring::parse`].
pub(crate) fn ring(text: &str) -> Result<Ring, ParseError> {
    let mut cursor = Cursor { text, at: 0 };
    let q = coefficients(&mut cursor)?;
    cursor.expect('[', " after the modulus q, as in `Z4591[x]`")?;
    let variable = if cursor.accept('X') { 'X' } else { 'x' };
    if variable == 'x' {
        cursor.expect('x', " or `X`, the variable")?;
    }
    cursor.expect(']', " after the variable")?;
    cursor.expect('/', " and the polynomial f, as in `Z4591[x]/(x^761 - x - 1)`")?;
    let close = if cursor.accept('<') || cursor.accept('⟨') {
        if text[..cursor.at].ends_with('<') { '>' } else { '⟩' }
    } else {
        cursor.expect('(', " before the polynomial f")?;
        ')'
    };
    cursor.peek();
    let f_at = cursor.at;
    let mut f: Vec<u64> = Vec::new();
    let mut negative = minus(&mut cursor);
    loop {
        let (coefficient, exponent) = term(&mut cursor, q, variable)?;
        if f.len() <= exponent {
            f.resize(exponent + 1, 0);
        }
        let sign = if negative { q - coefficient } else { coefficient };
        f[exponent] = zq::add(f[exponent], sign, q);
        if minus(&mut cursor) {
            negative = true;
        } else if cursor.accept('+') {
            negative = false;
        } else {
            break;
        }
    }
    cursor.expect(close, ", `+` or `-` after a term of f")?;
    if cursor.peek().is_some() {
        return cursor.error(cursor.at, format!("the end of the text after `{close}`"));
    }
    while f.last() == Some(&0) {
        f.pop();
    }
    match f.last() {
        Some(1) if f.len() >= 2 => {}
        _ => {
            return cursor
                .error(f_at, "a polynomial of degree 1 or more with leading coefficient 1");
        }
    }
    let last = f.len() - 1;
    let mut modulus: Vec<i64> = f.iter().map(|&c| zq::centered(c, q)).collect();
    modulus[last] = 1; // modulo 2 the centred representative of 1 would be −1
    Ok(Ring { q, modulus })
}
