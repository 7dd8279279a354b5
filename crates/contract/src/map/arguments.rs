//! The arguments of a contract for each element.

use super::MapArgument;
use super::formula::Formula;
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
    length: Option<Spanned<usize>>,
    align: Option<Spanned<u64>>,
    range: Option<Spanned<[i64; 2]>>,
    exit: Option<Spanned<[i64; 2]>>,
    formula: Option<Spanned<String>>,
    modulo: Option<Spanned<i64>>,
    values: Option<Spanned<Vec<Spanned<i64>>>>,
    value: Option<Spanned<i64>>,
}

/// The arguments in the order of the prototype, without formulas if that `sorts`.
pub(super) fn arguments(
    texts: &[Spanned<ArgumentText>],
    sorts: bool,
) -> Result<Vec<MapArgument>, At> {
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
    for (text, argument) in texts.iter().zip(&arguments) {
        let Some(formula) = &text.as_ref().formula else { continue };
        for named in argument.formula.iter().flat_map(|f| f.root.arguments()) {
            let other = &arguments[named];
            let message = if !other.reads() && other.memory.role != Role::Number {
                format!("the formula: `{}` is not read", names[named])
            } else if other.memory.role != Role::Number && other.length != argument.length {
                format!(
                    "the formula: `{}` has {} elements, and `{}` has {}",
                    names[named], other.length, argument.memory.name, argument.length
                )
            } else {
                continue;
            };
            return Err((formula.span().start, message));
        }
    }
    Ok(arguments)
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
            length,
            formula: None,
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
    let formula = match &a.formula {
        None if role.writes() && !sorts => return Err(missing("formula")),
        None => None,
        Some(f) => {
            let parsed = Formula::parse(f.as_ref(), names);
            // Past the quote before it.
            Some(parsed.map_err(|(at, m)| (f.span().start + 1 + at, m))?)
        }
    };
    if let Some(m) = a.modulo.as_ref().filter(|m| !(2..1 << 32).contains(m.as_ref())) {
        let said = format!("modulo = {}: a number from 2 to 2^32 - 1 is expected", m.as_ref());
        return Err((m.span().start, said));
    }
    let memory = argument(range, exit.unwrap_or(range), Vec::new(), words);
    let modulo = a.modulo.as_ref().map(|m| *m.as_ref());
    Ok(MapArgument { memory, bits, length, formula, modulo })
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
    let memory = Argument {
        name: a.name.as_ref().clone(),
        role: Role::Number,
        element: Element::U32,
        length: 0,
        align: 1,
        range,
        exit: range,
        values,
    };
    Ok(MapArgument { memory, bits: 64, length: 1, formula: None, modulo: None })
}

/// The first key that an argument of this role does not have.
fn refused(a: &ArgumentText, sorts: bool) -> Result<(), At> {
    let role = *a.role.as_ref();
    let (number, table, writes) = (role == Role::Number, role == Role::Table, role.writes());
    let keys = [
        ("element", number, a.element.as_ref().map(Spanned::span)),
        ("bits", number || table, a.bits.as_ref().map(Spanned::span)),
        ("length", number || table, a.length.as_ref().map(Spanned::span)),
        ("align", number, a.align.as_ref().map(Spanned::span)),
        ("range", table, a.range.as_ref().map(Spanned::span)),
        ("exit", role != Role::InOut || sorts, a.exit.as_ref().map(Spanned::span)),
        ("formula", !writes || sorts, a.formula.as_ref().map(Spanned::span)),
        ("modulo", !writes || sorts, a.modulo.as_ref().map(Spanned::span)),
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
