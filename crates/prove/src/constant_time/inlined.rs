//! Leaks before any call of a function in whose place a declaration stands.
//!
//! The compiler may have inlined that function, and then the leak may be of bytes that the contract gives. It is not so if
//! another function of the contract calls it, and if two contents are executed to their ends without calling it, for which
//! what leaks differs.

use super::check::{Call, Run, STEPS_WITH_TERMS};
use super::contract::Parameter;
use crate::witness::Random;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId, Op};
use ringforge_machine::{ArgSpec, CallSpec, Initial, LiftError, Place, Violation, lift};
use std::collections::BTreeMap;

/// Contents that are tried.
const TRIED: u64 = 4096;

/// A leak that is doubted.
pub(super) struct Doubt {
    /// The function that may have been inlined.
    pub function: String,
    /// The call, by number.
    pub call: usize,
    /// Where it leaks.
    pub at: Place,
}

/// Inputs below a term: operand and index.
type Content = BTreeMap<(u16, u32), u8>;

impl Run<'_> {
    /// What two contents show of the leak, in words, if no run of them calls the function.
    pub(super) fn leaks_without(&self, call: &Call, doubt: &Doubt) -> Option<String> {
        let spec = CallSpec { max_steps: STEPS_WITH_TERMS, ..call.spec.clone() };
        let mut graph = Graph::new();
        let (depends, text) = match lift(self.object, &spec, &mut graph, &mut |_| true) {
            Err(LiftError::Inlined(_, v)) => match &*v {
                Violation::ConstantTime { depends, at, .. } if at.address == doubt.at.address => {
                    (*depends, v.to_string())
                }
                _ => return None,
            },
            _ => return None,
        };
        let (one, other) = self.differing(&graph, depends)?;
        for content in [&one.0, &other.0] {
            let lifted =
                lift(self.object, &with(&spec, content)?, &mut Graph::blind(), &mut |_| true);
            if lifted.ok()?.stats.stood_in.contains(&doubt.function) {
                return None;
            }
        }
        let names = self.inputs_below(&graph, depends);
        let [x, y] = [one, other].map(|(content, value)| {
            let shown: Vec<String> = content.values().take(8).map(u8::to_string).collect();
            let dots = if content.len() > 8 { ", …" } else { "" };
            format!("{value:#x} for [{}{dots}]", shown.join(", "))
        });
        let function = &doubt.function;
        Some(format!(
            "{text}; the value depends on {names}: it is {x}, and {y}; neither run calls `{function}`"
        ))
    }

    /// Two contents for which the term has two values, with these values.
    fn differing(&self, graph: &Graph, term: NodeId) -> Option<((Content, u64), (Content, u64))> {
        let tape = Tape::new(graph, &[offset(graph, term)?]).ok()?;
        let mut inputs = Vec::new();
        for &node in tape.nodes() {
            if let Op::Input { operand, index } = graph.node(node).op {
                // What other functions wrote is nobody's to choose, and numbers are not tried.
                let parameter = self.function.parameters.get(usize::from(operand))?;
                matches!(parameter, Parameter::Buffer(_)).then(|| inputs.push((operand, index)))?;
            }
        }
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut first: Option<(Content, u64)> = None;
        for _ in 0..TRIED {
            let content: Content = inputs.iter().map(|&at| (at, random.next() as u8)).collect();
            let value = tape.run(|o, i| content.get(&(o, i)).map_or(0, |&b| b.into()))[0];
            match &first {
                None => first = Some((content, value)),
                Some((_, other)) if *other == value => {}
                Some(_) => return first.map(|first| (first, (content, value))),
            }
        }
        None
    }
}

/// What varies of an address: the other summand of a pointer.
fn offset(graph: &Graph, mut term: NodeId) -> Option<NodeId> {
    while graph.has_address(term) {
        let node = graph.node(term);
        let [a, b] = node.args[..] else { return None };
        let summands = match (&node.op, graph.has_address(a), graph.has_address(b)) {
            (Op::Add | Op::Sub, true, false) => (a, b),
            (Op::Add, false, true) => (b, a),
            _ => return None,
        };
        term = match summands {
            (pointer, other) if graph.value(other).is_some() => pointer,
            (pointer, other) => graph.address_of(pointer).map(|_| other)?,
        };
    }
    Some(term)
}

/// The call with this content, and zeros elsewhere.
fn with(spec: &CallSpec, content: &Content) -> Option<CallSpec> {
    let mut spec = spec.clone();
    for region in &mut spec.regions {
        if let Initial::Partly { operand, known } = &mut region.initial {
            for (i, byte) in known.iter_mut().enumerate() {
                let index = u32::try_from(i).ok()?;
                byte.get_or_insert(content.get(&(*operand, index)).copied().unwrap_or(0));
            }
        }
    }
    for argument in &mut spec.args {
        if let ArgSpec::Input { .. } = argument {
            *argument = ArgSpec::Constant(0);
        }
    }
    Some(spec)
}
