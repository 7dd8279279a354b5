//! What the arrays of a chain hold, call by call.

use super::callee::{Callee, Slot};
use super::formula::{self, Formula, Place, name};
use super::values::{Each, Operand, Residue, Value, Values};
use super::{Called, InputText, Order, StepText, Text};
use crate::arguments::{fields, interval};
use crate::clauses::At;
use crate::computes::{Computes, Transform};
use crate::contract::{Contract, Element};
use crate::map::MapContract;
use ringforge_ring::Ring;
use std::collections::BTreeMap;
use toml::Spanned;

/// What one element of the ring in an array is.
#[derive(Clone)]
pub(super) struct Held {
    pub value: Value,
    pub element: Element,
    /// Of each coefficient: fewer than the element's where they are packed.
    pub bits: u8,
    pub range: (i64, i64),
    /// Who left it there.
    pub by: String,
}

/// The arrays as they are between two calls.
pub(super) struct Walk<'a> {
    called: &'a [Called],
    pub rings: &'a [Ring],
    pub values: Values<'a>,
    transforms: Vec<Transform>,
    /// How many elements of the ring each input holds.
    pub inputs: BTreeMap<String, usize>,
    /// How many elements each input and definition has in all.
    pub counts: BTreeMap<String, usize>,
    /// The inputs at the beginning, and what is defined.
    pub named: BTreeMap<Place, Value>,
    pub held: BTreeMap<Place, Held>,
    /// How many elements of the ring are used of each other array.
    used: BTreeMap<String, usize>,
    /// What functions want an array to be aligned to, in bytes.
    aligned: BTreeMap<String, u64>,
}

/// The array of an argument, where in the text, and the elements of the ring that it covers.
type Given = (Place, usize, usize);

impl<'a> Walk<'a> {
    /// No array holds anything yet. There is a ring, and all have one degree.
    pub(super) fn new(called: &'a [Called], rings: &'a [Ring]) -> Walk<'a> {
        Walk {
            called,
            rings,
            values: Values::new(rings),
            transforms: Vec::new(),
            inputs: BTreeMap::new(),
            counts: BTreeMap::new(),
            named: BTreeMap::new(),
            held: BTreeMap::new(),
            used: BTreeMap::new(),
            aligned: BTreeMap::new(),
        }
    }

    fn degree(&self) -> usize {
        self.rings.first().map_or(1, Ring::degree)
    }

    fn callee(&self, step: &StepText) -> Option<&'a Callee> {
        self.called.iter().find(|called| step.calls(called)).map(|called| &called.contract)
    }

    /// The number of a transform; equal ones have one.
    fn numbered(&mut self, transform: Transform) -> usize {
        self.transforms.iter().position(|t| *t == transform).unwrap_or_else(|| {
            self.transforms.push(transform);
            self.transforms.len() - 1
        })
    }

    /// Which of the rings it is: contracts of the chain have no others.
    fn ring(&self, ring: &Ring) -> usize {
        self.rings.iter().position(|r| r == ring).unwrap_or(0)
    }

    /// The transform of a contract that a step names, and its ring.
    pub fn transform(
        &mut self,
        file: Option<&Spanned<String>>,
        order: Option<&Spanned<Order>>,
    ) -> Result<Option<(usize, usize)>, At> {
        let Some(file) = file else {
            return match order {
                None => Ok(None),
                Some(order) => {
                    let m = "`order` belongs to `transform`: leave it out".to_string();
                    Err((order.span().start, m))
                }
            };
        };
        let at = file.span().start;
        // With other ranges it is the same transform.
        let found = self.called.iter().find(|called| called.file == *file.as_ref());
        let contract = match found.map(|called| &called.contract) {
            Some(Callee::Ring(contract)) => Some(contract),
            Some(Callee::Map(_)) => None,
            None => return Err((at, format!("no step has the contract `{}`", file.as_ref()))),
        };
        let Some((contract, own)) = contract.and_then(|c| Some((c, c.transform.as_ref()?))) else {
            return Err((at, format!("the contract `{}` has no [transform]", file.as_ref())));
        };
        let transform = match order.map(Spanned::as_ref) {
            None => own.clone(),
            Some(Order::Standard) => standard(own),
        };
        Ok(Some((self.ring(&contract.ring), self.numbered(transform))))
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
        let elements = count(input.elements.as_ref())?;
        let (range, bits) = match &input.bits {
            None => (interval(&input.range, input.element)?, input.element.bits()),
            Some(bits) => {
                let range = interval(&input.range, Element::U32)?;
                (range, fields(bits, input.element, elements * self.degree(), &[range])?.0)
            }
        };
        let transform = self.transform(input.transform.as_ref(), input.order.as_ref())?;
        for k in 0..elements {
            let place = (array.clone(), k);
            let value = match transform {
                None => {
                    self.values.input(place.clone(), range);
                    Value::input(place.clone())
                }
                Some((ring, transform)) => {
                    let q = self.rings[ring].q();
                    // What begins as 0 is no name in a sum.
                    let formula = match range {
                        (0, 0) => Formula::zero(q),
                        _ => Formula::input(place.clone(), q),
                    };
                    Value::Residue(Residue { ring, formula, transform: Some(transform) })
                }
            };
            self.named.insert(place.clone(), value.clone());
            let by = format!("the input `{}`", name(&place));
            self.held.insert(place, Held { value, element: input.element, bits, range, by });
        }
        *self.counts.entry(array.clone()).or_insert(0) += elements;
        self.inputs.insert(array.clone(), elements);
        Ok(())
    }

    /// `symbol(c = x, a = y)`.
    pub(super) fn call(&self, step: &StepText) -> String {
        let symbol = self.callee(step).map_or("?", Callee::symbol);
        let given: Vec<String> = step
            .arguments
            .iter()
            .map(|(argument, array)| format!("{} = {}", argument.as_ref(), array.as_ref()))
            .collect();
        format!("{symbol}({})", given.join(", "))
    }

    pub(super) fn step(&mut self, number: usize, step: &Spanned<StepText>) -> Result<(), At> {
        let (start, step) = (step.span().start, step.as_ref());
        let Some(callee) = self.callee(step) else {
            return Err((start, "this step has no contract".into()));
        };
        let symbol = callee.symbol();
        let by = format!("`{symbol}` (step {})", number + 1);
        let slots = callee.slots();
        for given in step.arguments.keys() {
            let fits = |a: &&Slot| a.memory.name == *given.as_ref() && a.is_array();
            if !slots.iter().any(|a| fits(&a)) {
                let m = format!("`{symbol}` has no array called `{}`", given.as_ref());
                return Err((given.span().start, m));
            }
        }
        let mut places: Vec<Option<Given>> = Vec::new();
        for a in &slots {
            if !a.is_array() {
                places.push(None);
                continue;
            }
            let name = &a.memory.name;
            let Some((_, text)) = step.arguments.iter().find(|(k, _)| k.as_ref() == name) else {
                return Err((start, format!("which array is `{name}` of `{symbol}`?")));
            };
            let at = text.span().start;
            let place = formula::place(text.as_ref()).map_err(|m| (at, m))?;
            let elements = self.elements_of(a).map_err(|m| (at, m))?;
            self.aligned(a, &place).map_err(|m| (at, m))?;
            self.inside(&place, elements).map_err(|m| (at, m))?;
            places.push(Some((place, at, elements)));
        }
        overlaps(callee, &slots, &places)?;
        let mut operands: Vec<Vec<Held>> = Vec::new();
        for (a, place) in slots.iter().zip(&places) {
            let read = match place {
                Some((place, at, elements)) if a.memory.role.reads() => {
                    self.read(a, place, *elements, &by).map_err(|m| (*at, m))?
                }
                _ => Vec::new(),
            };
            operands.push(read);
        }
        let left = match callee {
            Callee::Ring(contract) => self.in_ring(contract, &operands, (start, &by), &places)?,
            Callee::Map(contract) => self.by_element(contract, &operands, &places)?,
        };
        for (argument, values) in left {
            let (a, Some(((array, from), at, _))) = (&slots[argument], &places[argument]) else {
                return Err((start, format!("`{symbol}` writes to no array")));
            };
            self.same_type(array, a).map_err(|m| (*at, m))?;
            for (k, value) in values.into_iter().enumerate() {
                let place = (array.clone(), from + k);
                let by = format!("what {by} left in `{}`", name(&place));
                let (element, range) = (a.memory.element, a.memory.exit);
                self.held.insert(place, Held { value, element, bits: a.bits, range, by });
            }
        }
        Ok(())
    }

    /// What a function of a ring leaves in its output.
    fn in_ring(
        &mut self,
        contract: &Contract,
        operands: &[Vec<Held>],
        (start, by): (usize, &str),
        places: &[Option<Given>],
    ) -> Result<Vec<(usize, Vec<Value>)>, At> {
        let ring = self.ring(&contract.ring);
        let own = contract.transform.clone().map(|t| self.numbered(t));
        let standard = contract.transform.as_ref().map(standard).map(|t| self.numbered(t));
        let mut read: Vec<Vec<Residue>> = Vec::new();
        for ((a, held), place) in contract.arguments.iter().zip(operands).zip(places) {
            let Some((_, at, _)) = place.as_ref().filter(|_| a.role.reads()) else { continue };
            let mut elements = Vec::new();
            for held in held {
                let Some(found) = self.found(held, ring) else {
                    let m = format!(
                        "{} is no known element of {}, which {by} takes",
                        held.by, contract.ring
                    );
                    return Err((*at, m));
                };
                let wanted = match contract.computes {
                    Computes::Product | Computes::Forward { .. } => None,
                    Computes::FromStandard => standard,
                    Computes::Scale { .. } => found.transform,
                    _ => own,
                };
                if wanted != found.transform {
                    let is = |t: Option<usize>| match t {
                        None => "coefficients in the standard order".to_string(),
                        Some(t) => {
                            let degree = self.transforms[t].degree;
                            format!("a transform with leaves of degree {degree}")
                        }
                    };
                    let (has, takes) = (is(found.transform), is(wanted));
                    let other =
                        if has == takes { ", by other weights or in another order" } else { "" };
                    return Err((*at, format!("{} is {has}; {by} takes {takes}{other}", held.by)));
                }
                elements.push(found);
            }
            read.push(elements);
        }
        let formula = result(contract, &read).map_err(|m| (start, m))?;
        let transform = match contract.computes {
            Computes::Forward { .. }
            | Computes::BaseProduct { .. }
            | Computes::Accumulate { .. }
            | Computes::FromStandard => own,
            Computes::ToStandard => standard,
            Computes::Product | Computes::Inverse { .. } => None,
            Computes::Scale { .. } => read[0][0].transform,
        };
        let value = Value::Residue(Residue { ring, formula, transform });
        Ok(vec![(contract.output(), vec![value])])
    }

    /// What a function of single coefficients leaves in its outputs.
    fn by_element(
        &mut self,
        contract: &MapContract,
        operands: &[Vec<Held>],
        places: &[Option<Given>],
    ) -> Result<Vec<(usize, Vec<Value>)>, At> {
        let numbers: Vec<Value> = (contract.arguments.iter())
            .map(|a| Value::Each(Each::constant(a.memory.values.first().copied().unwrap_or(0))))
            .collect();
        let mut left = Vec::new();
        for output in contract.outputs() {
            let a = &contract.arguments[output];
            let (Some(formula), Some((_, at, elements))) = (&a.formula, &places[output]) else {
                continue;
            };
            let mut values = Vec::new();
            for k in 0..*elements {
                let of: Vec<Operand> = (operands.iter().zip(&numbers))
                    .map(|(held, number)| match held.get(k) {
                        Some(held) => (&held.value, Some(held.range)),
                        None => (number, None),
                    })
                    .collect();
                let each = self.values.of(&formula.root, &of);
                if each.is_long() {
                    let m = "what is left there has more parts than are followed";
                    return Err((*at, m.into()));
                }
                let Some(value) = self.values.value(each, a.modulo) else {
                    let of: Vec<&str> = (formula.root.arguments().into_iter())
                        .filter_map(|i| operands[i].get(k).map(|held| held.by.as_str()))
                        .collect();
                    let m = format!(
                        "{} is not known well enough for `{formula}`: its range must have less than q integers, or the formula must be a sum, or take its remainder",
                        of.join(" or ")
                    );
                    return Err((*at, m));
                };
                values.push(value);
            }
            left.push((output, values));
        }
        Ok(left)
    }

    /// How many elements of the ring an argument covers.
    fn elements_of(&self, a: &Slot) -> Result<usize, String> {
        let n = self.degree();
        match a.fields.is_multiple_of(n) && a.fields > 0 {
            true => Ok(a.fields / n),
            false => Err(format!(
                "`{}` has {} coefficients: no elements of a ring of degree {n}",
                a.memory.name, a.fields
            )),
        }
    }

    /// An element in the middle of an array is aligned as its place allows, if the array is.
    fn aligned(&mut self, a: &Slot, (array, element): &Place) -> Result<(), String> {
        let (bits, wanted) = (element * self.degree() * usize::from(a.bits), &a.memory);
        if !(bits as u64).is_multiple_of(8 * wanted.align) {
            return Err(format!(
                "`{array}[{element}]` begins {} bytes into `{array}`, and `{}` is aligned to {} bytes",
                bits / 8,
                wanted.name,
                wanted.align
            ));
        }
        let align = self.aligned.entry(array.clone()).or_insert(1);
        *align = (*align).max(wanted.align);
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
    fn same_type(&self, array: &str, a: &Slot) -> Result<(), String> {
        let what = |element: Element, bits: u8| match bits == element.bits() {
            true => format!("words of {bits} bits"),
            false => format!("packed fields of {bits} bits"),
        };
        let element = a.memory.element;
        match self.held.iter().find(|((other, _), _)| other == array) {
            Some((place, held)) if (held.element.bits(), held.bits) != (element.bits(), a.bits) => {
                Err(format!(
                    "`{}` has {}, and `{}` has {}",
                    a.memory.name,
                    what(element, a.bits),
                    name(place),
                    what(held.element, held.bits)
                ))
            }
            _ => Ok(()),
        }
    }

    /// What an argument reads, if the contract allows its type and range.
    fn read(
        &self,
        a: &Slot,
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
                let ((lo, hi), range) = (held.range, a.memory.range);
                if lo < range.0 || hi > range.1 {
                    return Err(format!(
                        "the ranges do not match: {} lies in [{lo}, {hi}]; {by} takes `{}` in [{}, {}]",
                        held.by, a.memory.name, range.0, range.1
                    ));
                }
                Ok(held.clone())
            })
            .collect()
    }

    /// `3 elements of` the ring.
    fn elements(&self, count: usize) -> String {
        match (self.rings, count) {
            ([ring], 1) => format!("one element of {ring}"),
            ([ring], count) => format!("{count} elements of {ring}"),
            (_, 1) => format!("one polynomial of {} coefficients", self.degree()),
            (_, count) => format!("{count} polynomials of {} coefficients", self.degree()),
        }
    }

    pub(super) fn assumptions(&self, text: &Text) -> Vec<String> {
        let mut all = Vec::new();
        for input in text.input.iter().map(Spanned::as_ref) {
            let (array, [lo, hi]) = (input.name.as_ref(), input.range.as_ref());
            let count = self.inputs.get(array).copied().unwrap_or(1);
            let elements = self.elements(count);
            let words = match &input.bits {
                None => "words".to_string(),
                Some(bits) => format!("fields of {} bits, side by side in bytes,", bits.as_ref()),
            };
            all.push(format!(
                "{array} is {elements}, and its {words} lie in [{lo}, {hi}] at the beginning"
            ));
            if let Some(file) = &input.transform {
                let file = file.as_ref();
                let one =
                    if count == 1 { array.clone() } else { format!("each element of {array}") };
                let order = if input.order.is_some() { ", in the standard order" } else { "" };
                all.push(format!(
                    "{one} is stored as T of what the claims call so, T as in {file}{order}"
                ));
            }
        }
        for (array, used) in &self.used {
            all.push(format!("{array} has room for {}", self.elements(*used)));
        }
        for (array, align) in self.aligned.iter().filter(|a| *a.1 > 1) {
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
fn overlaps(callee: &Callee, slots: &[Slot], places: &[Option<Given>]) -> Result<(), At> {
    let interface = callee.interface();
    let mut same = None;
    for (j, second) in places.iter().enumerate() {
        let Some(((array, from), at, elements)) = second else { continue };
        for (i, first) in places[..j].iter().enumerate() {
            let Some(((other, start), _, length)) = first else { continue };
            if array != other || from + elements <= *start || start + length <= *from {
                continue;
            }
            let one = (start, length) == (from, elements);
            let allowed = interface.one_array().contains(&(i, j))
                || interface.alias.contains(&(i, j))
                || interface.alias.contains(&(j, i));
            if !one || !allowed || same.is_some() {
                let (a, b) = (&slots[i].memory.name, &slots[j].memory.name);
                let symbol = callee.symbol();
                let also = match same {
                    Some((x, y)) if one && allowed => format!(" while `{x}` and `{y}` are one"),
                    _ => String::new(),
                };
                let m = format!(
                    "the contract of `{symbol}` does not say that `{a}` and `{b}` may overlap{also}"
                );
                return Err((*at, m));
            }
            same = Some((&slots[i].memory.name, &slots[j].memory.name));
        }
    }
    Ok(())
}

/// What the function writes, by what it reads: as formulas, T left out.
fn result(contract: &Contract, operands: &[Vec<Residue>]) -> Result<Formula, String> {
    let scale = contract.computes.scale().unwrap_or(1);
    let skipped = usize::from(contract.computes.accumulates());
    let missing = || format!("`{}` reads too few arrays", contract.symbol);
    let first = operands.get(skipped).ok_or_else(missing)?;
    let mut sum = Formula::zero(contract.ring.q());
    if contract.computes.inputs() == 2 {
        // An operand in place comes first or last: the product is the same.
        let second = operands.get(skipped + 1).ok_or_else(missing)?;
        if first.len() != second.len() {
            return Err(format!("`{}` reads arrays of different lengths", contract.symbol));
        }
        for (a, b) in first.iter().zip(second) {
            sum = sum.plus(&a.formula.product(&b.formula)?);
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

/// How many elements a text says that there are.
pub(super) fn count(elements: Option<&Spanned<usize>>) -> Result<usize, At> {
    match elements.map_or(1, |e| *e.as_ref()) {
        count @ 1..=1024 => Ok(count),
        count => {
            let at = elements.map_or(0, |e| e.span().start);
            Err((at, format!("elements = {count}: a number from 1 to 1024 is expected")))
        }
    }
}
