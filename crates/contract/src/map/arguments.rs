//! The arguments of a contract for each element.

use super::MapArgument;
use super::encoding::{self, RADICES};
use super::formula::{Expr, Formula};
use super::sums::{ELEMENTS, Sum, VALUES, values};
use crate::arguments::{alignment, fields, interval, span, table};
use crate::clauses::At;
use crate::contract::{Argument, Element, Role};
use serde::Deserialize;
use toml::Spanned;

/// Fields of an array.
const LENGTH: usize = 1 << 15;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArgumentText {
    name: Spanned<String>,
    role: Spanned<Role>,
    element: Option<Spanned<Element>>,
    bits: Option<Spanned<u8>>,
    radix: Option<Spanned<Radix>>,
    length: Option<Spanned<usize>>,
    align: Option<Spanned<u64>>,
    range: Option<Spanned<[i64; 2]>>,
    exit: Option<Spanned<[i64; 2]>>,
    formula: Option<Spanned<String>>,
    modulo: Option<Spanned<i64>>,
    values: Option<Spanned<Vec<Spanned<i64>>>>,
    value: Option<Spanned<i64>>,
}

/// The radix of each digit, or those of all.
#[derive(Deserialize)]
#[serde(untagged)]
enum Radix {
    One(i64),
    All(Vec<i64>),
}

/// The arguments in the order of the prototype, without formulas if that `sorts`, and the sums of the formulas.
pub(super) fn arguments(
    texts: &[Spanned<ArgumentText>],
    sorts: bool,
) -> Result<(Vec<MapArgument>, Vec<Sum>), At> {
    let names: Vec<&str> = texts.iter().map(|a| a.as_ref().name.as_ref().as_str()).collect();
    let mut arguments: Vec<MapArgument> = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let a = text.as_ref();
        if names[..i].contains(&names[i]) {
            return Err((a.name.span().start, format!("two arguments are called `{}`", names[i])));
        }
        refused(a, sorts)?;
        arguments.push(argument(text, &names, sorts)?);
    }
    let mut sums = Vec::new();
    for i in 0..arguments.len() {
        let Some(text) = &texts[i].as_ref().formula else { continue };
        let at = |m: String| (text.span().start, format!("the formula: {m}"));
        let Some(formula) = arguments[i].formula.clone() else { continue };
        let n = arguments.len();
        for named in formula.root.arguments().into_iter().filter(|&named| named < n) {
            reads(&arguments, named).map_err(at)?;
            let (other, argument) = (&arguments[named], &arguments[i]);
            if other.memory.role != Role::Number && other.length != argument.length {
                return Err(at(format!(
                    "`{}` has {} elements, and `{}` has {}",
                    names[named], other.length, argument.memory.name, argument.length
                )));
            }
        }
        // Behind the arguments and the index come the different sums of all formulas.
        let mut places = Vec::new();
        for of in &formula.sums {
            let sum = sum(&arguments, of).map_err(at)?;
            let known = sums.iter().position(|known| *known == sum);
            places.push(known.unwrap_or(sums.len()));
            if known.is_none() {
                sums.push(sum);
            }
        }
        if !arguments[i].radices.is_empty() {
            digits(&arguments, i, &formula).map_err(at)?;
        }
        let behind = |place: usize| match place.checked_sub(n + 1) {
            Some(sum) => Expr::Element(n + 1 + places[sum]),
            None => Expr::Element(place),
        };
        if let Some(formula) = &mut arguments[i].formula {
            formula.root = formula.root.renamed(&behind);
        }
    }
    Ok((arguments, sums))
}

/// Whether a formula may name that argument.
fn reads(arguments: &[MapArgument], named: usize) -> Result<(), String> {
    let other = &arguments[named];
    if other.reads() || other.memory.role == Role::Number {
        return Ok(());
    }
    Err(format!("`{}` is not read", other.memory.name))
}

/// A formula of one array, numbers replaced, and the array; its elements have few values.
fn of_one_array(arguments: &[MapArgument], of: &Expr) -> Result<(usize, Expr), String> {
    let (mut array, mut of) = (None, of.clone());
    for named in of.arguments() {
        let other = arguments.get(named).filter(|a| !a.any_number() && !a.packed());
        let other = other.ok_or("expected elements of one array that is not packed")?;
        reads(arguments, named)?;
        if other.memory.role == Role::Number {
            of = of.with(named, other.memory.values[0].into());
        } else if array.replace(named).is_some() {
            return Err("expected elements of one array, and not of two".into());
        }
    }
    let array = array.ok_or("expected an array's name")?;
    let (lo, hi) = arguments[array].memory.range;
    if hi - lo >= VALUES {
        return Err(format!("`{}` has more than 2^16 values", arguments[array].memory.name));
    }
    Ok((array, of))
}

/// What is summed up.
fn sum(arguments: &[MapArgument], of: &Expr) -> Result<Sum, String> {
    let (array, of) = of_one_array(arguments, of)?;
    let MapArgument { memory, length, .. } = &arguments[array];
    if *length > ELEMENTS {
        return Err(format!("a sum has at most {ELEMENTS} elements"));
    }
    Sum::new(array, of, (memory.range, *length)).ok_or("a sum beyond 2^48".into())
}

/// Whether the formula of an argument that is encoded gives its digits.
fn digits(arguments: &[MapArgument], i: usize, formula: &Formula) -> Result<(), String> {
    let (array, of) = of_one_array(arguments, &formula.root)?;
    let least = arguments[i].radices.iter().min().copied().unwrap_or(0);
    let (name, range) = (&arguments[array].memory.name, arguments[array].memory.range);
    let values = values(&of, range).ok_or("a digit beyond 128 bits")?;
    match (range.0..).zip(values).find(|v| !(0..i128::from(least)).contains(&v.1)) {
        None => Ok(()),
        Some((x, value)) => {
            Err(format!("{value}, where {name} is {x}, is no digit of radix {least}"))
        }
    }
}

/// One argument.
fn argument(text: &Spanned<ArgumentText>, names: &[&str], sorts: bool) -> Result<MapArgument, At> {
    let a = text.as_ref();
    let (name, role) = (a.name.as_ref(), *a.role.as_ref());
    let missing = |key: &str| (text.span().start, format!("`{name}`: missing `{key}`"));
    if role == Role::Number {
        return number(text);
    }
    let element = *a.element.as_ref().ok_or_else(|| missing("element"))?.as_ref();
    let align = alignment(a.align.as_ref(), element)?;
    let argument = |range, exit, values: Vec<i64>, length| Argument {
        name: name.clone(),
        role,
        element,
        length,
        align,
        range,
        exit,
        values,
    };
    if role == Role::Table {
        let values = table(a.values.as_ref().ok_or_else(|| missing("values"))?, element)?;
        let (range, length) = (span(&values), values.len());
        let memory = argument(range, range, values, length);
        return Ok(MapArgument {
            memory,
            bits: element.bits(),
            radices: Vec::new(),
            length,
            formula: None,
            modulo: None,
        });
    }
    let radices = a.radix.as_ref().map(|text| radices(text, element, a.length.as_ref()));
    let radices = radices.transpose()?.unwrap_or_default();
    if let Some(most) = radices.iter().max() {
        let range = (0, i64::from(*most) - 1);
        let memory = argument(range, range, Vec::new(), encoding::length(&radices));
        let formula = parsed(a, names)?.ok_or_else(|| missing("formula"))?;
        let length = radices.len();
        return Ok(MapArgument {
            memory,
            bits: element.bits(),
            radices,
            length,
            formula: Some(formula),
            modulo: None,
        });
    }
    let range =
        interval(a.range.as_ref().ok_or_else(|| missing("range"))?, element_of(a, element))?;
    let exit = a.exit.as_ref().map(|e| interval(e, element_of(a, element))).transpose()?;
    let text = a.length.as_ref().ok_or_else(|| missing("length"))?;
    let length = *text.as_ref();
    if !(1..=LENGTH).contains(&length) {
        let m = format!("length = {length}: a number from 1 to {LENGTH} is expected");
        return Err((text.span().start, m));
    }
    let (bits, words) = match &a.bits {
        None => (element.bits(), length),
        Some(bits) => fields(bits, element, length, &[range, exit.unwrap_or(range)])?,
    };
    let formula = parsed(a, names)?;
    if formula.is_none() && role.writes() && !sorts {
        return Err(missing("formula"));
    }
    if let Some(m) = a.modulo.as_ref().filter(|m| !(2..1 << 32).contains(m.as_ref())) {
        let said = format!("modulo = {}: a number from 2 to 2^32 - 1 is expected", m.as_ref());
        return Err((m.span().start, said));
    }
    let memory = argument(range, exit.unwrap_or(range), Vec::new(), words);
    let modulo = a.modulo.as_ref().map(|m| *m.as_ref());
    Ok(MapArgument { memory, bits, radices, length, formula, modulo })
}

/// Its formula, if it has one.
fn parsed(a: &ArgumentText, names: &[&str]) -> Result<Option<Formula>, At> {
    let Some(text) = &a.formula else { return Ok(None) };
    // Past the quote before it.
    let at = |(at, m)| (text.span().start + 1 + at, m);
    Formula::of_arrays(text.as_ref(), names).map(Some).map_err(at)
}

/// The radix of each digit.
fn radices(
    text: &Spanned<Radix>,
    element: Element,
    length: Option<&Spanned<usize>>,
) -> Result<Vec<u32>, At> {
    let at = |m: String| (text.span().start, m);
    if element != Element::U8 {
        return Err(at("digits are encoded as bytes: `element = \"u8\"` is expected".into()));
    }
    let all = match (text.as_ref(), length.map(|l| *l.as_ref())) {
        (Radix::One(radix), Some(n)) if (1..=LENGTH).contains(&n) => vec![*radix; n],
        (Radix::All(all), None) if (1..=LENGTH).contains(&all.len()) => all.clone(),
        _ => {
            let m =
                format!("expected one radix and a `length` up to {LENGTH}, or a list of radices");
            return Err(at(m));
        }
    };
    let fits = |m: &i64| (2..i64::from(RADICES)).contains(m);
    match all.iter().find(|m| !fits(m)) {
        Some(m) => Err(at(format!("radix {m}: a number from 2 to 2^14 - 1 is expected"))),
        None => Ok(all.into_iter().map(|m| m as u32).collect()),
    }
}

/// What a range must fit: the element; of packed fields, that is looked at apart.
fn element_of(a: &ArgumentText, element: Element) -> Element {
    if a.bits.is_some() { Element::U32 } else { element }
}

/// A number that is passed by value: the one that is given, or any of a range.
fn number(text: &Spanned<ArgumentText>) -> Result<MapArgument, At> {
    let a = text.as_ref();
    let (range, values) = match (&a.value, &a.range) {
        (Some(value), None) => ((*value.as_ref(), *value.as_ref()), vec![*value.as_ref()]),
        (None, Some(range)) => (interval(range, Element::U32)?, Vec::new()),
        _ => {
            let m = format!("the number `{}` has a `value` or a `range`", a.name.as_ref());
            return Err((text.span().start, m));
        }
    };
    Ok(MapArgument::number(a.name.as_ref().clone(), range, values))
}

/// The first key that an argument of this role does not have.
fn refused(a: &ArgumentText, sorts: bool) -> Result<(), At> {
    let role = *a.role.as_ref();
    let (number, table, writes) = (role == Role::Number, role == Role::Table, role.writes());
    let encoded = a.radix.is_some();
    let keys = [
        ("radix", role != Role::Output || sorts, a.radix.as_ref().map(Spanned::span)),
        ("element", number, a.element.as_ref().map(Spanned::span)),
        ("bits", number || table || encoded, a.bits.as_ref().map(Spanned::span)),
        ("length", number || table, a.length.as_ref().map(Spanned::span)),
        ("align", number, a.align.as_ref().map(Spanned::span)),
        ("range", table || encoded, a.range.as_ref().map(Spanned::span)),
        ("exit", role != Role::InOut || sorts, a.exit.as_ref().map(Spanned::span)),
        ("formula", !writes || sorts, a.formula.as_ref().map(Spanned::span)),
        ("modulo", !writes || sorts || encoded, a.modulo.as_ref().map(Spanned::span)),
        ("values", !table, a.values.as_ref().map(Spanned::span)),
        ("value", !number, a.value.as_ref().map(Spanned::span)),
    ];
    for (key, not, span) in keys {
        if let Some(span) = span.filter(|_| not) {
            let role = format!("{role:?}").to_lowercase();
            let kind = if sorts { "sort" } else { "map" };
            let m =
                format!("an argument of role \"{role}\" has no `{key}` in a {kind}: leave it out");
            return Err((span.start, m));
        }
    }
    Ok(())
}

/// An output and an input that may be one array.
pub(super) fn alias(
    arguments: &[MapArgument],
    [x, y]: &[String; 2],
) -> Result<(usize, usize), String> {
    let find = |name: &String| {
        let found = arguments.iter().position(|a| a.memory.name == *name);
        found.ok_or_else(|| format!("no argument is called `{name}`"))
    };
    let (x, y) = (find(x)?, find(y)?);
    let role = |i: usize| arguments[i].memory.role;
    let (x, y) = if role(x) == Role::Output { (x, y) } else { (y, x) };
    if (role(x), role(y)) != (Role::Output, Role::Input) {
        return Err(
            "an alias pairs an argument of role \"output\" with one of role \"input\"".into()
        );
    }
    let (o, i) = (&arguments[x].memory, &arguments[y].memory);
    if o.element.bits() != i.element.bits() || o.length != i.length {
        return Err("aliased arguments must have elements of one size, and as many".into());
    }
    Ok((x, y))
}
