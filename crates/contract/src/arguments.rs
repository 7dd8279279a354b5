//! The arguments of a contract, and the data of other objects that it gives.

use crate::clauses::At;
use crate::contract::{Argument, Element, Given, Role};
use ringforge_ring::Ring;
use serde::Deserialize;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArgumentText {
    name: Spanned<String>,
    role: Role,
    element: Option<Spanned<Element>>,
    length: Option<Spanned<usize>>,
    align: Option<Spanned<u64>>,
    range: Option<Spanned<[i64; 2]>>,
    exit: Option<Spanned<[i64; 2]>>,
    values: Option<Spanned<Vec<Spanned<i64>>>>,
    value: Option<Spanned<i64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenText {
    symbol: Option<Spanned<String>>,
    element: Option<Spanned<Element>>,
    align: Option<Spanned<u64>>,
    values: Option<Spanned<Vec<Spanned<i64>>>>,
    section: Option<Spanned<String>>,
}

/// The arguments in the order of the prototype; all hold `batch` elements of the ring,
/// inputs `pairs` for each.
pub(crate) fn arguments(
    texts: &[Spanned<ArgumentText>],
    ring: &Ring,
    held: (usize, usize),
) -> Result<Vec<Argument>, At> {
    let mut arguments: Vec<Argument> = Vec::new();
    for text in texts {
        let a = text.as_ref();
        let name = a.name.as_ref();
        if arguments.iter().any(|b| b.name == *name) {
            return Err((a.name.span().start, format!("two arguments are called `{name}`")));
        }
        arguments.push(argument(text, ring, held)?);
    }
    Ok(arguments)
}

/// One argument.
fn argument(
    text: &Spanned<ArgumentText>,
    ring: &Ring,
    (pairs, batch): (usize, usize),
) -> Result<Argument, At> {
    let a = text.as_ref();
    refused(a)?;
    let missing =
        |key: &str| (text.span().start, format!("`{}`: missing `{key}`", a.name.as_ref()));
    if a.role == Role::Number {
        let value = *a.value.as_ref().ok_or_else(|| missing("value"))?.as_ref();
        return Ok(Argument {
            name: a.name.as_ref().clone(),
            role: a.role,
            element: Element::I32,
            length: 0,
            align: 1,
            range: (value, value),
            exit: (value, value),
            values: vec![value],
        });
    }
    let element = *a.element.as_ref().ok_or_else(|| missing("element"))?.as_ref();
    let align = alignment(a.align.as_ref(), element)?;
    let (values, range, length);
    if a.role == Role::Table {
        values = table(a.values.as_ref().ok_or_else(|| missing("values"))?, element)?;
        range = span(&values);
        length = values.len();
        if let Some(l) = a.length.as_ref().filter(|l| *l.as_ref() != length) {
            let m = format!("the table `{}` lists {length} values", a.name.as_ref());
            return Err((l.span().start, m));
        }
    } else {
        values = Vec::new();
        range = interval(a.range.as_ref().ok_or_else(|| missing("range"))?, element)?;
        let l = a.length.as_ref().ok_or_else(|| missing("length"))?;
        length = *l.as_ref();
        let held = if a.role == Role::Input { pairs * batch } else { batch };
        let expected = ring.degree() * held;
        if length != expected {
            let m = format!(
                "`{}` has {length} elements, but the ring's elements have {}{}",
                a.name.as_ref(),
                ring.degree(),
                if held > 1 { format!(", and there are {held} of them") } else { String::new() }
            );
            return Err((l.span().start, m));
        }
    }
    let exit = a.exit.as_ref().map(|e| interval(e, element)).transpose()?;
    Ok(Argument {
        name: a.name.as_ref().clone(),
        role: a.role,
        element,
        length,
        align,
        range,
        exit: exit.unwrap_or(range),
        values,
    })
}

/// The first key that an argument of this role does not have.
fn refused(a: &ArgumentText) -> Result<(), At> {
    let (number, table) = (a.role == Role::Number, a.role == Role::Table);
    let start = |there: bool, at: Option<usize>| at.filter(|_| there);
    let keys = [
        ("element", start(number, a.element.as_ref().map(|x| x.span().start))),
        ("length", start(number, a.length.as_ref().map(|x| x.span().start))),
        ("align", start(number, a.align.as_ref().map(|x| x.span().start))),
        ("range", start(number || table, a.range.as_ref().map(|x| x.span().start))),
        ("exit", start(a.role != Role::InOut, a.exit.as_ref().map(|x| x.span().start))),
        ("values", start(!table, a.values.as_ref().map(|x| x.span().start))),
        ("value", start(!number, a.value.as_ref().map(|x| x.span().start))),
    ];
    let role = match a.role {
        Role::Output => "output",
        Role::Input => "input",
        Role::InOut => "inout",
        Role::Table => "table",
        Role::Number => "number",
    };
    match keys.into_iter().find_map(|(key, at)| at.map(|at| (key, at))) {
        Some((key, at)) => {
            Err((at, format!("an argument of role {role:?} has no `{key}`: leave it out")))
        }
        None => Ok(()),
    }
}

/// An interval that the element type holds.
pub(crate) fn interval(text: &Spanned<[i64; 2]>, element: Element) -> Result<(i64, i64), At> {
    let [lo, hi] = *text.as_ref();
    let (least, greatest) = element.range();
    if lo > hi {
        return Err((text.span().start, format!("the range [{lo}, {hi}] is empty")));
    }
    if lo < least || hi > greatest {
        let m = format!("the range [{lo}, {hi}] exceeds the element's [{least}, {greatest}]");
        return Err((text.span().start, m));
    }
    Ok((lo, hi))
}

/// Bits of a field that is packed into bytes, and the bytes of all.
pub(crate) fn fields(
    bits: &Spanned<u8>,
    element: Element,
    length: usize,
    ranges: &[(i64, i64)],
) -> Result<(u8, usize), At> {
    let (at, d) = (bits.span().start, *bits.as_ref());
    if element != Element::U8 {
        return Err((at, "fields of `bits` lie in bytes: `element = \"u8\"` is expected".into()));
    }
    if !(1..=32).contains(&d) || d == 8 {
        return Err((at, format!("bits = {d}: a number from 1 to 32 is expected, and none for 8")));
    }
    let all = length * usize::from(d);
    if !all.is_multiple_of(8) {
        return Err((at, format!("{length} fields of {d} bits are no whole number of bytes")));
    }
    match ranges.iter().find(|r| r.1 >= 1 << d) {
        Some(r) => Err((at, format!("the range [{}, {}] exceeds {d} bits", r.0, r.1))),
        None => Ok((d, all / 8)),
    }
}

/// An alignment, the element's own if there is none.
pub(crate) fn alignment(text: Option<&Spanned<u64>>, element: Element) -> Result<u64, At> {
    let Some(text) = text else { return Ok(u64::from(element.bits() / 8)) };
    let align = *text.as_ref();
    if !align.is_power_of_two() || align > 4096 {
        let m = format!("align = {align}: a power of two up to 4096 is expected");
        return Err((text.span().start, m));
    }
    Ok(align)
}

/// The numbers of a table, which its element type holds.
pub(crate) fn table(text: &Spanned<Vec<Spanned<i64>>>, element: Element) -> Result<Vec<i64>, At> {
    if text.as_ref().is_empty() {
        return Err((text.span().start, "a table has at least one value".into()));
    }
    let (least, greatest) = element.range();
    let one = |v: &Spanned<i64>| match *v.as_ref() {
        value if (least..=greatest).contains(&value) => Ok(value),
        value => {
            let m = format!("the value {value} exceeds the element's [{least}, {greatest}]");
            Err((v.span().start, m))
        }
    };
    text.as_ref().iter().map(one).collect()
}

/// Least and greatest of some numbers.
pub(crate) fn span(values: &[i64]) -> (i64, i64) {
    let (least, greatest) = (values.iter().min(), values.iter().max());
    (least.copied().unwrap_or(0), greatest.copied().unwrap_or(0))
}

/// Data of other objects, and sections of this one that can be written.
pub(crate) fn given(texts: &[Spanned<GivenText>]) -> Result<(Vec<Given>, Vec<String>), At> {
    let (mut all, mut sections): (Vec<Given>, Vec<String>) = (Vec::new(), Vec::new());
    for text in texts {
        let g = text.as_ref();
        let named = |what: &str, name: &Spanned<String>, twice: bool| match name.as_ref().as_str() {
            "" => Err((name.span().start, format!("the {what} is empty"))),
            name_text if twice => Err((name.span().start, format!("`{name_text}` is given twice"))),
            name_text => Ok(name_text.to_string()),
        };
        let missing = |key: &str| (text.span().start, format!("given data: missing `{key}`"));
        if let Some(section) = &g.section {
            let other =
                [g.symbol.is_some(), g.element.is_some(), g.align.is_some(), g.values.is_some()];
            if other.contains(&true) {
                let m = "a given `section` is what the object says: leave the other keys out";
                return Err((section.span().start, m.into()));
            }
            sections.push(named("section", section, sections.contains(section.as_ref()))?);
            continue;
        }
        let symbol = g.symbol.as_ref().ok_or_else(|| missing("symbol"))?;
        let symbol = named("symbol", symbol, all.iter().any(|x| x.symbol == *symbol.as_ref()))?;
        let element = *g.element.as_ref().ok_or_else(|| missing("element"))?.as_ref();
        let values = g.values.as_ref().ok_or_else(|| missing("values"))?;
        all.push(Given {
            symbol,
            element,
            align: alignment(g.align.as_ref(), element)?,
            values: table(values, element)?,
        });
    }
    Ok((all, sections))
}
