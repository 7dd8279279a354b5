//! What is promised about the coefficients of an operand.

use crate::sexpr::Form;
use std::str::FromStr;

/// The coefficients an operand can have.
///
/// ```
/// use ringforge_plan::Operand;
/// let within: Operand = "within 5".parse().unwrap();
/// assert_eq!((within, within.range(8192)), (Operand::Within(5), (-5, 5)));
/// assert_eq!((Operand::Big.range(8192), Operand::Big.range(4591)), ((-4096, 4095), (-2295, 2295)));
/// assert_eq!(Operand::Big.bound(8192), 4096);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Operand {
    /// Any centred coefficient.
    Big,
    /// −1, 0 or 1.
    Small,
    /// At most this far from zero, at least 1.
    Within(u32),
}

impl Operand {
    /// The interval of the coefficients modulo `q`, both ends included: what is asked for, within
    /// `[-(q-1)/2, (q-1)/2]` for odd q and `[-q/2, q/2 - 1]` for even q.
    pub fn range(self, q: u64) -> (i64, i64) {
        let (low, high) = (-(q as i64 / 2), (q as i64 - 1) / 2);
        match self {
            Operand::Big => (low, high),
            Operand::Small => (low.max(-1), high.min(1)),
            Operand::Within(k) => (low.max(-i64::from(k)), high.min(i64::from(k))),
        }
    }

    /// The largest |coefficient| modulo `q`.
    pub fn bound(self, q: u64) -> u64 {
        self.range(q).0.unsigned_abs()
    }

    /// `big`, `small` or `(within 5)`, as a plan's text has it.
    pub(crate) fn form(self) -> Form {
        match self {
            Operand::Within(k) => Form::list("within", [Form::word(k)]),
            _ => Form::word(self),
        }
    }

    /// Whether every coefficient of an `other` operand modulo `q` is one of this.
    pub fn covers(self, other: Operand, q: u64) -> bool {
        let (own, other) = (self.range(q), other.range(q));
        own.0 <= other.0 && other.1 <= own.1
    }

    /// What is wrong with such operands modulo `q`, where they are wider than its centred range.
    pub fn too_wide(self, q: u64) -> Option<String> {
        let k = match self {
            Operand::Big => return None,
            Operand::Small => 1,
            Operand::Within(k) => u64::from(k),
        };
        let (low, high) = Operand::Big.range(q);
        (2 * k >= q).then(|| {
            format!("coefficients in [-{k}, {k}] are wider than [{low}, {high}], all that there is mod {q}")
        })
    }
}

impl std::fmt::Display for Operand {
    /// `big`, `small`, `within 5`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Operand::Big => f.write_str("big"),
            Operand::Small => f.write_str("small"),
            Operand::Within(k) => write!(f, "within {k}"),
        }
    }
}

impl FromStr for Operand {
    type Err = String;
    fn from_str(text: &str) -> Result<Operand, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |k: &str| k.parse().ok().filter(|k| (1..1 << 31).contains(k));
        match words.as_slice() {
            ["big"] => Ok(Operand::Big),
            ["small"] => Ok(Operand::Small),
            ["within", k] if number(k).is_some() => Ok(Operand::Within(number(k).unwrap_or(1))),
            _ => Err(format!("invalid operand `{text}`; expected `big`, `small` or `within 5`")),
        }
    }
}

impl TryFrom<String> for Operand {
    type Error = String;
    fn try_from(text: String) -> Result<Operand, String> {
        text.parse()
    }
}

impl From<Operand> for String {
    fn from(operand: Operand) -> String {
        operand.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for operand in [Operand::Big, Operand::Small, Operand::Within(5)] {
            assert_eq!(operand.to_string().parse(), Ok(operand));
        }
        for text in
            ["", "huge", "within", "within 0", "within -3", "within 5 6", "within 2147483648"]
        {
            assert!(text.parse::<Operand>().is_err(), "{text}");
        }
    }

    #[test]
    fn widths() {
        assert!(
            Operand::Big.covers(Operand::Small, 4591) && !Operand::Small.covers(Operand::Big, 4591)
        );
        assert!(Operand::Within(2295).covers(Operand::Big, 4591));
        assert!(!Operand::Within(1023).covers(Operand::Big, 2048));
        assert_eq!(
            (Operand::Within(2295).too_wide(4591), Operand::Within(1023).too_wide(2048)),
            (None, None)
        );
        let why = Operand::Within(1024).too_wide(2048).expect("too wide");
        assert_eq!(
            why,
            "coefficients in [-1024, 1024] are wider than [-1024, 1023], all that there is mod 2048"
        );
    }
}
