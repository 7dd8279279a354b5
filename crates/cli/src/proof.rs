//! Calls of the prover, confirmation of its counterexamples, and what of its report the command
//! shows.

use std::path::Path;

use indicatif::ProgressBar;
use ringforge_machine::Object;
use ringforge_prove::contract::{Abi, Contract, ContractError};
use ringforge_prove::{DOUBTFUL_WAY, Options, Progress, ReasonKind, Report, Verdict, prove_many};
use ringforge_toolchain::{Argument, Callee, Compiler, Element, Role, Signature};
use serde::Serialize;

use crate::objects::is_linked;
use crate::ui::{Excerpt, Failure, Ui};

/// What the prover found.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    /// The prover's report.
    #[serde(flatten)]
    pub report: Report,
    /// What running the object on the counterexample showed.
    pub confirmation: Option<String>,
    /// The text of the certificate, where it is proved.
    #[serde(skip)]
    pub certificate: Option<String>,
}

impl Proof {
    /// `proved`, `refuted` or `unknown`.
    pub fn verdict(&self) -> String {
        self.report.verdict.to_string()
    }

    /// Seconds that it took.
    pub fn seconds(&self) -> f64 {
        self.report.times.get("total").copied().unwrap_or(0.0)
    }
}

/// Reads a contract.
///
/// # Errors
/// It makes no sense; the failure shows where.
pub fn contract(origin: &str, text: &str, symbol: Option<&str>) -> Result<Contract, Failure> {
    let mut contract = Contract::parse(text).map_err(|error| refused(origin, text, error))?;
    if let Some(symbol) = symbol {
        contract.symbol = symbol.into();
    }
    Ok(contract)
}

/// What is wrong with a contract's text, and where.
pub fn refused(origin: &str, text: &str, error: ContractError) -> Failure {
    refused_as("this contract is refused", origin, text, error)
}

/// The same with a headline of its own.
pub fn refused_as(headline: &str, origin: &str, text: &str, error: ContractError) -> Failure {
    Failure::at(
        headline,
        Excerpt {
            name: origin.into(),
            text: text.into(),
            at: offset(text, error.line, error.col),
            label: error.message,
            help: None,
        },
    )
}

/// Byte position of a line and a column in characters, both from 1.
fn offset(text: &str, line: usize, col: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text.get(start..).unwrap_or("");
    start + rest.char_indices().nth(col.saturating_sub(1)).map_or(0, |(at, _)| at)
}

/// An object with its name.
pub struct Named<'a> {
    /// Name for messages.
    pub name: &'a str,
    /// The file's content.
    pub bytes: &'a [u8],
}

/// The report of a proof that nobody tried.
pub fn not_tried(object: Named, contract: &Contract) -> Proof {
    struct Stop;
    impl Progress for Stop {
        fn update(&self, _: &str, _: f64) -> bool {
            false
        }
    }
    let mut report = ringforge_prove::prove(object.bytes, contract, &Options::default(), &mut Stop);
    report.verdict = Verdict::Unknown;
    for reason in &mut report.reasons {
        reason.text = "not tried (--no-prove)".into();
    }
    Proof { report, confirmation: None, certificate: None }
}

/// Checks that an object is one, for a convention's processor, and defines a symbol.
///
/// # Errors
/// What it is instead.
pub fn defines(object: &Named, abi: Abi, symbol: &str) -> Result<(), Failure> {
    let name = object.name;
    let parsed = Object::parse(object.bytes)
        .map_err(|e| Failure::input(format!("cannot read `{name}` as an object: {e}")))?;
    abi.check(&parsed).map_err(|e| Failure::input(format!("`{name}`: {e}")))?;
    if parsed.function(symbol).is_ok() {
        return Ok(());
    }
    let names: Vec<&str> = parsed.functions().map(|f| f.name.as_str()).take(20).collect();
    let others = if names.is_empty() {
        "it defines no function".into()
    } else {
        format!("its functions: {}", names.join(", "))
    };
    Err(Failure::input(format!("`{name}` does not define `{symbol}`; {others}")))
}

/// Proves that objects fulfil one contract; gives up (`unknown`) at the limits of `options`.
///
/// # Errors
/// One is not an ELF object, or lacks the symbol: that is bad input. Anything wrong with the code
/// itself is a verdict.
pub fn prove(
    ui: &Ui,
    objects: &[Named],
    contract: &Contract,
    options: Options,
) -> Result<Vec<Proof>, Failure> {
    for object in objects {
        defines(object, contract.abi, &contract.symbol)?;
    }
    let bar = ui.spinner(&format!("proving {}", contract.symbol));
    bar.set_length(1000);
    let bytes: Vec<&[u8]> = objects.iter().map(|o| o.bytes).collect();
    let options = Options { certificate: true, ..options };
    let mut progress = Bar { bar: bar.clone(), title: contract.symbol.clone() };
    let reports = prove_many(&bytes, contract, &options, &mut progress);
    bar.finish_and_clear();
    let proof = |mut report: Report| {
        let text = std::mem::take(&mut report.certificate.text);
        let certificate = Some(text).filter(|t| report.is_proved() && !t.is_empty());
        Proof { report, confirmation: None, certificate }
    };
    Ok(reports.into_iter().map(proof).collect())
}

/// A bar that shows how far a proof is.
pub struct Bar {
    /// The bar.
    pub bar: ProgressBar,
    /// What is proved.
    pub title: String,
}

impl Progress for Bar {
    fn update(&self, phase: &str, fraction: f64) -> bool {
        self.bar.set_message(format!("proving {}: {phase}", self.title));
        self.bar.set_position((fraction * 1000.0) as u64);
        true
    }
}

impl Proof {
    /// Whether there is something to run.
    pub fn wants_a_run(&self) -> bool {
        self.report.verdict == Verdict::Refuted || self.report.witness.is_some()
    }

    /// Inputs that fail in a case that may be impossible refute if the object fails on them too, and show nothing else.
    pub fn ran(&mut self) {
        let report = &mut self.report;
        if report.verdict != Verdict::Unknown || report.witness.is_none() {
            return;
        }
        if report.witness.as_ref().is_some_and(|w| w.confirmed) {
            report.verdict = Verdict::Refuted;
            report.reasons.retain(|r| r.text != DOUBTFUL_WAY);
        } else {
            report.witness = None;
            self.confirmation = None;
        }
    }
}

/// What is said of a refutation that comes without a counterexample.
pub fn without_inputs(report: &Report) -> String {
    match report.reasons.last().map(|r| r.kind) {
        Some(ReasonKind::Memory | ReasonKind::Undefined | ReasonKind::Abi) => {
            "every such call shows this".into()
        }
        Some(ReasonKind::ConstantTime) => "what a run computes does not show this".into(),
        _ => "found no inputs that show it: unconfirmed".into(),
    }
}

/// Runs an object on its counterexample, in a process of its own, and notes what happens.
pub fn confirm(proof: &mut Proof, compiler: &Compiler, object: &Path, contract: &Contract) {
    run(proof, compiler, object, contract);
    proof.ran();
}

fn run(proof: &mut Proof, compiler: &Compiler, object: &Path, contract: &Contract) {
    let Some(witness) = &mut proof.report.witness else {
        if proof.report.verdict == Verdict::Refuted {
            proof.confirmation = Some(without_inputs(&proof.report));
        }
        return;
    };
    if is_linked(object) {
        proof.confirmation = Some("linked files are not run: unconfirmed".into());
        return;
    }
    let signature = match signature_of(contract) {
        Ok(signature) => signature,
        Err(why) => {
            proof.confirmation = Some(format!("{why}: unconfirmed"));
            return;
        }
    };
    let alias: Vec<(usize, usize)> = contract
        .alias
        .iter()
        .filter(|&&(o, i)| {
            let name = |k: usize| contract.arguments[k].name.as_str();
            witness.call == format!("{} = {}", name(o), name(i))
        })
        .copied()
        .collect();
    let inputs: Vec<&[i64]> = witness.inputs.iter().map(|(_, values)| values.as_slice()).collect();
    let called = Callee::build(compiler, &[object], &signature, &alias)
        .and_then(|callee| callee.call(&inputs));
    proof.confirmation = Some(match called {
        Ok(outputs) => {
            let q = contract.ring.q() as i64;
            let element = contract.arguments[contract.output()].exit;
            let got = &outputs[0];
            let wrong = (0..got.len().min(witness.expected.len())).find(|&k| {
                (got[k] - witness.expected[k]).rem_euclid(q) != 0
                    || got[k] < element.0
                    || got[k] > element.1
            });
            match wrong {
                Some(k) => {
                    witness.confirmed = true;
                    let is = if (got[k] - witness.expected[k]).rem_euclid(q) == 0 {
                        format!("outside [{}, {}]", element.0, element.1)
                    } else {
                        format!("and should be {}", witness.expected[k])
                    };
                    format!(
                        "confirmed by running the object: output element {k} is {}, {is}",
                        got[k]
                    )
                }
                None => {
                    "running the object on these inputs shows nothing wrong: unconfirmed".into()
                }
            }
        }
        Err(ringforge_toolchain::CallError::Link(_)) => {
            "the object does not link on its own: unconfirmed".into()
        }
        Err(error) => {
            witness.confirmed = true;
            format!("confirmed by running the object: {error}")
        }
    });
}

/// What a contract says about the function, for running it.
///
/// # Errors
/// The driver passes neither tables nor numbers nor other objects' data.
pub fn signature_of(contract: &Contract) -> Result<Signature, String> {
    let argument = |a: &ringforge_prove::contract::Argument| {
        Ok(Argument {
            name: a.name.clone(),
            role: match a.role {
                ringforge_prove::contract::Role::Output => Role::Output,
                ringforge_prove::contract::Role::Input => Role::Input,
                ringforge_prove::contract::Role::InOut => Role::InOut,
                ringforge_prove::contract::Role::Table
                | ringforge_prove::contract::Role::Number => {
                    return Err(format!(
                        "`{}` is a table or a number, which the driver does not pass: wrap the function in one of buffers alone to run it",
                        a.name
                    ));
                }
            },
            element: Element { bits: a.element.bits(), signed: a.element.signed() },
            length: a.length,
            // Alignments beyond a page mean a page here.
            align: a.align.min(4096) as usize,
            range: a.range,
        })
    };
    if let Some(given) = contract.given.first() {
        return Err(format!("the driver does not make the data `{}`", given.symbol));
    }
    Ok(Signature {
        symbol: contract.symbol.clone(),
        arguments: contract.arguments.iter().map(argument).collect::<Result<_, _>>()?,
    })
}

/// The lines that say why a proof did not succeed.
pub fn explanation(proof: &Proof) -> Vec<String> {
    let mut lines = Vec::new();
    for reason in proof.report.reasons.iter().take(5) {
        let mut line = reason.text.clone();
        if let Some(address) = reason.address {
            let instruction = reason.instruction.as_deref().unwrap_or("");
            let place = format!("{address:#x}");
            if !line.contains(&place) {
                line += &format!(" at {place} {instruction}");
            }
        }
        if !reason.call.is_empty() && reason.call != "disjoint" {
            line += &format!(" (called with {})", reason.call);
        }
        lines.push(line);
    }
    let more = proof.report.reasons.len().saturating_sub(lines.len());
    if more > 0 {
        lines.push(format!("and {more} reasons more"));
    }
    // Of a failure that may be impossible the inputs are no counterexample.
    let refuted = proof.report.verdict == Verdict::Refuted;
    if let Some(witness) = proof.report.witness.as_ref().filter(|_| refuted) {
        let at = |of: &[i64]| of.get(witness.element).copied().unwrap_or(0);
        let (found, expected) = (at(&witness.found), at(&witness.expected));
        let wrong = match witness.outside {
            Some((lo, hi)) => format!("{found}, outside [{lo}, {hi}]"),
            None => format!("{found} instead of {expected}"),
        };
        lines.push(format!(
            "counterexample ({}): {}; output element {} is {wrong}",
            witness.call,
            inputs(&witness.inputs, witness.element).join(", "),
            witness.element
        ));
    }
    lines.extend(proof.confirmation.clone());
    lines
}

/// Elements of a counterexample's array that are shown.
const SHOWN: usize = 8;

/// The inputs of a counterexample: short arrays in full, and of others the elements that are not zero, or that differ from
/// those of another array. If there are many, the first ones and the one at `element`.
fn inputs(inputs: &[(String, Vec<i64>)], element: usize) -> Vec<String> {
    let listed = |name: &str, values: &[i64], which: &[usize]| {
        let some: Vec<String> =
            which.iter().map(|&i| format!("{name}[{i}] = {}", values[i])).collect();
        some.join(", ")
    };
    let few = |which: Vec<usize>| Some(which).filter(|w| w.len() <= SHOWN);
    let one = |(at, (name, values)): (usize, &(String, Vec<i64>))| {
        if values.len() <= SHOWN {
            let all: Vec<String> = values.iter().map(i64::to_string).collect();
            return match &all[..] {
                [one] => format!("{name} = {one}"),
                all => format!("{name} = [{}]", all.join(", ")),
            };
        }
        let places = || 0..values.len();
        if let Some(set) = few(places().filter(|&i| values[i] != 0).collect()) {
            return match set[..] {
                [] => format!("{name} all 0"),
                _ => format!("{name} all 0 but {}", listed(name, values, &set)),
            };
        }
        for (other, others) in &inputs[..at] {
            if others.len() == values.len()
                && let Some(differ) = few(places().filter(|&i| values[i] != others[i]).collect())
            {
                let (own, its) = (listed(name, values, &differ), listed(other, others, &differ));
                return match differ[..] {
                    [] => format!("{name} the same as {other}"),
                    _ => format!("{name} the same as {other} but {own} where {its}"),
                };
            }
        }
        let first: Vec<String> = values.iter().take(SHOWN).map(i64::to_string).collect();
        let also = match values.get(element).filter(|_| element >= SHOWN) {
            Some(value) => format!(" with {name}[{element}] = {value}"),
            None => String::new(),
        };
        format!("{name} = [{}, …]{also}", first.join(", "))
    };
    inputs.iter().enumerate().map(one).collect()
}

/// Name and value of everything in a report that is worth a line.
pub fn facts(proof: &Proof) -> Vec<(String, String)> {
    let r = &proof.report;
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut fact = |name: &str, value: String| facts.push((name.into(), value));
    // The same sentences are a theorem or only a wish.
    let proved = if r.is_proved() { "proved" } else { "not proved" };
    fact(proved, r.claims.join("; "));
    fact("assumes", r.assumptions.join("; "));
    if let Some((low, high)) = r.ranges.output {
        fact("output range", format!("[{low}, {high}], found by the prover"));
    }
    if let Some((address, instruction, low, high)) = r.ranges.widest.first() {
        fact("widest word", format!("[{low}, {high}] at {address:#x}, {instruction}"));
    }
    if let Some((address, instruction, low, high)) = &r.ranges.widest_products {
        fact("widest sum", format!("[{low}, {high}] at {address:#x}, {instruction}"));
    }
    let c = &r.counts;
    fact(
        "code",
        format!(
            "{} instructions executed, {} bytes of code, {} bytes of stack",
            c.instructions, c.code_bytes, c.stack_bytes
        ),
    );
    fact(
        "calls",
        format!(
            "{} (separate and in place, by alignment), {} of them identical",
            c.cases, c.identical_cases
        ),
    );
    fact(
        "enumerated",
        format!(
            "{} functions of one variable, {} pairs of function and interval",
            c.functions, c.enumerated
        ),
    );
    fact("equations", format!("{} compared with the ring product", c.equations));
    if !r.certificate.sha256.is_empty() {
        let done = &r.certificate.replayed;
        let replayed = format!(
            "{} lines replayed by the kernel: {} nodes, {} names, {} enumerated facts",
            done.lines, done.nodes, done.names, done.enumerated
        );
        fact("certificate", format!("SHA-256 {}; {replayed}", r.certificate.sha256));
    }
    fact("time", format!("{:.1} s", proof.seconds()));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_in_a_counterexample_is_shown() {
        let said = |arrays: Vec<(&str, Vec<i64>)>, element| {
            let arrays: Vec<(String, Vec<i64>)> =
                arrays.into_iter().map(|(name, v)| (name.into(), v)).collect();
            inputs(&arrays, element).join("; ")
        };
        assert_eq!(said(vec![("a", vec![1, 2]), ("b", vec![3])], 0), "a = [1, 2]; b = 3");
        let mut one = vec![0; 256];
        one[255] = 1;
        assert_eq!(
            said(vec![("a", one), ("b", vec![0; 256])], 0),
            "a all 0 but a[255] = 1; b all 0"
        );
        let full: Vec<i64> = (1..=64).collect();
        let mut other = full.clone();
        other[63] = 7;
        let same = said(vec![("a", full.clone()), ("b", full.clone())], 0);
        assert_eq!(same, "a = [1, 2, 3, 4, 5, 6, 7, 8, …]; b the same as a");
        let differ = said(vec![("a", full.clone()), ("b", other)], 0);
        assert!(differ.ends_with("b the same as a but b[63] = 7 where a[63] = 64"), "{differ}");
        assert!(said(vec![("a", full)], 40).ends_with("8, …] with a[40] = 41"));
    }
}
