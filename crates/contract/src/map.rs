//! Contracts of functions that handle each element by itself, as TOML.
//!
//! ```toml
//! contract = 1
//! symbol = "compress"
//! abi = "sysv-x86-64"
//! computes = "map"
//!
//! [[argument]]
//! name = "out"
//! role = "output"               # or "inout": then its own name in a formula is its value at entry
//! element = "u8"
//! bits = 10                     # fields of 10 bits, side by side from the lowest bit of the first byte
//! length = 256                  # fields
//! range = [0, 1023]
//! formula = "round(a * 1024 / 3329) mod 1024"    # with `modulo = m` a congruence modulo m
//!
//! [[argument]]
//! name = "a"
//! role = "input"
//! element = "i16"
//! length = 256
//! range = [0, 3328]
//!
//! [[argument]]
//! name = "key"
//! role = "output"
//! element = "u8"
//! radix = 4591                  # of each digit, or a list: the bytes are those of `encoding.rs`
//! length = 761                  # digits
//! formula = "h + 2295"          # of one array's element
//!
//! [[argument]]
//! name = "bit"
//! role = "number"               # passed by value: `value` is the one, `range` stands for any of them
//! range = [0, 1]
//! ```
//!
//! With `computes = "equal"` the function says by its result whether its two inputs are equal:
//!
//! ```toml
//! returns = { element = "u32", equal = 0, different = 1 }      # `different` left out: anything but `equal`
//! ```
//!
//! With `computes = "sort"` the function leaves its one `inout` array, which has no formula, in ascending order.

mod arguments;
mod calls;
mod claims;
pub mod encoding;
pub mod formula;
mod oracle;
mod sums;

use crate::arguments::{self as data, GivenText};
use crate::clauses::At;
use crate::computes::Computes;
use crate::contract::{Abi, Argument, ContractError, Element, Given, Role};
use arguments::ArgumentText;
pub use calls::{MapCase, cases};
pub use claims::{assumptions, claims};
use formula::{Expr, Formula};
pub use oracle::Wrong;
use serde::Deserialize;
pub use sums::Sum;
use toml::Spanned;

/// A contract that was checked to make sense.
#[derive(Clone, Debug)]
pub struct MapContract {
    /// The function's symbol.
    pub symbol: String,
    /// Calling convention.
    pub abi: Abi,
    /// Arguments in the order of the prototype.
    pub arguments: Vec<MapArgument>,
    /// Pairs (output, input) of argument positions that may be one buffer.
    pub alias: Vec<(usize, usize)>,
    /// What is computed.
    pub computes: MapKind,
    /// The sums of all formulas. Behind the arguments, formulas name the element's number, and then these.
    pub sums: Vec<Sum>,
    /// Data of other objects.
    pub given: Vec<Given>,
    /// Sections of the object that can be written, whose content at entry is what the file says.
    pub given_sections: Vec<String>,
}

/// An argument, and what its elements are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapArgument {
    /// What it is in memory. Of packed fields, the bytes; their `range` is that of a field.
    pub memory: Argument,
    /// Bits of a field; of an array that is not packed, those of an element.
    pub bits: u8,
    /// The radix of each field, if they are digits that are encoded as bytes ([`encoding`]).
    pub radices: Vec<u32>,
    /// Fields; 1 for a number.
    pub length: usize,
    /// What each field is at return, of what is written.
    pub formula: Option<Formula>,
    /// The formula holds modulo this.
    pub modulo: Option<i64>,
}

impl MapArgument {
    /// A number that is passed by value: that of `values`, or any of the range.
    pub fn number(name: String, range: (i64, i64), values: Vec<i64>) -> MapArgument {
        let memory = Argument {
            name,
            role: Role::Number,
            element: Element::U32,
            length: 0,
            align: 1,
            range,
            exit: range,
            values,
        };
        let (radices, formula, modulo) = (Vec::new(), None, None);
        MapArgument { memory, bits: 64, radices, length: 1, formula, modulo }
    }

    /// Whether fields lie side by side in bytes.
    pub fn packed(&self) -> bool {
        self.memory.role != Role::Number && self.bits != self.memory.element.bits()
    }

    /// Whether fields are read as signed.
    pub fn signed(&self) -> bool {
        !self.packed() && self.memory.element.signed()
    }

    /// Whether the function reads fields there, or is given any number of a range.
    pub fn reads(&self) -> bool {
        self.memory.role.reads() || self.any_number()
    }

    /// Whether it is a number with a known range.
    pub fn any_number(&self) -> bool {
        self.memory.role == Role::Number && self.memory.values.is_empty()
    }

    /// The value that a field must have, if the formula gives `value`: the nearest in the range.
    pub fn allowed(&self, value: i128) -> i128 {
        let (lo, hi) = (i128::from(self.memory.exit.0), i128::from(self.memory.exit.1));
        let above = |from: i128, m: i128| (value.rem_euclid(m) - from).rem_euclid(m);
        match self.modulo.map(i128::from) {
            Some(m) if value < lo => lo + above(lo, m),
            Some(m) if value > hi => hi - (hi - value.rem_euclid(m)).rem_euclid(m),
            _ => value,
        }
    }

    /// Whether `found` fulfils what is promised of a field for which the formula gives `value`.
    pub fn fulfilled(&self, found: i128, value: i128) -> bool {
        let same = match self.modulo {
            // A difference may be beyond 128 bits.
            Some(m) => found.rem_euclid(m.into()) == value.rem_euclid(m.into()),
            None => found == value,
        };
        same && i128::from(self.memory.exit.0) <= found && found <= i128::from(self.memory.exit.1)
    }
}

/// What a function computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// Each element that is written has a formula.
    Map,
    /// The result says whether the two inputs are equal, and nothing is written.
    Equal(Returns),
    /// The one array that is written is left in ascending order.
    Sort,
}

/// A result that says whether two arrays are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returns {
    /// Its type.
    pub element: Element,
    /// The result for equal arrays.
    pub equal: i64,
    /// The result for others; if there is none, all but `equal`.
    pub different: Option<i64>,
}

impl Returns {
    /// Whether a result is right.
    pub fn fulfilled(&self, equal: bool, found: i64) -> bool {
        match (equal, self.different) {
            (true, _) => found == self.equal,
            (false, Some(different)) => found == different,
            (false, None) => found != self.equal,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReturnsText {
    element: Element,
    equal: i64,
    different: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    contract: Spanned<u64>,
    symbol: Spanned<String>,
    abi: Abi,
    computes: Spanned<String>,
    returns: Option<Spanned<ReturnsText>>,
    #[serde(default)]
    alias: Vec<Spanned<[String; 2]>>,
    argument: Vec<Spanned<ArgumentText>>,
    #[serde(default)]
    given: Vec<Spanned<GivenText>>,
}

/// Whether a contract's text is one of this module.
pub fn is_for(text: &str) -> bool {
    let table = toml::from_str::<toml::Table>(text);
    table.is_ok_and(|t| {
        t.get("computes")
            .and_then(|c| c.as_str())
            .is_some_and(|c| Computes::WITHOUT_RING.contains(&c))
    })
}

impl MapContract {
    /// A formula with the numbers that the contract gives.
    pub fn given_numbers(&self, formula: &Expr) -> Expr {
        let numbers = self.arguments.iter().enumerate().filter(|(_, a)| {
            // The element's number has no name, and is another for each element.
            a.memory.role == Role::Number && !a.any_number() && !a.memory.name.is_empty()
        });
        numbers.fold(formula.clone(), |of, (i, a)| of.with(i, a.memory.values[0].into()))
    }

    /// Parses and checks a contract.
    ///
    /// # Errors
    /// With the position of the first thing that is wrong.
    pub fn parse(text: &str) -> Result<MapContract, ContractError> {
        let at = |offset: usize, message: String| ContractError::at(text, offset, message);
        let parsed: Text = toml::from_str(text)
            .map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().to_string()))?;
        if *parsed.contract.as_ref() != 1 {
            let m = "this tool reads `contract = 1`".to_string();
            return Err(at(parsed.contract.span().start, m));
        }
        if parsed.symbol.as_ref().is_empty() {
            return Err(at(parsed.symbol.span().start, "the symbol is empty".into()));
        }
        let kind = parsed.computes.as_ref().as_str();
        let (arguments, sums) =
            arguments::arguments(&parsed.argument, kind == "sort").map_err(|(o, m)| at(o, m))?;
        let kind = (parsed.computes.span().start, kind);
        let computes = computes(kind, parsed.returns.as_ref(), &arguments, parsed.abi)
            .map_err(|(o, m)| at(o, m))?;
        let (given, given_sections) = data::given(&parsed.given).map_err(|(o, m)| at(o, m))?;
        let mut alias = Vec::new();
        for pair in &parsed.alias {
            let found = arguments::alias(&arguments, pair.as_ref());
            alias.push(found.map_err(|m| at(pair.span().start, m))?);
        }
        let symbol = parsed.symbol.into_inner();
        Ok(MapContract {
            symbol,
            abi: parsed.abi,
            arguments,
            alias,
            computes,
            sums,
            given,
            given_sections,
        })
    }

    /// What the result says of the two inputs, if that is what is computed.
    pub fn returns(&self) -> Option<Returns> {
        match self.computes {
            MapKind::Equal(returns) => Some(returns),
            MapKind::Map | MapKind::Sort => None,
        }
    }

    /// The two arrays that are compared.
    pub fn compared(&self) -> Vec<usize> {
        let array = |i: &usize| self.arguments[*i].memory.role == Role::Input;
        (0..self.arguments.len()).filter(array).collect()
    }

    /// Positions of what is read, in the order of the prototype: the operands of the calls.
    pub fn inputs(&self) -> Vec<usize> {
        (0..self.arguments.len()).filter(|&i| self.arguments[i].reads()).collect()
    }

    /// Whether a formula has the element's number.
    pub fn counts(&self, formula: &Expr) -> bool {
        formula.arguments().contains(&self.arguments.len())
    }

    /// Positions of what is written.
    pub fn outputs(&self) -> Vec<usize> {
        (0..self.arguments.len()).filter(|&i| self.arguments[i].memory.role.writes()).collect()
    }
}

/// What is computed, and whether the arguments are of that kind.
fn computes(
    (at, kind): (usize, &str),
    text: Option<&Spanned<ReturnsText>>,
    arguments: &[MapArgument],
    abi: Abi,
) -> Result<MapKind, At> {
    let count = |role: fn(Role) -> bool| arguments.iter().filter(|a| role(a.memory.role)).count();
    let written = count(Role::writes);
    if let Some(text) = text.filter(|_| kind != "equal") {
        return Err((text.span().start, format!("a {kind} has no `returns`: leave it out")));
    }
    if kind == "map" {
        let m = "a map has an argument of role \"output\" or \"inout\"";
        return if written == 0 { Err((at, m.into())) } else { Ok(MapKind::Map) };
    }
    if kind == "sort" {
        let others = count(|role| !matches!(role, Role::Table | Role::Number));
        let array = arguments.iter().find(|a| a.memory.role == Role::InOut);
        let fits = array.is_some_and(|a| others == 1 && a.length > 1 && !a.packed())
            && !arguments.iter().any(MapArgument::any_number);
        let m = "a sort has one array, of role \"inout\", with at least two elements that are not packed; numbers have a `value`";
        return if fits { Ok(MapKind::Sort) } else { Err((at, m.into())) };
    }
    let Some(text) = text else { return Err((at, "\"equal\" needs `returns`".into())) };
    let inputs: Vec<&MapArgument> =
        arguments.iter().filter(|a| a.memory.role == Role::Input).collect();
    let alike = |x: &MapArgument, y: &MapArgument| {
        (x.bits, x.length, x.memory.element, x.memory.range)
            == (y.bits, y.length, y.memory.element, y.memory.range)
    };
    let whole = |a: &MapArgument| !a.packed() && a.memory.range == a.memory.element.range();
    if written > 0 || inputs.len() != 2 || !alike(inputs[0], inputs[1]) || !whole(inputs[0]) {
        let m = "\"equal\" compares two inputs of one element, length and range, which is all that the element holds, and writes nothing";
        return Err((at, m.into()));
    }
    let r = text.as_ref();
    let (lo, hi) = r.element.range();
    if [Some(r.equal), r.different].into_iter().flatten().any(|v| v < lo || v > hi) {
        return Err((text.span().start, format!("the results lie in the element's [{lo}, {hi}]")));
    }
    if abi == Abi::Aapcs && r.element.bits() < 32 {
        // Callers rely on the whole register there [AAPCS32 §6.4].
        let m = "a function for this calling convention extends its result to 32 bits: take `i32` or `u32`";
        return Err((text.span().start, m.into()));
    }
    if r.different == Some(r.equal) {
        return Err((text.span().start, "`equal` and `different` are one".into()));
    }
    let (element, equal, different) = (r.element, r.equal, r.different);
    Ok(MapKind::Equal(Returns { element, equal, different }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(abi: &str, end: &str) -> Result<MapContract, ContractError> {
        let input = |name: &str| {
            format!(
                "[[argument]]\nname = \"{name}\"\nrole = \"input\"\nelement = \"i16\"\nlength = 4\n\
                 range = [-32768, 32767]\n"
            )
        };
        let head = format!("contract = 1\nsymbol = \"f\"\nabi = \"{abi}\"\n");
        MapContract::parse(&format!("{head}{end}{}{}", input("a"), input("b")))
    }

    /// Differences beyond 128 bits are none: what is congruent is seen without them.
    #[test]
    fn great_values_are_congruent_to_what_they_are() {
        let out = "[[argument]]\nname = \"c\"\nrole = \"output\"\nelement = \"i16\"\nlength = 4\n\
                   range = [0, 2]\nformula = \"a\"\nmodulo = 3\n";
        let contract = contract("sysv-x86-64", &format!("computes = \"map\"\n{out}"));
        let contract = contract.unwrap_or_else(|e| panic!("{e}"));
        let output = &contract.arguments[contract.outputs()[0]];
        for value in [i128::MIN, i128::MIN + 1, -4, 0, 7, i128::MAX] {
            let right = value.rem_euclid(3);
            assert!(
                (0..3).all(|found| output.fulfilled(found, value) == (found == right)),
                "{value}"
            );
            assert_eq!(output.allowed(value).rem_euclid(3), right, "{value}");
            assert!((0..3).contains(&output.allowed(value)), "{value}");
        }
    }

    /// Where callers rely on the whole register, a shorter result promises too little.
    #[test]
    fn short_results_are_refused_where_callers_read_more() {
        let end = |element: &str| {
            format!("computes = \"equal\"\nreturns = {{ element = \"{element}\", equal = 0 }}\n")
        };
        assert!(contract("aapcs", &end("i32")).is_ok());
        assert!(contract("sysv-x86-64", &end("u8")).is_ok());
        let e = contract("aapcs", &end("u8")).expect_err("a short result").to_string();
        assert!(e.contains("take `i32` or `u32`"), "{e}");
    }
}
