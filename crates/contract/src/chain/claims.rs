//! What a chain's texts define and claim.

use super::formula::{self, Formula, Place, name};
use super::values::{Operand, Residue, Value};
use super::walk::{Held, Walk, count};
use super::{DefineText, OutputText, What};
use crate::arguments::interval;
use crate::clauses::At;
use crate::contract::Element;
use crate::map;
use ringforge_ring::Ring;
use std::collections::BTreeMap;
use toml::Spanned;

impl Walk<'_> {
    /// Counts the elements of a definition. What names mean must not depend on the order of definitions.
    pub(super) fn counted(&mut self, define: &DefineText) -> Result<(), At> {
        let at = define.name.span().start;
        let (array, _) = formula::place(define.name.as_ref()).map_err(|m| (at, m))?;
        *self.counts.entry(array).or_insert(0) += count(define.elements.as_ref())?;
        Ok(())
    }

    /// A name for what claims are about. Returns it in words.
    pub(super) fn define(&mut self, define: &DefineText) -> Result<String, At> {
        let at = define.name.span().start;
        let (array, first) = formula::place(define.name.as_ref()).map_err(|m| (at, m))?;
        let elements = count(define.elements.as_ref())?;
        for k in 0..elements {
            let place = (array.clone(), first + k);
            if self.named.contains_key(&place) {
                return Err((at, format!("two things are called `{}`", name(&place))));
            }
            let (value, _) = self.claimed(&define.what()?, (k, elements))?;
            let value = match value {
                Value::Each(each) => {
                    self.values.named(&each, Some(place.clone()));
                    Value::Each(each)
                }
                residue @ Value::Residue(_) => residue,
            };
            self.named.insert(place, value);
        }
        let what = match define.what()? {
            What::Computes(text, _) => text.as_ref().clone(),
            What::Each(text) => format!("{}, by coefficient", text.as_ref()),
        };
        Ok(format!("where {} = {what}{}", define.name.as_ref(), of_each(elements)))
    }

    /// The value that a text claims, and where the text is. Element `k` of `elements` is meant where a name has as many.
    fn claimed(
        &mut self,
        what: &What,
        (k, elements): (usize, usize),
    ) -> Result<(Value, usize), At> {
        match *what {
            What::Computes(text, ring) => {
                let ring = self.ring_of(text.span().start, ring)?;
                let (named, inputs, values) = (&self.named, &self.inputs, &mut self.values);
                let counts = &self.counts;
                let known = |array: &str, element: Option<usize>| {
                    let element = element.unwrap_or_else(|| meant(counts, array, (k, elements)));
                    let place = &(array.to_string(), element);
                    let value = named.get(place).ok_or_else(|| unknown(place, named, inputs))?;
                    let element = values.element(value, ring).map(|r| r.formula);
                    element.ok_or_else(|| {
                        format!("`{}` is no element of {}", name(place), values.rings[ring])
                    })
                };
                // The position in the text is right where the string has no escapes.
                let formula = Formula::parse(text.as_ref(), self.rings[ring].q(), known)
                    .map_err(|(offset, m)| (text.span().start + 1 + offset, m))?;
                let value = Value::Residue(Residue { ring, formula, transform: None });
                Ok((value, text.span().start))
            }
            What::Each(text) => {
                let start = text.span().start;
                let mut names: Vec<String> = Vec::new();
                let mut operands: Vec<Operand> = Vec::new();
                for ((array, index), value) in &self.named {
                    names.push(format!("{array}[{index}]"));
                    operands.push((value, None));
                    if *index == meant(&self.counts, array, (k, elements)) {
                        names.push(array.clone());
                        operands.push((value, None));
                    }
                }
                let words: Vec<&str> = names.iter().map(String::as_str).collect();
                let formula = map::formula::Formula::parse(text.as_ref(), &words)
                    .map_err(|(offset, m)| (start + 1 + offset, m))?;
                for i in formula.root.arguments() {
                    if let Value::Residue(Residue { transform: Some(_), .. }) = operands[i].0 {
                        return Err((start, format!("`{}` is a transform", names[i])));
                    }
                }
                let value = self.values.of(&formula.root, &operands);
                if value.is_long() {
                    return Err((start, "this has more parts than are followed".into()));
                }
                match self.values.exact((&Value::Each(value.clone()), None)) {
                    Some(each) => Ok((Value::Each(each), start)),
                    None => Err((
                        start,
                        "an element of a ring is known modulo q: take its remainder, such as `(w mod 3329)`".into(),
                    )),
                }
            }
        }
    }

    /// The ring that a claim names, or the only one.
    fn ring_of(&self, at: usize, text: Option<&Spanned<String>>) -> Result<usize, At> {
        let all = || {
            let names: Vec<String> = self.rings.iter().map(|r| format!("\"{r}\"")).collect();
            names.join(" or ")
        };
        match text {
            None if self.rings.len() == 1 => Ok(0),
            None => Err((at, format!("in which ring? `ring = ` {}", all()))),
            Some(text) => {
                let start = text.span().start;
                let ring = Ring::parse(text.as_ref()).map_err(|e| (start, e.to_string()))?;
                let found = self.rings.iter().position(|r| *r == ring);
                found.ok_or_else(|| {
                    (start, format!("no step's contract has this ring, but {}", all()))
                })
            }
        }
    }

    /// The claims of an output, if they hold.
    pub(super) fn output(&mut self, output: &OutputText) -> Result<String, At> {
        let at = output.name.span().start;
        let (array, first) = formula::place(output.name.as_ref()).map_err(|m| (at, m))?;
        let elements = count(output.elements.as_ref())?;
        let transform = self.transform(output.transform.as_ref(), output.order.as_ref())?;
        let mut said = String::new();
        for k in 0..elements {
            let place = (array.clone(), first + k);
            let Some(held) = self.held.get(&place).cloned() else {
                return Err((at, format!("nothing was written to `{}`", name(&place))));
            };
            let (claimed, start) = self.claimed(&output.what()?, (k, elements))?;
            said = match &claimed {
                Value::Residue(claimed) => {
                    self.is_element(&held, claimed, start)?;
                    self.is_transform(&held, claimed.ring, transform, output)?;
                    let text = output.computes.as_ref().map_or("", |text| text.as_ref());
                    let what = match &output.transform {
                        None => text.to_string(),
                        Some(file) => {
                            let standard = output.order.as_ref().map(|_| " in the standard order");
                            let order = standard.unwrap_or_default();
                            format!("T({text}), T as in {}{order},", file.as_ref())
                        }
                    };
                    format!("{what} in {}", self.rings[claimed.ring])
                }
                Value::Each(claimed) => {
                    if let Some(transform) = &output.transform {
                        let m = "`transform` belongs to `computes`: leave it out";
                        return Err((transform.span().start, m.into()));
                    }
                    let Some(exact) = self.values.exact((&held.value, Some(held.range))) else {
                        let (lo, hi) = held.range;
                        let m =
                            format!("{} is known modulo q alone: it lies in [{lo}, {hi}]", held.by);
                        return Err((start, m));
                    };
                    self.values
                        .differ(&exact, claimed)
                        .map_err(|m| (start, format!("{} is not what is claimed: {m}", held.by)))?;
                    let text = output.each.as_ref().map_or("", |text| text.as_ref());
                    format!("{text}, by coefficient, over the integers")
                }
            };
            let element =
                if held.bits == held.element.bits() { held.element } else { Element::U32 };
            let range = interval(&output.range, element)?;
            if held.range.0 < range.0 || held.range.1 > range.1 {
                let (lo, hi) = held.range;
                let m = format!("{} lies in [{lo}, {hi}]", held.by);
                return Err((output.range.span().start, m));
            }
        }
        let [lo, hi] = output.range.as_ref();
        Ok(format!(
            "{} at the end = {said}, in [{lo}, {hi}]{}; the names on the right are the inputs at the beginning",
            output.name.as_ref(),
            of_each(elements)
        ))
    }

    /// That a value is the element of the ring that is claimed, up to a transform.
    fn is_element(&mut self, held: &Held, claimed: &Residue, at: usize) -> Result<(), At> {
        let ring = claimed.ring;
        let found = self.found(held, ring).map(|r| r.formula);
        match found {
            Some(found) if found == claimed.formula => Ok(()),
            Some(found) => Err((at, format!("{} is {found}, not {}", held.by, claimed.formula))),
            None => Err((at, format!("{} is no known element of {}", held.by, self.rings[ring]))),
        }
    }

    /// The element of a ring that an array holds, if it is known: as it stands, or by its range.
    pub(super) fn found(&mut self, held: &Held, ring: usize) -> Option<Residue> {
        let direct = self.values.element(&held.value, ring);
        let exact = self.values.exact((&held.value, Some(held.range))).map(Value::Each);
        direct.or_else(|| self.values.element(&exact?, ring))
    }

    /// That it is the transform that the output names, or none.
    fn is_transform(
        &mut self,
        held: &Held,
        ring: usize,
        transform: Option<(usize, usize)>,
        output: &OutputText,
    ) -> Result<(), At> {
        let found = self.found(held, ring).and_then(|r| Some((ring, r.transform?)));
        if transform == found {
            return Ok(());
        }
        let m = match (transform, found) {
            (None, _) => "is a transform: name the contract that has it, `transform = \"FILE\"`",
            (_, None) => "is in the standard order: leave `transform` out",
            _ => "is a transform by other weights, in another order, or in another ring",
        };
        let at = output.name.span().start;
        let start = output.transform.as_ref().map_or(at, |t| t.span().start);
        Err((start, format!("{} {m}", held.by)))
    }
}

fn of_each(elements: usize) -> String {
    match elements {
        1 => String::new(),
        count => format!(", for each of {count} elements"),
    }
}

/// Which element a name without an index is: with as many elements as the claim, the one of the same number.
fn meant(counts: &BTreeMap<String, usize>, array: &str, (k, elements): (usize, usize)) -> usize {
    if counts.get(array) == Some(&elements) { k } else { 0 }
}

/// Why a name in a claim means nothing.
fn unknown(
    (array, _): &Place,
    named: &BTreeMap<Place, Value>,
    inputs: &BTreeMap<String, usize>,
) -> String {
    match named.keys().filter(|(other, _)| other == array).count() {
        0 if inputs.is_empty() => "there is no input".into(),
        0 => format!("no input is called `{array}`"),
        elements => format!("`{array}` has {elements} elements: 0 to {}", elements - 1),
    }
}
