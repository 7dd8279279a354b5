//! Formulas over exact integers: what an element of an output is, by the elements of the inputs.
//!
//! ```text
//! formula    = choice
//! choice     = comparison [ "?" choice ":" choice ]        the first if the comparison is not 0
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]      1 or 0
//! sum        = term { ("+" | "-") term }
//! term       = factor { "*" factor | "mod" constant | "cmod" constant }   from left to right
//! factor     = "-" factor | integer [ "^" integer ] | name | "(" choice ")"
//!            | ("floor" | "round" | "ceil") "(" sum "/" constant ")"
//!            | ("min" | "max") "(" choice "," choice ")" | "abs" "(" choice ")"
//! ```
//!
//! A constant is a factor without names, positive. `x mod m` lies in `[0, m)`, `x cmod m` in `(-m/2, m/2]`;
//! `round(x / d)` is `floor(x / d + 1/2)`.
//!
//! Of arrays, a factor may also be `sum "(" choice ")"`, over all elements of one array, or `index`, the element's number.

mod parse;

pub(crate) use parse::PARTS;
use parse::Parser;
use std::fmt;

/// Two-place operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// 1 if less.
    Less,
    /// 1 if less or equal.
    AtMost,
    /// 1 if equal.
    Equal,
}

/// Operations with a positive constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// The quotient rounded down.
    Floor,
    /// The remainder in `[0, m)`.
    Mod,
    /// The remainder in `(-m/2, m/2]`.
    Cmod,
}

/// A part of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A number.
    Const(i128),
    /// The element of the argument at this position.
    Element(usize),
    /// Of two parts.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// Of a part and a constant.
    Unary(Unary, Box<Expr>, i128),
    /// The second if the first is not 0, else the third.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// `k + Σ c·element`, by argument; no c is 0, arguments ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// The constant.
    pub k: i128,
    /// Arguments and their coefficients.
    pub t: Vec<(usize, i128)>,
}

/// What an element is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    text: String,
    /// Its meaning. Of arrays, places behind the arguments are the element's number, and then the sums.
    pub root: Expr,
    /// What is summed up.
    pub sums: Vec<Expr>,
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Formula {
    /// Parses a formula; `names` are those of the arguments.
    ///
    /// # Errors
    /// The byte offset of what is wrong, and what would work.
    pub fn parse(text: &str, names: &[&str]) -> Result<Formula, (usize, String)> {
        let (root, sums) = Parser::new(text, names, false).formula()?;
        Ok(Formula { text: text.trim().to_string(), root, sums })
    }

    /// The same of a formula that may have sums over arrays, and the element's number.
    ///
    /// # Errors
    /// As [`Formula::parse`].
    pub fn of_arrays(text: &str, names: &[&str]) -> Result<Formula, (usize, String)> {
        let (root, sums) = Parser::new(text, names, true).formula()?;
        Ok(Formula { text: text.trim().to_string(), root, sums })
    }
}

impl Expr {
    /// The value; `element` gives that of an argument's element. [`None`] beyond 128 bits.
    pub fn value(&self, element: &dyn Fn(usize) -> i128) -> Option<i128> {
        Some(match self {
            Expr::Const(c) => *c,
            Expr::Element(a) => element(*a),
            Expr::Unary(op, x, m) => op.of(x.value(element)?, *m),
            Expr::Binary(op, x, y) => op.of(x.value(element)?, y.value(element)?)?,
            Expr::Select(c, x, y) => match c.value(element)? {
                0 => y.value(element)?,
                _ => x.value(element)?,
            },
        })
    }

    /// The arguments that it names, ascending.
    pub fn arguments(&self) -> Vec<usize> {
        fn walk(e: &Expr, found: &mut Vec<usize>) {
            match e {
                Expr::Const(_) => {}
                Expr::Element(a) => found.push(*a),
                Expr::Unary(_, x, _) => walk(x, found),
                Expr::Binary(_, x, y) => [x, y].into_iter().for_each(|e| walk(e, found)),
                Expr::Select(c, x, y) => [c, x, y].into_iter().for_each(|e| walk(e, found)),
            }
        }
        let mut found = Vec::new();
        walk(self, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// How many parts it has.
    pub(crate) fn parts(&self) -> usize {
        1 + match self {
            Expr::Const(_) | Expr::Element(_) => 0,
            Expr::Unary(_, x, _) => x.parts(),
            Expr::Binary(_, x, y) => x.parts() + y.parts(),
            Expr::Select(c, x, y) => c.parts() + x.parts() + y.parts(),
        }
    }

    /// The formula with an argument's element replaced by a number, and what is constant then evaluated.
    pub fn with(&self, argument: usize, value: i128) -> Expr {
        let of = |e: &Expr| Box::new(e.with(argument, value));
        let new = match self {
            Expr::Element(a) if *a == argument => Expr::Const(value),
            Expr::Const(_) | Expr::Element(_) => self.clone(),
            Expr::Unary(op, x, m) => Expr::Unary(*op, of(x), *m),
            Expr::Binary(op, x, y) => Expr::Binary(*op, of(x), of(y)),
            Expr::Select(c, x, y) => match *of(c) {
                Expr::Const(0) => *of(y),
                Expr::Const(_) => *of(x),
                c => Expr::Select(c.into(), of(x), of(y)),
            },
        };
        match new.value_alone() {
            Some(value) => Expr::Const(value),
            None => new,
        }
    }

    /// The formula with each argument's element replaced.
    pub(crate) fn renamed(&self, new: &dyn Fn(usize) -> Expr) -> Expr {
        let of = |e: &Expr| Box::new(e.renamed(new));
        match self {
            Expr::Const(_) => self.clone(),
            Expr::Element(a) => new(*a),
            Expr::Unary(op, x, m) => Expr::Unary(*op, of(x), *m),
            Expr::Binary(op, x, y) => Expr::Binary(*op, of(x), of(y)),
            Expr::Select(c, x, y) => Expr::Select(of(c), of(x), of(y)),
        }
    }

    /// The formula in full, `element` says how an argument is named.
    pub(crate) fn spelled(&self, element: &dyn Fn(usize) -> String) -> String {
        let of = |e: &Expr| e.spelled(element);
        match self {
            Expr::Const(c) => c.to_string(),
            Expr::Element(a) => element(*a),
            Expr::Unary(Unary::Floor, x, m) => format!("floor({} / {m})", of(x)),
            Expr::Unary(Unary::Mod, x, m) => format!("({} mod {m})", of(x)),
            Expr::Unary(Unary::Cmod, x, m) => format!("({} cmod {m})", of(x)),
            Expr::Binary(op, x, y) => {
                let sign = match op {
                    Binary::Min => return format!("min({}, {})", of(x), of(y)),
                    Binary::Max => return format!("max({}, {})", of(x), of(y)),
                    Binary::Add => "+",
                    Binary::Sub => "-",
                    Binary::Mul => "*",
                    Binary::Less => "<",
                    Binary::AtMost => "<=",
                    Binary::Equal => "==",
                };
                format!("({} {sign} {})", of(x), of(y))
            }
            Expr::Select(c, x, y) => format!("({} ? {} : {})", of(c), of(x), of(y)),
        }
    }

    /// The value of a formula without names.
    pub(crate) fn value_alone(&self) -> Option<i128> {
        self.arguments().is_empty().then(|| self.value(&|_| 0))?
    }

    /// The formula as a sum of elements, if it is one by its operations.
    pub fn linear(&self) -> Option<Linear> {
        let scaled = |l: Linear, c: i128| -> Option<Linear> {
            let t =
                l.t.iter().map(|&(a, d)| Some((a, d.checked_mul(c)?))).collect::<Option<_>>()?;
            Linear { k: l.k.checked_mul(c)?, t }.sorted()
        };
        match self {
            Expr::Const(k) => Some(Linear { k: *k, t: Vec::new() }),
            Expr::Element(a) => Some(Linear { k: 0, t: vec![(*a, 1)] }),
            Expr::Binary(Binary::Mul, x, y) => match (x.linear()?, y.linear()?) {
                (x, y) if x.t.is_empty() => scaled(y, x.k),
                (x, y) if y.t.is_empty() => scaled(x, y.k),
                _ => None,
            },
            Expr::Binary(op @ (Binary::Add | Binary::Sub), x, y) => {
                let sign = if *op == Binary::Add { 1 } else { -1 };
                let (mut x, y) = (x.linear()?, scaled(y.linear()?, sign)?);
                x.k = x.k.checked_add(y.k)?;
                x.t.extend(y.t);
                x.sorted()
            }
            _ => None,
        }
    }
}

impl Linear {
    /// Terms in order, each argument once; [`None`] beyond 128 bits.
    fn sorted(mut self) -> Option<Linear> {
        self.t.sort_unstable();
        let mut t: Vec<(usize, i128)> = Vec::with_capacity(self.t.len());
        for (a, c) in self.t {
            match t.last_mut() {
                Some(last) if last.0 == a => last.1 = last.1.checked_add(c)?,
                _ => t.push((a, c)),
            }
        }
        t.retain(|t| t.1 != 0);
        Some(Linear { k: self.k, t })
    }
}

impl Unary {
    /// The value, for a positive m.
    pub fn of(self, x: i128, m: i128) -> i128 {
        match self {
            Unary::Floor => x.div_euclid(m),
            Unary::Mod => x.rem_euclid(m),
            Unary::Cmod => match x.rem_euclid(m) {
                r if r > m / 2 => r - m,
                r => r,
            },
        }
    }
}

impl Binary {
    /// The value; [`None`] beyond 128 bits.
    pub fn of(self, x: i128, y: i128) -> Option<i128> {
        match self {
            Binary::Add => x.checked_add(y),
            Binary::Sub => x.checked_sub(y),
            Binary::Mul => x.checked_mul(y),
            Binary::Min => Some(x.min(y)),
            Binary::Max => Some(x.max(y)),
            Binary::Less => Some(i128::from(x < y)),
            Binary::AtMost => Some(i128::from(x <= y)),
            Binary::Equal => Some(i128::from(x == y)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, a: i128, b: i128) -> i128 {
        let formula = Formula::parse(text, &["r", "a", "b"]).unwrap_or_else(|e| panic!("{e:?}"));
        formula.root.value(&|i| [99, a, b][i]).expect("128 bits")
    }

    #[test]
    fn formulas_are_what_they_say() {
        assert_eq!(at("round(a * 1024 / 3329) mod 1024", 3328, 0), 0);
        assert_eq!(at("round(a * 3329 / 1024)", 1, 0), 3);
        // A half is rounded up, also below zero.
        assert_eq!([1, -1, 3, -3].map(|a| at("round(a / 2)", a, 0)), [1, 0, 2, -1]);
        assert_eq!([7, -7].map(|a| at("floor(a / 2)", a, 0)), [3, -4]);
        assert_eq!([7, -7].map(|a| at("ceil(a / 2)", a, 0)), [4, -3]);
        assert_eq!([5, 6, 7, -6].map(|a| at("a cmod 12", a, 0)), [5, 6, -5, 6]);
        assert_eq!([2, 3, -2].map(|a| at("a cmod 5", a, 0)), [2, -2, -2]);
        assert_eq!(at("a - b - 1", 5, 3), 1);
        assert_eq!(at("a - (b - 1)", 5, 3), 3);
        assert_eq!(at("2 * a + b * 3 mod 4", 5, 3), 11);
        assert_eq!(at("a < b ? -a : b == 3 ? 0x10 : 2^13", 5, 3), 16);
        assert_eq!(at("(a != b) + (a >= b) * 10 + (a > b) * 100 + (b <= a) * 1000", 5, 5), 1010);
        assert_eq!(at("max(a, b) - min(a, b) + abs(b - a)", -5, 3), 16);
        assert_eq!(at("r", 0, 0), 99);
    }

    #[test]
    fn errors_are_where_they_are() {
        let wrong = |text: &str| Formula::parse(text, &["a"]).unwrap_err();
        for (text, at, said) in [
            ("a +", 3, "a number"),
            ("a + c", 4, "one of `a`"),
            ("a / 2", 2, "an operator"),
            ("floor(a * 2)", 11, "`/`"),
            ("a mod a", 6, "a constant"),
            ("a mod 0", 6, "a constant"),
            ("a mod -3", 6, "a constant"),
            ("2^65", 2, "a power"),
            ("99999999999999999999", 0, "an integer"),
            ("a ? 1", 5, "`:`"),
            ("(a", 2, "`)`"),
            ("min(a)", 5, "`,`"),
            ("a a", 2, "an operator"),
            ("", 0, "a number"),
            ("12x", 0, "an integer"),
        ] {
            let (offset, message) = wrong(text);
            assert!(offset == at && message.contains(said), "{text}: {offset} {message}");
        }
        // An absolute value has its part twice.
        assert!(wrong(&format!("a{}", " + a".repeat(1 << 20))).1.contains("1024 parts"));
        assert!(
            wrong(&format!("{}a{}", "abs(".repeat(60), ")".repeat(60))).1.contains("1024 parts")
        );
        assert!(wrong(&"(".repeat(1000)).1.contains("parts in parts"));
        assert!(wrong(&"-".repeat(1000)).1.contains("parts in parts"));
        assert!(wrong(&"a ? a : ".repeat(1000)).1.contains("parts in parts"));
    }

    #[test]
    fn sums_and_choices_are_simplified() {
        let parse = |text: &str| Formula::parse(text, &["c", "a", "b"]).unwrap().root;
        let linear = |text: &str| parse(text).linear();
        let of = |k, t: &[(usize, i128)]| Some(Linear { k, t: t.to_vec() });
        assert_eq!(linear("3 * (a - b) + b - 7"), of(-7, &[(1, 3), (2, -2)]));
        assert_eq!(linear("a - b + b"), of(0, &[(1, 1)]));
        assert_eq!(linear("a * b"), None);
        // Four times 2^126 is beyond 128 bits, whatever it would be modulo 2^128.
        let large = "2^64 * 2^62 * a";
        assert!(linear(large).is_some());
        assert_eq!(linear(&format!("{large} + {large} + {large} + {large} + a")), None);
        assert_eq!(linear("a mod 3"), None);
        let chosen = parse("c ? a : b mod 3");
        assert_eq!(chosen.with(0, 1), parse("a"));
        assert_eq!(chosen.with(0, 0), parse("b mod 3"));
        assert_eq!(chosen.with(2, 5), parse("c ? a : 2"));
        assert_eq!(chosen.arguments(), [0, 1, 2]);
    }
}
