//! What the arrays of a chain hold, call by call.

use super::formula::{self, Formula, Place, TERMS, name};
use super::{InputText, OutputText, StepText, Text};
use crate::arguments::interval;

use crate::clauses::At;
use crate::computes::{Computes, Transform};
use crate::contract::{Argument, Contract, Element};
use ringforge_ring::Ring;
use std::collections::BTreeMap;
use toml::Spanned;

/// What one element of the ring in an array is.
#[derive(Clone)]
struct Held {
    /// T of this, or this.
    formula: Formula,
    transform: Option<Transform>,
    element: Element,
    range: (i64, i64),
    /// Who left it there.
    by: String,
}

/// The arrays as they are between two calls.
pub(super) struct Walk<'a> {
    contracts: &'a [(String, Contract)],
    ring: &'a Ring,
    /// How many elements of the ring each input holds.
    inputs: BTreeMap<String, usize>,
    held: BTreeMap<Place, Held>,
    /// How many elements of the ring are used of each other array.
    used: BTreeMap<String, usize>,
    /// What functions want an array to be aligned to, in bytes.
    aligned: BTreeMap<String, u64>,
}

impl<'a> Walk<'a> {
    /// No array holds anything yet.
    pub(super) fn new(contracts: &'a [(String, Contract)], ring: &'a Ring) -> Walk<'a> {
        let (inputs, used) = (BTreeMap::new(), BTreeMap::new());
        let (held, aligned) = (BTreeMap::new(), BTreeMap::new());
        Walk { contracts, ring, inputs, used, held, aligned }
    }

    fn contract(&self, file: &str) -> Option<&Contract> {
        self.contracts.iter().find(|(known, _)| known == file).map(|(_, contract)| contract)
    }

    /// The transform of a contract that a step names.
    fn transform(&self, file: Option<&Spanned<String>>) -> Result<Option<Transform>, At> {
        let Some(file) = file else { return Ok(None) };
        let at = file.span().start;
        let Some(contract) = self.contract(file.as_ref()) else {
            return Err((at, format!("no step has the contract `{}`", file.as_ref())));
        };
        match &contract.transform {
            Some(transform) => Ok(Some(transform.clone())),
            None => Err((at, format!("the contract `{}` has no [transform]", file.as_ref()))),
        }
    }

    pub(super) fn input(&mut self, input: &InputText) -> Result<(), At> {
        let array = input.name.as_ref();
        let at = input.name.span().start;
        if formula::place(array) != Ok((array.clone(), 0)) {
            return Err((at, format!("`{array}`: a name has letters, digits and `_`")));
        }
        if self.inputs.contains_key(array) {
            return Err((at, format!("two inputs are called `{array}`")));
        }
        let range = interval(&input.range, input.element)?;
        let elements = input.elements.as_ref().map_or(1, |e| *e.as_ref());
        if !(1..=1024).contains(&elements) {
            let start = input.elements.as_ref().map_or(at, |e| e.span().start);
            return Err((
                start,
                format!("elements = {elements}: a number from 1 to 1024 is expected"),
            ));
        }
        let transform = self.transform(input.transform.as_ref())?;
        for k in 0..elements {
            let place = (array.clone(), k);
            let held = Held {
                // What begins as 0 is no name in a sum.
                formula: match range {
                    (0, 0) => Formula::zero(self.ring.q()),
                    _ => Formula::input(place.clone(), self.ring.q()),
                },
                transform: transform.clone(),
                element: input.element,
                range,
                by: format!("the input `{}`", name(&place)),
            };
            self.held.insert(place, held);
        }
        self.inputs.insert(array.clone(), elements);
        Ok(())
    }

    /// `symbol(c = x, a = y)`.
    pub(super) fn call(&self, step: &StepText) -> String {
        let symbol = self.contract(step.contract.as_ref()).map_or("?", |c| c.symbol.as_str());
        let given: Vec<String> = step
            .arguments
            .iter()
            .map(|(argument, array)| format!("{} = {}", argument.as_ref(), array.as_ref()))
            .collect();
        format!("{symbol}({})", given.join(", "))
    }

    pub(super) fn step(&mut self, number: usize, step: &Spanned<StepText>) -> Result<(), At> {
        let (start, step) = (step.span().start, step.as_ref());
        let contracts = self.contracts;
        let Some((_, contract)) =
            contracts.iter().find(|(known, _)| known == step.contract.as_ref())
        else {
            return Err((start, "this step has no contract".into()));
        };
        let symbol = &contract.symbol;
        let by = format!("`{symbol}` (step {})", number + 1);
        for given in step.arguments.keys() {
            let fits =
                |a: &&Argument| a.name == *given.as_ref() && (a.role.reads() || a.role.writes());
            if !contract.arguments.iter().any(|a| fits(&a)) {
                let m = format!("`{symbol}` has no array called `{}`", given.as_ref());
                return Err((given.span().start, m));
            }
        }
        // The array of each argument, where in the text, and the elements of the ring that it covers.
        let mut places: Vec<Option<(Place, usize, usize)>> = Vec::new();
        for a in &contract.arguments {
            if !a.role.reads() && !a.role.writes() {
                places.push(None);
                continue;
            }
            let Some((_, text)) = step.arguments.iter().find(|(k, _)| *k.as_ref() == a.name) else {
                return Err((start, format!("which array is `{}` of `{symbol}`?", a.name)));
            };
            let at = text.span().start;
            let place = formula::place(text.as_ref()).map_err(|m| (at, m))?;
            let elements = a.length / self.ring.degree();
            self.aligned(a, &place).map_err(|m| (at, m))?;
            self.inside(&place, elements).map_err(|m| (at, m))?;
            places.push(Some((place, at, elements)));
        }
        overlaps(contract, &places)?;
        let mut operands: Vec<Vec<Held>> = Vec::new();
        for (a, place) in contract.arguments.iter().zip(&places) {
            if let (true, Some((place, at, elements))) = (a.role.reads(), place) {
                let read = self.read(contract, a, place, *elements, &by).map_err(|m| (*at, m))?;
                operands.push(read);
            }
        }
        let formula = result(contract, &operands, self.ring.q()).map_err(|m| (start, m))?;
        let output = contract.output();
        let a = &contract.arguments[output];
        let Some((place, at, _)) = &places[output] else {
            return Err((start, format!("`{symbol}` writes to no array")));
        };
        self.same_type(&place.0, a).map_err(|m| (*at, m))?;
        let transform = match contract.computes {
            Computes::Forward { .. }
            | Computes::BaseProduct { .. }
            | Computes::Accumulate { .. }
            | Computes::FromStandard => contract.transform.clone(),
            Computes::ToStandard => contract.transform.as_ref().map(standard),
            Computes::Product | Computes::Inverse { .. } => None,
            Computes::Scale { .. } => operands[0][0].transform.clone(),
        };
        let by = format!("{by} left in `{}`", name(place));
        let held = Held { formula, transform, element: a.element, range: a.exit, by };
        self.held.insert(place.clone(), held);
        Ok(())
    }

    /// An element in the middle of an array is aligned as its place allows, if the array is.
    fn aligned(&mut self, a: &Argument, (array, element): &Place) -> Result<(), String> {
        let offset = element * self.ring.degree() * usize::from(a.element.bits() / 8);
        if !(offset as u64).is_multiple_of(a.align) {
            return Err(format!(
                "`{array}[{element}]` begins {offset} bytes into `{array}`, and `{}` is aligned to {} bytes",
                a.name, a.align
            ));
        }
        let align = self.aligned.entry(array.clone()).or_insert(1);
        *align = (*align).max(a.align);
        Ok(())
    }

    /// An input has as many elements as the text says; other arrays have as many as are used.
    fn inside(&mut self, (array, from): &Place, elements: usize) -> Result<(), String> {
        let end = from + elements;
        match self.inputs.get(array) {
            Some(&has) if end > has => {
                Err(format!("`{array}` has {has} elements, and this would be number {}", end - 1))
            }
            Some(_) => Ok(()),
            None => {
                let used = self.used.entry(array.clone()).or_insert(0);
                *used = (*used).max(end);
                Ok(())
            }
        }
    }

    /// Elements of an array are of one size, or they would not lie where they do.
    fn same_type(&self, array: &str, a: &Argument) -> Result<(), String> {
        match self.held.iter().find(|((other, _), _)| other == array) {
            Some((place, held)) if held.element.bits() != a.element.bits() => Err(format!(
                "`{}` has words of {} bits, and `{}` has {}",
                a.name,
                a.element.bits(),
                name(place),
                held.element.bits()
            )),
            _ => Ok(()),
        }
    }

    /// What an argument reads, if the contract allows it.
    fn read(
        &self,
        contract: &Contract,
        a: &Argument,
        (array, from): &Place,
        elements: usize,
        by: &str,
    ) -> Result<Vec<Held>, String> {
        (*from..from + elements)
            .map(|k| {
                let place = (array.clone(), k);
                let Some(held) = self.held.get(&place) else {
                    return Err(format!("{by} reads `{}`, to which nothing was written", name(&place)));
                };
                self.same_type(array, a)?;
                // Then signed and unsigned words of one size are one value as well.
                let (lo, hi) = held.range;
                if lo < a.range.0 || hi > a.range.1 {
                    return Err(format!(
                        "the ranges do not match: {} lies in [{lo}, {hi}]; {by} takes `{}` in [{}, {}]",
                        held.by, a.name, a.range.0, a.range.1
                    ));
                }
                let wanted = match contract.computes {
                    Computes::Product | Computes::Forward { .. } => None,
                    Computes::FromStandard => contract.transform.as_ref().map(standard),
                    Computes::Scale { .. } => held.transform.clone(),
                    _ => contract.transform.clone(),
                };
                if wanted != held.transform {
                    let is = |t: &Option<Transform>| match t {
                        None => "coefficients in the standard order".to_string(),
                        Some(t) => format!("a transform with leaves of degree {}", t.degree),
                    };
                    let (has, takes) = (is(&held.transform), is(&wanted));
                    let other = if has == takes { ", by other weights or in another order" } else { "" };
                    return Err(format!("{} is {has}; {by} takes {takes}{other}", held.by));
                }
                Ok(held.clone())
            })
            .collect()
    }

    /// The claim of an output, if it holds.
    pub(super) fn output(&self, output: &OutputText) -> Result<String, At> {
        let at = output.name.span().start;
        let place = formula::place(output.name.as_ref()).map_err(|m| (at, m))?;
        let Some(held) = self.held.get(&place) else {
            return Err((at, format!("nothing was written to `{}`", name(&place))));
        };
        let text = &output.computes;
        let known = |(array, element): &Place| match self.inputs.get(array) {
            Some(elements) if element < elements => Ok(()),
            Some(elements) => {
                Err(format!("`{array}` has {elements} elements: 0 to {}", elements - 1))
            }
            None => Err(format!("no input is called `{array}`")),
        };
        // The position in the text is right where the string has no escapes.
        let formula = Formula::parse(text.as_ref(), self.ring.q(), known)
            .map_err(|(offset, m)| (text.span().start + 1 + offset, m))?;
        if formula != held.formula {
            let m = format!("{} is {}, not {formula}", held.by, held.formula);
            return Err((text.span().start, m));
        }
        let transform = self.transform(output.transform.as_ref())?;
        if transform != held.transform {
            let m = match (&transform, &held.transform) {
                (None, _) => {
                    "is a transform: name the contract that has it, `transform = \"FILE\"`"
                }
                (_, None) => "is in the standard order: leave `transform` out",
                _ => "is a transform by other weights, or in another order",
            };
            let start = output.transform.as_ref().map_or(at, |t| t.span().start);
            return Err((start, format!("{} {m}", held.by)));
        }
        let range = interval(&output.range, held.element)?;
        if held.range.0 < range.0 || held.range.1 > range.1 {
            let (lo, hi) = held.range;
            let m = format!("{} lies in [{lo}, {hi}]", held.by);
            return Err((output.range.span().start, m));
        }
        let of = output.transform.as_ref().map_or("", |file| file.as_ref());
        let what = match of {
            "" => held.formula.to_string(),
            file => format!("T({}), T as in {file},", held.formula),
        };
        Ok(format!(
            "{} at the end = {what} in {}, in [{}, {}]; the names on the right are the inputs at the beginning",
            name(&place),
            self.ring,
            range.0,
            range.1
        ))
    }

    /// `3 elements of` the ring.
    fn elements(&self, count: usize) -> String {
        match count {
            1 => format!("one element of {}", self.ring),
            n => format!("{n} elements of {}", self.ring),
        }
    }

    pub(super) fn assumptions(&self, text: &Text) -> Vec<String> {
        let mut all = Vec::new();
        for input in text.input.iter().map(Spanned::as_ref) {
            let (array, [lo, hi]) = (input.name.as_ref(), input.range.as_ref());
            let count = self.inputs.get(array).copied().unwrap_or(1);
            let elements = self.elements(count);
            all.push(format!(
                "{array} is {elements}, and its words lie in [{lo}, {hi}] at the beginning"
            ));
            if let Some(file) = &input.transform {
                let file = file.as_ref();
                let one =
                    if count == 1 { array.clone() } else { format!("each element of {array}") };
                all.push(format!(
                    "{one} is stored as T of what the claims call so, T as in {file}"
                ));
            }
        }
        for (array, used) in &self.used {
            all.push(format!("{array} has room for {}", self.elements(*used)));
        }
        for (array, align) in &self.aligned {
            all.push(format!("{array} is aligned to {align} bytes"));
        }
        all.push("arrays of different names do not overlap, and nothing else writes to them between the calls".into());
        all
    }
}

/// The transform that is in the standard order.
fn standard(transform: &Transform) -> Transform {
    Transform { order: (0..transform.order.len()).collect(), ..transform.clone() }
}

/// Checks that at most two arguments are one array, which the contract allows, and that no others overlap: these are the
/// calls that a proof executes.
fn overlaps(contract: &Contract, places: &[Option<(Place, usize, usize)>]) -> Result<(), At> {
    let mut same = None;
    for (j, second) in places.iter().enumerate() {
        let Some(((array, from), at, elements)) = second else { continue };
        for (i, first) in places[..j].iter().enumerate() {
            let Some(((other, start), _, length)) = first else { continue };
            if array != other || from + elements <= *start || start + length <= *from {
                continue;
            }
            let one = (start, length) == (from, elements);
            let allowed = contract.interface().one_array().contains(&(i, j))
                || contract.alias.contains(&(i, j))
                || contract.alias.contains(&(j, i));
            if !one || !allowed || same.is_some() {
                let (a, b) = (&contract.arguments[i].name, &contract.arguments[j].name);
                let symbol = &contract.symbol;
                let also = match same {
                    Some((x, y)) if one && allowed => format!(" while `{x}` and `{y}` are one"),
                    _ => String::new(),
                };
                let m = format!(
                    "the contract of `{symbol}` does not say that `{a}` and `{b}` may overlap{also}"
                );
                return Err((*at, m));
            }
            same = Some((&contract.arguments[i].name, &contract.arguments[j].name));
        }
    }
    Ok(())
}

/// What the function writes, by what it reads: as formulas, T left out.
fn result(contract: &Contract, operands: &[Vec<Held>], q: u64) -> Result<Formula, String> {
    let scale = contract.computes.scale().unwrap_or(1);
    let skipped = usize::from(contract.computes.accumulates());
    let missing = || format!("`{}` reads too few arrays", contract.symbol);
    let first = operands.get(skipped).ok_or_else(missing)?;
    let mut sum = Formula::zero(q);
    if contract.computes.inputs() == 2 {
        // An operand in place comes first or last: the product is the same.
        let second = operands.get(skipped + 1).ok_or_else(missing)?;
        if first.len() != second.len() {
            return Err(format!("`{}` reads arrays of different lengths", contract.symbol));
        }
        for (a, b) in first.iter().zip(second) {
            if a.formula.terms().saturating_mul(b.formula.terms()) > TERMS {
                return Err(format!("a product of more than {TERMS} terms is not followed"));
            }
            sum = sum.plus(&a.formula.product(&b.formula));
        }
    } else {
        sum = first.first().ok_or_else(missing)?.formula.clone();
    }
    sum = sum.times(scale);
    if contract.computes.accumulates() {
        let before = operands[0].first().ok_or_else(missing)?;
        sum = before.formula.clone().plus(&sum);
    }
    Ok(sum)
}
